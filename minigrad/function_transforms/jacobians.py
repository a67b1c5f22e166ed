"""Make whole Jacobians and Hessians of functions: `jacrev`, `jacfwd`, `hessian`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.modes import enable_grad
from minigrad.function_transforms.gradients import enter_arguments, with_extra
from minigrad.function_transforms.levels import Level, differentiate
from minigrad.function_transforms.structure import mapped, take_apart
from minigrad.tensor import Tensor

Function = Callable[..., Any]


def jacrev(
    func: Function,
    argnums: Any = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Function:
    """Make the function that gives the Jacobian of a function: a backward pass for each row.

    Args:
        func: Gives tensors, also in tuples, lists and dictionaries.
        argnums: The argument to differentiate for, or a tuple of several.
        has_aux: Whether the function gives a pair: the output, and something that is handed on.
        chunk_size: In PyTorch, how many rows are computed together; here each by itself.

    Returns:
        A function of the same arguments. For each output, in its form, it gives for each argument,
        in its form, a tensor of the output's shape followed by the argument's.

    Example:
        >>> import minigrad as torch
        >>> torch.func.jacrev(lambda x: x.sum() * x)(torch.tensor([1.0, 2.0]))
        tensor([[4., 1.],
                [2., 5.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian(func, argnums, has_aux, "vjp(f, *primals): expected f(*primals)")


def jacfwd(
    func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """Make the function that gives the Jacobian of a function.

    PyTorch computes it column by column in forward mode. minigrad has no forward mode and gives the
    same numbers row by row, as `jacrev` does.

    Args:
        func: Gives tensors, also in tuples, lists and dictionaries.
        argnums: The argument to differentiate for, or a tuple of several.
        has_aux: Whether the function gives a pair: the output, and something that is handed on.
        randomness: As for `vmap`; the function is called once here.

    Example:
        >>> import minigrad as torch
        >>> torch.func.jacfwd(lambda x: x.sum() * x)(torch.tensor([1.0, 2.0]))
        tensor([[4., 1.],
                [2., 5.]])
    """
    check_randomness(randomness)
    return _jacobian(func, argnums, has_aux, "jvp(f, primals, tangents): expected f(*primals)")


def check_randomness(randomness: Any) -> None:
    """Raise if there is no such way of treating random numbers."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )


def _jacobian(func: Function, argnums: Any, has_aux: bool, expected: str) -> Function:
    @functools.wraps(func)
    def jacobian(*arguments: Any, **options: Any) -> Any:
        level = Level()
        with enable_grad():
            given, inputs, structure = enter_arguments(level, arguments, argnums)
            output, extra = func(*given, **options), None
            if has_aux:
                output, extra = with_extra(output, expected.partition(":")[0])
            outputs, form = take_apart(output)
            for leaf in outputs:
                if not isinstance(leaf, Tensor):
                    raise RuntimeError(
                        f"{expected} to return only tensors, got unsupported type {type(leaf)}"
                    )
            blocks = [
                structure.build(map(level.leave, _blocks(level, leaf, inputs))) for leaf in outputs
            ]
        result = form.build(blocks)
        return (result, mapped(level.leave, extra)) if has_aux else result

    return jacobian


def _blocks(level: Level, output: Tensor, inputs: list[Tensor]) -> list[Any]:
    """Give the Jacobian of one output for each input."""
    seen = level.is_seen(output)
    rows = [
        differentiate([entry], inputs, None, seen, retain_graph=True)
        for entry in output.reshape(-1).unbind(0)
    ]
    if not rows:
        return [tensor.new_zeros((*output.shape, *tensor.shape)) for tensor in inputs]
    return [
        np.stack(column).reshape((*output.shape, *tensor.shape))  # type: ignore[call-overload]
        for column, tensor in zip(zip(*rows, strict=True), inputs, strict=True)
    ]


def hessian(func: Function, argnums: Any = 0) -> Function:
    """Make the function that gives the Hessian of a function: the Jacobian of its Jacobian.

    Args:
        func: Gives tensors, usually one without dimensions.
        argnums: The argument to differentiate for, or a tuple of several.

    Returns:
        A function of the same arguments; the entry at [i, j] is the second derivative for entries
        i and j of the argument.

    Example:
        >>> import minigrad as torch
        >>> torch.func.hessian(lambda x: x[0] ** 2 * x[1] ** 3)(torch.tensor([1.0, 2.0]))
        tensor([[16., 24.],
                [24., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
