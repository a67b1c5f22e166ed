"""A case, or several, for every operation in the book of derivatives: inputs, settings, regions.

They are gathered from the `book_*.py` beside this.
"""

import pkgutil
from importlib import import_module
from pathlib import Path

import minigrad.ops
from minigrad.ops import tape
from minigrad.symbolic import symbols

for _room in pkgutil.walk_packages(minigrad.ops.__path__, "minigrad.ops."):
    import_module(_room.name)  # many are loaded late

BOOK = {
    name: operation
    for name, operation in tape.book.items()
    if operation.__module__.startswith("minigrad.")  # not those that other tests make
}

CASES = {}
RESERVED = {}  # operations that are not proved, or with a reservation, and why
for _path in sorted(Path(__file__).parent.glob("book_*.py")):
    _file = import_module(f".{_path.stem}", __package__)
    RESERVED |= getattr(_file, "RESERVED", {})
    for _name, _cases in _file.CASES.items():
        assert _name not in CASES, f"{_path.stem} has cases for {_name}, which has some elsewhere"
        CASES[_name] = _cases


def made(inputs):
    """Make the tensors of a case from their names, shapes and assumptions."""
    tensors = []
    for name, *shape in inputs:
        assumptions = shape.pop() if shape and isinstance(shape[-1], dict) else {}
        tensors.append(symbols(name, tuple(shape), requires_grad=True, **assumptions))
    return tensors


def called(name, settings):
    """Make a function of the differentiable inputs alone."""
    operation = BOOK[name]
    if callable(settings):
        return lambda *tensors: settings(operation, *tensors)
    return lambda *tensors: operation(*tensors, *settings)
