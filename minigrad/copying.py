"""Copy tensors, deeply or through a pickle: numbers and flags come along, graphs do not."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np

from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import NO_EDGE
from minigrad.autograd.variable import Variable
from minigrad.autograd.versions import INFERENCE


def set_up(tensor: Variable, array: Any) -> None:
    """Give a tensor its array, and the state of one that needs no gradient."""
    tensor._array = array
    tensor._edge = NO_EDGE
    tensor._grad = tensor._meta = tensor._view = None
    tensor._version_counter = INFERENCE if grad_mode.enabled is None else None


def deep_copy(tensor: Any, memo: dict[int, Any]) -> Any:
    """Copy a leaf with its gradient and its own attributes, for `copy.deepcopy`; without hooks.

    Args:
        tensor: The tensor.
        memo: What was copied already in the same call, by the id of the original.

    Returns:
        The copy. Tensors that shared memory do so again if they are copied in one call.

    Raises:
        RuntimeError: If the tensor is no leaf.

    Example:
        >>> import copy
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> copy.deepcopy(x)
        tensor([1., 2.], requires_grad=True)
    """
    if not tensor.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were attempting to deepcopy a module, this may be "
            "because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001. Use detach().clone() for a copy of "
            "the values."
        )
    if id(tensor) in memo:
        return memo[id(tensor)]
    copied = object.__new__(type(tensor))
    memo[id(tensor)] = copied
    set_up(copied, _copy_memory(tensor._array, memo))
    copied._bump_version()  # as in PyTorch, where an empty tensor is given the memory
    copied.requires_grad = tensor.requires_grad
    if tensor._grad is not None:
        copied._grad = tensor._grad.__deepcopy__(memo)
    copied.__dict__.update(deepcopy(tensor.__dict__, memo))
    return copied


def _copy_memory(array: Any, memo: dict[int, Any]) -> Any:
    """Copy an array; views of one memory become views of one copy."""
    owner = holder = array
    while holder is not None:
        owner = holder if isinstance(holder, np.ndarray) else owner
        holder = getattr(holder, "base", None)
    if array is not owner and (not owner.flags.c_contiguous or owner.dtype.hasobject):
        return array.copy()
    copied = memo.get(id(owner))
    if copied is None:
        memo[id(owner)] = copied = owner.copy(order="K")
    if array is owner:
        return copied
    start = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    view: Any = np.ndarray(array.shape, array.dtype, copied, start, array.strides)
    view.flags.writeable = array.flags.writeable
    return view


def reduce_to_parts(tensor: Any) -> Any:
    """Say how to make a tensor again, for `pickle` and `copy.copy`.

    A result of an operation becomes a leaf that requires a gradient.
    """
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                UserWarning,
                stacklevel=3,
            )
    attributes = dict(tensor.__dict__)
    return _make_again, (type(tensor), tensor._array, tensor.requires_grad, attributes)


def _make_again(
    kind: type[Variable], array: Any, requires_grad: bool, attributes: dict[str, Any]
) -> Any:
    tensor = object.__new__(kind)
    set_up(tensor, array)
    tensor._bump_version()
    tensor.requires_grad = requires_grad
    tensor.__dict__.update(attributes)
    return tensor
