"""Run the models of lesson 08's exercises: right answers, and wrong ones that learners write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import alike
from minigrad.nn.modules import module as everywhere

from ..models import layer
from .slate import Answer, Stranger, chain, clean_slate, hooks_left


class Broken(nn.Module):
    """A module that raises when it is called, or when its gradient comes."""

    def __init__(self, at_once: bool) -> None:
        super().__init__()
        self.at_once = at_once

    def forward(self, x: Tensor) -> Tensor:
        """Raise, or see to it."""
        if self.at_once:
            raise ValueError("this model is broken")
        y = x * 2
        y.register_hook(self._raise)
        return y

    def _raise(self, gradient: Tensor) -> None:
        raise ValueError("this model is broken")


class Spare(nn.Sequential):
    """A chain with a layer at its end that is never called."""

    def forward(self, x: Tensor) -> Tensor:
        """Run all but the last."""
        for module in list(self)[:-1]:
            x = module(x)
        return x


HOOKS_LEFT = "the number of hooks left behind"
OTHERS = "whether the hooks that others had registered are all there, the answer"
FLOW = "the list of (name, grad_input, grad_output), sorted by name,"
FLOW_NO_GRAD = "for data that need no gradient, the same list"
FLOW_OTHER = "for another model, the same list"
AFTER_ERROR = "with a model that raises an error, the number of hooks left behind"
ROWS, NO_GRAD, OTHER, FLOW_LEFT, FLOW_OTHERS, ERROR_LEFT = range(6)
"""Places of the observations that `flow_run` makes."""

CALLED = ["", "body", "body.inner", "body.squash", "first", "last"]
LAYERS = ["body.inner", "body.squash", "first", "last"]


def flow_run(answer: Answer) -> dict[str, Any]:
    """Let an answer collect from two models, and look at what it leaves behind."""
    model = Spare()
    model.add_module("first", layer([[0.5, -0.3], [0.2, 0.8]], [0.1, 0.0]))
    model.add_module("body", chain(squash=nn.Tanh(), inner=layer([[0.7, -0.4]] * 2, [0.0, 0.3])))
    model.add_module("last", layer([[1.5, -0.9]], [0.4]))
    model.add_module("spare", nn.Linear(1, 1))
    small = chain(only=layer([[0.6, 1.1]], [0.2]))
    cotangent = torch.tensor([[1.3], [-0.4]])
    found: dict[str, Any] = {}
    left, others = 0, True
    for name, each, needs_one in (
        (FLOW, model, True),
        (FLOW_NO_GRAD, model, False),
        (FLOW_OTHER, small, True),
    ):
        data = torch.tensor([[0.3, -1.2], [0.8, 0.5]], requires_grad=needs_one)
        Stranger.register_on(each)
        with clean_slate(strangers=True):
            found[name] = answer(each, data, cotangent)
            left += hooks_left(each)
            others &= Stranger.all_there()
    seen: dict[str, Any] = {name: _rows(gradients) for name, gradients in found.items()}
    seen |= {HOOKS_LEFT: left, OTHERS: others, AFTER_ERROR: 0}
    for at_once in (True, False):
        with clean_slate(strangers=True):
            broken = chain(first=nn.Linear(2, 1), broken=Broken(at_once))
            with suppress(ValueError):
                answer(broken, torch.tensor([[0.3, -1.2]]), cotangent[:1])
            seen[AFTER_ERROR] += hooks_left(broken)
    if left:
        seen[AFTER_ERROR] = 0  # said already
    return seen


def _rows(gradients: Any) -> list[tuple[Any, ...]]:
    """Sort what an answer returned by name; object to what is no such dict."""
    if not isinstance(gradients, dict):
        raise Objection("gradient_flow has to return a dict.")
    if not all(isinstance(name, str) for name in gradients):
        raise Objection("A key is no name: names are text, and named_modules() gives them.")
    for pair in gradients.values():
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise Objection("An entry of the dict is no pair: two norms are asked for.")
    return [(name, *pair) for name, pair in sorted(gradients.items())]


def names_in(trial: Any) -> list[str]:
    """Give the names that an answer collected."""
    return [name for name, *_ in trial.result]


def length(gradient: Tensor) -> Any:
    """Give the norm of a gradient."""
    return gradient.norm().item()


def flow(
    swapped: bool = False,
    removes: str = "always",
    measure: Callable[[Tensor], Any] = length,
    label: Callable[[str], str] = lambda name: name,
    ones: bool = False,
) -> Answer:
    """Make a right `gradient_flow`, or one with a typical mistake.

    Args:
        swapped: whether the two norms change places.
        removes: "always", "at the end" (not after an error) or "never".
        measure: what is noted of a gradient.
        label: gives the key of a module with a name.
        ones: whether the pass starts from ones instead of the cotangent.
    """

    def gradient_flow(model: nn.Module, data: Tensor, cotangent: Tensor) -> dict[Any, Any]:
        names = {module: name for name, module in model.named_modules()}
        found: dict[Any, Any] = {}

        def hook(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
            both = [None if g is None else measure(g) for g in (grad_input[0], grad_output[0])]
            found[label(names[module])] = tuple(both[::-1] if swapped else both)

        handle = everywhere.register_module_full_backward_hook(hook)
        try:
            model(data).backward(torch.ones_like(cotangent) if ones else cotangent)
        except ValueError:
            if removes == "always":
                handle.remove()
            raise
        if removes != "never":
            handle.remove()
        return found

    return gradient_flow


def rounded_off(found: Any) -> bool:
    """Tell whether the norms are right, but for digits that are missing."""
    right = flow_run(flow())[FLOW]
    return not alike(found[ROWS].result, right) and all(
        row[0] == want[0] and all(abs(row[k] - want[k]) <= 0.02 * want[k] for k in (1, 2))
        for row, want in zip(found[ROWS].result, right, strict=True)
    )
