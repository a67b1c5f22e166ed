"""Let NumPy's functions that rearrange, join and take apart record themselves on tensors.

Their arguments are NumPy's: `axis`, not `dim`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.ops.calling import (
    assembling,
    dividing,
    gridding,
    padding,
    rearranging,
    repeating,
    taking,
)
from minigrad.ops.calling.numpy_memory import by_numpy
from minigrad.tensor import Tensor, wrap

__all__: list[str] = []
methods: dict[str, Any] = {}


def _tensor(value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else wrap(np.asarray(value))


def _tensors(values: Any) -> list[Tensor]:
    return [_tensor(value) for value in values]


def _each(function: Any) -> Any:
    """Let a function of tensors accept arrays and numbers among them."""
    return lambda tup, **options: function(_tensors(tup))


def _at_least(function: Any) -> Any:
    return lambda *arrays: function(*_tensors(arrays))


def _split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    sections = indices_or_sections
    if isinstance(sections, int) and ary.shape[axis] % sections:
        raise ValueError("array split does not result in an equal division")
    return _array_split(ary, sections, axis)


def _array_split(ary: Tensor, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    return list(dividing.tensor_split(ary, indices_or_sections, axis))


def _along(axis: int) -> Any:
    def divide(ary: Tensor, indices_or_sections: Any) -> list[Tensor]:
        return _split(ary, indices_or_sections, 0 if ary.ndim == 1 else axis)

    return divide


def _tile(A: Tensor, reps: Any) -> Tensor:
    counts = (reps,) if isinstance(reps, (int, np.integer)) else tuple(reps)
    return repeating.tile(_tensor(A), counts)


def _repeat(a: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    many = repeats if isinstance(repeats, int) else _tensor(repeats)
    return repeating.repeat_interleave(_tensor(a), many, axis)


def _roll(a: Tensor, shift: Any, axis: Any = None) -> Tensor:
    if axis is not None and isinstance(shift, int) and isinstance(axis, tuple):
        shift = (shift,) * len(axis)
    return rearranging.roll(a, shift, () if axis is None else axis)


def _rot90(m: Tensor, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    return rearranging.rot90(m, k, axes)


def _take(a: Tensor, indices: Any, axis: int | None = None, **options: Any) -> Tensor:
    places = _tensor(indices)._array
    if axis is None:
        return taking.methods["take"](_tensor(a), wrap(places.astype(np.int64)))  # type: ignore[no-any-return]
    key = (slice(None),) * (axis % a.ndim) + (int(places) if not places.ndim else wrap(places),)
    return _tensor(a)[key]


def _take_along_axis(arr: Tensor, indices: Any, axis: int | None = -1) -> Tensor:
    places = wrap(_tensor(indices)._array.astype(np.int64))
    return taking.methods["take_along_dim"](_tensor(arr), places, axis)  # type: ignore[no-any-return]


def _pad(array: Tensor, pad_width: Any, mode: str = "constant", **options: Any) -> Tensor:
    modes = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    if mode not in modes:
        raise NotImplementedError(f"np.pad has no mode={mode!r} for tensors.")
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2))[::-1]
    flat = [int(width) for pair in widths for width in pair]
    value = options.pop("constant_values", None)
    if options or not (value is None or np.isscalar(value)):
        raise NotImplementedError("np.pad takes one number as constant_values for tensors.")
    return padding.pad_all(array, flat, modes[mode], value)


def _broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Tensor, ...]:
    if any(not isinstance(each, (Tensor, int, float, np.ndarray)) for each in args):
        return by_numpy(np.broadcast_arrays, *args, subok=subok)  # type: ignore[no-any-return]
    return repeating.broadcast_tensors(*_tensors(args))


def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    if sparse:
        raise NotImplementedError("np.meshgrid has no sparse=True for tensors.")
    return gridding.meshgrid(*_tensors(xi), indexing=indexing)


functions: dict[Any, Any] = {
    np.array_split: _array_split,
    np.atleast_1d: _at_least(assembling.atleast_1d),
    np.atleast_2d: _at_least(assembling.atleast_2d),
    np.atleast_3d: _at_least(assembling.atleast_3d),
    np.broadcast_arrays: _broadcast_arrays,
    np.column_stack: _each(assembling.column_stack),
    np.dsplit: _along(2),
    np.dstack: _each(assembling.dstack),
    np.fliplr: rearranging.fliplr,
    np.flipud: rearranging.flipud,
    np.hsplit: _along(1),
    np.hstack: _each(assembling.hstack),
    np.meshgrid: _meshgrid,
    np.moveaxis: lambda a, source, destination: rearranging.movedim(a, source, destination),
    np.pad: _pad,
    np.repeat: _repeat,
    np.roll: _roll,
    np.rot90: _rot90,
    np.split: _split,
    np.take: _take,
    np.take_along_axis: _take_along_axis,
    np.tile: _tile,
    np.vsplit: _along(0),
    np.vstack: _each(assembling.vstack),
}
