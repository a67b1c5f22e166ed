"""Make symbolic tensors: named symbols of any shape, or tensors of given expressions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import sympy

from minigrad.symbolic.array import SymbolicArray, symbolic, vector_of
from minigrad.tensor import Tensor, wrap


def symbols(
    names: str, shape: Any = (), *, requires_grad: bool = False, **assumptions: bool
) -> Any:
    """Make a tensor of named symbols, or several.

    The only entry of a tensor takes the name as it is. Otherwise the entries are numbered:
    `x_{0}`, `x_{1}`, or `x_{1,2}` in a matrix; of `w_0`, which has a number already, `w_{0;1,2}`.

    Args:
        names: A name, or several with spaces or commas between them.
        shape: The shape of each of the tensors, an integer or a tuple.
        requires_grad: Whether operations on them are recorded.
        **assumptions: What SymPy may assume, such as `positive=True`. Without any: `real=True`.

    Returns:
        A tensor, or a tuple of them if there are several names.

    Raises:
        ValueError: If there is no name, or one occurs twice.

    Example:
        >>> symbols("x", 2)
        tensor([x_{0}, x_{1}])
        >>> a, b = symbols("a b", positive=True)
        >>> abs(a) * b
        tensor(a*b)
    """
    found = names.replace(",", " ").split()
    if not found:
        raise ValueError("symbols() needs a name, or several with spaces between them")
    for name in found:
        if found.count(name) > 1:
            raise ValueError(f"symbols() was given the name {name} more than once")
    sizes = (shape,) if isinstance(shape, int) else tuple(int(size) for size in shape)
    tensors = [
        wrap(named_array(name, sizes, assumptions)).requires_grad_(requires_grad) for name in found
    ]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def named_array(name: str, shape: tuple[int, ...], assumptions: dict[str, bool]) -> SymbolicArray:
    """Make an array of symbols that are called by a name and their place."""
    assumed = assumptions or {"real": True}
    found = [sympy.Symbol(each, **assumed) for each in entry_names(name, shape)]
    return symbolic(vector_of(found).reshape(shape))


def entry_names(name: str, shape: tuple[int, ...]) -> list[str]:
    """Give the names of the entries of a tensor of symbols: a single one takes the name itself.

    Example:
        >>> entry_names("x", (2,)), entry_names("w_0", (1, 1)), entry_names("w_0", (1, 2))
        (['x_{0}', 'x_{1}'], ['w_0'], ['w_{0;0,0}', 'w_{0;0,1}'])
    """
    if int(np.prod(shape, dtype=np.int64)) == 1:
        return [name]
    return [_numbered(name, at) for at in np.ndindex(shape)]


def _numbered(name: str, index: tuple[int, ...]) -> str:
    """Give the name of an entry, in a form that LaTeX sets as one subscript."""
    stem, _, subscript = name.partition("_")
    subscript = re.sub(r"^\{(.*)\}$", r"\1", subscript)
    place = ",".join(map(str, index))
    return f"{stem}_{{{subscript};{place}}}" if subscript else f"{stem}_{{{place}}}"


def tensor_of(data: Any, requires_grad: bool = False) -> Tensor:
    """Make a symbolic tensor of expressions and numbers, which become exact: 0.1 is 1/10.

    Args:
        data: A SymPy expression or matrix, a number, an array, a tensor, or nested lists of these.
        requires_grad: Whether operations on it are recorded.

    Raises:
        TypeError: If an entry is neither a number nor an expression.

    Example:
        >>> import sympy
        >>> x = sympy.Symbol("x", real=True)
        >>> tensor_of([[x, 0.5], [1, x**2]])
        tensor([[   x,  1/2],
                [   1, x**2]])
    """
    return wrap(SymbolicArray(data)).requires_grad_(requires_grad)  # type: ignore[no-any-return]


# SymPy's symbols leave `symbol * tensor` to those with a higher number.
Tensor._op_priority = SymbolicArray._op_priority  # type: ignore[attr-defined]
