"""Stand for PyTorch's mixed precision on GPUs, which without a GPU is switched off, and says so."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import SimpleNamespace
from typing import Any

from minigrad.autograd.messages import warn
from minigrad.creation.dtypes import float16

_UNSUPPORTED = (
    "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
    "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
)


class autocast(ContextDecorator):
    """Compute in the precision that tensors have; for a GPU, warn that there is none.

    Args:
        device_type: Where PyTorch would change the precision.
        dtype: To which type.
        enabled: Whether to.
        cache_enabled: Whether to keep the weights that were rounded.

    Raises:
        NotImplementedError: For the CPU, where PyTorch would compute in half precision.

    Example:
        >>> import minigrad as torch
        >>> with torch.amp.autocast("cuda", enabled=False):
        ...     torch.ones(1).dtype
        torch.float32
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        on_cpu = device_type == "cpu"
        if enabled and on_cpu and dtype in (None, float16):
            raise NotImplementedError(
                "on the CPU PyTorch would compute in bfloat16, which NumPy has not. Leave autocast "
                "out, or say enabled=False."
            )
        if enabled:
            warn(_UNSUPPORTED if on_cpu else "CUDA is not available. Disabling autocast.")

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *exception: object) -> None:
        """Change nothing back."""


class GradScaler:
    """Scale nothing: without a GPU, PyTorch's is switched off, too.

    Args:
        device: Where tensors would be.
        **options: PyTorch's others; `enabled=False` saves the warning.

    Example:
        >>> import minigrad as torch
        >>> scaler = torch.amp.GradScaler(enabled=False)
        >>> scaler.scale(torch.ones(1)), scaler.get_scale()
        (tensor([1.]), 1.0)
    """

    def __init__(self, device: str = "cuda", **options: Any) -> None:
        if options.get("enabled", True):
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")

    def is_enabled(self) -> bool:
        """Tell whether it scales."""
        return False

    def scale(self, outputs: Any) -> Any:
        """Give what it gets."""
        return outputs

    def get_scale(self) -> float:
        """Give the factor."""
        return 1.0

    def unscale_(self, optimizer: Any) -> None:
        """Leave the gradients."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Let the optimizer take its step."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Leave the factor."""

    def state_dict(self) -> dict[str, Any]:
        """Give nothing."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take nothing."""


def _autocast(enabled: bool = True, dtype: Any = None, cache_enabled: bool = True) -> autocast:
    _warn_of_the_old_name("autocast")
    return autocast("cuda", dtype, enabled, cache_enabled)


def _scaler(**options: Any) -> GradScaler:
    _warn_of_the_old_name("GradScaler")
    return GradScaler(**options)


def _warn_of_the_old_name(name: str) -> None:
    now = f"`torch.amp.{name}('cuda', args...)`"
    warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use {now} instead.", FutureWarning
    )


cuda = SimpleNamespace(autocast=_autocast, GradScaler=_scaler)
