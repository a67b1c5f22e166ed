"""Read long sequences, with gates that say what to remember: `LSTM` and `GRU`."""

from __future__ import annotations

from typing import Any

from minigrad.creation import zeros
from minigrad.nn.modules.rnn import RNNBase
from minigrad.tensor import Tensor

__all__ = ["GRU", "LSTM"]


class LSTM(RNNBase):
    r"""Stacked networks of long short-term memory.

    With gates $(i, f, o) = \sigma(W_x x_t + b_x + W_h h_{t-1} + b_h)$ and a candidate $g$ made the
    same way with $\tanh$, the cell is $c_t = f c_{t-1} + i g$ and the state $h_t = o \tanh c_t$.
    Source: Hochreiter and Schmidhuber, *Long short-term memory*, 1997.

    Args:
        input_size: The size of each element of a sequence.
        hidden_size: The size of the state.
        num_layers: How many layers stand on top of each other.
        bias: Whether there are biases.
        batch_first: Whether the batch is the first dimension, the steps the second.
        dropout: The probability to drop entries of what one layer hands to the next, in training.
        bidirectional: Whether each layer also reads backward.
        proj_size: If not 0, the state is mapped to this size.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Shape:
        - input: (L, N, input_size), (N, L, input_size) with `batch_first`, or (L, input_size)
        - states: a pair, (layers * directions, N, proj_size or hidden_size) and the cell states
          (layers * directions, N, hidden_size), without N if it is not in the input
        - output: as the input, with directions * (proj_size or hidden_size) for input_size

    Example:
        >>> import minigrad as torch
        >>> lstm = torch.nn.LSTM(3, 4, batch_first=True)
        >>> output, (h, c) = lstm(torch.randn(2, 5, 3))
        >>> output.shape, h.shape
        (torch.Size([2, 5, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Give the shape of the first cell states that goes with an input."""
        layers, batch, _ = self.get_expected_hidden_size(input, batch_sizes)
        return (layers, batch, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise if input or states do not fit."""
        self.check_input(input, batch_sizes)
        for place, expected in enumerate(
            (self.get_expected_hidden_size, self.get_expected_cell_size)
        ):
            message = f"Expected hidden[{place}] size {{}}, got {{}}"
            self.check_hidden_size(hidden[place], expected(input, batch_sizes), message)

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Bring the sequences of a batch of states into another order."""
        if permutation is None:
            return hx
        return tuple(each.index_select(1, permutation) for each in hx)

    def _first_state(self, input: Tensor, batch: int) -> Any:
        sizes = (self.proj_size or self.hidden_size, self.hidden_size)
        return tuple(zeros(self._state_shape(batch, size), dtype=input.dtype) for size in sizes)

    def _check_dimensions(self, hx: Any, batched: bool) -> None:
        expected = 3 if batched else 2
        if hx[0].ndim != expected or hx[1].ndim != expected:
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {expected}-D but got "
                f"({hx[0].ndim}-D, {hx[1].ndim}-D) tensors"
            )

    def _unsqueezed(self, hx: Any) -> Any:
        return (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def _squeezed(self, hx: Any) -> Any:
        return (hx[0].squeeze(1), hx[1].squeeze(1))

    def _as_state(self, final: list[Tensor]) -> Any:
        return tuple(final)


class GRU(RNNBase):
    r"""Stacked networks of gated recurrent units.

    With gates $(r, z) = \sigma(W_x x_t + b_x + W_h h_{t-1} + b_h)$ and the candidate
    $n = \tanh(W_{xn} x_t + b_{xn} + r (W_{hn} h_{t-1} + b_{hn}))$ the state is
    $h_t = (1 - z) n + z h_{t-1}$. Source: Cho et al., *Learning phrase representations using RNN
    encoder-decoder for statistical machine translation*, 2014.

    Args:
        input_size: The size of each element of a sequence.
        hidden_size: The size of the state.
        num_layers: How many layers stand on top of each other.
        bias: Whether there are biases.
        batch_first: Whether the batch is the first dimension, the steps the second.
        dropout: The probability to drop entries of what one layer hands to the next, in training.
        bidirectional: Whether each layer also reads backward.
        device: Only the CPU is there.
        dtype: The element type of the parameters; the default dtype if None.

    Shape:
        - input: (L, N, input_size), (N, L, input_size) with `batch_first`, or (L, input_size)
        - hx and the final states: (layers * directions, N, hidden_size), without N if it is not
          in the input
        - output: as the input, with directions * hidden_size for input_size

    Example:
        >>> import minigrad as torch
        >>> gru = torch.nn.GRU(3, 4, bidirectional=True)
        >>> output, h = gru(torch.randn(5, 2, 3))
        >>> output.shape, h.shape
        (torch.Size([5, 2, 8]), torch.Size([2, 2, 4]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)
