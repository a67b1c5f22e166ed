"""Ask for a GPU and learn that there is none: `minigrad.cuda.is_available()` is False."""

from __future__ import annotations

from typing import Any, NoReturn

_NO_CUDA = "Torch not compiled with CUDA enabled. minigrad computes on the CPU only."


def is_available() -> bool:
    """Tell that there is no GPU to compute on.

    Example:
        >>> import minigrad as torch
        >>> torch.device("cuda" if torch.cuda.is_available() else "cpu")
        device(type='cpu')
    """
    return False


def is_initialized() -> bool:
    """Tell that no GPU is in use."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Tell that there is no bfloat16 on a GPU."""
    return False


def device_count() -> int:
    """Count the GPUs: none."""
    return 0


def memory_allocated(device: Any = None) -> int:
    """Count the bytes on GPUs: none."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """Count the bytes that there ever were on GPUs: none."""
    return 0


def empty_cache() -> None:
    """Free the memory of GPUs: there is nothing to do."""


def manual_seed(seed: int) -> None:
    """Seed the random numbers of a GPU: there is nothing to do."""


def manual_seed_all(seed: int) -> None:
    """Seed the random numbers of all GPUs: there is nothing to do."""


def _refuse(*arguments: Any, **options: Any) -> NoReturn:
    """Raise, because there is no GPU."""
    raise AssertionError(_NO_CUDA)


current_device = get_device_name = get_device_properties = get_device_capability = _refuse
synchronize = set_device = reset_peak_memory_stats = current_stream = _refuse
