"""Read what a function takes from its body: the names, annotations and defaults of parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

# What NumPy calls the arguments of these names; a function takes both, as in PyTorch.
NUMPY_NAMES = {"dim": "axis", "keepdim": "keepdims"}
_NAMES = {"inf": float("inf")}  # what defaults may refer to


class Argument(NamedTuple):
    """One argument of a function.

    Attributes:
        kind: Its type: `Tensor`; `Dim`, the number of a dimension, counted from 0 when it arrives;
            `Operand`, a tensor or a number that counts as one: the body gives NotImplemented for
            what is neither;
            `Sizes`, whole numbers in a sequence, which a method takes one by one, too; `int`, any
            whole number; `float` or `Number`, a number, which arrives as Python's; `str`, a text;
            or any other word, which is not looked at.
        name: Its name.
        default: The source of its default, or None if it must be given.
        by_name: Whether it may be given by its name only.
        optional: Whether it may be None.
    """

    kind: str
    name: str
    default: str | None
    by_name: bool
    optional: bool


class Signature(NamedTuple):
    """What a function is called, takes and gives.

    Attributes:
        name: The function's name.
        arguments: What it takes, `out` aside.
        results: The names of its results if it gives several: `values`, `indices`.
        takes_out: Whether it can write into a tensor that is there already.
    """

    name: str
    arguments: tuple[Argument, ...]
    results: tuple[str, ...]
    takes_out: bool

    def with_inplace(self) -> Signature:
        """Add the argument `inplace`."""
        more = Argument("Any", "inplace", "False", by_name=False, optional=False)
        return self._replace(arguments=(*self.arguments, more))

    @property
    def numpy_names(self) -> dict[str, str]:
        """NumPy's names for arguments, by PyTorch's: of those that come last."""
        found: dict[str, str] = {}
        for argument in reversed(self.arguments):
            if argument.name in NUMPY_NAMES:
                found[argument.name] = NUMPY_NAMES[argument.name]
            elif argument.default is None and not argument.by_name:
                break
        return found

    @property
    def sizes_argument(self) -> str | None:
        """The name of the sizes that a method takes one by one, too."""
        return next((each.name for each in self.arguments if each.kind == "Sizes"), None)

    def parameters(self, out: bool = True, separate: bool = False, told: bool = False) -> str:
        """Write the parameters as Python has them.

        Args:
            out: Whether `out` is one of them.
            separate: Whether sizes may come one by one.
            told: Whether what must be given has no default, though it may have NumPy's name.
        """
        other = () if told else self.numpy_names
        arguments = [
            each._replace(default=each.default or "None") if each.name in other else each
            for each in self.arguments
        ]
        if separate and self.sizes_argument:
            return f"{arguments[0].name}, *several, {self.sizes_argument}=None"
        others = [*["out"] * (out and self.takes_out), *self.numpy_names.values()]
        return listed(arguments, _parameter, [f"{name}=None" for name in others])

    def shown(self, method: bool = False) -> inspect.Signature:
        """Give the signature as `inspect` has it.

        Args:
            method: Whether it is the method's, or that of the form in place: they take no `out`.
        """
        written = self.parameters(out=not method, separate=method, told=True)
        return inspect.signature(eval(f"lambda {written}: None", _NAMES))


def listed(arguments: Sequence[Argument], write: Callable[[Argument], str], more: list[str]) -> str:
    """List parameters, and more that are given by name, as Python has them."""
    parts, named = (
        [write(a) for a in arguments if a.by_name is by_name] for by_name in (False, True)
    )
    starred = any(part.startswith("*") for part in parts)
    return ", ".join([*parts, *(["*"] if named + more and not starred else []), *named, *more])


def _parameter(argument: Argument) -> str:
    return argument.name if argument.default is None else f"{argument.name}={argument.default}"


# The kinds of arguments, as annotations of bodies have them.
Dim: TypeAlias = int
Sizes: TypeAlias = tuple[int, ...]
Operand: TypeAlias = Any
Number: TypeAlias = Any
Dtype: TypeAlias = Any
_CHECKED = {"Tensor", "Dim", "Operand", "Sizes", "Number", "Dtype", "int", "float", "bool", "str"}


def read(name: str, body: Any, results: str, takes_out: bool) -> Signature:
    """Read the signature of a function from its body, which is Python.

    Args:
        name: What the function is called.
        body: What computes it. Its first argument may be called `self`: of the function it is
            `input`.
        results: The names of its results if it gives several.
        takes_out: Whether it can write into a tensor that is there already.

    Example:
        >>> def lerp(self: Tensor, end: Tensor, weight: Number = 0.5): ...
        >>> read("lerp", lerp, "", True).parameters()
        'input, end, weight=0.5, *, out=None'
    """
    while hasattr(body, "__wrapped__"):
        body = body.__wrapped__
    arguments = []
    for parameter in inspect.Signature.from_callable(body).parameters.values():
        written = str(parameter.annotation).removeprefix("typing.")
        kind, _, optional = written.partition(" | ")
        kind = "Tensor" if kind == "Array" else kind
        default = None if parameter.default is parameter.empty else repr(parameter.default)
        arguments.append(
            Argument(
                kind if kind in _CHECKED else "Any",
                "*" * (parameter.kind is parameter.VAR_POSITIONAL)
                + ("input" if parameter.name == "self" else parameter.name),
                default,
                parameter.kind is parameter.KEYWORD_ONLY,
                optional == "None" or default == "None",
            )
        )
    return Signature(name, tuple(arguments), tuple(results.split()), takes_out)
