"""Typical wrong answers and differently written right ones, for the exercises of the demo."""

from fractions import Fraction

import numpy as np


def _forgot_return(x):
    _ = 12 * (2 * x + 1)


def _endless(x):
    while True:
        x += 1


def _misspelled(x):
    return 12 * (2 * y + 1)  # noqa: F821


def _only_positive(x):
    return 12 * (2 * abs(x) + 1)


def _long_way(x):
    total = 0.0
    for factor in (3, 2, 2 * x + 1, 2):
        total = factor if not total else total * factor
    return total


def _first_only(step, gradient):
    if step == "times 3":
        return 2 * gradient
    return None


def _local_only(step, gradient):
    gradient = 2 * gradient


def _unpacks(step, gradient):
    name, _ = step
    return 2 * gradient if name == "times" else None


ANSWERS = {
    "demo.1": {
        "wrong": [
            ("factor is missing", 12 * (2 * 0.5 + 1) / 2),
            ("finite", float("inf")),
            ("sign", -24),
            ("Twice as much", 48),
            ("decimal point", 2.4),
            ("significant digit", 23.9),
            ("in digits", "twenty-four"),
            ("call a function first", lambda: 24),
            ("You handed in None", None),
        ],
        "right": ["24", [24], 24, 24.0, Fraction(48, 2), np.float32(24), np.array([24.0])],
    },
    "demo.2": {
        "wrong": [
            ("taken at x", (2, 1, 3)),
            ("opposite order", (3, 4, 2)),
            ("sign", (-2, -4, -3)),
            ("Twice as much", (4, 8, 6)),
            ("2 values", (2, 4)),
            ("entry [1]", (2, 5, 3)),
            ("brackets", ((2, 4), 3)),
        ],
        "right": [(2, 4, 3), [2.0, 4.0, 3.0], np.array([2, 4, 3])],
    },
    "demo.3": {
        "wrong": [
            ("forward", ("times 2", "square", "times 3")),
            ("missing", ["times 3", "square"]),
            ("there are fewer", ["times 3", "square", "square", "times 2"]),
            ("does not belong", ["times 3", "plus 1", "times 2"]),
            ("look again at 'times 2'", ["times 3", "times 2", "square"]),
            ("list of names", 3),
        ],
        "right": [
            ["times 3", "square", "times 2"],
            "times 3 -> square -> times 2",
            "TIMES 3, square, times 2",
        ],
    },
    "demo.4": {
        "wrong": [
            ("constant is zero", ("a", "because the slope of a constant is zero")),
            ("only if", ("c", "it is a constant")),
            ("Add your reason", "b"),
            ("letters a, b, c", ("d", "none of these fits the question")),
            ("letters a, b, c", 2),
        ],
        "right": [
            ("b", "because the square is taken further out"),
            ("(B)", "The inner function is larger there, so the slope is."),
            "b) the square is steeper there",
        ],
    },
    "demo.5": {
        "wrong": [
            ("2 * x + 1 is missing", lambda x: 6 * (2 * x + 1)),
            ("the value, not the slope", lambda x: 3 * (2 * x + 1) ** 2),
            ("whatever goes in", lambda x: 24),
            ("None", _forgot_return),
            ("endless loop", _endless),
            ("NameError", _misspelled),
            ("wrong where x is negative", _only_positive),
            ("and it takes x, y", lambda x, y: 12),
            ("without brackets", 24.0),
        ],
        "right": [lambda x: 24 * x + 12, lambda x: 12 * (x + x + 1), _long_way],
    },
    "demo.6": {
        "wrong": [
            ("after every step", lambda step, gradient: 2 * gradient),
            ("Nothing was changed", _local_only),
            ("ValueError", _unpacks),
            ("has to return a float", lambda step, gradient: (gradient,)),
            ("it takes gradient", lambda gradient: 2 * gradient),
            (
                "the gradient at x is the number 12.0",
                lambda step, gradient: gradient / 2 if step == "square" else None,
            ),
            ("without brackets", 2.0),
        ],
        "right": [
            _first_only,
            lambda s, g: g + g if s.endswith("3") else g,
            lambda s, g: {"times 3": 2 * g}.get(s),
        ],
    },
}
