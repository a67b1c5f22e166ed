"""Check the answers to lesson 00: signs, a slope, a step of w, two hooks, and a formula."""

from __future__ import annotations

import importlib
from math import tanh
from typing import Any

import numpy as np

import minigrad
from minigrad import Tensor, nn, tensor
from minigrad.classroom import Choice, Hook, Number, Numbers

from .formulas import Formula
from .models import layer


def block(x: Any, w: Any = 0.9, b: Any = 0.3) -> dict[str, Any]:
    """Compute the lesson's block."""
    h = w * x + b
    y = x + (minigrad.tanh(h) if isinstance(h, Tensor) else tanh(h))
    return {"h": h, "y": y, "L": (y - 2) ** 2}


def gradients(x: float) -> dict[str, float]:
    """Compute the gradients of L by the chain rule."""
    at = block(x)
    for_y = 2 * (at["y"] - 2)
    for_h = for_y * (1 - tanh(at["h"]) ** 2)
    return {"y": for_y, "h": for_h, "w": for_h * x, "b": for_h, "x": for_y + for_h * 0.9}


def loss(x: Any) -> Any:
    """Compute L."""
    return block(x)["L"]


def slope(x: float) -> float:
    """Compute dL/dx."""
    return gradients(x)["x"]


class Block(nn.Module):
    """The lesson's block as modules."""

    def __init__(self) -> None:
        super().__init__()
        self.f, self.act = layer([[0.9]], [0.3]), nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        """Compute x + tanh(w x + b)."""
        return x + self.act(self.f(x))


def on_act(hook: Any) -> dict[str, Any]:
    """Run the block with a hook on act, on several inputs, and give every gradient."""
    seen: dict[str, Any] = {}
    for values in ([[0.4]], [[-1.5]], [[0.2], [-0.3], [0.95]]):
        net = Block()
        net.act.register_full_backward_hook(hook)
        x = tensor(values, requires_grad=True)
        ((net(x) - 2) ** 2).sum().backward()
        found = {"x": x, **dict(net.named_parameters())}
        seen |= {f"with x = {values}, {name}.grad": each.grad for name, each in found.items()}
    return seen


def formulas() -> dict[str, Any]:
    """Give as formulas what arrives at x by each of its two paths, what at w and b."""
    symbolic = importlib.import_module("minigrad.symbolic")  # needs SymPy, when it is called
    through, w, b = symbolic.symbols("x w b", requires_grad=True)
    around = symbolic.symbols("x", requires_grad=True)
    ((around + minigrad.tanh(w * through + b) - 2) ** 2).backward()
    found = {"through": through, "around": around, "w": w, "b": b}
    return {name: symbolic.expression(each.grad) for name, each in found.items()}


FOR_W = gradients(0.4)["w"]
PLACES = (-1, 1, 3)

EXERCISES = [
    Numbers(
        id="00.1",
        asks="whether L goes up (1) or down (-1) as x grows a little at x = -1, 1 and 3",
        expected=lambda: np.sign([slope(x) for x in PLACES]),
        right="The slope depends on x: L falls until y reaches its target, then it climbs.",
        hints=(
            "Try one place: is loss(torch.tensor(3.001)) larger or smaller than at 3?",
            "y grows with x everywhere. So what counts is whether y is still below 2, and tanh is "
            "always between -1 and 1.",
        ),
        mistakes="""
            = ("down", "down", "up")
            = (-1, 0, 1)
            ? any(each not in (1, -1) for each in answer)
                Give only the sign for each place, in digits: 1 or -1. 0 would mean that L is flat
                there, and it isn't.
            = np.sign(PLACES)
                These are the signs of x. What counts is whether y comes closer to its target.
            = [-each for each in np.sign([slope(x) for x in PLACES])]
                All three signs are flipped. If y comes closer to 2, does the loss grow or shrink?
            = (-1, -1, -1)
            = (1, 1, 1)
                The same sign everywhere would mean that it always helps to go one way. At
                x = 3, is y below its target or above it?
        """,
    ),
    Number(
        id="00.2",
        asks="the slope of L at x = 1.5",
        expected=lambda: slope(1.5),
        right="Tensor, loss, backward, .grad: the steps are the same for any network.",
        hints=(
            "Section 3 does it at x = 0.4. What has to change?",
            "Write torch.tensor(1.5, requires_grad=True), then loss, then backward, then .grad.",
        ),
        mistakes="""
            = loss(1.5)
                This is L at x = 1.5, not its slope.
            = 1.5
                This is x itself. Where does backward put the gradient?
            = slope(0.4)
            = slope(-1.5)
            = slope(0.15)
                This is the slope at another x. What does your tensor hold?
            = slope(0.4) + slope(1.5)
                The slope at x = 0.4 is still in there: backward adds to what's in .grad already.
                Make a fresh tensor.
            = 2 * slope(1.5)
            = 3 * slope(1.5)
                This is a multiple of the slope. Did backward run several times on the same tensor?
                Each time it adds. If you took a small step: how far apart are the two places?
            = slope(1.5) * 1e-3
            = slope(1.5) * 2e-3
            = loss(2.5) - loss(1.5)
                That's how much L changes over a step. For the slope, take a small step and divide
                by its length.
            = block(1.5)["y"]
            ? any(alike(answer, each, 4) for each in [*block(1.5).values(), *gradients(1.5).values()])
                This is another number of the block, for x = 1.5. Hand in the gradient of x.
        """,
    ),
    Number(
        id="00.3",
        asks="by about how much L changes when w grows from 0.90 to 0.93, to two digits",
        expected=lambda: FOR_W * 0.03,
        digits=2,
        right="Slope times step: that's all a gradient says, and for small steps it's enough.",
        hints=(
            "Find the box of w in the picture. What is the number after grad?",
            "A slope is the change for each unit of a step. How long is the step from 0.90 to "
            "0.93?",
        ),
        mistakes="""
            = FOR_W
            = -FOR_W
                That's the gradient of w: how fast L changes. How far does w move?
            = FOR_W * 0.93
            = FOR_W * 0.90
            = FOR_W * 0.01
                The gradient is right, the step isn't. How far is it from 0.90 to 0.93?
            = FOR_W / 0.03
                You divided by the step. The slope says how much L changes for each unit of it.
            = 0.9 * 0.03
            ? any(alike(answer, each * 0.03, 2) for each in gradients(0.4).values())
                That uses a number other than the gradient of w. Look in the box of w, after grad.
            = block(0.4, w=0.93)["L"]
                That's a loss. By how much does the new one differ from the old one?
        """,
    ),
    Hook(
        id="00.4",
        asks="halve(module, grad_input, grad_output), a full backward hook for act that halves "
        "the gradient on its way through act",
        scenario=on_act,
        may_return=(tuple, list),
        right="Only the returned tuple counts: it replaces grad_input.",
        hints=(
            "Which of its arguments is the gradient that goes from act to f?",
            "grad_input is a tuple with one entry. Return a tuple with one entry, half of it, and "
            "don't forget the comma.",
        ),
        mistakes="""
            ~ / 2,) => / 2)
            ! It returned a tensor
                You returned the gradient itself. A hook returns a tuple, with one entry for each
                input, even if there is only one: a comma makes it a tuple.
            ~ (grad_input[0] / 2,) => grad_input / 2
            ! unsupported operand, can't multiply sequence, 'tuple' object
                grad_input and grad_output are tuples: you can't calculate with them or change
                them. Take the entry out, and put your result into a new tuple.
            ~ / 2,) => / 2, None)
            ! invalid number of grad_input
                Return as many entries as grad_input has: one for each input of act.
            ~ grad_input[0] / 2 => grad_input[0].sum().item() / 2
            ! hook returned 'float', hook returned 'numpy, cannot be converted, for a gradient of [3, 1]
                What's in the returned tuple has to be a tensor of the shape of grad_input[0]. The
                network was given three inputs at once here, one below the other.
            ~ / 2 => * 2
            ~ / 2 => / 4
            ~ / 2 => // 2
                That isn't half of it. Half of a number is that number times what?
            ~ grad_input[0] / 2 => -grad_input[0] / 2
            ~ grad_input[0] / 2 => -grad_input[0]
                It flips the sign. You're only asked for half.
            ~ grad_input[0] / 2 => grad_input[0].div_(2)
                It changes what it was given. The numbers come out right here, but a hook must not
                do that: others may be using it. Make a new tensor and return it.
            ~ return (grad_input[0] / 2,) => (grad_input[0] / 2,)
                Nothing was halved. Only what a hook returns replaces grad_input: does yours
                return the half?
            ~ grad_input[0] / 2 => grad_output[0] / 2
            ~ grad_input[0] / 2 => grad_output[0]
                You passed grad_output on. That's the gradient of act's output. What goes on to f
                is the gradient of act's input.
        """,
    ),
    Choice(
        id="00.5",
        asks="which gradients change with the hook on f, and why these",
        model="f's own gradients are computed from grad_output. What the hook returns replaces "
        "grad_input, the gradient of f's input, and only x is there.",
        right="Where a hook sits decides which gradients it changes. Lesson 06 comes back to it.",
        hints=(
            "Drag the hook to f on the bench, and look at which gradients are marked.",
            "grad_input is the gradient of f's input. Which tensor goes into f?",
        ),
        mistakes="""
            = "a"
                The backward pass doesn't end at the last module. Where does the gradient go from
                f?
            = "c"
                Those changed with the hook on act. Now it sits on f and replaces what leaves f's
                input: do f's own weight and bias get their gradients from that?
            = "d"
                You've swapped them: are f's own gradients computed from grad_input, or from
                what arrives at f?
        """,
    ),
    Formula(
        id="00.6",
        asks="the gradient of L with respect to x as a formula in x, w and b",
        expected=lambda: formulas()["through"] + formulas()["around"],
        symbols="x w b",
        right="One formula, right for every x, w and b. sympy.diff finds the same one from L alone.",
        hints=(
            "Make symbols with requires_grad=True, call block with them, then backward on its L.",
            "By hand: start with 2(y - 2). It reaches x by two paths, and what arrives is added. "
            "One path has the factor 1, the other w times the derivative of tanh at h.",
        ),
        mistakes="""
            = formulas()["around"]
                That's what arrives by the path around the layer. The path through it is missing.
            = formulas()["through"]
                That's what arrives by the path through the layer. The one around it is missing.
            = formulas()["around"] + formulas()["b"]
                One factor is missing: what is x multiplied by on its way to h?
            = formulas()["w"]
            = formulas()["b"]
            = formulas()["around"] + formulas()["w"]
                In the product w x, the slope for x is w, and the slope for w is x. Which is yours?
            = (formulas()["around"] / 2) ** 2
                That's L itself.
        """,
    ),
]
