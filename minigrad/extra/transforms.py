"""Make functions of functions: `grad`, Jacobians, Hessians, `vmap` for batches; call modules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd import functional
from minigrad.autograd.grad_mode import inference_mode
from minigrad.autograd.messages import type_name
from minigrad.autograd.saved_hooks import gradient_edge
from minigrad.core.engine import AccumulateGrad, count_uses
from minigrad.core.modes import is_grad_enabled, modes
from minigrad.core.node import next_priority
from minigrad.core.tensor import Tensor, wrap
from minigrad.extra.batching import NotBatched, batch, refuse, unbatch
from minigrad.ops.joining import stacked

Function = Callable[..., Any]
__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "vmap"]


# ------------------------------------------------------------------ nested arguments, and levels

_LEAF = "leaf"  # stands in a form, as `take_apart` gives it, for a leaf


def take_apart(value: Any) -> tuple[list[Any], Any]:
    """Give the leaves of nested containers, and how they are nested.

    Example:
        >>> leaves, form = take_apart([1, {"a": (2, 3)}])
        >>> leaves, put_together(form, "xyz")
        ([1, 2, 3], ['x', {'a': ('y', 'z')}])
    """
    leaves: list[Any] = []

    def form_of(part: Any) -> Any:
        if type(part) in (dict, list, tuple) or hasattr(part, "_fields"):
            return _changed(part, form_of)
        leaves.append(part)
        return _LEAF

    return leaves, form_of(value)


def put_together(form: Any, leaves: Iterable[Any]) -> Any:
    """Put leaves, in order, into a form."""
    rest = iter(leaves)

    def built(part: Any) -> Any:
        return next(rest) if part is _LEAF else _changed(part, built)

    return built(form)


def _changed(container: Any, function: Function) -> Any:
    """Give a container of the same kind with each part changed by a function."""
    if isinstance(container, dict):
        return {key: function(part) for key, part in container.items()}
    parts = [function(part) for part in container]
    kind = type(container)
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def mapped(function: Callable[..., Any], value: Any) -> Any:
    """Apply a function to each leaf.

    Example:
        >>> mapped(lambda x: x + 1, {"a": [1, 2]})
        {'a': [2, 3]}
    """
    leaves, form = take_apart(value)
    return put_together(form, map(function, leaves))


class Level:
    """One derivative that is being taken; within it there may be others.

    What it hands out stays connected with what encloses it, such as another derivative or a tensor
    that requires a gradient. Of its own inputs nobody outside knows.
    """

    def __init__(self) -> None:
        self.recording = is_grad_enabled()
        self._own: set[int] = set()
        self._inputs: list[Tensor] = []

    def enter(self, tensor: Any) -> Tensor:
        """Give a tensor of the same values, to be differentiated for.

        Raises:
            ValueError: If it isn't a tensor.
            RuntimeError: If it has no floating-point numbers.
        """
        if not isinstance(tensor, Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(tensor)}")
        if tensor._array.dtype.kind not in "fO":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        if tensor.requires_grad and self.recording:
            return tensor.view_as(tensor)
        own = (tensor.clone() if tensor.is_inference() else tensor).detach().requires_grad_()
        self._own.add(id(own))
        self._inputs.append(own)  # so that its id stays its own
        return own

    def is_seen(self, tensor: Tensor) -> bool:
        """Tell whether something outside this level can ask for derivatives of a tensor."""
        nodes = count_uses([gradient_edge(tensor)]) if self.recording else ()
        leaves = (node.variable for node in nodes if isinstance(node, AccumulateGrad))
        return not self._own.issuperset(map(id, leaves))

    def leave(self, tensor: Any) -> Any:
        """Give a result without its graph, unless something outside can ask for it."""
        if not isinstance(tensor, Tensor) or not tensor.requires_grad or self.is_seen(tensor):
            return tensor
        return tensor.detach()


def differentiate(outputs: Sequence[Any], inputs: Sequence[Any], *how: Any) -> tuple[Any, ...]:
    """Give the gradients of outputs, or zeros where they do not depend on an input."""
    found = functional.differentiate(outputs, inputs, *how) if inputs else ()
    return functional.filled(found, inputs)


# ------------------------------------------------------------------ derivatives


def enter_arguments(
    level: Level, arguments: Any, argnums: Any
) -> tuple[list[Any], list[Tensor], Any]:
    """Enter a level with those arguments that are differentiated for.

    Returns:
        All arguments; the tensors among them that are differentiated for; how these are nested.
    """
    positions = argnums if isinstance(argnums, tuple) else (argnums,)
    given = list(arguments)
    for position in positions:
        given[position] = mapped(level.enter, given[position])
    chosen = tuple(given[position] for position in positions)
    inputs, form = take_apart(chosen if isinstance(argnums, tuple) else chosen[0])
    return given, inputs, form


def parted(
    func: Function, given: Any, options: dict[str, Any], has_aux: bool
) -> tuple[tuple[Tensor, ...], Any, Any]:
    """Call a function of tensors; give its outputs, how they are nested, and what comes with.

    Raises:
        RuntimeError: If there is something else than tensors among the outputs.
    """
    output, extra = func(*given, **options), None
    if has_aux:
        if not isinstance(output, tuple) or len(output) != 2:
            raise RuntimeError("with has_aux=True the function must give a pair: (output, aux)")
        output, extra = output
    outputs, form = take_apart(output)
    for each in outputs:
        if not isinstance(each, Tensor):
            raise RuntimeError(f"the function must give tensors only, not a {type_name(each)}")
    return tuple(outputs), form, extra


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Make the function that gives the gradient of a function, and its value.

    Args:
        func: Gives a tensor without dimensions.
        argnums: The argument to differentiate for, or a tuple of several. An argument may be a
            tensor, or tensors in tuples, lists and dictionaries.
        has_aux: Whether the function gives a pair: the output, and something that is handed on.

    Returns:
        A function of the same arguments. It gives a pair of the gradient, in the form of the
        argument, and the value; with `has_aux` the value comes with what was handed on.

    Raises:
        RuntimeError: If the function gives something else.

    Example:
        >>> import minigrad as torch
        >>> torch.func.grad_and_value(lambda x: (x**2).sum())(torch.tensor([1.0, 3.0]))
        (tensor([2., 6.]), tensor(10.))
    """

    @functools.wraps(func)
    def gradient_and_value(*arguments: Any, **options: Any) -> Any:
        level = Level()
        with inference_mode(False):
            given, inputs, form = enter_arguments(level, arguments, argnums)
            outputs, output_form, extra = parted(func, given, options, has_aux)
            if output_form is not _LEAF or outputs[0].ndim:
                raise RuntimeError("grad takes functions giving one number; otherwise use jacrev")
            (output,) = outputs
            found = differentiate([output], inputs, None, level.is_seen(output))
            value = mapped(level.leave, (output, extra) if has_aux else output)
            gradients = put_together(form, map(level.leave, found))
        return gradients, value

    return gradient_and_value


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """Make the function that gives the gradient of a function.

    Derivatives of derivatives are made by `grad(grad(f))`, and inner ones may be part of outer
    ones. Tensors that the function uses beside its arguments may require a gradient, too: then the
    result has a graph.

    Args:
        func: Gives a tensor without dimensions.
        argnums: The argument to differentiate for, or a tuple of several. An argument may be a
            tensor, or tensors in tuples, lists and dictionaries.
        has_aux: Whether the function gives a pair: the output, and something that is handed on.

    Returns:
        A function of the same arguments that gives the gradient in the form of the argument; with
        `has_aux` a pair of it and what was handed on.

    Raises:
        RuntimeError: If the function gives something else.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.func import grad
        >>> grad(torch.sin)(torch.tensor(0.0)), grad(grad(lambda x: x**3))(torch.tensor(2.0))
        (tensor(1.), tensor(12.))
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*arguments: Any, **options: Any) -> Any:
        gradients, value = both(*arguments, **options)
        return (gradients, value[1]) if has_aux else gradients

    return gradient


def jacrev(
    func: Function, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Function:
    """Make the function that gives the Jacobian of a function, by one backward pass for all rows.

    Where something outside can ask for derivatives of it, there is a pass for each row.

    Args:
        func: Gives tensors, also in tuples, lists and dictionaries.
        argnums: The argument to differentiate for, or a tuple of several.
        has_aux: Whether the function gives a pair: the output, and something that is handed on.
        chunk_size: In PyTorch, how many rows are computed together; here it changes nothing.

    Returns:
        A function of the same arguments. For each output, in its form, it gives for each argument,
        in its form, a tensor of the output's shape followed by the argument's.

    Example:
        >>> import minigrad as torch
        >>> torch.func.jacrev(lambda x: x.sum() * x)(torch.tensor([1.0, 2.0]))
        tensor([[4., 1.],
                [2., 5.]])
    """
    return _jacobian(func, argnums, has_aux, _rows)


def jacfwd(
    func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """Make the function that gives the Jacobian of a function.

    PyTorch computes the columns in forward mode. minigrad has no forward mode and gives the same
    ones by two backward passes, for all of them as in `jacrev`.

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
    return _jacobian(func, argnums, has_aux, _columns)


def _jacobian(func: Function, argnums: Any, has_aux: bool, blocks_of: Any) -> Function:
    @functools.wraps(func)
    def jacobian(*arguments: Any, **options: Any) -> Any:
        level = Level()
        with inference_mode(False):
            given, inputs, inputs_form = enter_arguments(level, arguments, argnums)
            outputs, form, extra = parted(func, given, options, has_aux)
            found = (blocks_of(level, leaf, inputs) for leaf in outputs)
            blocks = [put_together(inputs_form, map(level.leave, each)) for each in found]
        result = put_together(form, blocks)
        return (result, mapped(level.leave, extra)) if has_aux else result

    return jacobian


def _rows(level: Level, output: Tensor, inputs: list[Tensor]) -> list[Any]:
    """Give the Jacobian of one output for each input, by its rows.

    All rows at once, if nothing outside can ask for their derivatives, and memory allows it.
    """
    number, dtype = output.numel(), output._array.dtype
    if not (inputs and number) or dtype.kind in "iub":
        return [tensor.new_zeros((*output.shape, *tensor.shape)) for tensor in inputs]
    seen = level.is_seen(output)
    if seen or number > 4096:
        return [*functional.block(0, output, tuple(inputs), seen, False)]
    unit = wrap(np.eye(number, dtype=dtype).reshape(-1, *output.shape))
    rows = vmap(lambda row: differentiate([output], inputs, [row], False, True))(unit)
    pairs = zip(rows, inputs, strict=True)
    return [block.reshape((*output.shape, *tensor.shape)) for block, tensor in pairs]


def _columns(level: Level, output: Tensor, inputs: list[Tensor]) -> list[Any]:
    """Give it by its columns, in the output's type: by the trick of `functional.jvp`."""
    if not output.requires_grad or any(not each.numel() for each in (output, *inputs)):
        return [each.to(output.dtype) for each in _rows(level, output, inputs)]
    u = level.enter(functional.zeros_like(output))
    products = differentiate([output], inputs, [u], True)
    blocks = [_rows(level, each, [u])[0] for each in products]
    order = [(*range(each.ndim, each.ndim + u.ndim), *range(each.ndim)) for each in inputs]
    return [each.permute(dims).to(output.dtype) for each, dims in zip(blocks, order, strict=True)]


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


# ------------------------------------------------------------------ batches


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Make the function that applies a function to each example of a batch.

    The function is called once, with tensors that look like those of one example and hold all of
    them. Where that cannot be, it is called once more for each example, and the results are
    stacked. So what PyTorch refuses works, but slower: `item()`, a branch that depends on numbers,
    random numbers. So do hooks, writing into what is the same for all, convolutions, and what
    requires a gradient outside of the function. See `minigrad.extra.batching`.

    Args:
        func: Takes and gives tensors, also in tuples, lists and dictionaries.
        in_dims: The dimension of the arguments along which the examples lie; None for an argument
            that is the same for all; or such numbers nested as the arguments are.
        out_dims: The dimension along which the results are stacked, or several, likewise.
        randomness: Each example has random numbers of its own, as after "different", also by
            default; PyTorch refuses then. "same" is not here.
        chunk_size: In PyTorch, how many examples are computed together; here it changes nothing.

    Returns:
        A function of the same arguments, with batches instead of examples. Keyword arguments
        are the same for all examples.

    Raises:
        ValueError: If batches differ in size, or `in_dims` and `out_dims` do not fit.

    Example:
        >>> import minigrad as torch
        >>> rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.vmap(torch.dot)(rows, rows)
        tensor([ 5., 25.])
    """
    if randomness not in ("error", "different"):
        raise RuntimeError(f"randomness is 'error' or 'different' here, not {randomness!r}")

    @functools.wraps(func)
    def batched(*arguments: Any, **options: Any) -> Any:
        given, form = take_apart(arguments)
        pairs = list(zip(given, _dims_of(in_dims, form, "in_dims"), strict=True))
        for value, dim in pairs:
            fits = dim is None or (isinstance(value, Tensor) and -value.ndim <= dim < value.ndim)
            if not fits:
                raise ValueError(f"vmap: there is no dimension {dim}. Is it None in in_dims?")
        sizes = {value.shape[dim] for value, dim in pairs if dim is not None}
        if len(sizes) != 1 or sizes == {0}:
            raise ValueError(f"vmap: the batches must have one size, at least 1, not {sizes}")
        (size,) = sizes

        def call(part: Any, of: int) -> Any:
            leaves = [x if dim is None else part(x, dim, of) for x, dim in pairs]
            return func(*put_together(form, leaves), **options)

        recorded = modes.asked and any(getattr(x, "requires_grad", False) for x in given)
        watched = modes.observers or modes.saved_hooks or modes.recorder is not None
        if not (recorded or watched):
            try:
                return _at_once(functools.partial(call, batch), size, out_dims)
            except (NotBatched, Exception):  # what is wrong with the function, it will say again
                pass
        one_by_one = [call(lambda x, *at: x.select(*at), k) for k in range(size)]
        return _joined(one_by_one, out_dims, _stacked)

    return batched


def _dims_of(dims: Any, form: Any, name: str) -> list[Any]:
    """Give each leaf its dimension: one may stand for all that is nested below it."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(take_apart(form)[0])
    if type(dims) is not type(form) or form is _LEAF or len(dims) != len(form):
        raise ValueError(f"vmap: {name}={dims!r} is not nested as the tensors are")
    keys = form if isinstance(form, dict) else range(len(form))
    return [dim for key in keys for dim in _dims_of(dims[key], form[key], name)]


def _at_once(call: Function, size: int, out_dims: Any) -> Any:
    """Call a function for all examples at once, as a batch of a higher level than any before."""
    level, outer = -next_priority(), modes.at_once
    modes.at_once = refuse
    try:
        result = call(level)
    finally:
        modes.at_once = outer
    return _joined([result], out_dims, lambda one, dim: unbatch(one[0], dim, level, size))


def _joined(results: list[Any], out_dims: Any, join: Function) -> Any:
    """Join what stands in one place of all results, which may be nested."""
    form = take_apart(results[0])[1]
    columns = zip(*(take_apart(result)[0] for result in results), strict=True)
    return put_together(form, map(join, columns, _dims_of(out_dims, form, "out_dims")))


def _stacked(column: Sequence[Any], dim: int | None) -> Any:
    leaf, same = column[0], all(one is column[0] for one in column)
    if not (same if dim is None else isinstance(leaf, Tensor)):
        raise ValueError(f"vmap: {type_name(leaf)}s cannot be put together along {dim}")
    return leaf if dim is None else stacked(column, dim)


# ------------------------------------------------------------------ modules


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors instead of its parameters and buffers.

    So each sample can have its own gradients, as private training asks for them.

    Args:
        module: The module, which is as it was afterwards.
        parameter_and_buffer_dicts: Tensors by name, such as "0.weight"; or several dictionaries.
        args: What to call the module with: a tuple of arguments, or a single one.
        kwargs: The keyword arguments.
        tie_weights: Whether tensors that have several names are replaced under all of them.
        strict: Whether each parameter and buffer must be given, and nothing else.

    Returns:
        What the module gives.

    Raises:
        RuntimeError: If `strict` is set and names do not fit.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(1, 1, bias=False)
        >>> torch.func.functional_call(layer, {"weight": torch.tensor([[2.0]])}, torch.ones(1))
        tensor([2.])
    """
    tensors = parameter_and_buffer_dicts
    if not isinstance(tensors, dict):
        tensors = {name: tensor for each in tensors for name, tensor in each.items()}
    named = dict(module.named_parameters(remove_duplicate=False))
    named |= dict(module.named_buffers(remove_duplicate=False))
    if strict and tensors.keys() != named.keys():
        wrong = sorted(tensors.keys() ^ named.keys())
        raise RuntimeError(f"functional_call: {wrong} are missing, or not of the module")
    replacing = dict(tensors)
    for name in tensors if tie_weights else ():
        tied = (other for other in named if named[other] is named.get(name))
        replacing.update(dict.fromkeys(tied, tensors[name]))
    arguments = () if args is None else args if isinstance(args, tuple) else (args,)
    before: list[Any] = []  # tables, names in them and outside, and what was there
    try:
        for path, tensor in replacing.items():
            owner, _, name = path.rpartition(".")
            part = module.get_submodule(owner)
            table = part._parameters if name in part._parameters else part._buffers
            before.append((table, name, path, table[name]))
            table[name] = tensor
        return module(*arguments, **({} if kwargs is None else kwargs))
    finally:
        for table, name, path, value in reversed(before):
            if path in tensors:  # a buffer may have been replaced
                tensors[path] = table[name]
            table[name] = value
