"""A case, or several, for every operation in the book of derivatives: inputs, settings, regions.

They are gathered from the `book_*.py` beside this.
"""

import pkgutil
from functools import partial
from importlib import import_module
from pathlib import Path

import minigrad.nn.functional
import minigrad.ops
from minigrad.core.operation import registry
from minigrad.symbolic import symbols

for _room in pkgutil.walk_packages(minigrad.ops.__path__, "minigrad.ops."):
    import_module(_room.name)  # many are loaded late

BOOK = {
    name: operation
    for name, operation in registry.items()
    if operation.__module__.startswith("minigrad.")  # not those that other tests make
}

CASES = {}
RESERVED = {}  # operations that are not proved, and why
ATTEMPTS = {}  # what a proof of them would begin with
for _path in sorted(Path(__file__).parent.glob("book_*.py")):
    _file = import_module(f".{_path.stem}", __package__)
    RESERVED |= getattr(_file, "RESERVED", {})
    ATTEMPTS |= getattr(_file, "ATTEMPTS", {})
    for _name, _cases in _file.CASES.items():
        assert _name not in CASES, f"{_path.stem} has cases for {_name}, which has some elsewhere"
        CASES[_name] = _cases


def in_shapes(inputs, *shapes):
    """Give inputs in other shapes, with the names and assumptions that they had."""
    return [
        (name, *shape, *(each for each in old if isinstance(each, dict)))
        for (name, *old), shape in zip(inputs, shapes, strict=True)
    ]


def in_more_shapes(name, inputs, settings, *_):
    """Give cases in other shapes of what is computed entry by entry, and of what broadcasts."""
    shapes = [tuple(each for each in old if not isinstance(each, dict)) for _, *old in inputs]
    if shapes == [(2,)] and settings == ():
        return [(in_shapes(inputs, ()), ()), (in_shapes(inputs, (2, 1)), ())]
    if shapes == [(2,), ()] and not callable(settings) and name not in ("filled_with", "div_trunc"):
        return [(in_shapes(inputs, (2, 1), (2,)), settings)]
    return []


def made(inputs):
    """Make the tensors of a case from their names, shapes and assumptions."""
    tensors = []
    for name, *shape in inputs:
        assumptions = shape.pop() if shape and isinstance(shape[-1], dict) else {}
        tensors.append(symbols(name, tuple(shape), requires_grad=True, **assumptions))
    return tensors


def called(name, settings):
    """Make a function of the differentiable inputs, and of the settings that are left to prove."""
    operation = BOOK[name]
    call = settings[0] if isinstance(settings, tuple) and settings else settings
    return partial(call, operation) if callable(call) else operation


def left(settings):
    """Give the settings that `prove` has to pass: numbers, and symbols that stand for any."""
    if callable(settings):
        return ()
    return settings[1:] if settings and callable(settings[0]) else settings


for _name, _cases in CASES.items():
    _shapes = [inputs for inputs, *_ in _cases]
    _more = in_more_shapes(_name, *_cases[0])
    CASES[_name] = [*_cases, *(each for each in _more if each[0] not in _shapes)]
