r"""Products of vectors, matrices and stacks of matrices, sums of products, norms, and attention.

The rules are those of two matrices, which stand in `minigrad.ops.linear`. einsum, tensordot
and inner products are composed of the operations that PyTorch records for them, down to one batch
of products of matrices for two factors.
"""

# mypy: disable-error-code="has-type"
# A rule may refer to its own operation, whose type is not known before the rule's.

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.rules import dispatch, ignore_errstate
from minigrad.core.operation import Array, operation
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.ops import choices, elementwise, reduction, scatter, shape
from minigrad.ops.joining import broadcast_tensors
from minigrad.ops.linear import check_factors, mm
from minigrad.ops.shape import _needs_no_copy, _t
from minigrad.ops.softmax import softmax, softmax_backward
from minigrad.ops.type_promotion import broadcast_shape, check_one_type
from minigrad.signatures import arguments, attach, functional, numpy_protocols, variants
from minigrad.signatures.arguments import as_floats, as_tensor, check_tensors, different
from minigrad.signatures.signature import Dtype, Number
from minigrad.signatures.variants import in_functional


def linalg(name: str = "", **options: Any) -> Any:
    """Give a body its variants in `minigrad.linalg`; see `minigrad.signatures.variants`."""

    def decorate(body: Any) -> Any:
        called = f"linalg_{name or body.__name__}"
        return variants(called, function=False, method=False, **options)(body)

    return decorate


@variants(out="none", check=partial(check_factors, right=1))
@operation(
    "MvBackward0",
    self=lambda grad, vec: np.multiply.outer(grad, vec),
    vec=lambda grad, self: _t(self) @ grad,
)
def mv(self: Array, vec: Array) -> Array:
    r"""Matrix times vector: :math:`g v^\top` for the matrix, :math:`A^\top g` for the vector."""
    return self @ vec


@variants(out="none", check=partial(check_factors, left=1, right=1))
@operation(
    "DotBackward0", self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self
)
def dot(self: Array, tensor: Array) -> Array:
    """Inner product: each vector gets the gradient times the other vector."""
    return self @ tensor


@variants(out="kind", ufunc=((np.multiply, "outer"),))
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply each entry of one vector by each of another."""
    if not input.ndim == vec2.ndim == 1:
        raise RuntimeError(f"outer takes two vectors, not {input.ndim}D and {vec2.ndim}D")
    return elementwise.mul(shape.view(input, (len(input), 1)), vec2)


@variants(out="none", check=partial(check_factors, left=3, right=3))
@operation(
    "BmmBackward0",
    self=lambda grad, mat2: dispatch(bmm, grad, np.swapaxes(mat2, 1, 2)),
    mat2=lambda grad, self: dispatch(bmm, np.swapaxes(self, 1, 2), grad),
)
@ignore_errstate
def bmm(self: Array, mat2: Array) -> Array:
    """Products of matrices, one for each member of a batch: as for a single product."""
    if self.shape[2] == 1:  # a column times a row: quicker without the library of matrices
        return self * mat2
    return self @ mat2


# ---------------------------------------------------------------------- products of any dimensions


@variants(out="none", ufunc=np.matmul)
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Multiply tensors of any dimensions, through the operations above, as PyTorch does.

    Raises:
        RuntimeError: If dtypes differ or sizes do not fit.
    """
    x, y = input._array, other._array
    if x.ndim == 2 and y.ndim == 2:
        check_factors(x, y)
        return mm(input, other)
    if x.ndim == 0 or y.ndim == 0:
        raise RuntimeError(f"matmul takes no numbers, but got {x.ndim}D and {y.ndim}D")
    if y.ndim == 1 and x.ndim <= 2:
        check_factors(x, y, x.ndim, 1)
        return (dot if x.ndim == 1 else mv)(input, other)
    if x.ndim == 1 and y.ndim == 2:
        check_factors(x[None], y)
        result: Tensor = shape.squeeze_product(mm(shape.unsqueeze(input, 0), other), 0)
        result._bump_version()  # PyTorch squeezes in place
        return result
    product = _as_one_product if _is_one_product(input, other) else _batched
    return product(input, other)


def _is_one_product(a: Tensor, b: Tensor) -> bool:
    """Tell whether a stack of matrices is multiplied as one matrix that has all their rows.

    So it is with a matrix or vector on the other side that needs a gradient, which is then one
    product; or if no copy is necessary.
    """
    stack, other = (a, b) if a._array.ndim >= b._array.ndim else (b, a)
    if other._array.ndim > 2:
        return False
    if other.requires_grad:
        return True
    if a._array.ndim == 2:
        return False
    array = stack._array if stack is a else np.swapaxes(stack._array, -2, -1)
    rows = (math.prod(array.shape[:-1]), array.shape[-1])
    return array.size == 0 or _needs_no_copy(array, rows)


def _as_one_product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply a stack with a matrix or a vector in one product; (A B)^T = B^T A^T turns sides."""
    turned = b._array.ndim > a._array.ndim
    if turned:
        last = b._array.ndim - 1
        a, b = shape.transpose(b, last - 1, last), shape.t(a) if a._array.ndim == 2 else a
    *outer, inner = a._array.shape
    rows = shape.reshape(a, (math.prod(outer), inner))
    if b._array.ndim == 1:
        check_factors(rows._array, b._array, 2, 1)
        return shape.unsafe_view(mv(rows, b), tuple(outer))
    check_factors(rows._array, b._array)
    result = shape.unsafe_view(mm(rows, b), (*outer, b._array.shape[1]))
    if not turned:
        return result
    result = shape.transpose(result, len(outer) - 1, len(outer))
    return result if result.is_contiguous() else shape.clone_contiguous(result)


def _batched(a: Tensor, b: Tensor) -> Tensor:
    """Multiply stacks of matrices pair by pair; stacks of different sizes are broadcast."""
    x, y = a._array.shape, b._array.shape
    batch = broadcast_shape(x[:-2], y[:-2])
    count = math.prod(batch)
    rows = x[-2] if len(x) > 1 else 1
    left = shape.reshape(shape.expand(a, (*batch, rows, x[-1])), (count, rows, x[-1]))
    if len(y) == 1:
        right = shape.unsqueeze(shape.reshape(shape.expand(b, (*batch, *y)), (count, *y)), 2)
    else:
        right = shape.reshape(shape.expand(b, (*batch, *y[-2:])), (count, *y[-2:]))
    check_factors(left._array, right._array, 3, 3)
    result = bmm(left, right)
    result = shape.squeeze_dim(result, 2) if len(y) == 1 else result
    return shape.unsafe_view(result, (*batch, *x[-2:-1], *(y[-1:] if len(y) > 1 else ())))


def _operator(self: Tensor, other: Any) -> Any:
    """Multiply matrices: `x @ y`."""
    if isinstance(other, np.ndarray):
        other = wrap(other)
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


def _reflected(self: Tensor, other: Any) -> Any:
    return matmul(wrap(other), self) if isinstance(other, np.ndarray) else NotImplemented


attach(__name__, {"__matmul__": _operator, "__rmatmul__": _reflected})
# ---------------------------------------------------------------------- equations

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@lru_cache(maxsize=512)
def _plan(equation: str, ndims: tuple[int, ...]) -> tuple[tuple[str, ...], str, str]:
    """Read an equation, for operands of certain numbers of dimensions.

    Returns:
        The letters of each operand's dimensions, those of the result's, and those to sum over. What
        "..." stands for has letters of its own.

    Raises:
        RuntimeError: If it makes no sense, or does not fit the operands.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    covers = [
        max(ndim - len(term) + 3, 0) if "..." in term else 0
        for term, ndim in zip(terms, ndims, strict=False)
    ]
    most = max(covers)
    covered = "".join(map(chr, range(ord("0"), ord("0") + most)))
    labels = [
        term.replace("...", covered[most - count :], 1)
        for term, count in zip(terms, covers, strict=False)
    ]
    letters = sorted({*"".join(labels)} - {*covered})
    once = [letter for letter in letters if "".join(labels).count(letter) == 1]
    output = output.replace("...", covered, 1) if arrow else covered + "".join(once)
    fits = [*map(len, labels)] == [*ndims] and len(terms) == len(ndims) == len(labels)
    known = {*_LETTERS} >= {*letters} and {*letters, *covered} >= {*output}
    if not (fits and known and len({*output}) == len(output)):
        raise RuntimeError(
            f"einsum(): '{equation}' does not fit operands of {ndims} dimensions: each needs "
            "one letter for each dimension, or '...' for several; the result has some of these"
        )
    summed = [letter for letter in (*covered, *letters) if letter not in output]
    return tuple(labels), output, "".join(summed)


# ---------------------------------------------------------------------- sums of products


def _lined_up(operand: Tensor, labels: str, order: str) -> Tensor:
    """Bring an operand's dimensions into the common order; what it has not gets size 1."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            position = labels.index(label, first + 1)
            operand = scatter.diagonal(operand, 0, first, position)
            last = operand.ndim - 1  # where the diagonal is now
            operand = shape.permute(operand, (*range(first), last, *range(first, last)))
            labels = labels[:position] + labels[position + 1 :]
    for label in order:
        if label not in labels:
            operand, labels = shape.unsqueeze(operand, len(labels)), labels + label
    return shape.permute(operand, tuple(map(labels.index, order)))


def _check_sizes(operands: Sequence[Tensor], labels: Sequence[str]) -> None:
    """Raise if a letter stands for several sizes, other than 1."""
    sizes: dict[str, int] = {}
    for operand, own in zip(operands, labels, strict=True):
        for label, size in zip(own, operand._array.shape, strict=True):
            if size != 1 and sizes.setdefault(label, size) != size:
                raise RuntimeError(f"a letter stands for two sizes, {sizes[label]} and {size}")


def _contracted(left: Tensor, right: Tensor, summed: Sequence[int]) -> Tensor:
    """Multiply two operands and sum over dimensions that both have: as a batch of products."""
    if not summed:
        return elementwise.mul(left, right)
    x, y = left._array.shape, right._array.shape
    rest = [d for d in range(len(x)) if d not in summed]
    both = [d for d in rest if x[d] != 1 != y[d]]
    own = [d for d in rest if x[d] != 1 == y[d]]
    other = [d for d in rest if x[d] == 1]
    if own and other and other[-1] < own[0]:  # so that the result need not be reordered
        left, right, x, y, own, other = right, left, y, x, other, own
    batch, inner, rows = (math.prod(x[d] for d in dims) for dims in (both, summed, own))
    columns = math.prod(y[d] for d in other)
    order = (*both, *own, *summed, *other)
    a = shape.reshape(shape.permute(left, order), (batch, rows, inner))
    b = shape.reshape(shape.permute(right, (*both, *summed, *other, *own)), (batch, inner, columns))
    check_factors(a._array, b._array, 3, 3)
    sizes = tuple(1 if d in summed else y[d] if d in other else x[d] for d in order)
    result = shape.view(bmm(a, b), sizes)
    return shape.permute(result, tuple(map(order.index, range(len(order)))))


def _summed(operands: list[Tensor], kept: int) -> Tensor:
    """Multiply operands from left to right; each dimension is summed over as soon as it can be."""
    result, ndim = operands[0], operands[0].ndim
    for count, operand in enumerate(operands[1:], 2):
        x, y = result._array.shape, operand._array.shape
        left = [d for d in range(kept, ndim) if all(o.size(d) == 1 for o in operands[count:])]
        of_left, of_right = ([d for d in left if a[d] != 1 == b[d]] for a, b in ((x, y), (y, x)))
        if of_left:
            result = result.sum(of_left, True)
        if of_right:
            operand = operand.sum(of_right, True)
        result = _contracted(result, operand, [d for d in left if x[d] != 1 != y[d]])
    if ndim == kept:
        return result
    if len(operands) > 1:
        return shape.view(result, tuple(result._array.shape[:kept]))
    return result.sum([*range(kept, ndim)])


@variants(method=False)
def einsum(*args: Any) -> Tensor:
    r"""Multiply tensors and sum over indices, as an equation says: "ij,jk->ik".

    Args:
        *args: The equation, then the operands. Each operand's dimensions have a letter; a letter
            that the result has not is summed over. "..." stands for any dimensions. Without "->"
            the result has the letters that occur once, in alphabetic order.

    Returns:
        The result. With two operands the sum is one batch of matrix products.

    Raises:
        RuntimeError: If the equation makes no sense, or sizes do not fit.
        ValueError: If there is no operand.

    Example:
        >>> import minigrad as torch
        >>> A, B = torch.ones(2, 3), torch.ones(3, 4)
        >>> torch.einsum("ij,jk->ik", A, B).shape
        torch.Size([2, 4])
    """
    if len(args) < 2:
        raise ValueError("einsum(): there must be an equation and operands")
    equation, *operands = args
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    operands = check_tensors(operands, "einsum", "operands")
    ndims = tuple([operand._array.ndim for operand in operands])
    labels, output, summed = _plan(equation, ndims)
    _check_sizes(operands, labels)
    pairs = zip(operands, labels, strict=True)
    return _summed([_lined_up(*pair, output + summed) for pair in pairs], len(output))


@variants(out="none", method=False)
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Sum products over pairs of dimensions; those that are left come one after the other.

    Args:
        a: The first tensor.
        b: The second one.
        dims: How many of the last dimensions of `a` meet the first ones of `b`; or two lists of
            dimensions, of `a` and of `b`.

    Raises:
        RuntimeError: If sizes do not fit, or dtypes differ.

    Example:
        >>> import minigrad as torch
        >>> torch.tensordot(torch.ones(2, 3, 4), torch.ones(3, 4, 5)).shape
        torch.Size([2, 5])
    """
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot can't sum over {dims} dimensions of each tensor")
        dims = range(-dims, 0), range(dims)
    first, second = different(dims[0], a.ndim), different(dims[1], b.ndim)
    x, y = a._array.shape, b._array.shape
    if [x[d] for d in first] != [y[d] for d in second]:
        raise RuntimeError(f"tensordot sums over pairs of one size, got {list(x)} and {list(y)}")
    rows = [d for d in range(len(x)) if d not in first]
    columns = [d for d in range(len(y)) if d not in second]
    inner, height = math.prod(x[d] for d in first), math.prod(x[d] for d in rows)
    a = shape.reshape(shape.permute(a, (*rows, *first)), (height, inner))
    b = shape.permute(b, (*second, *columns))
    b = shape.reshape(b, (inner, math.prod(y[d] for d in columns)))
    return shape.reshape(a.mm(b), (*(x[d] for d in rows), *(y[d] for d in columns)))


@variants(out="none", numpy=np.inner)
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum products over the last dimension of both; a number multiplies.

    Raises:
        RuntimeError: If the last sizes differ.

    Example:
        >>> import minigrad as torch
        >>> torch.inner(torch.ones(2, 3), torch.ones(3))
        tensor([3., 3.])
    """
    if not input.ndim or not other.ndim:
        return elementwise.mul(input, other)
    return tensordot(input, other, ([-1], [-1]))


def _numpy_dot(a: Any, b: Any) -> Tensor:
    a, b = as_tensor(a), as_tensor(b)
    if not a._array.ndim or not b._array.ndim:
        return a * b
    return tensordot(a, b, ([-1], [-2 if b._array.ndim > 1 else -1]))


numpy_protocols.functions[np.dot] = _numpy_dot


# ------------------------------------------------------------------ norms


@linalg(out="none")
def vector_norm(
    x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    r"""Give the norm :math:`(\sum |x|^p)^{1/p}` of all entries, or along dimensions.

    Args:
        x: The tensor.
        ord: p, any number; infinity for the largest entry, 0 for how many are not 0.
        dim: A dimension, or several; None for all entries.
        keepdim: Keep the dimensions, with size 1.
        dtype: The type to compute in.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.vector_norm(torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    ord = arguments.number(ord, "linalg_vector_norm", "ord")
    if x._array.dtype.kind in "iub":
        raise RuntimeError(f"a norm is one of floats, got {x.dtype}. Convert with .float().")
    x = choices.abs(x) if x.is_complex() else x
    dims = None if dim is None or not np.size(dim) else arguments.dimensions(dim, x.ndim)
    x = x if dtype is None else x.to(dtype)
    return reduction.vector_norm(x, ord, dims, keepdim)


@linalg("norm", out="none", numpy=np.linalg.norm)
def norm_of(
    input: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Dtype | None = None,
) -> Tensor:
    """Give the norm of a vector or of a matrix.

    Args:
        input: The tensor.
        ord: The order of the norm. For one dimension a number (`vector_norm`), for two "fro". None
            means 2, or for a matrix the root of the sum of squares.
        dim: One dimension, or two; None for all entries.
        keepdim: Keep these dimensions, with size 1.
        dtype: The type to compute in.

    Raises:
        RuntimeError: If another norm of matrices is asked for.

    Example:
        >>> import minigrad as torch
        >>> torch.linalg.norm(torch.tensor([[3.0, 0.0], [0.0, 4.0]]))
        tensor(5.)
    """
    count = input.ndim if dim is None else np.size(dim)
    if count not in (1, 2) and (dim, ord) != (None, None):
        raise RuntimeError("linalg.norm is the norm of a vector or a matrix: of 1 or 2 dimensions")
    if count == 2 and ord is not None:
        ord = _of_matrices(ord)
    return vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def _of_matrices(order: Any) -> int:
    """Give the order of entries that a norm of matrices has."""
    if order != "fro":
        raise RuntimeError(f"no matrix norm {order!r} here: compute it of torch.linalg.svd(A)[1]")
    return 2


@variants(out="none")
def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Any = None,
    keepdim: bool = False,
    dtype: Dtype | None = None,
) -> Tensor:
    """Give the p-norm of all entries, or along dimensions.

    Args:
        input: The tensor.
        p: The order of the norm, also infinite; "fro" means 2.
        dim: A dimension or several; all if it is left out.
        keepdim: Keep the dimensions, with size 1.
        dtype: The type to compute in.

    Raises:
        RuntimeError: If the entries are integers, or there is none where the norm needs one.

    Example:
        >>> import minigrad as torch
        >>> torch.norm(torch.tensor([3.0, -4.0]))
        tensor(5.)
    """
    order = _of_matrices(p) if isinstance(p, str) else 2 if p is None else p
    return vector_norm(input, order, dim, keepdim, dtype=dtype)


# ---------------------------------------------------------------------- of a difference


@variants()
def dist(input: Tensor, other: Tensor, p: Number = 2) -> Tensor:
    """Give the p-norm of the difference of two tensors.

    Example:
        >>> import minigrad as torch
        >>> torch.dist(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0]))
        tensor(5.)
    """
    return vector_norm(input - other, p)


@variants(method=False)
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: Any = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    r"""Give the distances of each row of one tensor to each row of another.

    Args:
        x1: Of shape (..., n, k).
        x2: Of shape (..., m, k).
        p: The order of the norm, from 0 to infinity.
        compute_mode: Whether Euclidean distances may be computed by a product of matrices, which
            is quick and less exact: if there are more than 25 rows (the default), always
            ("use_mm_for_euclid_dist"), or never ("donot_use_mm_for_euclid_dist").

    Returns:
        Of shape (..., n, m). Where a distance is 0 its gradient is 0.

    Example:
        >>> import minigrad as torch
        >>> torch.cdist(torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
        tensor([[5., 0.]])
    """
    a, b = x1._array, x2._array
    if min(a.ndim, b.ndim) < 2 or a.shape[-1] != b.shape[-1] or not p >= 0:
        raise RuntimeError(f"cdist takes rows of one length, p >= 0; got {a.shape}, {b.shape}, {p}")
    check_one_type(a, b)
    many = max(a.shape[-2], b.shape[-2]) > 25 and compute_mode.endswith("if_necessary")
    if p != 2 or not (many or compute_mode == "use_mm_for_euclid_dist"):
        return reduction.vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1, False)
    rows, columns = ((x * x).sum(-1) for x in (x1, x2))
    squares = rows.unsqueeze(-1) + columns.unsqueeze(-2) - (x1 @ x2.mT) * 2
    none = squares.detach() <= 0  # at a distance of 0 the root has no slope
    return squares.masked_fill(none, 1).sqrt().masked_fill(none, 0)


# ---------------------------------------------------------------------- of vectors


@variants(method=False)
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    r"""Give the distance of vectors, $\|x_1 - x_2 + \epsilon\|_p$ along the last dimension.

    Args:
        x1: Vectors.
        x2: Other ones, which may be broadcast.
        p: The order of the norm.
        eps: Is added to the difference, so that the norm has a gradient where they are equal.
        keepdim: Keep the last dimension, with size 1.

    Returns:
        The distances.

    Shape:
        - x1 and x2: (N, D), or (D,)
        - output: (N,), or ()

    Example:
        >>> import minigrad as torch
        >>> torch.pairwise_distance(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
        tensor([5.0000])
    """
    difference = elementwise.add_number(as_floats(x1 - x2), eps)
    last = difference.ndim - 1
    return reduction.vector_norm(difference, p, () if last < 0 else (last,), keepdim)


@variants(method=False)
def cosine_similarity(x1: Tensor, x2: Tensor, dim: Any = 1, eps: float = 1e-8) -> Tensor:
    r"""Give the cosine of the angle of vectors, $x_1 \cdot x_2 / (\|x_1\| \|x_2\|)$.

    Args:
        x1: Vectors.
        x2: Other ones, which may be broadcast.
        dim: The dimension along which the vectors lie.
        eps: The least that a norm counts as.

    Returns:
        The cosines: the shape of the inputs without the dimension.

    Example:
        >>> import minigrad as torch
        >>> torch.cosine_similarity(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 4.0]), dim=0)
        tensor(0.6000)
    """
    x1, x2 = broadcast_tensors(as_floats(x1), as_floats(x2))
    number = arguments.dimension(dim, x1.ndim)
    lengths = [shape.clone(x.norm(2, number, True)) for x in (x1, x2)]
    with no_grad():  # too short vectors count as constants
        for length in lengths:
            length.clamp_(min=eps)
    second = x2 / lengths[1]  # before the first, as in PyTorch
    return ((x1 / lengths[0]) * second).sum(number)


# ------------------------------------------------------------------ attention


@operation("SafeSoftmaxBackward0", self=softmax_backward)
@ignore_errstate
def safe_softmax(self: Array, dim: Any) -> Array:
    """Softmax that gives zeros where all scores are minus infinity, instead of NaN."""
    weights = softmax.forward(self, dim)
    largest = np.maximum.reduce(self, axis=dim, keepdims=True, initial=-np.inf)
    return np.where(largest == -np.inf, 0, weights)


@functional()
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    r"""Average values with weights: $\mathrm{softmax}(s Q K^\top + M) V$.

    In PyTorch four dimensions, no dropout and a mask without gradient make one node in the graph;
    here that is made of matrix products and a softmax, too.

    Args:
        query: What each place asks for, $Q$.
        key: What each place offers to be found by, $K$.
        value: What each place has to say, $V$.
        attn_mask: True where a query may look, or a number to add to each score. It broadcasts.
        dropout_p: The probability with which weights are dropped.
        is_causal: Whether each place may only look at itself and those before it.
        scale: The factor $s$; $1 / \sqrt{E}$ if None.
        enable_gqa: Must be False: each head of the query has its own key and value.

    Returns:
        For each query the average of the values. A query that may look nowhere gets zeros.

    Raises:
        NotImplementedError: If `enable_gqa` is set.
        RuntimeError: If dtypes or shapes do not fit, or a mask is given and `is_causal` is set.

    Shape:
        - query: (N, ..., L, E); key: (N, ..., S, E); value: (N, ..., S, Ev)
        - attn_mask: broadcasts to (N, ..., L, S)
        - output: (N, ..., L, Ev)

    Example:
        >>> import minigrad as torch
        >>> _ = torch.manual_seed(0)
        >>> x = torch.rand(1, 2, 3, 4)
        >>> y = torch.nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
        >>> torch.allclose(y[..., 0, :], x[..., 0, :])  # the first place sees only itself
        True
    """
    if enable_gqa:
        raise NotImplementedError("Attention has no enable_gqa=True here: repeat keys, values")
    if query._array.dtype.char == "e":  # scores grow beyond what float16 can hold
        wide = [each.float() for each in (query, key, value)]
        attend = in_functional["scaled_dot_product_attention"]
        return attend(*wide, attn_mask, dropout_p, is_causal, scale=scale).half()
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1]) if query.shape[-1] else 1.0
    root = math.sqrt(abs(scale))
    scores = elementwise.mul_number(query, root if scale >= 0 else -root)
    scores = scores @ elementwise.mul_number(key.transpose(-2, -1), root)
    allowed: Any = np.tri(query.shape[-2], key.shape[-2]) > 0 if is_causal else np.array(True)
    if attn_mask is not None and attn_mask.dtype is dtypes.bool:
        allowed = allowed & attn_mask._array
    elif attn_mask is not None:
        scores = scores + attn_mask
    if not allowed.all():
        scores = scores + wrap(np.where(allowed, 0, -np.inf).astype(query._array.dtype))
    weights = safe_softmax(scores, arguments.dimension(-1, scores.ndim))
    if dropout_p:
        weights = in_functional["dropout"](weights, dropout_p)
    return weights @ value
