"""Call the operations that combine the entries of vectors: grids, products, combinations."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.ops import choices, joining, shape
from minigrad.ops.calling import shaping
from minigrad.ops.calling.pieces import check_tensors
from minigrad.tensor import Tensor, wrap

__all__ = ["cartesian_prod", "combinations", "meshgrid"]


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Give the coordinates of all points of a grid, from those along each axis.

    Args:
        *tensors: The coordinates along each axis; one by one or in a sequence.
        indexing: "ij": the first axis is the first dimension. "xy": the first two are exchanged, as
            in pictures. PyTorch warns if nothing is said, and takes "ij".

    Returns:
        For each axis a view of the shape of the grid.

    Raises:
        RuntimeError: If the tensors have several dimensions or different types.

    Example:
        >>> import minigrad as torch
        >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")[0]
        tensor([[1, 1],
                [2, 2]])
    """
    several = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    check_tensors(several)
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            'argument. Say indexing="ij" for the meaning it has now.',
            UserWarning,
            stacklevel=2,
        )
    if not several:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for tensor in several:
        if tensor.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"{tensor._array}"
            )
        if tensor._array.dtype != several[0]._array.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    return _grid(several, swapped=indexing == "xy" and len(several) > 1)


def _grid(tensors: Sequence[Tensor], swapped: bool = False) -> tuple[Tensor, ...]:
    places = list(range(len(tensors)))
    if swapped:
        places[:2] = [1, 0]
    sizes = tuple(tensors[place].numel() for place in places)
    grids = []
    for place, tensor in zip(places, tensors, strict=True):
        line = [1] * len(tensors)
        line[place] = tensor.numel()
        grids.append(shape.expand(shape.view(tensor, tuple(line)), sizes))
    return tuple(grids)


def _check_vectors(tensors: Sequence[Any]) -> None:
    for tensor in tensors:
        if tensor.ndim != 1:
            raise RuntimeError(f"Expect a 1D vector, but got shape {list(tensor._array.shape)}")


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Give all ways to choose one entry of each vector, one way in a row.

    Raises:
        RuntimeError: If one of the tensors is no vector.

    Example:
        >>> import minigrad as torch
        >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
        tensor([[1, 3],
                [1, 4],
                [2, 3],
                [2, 4]])
    """
    check_tensors(tensors)
    _check_vectors(tensors)
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if len(tensors) == 1:
        return tensors[0]
    flat = [shaping.flatten(grid) for grid in _grid(tensors)]
    return joining.stack(flat, 1)


def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Give all ways to choose r entries of a vector, in order, one way in a row.

    Args:
        input: A vector.
        r: How many are chosen.
        with_replacement: Whether an entry may be chosen several times.

    Raises:
        RuntimeError: If the tensor is no vector, or `r` is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.combinations(torch.tensor([1, 2, 3]))
        tensor([[1, 2],
                [1, 3],
                [2, 3]])
    """
    _check_vectors([input])
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return wrap(np.zeros(0, input._array.dtype))
    grids = _grid([input] * r)
    places = np.meshgrid(*[np.arange(input.numel())] * r, indexing="ij")
    chosen = np.ones(places[0].shape, bool)
    for first, second in itertools.pairwise(places):
        chosen &= first <= second if with_replacement else first < second
    mask = wrap(chosen)
    return joining.stack([choices.masked_select(grid, mask) for grid in grids], 1)


methods: dict[str, Any] = {}
