"""Make symbolic tensors and models, and take formulas out, with numbers put in or as LaTeX."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
import sympy

from minigrad.core.tensor import Tensor, wrap
from minigrad.nn import Module
from minigrad.symbolic.array import SymbolicArray, entries, entrywise, symbolic, vector_of
from minigrad.symbolic.equality import number_of, numbers_of, shaped, symbols_in
from minigrad.symbolic.mathematics import exact
from minigrad.symbolic.regions import beside_jumps, slope


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
    if len(set(found)) < len(found):
        raise ValueError(f"symbols() was given one of the names {names} more than once")
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
    stem, _, subscript = name.partition("_")
    number = re.sub(r"^\{(.*)\}$", r"\1", subscript)
    start = f"{stem}_{{{number};" if number else f"{stem}_{{"  # LaTeX sets it as one subscript
    return [f"{start}{','.join(map(str, at))}}}" for at in np.ndindex(shape)]


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
    return wrap(SymbolicArray(data)).requires_grad_(requires_grad)


# SymPy's symbols leave `symbol * tensor` to those with a higher number.
Tensor._op_priority = SymbolicArray._op_priority  # type: ignore[attr-defined]


def expression(formula: Any) -> Any:
    """Give what a tensor holds as SymPy has it.

    Args:
        formula: A tensor, an array, an expression, or nested lists of these.

    Returns:
        An expression if there is one entry; else a SymPy matrix, a column for a vector; of three
        dimensions and more a SymPy array.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> expression(symbols("x") ** 2)
        x**2
        >>> expression(symbols("x", 2) * 2)
        Matrix([
        [2*x_{0}],
        [2*x_{1}]])
    """
    array = entries(formula)
    return shaped(list(array.flat), array.shape)


def substitute(formula: Any, values: Mapping[Any, Any]) -> Any:
    """Put numbers, or other expressions, instead of symbols, exactly.

    Args:
        formula: A tensor, an array, an expression, or nested lists of these.
        values: What to put for what. A key is a symbolic tensor, a SymPy symbol, or a name as
            `symbols` takes it; a tensor of several symbols, or its name, takes as many values, in
            its shape. Floating-point numbers become exact, as everywhere here. Keys that do not
            occur do no harm.

    Returns:
        What `expression` returns, with the values put in. `float()` makes a number of it.

    Raises:
        TypeError: If a key is something else, or a tensor that holds more than symbols.
        ValueError: If the values for a tensor do not have its shape.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> w, x = symbols("w x")
        >>> substitute(w * x + 1, {w: 0.3, "x": 0.1})
        103/100
    """
    array = entries(formula)
    by_symbol, by_name = _sorted_by_kind(values)
    named = {s: by_name[s.name] for s in symbols_in(array.flat) if s.name in by_name}
    results = [exact(each.subs(by_symbol | named, simultaneous=True)) for each in array.flat]
    return shaped(results, array.shape)


def evaluate(formula: Any, values: Mapping[Any, Any]) -> Tensor:
    """Compute the numbers that formulas give, as an ordinary tensor of float64.

    It computes with fractions, and with 100 digits from where something irrational comes in; the
    results are rounded once. So they say what the exact result is, where a run on numbers rounds
    after every operation.

    Args:
        formula: A tensor, an array, an expression, or nested lists of these.
        values: A number for each symbol. The keys are those of `substitute`.

    Returns:
        A tensor in the shape of the formula, without symbols. What is not real is NaN.

    Raises:
        ValueError: If a symbol has no value; it names those.
        TypeError: If a key is no symbol.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> w, x = symbols("w", 2), symbols("x", 2)
        >>> evaluate((w * x).sum().tanh(), {w: [0.1, 0.2], "x": [1, 2]})
        tensor(0.4621, dtype=torch.float64)
        >>> evaluate(w * x, {"x": [1, 2]})
        Traceback (most recent call last):
        ...
        ValueError: no value was given for w_{0}, w_{1}: evaluate() needs one for each symbol
    """
    array = entries(formula)
    by_symbol, by_name = _sorted_by_kind(values)
    given = {s: by_symbol.get(s, by_name.get(s.name)) for s in symbols_in(array.flat)}
    missing = sorted(s.name for s, value in given.items() if value is None or value.free_symbols)
    if missing:
        names = ", ".join(missing)
        raise ValueError(f"no value was given for {names}: evaluate() needs one for each symbol")
    numbers = [number_of(each) for each in numbers_of(array.flat, given)]
    return wrap(np.array(numbers, np.float64).reshape(array.shape))


def _sorted_by_kind(values: Mapping[Any, Any]) -> tuple[dict[Any, Any], dict[str, Any]]:
    """Tell values for symbols from values for names, an entry each."""
    by_symbol: dict[Any, Any] = {}
    by_name: dict[str, Any] = {}
    for key, value in values.items():
        given = entries(value)
        if isinstance(key, str):
            by_name |= zip(entry_names(key, given.shape), given.flat, strict=True)
            continue
        symbols = entries(key)
        if not all(symbol.is_Symbol for symbol in symbols.flat):
            raise TypeError(f"values are put in for symbols: {expression(key)} is more than that")
        by_symbol |= zip(symbols.flat, given.flat, strict=True)
    return by_symbol, by_name


def derivative(formula: Any, wrt: Any) -> Tensor:
    r"""Differentiate by SymPy alone, without the engine, to compare with.

    What is rounded down or up is constant, apart from where it jumps.

    Args:
        formula: A tensor or expression of one entry, $L$.
        wrt: A tensor of symbols, $x$, or one symbol.

    Returns:
        The tensor of all $\partial L / \partial x_i$, in the shape of `wrt`.

    Raises:
        TypeError: If `wrt` holds more than symbols.
        ValueError: If the formula has several entries.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> x = symbols("x", 2)
        >>> derivative((x**2).sum(), x)
        tensor([2*x_{0}, 2*x_{1}])
    """
    symbols = entries(wrt)
    if not all(symbol.is_Symbol for symbol in symbols.flat):
        raise TypeError(f"differentiate with respect to symbols: {expression(wrt)} is more")
    read = beside_jumps(entries(formula).item())
    return wrap(entrywise(lambda symbol: slope(read, symbol), symbols))


def latex(formula: Any, **settings: Any) -> str:
    r"""Write a tensor or an expression as LaTeX.

    Args:
        formula: A tensor, an array, an expression, or nested lists of these.
        **settings: What `sympy.latex` takes, such as `mul_symbol="dot"`.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> print(latex(symbols("w_0") / 2))
        \frac{w_{0}}{2}
        >>> print(latex(symbols("mu", 2)[1]))
        \mu_{1}
    """
    whole = expression(formula)
    names = {s: _in_latex(s.name) for s in whole.free_symbols if "{" in s.name}
    settings["symbol_names"] = names | dict(settings.get("symbol_names", {}))
    return str(sympy.latex(whole, **settings))


def _in_latex(name: str) -> str:
    """Give the name of an entry as LaTeX: SymPy translates no name that has braces."""
    stem, _, subscript = name.partition("_")
    return f"{sympy.latex(sympy.Symbol(stem))}_{subscript}"


class Formula:
    r"""What a tensor holds, to be shown: typeset in a notebook, as text everywhere else.

    A symbolic tensor itself prints as every tensor does. Let `formula(tensor)` end a cell to see it
    typeset; the text stands beside it for whatever shows no LaTeX, and both are always the same for
    the same formula.

    Attributes:
        expression: What SymPy has: an expression, a matrix, or an array (see `expression`).
        name: What the formula is called, in LaTeX; it stands before an equals sign.
        text: The formula as one line of text, or as a matrix over several.
        latex: The formula as LaTeX, without dollar signs.

    Example:
        >>> from minigrad.symbolic import formula, symbols
        >>> shown = formula(symbols("w_0") ** 2, "y")
        >>> shown.text, shown.latex
        ('y = w_0**2', 'y = w_{0}^{2}')
    """

    def __init__(self, shown: Any, name: str = "") -> None:
        self.expression, self.name = expression(shown), name
        start = f"{name} = " if name else ""
        self.text, self.latex = start + str(self.expression), start + latex(self.expression)

    def __repr__(self) -> str:
        return self.text

    def _repr_latex_(self) -> str:
        return rf"$\displaystyle {self.latex}$"


def formula(shown: Any, name: str = "") -> Formula:
    r"""Show a tensor as a typeset formula where it ends a cell of a notebook.

    Args:
        shown: A symbolic tensor, an expression, or nested lists of these.
        name: What to write before an equals sign, as LaTeX, such as `r"\partial L/\partial w_0"`.

    Returns:
        An object that Jupyter shows typeset, and that prints as text.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> x, w = symbols("x w_0", requires_grad=True)
        >>> ((w * x - 1) ** 2).backward()
        >>> formula(w.grad, "g")
        g = 2*x*(w_0*x - 1)
        >>> formula(w.grad).latex
        '2 x \\left(w_{0} x - 1\\right)'
    """
    return Formula(shown, name)


# ---------------------------------------------------------------------- models


AnyModule = TypeVar("AnyModule", bound=Module)
_short = {"weight": "w", "bias": "b", "running_mean": "mu", "running_var": "v"}


def symbolic_like(
    model: AnyModule,
    names: Mapping[str, str] | None = None,
    *,
    buffers: bool = False,
    **assumptions: bool,
) -> AnyModule:
    """Copy a model and make its parameters named symbols.

    The modules that have parameters of their own are counted in the order in which
    `model.named_modules()` meets them; `weight` becomes `w` and `bias` becomes `b` with that
    number. So `f0.weight`, `f0.bias`, `f1.f.weight`, `f1.f.bias` are `w_0`, `b_0`, `w_1`, `b_1`. A
    parameter of any other name keeps it: `scale` of the third such module is `scale_2`. The
    entries of a parameter with several are numbered as by `symbols`.

    Args:
        model: The model. It is not changed. Its hooks, and those of its parameters' tensors, are on
            the copy as well: the same functions. A method of the model is one of the copy there.
        names: Names to use instead, by the parameter's name in `model.named_parameters()`, or the
            buffer's in `model.named_buffers()`.
        buffers: Whether buffers of floating-point numbers become symbols, too, and modules that
            have only such are counted: `running_mean` becomes `mu` and `running_var` `v`, which is
            positive. Else they keep their numbers, which become exact.
        **assumptions: What SymPy may assume of the parameters. Without any: `real=True`.

    Returns:
        The copy. Buffers of integers, such as a count of batches, stay as they are.

    Raises:
        KeyError: If `names` has a name that nothing in the model has.
        ValueError: If two parameters would be called the same.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Tanh())
        >>> symbolic_like(model)(torch.symbolic.symbols("x", 1))
        tensor([tanh(b_0 + w_0*x)], grad_fn=<TanhBackward0>)
        >>> norm = symbolic_like(torch.nn.BatchNorm1d(1, eps=0), buffers=True).eval()
        >>> norm(torch.symbolic.symbols("x", (1, 1)))
        tensor([[b_0 + w_0*(-mu_0 + x)/sqrt(v_0)]], grad_fn=<NativeBatchNormBackward0>)
    """
    copied: dict[int, Any] = {}
    symbolic = copy.deepcopy(model, copied)
    for named in (Module.named_parameters, Module.named_buffers):
        for (_, tensor), (_, twin) in zip(named(model), named(symbolic), strict=True):
            _copy_hooks(tensor, twin, copied)
    replaced: dict[str, Tensor] = dict(symbolic.named_parameters())
    floats = {
        name: buffer for name, buffer in symbolic.named_buffers() if buffer._array.dtype.kind == "f"
    }
    if buffers:
        replaced |= floats
    ruled = dict(ruled_names(symbolic, replaced))
    for name in names or {}:
        if name not in ruled:
            raise KeyError(
                f"the model has no parameter '{name}'; it has {', '.join(ruled) or 'none'}"
                + ("" if buffers else " (for its buffers: buffers=True)")
            )
    called = ruled | dict(names or {})
    owner: dict[str, str] = {}
    for name, tensor in replaced.items():
        for entry in entry_names(called[name], tuple(tensor.shape)):
            other = owner.setdefault(entry, name)
            if other != name:
                raise ValueError(f"{other} and {name} would both be called {entry}")
    for name, tensor in replaced.items():
        own = {"positive": True} if name.endswith("running_var") else assumptions
        tensor._array = named_array(called[name], tuple(tensor.shape), own)
        tensor.grad = None
    for name, buffer in floats.items():
        if name not in replaced:
            buffer._array = SymbolicArray(buffer._array)
    return symbolic


def _copy_hooks(tensor: Tensor, copied: Tensor, memo: dict[int, Any]) -> None:
    """Put the hooks of a leaf on its copy."""
    meta = tensor._meta
    if meta is None:
        return
    for table, register in (
        (meta.hooks, copied.register_hook),
        (meta.post_accumulate_hooks, copied.register_post_accumulate_grad_hook),
    ):
        for hook in (table or {}).values():
            # as those of a module are copied: what is a method of the model, is the copy's
            register(copy.deepcopy(hook, memo))


def ruled_names(model: Module, tensors: Mapping[str, Tensor]) -> Iterator[tuple[str, str]]:
    """Give each tensor its name by the rule; one that two modules share has the first's."""
    named = {id(tensor): name for name, tensor in tensors.items()}
    chosen = set(named)
    number = 0
    for module in model.modules():
        own = [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]
        for short, tensor in own:
            name = named.pop(id(tensor), None)
            if name is not None:
                yield name, f"{_short.get(short, short)}_{number}"
        number += any(id(tensor) in chosen for _, tensor in own)
