r"""Compute a layer of an LSTM, and its gradients, for all steps on arrays.

With input gate $i$, forget gate $f$, candidate $g$ and output gate $o$,

$$(i, f, g, o)_t = (\sigma, \sigma, \tanh, \sigma)(W_x x_t + W_h h_{t-1} + b), \qquad
c_t = f_t c_{t-1} + i_t g_t, \qquad h_t = o_t \tanh c_t.$$

Going back, with $\bar h_t$ and $\bar c_t$ for the gradients of the states,

$$\bar c_t \mathrel{+}= \bar h_t o_t (1 - \tanh^2 c_t), \quad \bar o_t = \bar h_t \tanh c_t, \quad
\bar i_t = \bar c_t g_t, \quad \bar f_t = \bar c_t c_{t-1}, \quad \bar g_t = \bar c_t i_t, \quad
\bar c_{t-1} = \bar c_t f_t,$$

and $\bar h_{t-1} = W_h^\top \bar a_t$, where $\bar a_t$ are the gradients before the activations.
The batch is the last dimension here: each gate then lies in one piece, and the products are
quicker. Source: Hochreiter and Schmidhuber, *Long short-term memory*, 1997.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.rules import ignore_errstate


@ignore_errstate
def forward(x: Any, h: Any, c: Any, w_x: Any, w_h: Any, b_x: Any, b_h: Any) -> tuple[Any, ...]:
    """Run a layer over a sequence.

    Args:
        x: The inputs, of shape (steps, batch, inputs).
        h: The first state, of shape (batch, hidden).
        c: The first cell state, of the same shape.
        w_x: The weight of the inputs, of shape (4 hidden, inputs): i, f, g, o.
        w_h: The weight of the state, of shape (4 hidden, hidden).
        b_x: A bias, of shape (4 hidden,).
        b_h: The other bias.

    Returns:
        The states, the last state and cell state; and for each step i, f, g, o, tanh of the cell
        state and the cell state before, of shape (steps + 1, 6, hidden, batch).
    """
    steps, batch, _ = x.shape
    rows, hidden = w_h.shape
    # sigmoid(a) = (1 + tanh(a / 2)) / 2: with factors of a half, one tanh serves all four gates
    scale = np.repeat(np.array([0.5, 0.5, 1, 0.5], x.dtype), hidden)[:, None]
    weight = np.concatenate([w_h, w_x, (b_x + b_h)[:, None]], 1) * scale
    # below a state the input, and a one for the biases
    read = np.ones((steps + 1, weight.shape[1], batch), x.dtype)
    read[0, :hidden], read[:-1, hidden:-1] = h.T, x.swapaxes(1, 2)
    kept = np.empty((steps + 1, 6, hidden, batch), x.dtype)
    kept[0, 5] = c.T
    for t in range(steps):
        i, f, g, o, tanh_c, cell = kept[t]
        gates = kept[t, :4].reshape(rows, batch)
        np.matmul(weight, read[t], gates)
        np.tanh(gates, gates)
        for gate in (kept[t, :2], o):
            gate += 1
            gate *= 0.5
        following = kept[t + 1, 5]
        np.multiply(f, cell, following)
        following += i * g
        np.multiply(o, np.tanh(following, tanh_c), read[t + 1, :hidden])
    states = read[1:, :hidden].swapaxes(1, 2)
    return states, states[-1].copy(), kept[-1, 5].T.copy(), kept


def backward(
    grads: Sequence[Any], x: Any, h: Any, w_x: Any, w_h: Any, states: Any, kept: Any, needs: Any
) -> tuple[Any, ...]:
    """Give the gradients of input, weights, biases and first states.

    Args:
        grads: The gradients of the states, the last state and the last cell state.
        x: The inputs, as `forward` got them.
        h: The first state.
        w_x: The weight of the inputs.
        w_h: The weight of the state.
        states: The states that `forward` gave.
        kept: What it gave besides.
        needs: For each gradient whether it is needed. What takes a product of its own is None
            where it isn't.
    """
    steps, _, hidden, batch = kept[:-1].shape
    i, f, g, o, tanh_c, cell = kept[:-1].swapaxes(0, 1)
    # first, for all steps at once, what does not depend on the gradients to come
    d = kept[:-1, :4] ** 2
    np.subtract(kept[:-1, :4], d, d)
    np.subtract(1, g * g, d[:, 2])
    for gate, factor in enumerate((g, cell, i, tanh_c)):
        d[:, gate] *= factor
    through = o - o * tanh_c * tanh_c
    rows = d.reshape(steps, 4 * hidden, batch)
    grad, d_h, d_c = (each.swapaxes(-1, -2).copy() for each in grads)
    turned = w_h.T.copy()
    for t in reversed(range(steps)):
        d_h += grad[t]
        d_c += d_h * through[t]
        d[t, :3] *= d_c
        d[t, 3] *= d_h
        d_c *= f[t]
        if t or needs[5]:
            np.matmul(turned, rows[t], d_h)
    rows = rows.swapaxes(0, 1).reshape(4 * hidden, -1)
    bias = rows @ np.ones(rows.shape[1], rows.dtype)
    before = np.concatenate([h[None], states[:-1]])
    return (
        (rows.T @ w_x).reshape(x.shape) if needs[0] else None,
        rows @ x.reshape(-1, x.shape[2]) if needs[1] else None,
        rows @ before.reshape(-1, hidden) if needs[2] else None,
        *(bias, bias.copy(), d_h.T.copy(), d_c.T.copy()),
    )
