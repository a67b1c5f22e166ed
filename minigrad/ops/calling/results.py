"""Give several results under names, as PyTorch does: `x.sort().values`, `x.max(0).indices`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from minigrad.ops.calling.out import shows, with_out
from minigrad.tensor import Tensor


class _Values(NamedTuple):
    """Entries along a dimension, and where they were; prints as PyTorch prints it."""

    values: Tensor
    indices: Tensor


class _Extremes(NamedTuple):
    """The smallest and the largest entries; prints as PyTorch prints it."""

    min: Tensor
    max: Tensor


class _Histogram(NamedTuple):
    """How many entries are in each bin, and the bins' edges; prints as PyTorch prints it."""

    hist: Tensor
    bin_edges: Tensor


def _printed(result: Any) -> str:
    parts = (f"{name}={value!r}" for name, value in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n" + ",\n".join(parts) + ")"


def _made(cls: Any, *values: Any) -> Any:
    """Make a result of its values, one by one or, as PyTorch wants them, in one sequence."""
    return tuple.__new__(cls, values[0] if len(values) == 1 else values)


def named(name: str, kind: Any = _Values) -> Any:
    """Make the type of a result that prints under the name of its function.

    Args:
        name: The function's name.
        kind: A named tuple with the names of the results.

    Example:
        >>> import minigrad as torch
        >>> named("sort")(torch.tensor([1.0]), torch.tensor([0]))
        torch.return_types.sort(
        values=tensor([1.]),
        indices=tensor([0]))
    """
    content = {
        "__slots__": (),
        "__doc__": kind.__doc__,
        "__repr__": _printed,
        "__new__": _made,
        "n_fields": len(kind._fields),
    }
    return type(name, (kind,), content)


def with_named_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function with named results take the argument `out`: a tensor for each result."""
    writes = with_out(function)

    @functools.wraps(function)
    def call(*arguments: Any, out: Any = None, **options: Any) -> Any:
        if out is None:
            return function(*arguments, **options)
        result = writes(*arguments, out=out, **options)
        kind = next(base for base in type(result).__mro__ if base in (_Values, _Extremes))
        return named(f"{function.__name__}_out", kind)(*result)

    return shows(call, "out")  # type: ignore[no-any-return]


# The types of the results of the functions of the same names.
aminmax = named("aminmax", _Extremes)
histogram = named("histogram", _Histogram)
cummax, cummin, kthvalue, max, median, min, mode, nanmedian, sort, topk = map(
    named,
    ("cummax", "cummin", "kthvalue", "max", "median", "min", "mode", "nanmedian", "sort", "topk"),
)
