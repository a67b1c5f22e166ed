"""Check the exercises of lesson 07: what a legacy hook sees, and how to do without it."""

from __future__ import annotations

from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Choice, Mistake, Numbers

from .gates import BUILT_BY_HAND
from .runs import (
    FULL,
    LEGACY,
    a_one_each,
    at_the_leaves,
    collect,
    collector,
    deeper,
    doubled,
    everywhere,
    finds,
    found_all,
    from_its_value,
    incoming,
    last_operation,
    nothing_ran,
    on_the_argument,
    on_the_tensor,
    one_of_two,
    only_leaves_differ,
    other_shape,
    run_layers,
    run_outs,
    zeros_for_none,
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
                "These are gradients. Asked for are factors: 1 where nothing changes.",
                when=lambda pair: any(factor < 0 for five in pair for factor in five),
            ),
            Mistake(
                "A factor of 0 would mean that a gradient vanishes. What stays as it was has the "
                "factor 1, and what is doubled another.",
                when=lambda pair: any(factor == 0 for five in pair for factor in five),
            ),
            Mistake(
                "A factor is what is new, divided by what was there before: yours shrink.",
                when=lambda pair: any(0 < factor < 1 for five in pair for factor in five),
            ),
            Mistake(
                "There is one hook, and it is called once in the pass. Nothing is doubled twice.",
                when=lambda pair: any(factor > 2 for five in pair for factor in five),
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
                "You changed gradients of f1. The backward pass has left f1 before it meets a "
                "hook on f0: they lie above.",
                when=lambda pair: any(factor != 1 for five in pair for factor in five[3:]),
            ),
            Mistake(
                "Under the legacy hook you changed the bias alone, as if the hook's one entry were "
                "the bias's. What the hook returns is divided up further down: follow all ways "
                "that lead on from f0's last operation.",
                when=lambda pair: [*map(float, pair[1])] == [1, 1, 2, 1, 1],
            ),
            Mistake(
                "You left x alone. On its way to x the gradient passes f0, and with it the hook.",
                when=lambda pair: any(five[0] == 1 for five in pair),
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
            "No fixed index can save the old hook: the entries differ between the cases. "
            "Which hook has one entry for each argument?",
        ),
        mistakes=[
            Mistake(
                "For a batch, this collects the gradient of the bias: the old hook's entries "
                "belong to the last operation, and addmm takes the bias first.",
                like=collector(LEGACY, lambda gi, _: gi[0]),
            ),
            Mistake(
                "There is no entry with this index. How many the old hook has depends on how the "
                "layer was computed; a full hook has one for each argument of the call. Which "
                "hook, and which index?",
                trouble=("IndexError",),
            ),
            Mistake(
                "A backward hook of a module is called with three: the module, grad_input and "
                "grad_output.",
                trouble=("positional argument",),
            ),
            Mistake(
                "Both kinds of hooks are registered here. The old one has to go, not to stay "
                "beside the new one.",
                trouble=("Cannot use both",),
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
                "That is the input itself, from the forward pass. Wanted is its gradient.",
                like=lambda layer, found: layer.register_forward_hook(
                    lambda _, args, __: found.append(args[0])
                ),
            ),
            Mistake(
                "That is the first row of the gradient. Wanted are all rows.",
                like=collector(FULL, lambda gi, _: gi[0][0]),
            ),
            Mistake(
                "Your hook returns something, and that is taken for a new grad_input. Here it only "
                "has to collect.",
                trouble=("invalid number",),
            ),
            Mistake(
                "The layer's input is used elsewhere too, and you collect what all uses send back. "
                "Wanted is what comes out of the layer.",
                like=on_the_argument,
            ),
            Mistake(
                "This hook hears every layer in the process, and puts down what it hears. Wanted "
                "is the gradient of one layer.",
                like=everywhere,
            ),
            Mistake(
                "Nothing was found. Is the hook still registered when the layer is called, and "
                "does it append to the list that it was given?",
                when=lambda trials: all(have == [] for have, _ in finds(trials)),
            ),
            Mistake(
                "It collected in the first pass only. Every pass has to add its gradient.",
                when=one_of_two(0),
            ),
            Mistake(
                "Of two passes, only the last gradient is in the list: what was found before has "
                "to stay in it.",
                when=one_of_two(1),
            ),
            Mistake(
                "The old hook again. Number, order and shape of its entries depend on how the "
                "layer was computed. Look for a hook whose entries do not.",
                when=lambda trials: any(have.legacy for have, _ in finds(trials)),
            ),
            Mistake(
                "What you collect has not the shape of the layer's input, as its gradient has: "
                "collect the gradient itself, and all of it.",
                when=other_shape,
            ),
            Mistake(
                "More was found than one gradient in each pass. Is a hook registered twice, or is "
                "a gradient taken apart?",
                when=lambda trials: any(len(have) > len(want) for have, want in finds(trials)),
            ),
            Mistake(
                "The gradients are right, and nobody can take this hook off again: return the "
                "handle.",
                when=lambda trials: trials[-2].result is False and found_all(trials),
            ),
            Mistake(
                "The right gradients are found, but the backward pass goes on with others: what "
                "the hook returns is taken for a new grad_input. Here it only has to collect.",
                when=lambda trials: trials[-1].result == 0 and found_all(trials),
            ),
            Mistake(
                "Your handle was removed, and gradients are still collected. Return the handle of "
                "the hook that collects, and register it once.",
                when=lambda trials: trials[-1].result > 0 and found_all(trials),
            ),
        ],
    ),
    Hook(
        id="07.3",
        asks="last_operation(out), which starts the backward pass at out and returns the tuple "
        "of gradients that leave out's node",
        scenario=run_outs,
        reference=last_operation,
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
                when=lambda trials: all(trial.result == [] for trial in trials[::2]),
            ),
            Mistake(
                "It returned a list of all calls. The hook is called once: take that one entry.",
                when=lambda trials: all(
                    isinstance(trial.result, list) and isinstance(trial.result[0], tuple)
                    for trial in trials[::2]
                ),
            ),
            Mistake(
                "You hooked the tensor out. Such a hook sees one gradient, the one that arrives. "
                "What the node sends on is seen by a hook on the node.",
                like=on_the_tensor,
            ),
            Mistake(
                "That is one entry. Wanted is the tuple, with an entry for each input of the "
                "operation.",
                like=lambda out: last_operation(out)[0],
            ),
            Mistake(
                "The right entries in the opposite order: leave them as the operation took its "
                "inputs.",
                like=lambda out: last_operation(out)[::-1],
            ),
            Mistake(
                "A number has no gradient, and a legacy hook sees None there. You put zeros in its "
                "place.",
                like=zeros_for_none,
            ),
            Mistake(
                "A pass from out starts from 1, the derivative of out with respect to itself. "
                "Yours starts from the value of out.",
                like=from_its_value,
            ),
            Mistake(
                "A 1 for each input is right for a plain addition, and for nothing else. Let the "
                "pass run, and look.",
                like=a_one_each,
            ),
            Mistake(
                "Those are the gradients of the leaves, where the pass ends. The last operation "
                "sends to its own inputs, and these may lie in the middle.",
                like=at_the_leaves,
            ),
            Mistake(
                "No gradient came to x, y and z: a backward pass that starts at out would have "
                "brought them some.",
                when=nothing_ran,
            ),
            Mistake(
                "The tuples are right, but x, y and z got other gradients than from one plain "
                "pass. Does your hook return something, or does a second pass run?",
                when=only_leaves_differ,
            ),
            Mistake(
                "The hook had seen nothing when you looked. A hook has to be registered before "
                "the backward pass, and read after it.",
                trouble=("IndexError", "KeyError", "pop from empty", "UnboundLocalError"),
            ),
            Mistake(
                "What has no grad_fn was made by no operation: a detached copy, for one. Work with "
                "out itself.",
                trouble=("no attribute 'register_hook'",),
            ),
            Mistake(
                "A hook on a node is called with two tuples: what it sends on, and what arrived.",
                trouble=("positional argument",),
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
        model="At x.grad_fn the gradients of all uses of x have been added up, and the module's "
        "own share can no longer be told from the rest.",
        hints=(
            "Draw two arrows that arrive at x.grad_fn: one from the module, one from elsewhere.",
            "Look at what the legacy hook on Probe reported, 6, and at where the 5 came from.",
        ),
    ),
    BUILT_BY_HAND,
]
