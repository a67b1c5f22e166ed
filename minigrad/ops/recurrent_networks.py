"""Recurrent networks of the steps that they take, recorded operation by operation, as in PyTorch.

`lstm`, `gru`, `rnn_tanh` and `rnn_relu` run stacked layers over a sequence; `lstm_cell` and its
kind take one step. A layer of an LSTM may be one node of the graph; see `minigrad.ops.recurrent`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from minigrad.core.tensor import Tensor
from minigrad.faces import face, lazy_loading
from minigrad.ops import joining, parts, shape
from minigrad.ops.activations import relu, sigmoid, tanh
from minigrad.ops.linear_algebra import linear
from minigrad.ops.recurrent import lstm_layer

# The state after a step: a tensor, or for an LSTM a pair of tensors.
State = Any


class Weights(NamedTuple):
    """The parameters of one layer in one direction."""

    w_x: Tensor
    w_h: Tensor
    b_x: Tensor | None
    b_h: Tensor | None


# What takes the projected inputs of a step, the state and the weights, and gives the next state.
Step = Callable[[Tensor, State, Weights], State]


def _gates(tensor: Tensor, count: int) -> tuple[Tensor, ...]:
    """Cut what belongs to the gates into as many pieces."""
    return joining.chunk(tensor, count, 1, "Unsafe")


def tanh_step(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """Take a step with tanh."""
    return tanh(linear(h, weights.w_h, weights.b_h) + x)


def relu_step(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """Take a step with ReLU."""
    return relu(linear(h, weights.w_h, weights.b_h) + x)


def lstm_step(x: Tensor, state: tuple[Tensor, Tensor], weights: Weights) -> State:
    """Take a step of an LSTM."""
    h, c = state
    i, f, g, o = _gates(linear(h, weights.w_h, weights.b_h) + x, 4)
    i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
    c = f * c + i * g
    return o * tanh(c), c


def gru_step(x: Tensor, h: Tensor, weights: Weights) -> Tensor:
    """Take a step of a GRU."""
    x_r, x_z, x_n = _gates(x, 3)
    h_r, h_z, h_n = _gates(linear(h, weights.w_h, weights.b_h), 3)
    r = sigmoid(h_r + x_r)
    z = sigmoid(h_z + x_z)
    n = tanh(x_n + h_n * r)
    return (h - n) * z + n


# --------------------------------------------------------------------------------- one layer


def _run_as_one_node(
    x: Tensor, state: State, weights: Weights, reverse: bool
) -> tuple[Tensor, State]:
    output, h, c = lstm_layer(x, *weights, *state, reverse)  # type: ignore[call-arg]
    return output, (h, c)


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


def _divided(params: Sequence[Tensor], has_biases: bool, count: int) -> list[Weights]:
    """Divide the parameters among the layers, each in one direction or in both."""
    each = 2 + 2 * has_biases
    pieces = [params[place * each : (place + 1) * each] for place in range(count)]
    return [Weights(*piece, *(() if has_biases else (None, None))) for piece in pieces]


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
        x = joining.cat(outputs, outputs[0]._array.ndim - 1) if bidirectional else outputs[0]
        if dropout and first + len(directions) < len(weights):
            x = lazy_loading.function("dropout")(x, dropout, True)
    return x, finals


def _call(step: Step, arguments: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """Run a network; a tensor of batch sizes as the second argument means packed sequences."""
    sizes = None
    input, hx, *rest = arguments
    lstm = step is lstm_step
    if isinstance(rest[0], Tensor) or (lstm and isinstance(hx, Tensor)):
        sizes = hx.tolist()
        hx, *rest = rest
        batch_first = False
        params, has_biases, num_layers, dropout, train, bidirectional = rest
    else:
        params, has_biases, num_layers, dropout, train, bidirectional, batch_first = rest
    if batch_first:
        input = shape.transpose(input, 0, 1)
    if sizes is None and input._array.shape[0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    weights = _divided(params, bool(has_biases), num_layers * (1 + bidirectional))
    one_node = (
        lstm
        and (sizes is None or len(set(sizes)) == 1)
        and input._array.size > 0
        and all(t._array.dtype == np.float32 for t in (input, *hx, *params))
    )
    states: list[State]
    run: Any = partial(_run, step) if sizes is None else partial(_run_packed, step, sizes)
    if one_node:
        run = _run_as_one_node
        if sizes is not None:  # all of one length: nothing has to be left out
            input = shape.view(input, (len(sizes), sizes[0], input._array.shape[1]))
        states = [tuple(parts.select(t, 0, place) for t in hx) for place in range(len(weights))]
    elif lstm:
        states = list(zip(*(joining.unbind(each, 0) for each in hx), strict=True))
    else:
        states = list(joining.unbind(hx, 0))
    dropout = dropout if train else 0.0
    output, finals = _stacked(run, input, states, weights, bool(bidirectional), dropout)
    if batch_first:
        # in place where PyTorch does it in place, so that the node has the same name
        output = shape.transpose(output, 0, 1) if lstm else output.transpose_(0, 1)
    if one_node and sizes is not None:
        output = shape.view(output, (sum(sizes), output._array.shape[2]))
    if lstm:
        return output, *(joining.stack(each, 0) for each in zip(*finals, strict=True))
    return output, joining.stack(finals, 0)


@face("lstm(*arguments)", method=False)
def lstm(*arguments: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Run a stacked LSTM, as `minigrad.nn.LSTM` does.

    Args:
        *arguments: The input, the pair of first states, the list of parameters, has_biases,
            num_layers, dropout, train, bidirectional, batch_first; or for packed sequences the
            data, the batch sizes, the pair of states, the parameters, and so on up to
            bidirectional.

    Returns:
        The states of the last layer, the final states and the final cell states of all layers.
    """
    return _call(lstm_step, arguments)  # type: ignore[return-value]


@face("gru(*arguments)", method=False)
def gru(*arguments: Any) -> tuple[Tensor, Tensor]:
    """Run a stacked GRU, as `minigrad.nn.GRU` does; arguments as for `lstm`, with one state."""
    return _call(gru_step, arguments)  # type: ignore[return-value]


@face("rnn_tanh(*arguments)", method=False)
def rnn_tanh(*arguments: Any) -> tuple[Tensor, Tensor]:
    """Run a stacked Elman network with tanh; arguments as for `lstm`, with one state."""
    return _call(tanh_step, arguments)  # type: ignore[return-value]


@face("rnn_relu(*arguments)", method=False)
def rnn_relu(*arguments: Any) -> tuple[Tensor, Tensor]:
    """Run a stacked Elman network with ReLU; arguments as for `lstm`, with one state."""
    return _call(relu_step, arguments)  # type: ignore[return-value]


# --------------------------------------------------------------------------------- single steps

_CELL = (
    "{}(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None)"
)


def _check(input: Tensor, hx: Tensor, hidden_size: int, w_x: Tensor, number: int) -> None:
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
    state: State,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor | None,
    b_hh: Tensor | None,
) -> Any:
    for number, each in enumerate(state if step is lstm_step else (state,)):
        _check(input, each, w_hh._array.shape[1], w_ih, number)
    return step(linear(input, w_ih, b_ih), state, Weights(w_ih, w_hh, b_ih, b_hh))


@face(_CELL.format("rnn_tanh_cell"), method=False)
def rnn_tanh_cell(input: Tensor, hx: Tensor, *weights: Any) -> Tensor:
    r"""Take one step of an Elman network, $\tanh(W_x x + b_x + W_h h + b_h)$.

    Args:
        input: Of shape (N, inputs).
        hx: The state, of shape (N, hidden).
        *weights: `w_ih` of shape (hidden, inputs), `w_hh` of shape (hidden, hidden), and the
            biases `b_ih` and `b_hh` of shape (hidden,), or None.

    Returns:
        The next state.

    Raises:
        RuntimeError: If sizes do not fit.
    """
    return _cell(tanh_step, input, hx, *weights)


@face(_CELL.format("rnn_relu_cell"), method=False)
def rnn_relu_cell(input: Tensor, hx: Tensor, *weights: Any) -> Tensor:
    """Take one step of an Elman network with ReLU; arguments as for `rnn_tanh_cell`."""
    return _cell(relu_step, input, hx, *weights)


@face(_CELL.format("gru_cell"), method=False)
def gru_cell(input: Tensor, hx: Tensor, *weights: Any) -> Tensor:
    """Take one step of a GRU; arguments as for `rnn_tanh_cell`, with weights for three gates."""
    # the step cuts the inputs first, and the state after it
    return _cell(gru_step, input, hx, *weights)


@face(_CELL.replace("Tensor hx", "hx").format("lstm_cell"), method=False)
def lstm_cell(input: Tensor, hx: Sequence[Tensor], *weights: Any) -> tuple[Tensor, Tensor]:
    """Take one step of an LSTM; arguments as for `rnn_tanh_cell`, with two states and four gates.

    Returns:
        The next state and the next cell state.
    """
    h, c = hx
    return _cell(lstm_step, input, (h, c), *weights)
