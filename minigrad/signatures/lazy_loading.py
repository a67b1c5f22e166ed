"""Load the less usual operations when they are first asked for, so that importing stays quick.

`index.txt` lists which functions of `minigrad` and which methods of `Tensor` wait in which file of
the package. The files themselves say it; `python -m minigrad.signatures` writes the list again.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from minigrad.core.tensor import Tensor
from minigrad.signatures.variants import functions

INDEX = __file__.removesuffix("lazy_loading.py") + "index.txt"  # pathlib is slow to import

# The file in which each name waits, for functions and for methods.
_files: dict[str, dict[str, str]] = {"functions": {}, "methods": {}}
with open(INDEX, encoding="utf-8") as _index:
    for _line in _index:
        _file, _kind, *_names = _line.split()
        _files[_kind].update(dict.fromkeys(_names, _file))


def load(file: str) -> Any:
    """Load a file; its functions, methods and meanings for NumPy come with it.

    Args:
        file: Its name, from the package on: `ops.sorting`.
    """
    return import_module(f"minigrad.{file}")


def load_all() -> None:
    """Load every file: NumPy was given a tensor, and what it asks for was not found."""
    for files in _files.values():
        for file in dict.fromkeys(files.values()):
            load(file)


def function(name: str) -> Any:
    """Give a function of `minigrad` that waits in a file."""
    load(_files["functions"][name])
    return functions[name]


# The functions of `minigrad` that wait, each with what loads it.
WAITING = {name: partial(function, name) for name in _files["functions"]}


class Waiting:
    """Stands for a method of `Tensor` until it is first asked for."""

    __slots__ = ("file", "name")

    def __init__(self, file: str, name: str) -> None:
        self.file, self.name = file, name

    def __get__(self, tensor: Tensor | None, owner: type) -> Any:
        load(self.file)
        return getattr(owner if tensor is None else tensor, self.name)

    def __set__(self, tensor: Tensor, value: Any) -> None:
        load(self.file)  # what waits may be a property that can be assigned
        setattr(tensor, self.name, value)


def attach_waiting() -> None:
    """Give `Tensor` the methods that wait in files."""
    for name, file in _files["methods"].items():
        if name not in vars(Tensor):  # not if a file that is loaded at once has come to say it
            setattr(Tensor, name, Waiting(file, name))
