r"""Recurrent networks: stacked layers over a sequence, cells that take one step.

They are recorded step by step, operation by operation, as in PyTorch; but a whole layer of an LSTM
of float32 is one node. With input gate :math:`i`, forget gate :math:`f`, candidate :math:`g` and
output gate :math:`o`,

.. math::
    (i, f, g, o)_t = (\sigma, \sigma, \tanh, \sigma)(W_x x_t + W_h h_{t-1} + b), \qquad
    c_t = f_t c_{t-1} + i_t g_t, \qquad h_t = o_t \tanh c_t.

Going back through time, with :math:`\bar h_t` and :math:`\bar c_t` for the gradients of the states,

.. math::
    \bar c_t \mathrel{+}= \bar h_t o_t (1 - \tanh^2 c_t), \quad
    \bar o_t = \bar h_t \tanh c_t, \quad \bar i_t = \bar c_t g_t, \quad
    \bar g_t = \bar c_t i_t, \quad \bar f_t = \bar c_t c_{t-1}, \quad
    \bar c_{t-1} = \bar c_t f_t,

and :math:`\bar h_{t-1} = W_h^\top \bar a_t`, where :math:`\bar a_t` are the gradients before the
activations. Source: Hochreiter and Schmidhuber, "Long short-term memory" (1997), with the forget
gate of Gers, Schmidhuber and Cummins (2000).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.gradients import grad
from minigrad.autograd.messages import RELEASED, wrong_type
from minigrad.autograd.own_nodes import lead_back
from minigrad.autograd.rules import in_rule
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE, Node
from minigrad.core.tensor import SavedTensor, Tensor, unpack_array, unpack_tensor, wrap
from minigrad.faces import lazy_loading
from minigrad.faces.arguments import dimension, no_tensor
from minigrad.ops import joining, parts, shape
from minigrad.ops.activations import relu, sigmoid, tanh
from minigrad.ops.linear import linear

# The state after a step: a tensor, or for an LSTM a pair of tensors.
State = Any


class Weights(NamedTuple):
    """The parameters of one layer in one direction."""

    w_x: Tensor
    w_h: Tensor
    b_x: Tensor | None = None
    b_h: Tensor | None = None


# ---------------------------------------------------------------- a layer of an LSTM as one node


def forward(
    x: Any, w_x: Any, w_h: Any, b_x: Any, b_h: Any, h: Any, c: Any
) -> tuple[Any, Any, Any, Any]:
    """Run a layer over a sequence, on arrays.

    Args:
        x: The inputs, of shape (steps, batch, inputs).
        w_x: The weight of the inputs, of shape (4 hidden, inputs): i, f, g, o.
        w_h: The weight of the state, of shape (4 hidden, hidden).
        b_x: A bias, of shape (4 hidden,), or None.
        b_h: The other bias.
        h: The first state, of shape (batch, hidden).
        c: The first cell state, of the same shape.

    Returns:
        The states, the gates (steps, batch, 4 hidden), the cell states from the first one on
        (steps + 1, batch, hidden), and their tanh.
    """
    steps, batch, inputs = x.shape
    hidden, dtype = w_h.shape[1], x.dtype
    # sigmoid(a) = (1 + tanh(a / 2)) / 2: with factors of a half, one tanh serves all four gates
    scale = np.full(4 * hidden, 0.5, dtype)
    scale[2 * hidden : 3 * hidden] = 1
    shift = 1 - scale
    a = x.reshape(-1, inputs) @ (w_x.T * scale)
    if b_x is not None:
        a += (b_x + b_h) * scale
    gates = a.reshape(steps, batch, 4 * hidden)
    weight = np.multiply(w_h.T, scale, order="C")  # BLAS is slower where it lies by columns
    states = np.empty((steps, batch, hidden), dtype)
    cells = np.empty((steps + 1, batch, hidden), dtype)
    tanhs = np.empty((steps, batch, hidden), dtype)
    cells[0] = c
    fresh = np.empty((batch, hidden), dtype)
    i, f, g, o = (gates[:, :, k * hidden : (k + 1) * hidden] for k in range(4))
    for t in range(steps):
        gate = gates[t]
        gate += h.dot(weight)
        np.tanh(gate, gate)
        gate *= scale
        gate += shift
        c = cells[t + 1]
        np.multiply(f[t], cells[t], c)
        np.multiply(i[t], g[t], fresh)
        c += fresh
        h = states[t]
        np.multiply(o[t], np.tanh(c, tanhs[t]), h)
    return states, gates, cells, tanhs


def rule_on_arrays(
    grads: Sequence[Any],
    inputs: Sequence[Any],
    kept: tuple[Any, Any, Any, Any],
    needs: Sequence[bool],
) -> tuple[Any, ...]:
    """Give the gradients of the seven inputs, where they are needed, as arrays.

    Args:
        grads: The gradients of the states, the last state and the last cell state, or None.
        inputs: What `forward` got.
        kept: What `forward` gave.
        needs: Which of the gradients are needed.
    """
    x, w_x, w_h, _, _, h_first, _ = inputs
    states, gates, cells, tanhs = kept
    grad, grad_h, grad_c = grads
    steps, batch, hidden = states.shape
    i, f, g, o = (gates[:, :, k * hidden : (k + 1) * hidden] for k in range(4))
    before = np.empty_like(gates)
    # first, for all steps at once, everything that does not depend on the gradients to come
    factors = before.reshape(steps, batch, 4, hidden)
    np.multiply(gates, gates, before)
    np.subtract(gates, before, before)  # the derivative of the sigmoid; of tanh it is 1 - g^2
    np.subtract(1, g * g, factors[:, :, 2])
    factors[:, :, 0] *= g
    factors[:, :, 1] *= cells[:-1]
    factors[:, :, 2] *= i
    factors[:, :, 3] *= tanhs
    through = o - o * tanhs * tanhs
    dtype = states.dtype
    d_h = np.zeros((batch, hidden), dtype) if grad_h is None else grad_h.copy()
    d_c = np.zeros((batch, hidden), dtype) if grad_c is None else grad_c.copy()
    fresh = np.empty((batch, hidden), dtype)
    for t in range(steps - 1, -1, -1):
        if grad is not None:
            d_h += grad[t]
        np.multiply(d_h, through[t], fresh)
        d_c += fresh
        factor = factors[t]
        factor[:, :3] *= d_c[:, None]
        factor[:, 3] *= d_h
        d_c *= f[t]
        if t or needs[5]:
            np.matmul(before[t], w_h, d_h)
    rows = before.reshape(-1, 4 * hidden)
    previous = np.concatenate([np.asarray(h_first)[None], states[:-1]])
    biases = rows.sum(0) if needs[3] or needs[4] else None
    return (
        (rows @ w_x).reshape(x.shape) if needs[0] else None,
        rows.T @ x.reshape(len(rows), -1) if needs[1] else None,
        rows.T @ previous.reshape(len(rows), -1) if needs[2] else None,
        biases if needs[3] else None,
        biases.copy() if needs[4] and biases is not None else None,
        d_h if needs[5] else None,
        d_c if needs[6] else None,
    )


def recorded_rule(
    grads: Sequence[Any], inputs: Sequence[Any], needs: Sequence[bool]
) -> list[Tensor | None]:
    """Give the gradients as tensors that can be differentiated again: those of single steps.

    Args:
        grads: The gradients of the states, the last state and the last cell state, or None.
        inputs: What `forward` got.
        needs: Which of the gradients are needed.
    """
    # of the inputs themselves the hooks would be called
    inputs = [each if each is None else shape.alias(each) for each in inputs]
    states, last = _run(lstm_step, inputs[0], tuple(inputs[5:]), Weights(*inputs[1:5]), False)
    pairs = zip((states, *last), grads, strict=True)
    outputs, grads = zip(*[pair for pair in pairs if pair[1] is not None], strict=True)
    wanted = [each for each, needed in zip(inputs, needs, strict=True) if needed]
    found = iter(grad(outputs, wanted, grads, create_graph=True))
    return [next(found) if needed else None for needed in needs]


class MkldnnRnnLayerBackward0(Node):
    """Backward of a layer of an LSTM, named after the library that computes it for PyTorch."""

    __slots__ = ("_kept", "_reverse")
    _multiple = True
    _keeps_tensors = True
    _names_of_saved = ("input", *(f"weight{place}" for place in range(4)), "hx_", "cx_")
    _kept: Any
    _reverse: bool

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Apply the rule to arrays."""
        return self._applied(gradient, keep, unpack_array)

    @in_rule
    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Apply the rule to tensors, which records it."""
        return self._applied(gradient, keep, unpack_tensor)

    def _applied(self, gradient: Any, keep: bool, unpack: Callable[..., Any]) -> Sequence[Any]:
        if self._saved is None:
            raise RuntimeError(RELEASED)
        x, *others = [None if each is None else unpack(each, self) for each in self._saved]
        inputs, grads = [self._turned(x), *others], [self._turned(gradient[0]), *gradient[1:]]
        needs = [edge[0] is not None for edge in self.next_functions]
        if unpack is unpack_array:
            d_x, *rest = rule_on_arrays(grads, inputs, self._kept, needs)
        else:
            d_x, *rest = recorded_rule(grads, inputs, needs)
        if not keep:
            self._saved = self._kept = None
        return [self._turned(d_x), *rest]

    def _turned(self, sequence: Any) -> Any:
        """Give a sequence in the order in which the layer goes through it."""
        return np.flip(sequence, 0) if self._reverse and sequence is not None else sequence


def lstm_layer(
    input: Tensor, state: State, weights: Weights, reverse: bool = False
) -> tuple[Tensor, State]:
    """Run a layer of an LSTM over a sequence, and record it as one node.

    Args:
        input: The sequence, of shape (steps, batch, inputs).
        state: The first state and the first cell state, of shape (batch, hidden).
        weights: Of shape (4 hidden, inputs) and (4 hidden, hidden), and biases (4 hidden,).
        reverse: Whether to begin at the end of the sequence.

    Returns:
        The states (steps, batch, hidden), and the pair of the last state and cell state.
    """
    tensors = (input, *weights, *state)
    arrays = [None if tensor is None else tensor._array for tensor in tensors]
    if reverse:
        arrays[0] = arrays[0][::-1]  # type: ignore[index]
    kept = forward(*arrays)
    states, _, cells, _ = kept
    last = states[-1].copy(), cells[-1].copy()
    outputs = tuple(map(wrap, (states[::-1].copy() if reverse else states, *last)))
    if not modes.recording or not any(each is not None and each.requires_grad for each in tensors):
        return outputs[0], outputs[1:]
    node = MkldnnRnnLayerBackward0()
    node._set_up(
        [NO_EDGE if each is None else each._edge or resolve_edge(each) for each in tensors]
    )
    # the states are the caller's to change, too
    node._kept = (states if reverse else states.copy(), *kept[1:])
    node._reverse = reverse
    node._saved = tuple(
        each if each is None or each._version_counter is None else SavedTensor(each)
        for each in tensors
    )
    lead_back(node, outputs)
    return outputs[0], outputs[1:]


# --------------------------------------------------------------------------------------- steps

# What takes the projected inputs of a step, the state and the weights, and gives the next state.
Step = Callable[[Tensor, State, Weights], State]


def _gates(tensor: Tensor, count: int) -> tuple[Tensor, ...]:
    """Cut what belongs to the gates into as many pieces."""
    return joining.unsafe_chunk(tensor, count, 1)


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
        x = (
            joining.cat(outputs, dimension(-1, outputs[0]._array.ndim))
            if bidirectional
            else outputs[0]
        )
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
        TypeError: If what says yes or no is neither.
    """
    step, lstm = STEPS[mode], mode == "LSTM"
    for name, value in (("bidirectional", bidirectional), ("batch_first", batch_first)):
        if value.__class__ is not bool:
            raise wrong_type(mode.lower(), name, "bool", value)
    if lstm and len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    if batch_first:
        input = shape.transpose(input, 0, 1)
    if sizes is None and input._array.shape[0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    tensors = (input, *hx, *(each for layer in weights for each in layer if each is not None))
    one_node = (
        lstm
        and (sizes is None or len(set(sizes)) == 1)
        and input._array.size > 0
        and all(t._array.dtype == np.float32 for t in tensors)
    )
    states: list[State]
    layer: Any = partial(_run, step) if sizes is None else partial(_run_packed, step, sizes)
    if one_node:
        layer, input = lstm_layer, input.contiguous()
        if sizes is not None:  # all of one length: nothing has to be left out
            input = shape.view(input, (len(sizes), sizes[0], input._array.shape[1]))
        states = [tuple(parts.select(t, 0, place) for t in hx) for place in range(len(weights))]
    elif lstm:
        states = list(zip(*(joining.unbind(each, 0) for each in hx), strict=True))
    else:
        states = list(joining.unbind(hx[0], 0))
    output, finals = _stacked(layer, input, states, weights, bidirectional, dropout)
    if batch_first:
        # in place where PyTorch does it in place, so that the node has the same name
        output = shape.transpose(output, 0, 1) if lstm else output.transpose_(0, 1)
    if one_node and sizes is not None:
        output = shape.view(output, (sum(sizes), output._array.shape[2]))
    groups = zip(*finals, strict=True) if lstm else [finals]
    return output, [joining.stack(each, 0) for each in groups]


# --------------------------------------------------------------------------------- single steps


def _check(input: Tensor, hx: Tensor, hidden_size: int, w_x: Tensor, number: int) -> None:
    """Raise if sizes do not fit."""
    for name, tensor in (("input", input), (f"hidden{number}", hx)):
        if not isinstance(tensor, Tensor):
            raise no_tensor("rnn_cell", tensor, name, 1)
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
    for number, each in enumerate(states):
        _check(input, each, weights.w_h._array.shape[1], weights.w_x, number)
    state = tuple(states) if mode == "LSTM" else states[0]
    return STEPS[mode](linear(input, weights.w_x, weights.b_x), state, weights)
