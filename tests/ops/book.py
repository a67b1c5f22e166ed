"""Cases for every operation in the book, gathered from the `book_*.py` beside this."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

import minigrad.nn.functional
import minigrad.ops

from .cases import Case as Case

for _room in pkgutil.walk_packages(minigrad.ops.__path__, "minigrad.ops."):
    import_module(_room.name)  # many are loaded late

# Not the operations that other tests make.
BOOK = {name: o for name, o in book.items() if o.__module__.startswith("minigrad.")}

CASES: dict[str, list[Case]] = {}
for _path in sorted(Path(__file__).parent.glob("book_*.py")):
    for _name, _cases in import_module(f".{_path.stem}", __package__).CASES.items():
        assert _name not in CASES, f"{_path.stem} has cases for {_name}, which has some elsewhere"
        CASES[_name] = _cases
