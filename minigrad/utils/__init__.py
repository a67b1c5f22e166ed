"""Small pieces that every other room may use, in the places where PyTorch keeps them."""

import sys as _sys
from collections.abc import Callable as _Callable
from collections.abc import Mapping as _Mapping
from functools import partial as _partial
from importlib import import_module as _import_module
from typing import Any as _Any


def _paths_inside(room: str) -> dict[str, _Any]:
    """Give PyTorch's paths right inside a module, by name; see `minigrad.extra.paths`."""
    split = [(*path.rpartition("."), module) for path, module in [*_sys.modules.items()]]
    return {name: it for owner, _, name, it in split if owner == room and "_ours" in vars(it)}


def _late(room: str, found: _Callable[[], _Mapping[str, _Any]] = dict) -> tuple[_Any, _Any]:
    """Make the `__getattr__` and the `__dir__` of a module that loads some of its names late.

    Args:
        room: The name of the module.
        found: Gives the names, each with its value, with the file that has it (a text), or with
            what loads it (a `partial`).
    """

    def get(name: str) -> _Any:
        names = {} if name.startswith("__") else {**found(), **_paths_inside(room)}
        if name not in names:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = names[name]
        if isinstance(value, str):
            module = _import_module(f"minigrad.{value}")
            value = module if value.split(".")[-1] == name else getattr(module, name)
        elif isinstance(value, _partial):
            value = value()
        vars(_sys.modules[room])[name] = value
        return value

    def names() -> list[str]:
        return sorted({*vars(_sys.modules[room]), *_paths_inside(room), *found()})

    return get, names


__getattr__, __dir__ = _late(__name__, lambda: {"hooks": "utils.hooks"})
