"""The exercises of lesson 05 that are answered by hand: a letter with a reason, and an order."""

from __future__ import annotations

from minigrad.classroom.exercises import Choice, Mistake, Order

FIRES = Choice(
    id="05.1",
    asks="which of the four lines does not make the hook on model.body fire",
    option="c",
    right="Hooks belong to the call of a module. Who runs its forward goes around them.",
    model="Hooks are run by the call of a module, before and after its forward. This line runs "
    "body's forward alone, so body itself is never called.",
    why_not={
        "a": "That leaves out the hooks of model itself. How does its forward get to body?",
        "b": "no_grad decides what is recorded for the backward pass. Does a forward hook need "
        "that record?",
        "d": "A module may be called by anyone, not only by its parent. Is this a call?",
    },
    hints=(
        "Look at the three steps of a call, in section 2. Which of them does each line run for "
        "body?",
        "In three of the lines body is called, by you or by its parent's forward. Find the one "
        "that reaches for something else than the call.",
    ),
)

LETTERS = Order(
    id="05.4",
    asks="the letters A, B, C, D and E in the order in which they are printed",
    expected=("C", "D", "B", "E", "A"),
    right="In at the root, through the children one by one, and out at the root.",
    hints=(
        "Which of the hooks run before their module, which after it? And when is net finished?",
        "Walk through the call: net begins, net[0] begins and ends, net[1] begins and ends, "
        "net ends. Write the letters beside it, then mind prepend.",
    ),
    mistakes=[
        Mistake(
            "Exactly the other way round. A call begins at the root, and ends there.",
            value=("A", "E", "B", "D", "C"),
        ),
        Mistake(
            "The hook with prepend=True goes in front of those that its module already has.",
            value=("C", "B", "D", "E", "A"),
        ),
        Mistake(
            "That is the order in which they were registered. Three modules are at work here.",
            value=("A", "B", "C", "D", "E"),
        ),
        Mistake(
            "prepend puts a hook in front of those of its own module, not in front of those of "
            "others.",
            value=("D", "C", "B", "E", "A"),
        ),
        Mistake(
            "prepend puts a hook in front of another one. It does not take its place.",
            when=lambda names: sorted(names) == ["A", "C", "D", "E"],
        ),
        Mistake(
            "A hook runs for the one module that it was registered on, and that is called once "
            "here.",
            when=lambda names: len(names) > 5 and {*names} == {*"ABCDE"},
        ),
        Mistake(
            "A pre-hook runs before its module, and net is not finished before its parts are.",
            value=("C", "D", "B", "A", "E"),
        ),
        Mistake(
            "A pre-hook runs when its own module is called. When is net[1] called?",
            when=lambda names: names.index("E") < max(names.index("B"), names.index("D")),
        ),
        Mistake(
            "A forward hook runs when its module is finished. Is net finished before its parts "
            "are?",
            when=lambda names: names[-1] != "A" and names[0] == "C" and len(names) == 5,
        ),
        Mistake(
            "The pre-hook of net runs before anything inside of net.",
            when=lambda names: names[0] in "BDE",
        ),
    ],
)
