"""Call single steps of recurrent networks: lstm_cell, gru_cell, rnn_tanh_cell, rnn_relu_cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.ops.recurrent_steps import (
    Step,
    Weights,
    gru_step,
    linear,
    lstm_step,
    relu_step,
    tanh_step,
)
from minigrad.tensor import Tensor

__all__ = ["gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"]

methods: dict[str, Any] = {}


def _check(input: Tensor, hx: Tensor, hidden_size: int, w_x: Tensor, number: int = 0) -> None:
    """Raise if sizes do not fit."""
    for name, tensor in (("input", input), (f"hidden{number}", hx)):
        if tensor._array.ndim < 2:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{tensor._array.ndim}, {tensor._array.ndim - 1}], but got 1). "
                f"The {name} is one of a batch, so it has two dimensions."
            )
    x, h = input._array.shape, hx._array.shape
    if x[1] != w_x._array.shape[1]:
        raise RuntimeError(
            f"input has inconsistent input_size: got {x[1]} expected {w_x._array.shape[1]}"
        )
    if x[0] != h[0]:
        raise RuntimeError(
            f"Input batch size {x[0]} doesn't match hidden{number} batch size {h[0]}"
        )
    if h[1] != hidden_size:
        raise RuntimeError(
            f"hidden{number} has inconsistent hidden_size: got {h[1]}, expected {hidden_size}"
        )


def _cell(
    step: Step,
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> Any:
    _check(input, hx, w_hh._array.shape[1], w_ih)
    return step(linear(input, w_ih, b_ih), hx, Weights(w_ih, w_hh, b_ih, b_hh, None))


def rnn_tanh_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    r"""Take one step of an Elman network, $\tanh(W_x x + b_x + W_h h + b_h)$.

    Args:
        input: Of shape (N, inputs).
        hx: The state, of shape (N, hidden).
        w_ih: Of shape (hidden, inputs).
        w_hh: Of shape (hidden, hidden).
        b_ih: Of shape (hidden,), or None.
        b_hh: Of shape (hidden,), or None.

    Returns:
        The next state.

    Raises:
        RuntimeError: If sizes do not fit.
    """
    return _cell(tanh_step, input, hx, w_ih, w_hh, b_ih, b_hh)  # type: ignore[no-any-return]


def rnn_relu_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """Take one step of an Elman network with ReLU; arguments as for `rnn_tanh_cell`."""
    return _cell(relu_step, input, hx, w_ih, w_hh, b_ih, b_hh)  # type: ignore[no-any-return]


def gru_cell(
    input: Tensor,
    hx: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """Take one step of a GRU; arguments as for `rnn_tanh_cell`, with weights for three gates."""
    # the step cuts the inputs first, and the state after it
    return _cell(gru_step, input, hx, w_ih, w_hh, b_ih, b_hh)  # type: ignore[no-any-return]


def lstm_cell(
    input: Tensor,
    hx: Sequence[Tensor],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Take one step of an LSTM; arguments as for `rnn_tanh_cell`, with two states and four gates.

    Returns:
        The next state and the next cell state.
    """
    h, c = hx
    hidden = w_hh._array.shape[1]
    _check(input, h, hidden, w_ih)
    _check(input, c, hidden, w_ih, 1)
    weights = Weights(w_ih, w_hh, b_ih, b_hh, None)
    return lstm_step(linear(input, w_ih, b_ih), (h, c), weights)  # type: ignore[no-any-return]
