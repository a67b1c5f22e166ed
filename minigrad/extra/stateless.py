"""Call a module with other tensors instead of its parameters and buffers.

So each sample can have its own gradients, as private training asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.core.tensor import Tensor

_MISSING: Any = object()


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors instead of its parameters and buffers.

    Args:
        module: The module, which is as it was afterwards.
        parameter_and_buffer_dicts: Tensors by name, such as "0.weight"; or several dictionaries.
        args: What to call the module with: a tuple of arguments, or a single one.
        kwargs: The keyword arguments.
        tie_weights: Whether tensors that have several names are replaced under all of them.
        strict: Whether each parameter and buffer must be given, and nothing else.

    Returns:
        What the module gives.

    Raises:
        RuntimeError: If `strict` is set and names do not fit.
        ValueError: If a name is given twice, or tied names get different tensors.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(1, 1, bias=False)
        >>> torch.func.functional_call(layer, {"weight": torch.tensor([[2.0]])}, torch.ones(1))
        tensor([2.])
    """
    given = parameter_and_buffer_dicts
    # a single dictionary is used itself: what is in the places at the end is put into it
    several = [] if isinstance(given, dict) else [*given]
    tensors = given if isinstance(given, dict) else {}
    for each in several:
        if repeated := tensors.keys() & each.keys():
            raise ValueError(f"functional_call: {sorted(repeated)} are in several dictionaries")
        tensors.update(each)
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    replacing = _with_tied(module, tensors) if tie_weights else dict(tensors)
    if strict and replacing.keys() != (known := _named(module).keys()):
        wrong = sorted(replacing.keys() ^ known)
        raise RuntimeError(f"functional_call: {wrong} are missing, or not of the module")
    places: list[Any] = []  # paths, tables, names in them, and what was there
    try:
        for path, tensor in replacing.items():
            table, name = _place_of(module, path)
            places.append((path, table, name, table.get(name, _MISSING)))
            table[name] = tensor
        return module(*arguments, **({} if kwargs is None else kwargs))
    finally:
        for path, table, name, before in reversed(places):
            now = table.pop(name)
            if path in tensors:
                tensors[path] = now
            if before is not _MISSING:
                table[name] = before


def _place_of(module: Any, path: str) -> tuple[dict[str, Any], str]:
    """Find the table in which a module keeps what has a name."""
    path, _, name = path.rpartition(".")
    module = module.get_submodule(path)
    for table in (module._parameters, module._buffers):
        if name in table:
            return table, name
    if not isinstance(getattr(module, name, Tensor()), Tensor):
        raise TypeError(f"{module._get_name()}.{name} is not a tensor")
    return vars(module), name


def _named(module: Any) -> dict[str, Any]:
    """Give all parameters and buffers by name, also those that have several names."""
    named = dict(module.named_parameters(remove_duplicate=False))
    return named | dict(module.named_buffers(remove_duplicate=False))


def _with_tied(module: Any, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Give each tensor under all names that what it replaces has."""
    names: dict[int, set[str]] = {}
    for name, tensor in _named(module).items():
        names.setdefault(id(tensor), set()).add(name)
    result = dict(tensors)
    for tied in names.values():
        given = tied & tensors.keys()
        if len({id(tensors[name]) for name in given}) > 1:
            raise ValueError(f"functional_call: {sorted(tied)} are tied and get several values")
        for name in given:
            result.update(dict.fromkeys(tied, tensors[name]))
    return result
