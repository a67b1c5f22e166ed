"""Run old code that wraps tensors: `Variable(tensor, requires_grad=True)`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from minigrad.autograd.messages import can_require_grad, only_floats, type_name, warn
from minigrad.core.modes import modes
from minigrad.core.tensor import Tensor, wrap_as_normal


class Engine:
    """What running hooks may ask of the engine; `Variable._execution_engine` is the one."""

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """Call a function without arguments at the end of the backward pass that runs now.

        Raises:
            RuntimeError: If none runs.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> engine = torch.autograd.Variable._execution_engine
            >>> def hook(grad):
            ...     engine.queue_callback(lambda: print("at the end:", x.grad))
            >>> y = x * 2
            >>> handle = y.register_hook(hook)
            >>> y.backward()
            at the end: tensor([2.])
        """
        task = modes.task
        if task is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        if task.callbacks is None:
            task.callbacks = []
        task.callbacks.append(callback)


class VariableMeta(type):
    """The class of `Variable`: it says that every tensor is one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        """Tell whether something is a tensor."""
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """What a tensor with a graph once was wrapped in; today it gives a tensor.

    Args:
        data: A tensor, whose memory and version counter the result shares; None for an empty one.
        requires_grad: Whether the result requires a gradient.
        volatile: Does nothing any more.
        name: Does nothing.

    Raises:
        TypeError: If `data` is neither a tensor nor None.
        RuntimeError: If integers shall require a gradient.
        ValueError: If it shall be volatile and require a gradient.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.autograd import Variable
        >>> Variable(torch.ones(2), requires_grad=True)
        tensor([1., 1.], requires_grad=True)
        >>> isinstance(torch.ones(2), Variable)
        True
    """

    _execution_engine: ClassVar[Engine] = Engine()

    def __new__(
        cls, data: Any = None, requires_grad: Any = False, volatile: Any = False, name: Any = None
    ) -> Any:
        """Give a tensor on the same memory, outside of its graph."""
        requires_grad = bool(operator.index(requires_grad))
        if operator.index(volatile):
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if data is None:
            tensor = wrap_as_normal(np.empty(0, np.float32))
        elif isinstance(data, Tensor):
            tensor = data.detach()
        else:
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
        if requires_grad and not can_require_grad(tensor._array.dtype):
            raise only_floats()
        return tensor.requires_grad_() if requires_grad else tensor
