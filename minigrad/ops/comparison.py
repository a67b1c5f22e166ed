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


def _of_two(
    name: str, numpys: Any, doc: str, refused: str = "", kinds: str = "Tensor Operand", **forms: Any
) -> Any:
    """Make an operation of two tensors, or of a tensor and a number, whose result is no number.

    Args:
        name: Its name.
        numpys: NumPy's function.
        doc: What it does.
        refused: The kinds of dtypes that it is not made for.
        kinds: What the two are, as annotations have it.
        **forms: Its forms; see `minigrad.signatures.variants`.
    """

    def compute(input: Any, other: Any) -> Any:
        if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
            return promote_other(compute, input, other)
        a, b = input._array, other._array
        if a.dtype != b.dtype:
            # without their places in the graph, which nobody needs to know here
            return promote_operands(compute, wrap(a), wrap(b))
        if a.dtype.kind in refused:
            raise not_implemented(f"{name}_cpu", a)
        try:
            return wrap(numpys(a, b))
        except ValueError as error:
            return wrap(retry(numpys, error, a, b))

    compute.__name__ = compute.__qualname__ = name
    compute.__doc__ = doc
    compute.__annotations__ = dict(zip(("input", "other"), kinds.split(), strict=True))
    return variants(out="kind", **forms)(compute)


def _comparison(name: str, long: str, ufunc: Any, meaning: str) -> Any:
    doc = f"Tell for each entry whether it is {meaning} the other."
    compare = _of_two(name, ufunc, doc, "" if name in ("eq", "ne") else "c", also=long)
    attach(__name__, {f"__{name}__": compare})
    return compare


eq = _comparison("eq", "", np.equal, "equal to")
ne = _comparison("ne", "not_equal", np.not_equal, "different from")
lt = _comparison("lt", "less", np.less, "less than")
le = _comparison("le", "less_equal", np.less_equal, "less than or equal to")
gt = _comparison("gt", "greater", np.greater, "greater than")
ge = _comparison("ge", "greater_equal", np.greater_equal, "greater than or equal to")


# ---------------------------------------------------------------------- truth values, bits

for _name, _refused, _doc in (
    ("logical_and", "", "Tell for each entry whether both are true."),
    ("logical_or", "", "Tell for each entry whether one of them is true."),
    ("logical_xor", "", "Tell for each entry whether just one is true."),
    ("gcd", "bfc", "Give the greatest common divisors of entries."),
    ("lcm", "bfc", "Give the least common multiples of entries."),
):
    _ufunc = getattr(np, _name)
    _of_two(_name, _ufunc, _doc, _refused, "Tensor Tensor", ufunc=_ufunc)


@entrywise(floats=False, in_place=False, ufunc=np.logical_not, out="kind")
def logical_not(input: Tensor) -> Tensor:
    """Tell for each entry whether it is false."""
    return wrap(np.logical_not(input._array))


@entrywise(floats=False, in_place=False, missing=("fc", "bitwise_not_cpu"))
def bitwise_not(input: Tensor) -> Tensor:
    """Invert each bit of integers, or each boolean: `~x`.

    Example:
        >>> import minigrad as torch
        >>> torch.bitwise_not(torch.tensor([1, -2])), ~torch.tensor([True])
        (tensor([-2,  1]), tensor([False]))
    """
    return wrap(np.invert(input._array))  # of floats NumPy raises a TypeError, as PyTorch's ~ does


attach(__name__, {"__invert__": bitwise_not})
numpy_protocols.ufuncs[np.invert] = bitwise_not


def _bits(name: str, sign: str, ufunc: Any, meaning: str, refused: str) -> None:
    doc = f"Combine the bits of integers, or booleans: {meaning}."
    combine = _of_two(name, ufunc, doc, refused, "Operand Operand")
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
_bits("bitwise_left_shift", "lshift", np.left_shift, "shift left", "bfc")
_bits("bitwise_right_shift", "rshift", np.right_shift, "shift right", "bfc")


# ---------------------------------------------------------------------- tests of numbers


def _test(name: str, test: Any, meaning: str, **forms: Any) -> None:
    def function(input: Tensor) -> Tensor:
        return wrap(test(input._array))

    function.__name__ = name
    function.__doc__ = f"Tell for each entry whether {meaning}."
    variants(**forms)(function)


_test("isnan", np.isnan, "it is not a number", ufunc=np.isnan)
_test("isinf", np.isinf, "it is infinite", ufunc=np.isinf)
_test("isfinite", np.isfinite, "it is a finite number", ufunc=np.isfinite)
_test("isreal", np.isreal, "it has no imaginary part", numpy=np.isreal)
_test("signbit", np.signbit, "it is negative, or -0", out="none", ufunc=np.signbit)


@variants(ufunc=np.positive, missing=("b", "positive"))
def positive(input: Tensor) -> Tensor:
    """Give the tensor itself, as `+x` does.

    Raises:
        NotImplementedError: If it is boolean.
    """
    return input


attach(__name__, {"__pos__": positive})


# ---------------------------------------------------------------------- two as a whole


@variants()
def equal(input: Tensor, other: Tensor) -> bool:
    """Tell whether two tensors have the same shape and the same entries."""
    return bool(np.array_equal(input._array, other._array))


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
        RuntimeError: If the types differ.

    Example:
        >>> import minigrad as torch
        >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))
        tensor([ True, False])
    """
    a, b = input._array, other._array
    if a.dtype != b.dtype:
        raise RuntimeError(f"{dtypes.scalar_name(a)} did not match {dtypes.scalar_name(b)}")
    broadcast_shape(a.shape, b.shape)
    return wrap(np.isclose(a, b, rtol, atol, equal_nan))


@variants()
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Tell whether all entries agree within a tolerance: `|a - b| <= atol + rtol * |b|`."""
    return bool(np.all(isclose(input, other, rtol, atol, equal_nan)._array))


def _by_numpy(function: Any) -> Any:
    """Let NumPy compare a tensor with an array, whatever their types."""

    def ask(*given: Any, **named: Any) -> Any:
        answer = function(*(getattr(each, "_array", each) for each in given), **named)
        return wrap(answer) if isinstance(answer, np.ndarray) else answer

    return ask


for _function in (np.isclose, np.allclose, np.array_equal):
    numpy_protocols.functions[_function] = _by_numpy(_function)
