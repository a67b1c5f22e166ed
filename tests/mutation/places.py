"""Where bugs are planted: the heart, what plugs into it, modules, and operations."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import minigrad

from .mutants import Mutant, mutants

TOP = Path(minigrad.__file__).resolve().parents[1]
ROOMS = {
    "heart": ("minigrad/core/*.py",),
    "autograd": ("minigrad/autograd/*.py",),
    "rules": ("minigrad/ops/*.py", "minigrad/nn/functional/*.py"),
    "module": ("minigrad/nn/modules/module.py",),
}


def load() -> None:
    """Import every file that is looked at: what waits for its first use is there from now on."""
    for patterns in ROOMS.values():
        for pattern in patterns:
            for path in TOP.glob(pattern):
                module = path.parent if path.name == "__init__.py" else path.with_suffix("")
                importlib.import_module(".".join(module.relative_to(TOP).parts))


def file_of(code: CodeType) -> str:
    """Give the file of a code, from the top of the repository."""
    return code.co_filename.removeprefix(f"{TOP}/")


def all_mutants() -> dict[str, list[Mutant]]:
    """Give the mutants of every room."""
    found: dict[str, list[Mutant]] = {}
    for room, patterns in ROOMS.items():
        found[room] = []
        for path in sorted(each for pattern in patterns for each in TOP.glob(pattern)):
            file = path.relative_to(TOP).as_posix()
            found[room] += mutants(file, path.read_text(encoding="utf-8"))
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
