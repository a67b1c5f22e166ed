"""Ask for gradients: `backward` adds them to the leaves, `grad` returns them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.engine import run_backward
from minigrad.autograd.gradient_edge import GradientEdge, layout_of
from minigrad.autograd.node import NO_EDGE, Edge, Node
from minigrad.autograd.variable import Variable, resolve_edge


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
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
        inputs: The tensors whose `.grad` is wanted; by default all leaves.

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
    wanted = None if inputs is None else _as_wanted(inputs, "backward")
    if grad_tensors is None and isinstance(tensors, Variable):  # a loss: the common case
        gradients = [_starting_gradient(0, tensors, None, create_graph)]
        _check_needs_gradient(0, tensors)
        root_edges = [tensors._edge or resolve_edge(tensors)]
        unchecked = False
    else:
        roots = _as_list(tensors)
        unchecked = _any_unknown(roots)
        gradients = _starting_gradients(roots, grad_tensors, create_graph)
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


def _as_wanted(inputs: Any, function: str) -> list[Any]:
    wanted = _as_list(inputs)
    if not wanted:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return wanted


def _edges_of_inputs(wanted: list[Any]) -> list[Edge]:
    """Give the edges at which gradients are wanted, and let inner tensors keep theirs."""
    edges = []
    for tensor in wanted:
        if isinstance(tensor, Variable):
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
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Give the gradients of outputs with respect to inputs, and leave every `.grad` as it is.

    Args:
        outputs: A tensor or several, to be differentiated.
        inputs: The tensor or tensors whose gradients are wanted.
        grad_outputs: For each output the gradient to start from; None for one entry means 1.
        retain_graph: Keep the saved values for another pass; by default as `create_graph`.
        create_graph: Record the backward pass, for derivatives of derivatives.
        allow_unused: Give None for an input that the outputs do not depend on, instead of an
            error. By default as `materialize_grads`.
        materialize_grads: Give zeros for such an input.

    Returns:
        One gradient for each input, of its shape.

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
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    roots, wanted = _as_list(outputs), _as_wanted(inputs, "grad")
    gradients = _starting_gradients(roots, grad_outputs, create_graph)
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
    return tuple(results) if create_graph else _told_apart(results)


def _told_apart(gradients: Sequence[Any]) -> tuple[Any, ...]:
    """Let gradients that are one array be one tensor, and let every one be written to."""
    tensors: dict[int, Any] = {}
    apart = []
    for gradient in gradients:
        if gradient is not None:
            array = gradient._array
            gradient = tensors.setdefault(id(array), gradient)
            if not array.flags.writeable:  # a repeated entry, whose memory is somebody else's
                once = tuple(slice(None) if step else slice(0, 1) for step in array.strides)
                gradient._array = np.lib.stride_tricks.as_strided(
                    array[once].copy(), array.shape, array.strides
                )
                tensors[id(gradient._array)] = gradient
        apart.append(gradient)
    return tuple(apart)


def _starting_gradients(roots: Sequence[Any], gradients: Any, recorded: bool) -> list[Any]:
    """Check the gradients to start from, and fill in 1 where one may be left out."""
    if gradients is None:
        gradients = [None] * len(roots)
    elif isinstance(gradients, Variable):
        gradients = [gradients]
    else:
        gradients = tuple(gradients)
    if len(gradients) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(gradients)} gradients")
    starts = [
        _starting_gradient(position, root, gradient, recorded)
        for position, (root, gradient) in enumerate(zip(roots, gradients, strict=True))
    ]
    for position, root in enumerate(roots):
        _check_needs_gradient(position, root)
    return starts


def _check_needs_gradient(position: int, root: Any) -> None:
    """Raise if no gradient flows from a root."""
    if not isinstance(root, Variable):
        return
    edge = root._edge
    if edge is NO_EDGE or (edge is None and resolve_edge(root) is NO_EDGE):
        raise RuntimeError(
            f"element {position} of tensors does not require grad and does not have a grad_fn. "
            "Was an input made with requires_grad=True, and not under no_grad()?"
        )


# for each kind of scalar the gradient with which a backward pass starts
_ones = {np.dtype(kind).num: np.ones((), kind) for kind in (np.float32, np.float64)}


def _starting_gradient(position: int, root: Any, gradient: Any, recorded: bool) -> Any:
    """Check one gradient to start from, or make one."""
    if not isinstance(root, Variable):
        return _starting_at_edge(position, root, gradient, recorded)
    array = root._array
    if gradient is None:
        if array.size != 1 and root.requires_grad:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs. This one has shape "
                f"{list(array.shape)}: reduce it with sum() or mean(), or pass gradient= in its "
                "shape."
            )
        one = _ones.get(array.dtype.num) if array.ndim == 0 else None
        if one is not None:  # a loss
            start = one.copy()
        else:
            start = array.copy()
            start.fill(1)
    elif not isinstance(gradient, Variable):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
        )
    elif gradient._array.shape != array.shape:
        raise _wrong_shape(position, gradient, array.shape)
    else:
        start = gradient._array
        if start.dtype is not array.dtype:
            _check_complex(position, gradient, root.dtype)
    if gradient is None:
        return Node.wrap(start) if recorded else start
    if not recorded:
        return start if start.dtype == array.dtype else start.astype(array.dtype)
    return gradient if start.dtype == array.dtype else gradient._to_numpy_dtype(array.dtype)


def _wrong_shape(position: int, gradient: Any, shape: Any) -> RuntimeError:
    return RuntimeError(
        f"Mismatch in shape: grad_output[{position}] has a shape of "
        f"torch.Size({list(gradient._array.shape)}) and output[{position}] has a shape of "
        f"torch.Size({list(shape)})."
    )


def _starting_at_edge(position: int, root: Any, gradient: Any, recorded: bool) -> Any:
    """Check the gradient to start from at a gradient edge, or make one."""
    if not isinstance(root, GradientEdge):
        raise AssertionError(
            "Expected output to be a torch.Tensor or a gradient edge, but got "
            f"{type(root).__name__}"
        )
    layout = layout_of(root)
    if root.output_nr and not root.node.multiple:
        raise IndexError(
            f"tuple index out of range: {root.node.name()} has one output, not number "
            f"{root.output_nr}"
        )
    if gradient is None:
        if layout is None:
            raise RuntimeError(
                f"element {position} of tensors is a GradientEdge without a tensor, so the shape "
                "of its gradient is not known. Pass the gradient, or make the edge with "
                "get_gradient_edge()."
            )
        shape, dtype = layout
        if np.prod(shape) != 1:
            raise RuntimeError(
                "grad can be implicitly created only for scalar outputs. This one has shape "
                f"{list(shape)}: pass a gradient in that shape."
            )
        start = np.ones(shape, dtype)
        return Node.wrap(start) if recorded else start
    if not isinstance(gradient, Variable):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
        )
    if layout is None:
        return gradient if recorded else gradient._array
    shape, dtype = layout
    if gradient._array.shape != shape:
        raise _wrong_shape(position, gradient, shape)
    if gradient._array.dtype != dtype:
        _check_complex(position, gradient, Node.wrap(np.empty(0, dtype)).dtype)
        gradient = gradient._to_numpy_dtype(dtype)
    return gradient if recorded else gradient._array


def _check_complex(position: int, gradient: Any, wanted: Any) -> None:
    """Refuse a complex gradient for a real tensor and the reverse: the imaginary part would go."""
    given = gradient.dtype
    if given != wanted and (given.is_complex or wanted.is_complex):
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same "
            f"dtype. Mismatch in dtype: grad_output[{position}] has a dtype of {given} and "
            f"output[{position}] has a dtype of {wanted}."
        )
