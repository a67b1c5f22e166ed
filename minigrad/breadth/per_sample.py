"""Give each parameter the gradients of each sample, as libraries of private training ask for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from minigrad.breadth.stateless import functional_call
from minigrad.core.tensor import Tensor
from minigrad.creation.factories import zeros
from minigrad.nn.modules.module import Module
from minigrad.ops.joining import joined


def call_for_per_sample_grads(
    module: Module,
    *,
    batch_size: int | None = None,
    loss_reduction: str = "sum",
    batch_first: bool = True,
) -> Callable[..., Tensor]:
    r"""Make a call of a module whose backward pass leaves `grad_sample` at each parameter.

    The module runs once for each sample, and so do its forward hooks. A `grad_sample` has the shape
    (N, \*) of a batch and the parameter, and its part i is the gradient of what sample i adds to
    the loss; `grad` stays as it is.

    Args:
        module: The module.
        batch_size: The number N of samples; that of the tensors it is called with if None.
        loss_reduction: Whether the loss is the `"sum"` over the samples, or their `"mean"`, which
            multiplies by N.
        batch_first: Whether the samples lie along dimension 0; else along dimension 1.

    Raises:
        RuntimeError: If a setting makes no sense, if the batch size cannot be told, or if a
            parameter has a `grad_sample` from before.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.nn.utils._per_sample_grad import call_for_per_sample_grads
        >>> layer = torch.nn.Linear(1, 1, bias=False)
        >>> call_for_per_sample_grads(layer)(torch.tensor([[2.0], [3.0]])).sum().backward()
        >>> layer.weight.grad_sample.flatten()
        tensor([2., 3.])
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(
            f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}"
        )
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not isinstance(batch_size, (int, type(None))):
        told = type(batch_size).__name__
        raise RuntimeError(f"Batch size passed must be None or an integer, got {told}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    dim, mean = 0 if batch_first else 1, loss_reduction == "mean"

    @wraps(module.forward)
    def called(*args: Any, **kwargs: Any) -> Tensor:
        count = _samples((*args, *kwargs.values()), dim) if batch_size is None else batch_size
        factor = count if mean else 1
        learned = {name: each for name, each in module.named_parameters() if each.requires_grad}
        for each in learned.values():
            if getattr(each, "grad_sample", None) is not None:
                raise RuntimeError(
                    "Current Expanded Weights accumulates the gradients, which will be incorrect "
                    "for multiple calls without clearing gradients. Please clear out the "
                    f"grad_sample parameter of {each}"
                )

        def part(given: Any, place: int) -> Any:
            batched = isinstance(given, Tensor) and given.ndim > dim and given.size(dim) == count
            return given.narrow(dim, place, 1) if batched else given

        results = [
            functional_call(
                module,
                {name: _watched(each, place, factor, count) for name, each in learned.items()},
                tuple(part(each, place) for each in args),
                {name: part(each, place) for name, each in kwargs.items()},
            )
            for place in range(count)
        ]
        if not all(isinstance(each, Tensor) for each in results):
            raise RuntimeError("per-sample gradients need a module that gives one tensor")
        return joined(results, dim)

    return called


def _watched(parameter: Any, place: int, factor: int, count: int) -> Tensor:
    """Copy a parameter for one sample, whose gradient goes to a part of its `grad_sample`."""
    copy = parameter.detach().requires_grad_()

    def keep(leaf: Any) -> None:
        if getattr(parameter, "grad_sample", None) is None:
            parameter.grad_sample = zeros(count, *parameter.shape, dtype=parameter.dtype)
        parameter.grad_sample._array[place] += leaf.grad._array * factor
        leaf.grad = None

    copy.register_post_accumulate_grad_hook(keep)
    return copy


def _samples(given: tuple[Any, ...], dim: int) -> int:
    """Tell the batch size from the tensors that a module is called with."""
    counts = [each.size(dim) for each in given if isinstance(each, Tensor)]
    if not counts:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. Please specify the batch size "
            "explicitly"
        )
    for count in counts:
        if count != counts[0]:
            raise RuntimeError(
                "When computing batch size, found at least one input with batch size "
                f"{counts[0]} and one with batch size {count}. Please specify it explicitly using "
                "the batch size kwarg in call_for_per_sample_grads"
            )
    return counts[0]
