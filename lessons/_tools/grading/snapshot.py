"""Note what the functions and classes of modules are, and tell later which of them were changed."""

from __future__ import annotations

import builtins
import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from minigrad.fast import writer
from minigrad.optim import Optimizer

# of our own: a student may put others there
__builtins__ = dict(vars(builtins))  # type: ignore[assignment]
# What checks stand on. Other libraries a student may change to no effect.
WATCHED: tuple[str, ...] = (
    *("builtins", "collections", "contextlib", "copy", "dataclasses", "dis", "fractions"),
    *("functools", "heapq", "inspect", "io", "itertools", "json", "linecache", "math", "minigrad"),
    *("numpy", "operator", "os", "random", "re", "shutil", "signal", "sympy", "textwrap"),
    *("threading", "time", "traceback", "types", "warnings"),
)
_FIXED = (
    *(FunctionType, BuiltinFunctionType, type, ModuleType),
    *(staticmethod, classmethod, property, cached_property),
)
_MATHEMATICS = ("builtins", "math", "numpy")  # of which numbers are kept, too


def complete() -> None:
    """Have minigrad load what it loads when it is first asked for, but for what needs SymPy."""
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "minigrad" and "__getattr__" in vars(module):
            for each in set(dir(module)) - {"symbolic"}:
                getattr(module, each, None)


def watch(roots: tuple[str, ...]) -> tuple[Callable[[], None], Callable[[], list[str]]]:
    """Note what modules are.

    Args:
        roots: The first parts of their names.

    Returns:
        What takes the modules in that are not in yet; and what names some members that are others
        now, such as "minigrad.allclose".
    """
    modules: dict[str, ModuleType] = {}
    facts: list[tuple[str, Callable[[], Sequence[Any]], Sequence[Any]]] = []
    seen: set[int] = set()

    def note(where: str, read: Callable[[], Sequence[Any]]) -> None:
        facts.append((where, read, read()))

    def add() -> None:
        new = {
            name: module
            for name, module in list(sys.modules.items())
            if name not in modules and name.partition(".")[0] in roots
            if isinstance(module, ModuleType)
        }
        modules.update(new)
        if any(name.startswith("minigrad") for name in new):
            _write_functions()
        for name, module in new.items():
            note(f"sys.modules[{name!r}]", partial(_values, sys.modules, [name]))
            take(name, vars(module), name.partition(".")[0])

    def take(path: str, members: Mapping[str, Any], module: str = "") -> None:
        for name, value in list(members.items()):
            where = f"{path}.{name}"
            number = module in _MATHEMATICS and isinstance(value, (int, float, complex))
            if type(value) is dict and module == "minigrad" and not name.startswith("__"):
                if name != "_written":  # what a learner predicts
                    note(where, partial(_values, value, list(value)))
            elif not (isinstance(value, _FIXED) or callable(value) or number):
                continue
            note(where, partial(_values, members, [name]))
            if id(value) not in seen and isinstance(value, FunctionType):
                note(where, partial(_parts, value))
            elif id(value) not in seen and isinstance(value, type) and _root(value) in roots:
                seen.add(id(value))
                take(where, vars(value))
            seen.add(id(value))

    def changed() -> list[str]:
        return [where for where, read, was in facts if [*map(id, read())] != [*map(id, was)]]

    for finders in (sys.meta_path, sys.path_hooks):
        # What an installed package adds at the end is asked last, and nothing depends on it.
        note("how modules are imported", partial(_first, finders, len(finders)))
    add()
    return add, changed


def _values(table: Mapping[str, Any], names: Sequence[str]) -> list[Any]:
    return [table.get(name) for name in names]


def _first(values: list[Any], most: int) -> list[Any]:
    return values[:most]


def _parts(function: FunctionType) -> tuple[Any, ...]:
    named = (function.__kwdefaults__ or {}).values()
    return function.__code__, function.__defaults__, *named


def _root(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]


def _write_functions() -> None:
    """Have minigrad make all the functions now that it makes when they are first called."""
    face = sys.modules["minigrad.signatures.variants"]  # the package has a function of this name
    stubs = {writer._first_call.__code__, vars(face)["_first_call"].__code__}
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__ in stubs:
            each.__globals__.get("prepare", list)()
    kinds: list[Any] = Optimizer.__subclasses__()
    for kind in kinds:  # which grow meanwhile
        kinds += kind.__subclasses__()
        kind._patch_step_function(object.__new__(kind))
