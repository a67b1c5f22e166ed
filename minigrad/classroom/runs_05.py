"""Run the models of lesson 05's exercises: right answers, and wrong ones that learners write."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.classroom.runs_06 import layer
from minigrad.tensor import Tensor

Answer = Callable[..., Any]
LEFT = "the number of hooks left on the model"


def hooks_left(model: nn.Module) -> int:
    """Count the forward hooks and pre-hooks that a model and its modules still have."""
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


class Branched(nn.Module):
    """Two branches that are added up; so no single inner module decides the result."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(layer([[0.5, -0.3], [0.2, 0.8]], [0.1, 0.0]), nn.Tanh())
        self.side = layer([[0.7, 0.4], [-0.6, 0.9]], [0.2, -0.1])
        self.head = layer([[1.5, -0.9], [0.3, 0.6]], [0.4, 0.0])

    def forward(self, x: Tensor) -> Tensor:
        """Add the branches up, and run the head."""
        return self.head(self.body(x) + self.side(x))


def transplant_run(answer: Answer) -> dict[str, Any]:
    """Let an answer transplant a branch and a module inside of it, and look at what is left."""
    model = Branched()
    donor, batch = torch.tensor([[0.9, -0.2], [0.1, 1.1]]), torch.tensor([[-0.5, 0.4], [0.7, 0.3]])
    plain = model(batch).tolist()
    seen: dict[str, Any] = {}
    for name in ("body", "body.0"):
        result = answer(model, name, donor, batch)
        if not isinstance(result, Tensor):
            raise TypeError("transplant has to return what the model returns")
        seen[f"the result, with {name!r} transplanted,"] = result.tolist()
    seen[LEFT] = hooks_left(model)
    seen["whether the model computes what it did before"] = model(batch).tolist() == plain
    return seen


def transplant(swapped: bool = False, returns_organ: bool = False, into: bool = False) -> Answer:
    """Make a right `transplant`, or one with a typical mistake."""

    def answer(model: nn.Module, name: str, donor: Tensor, batch: Tensor) -> Tensor:
        organ: list[Tensor] = []
        if swapped:
            donor, batch = batch, donor
        place = model.get_submodule(name)
        with place.register_forward_hook(lambda module, args, output: organ.append(output)):
            model(donor)
        second = (
            place.register_forward_pre_hook(lambda module, args: organ[0])
            if into
            else place.register_forward_hook(lambda module, args, output: organ[0])
        )
        with second:
            result = model(batch)
        return organ[0] if returns_organ else result

    return answer


class Picky(nn.Module):
    """Notes what kinds of arguments it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.positional: list[str] = []
        self.named: list[str] = []

    def forward(
        self, x: Tensor, labels: Tensor, rate: float, *, shift: Tensor, mask: Any, index: Tensor
    ) -> Tensor:
        """Compute (x + shift) * rate."""
        self.positional = [_kind(value) for value in (x, labels, rate)]
        self.named = [
            f"{key}: {_kind(value)}"
            for key, value in {"shift": shift, "mask": mask, "index": index}.items()
        ]
        return (x + shift) * rate


def _kind(value: Any) -> str:
    return str(value.dtype) if isinstance(value, Tensor) else repr(value)


def to_double_run(hook: Answer) -> dict[str, Any]:
    """Let a pre-hook convert the arguments of `Picky`, and look at what came in."""
    module = Picky()
    types: list[str] = []
    module.register_forward_pre_hook(hook, with_kwargs=True)
    module.register_forward_hook(lambda module, args, output: types.append(type(args).__name__))
    x, shift = torch.tensor([1.5, -2.0]), torch.tensor([0.25, 0.5])
    whole = torch.tensor([3, 1])
    result = module(x, whole, 0.5, shift=shift, mask=None, index=whole)
    return {
        "what forward got by position": module.positional,
        "what forward got by keyword": module.named,
        "the result": result,
        "the type of args that later hooks see": types,
        "what became of the caller's own tensors": [_kind(each) for each in (x, shift, whole)],
    }


def to_double(
    args: bool = True, kwargs: bool = True, whole: bool = False, first: bool = False
) -> Answer:
    """Make a right `to_double`, or one with a typical mistake."""

    def convert(value: Any) -> Any:
        fits = isinstance(value, Tensor) and (whole or value.is_floating_point())
        return value.double() if fits else value

    def hook(module: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if args:
            given = (convert(given[0]), *(given[1:] if first else map(convert, given[1:])))
        if kwargs:
            named = {key: convert(value) for key, value in named.items()}
        return given, named

    return hook


class Deep(nn.Module):
    """A linear layer, an in-place ReLU and another linear layer, the first two in a body."""

    def __init__(self, ran: list[str]) -> None:
        super().__init__()
        self.ran = ran
        self.body = nn.Sequential(
            layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.1]], [0.1, 0.0, -0.2]), nn.ReLU(inplace=True)
        )
        self.head = layer([[1.5, -0.9, 0.7]], [0.4])

    def forward(self, x: Tensor) -> Tensor:
        """Run body and head, and note that they ran."""
        self.ran.append("body")
        hidden = self.body(x)
        self.ran.append("head")
        return self.head(hidden)


BATCH = [[0.3, -1.2], [0.8, 0.5]]
NAMES = "the sorted list of names"
VALUES = "the list of activations, sorted by name,"
GRAPH = "the number of activations that still belong to a graph"


def activations_run(answer: Answer) -> dict[str, Any]:
    """Let an answer capture the activations of a model with an in-place ReLU."""
    model = Deep([])
    found = answer(model, torch.tensor(BATCH))
    if not isinstance(found, dict):
        raise TypeError("activations has to return a dict")
    if not all(isinstance(value, Tensor) for value in found.values()):
        raise TypeError("the values of the dict have to be tensors")
    names = sorted(found)
    return {
        NAMES: names,
        VALUES: [found[name].tolist() for name in names],
        GRAPH: sum(value.requires_grad for value in found.values()),
        LEFT: hooks_left(model),
    }


def activations(which: Callable[[nn.Module], Any] = nn.Module.named_modules) -> Answer:
    """Make a right `activations`, or one that looks at some of the modules only."""

    def answer(model: nn.Module, batch: Tensor) -> dict[str, Tensor]:
        store: dict[str, Tensor] = {}

        def hook(name: str, module: Any, args: Any, output: Tensor) -> None:
            store[name] = output.detach().clone()

        handles = [m.register_forward_hook(partial(hook, name)) for name, m in which(model)]
        model(batch)
        for handle in handles:
            handle.remove()
        return store

    return answer


STOPPED = "the result, stopped at 'body',"
RAN = "the list of parts that ran"
ERROR = "what came of a batch that does not fit"
LEFT_AFTER = "the number of hooks left after that batch"


def stop_run(answer: Answer) -> dict[str, Any]:
    """Let an answer stop a forward pass at two places, and hand it a batch that does not fit."""
    ran: list[str] = []
    model = Deep(ran)
    inner = answer(model, "body.0", torch.tensor(BATCH))
    early = list(ran)
    ran.clear()
    result = answer(model, "body", torch.tensor(BATCH))
    if not isinstance(result, Tensor) or not isinstance(inner, Tensor):
        raise TypeError("stop_at has to return the output of the inner module")
    seen = {
        STOPPED: result.tolist(),
        "the result, stopped at 'body.0',": inner.tolist(),
        RAN: [*early, *ran],
        "whether the result has its graph": result.grad_fn is not None,
        LEFT: hooks_left(model),
    }
    try:
        seen[ERROR] = f"no error, and {type(answer(model, 'body', torch.ones(2, 5))).__name__}"
    except Exception as error:
        seen[ERROR] = type(error).__name__
    return {**seen, LEFT_AFTER: hooks_left(model)}


def stop_at(detaches: bool = False) -> Answer:
    """Make a right `stop_at`, or one with a typical mistake."""

    class Reached(Exception):
        """Carries the output out of the forward pass."""

    def answer(model: nn.Module, name: str, batch: Tensor) -> Any:
        def hook(module: Any, args: Any, output: Tensor) -> None:
            raise Reached(output.detach() if detaches else output)

        with model.get_submodule(name).register_forward_hook(hook):
            try:
                model(batch)
            except Reached as reached:
                return reached.args[0]

    return answer
