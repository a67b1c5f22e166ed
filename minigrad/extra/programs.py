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

# By dtype: rtol and atol.
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
    options = {"rtol": rtol, "atol": atol, "equal_nan": equal_nan, "check_dtype": check_dtype}
    several = isinstance(expected, Sequence) and not isinstance(expected, str)
    try:
        if isinstance(expected, Mapping) or several:
            keys = expected if isinstance(expected, Mapping) else range(len(expected))
            _assert(len(actual) == len(keys), f"{len(actual)} entries, and not {len(keys)}")
            for key in keys:
                _assert(several or key in actual, f"There is no entry {key!r}")
                assert_close(actual[key], expected[key], **options)
            return
        a, b = (np.asarray(getattr(x, "_array", x)) for x in (actual, expected))
        _assert(a.shape == b.shape, f"The shapes do not match: {a.shape} != {b.shape}")
        same = not (check_dtype and isinstance(actual, Tensor)) or a.dtype == b.dtype
        _assert(same, f"The dtypes do not match: {a.dtype} != {b.dtype}")
        usual = [_TOLERANCES.get(each.dtype.str[1:], (0.0, 0.0)) for each in (a, b)]
        relative, absolute = map(max, *usual) if rtol is None else (rtol, atol)
        np.testing.assert_allclose(a, b, relative, absolute, equal_nan)
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


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
