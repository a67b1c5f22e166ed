"""Run exercise 09.5, a hook for complete gradients: the right answer, and wrong ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from minigrad import tensor
from minigrad.autograd.graph import register_multi_grad_hook
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import describe
from minigrad.nn import Module, Parameter, Sequential

from .runs import linear

NESTED = "with a model and its first layer both asked for, in two passes, the list of calls"


def when_ready(
    module: Any,
    hook: Callable[[Any], Any],
    clears: bool = True,
    some: slice = slice(None),
    number: int | None = None,
    late: bool = False,
) -> None:
    """Call a hook when a module's gradients are complete: the right answer to 09.5, or faulty."""
    waiting = [p for p in module.parameters() if p.requires_grad][some]
    arrived: list[Any] = []

    def count(parameter: Any) -> None:
        arrived.append(parameter)
        if len(arrived) == (number or len(waiting)) + late:
            if clears:
                arrived[:] = [parameter] if late else []
            hook(module)

    for parameter in waiting:
        parameter.register_post_accumulate_grad_hook(count)


def by_full_hook(module: Any, hook: Callable[[Any], Any]) -> None:
    """Call the hook from a full backward hook."""
    module.register_full_backward_hook(lambda module, *_: hook(module))


def by_multi_grad_hook(module: Any, hook: Callable[[Any], Any]) -> None:
    """Call the hook when all gradients have been computed, before they are accumulated."""
    waiting = [p for p in module.parameters() if p.requires_grad]
    register_multi_grad_hook(waiting, lambda gradients: hook(module))


def at_each(
    module: Any, hook: Callable[[Any], Any], when: Callable[[Any, Any], bool] = lambda *_: True
) -> None:
    """Call the hook at each parameter, or where something holds of those that came and all."""
    waiting = [p for p in module.parameters() if p.requires_grad]
    arrived: list[Any] = []

    def look(parameter: Any) -> None:
        arrived.append(parameter)
        if when(arrived, waiting):
            hook(module)

    for parameter in waiting:
        parameter.register_post_accumulate_grad_hook(look)


def if_no_grad_is_none(module: Any, hook: Callable[[Any], Any]) -> None:
    """Take a `.grad` that is there for one that is new."""
    at_each(module, hook, lambda _, waiting: all(p.grad is not None for p in waiting))


def from_enough_on(module: Any, hook: Callable[[Any], Any]) -> None:
    """Call the hook for each parameter once there have been enough, and never count anew."""
    at_each(module, hook, lambda arrived, waiting: len(arrived) >= len(waiting))


def at_the_output(module: Any, hook: Callable[[Any], Any]) -> None:
    """Call the hook when the gradient with respect to the module's output is known."""

    def attach(module: Any, args: Any, y: Any) -> None:
        y.register_hook(lambda gradient: hook(module))

    module.register_forward_hook(attach)


def run_ready(builder: Callable[..., Any]) -> dict[str, Any]:
    """Put a `when_ready` to work: kinds of data and modules, passes, and two at a time."""
    seen: dict[str, Any] = {}
    data, more = tensor([[1.0, 2.0]]), tensor([[1.5, -0.5]], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # full hooks without an input gate
        for words, module, inputs in (
            ("plain data", linear([0.5, -1.0], bias=0.25), data),
            ("data that require a gradient", linear([0.5, -1.0], bias=0.25), more),
            ("one parameter", linear([2.0, 0.5]), data),
            ("three parameters of which the second is ready last", Scaled(), data),
            ("two layers and a frozen weight", Backwards(), data),
        ):
            calls = _Calls(module, builder)
            for number in ("first", "second"):
                key = f"with {words}, in the {number} pass, the list of gradients seen by each call"
                seen[key] = calls.in_a_pass(inputs)
            module.zero_grad()
            key = f"with {words}, after zero_grad, the list of gradients seen by each call"
            seen[key] = calls.in_a_pass(inputs)
        inner = linear([1.0, -0.5], [0.25, 2.0], bias=0.5)
        outer: Any = Sequential(inner, linear([2.0, 0.75]))
        both = [_Calls(module, builder) for module in (outer, inner)]
        for _ in range(2):
            outer(data).sum().backward()
        seen[NESTED] = [len(calls) for calls in both]
    return seen


class Backwards(Module):
    """Two layers of which the one that is registered first is run last, one weight frozen."""

    def __init__(self) -> None:
        """Make both layers."""
        super().__init__()
        self.later, self.earlier = linear([1.0, 1.0], bias=0.5), linear([1.0, 0.5], [2.0, -1.0])
        frozen: Any = self.earlier.weight
        frozen.requires_grad_(False)
        self.shift = Parameter(tensor([0.5, -0.25]))

    def forward(self, x: Any) -> Any:
        """Run one behind the other."""
        return self.later(self.earlier(x + self.shift))


class Scaled(Module):
    """Parameters of which neither the first nor the last that is registered is ready last."""

    def __init__(self) -> None:
        """Make three parameters."""
        super().__init__()
        self.scale, self.shift = Parameter(tensor([2.0, -1.0])), Parameter(tensor([0.5, 1.0]))
        self.gain = Parameter(tensor([0.75, 3.0]))

    def forward(self, x: Any) -> Any:
        """Shift what comes, and scale the result twice."""
        return self.scale * (self.gain * (x + self.shift))


class _Calls(list[Any]):
    """A hook that notes which gradients its module has, asked for with a builder."""

    def __init__(self, module: Any, builder: Callable[..., Any]) -> None:
        super().__init__()
        self.module = module
        builder(module, self)
        if self:
            raise Objection(
                "You called the hook yourself, at once. Register something that calls it in the "
                "backward pass."
            )

    def __call__(self, module: Any) -> None:
        if module is not self.module:
            raise Objection(
                f"Your hook was called with {describe(module)}. Asked for is hook(module): it is "
                "given the module."
            )
        gradients = [p.grad for p in self.module.parameters()]
        self.append([None if g is None else g.tolist() for g in gradients])

    def in_a_pass(self, inputs: Any) -> list[Any]:
        """Run one pass, and give what was seen in it."""
        self.clear()
        result = self.module(inputs)
        if self:
            raise Objection(
                "The hook was called in the forward pass, where no gradient is known yet. Leave "
                "something behind that calls it in the backward pass."
            )
        (3 * result).sum().backward()
        return list(self)


def _passes(trials: Any, words: str) -> list[Any]:
    """Give what was seen in each pass of a kind, in a run of 09.5."""
    return [trial.result for trial in trials if words in trial.gave]


def _in_each_other(trials: Any) -> bool:
    """Tell whether only the two watched modules at a time go wrong, in a run of 09.5."""
    due = list(run_ready(when_ready).values())
    return [trial.result for trial in trials[:-1]] == due[:-1] and trials[-1].result != due[-1]


WAITING = [
    Mistake(
        "That is case 10 itself: with plain data a full hook runs before any parameter "
        "has its gradient.",
        like=by_full_hook,
    ),
    Mistake(
        "When your hook runs, every gradient has been computed, and the last of them is "
        "not in .grad yet. Which hook on a parameter comes after that?",
        like=by_multi_grad_hook,
    ),
    Mistake(
        "The gradient of the output comes first, before those of the parameters. Which of "
        "them comes last, and who can tell?",
        like=at_the_output,
    ),
    Mistake(
        "It is called once for each parameter. Wanted is one call, when the last has come.",
        like=at_each,
    ),
    Mistake(
        "You wait for one parameter only, and others may come later: which of them is the "
        "last, nobody promises.",
        like=lambda module, hook: when_ready(module, hook, some=slice(1)),
    ),
    Mistake(
        "You wait for one parameter only, and others may come later: which of them is the "
        "last, nobody promises.",
        like=lambda module, hook: when_ready(module, hook, some=slice(-1, None)),
    ),
    Mistake(
        "You wait for two parameters. A module may have any number of them.",
        like=lambda module, hook: when_ready(module, hook, number=2),
    ),
    Mistake(
        "It works in the first pass and never again: start the count anew when it is full.",
        like=lambda module, hook: when_ready(module, hook, clears=False),
    ),
    Mistake(
        "It works in the first pass, and from then on it is called for each parameter: "
        "start the count anew when it is full.",
        like=from_enough_on,
    ),
    Mistake(
        "That a .grad is there does not say that it is new: it may be left from the pass "
        "before. Count what comes.",
        like=if_no_grad_is_none,
    ),
    Mistake(
        "It comes one parameter too late, with the first of the next pass. How many have "
        "to have come?",
        like=lambda module, hook: when_ready(module, hook, late=True),
    ),
    Mistake(
        "A frozen parameter takes no hook, and never gets a gradient: leave it out, also "
        "when you count.",
        trouble=("doesn't require gradient",),
    ),
    Mistake(
        "You wait for the frozen parameter too, and its gradient never comes: leave it out "
        "when you count.",
        when=lambda trials: not _passes(trials, "frozen")[0] and trials[0].result,
    ),
    Mistake(
        "You changed requires_grad. A frozen parameter is meant to stay as it is.",
        when=lambda trials: None not in _passes(trials, "frozen")[0][0],
    ),
    Mistake(
        "Gradients do not add up from pass to pass any more: something empties .grad. "
        "Whoever watches leaves it alone.",
        when=lambda trials: trials[0].result and trials[0].result == trials[1].result,
    ),
    Mistake(
        "When your hook runs, not every gradient is in .grad yet. What tells you that a "
        "parameter's gradient is there, and what, that it was the last?",
        when=lambda trials: any(g is None for call in trials[0].result for g in call),
    ),
    Mistake(
        "For one module it works. With two that share parameters they get in each other's "
        "way: what is kept in one place for all of them? (A default such as done=[] is made "
        "once.)",
        when=_in_each_other,
    ),
    Mistake(
        "Nothing calls it in the backward pass. Is your hook registered on the parameters, and "
        "does it begin to count anew for each call of when_ready?",
        when=lambda trials: all(trial.result == [] for trial in trials[:4]),
    ),
    Mistake(
        "Not every module has a weight and a bias: ask it for its parameters().",
        trouble=("'weight'", "'bias'", "'NoneType' object has no attribute 'register"),
    ),
    Mistake(
        "hook is called with one thing, the module, and so is a post-accumulate hook, with the "
        "parameter.",
        trouble=("positional argument",),
    ),
    Mistake(
        "A post-accumulate hook has to return None. Call hook(module), and do not return "
        "what it gives.",
        trouble=("hook returned",),
    ),
    Mistake(
        "Comparing tensors gives a tensor of truth values, and list.remove() and `in` "
        "compare. Keep names, numbers or a set.",
        trouble=("ambiguous",),
    ),
]
"""What learners get wrong in 09.5."""
