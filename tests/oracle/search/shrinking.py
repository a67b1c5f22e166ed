"""Make a failing program short, and write it as a scenario."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from .running import Program, run_program

INDENT = "    "


def shrink(program: Program, fails: Callable[[Program], bool], tries: int = 1500) -> Program:
    """Give a short program that still fails.

    Large parts are dropped first, then smaller ones, then single statements; then each statement
    is replaced by simpler ones. This repeats until nothing helps any more.

    Args:
        program: A program that fails.
        fails: Tells whether one still fails. It must not depend on earlier calls.
        tries: How many programs are tried at most.
    """
    short, left, seen = list(program), tries, set[tuple[str, ...]]()

    def still(candidate: Program) -> bool:
        nonlocal left
        if left <= 0 or tuple(candidate) in seen:
            return False
        seen.add(tuple(candidate))
        left -= 1
        return fails(candidate)

    before: Program = []
    while short != before and left > 0:
        before, size = list(short), len(short) // 2
        while size:
            end = len(short)
            while end > 0:  # from the back: later statements are needed by fewer others
                candidate = short[: max(end - size, 0)] + short[end:]
                if still(candidate):
                    short = candidate
                end -= size
            size //= 2
        for place in range(len(short)):
            changed = True
            while changed:
                changed = False
                for simpler in simpler_statements(short[place]):
                    candidate = [*short[:place], simpler, *short[place + 1 :]]
                    if still(candidate):
                        short, changed = candidate, True
                        break
    return short


def simpler_statements(text: str) -> Iterator[str]:
    """Give what a statement may be replaced by, the simplest first."""
    tree = ast.parse(text)
    for place, node in enumerate(ast.walk(tree)):
        for number in range(len(list(_changes(node)))):
            again = copy.deepcopy(tree)
            list(_changes(list(ast.walk(again))[place]))[number]()
            simpler = ast.unparse(ast.fix_missing_locations(again))
            if len(simpler) < len(text):
                yield simpler


def _changes(node: Any) -> Iterator[Callable[[], None]]:
    """Give ways to make one node of a syntax tree simpler, each as a function that does it."""
    for field, value in ast.iter_fields(node):
        if isinstance(value, list) and field in ("body", "elts", "keywords", "args"):
            least = 0 if field in ("keywords", "args") else 1
            for place in range(len(value)):
                is_label = isinstance(value[place], ast.Constant)
                if len(value) > least and not (isinstance(node, ast.arguments) or is_label):
                    yield lambda value=value, place=place: value.pop(place)
                inner = _inside(value[place])
                if inner:
                    yield lambda v=value, p=place, inner=inner: v.__setitem__(
                        slice(p, p + 1), inner
                    )
        elif isinstance(value, ast.expr) and (inner := _inside(value)):
            yield lambda field=field, inner=inner: setattr(node, field, inner[0])


def _inside(node: Any) -> list[Any]:
    """Give what a node is made around of, if that can take its place."""
    match node:
        case ast.With(body=body):
            return body
        case ast.Call(func=ast.Attribute(value=ast.Call() | ast.BinOp() as value)):
            return [value]
        case ast.Call(func=ast.Attribute(value=value), args=[]) if not isinstance(value, ast.Name):
            return [value]
        case ast.Call(func=ast.Name(), args=[only]):
            return [only]
        case ast.BinOp(left=left) | ast.IfExp(body=left):
            return [left]
        case ast.Subscript(value=ast.Name() as value):
            return [value]
    return []


def as_scenario(program: Program, torch: ModuleType, name: str) -> str:
    """Write a program as the source of a scenario; what fails on PyTorch is logged as an error."""
    failing = {event[0] for event in run_program(program, torch) if _is_error(event)}
    lines = ["@family", f"def {name}(torch, log):", f'{INDENT}"""Say here what it shows."""']
    if any(re.search(r"\bF\.", text) for text in program):
        lines.append(f"{INDENT}F = torch.nn.functional")
    for text in program:
        inner = text.split("\n")
        if text in failing:
            inner = ["try:", *(INDENT + line for line in inner), "except Exception as error:"]
            inner.append(f"{INDENT}log.error({text!r}, error)")
        lines += [INDENT + line for line in inner]
    return "\n".join([*lines, f"{INDENT}torch.set_grad_enabled(True)"])


def _is_error(event: list[Any]) -> bool:
    return len(event) == 2 and isinstance(event[1], dict) and "error" in event[1]
