"""Check exercise 15.3: a step with loss scaling, from which three bugs are to be removed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.classroom.behaviors import Hook, Trial
from minigrad.classroom.exercises import Mistake, Objection

from ..observations import Answer, observed, partly

SCALE = 1024.0
LONG = "how far the weights move, when their gradients, unscaled, are (6, 8) and (24), limit 7,"
LONG_SCALE = "the scale returned after a good step with 1024"
SHORT = "how far they move, when their gradients, unscaled, are (0.3, 0.4) and (0), limit 1e6,"
SHORT_SCALE = "the scale returned after a good step with 64"
OVERFLOW = "how far the weights move, with momentum, when there is Inf in the last gradient,"
OVERFLOW_SCALE = "the scale returned after an overflow with 1024"
NOT_A_NUMBER = "how far they move, when there is NaN in the first gradient,"
NAN_SCALE = "the scale returned after an overflow with 1"
MINUS = "how far they move, when there is -Inf in one gradient,"
EVERY = "how far they move, when every entry of every gradient is Inf,"
CANCEL = "how far they move, when there are Inf and -Inf in one gradient,"
AFTER = "how far they move in the step after an overflow"
INF, NAN = math.inf, math.nan


def step(
    optimizer: Any,
    parameters: Any,
    scale: float,
    limit: float,
    *,
    clip: str = "after",
    unscale: Callable[[Any, float], Any] = lambda gradient, scale: gradient / scale,
    bad: Callable[[Any], Any] = lambda gradient: not gradient.isfinite().all(),
    seen: Callable[[Sequence[Any]], Sequence[Any]] = lambda gradients: gradients,
    skip: str = "all",
    overflow: float = 0.5,
    good: float = 1.0,
) -> float:
    """Make a step with loss scaling; the settings name typical slips.

    Args:
        optimizer: makes the step.
        parameters: have scaled gradients, or none.
        scale: of the gradients.
        limit: of their norm together, unscaled.
        clip: when: "after" unscaling, "before", "never", or "each" by itself.
        unscale: how.
        bad: tells whether a gradient spoils the step.
        seen: which of the gradients are looked at.
        skip: what to do with a bad step: skip "all", "none", or make it with "zeros".
        overflow: what the scale is multiplied with after an overflow.
        good: what it is multiplied with otherwise.
    """
    there = [p for p in parameters if p.grad is not None]
    spoiled = any(bad(gradient) for gradient in seen([p.grad for p in there]))
    if clip == "before":
        nn.utils.clip_grad_norm_(there, limit)
    for p in there:
        p.grad = unscale(p.grad, scale)
    if spoiled and skip == "zeros":
        for p in there:
            p.grad = torch.where(p.grad.isfinite(), p.grad, torch.zeros_like(p.grad))
    if spoiled and skip == "zero":
        for p in there:
            p.grad = torch.zeros_like(p.grad)
    if clip == "after":
        nn.utils.clip_grad_norm_(there, limit)
    for p in there if clip == "each" else ():
        nn.utils.clip_grad_norm_([p], limit)
    if clip == "values":
        nn.utils.clip_grad_value_(there, limit)
    if not (spoiled and skip == "all"):
        optimizer.step()
    return scale * (overflow if spoiled else good)


class _Weights:
    """Three parameters, the middle one of which never has a gradient, and their optimizer."""

    def __init__(self, momentum: float = 0.0) -> None:
        self.parameters = [nn.Parameter(torch.tensor(v)) for v in ([1.0, 2.0], [4.0], [3.0])]
        self.optimizer = torch.optim.SGD(self.parameters, lr=1.0, momentum=momentum)
        if momentum:
            self.give([[0.5, 0.25], [0.125]], 1.0)
            self.optimizer.step()

    def give(self, gradients: Any, scale: float) -> None:
        for p, gradient in zip(self.parameters[::2], gradients, strict=True):
            p.grad = torch.tensor(gradient) * scale

    def moved(self, answer: Answer, gradients: Any, scale: float, limit: float) -> Any:
        """Let an answer make a step, and tell how far it went, and with which scale."""
        self.give(gradients, scale)
        before = [p.detach().clone() for p in self.parameters]
        new = answer(self.optimizer, self.parameters, scale, limit)
        if new is None:
            raise Objection("mended_step returned None. It has to return the scale, in every case.")
        if isinstance(new, bool) or not hasattr(new, "__float__"):
            kind = type(new).__name__
            raise Objection(f"mended_step has to return the new scale, and not a {kind}.")
        after = [p.detach() for p in self.parameters]
        far = [(a - b).tolist() for a, b in zip(before, after, strict=True)]
        return [each for part in far for each in part], float(new)


def step_run(answer: Answer) -> dict[str, Any]:
    """Let an answer make steps on good days and bad ones."""
    seen: dict[str, Any] = {}
    seen[LONG], seen[LONG_SCALE] = _Weights().moved(answer, [[6.0, 8.0], [24.0]], SCALE, 7.0)
    seen[SHORT], seen[SHORT_SCALE] = _Weights().moved(answer, [[0.3, 0.4], [0.0]], 64.0, 1e6)
    weights = _Weights(momentum=0.5)
    seen[OVERFLOW], seen[OVERFLOW_SCALE] = weights.moved(answer, [[1.0, 2.0], [INF]], SCALE, 9.0)
    seen[AFTER], _ = weights.moved(answer, [[1.0, 2.0], [0.0]], SCALE, 9.0)
    weights = _Weights(momentum=0.5)
    seen[NOT_A_NUMBER], seen[NAN_SCALE] = weights.moved(answer, [[NAN, 2.0], [1.0]], 1.0, 9.0)
    seen[MINUS], _ = _Weights(momentum=0.5).moved(answer, [[1.0, -INF], [1.0]], SCALE, 9.0)
    seen[EVERY], _ = _Weights(momentum=0.5).moved(answer, [[INF, INF], [INF]], SCALE, 9.0)
    seen[CANCEL], _ = _Weights(momentum=0.5).moved(answer, [[INF, -INF], [1.0]], SCALE, 9.0)
    return seen


def _is_like(*names: str, **slip: Any) -> Callable[..., bool]:
    return partly(step_run, lambda *given: step(*given, **slip), *names)


def _to_the_first_none(optimizer: Any, parameters: Any, scale: float, limit: float) -> float:
    """Leave the loop at a parameter without a gradient; typical slip."""
    parameters[0].grad /= scale
    nn.utils.clip_grad_norm_(parameters, limit)
    optimizer.step()
    return scale


def _length(found: Sequence[Trial], name: str) -> float:
    return math.hypot(*observed(found, name))


def _stays(found: Sequence[Trial], *names: str) -> bool:
    return all(not any(observed(found, name)) for name in names)


STEP = Hook(
    id="15.3",
    asks="mended_step(optimizer, parameters, scale, limit), which unscales, clips and steps, or "
    "skips the step after an overflow, and returns the next scale",
    scenario=step_run,
    reference=step,
    may_change=("grad", "values", "graph"),
    right="Unscale, look, clip, step, in this order. With momentum a skipped step is the only one "
    "that does no harm.",
    hints=(
        "In which unit is the limit given, scaled or unscaled? What does an optimizer with "
        "momentum do with a single Inf? And who lowers the scale?",
        "Divide each gradient by scale. If any is not finite, return scale / 2 at once. Else clip, "
        "step and return scale.",
    ),
    mistakes=[
        Mistake(
            "One of the parameters has no gradient: its .grad is None. Leave it out.",
            trouble=("'NoneType'", "NoneType"),
        ),
        Mistake(
            "An overflow is no error: it is to be expected now and then. Return half of the scale.",
            trouble=("OverflowError", "FloatingPointError", "overflow"),
        ),
        Mistake(
            "The condition has several truth values: a gradient has many entries. Are all of them "
            "finite?",
            trouble=("Boolean value of Tensor", "truth value"),
        ),
        Mistake(
            "The limit holds for unscaled gradients. Clipped before unscaling, a step is shorter "
            "by the scale than it should be.",
            when=_is_like(LONG, clip="before"),
        ),
        Mistake(
            "The gradients are not unscaled any more: the step is longer by the scale, or clipped "
            "though it need not be.",
            when=_is_like(LONG, SHORT, unscale=lambda gradient, scale: gradient),
        ),
        Mistake(
            "Unscaling is a division: the scale was multiplied into the loss.",
            when=_is_like(LONG, SHORT, unscale=lambda gradient, scale: gradient * scale),
        ),
        Mistake(
            "Unscaled twice: the steps are shorter by the scale than they should be.",
            when=_is_like(SHORT, unscale=lambda gradient, scale: gradient / scale**2),
        ),
        Mistake(
            "Each gradient is clipped by itself. The limit is for the norm of all together.",
            when=_is_like(LONG, clip="each"),
        ),
        Mistake(
            "The entries are clipped. The limit is for the norm of all gradients together.",
            when=_is_like(LONG, clip="values"),
        ),
        Mistake(
            "Nothing is clipped by the time of the step, or to another limit: the norm of the "
            "unscaled gradients was above the one that is given.",
            when=_is_like(LONG, clip="never"),
        ),
        Mistake(
            "Clipping makes long gradients shorter. Here it makes short ones longer, too.",
            when=lambda found: _is_like(LONG)(found) and _length(found, SHORT) > 1e5,
        ),
        Mistake(
            "On a good day nothing moves. Where is the step, and is it reached? Are the gradients "
            "still there then?",
            when=lambda found: _stays(found, LONG, SHORT),
        ),
        Mistake(
            "What comes behind a parameter without a gradient is left out: go on with the next, "
            "and do not leave the loop.",
            when=partly(step_run, _to_the_first_none, LONG),
        ),
        Mistake(
            "On a good day the step is shorter than it may be: the limit is given for unscaled "
            "gradients, and is neither scaled nor used twice. The norm is the root of the sum of "
            "all squares.",
            when=lambda found: 0 < _length(found, LONG) < 6.9,
        ),
        Mistake(
            "On a good day the step is longer than the limit. Unscale all gradients first, then "
            "clip them all together, then make one step.",
            when=lambda found: _length(found, LONG) > 7.1,
        ),
        Mistake(
            "On a good day the step is long enough, and goes in a wrong direction. All gradients "
            "have to be unscaled when they are clipped, and then comes one step for all of them.",
            when=lambda found: not _is_like(LONG)(found),
        ),
        Mistake(
            "One bad gradient has to be enough. You skip the step only if all of them are bad.",
            when=lambda found: (
                _stays(found, EVERY)
                and not all(map(math.isfinite, observed(found, OVERFLOW)))
                and not _stays(found, NOT_A_NUMBER)
                and not _stays(found, CANCEL)
            ),
        ),
        Mistake(
            "After Inf the step is made all the same, and the weights are spoiled for good: look "
            "at the gradients before the step, and do not make it.",
            when=lambda found: (
                not all(map(math.isfinite, observed(found, OVERFLOW)))
                and not all(map(math.isfinite, observed(found, NOT_A_NUMBER)))
                and _is_like(LONG, SHORT)(found)
            ),
        ),
        Mistake(
            "Inf is noticed, NaN is not. isfinite refuses both.",
            when=lambda found: _stays(found, OVERFLOW, MINUS) and not _stays(found, NOT_A_NUMBER),
        ),
        Mistake(
            "NaN is noticed, Inf is not. isfinite refuses both.",
            when=lambda found: (
                _stays(found, NOT_A_NUMBER)
                and not _stays(found, MINUS)
                and not math.isfinite(sum(observed(found, OVERFLOW)))
            ),
        ),
        Mistake(
            "-Inf is not noticed. isfinite refuses it as well.",
            when=lambda found: _stays(found, OVERFLOW, NOT_A_NUMBER) and not _stays(found, MINUS),
        ),
        Mistake(
            "One bad entry has to be enough, whatever its sign, and NaN as well as Inf. Yours "
            "skips the step only for some of them.",
            when=lambda found: (
                _stays(found, OVERFLOW, CANCEL)
                and not _stays(found, NOT_A_NUMBER)
                and not _stays(found, MINUS)
            ),
        ),
        Mistake(
            "Not every gradient is looked at. Only one of them has to be bad, whichever it is.",
            when=lambda found: (
                _stays(found, OVERFLOW) != _stays(found, NOT_A_NUMBER)
                and _is_like(LONG, SHORT)(found)
            ),
        ),
        Mistake(
            "Zeros, or what is left of the gradients, are no skipped step: momentum goes on all "
            "the same, and the sound part of a spoiled pass moves the weights. Do not call step.",
            when=lambda found: (
                all(map(math.isfinite, observed(found, OVERFLOW))) and not _stays(found, OVERFLOW)
            ),
        ),
        Mistake(
            "Which of the two has to shrink after an overflow, and which has to stay? You have "
            "them the other way round.",
            when=_is_like(LONG_SCALE, OVERFLOW_SCALE, overflow=1.0, good=0.5),
        ),
        Mistake(
            "The weights are right. The scale stays after an overflow, so the next step overflows "
            "too.",
            when=_is_like(LONG, OVERFLOW, OVERFLOW_SCALE, overflow=1.0),
        ),
        Mistake(
            "After an overflow the scale was too large. Yours grows.",
            when=_is_like(LONG, OVERFLOW, OVERFLOW_SCALE, overflow=2.0),
        ),
        Mistake(
            "The scale shrinks on good days, too. Only an overflow halves it.",
            when=_is_like(LONG, LONG_SCALE, good=0.5),
        ),
        Mistake(
            "The scale grows on good days. Here it is to stay: doubling after many good steps is "
            "the caller's affair.",
            when=lambda found: observed(found, LONG_SCALE) > SCALE and _is_like(LONG)(found),
        ),
        Mistake(
            "The weights stay, and yet the optimizer has seen the Inf: its momentum keeps it, and "
            "spoils the next step. Do not call step at all.",
            when=lambda found: (
                _stays(found, OVERFLOW) and not all(map(math.isfinite, observed(found, AFTER)))
            ),
        ),
        Mistake(
            "After a good step the scale is to be returned as it was given.",
            when=lambda found: (
                _is_like(LONG, OVERFLOW_SCALE, NAN_SCALE)(found) and not _is_like(LONG_SCALE)(found)
            ),
        ),
        Mistake(
            "Half the old scale is asked for, however small that is: after an overflow with the "
            "scale 1 the next is 0.5, neither rounded nor held back.",
            when=lambda found: (
                _is_like(LONG_SCALE, OVERFLOW_SCALE, SHORT_SCALE)(found)
                and not _is_like(NAN_SCALE)(found)
            ),
        ),
        Mistake(
            "The scale that is returned does not follow from the one that was given: it need not "
            "be 1024.",
            when=lambda found: (
                _is_like(LONG_SCALE, OVERFLOW_SCALE)(found)
                and not _is_like(SHORT_SCALE, NAN_SCALE)(found)
            ),
        ),
        Mistake(
            "Gradients that are short enough come out wrong. They are to be divided by the scale, "
            "and that is all.",
            when=lambda found: _is_like(LONG)(found) and not _is_like(SHORT)(found),
        ),
        Mistake(
            "Half the old scale is asked for after an overflow.",
            when=lambda found: _is_like(OVERFLOW)(found) and not _is_like(OVERFLOW_SCALE)(found),
        ),
    ],
)
"""The exercise."""
