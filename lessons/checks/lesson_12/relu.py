"""Check exercise 12.4: why a gradient penalty trains a network of ReLUs."""

from __future__ import annotations

from minigrad.classroom.exercises import Choice

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
    model="The slope of such a network is a product of its weights, and the penalty is "
    "differentiated by the weights and not by x once more, so its gradient is not zero.",
    hints=(
        "Write down f(x) = w_1 * relu(w_0 * x) for a point where relu lets through. What is "
        "its slope?",
        "The slope is w_1 * w_0. Is its derivative by x zero? And by w_1?",
    ),
)
