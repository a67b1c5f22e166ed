"""Run the models of lesson 05's exercises: right answers, and wrong ones that learners write."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import describe

from ..models import layer

Answer = Callable[..., Any]
DONOR = [[0.9, -0.2], [0.1, 1.1]]
BATCH = [[0.3, -1.2], [0.8, 0.5]]
OTHER_BATCH = [[-0.4, 0.9], [1.3, 0.2], [0.6, -0.7]]
BODY = "the result, with 'body' transplanted,"
LEFT = "the number of your hooks left on the model"
ERROR = "what came of a batch that does not fit"
LEFT_AFTER = "the number of your hooks left after that batch"


def hooks_on(model: nn.Module) -> set[int]:
    """Name the forward hooks and pre-hooks that a model and its modules have."""
    tables = ((m._forward_hooks, m._forward_pre_hooks) for m in model.modules())
    return {key for pair in tables for table in pair for key in table}


def somebody_elses(model: nn.Module) -> set[int]:
    """Put a hook on every module that has nothing to do with the exercise, and name them."""
    for module in model.modules():
        module.register_forward_hook(lambda *_: None)
    return hooks_on(model)


def _came_of(call: Callable[[], Any]) -> str:
    """Say whether an error came out of a call, and which."""
    try:
        return f"no error, and {describe(call())}"
    except Exception as error:
        return type(error).__name__


class Branched(nn.Module):
    """Two branches that are added up; what works in place stands behind 'body.0'."""

    def __init__(self) -> None:
        super().__init__()
        self.head = layer([[1.5, -0.9], [0.3, 0.6]], [0.4, 0.0])
        self.body = nn.Sequential(
            layer([[0.5, -0.3], [-0.2, -0.8]], [0.1, -0.3]), nn.LeakyReLU(0.1, inplace=True)
        )
        self.side = layer([[0.7, 0.4], [-0.6, 0.9]], [0.2, -0.1])
        self.stem = layer([[0.9, 0.2], [-0.3, 1.1]], [0.0, 0.3])

    def forward(self, x: Tensor) -> Tensor:
        """Run the stem, add the branches up, and run the head."""
        x = self.stem(x)
        return self.head(self.body(x) + self.side(x))


def transplant_run(answer: Answer) -> dict[str, Any]:
    """Let an answer transplant a branch and a module inside of it, and look at what is left."""
    model = Branched()
    theirs = somebody_elses(model)
    donor, batch = torch.tensor(DONOR), torch.tensor([[-0.5, 0.4], [0.7, 0.3]])
    donor_2, batch_2 = torch.tensor([[-1.4, 0.6], [0.3, 0.8]]), torch.tensor(BATCH)
    plain = model(batch).tolist()
    stale = transplant()(model, "body", donor, batch_2)
    seen: dict[str, Any] = {}
    for name, both, what in (
        ("body", (donor, batch), BODY),
        ("body.0", (donor, batch), "the result, with 'body.0' transplanted,"),
        ("body", (donor_2, batch_2), "the result of a call with another donor"),
    ):
        result = answer(model, name, *both)
        if not isinstance(result, Tensor):
            raise Objection(
                f"It returned {describe(result)}. It has to return the model's result, a tensor: "
                "that of the second run."
            )
        seen[what] = result.tolist()
    seen[LEFT] = len(hooks_on(model) - theirs)
    seen["whether the model computes what it did before"] = model(batch).tolist() == plain
    seen["whether each call takes its own donor"] = not torch.allclose(result, stale)
    return seen


def transplant(
    swapped: bool = False,
    into: bool = False,
    straight: bool = False,
    clones: bool = True,
    put: Callable[[Tensor, Tensor], Tensor] = lambda organ, output: organ,
) -> Answer:
    """Make a right `transplant`, or one with a typical mistake."""

    def answer(model: nn.Module, name: str, donor: Tensor, batch: Tensor) -> Tensor:
        organ: list[Tensor] = []
        if swapped:
            donor, batch = batch, donor
        place = model.get_submodule(name)

        def take(module: Any, args: Any, output: Tensor) -> None:
            organ.append(output.detach().clone() if clones else output.detach())

        with place.register_forward_hook(take):
            (place if straight else model)(donor)
        second = (
            place.register_forward_pre_hook(lambda module, args: organ[0])
            if into
            else place.register_forward_hook(lambda module, args, output: put(organ[0], output))
        )
        with second:
            return model(batch)

    return answer


def organ_of_the_body() -> Any:
    """Compute what the body makes of the first donor."""
    model = Branched()
    return model.body(model.stem(torch.tensor(DONOR))).tolist()


class Picky(nn.Module):
    """Notes what kinds of arguments it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.5, dtype=torch.float64))
        self.got: list[str] = []

    def forward(
        self,
        x: Tensor,
        labels: Tensor,
        y: Tensor,
        rate: float,
        z: Tensor,
        *,
        shift: Tensor,
        mask: Any,
        index: Tensor,
        half: Tensor,
    ) -> Tensor:
        """Compute (x + shift) * rate * scale + y * z."""
        given = {"x": x, "labels": labels, "y": y, "rate": rate, "z": z, "shift": shift}
        given |= {"mask": mask, "index": index, "half": half}
        self.got = [f"{name}: {_kind(value)}" for name, value in given.items()]
        return (x + shift) * rate * self.scale + y * z


def _kind(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.") if isinstance(value, Tensor) else repr(value)


def to_double_run(hook: Answer) -> dict[str, Any]:
    """Let a pre-hook convert the arguments of `Picky`, and look at what came in."""
    module = Picky()
    types: list[str] = []
    module.register_forward_pre_hook(hook, with_kwargs=True)
    module.register_forward_hook(lambda module, args, output: types.append(type(args).__name__))
    x = torch.tensor([1.5, -2.0], requires_grad=True)
    y, z, shift = (torch.tensor(v) for v in ([0.75, 0.1], [-0.5, 2.0], [0.25, 0.5]))
    whole, half = torch.tensor([3, 1]), torch.tensor([0.5, 2.0], dtype=torch.float16)
    named = {"shift": shift, "mask": None, "index": whole, "half": half}
    result = module(x, whole, y, 0.5, z, **named)
    result.sum().backward()
    seen = {"what forward got": module.got, "the result": result}
    again = module(x=2 * x, labels=whole, rate=0.5, y=y, z=z, **named)
    return {
        **seen,
        "what forward got where everything came by keyword": module.got,
        "the type of args that later hooks see": types,
        "what became of the caller's own tensors": [_kind(v) for v in (x, y, shift, whole, half)],
        "x.grad": x.grad,
        "the type of the module's own parameter": _kind(module.scale),
        "the result of another call": again,
    }


def to_double(module: Any, args: Any, kwargs: Any) -> Any:
    """Turn each tensor of floating-point numbers into float64."""

    def convert(value: Any) -> Any:
        fits = isinstance(value, Tensor) and value.is_floating_point()
        return value.double() if fits else value

    return tuple(map(convert, args)), {key: convert(value) for key, value in kwargs.items()}


class Deep(nn.Module):
    """A stem, a body with an in-place ReLU, and a head, which was assigned first.

    Args:
        error: what its forward raises at once, if anything.
    """

    def __init__(self, error: BaseException | None = None) -> None:
        super().__init__()
        self.head = layer([[1.5, -0.9, 0.7]], [0.4])
        self.body = nn.Sequential(
            layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.1]], [0.1, 0.0, -0.2]), nn.ReLU(inplace=True)
        )
        self.stem = layer([[0.9, 0.2], [-0.3, 1.1]], [0.0, 0.3])
        self.error = error
        self.ran: list[str] = []
        self.passed: list[BaseException] = []

    def forward(self, x: Tensor) -> Tensor:
        """Run the three parts, and note that they ran, and which error came out of the body."""
        if self.error is not None:
            raise self.error
        self.ran.append("stem")
        x = torch.tanh(self.stem(x))
        self.ran.append("body")
        try:
            x = self.body(x)
        except BaseException as error:
            self.passed.append(error)
            raise
        self.ran.append("head")
        return self.head(x)


NAMES = "the sorted list of names"
VALUES = "the list of activations, sorted by name,"
GRAPH = "the number of activations that still belong to a graph"
ROOT = "the number of calls of the model itself"
MODULES = [name for name, _ in Deep().named_modules()]


def activations_run(answer: Answer) -> dict[str, Any]:
    """Let an answer capture the activations of a model with an in-place ReLU."""
    model, calls = Deep(), list[int]()
    model.register_forward_hook(lambda *_: calls.append(1))
    theirs = somebody_elses(model)
    found = _activations_of(answer, model, BATCH)
    names = sorted(found)
    values = [found[name].tolist() for name in names]
    seen = {
        NAMES: names,
        VALUES: values,
        GRAPH: sum(value.requires_grad for value in found.values()),
        ROOT: len(calls),
        LEFT: len(hooks_on(model) - theirs),
    }
    again = _activations_of(answer, model, OTHER_BATCH)
    seen["the list of activations of a second batch"] = [again[n].tolist() for n in sorted(again)]
    seen["whether the first dict is as it was"] = values == [found[n].tolist() for n in names]
    model = Deep()
    theirs = somebody_elses(model)
    seen[ERROR] = _came_of(lambda: answer(model, torch.ones(2, 5)))
    return {**seen, LEFT_AFTER: len(hooks_on(model) - theirs)}


def _activations_of(answer: Answer, model: nn.Module, batch: Any) -> dict[str, Tensor]:
    found = answer(model, torch.tensor(batch))
    wanted = "It has to return a dict: for the name of each module its output."
    if not isinstance(found, dict):
        raise Objection(f"It returned {describe(found)}. {wanted}")
    for name, value in found.items():
        if not isinstance(name, str):
            raise Objection(f"A key of its dict is {describe(name)}. {wanted}")
        if not isinstance(value, Tensor):
            raise Objection(f"Under {name!r} its dict holds {describe(value)}, no tensor. {wanted}")
    return found


def activations(
    which: Callable[[nn.Module], Iterable[tuple[str, nn.Module]]] = nn.Module.named_modules,
    of_input: bool = False,
) -> Answer:
    """Make a right `activations`, or one with a typical mistake."""

    def answer(model: nn.Module, batch: Tensor) -> dict[str, Tensor]:
        store: dict[str, Tensor] = {}

        def hook(name: str, module: Any, args: Any, output: Tensor) -> None:
            store[name] = (args[0] if of_input else output).detach().clone()

        handles = [m.register_forward_hook(partial(hook, name)) for name, m in which(model)]
        try:
            model(batch)
        finally:
            for handle in handles:
                handle.remove()
        return store

    return answer


STOPPED = "the result, stopped at 'body',"
RAN = "the list of parts that ran"
THROUGH = "it came through"


def stop_run(answer: Answer) -> dict[str, Any]:
    """Let an answer stop a forward pass at two places, and hand it models that fail."""
    seen: dict[str, Any] = {}
    ran: list[str] = []
    left = 0
    model = Deep()
    for name, batch, what in (
        ("body", BATCH, STOPPED),
        ("body.0", OTHER_BATCH, "the result, stopped at 'body.0',"),
    ):
        model = Deep()
        theirs = somebody_elses(model)
        result = _stopped(answer, model, name, torch.tensor(batch))
        seen[what] = result.tolist()
        ran += model.ran
        left += len(hooks_on(model) - theirs)
    seen |= {RAN: ran, "whether the result has its graph": result.grad_fn is not None, LEFT: left}
    used = [type(error)(*error.args) for error in model.passed if _is_pythons(error)]
    model = Deep()
    theirs = somebody_elses(model)
    seen[ERROR] = _came_of(lambda: answer(model, "body", torch.ones(2, 5)))
    seen[LEFT_AFTER] = len(hooks_on(model) - theirs)
    for error in (*used, ValueError("this stop is not yours")):
        came = _comes_through(answer, error)
        seen["what came of an error that the model raised by itself"] = came
        if came != THROUGH:
            break
    return seen


def _is_pythons(error: BaseException) -> bool:
    return type(error).__module__ == "builtins"


def _stopped(answer: Answer, model: Deep, name: str, batch: Tensor) -> Tensor:
    try:
        result = answer(model, name, batch)
    except Exception as error:
        if error in model.passed and not _is_pythons(error):
            kind = type(error).__name__
            raise Objection(
                f"Your {kind} left the model, and then stop_at as well: nobody caught it on its "
                "way out."
            ) from None
        raise
    if result is None:
        raise Objection("It returned None. What your error is caught for has to be returned.")
    if not isinstance(result, Tensor):
        raise Objection(
            f"It returned {describe(result)}. The output itself is asked for, a tensor: take it "
            "out of what carried it."
        )
    return result


def _comes_through(answer: Answer, error: BaseException) -> str:
    try:
        answer(Deep(error), "body", torch.tensor(BATCH))
    except type(error) as came:
        return THROUGH if came is error else f"another {type(came).__name__} came"
    return f"{type(error).__name__} was swallowed"


def stop_at(detaches: bool = False, at_input: bool = False, first: bool = False) -> Answer:
    """Make a right `stop_at`, or one with a typical mistake."""

    class Reached(Exception):
        """Carries the output out of the forward pass."""

    def answer(model: nn.Module, name: str, batch: Tensor) -> Any:
        def hook(module: Any, args: Any, output: Tensor | None = None) -> None:
            value = args[0] if output is None else output
            raise Reached(value.detach() if detaches else value)

        places = list(model.modules()) if first else [model.get_submodule(name)]
        registers = [
            p.register_forward_pre_hook if at_input else p.register_forward_hook for p in places
        ]
        handles = [register(hook) for register in registers]
        try:
            model(batch)
        except Reached as reached:
            return reached.args[0]
        finally:
            for handle in handles:
                handle.remove()

    return answer
