"""Bring parameters into one shape, and turn probabilities into logits and back."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Number
from typing import Any

from minigrad import dtypes
from minigrad.autograd.modes import enable_grad
from minigrad.creation import tensor
from minigrad.ops.calling.repeating import broadcast_tensors
from minigrad.ops.calling.types import finfo
from minigrad.tensor import Tensor


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Give numbers and tensors as tensors of one shape.

    Raises:
        ValueError: If something is neither a number nor a tensor.
    """
    if not all(isinstance(value, (Tensor, Number)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects "
            "implementing __torch_function__."
        )
    known = next((value for value in values if isinstance(value, Tensor)), None)
    dtype = dtypes.get_default_dtype() if known is None else known.dtype
    return broadcast_tensors(
        *(value if isinstance(value, Tensor) else tensor(value, dtype=dtype) for value in values)
    )


def clamp_probs(probs: Tensor) -> Tensor:
    """Keep probabilities away from 0 and 1 by the machine's epsilon."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    r"""Turn probabilities into logits: :math:`\ln p`, or :math:`\ln p - \ln(1-p)` of one of two."""
    inside = clamp_probs(probs)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Turn logits into probabilities: a softmax, or a sigmoid for one of two."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


class lazy_property:
    """Computes an attribute when it is first asked for, and keeps it."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Compute the attribute, which then stands in the instance."""
        if instance is None:
            return self
        with enable_grad():  # what is kept must have its history, also if `sample` asks first
            value = self.compute(instance)
        setattr(instance, self.compute.__name__, value)
        return value
