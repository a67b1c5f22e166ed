"""Make the same numbers for both libraries without a random generator, and write graphs as text."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from .log import Log


def numbers(shape: tuple[int, ...], seed: int, positive: bool = False) -> Any:
    """Make nested lists of multiples of 1/512 between -2 and 2, exact in float32, none of them
    zero.

    A linear congruential generator of our own, so that torch, minigrad and every platform
    see the same numbers.
    """
    count = 1
    for size in shape:
        count *= size
    state = 7919 * seed + 104729
    values = []
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2**31
        step = (state >> 12) % 2047 - 1023
        step = step if step != 0 else 77
        values.append((abs(step) + 128 if positive else step) / 512)
    for size in reversed(shape[1:]):
        values = [values[i : i + size] for i in range(0, len(values), size)]
    return values if shape else values[0]


def leaf(torch: ModuleType, shape: tuple[int, ...], seed: int, **options: Any) -> Any:
    """Make a tensor of such numbers that requires grad."""
    positive = options.pop("positive", False)
    options.setdefault("requires_grad", True)
    return torch.tensor(numbers(shape, seed, positive), **options)


def graph(tensor_or_node: Any) -> str:
    """Write the graph above a tensor as text, each node with its inputs in brackets.

    A node met again is written as its number, ``#2``; an edge to another output
    than the first carries ``.1``.
    """
    seen: dict[Any, int] = {}

    def write(node: Any) -> str:
        if node is None:
            return "None"
        if node in seen:
            return f"#{seen[node]}"
        seen[node] = len(seen)
        if node.name().endswith("AccumulateGrad"):
            return f"AccumulateGrad{list(node.variable.shape)}"
        inputs = [
            write(source) + (f".{number}" if number else "")
            for source, number in node.next_functions
        ]
        return f"{node.name()}({', '.join(inputs)})" if inputs else node.name()

    node = getattr(tensor_or_node, "grad_fn", tensor_or_node)
    return write(node)


def linear(torch: ModuleType, weight: list[list[float]], bias: list[float] | None) -> Any:
    """Make a Linear layer with given numbers."""
    layer = torch.nn.Linear(len(weight[0]), len(weight), bias=bias is not None)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(weight))
        if bias is not None:
            layer.bias.copy_(torch.tensor(bias))
    return layer


def each(torch: ModuleType, value: Any, change: Callable[[Any], Any]) -> Any:
    """Give a value of the same build with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: each(torch, item, change) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(each(torch, item, change) for item in value)
    return value


def look(log: Log, **tensors: Any) -> None:
    """Write down all that can be seen of tensors: values, place in the graph, version, base."""
    for name, value in tensors.items():
        facts = [f"version {value._version}"]
        facts += [f"is {other}" for other, tensor in tensors.items() if tensor is value][:1]
        if value._is_view():
            facts += [f"view of {key}" for key, base in tensors.items() if base is value._base]
        try:
            log(name, value, value.is_leaf, value.output_nr, value.retains_grad, ", ".join(facts))
            log(f"graph of {name}", graph(value))
        except RuntimeError as error:  # of a view that is no longer valid
            log.error(name, error)
        log.raises(f"gradient of {name}", lambda value=value: value.grad)
