"""Write functions from their signatures, where many are alike but for their arguments."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable
from itertools import count
from typing import Any

_numbers = count()
_ARGUMENT = re.compile(r"(?:^|, )([A-Za-z_]\w*)(?==|,|$)")


def written(head: str, lines: Iterable[str], names: dict[str, Any], doc: str | None = None) -> Any:
    """Make a function of text, as `dataclasses` and `namedtuple` do: it has a real signature.

    Args:
        head: Name and arguments, such as `"relu(input, inplace=False)"`; a dotted name says
            which class it belongs to.
        lines: Its statements.
        names: What they speak of; `__name__` is the module that the function counts to.
        doc: The docstring.

    Returns:
        The function. Tracebacks and `inspect.getsource` show its text.
    """
    path, _, arguments = head.partition("(")
    name = path.rpartition(".")[2]
    source = "\n    ".join([f"def {name}({arguments}:", *lines]) + "\n"
    # Beside this file, so that a warning passes over it on the way to the user's line.
    place = f"{__file__}:{path}:{next(_numbers)}"
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    made: dict[str, Any] = {**names}
    exec(compile(source, place, "exec"), made)
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
        **names: What they speak of.

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
