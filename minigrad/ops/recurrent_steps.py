"""Take single steps of recurrent networks, recorded operation by operation, as PyTorch does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from minigrad.ops import joining, linear_algebra
from minigrad.ops.activations import relu, sigmoid, tanh
from minigrad.tensor import Tensor

# The state after a step: a tensor, or for an LSTM a pair of tensors.
State = Any
linear = linear_algebra.linear


class Weights(NamedTuple):
    """The parameters of one layer in one direction."""

    w_x: Tensor
    w_h: Tensor
    b_x: Tensor | None
    b_h: Tensor | None
    projection: Tensor | None


# What takes the projected inputs of a step, the state and the weights, and gives the next state.
Step = Callable[[Tensor, State, Weights], State]


def _gates(tensor: Tensor, count: int) -> tuple[Tensor, ...]:
    """Cut what belongs to the gates into as many pieces."""
    width = tensor._array.shape[1] // count
    return joining.unsafe_split(tensor, [width] * count, 1, joining.UnsafeSplitBackward0)


def tanh_step(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """Take a step with tanh."""
    return tanh(linear(h, weights.w_h, weights.b_h) + x)  # type: ignore[no-any-return]


def relu_step(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """Take a step with ReLU."""
    return relu(linear(h, weights.w_h, weights.b_h) + x)  # type: ignore[no-any-return]


def lstm_step(x: Tensor, state: tuple[Tensor, Tensor], weights: Weights) -> State:
    """Take a step of an LSTM."""
    h, c = state
    i, f, g, o = _gates(linear(h, weights.w_h, weights.b_h) + x, 4)
    i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
    c = f * c + i * g
    h = o * tanh(c)
    if weights.projection is not None:
        h = linear(h, weights.projection, None)
    return h, c


def gru_step(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """Take a step of a GRU."""
    x_r, x_z, x_n = _gates(x, 3)
    h_r, h_z, h_n = _gates(linear(h, weights.w_h, weights.b_h), 3)
    r = sigmoid(h_r + x_r)
    z = sigmoid(h_z + x_z)
    n = tanh(x_n + h_n * r)
    return (h - n) * z + n
