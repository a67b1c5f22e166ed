"""Wrong answers and differently written right ones, for the exercises of lesson 00."""

import math

import numpy as np
import sympy

import minigrad as torch
from minigrad import symbolic


def loss(x):
    return (x + math.tanh(0.9 * x + 0.3) - 2) ** 2


def _with_engine(x):
    x = torch.tensor(x, requires_grad=True)
    ((x + torch.tanh(0.9 * x + 0.3) - 2) ** 2).backward()
    return x.grad


class _Halve:
    def __call__(self, module, grad_input, grad_output):
        (gradient,) = grad_input
        return [gradient.clone().div_(2)]


X, W, B = sympy.symbols("x w b")
L = (X + sympy.tanh(W * X + B) - 2) ** 2


def _symbols():
    x, w, b = symbolic.symbols("x w b", requires_grad=True)
    ((x + torch.tanh(w * x + b) - 2) ** 2).backward()
    return x.grad


ANSWERS = {
    "00.1": {
        "wrong": [
            ("flipped", (1, 1, -1)),
            ("2 of 3 values fit", (1, -1, 1)),
            ("in digits", [loss(-1), loss(1), loss(3)]),
            ("A set has none", {1, -1}),
            ("should not be 1 value", -1),
        ],
        "right": [("-1", "-1", "1"), {-1: -1, 1: -1, 3: 1}, np.array([-1.0, -1.0, 1.0])],
    },
    "00.2": {
        "wrong": [
            ("L at x = 1.5", torch.tensor(loss(1.5), requires_grad=True)),
            ("another number of the block", 2 * (math.sqrt(loss(1.5)))),
            ("lost factor of 2", 0.48186),
            ("Close, but 4", 1.0),
            ("call a function first", loss),
        ],
        "right": [_with_engine(1.5), (loss(1.50001) - loss(1.49999)) / 0.00002, [0.9637]],
    },
    "00.3": {
        "wrong": [
            ("wrong sign", 0.016),
            ("Check each step", -0.018),
            ("decimal point", -0.16),
            ("its sign and its size", 0),
            ("in digits", "it falls"),
        ],
        "right": [-0.5439 * (0.93 - 0.90), "-1.6e-2", torch.tensor(-0.0163)],
    },
    "00.4": {
        "wrong": [
            ("1 of 3 values fit", lambda m, i, o: (torch.cat([i[0][:1] / 2, i[0][1:]]),)),
            ("another mode", lambda m, i, o: (i[0] / (2 * bool(m.eval())),)),
            ("returned a dict", lambda m, i, o: {"h": i[0] / 2}),
            ("NameError", lambda m, i, o: (grad_inputs[0] / 2,)),  # noqa: F821
            ("called with 3 arguments", lambda i, o: (i[0] / 2,)),
        ],
        "right": [lambda m, *i: (i[0][0].mul(0.5),), lambda m, i, o: (i[0] - i[0] / 2,), _Halve()],
    },
    "00.5": {
        "wrong": [
            ("go from f", ("a", "there is no module below f")),
            ("leaves f's input", "c) all that belongs to f doubles, and x"),
            ("Add your reason", "b"),
            ("Add your reason", ("b", "because ...")),
            ("letters a, b, c, d", 2),
        ],
        "right": [("b", "f has its gradients"), "(B) The hook sits at x.", ["b", "x comes after"]],
    },
    "00.6": {
        "wrong": [
            ("sign", -L.diff(X)),
            ("constant factor", L.diff(X) / 2),
            ("does not depend on", L.diff(X).subs(W, 0.9)),
            ("without quotes", "2*(y - 2)*(1 + w*(1 - tanh(h)**2))"),
            ("depends on y", 2 * (sympy.Symbol("y") - 2) * (1 + W)),
        ],
        "right": [L.diff(X), sympy.expand(L.diff(X)), _symbols()],
    },
}
