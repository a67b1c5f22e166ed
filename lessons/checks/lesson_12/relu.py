"""Check exercise 12.4: why a gradient penalty trains a network of ReLUs."""

from __future__ import annotations

import re

from minigrad.classroom.exercises import Mistake
from minigrad.classroom.reasons import Choice

_CURVED = re.compile(
    r"(second derivative|hessian|curvature)[^.;]*?\b(relu|input|inputs|x)\b[^.;,]*?"
    r"\b(is|are|does|do) ?(not|n't) (zero|0|vanish)"
)
_WITH_X = re.compile(r"\bslopes? (changes?|depends?|varies|vary) (with|on) (the )?(x|inputs?)\b")
_INDEPENDENT = re.compile(
    r"\b(does|do|is|are)(n.t| not|nt) (depend|change|var)\w*( on| with) (the |its |any |all )*"
    r"(weight|parameter)"
    r"|\bindependent of (the |its |any |all )*(weight|parameter)"
)
_TURNED = re.compile(
    r"\b(weights?|parameters?)\b[^.;,]*?\b(depends? on|functions? of|products? of)"
    r" (the |a |its )?(slopes?|gradients?)\b"
)


def curved_by_input(reason: str) -> bool:
    """Tell whether a reason says that ReLU has a second derivative by the input."""
    return _CURVED.search(reason.casefold()) is not None


def changes_with_x(reason: str) -> bool:
    """Tell whether a reason says that the slope changes with the input."""
    return _WITH_X.search(reason.casefold()) is not None


def independent(reason: str) -> bool:
    """Tell whether a reason says that the slope does not depend on the weights."""
    return _INDEPENDENT.search(reason.casefold()) is not None


def turned_around(reason: str) -> bool:
    """Tell whether a reason says that weights depend on slopes."""
    return _TURNED.search(reason.casefold()) is not None


WITH_RELU = Choice(
    id="12.4",
    asks="your judgment on ReLU and the gradient penalty",
    option="c",
    right="Twice by x is zero. Once by x and once by a weight is not.",
    why_not={
        "a": "All second derivatives by x, twice, are zero. By what is the penalty differentiated?",
        "b": "retain_graph keeps a graph from being freed. It computes nothing that was not "
        "computed before.",
        "d": "It does not: look at the Hessian of a small ReLU network. All of its entries are "
        "zero.",
    },
    ideas={
        "what the slope depends on": (
            "weight",
            "parameter",
            "w_|w0|w1|w2|w*|dw|theta",
            "matri",
            "coefficient",
            "deriv|gradient|slope by|after|respect|is w ~when ~which ~what ~way ~where ~with "
            "~while ~will",
        ),
        "by what the penalty is differentiated": (
            "penalt deriv|differentiat|gradient|feel",
            "deriv|differentiat|derive by|after|respect|for weight|parameter|w",
            "not zero",
            "nonzero|non-zero",
            "mixed",
            "second by|after weight|parameter|w",
            "once by|after",
            "train deriv|slope|weight",
        ),
        "how the slope hangs on it": (
            "product|factor|scale|doubl|multipl",
            "not constant",
            "depend",
            "function",
            "chang|varies|vary|move|turn|grow|shrink|scale",
            "made|built|consist|contain|compos",
            "determin|given by|set by",
            "tilt|steep",
            "slope is w",
            "even none|zero|no x|input",
        ),
    },
    misled={
        (
            "is smooth",
            "is round corner|kink|relu",
            "is corner|kink hessian|deriv",
        ): "PyTorch smooths nothing: look at the Hessian of a small ReLU network by its input. "
        "All of its entries are zero.",
        (
            "is penalt deriv|differentiat input|x ~weight ~parameter ~w",
            "is penalt deriv|differentiat by|after again ~weight ~parameter",
        ): "The slope is taken by the input. By what does training differentiate the penalty?",
        (
            "is other|rest|fit term|loss|part train|weight ~slope",
            "is weight fit anyway ~slope",
        ): "Suppose that the penalty stands alone. Does it give the weights a gradient?",
        "is penalt depend on input|x ~weight ~slope": "That it depends on the input trains "
        "nothing. On what else does the slope depend?",
        (
            "is momentum",
            "is adam",
            "is optimi",
            "is decay",
        ): "No optimizer moves a weight whose "
        "gradient has always been zero. Does the penalty give the weights a gradient?",
        (
            "is curv network|relu|everywhere",
            "not flat|piece|linear",
            "is premise wrong|false",
        ): "The pieces are flat, and the Hessian by the input is zero on each of them. The "
        "mistake is in the next step.",
        "is bias train|only|learn ~weight": "A bias moves the kinks. What makes a piece steep?",
        ("is retain", "is create_graph"): "How the graph is kept does not decide whether a "
        "derivative is zero. On what does the slope depend?",
    },
    model="The slope of such a network is a product of its weights, and the penalty is "
    "differentiated by the weights and not by x once more, so its gradient is not zero.",
    hints=(
        "Write down f(x) = w_1 * relu(w_0 * x) for a point where relu lets through. What is "
        "its slope?",
        "The slope is w_1 * w_0. Is its derivative by x zero? And by w_1?",
    ),
    mistakes=[
        Mistake(
            "By the input ReLU has no second derivative to speak of: it is zero on every "
            "piece. It is another derivative that is not.",
            when=curved_by_input,
        ),
        Mistake(
            "On each flat piece the slope is the same for all x. What does change it?",
            when=changes_with_x,
        ),
        Mistake(
            "If the slope did not depend on the weights, nothing could train them. Write it down "
            "for a small network.",
            when=independent,
        ),
        Mistake(
            "You have it the wrong way around: which of the two is computed from the other?",
            when=turned_around,
        ),
    ],
)
