"""Give tensors the names that somebody wrote down for them, in a dict or by their module."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def named_tensors(names: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (name, tensor) from a dict, a Module, or a list of such; a dict may hold Modules.

    Args:
        names: `{"x": x, "net": net}`, a Module, `[net, {"x": x}]`, or None.
        prefix: Put before the names of parameters, with a dot.

    Raises:
        TypeError: If it is none of these.

    Example:
        >>> import minigrad as torch
        >>> x = torch.ones(2)
        >>> [name for name, _ in named_tensors([torch.nn.Linear(1, 1), {"x": x}])]
        ['weight', 'bias', 'x']
    """
    # As deep as somebody wrote brackets into a call, so recursion is safe here.
    if names is None:
        return
    if hasattr(names, "named_parameters"):
        for name, parameter in names.named_parameters():
            yield (f"{prefix}.{name}" if prefix else name), parameter
    elif isinstance(names, Mapping):
        for name, value in names.items():
            if hasattr(value, "named_parameters"):
                yield from named_tensors(value, str(name))
            else:
                yield str(name), value
    elif isinstance(names, list | tuple):
        for part in names:
            yield from named_tensors(part)
    else:
        raise TypeError(
            f"names must be a dict of names and tensors or a Module, not {type(names).__name__}"
        )
