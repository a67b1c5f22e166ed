"""Check the exercises of lesson 10: formulas from hooks, rules to be proved, what a proof says."""

from __future__ import annotations

from typing import Any

from minigrad.classroom.exercises import Choice, Mistake
from minigrad.ops.activations import sigmoid

from ..formulas import Formula, Rule
from .runs import (
    STANDARDIZING,
    seen,
    standardize,
    written,
)


def _silu(x: Any) -> Any:
    return x * sigmoid(x)


def _silu_rule(grad: Any, x: Any) -> Any:
    return grad * (sigmoid(x) + x * sigmoid(x) * (1 - sigmoid(x)))


def _scaled(x: Any, w: Any) -> Any:
    return x * w


EXERCISES = [
    Formula(
        id="10.1",
        asks="the gradient of w_1 as a formula in x_1, w_1, b_1 and c, when the legacy hook on f1 "
        "returns (c * grad_input[0],)",
        expected=seen("w_1"),
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
                value=seen("w_1", times=None),
            ),
            Mistake(
                "That is what x_1 gets. In the product w_1 x_1 each gets the other as a factor.",
                value=seen("x_1"),
            ),
            Mistake(
                "That is what b_1 gets, and what arrives at s. A weight has a partner in its "
                "product: one more factor.",
                value=seen("b_1"),
            ),
            Mistake(
                "The factor c is there once: the hook runs once, and not at each step.",
                value=written(
                    lambda x, w, b, c: 4 * c**2 * x * (w * x + b) * ((w * x + b) ** 2 - 1)
                ),
            ),
            Mistake(
                "What a hook returns takes the place of the old gradient. You added the two.",
                value=written(lambda x, w, b, c: (1 + c) * 4 * x * ((w * x + b) ** 3 - w * x - b)),
            ),
            Mistake(
                "You put c into the forward pass. A hook changes what travels backward, and there "
                "alone it is a factor.",
                value=written(
                    lambda x, w, b, c: 4 * c * x * ((w * x + b) * (c**2 * (w * x + b) ** 2 - 1))
                ),
            ),
            Mistake(
                "You put c into the forward pass. A hook changes what travels backward, and there "
                "alone it is a factor.",
                value=written(
                    lambda x, w, b, c: 4 * c**2 * x * (w * x + b) * (c**2 * (w * x + b) ** 2 - 1)
                ),
            ),
            Mistake(
                "The loss compares y with 1, and y is the square of s.",
                value=written(lambda x, w, b, c: 4 * c * x * (w * x + b) * (w * x + b - 1)),
            ),
            Mistake(
                "Mind the brackets: w_1 multiplies x_1 alone, and b_1 is added to that.",
                value=written(
                    lambda x, w, b, c: 4 * c * x * (w + b) * x * (((w + b) * x) ** 2 - 1)
                ),
            ),
            Mistake(
                "The factor 2s, of the square, is missing. The legacy hook sits there, and what it "
                "returns has been multiplied by it already.",
                value=written(lambda x, w, b, c: 2 * c * x * ((w * x + b) ** 2 - 1)),
            ),
            Mistake(
                "The loss has a square too, whose derivative is missing.",
                value=written(lambda x, w, b, c: 2 * c * x * (w * x + b)),
            ),
            Mistake(
                "You differentiated twice. The gradient is the first derivative.",
                value=written(lambda x, w, b, c: 4 * c * x**2 * (3 * (w * x + b) ** 2 - 1)),
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
            Mistake(
                "The gradient stands at one of the two terms only: a rule multiplies the whole "
                "derivative by it.",
                like=lambda grad, x: grad * sigmoid(x) + x * sigmoid(x) * (1 - sigmoid(x)),
            ),
            Mistake(
                "The gradient stands at one of the two terms only: a rule multiplies the whole "
                "derivative by it.",
                like=lambda grad, x: sigmoid(x) + grad * x * sigmoid(x) * (1 - sigmoid(x)),
            ),
            Mistake(
                "There is a plus where the derivative of sigmoid has a minus: section 5 proved it.",
                like=lambda grad, x: grad * (sigmoid(x) + x * sigmoid(x) * (1 + sigmoid(x))),
            ),
            Mistake(
                "A product's derivative is a sum of two terms. You subtracted one.",
                like=lambda grad, x: grad * (sigmoid(x) - x * sigmoid(x) * (1 - sigmoid(x))),
            ),
            Mistake(
                "The derivative of sigmoid has two factors. You have one of them.",
                like=lambda grad, x: grad * (sigmoid(x) + x * (1 - sigmoid(x))),
            ),
            Mistake(
                "You multiplied the two derivatives. Is that the rule for a product?",
                like=lambda grad, x: grad * sigmoid(x) * (1 - sigmoid(x)) * x * x,
            ),
            Mistake(
                "The arguments are exchanged: first comes the gradient, then x.",
                like=lambda grad, x: _silu_rule(x, grad),
            ),
            Mistake(
                "The local derivative is taken at x. You took it at the gradient that arrives.",
                like=lambda grad, x: (
                    grad * (sigmoid(grad) + x * sigmoid(grad) * (1 - sigmoid(grad)))
                ),
            ),
            Mistake(
                "The rule is run on symbols, and a symbol is no float. Take torch.sigmoid and "
                "arithmetic, which work on all of them.",
                trouble=("still has symbols", "expression to float", "a Python float"),
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
                "Each use of w has a factor of its own. You left it out: so it would be for a sum.",
                like=lambda grad, x, w: (grad * w, grad.sum(0)),
            ),
            Mistake(
                "In a product each partner gets the other one as its factor. In the gradient of x "
                "it is missing.",
                like=lambda grad, x, w: (grad, (grad * x).sum(0)),
            ),
            Mistake(
                "r is a product, and w is in it once. Its own gradient has no w left in it.",
                like=lambda grad, x, w: (grad * w, (grad * x * w).sum(0)),
            ),
            Mistake(
                "That is what a gradient of ones gives. A rule multiplies the gradient that "
                "arrives.",
                like=lambda grad, x, w: (0 * grad + w, x.sum(0)),
            ),
            Mistake(
                "w_j is used once in each row: which index is it that you have to add over?",
                like=lambda grad, x, w: (grad * w, (grad * x).sum(1)),
            ),
            Mistake(
                "x_ij is multiplied by w_j, of its column. You multiply each row by one entry.",
                like=lambda grad, x, w: (grad * w.reshape(-1, 1), (grad * x).sum(0)),
            ),
            Mistake(
                "x is multiplied by w on the way forward, and the gradient on its way back as "
                "well. You divided.",
                like=lambda grad, x, w: (grad / w, (grad * x).sum(0)),
            ),
            Mistake(
                "r is a product entry by entry. You took a product of matrices for it.",
                like=lambda grad, x, w: (grad * w, (x.T @ grad).sum(0)),
            ),
            Mistake(
                "r is a product entry by entry. You took a product of matrices for it.",
                like=lambda grad, x, w: (grad * w, (x.T @ grad).sum(1)),
            ),
            Mistake(
                "The gradients come in the order of the inputs: first x, then w.",
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
        model="The gradient that arrives from .sum() is a matrix of ones. Transposing it moves its "
        "entries to other places, and since all are equal, nobody can see that.",
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
        model="The proof compared formulas, for all real entries, at these two sizes. Open are "
        "other sizes, rounding and overflow, and whether the forward is the product at all.",
        hints=(
            "What did prove run, and on which inputs?",
            "It ran on symbols, for two sizes, and compared the rule with the forward's own "
            "derivative.",
        ),
    ),
    Rule(
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
        mistakes=STANDARDIZING,
    ),
]
