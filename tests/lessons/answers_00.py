"""Typical wrong answers and differently written right ones, for the exercises of lesson 00."""

from fractions import Fraction

import numpy as np

import minigrad as torch


def _double(module, grad_input, grad_output):
    return (grad_input[0] * 2,)


def _forgot_return(module, grad_input, grad_output):
    _ = (grad_input[0] / 2,)


def _in_place(module, grad_input, grad_output):
    grad_input[0].div_(2)


def _in_place_and_return(module, grad_input, grad_output):
    grad_input[0].mul_(0.5)
    return grad_input


def _of_output(module, grad_input, grad_output):
    return (grad_output[0] / 2,)


def _bare_tensor(module, grad_input, grad_output):
    return grad_input[0] / 2


def _tuple_halved(module, grad_input, grad_output):
    return grad_input / 2


def _constant(module, grad_input, grad_output):
    return (torch.tensor([-0.2]),)


def _forgot_comma(module, grad_input, grad_output):
    return grad_input[0] * 0.5


def _two_arguments(grad_input, grad_output):
    return (grad_input[0] / 2,)


def _minus(module, grad_input, grad_output):
    return (-grad_input[0] / 2,)


def _by_half(layer, incoming, outgoing):
    return tuple(0.5 * gradient for gradient in incoming)


def _subtract(module, grad_input, grad_output):
    (gradient,) = grad_input
    return (gradient - gradient / 2,)


def _as_list(module, grad_input, grad_output):
    return [torch.mul(grad_input[0], 0.5)]


ANSWERS = {
    "00.1": {
        "wrong": [
            ("2(y - 1) only", (1, -1, 1)),
            ("2s only", (1, -1, -1)),
            ("larger x always helps", (-1, -1, -1)),
            ("smaller x always helps", (1, 1, 1)),
            ("x = 10, far out", (-1, -1, 1)),
            ("opposite order", (-1, 1, 1)),
            ("without quotes", ("1", "1", "-1")),
            ("Only their signs", (0.3093, 0.0284, -1.9035)),
            ("2 values", (1, 1)),
            ("numbers", "positive"),
            ("is 1 value here", -1),
        ],
        "right": [(1, 1, -1), [1.0, 1.0, -1.0], np.array([1, 1, -1]), torch.tensor([1, 1, -1])],
    },
    "00.2": {
        "wrong": [
            ("how fast L changes", -0.40796),
            ("only from 0.1 to 0.11", -0.40796 * 0.11),
            ("gradient of x", -0.0012238),
            ("gradient of b_1", -0.010199),
            ("value of b_0", 0.001),
            ("new loss", 0.84938),
            ("sign does not", 0.0041),
            ("decimal point", -0.00041),
            ("nothing depends on it", 0),
            ("Remove the quotes", "-0.0041"),
            ("out of its brackets", [-0.0041]),
        ],
        "right": [
            -0.0041,
            -0.40796 * 0.01,
            -0.00407,
            Fraction(-41, 10000),
            np.float32(-0.00408),
            torch.tensor(-0.00408),
        ],
    },
    "00.3": {
        "wrong": [
            ("still doubles", _double),
            ("returned", _forgot_return),
            ("must not do that", _in_place),
            ("must not do that", _in_place_and_return),
            ("half of grad_output", _of_output),
            ("a comma makes it a tuple", _bare_tensor),
            ("a comma makes it a tuple", _forgot_comma),
            ("TypeError", _tuple_halved),
            ("x.grad is", _constant),
            ("TypeError", _two_arguments),
            ("sign does not", _minus),
            ("without brackets", 0.5),
        ],
        "right": [_by_half, _subtract, _as_list],
    },
    "00.4": {
        "wrong": [
            ("No accident", ("a", "because hooks never touch parameters")),
            ("divides again", ("c", "because the module stays in balance")),
            ("backward pass", ("d", "because x_1 was doubled")),
            ("add your reason", "b"),
            ("add your reason", ("b", "")),
            ("Say a little more", ("b", "order")),
            ("on the gradient's way", ("b", "because f1 holds the hook")),
            ("letters a, b, c, d", ("e", "because of something else")),
            ("letters a, b, c, d", 2),
        ],
        "right": [
            ("b", "f1's own gradients were computed before the hook ran"),
            ("(B)", "The hook sits at x_1, so only what lies below it can feel the change."),
            ["b", "w_1 and b_1 already had theirs when the hook was called"],
        ],
    },
    "00.5": {
        "wrong": [
            ("right s", (-1, 0, 1)),
            ("right x_1", (-3, -0.5, 2)),
            ("another order", [-2, 6.3333, -10.3333]),
            ("another order", [19 / 3, -2, -31 / 3]),
            ("Some are missing", [-2]),
            ("Some are missing", [-2, 19 / 3]),
            ("sign", [31 / 3, 2, -19 / 3]),
            ("2 of 3 values fit", [-10, -2, 6.3333]),
            ("2 of 3 values fit, and the others are close", [-10.3, -2, 6.3]),
            ("numbers", "solve"),
        ],
        "right": [
            [Fraction(-31, 3), -2, Fraction(19, 3)],
            (-10.333, -2.0, 6.333),
            np.array([-31, -6, 19]) / 3,
        ],
    },
}
