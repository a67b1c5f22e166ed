"""Check the exercises of lesson 10: formulas from hooks, rules to be proved, what a proof says."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from minigrad.classroom.exercises import Choice
from minigrad.nn.functional import silu

from .formulas import Formula, Rule
from .models import SLinear

# --- 10.1


def gradients(register: str = "register_backward_hook", factor: str = "c") -> dict[str, Any]:
    """Run f1 on symbols, with a hook that multiplies by a symbol, and give all gradients."""
    symbolic = importlib.import_module("minigrad.symbolic")  # needs SymPy, when it is called
    f1 = symbolic.symbolic_like(SLinear(), {"f.weight": "w_1", "f.bias": "b_1"})
    x1, times = symbolic.symbols("x_1", 1, requires_grad=True), symbolic.symbols(factor)
    getattr(f1, register)(lambda module, grad_input, grad_output: (times * grad_input[0],))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the legacy hook
        y = f1(x1)
    ((y - 1) ** 2).backward()
    return {"x_1": x1.grad, "w_1": f1.f.weight.grad, "b_1": f1.f.bias.grad}


TRIPLED = Formula(
    id="10.1",
    asks="the gradient of w_1 as a formula in x_1, w_1, b_1 and c, when the legacy hook on f1 "
    "returns (c * grad_input[0],)",
    expected=lambda: gradients()["w_1"],
    symbols="x_1 w_1 b_1 c",
    right="The legacy hook sits on the square, and the way to w_1 leads through it. So c reaches "
    "f1's own parameters, which is something that a full hook's return never does.",
    hints=(
        "On which node does the legacy hook sit, and which derivative does it multiply by c?",
        "It multiplies dL/ds. Which factor lies between s and w_1?",
    ),
    mistakes="""
        = gradients("register_full_backward_hook")["w_1"]
            That is what comes under a full hook, whose return leaves by the input gate. On which
            node does the legacy hook sit, and does the way to w_1 pass it?
        = gradients()["x_1"]
            That is what x_1 gets. In the product w_1 x_1, each gets the other as a factor.
        = gradients()["b_1"]
            That is what b_1 gets, and what arrives at s. A weight has a partner in its product:
            one more factor.
        ~ c * 2 => c**2 * 2
            The factor c belongs there once, because the hook runs once.
        ~ c * 2 => (1 + c) * 2
            What a hook returns takes the place of the old gradient. You added the two.
        ~ c * 2 => 2
        | s = w_1 * x_1 + b_1 => s = c * (w_1 * x_1 + b_1)
        ~ s = w_1 * x_1 + b_1 => s = c * (w_1 * x_1 + b_1)
            You put c into the forward pass. A hook changes only what travels backward.
        ~ * s * x_1 => * s * w_1 * x_1
            w_1 x_1 is a product, and you took all of it. Which of the two is a partner of w_1?
        ~ s**2 - 1 => s - 1
            The loss compares y with 1, and y is the square of s.
        ~ w_1 * x_1 + b_1 => (w_1 + b_1) * x_1
            Mind the brackets: w_1 multiplies x_1 alone, and b_1 is added to that.
        ~ * 2 * s * x_1 => * x_1
            The factor 2s, of the square, is missing. The legacy hook sits there, and what it
            gets has been multiplied by it already.
        ~ 2 * (s**2 - 1) * 2 => 2
            The loss has a square too, and its derivative is missing.
    """,
)

# --- 10.2 and 10.3

SILU = Rule(
    id="10.2",
    asks="silu_rule(grad, x), which returns grad times the derivative of x * sigmoid(x)",
    forward=silu,
    shapes=[{"x": ()}, {"x": 2}],
    right="Proved, for every x at once, in the form that you chose.",
    hints=(
        "A product of two functions of x: how many terms does its derivative have?",
        "With p = sigmoid(x): the derivative of x is 1, and that of p is p (1 - p).",
    ),
    mistakes="""
        ~ (p + x * p => (x * p
            x is in both factors of x * sigmoid(x). What does x contribute as the first one?
        ~ (p + x * p * (1 - p)) => p
            x is in both factors of x * sigmoid(x). You treat sigmoid(x) as a constant.
        ~ (p + x * p * (1 - p)) => p * (1 - p)
            That is the rule of sigmoid alone. Here it is multiplied by x.
        ~ (p + x * p * (1 - p)) => x * p
            That is the forward, times the gradient.
        ~ (p + x * p * (1 - p)) => p + x * p * (1 - p)
        ~ grad * (p + => (p + grad *
            Only one of the two terms has the gradient. A rule multiplies the whole derivative by
            it.
        ~ (1 - p) => (1 + p)
        ~ p + x => p - x
            Mind the signs. A product's derivative is a sum of two terms, and the derivative of
            sigmoid, which section 5 proved, has a minus in it.
        ~ x * p * (1 - p) => p * (1 - p)
            In the derivative of a product each term keeps one of the factors as it is. One has lost
            it.
        ~ p * (1 - p) => (1 - p**2)
            One minus the square belongs to tanh. The derivative of sigmoid is another.
        ~ x * p * (1 - p) => x * x * (1 - x)
            The derivative of sigmoid is written in sigmoid(x), and not in x.
        ~ x * p * => x *
            The derivative of sigmoid has two factors. You have one of them.
        ~ p + x * p * (1 - p) => p * (1 - p) * x * x
            You multiplied the two derivatives. Is that the rule for a product?
        ~ grad, x => x, grad
            The arguments are exchanged: first comes the gradient, then x.
        ~ sigmoid(x) => sigmoid(grad)
            The local derivative is taken at x. You took it at the gradient that arrives.
        ~ torch.sigmoid(x) => float(x)
        ! still has symbols, expression to float, a Python float
            The rule is run on symbols, and a symbol is no float. Take torch.sigmoid and
            arithmetic, which work on both.
    """,
)

SCALING = Rule(
    id="10.3",
    asks="scaling_rule(grad, x, w), which returns the gradients of x and w for x * w, where w "
    "is broadcast over the rows of x",
    forward=lambda x, w: x * w,
    shapes=[{"x": (2, 2), "w": 2}, {"x": (2, 3), "w": 3}, {"x": (3, 1), "w": 1}],
    right="A sum of products: each row's gradient meets that row's x before anything is added.",
    hints=(
        "r_ij = x_ij w_j. How often is w_j used, and with which factor each time?",
        "Each use sends g_ij x_ij. Then add the uses up.",
    ),
    mistakes="""
        ~ (grad * x).sum(0) => grad.mean(0) * x.sum(0)
            That is the colleague's own rule. With ones in grad you can't tell it from the right
            one. What if the rows of grad differ?
        ~ (grad * x).sum(0) => grad.sum(0) * x.sum(0)
            You sum both, and then multiply. Think of g_0 x_0 + g_1 x_1: is that
            (g_0 + g_1) (x_0 + x_1)?
        ~ .sum(0) => .mean(0)
            The uses of w are added up, not averaged.
        ~ (grad * x).sum(0) => grad.sum(0)
            Each use of w has a factor of its own, and you left it out. That would be the rule of a
            sum.
        ~ grad * w, => grad,
        ~ grad * w, => grad * x,
            In a product, each partner gets the other one as its factor. In the gradient of x it is
            missing.
        ~ (grad * x) => (grad * x * w)
            r is a product, and w is in it once. Its own gradient has no w left in it.
        ~ grad * w, (grad * x) => 0 * grad + w, x
            That is what a gradient of ones gives. A rule multiplies the gradient that arrives.
        ~ .sum(0) => .sum(1)
            w_j is used once in each row: which index is it that you have to add over?
        ~ grad * w, => grad / w,
            x is multiplied by w on the way forward, and so is the gradient on its way back. You
            divided.
        ~ (grad * x).sum => (x.T @ grad).sum
            r is a product entry by entry. You took a product of matrices for it.
        ~ grad * w, (grad * x).sum(0) => (grad * x).sum(0), grad * w
            The gradients come in the order of the inputs: first x, then w.
    """,
)

# --- 10.4 and 10.5

HIDDEN = Choice(
    id="10.4",
    asks="the letter of the wrong rule that a gradient of ones does not show, and why",
    right="A matrix of ones looks the same in any order. Only entries with names of their own "
    "show where they were sent.",
    model="The gradient that arrives from .sum() is a matrix of ones. Transposing it moves its "
    "entries to other places, and nobody can see that, because all are equal.",
    hints=(
        "Put a matrix of ones into each rule, and compare with what it should be.",
        "Which of the four only puts entries of g into other places?",
    ),
    mistakes="""
        = "a"
            With ones this rule gives x, and moving x gives 2x: at a random x they differ.
        = "c"
            With ones this gives a third, and it should be 3: a wrong factor shows.
        = "d"
            Each entry of x is used twice there. With ones the rule gives 1. How large is the sum
            of two uses?
    """,
)

KNOWN = Choice(
    id="10.5",
    asks="the letter of what is known for certain, and what is left open",
    right="All values, at these sizes, as formulas. That is a lot, and it is all that was proved.",
    model="The proof compared formulas, for all real entries, at these two sizes. Open are "
    "other sizes, rounding and overflow, and whether the forward is the product at all.",
    hints=(
        "What did prove run, and on which inputs?",
        "It ran on symbols, for two sizes, and compared the rule with the forward's own "
        "derivative.",
    ),
    mistakes="""
        = "a"
            Which sizes did SymPy see? That others work alike is true, but it takes an argument of
            your own.
        = "b"
            Symbols are not rounded. What the proof says of formulas, float32 obeys up to rounding.
        = "d"
            The rule was compared with the derivative of the forward as it is. What if the forward
            computed something else?
    """,
)

# --- 10.6


def standardize(x: Any) -> Any:
    """Bring a vector to mean 0 and variance 1."""
    centered = x - x.mean()
    return centered / (centered * centered).mean().sqrt()


STANDARDIZE = Rule(
    id="10.6",
    asks="standardize_rule(grad, x), which returns the gradient of x for (x - m) / sqrt(v)",
    forward=standardize,
    shapes=[{"x": 2}, {"x": 3}],
    right="Three ways, three terms: what arrives, less its mean, less its part along r.",
    hints=(
        "Take c = x - m first: what arrives at c goes to x less its mean. So one step remains: "
        "from r = c / sqrt(v) to c.",
        "r divides c by a root that all c_j are in. The way through the root gives each entry "
        "r_i times the mean of g r, with a minus, and everything is divided by the root.",
    ),
    mistakes="""
        ~ - r * (grad * r).mean() =>
            The way through v is missing, or comes to nothing. v depends on x.
        ~ - grad.mean() =>
            You treat the mean as a constant: the way through m is missing.
        ~ - grad.mean() - r * (grad * r).mean() =>
            Only the direct way is there: m and v depend on x as well.
        ~ .mean()) / root => .mean())
            All three ways are there, and the division by the root of v is missing.
        ~ .mean()) / root => .mean()) / root**2
            Divide by the root of v once: the root is in r already.
        ~ - grad.mean() - r * (grad * r).mean() => - grad.sum() - r * (grad * r).sum()
        ~ (grad * r).mean() => (grad * r).sum()
            The formula is made of means, not of sums.
        ~ grad - grad.mean() => grad + grad.mean()
        ~ - r * => + r *
            One of the ways has the wrong sign. A larger m makes each x - m smaller, and a larger
            v makes each r smaller.
        ~ - r * => - 2 * r *
        ~ - r * => - r / 2 *
            The way through v has a wrong factor: a square brings a 2, and a root brings a half.
        ~ - r * => - centered *
        ~ - r * (grad * r) => - centered * (grad * centered)
        ~ (grad * r) => (grad * x)
            The way through v depends on how far each x is from the mean, in units of the root.
            Somewhere in that term it is measured in another way.
        ~ (centered * centered).mean() => centered.var()
            v divides by n, not by n - 1.
        ~ .mean() => .sum().div(3)
        ~ .mean() => .sum().div(2)
            A number of entries is written into it. The rule is for vectors of any length.
        ~ return (grad - grad.mean() - r * (grad * r).mean()) / root => return r
        ~ return (grad - grad.mean() - r * (grad * r).mean()) / root => return grad * r
            That is the forward. A rule gives what arrives, times a derivative.
        ~ .mean().sqrt() => .mean().item() ** 0.5
        | centered = x => centered = float(x[0])
        ! not a number, expression to float, OrderUnknown
            The rule is run on symbols, and a symbol is no float and has no order. Means, products
            and roots work on symbols.
    """,
)

EXERCISES = [TRIPLED, SILU, SCALING, HIDDEN, KNOWN, STANDARDIZE]
