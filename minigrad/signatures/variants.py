"""Make a function, a method and their other forms of one signature and one body.

The decorator stands over the operation::

    @variants(out="kind", floats=True, in_place="function", ufunc=np.tan)
    @operation("TanBackward0", self=lambda grad, result: grad * (result**2 + 1))
    def tan(self: Array) -> Array: ...

From this come `minigrad.tan(x)`, `minigrad.tan(x, out=y)`, `x.tan()`, `x.tan_()`, what
`numpy.tan(x)` means for a tensor, and the errors for what is no tensor. The decorated body stays
as it is: it gets the arguments with dimensions counted from 0. If the operation needs more than its
rule, the body is a plain function that calls it.

The functions are written when they are first called, so that they cost what one written by hand
costs; `VARIANTS["tan"].write()` shows them.
"""

from __future__ import annotations

import functools
import linecache
from collections import namedtuple
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.core.tensor import Tensor
from minigrad.signatures import arguments, faults, numpy_protocols
from minigrad.signatures.out import Shown, write_result

if TYPE_CHECKING:
    from minigrad.signatures.signature import Argument, Signature

VARIANTS: dict[str, Variants] = {}  # by the name of the function, aliases too
functions: dict[str, Callable[..., Any]] = {}  # the functions of `minigrad`
in_functional: dict[str, Callable[..., Any]] = {}  # those of `minigrad.nn.functional`
# which functions and which methods each file says
said_in: dict[str, tuple[list[str], list[str]]] = {}

# What the written functions may refer to.
_called = (
    "as_floats check_dtype whole number dimension no_combination refuse sequence_of sizes_given "
    "wrong_type"
)
_names: dict[str, Any] = {name: getattr(arguments, name) for name in _called.split()}
_names |= {"Tensor": Tensor, "inf": float("inf"), "explained": faults.explained}
_names |= {"write_result": write_result, "numbers": frozenset((int, float)), "ndarray": np.ndarray}

# What changes the first input of an operation, and keeps the graph right: writes the "values" of
# the result, or gives the "shape" of a view. The operations set it; see `minigrad.ops.inplace`.
writers: dict[str, Callable[..., Tensor]] = {}


_REFUSE = 'raise wrong_type("{function}", "{name}", "{kind}", {name}, {position})'
_NUMBER = '{name} = number({name}, "{function}", "{name}", kind="{kind}")'
_OPERAND = 'raise no_combination("{function}", {operands})'
# By the kind of an argument: when it is wrong, if one line can say so, and what is done.
_CHECKS = {
    "Tensor": ("not isinstance({name}, Tensor)", _REFUSE),
    "Dim": (
        "{name}.__class__ is not int or not 0 <= {name} < {tensor}._array.ndim",
        "{name} = dimension({name}, {tensor}._array.ndim)",
    ),
    "Operand": ("{name}.__class__ is ndarray", _OPERAND),
    "Sizes": ("", '{name} = sequence_of("{function}", "{name}", {name}, {position})'),
    "int": ("{name}.__class__ is not int", '{name} = whole("{function}", {name}, "{name}")'),
    "float": ("{name}.__class__ not in numbers", _NUMBER),
    "Number": ("{name}.__class__ not in numbers", _NUMBER),
    "bool": ("{name} is not True and {name} is not False", _REFUSE),
    "str": ("not isinstance({name}, str)", _REFUSE),
    "Dtype": ("", 'check_dtype("{function}", {name}, "{name}")'),
}


class Variants:
    """A function of `minigrad` with all its forms.

    Attributes:
        name: What it is called.
        body: What computes it, whose parameters and their annotations are the function's.
        function: The function.
        method: The method of `Tensor`, which takes no `out`.
    """

    def __init__(
        self,
        name: str,
        body: Callable[..., Any],
        results: str = "",
        floats: bool = False,
        missing: tuple[str, str] = ("", ""),
        out: str | None = None,
        check: Callable[..., None] | None = None,
        like: Any = None,
        inplace: bool = False,
    ) -> None:
        self.body, self.check, self.like, self.inplace = body, check, like or body, inplace
        self.name = name or body.__name__
        self._floats, self._missing, self._out, self._results = floats, missing, out, results
        self.function = self._stub(method=False)
        apart = out is not None or "Sizes" in self.kinds()
        self.method = self._stub(method=True) if apart else self.function

    @functools.cached_property
    def signature(self) -> Signature:
        """What it takes and gives; read when it is first needed: this makes importing quick."""
        read = import_module("minigrad.signatures.signature").read
        found = read(self.name, self.like, self._results, self._out is not None)
        return found.with_inplace() if self.inplace else found

    def kinds(self) -> list[str]:
        """List the annotations of its parameters."""
        annotations = {**getattr(self.like, "__annotations__", {})}
        annotations.pop("return", None)
        return [str(each).partition(" | ")[0] for each in annotations.values()]

    @functools.cached_property
    def result(self) -> Any:
        """The type of several results, or None."""
        signature = self.signature
        return named_tuple(signature.name, signature.results) if signature.results else None

    def _stub(self, method: bool) -> Any:
        """Make a function that writes itself when it is first called."""
        names = {**_names, "body": self.body, "variants": self, "check": self.check}
        function: Any = FunctionType(_first_call.__code__, names, self.name)
        function.__qualname__ = self.name
        function.__doc__ = self.body.__doc__
        function.__module__ = self.body.__module__
        function.__wrapped__ = Shown(lambda: self.signature.shown(method))
        names["this"], names["prepare"] = function, lambda: self._prepare(function, method)
        return function

    def _prepare(self, function: Any, method: bool) -> None:
        source = self.write(method)
        where = " method" * method
        where += " of nn.functional" * (function.__module__ == "minigrad.nn.functional")
        filename = f"<minigrad {self.name}{where}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        written: dict[str, Any] = {}
        function.__globals__["result_type"] = self.result
        exec(compile(source, filename, "exec"), function.__globals__, written)
        made = written[self.name]
        function.__defaults__, function.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
        function.__code__ = made.__code__

    def write(self, method: bool = False) -> str:
        """Write the source of the function, or of the method, which takes no `out`."""
        signature, name = self.signature, self.name
        lines = []
        sizes = signature.sizes_argument
        if sizes and method:
            lines += [f'{sizes} = sizes_given("{name}", "{sizes}", several, {sizes})']
        for ours, theirs in signature.numpy_names.items():
            lines += [f"if {theirs} is not None:", f"    {ours} = {theirs}"]
        given = ", ".join(each.name for each in signature.arguments)
        by_name = ", ".join(
            f"{each.name}={each.name}" if each.by_name else each.name
            for each in signature.arguments
        )
        if signature.takes_out and not method:
            lines += [
                "if out is not None:",
                f"    return write_result(variants.method, out, {self._out!r}, {by_name})",
            ]
        # whether there are such dimensions is asked when all types are known
        for argument in sorted(signature.arguments, key=lambda each: each.kind == "Dim"):
            if not (method and argument.kind == "Sizes"):
                lines += self._checks(argument)
        lines += self._types()
        value = f"body({by_name})"
        if any(each.kind == "Operand" for each in signature.arguments):
            lines += [
                f"result = {value}",
                "if result is NotImplemented:",
                f'    raise no_combination("{name}", {given})',
                "return result",
            ]
        else:
            lines += [f"return {f'result_type(*{value})' if self.result else value}"]
        names = [each.name.lstrip("*") for each in signature.arguments]
        values = ", ".join(f'"{each}": {each}' for each in names)
        head = f"def {name}({signature.parameters(not method, method)}):"
        return "\n".join([
            head, "    try:", *(f"        {line}" for line in lines),
            "    except Exception as error:",
            f'        explained(error, "{name}", {{{values}}})',
            "        raise\n",
        ])  # fmt: skip

    def _checks(self, argument: Argument) -> list[str]:
        """Write the check of one argument."""
        if argument.kind not in _CHECKS:
            return []
        every = [each.name for each in self.signature.arguments]
        words = {"name": argument.name, "kind": argument.kind, "function": self.signature.name}
        words |= {"tensor": every[0], "operands": ", ".join(every[:2])}
        words["position"] = str(every.index(argument.name) + 1)
        wrong, done = (each.format(**words) for each in _CHECKS[argument.kind])
        if argument.optional:
            present = f"{argument.name} is not None"
            wrong = f"{present} and ({wrong})" if wrong else present
        return [f"if {wrong}:", f"    {done}"] if wrong else [done]

    def _types(self) -> list[str]:
        """Write what is done about dtypes: integers are taken as floats, or refused."""
        tensors = [each.name for each in self.signature.arguments if each.kind == "Tensor"]
        kinds, kernel = self._missing
        lines = []
        if self._floats:
            whole = " and ".join(f'{each}._array.dtype.kind in "iub"' for each in tensors)
            converted = ", ".join(f"as_floats({each})" for each in tensors)
            lines = [f"if {whole}:", f"    {', '.join(tensors)} = {converted}"]
        if kinds:
            lines += [f'refuse("{kernel}", "{kinds}", {", ".join(tensors)})']
        if self.check is not None:
            lines += [f"check({', '.join(f'{each}._array' for each in tensors)})"]
        return lines


def _first_call(*arguments: Any, **named: Any) -> Any:
    """Stand in for a function until it is first called: this makes importing quick."""
    prepare()  # type: ignore[name-defined]  # noqa: F821 - among the names of the function
    return this(*arguments, **named)  # type: ignore[name-defined]  # noqa: F821


def variants(
    name: str = "",
    *,
    results: str = "",
    like: Any = None,
    floats: bool = False,
    missing: tuple[str, str] = ("", ""),
    out: str | None = None,
    check: Callable[..., None] | None = None,
    function: bool = True,
    method: bool = True,
    in_place: bool | str = False,
    writes: str = "values",
    also: str = "",
    ufunc: Any = None,
    numpy: Any = None,
) -> Callable[[Any], Any]:
    """Give the decorated body its forms.

    Args:
        name: What it is called, if not as the body.
        results: The names of its results if it gives several, in one text.
        like: The function whose parameters it has, if not the body.
        floats: Whether tensors of integers are taken as tensors of the default dtype.
        missing: The kinds of dtypes that PyTorch has no kernel for, and the kernel's name.
        out: Which dtypes `out` may have, if the function can write into a tensor; see
            `minigrad.signatures.out.write_result`.
        check: Gets the tensors' arrays before the body runs, and raises if they do not fit.
        function: Whether there is a function in `minigrad`.
        method: Whether there is a method of `Tensor`.
        in_place: Whether there is a method `name_` that writes into the tensor; "function" if
            there is a function `minigrad.name_`, too.
        writes: What these change: the "values" of the tensor, or the "shape" in which it has them.
        also: Other names for all of this, in one text.
        ufunc: NumPy's function on entries, or several, that mean this for tensors.
        numpy: NumPy's other function, or several, that mean this for tensors.

    Returns:
        The decorator, which gives the body back unchanged.
    """

    def decorate(body: Any) -> Any:
        made = Variants(name, body, results, floats, missing, out, check, like)
        for each in (made.name, *also.split()):
            VARIANTS[each] = made
            forms: dict[str, Any] = {each: made.method} if method else {}
            public: dict[str, Any] = {each: made.function} if function else {}
            if in_place:
                forms[f"{each}_"] = in_place_form(made.method, made, writes)
                if in_place == "function":
                    public[f"{each}_"] = forms[f"{each}_"]
            attach(body.__module__, forms, public)
        for_numpy, kinds = made.method, made.kinds()
        if "Operand" in kinds:
            for_numpy = arguments.on_operands(for_numpy)
        elif kinds.count("Tensor") + kinds.count("Array") > 1:
            for_numpy = arguments.on_tensors(for_numpy)
        numpy_protocols.ufuncs.update(dict.fromkeys(_several(ufunc), for_numpy))
        numpy_protocols.functions.update(dict.fromkeys(_several(numpy), for_numpy))
        return body

    return decorate


def functional(said: Any = "", like: Any = None, inplace: bool = False) -> Any:
    """Give a function to `minigrad.nn.functional`: the decorated one, or what its body says.

    Args:
        said: The function itself, or the name of what the decorated body computes.
        like: The function whose parameters it has, if not the body.
        inplace: Whether it has the argument `inplace` after these.
    """
    if callable(said):
        in_functional[said.__name__] = _guarded(said.__name__, said)
        return in_functional[said.__name__]

    def decorate(body: Any) -> Any:
        made = Variants(said, body, like=like, inplace=inplace)
        made.function.__module__ = "minigrad.nn.functional"  # where pickles look for it
        in_functional[made.name] = made.function
        return body

    return decorate


def entrywise(*, floats: bool = True, in_place: bool | str = "function", **options: Any) -> Any:
    """Give an operation on each entry of one tensor its variants; it has the operation's name.

    Args:
        floats: Whether integers are taken as floats.
        in_place: Whether there are forms in place.
        **options: What else `variants` takes.
    """

    def decorate(body: Any) -> Any:
        given = {"out": "kind" if floats else "limits", **options}
        return variants(floats=floats, in_place=in_place, **given)(body)

    return decorate


def _several(keys: Any) -> tuple[Any, ...]:
    return () if keys is None else keys if isinstance(keys, tuple) else (keys,)


def attach(module: str, forms: dict[str, Any], public: dict[str, Any] | None = None) -> None:
    """Give `Tensor` methods, properties or operators, and `minigrad` functions.

    Args:
        module: The file that says them: its `__name__`.
        forms: What to give to `Tensor`, by name.
        public: What to give to `minigrad`, by name.
    """
    said = said_in.setdefault(module, ([], []))
    said[0].extend(public or ())
    said[1].extend(forms)
    functions.update({name: _guarded(name, each) for name, each in (public or {}).items()})
    for name, form in forms.items():
        setattr(Tensor, name, _guarded(name, form, method=True))


# Methods that are called so often that they look at errors themselves.
_QUICK = (
    "backward", "contiguous", "detach", "dim", "item", "numpy", "requires_grad_", "size", "to",
    "view",
)  # fmt: skip


def _guarded(name: str, form: Any, method: bool = False) -> Any:
    """Let a function that isn't a variant of an operation say why its inside failed."""
    if type(form) is not FunctionType or hasattr(form, "__wrapped__") or name.startswith("__"):
        return form
    if name in _QUICK:
        form.__qualname__ = name
        return form
    return faults.explains(form, name, method)


def documented(function: Callable[..., Any], say: Callable[[], Any]) -> Callable[[Any], Any]:
    """Say a function that was made, with the docstring and for the file of what is decorated."""

    def decorate(said: Any) -> Any:
        function.__doc__, function.__module__ = said.__doc__, said.__module__
        say()(function)
        return said

    return decorate


# ------------------------------------------------------------------ forms


def in_place_form(
    function: Callable[..., Any], made: Variants, writes: str = "values"
) -> Callable[..., Tensor]:
    """Let a function write its result into its first argument.

    All that may be given by position is handed over by position, so that tensors among it are
    looked at before anything is written.

    Args:
        function: The method.
        made: Its variants.
        writes: What it changes, as `variants` has it.
    """
    own = f"{made.name}_"

    def method(input: Tensor, *others: Any, **options: Any) -> Tensor:
        try:
            if not isinstance(input, Tensor):
                raise arguments.wrong_type(own, "input", "Tensor", input)
            if options:
                for each in made.signature.arguments[1 + len(others) :]:
                    if each.by_name or each.name not in options:
                        break
                    others = (*others, options.pop(each.name))
            called = functools.partial(function, **options) if options else function
            return writers[writes](called, input, *others)
        except Exception as error:
            faults.explained_call(error, own, function, (input, *others), options)
            raise

    named: Any = method
    named.__name__ = named.__qualname__ = own
    named.__wrapped__ = function
    named.__doc__ = f"Do what `{made.name}` does, in place."
    return method


def _printed(result: Any) -> str:
    parts = (f"{name}={value!r}" for name, value in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n" + ",\n".join(parts) + ")"


def _made(cls: Any, *values: Any) -> Any:
    """Make a result of its values, one by one or, as PyTorch wants them, in one sequence."""
    return tuple.__new__(cls, values[0] if len(values) == 1 else values)


def named_tuple(name: str, fields: Sequence[str]) -> Any:
    """Make the type of several results that prints under the name of its function.

    Args:
        name: The function's name.
        fields: The names of the results.

    Example:
        >>> import minigrad as torch
        >>> named_tuple("sort", ("values", "indices"))(torch.tensor([1.0]), torch.tensor([0]))
        torch.return_types.sort(
        values=tensor([1.]),
        indices=tensor([0]))
    """
    content = {
        "__slots__": (),
        "__doc__": f"The results of `{name}`.",
        "__repr__": _printed,
        "__new__": _made,
        "n_fields": len(fields),
    }
    return type(name, (namedtuple(name, fields),), content)
