r"""Recurrent networks: stacked layers over a sequence, cells that take one step.

They are recorded step by step, operation by operation. An LSTM has an input gate :math:`i`, a
forget gate :math:`f`, a candidate :math:`g` and an output gate :math:`o`:

.. math::
    (i, f, g, o)_t = (\sigma, \sigma, \tanh, \sigma)(W_x x_t + W_h h_{t-1} + b), \qquad
    c_t = f_t c_{t-1} + i_t g_t, \qquad h_t = o_t \tanh c_t.

Sources: Hochreiter and Schmidhuber, "Long short-term memory" (1997), with the forget gate of Gers,
Schmidhuber and Cummins (2000); Cho et al., "Learning phrase representations using RNN
encoder-decoder" (2014), for the GRU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

from minigrad.core.tensor import Tensor
from minigrad.ops import joining, parts, shape
from minigrad.ops.activations import relu, sigmoid, tanh
from minigrad.ops.linear import linear
from minigrad.signatures import lazy_loading
from minigrad.signatures.arguments import dimension

# The state after a step: a tensor, or for an LSTM a pair of tensors.
State = Any


class Weights(NamedTuple):
    """The parameters of one layer in one direction."""

    w_x: Tensor
    w_h: Tensor
    b_x: Tensor | None = None
    b_h: Tensor | None = None


# --------------------------------------------------------------------------------------- steps

# What takes the projected inputs of a step, the state and the weights, and gives the next state.
Step = Callable[[Tensor, State, Weights], State]


def tanh_step(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """Take a step with tanh."""
    return tanh(linear(h, weights.w_h, weights.b_h) + x)


def relu_step(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """Take a step with ReLU."""
    return relu(linear(h, weights.w_h, weights.b_h) + x)


def lstm_step(x: Tensor, state: tuple[Tensor, Tensor], weights: Weights) -> State:
    """Take a step of an LSTM."""
    h, c = state
    i, f, g, o = joining.unsafe_chunk(linear(h, weights.w_h, weights.b_h) + x, 4, 1)
    i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
    c = f * c + i * g
    return o * tanh(c), c


def gru_step(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """Take a step of a GRU."""
    x_r, x_z, x_n = joining.unsafe_chunk(x, 3, 1)
    h_r, h_z, h_n = joining.unsafe_chunk(linear(h, weights.w_h, weights.b_h), 3, 1)
    r = sigmoid(h_r + x_r)
    z = sigmoid(h_z + x_z)
    n = tanh(x_n + h_n * r)
    return (h - n) * z + n


# --------------------------------------------------------------------------------- one layer


def _run(
    step: Step, x: Tensor, state: State, weights: Weights, reverse: bool
) -> tuple[Tensor, State]:
    """Run a layer over a sequence of batches of one size."""
    inputs: Sequence[Tensor] = joining.unbind(linear(x, weights.w_x, weights.b_x), 0)
    outputs = []
    for each in reversed(inputs) if reverse else inputs:
        state = step(each, state, weights)
        outputs.append(state[0] if step is lstm_step else state)
    return joining.stack(outputs[::-1] if reverse else outputs, 0), state


def _slice(tensor: Tensor, start: int, end: int) -> Tensor:
    return parts.slice_dim(tensor, 0, start, end, 1)


def _each(function: Callable[..., Any], *states: State) -> State:
    """Apply a function to the tensors of states."""
    if isinstance(states[0], tuple):
        return tuple(map(function, *states))
    return function(*states)


def _run_packed(
    step: Step, sizes: list[int], x: Tensor, first: State, weights: Weights, reverse: bool
) -> tuple[Tensor, State]:
    """Run a layer over packed sequences.

    The batch gets smaller where sequences end; from the end, it grows where they begin.
    """
    x = linear(x, weights.w_x, weights.b_x)
    pieces = list(zip(accumulate(sizes, initial=0), sizes, strict=False))
    last, outputs, ended = sizes[-reverse], [], []
    state = _each(lambda t: _slice(t, 0, last), first) if reverse else first
    for start, size in reversed(pieces) if reverse else pieces:
        each = _slice(x, start, start + size)
        if size > last:
            more = _each(lambda t, a=last, b=size: _slice(t, a, b), first)
            state = _each(lambda *all: joining.cat(all, 0), state, more)
        elif size < last:
            ended.append(_each(lambda t, a=size, b=last: _slice(t, a, b), state))
            state = _each(lambda t, a=size: _slice(t, 0, a), state)
        last = size
        state = step(each, state, weights)
        outputs.append(state[0] if step is lstm_step else state)
    if reverse:
        return joining.cat(outputs[::-1], 0), state
    ended.append(state)
    return joining.cat(outputs, 0), _each(lambda *all: joining.cat(all, 0), *ended[::-1])


# ------------------------------------------------------------------------------ stacked layers


def _stacked(
    run: Callable[[Tensor, State, Weights, bool], tuple[Tensor, State]],
    x: Tensor,
    states: list[State],
    weights: list[Weights],
    bidirectional: bool,
    dropout: float,
) -> tuple[Tensor, list[State]]:
    """Run layers on top of each other, in one direction or in both."""
    directions, finals = (False, True)[: 1 + bidirectional], []
    for first in range(0, len(weights), len(directions)):
        outputs = []
        for place, reverse in enumerate(directions, first):
            output, final = run(x, states[place], weights[place], reverse)
            outputs.append(output)
            finals.append(final)
        x = outputs[0]
        if bidirectional:
            x = joining.cat(outputs, dimension(-1, x._array.ndim))
        if dropout and first + len(directions) < len(weights):
            x = lazy_loading.function("dropout")(x, dropout, True)
    return x, finals


STEPS: dict[str, Step] = {
    "LSTM": lstm_step, "GRU": gru_step, "RNN_TANH": tanh_step, "RNN_RELU": relu_step
}  # fmt: skip


def run(
    mode: str,
    input: Tensor,
    sizes: list[int] | None,
    hx: Sequence[Tensor],
    weights: list[Weights],
    bidirectional: bool,
    dropout: float,
    batch_first: bool,
) -> tuple[Tensor, list[Tensor]]:
    """Run a network of stacked layers over sequences.

    Args:
        mode: One of the keys of `STEPS`.
        input: The sequences, of shape (steps, batch, inputs), or packed.
        sizes: If they are packed, how many sequences have a first element, a second one, ...
        hx: The first states of all layers; for an LSTM, and the cell states.
        weights: The parameters of each layer, and if `bidirectional` in each direction.
        bidirectional: Whether each layer also reads backward.
        dropout: The probability to drop entries of what one layer hands to the next.
        batch_first: Whether the batch is the first dimension, the steps the second.

    Returns:
        The states of the last layer, and the final states as in `hx`.

    Raises:
        RuntimeError: If there are no steps.
    """
    step, lstm = STEPS[mode], mode == "LSTM"
    if batch_first:
        input = shape.transpose(input, 0, 1)
    if sizes is None and input._array.shape[0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    layer: Any = partial(_run, step) if sizes is None else partial(_run_packed, step, sizes)
    unbound = [joining.unbind(each, 0) for each in hx]
    states: list[State] = list(zip(*unbound, strict=True)) if lstm else list(unbound[0])
    output, finals = _stacked(layer, input, states, weights, bidirectional, dropout)
    if batch_first:
        # in place where PyTorch does it in place, so that the node has the same name
        output = shape.transpose(output, 0, 1) if lstm else output.transpose_(0, 1)
    groups = zip(*finals, strict=True) if lstm else [finals]
    return output, [joining.stack(each, 0) for each in groups]


# --------------------------------------------------------------------------------- single steps


def cell(mode: str, input: Tensor, states: Sequence[Tensor], weights: Weights) -> State:
    """Take one step.

    Args:
        mode: One of the keys of `STEPS`.
        input: Of shape (batch, inputs).
        states: The state, of shape (batch, hidden); for an LSTM, and the cell state.
        weights: The parameters.

    Returns:
        The next state.

    Raises:
        RuntimeError: If sizes do not fit.
    """
    expected = (len(input), weights.w_h._array.shape[1])
    for each in states:
        if each._array.shape != expected:
            raise RuntimeError(f"a state has shape {list(expected)}, got {list(each.shape)}")
    state = tuple(states) if mode == "LSTM" else states[0]
    return STEPS[mode](linear(input, weights.w_x, weights.b_x), state, weights)
