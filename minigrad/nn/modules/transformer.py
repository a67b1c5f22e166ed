"""Translate sequences into sequences: transformers, their two stacks and the layers of these."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.core.modes import is_grad_enabled
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation.devices import refuse_other_places
from minigrad.creation.factories import full
from minigrad.faces.arguments import check_tensor
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.activation import GELU, ReLU
from minigrad.nn.modules.attention import MultiheadAttention, canonical_masks
from minigrad.nn.modules.container import ModuleList
from minigrad.nn.modules.layer import Layer
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.normalization import LayerNorm
from minigrad.nn.modules.parameterless import Dropout

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip

# Layers -----------------------------------------------------------------------------------------


def _attend(attention: Any, x: Tensor, seen: Tensor, mask: Any, padding: Any, **flags: bool) -> Any:
    """Let each place of a sequence look at those that it may see."""
    return attention(x, seen, seen, attn_mask=mask, key_padding_mask=padding, **flags)[0]


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
        refuse_other_places(settings["device"], "empty")
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
        flags = {"need_weights": False, "is_causal": causal}
        return self.dropout1(_attend(self.self_attn, x, x, mask, padding, **flags))

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
        check_tensor("transformer", src, "src")
        names = ("src_mask", "src_key_padding_mask")
        masks = (*canonical_masks(src_mask, src_key_padding_mask, names, src), is_causal)
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
        flags = {"is_causal": causal, "need_weights": False}
        return self.dropout1(_attend(self.self_attn, x, x, mask, padding, **flags))

    def _mha_block(self, x: Tensor, mem: Tensor, mask: Any, padding: Any, causal: bool) -> Tensor:
        """Look at what the encoder gave."""
        flags = {"is_causal": causal, "need_weights": False}
        return self.dropout2(_attend(self.multihead_attn, x, mem, mask, padding, **flags))


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

    def _is_causal(self, mask: Tensor | None, is_causal: bool | None, input: Tensor) -> bool:
        """Tell whether a mask hides just what comes later; if a hint is given, believe it."""
        check_tensor(type(self).__name__, input, "src")
        batch_first = self.layers[0].self_attn.batch_first and input.ndim == 3
        if is_causal is not None or mask is None:
            return is_causal is True
        causal = _causal_mask(input.shape[1 if batch_first else 0], mask.dtype)._array
        return mask._array.shape == causal.shape and bool((mask._array == causal).all())


class TransformerEncoder(_Stack):
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
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        why = _why_not_without_padding(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not why
        if enable_nested_tensor and why:
            warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"encoder_layer{why}"
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
        names = ("mask", "src_key_padding_mask")
        mask, padding_mask = canonical_masks(mask, src_key_padding_mask, names, src)
        is_causal = self._is_causal(mask, is_causal, src)
        blank = self._leaves_padding_out(src, mask, padding_mask)
        output = src
        for layer in self.layers:
            output = layer(
                output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding_mask
            )
        if blank:
            padding = padding_mask._array == -np.inf  # type: ignore[union-attr]
            output = output.masked_fill(wrap(padding[..., None]), 0.0)
        return output if self.norm is None else self.norm(output)

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
    own, first = layer.self_attn, "(use batch_first for better inference performance)"
    for text, wrong in {
        ".norm_first was True": layer.norm_first,
        f".self_attn.batch_first was not True{first}": not own.batch_first,
        ".self_attn was passed bias=False": own.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not (
            any(layer.activation is each for each in (F.relu, F.gelu))
            or isinstance(layer.activation, (ReLU, GELU))
        ),
        ".self_attn.num_heads is odd": own.num_heads % 2 == 1,
    }.items():
        if wrong:
            return text
    return ""


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
            tgt_is_causal: A hint that `tgt_mask` is the causal one; if None, it is looked at.
            memory_is_causal: A hint that `memory_mask` is the causal one.
        """
        output = tgt
        masks = {
            "tgt_mask": tgt_mask,
            "memory_mask": memory_mask,
            "tgt_key_padding_mask": tgt_key_padding_mask,
            "memory_key_padding_mask": memory_key_padding_mask,
            "tgt_is_causal": self._is_causal(tgt_mask, tgt_is_causal, tgt),
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
        refuse_other_places(settings.pop("device"), "empty")
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
        check_tensor("transformer", src, "src")
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
        refuse_other_places(device, "empty")
        return _causal_mask(sz, dtype)

    def _reset_parameters(self) -> None:
        """Draw all weights anew."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
