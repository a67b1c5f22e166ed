"""Give several results under names, as PyTorch does: `x.sort().values`, `x.max(0).indices`."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any


def _printed(result: Any) -> str:
    parts = (f"{name}={value!r}" for name, value in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n" + ",\n".join(parts) + ")"


def _made(cls: Any, *values: Any) -> Any:
    """Make a result of its values, one by one or, as PyTorch wants them, in one sequence."""
    return tuple.__new__(cls, values[0] if len(values) == 1 else values)


def named_tuple(name: str, fields: Sequence[str]) -> Any:
    """Make the type of several results that prints under the name of its function.

    Args:
        name: The function's name.
        fields: The names of the results.

    Example:
        >>> import minigrad as torch
        >>> named_tuple("sort", ("values", "indices"))(torch.tensor([1.0]), torch.tensor([0]))
        torch.return_types.sort(
        values=tensor([1.]),
        indices=tensor([0]))
    """
    content = {
        "__slots__": (),
        "__doc__": f"The results of `{name}`.",
        "__repr__": _printed,
        "__new__": _made,
        "n_fields": len(fields),
    }
    return type(name, (namedtuple(name, fields),), content)
