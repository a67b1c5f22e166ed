"""Typical wrong answers and differently written right ones, for the exercises of lesson 00."""

import functools
from fractions import Fraction

import numpy as np
import sympy

import minigrad as torch


def loss(x):
    return ((0.12 * x + 0.24) ** 2 - 1) ** 2


def _slope_at_7(times=1, start=7.0):
    x = torch.tensor(start, requires_grad=True)
    for _ in range(times):
        loss(x).backward()
    return x.grad


def _on_an_old_tensor():
    x = torch.tensor(0.3, requires_grad=True)
    loss(x).backward()
    with torch.no_grad():
        x.fill_(7.0)
    loss(x).backward()
    return x.grad


def _sending(what):
    """A hook that sends on what a function makes of grad_input and grad_output."""

    def halve(module, grad_input, grad_output):
        return what(grad_input, grad_output)

    return halve


def _forgot_return(module, grad_input, grad_output):
    grad_input = (grad_input[0] / 2,)


def _in_place(module, grad_input, grad_output):
    grad_input[0].div_(2)


def _into_the_tuple(module, grad_input, grad_output):
    grad_input[0] = grad_input[0] / 2
    return grad_input


def _the_weight_as_well(module, grad_input, grad_output):
    with torch.no_grad():
        module.f.weight.mul_(0.5)
    return (grad_input[0] / 2,)


def _first_row(module, grad_input, grad_output):
    gradient = grad_input[0].clone()
    gradient[0] /= 2
    return (gradient,)


def _two_arguments(grad_input, grad_output):
    return (grad_input[0] / 2,)


def _on_a_clone(layer, incoming, *rest, factor=0.5):
    return tuple(gradient.clone().mul_(factor) for gradient in incoming)


def _scale(factor, module, grad_input, grad_output):
    print("sent on:", factor * grad_input[0])
    return (factor * grad_input[0],)


class Halve:
    def __call__(self, module, grad_input, grad_output):
        (gradient,) = grad_input
        return [gradient - gradient / 2]


def _formula():
    w, x = sympy.symbols("w x")
    return w * x - 1


ANSWERS = {
    "00.1": {
        "wrong": [
            ("y itself grow or shrink", (1, -1, 1)),
            ("signs of x, and of s", (1, -1, -1)),
            ("larger x always helps", (-1, -1, -1)),
            ("smaller x always helps", (1, 1, 1)),
            ("x = 10, far out", (-1, -1, 1)),
            ("opposite order", (-1, 1, 1)),
            ("2 of 3 values fit", (-1, 1, -1)),
            ("in digits", ("up", "up", "down")),
            ("in digits", (True, True, False)),
            ("0 would mean", (1, 0, -1)),
            ("Only their signs", [loss(10), loss(-3), loss(-20)]),
            ("2 values", (1, 1)),
            ("A set has none", {1, -1}),
            ("numbers", "++-"),
            ("is 1 value here", -1),
        ],
        "right": [
            (1, 1, -1),
            [1.0, 1.0, -1.0],
            ("1", "1", "-1"),
            {10: 1, -3: 1, -20: -1},
            np.sign([loss(x + 0.001) - loss(x) for x in (10, -3, -20)]),
            torch.tensor([1, 1, -1]),
        ],
    },
    "00.2": {
        "wrong": [
            ("L at x = 7", loss(torch.tensor(7.0, requires_grad=True))),
            ("x itself", torch.tensor(7.0, requires_grad=True)),
            ("Twice the slope", _slope_at_7(times=2)),
            ("Several times the slope", _slope_at_7(times=3)),
            ("slope at x = 0.3", _slope_at_7(start=0.3)),
            ("slope at x = 0.7", _slope_at_7(start=0.7)),
            ("slope at x = -7", _slope_at_7(start=-7.0)),
            ("still in there", _on_an_old_tensor()),
            ("change of L over a step", loss(7.0001) - loss(6.9999)),
            ("a step of 1", loss(8) - loss(7)),
            ("gradient at x_1", 2 * (1.08**2 - 1) * 2 * 1.08 * 0.4),
            ("lost factor of 2", 0.04313),
            ("wrong sign", -0.0863),
            ("Close, but 4", 0.09),
            ("wants one number", [7, 0.08626]),
            ("call a function first", loss),
        ],
        "right": [
            _slope_at_7(),
            0.0863,
            (loss(7.0001) - loss(6.9999)) / 0.0002,
            (torch.tensor([0.08626]),),
        ],
    },
    "00.3": {
        "wrong": [
            ("how fast L changes", -0.1938),
            ("how fast L changes", 0.1938),
            ("how fast L changes", -0.19),
            ("only from 0.40 to 0.43", -0.1938 * 0.43),
            ("You went by 0.40", -0.1938 * 0.40),
            ("longer than 0.01", -0.001938),
            ("divided by the step", -0.1938 / 0.03),
            ("added the step", -0.1938 + 0.03),
            ("gradient of x", -0.1224 * 0.03),
            ("gradient of b_0", -0.4080 * 0.03),
            ("gradient of b_1", -1.0199 * 0.03),
            ("gradient of y", -1.8476 * 0.03),
            ("value of w_1", 0.012),
            ("how far w_1 goes", 0.03),
            ("new one differ", 0.8477),
            ("fraction of L", -0.0068),
            ("wrong sign", 0.0058),
            ("2 significant digits are asked for", -0.006),
            ("decimal point", -0.058),
            ("its sign and its size", 0),
            ("in digits", "it falls"),
        ],
        "right": [
            -0.0058,
            -0.1938 * (0.43 - 0.40),
            "-5.8e-3",
            [-0.0059],
            np.float32(-0.005863),
            torch.tensor(-0.00581),
        ],
    },
    "00.4": {
        "wrong": [
            ("This doubles", _sending(lambda gi, go: (gi[0] * 2,))),
            ("does yours return the half", _forgot_return),
            ("does yours return the half", _sending(lambda gi, go: gi)),
            ("must not do that", _in_place),
            ("must not do that", _the_weight_as_well),
            ("half of grad_output", _sending(lambda gi, go: (go[0] / 2,))),
            ("You sent grad_output on", _sending(lambda gi, go: go)),
            ("a comma makes it a tuple", _sending(lambda gi, go: gi[0] / 2)),
            ("do no arithmetic", _sending(lambda gi, go: gi / 2)),
            ("do no arithmetic", _sending(lambda gi, go: 0.5 * gi)),
            ("a new tuple", _into_the_tuple),
            ("As many entries", _sending(lambda gi, go: (gi[0] / 2, go[0] / 2))),
            ("has to be a tensor", _sending(lambda gi, go: (gi[0].sum().item() / 2,))),
            ("three inputs at once", _sending(lambda gi, go: (torch.tensor([-0.204]),))),
            ("does not fit: work this case", _first_row),
            ("turns the sign around, as flip", _sending(lambda gi, go: (-gi[0],))),
            ("Only half", _sending(lambda gi, go: (-gi[0] / 2,))),
            ("A quarter", _sending(lambda gi, go: (gi[0] / 2 / 2,))),
            ("rounds down", _sending(lambda gi, go: (gi[0] // 2,))),
            ("one half away", _sending(lambda gi, go: (gi[0] - 0.5,))),
            ("returned a dict", _sending(lambda gi, go: {"x_1": gi[0] / 2})),
            ("NameError", _sending(lambda gi, go: (grad_inputs[0] / 2,))),  # noqa: F821
            ("called with 3 arguments", _two_arguments),
            ("without brackets", 0.5),
        ],
        "right": [_on_a_clone, functools.partial(_scale, 0.5), Halve()],
    },
    "00.5": {
        "wrong": [
            ("does not end at the last module", ("a", "there is no module below f0")),
            ("doubled with the hook on f1", ("c", "all that belongs to f0 doubles, and x")),
            ("further down", ("d", "the hook doubles the gradient, and all depend on it")),
            ("Add your reason", "b"),
            ("Add your reason", ("b", "")),
            ("Add your reason", ("b", "because ...")),
            ("letters a, b, c, d", ("e", "because none of them fits")),
            ("letters a, b, c, d", 2),
        ],
        "right": [
            ("b", "f0's own gradients are already computed before the hook is called"),
            ("(B)", "The hook sits at x. w_0 and b_0 hang above that, so they do not feel it."),
            ["b", "params done before hook fires; x comes after"],
            ("b", "the hook replaces grad_input, and the weight's gradient is from grad_output"),
        ],
    },
    "00.6": {
        "wrong": [
            ("right s", (-1, 0, 1)),
            ("right x_1", (-3, -0.5, 2)),
            ("another order", [-2, 6.3333, -10.3333]),
            ("another order", [19 / 3, -2, -31 / 3]),
            ("Some are missing", [-2]),
            ("Some are missing", [-31 / 3, 19 / 3]),
            ("Right but for the signs", [-19 / 3, 2, 31 / 3]),
            ("rounded too far", [-10, -2, 6.3333]),
            ("rounded too far", "-10.3, -2, 6.3"),
            ("b_1 is missing", [(s - 0.04) / 0.12 for s in (-1, 0, 1)]),
            ("b_0 is missing", [(s - 0.2) / 0.12 for s in (-1, 0, 1)]),
            ("divide", [(s - 0.24) * 0.12 for s in (-1, 0, 1)]),
            ("values of L", [0, 1, 0]),
            ("slopes themselves", [0.0, 0.0, 0.0]),
            ("That is a formula", _formula()),
            ("without letters", [_formula(), -_formula(), 0]),
            ("4 values", [-31 / 3, -2, -2, 19 / 3]),
            ("numbers", "solve"),
        ],
        "right": [
            [Fraction(-31, 3), -2, Fraction(19, 3)],
            [sympy.Rational(-31, 3), sympy.Integer(-2), sympy.Rational(19, 3)],
            (-10.33, -2.0, 6.333),
            sorted(
                np.roots([0.12**3, 3 * 0.24 * 0.12**2, 3 * 0.24**2 * 0.12 - 0.12, 0.24**3 - 0.24])
            ),
        ],
    },
}
