"""Run the rules of lesson 10's exercises, right and wrong, and look at what they leave behind."""

from __future__ import annotations

import importlib
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from minigrad.classroom.belongings import Belongings, said_of
from minigrad.classroom.describing import is_stub
from minigrad.classroom.exercise import Finding, Mistake, computed
from minigrad.classroom.formulas import Formula, Rule
from minigrad.classroom.running import run
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.tensor import Tensor

_POINTS, _ROUNDING = 5, 1e-12


def _symbolic() -> Any:
    return importlib.import_module("minigrad.symbolic")  # needs SymPy, when it is called


def _sympy() -> Any:
    return importlib.import_module("sympy")


class Written(Formula):
    """A formula that may be written in quotes as well."""

    def examine(self, answer: Any) -> Finding | None:
        """Read a text as the formula that it spells, then look at it as at any."""
        if isinstance(answer, str):
            known = {each.name: each for each in _symbols_of([computed(self.expected)])}
            try:
                answer = _sympy().parse_expr(answer, local_dict=known)
            except Exception:  # no formula: what that is, the exercise says itself
                return super().examine(answer)
        return super().examine(answer)


@dataclass(frozen=True)
class ByHand(Rule):
    """A rule that is written without the engine, and leaves what it is given as it was.

    Besides, constants such as 1 / 3 may be rounded as floats are.
    """

    def examine(self, answer: Any) -> Finding | None:
        """Look at how the rule works, then have it proved."""
        if not callable(answer) or isinstance(answer, Tensor) or is_stub(answer):
            return super().examine(answer)
        for number, case in enumerate(self.shapes):
            says = self._against_its_way(answer, case, first=number == 0)
            if says is not None:
                return Finding(says)
        finding = super().examine(answer)
        if finding is not None and all(self._agrees(answer, case) for case in self.shapes):
            return None
        return finding

    def _given(self, case: Mapping[str, Any]) -> tuple[Any, list[Any], Any]:
        inputs = self._inputs(case)
        result = self.forward(*inputs)
        return _symbolic().symbols("g", tuple(result.shape)), inputs, result

    def _against_its_way(
        self, rule: Callable[..., Any], case: Mapping[str, Any], first: bool
    ) -> str | None:
        grad, inputs, _ = self._given(case)
        noted, known = Belongings([grad, *inputs]), set(_symbols_of([grad, *inputs]))
        outcome = run(rule, grad, *inputs, without=("backward", "diff"))
        if outcome.trouble is not None and not first:
            return None  # the case before may say more
        if outcome.trouble is not None:
            for mistake in self.mistakes:
                if any(word in outcome.raised for word in mistake.trouble):
                    return f"{outcome.trouble} {mistake.says}"
            return outcome.trouble
        changed = said_of(noted.changes())
        if changed is not None:
            return changed
        for symbol in sorted(set(_symbols_of(_listed(outcome.value))) - known, key=str):
            return (
                f"What it gives depends on {symbol}, which is not of this call. What does it keep "
                "from one call to the next, or take from outside?"
            )
        return None

    def _agrees(self, rule: Callable[..., Any], case: Mapping[str, Any]) -> bool:
        """Tell whether a rule gives the right numbers at several points."""
        grad, inputs, result = self._given(case)
        gradients = _listed(run(rule, grad, *inputs).value)
        if len(gradients) != len(inputs):
            return False
        due = _by_sympy(grad, inputs, result)
        for have, want, tensor in zip(gradients, due, inputs, strict=True):
            if not isinstance(have, Tensor) or have.shape != tensor.shape:
                return False
            differences = [a - b for a, b in zip(_entries(have), want, strict=True)]
            for point in _points(_symbols_of([grad, *inputs])):
                if any(abs(_sympy().N(each.subs(point), 30)) > _ROUNDING for each in differences):
                    return False
        return True


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _entries(tensor: Any) -> list[Any]:
    return list(_symbolic().SymbolicArray(tensor.detach()).flat)


def _symbols_of(tensors: Any) -> Iterator[Any]:
    for tensor in tensors:
        if isinstance(tensor, Tensor):
            for entry in _entries(tensor):
                yield from entry.free_symbols


def _by_sympy(grad: Any, inputs: list[Any], result: Any) -> Iterator[list[Any]]:
    """Differentiate the result by each input: for each the gradients that it is due."""
    sympy = _sympy()
    pairs = list(zip(_entries(grad), _entries(result), strict=True))
    for tensor in inputs:
        symbols = _entries(tensor)
        yield [sympy.Add(*(g * sympy.diff(y, symbol) for g, y in pairs)) for symbol in symbols]


def _points(symbols: Any) -> Iterator[dict[Any, Any]]:
    draw, names = random.Random(10), sorted(set(symbols), key=str)
    for scale in [1] * (_POINTS - 1) + [20]:
        yield {each: _sympy().Rational(draw.randint(-997, 997) * scale, 499) for each in names}


class SLinear(Module):
    """The module of the lesson: a linear layer, squared."""

    def __init__(self) -> None:
        """Make the layer."""
        super().__init__()
        self.f = Linear(1, 1)

    def forward(self, x1: Any) -> Any:
        """Compute the square of the layer's result."""
        return self.f(x1) ** 2


def with_hook(register: str, times: str | None) -> dict[str, Any]:
    """Run f1 on symbols with a hook that multiplies, and give all gradients as formulas.

    Args:
        register: the method that registers the hook.
        times: the name of the symbol that the hook multiplies grad_input by, if any.
    """
    symbolic = _symbolic()
    f1 = symbolic.symbolic_like(SLinear(), {"f.weight": "w_1", "f.bias": "b_1"})
    x1 = symbolic.symbols("x_1", 1, requires_grad=True)
    factor = 1 if times is None else symbolic.symbols(times)
    getattr(f1, register)(lambda module, grad_input, grad_output: (factor * grad_input[0],))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the legacy hook
        y = f1(x1)
    ((y - 1) ** 2).backward()
    return {"x_1": x1.grad, "w_1": f1.f.weight.grad, "b_1": f1.f.bias.grad}


def seen(name: str, register: str = "register_backward_hook", times: str | None = "c") -> Any:
    """Name a gradient of f1 with a hook: a function that gives it."""
    return lambda: with_hook(register, times)[name].reshape(())


def written(formula: Callable[..., Any]) -> Callable[[], Any]:
    """Put the symbols of exercise 10.1 into a function of x_1, w_1, b_1 and c, when it is asked."""
    return lambda: formula(*_sympy().symbols("x_1 w_1 b_1 c", real=True))


def standardize(x: Any) -> Any:
    """Bring a vector to mean 0 and variance 1."""
    centered = x - x.mean()
    return centered / (centered * centered).mean().sqrt()


def standardized(
    *left_out: str,
    mean: float = 1,
    variance: float = 1,
    count: Callable[[int], int] = lambda n: n,
    sums: bool = False,
    unbiased: bool = False,
    twice: bool = False,
    second: Callable[..., Any] = lambda x, centered, result: result,
    third: Callable[..., Any] = lambda x, centered, result: result,
) -> Callable[[Any, Any], Any]:
    """Make the rule of standardizing, right or with some slip.

    Args:
        *left_out: what is forgotten: "mean", "variance", "root", "centering".
        mean: a factor of the way through the mean.
        variance: of the way through the variance.
        count: what stands for the number of entries.
        sums: whether sums stand where means should.
        unbiased: whether the variance is divided by one less.
        twice: whether the root is divided by twice.
        second: what is multiplied by the mean of the third.
        third: what is multiplied by the gradient there.
    """

    def rule(grad: Any, x: Any) -> Any:
        n = count(x.numel())
        share = 1 if sums else _sympy().Rational(1, n)
        centered = x - x.sum() / n
        spread = x if "centering" in left_out else centered
        root = ((spread * spread).sum() / (n - unbiased)).sqrt()
        result = centered / root
        part = (grad * third(x, centered, result)).sum() * share
        gradient = grad
        if "mean" not in left_out:
            gradient = gradient - mean * grad.sum() * share
        if "variance" not in left_out:
            gradient = gradient - variance * second(x, centered, result) * part
        if "root" not in left_out:
            gradient = gradient / root
        return gradient / root if twice else gradient

    return rule


def _centered(x: Any, centered: Any, result: Any) -> Any:
    return centered


STANDARDIZING = [
    Mistake(
        "The way through v is missing, or comes to nothing: v depends on x, and what you "
        "have in its place is zero or is not there.",
        like=standardized("variance"),
    ),
    Mistake(
        "You treat the mean as a constant: the way through m is missing.",
        like=standardized("mean"),
    ),
    Mistake(
        "Only the direct way is there: m and v depend on x as well.",
        like=standardized("mean", "variance"),
    ),
    Mistake(
        "All three ways are there, and the division by the root of v is missing.",
        like=standardized("root"),
    ),
    Mistake(
        "Divide by the root of v once: the root is in r already.",
        like=standardized(twice=True),
    ),
    Mistake(
        "The formula is made of means, not of sums.",
        like=standardized(sums=True),
    ),
    Mistake(
        "The way through m has the wrong sign: a larger mean makes each x - m smaller.",
        like=standardized(mean=-1),
    ),
    Mistake(
        "The way through v has the wrong sign: a larger v makes each r smaller.",
        like=standardized(variance=-1),
    ),
    Mistake(
        "The way through v comes with a wrong factor: a square brings a 2, and a root "
        "brings a half.",
        like=standardized(variance=2),
    ),
    Mistake(
        "The way through v comes with a wrong factor: a square brings a 2, and a root "
        "brings a half.",
        like=standardized(variance=0.5),
    ),
    Mistake(
        "The way through v goes by how far each x is from the mean, in units of the root. "
        "Somewhere in that term the units are missing.",
        like=standardized(second=_centered, third=_centered),
    ),
    Mistake(
        "The way through v goes by how far each x is from the mean, in units of the root. "
        "Somewhere in that term the units are missing.",
        like=standardized(second=_centered),
    ),
    Mistake(
        "The way through v goes by how far each x is from the mean, not by x itself.",
        like=standardized(third=lambda x, centered, result: x),
    ),
    Mistake(
        "The variance is the mean of squared distances from m, not of x squared.",
        like=standardized("centering"),
    ),
    Mistake("v divides by n, not by n - 1.", like=standardized(unbiased=True)),
    Mistake(
        "A number of entries is written into it. The rule is for vectors of any length.",
        like=standardized(count=lambda n: 3),
    ),
    Mistake(
        "A number of entries is written into it. The rule is for vectors of any length.",
        like=standardized(count=lambda n: 2),
    ),
    Mistake(
        "That is the forward. A rule gives what arrives, times a derivative.",
        like=lambda grad, x: standardize(x),
    ),
    Mistake(
        "That is the forward times the gradient, and not its derivative.",
        like=lambda grad, x: grad * standardize(x),
    ),
    Mistake(
        "You standardized the gradient. It is x whose mean and variance are taken.",
        like=lambda grad, x: standardize(grad),
    ),
    Mistake(
        "The rule is run on symbols, and a symbol is neither a float nor larger or smaller "
        "than another. Means, products and roots work on them.",
        trouble=("not a number", "expression to float", "OrderUnknown"),
    ),
]
"""What learners get wrong in 10.6."""
