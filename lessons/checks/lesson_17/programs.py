"""Write small random programs, run them on a learner's classes and on minigrad, and shrink them.

A program is a list of lines of Python: leaves, operations, hooks, then backward passes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import groupby
from math import prod
from random import Random
from typing import Any

import numpy as np

import minigrad as torch

Lines = tuple[str, ...]

SEEDS = range(1000, 1150)
_MOST_ROUNDS = 40  # in which a failing program is made smaller
_RELATIVE, _ABSOLUTE = 1e-6, 1e-8
_LARGEST, _KINK = 50.0, 1e-3  # numbers stay below the one, and off the kink of relu by the other
_LEAF = re.compile(r"(\w) = (Value|Tensor)\((.*?)(, requires_grad=True)?\)")
_SUMS = ("", "0", "1", "-1", "0, keepdims=True", "1, keepdims=True")
_HOOKS = ("print", "print", "lambda g: 3 * g", "lambda g: 0 * g")


def array_of(value: Any) -> Any:
    """Copy the array in a gradient, whatever it is wrapped in; None where there is none."""
    if value is None:
        return None
    if isinstance(value, torch.Tensor):
        return value.detach().numpy().copy()
    inner = getattr(value, "data", None)
    return np.array(inner if isinstance(inner, np.ndarray) else value)


# ------------------------------------------------------------------ running


def on_minigrad(data: Any, requires_grad: bool = False) -> Any:
    """Make a tensor of minigrad, of the type that NumPy computes in."""
    return torch.tensor(data, dtype=torch.float64, requires_grad=requires_grad)


def played(lines: Sequence[str], make: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Run a program, and give what can be seen of it, bit by bit, each with its name.

    Args:
        lines: of the program.
        make: the class of the tensors, or `on_minigrad`.
    """
    calls: list[tuple[str, Any]] = []

    def register(name: str, hook: Callable[[Any], Any]) -> None:
        def noting(gradient: Any) -> Any:
            calls.append((name, array_of(gradient)))
            return hook(gradient)

        space[name].register_hook(noting)

    space: dict[str, Any] = {"Tensor": make, "Value": make, "print": lambda gradient: None}
    space["register"] = register
    leaves = [found[1] for found in map(_LEAF.match, lines) if found]
    if make is on_minigrad:  # numbers of class Value need a gradient all
        space["Value"] = lambda data: on_minigrad(data, True)
    for line in lines:
        text = re.sub(r"^(\w)\.register_hook\((.*)\)$", r"register('\1', \2)", line)
        if make is on_minigrad:
            text = text.replace(".backward()", ".backward(retain_graph=True)")
            if " @ " in line and any(space[name].dim() != 2 for name in line[4::4]):
                raise LookupError("a product of matrices needs matrices")
        exec(compile(text, "<minigrad program>", "exec"), space)
        if line.endswith(".backward()"):
            if any(".register_hook(" in each for each in lines):
                called = _sorted(calls, leaves)
                yield f"who was called, after {line}", [name for name, _ in called]
                for name, gradient in called:
                    yield f"what the hook on {name} was given, after {line}", gradient
                calls.clear()
            for name in leaves:
                gradient = array_of(space[name].grad)
                bare = gradient is None and "Value" in lines[0]
                yield f"{name}.grad, after {line}", np.array(0.0) if bare else gradient
        elif " = " in line and not _LEAF.match(line):
            yield f"the value of {line[0]}", array_of(space[line[0]].data)


def _sorted(calls: Sequence[tuple[str, Any]], leaves: Sequence[str]) -> list[tuple[str, Any]]:
    """Sort the calls on leaves that follow each other: several may be ready at once."""
    found: list[tuple[str, Any]] = []
    for _, run in groupby(calls, lambda call: call[0] in leaves):
        found += sorted(run, key=lambda call: call[0] if call[0] in leaves else "")
    return found


@cache
def _on_minigrad(lines: Lines) -> tuple[tuple[str, Any], ...] | None:
    """Run a program on minigrad; None where it can't be run."""
    try:
        return tuple(played(lines, on_minigrad))
    except (RuntimeError, NameError, LookupError):
        return None


def difference(lines: Sequence[str], make: Callable[..., Any]) -> Lines:
    """Run a program on a learner's class and on minigrad.

    Args:
        lines: of the program.
        make: the class.

    Returns:
        The first thing that differs, as comments to set below the program; none where all agrees.
    """
    yours = played(lines, make)
    for what, right in _on_minigrad(tuple(lines)) or ():
        try:
            _, found = next(yours)
        except Exception as error:
            text = " ".join(str(error).split())
            return (f"# {type(error).__name__}: {text}"[:100],)
        if not _alike(found, right):
            return (f"# {what}", f"#   yours:    {_short(found)}", f"#   minigrad: {_short(right)}")
    return ()


def _alike(found: Any, right: Any) -> bool:
    if found is None or right is None or isinstance(right, list):
        return found is right or (isinstance(right, list) and bool(found == right))
    try:
        close = np.allclose(np.asarray(found, float), right, _RELATIVE, _ABSOLUTE)
    except (TypeError, ValueError):
        return False
    return bool(np.shape(found) == np.shape(right) and close)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        shape = f"   (shape {value.shape})" if value.size > 1 else ""
        return f"{value.round(4).tolist()}{shape}"[:85]
    return str(value)[:85] if value != [] else "nobody"


# ------------------------------------------------------------------ writing


@cache
def grown(seed: int, kind: str) -> Lines:
    """Write a random program.

    Args:
        seed: of its random numbers.
        kind: "scalars" (plus and times), "graphs", or "hooks".
    """
    rng = Random(seed)
    space: dict[str, Any] = {"Tensor": on_minigrad, "Value": lambda data: on_minigrad(data, True)}
    rows, columns = rng.choice([(2, 3), (3, 2), (2, 2), (1, 3), (3, 1)])
    shapes = [(rows, columns), (columns,), (rows, 1), (1, columns), (columns, rows), ()]
    lines: list[str] = []
    for name in "xwv"[: rng.randint(1, 3)]:
        shape = () if kind == "scalars" else rng.choice(shapes)
        entries = [rng.choice((-1, 1)) * rng.randint(3, 15) / 10 for _ in range(prod(shape))]
        data = np.array(entries).reshape(shape).tolist()
        asks = ", requires_grad=True" if name == "x" or rng.random() < 0.85 else ""
        made = f"Value({data})" if kind == "scalars" else f"Tensor({data}{asks})"
        lines.append(f"{name} = {made}")
        exec(lines[-1], space)
    known = [line[0] for line in lines]
    for name in "abcdefg"[: rng.randint(2, 7)]:
        written = next(filter(None, (_operation(rng, known, kind, space) for _ in range(20))), None)
        if written:
            lines.append(f"{name} = {written}")
            exec(lines[-1], space)
            known.append(name)
    alive = [name for name in known if space[name].requires_grad]
    if kind == "hooks":
        hooked = [rng.choice(alive) for _ in range(rng.randint(1, 4))]
        lines += [f"{name}.register_hook({rng.choice(_HOOKS)})" for name in hooked]
    roots = [alive[-1]]
    if kind != "scalars" and rng.random() < 0.5:
        roots.append(rng.choice(alive))
    for name in roots:
        lines.append(f"{name}{'' if space[name].numel() == 1 else '.sum()'}.backward()")
    return tuple(lines)


def _operation(rng: Random, known: Sequence[str], kind: str, space: dict[str, Any]) -> str | None:
    """Write an operation on what is known, rather the latest; None where it can't be computed."""
    x, y = (known[-1 - min(int(rng.expovariate(0.5)), len(known) - 1)] for _ in range(2))
    does = rng.choice("+*" if kind == "scalars" else [*"++**-@", "power", "tanh", "relu", "sum"])
    if does in "+*-" and rng.random() < 0.2:
        number = rng.choice((2.0, -1.0, 0.5))
        written = f"{number} - {x}" if does == "-" else f"{x} {does} {number}"
    elif does in "+*-@":
        written = f"{x} {does} {y}"
    elif does == "power":
        written = f"{x} ** {rng.choice((2, 3))}"
    else:
        written = f"{x}.{does}({rng.choice(_SUMS) if does == 'sum' else ''})"
    if does == "@" and {space[x].dim(), space[y].dim()} != {2}:
        return None
    if does == "relu" and np.abs(array_of(space[x])).min() < _KINK:
        return None
    try:
        made = array_of(eval(written, space))
    except (RuntimeError, IndexError):  # shapes or axes that do not fit
        return None
    return written if np.abs(made).max() < _LARGEST else None


# ------------------------------------------------------------------ shrinking


def first_difference(
    make: Callable[..., Any], kind: str, seeds: Sequence[int] = SEEDS
) -> tuple[Lines, Lines] | None:
    """Run random programs until one differs, and give the smallest that still does.

    Args:
        make: the learner's class.
        kind: of the programs.
        seeds: one for each.

    Returns:
        The lines of the program, and those that say what differs.
    """
    for seed in seeds:
        lines = grown(seed, kind)
        if difference(lines, make):
            lines = smallest(lines, make)
            return lines, difference(lines, make)
    return None


def smallest(lines: Lines, make: Callable[..., Any]) -> Lines:
    """Make a failing program smaller as long as it still fails.

    Args:
        lines: of one that fails.
        make: the class on which it does.
    """
    for _ in range(_MOST_ROUNDS):
        smaller = (each for each in _smaller(lines) if each != lines and difference(each, make))
        found = next(smaller, None)
        if found is None:
            break
        lines = found
    return lines


def _smaller(lines: Lines) -> Iterator[Lines]:
    for at in reversed(range(len(lines))):
        rest = (*lines[:at], *lines[at + 1 :])
        yield rest
        if " = " in lines[at] and not _LEAF.match(lines[at]):
            # What goes in takes the place of what comes out.
            for name in sorted(set(re.findall(r"\b[a-z]\b", lines[at][4:]))):
                yield tuple(re.sub(rf"\b{lines[at][0]}\b", name, line) for line in rest)
    yield tuple(line.replace(".sum().backward()", ".backward()") for line in lines)
    for cut in (lambda a, _: a[..., :-1], lambda a, _: a[..., :-1, :]):  # so shapes go on fitting
        yield _with_data(lines, range(len(lines)), cut)
    for at in range(len(lines)):
        for change in (lambda a, _: a[0], lambda a, _: a[-1], _plain):
            yield _with_data(lines, [at], change)


def _plain(array: Any, at: int) -> Any:
    return np.arange(array.size).reshape(array.shape) + 2.0 + at


def _with_data(lines: Lines, where: Iterable[int], change: Callable[[Any, int], Any]) -> Lines:
    """Change the entries of leaves, where that can be done."""
    changed = list(lines)
    for at in where:
        leaf = _LEAF.match(lines[at])
        try:
            data = change(np.array(ast.literal_eval(leaf[3])), at) if leaf else np.array([])
        except IndexError:  # it has not so many axes
            continue
        if leaf and data.size:
            changed[at] = f"{leaf[1]} = {leaf[2]}({data.tolist()}{leaf[4] or ''})"
    return tuple(changed)
