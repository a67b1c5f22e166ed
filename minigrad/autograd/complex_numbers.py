"""Refuse gradients of complex numbers, which minigrad can hold but does not differentiate."""

from __future__ import annotations

from typing import Any


def can_require_grad(dtype: Any) -> bool:
    """Tell whether values of a NumPy dtype can be differentiated; symbols (objects) can.

    Raises:
        NotImplementedError: If they are complex.
    """
    refuse_complex(dtype)
    return dtype.kind not in "iub"


def refuse_complex(dtype: Any) -> None:
    r"""Raise if a tensor that is to require a gradient has a complex NumPy dtype.

    PyTorch's gradient of a real :math:`L` with respect to :math:`z = x + iy` is :math:`\partial L
    / \partial x + i \, \partial L / \partial y`, so its rules conjugate: that of :math:`z^2`
    gives :math:`2 \bar z`. The rules of minigrad's book do not, and would be wrong without a word.
    """
    if dtype.kind == "c":
        raise NotImplementedError(
            "minigrad does not differentiate complex numbers: a complex tensor can hold values, "
            "but it cannot require a gradient. Keep the real and the imaginary part in two real "
            "tensors, or compute under no_grad()."
        )
