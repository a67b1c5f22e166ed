"""Check exercise 13.2: hooks that keep each parameter's .grad within a limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike

from ..observations import observed
from .traces import Answer, hooks_on, numbers, quietly

LIMIT = 1.5


class Parts(nn.Module):
    """Parameters with gradients of several sizes; two share one gradient, one is frozen."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen = nn.Parameter(numbers(3, seed=7), requires_grad=False)
        self.long = nn.Parameter(numbers(2, 3, seed=1))
        self.short = nn.Parameter(numbers(3, seed=2))
        self.idle = nn.Parameter(numbers(2, seed=3))
        self.left = nn.Parameter(numbers(2, 2, seed=4))
        self.right = nn.Parameter(numbers(2, 2, seed=5))
        self.single = nn.Parameter(numbers(1, seed=6)[0])

    def forward(self, x: Tensor, other: Tensor) -> Tensor:
        """Give a number that every parameter is in; the gradient is a multiple of x.

        The sum hands one and the same gradient to a parameter and to what is no parameter.
        """
        total = (self.long * numbers(2, 3, seed=8, scale=4.0)).sum()
        total = total + (self.short * numbers(3, seed=9, scale=0.3)).sum()
        total = total + (self.idle * 0).sum() + self.frozen.sum()
        both = self.left + other + self.right
        total = total + (both * numbers(2, 2, seed=10, scale=3.0)).sum()
        return (total + 2.5 * self.single) * x


NAMES = ("long", "short", "idle", "left", "right", "single")
FIRST, SECOND, GONE = "after one pass", "after a second pass", "with the handles removed"
EMPTIED = "after zero_grad and another pass"
TURNED = "after one pass with a limit of 0.5"
INPUT = "the gradient of an input, which is not to be clipped,"
FROZEN, COUNT = "the frozen parameter's .grad", "the number of hooks left on the model"
VALUES = "whether the parameters themselves are what they were, the answer"


def clip_run(answer: Answer) -> dict[str, Any]:
    """Clip in the answer's way, in two passes and without, and look at all gradients."""
    seen: dict[str, Any] = {}
    with quietly():
        model, data = Parts(), torch.zeros(2, 2, requires_grad=True)
        handles = _handles(answer(model, LIMIT))
        there = hooks_on(model)
        model(torch.tensor(1.0), data).backward()
        seen |= _gradients(model, FIRST)
        if not there and float(cast(Tensor, model.long.grad).norm()) > 1.01 * LIMIT:
            raise Objection(
                "When clip_grads has returned, no hook is left on the model. Removing them is for "
                "the caller, who gets the handles."
            )
        model(torch.tensor(0.7), data).backward()
        seen |= _gradients(model, SECOND)
        seen[FROZEN] = model.frozen.grad
        seen[INPUT] = data.grad
        pairs = zip(model.parameters(), Parts().parameters(), strict=True)
        seen[VALUES] = all(torch.equal(p, was) for p, was in pairs)
        model.zero_grad()
        model(torch.tensor(-1.0), torch.zeros(2, 2)).backward()
        seen |= _gradients(model, EMPTIED)
        for handle in handles:
            handle.remove()
        left = hooks_on(model)
        model.zero_grad()
        model(torch.tensor(1.0), torch.zeros(2, 2)).backward()
        gone = _gradients(model, GONE)
        seen |= dict.fromkeys(gone) if left else gone
        seen[COUNT] = left
        other = Parts()
        answer(other, 0.5)
        other(torch.tensor(1.0), torch.zeros(2, 2)).backward()
        seen |= _gradients(other, TURNED)
    return seen


def _handles(handles: Any) -> list[Any]:
    if handles is None:
        raise Objection(
            "clip_grads returns None, and a list of handles is asked for. Without them nobody can "
            "take the hooks away again."
        )
    if hasattr(handles, "__next__"):
        raise Objection(
            "That is a generator, which registers nothing before somebody goes through it. Make "
            "it a list of handles."
        )
    if isinstance(handles, dict):
        handles = list(handles.values())
    if not isinstance(handles, list | tuple) or not all(hasattr(h, "remove") for h in handles):
        raise Objection("clip_grads has to return a list of handles, as register_hook gives them.")
    if not handles:
        raise Objection(
            "The list of handles is empty. model.parameters() has all parameters, in whatever "
            "kind of module they are."
        )
    return list(handles)


def _gradients(model: nn.Module, when: str) -> dict[str, Any]:
    found = {}
    for name in NAMES:
        gradient = getattr(model, name).grad
        found[f"{when}, {name}.grad"] = None if gradient is None else gradient.clone()
    return found


def scaled(gradient: Tensor, limit: float) -> Tensor:
    """Scale what is longer than a limit down to it."""
    norm = gradient.norm()
    return gradient * (limit / norm) if norm > limit else gradient


def _free(model: nn.Module) -> list[Any]:
    return [p for p in model.parameters() if p.requires_grad]


def clip_grads(model: nn.Module, limit: float) -> list[Any]:
    """Clip rightly."""
    return after_each(scaled)(model, limit)


def after_each(change: Callable[[Tensor, float], Tensor]) -> Answer:
    """Make an answer that changes .grad when something has been added to it."""

    def clip(model: nn.Module, limit: float) -> list[Any]:
        def hook(parameter: Any) -> None:
            parameter.grad = change(parameter.grad, limit)

        return [p.register_post_accumulate_grad_hook(hook) for p in _free(model)]

    return clip


def on_arrival(change: Callable[[Tensor, float], Tensor | None]) -> Answer:
    """Make an answer that changes what arrives, before it is added to .grad."""

    def clip(model: nn.Module, limit: float) -> list[Any]:
        return [p.register_hook(lambda g: change(g, limit)) for p in _free(model)]

    return clip


def all_together(model: nn.Module, limit: float) -> list[Any]:
    """Clip by the norm over all parameters, a mistake."""

    def hook(parameter: Any) -> None:
        nn.utils.clip_grad_norm_(_free(model), limit)

    return [p.register_post_accumulate_grad_hook(hook) for p in _free(model)]


def for_the_last(model: nn.Module, limit: float) -> list[Any]:
    """Clip the gradient of the parameter that a loop ends with, whatever has arrived."""
    last = _free(model)[-1]

    def hook(parameter: Any) -> None:
        if last.grad is not None:
            last.grad = scaled(last.grad, limit)

    return [p.register_post_accumulate_grad_hook(hook) for p in _free(model)]


def old_part_twice(model: nn.Module, limit: float) -> list[Any]:
    """Return the clipped sum from a tensor hook, whose result is added to the old part."""

    def hook_for(p: Any) -> Callable[[Tensor], Tensor]:
        return lambda g: scaled(g if p.grad is None else p.grad + g, limit)

    return [p.register_hook(hook_for(p)) for p in _free(model)]


def in_place_on_arrival(model: nn.Module, limit: float) -> list[Any]:
    """Cut the entries of what arrives in place, as the colleague does."""

    def hook(gradient: Tensor) -> None:
        gradient.clamp_(-limit, limit)

    return [p.register_hook(hook) for p in _free(model)]


def _by(gradient: Tensor, size: Any, limit: float) -> Tensor:
    return gradient * (limit / size) if size > limit else gradient


def _fixed_limit(found: Any) -> bool:
    """Tell whether the results are those of a limit that is not the one given."""
    seen = [trial.result for trial in found]
    for fixed in (0.5, 1.0, 2.0, LIMIT):
        wrong = list(clip_run(lambda model, limit, f=fixed: clip_grads(model, f)).values())
        if all(alike(a, b) for a, b in zip(seen, wrong, strict=True)):
            return True
    return False


def _cut(gradient: Tensor, limit: float) -> Tensor:
    return gradient.clamp(-limit, limit)


def _by_rows(gradient: Tensor, limit: float) -> Tensor:
    norm = gradient.norm(dim=-1, keepdim=True)
    return torch.where(norm > limit, gradient * (limit / norm), gradient)


def _short_ones(gradient: Tensor, limit: float) -> Tensor:
    return gradient * (limit / gradient.norm()) if gradient.norm() < limit else gradient


def _always(gradient: Tensor, limit: float) -> Tensor:
    return gradient * (limit / (gradient.norm() + 1e-30))


def _unclipped(found: Any, *passes: str) -> bool:
    """Tell whether all gradients of these passes are as they are without hooks."""
    plain = clip_run(on_arrival(lambda gradient, limit: None))
    names = [name for name in plain if name.startswith(passes)]
    return all(alike(observed(found, name), plain[name]) for name in names)


def _unchanged(found: Any) -> bool:
    return _unclipped(found, FIRST, SECOND, EMPTIED)


def _misses_a_pass(found: Any) -> bool:
    return _unclipped(found, f"{FIRST}, ") or _unclipped(found, EMPTIED)


def _keeps_its_own_sum(found: Any) -> bool:
    """Tell whether two passes are right, and one after zero_grad is not."""
    right = list(clip_run(clip_grads).items())
    fits = [(name, alike(t.result, want)) for t, (name, want) in zip(found, right, strict=True)]
    before = [fit for name, fit in fits if name.startswith((FIRST, SECOND)) and TURNED not in name]
    return all(before) and not all(fit for name, fit in fits if name.startswith(EMPTIED))


def _turns(found: Any) -> bool:
    """Tell whether a gradient points elsewhere after one pass."""
    name = f"{FIRST}, long.grad"
    before = clip_run(on_arrival(lambda gradient, limit: None))[name].flatten()
    after = observed(found, name).flatten()
    return torch.cosine_similarity(after, before, dim=0).item() < 0.999


def _another_length(found: Any) -> bool:
    """Tell whether a gradient that is too long gets another norm than the limit."""
    return abs(observed(found, f"{FIRST}, long.grad").norm().item() - LIMIT) > 0.01 * LIMIT


def _only_later(found: Any) -> bool:
    """Tell whether the first pass is right and the sum of two is not."""
    right = list(clip_run(clip_grads).values())
    many = len(NAMES)
    fits = [alike(t.result, want) for t, want in zip(found, right, strict=True)]
    return all(fits[:many]) and not all(fits[many : 2 * many])


def _spoils_the_input(found: Any) -> bool:
    """Tell whether the first pass is right, and the gradient of the input is not."""
    right = clip_run(clip_grads)
    fits = {
        name: alike(t.result, want) for t, (name, want) in zip(found, right.items(), strict=True)
    }
    return all(list(fits.values())[: len(NAMES)]) and not fits[INPUT]


def _has_nan(found: Any) -> bool:
    return any(
        hasattr(trial.result, "isnan") and bool(trial.result.isnan().any()) for trial in found
    )


CLIPPING = Hook(
    id="13.2",
    asks="clip_grads(model, limit), which registers hooks that keep the norm of each parameter's "
    ".grad within the limit, and returns their handles",
    scenario=clip_run,
    reference=clip_grads,
    digits=4,
    right="A post-accumulate hook sees .grad as a step of the optimizer would.",
    hints=(
        "Compare norm and entries. When does a tensor hook run, before or after the sum is made? "
        "Into what may it write? What does the caller need in the end?",
        "register_post_accumulate_grad_hook on each parameter that requires a gradient: its hook "
        "is given the parameter, whose .grad is complete. Scale that if its norm is too large, and "
        "return the list of handles.",
    ),
    mistakes=[
        Mistake(
            "A frozen parameter takes no hook. Ask for requires_grad before you register one.",
            trouble=("doesn't require gradient", "does not require grad", "require gradient"),
        ),
        Mistake(
            "This kind of hook is given the parameter, and returns nothing: it writes into "
            "parameter.grad.",
            trouble=("should return None", "expected to return None"),
        ),
        Mistake(
            "Some .grad is None there. Either a tensor hook asks, which runs before the sum is "
            "made: which one runs after it? Or the hook asks another parameter than its own.",
            trouble=("NoneType",),
        ),
        Mistake(
            "What arrives in a hook may be shared with others, even among its own entries: make a "
            "new tensor, and do not write into it.",
            trouble=("single memory location",),
        ),
        Mistake(
            "The parameters themselves were changed. Their gradients are to be clipped, in "
            "parameter.grad.",
            when=lambda found: observed(found, VALUES) is False,
        ),
        Mistake(
            "The comparison is the wrong way round: the short ones are scaled (one of them, of "
            "norm 0, to NaN), the long ones are left.",
            like=after_each(_short_ones),
        ),
        Mistake(
            "Nothing is clipped. Are the hooks there? And a new local value does not leave the "
            "hook: return it, or write it to where it belongs.",
            when=_unchanged,
        ),
        Mistake(
            "One pass is clipped, and another is not. Does the hook run when .grad is complete? A "
            "tensor's hook runs before the addition, and finds the old .grad; a module's may.",
            when=_misses_a_pass,
        ),
        Mistake(
            "Some gradient is NaN: a norm of zero stood under the line. What is within the limit "
            "has to stay as it is.",
            when=_has_nan,
        ),
        Mistake(
            "The gradient of something that is no parameter was changed along. What arrives in a "
            "hook may be shared with others: make a new tensor, and do not write into it.",
            when=_spoils_the_input,
        ),
        Mistake(
            "Each pass is clipped, and their sum is not. A hook on the tensor acts before the "
            "addition to .grad: which one acts after it?",
            like=on_arrival(scaled),
        ),
        Mistake(
            "That still cuts entry by entry, before the sum and in place: the gradient turns, its "
            "norm can be larger than the limit, and a tensor that arrives may be shared.",
            like=in_place_on_arrival,
        ),
        Mistake(
            "That cuts each entry by itself. The norm can still be larger than the limit, and the "
            "direction changes. And it acts before the sum is made.",
            like=on_arrival(_cut),
        ),
        Mistake(
            "That cuts each entry by itself: the direction changes, and the norm can still be "
            "larger than the limit. Scale the whole tensor.",
            like=after_each(_cut),
        ),
        Mistake(
            "Short gradients are made longer. What is within the limit stays as it is.",
            like=after_each(_always),
        ),
        Mistake(
            "Short gradients are made longer, and the sum of two passes is not clipped. What is "
            "within the limit stays as it is, and the sum is what counts.",
            like=on_arrival(_always),
        ),
        Mistake(
            "That is the direction alone: every norm is 1 now. Scale down to the limit, and only "
            "what is longer.",
            like=after_each(lambda g, limit: g / (g.norm() + 1e-30)),
        ),
        Mistake(
            "What is too long gets norm 1, whatever the limit is.",
            like=after_each(lambda g, limit: g / g.norm() if g.norm() > limit else g),
        ),
        Mistake(
            "The limit is an argument: use the one that is given.",
            when=_fixed_limit,
        ),
        Mistake(
            "That is the sum of the sizes. The norm is the root of the sum of the squares.",
            like=after_each(lambda g, limit: _by(g, g.abs().sum(), limit)),
        ),
        Mistake(
            "That is the largest entry. The norm is the root of the sum of the squares.",
            like=after_each(lambda g, limit: _by(g, g.abs().max(), limit)),
        ),
        Mistake(
            "That is the sum of the squares. The norm is its root.",
            like=after_each(lambda g, limit: _by(g, (g * g).sum(), limit)),
        ),
        Mistake(
            "That divides by the norm and forgets to multiply by the limit; or the other way "
            "round. What has norm 6 and should have 2 is divided by 3.",
            like=after_each(lambda g, limit: g / limit if g.norm() > limit else g),
        ),
        Mistake(
            "That multiplies by the limit, and does not divide by the norm.",
            like=after_each(lambda g, limit: g * limit if g.norm() > limit else g),
        ),
        Mistake(
            "The scale is the wrong way round: the long ones get longer.",
            like=after_each(lambda g, limit: g * (g.norm() / limit) if g.norm() > limit else g),
        ),
        Mistake(
            "The comparison is the wrong way round: the short ones are scaled, the long ones are "
            "left.",
            like=after_each(
                lambda g, limit: g * (limit / (g.norm() + 1e-30)) if g.norm() < limit else g
            ),
        ),
        Mistake(
            "Each row has a norm of its own there. Asked for is one norm for the whole .grad.",
            like=after_each(_by_rows),
        ),
        Mistake(
            "What is too long is set to zero, and nothing is learned from it. Scale it.",
            like=after_each(lambda g, limit: g * 0 if g.norm() > limit else g),
        ),
        Mistake(
            "One norm for all parameters together: that is clip_grad_norm_. Here each parameter "
            "has its own.",
            like=all_together,
        ),
        Mistake(
            "Only one parameter is clipped. Functions that are made in a loop share its variable, "
            "and see the value that it has in the end: use what the hook is given.",
            like=for_the_last,
        ),
        Mistake(
            "What a tensor hook returns is added to what .grad holds already, and yours returns "
            "the whole sum: the old part counts twice.",
            like=old_part_twice,
        ),
        Mistake(
            "Two passes are right, and after zero_grad() the next one is not: the hook goes on "
            "with a sum of its own. What counts is what .grad holds.",
            when=_keeps_its_own_sum,
        ),
        Mistake(
            "The first pass is right, the sum of two is not. The sum has to keep the limit: look "
            "at .grad when something has been added to it.",
            when=_only_later,
        ),
        Mistake(
            "All is well until the handles are removed: some hooks are still there. Return a "
            "handle for each.",
            when=lambda found: observed(found, COUNT) > 0,
        ),
        Mistake(
            "A gradient that is too long points elsewhere now. Multiply all of it by one number.",
            when=_turns,
        ),
        Mistake(
            "The direction stays, and what is too long does not get the limit for its norm. Is it "
            "the norm that you divide by, the root of the sum of the squares? And do you multiply "
            "by the limit as it was given?",
            when=_another_length,
        ),
    ],
)
