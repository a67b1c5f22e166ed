"""Compare minigrad with PyTorch name by name: what each has, how it is called, what checks it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from _tools import reference_builtins as builtins
from _tools import reference_rooms as rooms
from _tools import reference_signatures as signatures
from _tools.reference_scenarios import OPERATORS, Use, watch


@dataclass(frozen=True)
class Entry:
    """A name that both have: what it is, how its calls differ, how many scenarios use it."""

    room: str
    name: str
    kind: str
    differs: tuple[str, ...]
    told: bool  # whether PyTorch tells how it is called
    scenarios: int

    @property
    def full(self) -> str:
        """The name with its room."""
        return f"{self.room}.{self.name}"


@dataclass
class Room:
    """A module or class of PyTorch, as minigrad has it."""

    name: str
    entries: list[Entry] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # of PyTorch's names, in the course's scope
    left_out: dict[str, list[str]] = field(default_factory=dict)  # topic: names
    only_here: list[str] = field(default_factory=list)
    members: list[Room] = field(default_factory=list)  # classes in this room

    def everything(self) -> Iterator[Room]:
        """Give this room, and the classes in it."""
        yield self
        yield from self.members


def gather(torch: ModuleType, use: Use | None = None) -> tuple[dict[str, Room], Use]:
    """Compare every room.

    Args:
        torch: PyTorch.
        use: what the oracle's scenarios use, where that is known; else they are run.

    Returns:
        The rooms by name, and what the oracle's scenarios use.
    """
    pairs = {room: (rooms.theirs(torch, room), rooms.ours(room)) for room in rooms.ROOMS}
    shared = _shared_classes(torch, pairs)
    use = use or watch([(full, mine) for full, (_, mine) in shared.items()])
    found = {}
    for name, (their, mine) in pairs.items():
        room = _compare(torch, name, their, mine, use)
        for full, (class_there, class_here) in shared.items():
            if full.rpartition(".")[0] == name and full not in rooms.ROOMS:
                inside = _compare(torch, full, class_there, class_here, use, shared)
                if inside.entries or inside.missing or inside.only_here:
                    room.members.append(inside)
        found[name] = room
    return found, use


def _shared_classes(
    torch: ModuleType, pairs: dict[str, tuple[Any, Any]]
) -> dict[str, tuple[type, type]]:
    """Find the classes that both have; one that has several names, under its first."""
    found: dict[str, tuple[type, type]] = {}
    seen = set()
    for room, (their, mine) in pairs.items():
        for name in sorted(_names(their, mine)[0]):
            there, here = getattr(their, name, None), getattr(mine, name, None)
            if type(there).__name__ == "tensortype":
                continue  # a tensor's type by name, such as FloatTensor
            if isinstance(there, type) and isinstance(here, type) and there not in seen:
                seen.add(there)
                found[f"{room}.{name}"] = (there, here)
    return found


def _names(their: Any, mine: Any) -> tuple[set[str], set[str], set[str]]:
    """Give the names that both have, that only PyTorch has, that only minigrad has."""
    here = set() if mine is None else rooms.public_names(mine)
    there = rooms.public_names(their, also=here)
    if mine is not None:
        here |= {name for name in there if hasattr(mine, name)}
    return here & there, there - here, here - there


def _compare(
    torch: ModuleType,
    name: str,
    their: Any,
    mine: Any,
    use: Use,
    shared: dict[str, tuple[type, type]] | None = None,
) -> Room:
    room = Room(name)
    both, missing, only_here = _names(their, mine)
    if shared is not None:  # a class: what it takes over is told where it comes from
        inherited_there = _inherited(their, {there for there, _ in shared.values()})
        inherited_here = _inherited(mine, {here for _, here in shared.values()})
        both = {each for each in both if each not in inherited_there & inherited_here}
        missing -= inherited_there
        only_here -= inherited_here
        both -= OPERATORS
        missing -= OPERATORS
        only_here -= OPERATORS
    for each in sorted(both):
        room.entries.append(_entry(torch, name, each, their, mine, use))
    for each in sorted(missing):
        topic = rooms.topic_of(each)
        if topic is None:
            room.missing.append(each)
        else:
            room.left_out.setdefault(topic.title, []).append(each)
    room.only_here = sorted(only_here)
    return room


def _inherited(owner: type, shared: set[type]) -> set[str]:
    """List the names that a class has from another one that the reference tells of, or Python."""
    found: set[str] = set()
    missing = object()
    for base in owner.__mro__[1:]:
        if base in shared or base.__module__ in ("builtins", "typing", "enum", "collections"):
            for name in dir(base):
                value = inspect.getattr_static(owner, name, missing)
                if value is inspect.getattr_static(base, name, missing):
                    found.add(name)
    return found


def _entry(torch: ModuleType, room: str, name: str, their: Any, mine: Any, use: Use) -> Entry:
    there, here = getattr(their, name), getattr(mine, name)
    kind, kind_here = _kind(their, name, there), _kind(mine, name, here)
    differs: list[str] = []
    told = True
    if kind != kind_here:
        differs.append(f"{kind_here}, there {kind}")
    elif callable(there) and kind not in ("attribute", "operator"):
        ways = _signatures(torch, their, name, there)
        told = bool(ways)
        own = _signatures(torch, mine, name, here)
        differs += signatures.compare(own[0], ways) if own else []
    count = use.count(f"{room}.{name}", here)
    return Entry(room, name, kind, tuple(differs), told, count)


def _kind(owner: Any, name: str, value: Any) -> str:
    if isinstance(owner, type):
        if name in OPERATORS:
            return "operator"
        return "method" if callable(value) and not isinstance(value, type) else "attribute"
    if isinstance(value, ModuleType):
        return "module"
    if isinstance(value, type):
        return "class"
    if any(kind.__name__ == "dtype" for kind in type(value).__mro__):
        return "dtype"
    return "function" if callable(value) else "value"


def _signatures(torch: ModuleType, owner: Any, name: str, value: Any) -> list[signatures.Signature]:
    found = signatures.of_python(value)
    if found and isinstance(owner, type):
        static = inspect.getattr_static(owner, name)
        if not isinstance(static, staticmethod | classmethod):
            found = [signatures.without_first(found[0])]
    if found or isinstance(value, type):
        return found
    if inspect.isfunction(value):  # written in Python, but hands on whatever it is given
        return builtins.of_documentation(name, value)
    if isinstance(owner, type) and owner is not torch.Tensor:
        return builtins.of_documentation(name, value)
    return builtins.of_builtin(torch, name, value, method=owner is torch.Tensor)
