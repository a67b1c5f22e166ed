"""Run the models of exercise 04.5: an optimizer's step with momentum, inside of backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.exercises import Objection

Answer = Callable[..., Any]
LATER = "to be seen when all handles can be removed"
LR, MOMENTUM = 0.08, 0.7
START = (0.4, -0.3)
"""Where the first parameter of `momentum_run` starts."""


def momentum_run(answer: Answer) -> dict[str, Any]:
    """Train three parameters for some passes, take the handles off, and run another pass."""
    a = torch.tensor(list(START), requires_grad=True)
    b = torch.tensor(0.2, requires_grad=True)
    c = torch.tensor([[0.6, -0.1, 0.35]], requires_grad=True)
    parameters = [a, b, c]

    def one_pass(without_b: bool = False) -> None:
        sum_of_all = (a * torch.tensor([1.0, 2.0])).sum() + (c * c).sum()
        ((sum_of_all + (0 if without_b else b) - 1) ** 2).backward()

    def handles_of(*arguments: Any) -> Any:
        handles = answer(*arguments)
        if not isinstance(handles, list | tuple) or not all(hasattr(h, "remove") for h in handles):
            raise Objection("momentum_in_backward has to return a list of handles.")
        return handles

    def values() -> list[Any]:
        return [parameter.detach().clone() for parameter in parameters]

    handles = handles_of(parameters, LR, MOMENTUM)
    one_pass()
    seen: dict[str, Any] = {
        "the first parameter after one pass": values()[0],
        "the list of .grad after one pass": [parameter.grad for parameter in parameters],
    }
    one_pass()
    one_pass()
    seen |= dict(zip(_AFTER_THREE, values(), strict=True))
    one_pass(without_b=True)
    seen[WITHOUT_B] = values()[1]
    for handle in handles:
        handle.remove()
    for parameter in parameters:
        parameter.grad = None
    before = values()
    one_pass()
    moved = [not torch.equal(a, b) for a, b in zip(values(), before, strict=True)]
    seen[MOVED] = sum(moved)
    seen[FILLED] = sum(parameter.grad is not None for parameter in parameters)
    if sum(moved) or any(parameter.grad is None for parameter in parameters):
        return seen | {ANEW: LATER, GROUPS: LATER}
    for parameter in parameters:
        parameter.grad = None
    more = [*handles_of([a], LR, MOMENTUM), *handles_of([b, c], LR / 2, 0.4)]
    one_pass()
    seen[ANEW] = values()[0]
    one_pass()
    seen[GROUPS] = [value.tolist() for value in values()]
    for handle in more:
        handle.remove()
    return seen


_AFTER_THREE = tuple(f"the {which} parameter after three passes" for which in ("1st", "2nd", "3rd"))
WITHOUT_B = "the second parameter after a pass to which it did not belong"
MOVED = "the number of parameters that move with all handles removed"
FILLED = "the number of parameters whose .grad is kept with all handles removed"
ANEW = "the first parameter after a pass with a step registered anew"
GROUPS = "the list of parameters after two passes with another lr and momentum for two of them"


def momentum(keep: float | None = None, sign: float = 1.0, kind: str = "right") -> Answer:
    """Make a right `momentum_in_backward`, or one with a typical mistake.

    Args:
        keep: how much of the velocity stays; by default what the caller asks for.
        sign: of the step.
        kind: "averages" weighs the new gradient by 1 - momentum, "whole" multiplies the new
            gradient by momentum as well, "ahead" looks ahead as Nesterov's method does, "lr twice"
            puts the learning rate into the velocity besides, "no lr" nowhere, "old" steps with the
            velocity from before, "swapped" exchanges lr and momentum.
    """

    def make(parameters: Sequence[Tensor], lr: float, momentum: float) -> list[Any]:
        if kind == "swapped":
            lr, momentum = momentum, lr
        stays = momentum if keep is None else keep
        weights = {"averages": 1 - momentum, "whole": momentum, "lr twice": lr}
        weight = weights.get(kind, 1.0)
        velocities: dict[int, Any] = {}

        def step(p: Any) -> None:
            before = velocities.get(id(p), 0.0)
            velocity = velocities[id(p)] = stays * before + weight * p.grad
            if kind == "ahead":
                velocity = p.grad + stays * velocity
            if kind == "old":
                velocity = before
            p.sub_(sign * (1.0 if kind == "no lr" else lr) * velocity)
            p.grad = None

        return [p.register_post_accumulate_grad_hook(step) for p in parameters]

    return make
