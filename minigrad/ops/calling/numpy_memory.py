"""Let NumPy compute with the memory of tensors, where no operation stands for what is wanted."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.modes import is_grad_enabled
from minigrad.tensor import Tensor


def by_numpy(function: Any, *inputs: Any, **options: Any) -> Any:
    """Call a function of NumPy's with the memory of tensors; what it gives are arrays.

    Raises:
        RuntimeError: If a tensor requires a gradient.
    """
    name = function.__name__
    return function(*arrays_of(inputs, name), **arrays_of(options, name))


def arrays_of(value: Any, name: str) -> Any:
    """Put arrays in the place of tensors, also within sequences.

    Args:
        value: A tensor, a sequence or dictionary that may have tensors in it, or anything else.
        name: The function that is to be called, for the message.

    Raises:
        RuntimeError: If a tensor requires a gradient.
    """
    if isinstance(value, Tensor):
        if value.requires_grad and is_grad_enabled():
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                f"instead. (NumPy's {name}, as it was called, is not known for tensors: nothing "
                "would be recorded.)"
            )
        return value._array
    if type(value) in (list, tuple):
        return type(value)(arrays_of(each, name) for each in value)
    if type(value) is dict:
        return {key: arrays_of(each, name) for key, each in value.items()}
    return value
