"""Check the exercises of lesson 06, on full backward hooks: each answer runs in a real network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad.classroom.behaviors import Hook, Trial
from minigrad.classroom.exercises import Mistake

from ..observations import observed, partly
from .letters import FIVE, LETTERS, TRIPLES
from .runs import (
    DOUBLES,
    LAYERS,
    NORMS,
    WATCHES,
    clip,
    clip_with,
    clipped_run,
    first_pass,
    home_made,
    hooked_run,
    norms,
    norms_run,
    weight_norms,
)


def _norms_by(wrong: Any) -> Callable[[Sequence[Trial]], bool]:
    return partly(norms_run, wrong, NORMS)


def _hooked_by(wrong: Any) -> Callable[[Sequence[Trial]], bool]:
    return partly(hooked_run, wrong, *first_pass(WATCHES), *first_pass(DOUBLES))


EXERCISES = [
    FIVE,
    Hook(
        id="06.2",
        asks="clip(module, grad_input, grad_output), which replaces each gradient in grad_input by "
        "one clipped to the range from -1 to 1",
        scenario=clipped_run,
        reference=clip,
        may_return=(tuple,),
        right="A new tuple of new tensors, with None where None was: so it fits every module.",
        hints=(
            "What is in grad_input for an argument that is no tensor? And who else holds the "
            "tensors that you are given?",
            "Build a new tuple with one entry for each entry of grad_input: None for None, else "
            "gradient.clamp(-1, 1), without the underscore.",
        ),
        mistakes=[
            Mistake(
                "It stumbled over a None. One argument of this module is no tensor: what has to "
                "stand in its place in the result?",
                trouble=("NoneType",),
            ),
            Mistake(
                "Whether there is a gradient and whether it is zero are two questions. Ask for the "
                "first.",
                trouble=("ambiguous",),
            ),
            Mistake(
                "It wrote into the tensors it was given. Others may hold the same tensors: make "
                "new ones.",
                when=lambda found: "values" in found[0].changed,
            ),
            Mistake(
                "Large gradients are cut, and large negative ones get through: the range has two "
                "ends.",
                like=clip_with(lambda g: g.clamp(max=1)),
            ),
            Mistake(
                "Large negative gradients are cut, and large positive ones get through: the range "
                "has two ends.",
                like=clip_with(lambda g: g.clamp(min=-1)),
            ),
            Mistake(
                "Every negative gradient is zero now. The range begins further down.",
                like=clip_with(lambda g: g.clamp(0, 1)),
            ),
            Mistake(
                "It makes the gradient as a whole shorter. Each number is to be clipped by itself.",
                like=clip_with(lambda g: g / g.norm().clamp(min=1)),
            ),
            Mistake(
                "What lies outside of the range is zero now. Clipping brings it to the limit.",
                like=clip_with(lambda g: g * (g.abs() <= 1)),
            ),
            Mistake(
                "That leaves the signs alone. What lies inside of the range is to stay.",
                like=clip_with(torch.sign),
            ),
            Mistake(
                "Nothing was clipped. What you compute counts only if it is what you return.",
                like=lambda module, grad_input, grad_output: None,
            ),
            Mistake(
                "Every gradient is None now, so nothing flows on. None is for those that were None "
                "before.",
                like=lambda module, grad_input, grad_output: (None,) * len(grad_input),
            ),
            Mistake(
                "The right entries in the opposite order: the first belongs to the first input.",
                like=lambda module, grad_input, grad_output: clip(module, grad_input, grad_output)[
                    ::-1
                ],
            ),
            Mistake(
                "The first entry is clipped, and others are not.",
                like=lambda module, grad_input, grad_output: (
                    *clip(module, grad_input[:1], grad_output),
                    *grad_input[1:],
                ),
            ),
        ],
    ),
    LETTERS,
    TRIPLES,
    Hook(
        id="06.5",
        asks="layer_norms(model, data, cotangent), which returns a dict from the name of each "
        "nn.Linear to the norm of its grad_output, and takes its hooks off again",
        scenario=norms_run,
        reference=norms(),
        right="No warning, no trace left: this is how to look into a model that is not yours.",
        hints=(
            "Section 9 says what to give the first layer so that its hook runs without a warning. "
            "How do you do so without touching the caller's tensor?",
            "Run the model on data.detach().requires_grad_(). For each name and module of "
            "model.named_modules() that is an nn.Linear, register a hook that knows its name, and "
            "keep the handle in a list.",
        ),
        mistakes=[
            Mistake(
                "The first layer's grad_input holds None, for data needs no gradient. It is "
                "grad_output that is asked for.",
                trouble=("NoneType",),
            ),
            Mistake(
                "Your hook returned a number, which is taken for a new grad_input. A hook that "
                "watches returns nothing.",
                trouble=("has no len", "invalid number"),
            ),
            Mistake(
                "No hook noted anything. They have to be registered before the forward pass, and "
                "stay until it is over.",
                when=lambda found: found[0].result == [],
            ),
            Mistake(
                "It hooked more than the linear layers. isinstance(module, nn.Linear) sorts them "
                "out.",
                when=lambda found: {*found[0].result} > LAYERS,
            ),
            Mistake(
                "The layer inside of model.body is missing: named_children() goes one level deep, "
                "named_modules() all the way.",
                when=lambda found: found[0].result == ["first", "last"],
            ),
            Mistake(
                "One name for all: a hook made in a loop looks its name up when it runs, and by "
                "then the loop is over. Make each hook in a function of its own.",
                when=lambda found: len(found[0].result) == 1,
            ),
            Mistake(
                "Those are other names than the ones that named_modules() gives.",
                when=lambda found: {*found[0].result} != LAYERS,
            ),
            Mistake(
                "It changed which warnings are shown, for everybody and for good. Section 9 says "
                "how none comes up.",
                when=lambda found: found[4].result,
            ),
            Mistake(
                "The data requires a gradient now, and did not before: the caller's tensor was "
                "changed. Work on a copy, or on data.detach().",
                when=lambda found: found[5].result is True,
            ),
            Mistake(
                "Those are the norms of grad_input, at each layer's input. The other gradient is "
                "asked for.",
                when=_norms_by(norms(which=0)),
            ),
            Mistake(
                "Those are squares. The norm is the root of the sum of squares.",
                when=_norms_by(norms(measure=lambda gradient: (gradient**2).sum())),
            ),
            Mistake(
                "Those are sums of sizes. The norm is the root of the sum of squares.",
                when=_norms_by(norms(measure=lambda gradient: gradient.abs().sum())),
            ),
            Mistake(
                "That is the norm of the first row of each gradient. All rows count.",
                when=_norms_by(norms(measure=lambda gradient: gradient[0].norm())),
            ),
            Mistake(
                "The backward pass began with ones. It has to begin with cotangent.",
                when=_norms_by(norms(ones=True)),
            ),
            Mistake(
                "Those are the norms of the weights' gradients. What arrives at the output of each "
                "layer is asked for.",
                when=_norms_by(weight_norms),
            ),
            Mistake(
                "The data needs no gradient, so the first layer's hook ran with a warning. "
                "Section 9 says what helps.",
                when=lambda found: found[3].result > 0,
            ),
            Mistake(
                "A hook of yours stayed on the model. Keep every handle, and remove each when you "
                "are done.",
                when=lambda found: found[2].result > 0,
            ),
            Mistake(
                "A model may be an nn.Linear itself. named_modules() lists it, with the empty "
                "name, and model.forward goes around its hook.",
                when=lambda found: found[7].result == {},
            ),
        ],
    ),
    Hook(
        id="06.6",
        asks="hooked(module, x, hook), which returns module(x) and calls the hook in the backward "
        "pass with grad_input and grad_output",
        scenario=hooked_run,
        reference=home_made(),
        without=(
            "register_full_backward_hook",
            "register_full_backward_pre_hook",
            "register_backward_hook",
            "register_module_full_backward_hook",
            "register_module_full_backward_pre_hook",
        ),
        right="That is a full backward hook: two gates, one note, and obedience.",
        hints=(
            "Which tensor plays the output gate, and which the input gate? Is x itself a gate, if "
            "x is used elsewhere too?",
            "Give the module x.view_as(x). A hook on y notes its gradient in a list; a hook on the "
            "view calls hook(...) with both, and returns what is inside of the result, or None.",
        ),
        mistakes=[
            Mistake(
                "The hook's answer is a tuple, or None. A tensor's hook has to return a tensor: "
                "take it out of the tuple.",
                trouble=("'tuple'", "got tuple"),
            ),
            Mistake(
                "This hook returned None, which means: keep the gradient. Ask for that case first.",
                trouble=("NoneType",),
            ),
            Mistake(
                "When the gradient came to the input gate, nothing had been noted at the output "
                "gate. Is it your gate that you return, and does its hook run first?",
                trouble=("KeyError", "IndexError", "NameError", "UnboundLocalError"),
            ),
            Mistake(
                "The hook was never called. Does the backward pass go through the tensor that you "
                "hooked, and is its hook still on?",
                when=lambda found: found[0].result == 0,
            ),
            Mistake(
                "In one pass the hook was called more than once. It wants both gradients together.",
                when=lambda found: found[0].result > 1,
            ),
            Mistake(
                "grad_input and grad_output have changed places.",
                when=_hooked_by(home_made(exchanged=True)),
            ),
            Mistake(
                "The hook sat on x itself, so it saw, and changed, what comes by the other path as "
                "well. The module needs a gate of its own.",
                when=_hooked_by(home_made(gate=lambda x: x)),
            ),
            Mistake(
                "The way back to x is cut: nothing of what the module passes on arrives there.",
                when=_hooked_by(home_made(gate=lambda x: x.detach().requires_grad_())),
            ),
            Mistake(
                "It wrote into the gradient that the hook was given. Others may hold it: return a "
                "new one.",
                when=lambda found: found[-1].result is False,
            ),
            Mistake(
                "The hook is called with the right gradients, and what it returns is dropped.",
                when=_hooked_by(home_made(obeys=lambda gradient, replaced: None)),
            ),
            Mistake(
                "What the hook returned was multiplied by the gradient. It takes its place.",
                when=_hooked_by(home_made(obeys=lambda gradient, replaced: gradient * replaced)),
            ),
            Mistake(
                "What the hook returned was added to the gradient. It takes its place.",
                when=_hooked_by(home_made(obeys=lambda gradient, replaced: gradient + replaced)),
            ),
            Mistake(
                "The module's own parameters felt the change: it was made at the output gate.",
                when=lambda found: (
                    observed(found, f"weight.grad with {DOUBLES}")
                    != hooked_run(home_made())[f"weight.grad with {DOUBLES}"]
                ),
            ),
            Mistake(
                "In a second backward pass the hook is still shown grad_output of the first.",
                like=home_made(taken=lambda noted: noted[0]),
            ),
            Mistake(
                "In a second backward pass the hook is shown the sum over both passes.",
                like=home_made(taken=sum),
            ),
            Mistake(
                "In a second backward pass the hook has to be called again.",
                when=lambda found: (
                    observed(found, f"grad_output, seen by {WATCHES} in a second pass,") == []
                ),
            ),
        ],
    ),
]
