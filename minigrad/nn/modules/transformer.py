"""Build a whole transformer: an encoder that reads one sequence, a decoder that writes another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.modules.normalization import LayerNorm
from minigrad.nn.modules.on_cpu import check_device
from minigrad.nn.modules.transformer_layers import (
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from minigrad.nn.modules.transformer_stacks import (
    TransformerDecoder,
    TransformerEncoder,
    causal_mask,
)
from minigrad.tensor import Tensor

__all__ = ["Transformer"]


class Transformer(Module):
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

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        check_device(device)
        settings: tuple[Any, ...] = (d_model, nhead, dim_feedforward, dropout, activation)
        settings += (layer_norm_eps, batch_first, norm_first, bias, None, dtype)

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, dtype=dtype)

        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*settings)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*settings)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm())
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

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
        if src.ndim == 3 and src.shape[batch_dim] != tgt.shape[batch_dim]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        return self.decoder(  # type: ignore[no-any-return]
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
        check_device(device)
        return causal_mask(sz, dtype)

    def _reset_parameters(self) -> None:
        """Draw all weights anew."""
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)
