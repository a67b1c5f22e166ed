"""Make the in-place form of a function: `x.exp_()` of `x.exp()`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.faces.arguments import is_operand, no_combination, no_tensor
from minigrad.faces.signature import Signature

# What writes the result of an operation into its first input and keeps the graph right. The
# operations set it; see `minigrad.ops.inplace.write`.
writer: list[Callable[..., Tensor]] = []


def in_place(function: Callable[..., Any], signature: Signature) -> Callable[..., Tensor]:
    """Let a function write its result into its first argument.

    All that may be given by position is handed over by position, so that tensors among it are
    looked at before anything is written.

    Args:
        function: The method.
        signature: What it takes.
    """
    names = [each.name for each in signature.arguments[1:] if not each.by_name]
    second = signature.arguments[1].kind if names else ""
    own = f"{signature.name}_"

    def method(input: Tensor, *others: Any, **options: Any) -> Tensor:
        if not isinstance(input, Tensor):
            raise no_tensor(own, input, "input", 1)
        if options:
            for name in names[len(others) :]:
                if name not in options:
                    break
                others = (*others, options.pop(name))
        if second in ("Operand", "Scalar") and others and not is_operand(others[0]):
            if second == "Scalar":
                raise no_combination(own, others[0])
            raise no_tensor(own, others[0], "other", 1)
        called = functools.partial(function, **options) if options else function
        return writer[0](called, input, *others)

    named: Any = method
    named.__name__ = named.__qualname__ = own
    named.__wrapped__ = function
    named.__doc__ = f"Do what `{signature.name}` does, in place."
    return method
