"""Enter and leave a derivative: inputs that are differentiated here, results that others may."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.gradients import grad
from minigrad.autograd.modes import is_grad_enabled
from minigrad.tensor import Tensor, wrap


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
            return tensor.view_as(tensor)  # type: ignore[no-any-return]
        own = tensor.detach().requires_grad_()
        self._own.add(id(own))
        self._inputs.append(own)  # so that its id stays its own
        return own

    def is_seen(self, *tensors: Tensor) -> bool:
        """Tell whether something outside this level can ask for derivatives of tensors."""
        if not self.recording:
            return False
        waiting: list[Any] = []
        for tensor in tensors:
            if tensor.requires_grad and tensor.grad_fn is None and id(tensor) not in self._own:
                return True
            waiting.append(tensor.grad_fn)
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
    outputs: list[Tensor],
    inputs: list[Tensor],
    cotangents: list[Tensor] | None,
    create_graph: bool,
    retain_graph: bool | None = None,
) -> list[Tensor]:
    """Give the gradients of outputs, or zeros where nothing depends."""
    starts: list[Any] = [None] * len(outputs) if cotangents is None else cotangents
    pairs = [
        (output, start)
        for output, start in zip(outputs, starts, strict=True)
        if output.requires_grad
    ]
    found: Any = [None] * len(inputs)
    if pairs and inputs:
        recorded, given = zip(*pairs, strict=True)
        found = grad(recorded, inputs, given, retain_graph, create_graph, allow_unused=True)
    return [
        wrap(np.zeros_like(tensor._array)) if gradient is None else gradient
        for tensor, gradient in zip(inputs, found, strict=True)
    ]
