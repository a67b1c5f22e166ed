"""Let programs import what they import from PyTorch: at its paths, or what says it is not here.

Nothing is loaded before it is used. Of a room that minigrad lacks, everything can be imported and
mentioned; a class is one that nothing is an instance of, and what is used says that it is missing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from operator import attrgetter
from types import FunctionType, GenericAlias, ModuleType
from typing import Any, NoReturn

from minigrad.utils import _paths_inside as paths_inside

# By path of PyTorch's that isn't a file of ours: where we have what is in it, or "" for nowhere.
_PATHS: dict[str, str] = {}
with open(__file__.removesuffix("py") + "txt", encoding="utf-8") as _table:
    for _line in _table:
        _ours, *_theirs = _line.split()
        if _ours != "#":
            _PATHS |= dict.fromkeys(_theirs, "" if _ours == "nowhere" else _ours)


class Path(ModuleType):
    """A module at one of PyTorch's paths.

    Args:
        name: The path, without the package's name.
        ours: Where we have it, or nothing.
    """

    def __init__(self, name: str, ours: str = "") -> None:
        super().__init__(f"minigrad.{name}", f"Stands at PyTorch's path `torch.{name}`.")
        self.__dict__.update(__path__=[], _name=name, _ours=ours)

    def _own(self) -> Any:
        """Give what we have of this path, or None."""
        file, _, inside = self._ours.partition(":")
        own: Any = import_module(f"minigrad.{file}") if file else None
        return attrgetter(inside)(own) if inside else own

    def __getattr__(self, name: str) -> Any:
        if name == "__all__" and self._ours:
            return self._own().__all__
        if name.startswith("__"):
            raise AttributeError(name)
        path, own = f"{self._name}.{name}", self._own()
        if f"{self.__name__}.{name}" in sys.modules:
            found: Any = sys.modules[f"{self.__name__}.{name}"]
        elif hasattr(own, name):
            found = getattr(own, name)
        elif self._name.startswith("nn.modules."):
            found = getattr(import_module("minigrad.nn"), name)
        elif path in _ANSWERS:
            found = _ANSWERS[path]
        else:
            found = _absent(self._name, name)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        own = dir(self._own()) if self._ours else []
        layers = dir(import_module("minigrad.nn")) if self._name.startswith("nn.modules.") else []
        answers = [path.rpartition(".") for path in _ANSWERS]
        inner = [name for room, _, name in answers if room == self._name]
        names = {*inner, *paths_inside(self.__name__), *own, *layers}
        return sorted(name for name in names if not name.startswith("__"))


def _as_it_is(function: Any = None, *arguments: Any, **options: Any) -> Any:
    """Give a function back, as nothing is compiled."""
    return function if callable(function) else _as_it_is


def _script(obj: Any, *arguments: Any, **options: Any) -> Any:
    """Give a function or a class back, which computes the same; refuse to make a `ScriptModule`."""
    return obj if isinstance(obj, (FunctionType, type)) else _absent("jit", "script")()


# What a room that is not here answers; everything else in it refuses when it is used. Questions are
# answered with no, and decorators that change no computation give back what they were given.
_ANSWERS: dict[str, Any] = {
    name: does
    for does, names in {
        (lambda *_, **__: False): "compiler.is_compiling distributed.is_available "
        "distributed.is_initialized jit.is_scripting jit.is_tracing "
        "nn.utils.parametrize.is_parametrized",
        _as_it_is: "compiler.disable jit.export jit.ignore jit.unused",
        _script: "jit.script",
    }.items()
    for name in names.split()
}


def _absent(room: str, name: str) -> Any:
    """Make what stands for something that is not here."""

    def refuse(*arguments: Any, **options: Any) -> NoReturn:
        raise NotImplementedError(
            f"minigrad has no torch.{room}.{name}: leave this out, or run this part on PyTorch."
        )

    if name[:1].isupper():
        # annotations such as Future[Tensor] ask for nothing
        generic: Any = classmethod(GenericAlias)
        members = {"__module__": f"torch.{room}", "__new__": refuse, "__class_getitem__": generic}
        return type(name, (), members)
    refuse.__name__ = refuse.__qualname__ = name
    return refuse


# Libraries ask of a model and of a result whether they are such a thing. They never are.
Future = _absent("futures", "Future")
DataParallel, SyncBatchNorm = (_absent("nn", _name) for _name in ("DataParallel", "SyncBatchNorm"))

for _name, _ours in _PATHS.items():
    sys.modules[f"minigrad.{_name}"] = Path(_name, _ours)
