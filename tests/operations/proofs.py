"""Which operations of the book are proved on symbols, in which calls, and why others are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad.core.operation import registry
from minigrad.signatures.lazy_loading import load_all
from minigrad.symbolic import symbols

from .running import LETTERS, OPERATIONS, evaluate, tensors_of
from .table import Operation

load_all()
# Not the operations that other tests make.
BOOK = {name: o for name, o in registry.items() if o.__module__.startswith("minigrad.")}
# By operation of the book its rows; each is proved for the first of its calls.
CASES: dict[str, list[Operation]] = {}
RESERVED: dict[str, str] = {}  # operations that are not proved, and why
for _row in OPERATIONS.values():
    if _row.name in BOOK and not (isinstance(_row.proof, str) and _row.proof):
        CASES.setdefault(_row.name, []).append(_row)
for _row in OPERATIONS.values():
    if _row.name in BOOK and _row.name not in CASES:
        RESERVED.setdefault(_row.name, str(_row.proof))


def function_of(operation: Operation) -> Callable[..., Any]:
    """Give the first call of an operation as a function of its inputs."""

    def function(*inputs: Any) -> Any:
        return tensors_of(evaluate(operation, operation.calls[0], torch, inputs), torch)[0]

    return function


def made(operation: Operation) -> list[Any]:
    """Make its inputs of symbols."""
    assumed = {"positive": True} if operation.positive else {}
    return [
        symbols(letter, shape, requires_grad=True, **assumed)
        for letter, shape in zip(LETTERS, operation.symbols, strict=False)
    ]
