"""Change in place what an operation chose entries by, and what else a random program once found."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..log import Log
from .tools import Family, leaf

family = Family()

GIVEN: dict[str, Callable[[Any, Any], Any]] = {
    "gather": lambda x, i: x.gather(0, i),
    "index_select": lambda x, i: x.index_select(0, i[0]),
    "x[i]": lambda x, i: x[i],
    "index_add": lambda x, i: x.index_add(0, i[0], x[:2]),
    "index_add of a constant": lambda x, i: x.index_add(0, i[0], x[:2].detach()),
    "scatter": lambda x, i: x.scatter(0, i, x),
    "scatter a number": lambda x, i: x.scatter(0, i, 1.0),
    "scatter_add": lambda x, i: x.scatter_add(0, i, x),
    "repeat_interleave": lambda x, i: x[0].repeat_interleave(i[0]),
}

FOUND: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: x.max(0),
    "min": lambda x: x.min(0, keepdim=True),
    "sort": lambda x: x.sort(0),
    "median": lambda x: x.median(0),
    "kthvalue": lambda x: x.kthvalue(1, 0),
    "topk": lambda x: x.topk(1, 0),
}


@family
def indices_that_were_given(torch: ModuleType, log: Log) -> None:
    """A rule that needs them refuses to run, as their entries are others now."""
    for name, call in GIVEN.items():
        x, index = leaf(torch, (3, 2), 1), torch.tensor([[1, 0]])
        result = call(x, index)
        index.zero_()
        log.raises(name, lambda y=result: y.sum().backward())
        log(name, x.grad)


@family
def indices_that_were_found(torch: ModuleType, log: Log) -> None:
    """Results that only look like results."""
    for name, call in FOUND.items():
        x = leaf(torch, (3, 2), 1)
        values, indices = call(x)
        values.sum().backward(retain_graph=True)
        indices.zero_()
        log.raises(name, lambda y=values: y.sum().backward())
        log(name, x.grad)


@family
def a_key_of_an_assignment(torch: ModuleType, log: Log) -> None:
    """An index and a mask."""
    for key in (torch.tensor([1]), torch.tensor([True, False, True])):
        x = leaf(torch, (3,), 1) * 2
        x[key] = 5.0
        key.copy_(~key)
        log.raises("backward", lambda y=x: y.sum().backward())


@family
def derivatives_left_out(torch: ModuleType, log: Log) -> None:
    """In-place versions whose derivative PyTorch does not have."""
    y = (leaf(torch, (2,), 1) * 2).floor_divide_(torch.ones(2))
    log.raises("floor_divide_", lambda: y.sum().backward())
    log("floor_divide_", [edge[0].name() for edge in y.grad_fn.next_functions])
