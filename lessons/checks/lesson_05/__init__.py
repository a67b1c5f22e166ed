"""Check the exercises of lesson 05, on modules and forward hooks: answers run in small models."""

from __future__ import annotations

from collections.abc import Sequence

import minigrad as torch
from minigrad.classroom.behaviors import Hook, Trial
from minigrad.classroom.exercises import Mistake
from minigrad.classroom.values import alike

from ..observations import partly
from .letters import FIRES, LETTERS
from .runs import (
    BODY,
    MODULES,
    STOPPED,
    THROUGH,
    VALUES,
    activations,
    activations_run,
    organ_of_the_body,
    stop_at,
    stop_run,
    to_double,
    to_double_run,
    transplant,
    transplant_run,
)


def _single(found: Sequence[Trial], name: str) -> bool:
    """Tell whether an argument was still float32 when it came in."""
    return f"{name}: float32" in found[0].result


NOT_AN_ATTRIBUTE = Mistake(
    "A dotted name is a path through the tree, not an attribute: get_submodule follows it.",
    trouble=("`body.0`", "attribute 'body.0'", "KeyError: 'body.0'"),
)

EXERCISES = [
    FIRES,
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
            "In the run on donor a hook keeps the output, in memory of its own. In the run on "
            "batch a hook returns what was kept. A with block for each takes them off.",
        ),
        mistakes=[
            NOT_AN_ATTRIBUTE,
            Mistake(
                "Every row got one and the same value, and each has an output of its own.",
                trouble=("single memory location",),
            ),
            Mistake(
                "The module gives a tuple now: a forward hook's result is taken as it is.",
                trouble=("tuple",),
            ),
            Mistake(
                "When the value was to be put in, nothing had been kept. Was the hook on while the "
                "model ran on donor?",
                trouble=("IndexError", "KeyError", "UnboundLocalError", "NoneType"),
            ),
            Mistake(
                "It wrote into what it was given. The donor's value has to come in through a hook, "
                "at one module.",
                when=lambda found: found[0].changed & {"values", "entries"},
            ),
            Mistake(
                "That is the whole run on the donor. This model has two branches, and only one of "
                "them is to come from there.",
                like=lambda model, name, donor, batch: model(donor),
            ),
            Mistake(
                "That is the plain run on batch: nothing was replaced. What a hook computes counts "
                "only if the hook returns it, and it has to be the donor's value by then.",
                like=lambda model, name, donor, batch: model(batch),
            ),
            Mistake(
                "The donor's value went into the module instead of taking the place of its output. "
                "A pre-hook stands at the other end.",
                when=partly(transplant_run, transplant(into=True), BODY),
            ),
            Mistake(
                "The donor went straight into the inner module. It has to take the way through the "
                "model, past whatever comes before that module.",
                when=partly(transplant_run, transplant(straight=True), BODY),
            ),
            Mistake(
                "Behind 'body.0' stands a module that works in place: it has changed what you kept "
                "before you put it in. Section 3 had this trap.",
                like=transplant(clones=False),
            ),
            Mistake(
                "Donor and batch have changed places: the module's output was taken from batch.",
                when=partly(transplant_run, transplant(swapped=True), BODY),
            ),
            Mistake(
                "That is the output of the inner module itself. Let the model go on from there.",
                when=lambda found: alike(found[0].result, organ_of_the_body()),
            ),
            Mistake(
                "The donor's output was added to the module's own. It has to take its place.",
                when=partly(transplant_run, transplant(put=torch.add), BODY),
            ),
            Mistake(
                "A hook of yours stayed on the model. Whoever uses it next gets your donor's "
                "values, or is spied on.",
                when=lambda found: found[3].result > 0,
            ),
            Mistake(
                "A second call, with another donor, still put in what the first had kept.",
                when=lambda found: found[5].result is False,
            ),
        ],
    ),
    Hook(
        id="05.3",
        asks="to_double(module, args, kwargs), a pre-hook that turns every floating-point tensor "
        "among the arguments into float64",
        scenario=to_double_run,
        reference=to_double,
        may_return=(tuple,),
        may_change=("entries",),  # kwargs is the call's own dict
        right="Position or keyword, one rule for both. Moving data to a device works the same way.",
        hints=(
            "Which values are to be changed, and how do you tell them from the others? And what "
            "has to go back, with with_kwargs=True?",
            "Write a small function for one value: value.double() if it is a torch.Tensor and "
            "is_floating_point(), else the value. Use it on each entry of args and of kwargs, and "
            "give back both: a new tuple and a new dict.",
        ),
        mistakes=[
            Mistake(
                "With with_kwargs=True a pre-hook gives back both: a pair of a tuple and a dict.",
                trouble=("must return None or a tuple of (new_args, new_kwargs)",),
            ),
            Mistake(
                "Not every argument is a tensor: there are plain numbers and None among them. Ask "
                "first.",
                trouble=("has no attribute",),
            ),
            Mistake(
                "Everything may come by keyword, and then there is no args[0].",
                trouble=("IndexError",),
            ),
            Mistake(
                "What is not to be converted has to be handed on all the same, in its place: an "
                "argument is missing now.",
                trouble=("missing",),
            ),
            Mistake(
                "It returned a pair, but not of positional arguments and a dict of keyword "
                "arguments, in this order.",
                trouble=("forward()", "mapping", "iterable"),
            ),
            Mistake(
                "The tensor may be part of a graph, which NumPy knows nothing of.",
                trouble=("requires grad", "numpy()"),
            ),
            Mistake(
                "It changed the module's parameters. The data is what has to fit.",
                when=lambda found: found[6].result != "float64",
            ),
            Mistake(
                "The caller's own tensor has changed its type. Make new tensors, and leave those "
                "that you were given.",
                when=lambda found: found[4].result[4] != "float16",
            ),
            Mistake(
                "Nothing was converted. A pre-hook changes the arguments only by what it returns.",
                when=lambda found: _single(found, "x") and _single(found, "shift"),
            ),
            Mistake(
                "It stops at the first argument that is no tensor: what comes after that is still "
                "float32.",
                when=lambda found: (
                    not _single(found, "y") and _single(found, "z") and _single(found, "shift")
                ),
            ),
            Mistake(
                "Of the positional arguments only some were converted. Any of them may be such a "
                "tensor.",
                when=lambda found: not _single(found, "x") and _single(found, "z"),
            ),
            Mistake(
                "What came by keyword is still float32.",
                when=lambda found: _single(found, "shift"),
            ),
            Mistake(
                "What came by position is still float32.",
                when=lambda found: _single(found, "x"),
            ),
            Mistake(
                "A tensor of float16 stayed as it was. It holds floating-point numbers, too.",
                when=lambda found: "half: float16" in found[0].result,
            ),
            Mistake(
                "Tensors of integers were converted too: labels and indices have to stay integers.",
                when=lambda found: "labels: int64" not in found[0].result,
            ),
            Mistake(
                "A plain number has become a tensor. Numbers stay what they are.",
                when=lambda found: "rate: 0.5" not in found[0].result,
            ),
            Mistake(
                "The values are right, and args is a list now. Later hooks count on a tuple.",
                when=lambda found: found[3].result == ["list", "list"],
            ),
            Mistake(
                "The values are right, and their history is lost: no gradient comes back to the "
                "caller's tensor.",
                when=lambda found: found[5].result is None,
            ),
        ],
    ),
    LETTERS,
    Hook(
        id="05.5",
        asks="activations(model, batch), which returns a dict from the name of each module to its "
        "output, in tensors of their own, and leaves no hooks, whatever happens",
        scenario=activations_run,
        reference=activations(),
        right="A name each, no graph, memory of their own, and nothing left behind.",
        hints=(
            "Look at what each run of the hook writes: under which name, which tensor, and who "
            "else can reach that tensor? Then look at the model after the call.",
            "Bind the name with partial or with a function that makes the hook. Keep "
            "output.detach().clone(). Collect the handles, and remove each where finally stands.",
        ),
        mistakes=[
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
                "Those are the names of classes, and two modules of one class share an entry. "
                "named_modules() gives each module a name of its own.",
                when=lambda found: {"Linear", "ReLU"} <= {*found[0].result},
            ),
            Mistake(
                "The modules inside of body are missing: named_children() goes one level deep.",
                when=lambda found: "body" in found[0].result and "body.0" not in found[0].result,
            ),
            Mistake(
                "The modules that have parts of their own are missing. They have an output, too.",
                when=lambda found: "body" not in found[0].result and "body.0" in found[0].result,
            ),
            Mistake(
                "The hook on the model itself never ran: model.forward goes around it.",
                when=lambda found: found[3].result == 0,
            ),
            Mistake(
                "The model itself is missing. named_modules() lists it, with the empty name.",
                when=lambda found: found[0].result == sorted({*MODULES} - {""}),
            ),
            Mistake(
                "Those are the inputs of the modules. A hook gets both; the other one is asked "
                "for.",
                when=partly(activations_run, activations(of_input=True), VALUES),
            ),
            Mistake(
                "The tensors still hang on their graph, and keep all of it in memory.",
                when=lambda found: found[2].result > 0,
            ),
            Mistake(
                "For 'body.0' the dict holds what the ReLU behind it has made: the memory was "
                "still shared when the ReLU wrote into it.",
                when=lambda found: found[1].result[2] == found[1].result[3],
            ),
            Mistake(
                "A hook of yours stayed on the model. The next call finds it.",
                when=lambda found: found[4].result > 0,
            ),
            Mistake(
                "The second call wrote into the dict that the first one had returned. Make a new "
                "one in each call.",
                when=lambda found: found[6].result is False,
            ),
            Mistake(
                "The error of the model never came out: a batch that does not fit went in, and a "
                "dict came back. Whoever calls wants to know.",
                when=lambda found: found[7].result.startswith("no error"),
            ),
            Mistake(
                "When the model raises an error, your hooks stay behind. Section 8 has a way.",
                when=lambda found: found[8].result > 0,
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
            NOT_AN_ATTRIBUTE,
            Mistake(
                "The model was taken apart, and left so. Let it be, and leave its forward early.",
                when=lambda found: "modules" in found[0].changed,
            ),
            Mistake(
                "The model was never called: the inner module got the batch as it came. Mostly "
                "other modules come first.",
                when=lambda found: found[2].result == [],
            ),
            Mistake(
                "The head ran as well, so nothing was saved: end the forward pass in the hook.",
                when=lambda found: "head" in found[2].result,
            ),
            Mistake(
                "That is what goes into the module. A hook gets it in args; the other one is asked "
                "for.",
                when=partly(stop_run, stop_at(at_input=True), STOPPED),
            ),
            Mistake(
                "It stops at the first module that is finished, whichever that is. Only the one "
                "called name is to stop it.",
                when=partly(stop_run, stop_at(first=True), STOPPED),
            ),
            Mistake(
                "The output has lost its graph. This time it is wanted: no detach, no no_grad.",
                when=lambda found: found[3].result is False,
            ),
            Mistake(
                "The hook stayed on the model. Each later run will be stopped, too.",
                when=lambda found: found[4].result > 0,
            ),
            Mistake(
                "A batch of the wrong size went in, and its error was swallowed. Catch your own "
                "class of error only.",
                when=lambda found: found[5].result.startswith("no error"),
            ),
            Mistake(
                "Where the model raises an error of its own, another one came out. Let it through "
                "as it is.",
                when=lambda found: found[5].result != "RuntimeError",
            ),
            Mistake(
                "When the model raises an error of its own, your hook stays behind. Remove it "
                "whatever happens: a with block, or finally.",
                when=lambda found: found[6].result > 0,
            ),
            Mistake(
                "Others may raise an error like yours, and this one was taken for it. With a class "
                "of your own nobody else's can be meant.",
                when=lambda found: found[7].result != THROUGH,
            ),
        ],
    ),
]
