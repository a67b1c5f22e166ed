"""Find the operation to prove, and make symbols for its inputs."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import minigrad.ops
from minigrad.ops.tape import book
from minigrad.symbolic.array import entries
from minigrad.symbolic.making import symbols
from minigrad.tensor import Tensor

# g is the gradient of the result, n stands for what is rounded, p for what is positive.
_NAMES = "x y z w v u t s r q".split()  # noqa: SIM905 - in a row they read better


def whole_book() -> dict[str, Any]:
    """Give all operations of minigrad by their names, also those that are loaded late."""
    for room in pkgutil.walk_packages(minigrad.ops.__path__, "minigrad.ops."):
        import_module(room.name)
    return {
        name: operation
        for name, operation in book.items()
        if operation.__module__.startswith("minigrad.")  # not those that others have made
    }


def operation_of(operation: Any) -> Callable[..., Any]:
    """Give the function to run; a name is looked up in the book of derivatives.

    Raises:
        ValueError: If the book has no operation of that name.
    """
    if not isinstance(operation, str):
        return operation  # type: ignore[no-any-return]
    if operation in book:
        return book[operation]  # type: ignore[no-any-return]
    known = whole_book()
    if operation not in known:
        near = get_close_matches(operation, known, 3)
        raise ValueError(
            f"the book of derivatives has no operation '{operation}'"
            + (f". Did you mean {' or '.join(near)}?" if near else "")
        )
    return known[operation]  # type: ignore[no-any-return]


def name_of(operation: Any) -> str:
    """Say what is proved."""
    if isinstance(operation, str):
        return operation
    owner = getattr(operation, "__self__", None)
    if isinstance(owner, type):  # the apply of a custom function
        return f"{owner.__name__}.{operation.__name__}"
    name = getattr(operation, "__name__", type(operation).__name__)
    return "the function" if name == "<lambda>" else str(name)


def made(inputs: Sequence[Any], assumptions: dict[str, bool]) -> list[Any]:
    """Make symbols for shapes, and leave tensors as they are.

    Raises:
        TypeError: If an input is neither a shape nor a tensor.
        ValueError: If there are more shapes than names.
    """
    taken = {label(each) for each in inputs if isinstance(each, Tensor)}
    names = iter([name for name in _NAMES if name not in taken])
    return [
        each if isinstance(each, Tensor) else _made(each, names, assumptions) for each in inputs
    ]


def _made(shape: Any, names: Iterator[str], assumptions: dict[str, bool]) -> Any:
    sizes = (shape,) if isinstance(shape, int) else shape
    if isinstance(shape, bool) or not isinstance(sizes, tuple | list):
        raise TypeError(
            "prove() takes shapes, such as 2 or (2, 3), and tensors of symbols, but got "
            f"{type(shape).__name__}. What else the operation takes goes into settings=(...)."
        )
    name = next(names, None)
    if name is None:
        raise ValueError(f"prove() has names for {len(_NAMES)} inputs. Make symbols for more.")
    return symbols(name, tuple(sizes), requires_grad=True, **assumptions)


def assumptions_of(tensor: Any) -> str:
    """Say what is assumed of all symbols of a tensor beyond that they are real."""
    kinds = ("positive", "negative", "nonnegative", "nonpositive", "nonzero", "integer")
    flat = list(entries(tensor).flat)
    found = [kind for kind in kinds if all(each.assumptions0.get(kind) for each in flat)]
    return found[0] if found and flat else ""


def label(tensor: Any) -> str:
    """Name a tensor after its symbols: x for x_{0} and x_{1}."""
    return label_of(list(entries(tensor).flat))


def label_of(listed: Sequence[Any]) -> str:
    """Name a tensor after its entries."""
    if not listed:
        return "an empty input"
    first = str(listed[0])
    return (
        first
        if len(listed) == 1
        else first.split(";")[0].rstrip("}").split("_{")[0]
        + ("_" + first.split("_{")[1].split(";")[0] if ";" in first else "")
    )
