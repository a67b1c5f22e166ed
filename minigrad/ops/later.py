"""Load the less usual operations when they are first asked for, so that importing stays quick.

The operations are called through the rooms of `minigrad.ops.calling`. Those named here are loaded
late: `ROOMS` says which functions of `minigrad` and which methods of `Tensor` wait in which room.
Each room says the same in two names of its own: `__all__` lists its functions, and `methods` holds
its methods by name. For NumPy's own functions on tensors it may have `ufuncs` and `functions`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from minigrad.tensor import Tensor


class Room(NamedTuple):
    """What waits in a room.

    Attributes:
        functions: Names of functions of `minigrad`, in one text.
        methods: Names of methods of `Tensor`, in one text.
    """

    functions: str
    methods: str


ROOMS: dict[str, Room] = {}

_room_of_function = {name: room for room in ROOMS for name in ROOMS[room].functions.split()}


def enter(room: str) -> Any:
    """Load a room, and give `Tensor` its methods and NumPy its operations.

    Args:
        room: A name in `ROOMS`.
    """
    module = import_module(f"minigrad.ops.calling.{room}")
    for name, method in module.methods.items():
        setattr(Tensor, name, method)
    Tensor._ufuncs.update(getattr(module, "ufuncs", {}))
    Tensor._functions.update(getattr(module, "functions", {}))
    return module


def enter_all() -> None:
    """Load every room: NumPy was given a tensor, and what it asks for was not found."""
    for room in ROOMS:
        enter(room)


def function(name: str) -> Any:
    """Give a function of `minigrad` that waits in a room, or None."""
    room = _room_of_function.get(name)
    return None if room is None else getattr(enter(room), name)


def functions() -> list[str]:
    """Give the names of all functions that wait."""
    return [*_room_of_function]


class Waiting:
    """Stands for a method of `Tensor` until it is first asked for."""

    __slots__ = ("name", "room")

    def __init__(self, room: str, name: str) -> None:
        self.room, self.name = room, name

    def __get__(self, tensor: Tensor | None, owner: type) -> Any:
        enter(self.room)
        return getattr(owner if tensor is None else tensor, self.name)


def attach_waiting() -> None:
    """Give `Tensor` the methods that wait in rooms."""
    for room, content in ROOMS.items():
        for name in content.methods.split():
            setattr(Tensor, name, Waiting(room, name))
    Tensor._enter_all = staticmethod(enter_all)  # type: ignore[method-assign]
