"""Ask for speed or for repeatable runs as PyTorch's scripts do; here the numbers stay the same.

minigrad gives the same numbers for the same seed with every one of these settings. They are kept
and given back, so that a script runs unchanged.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

from minigrad.autograd.type_name import type_name

__all__ = [
    "are_deterministic_algorithms_enabled",
    "compile",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_float32_matmul_precision",
    "set_num_interop_threads",
    "set_num_threads",
    "use_deterministic_algorithms",
]

methods: dict[str, Any] = {}

_settings: dict[str, Any] = {
    "threads": os.cpu_count() or 1,
    "interop threads": os.cpu_count() or 1,
    "deterministic": False,
    "warn only": False,
    "precision": "highest",
}


def get_num_threads() -> int:
    """Give the number of threads that was set, or the number of processors."""
    return _settings["threads"]  # type: ignore[no-any-return]


def set_num_threads(int: int) -> None:
    """Keep a number of threads for `get_num_threads`.

    NumPy's matrix products choose their threads when NumPy is loaded: set OMP_NUM_THREADS in the
    environment before Python starts to change that.

    Args:
        int: The number, at least 1.

    Raises:
        RuntimeError: If it is not a positive integer.

    Example:
        >>> import minigrad as torch
        >>> torch.set_num_threads(1)
        >>> torch.get_num_threads()
        1
    """
    _settings["threads"] = _positive(int, "set_num_threads")


def get_num_interop_threads() -> int:
    """Give the number of threads between operations that was set, or that of processors."""
    return _settings["interop threads"]  # type: ignore[no-any-return]


def set_num_interop_threads(int: int) -> None:
    """Keep a number of threads for `get_num_interop_threads`; operations run one by one here."""
    _settings["interop threads"] = _positive(int, "set_num_interop_threads")


def _positive(number: Any, caller: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise RuntimeError(f"{caller} expects an int, but got {type_name(number)}")
    if number <= 0:
        raise RuntimeError(f"{caller} expects a positive integer")
    return number


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for operations that give the same result each time; all of minigrad's do.

    Args:
        mode: Whether to ask for it.
        warn_only: Whether PyTorch would warn instead of raise where it has no such operation.

    Example:
        >>> import minigrad as torch
        >>> torch.use_deterministic_algorithms(True)
        >>> torch.are_deterministic_algorithms_enabled()
        True
        >>> torch.use_deterministic_algorithms(False)
    """
    _settings["deterministic"], _settings["warn only"] = bool(mode), bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Tell what `use_deterministic_algorithms` was given last."""
    return _settings["deterministic"]  # type: ignore[no-any-return]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Tell which `warn_only` `use_deterministic_algorithms` was given last."""
    return _settings["warn only"]  # type: ignore[no-any-return]


def set_float32_matmul_precision(precision: str) -> None:
    """Keep a precision for matrix products; they are computed in full float32 whatever it is.

    Args:
        precision: "highest", "high" or "medium".
    """
    if precision not in ("highest", "high", "medium"):
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            UserWarning,
            stacklevel=2,
        )
        return
    _settings["precision"] = precision


def get_float32_matmul_precision() -> str:
    """Give what `set_float32_matmul_precision` was given last."""
    return _settings["precision"]  # type: ignore[no-any-return]


def compile(model: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return a module or function as it is: there is no compiler here, and the numbers are equal.

    Args:
        model: The module or function, or None for a decorator.
        **options: PyTorch's `fullgraph`, `dynamic`, `backend`, `mode`, `options` and `disable`.

    Example:
        >>> import minigrad as torch
        >>> square = torch.compile(lambda x: x * x)
        >>> square(torch.tensor(3.0))
        tensor(9.)
    """
    unknown = options.keys() - {"fullgraph", "dynamic", "backend", "mode", "options", "disable"}
    if unknown:
        raise TypeError(f"compile() got an unexpected keyword argument '{min(unknown)}'")
    if model is None:
        return lambda later: later
    return model
