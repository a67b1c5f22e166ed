"""Check exercise 15.1: a tensor through which gradients come back turned around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.behaviors import Hook, Trial
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike

from ..observations import Answer, partly

VALUES = "what turn(h, 0.5) returns for h = [1, -2, 3]"
THROUGH = "the gradient of h, when it comes back through turn(h, 0.5) and 2, -3, 5 arrive,"
STRONG = "the same gradient for turn(h, 4.0)"
SHARED = "the gradient of h, where 2, -3, 5 arrive at h + turn(h, 0.5),"
OTHERS = "the gradient of h for (h ** 2).sum(), after h was given to turn,"
LEAF = "h.grad, where h is a leaf and 2, -3, 5 arrive at 10 * h + turn(h, 0.25),"
NO_GRAD = "what turn(h, 0.5) returns inside of no_grad"
TWO = "the gradient of h, where 2, -3, 5 arrive at turn(h, 0.5) + turn(h, 4.0),"
CONSTANT = "what turn(h, 0.5) returns for an h that needs no gradient"
UNCONNECTED = "none: no way leads back to h"
FIRST = VALUES, THROUGH, STRONG, SHARED, OTHERS, LEAF


def turn(
    h: Tensor,
    strength: float,
    hook: Callable[[Tensor, float], Any] = lambda gradient, strength: -strength * gradient,
    *,
    onto_itself: bool = False,
    returns_h: bool = False,
    values: Callable[[Tensor, float], Tensor] = lambda copy, strength: copy,
) -> Tensor:
    """Turn the gradient of a tensor around; the settings name typical slips.

    Args:
        h: the tensor.
        strength: what the gradient is multiplied with, but for its sign.
        hook: what the gradient becomes.
        onto_itself: whether the hook is registered on h.
        returns_h: whether h comes back, and not the copy.
        values: what is done to the copy.
    """
    copy = h if onto_itself else h.view_as(h)
    if copy.requires_grad:
        copy.register_hook(lambda gradient: hook(gradient, strength))
    return h if returns_h else values(copy, strength)


def _gradient(loss: Tensor, h: Tensor) -> Any:
    if not loss.requires_grad:
        return UNCONNECTED
    (found,) = torch.autograd.grad(loss, h, allow_unused=True)
    return UNCONNECTED if found is None else found


def _factors(found: Sequence[Trial]) -> list[float]:
    """Give what each entry of the arriving gradient was multiplied with."""
    result = found[1].result
    if not isinstance(result, Tensor) or tuple(result.shape) != (3,):
        return []
    return [float(each) / came for each, came in zip(result, [2.0, -3.0, 5.0], strict=True)]


def turn_run(answer: Answer) -> dict[str, Any]:
    """Send gradients back through what an answer returns, and around it."""
    numbers, arriving = [1.0, -2.0, 3.0], torch.tensor([2.0, -3.0, 5.0])

    def turned(h: Tensor, strength: float) -> Tensor:
        found = answer(h, strength)
        if found is None:
            where = " where nothing is recorded" if len(seen) > len(FIRST) else ""
            raise Objection(
                f"turn returned None{where}. It has to return a tensor with the values of h, in "
                "every case."
            )
        if not isinstance(found, Tensor):
            kind = type(found).__name__
            raise Objection(f"turn has to return a tensor, and this is a thing of type {kind}.")
        return found

    def fresh() -> Tensor:
        return torch.tensor(numbers, requires_grad=True) * 1.0

    seen: dict[str, Any] = {}
    seen[VALUES] = turned(fresh(), 0.5).detach()
    for name, strength in ((THROUGH, 0.5), (STRONG, 4.0)):
        h = fresh()
        seen[name] = _gradient((turned(h, strength) * arriving).sum(), h)
    h = fresh()
    e = turned(h, 0.5)
    seen[SHARED] = _gradient(((h + e) * arriving).sum(), h)
    seen[OTHERS] = _gradient((h**2).sum(), h)
    leaf = torch.tensor(numbers, requires_grad=True)
    ((10 * leaf + turned(leaf, 0.25)) * arriving).sum().backward()
    seen[LEAF] = leaf.grad
    h = fresh()
    seen[TWO] = _gradient(((turned(h, 0.5) + turned(h, 4.0)) * arriving).sum(), h)
    h = fresh()
    with torch.no_grad():
        seen[NO_GRAD] = turned(h, 0.5)
    seen[CONSTANT] = turned(torch.tensor(numbers), 0.5)
    return seen


def _is_like(*names: str, **slip: Any) -> Callable[..., bool]:
    return partly(turn_run, lambda h, strength: turn(h, strength, **slip), *names)


def _in_place(gradient: Tensor, strength: float) -> None:
    gradient.mul_(-strength)


TURN = Hook(
    id="15.1",
    asks="turn(h, strength), a tensor with the values of h, through which gradients come back "
    "times -strength",
    scenario=turn_run,
    reference=turn,
    fires=True,
    right="A copy of its own for the hook: h itself has other readers.",
    hints=(
        "Who else hears it if the hook sits on h itself? And what has no gradient to turn?",
        "Make a copy that belongs to the graph, such as h.view_as(h) or h * 1. If it requires a "
        "gradient, register the hook on the copy. Return the copy.",
    ),
    mistakes=[
        Mistake(
            "That tensor needs no gradient, so it refuses a hook: either it was detached, or "
            "nothing is recorded, as in a test. Ask copy.requires_grad first.",
            trouble=("doesn't require gradient", "does not require grad"),
        ),
        Mistake(
            "A leaf that requires a gradient cannot be written to in place, and nobody asked for "
            "other values. Leave h alone.",
            trouble=("in-place operation", "a leaf Variable"),
        ),
        Mistake(
            "The hook writes into its argument, which others may read as well. Compute a new "
            "tensor and return that.",
            trouble=("written-to tensor",),
        ),
        Mistake(
            "A hook returns a tensor: the new gradient, of the shape of the old one.",
            trouble=("expected a Tensor", "hook returned", "returned by hook", "expected Variable"),
        ),
        Mistake(
            "A hook gets the gradient and nothing else; strength it knows from the function around "
            "it.",
            trouble=("<lambda>() missing", "hook() missing", "missing 1 required positional"),
        ),
        Mistake(
            "Forward nothing is to happen: the values are those of h. Only what comes back is "
            "multiplied.",
            when=lambda found: not _is_like(VALUES)(found),
        ),
        Mistake(
            "No gradient comes back at all: what you return is cut off from h. A detached copy has "
            "no way back; h.view_as(h) or h * 1 has one.",
            when=lambda found: found[1].result == UNCONNECTED,
        ),
        Mistake(
            "The hook sits on h itself, and hears everybody: the gradients of all who use h are "
            "turned, and not only those that come through your copy.",
            when=lambda found: (
                _is_like(THROUGH, OTHERS, onto_itself=True)(found)
                or _is_like(SHARED, OTHERS, onto_itself=True)(found)
            ),
        ),
        Mistake(
            "The gradient comes back as if there were no hook. Does the hook return what it "
            "computed? Is it registered on the tensor that you return, and still there when the "
            "gradient comes?",
            when=_is_like(THROUGH, hook=lambda gradient, strength: None),
        ),
        Mistake(
            "Right through your copy, but who shares the incoming gradient gets a changed one. "
            "The hook writes into its argument: compute a new tensor and return that.",
            when=lambda found: _is_like(THROUGH, STRONG)(found) and not _is_like(SHARED)(found),
        ),
        Mistake(
            "The size is right, the direction is not: it is to be reversed.",
            when=_is_like(THROUGH, STRONG, hook=lambda gradient, strength: strength * gradient),
        ),
        Mistake(
            "It is reversed, and strength has not come in.",
            when=_is_like(THROUGH, STRONG, hook=lambda gradient, strength: -gradient),
        ),
        Mistake(
            "Right for the strength 0.5, and for no other: use the argument.",
            when=lambda found: _is_like(THROUGH)(found) and not _is_like(STRONG)(found),
        ),
        Mistake(
            "The strength comes in twice. Once is enough.",
            when=lambda found: (
                _is_like(THROUGH, STRONG, hook=lambda gradient, s: -s * s * gradient)(found)
                or _is_like(THROUGH, STRONG, hook=lambda gradient, s: s * s * gradient)(found)
            ),
        ),
        Mistake(
            "The hook multiplies the values of h. What it is to change is the gradient that it "
            "gets.",
            when=lambda found: alike(found[1].result, [-0.5, 1.0, -1.5]),
        ),
        Mistake(
            "You divide by the strength. The gradient is to be multiplied by it.",
            when=_is_like(THROUGH, STRONG, hook=lambda gradient, strength: -gradient / strength),
        ),
        Mistake(
            "You subtract the strength from the gradient. It is a factor.",
            when=_is_like(THROUGH, STRONG, hook=lambda gradient, strength: gradient - strength),
        ),
        Mistake(
            "That is what is added to the gradient, not what takes its place: 1 is left in the "
            "factor.",
            when=_is_like(THROUGH, STRONG, hook=lambda gradient, s: gradient - s * gradient),
        ),
        Mistake(
            "The hook returns a number in place of the gradient, whatever arrives. Multiply what "
            "arrives.",
            when=_is_like(THROUGH, STRONG, hook=lambda gradient, s: torch.full_like(gradient, -s)),
        ),
        Mistake(
            "What comes back is not one multiple of what arrived: every entry is to be multiplied "
            "by the same number, and nothing else is to be done.",
            when=lambda found: len({round(factor, 3) for factor in _factors(found)}) > 1,
        ),
        Mistake(
            "What arrived is multiplied by one number, as it should be, but not by -strength.",
            when=lambda found: _factors(found) != [] and not _is_like(THROUGH)(found),
        ),
        Mistake(
            "Right for one tensor at a time. Where two are turned, each with a strength of its "
            "own, the later one takes over: keep the strength inside of the call.",
            when=lambda found: (
                _is_like(THROUGH, STRONG, SHARED, OTHERS, LEAF)(found) and not _is_like(TWO)(found)
            ),
        ),
        Mistake(
            "Without recording the values come out changed, or not at all. There the function has "
            "nothing to do but to hand h on.",
            when=lambda found: (
                _is_like(VALUES, THROUGH, STRONG, SHARED, OTHERS, LEAF)(found)
                and not _is_like(NO_GRAD, CONSTANT)(found)
            ),
        ),
    ],
)
"""The exercise."""
