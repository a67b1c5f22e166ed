"""Check exercise 13.5, which names the first module that receives a NaN."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.nn.modules import module as everywhere

from ..models import layer
from ..observations import partly
from .traces import Answer, chain, hooks_on, quietly

NAN = float("nan")


class Broken(Exception):
    """What one of the models raises."""


class Log(nn.Module):
    """The logarithm: a NaN below 0, minus infinity at 0."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute it."""
        return x.log()


class Raises(nn.Module):
    """A module that does not come to its end."""

    def forward(self, x: Tensor) -> Tensor:
        """Raise."""
        raise Broken


class Between(nn.Module):
    """A module with a logarithm in its own code, between its children."""

    def __init__(self) -> None:
        super().__init__()
        self.after, self.before = nn.Tanh(), nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        """Run both, with the logarithm between them."""
        return self.after(self.before(x).log())


class Swapped(nn.Module):
    """A module whose children are run in another order than they are registered."""

    def __init__(self) -> None:
        super().__init__()
        self.late, self.early = nn.Tanh(), nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        """Run the second child first, on the logarithm."""
        return self.late(self.early(x.log()))


class Mix(nn.Module):
    """A module that is given a number, nothing, and two tensors."""

    def forward(self, factor: float, nothing: None, x: Tensor, y: Tensor) -> Tensor:
        """Mix them."""
        return factor * x + y


class Mixer(nn.Module):
    """A model that calls a module with several arguments, one of which has a NaN.

    Args:
        last: whether that is the last one, or the one before.
    """

    def __init__(self, last: bool = True) -> None:
        super().__init__()
        self.last = last
        self.start, self.mix, self.end = nn.Tanh(), Mix(), nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        """Mix the data with their logarithm."""
        good, bad = self.start(x), x.log()
        return self.end(self.mix(0.5, None, *((good, bad) if self.last else (bad, good))))


def _cases() -> dict[str, tuple[nn.Module, Tensor]]:
    """Make models in which something goes wrong, or nothing, each with its data."""
    mixed, fine = torch.tensor([[2.0, 3.0], [1.0, -1.0]]), torch.tensor([[2.0, 3.0]])
    infinite = torch.tensor([[0.0, float("inf")]])
    swap = layer([[0.0, 1.0], [1.0, 0.0]], [0.0, 0.0])
    return {
        "a healthy model": (chain(a=nn.Tanh(), log=Log(), c=nn.Tanh()), fine),
        "a NaN made in the middle": (chain(a=swap, log=Log(), c=nn.Tanh(), d=nn.Tanh()), mixed),
        "a NaN made inside of a container": (
            chain(start=nn.Tanh(), body=chain(log=Log(), inner=nn.Tanh()), end=nn.Tanh()),
            torch.tensor([[-2.0, -3.0]]),
        ),
        "a container that receives one": (
            chain(log=Log(), body=chain(inner=nn.Tanh(), more=nn.Tanh()), end=nn.Tanh()),
            mixed,
        ),
        "a NaN made between two modules": (chain(start=nn.Tanh(), block=Between()), mixed),
        "a NaN in the data": (
            chain(a=nn.Tanh(), b=nn.Tanh()),
            torch.tensor([[1.0, NAN], [2.0, 3.0]]),
        ),
        "a NaN made by the last module": (chain(a=nn.Tanh(), log=Log()), mixed),
        "infinities": (chain(log=Log(), c=nn.Tanh(), d=nn.Tanh()), infinite),
        "a module with several arguments": (Mixer(), mixed),
        "a model that runs its modules in an order of its own": (Swapped(), mixed),
        "a module with a NaN in its last argument but one": (Mixer(last=False), mixed),
    }


NAMED, LEFT = "the name for", "the number of hooks left behind"
ERROR = "with a model that raises an error, the number of hooks left behind"
(_HEALTHY, _MIDDLE, _INSIDE, _CONTAINER, _CODE, _DATA, _LAST, _INFINITY, _ARGS, _ORDER) = range(10)
_BUT_ONE, _LEFT, _ERROR = 10, 11, 12


NAMES = [f"{NAMED} {name}" for name in _cases()]


def nan_run(answer: Answer) -> dict[str, Any]:
    """Let an answer look for the first receiver in each model."""
    seen: dict[str, Any] = {}
    left = 0
    for name, (model, data) in _cases().items():
        with quietly():
            found = answer(model, data)
            left += hooks_on(model)
        if found is not None and not isinstance(found, str | list | tuple | set | dict | nn.Module):
            raise Objection("first_nan has to return a name, as text, or None.")
        seen[f"{NAMED} {name}"] = found
    after_error = 0
    for model in (chain(a=Log(), b=Raises()), chain(a=Raises(), b=nn.Tanh())):
        with quietly():
            with suppress(Broken):
                answer(model, torch.tensor([[-1.0]]))
            after_error += hooks_on(model)
    return seen | {LEFT: left, ERROR: 0 if left else after_error}


def has_nan(tensor: Tensor) -> bool:
    """Tell whether one entry is NaN."""
    return bool(tensor.isnan().any())


def first(
    bad: Callable[[Tensor], bool] = has_nan,
    which: int = 0,
    asked: Callable[[nn.Module], bool] = lambda module: True,
    label: Callable[[nn.Module, str], Any] = lambda module, name: name,
    arguments: slice = slice(None),
    at: str = "input",
    give: Callable[[list[Any]], Any] | None = None,
) -> Answer:
    """Make a right `first_nan`, or one with a typical mistake.

    Args:
        bad: tells whether a tensor is bad.
        which: of those that were noted.
        asked: which modules are looked at.
        label: what to say of a module.
        arguments: which of them are looked at.
        at: "input", "output", "maker" (good input, bad output), or "input, when it is done".
        give: what to return of all that was noted.
    """

    def first_nan(model: nn.Module, data: Tensor) -> Any:
        names = {module: name for name, module in model.named_modules()}
        found: list[Any] = []

        def look(module: nn.Module, args: Any, output: Any = None) -> None:
            into = any(bad(a) for a in args[arguments] if isinstance(a, Tensor))
            if at in ("output", "maker"):
                into = bad(output) and (at == "output" or not into)
            if into and asked(module):
                found.append(label(module, names[module]))

        register = (
            everywhere.register_module_forward_pre_hook
            if at == "input"
            else everywhere.register_module_forward_hook
        )
        with register(look):
            model(data)
        if give is not None:
            return give(found)
        return found[which] if found else None

    return first_nan


def in_the_models_order(model: nn.Module, data: Tensor) -> Any:
    """Take the first in the order of `named_modules()`, and not of time."""
    found = first(give=list)(model, data)
    return next((name for name, _ in model.named_modules() if name in found), None)


def children_only(model: nn.Module, data: Tensor) -> Any:
    """Look at the model's children only."""
    children = set(model.children())
    return first(asked=lambda module: module in children)(model, data)


def by_the_last_name(model: nn.Module, data: Tensor) -> Any:
    """Say the name that a loop's variable has in the end."""
    *_, (last, _) = model.named_modules()
    return first(label=lambda module, name: last)(model, data)


def no_children(module: nn.Module) -> bool:
    """Tell whether a module contains no other."""
    return not list(module.children())


def _not_itself(model: nn.Module, data: Tensor) -> Any:
    return first(asked=lambda module: module is not model)(model, data)


def _no_name(found: Any) -> bool:
    names = [{name for name, _ in model.named_modules()} for model, _ in _cases().values()]
    results = [trial.result for trial in found[:_LEFT]]
    return any(
        isinstance(each, str) and each not in known
        for each, known in zip(results, names, strict=True)
    )


RECEIVES = Hook(
    id="13.5",
    asks="first_nan(model, data), which returns the name of the first module that receives a NaN, "
    "or None",
    scenario=nan_run,
    reference=first(),
    right="Between the last module that got clean values and this one, the NaN was made.",
    hints=(
        "Which kind of hook sees a module's arguments before its forward runs, and for every "
        "module at once? How does it know the name?",
        "A global forward pre-hook in a with block: it goes through args, leaves out what is no "
        "tensor, and notes names[module] where isnan().any() holds. The first one noted is asked "
        "for.",
    ),
    mistakes=[
        Mistake(
            "One of the arguments is no tensor: ask isinstance(each, torch.Tensor) first.",
            trouble=(
                "'float' object",
                "'NoneType' object has no attribute",
                "must be Tensor, not float",
                "must be Tensor, not NoneType",
            ),
        ),
        Mistake(
            "A hook is given a tuple, with all the arguments in it: go through them.",
            trouble=("must be Tensor, not tuple", "'tuple' object"),
        ),
        Mistake(
            "What a pre-hook returns takes the arguments' place, and the module is run on it. Note "
            "the name, and return None.",
            trouble=("must be Tensor, not",),
        ),
        Mistake(
            "Nothing was noted where nobody receives a NaN. What is to be returned then?",
            trouble=("IndexError", "index out of range", "StopIteration"),
        ),
        Mistake(
            "`if tensor.isnan():` asks many entries for one truth. any() makes it one.",
            trouble=("ambiguous",),
        ),
        Mistake(
            "That is who makes the NaN. Asked for is who receives it first; where code between "
            "modules makes it, no module is to blame.",
            when=partly(nan_run, first(at="maker"), *NAMES),
        ),
        Mistake(
            "That looks at outputs, so it names the one that makes the NaN. Asked for is the one "
            "that receives it.",
            when=partly(nan_run, first(at="output"), *NAMES),
        ),
        Mistake(
            "That is the last one that receives it. The first one is asked for.",
            when=partly(nan_run, first(which=-1), *NAMES),
        ),
        Mistake(
            "That is the first in the order of named_modules(). In time another one may come "
            "first: forward calls them in its own order.",
            when=partly(nan_run, in_the_models_order, *NAMES),
        ),
        Mistake(
            "An infinity counts there as a NaN. isfinite() is false for both; isnan() tells them "
            "apart.",
            when=partly(nan_run, first(bad=lambda t: not bool(t.isfinite().all())), *NAMES),
        ),
        Mistake(
            "An infinity counts there, and a NaN does not.",
            when=partly(nan_run, first(bad=lambda t: bool(t.isinf().any())), *NAMES),
        ),
        Mistake(
            "Nobody is found, though there are NaNs. NaN is not equal to itself, so == float('nan')"
            " never holds; isnan() asks. (Or is the hook not there when the model runs, or nothing "
            "returned?)",
            when=lambda found: all(trial.result is None for trial in found[:_LEFT]),
        ),
        Mistake(
            "The sum of infinities with opposite signs is NaN, and none of them is. Ask the "
            "entries.",
            when=partly(nan_run, first(bad=lambda t: bool(t.sum().isnan())), *NAMES),
        ),
        Mistake(
            "That is the last module that receives clean values. Which is the first that does not?",
            when=partly(nan_run, first(bad=lambda t: not has_nan(t), which=-1), *NAMES[:5]),
        ),
        Mistake(
            "One NaN among good numbers is enough: mind any() and all().",
            when=partly(nan_run, first(bad=lambda t: bool(t.isnan().all())), *NAMES),
        ),
        Mistake(
            "A container receives it before the modules inside of it do, and the model is one, "
            "too. Leave no module out, and ask on the way in: a forward hook speaks when its "
            "module is done.",
            when=partly(nan_run, first(asked=no_children), *NAMES),
        ),
        Mistake(
            "The model itself is never named. It is a module, and receives the data. (Its name is "
            "the empty text, which counts as false.)",
            when=partly(nan_run, _not_itself, *NAMES),
        ),
        Mistake(
            "Modules deeper inside are never looked at. named_modules() has them all.",
            when=partly(nan_run, children_only, *NAMES),
        ),
        Mistake(
            "A NaN in the data arrives at the model first, whose name is the empty text. That "
            "counts as false: ask `is None`, or how many were found.",
            when=lambda found: found[_DATA].result is None and found[_MIDDLE].result == "c",
        ),
        Mistake(
            "Only the first argument is looked at. The NaN may be in another one.",
            when=partly(nan_run, first(arguments=slice(1)), *NAMES),
        ),
        Mistake(
            "Only the last argument is looked at. The NaN may be in another one.",
            when=partly(nan_run, first(arguments=slice(-1, None)), *NAMES),
        ),
        Mistake(
            "An argument is missed. The first one need not be a tensor, and the NaN may be in any.",
            when=lambda found: found[_ARGS].result == "end" and found[_MIDDLE].result == "c",
        ),
        Mistake(
            "Only the data are looked at, and not what the modules receive.",
            when=lambda found: (
                found[_DATA].result == ""
                and all(t.result is None for t in found[:_LEFT] if t is not found[_DATA])
            ),
        ),
        Mistake(
            "Where nobody receives a NaN, None is asked for, and not a text that says so.",
            when=lambda found: isinstance(found[_HEALTHY].result, str) and found[_HEALTHY].result,
        ),
        Mistake(
            "That is half of a name. A module inside of another has the other's name before its "
            "own: named_modules() gives the whole.",
            when=lambda found: found[_CODE].result == "after" and found[_MIDDLE].result == "c",
        ),
        Mistake(
            "That is the second one that receives it. The first one is asked for.",
            when=partly(nan_run, first(give=lambda f: f[1] if len(f) > 1 else None), *NAMES),
        ),
        Mistake(
            "Where nobody receives a NaN, None is asked for. The empty text is the name of the "
            "model itself.",
            when=lambda found: found[_HEALTHY].result == "",
        ),
        Mistake(
            "That is the name of the class. named_modules() has the module's own name.",
            when=partly(nan_run, first(label=lambda module, name: type(module).__name__), *NAMES),
        ),
        Mistake(
            "That is the module. Its name is asked for: turn named_modules() around.",
            when=lambda found: isinstance(found[_MIDDLE].result, nn.Module),
        ),
        Mistake(
            "Those are all who receive it. One name is asked for, that of the first.",
            when=lambda found: isinstance(found[_MIDDLE].result, list | tuple | set | dict),
        ),
        Mistake(
            "That is no name that named_modules() gives. Return the name as it is, nothing more.",
            when=_no_name,
        ),
        Mistake(
            "Whoever receives it, the last module is named. Functions that are made in a loop "
            "share its variable, and see the value that it has in the end.",
            when=partly(nan_run, by_the_last_name, *NAMES),
        ),
        Mistake(
            "Whatever the model, the same name comes. What one call noted must not go into the "
            "next.",
            when=lambda found: (
                len({t.result for t in found[_MIDDLE:_DATA] if t.result is not None}) == 1
            ),
        ),
        Mistake(
            "A hook stayed behind, and would speak in the next run of any model. Register it in a "
            "with block.",
            when=lambda found: found[_LEFT].result > 0,
        ),
        Mistake(
            "The hook goes when all is well, and stays when the model raises: remove() was never "
            "reached. A with block or a finally is.",
            when=lambda found: found[_ERROR].result > 0,
        ),
    ],
)
