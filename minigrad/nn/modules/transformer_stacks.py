"""Stack the layers of a transformer: `TransformerEncoder` and `TransformerDecoder`."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from minigrad.autograd.modes import is_grad_enabled
from minigrad.dtypes import get_default_dtype
from minigrad.nn.functional.attention_masks import canonical_mask, none_or_dtype
from minigrad.nn.modules.container import ModuleList
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.transformer_layers import (
    TransformerEncoderLayer,
)
from minigrad.nn.warning import warn
from minigrad.tensor import Tensor, wrap

__all__ = ["TransformerDecoder", "TransformerEncoder"]


def causal_mask(size: int, dtype: Any = None) -> Tensor:
    """Give the mask that hides what comes later."""
    dtype = get_default_dtype() if dtype is None else dtype
    return wrap(np.triu(np.full((size, size), -np.inf, dtype.numpy), 1))


def _is_causal_mask(mask: Tensor | None, is_causal: bool | None, size: int) -> bool:
    """Tell whether a mask hides just what comes later; if a hint is given, believe it."""
    if is_causal is not None or mask is None:
        return is_causal is True
    causal = causal_mask(size, mask.dtype)._array
    return mask._array.shape == causal.shape and bool((mask._array == causal).all())


def _length(src: Tensor, batch_first: bool) -> int:
    return src.shape[1 if batch_first and src.ndim == 3 else 0]


def _clones(layer: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(layer) for _ in range(count)])


class TransformerEncoder(Module):
    """A stack of encoder layers.

    Args:
        encoder_layer: The layer; the stack is made of copies of it.
        num_layers: How many there are.
        norm: What normalizes the result, or None.
        enable_nested_tensor: Whether padding may be left out of the computation in evaluation
            without gradients; there the result then has zeros.
        mask_check: Whether to check that the padding is at the end, if so.

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
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        why = _why_not_without_padding(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not why
        if enable_nested_tensor and why:
            warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"encoder_layer{why}",
                UserWarning,
            )

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
            is_causal: A hint that `mask` is the causal one; if None, it is looked at.
        """
        src_key_padding_mask = canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", none_or_dtype(mask), "mask", src.dtype
        )
        mask = canonical_mask(mask, "mask", None, "", src.dtype, False)
        batch_first = self.layers[0].self_attn.batch_first
        is_causal = _is_causal_mask(mask, is_causal, _length(src, batch_first))
        blank = self._leaves_padding_out(src, mask, src_key_padding_mask)
        output = src
        for layer in self.layers:
            output = layer(
                output,
                src_mask=mask,
                is_causal=is_causal,
                src_key_padding_mask=src_key_padding_mask,
            )
        if blank:
            padding = src_key_padding_mask._array == -np.inf  # type: ignore[union-attr]
            output = output.masked_fill(wrap(padding[..., None]), 0.0)
        return output if self.norm is None else self.norm(output)  # type: ignore[no-any-return]

    def _leaves_padding_out(
        self, src: Tensor, mask: Tensor | None, padding_mask: Tensor | None
    ) -> bool:
        """Tell whether PyTorch computes without the places of padding, which are then zeros."""
        first = self.layers[0]
        if not self.use_nested_tensor or first.training or src.ndim != 3:
            return False
        if padding_mask is None or mask is not None:
            return False
        if is_grad_enabled() and (
            src.requires_grad or any(each.requires_grad for each in first.parameters())
        ):
            return False
        kept = padding_mask._array == 0
        return not self.mask_check or not (kept[:, 1:] & ~kept[:, :-1]).any()


def _why_not_without_padding(layer: Any) -> str:
    """Say what keeps PyTorch from leaving out padding, or nothing."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    for wrong, text in (
        (layer.norm_first, ".norm_first was True"),
        (
            not attention.batch_first,
            ".self_attn.batch_first was not True(use batch_first for better inference performance)",
        ),
        (not attention._qkv_same_embed_dim, ".self_attn._qkv_same_embed_dim was not True"),
        (attention.in_proj_bias is None, ".self_attn was passed bias=False"),
        (not layer.activation_relu_or_gelu, ".activation_relu_or_gelu was not True"),
        (
            layer.norm1.eps != layer.norm2.eps,
            ".norm1.eps was not equal to encoder_layer.norm2.eps",
        ),
        (attention.num_heads % 2 == 1, ".self_attn.num_heads is odd"),
    ):
        if wrong:
            return text
    return ""


class TransformerDecoder(Module):
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

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

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
            tgt_is_causal: A hint that `tgt_mask` is the causal one; if None, it is looked at.
            memory_is_causal: A hint that `memory_mask` is the causal one.
        """
        length = _length(tgt, self.layers[0].self_attn.batch_first)
        tgt_is_causal = _is_causal_mask(tgt_mask, tgt_is_causal, length)
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)  # type: ignore[no-any-return]
