"""Compute without leaving anything for autograd: `inference_mode`, and what its tensors refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from minigrad.autograd.modes import DecoratingMode, grad_mode, is_grad_enabled
from minigrad.autograd.versions import INFERENCE

if TYPE_CHECKING:
    from minigrad.autograd.variable import Variable


class inference_mode(DecoratingMode):
    """Record nothing inside, and let the tensors that are made inside never be part of a graph.

    It is `no_grad` made strict. A result is an inference tensor: it counts no versions and knows
    of no views. So nobody could notice if it was changed, and later, outside, it can't be saved
    for backward or changed in place. A `clone()` of it, made outside, is a normal tensor.

    A view of a normal tensor is a normal tensor here, too; but outside neither it nor its base
    may be changed in place in a way that would have to be recorded.

    A context manager and a decorator (`@inference_mode()` or bare `@inference_mode`).

    Args:
        mode: False to leave inference mode for a while, and record.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0], requires_grad=True)
        >>> with torch.inference_mode():
        ...     y = x * 2
        >>> y.requires_grad, y.is_inference()
        (False, True)
        >>> (x + y).requires_grad
        True
        >>> x * y
        Traceback (most recent call last):
        RuntimeError: Inference tensors cannot be saved for backward. Please do not use Tensors \
created in inference mode in computation tracked by autograd. To work around this, you can make a \
clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` instead of \
`torch.inference_mode()`.
        >>> (x * y.clone()).requires_grad
        True
    """

    def __new__(cls, mode: bool | Callable[..., Any] = True) -> Any:
        """Make the mode, or decorate a function at once."""
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode
        self._before: list[tuple[bool, bool]] = []

    def clone(self) -> Self:
        """Give a fresh context that wants the same."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self._before.append((is_inference_mode_enabled(), is_grad_enabled()))
        grad_mode.set_inference(self.mode, recording=not self.mode)

    def __exit__(self, *exception: object) -> None:
        grad_mode.set_inference(*self._before.pop())


def is_inference_mode_enabled() -> bool:
    """Tell whether this thread is in inference mode at this moment.

    Example:
        >>> is_inference_mode_enabled()
        False
        >>> with inference_mode():
        ...     is_inference_mode_enabled()
        True
    """
    return grad_mode.enabled is None


def is_inference(input: Variable) -> bool:
    """Tell whether a tensor was made in inference mode.

    Raises:
        TypeError: If it is no tensor.

    Example:
        >>> import minigrad as torch
        >>> with torch.inference_mode():
        ...     y = torch.ones(2)
        >>> is_inference(y), is_inference(y.clone())
        (True, False)
    """
    if not hasattr(input, "_version_counter"):
        raise TypeError(
            "is_inference(): argument 'input' (position 1) must be Tensor, not "
            f"{type(input).__name__}"
        )
    return input._version_counter is INFERENCE


def refuse_to_change() -> None:
    """Raise, outside of inference mode, because an inference tensor is about to be changed.

    Raises:
        RuntimeError: Unless this is inference mode.
    """
    if grad_mode.enabled is not None:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make "
            "a clone to get a normal tensor before doing inplace update.See "
            "https://github.com/pytorch/rfcs/pull/17 for more details."
        )


def refuse_to_require_grad() -> None:
    """Raise, outside of inference mode, because an inference tensor is to require a gradient.

    Raises:
        RuntimeError: Unless this is inference mode.
    """
    if grad_mode.enabled is not None:
        raise RuntimeError(
            "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."
        )


def version_of(counter: Any) -> int:
    """Give the version that a counter has counted to.

    Raises:
        RuntimeError: If it is that of an inference tensor.
    """
    if counter is INFERENCE:
        raise RuntimeError("Inference tensors do not track version counter.")
    return counter.value  # type: ignore[no-any-return]
