"""Typical wrong answers and differently written right ones, for the exercises of lesson 01."""

import math
from fractions import Fraction

import numpy as np

import minigrad as torch

B1 = -1.847648 * 0.552


def _by_hand(x, w0, b0, w1, b1):
    x1 = w0 * x + b0
    s = w1 * x1 + b1
    up = 2 * (s * s - 1) * 2 * s
    return (up * w1 * w0, up * w1 * x, up * w1, up * x1, up)


def _by_hand_as_list(x, w0, b0, w1, b1):
    s = w1 * (w0 * x + b0) + b1
    up = 4 * s**3 - 4 * s
    return [up * w1 * w0, up * w1 * x, up * w1, up * (w0 * x + b0), up]


def _by_hand_as_array(x, w0, b0, w1, b1):
    return np.array(_by_hand(x, w0, b0, w1, b1))


def _swapped(x, w0, b0, w1, b1):
    gx, gw0, *rest = _by_hand(x, w0, b0, w1, b1)
    return (gw0, gx, *rest)


def _walking_order(x, w0, b0, w1, b1):
    return _by_hand(x, w0, b0, w1, b1)[::-1]


def _parameters_first(x, w0, b0, w1, b1):
    gx, *rest = _by_hand(x, w0, b0, w1, b1)
    return (*rest, gx)


def _biases_first(x, w0, b0, w1, b1):
    gx, gw0, gb0, gw1, gb1 = _by_hand(x, w0, b0, w1, b1)
    return gx, gb0, gw0, gb1, gw1


def _no_square(x, w0, b0, w1, b1):
    x1 = w0 * x + b0
    up = 2 * ((w1 * x1 + b1) ** 2 - 1)
    return up * w1 * w0, up * w1 * x, up * w1, up * x1, up


def _one_two(x, w0, b0, w1, b1):
    return tuple(g / 2 for g in _by_hand(x, w0, b0, w1, b1))


def _no_w1(x, w0, b0, w1, b1):
    *_, gw1, gb1 = _by_hand(x, w0, b0, w1, b1)
    return gb1 * w0, gb1 * x, gb1, gw1, gb1


def _no_loss(x, w0, b0, w1, b1):
    x1 = w0 * x + b0
    up = 2 * (w1 * x1 + b1)
    return up * w1 * w0, up * w1 * x, up * w1, up * x1, up


def _wrong_partner(x, w0, b0, w1, b1):
    gx, gw0, gb0, _, gb1 = _by_hand(x, w0, b0, w1, b1)
    return gx, gw0, gb0, gb1 * x, gb1


def _typed(x, w0, b0, w1, b1):
    return -0.1223882, -0.1223882, -0.4079607, -0.1937813, -1.0199017


def _with_engine(x, w0, b0, w1, b1):
    given = [torch.tensor(v, requires_grad=True) for v in (x, w0, b0, w1, b1)]
    x, w0, b0, w1, b1 = given
    (((w1 * (w0 * x + b0) + b1) ** 2 - 1) ** 2).backward()
    return tuple(v.grad for v in given)


def _forgot_return(x, w0, b0, w1, b1):
    _by_hand(x, w0, b0, w1, b1)


def _half_right(x, w0, b0, w1, b1):
    gx, gw0, gb0, gw1, gb1 = _by_hand(x, w0, b0, w1, b1)
    return gx, gw0, gb0 * b0, gw1, gb1 * b1


def _only_x(x, w0, b0, w1, b1):
    return _by_hand(x, w0, b0, w1, b1)[0]


def _misses_s(x, w0, b0, w1, b1):
    return 2 * (s * s - 1)  # noqa: F821


def _with_sympy(x, w0, b0, w1, b1):
    import sympy

    symbols = sympy.symbols("x w0 b0 w1 b1")
    x_, w0_, b0_, w1_, b1_ = symbols
    formula = ((w1_ * (w0_ * x_ + b0_) + b1_) ** 2 - 1) ** 2
    at = dict(zip(symbols, (x, w0, b0, w1, b1), strict=True))
    return tuple(float(formula.diff(symbol).subs(at)) for symbol in symbols)


def _loss(x, w0, b0, w1, b1):
    return ((w1 * (w0 * x + b0) + b1) ** 2 - 1) ** 2


def _small_steps(*values):
    def at(place, step):
        return _loss(*values[:place], values[place] + step, *values[place + 1 :])

    return [(at(k, 1e-5) - at(k, -1e-5)) / 2e-5 for k in range(5)]


def _typed_x_and_w0(x, w0, b0, w1, b1):
    _, _, gb0, gw1, gb1 = _by_hand(x, w0, b0, w1, b1)
    return gb0 * 0.3, gb0 * 0.3, gb0, gw1, gb1


def _below_one(x, w0, b0, w1, b1):
    s = w1 * (w0 * x + b0) + b1
    up = -2 * abs(s * s - 1) * 2 * s
    return up * w1 * w0, up * w1 * x, up * w1, up * (w0 * x + b0), up


def _of_the_square(x, w0, b0, w1, b1):
    x1 = w0 * x + b0
    y = (w1 * x1 + b1) ** 2
    up = 2 * (y - 1) * 2 * y
    return up * w1 * w0, up * w1 * x, up * w1, up * x1, up


def _growing(x, w0, b0, w1, b1, kept=[]):  # noqa: B006
    kept += _by_hand(x, w0, b0, w1, b1)
    return kept


_SUMS = [0.0] * 5


def _summed_up(*values):
    _SUMS[:] = [kept + new for kept, new in zip(_SUMS, _by_hand(*values), strict=True)]
    return tuple(_SUMS)


def _one_at_a_time(x, w0, b0, w1, b1):
    def linear(arrives, entered, weight):
        return arrives * weight, arrives * entered, arrives

    x1 = w0 * x + b0
    s = w1 * x1 + b1
    at_x1, *second = linear(4 * s * (s**2 - 1), x1, w1)
    return (*linear(at_x1, x, w0), *second)


def _at_s(x1, w1, b1):
    s = w1 * x1 + b1
    return 2 * (s**2 - 1) * 2 * s


def _deeper(x, w0, b0, w1, b1, w2, b2):
    x1 = w0 * x + b0
    s = w1 * x1 + b1
    t = w2 * s * s + b2
    at_t = 2 * (t * t - 1) * 2 * t
    at_s = at_t * w2 * 2 * s
    return (at_s * w1 * w0, at_s * w1 * x, at_s * w1, at_s * x1, at_s, at_t * s * s, at_t)


def _deeper_by_loop(*values):
    x, *layers = values
    here, road = x, []
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


def _deeper_no_w2(x, w0, b0, w1, b1, w2, b2):
    x1 = w0 * x + b0
    s = w1 * x1 + b1
    *_, gw2, gb2 = _deeper(x, w0, b0, w1, b1, w2, b2)
    up = gb2 * 2 * s
    return up * w1 * w0, up * w1 * x, up * w1, up * x1, up, gw2, gb2


def _deeper_partner(x, w0, b0, w1, b1, w2, b2):
    *low, _, gb2 = _deeper(x, w0, b0, w1, b1, w2, b2)
    return (*low, gb2 * (w1 * (w0 * x + b0) + b1), gb2)


def _deeper_old_loss(x, w0, b0, w1, b1, w2, b2):
    x1 = w0 * x + b0
    s = w1 * x1 + b1
    t = w2 * s * s + b2
    at_t = 2 * (s * s - 1) * 2 * t
    at_s = at_t * w2 * 2 * s
    return (at_s * w1 * w0, at_s * w1 * x, at_s * w1, at_s * x1, at_s, at_t * s * s, at_t)


def _deeper_no_square(x, w0, b0, w1, b1, w2, b2):
    s = w1 * (w0 * x + b0) + b1
    *low, gw2, gb2 = _deeper(x, w0, b0, w1, b1, w2, b2)
    return (*(g / (2 * s) for g in low), gw2, gb2)


def _deeper_no_last_square(x, w0, b0, w1, b1, w2, b2):
    t = w2 * (w1 * (w0 * x + b0) + b1) ** 2 + b2
    return [g / (2 * t) for g in _deeper(x, w0, b0, w1, b1, w2, b2)]


def _deeper_old_five(x, w0, b0, w1, b1, w2, b2):
    return (*_by_hand(x, w0, b0, w1, b1), *_deeper(x, w0, b0, w1, b1, w2, b2)[5:])


def _deeper_back_by_division(x, w0, b0, w1, b1, w2, b2):
    s = w1 * (w0 * x + b0) + b1
    *low, _, gb2 = _deeper(x, w0, b0, w1, b1, w2, b2)
    return (*low, gb2 * w2 / w2 * s * s, gb2 * w2 / w2)


def _deeper_own_bias(*values):
    *others, gb2 = _deeper(*values)
    return (*others, gb2 * values[-1])


def _deeper_from_by_hand(x, w0, b0, w1, b1, w2, b2):
    s = w1 * (w0 * x + b0) + b1
    at_y, _, _, gw2, gb2 = _by_hand(s * s, 1, 0, w2, b2)
    up = at_y * 2 * s
    return np.array([up * w1 * w0, up * w1 * x, up * w1, up * (w0 * x + b0), up, gw2, gb2])


def _deeper_new_first(*values):
    gradients = _deeper(*values)
    return (*gradients[5:], *gradients[:5])


ANSWERS = {
    "01.1": {
        "wrong": [
            ("before the multiplication by w1", -0.40796),
            ("One link lies between y and s", -1.847648),
            ("a bias has none", -0.19378),
            ("does not depend on b1", B1 * 0.2),
            ("without the loss", 0.552),
            ("sign", 1.0199),
            ("Half of what", B1 / 2),
            ("Carry more digits", -1.0119),
            ("decimal point", -0.10199),
            ("its sign and its size", -0.5),
            ("its sign and its size", -1.1),
            ("Write it in digits", "at s"),
            ("lost their 2", B1 / 4),
            ("not two times the square", -1.847648 * 2 * 0.076176),
            ("divide by a local derivative", -1.847648 / 0.552),
            ("derivatives are added", -1.847648 + 0.552),
            ("L itself", 0.853451 * 0.552),
            ("difference quotient to one side", -1.16224),
            ("its sign and its size", 0.0),
        ],
        "right": [
            -1.0199,
            B1,
            Fraction(-10199, 10000),
            np.float32(B1),
            torch.tensor(B1),
            "-1.0199",
        ],
    },
    "01.2": {
        "wrong": [
            ("exchanged. At x = w0", _swapped),
            ("order of the arguments", _walking_order),
            ("x first", _parameters_first),
            ("without a partner", _biases_first),
            ("the derivative of a square?", _no_square),
            ("two squares", _one_two),
            ("multiplies x1", _no_w1),
            ("starts at y", _no_loss),
            ("gradient of w1 contains x. ", _wrong_partner),
            ("at no others", _typed),
            ("at no others", _typed_x_and_w0),
            ("It called backward", _with_engine),
            ("derivative found for it", _with_sympy),
            ("a small step in it", _small_steps),
            ("Is something rounded", lambda *v: [round(g, 2) for g in _by_hand(*v)]),
            ("not two times the square", _of_the_square),
            ("an absolute value in it", _below_one),
            ("gives two results", _growing),
            ("gives two results", _summed_up),
            ("returns a set", lambda *v: set(_by_hand(*v))),
            ("returns a text", lambda *v: str(_by_hand(*v))),
            ("after a step", lambda *v: [a - g for a, g in zip(v, _by_hand(*v), strict=True)]),
            ("Asked for are 5", lambda *v: (_loss(*v), *_by_hand(*v))),
            ("b1 takes what arrives at x1", lambda *v: _by_hand(*v)[:4] + _by_hand(*v)[2:3]),
            ("Is a return missing", _forgot_return),
            ("should not be 1 value", _only_x),
            (
                "gradient of w1 contains w1 itself",
                lambda *v: _by_hand(*v)[:3] + _by_hand(*v)[2:3] * 2,
            ),
            ("gradient of b0 contains b0 itself", _half_right),
            ("NameError", _misses_s),
            ("without brackets", (-0.12239, -0.12239, -0.40796, -0.19378, -1.0199)),
            ("wrong sign", lambda *v: tuple(-g for g in _by_hand(*v))),
        ],
        "right": [_by_hand, _by_hand_as_list, _by_hand_as_array, _one_at_a_time],
    },
    "01.3": {
        "wrong": [
            ("colleague's version", lambda x1, w1, b1: 2 * ((w1 * x1 + b1) ** 2 - 1) * w1),
            ("not the number that is squared", lambda x1, w1, b1: _at_s(x1, w1, b1) * w1 / 2),
            (
                "not its value",
                lambda x1, w1, b1: 2 * ((w1 * x1 + b1) ** 2 - 1) * (w1 * x1 + b1) ** 2 * w1,
            ),
            (
                "mends one point only",
                lambda x1, w1, b1: 2 * ((w1 * x1 + b1) ** 2 - 1) * 0.552 * w1,
            ),
            ("w1 has lost", _at_s),
            ("taken at x1", lambda x1, w1, b1: 4 * x1 * w1 * ((w1 * x1 + b1) ** 2 - 1)),
            (
                "not added",
                lambda x1, w1, b1: (2 * ((w1 * x1 + b1) ** 2 - 1) + 2 * (w1 * x1 + b1)) * w1,
            ),
            ("at no others", lambda x1, w1, b1: -0.407960678),
            (
                "not two times the square",
                lambda x1, w1, b1: w1 * _at_s(x1, w1, b1) * (w1 * x1 + b1),
            ),
            ("in there twice", lambda x1, w1, b1: w1 * w1 * _at_s(x1, w1, b1)),
            ("has b1 in it", lambda x1, w1, b1: w1 * b1 * _at_s(x1, w1, b1)),
            ("the side road", lambda x1, w1, b1: x1 * _at_s(x1, w1, b1)),
            ("has lost b1", lambda x1, w1, b1: w1 * _at_s(x1, w1, 0.0)),
            (
                "has the sign of s",
                lambda x1, w1, b1: w1 * math.copysign(_at_s(x1, w1, b1), (w1 * x1 + b1) ** 2 - 1),
            ),
            ("one link too far", lambda x1, w1, b1: 0.3 * w1 * _at_s(x1, w1, b1)),
            ("make a tuple", lambda x1, w1, b1: (w1 * _at_s(x1, w1, b1),)),
            ("wrong sign", lambda x1, w1, b1: -w1 * _at_s(x1, w1, b1)),
            ("it takes x1", lambda x1: -0.40796),
            ("without brackets", -0.40796),
        ],
        "right": [
            lambda x1, w1, b1: w1 * _at_s(x1, w1, b1),
            lambda x1, w1, b1: 4 * w1 * ((w1 * x1 + b1) ** 3 - (w1 * x1 + b1)),
        ],
    },
    "01.4": {
        "wrong": [
            ("any different from 0.3", ("a", "because smaller is closer to the definition")),
            ("good with 16 digits", ("b", "because it worked before")),
            ("between x - 1 and x + 1", ("d", "because rounding is far away then")),
            ("Add your reason", "c"),
            ("one of the letters", ("e", "none of these steps is any good")),
            ("one of the letters", 0.01),
        ],
        "right": [
            ("c", "Rounding is worse in float32; a step of 1 would let the curve bend."),
            ("c", "1e-8 drowns in rounding and 1 is too coarse for the curve"),
            ("c", "below it cancellation wins, above it truncation"),
            ("c", "h = 1 suffers from the third derivative, 1e-8 from seven-digit arithmetic"),
        ],
    },
    "01.5": {
        "wrong": [
            ("multiplied, not added", (5, 5, 5, 3, 3)),
            ("already passed s", (2, 2, 2, 3, 3)),
            ("leave before x1", (6, 6, 6, 6, 6)),
            ("toward the loss", (2, 2, 2, 6, 6)),
            ("passes on what arrives", (6, 6, 1, 3, 1)),
            ("the second was not", (3, 3, 3, 3, 3)),
            ("not the gradients", (-0.73433, -0.73433, -2.44776, -0.58134, -3.05971)),
            ("opposite order", (3, 3, 6, 6, 6)),
            ("5 are asked for", (6, 3)),
            ("reaches all three", (6, 6, 2, 3, 3)),
            ("reaches both", (6, 6, 6, 1, 3)),
            ("the doubling alone", (2, 2, 2, 1, 1)),
            ("which of the two hooks", (6, 6, 6, 2, 2)),
            ("has the factor 2", (5, 5, 5, 2, 2)),
            ("count it twice", (18, 18, 18, 3, 3)),
            ("six numbers came", (6, 6, 6, 3, 3, 1)),
            ("in another order", (6, 3, 6, 3, 6)),
        ],
        "right": [
            "6, 6, 6, 3, 3",
            (6, 6, 6, 3, 3),
            [6.0, 6.0, 6.0, 3.0, 3.0],
            np.array([6, 6, 6, 3, 3]),
        ],
    },
    "01.6": {
        "wrong": [
            ("multiplies y", _deeper_no_w2),
            ("looks at z", _deeper_old_loss),
            ("is y, not s", _deeper_partner),
            ("The first square", _deeper_no_square),
            ("The square that makes z", _deeper_no_last_square),
            ("w2 and b2 are exchanged", lambda *v: (*_deeper(*v)[:5], *_deeper(*v)[:4:-1])),
            ("order of the arguments", _deeper_new_first),
            ("not enough", lambda x, w0, b0, w1, b1, w2, b2: _by_hand(x, w0, b0, w1, b1)),
            ("it takes x, w0, b0, w1, b1", _by_hand),
            ("wrong sign", lambda *v: tuple(-g for g in _deeper(*v))),
            ("What arrives at y now", _deeper_old_five),
            ("ZeroDivisionError", _deeper_back_by_division),
            ("gradient of b2 contains b2 itself", _deeper_own_bias),
            ("a small step in it", lambda *v: [round(g, 2) for g in _deeper(*v)]),
            ("exchanged", lambda *v: (_deeper(*v)[1], _deeper(*v)[0], *_deeper(*v)[2:])),
            ("Twice as much", lambda *v: tuple(2 * g for g in _deeper(*v))),
        ],
        "right": [_deeper, _deeper_by_loop, _deeper_from_by_hand],
    },
}
