"""Enter and leave a derivative of a function whose arguments and results may be nested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.autograd import functional
from minigrad.core.node import is_grad_enabled
from minigrad.core.tensor import Tensor


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
        >>> leaves, structure = take_apart([1, {"a": (2, 3)}])
        >>> leaves, structure.build("xyz")
        ([1, 2, 3], ['x', {'a': ('y', 'z')}])
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


class Level:
    """One derivative that is being taken; within it there may be others.

    What it hands out stays connected with what encloses it, such as another derivative or a tensor
    that requires a gradient. Of its own inputs nobody outside knows.
    """

    def __init__(self) -> None:
        self.recording = is_grad_enabled()
        self._own: set[int] = set()
        self._inputs: list[Tensor] = []

    def enter(self, tensor: Any) -> Tensor:
        """Give a tensor of the same values, to be differentiated for.

        Raises:
            ValueError: If it is no tensor.
            RuntimeError: If it has no floating-point numbers.
        """
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(tensor)}")
        if tensor._array.dtype.kind not in "fO":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if tensor.requires_grad and self.recording:
            return tensor.view_as(tensor)
        own = tensor.detach().requires_grad_()
        self._own.add(id(own))
        self._inputs.append(own)  # so that its id stays its own
        return own

    def is_seen(self, tensor: Tensor) -> bool:
        """Tell whether something outside this level can ask for derivatives of a tensor."""
        if not self.recording:
            return False
        if tensor.requires_grad and tensor.grad_fn is None and id(tensor) not in self._own:
            return True
        waiting: list[Any] = [tensor.grad_fn]
        seen: set[Any] = set()
        while waiting:
            node = waiting.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            leaf = getattr(node, "variable", None)
            if leaf is not None and id(leaf) not in self._own:
                return True
            waiting += [source for source, _ in node.next_functions]
        return False

    def leave(self, tensor: Any) -> Any:
        """Give a result without its graph, unless something outside can ask for it."""
        if not isinstance(tensor, Tensor) or not tensor.requires_grad or self.is_seen(tensor):
            return tensor
        return tensor.detach()


def differentiate(
    output: Tensor, inputs: list[Tensor], create_graph: bool, retain_graph: bool | None = None
) -> list[Tensor]:
    """Give the gradients of an output, or zeros where it does not depend on an input."""
    if not inputs:
        return []
    found = functional.differentiate([output], inputs, None, create_graph, retain_graph)
    return [
        functional.zeros_like(tensor) if gradient is None else gradient
        for tensor, gradient in zip(inputs, found, strict=True)
    ]
