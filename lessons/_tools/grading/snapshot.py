"""Note what the functions and classes of modules are, and tell later which of them were changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from minigrad.fast import writer
from minigrad.optim import Optimizer

# What checks stand on. Other libraries a student may change to no effect.
WATCHED: tuple[str, ...] = (
    *("builtins", "collections", "contextlib", "copy", "dataclasses", "dis", "fractions"),
    *("functools", "heapq", "inspect", "io", "itertools", "json", "linecache", "math", "minigrad"),
    *("numpy", "operator", "os", "random", "re", "shutil", "signal", "sympy", "textwrap"),
    *("threading", "time", "traceback", "types", "warnings"),
)
_FIXED = (FunctionType, BuiltinFunctionType, type, ModuleType, staticmethod, classmethod, property)
_NUMBERS = (int, float, complex, bool)
_MATHEMATICS = ("builtins", "math", "numpy")
_OWN_TABLES = ("_written",)  # what a learner predicts


def _named_defaults(function: FunctionType) -> tuple[Any, ...]:
    return tuple(map(id, (function.__kwdefaults__ or {}).values()))


def complete() -> Snapshot:
    """Have minigrad load what it loads when it is first asked for, but for what needs SymPy.

    Returns:
        What all modules are then.
    """
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "minigrad" and "__getattr__" in vars(module):
            for each in set(dir(module)) - {"symbolic"}:
                getattr(module, each, None)
    return Snapshot()


def write_functions(modules: Iterable[ModuleType]) -> None:
    """Have minigrad make all the functions now that it makes when they are first called.

    Args:
        modules: Where to look for them.
    """
    face = sys.modules["minigrad.signatures.variants"]  # the package has a function of this name
    stubs = {writer._first_call.__code__, vars(face)["_first_call"].__code__}
    seen: set[int] = set()
    pending: list[Mapping[str, Any]] = [vars(module) for module in modules]
    while pending:
        for value in list(pending.pop().values()):
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, FunctionType) and value.__code__ in stubs:
                value.__globals__.get("prepare", lambda: None)()
            elif isinstance(value, type) and _root(value) == "minigrad":
                pending.append(vars(value))
    kinds: list[Any] = Optimizer.__subclasses__()
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        kind._patch_step_function(object.__new__(kind))


def _root(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]


class Snapshot:
    """What modules are when this is made, or when they are added to it.

    Args:
        roots: The first parts of their names.
    """

    def __init__(self, roots: tuple[str, ...] = WATCHED) -> None:
        self._roots = roots
        self._modules: dict[str, ModuleType] = {}
        self._members: dict[tuple[str, ...], tuple[Mapping[str, Any], dict[str, Any]]] = {}
        self._codes: list[tuple[str, FunctionType, Any, Any, tuple[Any, ...]]] = []
        self._tables: list[tuple[str, Mapping[str, Any], dict[Any, Any]]] = []
        self._seen: set[int] = set()
        self._lists = [(sys.meta_path, [*sys.meta_path]), (sys.path_hooks, [*sys.path_hooks])]
        self.add()

    def add(self) -> None:
        """Take the modules in that are not in yet."""
        new = {
            name: module
            for name, module in list(sys.modules.items())
            if name not in self._modules and name.partition(".")[0] in self._roots
            if isinstance(module, ModuleType)
        }
        if new:
            self._modules |= new
            write_functions(new.values())
            for name, module in new.items():
                self._take((name,), vars(module))

    def renew(self, names: Iterable[str]) -> None:
        """Take some modules as they are now.

        Args:
            names: Of modules.
        """
        for path in [path for path in self._members if path[0] in names]:
            del self._members[path]
        for name in names:
            self._modules.pop(name, None)
        self.add()

    def _take(self, path: tuple[str, ...], members: Mapping[str, Any]) -> None:
        kept: dict[str, Any] = {}
        mathematics = path[0].partition(".")[0] in _MATHEMATICS and len(path) == 1
        for name, value in list(members.items()):
            if type(value) is dict and path[0].partition(".")[0] == "minigrad" and len(path) == 1:
                if not name.startswith("__") and name not in _OWN_TABLES:
                    kept[name] = value
                    self._tables.append((".".join((*path, name)), value, dict(value)))
                continue
            if not (isinstance(value, _FIXED) or callable(value)) and not (
                mathematics and isinstance(value, _NUMBERS)
            ):
                continue
            kept[name] = value
            if id(value) in self._seen:
                continue
            if isinstance(value, FunctionType):
                self._seen.add(id(value))
                parts = value.__code__, value.__defaults__, _named_defaults(value)
                self._codes.append((".".join((*path, name)), value, *parts))
            elif isinstance(value, type) and _root(value) in self._roots:
                self._seen.add(id(value))
                self._take((*path, name), vars(value))
        self._members[path] = (members, kept)

    def changed(self) -> Iterator[str]:
        """Name what is another now, such as "minigrad.allclose"."""
        for name, module in self._modules.items():
            if sys.modules.get(name) is not module:
                yield f"sys.modules[{name!r}]"
        for path, (members, kept) in self._members.items():
            now = members.get
            for name, value in kept.items():
                if now(name) is not value:
                    yield ".".join((*path, name))
        for name, function, code, defaults, named in self._codes:
            other = function.__code__ is not code or function.__defaults__ is not defaults
            if other or (function.__kwdefaults__ and _named_defaults(function) != named):
                yield name
        for name, table, before in self._tables:
            if any(table.get(key, value) is not value for key, value in before.items()):
                yield name
        for finders, kept_finders in self._lists:
            # What an installed package adds at the end is asked last, and nothing depends on it.
            if finders[: len(kept_finders)] != kept_finders:
                yield "how modules are imported"
