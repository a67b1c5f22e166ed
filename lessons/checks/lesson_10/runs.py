"""Run the rules of lesson 10's exercises, right and wrong, and look at what they leave behind."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

from minigrad.classroom.exercises import Mistake
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module


def _symbolic() -> Any:
    return importlib.import_module("minigrad.symbolic")  # needs SymPy, when it is called


def _sympy() -> Any:
    return importlib.import_module("sympy")


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
