"""Check the exercises of lesson 10: formulas from hooks, rules to be proved, what a proof says."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

from minigrad.classroom.answers import Choice
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.formulas import Formula, Rule
from minigrad.nn.modules.linear import Linear
from minigrad.nn.modules.module import Module
from minigrad.ops.activations import sigmoid


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
    symbolic = importlib.import_module("minigrad.symbolic")  # needs SymPy, when it is called
    f1 = symbolic.symbolic_like(SLinear(), {"f.weight": "w_1", "f.bias": "b_1"})
    x1 = symbolic.symbols("x_1", 1, requires_grad=True)
    factor = 1 if times is None else symbolic.symbols(times)
    getattr(f1, register)(lambda module, grad_input, grad_output: (factor * grad_input[0],))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the legacy hook
        y = f1(x1)
    ((y - 1) ** 2).backward()
    return {"x_1": x1.grad, "w_1": f1.f.weight.grad, "b_1": f1.f.bias.grad}


def _seen(name: str, register: str = "register_backward_hook", times: str | None = "c") -> Any:
    return lambda: with_hook(register, times)[name].reshape(())


def _silu(x: Any) -> Any:
    return x * sigmoid(x)


def _scaled(x: Any, w: Any) -> Any:
    return x * w


def _standardize(x: Any) -> Any:
    centered = x - x.mean()
    return centered / (centered * centered).mean().sqrt()


def standardized(*left_out: str) -> Callable[[Any, Any], Any]:
    """Make the rule of standardizing, in which some ways of x are forgotten."""

    def rule(grad: Any, x: Any) -> Any:
        centered = x - x.mean()
        root = (centered * centered).mean().sqrt()
        result = centered / root
        through_mean = 0 if "mean" in left_out else grad.mean()
        through_variance = 0 if "variance" in left_out else result * (grad * result).mean()
        gradient = grad - through_mean - through_variance
        return gradient if "root" in left_out else gradient / root

    return rule


def _with_variance_for_root(grad: Any, x: Any) -> Any:
    centered = x - x.mean()
    return standardized()(grad, x) / (centered * centered).mean().sqrt()


def _sums_for_means(grad: Any, x: Any) -> Any:
    centered = x - x.mean()
    root = (centered * centered).mean().sqrt()
    result = centered / root
    return (grad - grad.sum() - result * (grad * result).sum()) / root


_SIZE = ("size", "shape", "dimension", "larger", "other matri", "general")
_LEFT_OPEN = (*_SIZE, "round", "float", "overflow", "digit", "preci", "forward")
_ONES = ("ones", "symmetr", "transpose", "same", "equal", "all 1", "constant", "alike", "uniform")

EXERCISES = [
    Formula(
        id="10.1",
        asks="the gradient of w_1 as a formula in x_1, w_1, b_1 and c, when the legacy hook on f1 "
        "returns (c * grad_input[0],)",
        expected=_seen("w_1"),
        right="The legacy hook sits on the square, and the way to w_1 leads through it: "
        "so c reaches f1's own parameters, which a full hook's return never does.",
        hints=(
            "On which node does the legacy hook sit, and which derivative does it multiply by c?",
            "It multiplies dL/ds. Which factor lies between s and w_1?",
        ),
        mistakes=[
            Mistake(
                "So it would be under a full hook, whose return leaves by the input gate. On which "
                "node does the legacy hook sit, before or behind the way to w_1?",
                value=_seen("w_1", times=None),
            ),
            Mistake(
                "That is what x_1 gets. In the product w_1 x_1 each gets the other as a factor.",
                value=_seen("x_1"),
            ),
            Mistake(
                "That is what b_1 gets, and what arrives at s. A weight has a partner in its "
                "product: one more factor.",
                value=_seen("b_1"),
            ),
            Mistake(
                "The factor c is applied once, where the hook sits, and not at each step.",
                when=lambda formula: _power_of_c(formula) > 1,
            ),
        ],
    ),
    Rule(
        id="10.2",
        asks="silu_rule(grad, x), which returns grad times the derivative of x * sigmoid(x)",
        forward=_silu,
        shapes=[{"x": ()}, {"x": 2}],
        right="Proved, for every x at once, in the form that you chose.",
        hints=(
            "A product of two functions of x: how many terms does its derivative have?",
            "With p = sigmoid(x): the derivative of x is 1, that of p is p (1 - p).",
        ),
        mistakes=[
            Mistake(
                "x is in both factors of x * sigmoid(x). What does x contribute as the first one?",
                like=lambda grad, x: grad * x * sigmoid(x) * (1 - sigmoid(x)),
            ),
            Mistake(
                "x is in both factors of x * sigmoid(x). You treat sigmoid(x) as a constant.",
                like=lambda grad, x: grad * sigmoid(x),
            ),
            Mistake(
                "That is the rule of sigmoid alone; here it is multiplied by x.",
                like=lambda grad, x: grad * sigmoid(x) * (1 - sigmoid(x)),
            ),
            Mistake(
                "The local derivative is right, and what arrives is missing: a rule multiplies "
                "the gradient that it is given.",
                like=lambda grad, x: sigmoid(x) + x * sigmoid(x) * (1 - sigmoid(x)),
            ),
            Mistake(
                "That is the forward, times the gradient.", like=lambda grad, x: grad * _silu(x)
            ),
        ],
    ),
    Rule(
        id="10.3",
        asks="scaling_rule(grad, x, w), which returns the gradients of x and w for x * w, where w "
        "is broadcast over the rows of x",
        forward=_scaled,
        shapes=[{"x": (2, 2), "w": 2}, {"x": (2, 3), "w": 3}, {"x": (3, 1), "w": 1}],
        right="A sum of products: each row's gradient meets that row's x before anything is added.",
        hints=(
            "r_ij = x_ij w_j. How often is w_j used, and with which factor each time?",
            "Each use sends g_ij x_ij. Then add the uses up.",
        ),
        mistakes=[
            Mistake(
                "That is the colleague's own rule. With ones in grad it cannot be told from the "
                "right one; what if the rows of grad differ?",
                like=lambda grad, x, w: (grad * w, grad.mean(0) * x.sum(0)),
            ),
            Mistake(
                "You sum both, and then multiply. With g_0 x_0 + g_1 x_1 in mind: is that "
                "(g_0 + g_1) (x_0 + x_1)?",
                like=lambda grad, x, w: (grad * w, grad.sum(0) * x.sum(0)),
            ),
            Mistake(
                "The uses of w are added up, not averaged.",
                like=lambda grad, x, w: (grad * w, (grad * x).mean(0)),
            ),
            Mistake(
                "The gradients come in the order of the inputs: first that of x.",
                when=lambda gradients: (
                    len(gradients) == 2 and gradients[0].ndim < gradients[1].ndim
                ),
            ),
        ],
    ),
    Choice(
        id="10.4",
        asks="the letter of the wrong rule that a gradient of ones does not show, and why",
        option="b",
        right="A matrix of ones has no order to lose: only entries with names of their own show "
        "where they were sent.",
        why_not={
            "a": "With ones this rule gives x, and moving x gives 2x: at a random x they differ.",
            "c": "With ones this gives a third, and it should be 3: a wrong factor shows.",
            "d": "Each entry of x is used twice there. With ones the rule gives 1; how large is "
            "the sum of two uses?",
        },
        mentions={"what about a gradient of ones hides it": _ONES},
        hints=(
            "Put a matrix of ones into each rule, and compare with what it should be.",
            "Which of the four only puts entries of g into other places?",
        ),
    ),
    Choice(
        id="10.5",
        asks="the letter of what is known for certain, and what is left open",
        option="c",
        right="All values, at these sizes, as formulas: that is much, and no more should be said.",
        why_not={
            "a": "Which sizes did SymPy see? That others work alike is true, and it takes an "
            "argument of your own.",
            "b": "Symbols are not rounded. What the proof says of formulas, float32 obeys up to "
            "rounding.",
            "d": "The rule was compared with the derivative of the forward as it is. What if the "
            "forward computed something else?",
        },
        mentions={"what is left open": _LEFT_OPEN},
        hints=(
            "What did prove run, and on which inputs?",
            "It ran on symbols, for two sizes, and compared the rule with the forward's own "
            "derivative.",
        ),
    ),
    Rule(
        id="10.6",
        asks="standardize_rule(grad, x), which returns the gradient of x for (x - m) / sqrt(v)",
        forward=_standardize,
        shapes=[{"x": 2}, {"x": 3}],
        right="Three ways, three terms: what arrives, less its mean, less its part along r.",
        hints=(
            "Take c = x - m first: what arrives at c goes to x less its mean. So one step remains: "
            "from r = c / sqrt(v) to c.",
            "r divides c by a root that all c_j are in. The way through the root gives each entry "
            "r_i times the mean of g r, with a minus, and everything is divided by the root.",
        ),
        mistakes=[
            Mistake(
                "You treat the variance as a constant: the way through v is missing.",
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
                like=_with_variance_for_root,
            ),
            Mistake("The formula is made of means, not of sums.", like=_sums_for_means),
        ],
    ),
]


def _power_of_c(formula: Any) -> int:
    """Find to which power the hook's factor occurs in a formula."""
    named = [symbol for symbol in formula.free_symbols if symbol.name == "c"]
    return int(formula.expand().as_poly(named[0]).degree()) if named else 0
