"""Call the trigonometric and hyperbolic functions and their inverses, as functions and methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops import trigonometry
from minigrad.ops.calling.entrywise import named, of_floats, of_two, on_tensors, with_in_place
from minigrad.ops.calling.out import with_out
from minigrad.ops.inplace import in_place
from minigrad.tensor import Tensor

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


def _refused(function: Any) -> Any:
    """Make the in-place method whose derivative PyTorch has left out."""
    name = function.__name__

    def refuse(node: Any, gradient: Any, keep: bool = True) -> Any:
        raise NotImplementedError(
            f"the derivative for 'inplace version of {name}' is not implemented. Write "
            f"x = x.{name}(), which has one."
        )

    def operation(input: Tensor) -> Tensor:
        result = function(input)
        node = result._edge and result._edge[0]
        if node is not None:
            node.__class__ = kinds[type(node)]
        return result  # type: ignore[no-any-return]

    kind = getattr(trigonometry, name).node
    names = {"__slots__": (), "__doc__": f"In place: {name}.", "_run": refuse}
    kinds = {kind: type(f"{kind.__name__[:-1]}1", (kind,), names | {"_run_recorded": refuse})}
    return in_place(named(operation, function))


for _function in (_asinh, _acosh, _atanh):
    _name = _function.__name__
    methods[f"{_name}_"] = methods[f"arc{_name[1:]}_"] = _refused(_function)

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
