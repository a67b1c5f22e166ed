"""Give the same entries another shape: reshape, transpose, squeeze, flip, move dimensions.

No entry changes its value, so the rules only bring gradients back to the places the entries came
from. Most results are views: they share the memory of the input.
"""

from __future__ import annotations

import math
import operator
import warnings
from itertools import accumulate
from typing import Any

import numpy as np

from minigrad.autograd.messages import wrong_type
from minigrad.autograd.rules import dispatch
from minigrad.core.node import sum_to_shape
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.signatures import arguments, attach, variants
from minigrad.signatures.arguments import different, dimension, sizes_given
from minigrad.signatures.signature import Dim, Sizes

# ------------------------------------------------------------------- the same entries, other shape


def _back(grad: Any, self_sym_sizes: Any) -> Any:
    return grad.reshape(self_sym_sizes)


@operation("ViewBackward0", view=True, self=_back)
def view(self: Array, size: tuple[int, ...]) -> Array:
    """The same entries in another shape: the gradient goes back to the old shape."""
    result = self.reshape(size)
    if result.size and not np.may_share_memory(result, self):
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return result


@operation("ReshapeAliasBackward0", view=True, self=_back)
def reshape_alias(self: Array, size: tuple[int, ...]) -> Array:
    """A view in another shape of a tensor that does not lie in memory in order."""
    return self.reshape(size)


@operation("UnsafeViewBackward0", self=_back)
def unsafe_view(self: Array, size: tuple[int, ...]) -> Array:
    """A view of a tensor that nobody else will see."""
    return self.reshape(size)


@operation("AliasBackward0", view=True, self=lambda grad: grad)
def alias(self: Array) -> Array:
    """The same tensor as a view: the gradient passes as it is."""
    return self[...]


@operation("CloneBackward0", self=lambda grad: grad)
def clone(self: Array) -> Array:
    """Copy: the gradient passes as it is."""
    repeats = 0 in self.strides and self.size  # NumPy's order of memory is another one there
    return np.copy(self, order="C" if repeats else "K", subok=True)


@operation("CloneBackward0", self=lambda grad: grad)
def clone_contiguous(self: Array) -> Array:
    """Copy in the order of printing: the gradient passes as it is."""
    return np.copy(self, order="C", subok=True)


@operation("ToCopyBackward0", broadcasts=True, self=lambda grad: grad)
def to_copy(self: Array, dtype: Any) -> Array:
    """Copy in another type: the gradient is converted back."""
    return self.astype(dtype)


@operation(
    "CopyBackwards", broadcasts=True, self=lambda grad: np.zeros_like(grad), src=lambda grad: grad
)
def copy_values(self: Array, src: Array) -> Array:
    """Write one tensor's values over another's: the gradient goes to the source alone."""
    return np.broadcast_to(src, self.shape, subok=True).astype(self.dtype)


copy_values.node.name = lambda node: "torch::autograd::CopyBackwards"  # as PyTorch calls it


@operation("ZeroBackward0", self=lambda grad: np.zeros_like(grad))
def zeros(self: Array) -> Array:
    """Zeros instead of a tensor: no gradient passes."""
    return np.zeros_like(self)


@operation("FillBackward2", self=lambda grad: np.zeros_like(grad))
def filled(self: Array, value: Any) -> Array:
    """One number instead of all entries: no gradient passes."""
    return np.full_like(self, value)


@operation(
    "FillBackward3", broadcasts=True, self=lambda grad: np.zeros_like(grad), value=lambda grad: grad
)
def filled_with(self: Array, value: Array) -> Array:
    """One tensor's only entry instead of all entries: it collects their gradients."""
    return np.broadcast_to(value, self.shape, subok=True).astype(self.dtype)


def resolved(count: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Work out a size given as -1, where the entries are so many.

    Raises:
        RuntimeError: If there are several, or no size will do.
    """
    known = math.prod(sizes)
    if known == count and (known > 0 or min(sizes) >= 0):
        return sizes
    rest = math.prod([size for size in sizes if size != -1])
    if sizes.count(-1) == 1 and rest > 0 and count % rest == 0:
        return tuple([count // rest if size == -1 else size for size in sizes])
    raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {count}")


def view_method(input: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """Show the same memory in another shape, of which one size may be -1."""
    try:
        return view(input, resolved(input._array.size, sizes_given("view", "size", sizes, size)))
    except AttributeError:
        raise wrong_type("view", "self", "Tensor", input) from None


@variants("reshape")
def reshaped(input: Tensor, shape: Sizes) -> Tensor:
    """Give the same entries in another shape: a view where the memory allows it, else a copy."""
    return reshape(input, resolved(input._array.size, shape))


def reshape(tensor: Tensor, size: tuple[int, ...]) -> Tensor:
    """Reshape to a known size: a view where the memory allows it, else a copy."""
    array = tensor._array
    if array.flags.c_contiguous:
        return view(tensor, size)
    if _needs_no_copy(array, size):
        return reshape_alias(tensor, size)
    return unsafe_view(clone_contiguous(tensor), size)


def _needs_no_copy(array: Any, size: tuple[int, ...]) -> bool:
    """Tell whether an array can be seen in another shape: if that divides at each gap in memory."""
    dims = [dim for dim in zip(array.shape, array.strides, strict=True) if dim[0] != 1]
    reached = accumulate((count for count, _ in dims), operator.mul)
    pairs = zip(reached, dims, dims[1:], strict=False)
    gaps = {place for place, (_, step), (count, inner) in pairs if step != count * inner}
    return gaps <= {*accumulate(size, operator.mul)}


@variants()
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Merge a range of dimensions into one."""
    sizes = input._array.shape
    first, last = dimension(start_dim, len(sizes)), dimension(end_dim, len(sizes))
    if first > last:
        raise RuntimeError("flatten(): start_dim cannot come after end_dim")
    if first == last and sizes:
        return input
    return reshape(input, (*sizes[:first], math.prod(sizes[first : last + 1]), *sizes[last + 1 :]))


@variants()
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Make several dimensions of one; one of their sizes may be -1.

    Args:
        input: The tensor.
        dim: The dimension to take apart.
        sizes: The sizes of the dimensions in its place.

    Raises:
        RuntimeError: If they do not multiply to the size of the dimension.

    Example:
        >>> import minigrad as torch
        >>> torch.unflatten(torch.zeros(2, 6), 1, (3, -1)).shape
        torch.Size([2, 3, 2])
    """
    target = arguments.sequence_of("unflatten", "sizes", sizes)
    number, have = dimension(dim, input.ndim), input._array.shape
    inferred = resolved(have[number], target)
    return view(input, (*have[:number], *inferred, *have[number + 1 :]))


@variants()
def ravel(input: Tensor) -> Tensor:
    """Give all entries in a row: a view where the memory allows it, else a copy."""
    whole = input if input.is_contiguous() else clone_contiguous(input)
    return view(whole, (whole._array.size,))


# ---------------------------------------------------------------------- order of dimensions


def _t(matrix: Any) -> Any:
    return t(matrix) if isinstance(matrix, Tensor) else matrix.T


@variants("t", in_place=True, writes="shape")
def transposed(input: Tensor) -> Tensor:
    """Transpose a matrix."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D.")
    return t(input)


@operation("TBackward0", view=True, self=_t)
def t(self: Array) -> Array:
    """Transpose of a matrix: so is the gradient."""
    return self.T


@variants(also="swapdims", in_place=True, writes="shape")
@operation(
    "TransposeBackward0",
    view=True,
    self=lambda grad, dim0, dim1: np.swapaxes(grad, dim0, dim1) if grad.ndim else grad,
)
def transpose(self: Array, dim0: Dim, dim1: Dim) -> Array:
    """Exchange two dimensions: the rule exchanges them again."""
    return self.swapaxes(dim0, dim1) if self.ndim else self[...]


@variants(in_place=True, writes="shape")
def swapaxes(input: Tensor, axis0: Dim, axis1: Dim) -> Tensor:
    """Exchange two dimensions: `transpose` under NumPy's name."""
    return transpose(input, axis0, axis1)


@operation(
    "PermuteBackward0",
    view=True,
    self=lambda grad, dims: np.transpose(grad, tuple(map(dims.index, range(len(dims))))),
)
def permute(self: Array, dims: tuple[int, ...]) -> Array:
    """Reorder dimensions: the rule applies the inverse permutation."""
    return self.transpose(dims)


@variants("permute")
def permuted(input: Tensor, dims: Sizes) -> Tensor:
    """Reorder the dimensions."""
    order = different(dims, input.ndim)
    if len(order) != input.ndim:
        permute(input, tuple(range(input.ndim)))  # of a stale view, that is said first
        raise RuntimeError(f"permute(): {input.ndim} dimensions are not put in order by {dims}")
    return permute(input, order)


@variants(also="moveaxis", numpy=np.moveaxis)
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Move dimensions to other places; the others keep their order.

    Args:
        input: The tensor.
        source: The dimension, or several.
        destination: Where each of them goes.

    Raises:
        RuntimeError: If a dimension is named twice, or there are not as many destinations.

    Example:
        >>> import minigrad as torch
        >>> torch.movedim(torch.zeros(2, 3, 4), 0, -1).shape
        torch.Size([3, 4, 2])
    """
    given, places = (
        different(each if isinstance(each, (tuple, list)) else (each,), input.ndim)
        for each in (source, destination)
    )
    if len(given) != len(places):
        raise RuntimeError(f"movedim(): {source} and {destination} are not equally many")
    if not input.ndim:
        return alias(input)
    order = [d for d in range(input.ndim) if d not in given]
    for place, number in sorted(zip(places, given, strict=True)):
        order.insert(place, number)
    return permute(input, tuple(order))


@variants("flip")
def flipped(input: Tensor, dims: Sizes) -> Tensor:
    """Reverse the order along dimensions."""
    return flip(input, different(dims, input.ndim)[: input.ndim])


@operation("FlipBackward0", self=lambda grad, dims: dispatch(flip, grad, dims))  # type: ignore[has-type]
def flip(self: Array, dims: tuple[int, ...]) -> Array:
    """Reverse the order along dimensions: the rule reverses it again."""
    return np.flip(self, dims).copy()


@variants("roll")
def rolled(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """Move entries along dimensions; those beyond the end come in again at the beginning.

    Args:
        input: The tensor.
        shifts: How far, one number for each dimension.
        dims: The dimensions; without any, the entries move as if they stood in one row.

    Raises:
        RuntimeError: If there are not as many shifts as dimensions.

    Example:
        >>> import minigrad as torch
        >>> torch.roll(torch.tensor([1, 2, 3, 4]), 1)
        tensor([4, 1, 2, 3])
    """
    shifts, dims = (
        tuple(each) if isinstance(each, (tuple, list)) else (each,) for each in (shifts, dims)
    )
    if len(shifts) != (len(dims) or 1):
        raise RuntimeError(f"roll(): shifts and dims must align, got {shifts} and {dims}")
    return roll(input, shifts, dims)


@operation(
    "RollBackward0",
    self=lambda grad, shifts, dims: dispatch(roll, grad, tuple(-n for n in shifts), dims),  # type: ignore[has-type]
)
def roll(self: Array, shifts: tuple[int, ...], dims: tuple[int, ...]) -> Array:
    """Move entries around: the rule moves them back."""
    return np.roll(self, shifts, dims or None)


# ------------------------------------------------------------------- dimensions of size 1, repeats


def _unsqueezed(grad: Any, self_sym_sizes: Any, dim: Any) -> Any:
    """Bring back the dimensions of size 1 that were left out."""
    dims = (dim,) if isinstance(dim, int) else dim
    left_out = tuple(d for d, size in enumerate(self_sym_sizes) if size == 1 and d in dims)
    return np.expand_dims(grad, left_out) if left_out else grad


@operation(
    "SqueezeBackward0",
    view=True,
    self=lambda grad, self_sym_sizes: _unsqueezed(grad, self_sym_sizes, range(len(self_sym_sizes))),
)
def squeeze_all(self: Array) -> Array:
    """Leave out all dimensions of size 1."""
    return self.reshape([size for size in self.shape if size != 1])


@operation("SqueezeBackward1", view=True, self=_unsqueezed)
def squeeze_dim(self: Array, dim: Any) -> Array:
    """Leave out a dimension, if its size is 1."""
    return self.squeeze(dim) if self.shape[dim : dim + 1] == (1,) else self[...]


@operation("SqueezeBackward2", view=True, self=_unsqueezed)
def squeeze_dims(self: Array, dim: Any) -> Array:
    """Leave out those of several dimensions whose size is 1."""
    return self.reshape([size for d, size in enumerate(self.shape) if d not in dim or size != 1])


@operation("SqueezeBackward4", self=lambda grad, dim: np.expand_dims(grad, dim))
def squeeze_product(self: Array, dim: Any) -> Array:
    """Leave out the dimension that a product of vector and matrix had to add."""
    return self.squeeze(dim)


@variants(in_place=True, writes="shape")
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Leave out dimensions of size 1: all, one, or several."""
    if dim is None:
        return squeeze_all(input)
    if isinstance(dim, (tuple, list)):
        return squeeze_dims(input, different(dim, input.ndim))
    return squeeze_dim(input, dimension(dim, input.ndim))


@variants("unsqueeze", in_place=True, writes="shape")
def unsqueezed(input: Tensor, dim: int) -> Tensor:
    """Add a dimension of size 1."""
    return unsqueeze(input, dimension(dim, input._array.ndim + 1))


@operation("UnsqueezeBackward0", view=True, self=lambda grad, dim: np.squeeze(grad, dim))
def unsqueeze(self: Array, dim: Any) -> Array:
    """Add a dimension of size 1: the rule leaves it out again."""
    return np.expand_dims(self, dim)


def type_name(array: Any) -> str:
    """Name a tensor's type as the errors of `expand` do."""
    return "CPUBoolType" if array.dtype.kind == "b" else f"torch.{dtypes.scalar_name(array)}Tensor"


def expanded_sizes(array: Any, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Work out the sizes that an array is expanded to, of which -1 keeps its own.

    Raises:
        RuntimeError: If it does not expand to them.
    """
    have = array.shape
    added = len(sizes) - len(have)
    if added < 0:
        raise RuntimeError(
            f"expand({type_name(array)}{{{list(have)}}}, size={list(sizes)}): the number of sizes "
            f"provided ({len(sizes)}) must be greater or equal to the number of dimensions in the "
            f"tensor ({len(have)})"
        )
    own = (*sizes[:added], *have)
    full = tuple([
        old if new == -1 and place >= added else new
        for place, (new, old) in enumerate(zip(sizes, own, strict=False))
    ])  # fmt: skip
    if any(new < 0 or old not in (1, new) for new, old in zip(full, own, strict=True)):
        raise RuntimeError(f"a tensor of size {list(have)} does not expand to {list(sizes)}")
    return full


@variants("expand", function=False)
@variants("broadcast_to")
def expanded(input: Tensor, size: Sizes) -> Tensor:
    """Repeat dimensions of size 1 without copying; -1 keeps a size."""
    return expand(input, expanded_sizes(input._array, size))


@operation(
    "ExpandBackward0",
    view=True,
    self=lambda grad, self_sym_sizes: sum_to_shape(grad, self_sym_sizes),
)
def expand(self: Array, size: tuple[int, ...]) -> Array:
    """Repeat entries without copying: an entry collects the gradients of all its repeats."""
    if self.shape == size:
        return self.view()
    if type(self) is not np.ndarray or self.dtype.hasobject or not self.flags.c_contiguous:
        repeated = np.broadcast_to(self, size, subok=True)
        if type(self) is not np.ndarray:
            return repeated
        return np.lib.stride_tricks.as_strided(self, size, repeated.strides)  # can be written to
    steps = [0 if n == 1 else step for n, step in zip(self.shape, self.strides, strict=True)]
    return np.ndarray(size, self.dtype, self, 0, [0] * (len(size) - len(steps)) + steps)


@variants("repeat", function=False)
def repeated(input: Tensor, repeats: Sizes) -> Tensor:
    """Copy the tensor side by side along each dimension."""
    if len(repeats) < input.ndim:
        raise RuntimeError(f"repeat(): {input.ndim} dimensions or more need a number")
    return repeat(input, repeats)


@variants()
def tile(input: Tensor, dims: Sizes) -> Tensor:
    """Copy the tensor side by side along each dimension; missing counts at the front are 1.

    Example:
        >>> import minigrad as torch
        >>> torch.tile(torch.tensor([1, 2]), (2,))
        tensor([1, 2, 1, 2])
    """
    return repeated(input, (1,) * (input.ndim - len(dims)) + dims)


def _add_repeats(grad: Any, self_sym_sizes: Any, repeats: tuple[int, ...]) -> Any:
    """Add up the gradients of all copies, for which each dimension is seen as two."""
    sizes = (1,) * (len(repeats) - len(self_sym_sizes)) + self_sym_sizes
    apart = [n for pair in zip(repeats, sizes, strict=True) for n in pair]
    copies = tuple(range(0, len(apart), 2))
    return np.add.reduce(grad.reshape(apart), axis=copies).reshape(self_sym_sizes)


@operation("RepeatBackward0", self=_add_repeats)
def repeat(self: Array, repeats: tuple[int, ...]) -> Array:
    """Copy the tensor side by side: an entry collects the gradients of all its copies."""
    return np.tile(self, repeats)


def _reversed(tensor: Tensor) -> Tensor:
    """Give the tensor with its dimensions in reversed order."""
    if tensor.ndim != 2:
        warnings.warn("x.T of other than 2 dimensions is deprecated: use mT, permute", stacklevel=2)
    return tensor.permute(tuple(reversed(range(tensor.ndim))))


def _matrices_transposed(tensor: Tensor) -> Tensor:
    """Transpose each matrix of a batch."""
    if tensor.ndim < 2:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices.")
    return tensor.transpose(-2, -1)


def _conjugated(tensor: Tensor) -> Tensor:
    """Transpose each matrix of a batch, with complex numbers conjugated."""
    result = _matrices_transposed(tensor)
    return wrap(result._array.conj()) if tensor.is_complex() else result


attach(
    __name__,
    {
        "view": view_method,
        "view_as": lambda input, other: view_method(input, other._array.shape),
        "reshape_as": lambda input, other: reshaped(input, other._array.shape),
        "expand_as": lambda input, other: expanded(input, other._array.shape),
        "T": property(_reversed, doc="Transpose: the dimensions in reversed order."),
        "H": property(_conjugated, doc="Transpose of a matrix, conjugated."),
        "mT": property(_matrices_transposed, doc="Transpose of each matrix of a batch."),
        "mH": property(_conjugated, doc="Transpose of each matrix of a batch, conjugated."),
    },
)
