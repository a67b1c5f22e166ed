"""Check the exercises of lesson 05, on modules and forward hooks: answers run in small models."""

from __future__ import annotations

import builtins

import minigrad as torch
from minigrad import nn
from minigrad.classroom.answers import Choice, Order
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.runs_05 import (
    BATCH,
    activations,
    activations_run,
    stop_at,
    stop_run,
    to_double,
    to_double_run,
    transplant,
    transplant_run,
)
from minigrad.classroom.runs_06 import stumbled

EXERCISES = [
    Choice(
        id="05.1",
        asks="which of the four lines does not make the hook on model.body fire",
        option="c",
        right="Hooks belong to the call of a module. Who runs its forward goes around them.",
        why_not={
            "a": "That leaves out the hooks of model itself. How does its forward get to body?",
            "b": "no_grad decides what is recorded for the backward pass. Does a forward hook need "
            "that record?",
            "d": "A module may be called by anyone, not only by its parent. Is this a call?",
        },
        mentions={
            "what the line leaves out": (
                "call",
                "bypass",
                "around",
                "skip",
                "left out",
                "leaves out",
                "leave out",
                "without",
                "only forward",
                "directly",
                "only step 2",
                "step 1",
                "steps 1",
                "step 3",
            )
        },
        hints=(
            "Look at the three steps of a call, in section 2. Which of them does each line run for "
            "body?",
            "In three of the lines body is called, by you or by its parent's forward. Find the "
            "one that reaches for something else than the call.",
        ),
    ),
    Hook(
        id="05.2",
        asks="transplant(model, name, donor, batch), which returns the model's result on batch, "
        "with the output of the module called name taken from a run on donor",
        scenario=transplant_run,
        reference=transplant(),
        right="Two hooks, one that takes and one that gives. In research this is called activation "
        "patching.",
        hints=(
            "Two runs, and in each a hook on the same module. What does each of the two hooks do?",
            "In the run on donor a hook keeps the output. In the run on batch a hook returns what "
            "was kept. A with block for each takes them off.",
        ),
        mistakes=[
            Mistake(
                "It did not return the model's result. The second run gives what is asked for.",
                when=stumbled("has to return what"),
            ),
            Mistake(
                "A dotted name is a path through the tree, not an attribute: get_submodule follows "
                "it.",
                when=stumbled("has no attribute `body.0`", "no attribute 'body.0'", "KeyError"),
            ),
            Mistake(
                "That is the whole run on the donor. This model has two branches, and only one of "
                "them is to come from there.",
                like=lambda model, name, donor, batch: model(donor),
            ),
            Mistake(
                "That is the plain run on batch: nothing was replaced. What a hook computes counts "
                "only if the hook returns it, and the hook has to be on while the model runs.",
                like=lambda model, name, donor, batch: model(batch),
            ),
            Mistake(
                "The donor's value went into the module instead of taking the place of its output. "
                "A pre-hook stands at the other end.",
                like=transplant(into=True),
            ),
            Mistake(
                "The module gives a tuple now: a forward hook's result is taken as it is.",
                when=stumbled("tuple"),
            ),
            Mistake(
                "Donor and batch have changed places: the module's output was taken from batch.",
                like=transplant(swapped=True),
            ),
            Mistake(
                "That is the output of the inner module itself. Let the model go on from there.",
                like=transplant(returns_organ=True),
            ),
            Mistake(
                "The result is right once, and a hook stayed on the model. Whoever uses it next "
                "gets your donor's values.",
                when=lambda found: found[2].result > 0,
            ),
        ],
    ),
    Hook(
        id="05.3",
        asks="to_double(module, args, kwargs), a pre-hook that turns every floating-point tensor "
        "among the arguments into float64",
        scenario=to_double_run,
        reference=to_double(),
        may_return=(tuple,),
        right="Position or keyword, one rule for both. Moving data to a device works the same way.",
        hints=(
            "Which values are to be changed, and how do you tell them from the others? And what "
            "has to go back, with with_kwargs=True?",
            "Write a small function for one value: value.double() if it is a torch.Tensor and "
            "is_floating_point(), else the value. Use it on each entry of args and of kwargs, and "
            "return a tuple of two: a new tuple and a new dict.",
        ),
        mistakes=[
            Mistake(
                "With with_kwargs=True a pre-hook gives back both: a pair of a tuple and a dict.",
                when=stumbled("must return None or a tuple of (new_args, new_kwargs)"),
            ),
            Mistake(
                "With with_kwargs=True a pre-hook is called with three arguments: the module, args "
                "and kwargs.",
                when=stumbled("3 were given"),
            ),
            Mistake(
                "Not every argument is a tensor: there are plain numbers and None among them. Ask "
                "first.",
                when=stumbled("has no attribute"),
            ),
            Mistake(
                "It returned a pair, but not of positional arguments and a dict of keyword "
                "arguments, in this order.",
                when=stumbled("forward()", "mapping", "iterable"),
            ),
            Mistake(
                "Nothing was converted. A pre-hook changes the arguments only by what it returns.",
                like=lambda module, args, kwargs: None,
            ),
            Mistake(
                "What came by keyword is still float32.",
                like=to_double(kwargs=False),
            ),
            Mistake(
                "What came by position is still float32.",
                like=to_double(args=False),
            ),
            Mistake(
                "Tensors of integers were converted too: labels and indices have to stay integers.",
                like=to_double(whole=True),
            ),
            Mistake(
                "The values are right, and args is a list now. Later hooks count on a tuple.",
                when=lambda found: found[3].result == ["list"],
            ),
            Mistake(
                "The caller's own tensor has changed its type. Make new tensors, and leave those "
                "that you were given.",
                when=lambda found: "float64" in "".join(found[4].result),
            ),
        ],
    ),
    Order(
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
                "A pre-hook runs when its own module is called. When is net[1] called?",
                when=lambda names: names.index("E") < max(names.index("B"), names.index("D")),
            ),
            Mistake(
                "A forward hook runs when its module is finished. Is net finished before its parts "
                "are?",
                when=lambda names: names[-1] != "A" and names[0] == "C",
            ),
            Mistake(
                "The pre-hook of net runs before anything inside of net.",
                when=lambda names: names[0] in "BDE",
            ),
        ],
    ),
    Hook(
        id="05.5",
        asks="activations(model, batch), which returns a dict from the name of each module to its "
        "output, in tensors of their own, and leaves no hooks",
        scenario=activations_run,
        reference=activations(),
        right="A name each, no graph, memory of their own, and nothing left behind.",
        hints=(
            "Look at what each run of the hook writes: under which name, which tensor, and who "
            "else can reach that tensor? Then look at the model after the call.",
            "Bind the name with partial or with a function that makes the hook. Keep "
            "output.detach().clone(). Collect the handles, and remove each at the end.",
        ),
        mistakes=[
            Mistake(
                "It did not return a dict of tensors: a name for each module, and its output.",
                when=stumbled("has to return a dict", "have to be tensors"),
            ),
            Mistake(
                "All hooks wrote under one name. A hook that mentions name looks it up when it "
                "runs, and by then the loop is over.",
                when=lambda found: len(found[0].result) == 1 and found[0].result != [""],
            ),
            Mistake(
                "There is nothing in the dict. Were the hooks on while the model ran?",
                when=lambda found: found[0].result == [],
            ),
            Mistake(
                "The modules inside of body are missing: named_children() goes one level deep.",
                like=activations(which=nn.Module.named_children),
            ),
            Mistake(
                "The model itself is missing. named_modules() lists it, with the empty name.",
                when=lambda found: (
                    found[0].result == sorted(set(found[0].result) - {""})
                    and "body.0" in found[0].result
                ),
            ),
            Mistake(
                "The tensors still hang on their graph, and keep all of it in memory.",
                when=lambda found: found[2].result > 0,
            ),
            Mistake(
                "For 'body.0' the dict holds what the ReLU behind it has made: detach() cuts the "
                "history off, and the memory is still shared.",
                when=lambda found: found[1].result[2] == found[1].result[3],
            ),
            Mistake(
                "Everything is there, and hooks stayed on the model. The next call finds them.",
                when=lambda found: found[3].result > 0,
            ),
        ],
    ),
    Hook(
        id="05.6",
        asks="stop_at(model, name, batch), which returns the output of the module called name, and "
        "does not run what comes after it",
        scenario=stop_run,
        reference=stop_at(),
        right="An error is a way out of any depth. Hooks, error and all are gone afterwards.",
        hints=(
            "How can a hook make forward end? And how do you tell your own error from others?",
            "Define a class of error of your own, raise it in the hook with the output in it, and "
            "catch that class alone around model(batch), inside of the handle's with block.",
        ),
        mistakes=[
            Mistake(
                "It did not return a tensor. What your error carried has to be taken out of it and "
                "returned.",
                when=stumbled("has to return the output"),
            ),
            Mistake(
                "Your error came out of the hook, and nobody caught it on its way out.",
                when=lambda found: (
                    (found[0].trouble or "").startswith("It raised")
                    and not hasattr(builtins, (found[0].trouble or "").split()[2].rstrip(":.,"))
                ),
            ),
            Mistake(
                "The model was never called: the inner module got the batch as it came. Mostly "
                "other modules come first.",
                when=lambda found: found[2].result == [],
            ),
            Mistake(
                "The head ran as well. The output is right, but nothing was saved: end the forward "
                "pass in the hook.",
                when=lambda found: "head" in found[2].result,
            ),
            Mistake(
                "That is what goes into the module. A hook gets it in args; the other one is asked "
                "for.",
                when=lambda found: found[0].result == torch.tensor(BATCH).tolist(),
            ),
            Mistake(
                "The output has lost its graph. This time it is wanted: no detach, no no_grad.",
                like=stop_at(detaches=True),
            ),
            Mistake(
                "A batch of the wrong size went in, and its error was swallowed. Catch your own "
                "class of error only.",
                when=lambda found: str(found[5].result) not in ("RuntimeError", "None"),
            ),
            Mistake(
                "The hook stayed on the model. Each later run will be stopped, too.",
                when=lambda found: found[4].result > 0,
            ),
            Mistake(
                "When the model raises an error of its own, your hook stays behind. Remove it "
                "whatever happens: a with block, or finally.",
                when=lambda found: found[6].result > 0,
            ),
        ],
    ),
]
