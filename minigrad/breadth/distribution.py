"""What all distributions have in common: shapes, checks, sampling without a graph."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tensor import Tensor
from minigrad.creation import dtypes
from minigrad.creation.construction import tensor
from minigrad.creation.layout import Size
from minigrad.creation.tensor_types import finfo
from minigrad.ops.joining import broadcast_tensors


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Give numbers and tensors as tensors of one shape.

    Raises:
        ValueError: If something is neither a number nor a tensor.
    """
    if not all(isinstance(value, (Tensor, int, float)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects "
            "implementing __torch_function__."
        )
    known = next((value for value in values if isinstance(value, Tensor)), None)
    dtype = dtypes.default.dtype if known is None else known.dtype
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


NO_SHAPE = Size()


class Distribution:
    """A probability distribution, or a batch of them.

    Args:
        batch_shape: The shape of the parameters: one distribution for each.
        event_shape: The shape of one draw from one of them.
        validate_args: Whether parameters and values are checked.

    Raises:
        ValueError: If a parameter is outside its bounds.
    """

    has_rsample = False
    arg_constraints: ClassVar[Any] = {}
    support: Any = None

    def __init__(
        self, batch_shape: Any = NO_SHAPE, event_shape: Any = NO_SHAPE, validate_args: Any = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        self._validate_args = validate_args is not False
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                follows = isinstance(getattr(type(self), name, None), cached_property)
                if name in vars(self) or not follows:
                    self._check_parameter(name, constraint)

    def _check_parameter(self, name: str, constraint: Any) -> None:
        value = getattr(self, name)
        if not constraint.check(value).all():
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                f"{constraint!r}, but found invalid values:\n{value}"
            )

    def _not_here(self, *given: Any) -> Any:
        """Raise: this distribution does not tell it, or one that is made of this class must."""
        raise NotImplementedError

    batch_shape = property(lambda self: self._batch_shape, doc="The shape of the batch.")
    event_shape = property(lambda self: self._event_shape, doc="The shape of one draw.")
    mean = variance = property(_not_here)
    stddev = property(lambda self: self.variance.sqrt(), doc="The standard deviation.")
    log_prob: Callable[..., Any] = _not_here
    rsample: Callable[..., Any] = _not_here
    cdf: Callable[..., Any] = _not_here
    entropy: Callable[..., Any] = _not_here

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    def sample(self, sample_shape: Any = NO_SHAPE) -> Any:
        """Draw without a graph, as many as `sample_shape` says for each distribution."""
        with no_grad():
            return self.rsample(sample_shape)

    def _extended_shape(self, sample_shape: Any = NO_SHAPE) -> Size:
        """Give the shape of as many draws as `sample_shape` says."""
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _checked(self, value: Any) -> Any:
        """Give a value back; raise if values are checked and it cannot have been drawn."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def _validate_sample(self, value: Any) -> None:
        """Raise if a value cannot have been drawn."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.ndim - len(self._event_shape)
        if value.shape[start:] != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.shape), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.shape} vs {expected}."
                )
        support = self.support
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        """Give the name and the parameters: those of more than one entry by their shape."""
        known = {name: vars(self)[name] for name in self.arg_constraints if name in vars(self)}
        shown = {name: v if v.numel() == 1 else v.size() for name, v in known.items()}
        told = ", ".join(f"{name}: {value}" for name, value in shown.items())
        return f"{type(self).__name__}({told})"
