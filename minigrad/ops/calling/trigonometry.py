"""Call the trigonometric and hyperbolic functions and their inverses, as functions and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import trigonometry
from minigrad.ops.calling.entrywise import named, of_floats, of_two, on_tensors, with_in_place
from minigrad.ops.calling.out import with_out

__all__ = [
    "acos",
    "acosh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cosh",
    "deg2rad",
    "hypot",
    "rad2deg",
    "sinc",
    "sinh",
    "tan",
]

_tan, _asin, _acos, _atan = map(
    of_floats, (trigonometry.tan, trigonometry.asin, trigonometry.acos, trigonometry.atan)
)
_sinh, _cosh = map(of_floats, (trigonometry.sinh, trigonometry.cosh))
_asinh, _acosh, _atanh = map(
    of_floats, (trigonometry.asinh, trigonometry.acosh, trigonometry.atanh)
)
_sinc, _deg2rad, _rad2deg = map(
    of_floats, (trigonometry.sinc, trigonometry.deg2rad, trigonometry.rad2deg)
)
_atan2 = of_two(trigonometry.atan2, floats=True)
_hypot = of_two(trigonometry.hypot, refuses="iub", kernel="hypot_cpu")

tan, asin, acos, atan = map(with_out, (_tan, _asin, _acos, _atan))
sinh, cosh, asinh, acosh, atanh = map(with_out, (_sinh, _cosh, _asinh, _acosh, _atanh))
sinc, deg2rad, rad2deg = map(with_out, (_sinc, _deg2rad, _rad2deg))
atan2, hypot = map(with_out, (_atan2, _hypot))
arcsin, arccos, arctan, arctan2 = asin, acos, atan, atan2
arcsinh, arccosh, arctanh = asinh, acosh, atanh

methods: dict[str, Any] = with_in_place(
    (
        _tan, _asin, _acos, _atan, _sinh, _cosh, _asinh, _acosh, _atanh, _sinc, _deg2rad, _rad2deg,
        _atan2, _hypot,
    )
)  # fmt: skip
for _name in ("asin", "acos", "atan", "asinh", "acosh", "atanh", "atan2"):
    methods[f"arc{_name[1:]}"] = methods[_name]
    methods[f"arc{_name[1:]}_"] = methods[f"{_name}_"]

ufuncs: dict[Any, Any] = {
    np.tan: _tan,
    np.arcsin: _asin,
    np.arccos: _acos,
    np.arctan: _atan,
    np.sinh: _sinh,
    np.cosh: _cosh,
    np.arcsinh: _asinh,
    np.arccosh: _acosh,
    np.arctanh: _atanh,
    np.deg2rad: _deg2rad,
    np.radians: _deg2rad,
    np.rad2deg: _rad2deg,
    np.degrees: _rad2deg,
    np.arctan2: on_tensors(_atan2),
    np.hypot: on_tensors(_hypot),
}

functions: dict[Any, Any] = {np.sinc: named(lambda x: _sinc(x), trigonometry.sinc)}
