"""Work on all parameters of a network: clip gradients, join to a vector, normalize weights."""

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
from minigrad.ops.joining import joined, stacked
from minigrad.utils import _late

Tensors = Tensor | Iterable[Tensor]


def _listed(tensors: Tensors) -> list[Tensor]:
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)


def _gradients(parameters: Tensors) -> list[Any]:
    return [each.grad for each in _listed(parameters) if each.grad is not None]


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
        max_norm: The norm that the gradients should have at most.
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
    norm_type, gradients = float(norm_type), _gradients(listed)
    norms = [linalg.vector_norm(each, norm_type) for each in gradients]
    total: Tensor = linalg.vector_norm(stacked(norms or [make_tensor(0.0)]), norm_type)
    if error_if_nonfinite and not np.isfinite(total._array):
        raise RuntimeError(f"The total norm of order {norm_type} is not finite")
    factor = (float(max_norm) / (total + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor)
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
    for gradient in gradients:
        gradient.clamp_(-bound, bound)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Join parameters to one vector.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.utils.parameters_to_vector(torch.nn.Linear(2, 3).parameters()).shape
        torch.Size([9])
    """
    return joined([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let parameters be slices of a vector, whose memory they share from then on.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(2, 1)
        >>> torch.nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0, 3.0]), layer.parameters())
        >>> layer.bias
        Parameter containing:
        tensor([3.], requires_grad=True)
    """
    start = 0
    for parameter in parameters:
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end


_found = dict.fromkeys(("spectral_norm", "remove_spectral_norm"), "extra.layers")
__getattr__, __dir__ = _late(__name__, lambda: _found)
