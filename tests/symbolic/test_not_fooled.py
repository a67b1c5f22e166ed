"""The prover is not fooled: rules made wrong in many ways are never proved, right ones are.

Rules are text, in which `x` is the input, `g` the gradient of the result, and `r` the result. Each
derivative is taken as it is, written in a way that changes nothing, and corrupted, be it on a half
line or at one point.
"""

from __future__ import annotations

import math

import pytest

import minigrad as torch
from minigrad.autograd import Function
from minigrad.symbolic import Refuted, Undecided, prove

WORDS = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("_")}
WORDS |= {"F": torch.nn.functional, "pi": math.pi}


def function(forward, backward):
    """Make a custom function of two formulas."""
    run = eval(f"lambda x: {forward}", dict(WORDS))
    rule = eval(f"lambda g, r, x: {backward}", dict(WORDS))

    class Rule(Function):
        @staticmethod
        def forward(ctx, x):
            result = run(x)
            ctx.save_for_backward(x, result)
            return result

        @staticmethod
        def backward(ctx, g):
            x, r = ctx.saved_tensors
            return rule(g, r, x)

    return Rule.apply


# Where a function can be, its name, the forward, and its derivative.
# fmt: off
BASES = [
    ("real", "square", "x*x", "2*x"),
    ("mid", "exp", "exp(x)", "r"),
    ("real", "sin", "sin(x)", "cos(x)"),
    ("mid", "tanh", "tanh(x)", "1 - r*r"),
    ("mid", "sigmoid", "sigmoid(x)", "r*(1 - r)"),
    ("real", "asinh", "asinh(x)", "1/sqrt(1 + x*x)"),
    ("mid", "silu", "x*sigmoid(x)", "sigmoid(x)*(1 + x*sigmoid(-x))"),
    ("positive", "log", "log(x)", "1/x"),
    ("positive", "sqrt", "sqrt(x)", "0.5/r"),
    ("positive", "power 1.5", "x**1.5", "1.5*sqrt(x)"),
    ("unit", "asin", "asin(x)", "1/sqrt(1 - x*x)"),
    ("unit", "atanh", "atanh(x)", "1/(1 - x*x)"),
    ("unit", "semicircle", "sqrt(1 - x*x)", "-x/r"),
    ("above 1", "acosh", "acosh(x)", "1/sqrt(x*x - 1)"),
    ("above 1", "log log", "log(log(x))", "1/(x*log(x))"),
    ("above -1", "log1p", "log1p(x)", "1/(1 + x)"),
    ("chance", "logit", "log(x/(1 - x))", "1/(x*(1 - x))"),
    ("real", "x times |x|", "x*abs(x)", "2*abs(x)"),
    ("mid", "elu", "where(x > 0, x, exp(x) - 1)", "where(x > 0, 1 + 0*x, r + 1)"),
]
WHOLE, UNIT = ("real", "mid"), ("unit", "chance")
LINE, BELOW = (*WHOLE, "positive", "above 1"), (*WHOLE, "positive", *UNIT, "above -1")
ANY, INSIDE = (*BELOW, "above 1"), (*WHOLE, "positive")
# What happens to the derivative D, and where the function has to be for it to be wrong.
WRONG = [
    (ANY, "-(D)"),
    (ANY, "D + 1"),
    (ANY, "0.3 + 0*x"),
    (ANY, "(D)**2"),
    (ANY, "1.001*(D)"),
    (ANY, "D + 0.002*x"),
    (LINE, "where(x > 100, 2*(D) + 1, D)"),
    (LINE, "D + relu(x - 50)*(1 + abs(D))"),
    (LINE, "where((x > 3.0) & (x < 3.1), 2*(D) + 1, D)"),
    (LINE, "D + exp(-10000*(x - 3.3)**2)"),
    ((*WHOLE, "unit"), "where(abs(x) < 1e-3, 3*(D) + 1, D)"),
    ((*WHOLE, "unit"), "where(x < 0, -2*(D) - 1, D)"),
    ((*WHOLE, "unit"), "D + where(x > 0, exp(-1/x), 0*x)"),
    (ANY, "D + 0.1*sin(pi*x)"),
    (ANY, "D + x - floor(x)"),
    (LINE, "where(sin(x) > 0.9, 2*(D) + 1, D)"),
    (LINE, "D + 1e-2*x*(x**2 - 1)*(x**2 - 4)*(x**2 - 9)"),
    (LINE, "where(floor(x) == 2, 2*(D) + 1, D)"),
    (LINE, "where(round(x) % 2 == 1, 2*(D) + 1, D)"),
    (ANY, "where(ceil(x) - floor(x) == 1, 2*(D) + 1, D)"),
    (ANY, "where(floor(x)*2 == floor(2*x), 2*(D) + 1, D)"),
    (LINE, "where(x // 3 == 1, 2*(D) + 1, D)"),
    ((*WHOLE, "positive"), "(D)*floor(x)/floor(x)"),
    (LINE, "where(x == 1, 7 + 0*x, D)"),
    (LINE, "where(x == 2.5, -(D) - 1, D)"),
    (LINE, "where(x == floor(x), 2*(D) + 1, D)"),
    (LINE, "D + floor(x) + floor(-x) + 1"),
    ((*WHOLE, "unit"), "D + x - sqrt(x)*sqrt(x)"),
    ((*WHOLE, "unit"), "D + x - exp(log(x))"),
    ((*WHOLE, "unit"), "D + 0*sqrt(x)"),
    (LINE, "D + 0*log(x - 3)"),
    (LINE, "D + x - sin(asin(x))"),
    (BELOW, "D + x - cosh(acosh(x))"),
    ((*WHOLE, "unit"), "D + x - (x**0.25)**4"),
    (LINE, "D + asin(x) + acos(x) - pi/2"),
    (LINE, "D + x - acos(cos(x))"),
    ((*WHOLE, "unit"), "D + x - exp(log(x*x)/2)"),
    (ANY, "where(g > 100, 2*(D) + 1, D)"),
    (ANY, "where(g < 0, 2*(D) + 1, D)"),
    (ANY, "clamp(g, -20, 20)/g*(D)"),
]
# What changes nothing.
HARMLESS = [
    (ANY, "(D)*(sin(x)**2 + cos(x)**2)"),
    (ANY, "where(x > 1, D, 1*(D))"),
    (ANY, "where(floor(x) == 2, D, 1*(D))"),
    (ANY, "D + floor(x) + ceil(-x)"),
    (ANY, "D + remainder(x, 1) - x + floor(x)"),
    (ANY, "D + abs(x) - relu(x) - relu(-x)"),
    (ANY, "D + maximum(x, -x) - abs(x)"),
    (ANY, "D + sqrt(x*x) - abs(x)"),
    (ANY, "0.25*(D) + 0.75*(D)"),
    (("positive", "above 1", "chance"), "D + x - sqrt(x)*sqrt(x)"),
    (("positive", "above 1", "chance"), "D + x - exp(log(x))"),
    (("positive", "above 1", "chance"), "(D)*x/x"),
    (UNIT, "D + x - sin(asin(x))"),
    (UNIT, "D + x - tanh(atanh(x))"),
    (ANY, "D + x - tan(atan(x))"),
    (ANY, "D + x - sinh(asinh(x))"),
    (ANY, "where(x*x + 1 < 0, 2*(D) + 1, D)"),
    (ANY, "where(g > 0, D, 1*(D))"),
]
# fmt: on


def rows():
    """Give each derivative as it is; then by turns, on fitting functions, what is made of them."""
    for _, name, forward, derivative in BASES:
        yield f"{name}", "right", forward, f"g*({derivative})"
    for claim, templates in (("wrong", WRONG), ("right", HARMLESS)):
        for turn, (where, template) in enumerate(templates):
            fitting = [base for base in BASES if base[0] in where]
            _, name, forward, derivative = fitting[turn % len(fitting)]
            rule = f"g*({template.replace('D', derivative)})"
            yield f"{name}: {template}", claim, forward, rule


ROWS = list(rows())


@pytest.mark.parametrize(("name", "claim", "forward", "backward"), ROWS, ids=[r[0] for r in ROWS])
def test_a_wrong_rule_is_not_proved_and_a_right_one_is(name, claim, forward, backward):
    try:
        prove(function(forward, backward), ())
        verdict = "proved"
    except Refuted:
        verdict = "refuted"
    except Undecided:
        verdict = "undecided"
    assert verdict == "proved" if claim == "right" else verdict != "proved"
