"""Call products that are added to something, such as addmv and baddbmm, also in place."""

from __future__ import annotations

import functools
from typing import Any

from minigrad.dtypes import c_name, promote, scalar_name
from minigrad.ops import contraction, factors, inplace
from minigrad.ops.calling import products
from minigrad.ops.calling.arguments import cast, dimension
from minigrad.ops.calling.matrices import check_argument
from minigrad.ops.calling.out import with_out
from minigrad.ops.factors import check_bias, check_bmm, check_mv
from minigrad.tensor import Tensor

__all__ = ["addbmm", "addmv", "addr", "baddbmm"]


def _check_tensors(name: str, **tensors: Any) -> None:
    for position, (argument, tensor) in enumerate(tensors.items()):
        check_argument(name, tensor, argument, position + 1)


@with_out
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Multiply a matrix and a vector and add: `beta * input + alpha * (mat @ vec)`.

    Args:
        input: Of shape (n,), or one that expands to it.
        mat: Of shape (n, m).
        vec: Of shape (m,).
        beta: A factor; if it is 0, `input` is not read.
        alpha: A factor.

    Example:
        >>> import minigrad as torch
        >>> torch.addmv(torch.ones(2), torch.eye(2), torch.tensor([1.0, 2.0]), beta=2)
        tensor([3., 4.])
    """
    _check_tensors("addmv", input=input, mat=mat, vec=vec)
    bias, x, y = input._array, mat._array, vec._array
    if bias.ndim > 1 or x.ndim != 2 or y.ndim != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {bias.ndim}, {x.ndim}, {y.ndim}"
        )
    if x.shape[1] != y.shape[0] or bias.shape not in ((), (1,), x.shape[:1]):
        given = bias.shape[0] if bias.ndim else 1
        raise RuntimeError(
            f"size mismatch, got input ({given}), mat ({x.shape[0]}x{x.shape[1]}), "
            f"vec ({y.shape[0]})"
        )
    if factors.differ(bias, x) or factors.differ(x, y):
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{scalar_name(bias)}, {scalar_name(x)}, and {scalar_name(y)}"
        )
    check_mv(x, y)
    return contraction.addmv(input, mat, vec, *products.factors_of(bias.dtype, beta, alpha))  # type: ignore[no-any-return]


@with_out
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Take an outer product and add: `beta * input + alpha * outer(vec1, vec2)`.

    Example:
        >>> import minigrad as torch
        >>> torch.addr(torch.zeros(2, 2), torch.tensor([1.0, 2.0]), torch.ones(2))
        tensor([[1., 1.],
                [2., 2.]])
    """
    _check_tensors("addr", input=input, vec1=vec1, vec2=vec2)
    for name, tensor in (("vec1", vec1), ("vec2", vec2)):
        if tensor._array.ndim != 1:
            raise RuntimeError(
                f"addr: Expected 1-D argument {name}, but got {tensor._array.ndim}-D"
            )
    arrays = [t._array for t in (input, vec1, vec2)]
    check_bias(arrays[0], (arrays[1].size, arrays[2].size))
    if all(array.dtype.kind in "iu" for array in arrays):
        for name, value in (("beta", beta), ("alpha", alpha)):
            if isinstance(value, float):
                raise RuntimeError(
                    f"For integral input tensors, argument {name} must not be a floating point "
                    "number."
                )
    meeting = functools.reduce(promote, (array.dtype for array in arrays))
    input, vec1, vec2 = (cast(tensor, meeting) for tensor in (input, vec1, vec2))
    return contraction.addr(input, vec1, vec2, beta, alpha)  # type: ignore[no-any-return]


@with_out
def baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Multiply batches of matrices and add: `beta * input + alpha * bmm(batch1, batch2)`.

    Args:
        input: Of shape (b, n, p), or one that expands to it.
        batch1: Of shape (b, n, m).
        batch2: Of shape (b, m, p).
        beta: A factor; if it is 0, `input` is not read.
        alpha: A factor.

    Example:
        >>> import minigrad as torch
        >>> torch.baddbmm(torch.ones(2), torch.ones(1, 2, 3), torch.ones(1, 3, 2))
        tensor([[[4., 4.],
                 [4., 4.]]])
    """
    _check_tensors("baddbmm", input=input, batch1=batch1, batch2=batch2)
    bias, x, y = input._array, batch1._array, batch2._array
    if x.ndim == 3 and y.ndim == 3:
        check_bias(bias, (x.shape[0], x.shape[1], y.shape[2]))
    else:
        dimension(2, min(x.ndim, y.ndim))
    if factors.differ(bias, x) and not factors.differ(x, y):
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {c_name(bias)}, batch1: {c_name(x)}, "
            f"batch2: {c_name(y)}"
        )
    if x.dtype.kind == "b":
        raise NotImplementedError("\"baddbmm\" not implemented for 'Bool'")
    check_bmm(x, y)
    return contraction.baddbmm(input, batch1, batch2, *products.factors_of(bias.dtype, beta, alpha))  # type: ignore[no-any-return]


@with_out
def addbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Multiply batches of matrices, add up, and add: `beta * input + alpha * bmm(...).sum(0)`.

    Example:
        >>> import minigrad as torch
        >>> torch.addbmm(torch.ones(2, 2), torch.ones(3, 2, 1), torch.ones(3, 1, 2))
        tensor([[4., 4.],
                [4., 4.]])
    """
    _check_tensors("addbmm", input=input, batch1=batch1, batch2=batch2)
    bias, x, y = input._array, batch1._array, batch2._array
    if x.ndim != 3 or y.ndim != 3:
        dimension(2, min(x.ndim, y.ndim))
        raise RuntimeError(f"batch{1 if x.ndim != 3 else 2} must be a 3D tensor")
    check_bias(bias, (x.shape[1], y.shape[2]))
    if x.shape[0] != y.shape[0]:
        raise RuntimeError(
            f"batch1 and batch2 must have same number of batches, got {x.shape[0]} and {y.shape[0]}"
        )
    if x.shape[2] != y.shape[1]:
        raise RuntimeError(
            f"Incompatible matrix sizes for bmm ({x.shape[1]}x{x.shape[2]} and "
            f"{y.shape[1]}x{y.shape[2]})"
        )
    for name, array in (("self", bias), ("mat1", x)):
        if factors.differ(array, y):
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(array)} and "
                f"{scalar_name(y)}"
            )
    return contraction.addbmm(input, batch1, batch2, *products.factors_of(bias.dtype, beta, alpha))  # type: ignore[no-any-return]


def _result_shape(name: str, first: Tensor, second: Tensor) -> tuple[int, ...]:
    x, y = first._array.shape, second._array.shape
    if name == "addmv":
        return x[:1]
    if name == "addr":
        return (*x, *y)
    return (*x[:-1], *y[-1:]) if name != "addbmm" else (x[1], y[2])


def _in_place(function: Any) -> Any:
    changing = inplace.in_place(function)
    name = function.__name__

    def method(
        input: Tensor, first: Tensor, second: Tensor, *, beta: Any = 1, alpha: Any = 1
    ) -> Tensor:
        if isinstance(first, Tensor) and isinstance(second, Tensor):
            have = input._array.shape
            if name == "addr" and len(have) != 2:
                raise RuntimeError(f"2D tensor expected, got {len(have)}D tensor for input")
            wanted = _result_shape(name, first, second)
            if have != wanted and len(have) <= len(wanted):
                raise RuntimeError(
                    f"Bad in-place call: input tensor size {list(have)} and output tensor size "
                    f"{list(wanted)} should match"
                )
        return changing(input, first, second, beta=beta, alpha=alpha)  # type: ignore[no-any-return]

    named: Any = method
    named.__name__, named.__wrapped__ = f"{name}_", function
    method.__doc__ = changing.__doc__
    return method


methods: dict[str, Any] = {
    "addbmm": addbmm,
    "addbmm_": _in_place(addbmm),
    "addmm_": _in_place(products.addmm),
    "addmv": addmv,
    "addmv_": _in_place(addmv),
    "addr": addr,
    "addr_": _in_place(addr),
    "baddbmm": baddbmm,
    "baddbmm_": _in_place(baddbmm),
}
