"""Take tensors out of nested tuples, lists and dictionaries, and put others in their places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Structure:
    """How tensors, or anything else, are nested.

    Attributes:
        kind: The class of the container, or None for a leaf.
        keys: The keys of a dictionary; the number of the others.
        parts: The structures within.
        count: How many leaves there are.
    """

    def __init__(self, kind: Any, keys: Any, parts: list[Structure]) -> None:
        self.kind, self.keys, self.parts = kind, keys, parts
        self.count: int = 1 if kind is None else sum(part.count for part in parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and (
            (self.kind, self.keys, self.parts) == (other.kind, other.keys, other.parts)
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.count))

    def __repr__(self) -> str:
        """Write it as some of PyTorch's errors do, with a star for each leaf."""
        if self.kind is None:
            return "*"
        if self.kind is dict:
            pairs = zip(self.keys, self.parts, strict=True)
            return "{" + ", ".join(f"{key!r}: {part!r}" for key, part in pairs) + "}"
        inner = ", ".join(map(repr, self.parts))
        return f"[{inner}]" if self.kind is list else f"({inner})"

    def specification(self, indent: int = 0) -> str:
        """Write it as other errors of PyTorch do."""
        if self.kind is None:
            return "*"
        keys = list(self.keys) if self.kind is dict else None
        lines = f",\n{' ' * (indent + 2)}".join(
            part.specification(indent + 2) for part in self.parts
        )
        return f"TreeSpec({self.kind.__name__}, {keys}, [{lines}])"

    def build(self, leaves: Any) -> Any:
        """Put leaves, in order, into this structure."""
        return self._build(iter(leaves))

    def _build(self, leaves: Any) -> Any:
        if self.kind is None:
            return next(leaves)
        parts = [part._build(leaves) for part in self.parts]
        if self.kind is dict:
            return dict(zip(self.keys, parts, strict=True))
        return self.kind(*parts) if hasattr(self.kind, "_fields") else self.kind(parts)


_LEAF = Structure(None, 0, [])


def take_apart(value: Any) -> tuple[list[Any], Structure]:
    """Give the leaves of nested containers, and how they are nested.

    Example:
        >>> take_apart([1, {"a": (2, 3)}])
        ([1, 2, 3], [*, {'a': (*, *)}])
    """
    leaves: list[Any] = []
    return leaves, _walk(value, leaves)


def _walk(value: Any, leaves: list[Any]) -> Structure:
    kind = type(value)
    if kind is dict:
        return Structure(kind, tuple(value), [_walk(value[key], leaves) for key in value])
    named = isinstance(value, tuple) and hasattr(value, "_fields")
    if kind in (tuple, list) or named:
        return Structure(kind, len(value), [_walk(part, leaves) for part in value])
    leaves.append(value)
    return _LEAF


def mapped(function: Callable[..., Any], value: Any) -> Any:
    """Apply a function to each leaf.

    Example:
        >>> mapped(lambda x: x + 1, {"a": [1, 2]})
        {'a': [2, 3]}
    """
    leaves, structure = take_apart(value)
    return structure.build(map(function, leaves))
