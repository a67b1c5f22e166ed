"""Wrong answers and differently written right ones, for the exercises of lesson 01."""

import math
from fractions import Fraction

import numpy as np
import sympy

import minigrad as torch


def _by_hand(x, w0, b0, w1, b1):
    def linear(arrives, entered, weight):
        return arrives * weight, arrives * entered, arrives

    x1 = w0 * x + b0
    s = w1 * x1 + b1
    at_x1, *second = linear(4 * s * (s**2 - 1), x1, w1)
    return (*linear(at_x1, x, w0), *second)


def _with_engine(*values):
    x, w0, b0, w1, b1 = given = [torch.tensor(v, requires_grad=True) for v in values]
    (((w1 * (w0 * x + b0) + b1) ** 2 - 1) ** 2).backward()
    return tuple(v.grad for v in given)


def _with_sympy(*values):
    x, w0, b0, w1, b1 = symbols = sympy.symbols("x w0 b0 w1 b1")
    loss = ((w1 * (w0 * x + b0) + b1) ** 2 - 1) ** 2
    at = dict(zip(symbols, values, strict=True))
    return tuple(float(loss.diff(symbol).subs(at)) for symbol in symbols)


def _growing(x, w0, b0, w1, b1, kept=[]):  # noqa: B006
    kept += _by_hand(x, w0, b0, w1, b1)
    return kept


def _at_x1(x1, w1, b1):
    return _by_hand(x1, 1, 0, w1, b1)[0]


def _deeper(x, w0, b0, w1, b1, w2, b2):
    s = w1 * (w0 * x + b0) + b1
    at_y, _, _, gw2, gb2 = _by_hand(s * s, 1, 0, w2, b2)
    up = at_y * 2 * s
    return np.array([up * w1 * w0, up * w1 * x, up * w1, up * (w0 * x + b0), up, gw2, gb2])


def _deeper_by_loop(*values):
    here, *layers = values
    road = []
    for number, (w, b) in enumerate(zip(layers[::2], layers[1::2], strict=True)):
        inner = w * here + b
        road.append((w, here, 2 * inner if number else 1.0))
        here = inner * inner if number else inner
    up, found = 2 * (here - 1), []
    for w, entered, bend in reversed(road):
        up *= bend
        found = [up * entered, up, *found]
        up *= w
    return [up, *found]


ANSWERS = {
    "01.1": {
        "wrong": [
            ("before the multiplication by w1", -0.40796),
            ("sign", 1.0199),
            ("Carry more digits", -1.015),
            ("its sign and its size", -0.5),
            ("Write it in digits", "at s"),
        ],
        "right": [-1.847648 * 0.552, Fraction(-10199, 10000), "-1.0199"],
    },
    "01.2": {
        "wrong": [
            ("It called backward", _with_engine),
            ("derivative found for it", _with_sympy),
            ("Is something rounded", lambda *v: [round(g, 3) for g in _by_hand(*v)]),
            ("gives different results", _growing),
            ("NameError", lambda x, w0, b0, w1, b1: 2 * (s * s - 1)),  # noqa: F821
        ],
        "right": [
            _by_hand,
            lambda *values: np.array(_by_hand(*values)),
            lambda *values: [up * Fraction(1) for up in _by_hand(*map(Fraction, values))],
        ],
    },
    "01.3": {
        "wrong": [
            ("factor w1 is gone", lambda x1, w1, b1: _by_hand(x1, 1, 0, w1, b1)[-1]),
            ("for no others", lambda x1, w1, b1: -0.407960678),
            ("has lost it", lambda x1, w1, b1: _at_x1(x1, w1, b1) * math.copysign(1, w1 * x1 + b1)),
            ("wrong sign", lambda x1, w1, b1: -_at_x1(x1, w1, b1)),
            ("it takes x1", lambda x1: -0.40796),
        ],
        "right": [
            _at_x1,
            lambda x1, w1, b1: 4 * w1 * ((w1 * x1 + b1) ** 3 - (w1 * x1 + b1)),
            lambda x1, w1, b1: np.prod([2, w1, 2 * (w1 * x1 + b1), (w1 * x1 + b1) ** 2 - 1]),
        ],
    },
    "01.4": {
        "wrong": [
            ("any different from 0.3", ("a", "because smaller is closer to the definition")),
            ("good with 16 digits", "b, because it worked before"),
            ("Add your reason", "c"),
            ("one of the letters", ("e", "none of these steps is any good")),
            ("one of the letters", 0.01),
        ],
        "right": [("c", "rounding is worse"), "c) 1 is too coarse", ["C", "fewer digits"]],
    },
    "01.5": {
        "wrong": [
            ("without hooks", (24, 16, 8, 1)),
            ("swapped", (20, 30, 5, 1)),
            ("should not be 6 values", "30, 20, 5, 1, 5, 10"),
            ("4 are asked for", (30, 20)),
            ("3 of 4 values fit", (30, 20, 9, 1)),
        ],
        "right": ["30, 20, 5, 1", {"x": 30, "k": 20, "m": 5, "n": 1}, np.array([30, 20, 5, 1])],
    },
    "01.6": {
        "wrong": [
            ("ZeroDivisionError", lambda *v: [g / v[1] * v[1] for g in _deeper_by_loop(*v)]),
            ("it takes x, w0, b0, w1, b1", _by_hand),
            ("Twice as much", lambda *v: tuple(2 * g for g in _deeper(*v))),
            ("in another order", lambda *v: [*_deeper(*v)[5:], *_deeper(*v)[:5]]),
            ("values fit", lambda *v: [*_deeper(*v)[:5], *_deeper(*v)[5:] * v[3]]),
        ],
        "right": [_deeper, _deeper_by_loop, lambda *v: tuple(_deeper_by_loop(*v))],
    },
}
