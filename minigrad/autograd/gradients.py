"""Ask for gradients: `backward` adds them to the leaves, `grad` returns them.

Both start at tensors, or at gradient edges, which stand for a tensor without its values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextvars import copy_context
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.messages import refuse_complex, warn
from minigrad.core import extensions
from minigrad.core.engine import (
    AccumulateGrad,
    GraphTask,
    as_arrays,
    no_gradients,
    resolve_edge,
    run_backward,
)
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE, Edge, Node
from minigrad.core.tensor import Tensor, wrap_as_normal

# ------------------------------------------------------------------ where a pass starts


Edges = Sequence[Edge]


class _Fields(NamedTuple):
    node: Node
    output_nr: int
    ownership_token: Any = None


class GradientEdge(_Fields):
    """An edge of the graph: `backward` and `grad` take it where they take a tensor.

    It keeps the graph from there on, but not the tensor with its values.

    Args:
        node: The tensor's `grad_fn`, or the accumulate node of a leaf.
        output_nr: Which output of the node it is.
        ownership_token: Unused here; PyTorch has it to keep nodes written in C++ alive.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> y = x * x
        >>> edge = torch.autograd.graph.get_gradient_edge(y)
        >>> edge.node.name(), edge.output_nr
        ('MulBackward0', 0)
        >>> torch.autograd.grad((y * 2).sum(), edge)
        (tensor([2.]),)
    """

    # the tensor's shape and dtype, if the edge was made from one
    _layout: tuple[Any, Any] | None = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Give the edge along which the gradient of a tensor arrives.

    `grad(loss, tensor)` and `grad(loss, get_gradient_edge(tensor))` compute the same.

    Args:
        tensor: A tensor that requires a gradient.

    Raises:
        RuntimeError: If it does not.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> get_gradient_edge(x).node.name()
        'torch::autograd::AccumulateGrad'
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    node, output_nr = tensor._edge or resolve_edge(tensor)
    assert node is not None
    node._materialize_fused()
    edge = GradientEdge(node, output_nr)
    edge._layout = (tensor._array.shape, tensor._array.dtype)
    return edge


def layout_of(root: Any) -> tuple[Any, Any] | None:
    """Give shape and dtype of the gradient that belongs to a tensor or a gradient edge.

    Returns:
        None for an edge that was put together by hand, if its node does not know.
    """
    if isinstance(root, Tensor):
        return root._array.shape, root._array.dtype
    node, output_nr, _ = root
    if root._layout is None and isinstance(node, AccumulateGrad):
        return layout_of(node.variable)
    if root._layout is None and node._multiple and node._shape[output_nr] is not None:
        return node._shape[output_nr], node._dtype[output_nr]
    return root._layout


def starting_gradients(roots: Sequence[Any], gradients: Any, recorded: bool) -> list[Any]:
    """Check the gradients to start from, and fill in 1 where one may be left out."""
    if gradients is None:
        gradients = [None] * len(roots)
    elif isinstance(gradients, Tensor):
        gradients = [gradients]
    starts = [
        starting_gradient(position, root, gradient, recorded)
        # more gradients than tensors are not looked at, as in PyTorch
        for position, (root, gradient) in enumerate(zip(roots, gradients, strict=False))
    ]
    if len(starts) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(starts)} gradients")
    for position, root in enumerate(roots):
        if isinstance(root, Tensor) and (root._edge or resolve_edge(root)) is NO_EDGE:
            raise RuntimeError(
                f"element {position} of tensors does not require grad and does not have a grad_fn. "
                "Was an input made with requires_grad=True, and not under no_grad()?"
            )
    return starts


def starting_gradient(position: int, root: Any, gradient: Any, recorded: bool) -> Any:
    """Check one gradient to start from, or make one: a tensor if `recorded`, else an array."""
    if not isinstance(root, (Tensor, GradientEdge)):
        raise AssertionError(
            "Expected output to be a torch.Tensor or a gradient edge, but got "
            f"{type(root).__name__}"
        )
    layout = layout_of(root)
    if gradient is None:
        start = _one(position, root, layout)
        return wrap_as_normal(start) if recorded else start
    if not isinstance(gradient, Tensor):
        raise TypeError(
            f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
        )
    start = gradient._array
    shape, dtype = layout or (start.shape, start.dtype)
    refuse_complex(start.dtype)
    if start.shape != shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{position}] has a shape of "
            f"torch.Size({list(start.shape)}) and output[{position}] has a shape of "
            f"torch.Size({list(shape)})."
        )
    if start.dtype != dtype:
        return gradient._to_numpy_dtype(dtype) if recorded else start.astype(dtype)
    return gradient if recorded else start


def _one(position: int, root: Any, layout: Any) -> Any:
    """Make the gradient of a scalar with respect to itself."""
    if layout is None:
        raise RuntimeError(
            f"element {position} of tensors is a GradientEdge without a tensor, so the shape "
            "of its gradient is not known. Pass the gradient, or make the edge with "
            "get_gradient_edge()."
        )
    shape, dtype = layout
    if math.prod(shape) != 1 and (isinstance(root, GradientEdge) or root.requires_grad):
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs. This one has shape "
            f"{list(shape)}: reduce it with sum() or mean(), or pass gradient= in its shape."
        )
    start = np.ones(shape, dtype) if isinstance(root, GradientEdge) else root._array.copy()
    start.fill(1)
    return start


class ChosenTask(GraphTask):
    """A pass that only goes where it has to for the gradients at some edges.

    Args:
        *common: What every pass takes.
        inputs: The edges.
        accumulate: Whether their nodes themselves run (`backward`), or the gradients that reach
            them are only captured (`grad`).
    """

    every_step = True

    def __init__(
        self, roots: Edges, retain_graph: bool, create_graph: bool, inputs: Edges, accumulate: bool
    ) -> None:
        super().__init__(roots, retain_graph, create_graph)
        captures: dict[Node, list[tuple[int, int]]] = {}
        for position, (node, output_nr) in enumerate(inputs):
            if node is not None:
                captures.setdefault(node, []).append((position, output_nr))
        self.captured = [None] * len(inputs)
        self.running = leading_to(roots, set(captures), accumulate)
        self.captures = {} if accumulate else captures
        self.needed = self.running | set(captures)

    def run(self, edges: Sequence[Edge], gradients: Any) -> None:
        """Run; but first call the tensor hooks of an only root, which PyTorch does in any case."""
        if not edges:
            return
        node, output_nr = edges[0]
        only = node if len(edges) == 1 and node not in (self.needed or ()) else None
        if only is not None and only._hooks is not None:
            self.evaluating = only
            grad_outputs = no_gradients(only)
            grad_outputs[output_nr] = gradients[0]
            only._hooks.run_tensor_hooks(self._as_tensors(grad_outputs))
        super().run(edges, gradients)

    def _evaluate(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        """Run a node, or only keep its gradient, if that was asked for."""
        if node in self.captures:
            modes.set_recording(self.recorded)
            shown = self._as_tensors(grad_outputs)
            hooks: Any = node._hooks
            if node not in self.running and hooks is not None:
                hooks.run_tensor_hooks(shown)
            self._capture(node, shown)
            if not (self.recorded or node._multiple):
                grad_outputs = as_arrays(shown)  # where NumPy made a number of it, too
        if node not in self.running:
            return (None,) * len(node._edges)
        none = grad_outputs[0] is None and not node._multiple
        if self.observed or node._hooks is not None or none or not node._chooses:
            return super()._evaluate(node, grad_outputs)
        modes.set_recording(self.recorded)
        needed = self.needed or ()
        asked = tuple([edge if edge[0] in needed else NO_EDGE for edge in node._edges])
        run: Any = node._run_recorded if self.recorded else node._run
        given = grad_outputs if node._multiple else grad_outputs[0]
        return run(given, self.retain_graph, asked)

    def _capture(self, node: Node, grad_outputs: Sequence[Any]) -> None:
        """Keep the gradients that were asked for."""
        for position, output_nr in self.captures[node]:
            self.captured[position] = grad_outputs[output_nr]


def leading_to(roots: Edges, targets: set[Node], accumulate: bool) -> set[Node]:
    """Find the nodes that must run for gradients to reach the targets.

    With `accumulate` the targets run themselves; otherwise a target runs only if it lies on the
    way to another one.
    """
    needed, reached = set(targets) if accumulate else set(), set(targets)
    sources: dict[Node, list[Node]] = {}
    stack = [node for node, _ in roots if node is not None]
    while stack:
        node = stack.pop()
        if node not in sources:
            node._materialize_fused()  # later that would lead to nodes that are not among these
            sources[node] = [n for n, _ in node._edges if n is not None]
            stack.append(node)
            stack += sources[node]
        elif not reached.isdisjoint(sources[node]):  # by now all that it leads to was visited
            needed.add(node)
            reached.add(node)
    return needed


# ------------------------------------------------------------------ backward and grad


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
        inputs: The tensors whose `.grad` to compute, also as values of a dict; by default all
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
    if modes.at_once is not None:
        modes.at_once()
    if grad_variables is not None:
        warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        grad_tensors = grad_variables
    roots, targets = _as_list(tensors), None if inputs is None else _as_targets(inputs, "backward")
    gradients = starting_gradients(roots, grad_tensors, bool(create_graph))
    for tensor in targets or ():
        if isinstance(tensor, Tensor):
            tensor._resolved_edge()  # a view of changed memory retains at its new node
            tensor.retain_grad()
    chosen = () if targets is None else (ChosenTask, list(map(_edge_of, targets)), True)
    keep = create_graph if retain_graph is None else retain_graph
    try:
        run_backward(list(map(_edge_of, roots)), gradients, bool(keep), bool(create_graph), *chosen)
    finally:
        if create_graph:
            warn(
                "Using backward() with create_graph=True will create a reference cycle between "
                "the parameter and its gradient which can cause a memory leak. We recommend using "
                "autograd.grad when creating the graph to avoid this. If you have to use this "
                "function, make sure to reset the .grad fields of your parameters to None after "
                "use to break the cycle and avoid the leak."
            )


def _as_targets(inputs: Any, function: str) -> list[Any]:
    """Give a list of what to differentiate for, which may be the values of a dict."""
    targets = list(inputs.values()) if isinstance(inputs, dict) else _as_list(inputs)
    if not targets:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty.")
    return targets


def _as_list(tensors: Any) -> list[Any]:
    """Give a list of tensors and gradient edges from one of them or several."""
    if isinstance(tensors, (Tensor, GradientEdge)):
        return [tensors]
    return list(tensors)


def _edge_of(tensor: Any) -> Edge:
    """Give the edge at which the gradient of a tensor arrives.

    Raises:
        RuntimeError: If it requires none, or is neither a tensor nor a gradient edge.
    """
    if isinstance(tensor, GradientEdge):
        return (tensor.node, tensor.output_nr)
    if not isinstance(tensor, Tensor):
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
        inputs: The tensor or tensors whose gradients to give, also as values of a dict.
        grad_outputs: For each output the gradient to start from; None for one entry means 1.
        retain_graph: Keep the saved values for another pass; by default as `create_graph`.
        create_graph: Record the backward pass, for derivatives of derivatives.
        only_inputs: Deprecated; must be left as it is.
        allow_unused: Give None for an input that the outputs do not depend on, instead of an
            error. By default as `materialize_grads`.
        is_grads_batched: Not available: it needs `vmap`.
        materialize_grads: Give zeros for such an input.

    Returns:
        A tuple with one gradient for each input, of its shape; or a dict, if the inputs came as
        one.

    Raises:
        RuntimeError: If an input requires no gradient or was not used, and as for `backward`.
        ValueError: If `allow_unused=False` contradicts `materialize_grads=True`.
        NotImplementedError: If `is_grads_batched` or `only_inputs=False` is asked for.

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
    if is_grads_batched or not only_inputs:
        raise NotImplementedError(
            "grad() has no is_grads_batched=True: call it once for each row of grad_outputs, with "
            "retain_graph=True. And it has no only_inputs=False: call backward()."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    roots, targets = _as_list(outputs), _as_targets(inputs, "grad")
    gradients = starting_gradients(roots, grad_outputs, bool(create_graph))
    edges, inner = list(map(_edge_of, roots)), list(map(_edge_of, targets))
    keep = bool(create_graph if retain_graph is None else retain_graph)
    results = run_backward(edges, gradients, keep, bool(create_graph), ChosenTask, inner, False)
    for position, (result, tensor) in enumerate(zip(results, targets, strict=True)):
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
            zeros = wrap_as_normal(np.zeros_like(tensor._array))
            results[position] = zeros.requires_grad_() if create_graph else zeros
    results = results if create_graph else _distinct(results)
    return dict(zip(inputs, results, strict=True)) if isinstance(inputs, dict) else tuple(results)


def _distinct(gradients: Sequence[Any]) -> list[Any]:
    """Let gradients that are one array be one tensor, and let every one be written to."""
    tensors: dict[int, Any] = {}
    apart = []
    for gradient in gradients:
        if gradient is not None:
            array = gradient._array
            gradient = tensors.setdefault(id(array), gradient)
            if not array.flags.writeable:  # a repeated entry, whose memory is somebody else's
                once = tuple(slice(None) if step else slice(0, 1) for step in array.strides)
                gradient._array = np.broadcast_to(array[once].copy(), array.shape)
                gradient._array.flags.writeable = True
                tensors[id(gradient._array)] = gradient
        apart.append(gradient)
    return apart


def in_another_thread(function: Callable[[], Any]) -> Any:
    """Call a function in a new thread that has this one's modes, and wait for it.

    A backward pass that a hook starts runs within the outer one, several calls deeper. Python
    limits how deep calls may nest in one thread, so every so many levels a new one takes over.
    """
    futures = import_module("concurrent.futures")  # rarely needed, so that importing stays quick
    here = dict(vars(modes))
    here.pop("levels_left", None)  # the new thread has all of its own
    context = copy_context()

    def run() -> Any:
        vars(modes).update(here)
        return context.run(function)

    with futures.ThreadPoolExecutor(1) as threads:
        try:
            result = threads.submit(run)
        except RuntimeError:  # there are no threads in a browser: as deep as Python goes
            modes.levels_left += 1
            try:
                return function()
            finally:
                modes.levels_left -= 1
        return result.result()


def backward_of(
    tensor: Tensor, gradient: Any, retain_graph: Any, create_graph: Any, inputs: Any
) -> None:
    """Do what `tensor.backward()` does; what is quite plain is done at once."""
    plain = gradient is inputs is modes.at_once is None and not create_graph
    edge = (tensor._edge or resolve_edge(tensor)) if plain and tensor._array.size == 1 else NO_EDGE
    if edge is NO_EDGE:
        return backward(tensor, gradient, retain_graph, create_graph, None, inputs)
    (start := tensor._array.copy()).fill(1)
    run_backward([edge], [start], bool(retain_graph), False)


extensions.register(backward=backward_of, deeper=in_another_thread)
