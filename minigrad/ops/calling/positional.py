"""Make the in-place version of a function that takes other tensors, also by their names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minigrad.ops.inplace import write
from minigrad.tensor import Tensor


def in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let a function write its result into its first argument.

    Args:
        function: A function of a tensor and of other arguments. Those that are tensors are looked
            at before anything is written, whether they are given in their places or by name.

    Example:
        >>> import minigrad as torch
        >>> x = torch.zeros(2)
        >>> x.index_add_(0, index=torch.tensor([1]), source=torch.ones(1))
        tensor([0., 1.])
    """
    code = function.__code__
    names = code.co_varnames[1 : code.co_argcount]

    def method(tensor: Tensor, *others: Any, **options: Any) -> Tensor:
        if options:
            for name in names[len(others) :]:
                if name not in options:
                    break
                others = (*others, options.pop(name))
        called = functools.partial(function, **options) if options else function
        return write(called, tensor, *others)

    named: Any = method
    named.__name__, named.__wrapped__ = f"{function.__name__}_", function
    named.__doc__ = f"Do what `{function.__name__}` does, in place."
    return method
