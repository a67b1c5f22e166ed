"""Compute with arrays of SymPy expressions as with arrays of numbers, by NumPy's own functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import sympy

from minigrad.core.tensor import Tensor
from minigrad.symbolic.mathematics import ENTRYWISE, OF_MANY, exact
from minigrad.symbolic.regions import EVERYWHERE, NEEDS, Need


class OrderUnknown(TypeError):
    """A program wants to know what depends on the values of symbols.

    Attributes:
        formula: On whose sign it depends, or on which conditions in it.
    """

    def __init__(self, message: str, formula: Any) -> None:
        super().__init__(f"could not decide, because {message}")
        self.formula = formula


class SymbolicArray(np.ndarray):
    """A NumPy array whose entries are exact SymPy expressions.

    NumPy asks an array of a class of its own what its functions mean (`__array_ufunc__`,
    `__array_function__`). This one answers with SymPy, entry by entry. Numbers that meet it become
    exact (see `exact`), and results without dimensions stay arrays. It rides inside a tensor,
    where rules and engine take it for any other array.

    Args:
        data: Expressions and numbers, in nested sequences or an array.

    Example:
        >>> import sympy
        >>> x, y = sympy.symbols("x y", real=True)
        >>> np.exp(SymbolicArray([x, y])) * 0.5
        SymbolicArray([exp(x)/2, exp(y)/2])
        >>> np.where(SymbolicArray([x]) > 0, x, 0)
        SymbolicArray([Piecewise((x, x > 0), (0, True))])
    """

    # what NumPy's functions mean; filled in by minigrad.symbolic.functions
    _functions: ClassVar[dict[Any, Callable[..., Any]]] = {}
    _rearranging: ClassVar[set[Any]] = set()

    # SymPy hands operators to those with a higher number, so that symbol * array comes here
    _op_priority = 1000.0

    # what the steps of its computation need to have a real value (see `needs`)
    _needs: frozenset[Need] = frozenset()

    def __new__(cls, data: Any) -> SymbolicArray:
        """Make an array; the data are copied."""
        return _needing(symbolic(entries(data).copy()), needs_of(data))

    def __array_finalize__(self, source: Any) -> None:
        self._needs = getattr(source, "_needs", frozenset())

    @property
    def needs(self) -> frozenset[Need]:
        """What the steps that led here need of their arguments, to give real and finite numbers.

        SymPy computes with complex numbers: `sqrt(x)*sqrt(x)` becomes `x` at once. The program
        does not, and what it needs, here x >= 0, is kept: it says where the formula holds.

        Example:
            >>> import sympy
            >>> x = sympy.Symbol("x", real=True)
            >>> root = np.sqrt(SymbolicArray([x]))
            >>> root * root, set((root * root).needs)
            (SymbolicArray([x]), {Need(of=x, relation='>=')})
        """
        whole = self.base  # what was written into it through another view is in here, too
        return self._needs | whole._needs if isinstance(whole, SymbolicArray) else self._needs

    # ------------------------------------------------------------------ NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute what NumPy was asked for with SymPy: entry by entry, or along axes."""
        if any(isinstance(each, Tensor) for each in inputs):
            return NotImplemented
        outputs = options.pop("out", None)
        needs = needs_of(inputs) | _new_needs(ufunc, method, inputs)
        result = _needing(_ufunc(ufunc, method, inputs, options), needs)
        if outputs is None or result is None:
            return result
        (output,) = outputs
        if output.dtype != object:
            raise TypeError(
                f"formulas can't be written into an array of {output.dtype}. Make both operands "
                "symbolic (minigrad.symbolic.tensor_of)."
            )
        output[...] = result
        return output

    def __array_function__(
        self, function: Any, types: Iterable[type], inputs: Any, options: Any
    ) -> Any:
        """Compute what NumPy was asked for, if it makes sense for symbols."""
        if any(issubclass(each, Tensor) for each in types):
            return NotImplemented
        needs = needs_of(inputs) | needs_of(options.values()) | _new_needs(function, "", inputs)
        own = self._functions.get(function)
        if own is not None:
            return _needing(own(*inputs, **options), needs)
        if function not in self._rearranging:
            raise TypeError(
                f"NumPy's {function.__name__} is not known for arrays of symbols. Put numbers in "
                "first (minigrad.symbolic.substitute)."
            )
        return _needing(again_symbolic(function(*plain(inputs), **plain(options))), needs)

    # ------------------------------------------------------------------ entries

    def __getitem__(self, key: Any) -> Any:
        """Give the part that a key selects, as an array also if it is a single entry."""
        part = np.ndarray.__getitem__(self, plain(key))
        return part if isinstance(part, SymbolicArray) else _zero_dimensional(part)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write expressions or numbers, which become exact, into a part."""
        new = entries(value)
        np.ndarray.__setitem__(self, plain(key), new if new.ndim else new.item())
        needs = needs_of(value)
        for written in (self, self.base) if needs else ():
            if isinstance(written, SymbolicArray):
                written._needs |= needs

    def fill(self, value: Any) -> None:
        """Set all entries to one expression or number, which becomes exact."""
        self[...] = value

    def __repr__(self) -> str:
        return f"SymbolicArray({self.tolist()})"

    def __str__(self) -> str:
        return str(self.tolist())

    def __bool__(self) -> bool:
        """Tell whether the only entry is true, if it does not depend on the symbols' values."""
        if self.size == 1:
            entry = EVERYWHERE.settle(self.item())
            if entry.is_zero is False:  # such as a sum of positive symbols
                return True
            if entry.is_number:
                return bool(entry != 0)
            raise OrderUnknown(
                f"whether {entry} is true depends on the values of its symbols. Put numbers in "
                "first (minigrad.symbolic.substitute), or choose by torch.where.",
                entry,
            )
        return bool(np.ndarray.__bool__(self))

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> Any:
        """Convert to another dtype, which needs entries that are numbers.

        Raises:
            TypeError: If an entry still has symbols in it.
        """
        try:
            found = super().astype(dtype, *arguments, **options)
        except TypeError as error:
            raise TypeError(
                f"{self} still has symbols in it: put numbers in first "
                "(minigrad.symbolic.evaluate). If this is a gradient: symbols met a tensor of "
                "numbers that requires one. Make that symbolic too (minigrad.symbolic.tensor_of)."
            ) from error
        return found if found.dtype == object else found.view(np.ndarray)


def symbolic(array: Any) -> SymbolicArray:
    """See an array of objects, whose entries are exact expressions, as a symbolic one."""
    return array.view(SymbolicArray)


def entries(data: Any) -> Any:
    """Give data as a plain array of objects, each of them an exact expression.

    Args:
        data: A tensor, an array, an expression, a SymPy matrix, a number, or nested lists of these.
    """
    data = _without_tensors(data)
    if isinstance(data, SymbolicArray):
        return data.view(np.ndarray)
    if isinstance(data, (sympy.MatrixBase, sympy.NDimArray)):
        data = data.tolist()
    array = data if isinstance(data, np.ndarray) else np.array(data, dtype=object)
    return vector_of(map(_entry, array.reshape(-1))).reshape(array.shape)


def _without_tensors(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data._array
    return [_without_tensors(each) for each in data] if isinstance(data, (list, tuple)) else data


def _entry(value: Any) -> Any:
    return exact(value.item() if isinstance(value, np.ndarray) else value)


def vector_of(values: Iterable[Any]) -> Any:
    """Give expressions as a vector of objects, whatever NumPy would take them for."""
    return np.fromiter(values, object)


def _zero_dimensional(expression: Any) -> SymbolicArray:
    return symbolic(vector_of([expression]).reshape(()))


def plain(value: Any) -> Any:
    """Give nested arguments with plain views instead of symbolic arrays."""
    if isinstance(value, SymbolicArray):
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(plain(each) for each in value)
    if type(value) is dict:
        return {name: plain(each) for name, each in value.items()}
    return value


def again_symbolic(result: Any) -> Any:
    """Give what NumPy returned as symbolic arrays again, sharing memory where that is possible."""
    if isinstance(result, (list, tuple)):
        return type(result)(again_symbolic(each) for each in result)
    if isinstance(result, sympy.Expr):
        return _zero_dimensional(result)
    if not isinstance(result, np.ndarray) or result.dtype != object:
        return result
    made = all(isinstance(entry, sympy.Expr) for entry in result.flat)
    return symbolic(result if made else entries(result))


# ---------------------------------------------------------------------- needs


def needs_of(value: Any) -> frozenset[Need]:
    """Give what all symbolic arrays among nested arguments need."""
    if isinstance(value, SymbolicArray):
        return value.needs
    if isinstance(value, Tensor):
        return needs_of(value._array)
    if isinstance(value, (np.ndarray, str, sympy.Basic)) or not isinstance(value, Iterable):
        return frozenset()
    return frozenset().union(*map(needs_of, value))


def _needing(result: Any, needs: frozenset[Need]) -> Any:
    """Let results need what they were computed with needs."""
    if isinstance(result, SymbolicArray):
        result._needs |= needs
    elif isinstance(result, (list, tuple)):
        for each in result if needs else ():
            _needing(each, needs)
    return result


def _new_needs(function: Any, method: str, inputs: Any) -> frozenset[Need]:
    """Give what a function needs of each of its entries; a reduction needs nothing."""
    table = NEEDS.get(function)
    if table is None or method not in ("", "__call__"):
        return frozenset()
    every = np.broadcast(*map(entries, inputs))
    return frozenset(need for each in every for need in table(*each) if not need.is_met)


# ---------------------------------------------------------------------- ufuncs


def entrywise(function: Callable[..., Any], *operands: Any) -> SymbolicArray:
    """Apply a function of expressions to the entries of arrays, which are broadcast."""
    return again_symbolic(_of_entries(function, len(operands))(*map(entries, operands)))


def _of_entries(function: Callable[..., Any], operands: int) -> Any:
    """Make a ufunc of a function of expressions, with all that NumPy's own can do."""
    return np.frompyfunc(lambda *values: exact(function(*values)), operands, 1)


def _ufunc(ufunc: Any, method: str, inputs: Any, options: dict[str, Any]) -> Any:
    """Do what NumPy was asked to do with a ufunc."""
    unusual = options.pop("where", True) is not True
    if unusual or np.dtype(options.pop("dtype", None) or object) != object:
        raise TypeError(f"NumPy's {ufunc.__name__} takes no where= or dtype= for symbols.")
    if ufunc is np.matmul and method == "__call__":
        return again_symbolic(np.matmul(*map(entries, inputs)))
    if ufunc not in ENTRYWISE or method == "reduceat":
        raise TypeError(
            f"NumPy's {ufunc.__name__} (as {method}) is not known for arrays of symbols. Put "
            "numbers in first (minigrad.symbolic.substitute)."
        )
    if method == "reduce":
        return reduce_along(ufunc, *inputs, **options)
    # at() writes into its first argument, and numbers say where
    kept = 2 if method == "at" else 0
    operands = [*map(plain, inputs[:kept]), *map(entries, inputs[kept:])]
    own = _of_entries(ENTRYWISE[ufunc], ufunc.nin)
    return again_symbolic(getattr(own, method)(*operands, **options))


def reduce_along(
    ufunc: Any, array: Any, axis: Any = 0, keepdims: bool = False, initial: Any = None
) -> SymbolicArray:
    """Join the entries along axes into one, such as their sum."""
    array = entries(array)
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    rows = np.moveaxis(array, axes, range(len(axes)))
    count, shape = math.prod(rows.shape[: len(axes)]), rows.shape[len(axes) :]
    first = [] if initial is None else [exact(initial)]
    if not count + len(first) and ufunc.identity is None:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__}")
    function = OF_MANY.get(ufunc) or (lambda *values: reduce(ENTRYWISE[ufunc], values))
    columns = rows.reshape(count, math.prod(shape)).T
    results = vector_of(exact(function(*first, *each)) for each in columns).reshape(shape)
    return symbolic(np.expand_dims(results, tuple(axes)) if keepdims else results)
