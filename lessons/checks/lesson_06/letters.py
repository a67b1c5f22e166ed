"""The exercises of lesson 06 that are answered by hand: numbers, an order, and a reason."""

from __future__ import annotations

from typing import Any

import minigrad as torch
from minigrad.classroom.exercises import Choice, Mistake, Numbers, Order
from minigrad.classroom.values import as_number

from .runs import five_gradients, ones_at_the_input


def _close(answer: Any, *values: float | None) -> bool:
    """Tell whether the entries of an answer are near these values; None stands for any."""
    given = [as_number(entry) for entry in answer]
    return len(given) == len(values) and all(
        want is None or (have is not None and abs(have - want) < 2e-3)
        for have, want in zip(given, values, strict=True)
    )


TRIPLES = Choice(
    id="06.4",
    asks="which single hook triples all five gradients, those of f1's parameters included",
    option="c",
    right="What is changed at the output gate reaches all that lies behind it.",
    model="The pre-hook acts at the output gate, before anything of f1 has been computed, so all "
    "five gradients are computed from the tripled grad_output.",
    why_not={
        "a": "It acts where the gradient leaves f1. Have f1's parameters not had theirs by then?",
        "b": "When this hook runs, grad_output has been used already: section 4 shows who is hit "
        "instead.",
        "d": "It acts where the gradient leaves f1.f. Which parameters lie above that place?",
    },
    hints=(
        "For each of the four, find the gate where the hook acts.",
        "Which of the two gates lies above the place where the way to f1's parameters branches "
        "off?",
    ),
)

FIVE = Numbers(
    id="06.1",
    asks="the gradients of x, f0.weight, f0.bias, f1.f.weight and f1.f.bias, in this order",
    expected=lambda: five_gradients(ones_at_the_input),
    right="f0 goes on from the new value; f1 had finished with its own parameters.",
    hints=(
        "At which gate is the new value put in, and which parameters lie behind it?",
        "For x, w_0 and b_0 multiply 1 by the derivative of x_1 = w_0 x + b_0. The other two "
        "are those of the run without a hook.",
    ),
    mistakes=[
        Mistake(
            "Those are the gradients without the hook. What arrives at f0 now?",
            value=five_gradients,
        ),
        Mistake(
            "That is what a pre-hook with ones would do: it replaces grad_output. This hook "
            "replaces grad_input, at the other gate.",
            value=lambda: five_gradients(
                pre_hook=lambda module, grad_output: (torch.ones_like(grad_output[0]),)
            ),
        ),
        Mistake(
            "The hook puts in a one for x_1. The chain goes on from there: each of the others "
            "needs its local factor.",
            when=lambda answer: _close(answer, 1, 1, 1, None, None),
        ),
        Mistake(
            "The parameters of f1 do get their gradients: they lie between the gates.",
            when=lambda answer: answer[3] in (None, 0) or answer[4] in (None, 0),
        ),
        Mistake(
            "The sizes of f1's own gradients fit, their signs do not.",
            when=lambda answer: _close(answer, 0.3, 0.3, 1, 0.19378, 1.0199),
        ),
        Mistake(
            "What f1's own parameters get is fixed before the gradient reaches the input gate.",
            when=lambda answer: _close(answer, None, None, 1, None, None) and float(answer[4]) > 0,
        ),
        Mistake(
            "The numbers are there, and two have changed places: which of w_0 and b_0 does x "
            "multiply?",
            when=lambda answer: _close(answer, 0.3, 1, 0.3, -0.19378, -1.0199),
        ),
        Mistake(
            "x stands last here, and it was to come first.",
            when=lambda answer: _close(answer, 0.3, 1, -0.19378, -1.0199, 0.3),
        ),
        Mistake(
            "What is asked for b_0 is a derivative, not its value.",
            when=lambda answer: _close(answer, None, None, 0.1, None, None),
        ),
        Mistake(
            "w_0 multiplies x and w_1 multiplies x_1: look at which of the two you took.",
            when=lambda answer: (
                _close(answer, 0.3, None, 1, -0.30597, -1.0199)
                or _close(answer, 0.3, 0.19, 1, None, -1.0199)
            ),
        ),
        Mistake(
            "The one was added to what was there. What a hook returns takes its place.",
            when=lambda answer: _close(answer, None, None, 1 - 0.40796, None, None),
        ),
        Mistake(
            "The one stands for the gradient of x_1, behind w_1: that factor is past.",
            when=lambda answer: _close(answer, 0.12, 0.12, 0.4, None, None),
        ),
        Mistake(
            "The one stands for the gradient of x_1, and x_1 is not x: f0 lies between them.",
            when=lambda answer: _close(answer, 1, 0.3, 1, None, None),
        ),
    ],
)

LETTERS = Order(
    id="06.3",
    asks="the letters A, B, C and D in the order in which they are printed",
    expected=("C", "A", "B", "D"),
    right="Modules in the order of the backward pass; within one, registration, but for prepend.",
    hints=(
        "Which module does the gradient reach first, f0 or f1?",
        "Order the two hooks of that module, with prepend in mind; then those of the other.",
    ),
    mistakes=[
        Mistake(
            "The hook with prepend=True is put in front of those that its module already has.",
            value=("A", "C", "B", "D"),
        ),
        Mistake(
            "That is the order of the forward pass: f0 first. Where does the gradient start?",
            when=lambda names: names in (["B", "D", "C", "A"], ["B", "D", "A", "C"]),
        ),
        Mistake(
            "That is the order in which they were registered. Two modules are at work here.",
            value=("A", "B", "C", "D"),
        ),
        Mistake(
            "Hooks of one module run in the order of registration, unless prepend says "
            "otherwise. Look again at f0.",
            value=("C", "A", "D", "B"),
        ),
        Mistake(
            "Both modules lie on the way back, and each calls all of its hooks, not the last one "
            "alone.",
            when=lambda names: len(names) < 4 and {*names} < {*"ABCD"},
        ),
        Mistake(
            "These hooks run in the backward pass only, and there is one such pass.",
            when=lambda names: len(names) > 4 and {*names} == {*"ABCD"},
        ),
        Mistake(
            "Hooks do not run last in, first out: one that is registered later runs later, "
            "unless prepend says otherwise.",
            when=lambda names: names in (["D", "C", "B", "A"], ["C", "D", "B", "A"]),
        ),
        Mistake(
            "prepend puts a hook in front of all others of its module, never behind them.",
            when=lambda names: sorted(names[:2]) == ["A", "B"] or names[:2] == ["A", "C"],
        ),
        Mistake(
            "prepend puts a hook in front of those on the same module; it does not touch other "
            "modules, and all hooks of one module run before those of the next.",
            when=lambda names: names[0] == "C" and names[1] in "BD" and len(names) == 4,
        ),
    ],
)
