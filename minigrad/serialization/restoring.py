"""Load a file into modules and optimizers: all of it, or nothing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from minigrad.autograd.modes import no_grad
from minigrad.nn.modules.module import Module


def restore(state: Any, target: Any, **options: Any) -> Any:
    """Load a state into a module, or several states into several things: all, or nothing.

    If one does not fit, all stay as they were. `load_state_dict` alone, as PyTorch's, loads what
    fits also when the rest ends in an error.

    Args:
        state: What `load` gave: a state dict, or a dictionary of several by name.
        target: A module, an optimizer or a schedule; or a dictionary of them by name.
        **options: Passed on to `load_state_dict`, such as `strict=False`; for a single target.

    Returns:
        What `load_state_dict` gave; for several targets a dictionary of it.

    Raises:
        KeyError: If there is no state for one of the targets.
        Exception: What `load_state_dict` raises; nothing was changed then.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.serialization import restore
        >>> model = torch.nn.Linear(1, 1)
        >>> restore(model.state_dict(), model)
        <All keys matched successfully>
    """
    targets = target if isinstance(target, Mapping) else {None: target}
    undo: list[Callable[[], None]] = []
    results = {}
    try:
        for name, each in targets.items():
            if name is not None and name not in state:
                raise KeyError(f"there is no state for {name!r}; there are {list(state)}")
            undo.append(_way_back(each))
            results[name] = each.load_state_dict(state if name is None else state[name], **options)
    except BaseException:
        for step in reversed(undo):
            step()
        raise
    return results if isinstance(target, Mapping) else results[None]


def _way_back(target: Any) -> Callable[[], None]:
    """Remember how something is; the result makes it so again."""
    if isinstance(target, Module):
        return _way_back_of_module(target)
    held = {name: _copied(value) for name, value in vars(target).items()}

    def back() -> None:
        vars(target).clear()
        vars(target).update(held)

    return back


def _copied(value: Any) -> Any:
    """Copy lists and dictionaries, one level of them; loading replaces what is in them."""
    return copy.copy(value) if isinstance(value, (dict, list)) else value


def _way_back_of_module(module: Module) -> Callable[[], None]:
    """Remember the tensors of a module, which of them it has, and their values."""
    tables = [
        (table, dict(table)) for m in module.modules() for table in (m._parameters, m._buffers)
    ]
    values = [
        (tensor, tensor.detach().clone())
        for _, held in tables
        for tensor in held.values()
        if tensor is not None
    ]

    def back() -> None:
        for table, held in tables:
            table.clear()
            table.update(held)
        with no_grad():
            for tensor, value in values:
                tensor.copy_(value)

    return back
