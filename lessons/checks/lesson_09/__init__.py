"""Check the exercises of lesson 09: new reports to answer, tools to write."""

from __future__ import annotations

from typing import Any

from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Choice, Mistake, Numbers, Order

from .ready import WAITING, run_ready, when_ready
from .runs import WATCHING, asked_for, order, run_watchers, watch_output


def _is(three: Any, *values: Any) -> bool:
    """Tell whether the first entries of an answer to 09.1 are these."""
    return all(
        abs(a - b) < 1e-3 if b is not None and a is not None else a is b
        for a, b in zip(three, values, strict=False)
    )


EXERCISES = [
    Numbers(
        id="09.1",
        asks="a tuple of three: the value of gradient, what x.grad is, and how many lines are "
        "printed",
        expected=asked_for,
        right="Nothing is broken: grad runs the tensor's hooks, hands its result over, and "
        "accumulates nothing.",
        hints=(
            "Ask of each hook what it belongs to: to the tensor's gradient, or to its "
            "accumulation into .grad?",
            "The slope of x**3 at 2, then the tensor hook. And where does grad put its result, "
            "in .grad or into your hands?",
        ),
        mistakes=[
            Mistake(
                "The third is a number: how many lines are printed.",
                when=lambda three: isinstance(three[2], str),
            ),
            Mistake(
                "The values are right, in another order: asked for are gradient, x.grad, and the "
                "number of lines.",
                when=lambda three: set(three) == {120, None, 0},
            ),
            Mistake(
                "So it was until 2022. Today a tensor hook runs under grad as well, and what it "
                "returns is what you get: look at case 4 again.",
                when=lambda three: _is(three, 12, None, 0),
            ),
            Mistake(
                "A tensor hook runs under grad as well: look at case 4 again. And you answered for "
                "backward(): what does grad do with a leaf's .grad?",
                when=lambda three: _is(three, 12) and float(three[1]) != 0,
            ),
            Mistake(
                "An empty .grad is None, neither zero nor False: nothing was ever put there.",
                when=lambda three: three[1] is not None and float(three[1]) == 0,
            ),
            Mistake(
                "You answered for backward(). What does grad do with a leaf's .grad?",
                when=lambda three: three[1] is not None,
            ),
            Mistake(
                "The line is printed when something was accumulated. Was anything?",
                when=lambda three: three[2] != 0,
            ),
            Mistake(
                "The size of gradient fits, its sign does not: x**3 rises at x = 2.",
                when=lambda three: _is(three, -120),
            ),
            Mistake(
                "You multiplied the value of x**3. The hook is given the gradient, its slope.",
                when=lambda three: _is(three, 80),
            ),
            Mistake(
                "The slope of a power has the exponent as a factor: look at x**3 again.",
                when=lambda three: _is(three, 40),
            ),
            Mistake("The hook multiplies by 10. You added.", when=lambda three: _is(three, 22)),
            Mistake(
                "The hook runs once, so its factor is there once.",
                when=lambda three: _is(three, 1200),
            ),
            Mistake(
                "Work out the slope of x**3 at x = 2 first, then apply the hook, once.",
                when=lambda three: three[1:] == (None, 0),
            ),
        ],
    ),
    Choice(
        id="09.2",
        asks="why the hook is not called",
        option="c",
        right="model(data) runs the hooks and forward; model.forward(data) runs forward alone.",
        why_not={
            "a": "Then the hook would run at the output gate, and warn: lesson 06 showed it. Here "
            "there is not even a warning.",
            "b": "Case 5 had a full hook on a ReLU, which is smaller still, and it was called.",
            "d": "It has to be there before the module is run. Read the three lines from top to "
            "bottom: is it?",
        },
        model="Calling the module, model(x), builds the gates and runs the hooks around forward. "
        "model.forward(x) is only the inside, so no gate was ever built.",
        hints=(
            "Where do the gates come from? Lesson 06 says in which moment they are built.",
            "Compare the third line with every other program of this lesson, character by "
            "character.",
        ),
    ),
    Hook(
        id="09.3",
        asks="watch_output(module, found), which makes each backward pass append the gradient "
        "with respect to the module's output to found, and returns a handle",
        scenario=run_watchers,
        reference=watch_output,
        right="No gate, no view, nothing in the way of whatever comes behind.",
        hints=(
            "Which kind of hook is called with the module's output, before anybody else gets it?",
            "In a forward hook, register a tensor hook on the output. The handle to return is "
            "the forward hook's.",
        ),
        mistakes=WATCHING,
    ),
    Order(
        id="09.4",
        asks="the order in which the six hooks run",
        expected=order,
        right="B has an input gate, for A's weight stands behind it. A has none.",
        hints=(
            "Which of the two layers gets an input that requires a gradient?",
            "A layer without an input gate is left as soon as it is entered. Where is its weight "
            "then?",
        ),
        mistakes=[
            Mistake(
                "You have A nested like B. But A gets plain data: has it a gate at its input?",
                value=["enter B", "weight B", "leave B", "enter A", "weight A", "leave A"],
            ),
            Mistake(
                "You let B be left at once. Its input is made from A's weight, so it requires a "
                "gradient: there is a gate at which the hook waits.",
                value=["enter B", "leave B", "weight B", "enter A", "leave A", "weight A"],
            ),
            Mistake(
                "You have the two exchanged: one is left at once, and one waits for a gate at its "
                "input. Which of them gets plain data?",
                value=["enter B", "leave B", "weight B", "enter A", "weight A", "leave A"],
            ),
            Mistake(
                "That is the order of the alphabet.",
                when=lambda names: len(names) > 2 and names == sorted(names),
            ),
            Mistake(
                "Of which layer? Write the names in full, as they are given.",
                when=lambda names: {"enter", "leave", "weight"} >= set(names),
            ),
            Mistake(
                "Each of the six happens once, and here one is twice. (In an experiment with a "
                "loop each hook needs a name of its own.)",
                when=lambda names: len(set(names)) < len(names),
            ),
            Mistake(
                "That is the order of the forward pass. The backward pass starts at B.",
                when=lambda names: names and names[0].endswith("A"),
            ),
            Mistake(
                "A does not lie inside of B, but in front of it: the gradient reaches A when it "
                "has left B at B's input.",
                when=lambda names: names.index("leave B") > names.index("enter A"),
            ),
            Mistake(
                "A weight lies inside of its layer, and the gradient comes in at the output: which "
                "hook does it meet first?",
                when=lambda names: any(
                    names.index(f"weight {n}") < names.index(f"enter {n}") for n in "AB"
                ),
            ),
            Mistake(
                "B's weight hangs at B's own multiplication, and its turn comes before the gate "
                "at B's input: look at the right-hand picture of case 10, and at what is said "
                "below it.",
                when=lambda names: names.index("leave B") < names.index("weight B"),
            ),
        ],
    ),
    Hook(
        id="09.5",
        asks="when_ready(module, hook), which calls hook(module) once in each backward pass, when "
        "all parameters that require a gradient have it in .grad",
        scenario=run_ready,
        reference=when_ready,
        right="This is how large frameworks know when a layer's gradients may be sent away.",
        hints=(
            "Each parameter can tell that its own gradient is complete. Let them all tell, and "
            "count.",
            "Register one counting function as a post-accumulate hook on each parameter that "
            "requires a gradient. When the last has come, start the count anew, and call hook.",
        ),
        mistakes=WAITING,
    ),
]
