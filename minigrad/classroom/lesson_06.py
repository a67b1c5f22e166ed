"""Check the exercises of lesson 06, on full backward hooks: each answer runs in a real network."""

from __future__ import annotations

import minigrad as torch
from minigrad.classroom.answers import Choice, Numbers, Order
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.runs_06 import (
    NORMS,
    clip,
    clip_above,
    clip_in_place,
    clipped_run,
    five_gradients,
    home_made,
    hooked_run,
    norms,
    norms_run,
    ones_at_the_input,
    stumbled,
)

EXERCISES = [
    Numbers(
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
                when=lambda answer: all(float(entry) == 1 for entry in answer),
            ),
            Mistake(
                "The parameters of f1 do get their gradients: they lie between the gates.",
                when=lambda answer: answer[3] in (None, 0) or answer[4] in (None, 0),
            ),
            Mistake(
                "What f1's own parameters get is fixed before the gradient reaches the input gate.",
                when=lambda answer: (
                    abs(float(answer[2]) - 1) < 1e-3 and abs(float(answer[4]) + 1.0199) > 1e-2
                ),
            ),
        ],
    ),
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
                when=stumbled("NoneType"),
            ),
            Mistake(
                "The tuple has to be as long as grad_input: one entry for each positional "
                "argument, also for those that are no tensors.",
                when=stumbled("invalid number"),
            ),
            Mistake(
                "The numbers fit, and it wrote into the tensors it was given. Others may hold the "
                "same tensors: make new ones.",
                like=clip_in_place,
            ),
            Mistake(
                "Large gradients are cut, and large negative ones get through: the range has two "
                "ends.",
                like=clip_above,
            ),
            Mistake(
                "Nothing was clipped. What you compute in a hook counts only if it is returned.",
                like=lambda module, grad_input, grad_output: None,
            ),
            Mistake(
                "Every gradient is None now, so nothing flows on. None is for those that were None "
                "before.",
                like=lambda module, grad_input, grad_output: (None,) * len(grad_input),
            ),
        ],
    ),
    Order(
        id="06.3",
        asks="the letters A, B, C and D in the order in which they are printed",
        expected=("C", "A", "B", "D"),
        right="Modules in the order of the backward pass; within one, registration, but for "
        "prepend.",
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
                value=("B", "D", "C", "A"),
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
                "prepend puts a hook in front of those on the same module; it does not touch other "
                "modules.",
                value=("C", "B", "D", "A"),
            ),
        ],
    ),
    Choice(
        id="06.4",
        asks="which single hook triples all five gradients, those of f1's parameters included",
        option="c",
        right="What is changed at the output gate reaches all that lies behind it.",
        why_not={
            "a": "It acts where the gradient leaves f1. Have f1's parameters not had theirs by "
            "then?",
            "b": "When this hook runs, grad_output has been used already: section 4 shows who is "
            "hit instead.",
            "d": "It acts where the gradient leaves f1.f. Which parameters lie above that place?",
        },
        mentions={
            "where, or when, the hook acts": (
                "output gate",
                "before",
                "first",
                "upper",
                "enter",
                "arriv",
                "comes in",
                "behind",
                "upstream",
                "through",
                "whole",
                "the output",
                "late",
                "top",
                "grad_output",
            )
        },
        hints=(
            "For each of the four, find the gate where the hook acts.",
            "Which of the two gates lies above the place where the way to f1's parameters branches "
            "off?",
        ),
    ),
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
                "It did not return a dict. Note each norm under its layer's name, and return what "
                "you have noted.",
                when=stumbled("has to return a dict"),
            ),
            Mistake(
                "No hook noted anything. They have to be registered before the forward pass, and "
                "stay until the backward pass is over.",
                when=lambda found: found[0].result == [],
            ),
            Mistake(
                "Those are the norms of grad_input, at each layer's input. The other gradient is "
                "asked for.",
                like=norms(which=0),
            ),
            Mistake(
                "The norms are right, and hooks stayed on the model. Keep the handles, and remove "
                "each when you are done.",
                when=lambda found: (
                    found[2].result > 0 and found[1].result == norms_run(norms())[NORMS]
                ),
            ),
            Mistake(
                "The data needs no gradient, so the first layer's hook ran with a warning. "
                "Section 9 says what helps.",
                like=norms(copies=False),
            ),
            Mistake(
                "It hooked more than the linear layers. isinstance(module, nn.Linear) sorts them "
                "out.",
                when=lambda found: len(found[0].result) > len(norms_run(norms())[NORMS]),
            ),
            Mistake(
                "The data requires a gradient now, and did not before: the caller's tensor was "
                "changed. Work on a copy, or on data.detach().",
                when=lambda found: found[4].result is True,
            ),
            Mistake(
                "The first layer's grad_input holds None, for data needs no gradient. It is "
                "grad_output that is asked for.",
                when=stumbled("NoneType"),
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
        ],
    ),
    Hook(
        id="06.6",
        asks="hooked(module, x, hook), which returns module(x) and calls the hook in the backward "
        "pass with grad_input and grad_output",
        scenario=hooked_run,
        reference=home_made(gated=True, obeys=True),
        without=("register_full_backward_hook", "register_full_backward_pre_hook"),
        right="That is a full backward hook: two gates, one note, and obedience.",
        hints=(
            "Which tensor plays the output gate, and which the input gate? Is x itself a gate, if "
            "x is used elsewhere too?",
            "Give the module x.view_as(x). A hook on y notes its gradient in a list; a hook on the "
            "view calls hook(...) with both, and returns what is inside of the result, or None.",
        ),
        mistakes=[
            Mistake(
                "Nothing came back: hooked has to return what the module returns.",
                when=stumbled("has to return what"),
            ),
            Mistake(
                "The hook was never called. Does the backward pass go through the tensor that you "
                "hooked: did the module run on it?",
                when=lambda found: found[0].result == 0,
            ),
            Mistake(
                "The hook sat on x itself, so it saw, and changed, what comes by the other path as "
                "well. The module needs a gate of its own.",
                like=home_made(gated=False, obeys=True),
            ),
            Mistake(
                "The hook is called with the right gradients, and what it returns is dropped.",
                like=home_made(gated=True, obeys=False),
            ),
            Mistake(
                "The hook's answer is a tuple, or None. A tensor's hook has to return a tensor: "
                "take it out of the tuple.",
                when=stumbled("'tuple'", "got tuple"),
            ),
            Mistake(
                "This hook returned None, which means: keep the gradient. Ask for that case first.",
                when=stumbled("NoneType"),
            ),
        ],
    ),
]
