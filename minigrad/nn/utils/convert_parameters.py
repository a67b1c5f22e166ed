"""Put all parameters into one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.creation.devices import typename
from minigrad.ops.joining import joined as cat
from minigrad.signatures.arguments import check_tensor


def _checked(parameter: Any) -> Tensor:
    check_tensor("view", parameter)
    return parameter


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Join parameters to one vector.

    Example:
        >>> import minigrad as torch
        >>> torch.nn.utils.parameters_to_vector(torch.nn.Linear(2, 3).parameters()).shape
        torch.Size([9])
    """
    return cat([parameter.view(-1) for parameter in map(_checked, parameters)])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let parameters be slices of a vector, whose memory they share from then on.

    Raises:
        TypeError: If the vector is no tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for parameter in map(_checked, parameters):
        end = start + parameter.numel()
        parameter.data = vec[start:end].view_as(parameter).data
        start = end
