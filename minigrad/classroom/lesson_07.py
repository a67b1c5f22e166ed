"""Check the exercises of lesson 07: what a legacy hook sees, and how to do without it."""

from __future__ import annotations

from minigrad.classroom.answers import Choice, Numbers
from minigrad.classroom.behaviors import Function, Hook
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.runs_07 import (
    FULL,
    LEGACY,
    collect,
    collector,
    deeper,
    doubled,
    full_hook,
    incoming,
    last_operation,
    old,
    on_the_tensor,
    outs,
    run_full,
    run_layers,
)

EXERCISES = [
    Numbers(
        id="07.1",
        asks="two tuples of five factors: for a full hook on f0, and for a legacy hook on f0",
        expected=lambda: (doubled(FULL), doubled(LEGACY)),
        right="A hook changes what lies below it, and f1 lies above both.",
        hints=(
            "The gradients of f1's parameters are finished before the pass comes to f0.",
            "Put one finger on f0's input and one on f0's output. Which leaves can you reach "
            "going down?",
        ),
        mistakes=[
            Mistake(
                "The first tuple is for the full hook, the second for the legacy hook: "
                "yours are the other way round.",
                value=lambda: (doubled(LEGACY), doubled(FULL)),
            ),
            Mistake(
                "Those are the factors for a hook on f1. Here it sits on f0, one module lower.",
                value=lambda: (doubled(FULL, "f1"), doubled(LEGACY, "f1")),
            ),
            Mistake(
                "Under the full hook you doubled f0's own parameters. Their ways branch off "
                "before the gradient leaves f0.",
                value=lambda: (doubled(LEGACY), doubled(LEGACY)),
            ),
            Mistake(
                "Under the legacy hook you left f0's own parameters alone. Where in f0 is its "
                "last operation, above or below its parameters?",
                value=lambda: (doubled(FULL), doubled(FULL)),
            ),
            Mistake(
                "These are gradients. Asked for are factors: 1 where nothing changes.",
                when=lambda pair: any(factor < 0 for five in pair for factor in five),
            ),
            Mistake(
                "You changed gradients of f1. The backward pass has left f1 before it meets a "
                "hook on f0.",
                when=lambda pair: any(factor != 1 for five in pair for factor in five[3:]),
            ),
        ],
    ),
    Hook(
        id="07.2",
        asks="collect(layer, found), which registers a hook that appends the gradient with "
        "respect to the layer's input to found, and returns the handle",
        scenario=run_layers,
        reference=collect,
        right="One positional argument, one entry: grad_input[0] now means what it says.",
        hints=(
            "What is the first input of addmm, the last operation of Linear?",
            "No fixed index can save the old hook: the entries differ between the three cases. "
            "Which hook has one entry for each argument?",
        ),
        mistakes=[
            Mistake(
                "For a batch, this collects the gradient of the bias: the old hook's entries "
                "belong to the last operation, and addmm takes the bias first.",
                like=collector(LEGACY, lambda gi, _: gi[0]),
            ),
            Mistake(
                "Another index helps for one of the layers and breaks for another: the entries "
                "depend on how the layer was computed. Look for a hook whose entries do not.",
                when=lambda trials: "IndexError" in (trials[0].trouble or ""),
            ),
            Mistake(
                "That is what arrives at the layer's output. What leaves it toward the input is "
                "the other argument of the hook.",
                like=collector(FULL, lambda _, go: go[0]),
            ),
            Mistake(
                "You collect the whole tuple. Wanted is the one gradient in it.",
                like=collector(FULL, lambda gi, _: gi),
            ),
            Mistake(
                "Your hook returns something, and that is taken for a new grad_input. Here it only "
                "has to collect.",
                when=lambda trials: "invalid number" in (trials[0].trouble or ""),
            ),
            Mistake(
                "The hook never found anything. Is it registered on the layer, and does it append?",
                when=lambda trials: all(trial.result == [] for trial in trials[:3]),
            ),
            Mistake(
                "The gradients are right, and nobody can take this hook off again: return the "
                "handle.",
                like=lambda layer, found: collect(layer, found) and None,
            ),
        ],
    ),
    Function(
        id="07.3",
        asks="last_operation(out), which starts the backward pass at out and returns the tuple "
        "of gradients that leave out's node",
        inputs=outs,
        reference=last_operation,
        returns=tuple,
        without=(FULL, LEGACY),
        right="That is all a legacy hook ever knew: what its one node sends on.",
        hints=(
            "The hook on a node is called with two tuples, grad_inputs first. Keep the first.",
            "Make an empty list, register a hook that appends to it, call out.backward(), and "
            "return what is in the list.",
        ),
        mistakes=[
            Mistake(
                "That is the gradient that arrives at the node, grad_output. Wanted is what it "
                "sends on.",
                like=incoming,
            ),
            Mistake(
                "That is one node too far: the last operation is out.grad_fn itself.",
                like=deeper,
            ),
            Mistake(
                "The list is still empty when you return it: who starts the backward pass?",
                when=lambda trials: all(trial.result == [] for trial in trials),
            ),
            Mistake(
                "It returned a list of all calls. The hook is called once: take that one entry.",
                when=lambda trials: all(
                    isinstance(trial.result, list) and isinstance(trial.result[0], tuple)
                    for trial in trials
                ),
            ),
            Mistake(
                "You hooked the tensor out. Such a hook sees one gradient, the one that arrives. "
                "What the node sends on is seen by a hook on the node.",
                like=on_the_tensor,
            ),
            Mistake(
                "The hook had seen nothing when you looked. A hook has to be registered before "
                "the backward pass, and read after it.",
                when=lambda trials: "IndexError" in (trials[0].trouble or ""),
            ),
        ],
    ),
    Choice(
        id="07.4",
        asks="your judgment of the colleague's proposal",
        option="b",
        right="A node in front that serves this one call only: that is the identity node.",
        why_not={
            "a": "Take a network in which x goes into this module and into a second one as well. "
            "What arrives at x.grad_fn?",
            "c": "The backward pass goes from the output to the input. So which of the two nodes "
            "runs first?",
            "d": "It can: a hook on a node gets what leaves the node and what arrived at it.",
        },
        mentions={
            "what happens to the gradients of all the uses at that node": (
                "sum",
                "add",
                "total",
                "accumul",
                "togeth",
                "mix",
                "collect",
                "plus",
                "both",
                "combin",
                "contribut",
                "merg",
                "arriv",
                "also",
                "as well",
            )
        },
        hints=(
            "Draw two arrows that arrive at x.grad_fn: one from the module, one from elsewhere.",
            "Look at what the legacy hook on Probe reported, 6, and at where the 5 came from.",
        ),
    ),
    Hook(
        id="07.5",
        asks="full_hook(module, hook), which makes the module call hook as a full backward hook",
        scenario=run_full,
        reference=full_hook,
        without=(FULL, LEGACY),
        right="Two nodes of your own, one note in between: you have built the identity nodes.",
        hints=(
            "Before forward: lead the argument through view_as and hook the result. After "
            "forward: do the same with the output. Both of your functions return the view.",
            "The output's gradient comes first: put it down in a list. The input's comes later: "
            "take it from there, and call the hook with both, each in a tuple.",
        ),
        mistakes=[
            Mistake(
                "That is the old hook again: it sits on the module's last operation. What leaves "
                "the module is known only at its input.",
                like=old,
            ),
            Mistake(
                "Right as long as the argument is used by nobody else. A hook on the argument "
                "itself sees the sum over all its uses: lead it through a node of your own.",
                like=lambda module, hook: full_hook(module, hook, own_input=False),
            ),
            Mistake(
                "What the hook returns goes nowhere: a hook on a tensor has to return the "
                "replacement.",
                like=lambda module, hook: full_hook(module, hook, replaces=False),
            ),
            Mistake(
                "The hook was called with bare tensors. grad_input and grad_output are tuples, "
                "also with one entry.",
                like=lambda module, hook: full_hook(module, hook, tuples=False),
            ),
            Mistake(
                "The hook's answer is a tuple, or None. A tensor's hook has to return a tensor: "
                "take it out of the tuple.",
                when=lambda trials: "returned 'tuple'" in (trials[0].trouble or ""),
            ),
            Mistake(
                "When the hook at the input ran, the one at the output had put nothing down yet. "
                "A module like Probe returns its input: then both sit on one tensor, unless the "
                "output is led through a node of its own as well.",
                when=lambda trials: "pop from empty" in (trials[0].trouble or ""),
            ),
            Mistake(
                "A pre-hook's or forward hook's result replaces the argument or the output; if "
                "it returns None, your view is not used, and the hook on it never runs.",
                when=lambda trials: trials[1].result == 0,
            ),
        ],
    ),
]
