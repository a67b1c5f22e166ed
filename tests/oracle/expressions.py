"""Make scenarios of lines of code: each is evaluated with both libraries, and what it gives, or the
error that it ends with, is written down under the line itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from .log import Log

# What a line may use, made again for each: tensors of every kind, and numbers that are no numbers.
GIVEN = """
x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
r = torch.tensor([1.5, -2.5], requires_grad=True)
i = torch.tensor([3, 1, 2])
b = torch.tensor([True, False])
c = torch.tensor([1 + 2j, 3 - 1j])
nan, inf = float("nan"), float("inf")
"""


def within(mode: Any, call: Any) -> Any:
    """Call a function in a mode, such as `no_grad()`."""
    with mode:
        return call()


def evaluate(torch: ModuleType, line: str) -> Any:
    """Run the statements of a line, which " ;; " stands between, and give the last one's value."""
    names: dict[str, Any] = {"torch": torch, "np": np, "within": within}
    exec(GIVEN, names)
    *statements, last = line.split(" ;; ")
    for statement in statements:
        exec(statement, names)
    return eval(last, names)


def shown(torch: ModuleType, value: Any) -> Any:
    """Give a value in a form that both libraries can be compared by."""
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}: {value!r}" if value.is_complex() else value
    if type(value) in (list, tuple):
        return type(value)(shown(torch, each) for each in value)
    return f"{type(value).__name__}: {value!r}"


def add_expressions(family: Any, groups: Mapping[str, str]) -> None:
    """Add a scenario for each group of lines.

    Args:
        family: The family.
        groups: By what the lines are about, the lines.
    """
    for about, lines in groups.items():

        def scenario(torch: ModuleType, log: Log, lines: str = lines) -> None:
            for line in filter(None, map(str.strip, lines.splitlines())):
                try:
                    value = evaluate(torch, line)
                except Exception as error:
                    log.error(line, error)
                    continue
                log(line, shown(torch, value))
                if isinstance(value, torch.Tensor):
                    log("printed", repr(value), value.stride() if value.numel() else None)

        scenario.__doc__ = f"{about}."
        family.add(about, scenario)
