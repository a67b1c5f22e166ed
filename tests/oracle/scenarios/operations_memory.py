"""See how results and gradients of all operations of the other tables lie in memory.

This is to be recorded again when a row is added to one of them.
"""

from __future__ import annotations

from .tools import Family, leaf
from .tools_operations import ADDED

family = Family()

# Their gradients are results of products, which minigrad leaves as they came out; and what NumPy
# inverts and decomposes lies row by row.
OTHERWISE = ("inverse", "x.inverse", "det of")
OTHERWISE += tuple(f"linalg.{name}" for name in ("inv", "solve", "det", "qr", "eigh", "svd"))


@family
def strides(torch, log):
    """Strides of the result and of each gradient, where there is more than one entry."""
    for name, function, inputs in ADDED:
        if name.startswith(OTHERWISE):
            continue
        tensors = inputs(torch)
        value = function(torch, *tensors)
        cotangent = leaf(torch, tuple(value.shape), 91, dtype=value.dtype, requires_grad=False)
        found = torch.autograd.grad(value, tensors, cotangent, allow_unused=True)
        log(name, *(None if each is None else steps(each) for each in (value, *found)))


def steps(tensor):
    """Give the strides of those dimensions that have any."""
    pairs = zip(tensor.stride(), tensor.shape, strict=True)
    return [step for step, size in pairs if size > 1 and tensor.numel()]
