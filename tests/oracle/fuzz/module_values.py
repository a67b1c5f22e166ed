"""Walk through what modules take and give: tensors in tuples, named tuples, lists and dicts."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from ..scenarios.tools import numbers

Pair = namedtuple("Pair", ["first", "second"])


def pick(items: list[Any], number: int) -> Any:
    """Give the item of a number, counted around the end, so that every number means something."""
    return items[number % len(items)] if items else None


def tensors_in(torch: Any, value: Any) -> list[Any]:
    """List the tensors inside a value, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in tensors_in(torch, item)]
    return []


def each_tensor(torch: Any, change: Callable[[Any], Any], value: Any) -> Any:
    """Give a value of the same build with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: each_tensor(torch, change, item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        items = [each_tensor(torch, change, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def assemble(plan: Any, registers: list[Any]) -> Any:
    """Build a value from its plan: a number names a register, a list a container.

    Args:
        plan: A number, or `[kind, *parts]` with the kinds `tuple`, `list`, `dict`, `named`,
            `none`, `number` and `text`.
        registers: The tensors at hand.
    """
    if isinstance(plan, int):
        return pick(registers, plan)
    kind, *parts = plan
    if kind == "none":
        return None
    if kind == "number":
        return 3.5
    if kind == "text":
        return "text"
    items = [assemble(part, registers) for part in parts]
    if kind == "tuple":
        return tuple(items)
    if kind == "list":
        return items
    if kind == "named":
        return Pair(*[*items, None, None][:2])
    return {f"key{position}": item for position, item in enumerate(items)}


def constant(torch: Any, shape: Any, seed: int, dtype: Any, requires_grad: bool = False) -> Any:
    """Make a tensor of fixed numbers."""
    return torch.tensor(numbers(tuple(shape), seed), dtype=dtype, requires_grad=requires_grad)
