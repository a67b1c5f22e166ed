"""Write the reference of the package from its docstrings: a page for each public module."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from _tools.book import examples
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


# The pages that a book of some lessons has, such as a draft or the one that tests look at.
FEW = ("minigrad.nn.init", "minigrad.optim", "minigrad.classroom", "minigrad.symbolic")


def stage(folder: Path, rooms: Sequence[str] = ROOMS) -> None:
    """Write the pages and the one that lists them; autodoc fills them in.

    Args:
        folder: where to.
        rooms: what has a page.
    """
    folder.mkdir(parents=True)
    rows, names = [], []
    known: dict[int, str] = {}
    for room in rooms:
        stem = room.removeprefix("minigrad.").lower()
        value = _room(room)
        text = tensor_page(room) if isinstance(value, type) else module_page(room, value, known)
        (folder / f"{stem}.md").write_text(text, encoding="utf-8", newline="\n")
        rows.append(f"| [{room}]({stem}.md) | {_sentence(value)} |")
        names.append(stem)
    table = "\n".join(["| module | what it offers |", "|---|---|", *rows])
    toctree = "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```"
    text = f"{HEAD}\n\n{table}\n\n{toctree}\n"
    (folder / "index.md").write_text(text, encoding="utf-8", newline="\n")


def module_page(room: str, module: ModuleType, known: dict[int, str]) -> str:
    """Write the page of a module: what it offers, by the files in which that is defined.

    Args:
        room: its name.
        module: itself.
        known: what has been described under which name; what is new is added.
    """
    parts = [f"# {room}", _rst(f".. automodule:: {room}")]
    files: dict[str, list[str]] = {}
    plain: list[str] = []
    for name in sorted(public_names(import_module(HOMES.get(room, room)))):
        value = getattr(module, name, None)
        if name == "Tensor" or f"{room}.{name}" in ROOMS:
            continue
        if callable(value):
            file = getattr(value, "__module__", None) or room
            files.setdefault(file if file.startswith("minigrad") else room, []).append(name)
        else:
            plain.append(name)
    for file in sorted(files):
        names = sorted(files[file], key=lambda name: (_own(module, name) != name, name))
        if len(files) > 1:
            stem = file.rpartition(".")[2].strip("_").replace("_", " ").capitalize()
            title = "In the module itself" if file == room else stem
            parts.append(f"## {title}\n\n{_sentence(import_module(file))}")
        links = (f'<a href="#{room}.{name}"><code>{name}</code></a>' for name in sorted(names))
        parts.append(f'<p class="names">{" ".join(links)}</p>')
        level = 3 if len(files) > 1 else 2
        told = (described(f"{room}.{name}", getattr(module, name), known, level) for name in names)
        parts.append(_rst("\n".join(told)))
    if plain:
        values = ", ".join(f"`{name}`" for name in plain)
        parts.append(f"## Values\n\n{values}")
    return "\n\n".join(parts) + "\n"


def tensor_page(room: str) -> str:
    """Write the page of a class that has many methods.

    Args:
        room: its name.
    """
    return f"# {room}\n\n" + _rst(f".. autoclass:: {room}\n   :members:\n   :inherited-members:")


def described(full: str, value: Any, known: dict[int, str], level: int = 3) -> str:
    """Describe a function or a class once; where it has another name, refer to the first.

    Args:
        full: the name by which it is offered.
        value: itself.
        known: what has been described under which name; this is added.
        level: of the heading.
    """
    name = full.rpartition(".")[2]
    head = f".. rubric:: {name.replace('_', chr(92) + '_')}\n   :heading-level: {level}\n"
    first = known.setdefault(id(value), full)
    if first != full:
        options = f"   :module: {full.removesuffix(f'.{name}')}\n"
        same = f".. py:function:: {name}\n{options}\n   The same as :py:obj:`{first}`.\n"
        return f"{head}\n{same}"
    kind = "function"
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, BaseException) else "class"
    members = "   :members:\n" if kind != "function" else ""
    shown = ""
    if ">>>" not in (inspect.getdoc(value) or "") and (made := examples.example(full, value)):
        shown = "\n   .. rubric:: Example\n\n" + textwrap.indent(made, "   ") + "\n"
    return f"{head}\n.. auto{kind}:: {full}\n{members}{shown}"


def _room(name: str) -> Any:
    if name == "minigrad.Tensor":
        return import_module("minigrad").Tensor
    return import_module(name)


def _own(module: ModuleType, name: str) -> str:
    return getattr(getattr(module, name), "__name__", name)


def _rst(text: str) -> str:
    return f"```{{eval-rst}}\n{text}\n```"


def _sentence(value: Any) -> str:
    """Give the first paragraph of a docstring as Markdown."""
    told = (inspect.getdoc(value) or "").partition("\n\n")[0].replace("\n", " ")
    return re.sub(r":math:`([^`]+)`", r"$\1$", told)
