"""Make the Jacobian or the Hessian of a function as a whole, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.functional.parts import (
    NOT_ALLOWED,
    Tensors,
    as_tuple,
    constant_jacobian,
    differentiate,
    fresh,
    in_form,
    must_be_recorded,
    refuse_nothing,
    unrecorded_output,
    without_graph,
    zeros_like,
)
from minigrad.autograd.grad_mode import enable_grad
from minigrad.core.modes import is_grad_enabled

Function = Callable[..., Any]

_OUTPUTS = "outputs of the user-provided function"
_STRATEGIES = ("forward-mode", "reverse-mode")
_TOGETHER = "are not supported together"


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Make the Jacobian of a function: one backward pass for each entry of the outputs.

    The entry at `[i, j]` is the derivative of entry i of the output with respect to entry j of the
    input; i and j run over all dimensions of the two.

    Args:
        func: Takes tensors, gives a tensor or a tuple of tensors.
        inputs: A tensor or a tuple of tensors to call it with.
        create_graph: Record the computation, to differentiate it again.
        strict: Refuse an output that does not depend on an input; otherwise that part is zero.
        vectorize: In PyTorch, compute all rows in one batched pass. Here the rows are computed one
            after the other in any case: the numbers are the same, the speed stays.
        strategy: `"reverse-mode"`, or `"forward-mode"`, which PyTorch allows together with
            `vectorize=True` only. There it computes columns in a forward pass; minigrad has no
            forward mode and gives the same numbers row by row, in backward passes. As there, the
            results then have a graph if an input requires a gradient.

    Returns:
        A tensor of the output's shape followed by the input's. If there are several outputs, a
        tuple over these; if there are several inputs, (each entry is) a tuple over those. In
        forward mode all tuples are lists if there are several inputs, as in PyTorch.

    Raises:
        TypeError: If inputs or outputs are anything but tensors or tuples of tensors.
        RuntimeError: If `strict` meets `vectorize` or forward mode; in strict mode, if an output
            does not depend on an input.
        NotImplementedError: If forward mode meets `create_graph`, or is not vectorized.
        AssertionError: If there is no such strategy.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.jacobian(lambda x: x.sum() * x, x)
        tensor([[4., 1.],
                [2., 5.]])
    """
    if strategy not in _STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your '
            'function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        several, tensors = _forward_inputs(inputs, create_graph, strict, vectorize)
        recorded = is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        return _forward_mode(func, several, tensors, recorded)
    with enable_grad():
        several, tensors = as_tuple(inputs, "inputs", "jacobian")
        tensors = fresh(tensors, create_graph, True)
        several_outputs, outputs = as_tuple(func(*tensors), _OUTPUTS, "jacobian")
        if strict:
            must_be_recorded(outputs, unrecorded_output)
        if strict and vectorize:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` "
                f"{_TOGETHER}. Please either set `strict=False` or `vectorize=False`."
            )
        refuse_nothing(outputs)
        rows = [
            _rows(position, output, tensors, create_graph, strict)
            for position, output in enumerate(outputs)
        ]
        stack = _stacked_together if vectorize else _stacked
        blocks = [without_graph(block, create_graph) for block in stack(rows, outputs, tensors)]
    return in_form(tuple(in_form(block, several) for block in blocks), several_outputs)


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Make the Hessian of a function: the Jacobian of its gradient.

    The entry at `[i, j]` is the second derivative with respect to entries i and j of the input.

    Args:
        func: Takes tensors, gives a tensor with one entry.
        inputs: A tensor or a tuple of tensors to call it with.
        create_graph: Record the computation, to differentiate it again.
        strict: Refuse a gradient that does not depend on an input; otherwise that part is zero.
        vectorize: As for `jacobian`, for the outer of the two.
        outer_jacobian_strategy: As `strategy` of `jacobian`, for the outer of the two; with
            forward mode the results always have a graph, as in PyTorch.

    Returns:
        A tensor of the input's shape twice; for several inputs a tuple of tuples, the one at
        `[i][j]` for inputs i and j.

    Raises:
        TypeError: If inputs or outputs are anything but tensors or tuples of tensors.
        RuntimeError: If the function gives anything but one number; and as for `jacobian`.
        NotImplementedError: As for `jacobian`.
        AssertionError: If there is no such strategy.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.hessian(lambda x: x[0] ** 2 * x[1] ** 3, x)
        tensor([[16., 24.],
                [24., 12.]])
    """
    several, given = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in _STRATEGIES:
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". It is '
            f"{outer_jacobian_strategy!r}."
        )

    def number(*tensors: Any) -> Any:
        output = func(*tensors)
        several_outputs, outputs = as_tuple(output, _OUTPUTS, "hessian")
        if strict:
            must_be_recorded(outputs, unrecorded_output)
        if several_outputs:
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if output.numel() != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should contain a single "
                f"element. It has shape {list(output.shape)}."
            )
        return output.squeeze()

    def gradient(*tensors: Any) -> Any:
        found = jacobian(number, tensors, create_graph=True)
        if strict:
            must_be_recorded(found, constant_jacobian)
        return found

    if outer_jacobian_strategy == "forward-mode":
        _forward_inputs(given, create_graph, strict, vectorize)
        blocks = _forward_mode(gradient, True, given, recorded=is_grad_enabled())
    else:
        blocks = jacobian(gradient, given, create_graph, strict, vectorize)
    return blocks if several else blocks[0][0]


def _rows(
    position: int, output: Any, inputs: Tensors, create_graph: bool, strict: bool
) -> list[list[Any]]:
    """Differentiate each entry of an output: for each input the list of its rows."""
    if not output.numel():
        raise RuntimeError(f"stack expects a non-empty TensorList, but output {position} is empty")
    rows: list[list[Any]] = [[] for _ in inputs]
    for entry in range(output.numel()):
        found = differentiate(
            (output.reshape(-1)[entry],), inputs, create_graph=create_graph, retain_graph=True
        )
        for number, (column, gradient) in enumerate(zip(rows, found, strict=True)):
            if strict and gradient is None:
                raise RuntimeError(
                    f"Output {position} of the user-provided function is independent of input "
                    f"{number}. {NOT_ALLOWED}."
                )
            if strict and create_graph and not gradient.requires_grad:
                raise RuntimeError(
                    "The jacobian of the user-provided function is independent of input "
                    f"{position}. {NOT_ALLOWED} when create_graph=True."
                )
            column.append(zeros_like(inputs[number]) if gradient is None else gradient)
    return rows


def _stack(rows: list[Any]) -> Any:
    """Stack tensors: NumPy's function, called with tensors, is the operation of ours."""
    return np.stack(rows)


def _stacked(rows: list[list[list[Any]]], outputs: Tensors, inputs: Tensors) -> list[Tensors]:
    """Give for each output the blocks of all inputs."""
    return [
        tuple(
            _stack(column).view((*output.shape, *tensor.shape))
            for column, tensor in zip(of_output, inputs, strict=True)
        )
        for of_output, output in zip(rows, outputs, strict=True)
    ]


def _stacked_together(
    rows: list[list[list[Any]]], outputs: Tensors, inputs: Tensors
) -> list[Tensors]:
    """Do the same, such that the blocks of one input share one graph, as in PyTorch."""
    columns: list[list[Any]] = []
    for number, tensor in enumerate(inputs):
        whole = _stack([row for of_output in rows for row in of_output[number]])
        start, blocks = 0, []
        for output in outputs:
            end = start + output.numel()
            blocks.append(whole[start:end].view((*output.shape, *tensor.shape)))
            start = end
        columns.append(blocks)
    return list(zip(*columns, strict=True))


def _forward_inputs(
    inputs: Any, create_graph: bool, strict: bool, vectorize: bool
) -> tuple[bool, Tensors]:
    """Refuse what PyTorch's forward mode refuses, and give the inputs as a tuple."""
    if create_graph:
        raise NotImplementedError(
            "torch.autograd.functional.jacobian: `create_graph=True` and "
            f'`strategy="forward-mode"` {_TOGETHER} (yet). Please either set `create_graph=False` '
            'or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` '
            f"{_TOGETHER} (yet). Please either set `strict=False` or "
            '`strategy="reverse-mode"`.'
        )
    several, tensors = as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly "
            "implemented for `vectorize=True`."
        )
    return several, tensors


def _forward_mode(func: Function, several: bool, tensors: Tensors, recorded: bool) -> Any:
    """Give what forward mode gives, by backward passes."""
    with enable_grad():
        tensors = fresh(tensors, recorded, True)
        several_outputs, outputs = as_tuple(func(*tensors), "outputs", None)
        rows = [
            _rows(position, output, tensors, recorded, False)
            for position, output in enumerate(outputs)
        ]
        blocks = _stacked(rows, outputs, tensors)
    found = [in_form(list(without_graph(block, recorded)), several) for block in blocks]
    return in_form(found if several else tuple(found), several_outputs)
