"""Check the exercises of lesson 10: formulas from hooks, rules to be proved, what a proof says."""

from __future__ import annotations

import importlib
from typing import Any

from minigrad.classroom.exercises import Choice
from minigrad.nn.functional import silu

from .formulas import Formula, Rule

# --- 10.1


def gradient_of_x(place: str = "s") -> Any:
    """Run the block on symbols, with a hook at a place that multiplies by c."""
    symbols = importlib.import_module("minigrad.symbolic").symbols  # needs SymPy, when called
    x, w, b = symbols("x w b", requires_grad=True)
    s = w * x + b
    y = x + s**2
    {"s": s, "y": y}[place].register_hook(lambda gradient: symbols("c") * gradient)
    (y**2 / 2).backward()
    return x.grad


THROUGH_S = Formula(
    id="10.1",
    asks="the gradient of x as a formula in x, w, b and c, when a tensor hook on s returns "
    "c * gradient",
    expected=gradient_of_x,
    symbols="x w b c",
    right="c is in one term only. With c = 0, the hook cuts that path and the shortcut stays.",
    hints=(
        "There are two paths from y to x. Write down what each contributes, without the hook.",
        "The shortcut gives y. The path through s gives y * 2s * w. Which one passes the hook?",
    ),
    mistakes="""
        = gradient_of_x("y")
            That's c times everything, as if the hook were on y. Does each path to x go through s?
        ~ c * 2 => 2
            That's the gradient without the hook.
        ~ c * 2 * s * w => 2 * s * w + c
        ~ 1 + c * 2 => c + 2
            You put c on the shortcut. That path goes around s, where the hook is.
        ~ 1 + c => c
            One path is missing: x also goes into y directly.
        ~ c * 2 => (1 + c) * 2
            What a hook returns replaces the old gradient. You added the two.
        ~ s = w * x + b => s = c * (w * x + b)
        ~ s = w * x + b => s = c * (w * x + b)
        | c * 2 => 2
            You put c into the forward pass. A hook changes only what travels backward.
        ~ * s * w) => * s)
            The path through s has one more step, from s to x. Its local derivative is missing.
        ~ * s * w) => * s * x)
            From s to w the local derivative is x. What is it from s to x?
        ~ 2 * s => s
        ~ 2 * s => 2
            The local derivative of the square is 2s. Part of it is missing.
        ~ y * (1 => (1
            That's only the block's own derivative. Multiply it by what arrives at y.
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
            x is in both factors of x * sigmoid(x). What does the first factor contribute?
        ~ (p + x * p * (1 - p)) => p
            x is in both factors of x * sigmoid(x). You treat sigmoid(x) as a constant.
        ~ (p + x * p * (1 - p)) => p * (1 - p)
            That's the rule of sigmoid alone. Here it's multiplied by x.
        ~ (p + x * p * (1 - p)) => x * p
            That's the forward, times the gradient.
        ~ (p + x * p * (1 - p)) => p + x * p * (1 - p)
        ~ grad * (p + => (p + grad *
            Only one of your two terms has grad in it. It multiplies the whole derivative.
        ~ (1 - p) => (1 + p)
        ~ p + x => p - x
            Mind the signs. A product's derivative is a sum of two terms, and the derivative of
            sigmoid, which section 5 proved, has a minus in it.
        ~ x * p * (1 - p) => p * (1 - p)
            In the derivative of a product, each term keeps one of the factors. One has lost it.
        ~ p * (1 - p) => (1 - p**2)
            One minus the square belongs to tanh. Sigmoid has another derivative.
        ~ x * p * (1 - p) => x * x * (1 - x)
            The derivative of sigmoid is written in sigmoid(x), not in x.
        ~ x * p * => x *
            The derivative of sigmoid has two factors. You have one of them.
        ~ p + x * p * (1 - p) => p * (1 - p) * x * x
            You multiplied the two derivatives. Is that the rule for a product?
        ~ grad, x => x, grad
            The arguments are swapped: the gradient comes first, then x.
        ~ sigmoid(x) => sigmoid(grad)
            Take the local derivative at x. You took it at the gradient that arrives.
        ~ torch.sigmoid(x) => float(x)
        ! still has symbols, expression to float, a Python float
            The rule runs on symbols, and a symbol isn't a float. Use torch.sigmoid and
            arithmetic, which work on both.
    """,
)

SCALING = Rule(
    id="10.3",
    asks="scaling_rule(grad, x, w), which returns the gradients of x and w for x * w, where w "
    "is broadcast over the rows of x",
    forward=lambda x, w: x * w,
    shapes=[{"x": (2, 2), "w": 2}, {"x": (2, 3), "w": 3}, {"x": (3, 1), "w": 1}],
    right="A sum of products: multiply each row's gradient by that row's x first, then add.",
    hints=(
        "r_ij = x_ij w_j. How often is w_j used, and with which factor each time?",
        "Each use sends g_ij x_ij. Then add the uses up.",
    ),
    mistakes="""
        ~ (grad * x).sum(0) => grad.mean(0) * x.sum(0)
            That's the colleague's own rule. With ones in grad you can't tell it from the right
            one. What if the rows of grad differ?
        ~ (grad * x).sum(0) => grad.sum(0) * x.sum(0)
            You sum both, and then multiply. Think of g_0 x_0 + g_1 x_1: is that
            (g_0 + g_1) (x_0 + x_1)?
        ~ .sum(0) => .mean(0)
            The uses of w are added up, not averaged.
        ~ (grad * x).sum(0) => grad.sum(0)
            Each use of w has a factor of its own, and you left it out. That's the rule of a sum.
        ~ grad * w, => grad,
        ~ grad * w, => grad * x,
            In a product, each factor gets the other one. In the gradient of x it's missing.
        ~ (grad * x) => (grad * x * w)
            r is a product, and w is in it once. So the gradient of w has no w in it.
        ~ grad * w, (grad * x) => 0 * grad + w, x
            That's what a gradient of ones gives. A rule multiplies the gradient that arrives.
        ~ .sum(0) => .sum(1)
            w_j is used once in each row. Which index do you have to sum over?
        ~ grad * w, => grad / w,
            The forward multiplies x by w, so the rule multiplies the gradient by w. You divided.
        ~ (grad * x).sum => (x.T @ grad).sum
            r is an elementwise product. You used a matrix product.
        ~ grad * w, (grad * x).sum(0) => (grad * x).sum(0), grad * w
            The gradients come in the order of the inputs: first x, then w.
    """,
)

# --- 10.4 and 10.5

HIDDEN = Choice(
    id="10.4",
    asks="the letter of the wrong rule that a gradient of ones does not show, and why",
    right="All entries of a matrix of ones look the same. Symbols show where each one went.",
    model="The gradient that arrives from .sum() is a matrix of ones. Transposing it moves its "
    "entries to other places, and that doesn't show, because they're all equal.",
    hints=(
        "Put a matrix of ones into each rule, and compare it with the right gradient.",
        "Which of the four only puts entries of g into other places?",
    ),
    mistakes="""
        = "a"
            With ones this rule gives x, and moving x gives 2x: at a random x they differ.
        = "c"
            With ones this gives a third, and it should be 3: a wrong factor shows.
        = "d"
            Each entry of x is used twice. With ones the rule gives 1. What do the two uses add up
            to?
    """,
)

KNOWN = Choice(
    id="10.5",
    asks="the letter of what is known for certain, and what is left open",
    right="All values, at these sizes, as formulas. That's a lot, and it's all that was proved.",
    model="The proof compared formulas, for all real entries, at these two sizes. It leaves open "
    "other sizes, rounding and overflow, and whether the forward is the product at all.",
    hints=(
        "What did prove run, and on which inputs?",
        "It ran on symbols, for two sizes, and compared the rule with the forward's own "
        "derivative.",
    ),
    mistakes="""
        = "a"
            Which sizes did SymPy see? Other sizes work, too, but that's your own argument.
        = "b"
            Symbols are not rounded. Numbers in float32 are.
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
    right="Three paths, three terms: what arrives, minus its mean, minus its part along r.",
    hints=(
        "Take c = x - m first: what arrives at c goes to x minus its mean. One step remains: "
        "from r = c / sqrt(v) to c.",
        "r divides c by a root, and that depends on all c_j. The path through the root gives each "
        "entry r_i times the mean of g r, with a minus. Everything is divided by the root.",
    ),
    mistakes="""
        ~ - r * (grad * r).mean() =>
            The path through v is missing, or gives zero. v depends on x.
        ~ - grad.mean() =>
            You treat the mean as a constant: the path through m is missing.
        ~ - grad.mean() - r * (grad * r).mean() =>
            Only the direct path is there: m and v depend on x, too.
        ~ .mean()) / root => .mean())
            All three paths are there. The division by the root of v is missing.
        ~ .mean()) / root => .mean()) / root**2
            Divide by the root of v once. r has been divided by it already.
        ~ - grad.mean() - r * (grad * r).mean() => - grad.sum() - r * (grad * r).sum()
        ~ (grad * r).mean() => (grad * r).sum()
            You have a sum over the entries where a mean belongs.
        ~ grad - grad.mean() => grad + grad.mean()
        ~ - r * => + r *
            One of the paths has the wrong sign. A larger m makes each x - m smaller, and a larger
            v makes each r smaller.
        ~ - r * => - 2 * r *
        ~ - r * => - r / 2 *
            The path through v has a wrong factor: a square brings a 2, and a root brings a half.
        ~ - r * => - centered *
        ~ - r * (grad * r) => - centered * (grad * centered)
        ~ (grad * r) => (grad * x)
            The path through v depends on how far each x is from the mean, divided by the root.
            Part of your term is something else.
        ~ (centered * centered).mean() => centered.var()
            v divides by n, not by n - 1.
        ~ .mean() => .sum().div(3)
        ~ .mean() => .sum().div(2)
            Your rule only fits one length of x. It has to work for any length.
        ~ return (grad - grad.mean() - r * (grad * r).mean()) / root => return r
        ~ return (grad - grad.mean() - r * (grad * r).mean()) / root => return grad * r
            That's the forward. A rule returns what arrives, times a derivative.
        ~ .mean().sqrt() => .mean().item() ** 0.5
        | centered = x => centered = float(x[0])
        ! not a number, expression to float, OrderUnknown
            The rule runs on symbols. They aren't floats and have no order. Means, products
            and roots work on symbols.
    """,
)

EXERCISES = [THROUGH_S, SILU, SCALING, HIDDEN, KNOWN, STANDARDIZE]
