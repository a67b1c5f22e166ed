"""Where bugs are planted: the heart, what plugs into it, modules, and every backward rule."""

from __future__ import annotations

import gc
import importlib
import inspect
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import minigrad
from minigrad.core.node import Node

from .mutants import Mutant, mutants

TOP = Path(minigrad.__file__).resolve().parents[1]
ROOMS = {
    "heart": ("minigrad/core/*.py",),
    "autograd": ("minigrad/autograd/*.py",),
    "rules": ("minigrad/ops/*.py", "minigrad/nn/functional/*.py"),
    "module": ("minigrad/nn/modules/module.py",),
}
BOOK = ("minigrad/ops/", "minigrad/nn/functional/")
BOOK_MODULES = ("minigrad.ops.", "minigrad.nn.functional.")


def load() -> None:
    """Import every file that is looked at: what waits for its first use is there from now on."""
    for patterns in ROOMS.values():
        for pattern in patterns:
            for path in TOP.glob(pattern):
                importlib.import_module(".".join(path.relative_to(TOP).with_suffix("").parts))


def rules() -> set[tuple[str, int]]:
    """Give file and first line of every backward rule, and of the functions that rules call.

    What counts is called by name and stands in the book; an operation is no part of a rule.
    """
    waiting: list[Any] = []
    for operation in book.values():
        waiting += operation.rules.values()
    kinds: list[type] = [Node]
    for kind in kinds:
        kinds += kind.__subclasses__()
        waiting += vars(kind).values() if kind.__module__.startswith(BOOK_MODULES) else ()
    found: set[tuple[str, int]] = set()
    seen: set[int] = set()
    while waiting:
        function = waiting.pop()
        if not isinstance(function, FunctionType) or id(function) in seen:
            continue
        seen.add(id(function))
        code, held = function.__code__, function.__closure__ or ()
        place = file_of(code), code.co_firstlineno
        waiting += [getattr(function, "__wrapped__", None), *map(content, held)]
        if place[0].startswith(BOOK):
            found.add(place)
            names = names_in(code)
            known = [function.__globals__.get(name) for name in names]
            rooms = [each for each in known if inspect.ismodule(each)]
            known += [vars(room)[name] for room in rooms for name in names if name in vars(room)]
            waiting += [each for each in known if has_code_in(each, BOOK)]
    return found


def content(cell: Any) -> Any:
    """Give what a closure's cell holds, if it holds something by now."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


def has_code_in(called: Any, rooms: tuple[str, ...]) -> bool:
    """Tell whether something is a function written in certain rooms; an operation is in none."""
    return isinstance(called, FunctionType) and file_of(called.__code__).startswith(rooms)


def names_in(code: CodeType) -> set[str]:
    """Give the names that a function, or one inside of it, asks of its file."""
    inner = [names_in(each) for each in code.co_consts if isinstance(each, CodeType)]
    return {*code.co_names}.union(*inner)


def file_of(code: CodeType) -> str:
    """Give the file of a code, from the top of the repository."""
    return code.co_filename.removeprefix(f"{TOP}/")


def all_mutants() -> dict[str, list[Mutant]]:
    """Give the mutants of every room."""
    of_rules = rules()
    found: dict[str, list[Mutant]] = {}
    for room, patterns in ROOMS.items():
        found[room] = []
        for path in sorted(each for pattern in patterns for each in TOP.glob(pattern)):
            file = path.relative_to(TOP).as_posix()

            def wanted(node: Any, file: str = file, room: str = room) -> bool:
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
                return room != "rules" or (file, first) in of_rules

            found[room] += mutants(file, path.read_text(encoding="utf-8"), wanted)
    return found


# ------------------------------------------------------------------ into a program that runs


def identity(code: CodeType) -> tuple[Any, ...]:
    """Tell codes apart, two on one line too: the table of lines knows the columns."""
    return file_of(code), code.co_qualname, code.co_firstlineno, code.co_linetable


def living_functions() -> dict[tuple[Any, ...], list[FunctionType]]:
    """Give all functions of the package that are there, by their code."""
    gc.unfreeze()  # else the collector does not know them
    found: dict[tuple[Any, ...], list[FunctionType]] = {}
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename.startswith(f"{TOP}/"):
            found.setdefault(identity(each.__code__), []).append(each)
    return found


def put_in(
    right: CodeType, wrong: CodeType, living: dict[tuple[Any, ...], list[FunctionType]]
) -> int:
    """Give every living function of one file its code out of another version of that file.

    Returns:
        How many functions got another code.
    """
    count = 0
    pairs = [(right, wrong)]
    for one, other in pairs:
        if one is not right and one != other:
            for function in living.get(identity(one), ()):
                function.__code__ = other
                count += 1
        inner = [each for each in one.co_consts if isinstance(each, CodeType)]
        others = [each for each in other.co_consts if isinstance(each, CodeType)]
        for each in inner:
            for place, candidate in enumerate(others):
                if same_place(each, candidate):
                    pairs.append((each, others.pop(place)))
                    break
    return count


def same_place(one: CodeType, other: CodeType) -> bool:
    """Tell whether two codes are of the same function in two versions of a file."""
    return (one.co_qualname, one.co_firstlineno) == (other.co_qualname, other.co_firstlineno)
