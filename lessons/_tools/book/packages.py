"""Write the reference of the package from its docstrings: a page for each public module."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from _tools.book import docstrings
from _tools.reference_rooms import public_names

ROOMS = (
    "minigrad",
    "minigrad.Tensor",
    "minigrad.autograd",
    "minigrad.autograd.graph",
    "minigrad.autograd.functional",
    "minigrad.nn",
    "minigrad.nn.functional",
    "minigrad.nn.init",
    "minigrad.nn.utils",
    "minigrad.optim",
    "minigrad.optim.lr_scheduler",
    "minigrad.utils.data",
    "minigrad.utils.checkpoint",
    "minigrad.linalg",
    "minigrad.special",
    "minigrad.func",
    "minigrad.distributions",
    "minigrad.random",
    "minigrad.viz",
    "minigrad.classroom",
    "minigrad.symbolic",
)
HEAD = """# The package

What each module offers, from its docstrings. All names stand in the {ref}`index <genindex>`."""
HOMES = {  # where what a room shows is defined
    "minigrad.utils.data": "minigrad.data",
    "minigrad.utils.checkpoint": "minigrad.saving.checkpoint",
    "minigrad.func": "minigrad.extra.transforms",
    "minigrad.distributions": "minigrad.extra.distributions",
}


def stage(folder: Path) -> None:
    """Write the pages and the one that lists them.

    Args:
        folder: where to.
    """
    folder.mkdir(parents=True)
    rows, names = [], []
    for room in ROOMS:
        stem = room.removeprefix("minigrad.").lower()
        value = _room(room)
        write = tensor_page if isinstance(value, type) else module_page
        (folder / f"{stem}.md").write_text(write(room, value), encoding="utf-8", newline="\n")
        rows.append(f"| [{room}]({stem}.md) | {docstrings.first_line(_doc(value))} |")
        names.append(stem)
    table = "\n".join(["| module | what it offers |", "|---|---|", *rows])
    toctree = "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```"
    text = f"{HEAD}\n\n{table}\n\n{toctree}\n"
    (folder / "index.md").write_text(text, encoding="utf-8", newline="\n")


def module_page(room: str, module: ModuleType) -> str:
    """Write the page of a module: what it offers, by the files in which that is defined.

    Args:
        room: its name.
        module: itself.
    """
    parts = [f"# {room}", f"```{{py:module}} {room}\n```", docstrings.markdown(_doc(module))]
    files: dict[str, list[str]] = {}
    plain: list[str] = []
    for name in sorted(public_names(import_module(HOMES.get(room, room)))):
        value = getattr(module, name, None)
        if name == "Tensor" or f"{room}.{name}" in ROOMS:
            continue
        if inspect.isclass(value) or callable(value):
            file = getattr(value, "__module__", None) or room
            files.setdefault(file if file.startswith("minigrad") else room, []).append(name)
        else:
            plain.append(name)
    for file in sorted(files):
        if len(files) > 1:
            parts.append(f"## {'In the module itself' if file == room else _title(file)}")
        parts += (described(name, getattr(module, name), 6) for name in files[file])
    if plain:
        values = ", ".join(f"`{name}`" for name in plain)
        parts.append(f"## Values\n\n{values}")
    return "\n\n".join(parts) + "\n"


def tensor_page(room: str, owner: type) -> str:
    """Write the page of a class that has many methods.

    Args:
        room: its name.
        owner: the class.
    """
    methods = "\n\n".join(_methods(owner, dir(owner), 5))
    body = f"{docstrings.markdown(_doc(owner))}\n\n{methods}"
    module, _, name = room.rpartition(".")
    head = f"# {room}\n\n```{{py:currentmodule}} {module}\n```"
    return f"{head}\n\n{_directive('class', name + _signature(owner), body, 6)}\n"


def described(name: str, value: Any, colons: int) -> str:
    """Describe a function or a class.

    Args:
        name: by which it is offered.
        value: itself.
        colons: of the fence around it.
    """
    if not inspect.isclass(value):
        return _directive("function", name + _signature(value), _body(value), colons)
    kind = "exception" if issubclass(value, BaseException) else "class"
    own = (each for each in vars(value) if not isinstance(vars(value)[each], type))
    body = "\n\n".join([_body(value), *_methods(value, own, colons - 1)])
    return _directive(kind, name + _signature(value), body, colons)


def _methods(owner: type, names: Iterable[str], colons: int) -> Iterator[str]:
    """Describe the methods and properties of a class that tell what they do."""
    for name in sorted(names):
        value = getattr(owner, name, None)
        if name.startswith("_") or not inspect.getdoc(value) or isinstance(value, type):
            continue
        found = inspect.getattr_static(owner, name)
        if isinstance(found, property):
            yield _directive("property", name, _body(found), colons)
        elif callable(value):
            short = (
                getattr(import_module("minigrad"), name, None)
                if owner.__name__ == "Tensor"
                else None
            )
            same = short is not None and inspect.getdoc(short) == inspect.getdoc(value)
            told = f"See {{py:func}}`minigrad.{name}`." if same else _body(value)
            drop = not isinstance(found, staticmethod | classmethod)
            yield _directive("method", name + _signature(value, drop), told, colons)


def _room(name: str) -> Any:
    if name == "minigrad.Tensor":
        return import_module("minigrad").Tensor
    return import_module(name)


def _doc(value: Any) -> str:
    return inspect.getdoc(value) or ""


def _body(value: Any) -> str:
    return docstrings.markdown(_doc(value))


def _title(file: str) -> str:
    """Name a file by what it says of itself: the first sentence of its docstring."""
    told = docstrings.first_line(_doc(import_module(file))).replace("\n", " ")
    sentence = re.split(r"(?<=\w)[.:;](?:\s|$)", told)[0]
    return sentence or file


def _directive(kind: str, signature: str, body: str, colons: int) -> str:
    fence = ":" * colons
    return f"{fence}{{py:{kind}}} {signature}\n{body}\n{fence}"


def _signature(value: Any, bound: bool = False) -> str:
    """Write how something is called, without types: the descriptions tell what is wanted."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(*args, **kwargs)"
    kept = list(found.parameters.values())[bound:]
    bare = [each.replace(annotation=each.empty, default=_default(each)) for each in kept]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


class _Shown:
    """A default that is written as it reads best."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _default(parameter: inspect.Parameter) -> Any:
    default = parameter.default
    if default is parameter.empty or not repr(default).startswith("<"):
        return default
    return _Shown(getattr(default, "__name__", "..."))
