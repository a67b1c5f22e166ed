"""Load names of a module when they are first asked for, and list them before."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any


def paths_inside(room: str) -> dict[str, Any]:
    """Give PyTorch's paths right inside a module, by name; see `minigrad.breadth.paths`."""
    split = [(*path.rpartition("."), module) for path, module in [*sys.modules.items()]]
    return {name: it for place, _, name, it in split if place == room and "_ours" in vars(it)}


def late(room: str, found: Callable[[], Mapping[str, Any]] = dict) -> tuple[Any, Any]:
    """Make the `__getattr__` and the `__dir__` of a module that loads some of its names late.

    Args:
        room: The name of the module.
        found: Gives the names, each with its value, with the file that has it (a text), or with
            what loads it (a `partial`).
    """

    def get(name: str) -> Any:
        names = {} if name.startswith("__") else {**found(), **paths_inside(room)}
        if name not in names:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        value = names[name]
        if isinstance(value, str):
            module = import_module(f"minigrad.{value}")
            value = module if value.split(".")[-1] == name else getattr(module, name)
        elif isinstance(value, partial):
            value = value()
        vars(sys.modules[room])[name] = value
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[room]), *paths_inside(room), *found()})

    return get, names
