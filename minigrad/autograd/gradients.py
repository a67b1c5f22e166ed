"""Ask for gradients: `backward` adds them to the leaves, `grad` returns them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.engine import run_backward
from minigrad.autograd.gradient_edge import GradientEdge, layout_of
from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.node import NO_EDGE, Edge, Node
from minigrad.autograd.starting import check_needs_gradient, starting_gradient, starting_gradients
from minigrad.autograd.variable import Variable


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Compute the gradients of tensors with respect to the leaves of their graph.

    Args:
        tensors: A tensor or several, to be differentiated.
        grad_tensors: For each of them the gradient to start from, of its shape; None for a tensor
            with one entry means 1.
        retain_graph: Keep the saved values for another pass; by default the value of
            `create_graph`.
        create_graph: Record the backward pass, for derivatives of derivatives.
        grad_variables: The old name of `grad_tensors`.
        inputs: The tensors whose `.grad` is wanted, also as values of a dict; by default all
            leaves.

    Raises:
        RuntimeError: If a tensor has no graph, a gradient is missing or has the wrong shape, the
            graph was released, or `inputs` is empty.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.autograd.backward(x * x, torch.tensor([1.0, 10.0]))
        >>> x.grad
        tensor([ 2., 40.])
    """
    if grad_variables is not None:
        grad_tensors = _old_name(grad_tensors, grad_variables)
    wanted = None if inputs is None else _as_wanted(inputs, "backward")
    if grad_tensors is None and isinstance(tensors, Variable):  # a loss: the common case
        gradients = [starting_gradient(0, tensors, None, create_graph)]
        edge = tensors._edge or resolve_edge(tensors)
        if edge is NO_EDGE:
            check_needs_gradient(0, tensors)
        root_edges = [edge]
        unchecked = False
    else:
        roots = _as_list(tensors)
        unchecked = _any_unknown(roots)
        gradients = starting_gradients(roots, grad_tensors, create_graph)
        root_edges = [_edge_of(root) for root in roots]
    edges = None if wanted is None else _edges_of_inputs(wanted)
    try:
        run_backward(
            root_edges,
            gradients,
            create_graph if retain_graph is None else retain_graph,
            create_graph,
            edges,
            True,
            unchecked,
        )
    finally:
        if create_graph:
            warnings.warn(
                "Using backward() with create_graph=True will create a reference cycle between "
                "the parameter and its gradient which can cause a memory leak. We recommend using "
                "autograd.grad when creating the graph to avoid this. If you have to use this "
                "function, make sure to reset the .grad fields of your parameters to None after "
                "use to break the cycle and avoid the leak.",
                UserWarning,
                stacklevel=3,
            )


def _old_name(grad_tensors: Any, grad_variables: Any) -> Any:
    warnings.warn(
        "`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=3
    )
    if grad_tensors is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
            "`backward()`. Please only use `grad_tensors`."
        )
    return grad_variables


def _as_wanted(inputs: Any, function: str) -> list[Any]:
    """Give a list of what gradients are wanted for, which may be the values of a dict."""
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    wanted = list(inputs.values()) if isinstance(inputs, dict) else _as_list(inputs)
    if not wanted:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return wanted


def _edges_of_inputs(wanted: list[Any]) -> list[Edge]:
    """Give the edges at which gradients are wanted, and let inner tensors keep theirs."""
    edges = []
    for tensor in wanted:
        if isinstance(tensor, Variable):
            if tensor.requires_grad:
                tensor._resolved_edge()  # a view of changed memory retains at its new node
            tensor.retain_grad()
        edges.append(_edge_of(tensor))
    return edges


def _as_list(tensors: Any) -> list[Any]:
    """Give a list of tensors and gradient edges from one of them or several."""
    return [tensors] if isinstance(tensors, (Variable, GradientEdge)) else list(tensors)


def _any_unknown(roots: list[Any]) -> bool:
    """Tell whether a root is an edge at which the shape of the gradient is not known."""
    return any(isinstance(root, GradientEdge) and layout_of(root) is None for root in roots)


def _edge_of(tensor: Any) -> Edge:
    """Give the edge at which the gradient of a tensor arrives.

    Raises:
        RuntimeError: If it requires none, or is neither a tensor nor a gradient edge.
    """
    if isinstance(tensor, GradientEdge):
        return (tensor.node, tensor.output_nr)
    if not isinstance(tensor, Variable):
        raise RuntimeError(
            f"all inputs have to be Tensors or GradientEdges, but got {type(tensor).__name__}"
        )
    if not tensor.requires_grad:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return tensor._edge or resolve_edge(tensor)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """Give the gradients of outputs with respect to inputs, and leave every `.grad` as it is.

    Args:
        outputs: A tensor or several, to be differentiated.
        inputs: The tensor or tensors whose gradients are wanted, also as values of a dict.
        grad_outputs: For each output the gradient to start from; None for one entry means 1.
        retain_graph: Keep the saved values for another pass; by default as `create_graph`.
        create_graph: Record the backward pass, for derivatives of derivatives.
        only_inputs: Deprecated, and ignored.
        allow_unused: Give None for an input that the outputs do not depend on, instead of an
            error. By default as `materialize_grads`.
        is_grads_batched: Whether `grad_outputs` have a first dimension more, over which several
            passes are made: one row of results for each.
        materialize_grads: Give zeros for such an input.

    Returns:
        A tuple with one gradient for each input, of its shape; or a dict, if the inputs came as
        one.

    Raises:
        RuntimeError: If an input requires no gradient or was not used, and as for `backward`.
        ValueError: If `allow_unused=False` contradicts `materialize_grads=True`.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([2.0], requires_grad=True)
        >>> (first,) = torch.autograd.grad(x**3, x, create_graph=True)
        >>> (second,) = torch.autograd.grad(first, x)
        >>> first.item(), second.item()
        (12.0, 12.0)
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, "
            "but got: allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    if is_grads_batched:
        _as_wanted(inputs, "grad")
        return _in_batches(
            outputs,
            inputs,
            grad_outputs,
            retain_graph,
            create_graph,
            allow_unused,
            materialize_grads,
        )
    roots, wanted = _as_list(outputs), _as_wanted(inputs, "grad")
    gradients = starting_gradients(roots, grad_outputs, create_graph)
    edges = [_edge_of(tensor) for tensor in wanted]
    results = run_backward(
        [_edge_of(root) for root in roots],
        gradients,
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        edges,
        unchecked=_any_unknown(roots),
    )
    for position, (result, tensor) in enumerate(zip(results, wanted, strict=True)):
        if result is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {position} appears to not have been used in "
                "the graph. Set allow_unused=True if this is the desired behavior."
            )
        if result is None and materialize_grads:
            if isinstance(tensor, GradientEdge):
                raise RuntimeError(
                    "materialize_grads cannot be used when the given input is a GradientEdge"
                )
            zeros = Node.wrap(np.zeros_like(tensor._array))
            results[position] = zeros.requires_grad_() if create_graph else zeros
    results = results if create_graph else _told_apart(results)
    return dict(zip(inputs, results, strict=True)) if isinstance(inputs, dict) else tuple(results)


def _in_batches(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any,
    retain_graph: bool | None,
    create_graph: bool,
    allow_unused: bool,
    materialize_grads: bool,
) -> Any:
    """Make one pass for each row of the gradients to start from, and stack what they give."""
    if grad_outputs is None:
        raise ValueError("is_grads_batched=True needs grad_outputs with one row for each pass.")
    starts = [grad_outputs] if isinstance(grad_outputs, Variable) else list(grad_outputs)
    roots = _as_list(outputs)
    count = _batch_size(roots, starts)
    passes = []
    for row in range(count):
        last = row == count - 1
        passes.append(
            grad(
                roots,
                inputs,
                [None if start is None else _row(start, row, create_graph) for start in starts],
                True if not last else retain_graph,
                create_graph,
                allow_unused=allow_unused,
                materialize_grads=materialize_grads,
            )
        )
    if isinstance(inputs, dict):
        return {name: _stacked([each[name] for each in passes]) for name in inputs}
    return tuple(_stacked(column) for column in zip(*passes, strict=True))


def _batch_size(roots: list[Any], starts: list[Any]) -> int:
    """Give the number of rows of the gradients to start from, one row for each pass."""
    sizes = []
    for position, (root, start) in enumerate(zip(roots, starts, strict=False)):
        if start is None:
            continue
        shape = start._array.shape
        if not shape:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            )
        if shape[0] == 0:
            raise IndexError("index 0 is out of bounds for dimension 0 with size 0")
        if isinstance(root, Variable) and shape[1:] != root._array.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output "
                "as the batch dimension. The sizes of the remaining dimensions are expected to "
                "match the shape of corresponding output, but a mismatch was detected: "
                f"grad_output[{position}] has a shape of torch.Size({list(shape[2:])}) and "
                f"output[{position}] has a shape of torch.Size({list(root._array.shape)}). If you "
                "only want some tensors in `grad_output` to be considered batched, consider using "
                f"vmap. (The whole grad_output[{position}] has the shape {list(shape)}.)"
            )
        sizes.append(shape[0])
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return sizes[0] if sizes else 1


def _row(start: Any, row: int, recorded: bool) -> Any:
    return start[row] if recorded else Node.wrap(start._array[row])


def _stacked(gradients: Sequence[Any]) -> Any:
    return None if gradients[0] is None else np.stack(gradients)


def _told_apart(gradients: Sequence[Any]) -> list[Any]:
    """Let gradients that are one array be one tensor, and let every one be written to."""
    tensors: dict[int, Any] = {}
    apart = []
    for gradient in gradients:
        if gradient is not None:
            array = gradient._array
            gradient = tensors.setdefault(id(array), gradient)
            if not array.flags.writeable:  # a repeated entry, whose memory is somebody else's
                once = tuple(slice(None) if step else slice(0, 1) for step in array.strides)
                kept = array[once].copy()
                pairs = zip(array.strides, kept.strides, strict=True)
                steps = tuple(new if old else 0 for old, new in pairs)
                gradient._array = np.lib.stride_tricks.as_strided(kept, array.shape, steps)
                tensors[id(gradient._array)] = gradient
        apart.append(gradient)
    return apart
