"""Check the exercises of lesson 09: new reports to answer, tools to write."""

from __future__ import annotations

from minigrad.classroom.answers import Choice, Numbers, Order
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.runs_09 import (
    FULL,
    LEGACY,
    asked_for,
    at_each,
    by_full_hook,
    by_module,
    by_multi_grad_hook,
    on_the_input,
    order,
    run_ready,
    run_watchers,
    values_instead,
    watch_output,
    when_ready,
)

EXERCISES = [
    Numbers(
        id="09.1",
        asks="a tuple of three: the value of gradient, what x.grad is, and how many lines are "
        "printed",
        expected=asked_for,
        container=tuple,
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
                "So it was until 2022. Today a tensor hook runs under grad as well, and what it "
                "returns is what you get: look at case 4 again.",
                when=lambda three: abs(three[0] - 12) < 1e-3 and three[1:] == (None, 0),
            ),
            Mistake(
                "You answered for backward(). What does grad do with a leaf's .grad?",
                when=lambda three: three[1] is not None and float(three[1]) != 0,
            ),
            Mistake(
                "An empty .grad is None, not zero: nothing was ever put there.",
                when=lambda three: three[1] is not None and float(three[1]) == 0,
            ),
            Mistake(
                "The line is printed when something was accumulated. Was anything?",
                when=lambda three: three[1] is None and three[2] != 0,
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
            "a": "Then the hook would run at the output gate, and warn: case 9. Here there is "
            "not even a warning.",
            "b": "Case 9 had a full hook on a single Linear, and it was called.",
            "d": "It has to be there before the module is run. Read the three lines from top to "
            "bottom: is it?",
        },
        mentions={
            "who runs a module's hooks": (
                "call",
                "bypass",
                "skip",
                "past",
                "around",
                "gate",
                "inside",
                "model(",
            )
        },
        hints=(
            "Where do the gates come from? Case 7 says in which moment they are built.",
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
        mistakes=[
            Mistake(
                "A full hook builds a gate, and what leaves the gate is a view, which the ReLU "
                "may not overwrite: this is case 8 itself. Use a hook that builds no node.",
                like=by_module(FULL, lambda gi, go: go[0]),
            ),
            Mistake(
                "The right numbers under the wrong hook: it is deprecated and warns, and it would "
                "hook the wrong node for a module that returns its input.",
                like=by_module(LEGACY, lambda gi, go: go[0]),
            ),
            Mistake(
                "A full hook builds a gate, and what leaves the gate is a view, which the ReLU "
                "may not overwrite: this is case 8 itself. Use a hook that builds no node.",
                when=lambda trials: "is a view" in (trials[0].trouble or ""),
            ),
            Mistake(
                "That is the gradient with respect to what goes into the module. Asked for is "
                "what comes out.",
                like=on_the_input,
            ),
            Mistake(
                "You collected the output itself. Its gradient is known only in the backward "
                "pass: what you need is a hook on the tensor.",
                like=values_instead,
            ),
            Mistake(
                "A forward hook runs in the forward pass, where no gradient exists: reading .grad "
                "there gives None. Leave something behind that runs in the backward pass.",
                when=lambda trials: trials[0].result and trials[0].result[0] is None,
            ),
            Mistake(
                "A forward hook's result replaces the module's output. Register the tensor hook, "
                "and return nothing from the forward hook.",
                when=lambda trials: "RemovableHandle" in (trials[0].trouble or ""),
            ),
            Mistake(
                "The gradients are right, and nobody can end it: return the handle.",
                like=lambda module, found: watch_output(module, found) and None,
            ),
            Mistake(
                "Nothing was ever found. Is the tensor hook registered on the output, and does "
                "it append to the list that it was given?",
                when=lambda trials: all(trial.result == [] for trial in trials[:2]),
            ),
        ],
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
                "That is the order of the forward pass. The backward pass starts at B.",
                when=lambda names: names and names[0].endswith("A"),
            ),
            Mistake(
                "B's weight hangs at B's own multiplication, and its turn comes before the gate "
                "at B's input: look at the right-hand picture of case 9, and at what is said "
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
        mistakes=[
            Mistake(
                "That is case 9 itself: with plain data a full hook runs before any parameter has "
                "its gradient.",
                like=by_full_hook,
            ),
            Mistake(
                "When your hook runs, every gradient has been computed, and the last of them is "
                "not in .grad yet. Which hook on a parameter comes after that?",
                like=by_multi_grad_hook,
            ),
            Mistake(
                "It is called once for each parameter. Wanted is one call, when the last has come.",
                like=at_each,
            ),
            Mistake(
                "You wait for one parameter only. Others may come later.",
                like=lambda module, hook: when_ready(module, hook, all_of_them=False),
            ),
            Mistake(
                "It works in the first pass and never again: start the count anew when it is full.",
                like=lambda module, hook: when_ready(module, hook, clears=False),
            ),
            Mistake(
                "A frozen parameter takes no hook, and never gets a gradient: leave it out, also "
                "when you count.",
                when=lambda trials: "doesn't require gradient" in (trials[0].trouble or ""),
            ),
            Mistake(
                "You wait for the frozen parameter too, and its gradient never comes: leave it out "
                "when you count.",
                when=lambda trials: trials[-1].result == [] and len(trials[0].result) == 1,
            ),
            Mistake(
                "When your hook runs, not every gradient is in .grad yet. Which hook on a "
                "parameter comes after that?",
                when=lambda trials: any(g is None for call in trials[0].result for g in call),
            ),
            Mistake(
                "You called the hook yourself, or not from the backward pass. Register something "
                "that calls it then.",
                when=lambda trials: all(trial.result == [] for trial in trials[:4]),
            ),
            Mistake(
                "A post-accumulate hook has to return None. Call hook(module), and do not return "
                "what it gives.",
                when=lambda trials: "hook returned" in (trials[0].trouble or ""),
            ),
        ],
    ),
]
