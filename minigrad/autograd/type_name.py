"""Name a type in an error message as PyTorch does."""

from __future__ import annotations

from typing import Any

_MADE_BY_PYTHON_CODE = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def type_name(value: Any) -> str:
    """Name the type of a value; types that C code made are named with their module.

    Example:
        >>> import numpy as np
        >>> type_name(np.zeros(2)), type_name([1.0])
        ('numpy.ndarray', 'list')
    """
    kind = type(value)
    if kind.__flags__ & _MADE_BY_PYTHON_CODE or kind.__module__ == "builtins":
        return kind.__name__
    return f"{kind.__module__}.{kind.__name__}"
