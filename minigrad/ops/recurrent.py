r"""The derivative of a whole LSTM layer: one node for all steps of a sequence.

With input gate :math:`i`, forget gate :math:`f`, candidate :math:`g` and output gate :math:`o`,

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
from typing import Any

import numpy as np

from minigrad.autograd.messages import RELEASED
from minigrad.autograd.rules import in_a_rule
from minigrad.core.leaves import resolve_edge
from minigrad.core.modes import attend, grad_mode
from minigrad.core.node import NO_EDGE, Node
from minigrad.core.saved import SavedTensor, unpack_array, unpack_tensor
from minigrad.core.tensor import Tensor, wrap


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
    weight = w_h.T * scale
    states = np.empty((steps, batch, hidden), dtype)
    cells = np.empty((steps + 1, batch, hidden), dtype)
    tanhs = np.empty((steps, batch, hidden), dtype)
    cells[0] = c
    fresh = np.empty((batch, hidden), dtype)
    i, f, g, o = (gates[:, :, k * hidden : (k + 1) * hidden] for k in range(4))
    for t in range(steps):
        gate = gates[t]
        gate += h @ weight
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


def rule(grads: Sequence[Any], inputs: Sequence[Any]) -> tuple[Any, ...]:
    """Give the gradients of the seven inputs by operations that tensors and symbols have, too.

    Args:
        grads: The gradients of the states, the last state and the last cell state, or None.
        inputs: What `forward` got.
    """
    x, w_x, w_h, b_x, b_h, h, c = inputs
    hidden = w_h.shape[1]
    steps = []
    for t in range(x.shape[0]):
        a = np.matmul(x[t], _t(w_x)) + np.matmul(h, _t(w_h))
        if b_x is not None:
            a = a + b_x + b_h
        a_i, a_f, a_g, a_o = (a[:, k * hidden : (k + 1) * hidden] for k in range(4))
        i, f, o = (1 / (1 + np.exp(-gate)) for gate in (a_i, a_f, a_o))
        g = np.tanh(a_g)
        c_new = f * c + i * g
        steps.append((x[t], h, c, i, f, g, o, np.tanh(c_new)))
        h, c = o * np.tanh(c_new), c_new
    grad, d_h, d_c = grads
    zeros = h * 0
    d_h = zeros if d_h is None else d_h
    d_c = zeros if d_c is None else d_c
    d_x, d_wx, d_wh, d_b = [], 0, 0, 0
    for t in reversed(range(len(steps))):
        x_t, h, c, i, f, g, o, tanh = steps[t]
        if grad is not None:
            d_h = d_h + grad[t]
        d_c = d_c + d_h * o * (1 - tanh * tanh)
        d_a = np.concatenate(
            [
                d_c * g * i * (1 - i),
                d_c * c * f * (1 - f),
                d_c * i * (1 - g * g),
                d_h * tanh * o * (1 - o),
            ],
            axis=1,
        )
        d_x.append(np.matmul(d_a, w_x))
        d_wx = np.matmul(_t(d_a), x_t) + d_wx
        d_wh = np.matmul(_t(d_a), h) + d_wh
        d_b = d_a.sum(0) + d_b
        d_h, d_c = np.matmul(d_a, w_h), d_c * f
    return np.stack(d_x[::-1]), d_wx, d_wh, d_b, d_b, d_h, d_c


def _t(matrix: Any) -> Any:
    return np.swapaxes(matrix, 0, 1)


class MkldnnRnnLayerBackward0(Node):
    """Backward of a layer of an LSTM, named after the library that computes it for PyTorch."""

    __slots__ = ("_kept", "_reverse")
    _multiple = True
    _keeps_tensors = True
    _kept: Any
    _reverse: bool

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Apply the rule to arrays."""
        return self._applied(gradient, keep, unpack_array)

    @in_a_rule
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
            results = rule_on_arrays(grads, inputs, self._kept, needs)
        else:
            results = rule(grads, inputs)
        d_x, *rest = [each if needed else None for each, needed in zip(results, needs, strict=True)]
        if not keep:
            self._saved = self._kept = None
        return [self._turned(d_x), *rest]

    def _turned(self, sequence: Any) -> Any:
        """Give a sequence in the order in which the layer goes through it."""
        return np.flip(sequence, 0) if self._reverse and sequence is not None else sequence


def lstm_layer(
    input: Tensor,
    w_x: Tensor,
    w_h: Tensor,
    b_x: Tensor | None,
    b_h: Tensor | None,
    h: Tensor,
    c: Tensor,
    reverse: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Run a layer of an LSTM over a sequence, and record it as one node.

    Args:
        input: The sequence, of shape (steps, batch, inputs).
        w_x: The weight of the inputs, of shape (4 hidden, inputs).
        w_h: The weight of the state, of shape (4 hidden, hidden).
        b_x: A bias, of shape (4 hidden,), or None.
        b_h: The other bias.
        h: The first state, of shape (batch, hidden).
        c: The first cell state, of the same shape.
        reverse: Whether to begin at the end of the sequence.

    Returns:
        The states (steps, batch, hidden), the last state and the last cell state.
    """
    tensors = (input, w_x, w_h, b_x, b_h, h, c)
    arrays = [None if tensor is None else tensor._array for tensor in tensors]
    if reverse:
        arrays[0] = arrays[0][::-1]  # type: ignore[index]
    kept = forward(*arrays)
    states, _, cells, _ = kept
    outputs = (
        wrap(states[::-1].copy() if reverse else states),
        wrap(states[-1].copy()),
        wrap(cells[-1].copy()),
    )
    if not grad_mode.enabled or not any(
        each is not None and each.requires_grad for each in tensors
    ):
        return outputs
    node = MkldnnRnnLayerBackward0()
    node._set_up(
        [NO_EDGE if each is None else each._edge or resolve_edge(each) for each in tensors]
    )
    node._shape = tuple(output._array.shape for output in outputs)
    node._dtype = tuple(output._array.dtype for output in outputs)
    # the states are the caller's to change, too
    node._kept = (states if reverse else states.copy(), *kept[1:])
    node._reverse = reverse
    node._saved = tuple(
        each if each is None or each._version_counter is None else SavedTensor(each)
        for each in tensors
    )
    for number, output in enumerate(outputs):
        output._edge = (node, number)
    attend(node, *outputs)
    return outputs
