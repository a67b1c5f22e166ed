"""Let each place of a sequence look at others, with several heads: `MultiheadAttention`."""

from __future__ import annotations

from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.faces.arguments import check_tensor
from minigrad.nn import init
from minigrad.nn.functional.multi_head_attention import (
    canonical_mask,
    multi_head_attention_forward,
    none_or_dtype,
)
from minigrad.nn.modules.layer import Layer, add_parameters
from minigrad.nn.modules.linear import Linear

__all__ = ["MultiheadAttention"]


def canonical_masks(
    mask: Tensor | None, padding: Tensor | None, names: tuple[str, str], like: Tensor
) -> tuple[Tensor | None, Tensor | None]:
    """Give a mask of places and one of padding as numbers to add; messages name them."""
    padding = canonical_mask(padding, names[1], none_or_dtype(mask), names[0], like.dtype)
    return canonical_mask(mask, names[0], None, "", like.dtype, False), padding


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
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={size} and num_heads={num_heads} instead"
            )
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
        for each in (query, key, value):
            check_tensor("multi_head_attention_forward", each, "query, key or value")
        names = ("attn_mask", "key_padding_mask")
        masks = canonical_masks(attn_mask, key_padding_mask, names, query)
        attn_mask, key_padding_mask = masks
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
