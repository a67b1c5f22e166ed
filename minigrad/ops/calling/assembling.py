"""Call the less usual operations that join tensors: hstack, block_diag and so on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.ops import joining, shape
from minigrad.ops.calling import pieces, shaping
from minigrad.ops.calling.out import with_out
from minigrad.ops.calling.pieces import check_tensors
from minigrad.tensor import Tensor

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "column_stack",
    "concat",
    "concatenate",
    "dstack",
    "hstack",
    "row_stack",
    "vstack",
]


@with_out
def concat(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Join tensors along a dimension, as `cat` does."""
    _check_sequence("concat", tensors)
    return pieces.cat(tensors, dim, axis=axis)


@with_out
def concatenate(tensors: Sequence[Tensor], dim: int = 0, *, axis: int | None = None) -> Tensor:
    """Join tensors along a dimension, as `cat` does."""
    _check_sequence("concatenate", tensors)
    return pieces.cat(tensors, dim if axis is None else axis)


def _check_sequence(name: str, tensors: Any) -> None:
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
            f"{type(tensors).__name__}"
        )
    check_tensors(tensors)


def _given(name: str, tensors: Any) -> list[Tensor]:
    _check_sequence(name, tensors)
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return list(tensors)


def _each(function: Any, name: str, tensors: tuple[Any, ...]) -> Any:
    """Apply a function to one tensor, or to each of several."""
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return function(tensors[0])
    several = tensors[0] if len(tensors) == 1 else tensors
    if not isinstance(several, (tuple, list)):
        raise TypeError(
            f"{name}() received an invalid combination of arguments - got "
            f"({type(several).__name__}), but expected a tensor or several"
        )
    check_tensors(several)
    return tuple(map(function, several))


def _one(tensor: Tensor) -> Tensor:
    return tensor if tensor.ndim else shaping.reshape(tensor, (1,))


def _two(tensor: Tensor) -> Tensor:
    if tensor.ndim > 1:
        return tensor
    return shape.unsqueeze(tensor, 0) if tensor.ndim else shaping.reshape(tensor, (1, 1))


def _three(tensor: Tensor) -> Tensor:
    if tensor.ndim > 2:
        return tensor
    if not tensor.ndim:
        return shaping.reshape(tensor, (1, 1, 1))
    return shape.unsqueeze(tensor if tensor.ndim == 2 else shape.unsqueeze(tensor, 0), 2)  # type: ignore[no-any-return]


def atleast_1d(*tensors: Any) -> Any:
    """Give a tensor, or each of several, with at least one dimension.

    Example:
        >>> import minigrad as torch
        >>> torch.atleast_1d(torch.tensor(1.0))
        tensor([1.])
    """
    return _each(_one, "atleast_1d", tensors)


def atleast_2d(*tensors: Any) -> Any:
    """Give a tensor, or each of several, with at least two dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.atleast_2d(torch.tensor([1.0, 2.0]))
        tensor([[1., 2.]])
    """
    return _each(_two, "atleast_2d", tensors)


def atleast_3d(*tensors: Any) -> Any:
    """Give a tensor, or each of several, with at least three dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.atleast_3d(torch.tensor([1.0, 2.0])).shape
        torch.Size([1, 2, 1])
    """
    return _each(_three, "atleast_3d", tensors)


@with_out
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors side by side: along the second dimension, vectors along their only one.

    Example:
        >>> import minigrad as torch
        >>> torch.hstack([torch.tensor([1, 2]), torch.tensor([3])])
        tensor([1, 2, 3])
    """
    given = [_one(tensor) for tensor in _given("hstack", tensors)]
    return pieces.cat(given, 0 if given[0].ndim == 1 else 1)


@with_out
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors one below the other: along the first dimension, vectors as rows.

    Example:
        >>> import minigrad as torch
        >>> torch.vstack([torch.tensor([1, 2]), torch.tensor([3, 4])])
        tensor([[1, 2],
                [3, 4]])
    """
    return pieces.cat([_two(tensor) for tensor in _given("vstack", tensors)], 0)


@with_out
def row_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors one below the other, as `vstack` does."""
    return vstack(tensors)  # type: ignore[no-any-return]


@with_out
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors one behind the other: along the third dimension.

    Example:
        >>> import minigrad as torch
        >>> torch.dstack([torch.tensor([1, 2]), torch.tensor([3, 4])])
        tensor([[[1, 3],
                 [2, 4]]])
    """
    return pieces.cat([_three(tensor) for tensor in _given("dstack", tensors)], 2)


@with_out
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Join tensors side by side, vectors as columns.

    Example:
        >>> import minigrad as torch
        >>> torch.column_stack([torch.tensor([1, 2]), torch.tensor([3, 4])])
        tensor([[1, 3],
                [2, 4]])
    """
    given = _given("column_stack", tensors)
    columns = [t if t.ndim > 1 else shaping.reshape(t, (t.numel(), 1)) for t in given]
    return pieces.cat(columns, 1)


def block_diag(*tensors: Tensor) -> Tensor:
    """Give a matrix with the tensors along its diagonal, and zeros elsewhere.

    Args:
        *tensors: Matrices; vectors count as rows, and numbers as matrices of one entry.

    Raises:
        RuntimeError: If a tensor has more dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.block_diag(torch.tensor([[1, 2]]), torch.tensor([3]))
        tensor([[1, 2, 0],
                [0, 0, 3]])
    """
    check_tensors(tensors)
    for position, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{position} has {tensor.ndim} dimensions"
            )
    return joining.block_diag(tensors)


methods: dict[str, Any] = {}
