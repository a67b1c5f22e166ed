"""Change tensors in place, `x.add_(y)`, `x[0] = y` or `x.t_()`, and keep the graph right."""

from __future__ import annotations

import functools
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import can_require_grad, wrong_type
from minigrad.autograd.views import Geometry, check_inplace, rebase_history, update_views
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import is_grad_enabled, modes, notify
from minigrad.core.node import NO_EDGE
from minigrad.core.operation import registry
from minigrad.core.tensor import SavedTensor, Tensor, wrap
from minigrad.creation import dtypes
from minigrad.creation.construction import entry
from minigrad.ops import elementwise, parts, shape
from minigrad.ops.type_promotion import broadcast_into, scalar, unobserved
from minigrad.signatures import arguments, attach, variants
from minigrad.signatures.arguments import is_operand
from minigrad.signatures.out import overlap, refuse_overlap, refuse_repeats
from minigrad.signatures.variants import writers


def write(
    operation: Callable[..., Any], tensor: Tensor, *others: Any, checked: bool = False
) -> Tensor:
    """Compute an operation and write its result into its first input.

    The old value stays in the graph as the operation's input; the tensor itself becomes the
    operation's result. Its version goes up, so that a rule that needed the old value notices.

    Args:
        operation: A differentiable operation.
        tensor: Its first input, which is changed.
        *others: Its other arguments.
        checked: Whether memory that the tensors share needs no look any more. Otherwise entries
            of the tensor must not share memory, nor may another tensor overlap it partially.

    Raises:
        RuntimeError: If the tensor must not be changed (see `check_inplace`), or the result has
            another shape or a higher kind of dtype.
    """
    recording = modes.recording
    check_inplace(tensor, recording=recording and _needs_gradient(tensor, *others))
    array = tensor._array
    if not checked:
        refuse_repeats(array)
        for other in others:
            if isinstance(other, Tensor):
                refuse_overlap(array, other._array)
    old = _before(tensor, array.copy()) if recording else tensor
    try:
        result = unobserved(operation, old, *others)
    except NotImplementedError:  # a complex result: worse if it does not fit into the tensor
        if array.dtype.kind == "c":
            raise
        with no_grad():
            result = operation(old, *others)
    if result is NotImplemented:
        raise wrong_type(f"{operation.__name__}_", "other", "Tensor or Number", others[0])
    computed = result._array
    if computed.shape != array.shape:
        broadcast_into(array.shape, computed.shape)
    if computed.dtype != array.dtype:
        if dtypes.kind_of(computed.dtype) > dtypes.kind_of(array.dtype):
            a, b = (dtypes.of_array(each).tensor_type for each in (computed, array))
            raise RuntimeError(f"result type {a} can't be cast to the desired output type {b}")
        computed = computed.astype(array.dtype)
    edge = result._edge if recording else NO_EDGE
    if edge is not NO_EDGE and not can_require_grad(array.dtype):
        edge = NO_EDGE
    try:
        array[...] = computed
    except ValueError:
        refuse_repeats(array)
        raise
    tensor._bump_version()
    if edge is not None and edge[0] is not None:
        node = edge[0]
        if old._edge is not NO_EDGE and any(saved is old for saved in node._saved or ()):
            old._edge = shape.clone(old)._edge  # PyTorch's graph has a clone of the old value
        kept = None
        if "result" in node._names_of_saved and node._saved is not None:
            kept = SavedTensor(tensor, is_result=True)
            node._saved = tuple(
                kept if isinstance(each, SavedTensor) and each.tensor is None else each
                for each in node._saved
            )
        rebase_history(tensor, node)
        if kept is not None and tensor._view is not None:
            kept.owner = weakref.ref(tensor.grad_fn)
        notify(node, tensor)
    return tensor


writers["values"] = write


def _before(tensor: Tensor, array: Any) -> Tensor:
    """Give what a tensor was before it changes: an array with the tensor's place in the graph."""
    old: Tensor = wrap(array)
    old._version_counter = None  # a normal tensor, in inference mode too
    if modes.recording and tensor.requires_grad:
        old._edge = tensor._edge or resolve_edge(tensor)
    return old


def _needs_gradient(*tensors: Any) -> bool:
    return any(isinstance(tensor, Tensor) and tensor.requires_grad for tensor in tensors)


@variants(function=False)
def copy_(input: Tensor, other: Any, non_blocking: bool = False) -> Tensor:
    """Write the values of another tensor, broadcast to this one's shape, into this one.

    Raises:
        RuntimeError: If the source does not broadcast to this shape.
    """
    if not isinstance(other, Tensor):
        if isinstance(other, (int, float, complex, np.generic)):
            return copy_(input, scalar(other, input._array.dtype))
        raise wrong_type("copy_", "other", "Tensor", other, 1)
    check_inplace(input, recording=is_grad_enabled() and _needs_gradient(input, other))
    array = other._array
    if other is not input:
        refuse_repeats(input._array)
        refuse_overlap(input._array, array)
    if array.shape != input._array.shape:
        broadcast_into(input._array.shape, array.shape)
    if not (modes.recording and (other.requires_grad or input.requires_grad)):
        input._array[...] = array
        input._bump_version()
        return input
    return write(shape.copy_values, input, other, checked=True)


@variants()
def fill_(input: Tensor, value: Any) -> Tensor:
    """Set all entries to one number, or to the only entry of a tensor without dimensions.

    Raises:
        RuntimeError: If the value is a tensor with dimensions.
    """
    if not is_operand(value):
        raise arguments.no_combination("fill_", value)
    if not isinstance(value, Tensor):
        value = entry(arguments.plain(value), input._array.dtype)
        return write(shape.filled, input, value, checked=True)
    if value._array.ndim:
        raise RuntimeError(
            "fill_ only supports 0-dimension value tensor but got tensor with "
            f"{value._array.ndim} dimensions."
        )
    refuse_repeats(input._array)
    return write(shape.filled_with, input, value, checked=True)


@variants()
def zero_(input: Tensor) -> Tensor:
    """Set all entries to 0."""
    return write(shape.zeros, input, checked=True)


@variants("detach", method=False)
def detached(input: Tensor) -> Tensor:
    """Give the same values in the same memory, outside of the graph.

    Example:
        >>> import minigrad as torch
        >>> torch.detach(torch.ones(2, requires_grad=True)).requires_grad
        False
    """
    return input.detach()


@variants("detach_", method=False)
def detached_in_place(input: Tensor) -> Tensor:
    """Take a tensor out of its graph."""
    return input.detach_()


def operator_of(method: Any) -> Any:
    """Make `x += y` of `x.add_(y)`: what it does not know it leaves to the other operand."""

    def operator(tensor: Tensor, other: Any) -> Any:
        return method(tensor, other) if is_operand(other) else NotImplemented

    operator.__doc__ = method.__doc__
    return operator


def _plain_arrays(tensor: Tensor, other: Any, alpha: Any) -> bool:
    """Tell whether two tensors hold floats of one shape and type, each in a memory of its own."""
    plain = isinstance(other, Tensor) and alpha.__class__ in (int, float)
    if not plain or not abs(alpha) < 65504:
        return False
    a, b = tensor._array, other._array
    if a.dtype is not b.dtype or a.dtype.kind != "f" or a.shape != b.shape:
        return False
    own = a.base is None and b.base is None
    return own or (0 not in a.strides and overlap(a, b) != "partial")


def _changing(name: str, ufunc: Any, doc: str) -> Callable[..., Tensor]:
    """Make `add_` or `sub_`."""
    operation = registry[name]
    scaled = functools.partial(elementwise.with_alpha, registry[f"{name}_scaled"])

    def change(tensor: Tensor, other: Any, *, alpha: Any = 1) -> Tensor:
        if not modes.recording and _plain_arrays(tensor, other, alpha):
            # what an optimizer does: numbers change without a detour through a new array
            array, operand = tensor._array, other._array
            ufunc(array, operand if alpha == 1 else operand * alpha, array)
            tensor._bump_version()
            return tensor
        if not is_operand(other):
            raise arguments.wrong_type(f"{name}_", "other", "Tensor", other, 1)
        if alpha == 1 and alpha.__class__ in (int, float):
            return write(operation, tensor, other)
        return write(scaled, tensor, other, alpha)

    change.__name__ = f"{name}_"
    change.__doc__ = doc
    return change


add_ = _changing("add", np.add, "Add another tensor, times `alpha`, in place.")
sub_ = _changing("sub", np.subtract, "Subtract another tensor, times `alpha`, in place.")


def broadcasts(have: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Tell whether a shape broadcasts to another one."""
    try:
        return np.broadcast_shapes(have, target) == target
    except ValueError:
        return False


# ---------------------------------------------------------------------- another shape

# The entries stay where they are in memory. The tensor itself becomes another view of them.

_NODES = {f"SqueezeBackward{n}": f"SqueezeBackward{n + 3}" for n in range(3)}


@functools.cache
def _node(kind: Any) -> Any:
    """Make the kind of node that the in-place version of an operation leaves."""
    name = _NODES.get(kind.__name__, kind.__name__.replace("0", "1"))
    return type(name, (kind,), {"__slots__": (), "__doc__": f"In place: {name}."})


def _see_as(function: Any, tensor: Tensor, *settings: Any) -> Tensor:
    """Turn a tensor into the view of itself that a function gives."""
    recording = modes.recording
    check_inplace(tensor, recording=recording and tensor.requires_grad)
    old = _before(tensor, tensor._array)
    result = unobserved(function, old, *settings)
    hooks = tensor._backward_hooks if recording else None
    tensor._array = result._array
    tensor._bump_version()
    edge, view = result._edge, tensor._view
    if not (recording and edge is not None and edge[0] is not None):
        return tensor
    node: Any = edge[0]
    node.__class__ = _node(node.__class__)
    if hooks is not None:  # they stay where they are, and hooks to come join them
        tensor._autograd_meta().hooks = hooks
    tensor._edge = edge
    if view is None:
        update_views(tensor)
    else:
        view.edge, view.stale = None, False
    notify(node, tensor)
    return tensor


writers["shape"] = _see_as


def resize_(tensor: Tensor, *sizes: Any, size: Any = None, memory_format: Any = None) -> Tensor:
    """Give the tensor another size in place, with the entries that its memory has.

    If the memory is too small, the tensor gets a larger one, with zeros where there is nothing; its
    views keep the old one.

    Args:
        tensor: The tensor.
        *sizes: The sizes, one by one or in a sequence.
        size: The same, by name.
        memory_format: Nothing but the usual order of memory can be asked for.

    Raises:
        RuntimeError: If the tensor requires a gradient.

    Example:
        >>> import minigrad as torch
        >>> torch.tensor([[1, 2], [3, 4]]).resize_(3)
        tensor([1, 2, 3])
    """
    target = arguments.sizes_given("resize_", "size", sizes, size)
    if modes.recording and tensor.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    check_inplace(tensor, recording=False)
    array, count = tensor._array, math.prod(target)
    row = parts.memory_of(array)[Geometry(array).start :]
    if row.size < count:
        row = np.concatenate([row, np.zeros(count - row.size, array.dtype)])
    tensor._array = row[:count].reshape(target)
    tensor._bump_version()
    return tensor


def resize_as_(input: Tensor, the_template: Tensor, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the size of another one in place; see `resize_`."""
    return resize_(input, the_template._array.shape)


@variants(function=False)
def set_(input: Tensor, source: Tensor | None = None) -> Tensor:
    """Let the tensor share the memory of another one, and its size; without one, have no entries.

    Raises:
        RuntimeError: If the other tensor is of another type.
        NotImplementedError: If one of them requires a gradient: PyTorch has no derivative either.

    Example:
        >>> import minigrad as torch
        >>> x, y = torch.zeros(3), torch.ones(2)
        >>> x.set_(y)
        tensor([1., 1.])
    """
    array = np.zeros(0, input._array.dtype) if source is None else source._array
    if array.dtype != input._array.dtype:
        a, b = (dtypes.c_name(each) for each in (array, input._array))
        raise RuntimeError(f"Could not set tensor of type {a} to a tensor of type {b}")
    recording = modes.recording and _needs_gradient(input, source)
    check_inplace(input, recording=recording)
    if recording:
        raise NotImplementedError("set_ has no derivative: call it outside of the graph")
    input._array = array
    input._bump_version()
    return input


_IN_PLACE: list[Any] = [add_, sub_, resize_, resize_as_]
attach(
    __name__,
    {method.__name__: method for method in _IN_PLACE}
    | {
        "subtract_": sub_,
        "__iadd__": operator_of(add_),
        "__isub__": operator_of(sub_),
        "__imul__": operator_of(vars(Tensor)["mul_"]),
        "__itruediv__": operator_of(vars(Tensor)["div_"]),
        "__ipow__": operator_of(vars(Tensor)["pow_"]),
    },
    {"resize_as_": resize_as_},
)
