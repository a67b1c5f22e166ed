"""Write a layer as what it is: settings that are kept, and a function that they go to.

    class ELU(Layer, calls=F.elu, settings="alpha=1.0, inplace=False"):

has an `__init__` that keeps both settings, a `forward` that returns `F.elu(input, alpha=...,
inplace=...)`, and a printed form such as `ELU(alpha=0.5)`.
"""

from __future__ import annotations

import inspect
import linecache
import re
from collections.abc import Callable, Iterable
from itertools import chain, count
from typing import Any, ClassVar

from minigrad.creation.construction import empty
from minigrad.creation.devices import refuse_other_places
from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter

# ------------------------------------------------------------------ functions from signatures

_numbers = count()
_ARGUMENT = re.compile(r"(?:^|, )([A-Za-z_]\w*)(?==|,|$)")


def written(head: str, lines: Iterable[str], names: dict[str, Any], doc: str | None = None) -> Any:
    """Make a function of text, as `dataclasses` and `namedtuple` do: it has a real signature.

    Args:
        head: Name and arguments, such as `"relu(input, inplace=False)"`; a dotted name says
            which class it belongs to.
        lines: Its statements.
        names: What they refer to; `__name__` is the module that the function counts to.
        doc: The docstring.

    Returns:
        The function. Tracebacks and `inspect.getsource` show its text.
    """
    path, _, arguments = head.partition("(")
    name = path.rpartition(".")[2]
    source = "\n    ".join([f"def {name}({arguments}:", *lines]) + "\n"
    # Beside this file, so that a warning passes over it on the way to the user's line.
    file = f"{__file__}:{path}:{next(_numbers)}"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    made: dict[str, Any] = {**names}
    exec(compile(source, file, "exec"), made)
    function = made[name]
    function.__qualname__, function.__doc__ = path, doc
    return function


def arguments_of(signature: str) -> list[str]:
    """List the names in a signature, such as "p" and "inplace" of `"p=0.5, inplace=False"`."""
    return [name for name in _ARGUMENT.findall(signature) if name != "self"]


def constructor(cls: type, first: str, settings: str, *lines: str, **names: Any) -> tuple[str, ...]:
    """Write `__init__` for a class that treats its settings as a whole.

    Args:
        cls: The class.
        first: Its arguments before the settings.
        settings: The signature of the settings.
        *lines: Its statements; `{settings}` in them stands for a dictionary of the settings.
        **names: What they refer to.

    Returns:
        The names of the settings.
    """
    listed = tuple(arguments_of(settings))
    given = f"dict({', '.join(f'{name}={name}' for name in listed)})"
    head = f"{cls.__qualname__}.__init__({first}, {settings})"
    statements = [line.format(settings=given) for line in lines]
    made = written(head, statements, {**names, "__name__": cls.__module__})
    cls.__init__ = made  # type: ignore[misc]
    return listed


# ------------------------------------------------------------------ layers

# How settings are printed, if a class does not say; others as `"size="`.
_SHOWN = {"inplace": "inplace?", "bias": "bias!", "device": "", "dtype": ""}


class Layer(Module):
    """A module that keeps its settings, and hands them and its inputs to a function."""

    _settings: ClassVar[tuple[str, ...]] = ()
    _shows: ClassVar[str | None] = None

    def __init_subclass__(
        cls, calls: Callable[..., Any] | None = None, settings: str | None = None, **others: Any
    ) -> None:
        """Write the methods of a class.

        Args:
            calls: The function that the class computes. Of its arguments it gets those that the
                class has as settings or annotates; those without a default are the inputs.
            settings: The signature of `__init__`.
            **others: Values of what a base class declares, such as `ndim=2` of `_ndim: ClassVar`,
                or `shows` for the settings that are printed (all if it is not given; see `shown`).
                The rest is for other base classes.
        """
        bases = [vars(base).get("__annotations__", ()) for base in cls.__mro__]
        annotated = {*chain.from_iterable(bases)}
        for name in [each for each in others if f"_{each}" in annotated]:
            setattr(cls, f"_{name}", others.pop(name))
        super().__init_subclass__(**others)
        if settings is not None:
            lines = "super(Layer, self).__init__()", "self._keep({settings})"
            cls._settings = constructor(cls, "self", settings, *lines, Layer=Layer, F=F)
        if calls is not None:
            known = {*cls._settings, *annotated} - {"size_average", "reduce"}
            arguments = inspect.signature(calls).parameters
            needed = [name for name, each in arguments.items() if each.default is each.empty]
            inputs = [name for name in needed if name not in known]
            given = [f"{name}=self.{name}" for name in arguments if name in known]
            line = f"return F.{calls.__name__}({', '.join(inputs + given)})"
            head = f"{cls.__qualname__}.forward({', '.join(['self', *inputs])})"
            names = {"F": F, "__name__": cls.__module__}
            cls.forward = written(head, [line], names, "Compute the result.")

    def _keep(self, settings: dict[str, Any]) -> None:
        """Keep the settings as attributes; classes that check or complete them override this."""
        for name, value in settings.items():
            if name not in ("device", "dtype"):
                setattr(self, name, value)

    def extra_repr(self) -> str:
        """Give the settings."""
        usual = (_SHOWN.get(name, f"{name}=") for name in self._settings)
        return shown(self, ", ".join(filter(None, usual)) if self._shows is None else self._shows)


def add_parameters(module: Module, settings: dict[str, Any], **shapes: Any) -> None:
    """Register an empty parameter of each shape; None says that there is none of that name."""
    refuse_other_places(settings["device"])
    for name, shape in shapes.items():
        made = None if shape is None else Parameter(empty(shape, dtype=settings["dtype"]))
        module.register_parameter(name, made)


def shown(module: Module, pattern: str) -> str:
    """Print settings of a module.

    Args:
        module: The module.
        pattern: Their names. `"size"` prints the value alone, `"size="` with the name, and
            `"size?"` only if there is something to say: a value that is not None nor False.
            `"bias!"` prints whether there is a bias.

    Returns:
        What stands between the parentheses of the printed form.
    """
    parts = []
    for name in pattern.split(", ") if pattern else ():
        value = getattr(module, name.rstrip("=?!"))
        if name == "inplace?":
            value = bool(value)
        if name.endswith("!"):
            value = value is not None
        text = repr(value) if name in ("approximate=", "mode=") else format(value)
        if name.endswith("?") and (value is None or value is False):
            continue
        parts.append(text if name[-1] not in "=?!" else f"{name[:-1]}={text}")
    return ", ".join(parts)


def changed(module: Module, **usual: Any) -> str:
    """Print those settings of a module that are not the usual ones: `", bias=False"`."""
    here = {name: getattr(module, name) for name in usual}
    if "bias" in here:  # a flag, or the parameter that it stands for
        here["bias"] = here["bias"] is not None and here["bias"] is not False
    return "".join(f", {name}={here[name]}" for name in usual if here[name] != usual[name])


# ------------------------------------------------------------------ what PyTorch has in `utils`


def _ntuple(n: int) -> Callable[[Any], tuple[Any, ...]]:
    """Make a function that gives n times what it gets, or a tuple of what it can run through."""

    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else (x,) * n

    return parse


_single, _pair, _triple = map(_ntuple, (1, 2, 3))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix such as "module." from the names in a state dict, in place.

    Example:
        >>> state = {"module.weight": 1, "bias": 2}
        >>> consume_prefix_in_state_dict_if_present(state, "module.")
        >>> state
        {'bias': 2, 'weight': 1}
    """
    for named in (state_dict, getattr(state_dict, "_metadata", {})):
        for name in [*named]:
            if name and f"{name}.".startswith(prefix):
                named[name[len(prefix) :]] = named.pop(name)
