"""A bank of backward rules, right and wrong, by which a referee of rules is judged.

Each row is a function with a rule for its gradient, and the claim that the rule is

- `right`: it is the derivative wherever the forward is finite and smooth;
- `wrong`: at some of these points it is not, be they a half line or one point, or it is NaN there;
- `single`: it is right but for single points, at which it is not a number (0/0).

Most rows are made here of tables: functions with their derivatives written in several ways, and
corruptions of a derivative. Rows that cannot be combined are in the modules next to this one.
Formulas are text, in which `x`, `y`, ... are the inputs, `g` is the gradient of the result, and `r`
the result. All of it is the same on every run.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.autograd import Function
from minigrad.nn import functional as F
from minigrad.symbolic import symbols


def T(values: Any) -> Any:
    """Give numbers as a tensor of float64."""
    return torch.tensor(values, dtype=torch.float64)


WORDS = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("_")}
WORDS |= {"F": F, "T": T, "pi": math.pi, "len": len, "range": range}


def read(parameters: list[str], formula: str) -> Callable[..., Any]:
    return eval(f"lambda {', '.join(parameters)}: {formula}", dict(WORDS))


def function(names: list[str], forward: str, backward: str) -> Callable[..., Any]:
    """Make a custom function of two formulas; the second gives one gradient, or a tuple."""
    run, rule = read(names, forward), read(["g", "r", *names], backward)

    class Rule(Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            result = run(*inputs)
            ctx.several = isinstance(result, tuple)
            ctx.save_for_backward(*inputs, *(result if ctx.several else (result,)))
            return result

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            inputs, results = ctx.saved_tensors[: len(names)], ctx.saved_tensors[len(names) :]
            g, r = (grads, results) if ctx.several else (grads[0], results[0])
            given = rule(g, r, *inputs)
            given = given if isinstance(given, tuple) else (given,)
            return given + (None,) * (len(names) - len(given))

    return Rule.apply


# ---------------------------------------------------------------------- rows


def wide(rng: np.random.Generator) -> float:
    """Draw mostly from near 0, with some integers and some large numbers."""
    kind = rng.random()
    if kind < 0.6:
        return rng.uniform(-4, 4)
    return rng.uniform(-150, 150) if kind < 0.85 else float(rng.integers(-4, 9)) + 0.25


DRAWS: dict[str, Callable[[np.random.Generator], float]] = {
    "real": wide,
    "mid": lambda rng: rng.uniform(-4, 4),
    "positive": lambda rng: math.exp(rng.uniform(-3, 4)),
    "negative": lambda rng: -math.exp(rng.uniform(-3, 4)),
    "unit": lambda rng: rng.uniform(-0.97, 0.97),
    "chance": lambda rng: rng.uniform(0.03, 0.97),
    "above 1": lambda rng: 1 + math.exp(rng.uniform(-3, 4)),
    "above -1": lambda rng: -1 + math.exp(rng.uniform(-3, 4)),
}
SIGNS = {"positive": "positive", "negative": "negative", "nonnegative": "positive"}


@dataclass(frozen=True, eq=False)
class Row:
    """A function with a rule, and what is claimed of it.

    Attributes:
        kind: What sort of mistake it is or looks like.
        name: Its name; with the kind and the claim it is unique.
        claim: "right", "wrong" or "single".
        forward: A formula, or a function of the inputs.
        backward: The formula of the rule; None if the forward's own gradient is meant.
        on: The inputs, such as "x y:2 z:2,2".
        draws: A key of DRAWS for each input, or one for all.
        near: Intervals, one for each input or one for all, of which some of the draws are.
        points: Draws that have to be among the others, each with a value for each input.
        named: Names of symbols, for which tensors are made; without them, shapes are handed over.
            None in the place of one of them stands for a shape, x+ for a positive x.
        options: What else is handed to the referee, such as assumptions.
        entrywise: Whether it can be run on many points at once.
    """

    kind: str
    name: str
    claim: str
    forward: str | Callable[..., Any]
    backward: str | None = None
    on: str = "x"
    draws: str | tuple[str, ...] = "real"
    near: tuple[tuple[float, float], ...] = ()
    points: tuple[tuple[Any, ...], ...] = ()
    named: tuple[str | None, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    entrywise: bool = True

    @property
    def id(self) -> str:
        return f"{self.claim}-{self.kind}-{self.name}".replace(" ", "_")

    @cached_property
    def inputs(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """The name and the shape of each input."""
        parts = [part.partition(":") for part in self.on.split()]
        return tuple((name, tuple(map(int, filter(None, s.split(","))))) for name, _, s in parts)

    @property
    def assumptions(self) -> dict[str, bool]:
        return {name: said for name, said in self.options.items() if isinstance(said, bool)}

    def function(self) -> Callable[..., Any]:
        """Give the function."""
        if callable(self.forward):
            return self.forward
        names = [name for name, _ in self.inputs]
        if self.backward is None:
            return read(names, self.forward)
        return function(names, self.forward, self.backward)

    def tensors(self) -> list[Any]:
        """Make a tensor of symbols for each input that has a name of its own, else a shape."""
        named = self.named or (None,) * len(self.inputs)
        return [
            shape
            if name is None
            else symbols(
                name.rstrip("+"),
                shape,
                requires_grad=True,
                **({"positive": True} if name.endswith("+") else self.assumptions),
            )
            for name, (_, shape) in zip(named, self.inputs, strict=True)
        ]

    def make(self) -> tuple[Callable[..., Any], list[Any], dict[str, Any]]:
        """Give what is to be proved: a function, its inputs, and options."""
        options = {} if all(self.named) and self.named else self.options
        return self.function(), self.tensors(), options

    def draw(self, rng: np.random.Generator) -> list[np.ndarray]:
        """Draw a float64 array for each input."""
        count = len(self.inputs)
        if self.points and rng.random() < 0.15:
            point = self.points[rng.integers(len(self.points))]
            drawn = [np.full(s, v, float) for v, (_, s) in zip(point, self.inputs, strict=True)]
        else:
            kinds = (self.draws,) * count if isinstance(self.draws, str) else self.draws
            sign = next((SIGNS[name] for name in self.assumptions if name in SIGNS), None)
            kinds = tuple(sign if sign and kind == "real" else kind for kind in kinds)
            drawn = [
                np.array([DRAWS[kind](rng) for _ in range(math.prod(shape))]).reshape(shape)
                for kind, (_, shape) in zip(kinds, self.inputs, strict=True)
            ]
            if self.near and rng.random() < 0.3:
                near = self.near * count if len(self.near) == 1 else self.near
                drawn = [rng.uniform(*n, a.shape) for n, a in zip(near, drawn, strict=True)]
        return [np.asarray(each) for each in drawn]


def rows(claim: str, kind: str, *lines: tuple[Any, ...], **common: Any) -> Iterator[Row]:
    """Make rows of lines: a name, the forward, the rule, and perhaps a dict of further fields."""
    for name, forward, backward, *more in lines:
        yield Row(kind, name, claim, forward, backward, **(common | (more[0] if more else {})))


# ---------------------------------------------------------------------- what is combined

# name, draws, forward, the derivative in several ways; "flat" is said of a derivative that is
# constant, or 0 in places, so that not every corruption changes it
# fmt: off
BASES = [
    ("square", "real", "x*x", "2*x", "x + x", "(x + 1)**2 - x*x - 1"),
    ("cube", "real", "x**3", "3*x**2", "3*x*x", "3*abs(x)**2"),
    ("quartic", "real", "x**4/4 - x", "x**3 - 1", "(x - 1)*(x*x + x + 1)"),
    ("exp", "mid", "exp(x)", "r", "exp(x)", "exp(x/2)**2", "sinh(x) + cosh(x)"),
    ("expm1", "mid", "expm1(x)", "r + 1", "exp(x)"),
    ("sin", "real", "sin(x)", "cos(x)", "sin(x + pi/2)", "2*cos(x/2)**2 - 1"),
    ("cos", "real", "cos(x)", "-sin(x)", "-2*sin(x/2)*cos(x/2)"),
    ("tan", "mid", "tan(x)", "1 + r*r", "1/cos(x)**2"),
    ("tanh", "mid", "tanh(x)", "1 - r*r", "1/cosh(x)**2", "4*sigmoid(2*x)*sigmoid(-2*x)"),
    ("sigmoid", "mid", "sigmoid(x)", "r*(1 - r)", "sigmoid(x)*sigmoid(-x)",
     "exp(-x)/(1 + exp(-x))**2", "(1 - tanh(x/2)**2)/4"),
    ("softplus", "mid", "log1p(exp(x))", "sigmoid(x)", "exp(x)/(1 + exp(x))", "1 - exp(-r)"),
    ("bell", "mid", "exp(-x*x/2)", "-x*r", "-x*exp(-x*x/2)"),
    ("sinh", "mid", "sinh(x)", "cosh(x)", "(exp(x) + exp(-x))/2", "sqrt(1 + r*r)"),
    ("cosh", "mid", "cosh(x)", "sinh(x)", "(exp(x) - exp(-x))/2"),
    ("atan", "real", "atan(x)", "1/(1 + x*x)", "cos(r)**2"),
    ("asinh", "real", "asinh(x)", "1/sqrt(1 + x*x)", "(1 + x*x)**-0.5", "1/cosh(r)"),
    ("erf", "mid", "erf(x)", "2/pi**0.5*exp(-x*x)"),
    ("hyperbola", "real", "sqrt(1 + x*x)", "x/r", "x/sqrt(1 + x*x)"),
    ("witch", "mid", "x/(1 + x*x)", "(1 - x*x)/(1 + x*x)**2", "1/(1 + x*x) - 2*r*r"),
    ("silu", "mid", "x*sigmoid(x)", "sigmoid(x)*(1 + x*sigmoid(-x))", "r + sigmoid(x)*(1 - r)"),
    ("log of 1 + x*x", "real", "log(1 + x*x)", "2*x/(1 + x*x)", "2*x*exp(-r)"),
    ("x sin x", "real", "x*sin(x)", "sin(x) + x*cos(x)"),
    ("exp sin", "mid", "exp(sin(x))", "cos(x)*r", "cos(x)*exp(sin(x))"),
    ("sin of square", "mid", "sin(x*x)", "2*x*cos(x*x)"),
    ("x exp x", "mid", "x*exp(x)", "(1 + x)*exp(x)", "r + exp(x)"),
    ("log", "positive", "log(x)", "1/x", "exp(-r)", "exp(-log(x))", "rsqrt(x)**2"),
    ("sqrt", "positive", "sqrt(x)", "0.5/r", "rsqrt(x)/2", "x**-0.5/2", "r/(2*x)"),
    ("x log x", "positive", "x*log(x)", "log(x) + 1", "r/x + 1"),
    ("power 1.5", "positive", "x**1.5", "1.5*sqrt(x)", "1.5*r/x"),
    ("power -0.5", "positive", "x**-0.5", "-0.5*x**-1.5", "-0.5*r**3", "-0.5*r/x"),
    ("x to the x", "chance", "x**x", "r*(log(x) + 1)"),
    ("asin", "unit", "asin(x)", "1/sqrt(1 - x*x)", "1/cos(r)", "(1 - x*x)**-0.5",
     "1/(sqrt(1 - x)*sqrt(1 + x))"),
    ("acos", "unit", "acos(x)", "-1/sqrt(1 - x*x)", "-1/sin(r)"),
    ("atanh", "unit", "atanh(x)", "1/(1 - x*x)", "cosh(r)**2"),
    ("semicircle", "unit", "sqrt(1 - x*x)", "-x/r", "-x/sqrt(1 - x*x)"),
    ("acosh", "above 1", "acosh(x)", "1/sqrt(x*x - 1)", "1/sinh(r)",
     "1/(sqrt(x - 1)*sqrt(x + 1))"),
    ("log log", "above 1", "log(log(x))", "1/(x*log(x))", "exp(-r)/x"),
    ("log1p", "above -1", "log1p(x)", "1/(1 + x)", "exp(-r)"),
    ("logit", "chance", "log(x/(1 - x))", "1/(x*(1 - x))", "1/x + 1/(1 - x)"),
    ("x times |x|", "real", "x*abs(x)", "2*abs(x)", "2*x*sign(x)"),
    ("elu", "mid", "where(x > 0, x, exp(x) - 1)", "where(x > 0, 1 + 0*x, r + 1)"),
]

WHOLE, UNIT = ("real", "mid"), ("unit", "chance")
LINE, BELOW = (*WHOLE, "positive", "above 1"), (*WHOLE, "positive", *UNIT, "above -1")
ANY, INSIDE = (*BELOW, "above 1"), (*WHOLE, "positive")
# kind, name, where it can be, what becomes of the derivative D, and where to look for the mistake
CORRUPTIONS = [
    ("classical", "sign", ANY, "-(D)"),
    ("classical", "factor 2", ANY, "2*(D)"),
    ("classical", "one more", ANY, "D + 1"),
    ("classical", "chain factor", ANY, "0.3 + 0*x"),
    ("classical", "squared", ANY, "(D)**2"),
    ("small", "factor 1.001", ANY, "1.001*(D)"),
    ("small", "term", ANY, "D + 0.002*x"),
    ("small", "constant", ANY, "D + 0.002"),
    ("far", "x > 100", LINE, "where(x > 100, 2*(D) + 1, D)", (100, 110)),
    ("far", "x < -100", WHOLE, "where(x < -100, 2*(D) + 1, D)", (-110, -100)),
    ("far", "x > 1000", ("positive", "above 1"), "where(x > 1000, 2*(D) + 1, D)", (1000, 1100)),
    ("far", "relu(x - 50)", LINE, "D + relu(x - 50)*(1 + abs(D))", (60, 99)),
    ("window", "3 to 3.1", LINE, "where((x > 3.0) & (x < 3.1), 2*(D) + 1, D)", (3.0, 3.1)),
    ("window", "peak at 3.3", LINE, "D + exp(-10000*(x - 3.3)**2)", (3.29, 3.31)),
    ("window", "0.30 to 0.31", BELOW, "where((x > 0.30) & (x < 0.31), 2*(D) + 1, D)", (0.30, 0.31)),
    ("window", "near 0", (*WHOLE, "unit"), "where(abs(x) < 1e-3, 3*(D) + 1, D)", (-1e-3, 1e-3)),
    ("window", "below 0.001", ("positive",), "where(x < 1e-3, 2*(D) + 1, D)", (2e-4, 1e-3)),
    ("one side", "x < 0", (*WHOLE, "unit"), "where(x < 0, -2*(D) - 1, D)"),
    ("one side", "|x| - x", (*WHOLE, "unit"), "D + abs(x) - x"),
    ("one side", "flat at 0", (*WHOLE, "unit"), "D + where(x > 0, exp(-1/x), 0*x)"),
    ("one side", "root of square", (*WHOLE, "unit"), "D + sqrt(x*x) - x"),
    ("periodic", "sin(pi x)", ANY, "D + 0.1*sin(pi*x)"),
    ("periodic", "sin(60 pi x)", ANY, "D + 0.1*sin(x*60*pi)"),
    ("periodic", "x - floor(x)", ANY, "D + x - floor(x)"),
    ("periodic", "sin(x) > 0.9", LINE, "where(sin(x) > 0.9, 2*(D) + 1, D)", (1.2, 1.9)),
    ("periodic", "roots at integers", LINE, "D + 1e-2*x*(x**2 - 1)*(x**2 - 4)*(x**2 - 9)", (1, 2)),
    ("pieces", "floor(x) == 2", LINE, "where(floor(x) == 2, 2*(D) + 1, D)", (2, 3)),
    ("pieces", "floor(x) >= 5", LINE, "where(floor(x) >= 5, 2*(D) + 1, D)", (5, 7)),
    ("pieces", "odd round(x)", LINE, "where(round(x) % 2 == 1, 2*(D) + 1, D)", (2.6, 3.4)),
    ("pieces", "ceil - floor == 1", ANY, "where(ceil(x) - floor(x) == 1, 2*(D) + 1, D)"),
    ("pieces", "trunc(x) == 0", (*WHOLE, *UNIT), "where(trunc(x) == 0, 2*(D) + 1, D)", (-0.9, 0.9)),
    ("pieces", "2 floor(x) == floor(2x)", ANY, "where(floor(x)*2 == floor(2*x), 2*(D) + 1, D)"),
    ("pieces", "x // 3 == 1", LINE, "where(x // 3 == 1, 2*(D) + 1, D)", (3, 6)),
    ("pieces", "floor(x) over itself", (*WHOLE, "positive"), "(D)*floor(x)/floor(x)", (0.1, 0.9)),
    ("pieces", "round(x) over itself", UNIT, "(D)*round(x)/round(x)", (0.1, 0.4)),
    ("one point", "x == 1", LINE, "where(x == 1, 7 + 0*x, D)", (), (1.0,)),
    ("one point", "x == 2.5", LINE, "where(x == 2.5, -(D) - 1, D)", (), (2.5,)),
    ("one point", "x == 1/2", UNIT, "where(x == 0.5, 7 + 0*x, D)", (), (0.5,)),
    ("one point", "integers", LINE, "where(x == floor(x), 2*(D) + 1, D)", (), (2.0, 3.0, 7.0)),
    ("one point", "floors of x and -x", LINE, "D + floor(x) + floor(-x) + 1", (), (2.0, 3.0)),
    ("domain", "two roots", (*WHOLE, "unit"), "D + x - sqrt(x)*sqrt(x)"),
    ("domain", "exp log", (*WHOLE, "unit"), "D + x - exp(log(x))"),
    ("domain", "nothing times a root", (*WHOLE, "unit"), "D + 0*sqrt(x)"),
    ("domain", "nothing times a log", LINE, "D + 0*log(x - 3)", (1.1, 2.9)),
    ("domain", "sin asin", LINE, "D + x - sin(asin(x))", (1.1, 2)),
    ("domain", "tanh atanh", LINE, "D + x - tanh(atanh(x))", (1.1, 2)),
    ("domain", "cosh acosh", BELOW, "D + x - cosh(acosh(x))", (0.1, 0.9)),
    ("domain", "fourth root", (*WHOLE, "unit"), "D + x - (x**0.25)**4"),
    ("domain", "asin + acos", LINE, "D + asin(x) + acos(x) - pi/2", (1.1, 2)),
    ("branch", "acos cos", LINE, "D + x - acos(cos(x))", (4, 6)),
    ("branch", "asin sin", LINE, "D + x - asin(sin(x))", (2, 4)),
    ("branch", "atan tan", LINE, "D + x - atan(tan(x))", (2, 4)),
    ("branch", "log of square", (*WHOLE, "unit"), "D + x - exp(log(x*x)/2)"),
    ("cotangent", "g > 100", ANY, "where(g > 100, 2*(D) + 1, D)"),
    ("cotangent", "g < 0", ANY, "where(g < 0, 2*(D) + 1, D)"),
    ("cotangent", "clipped", ANY, "clamp(g, -20, 20)/g*(D)"),
    ("cotangent", "|g|", ANY, "sign(g)*(D) + 0*x"),
]
HARMLESS = [
    ("circle", ANY, "(D)*(sin(x)**2 + cos(x)**2)"),
    ("same on both sides", ANY, "where(x > 1, D, 1*(D))"),
    ("same on a piece", ANY, "where(floor(x) == 2, D, 1*(D))"),
    ("floor and ceil", ANY, "D + floor(x) + ceil(-x)"),
    ("remainder and floor", ANY, "D + remainder(x, 1) - x + floor(x)"),
    ("relu and abs", ANY, "D + abs(x) - relu(x) - relu(-x)"),
    ("maximum and abs", ANY, "D + maximum(x, -x) - abs(x)"),
    ("root of square and abs", ANY, "D + sqrt(x*x) - abs(x)"),
    ("quarters", ANY, "0.25*(D) + 0.75*(D)"),
    ("two roots", ("positive", "above 1", "chance"), "D + x - sqrt(x)*sqrt(x)"),
    ("exp log", ("positive", "above 1", "chance"), "D + x - exp(log(x))"),
    ("over itself", ("positive", "above 1", "chance"), "(D)*x/x"),
    ("sin asin", UNIT, "D + x - sin(asin(x))"),
    ("tanh atanh", UNIT, "D + x - tanh(atanh(x))"),
    ("tan atan", ANY, "D + x - tan(atan(x))"),
    ("sinh asinh", ANY, "D + x - sinh(asinh(x))"),
    ("nobody there", ANY, "where(x*x + 1 < 0, 2*(D) + 1, D)"),
    ("nobody at a floor", ANY, "where(floor(x) > x, 2*(D) + 1, D)"),
    ("sign of g", ANY, "where(g > 0, D, 1*(D))"),
]
SINGLE = [
    ("x over x", (*WHOLE, "unit"), "(D)*x/x", (0.0,)),
    ("x - 1 over itself", INSIDE, "(D)*(x - 1)/(x - 1)", (1.0,)),
    ("sin over itself", (*WHOLE, "unit"), "(D)*sin(x)/sin(x)", (0.0,)),
    ("sign over itself", (*WHOLE, "unit"), "(D)*sign(x)/sign(x)", (0.0,)),
    ("log of |x| less itself", (*WHOLE, "unit"), "D + log(abs(x)) - log(abs(x))", (0.0,)),
    ("saw-tooth over itself", LINE, "(D)*(x - floor(x))/(x - floor(x))", (2.0, 3.0)),
    ("square less 1", INSIDE, "(D)*(x*x - 1)/((x - 1)*(x + 1))", (1.0,)),
]
# fmt: on
# Of each base: ways that are told by themselves (all are corrupted), and corruptions.
WAYS, PER_BASE = 2, 2


def combined() -> Iterator[Row]:
    """Make rows of the tables: each way of each base, and by turns what is made of them."""
    chance = random.Random(20240)
    used = {each[1]: 0 for each in CORRUPTIONS}
    for place, base in enumerate(BASES):
        name, draws, forward, *ways = base
        for number, way in enumerate(ways[:WAYS]):
            yield Row("base", f"{name} {number}", "right", forward, f"g*({way})", draws=draws)
        harmless = [each for each in HARMLESS if draws in each[1]]
        how, _, template = harmless[place % len(harmless)]
        rule = f"g*({template.replace('D', ways[0])})"
        yield Row("harmless", f"{name} {how}", "right", forward, rule, draws=draws)
        fitting = [each for each in CORRUPTIONS if draws in each[2]]
        chance.shuffle(fitting)
        fitting.sort(key=lambda each: used[each[1]])
        for number, (kind, how, _, template, *where) in enumerate(fitting[:PER_BASE]):
            used[how] += 1
            rule = f"g*({template.replace('D', ways[number % len(ways)])})"
            near = (where[0],) if where and where[0] else ()
            points = tuple((each,) for each in where[1]) if len(where) > 1 else ()
            look = {"near": near, "points": points, "draws": draws}
            yield Row(kind, f"{name} {how}", "wrong", forward, rule, **look)
        if draws in LINE and place % 2 == 0:
            fitting = [each for each in SINGLE if draws in each[1]]
            how, _, template, points = fitting[place // 2 % len(fitting)]
            rule = f"g*({template.replace('D', ways[0])})"
            points = tuple((each,) for each in points)
            look = {"points": points, "draws": draws}
            yield Row("single points", f"{name} {how}", "single", forward, rule, **look)


def bank() -> list[Row]:
    """Give all rows."""
    from .rule_bank_arrays import arrays
    from .rule_bank_programs import programs
    from .rule_bank_scalars import scalars

    return [*combined(), *scalars(), *programs(), *arrays()]
