"""Give programs what they ask for beside a computation: `assert_close`, and precision on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ContextDecorator, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor

# ------------------------------------------------------------------ assertions

_TOLERANCES = {"f2": (1e-3, 1e-5), "f4": (1.3e-6, 1e-5), "f8": (1e-7, 1e-7)}
_TOLERANCES |= {"c8": (1.3e-6, 1e-5), "c16": (1e-7, 1e-7)}


def _assert(condition: Any, message: Any) -> None:
    """Raise AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def _check(cond: bool, message: Callable[[], Any] = lambda: "a condition does not hold") -> None:
    """Raise RuntimeError unless a condition holds; a function gives the message."""
    if not cond:
        raise RuntimeError(str(message()))


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    msg: str | Callable[[str], str] | None = None,
    **settings: bool,
) -> None:
    r"""Raise unless tensors, numbers, sequences or mappings agree: $|a - e| \le t_a + t_r |e|$.

    Args:
        actual: What came.
        expected: What should come, of the same kinds, shapes and dtypes.
        rtol: The tolerance $t_r$ in proportion to what is expected; by default that of the dtype.
        atol: The tolerance $t_a$ that is added. Give both or none.
        equal_nan: Whether two NaN agree.
        check_dtype: Whether dtypes have to be the same.
        msg: What to say instead, or a function of what would be said.
        **settings: PyTorch's others, without effect: all tensors are strided and on the CPU.

    Raises:
        AssertionError: If they do not agree.
        ValueError: If one tolerance is given.

    Example:
        >>> import minigrad as torch
        >>> torch.testing.assert_close(torch.ones(2), torch.ones(2) + 1e-7)
    """
    if (rtol is None) != (atol is None):
        raise ValueError("assert_close(): give both 'rtol' and 'atol', or none of them")
    differs = _difference(actual, expected, (rtol, atol), equal_nan, check_dtype)
    if differs:
        raise AssertionError((msg(differs) if callable(msg) else msg) or differs)


def _difference(a: Any, b: Any, given: Any, nan: bool, dtypes: bool) -> str:
    """Say where two things differ first; nothing where they agree."""
    if isinstance(a, Mapping) or (isinstance(a, Sequence) and not isinstance(a, str)):
        keys, others = (each if isinstance(each, Mapping) else range(len(each)) for each in (a, b))
        if set(keys) != set(others):
            return f"These do not have the same entries: {[*keys]} and {[*others]}"
        for key in keys:
            if differs := _difference(a[key], b[key], given, nan, dtypes):
                return f"{differs}\nin the item [{key!r}]"
        return ""
    x, y = (
        each.detach()._array if isinstance(each, Tensor) else np.asarray(each) for each in (a, b)
    )
    if x.shape != y.shape:
        return f"The shapes do not match: {x.shape} != {y.shape}"
    if dtypes and isinstance(a, Tensor) and x.dtype != y.dtype:
        return f"The dtypes do not match: {x.dtype} != {y.dtype}"
    usual = [_TOLERANCES.get(each.dtype.str[1:], (0.0, 0.0)) for each in (x, y)]
    rtol, atol = given if given[0] is not None else map(max, *usual)
    off = ~np.isclose(x, y, rtol, atol, nan)
    if not off.any():
        return ""
    apart = np.where(off, abs(x.astype(float) - y), 0)
    place = tuple(map(int, np.unravel_index(apart.argmax(), apart.shape)))
    return (
        f"Tensor-likes are not close!\nMismatched elements: {off.sum()} / {off.size}\n"
        f"Greatest absolute difference: {apart.max()} at index {place} "
        f"(atol {atol} and rtol {rtol} allowed)"
    )


# ------------------------------------------------------------------ precision on a GPU


class autocast(ContextDecorator, nullcontext[None]):
    """Compute in the precision that tensors have; for a GPU, warn that there is none.

    Args:
        device_type: Where PyTorch would change the precision.
        dtype: To which type.
        enabled: Whether to.
        cache_enabled: Whether to keep the weights that were rounded.

    Raises:
        NotImplementedError: For the CPU, where PyTorch would compute in half precision.
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
    ) -> None:
        super().__init__()
        if enabled and device_type == "cpu":
            raise NotImplementedError(
                "minigrad has no autocast for the CPU: leave it out, or say enabled=False"
            )
        if enabled:
            warn("CUDA is not available. Disabling autocast.")


class GradScaler:
    """Scale nothing: without a GPU, PyTorch's is switched off, too.

    Args:
        device: Where tensors would be.
        **options: PyTorch's others; `enabled=False` saves the warning.

    Example:
        >>> import minigrad as torch
        >>> torch.amp.GradScaler(enabled=False).scale(torch.ones(1))
        tensor([1.])
    """

    def __init__(self, device: str = "cuda", **options: Any) -> None:
        if options.get("enabled", True):
            warn("CUDA is not available. Disabling GradScaler.")

    def scale(self, outputs: Any) -> Any:
        """Give what it gets."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Leave the gradients."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Let the optimizer take its step."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Leave the factor."""


cuda = SimpleNamespace(
    autocast=lambda enabled=True, **options: autocast("cuda", enabled=enabled, **options),
    GradScaler=GradScaler,
)
