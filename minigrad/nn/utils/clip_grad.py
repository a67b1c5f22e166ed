"""Keep gradients from getting too large: clip their norm or their values."""

from __future__ import annotations

from collections.abc import Iterable
from types import GeneratorType
from typing import Any

import numpy as np

from minigrad import linalg
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.creation.construction import tensor as make_tensor
from minigrad.ops.joining import stacked as stack

Tensors = Tensor | Iterable[Tensor]


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Tensors) -> list[Any]:
    return [each.grad for each in _listed(parameters) if each.grad is not None]


@no_grad()
def get_total_norm(
    tensors: Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Give the norm of tensors, as if all their entries stood in one vector.

    Args:
        tensors: A tensor, or several.
        norm_type: Which norm; it may be infinity.
        error_if_nonfinite: Whether to raise if the norm is infinite or no number.
        foreach: Changes nothing here.

    Raises:
        RuntimeError: If the norm is not finite, and that is an error.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
        tensor(5.)
    """
    norm_type = float(norm_type)
    norms = [linalg.vector_norm(each, norm_type) for each in _listed(tensors)]
    total: Tensor = linalg.vector_norm(stack(norms or [make_tensor(0.0)]), norm_type)
    if error_if_nonfinite and not np.isfinite(total._array):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


@no_grad()
def clip_grads_with_norm_(
    parameters: Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients in place by `max_norm / total_norm`, but by no more than 1.

    Args:
        parameters: A parameter, or several.
        max_norm: The norm that the gradients should have at most.
        total_norm: The norm that they have; see `get_total_norm`.
        foreach: Changes nothing here.

    Example:
        >>> import minigrad as torch
        >>> w = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> (w * torch.tensor([3.0, 4.0])).sum().backward()
        >>> torch.nn.utils.clip_grads_with_norm_(w, 1.0, torch.tensor(5.0))
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in _gradients(parameters):
        gradient.mul_(factor)


@no_grad()
def clip_grad_norm_(
    parameters: Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale gradients in place, so that the norm of all of them together is at most `max_norm`.

    Args:
        parameters: A parameter, or several.
        max_norm: The norm that the gradients shall have at most.
        norm_type: Which norm; it may be infinity.
        error_if_nonfinite: Whether to raise if the norm is infinite or no number.
        foreach: Changes nothing here.

    Returns:
        The norm before clipping.

    Raises:
        RuntimeError: If the norm is not finite, and that is an error.

    Example:
        >>> import minigrad as torch
        >>> w = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> (w * torch.tensor([3.0, 4.0])).sum().backward()
        >>> torch.nn.utils.clip_grad_norm_(w, max_norm=1.0)
        tensor(5.)
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    listed = _listed(parameters)
    if not listed and isinstance(parameters, GeneratorType):
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    total = get_total_norm(_gradients(listed), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(listed, max_norm, total)
    return total


@no_grad()
def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clip each entry of the gradients to [-clip_value, clip_value], in place.

    Args:
        parameters: A parameter, or several.
        clip_value: The bound.
        foreach: Changes nothing here.

    Raises:
        RuntimeError: If no parameter has a gradient.

    Example:
        >>> import minigrad as torch
        >>> w = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> (w * torch.tensor([-3.0, 0.5])).sum().backward()
        >>> torch.nn.utils.clip_grad_value_(w, 1.0)
        >>> w.grad
        tensor([-1.0000,  0.5000])
    """
    bound, gradients = float(clip_value), _gradients(parameters)
    if not gradients:
        raise RuntimeError("clip_grad_value_(): no parameter has a gradient to clip, as in PyTorch")
    bool(foreach)  # or an error, where it is no truth
    for gradient in gradients:
        gradient.clamp_(-bound, bound)


def clip_grad_norm(*args: Any, **kwargs: Any) -> Tensor:
    """Do as `clip_grad_norm_`, under its old name."""
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
    )
    return clip_grad_norm_(*args, **kwargs)
