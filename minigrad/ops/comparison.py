"""Compare entries, combine truth values, bits and whole numbers, test numbers: no gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.rules import ignore_errstate
from minigrad.core.tensor import Tensor, wrap
from minigrad.creation import dtypes
from minigrad.ops.inplace import operator_of, write
from minigrad.ops.type_promotion import broadcast_shape, promote_operands, promote_other, retry
from minigrad.signatures import attach, entrywise, numpy_protocols, variants
from minigrad.signatures.arguments import as_tensor, not_implemented


def _of_two(name: str, ufunc: Any, doc: str, kinds: str, refused: str, kernel: str) -> Any:
    """Make an operation of two tensors, or of a tensor and a number, whose result is no number.

    Args:
        name: Its name.
        ufunc: NumPy's function.
        doc: What it does.
        kinds: What the two are, as annotations have it.
        refused: The kinds of dtypes that it is not made for.
        kernel: The name that PyTorch has for it in errors.
    """

    def compute(input: Any, other: Any) -> Any:
        if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
            return promote_other(compute, input, other)
        a, b = input._array, other._array
        if a.dtype != b.dtype:
            # without their places in the graph, which nobody needs to know here
            return promote_operands(compute, wrap(a), wrap(b))
        if a.dtype.kind in refused:
            raise not_implemented(f"{kernel}_cpu", a)
        try:
            return wrap(ufunc(a, b))
        except ValueError as error:
            return wrap(retry(ufunc, error, a, b))

    compute.__name__ = compute.__qualname__ = name
    compute.__doc__ = doc
    compute.__annotations__ = dict(zip(("input", "other"), kinds.split(), strict=True))
    return compute


# ---------------------------------------------------------------------- comparisons


def _comparison(name: str, long: str, ufunc: Any, meaning: str) -> Any:
    refused = "" if name in ("eq", "ne") else "c"
    doc = f"Tell for each entry whether it is {meaning} the other."
    compare = _of_two(name, ufunc, doc, "Tensor Operand", refused, name)
    variants(out="kind", also=long)(compare)
    attach(__name__, {f"__{name}__": compare})
    return compare


eq = _comparison("eq", "", np.equal, "equal to")
ne = _comparison("ne", "not_equal", np.not_equal, "different from")
lt = _comparison("lt", "less", np.less, "less than")
le = _comparison("le", "less_equal", np.less_equal, "less than or equal to")
gt = _comparison("gt", "greater", np.greater, "greater than")
ge = _comparison("ge", "greater_equal", np.greater_equal, "greater than or equal to")


# ---------------------------------------------------------------------- truth values, bits


def _of_tensors(name: str, ufunc: Any, doc: str, refused: str = "", **forms: Any) -> None:
    operation = _of_two(name, ufunc, doc, "Tensor Tensor", refused, name)
    variants(out="kind", ufunc=ufunc, **forms)(operation)


_of_tensors("logical_and", np.logical_and, "Tell for each entry whether both are true.")
_of_tensors("logical_or", np.logical_or, "Tell for each entry whether one of them is true.")
_of_tensors("logical_xor", np.logical_xor, "Tell for each entry whether just one is true.")


@entrywise(floats=False, in_place=False, ufunc=np.logical_not, out="kind")
def logical_not(input: Tensor) -> Tensor:
    """Tell for each entry whether it is false."""
    return wrap(np.logical_not(input._array))


@entrywise(floats=False, in_place=False)
def bitwise_not(input: Tensor) -> Tensor:
    """Invert each bit of integers, or each boolean.

    Example:
        >>> import minigrad as torch
        >>> torch.bitwise_not(torch.tensor([1, -2])), ~torch.tensor([True])
        (tensor([-2,  1]), tensor([False]))
    """
    if input._array.dtype.kind in "fc":
        raise not_implemented("bitwise_not_cpu", input._array)
    return wrap(np.invert(input._array))


def _invert(input: Tensor) -> Tensor:
    """Invert each bit of integers, or each boolean: `~x`."""
    return wrap(np.invert(input._array))  # of floats NumPy raises a TypeError, as PyTorch does


attach(__name__, {"__invert__": _invert})
numpy_protocols.ufuncs[np.invert] = _invert


def _bits(name: str, sign: str, ufunc: Any, meaning: str, refused: str, kernel: str = "") -> None:
    doc = f"Combine the bits of integers, or booleans: {meaning}."
    combine = _of_two(name, ufunc, doc, "Operand Operand", refused, kernel or name)
    variants(name, out="kind")(combine)
    numpy_protocols.ufuncs[ufunc] = lambda a, b: combine(as_tensor(a), b)
    signs = {
        f"__{sign}__": combine,
        f"__r{sign}__": lambda self, other: combine(other, self),
        f"__i{sign}__": operator_of(lambda tensor, other: write(combine, tensor, other)),
    }
    attach(__name__, signs)


_bits("bitwise_and", "and", np.bitwise_and, "and", "fc")
_bits("bitwise_or", "or", np.bitwise_or, "or", "fc")
_bits("bitwise_xor", "xor", np.bitwise_xor, "exclusive or", "fc")
_bits("bitwise_left_shift", "lshift", np.left_shift, "shift left", "bfc", "lshift")
_bits("bitwise_right_shift", "rshift", np.right_shift, "shift right", "bfc", "rshift")


_of_tensors("gcd", np.gcd, "Give the greatest common divisors of entries.", "bfc", in_place=True)
_of_tensors("lcm", np.lcm, "Give the least common multiples of entries.", "bfc", in_place=True)


# ---------------------------------------------------------------------- tests of numbers


def _test(name: str, test: Any, meaning: str, out: bool = False, **numpys: Any) -> None:
    def function(input: Tensor) -> Tensor:
        return wrap(test(input._array))

    function.__name__ = name
    function.__doc__ = f"Tell for each entry whether {meaning}."
    variants(out="none" if out else None, **numpys)(function)


def _is_negative(array: Any) -> Any:
    if array.dtype.kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return np.signbit(array) if array.dtype.kind == "f" else array < 0


_test("isnan", np.isnan, "it is not a number", ufunc=np.isnan)
_test("isinf", np.isinf, "it is infinite", ufunc=np.isinf)
_test("isfinite", np.isfinite, "it is a finite number", ufunc=np.isfinite)
_test("isreal", np.isreal, "it has no imaginary part", numpy=np.isreal)
_test("signbit", _is_negative, "it is negative, or -0", True, ufunc=np.signbit)


@variants(ufunc=np.positive)
def positive(input: Tensor) -> Tensor:
    """Give the tensor itself, as `+x` does.

    Raises:
        RuntimeError: If it is boolean.
    """
    if input._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


attach(__name__, {"__pos__": positive})


# ---------------------------------------------------------------------- two as a whole


@variants()
def equal(input: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors have the same shape and the same entries."""
    return bool(np.array_equal(input._array, other._array))


_TOLERANCES = "float rtol=1e-05, float atol=1e-08, bool equal_nan=False"


@variants()
@ignore_errstate
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Tell for each entry whether two agree within a tolerance: `|a - b| <= atol + rtol * |b|`.

    Args:
        input: The tensor.
        other: Another one of the same dtype.
        rtol: The tolerance in proportion to the size of the other entry.
        atol: The tolerance that is added to it.
        equal_nan: Whether two that are not a number count as equal.

    Raises:
        RuntimeError: If the types differ, or a tolerance is negative.

    Example:
        >>> import minigrad as torch
        >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))
        tensor([ True, False])
    """
    a, b = input._array, other._array
    if a.dtype != b.dtype:
        raise RuntimeError(f"{dtypes.scalar_name(a)} did not match {dtypes.scalar_name(b)}")
    if not (rtol >= 0 and atol >= 0):
        raise RuntimeError(f"isclose(): rtol={rtol} and atol={atol} must not be negative")
    if a.shape != b.shape:
        broadcast_shape(a.shape, b.shape)
    close = a == b
    if equal_nan:
        close |= (a != a) & (b != b)
    if a.dtype.kind == "b":
        a, b = a.astype(np.int8), b.astype(np.int8)
    difference = np.abs(a - b)
    result = wrap(close | (np.isfinite(difference) & (difference <= atol + np.abs(rtol * b))))
    result._bump_version()  # as in PyTorch, which computes it in steps
    return result


@variants()
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Tell whether all entries agree within a tolerance: `|a - b| <= atol + rtol * |b|`."""
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._array))


def _by_numpy(function: Any) -> Any:
    def ask(*given: Any, **named: Any) -> Any:
        plain = {key: getattr(each, "_array", each) for key, each in named.items()}
        answer = function(*(getattr(each, "_array", each) for each in given), **plain)
        return wrap(answer) if isinstance(answer, np.ndarray) else answer

    return ask


numpy_protocols.functions.update(
    {
        np.isclose: _by_numpy(np.isclose),
        np.allclose: _by_numpy(np.allclose),
        np.array_equal: _by_numpy(np.array_equal),
    }
)
