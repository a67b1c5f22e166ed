"""Bring the operands of an operation together: numbers, arrays, and tensors of different types."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import cache, wraps
from typing import Any

import numpy as np

from minigrad.autograd.messages import refuse_complex
from minigrad.autograd.rules import ignore_errstate
from minigrad.autograd.saved_hooks import wrapped_number
from minigrad.core import extensions
from minigrad.core.engine import resolve_edge
from minigrad.core.modes import is_grad_enabled, modes, notify
from minigrad.core.node import NO_EDGE
from minigrad.core.operation import interpret
from minigrad.core.tensor import SavedTensor, Tensor, wrap, wrap_as_normal
from minigrad.creation import dtypes
from minigrad.signatures.arguments import as_tensor, cast, check_tensor, plain, refuse

_NUMBERS = (int, float, complex, np.number, np.bool_)
_PYTHON_NUMBERS = frozenset((int, float))
HALF, _SINGLE = np.dtype("float16"), np.dtype("float32")
_ROUNDS_ITSELF = ("log_softmax", "nan_to_num")
_EXACT = ("mul", "div")  # by numbers that need not be of float16

# PyTorch's own rules call the variants that take a Python number, which have nodes with one edge
# (`MulBackward1`); a number in a user's code becomes a tensor first (`MulBackward0`, two edges).
# Here is for such an operation of two tensors the one of a tensor and a number.
with_number: dict[Callable[..., Any], Callable[..., Any]] = {}


# Whole numbers that the dtype they were made for does not hold, by the arrays made of them.
exact_values: dict[int, int] = {}


class _Scalars(dict[tuple[type, Any, "np.dtype[Any]"], Tensor]):
    """Python numbers as tensors, by their type, their value, and the dtype beside them."""

    def __missing__(self, key: tuple[type, Any, np.dtype[Any]]) -> Tensor:
        _, value, beside = key
        if beside.kind != "O":  # beside symbols numbers may have any size
            value = plain(value)
        made = wrap_as_normal(np.asarray(value).astype(dtypes.scalar_dtype(value, beside)))
        made._meta = wrapped_number
        made._array.flags.writeable = False  # many operations may share it
        # 0.0 and -0.0 are equal as keys; and what depends on the default dtype is not kept
        if value and len(self) < 4096 and made._array.dtype is beside:
            self[key] = made
            if beside.kind in "iu" and made._array.item() != value:
                exact_values[id(made._array)] = value
        return made


scalars = _Scalars()


def scalar(value: Any, beside: np.dtype[Any]) -> Tensor:
    """Give a Python number as a tensor without dimensions, in the type it takes beside `beside`."""
    return scalars[value.__class__, value, beside]


def promote_other(operation: Callable[..., Any], self: Any, other: Any) -> Any:
    """Call an operation of a tensor and something that is not a tensor.

    Returns:
        The operation's result, or NotImplemented if the other thing is neither a number nor an
        array.
    """
    if not isinstance(self, Tensor):
        if not isinstance(self, _NUMBERS):
            return NotImplemented
        beside = other._array.dtype if isinstance(other, Tensor) else np.dtype(bool)
        return operation(scalar(self, beside), other)
    if other.__class__ in _PYTHON_NUMBERS or isinstance(other, _NUMBERS):
        if modes.in_rule and operation in with_number:
            return with_number[operation](self, other)
        if self._array.dtype is HALF and operation.__name__ in _EXACT:
            return promote_operands(operation, self, scalar(other, _SINGLE), HALF)
        return operation(self, scalar(other, self._array.dtype))
    if isinstance(other, np.ndarray):
        return operation(*beside_array(self, other, operation.__name__ == "div"))
    if self._array.dtype.kind == "O" and hasattr(other, "free_symbols"):
        return operation(self, wrap(np.array(other, dtype=object)))
    return NotImplemented


def beside_array(self: Tensor, array: Any, quotient: bool = False) -> tuple[Tensor, Tensor]:
    """Give a tensor, and one of NumPy's arrays as another, promoted by NumPy's rules."""
    if array.dtype.kind in "biufc" and not (modes.in_rule or (array.ndim and self.requires_grad)):
        promoted = np.result_type(self._array.dtype, array.dtype)
        self = cast(self, np.dtype("d") if quotient and promoted.kind in "biu" else promoted)
    return self, as_tensor(array)


def promote_operands(
    operation: Callable[..., Any], a: Tensor, b: Tensor, promoted: Any = None
) -> Tensor:
    """Call an operation of two tensors of different dtypes, in the dtype of their promotion.

    The gradients come back in the dtypes of the originals. No node is recorded for the
    conversion, as in PyTorch. A number by which float16 is multiplied or divided stays exact.

    Raises:
        NotImplementedError: If a complex result would be recorded.
    """
    if operation.__name__ == "sub" and "b" in (a._array.dtype.kind, b._array.dtype.kind):
        raise no_booleans(TypeError(), a._array, b._array)
    promoted = promoted or dtypes.result_type(a._array, b._array)
    one = 1 in (a._array.size, b._array.size)
    wide = promoted is HALF and one and operation.__name__ in _EXACT
    within = _SINGLE if wide else promoted
    shadows = _converted(a, within, b._array), _converted(b, within, a._array)
    result: Tensor = unobserved(operation, *shadows)
    if wide:
        result._array = ignore_errstate(result._array.astype)(HALF)
    edge = result._edge
    if edge is not None and edge[0] is not None:
        refuse_complex(promoted)
        node: Any = edge[0]
        node._broadcast = tuple((t._array.shape, t._array.dtype) for t in (a, b))
        if node._saved is not None:
            node._saved = tuple(_original(saved, shadows, (a, b)) for saved in node._saved)
        notify(node, result)
    return result


def unobserved(operation: Callable[..., Any], *arguments: Any) -> Any:
    """Call an operation whose node is not finished by it: observers are shown the node later."""
    observers = modes.observers
    if not observers:
        return operation(*arguments)
    modes.observers = ()
    try:
        return operation(*arguments)
    finally:
        modes.observers = observers


def _original(saved: Any, shadows: Any, originals: Any) -> Any:
    """Save a tensor itself where it was saved in another dtype: it may change before it is used.

    Not where numbers met symbols: those were made exact.
    """
    for shadow, original in zip(shadows, originals, strict=True):
        if saved is shadow is not original and type(shadow._array) is type(original._array):
            return original if original._version_counter is None else SavedTensor(original)
    return saved


def _converted(tensor: Tensor, dtype: np.dtype[Any], other: Any) -> Tensor:
    """Give a tensor in another dtype, and another's kind of array, with its place in the graph."""
    array = tensor._array
    if array.dtype is dtype:
        return tensor
    shadow = wrap(np.asarray(array, dtype, like=other))
    if modes.recording and tensor.requires_grad:
        shadow._edge = tensor._edge or resolve_edge(tensor)
        if shadow._edge is NO_EDGE:  # a view made under no_grad: see View.resolve
            shadow._edge, shadow._view = None, tensor._view
    return shadow


def no_booleans(error: TypeError, *arrays: Any) -> Exception:
    """Make PyTorch's error for booleans with a minus sign, if that is what is wrong."""
    if not any(array.dtype.kind == "b" for array in arrays):
        return error
    return RuntimeError(
        "The `-` operator is not supported with bool tensors: `~` inverts a mask, and `^` tells "
        "where two of them differ."
    )


def retry(forward: Callable[..., Any], error: Exception, *arguments: Any) -> Any:
    """Handle what NumPy raised in a forward.

    A warning about overflow or division by zero that was turned into an error is no error here:
    like PyTorch, compute on. Shapes that do not fit are explained in PyTorch's words.
    """
    if isinstance(error, (RuntimeWarning, FloatingPointError)):
        with np.errstate(all="ignore"):
            return forward(*arguments)
    if "broadcast" in str(error):
        broadcast_shape(*[a.shape for a in arguments if isinstance(a, np.ndarray)])
    raise error


# ---------------------------------------------------------------------- float16


@cache
def in_single(operation: Any) -> Any:
    """Give an operation's twin for float16: it computes in float32 and rounds once, as PyTorch.

    A rule takes steps, as it does where it is recorded. Each is an operation, and rounds once.
    """
    plan = copy(operation.plan)
    if plan.name not in _ROUNDS_ITSELF:
        plan.forward = rounded_once(plan.forward)
    members = {"__slots__": (), "_plan": plan, "_run": _in_steps}
    plan.node, plan.precise = type(plan.node.__name__, (plan.node,), members), True
    return interpret(plan)


def _in_steps(node: Any, gradient: Any, *settings: Any) -> list[Any]:
    recording, modes.recording = modes.recording, False
    try:
        found = node._run_recorded(wrap_as_normal(gradient), *settings)
    finally:
        modes.recording = recording
    return [None if each is None else each._array for each in found]


def rounded_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function compute with float32 where it is given float16, unless a dtype is passed.

    Tensors are for a rule that is recorded. If it is not, it computes with their arrays.
    """

    def convert(each: Any, dtype: Any) -> Any:
        return cast(each, dtype) if isinstance(each, Tensor) else each.astype(dtype)

    @ignore_errstate
    def narrow(*given: Any) -> Any:
        kinds = [getattr(getattr(each, "_array", each), "dtype", None) for each in given]
        if HALF not in kinds or any(isinstance(each, np.dtype) for each in given):
            return function(*given)
        pairs = zip(given, kinds, strict=True)
        wide = [convert(each, _SINGLE) if dtype is HALF else each for each, dtype in pairs]
        result = function(*wide)
        single = getattr(result, "_array", result).dtype == _SINGLE
        return convert(result, HALF) if single else result

    @wraps(function)
    def computed(*given: Any) -> Any:
        first = given[0]
        if first.__class__ is np.ndarray and first.dtype is not HALF:
            return function(*given)
        if modes.recording or not isinstance(first, Tensor):
            return narrow(*given)
        return wrap_as_normal(narrow(*[getattr(each, "_array", each) for each in given]))

    return computed


def differ(x: Any, y: Any) -> bool:
    """Tell whether two arrays have dtypes that do not go together. Symbols go with numbers."""
    return x.dtype is not y.dtype and x.dtype != y.dtype and "O" not in (x.dtype.kind, y.dtype.kind)


CONVERT = "Convert one of them with .to(dtype)."


def check_one_type(x: Any, y: Any) -> None:
    """Raise if two arrays have dtypes that do not go together."""
    if differ(x, y):
        names = [dtypes.scalar_name(each) for each in (x, y)]
        raise RuntimeError(f"expected scalar type {names[0]} but found {names[1]}. {CONVERT}")


def broadcast_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Give the shape that shapes broadcast to.

    Raises:
        RuntimeError: If they do not.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        pass
    most = max(map(len, shapes))
    for back in range(1, most + 1):
        sizes = dict.fromkeys(shape[-back] for shape in shapes if len(shape) >= back)
        unequal = [size for size in sizes if size != 1]
        if len(unequal) > 1:
            break
    raise RuntimeError(
        f"The size of tensor a ({unequal[0]}) must match the size of tensor b ({unequal[1]}) at "
        f"non-singleton dimension {most - back}. The shapes are "
        f"{' and '.join(str(list(shape)) for shape in shapes)}; compared from the right, sizes "
        "must be equal or 1."
    )


def broadcast_into(sizes: tuple[int, ...], *others: tuple[int, ...]) -> None:
    """Raise if other shapes do not broadcast to one that is fixed."""
    whole = broadcast_shape(sizes, *others)
    if whole != sizes:
        raise RuntimeError(
            f"output with shape {list(sizes)} doesn't match the broadcast shape {list(whole)}"
        )


def check_floats(name: str, kernel: str, input: Any, refused: str = "iubc") -> None:
    """Raise if an input is no tensor, or one of integers or complex numbers."""
    check_tensor(name, input)
    refuse(kernel, refused, input)


def refuse_gradient(name: str, argument: str, given: Tensor | None) -> None:
    """Raise if an argument would need a gradient that does not exist."""
    if given is not None and given.requires_grad and is_grad_enabled():
        raise RuntimeError(
            f"The function '{name}' is not differentiable with respect to argument '{argument}'. "
            "This input cannot have requires_grad True."
        )


# ---------------------------------------------------------------------- what operations call


def prepare(operation: Any, given: Any) -> tuple[Any, Any]:
    """Bring the two inputs of an operation together, and let float16 be computed in float32.

    Returns:
        The arguments, and None; or None, and the result of the operation.
    """
    plan = operation.plan
    if plan.arithmetic:
        a, b = given
        plain = b.__class__ in _PYTHON_NUMBERS and a.__class__ is Tensor and not modes.in_rule
        if plain and a._array.dtype is not HALF:
            b = scalars[b.__class__, b, a._array.dtype]
        if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
            return None, promote_other(operation, a, b)
        if a._array.dtype is not b._array.dtype:
            return None, promote_operands(operation, a, b)
        given = a, b
    if not plan.precise and given[plan.input_places[0]]._array.dtype is HALF:
        return None, in_single(operation)(*given)
    return given, None


extensions.register(prepare=prepare, retry=retry)
# what the functions call that `fast.writer` writes
WRITTEN_NAMES = {
    "half": HALF,
    "in_single": in_single,
    "promote_other": promote_other,
    "promote_operands": promote_operands,
    "numbers": _PYTHON_NUMBERS,
    "retry": retry,
    "scalars": scalars,
}
