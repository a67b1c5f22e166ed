"""Wrong answers and differently written right ones, for the exercises of lesson 00."""

from fractions import Fraction

import numpy as np

import minigrad as torch


def loss(x):
    return ((0.12 * x + 0.24) ** 2 - 1) ** 2


def _slope(x, times=1):
    x = torch.tensor(x, requires_grad=True)
    for _ in range(times):
        loss(x).backward()
    return x.grad


def _the_weight_as_well(module, grad_input, grad_output):
    with torch.no_grad():
        module.f.weight.mul_(0.5)
    return (grad_input[0] / 2,)


class _Halve:
    def __call__(self, module, grad_input, grad_output):
        (gradient,) = grad_input
        return [gradient.clone().div_(2)]


ANSWERS = {
    "00.1": {
        "wrong": [
            ("opposite order", (-1, 1, 1)),
            ("2 of 3 values fit", (-1, 1, -1)),
            ("in digits", [loss(10), loss(-3), loss(-20)]),
            ("A set has none", {1, -1}),
            ("should not be 1 value", -1),
        ],
        "right": [("1", "1", "-1"), {10: 1, -3: 1, -20: -1}, np.array([1.0, 1.0, -1.0])],
    },
    "00.2": {
        "wrong": [
            ("L at x = 7", loss(torch.tensor(7.0, requires_grad=True))),
            ("another number of the example", 2 * (1.08**2 - 1) * 2 * 1.08 * 0.4),
            ("lost factor of 2", 0.04313),
            ("Close, but 4", 0.09),
            ("call a function first", loss),
        ],
        "right": [_slope(7.0), (loss(7.0001) - loss(6.9999)) / 0.0002, [0.0863]],
    },
    "00.3": {
        "wrong": [
            ("wrong sign", 0.0058),
            ("2 significant digits are asked for", -0.006),
            ("decimal point", -0.058),
            ("its sign and its size", 0),
            ("in digits", "it falls"),
        ],
        "right": [-0.1938 * (0.43 - 0.40), "-5.8e-3", torch.tensor(-0.00586)],
    },
    "00.4": {
        "wrong": [
            ("1 of 3 values fit", lambda m, i, o: (torch.cat([i[0][:1] / 2, i[0][1:]]),)),
            ("must not do that", _the_weight_as_well),
            ("returned a dict", lambda m, i, o: {"x_1": i[0] / 2}),
            ("NameError", lambda m, i, o: (grad_inputs[0] / 2,)),  # noqa: F821
            ("called with 3 arguments", lambda i, o: (i[0] / 2,)),
        ],
        "right": [lambda m, *i: (i[0][0].mul(0.5),), lambda m, i, o: (i[0] - i[0] / 2,), _Halve()],
    },
    "00.5": {
        "wrong": [
            ("go from f0", ("a", "there is no module below f0")),
            ("f0's own weight", "c) all that belongs to f0 doubles, and x"),
            ("Add your reason", "b"),
            ("Add your reason", ("b", "because ...")),
            ("letters a, b, c, d", 2),
        ],
        "right": [("b", "f0 has its gradients"), "(B) The hook sits at x.", ["b", "x comes after"]],
    },
    "00.6": {
        "wrong": [
            ("Some are missing", [-31 / 3, 19 / 3]),
            ("another order", (19 / 3, -31 / 3, -2)),
            ("0 of 3 values fit", [(s - 0.24) * 0.12 for s in (-1, 0, 1)]),
            ("4 values", [-31 / 3, -2, -2, 19 / 3]),
            ("numbers", "solve"),
        ],
        "right": [
            [Fraction(-31, 3), -2, Fraction(19, 3)],
            "-10.33, -2.0, 6.333",
            sorted([*np.roots([0.12**2, 2 * 0.12 * 0.24, 0.24**2 - 1]).tolist(), -2]),
        ],
    },
}
