"""Let each place of a sequence look at others: attention with several heads, and transformers."""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.factories import full, zeros
from minigrad.faces import functional
from minigrad.faces.face import in_functional
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.container import ModuleList
from minigrad.nn.modules.layer import Layer, add_parameters
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.normalization import LayerNorm
from minigrad.nn.modules.parameterless import Dropout
from minigrad.ops.attention import scaled_dot_product_attention
from minigrad.ops.joining import joined
from minigrad.ops.linear import linear
from minigrad.ops.linear_algebra import baddbmm
from minigrad.ops.padding import pad
from minigrad.ops.softmax import softmax_of

NAMES = (
    "MultiheadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer",
    "TransformerEncoder", "TransformerEncoderLayer",
)  # fmt: skip

# Attention --------------------------------------------------------------------------------------


@functional
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    r"""Project queries, keys and values, attend in each head, and project what the heads found.

    Source: Vaswani et al., *Attention is all you need*, 2017.

    Args:
        query: What each place asks for.
        key: What each place offers to be found by.
        value: What each place has to say.
        embed_dim_to_check: The size that the query must have.
        num_heads: The number of heads, into which the size is divided.
        in_proj_weight: The weights of the three projections, one below the other.
        in_proj_bias: The biases of the three projections, or None.
        bias_k: A key that is added to the others, of shape (1, 1, E), or None.
        bias_v: The value that goes with it, or None.
        add_zero_attn: Whether a key and a value of zeros are added.
        dropout_p: The probability to drop weights in training.
        out_proj_weight: The weight of the projection of the results.
        out_proj_bias: Its bias, or None.
        training: Whether weights are dropped.
        key_padding_mask: True (or minus infinity) at keys that nobody shall look at.
        need_weights: Whether to give the weights, too.
        attn_mask: True (or minus infinity) where a query shall not look, or numbers to add.
        use_separate_proj_weight: Whether the three weights come one by one.
        q_proj_weight: The weight of the projection of queries, if so.
        k_proj_weight: That of keys, whose size may be another one.
        v_proj_weight: That of values, whose size may be another one.
        static_k: Must be None: keys come from the projections.
        static_v: Must be None: values come from the projections.
        average_attn_weights: Whether to average the weights over the heads.
        is_causal: A hint that `attn_mask` is the causal mask.

    Returns:
        The result, and the weights or None.

    Raises:
        AssertionError: If sizes do not fit.
        NotImplementedError: If there are static keys or values.
        RuntimeError: If the mask does not fit, or `is_causal` is set without a mask.

    Shape:
        - query: (L, N, E) or (L, E); key: (S, N, Ek) or (S, Ek); value: (S, N, Ev) or (S, Ev)
        - key_padding_mask: (N, S) or (S); attn_mask: (L, S) or (N * heads, L, S)
        - result: (L, N, E) or (L, E); weights: (N, L, S), with heads (N, heads, L, S), or both
          without N
    """
    if static_k is not None or static_v is not None:
        raise NotImplementedError(
            "multi_head_attention_forward has no static keys and values here. Give them to "
            "scaled_dot_product_attention."
        )
    batched = query.ndim == 3
    _check_shapes(query, key, value, key_padding_mask, attn_mask, use_separate_proj_weight)
    if not batched:
        query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    places = key.shape[0]
    key_padding_mask = as_numbers(key_padding_mask, query)
    if is_causal and attn_mask is None:
        raise RuntimeError("is_causal is a hint about attn_mask: give that, too")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None  # attention has a way of its own for this one
    else:
        attn_mask = as_numbers(attn_mask, query)
        if key_padding_mask is not None:
            is_causal = False
    depth = width // num_heads
    if width != embed_dim_to_check or depth * num_heads != width:
        raise AssertionError(
            f"query is of size {width}, and must be of size {embed_dim_to_check}, divisible by "
            f"num_heads={num_heads}"
        )
    weights = {"in": in_proj_weight}
    if use_separate_proj_weight:
        weights = {"q": q_proj_weight, "k": k_proj_weight, "v": v_proj_weight}
    q, k, v = _project(query, key, value, [*weights.values()], in_proj_bias)
    if attn_mask is not None:
        attn_mask = _fit_mask(attn_mask, length, places, batch * num_heads)
    if bias_k is not None and bias_v is not None:
        k, v = joined([k, bias_k.repeat(1, batch, 1)]), joined([v, bias_v.repeat(1, batch, 1)])
    elif bias_k is not bias_v:
        raise AssertionError("bias_k and bias_v: give both, or none")
    q = q.view(length, batch * num_heads, depth).transpose(0, 1)
    k, v = (each.view(each.shape[0], batch * num_heads, depth).transpose(0, 1) for each in (k, v))
    if add_zero_attn:
        nothing = zeros(batch * num_heads, 1, depth, dtype=k.dtype)
        k, v = joined([k, nothing], 1), joined([v, nothing], 1)
    if k.shape[1] > places:  # no mask hides what was added
        attn_mask, key_padding_mask = (
            each if each is None else pad(each, (0, k.shape[1] - places))
            for each in (attn_mask, key_padding_mask)
        )
        places = k.shape[1]
    attn_mask = _merge_masks(attn_mask, key_padding_mask, batch, num_heads, places)
    if not training:
        dropout_p = 0.0
    attended = None
    if need_weights:
        q = q * math.sqrt(1.0 / depth)
        turned = k.transpose(-2, -1)
        scores = q.bmm(turned) if attn_mask is None else baddbmm(attn_mask, q, turned)
        attended = softmax_of(scores, -1, 3, None)
        if dropout_p > 0.0:
            attended = in_functional["dropout"](attended, p=dropout_p)
        found = attended.bmm(v).transpose(0, 1)
    else:
        if attn_mask is not None:
            single = attn_mask.shape[0] == 1 and attn_mask.ndim == 3
            sizes = (batch, num_heads, -1, places)
            attn_mask = attn_mask.unsqueeze(0) if single else attn_mask.view(sizes)
        q = q.view(batch, num_heads, length, depth)
        k, v = (each.view(batch, num_heads, places, depth) for each in (k, v))
        heads = scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
        found = heads.permute(2, 0, 1, 3)
    output = linear(found.reshape(length * batch, width), out_proj_weight, out_proj_bias)
    output = output.view(length, batch, output.shape[1])
    if attended is None:
        return (output if batched else output.squeeze(1)), None
    attended = attended.view(batch, num_heads, length, places)
    if average_attn_weights:
        attended = attended.mean(dim=1)
    return (output, attended) if batched else (output.squeeze(1), attended.squeeze(0))


def _fit_mask(mask: Tensor, length: int, places: int, heads: int) -> Tensor:
    """Give the mask with three dimensions, or raise if it does not fit."""
    expected = (length, places) if mask.ndim == 2 else (heads, length, places)
    if mask.shape != expected:
        raise RuntimeError(f"attn_mask is of shape {mask.shape}, and should be of {expected}")
    return mask.unsqueeze(0) if mask.ndim == 2 else mask


def _merge_masks(
    attn_mask: Tensor | None, key_padding_mask: Any, batch: int, heads: int, places: int
) -> Tensor | None:
    """Add the mask of keys to the mask of pairs."""
    if key_padding_mask is None:
        return attn_mask
    if key_padding_mask.shape != (batch, places):
        raise AssertionError(
            f"key_padding_mask is of shape {key_padding_mask.shape}, and should be of "
            f"{(batch, places)}"
        )
    wide = key_padding_mask.view(batch, 1, 1, places).expand(-1, heads, -1, -1)
    wide = wide.reshape(batch * heads, 1, places)
    return wide if attn_mask is None else attn_mask + wide


def _check_shapes(
    query: Tensor, key: Tensor, value: Tensor, padding: Any, mask: Any, separate: bool
) -> None:
    """Raise if what is looked at does not go together."""
    alike = key.shape[: key.ndim - separate] == value.shape[: value.ndim - separate]
    if query.ndim not in (2, 3) or not query.ndim == key.ndim == value.ndim or not alike:
        raise AssertionError(
            "query, key and value must be (places, batch, size) or (places, size), key and value "
            f"with the same places; got {query.shape}, {key.shape} and {value.shape}"
        )
    if (padding is not None and padding.ndim != query.ndim - 1) or (
        mask is not None and mask.ndim not in (2, 3)
    ):
        raise AssertionError(
            "key_padding_mask must be (batch, places) or (places), and attn_mask (places of the "
            "query, places of the key), or have the heads before"
        )


# Projections ------------------------------------------------------------------------------------


def _project(
    query: Tensor, key: Tensor, value: Tensor, weights: Any, bias: Tensor | None
) -> tuple[Tensor, ...]:
    """Project with three weights, or those in one; then tensors that are the same at once."""
    if len(weights) == 1 and key is value:
        (weight,), width = weights, query.shape[-1]
        if query is key:
            return _thirds(linear(query, weight, bias), 3)
        weights = weight.split([width, 2 * width])
        biases = (None, None) if bias is None else bias.split([width, 2 * width])
        both = linear(key, weights[1], biases[1])
        return linear(query, weights[0], biases[0]), *_thirds(both, 2)
    if len(weights) == 1:
        weights = weights[0].chunk(3)
    else:
        for given, weight in zip((query, key, value), weights, strict=True):
            if weight.shape != (query.shape[-1], given.shape[-1]):
                raise AssertionError(f"{weight.shape} is no projection of {given.shape}")
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(map(linear, (query, key, value), weights, biases))


def _thirds(projected: Tensor, count: int) -> tuple[Tensor, ...]:
    """Take apart what was projected at once; each part lies in memory by itself."""
    *outer, width = projected.shape
    parts = projected.view(*outer, count, width // count).unsqueeze(0)
    apart = parts.transpose(0, -2).squeeze(-2).contiguous()
    return tuple(apart[i] for i in range(count))


# Masks ------------------------------------------------------------------------------------------


def as_numbers(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """Give a mask as numbers to add: minus infinity where it is True, else 0.

    Raises:
        AssertionError: If the mask is of integers.
    """
    if mask is None or mask.is_floating_point():
        return mask
    if mask._array.dtype.kind != "b":
        raise AssertionError("only bool and floating types of masks are supported")
    return wrap(np.where(mask._array, -np.inf, 0).astype(like._array.dtype))


class NonDynamicallyQuantizableLinear(Linear):
    """A linear layer; the name is what PyTorch prints for the output projection of attention."""


class MultiheadAttention(
    Layer,
    settings="embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, "
    "add_zero_attn=False, kdim=None, vdim=None, batch_first=False, device=None, dtype=None",
    shows="",
):
    r"""Attention with several heads, $\mathrm{concat}(h_1, \ldots, h_n) W_O^\top$.

    Each head is $h_i = \mathrm{attention}(Q W_{Q,i}^\top, K W_{K,i}^\top, V W_{V,i}^\top)$.
    Source: Vaswani et al., *Attention is all you need*, 2017.

    Args:
        embed_dim: The size $E$ of queries and results.
        num_heads: The number of heads; the size is divided among them.
        dropout: The probability to drop weights in training.
        bias: Whether the projections have biases.
        add_bias_kv: Whether a learned key and value are added.
        add_zero_attn: Whether a key and a value of zeros are added.
        kdim: The size of the keys; `embed_dim` if None.
        vdim: The size of the values; `embed_dim` if None.
        batch_first: Whether the batch is the first dimension, the places the second.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Raises:
        AssertionError: If the size cannot be divided among the heads.
        ValueError: If a size is not positive.

    Shape:
        - query: (L, N, E), (N, L, E) with `batch_first`, or (L, E); key and value: the same with S
          places, and sizes of their own
        - result: as the query; weights: (N, L, S), with heads (N, heads, L, S), or without N

    Example:
        >>> import minigrad as torch
        >>> attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        >>> x = torch.randn(1, 3, 8)
        >>> output, weights = attention(x, x, x)
        >>> output.shape, weights.shape
        (torch.Size([1, 3, 8]), torch.Size([1, 3, 3]))
    """

    in_proj_weight: Tensor
    in_proj_bias: Tensor | None

    def _keep(self, settings: dict[str, Any]) -> None:
        size, num_heads = settings["embed_dim"], settings["num_heads"]
        if size <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim={size} and num_heads={num_heads} must be greater than 0")
        added, bias = settings.pop("add_bias_kv"), settings.pop("bias")
        settings |= {name: settings[name] or size for name in ("kdim", "vdim")}
        super()._keep(settings)
        self.head_dim = size // num_heads
        if self.head_dim * num_heads != size:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self._qkv_same_embed_dim = self.kdim == self.vdim == size
        widths = {"q": size, "k": self.kdim, "v": self.vdim}
        apart = {f"{name}_proj_weight": (size, width) for name, width in widths.items()}
        whole: dict[str, Any] = {"in_proj_weight": (3 * size, size), **dict.fromkeys(apart)}
        weights = whole if self._qkv_same_embed_dim else apart | {"in_proj_weight": None}
        add_parameters(self, settings, **weights, in_proj_bias=(3 * size,) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            size, size, bias=bias, dtype=settings["dtype"]
        )
        if added:
            add_parameters(self, settings, bias_k=(1, 1, size), bias_v=(1, 1, size))
        else:
            self.bias_k = self.bias_v = None
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the weights; biases start at 0."""
        for name in ("in", "q", "k", "v"):
            if (weight := getattr(self, f"{name}_proj_weight")) is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)  # type: ignore[arg-type]
        for added in (self.bias_k, self.bias_v):
            if added is not None:
                init.xavier_normal_(added)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend.

        Args:
            query: What each place asks for.
            key: What each place offers to be found by.
            value: What each place has to say.
            key_padding_mask: True (or minus infinity) at keys that nobody shall look at.
            need_weights: Whether to give the weights; it is quicker without.
            attn_mask: True (or minus infinity) where a query shall not look, or numbers to add.
            average_attn_weights: Whether to average the weights over the heads.
            is_causal: A hint that `attn_mask` is the causal mask.

        Returns:
            The result, and the weights or None.

        Raises:
            AssertionError: If sizes do not fit.
            RuntimeError: If a mask does not fit, or `is_causal` is set without a mask.
        """
        attn_mask = as_numbers(attn_mask, query)
        key_padding_mask = as_numbers(key_padding_mask, query)
        turn = self.batch_first and query.ndim == 3
        if turn:
            turned = {id(each): each.transpose(1, 0) for each in (query, key, value)}
            query, key, value = (turned[id(each)] for each in (query, key, value))
        sizes = (self.embed_dim, self.num_heads)
        added = (self.bias_k, self.bias_v, self.add_zero_attn)
        projections = (self.in_proj_weight, self.in_proj_bias, *added)
        outward = (self.dropout, self.out_proj.weight, self.out_proj.bias, self.training)
        output, weights = multi_head_attention_forward(
            *(query, key, value, *sizes, *projections, *outward),
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
        )
        return (output.transpose(1, 0) if turn else output), weights


# Layers -----------------------------------------------------------------------------------------


class _TransformerLayer(
    Layer,
    settings="d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu, "
    "layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, device=None, dtype=None",
    shows="",
):
    """What the layers of both stacks share: attention, then two linear layers."""

    _attentions: ClassVar[tuple[str, ...]] = ("self_attn",)

    def _keep(self, settings: dict[str, Any]) -> None:
        d_model, nhead, dim_feedforward, dropout, activation, eps, batch_first, *_ = (
            settings.values()
        )
        made = {"bias": settings["bias"], "dtype": settings["dtype"]}
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, batch_first=batch_first, **made
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = settings["norm_first"]
        blocks = range(1, len(self._attentions) + 2)
        for block in blocks:
            setattr(self, f"norm{block}", LayerNorm(d_model, eps=eps, **made))
        for block in blocks:
            setattr(self, f"dropout{block}", Dropout(dropout))
        if isinstance(activation, str):
            if activation not in ("relu", "gelu"):
                raise RuntimeError(f"activation should be relu/gelu, not {activation}")
            activation = F.relu if activation == "relu" else F.gelu
        self.activation: Any = activation

    def _attend(
        self, own: Any, x: Tensor, seen: Tensor, mask: Any, padding: Any, **how: Any
    ) -> Any:
        """Let each place of a sequence look at those that it may see."""
        return own(x, seen, seen, attn_mask=mask, key_padding_mask=padding, **how)[0]

    def _ff_block(self, x: Tensor) -> Tensor:
        """Send each place through the two linear layers."""
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return getattr(self, f"dropout{len(self._attentions) + 1}")(x)


class TransformerEncoderLayer(_TransformerLayer):
    """Self-attention and two linear layers, each with a shortcut and a normalization.

    Args:
        d_model: The size of each element.
        nhead: The number of heads.
        dim_feedforward: The size between the two linear layers.
        dropout: The probability to drop entries in training.
        activation: Between the two linear layers: "relu", "gelu", or a function.
        layer_norm_eps: Added to variances.
        batch_first: Whether the batch is the first dimension, the places the second.
        norm_first: Whether to normalize what goes in, not what comes out.
        bias: Whether linear layers and normalizations have biases.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Raises:
        RuntimeError: If the activation is not known.

    Shape:
        - src: (L, N, E), (N, L, E) with `batch_first`, or (L, E); the result is of the same shape

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        >>> layer(torch.randn(1, 3, 8)).shape
        torch.Size([1, 3, 8])
    """

    def _sa_block(self, x: Tensor, mask: Any, padding: Any, causal: bool) -> Tensor:
        """Look at the own sequence."""
        how = {"need_weights": False, "is_causal": causal}
        return self.dropout1(self._attend(self.self_attn, x, x, mask, padding, **how))

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Send sequences through the layer.

        Args:
            src: The sequences.
            src_mask: True (or minus infinity) where a place shall not look, or numbers to add.
            src_key_padding_mask: True (or minus infinity) at places of padding.
            is_causal: A hint that `src_mask` is the causal one.
        """
        masks = as_numbers(src_mask, src), as_numbers(src_key_padding_mask, src), is_causal
        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, *masks))
        return self.norm2(x + self._ff_block(x))


class TransformerDecoderLayer(_TransformerLayer):
    """Self-attention, attention to what an encoder gave, and two linear layers.

    Each has a shortcut and a normalization. Arguments as for `TransformerEncoderLayer`.

    Shape:
        - tgt: (L, N, E), (N, L, E) with `batch_first`, or (L, E); the result is of the same shape
        - memory: the same with S places

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        >>> layer(torch.randn(1, 3, 8), torch.randn(1, 5, 8)).shape
        torch.Size([1, 3, 8])
    """

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Send sequences through the layer; the masks are as for `TransformerDecoder`."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), memory, *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, memory, *other))
        return self.norm3(x + self._ff_block(x))

    def _sa_block(self, x: Tensor, mask: Any, padding: Any, causal: bool) -> Tensor:
        """Look at the own sequence."""
        how = {"is_causal": causal, "need_weights": False}
        return self.dropout1(self._attend(self.self_attn, x, x, mask, padding, **how))

    def _mha_block(self, x: Tensor, mem: Tensor, mask: Any, padding: Any, causal: bool) -> Tensor:
        """Look at what the encoder gave."""
        how = {"is_causal": causal, "need_weights": False}
        return self.dropout2(self._attend(self.multihead_attn, x, mem, mask, padding, **how))


# Stacks -----------------------------------------------------------------------------------------


def _causal_mask(size: int, dtype: Any = None) -> Tensor:
    """Give the mask that hides what comes later."""
    return full((size, size), -np.inf, dtype=dtype).triu(1)


class _Stack(Module):
    """Copies of a layer on top of each other, and perhaps a normalization at the end."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm


class TransformerEncoder(_Stack):
    """A stack of encoder layers.

    Args:
        encoder_layer: The layer; the stack is made of copies of it.
        num_layers: How many there are.
        norm: What normalizes the result, or None.
        enable_nested_tensor: Accepted; padding is always computed.
        mask_check: Accepted, without effect.

    Shape:
        - src: (L, N, E), (N, L, E) with `batch_first`, or (L, E); the result is of the same shape

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        >>> torch.nn.TransformerEncoder(layer, 2)(torch.randn(1, 3, 8)).shape
        torch.Size([1, 3, 8])
    """

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Send sequences through the layers.

        Args:
            src: The sequences.
            mask: True (or minus infinity) where a place shall not look, or numbers to add.
            src_key_padding_mask: True (or minus infinity) at places of padding.
            is_causal: A hint that `mask` is the causal one; None says no.
        """
        mask, padding_mask = as_numbers(mask, src), as_numbers(src_key_padding_mask, src)
        output = src
        for layer in self.layers:
            output = layer(
                output, src_mask=mask, is_causal=bool(is_causal), src_key_padding_mask=padding_mask
            )
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(_Stack):
    """A stack of decoder layers.

    Args:
        decoder_layer: The layer; the stack is made of copies of it.
        num_layers: How many there are.
        norm: What normalizes the result, or None.

    Shape:
        - tgt: (L, N, E), (N, L, E) with `batch_first`, or (L, E); the result is of the same shape
        - memory: the same with S places

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
        >>> decoder = torch.nn.TransformerDecoder(layer, 2)
        >>> decoder(torch.randn(1, 3, 8), torch.randn(1, 5, 8)).shape
        torch.Size([1, 3, 8])
    """

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Send sequences through the layers, which look at what the encoder gave.

        Args:
            tgt: The sequences.
            memory: What the encoder gave.
            tgt_mask: True (or minus infinity) where a place shall not look at its own sequence.
            memory_mask: The same for the memory.
            tgt_key_padding_mask: True (or minus infinity) at places of padding.
            memory_key_padding_mask: The same for the memory.
            tgt_is_causal: A hint that `tgt_mask` is the causal one; None says no.
            memory_is_causal: A hint that `memory_mask` is the causal one.
        """
        output = tgt
        masks = {
            "tgt_mask": tgt_mask,
            "memory_mask": memory_mask,
            "tgt_key_padding_mask": tgt_key_padding_mask,
            "memory_key_padding_mask": memory_key_padding_mask,
            "tgt_is_causal": bool(tgt_is_causal),
            "memory_is_causal": memory_is_causal,
        }
        for layer in self.layers:
            output = layer(output, memory, **masks)
        return output if self.norm is None else self.norm(output)


# Both -------------------------------------------------------------------------------------------


class Transformer(
    Layer,
    settings="d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, "
    "dim_feedforward=2048, dropout=0.1, activation=F.relu, custom_encoder=None, "
    "custom_decoder=None, layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, "
    "device=None, dtype=None",
    shows="",
):
    """An encoder that reads one sequence, and a decoder that writes another one.

    Source: Vaswani et al., *Attention is all you need*, 2017.

    Args:
        d_model: The size of each element.
        nhead: The number of heads of each attention.
        num_encoder_layers: How many layers the encoder has.
        num_decoder_layers: How many layers the decoder has.
        dim_feedforward: The size between the two linear layers.
        dropout: The probability to drop entries in training.
        activation: Between the two linear layers: "relu", "gelu", or a function.
        custom_encoder: An encoder to use instead, or None.
        custom_decoder: A decoder to use instead, or None.
        layer_norm_eps: Added to variances.
        batch_first: Whether the batch is the first dimension, the places the second.
        norm_first: Whether layers normalize what goes in, not what comes out.
        bias: Whether linear layers and normalizations have biases.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Shape:
        - src: (S, N, E), (N, S, E) with `batch_first`, or (S, E)
        - tgt: (T, N, E), (N, T, E) with `batch_first`, or (T, E); the result is of this shape

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        >>> model(torch.randn(1, 5, 8), torch.randn(1, 3, 8)).shape
        torch.Size([1, 3, 8])
    """

    def _keep(self, settings: dict[str, Any]) -> None:
        own = ("num_encoder_layers", "num_decoder_layers", "custom_encoder", "custom_decoder")
        encoders, decoders, custom_encoder, custom_decoder = map(settings.pop, own)
        self.d_model, self.nhead = settings["d_model"], settings["nhead"]
        self.batch_first = settings["batch_first"]

        def norm() -> LayerNorm:
            eps, bias, dtype = (settings[name] for name in ("layer_norm_eps", "bias", "dtype"))
            return LayerNorm(self.d_model, eps=eps, bias=bias, dtype=dtype)

        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(**settings)
            custom_encoder = TransformerEncoder(encoder_layer, encoders, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(**settings)
            custom_decoder = TransformerDecoder(decoder_layer, decoders, norm())
        self.decoder = custom_decoder
        self._reset_parameters()

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Read `src`, and decode `tgt`; the masks are those of encoder and decoder.

        Raises:
            RuntimeError: If batches or sizes do not fit.
        """
        batch_dim = 0 if self.batch_first else 1
        if src.size(batch_dim) != tgt.size(batch_dim) and src.ndim == 3:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Give the causal mask: minus infinity above the diagonal, else 0.

        Example:
            >>> import minigrad as torch
            >>> torch.nn.Transformer.generate_square_subsequent_mask(3)
            tensor([[0., -inf, -inf],
                    [0., 0., -inf],
                    [0., 0., 0.]])
        """
        return _causal_mask(sz, dtype)

    def _reset_parameters(self) -> None:
        """Draw all weights anew."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
