"""Let each position of a sequence attend to others: attention with several heads, transformers."""

from __future__ import annotations

import copy
import math
from typing import Any, ClassVar

import numpy as np

from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.factories import full
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.container import ModuleList
from minigrad.nn.modules.layer import Layer, add_parameters
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.normalization import LayerNorm
from minigrad.nn.modules.parameterless import Dropout
from minigrad.ops.linear import linear
from minigrad.ops.linear_algebra import scaled_dot_product_attention
from minigrad.signatures.variants import in_functional

NAMES = (
    "MultiheadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer",
    "TransformerEncoder", "TransformerEncoderLayer",
)  # fmt: skip

Mask = Tensor | None

# Attention --------------------------------------------------------------------------------------


def as_numbers(mask: Mask, like: Tensor) -> Mask:
    """Give a mask as numbers to add: minus infinity where it is True, else 0.

    Raises:
        AssertionError: If the mask is of integers.
    """
    if mask is None or mask.is_floating_point():
        return mask
    if mask._array.dtype.kind != "b":
        raise AssertionError("a mask is of bools or of floating-point numbers")
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
        add_bias_kv: Must be False: no learned key is added.
        add_zero_attn: Must be False: no key of zeros is added.
        kdim: The size of the keys, which must be `embed_dim` here; None says so.
        vdim: The size of the values, likewise.
        batch_first: Whether the batch is the first dimension, the positions the second.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Raises:
        AssertionError: If the size cannot be divided among the heads.
        ValueError: If a size is not positive.
        NotImplementedError: If a key should be added, or keys or values are of other sizes.

    Shape:
        - query: (L, N, E), (N, L, E) with `batch_first`, or (L, E); key and value: the same with S
          positions
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
        settings |= {name: settings[name] or size for name in ("kdim", "vdim")}
        others = settings.pop("add_bias_kv") or settings["add_zero_attn"]
        if others or not settings["kdim"] == settings["vdim"] == size:
            raise NotImplementedError(
                "MultiheadAttention adds no keys here: leave out add_bias_kv and add_zero_attn. "
                "For keys of other sizes, put a Linear before it instead of kdim and vdim"
            )
        bias = settings.pop("bias")
        super()._keep(settings)
        self.head_dim = size // num_heads
        if self.head_dim * num_heads != size:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self._qkv_same_embed_dim = True
        weights: dict[str, Any] = {"in_proj_weight": (3 * size, size)}
        weights |= dict.fromkeys(("q_proj_weight", "k_proj_weight", "v_proj_weight"))
        add_parameters(self, settings, **weights, in_proj_bias=(3 * size,) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            size, size, bias=bias, dtype=settings["dtype"]
        )
        self.bias_k = self.bias_v = None
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        """Draw the weights; biases start at 0."""
        init.xavier_uniform_(self.in_proj_weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)  # type: ignore[arg-type]

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Mask = None,
        need_weights: bool = True,
        attn_mask: Mask = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Project queries, keys and values, attend in each head, and project the results.

        Args:
            query: What each position looks for.
            key: What each position can be found by.
            value: What each position contributes.
            key_padding_mask: True (or minus infinity) at keys to leave out.
            need_weights: Whether to give the weights; it is quicker without.
            attn_mask: True (or minus infinity) where a query must not look, or numbers to add.
            average_attn_weights: Whether to average the weights over the heads.
            is_causal: A hint that `attn_mask` is the causal mask.

        Returns:
            The result, and the weights or None.

        Raises:
            AssertionError: If sizes don't fit.
            RuntimeError: If a mask doesn't fit, or `is_causal` is set without a mask.
        """
        if is_causal and attn_mask is None:
            raise RuntimeError("is_causal is a hint about attn_mask: give that, too")
        batched = query.ndim == 3
        self._check_sizes(query, key, value)
        mask, padding = as_numbers(attn_mask, query), as_numbers(key_padding_mask, query)
        if not batched:
            query, key, value = (each.unsqueeze(1) for each in (query, key, value))
        elif self.batch_first:  # a tensor that is given twice stays one
            turned = {id(each): each.transpose(1, 0) for each in (query, key, value)}
            query, key, value = (turned[id(each)] for each in (query, key, value))
        length, batch, width = query.shape
        heads, positions = batch * self.num_heads, key.shape[0]
        q, k, v = self._project(query, key, value)
        if mask is not None and mask.ndim == 2:
            mask = mask.unsqueeze(0)
        if padding is not None:
            wide = padding.view(batch, 1, 1, positions).expand(-1, self.num_heads, -1, -1)
            wide = wide.reshape(heads, 1, positions)
            mask = wide if mask is None else mask + wide
        q = q.reshape(length, heads, self.head_dim).transpose(0, 1)
        k, v = (each.reshape(positions, heads, self.head_dim).transpose(0, 1) for each in (k, v))
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            q = q * math.sqrt(1.0 / self.head_dim)
            scores = q.bmm(k.mT) if mask is None else mask + q.bmm(k.mT)
            weights = in_functional["dropout"](scores.softmax(-1), dropout, dropout > 0.0)
            found = weights.bmm(v).transpose(0, 1)
        else:
            if mask is not None and mask.shape[0] != 1:
                mask = mask.view(batch, self.num_heads, -1, positions)
            q, k, v = (each.unflatten(0, (batch, self.num_heads)) for each in (q, k, v))
            found = scaled_dot_product_attention(q, k, v, mask, dropout).permute(2, 0, 1, 3)
        flat = found.reshape(length * batch, width)
        output = linear(flat, self.out_proj.weight, self.out_proj.bias).view(length, batch, width)
        if weights is not None:
            weights = weights.view(batch, self.num_heads, length, positions)
            weights = weights.mean(dim=1) if average_attn_weights else weights
        if not batched:
            return output.squeeze(1), None if weights is None else weights.squeeze(0)
        return (output.transpose(1, 0) if self.batch_first else output), weights

    def _check_sizes(self, query: Tensor, key: Tensor, value: Tensor) -> None:
        fits = query.ndim == key.ndim and query.ndim in (2, 3) and key.shape == value.shape
        if not fits or {query.shape[-1], key.shape[-1]} != {self.embed_dim}:
            raise AssertionError(
                "query, key and value must be (positions, batch, size) or (positions, size), of "
                f"size {self.embed_dim}, not {query.shape}, {key.shape} and {value.shape}"
            )

    def _project(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
        """Project with the three weights in one; a tensor to itself at once."""
        bias = self.in_proj_bias
        if query is key and key is value:
            return linear(query, self.in_proj_weight, bias).chunk(3, -1)
        weights = self.in_proj_weight.chunk(3)  # before the biases, as in PyTorch
        biases = (None, None, None) if bias is None else bias.chunk(3)
        return tuple(map(linear, (query, key, value), weights, biases))


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
        d_model, nhead, width, dropout, activation, eps, batch_first, *_ = settings.values()
        made = {"bias": settings["bias"], "dtype": settings["dtype"]}
        for name in self._attentions:
            options = {"dropout": dropout, "batch_first": batch_first, **made}
            setattr(self, name, MultiheadAttention(d_model, nhead, **options))
        self.linear1 = Linear(d_model, width, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(width, d_model, **made)
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

    def _through(self, x: Tensor, own: tuple[Any, ...], *others: Any) -> Tensor:
        """Go through the blocks, each with a shortcut and a normalization."""
        blocks = [lambda x: self._sa_block(x, *own), self._ff_block]
        if others:
            blocks.insert(1, lambda x: self._mha_block(x, *others))
        for number, block in enumerate(blocks, 1):
            norm = getattr(self, f"norm{number}")
            x = x + block(norm(x)) if self.norm_first else norm(x + block(x))
        return x

    def _attend(self, own: Any, x: Tensor, seen: Tensor, *masks: Any) -> Tensor:
        hints = [("need_weights", False), ("is_causal", masks[2])]
        hints = hints[::-1] if len(self._attentions) > 1 else hints  # in the order that hooks see
        return own(x, seen, seen, attn_mask=masks[0], key_padding_mask=masks[1], **dict(hints))[0]

    def _sa_block(self, x: Tensor, *masks: Any) -> Tensor:
        """Attend to the own sequence."""
        return self.dropout1(self._attend(self.self_attn, x, x, *masks))

    def _mha_block(self, x: Tensor, mem: Tensor, *masks: Any) -> Tensor:
        """Attend to what the encoder gave."""
        return self.dropout2(self._attend(self.multihead_attn, x, mem, *masks))

    def _ff_block(self, x: Tensor) -> Tensor:
        """Send each position through the two linear layers."""
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
        batch_first: Whether the batch is the first dimension, the positions the second.
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

    def forward(
        self,
        src: Tensor,
        src_mask: Mask = None,
        src_key_padding_mask: Mask = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Send sequences through the layer.

        Args:
            src: The sequences.
            src_mask: True (or minus infinity) where a position must not look, or numbers to add.
            src_key_padding_mask: True (or minus infinity) at positions of padding.
            is_causal: A hint that `src_mask` is the causal one.
        """
        masks = as_numbers(src_mask, src), as_numbers(src_key_padding_mask, src), is_causal
        return self._through(src, masks)


class TransformerDecoderLayer(_TransformerLayer):
    """Self-attention, attention to what an encoder gave, and two linear layers.

    Each has a shortcut and a normalization. Arguments as for `TransformerEncoderLayer`.

    Shape:
        - tgt: (L, N, E), (N, L, E) with `batch_first`, or (L, E); the result is of the same shape
        - memory: the same with S positions

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
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Send sequences through the layer; the masks are as for `TransformerDecoder`."""
        own = (tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        other = (memory_mask, memory_key_padding_mask, memory_is_causal)
        return self._through(tgt, own, memory, *other)


# Stacks -----------------------------------------------------------------------------------------


class _Stack(Layer):
    """Copies of a layer on top of each other, and perhaps a normalization at the end."""

    def _keep(self, settings: dict[str, Any]) -> None:
        layer, self.num_layers, norm, *_ = settings.values()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(self.num_layers)])
        self.norm = norm

    def _through(self, output: Tensor, *others: Any, **masks: Any) -> Tensor:
        for layer in self.layers:
            output = layer(output, *others, **masks)
        return output if self.norm is None else self.norm(output)


class TransformerEncoder(
    _Stack,
    settings="encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True",
    shows="",
):
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

    def forward(
        self,
        src: Tensor,
        mask: Mask = None,
        src_key_padding_mask: Mask = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Send sequences through the layers.

        Args:
            src: The sequences.
            mask: True (or minus infinity) where a position must not look, or numbers to add.
            src_key_padding_mask: True (or minus infinity) at positions of padding.
            is_causal: A hint that `mask` is the causal one; None says no.
        """
        padding = as_numbers(src_key_padding_mask, src)
        masks = {"src_mask": as_numbers(mask, src), "is_causal": bool(is_causal)}
        return self._through(src, **masks, src_key_padding_mask=padding)


class TransformerDecoder(_Stack, settings="decoder_layer, num_layers, norm=None", shows=""):
    """A stack of decoder layers.

    Args:
        decoder_layer: The layer; the stack is made of copies of it.
        num_layers: How many there are.
        norm: What normalizes the result, or None.

    Shape:
        - tgt: (L, N, E), (N, L, E) with `batch_first`, or (L, E); the result is of the same shape
        - memory: the same with S positions

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
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Send sequences through the layers, which look at what the encoder gave.

        Args:
            tgt: The sequences.
            memory: What the encoder gave.
            tgt_mask: True (or minus infinity) where a position must not look at its own sequence.
            memory_mask: The same for the memory.
            tgt_key_padding_mask: True (or minus infinity) at positions of padding.
            memory_key_padding_mask: The same for the memory.
            tgt_is_causal: A hint that `tgt_mask` is the causal one; None says no.
            memory_is_causal: A hint that `memory_mask` is the causal one.
        """
        return self._through(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=bool(tgt_is_causal),
            memory_is_causal=memory_is_causal,
        )


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
        batch_first: Whether the batch is the first dimension, the positions the second.
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
        encoders, decoders, self.encoder, self.decoder = map(settings.pop, own)
        self.d_model, self.nhead = settings["d_model"], settings["nhead"]
        self.batch_first = settings["batch_first"]
        made = {"eps": settings["layer_norm_eps"]} | {n: settings[n] for n in ("bias", "dtype")}
        if self.encoder is None:
            layer = TransformerEncoderLayer(**settings)
            self.encoder = TransformerEncoder(layer, encoders, LayerNorm(self.d_model, **made))
        if self.decoder is None:
            other = TransformerDecoderLayer(**settings)
            self.decoder = TransformerDecoder(other, decoders, LayerNorm(self.d_model, **made))
        self._reset_parameters()

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Mask = None,
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
        src_key_padding_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Read `src`, and decode `tgt`; the masks are those of encoder and decoder.

        Raises:
            RuntimeError: If batches or sizes do not fit.
        """
        batch_dim = 0 if self.batch_first else 1
        same = src.ndim != 3 or src.size(batch_dim) == tgt.size(batch_dim)
        if not same or {src.size(-1), tgt.size(-1)} != {self.d_model}:
            raise RuntimeError(f"src and tgt must be of one batch, of features {self.d_model}")
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
        return full((sz, sz), -np.inf, dtype=dtype).triu(1)

    def _reset_parameters(self) -> None:
        """Draw all weights again."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
