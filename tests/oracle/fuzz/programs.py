"""Run a random tensor program on torch or on minigrad and write down all that can be seen of it.

A program is a list of statements, each a line of Python and the names of the variables to look at
afterwards. So it can be printed, shortened and kept as it is.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from ..log import Log, entries, run
from ..scenarios.tools import graph
from . import excluded
from .program_functions import functions

GRAPH_LENGTH = 1500


class Statement(NamedTuple):
    """One line of a program.

    Attributes:
        text: A line of Python. `torch` is the module in use; see `namespace` for the rest.
        looks: The names of the variables to write down after it, separated by spaces. To look at
            a view whose memory was changed gives it its new place in the graph, so that looking
            less often finds more.
    """

    text: str
    looks: str = ""


Program = list[Statement]


def execute(
    program: Sequence[Statement], torch: ModuleType, log: Log, shaken: bool = False
) -> None:
    """Run the statements one by one, going on after errors, and look at everything in the end."""
    names = namespace(torch, log, shaken)
    known = {*names}
    names["_given"] = set()
    for statement in program:
        before = len(log.events)
        try:
            exec(statement.text, names)
        except Exception as error:
            log.error(statement.text, error)
        else:
            log.events.insert(before, [statement.text])
            _note_given(statement.text, names, torch)
        for name in statement.looks.split():
            if name in names:
                look(log, name, names)
    torch.set_grad_enabled(True)
    mine = [name for name in names if name not in known and not name.startswith("_")]
    for name in mine:
        look(log, name, names)
    for name in mine:
        if isinstance(names[name], torch.Tensor):
            attempt(log, f"graph {name}", lambda tensor=names[name]: graph(tensor)[:GRAPH_LENGTH])
            attempt(log, f"grad {name}", lambda tensor=names[name]: tensor.grad)


def run_program(program: Sequence[Statement], torch: ModuleType, shaken: bool = False) -> list[Any]:
    """Give the log of one program; `shaken`: with numbers that are off by some rounding errors."""
    return run(lambda module, log: execute(program, module, log, shaken), torch)


def attempt(log: Log, label: str, action: Callable[[], Any]) -> None:
    """Write down what an action gives, or its error."""
    try:
        log(label, action())
    except Exception as error:
        log.error(label, error)


def look(log: Log, name: str, names: dict[str, Any]) -> None:
    """Write down a variable: a tensor with its place in the graph, its version and its base."""
    value = names[name]
    if not isinstance(value, log.torch.Tensor):
        if not hasattr(value, "remove"):  # a handle shows nothing
            attempt(log, name, lambda: value)
        return
    given = name in names["_given"]
    facts = [] if given else [f"version {value._version}"]
    if value._is_view() and not given and _name_of(value._base, names) != "?":
        facts.append(f"view of {_name_of(value._base, names)}")
    for other, tensor in names.items():
        if other == name:
            break
        if tensor is value:
            facts.append(f"is {other}")
            break
    try:
        if value.is_leaf:
            facts.append("leaf")
        if value.requires_grad:
            facts.append(f"output {value.output_nr}")
        if value.retains_grad:
            facts.append("retains grad")
        log(name, value, ", ".join(facts))
    except RuntimeError as error:
        log.error(name, error)
        log(name, {"float": entries(value)}, ", ".join(facts))


def _note_given(text: str, names: dict[str, Any], torch: ModuleType) -> None:
    """Note which variables are gradients or share memory with one (see `excluded`)."""
    given = names["_given"]
    targets = re.match(r"(?:with [^:]*: )?([\w, ]+?),? = ", text)
    if targets is None:
        return
    gradient = re.search(r"= (?:\w+\.grad$|torch\.autograd\.grad\()", text)
    shared = any(re.search(rf"=.*\b{name}\b", text) for name in given)
    for name in targets[1].split(", "):
        value = names.get(name)
        given.discard(name)
        if isinstance(value, torch.Tensor) and (
            gradient
            or (shared and (value._is_view() or "detach" in text))
            or any(value is names.get(other) for other in given)
        ):
            given.add(name)


def _name_of(tensor: Any, names: dict[str, Any]) -> str:
    return next((name for name, value in names.items() if value is tensor), "?")


def namespace(torch: ModuleType, log: Log, shaken: bool = False) -> dict[str, Any]:
    """Give the names that a program may use.

    `T(seed, *shape)` makes a tensor of numbers; `seen(name, action)` makes a hook that writes down
    what it is given and returns what the action returns; `seen_leaf` does so for hooks that get a
    leaf. `hook_on(x, hook)` is `x.register_hook(hook)` and `hook_after` the same for
    `register_post_accumulate_grad_hook`. `F` is `torch.nn.functional`. The rest are custom
    Functions.
    """

    def seen(name: str, action: Callable[..., Any] | None = None) -> Callable[..., Any]:
        def hook(*arguments: Any) -> Any:
            mode = "recording" if torch.is_grad_enabled() else "not recording"
            attempt(log, f"hook {name}, {mode}", lambda: arguments)
            return None if action is None else action(*arguments)

        return hook

    def seen_leaf(name: str, action: Callable[..., Any] | None = None) -> Callable[..., Any]:
        def hook(leaf: Any) -> Any:
            log(f"hook {name}", leaf, leaf.grad)
            return None if action is None else action(leaf)

        return hook

    def stop(*_: Any) -> None:
        raise ArithmeticError("stopped by a hook")

    def tensor(seed: int, *shape: int, dtype: str = "float32", grad: bool = False) -> Any:
        values = numbers(seed, shape, dtype)
        if shaken and dtype.startswith("float"):
            off = 2.0 ** (-21 if dtype == "float32" else -48)
            values = [value * (1 + off) for value in values]
        made = torch.tensor(values, dtype=getattr(torch, dtype)).reshape(shape)
        return made.clone().requires_grad_(grad) if grad else made.clone()

    return {
        "torch": torch,
        "F": torch.nn.functional,
        "hook_on": excluded.hook_on,
        "hook_after": excluded.hook_after,
        "T": tensor,
        "seen": seen,
        "seen_leaf": seen_leaf,
        "stop": stop,
        **functions(torch),
    }


def numbers(seed: int, shape: tuple[int, ...], dtype: str) -> list[Any]:
    """Make a flat list of small numbers; floats are multiples of 1/8 between -2 and 2.

    So few bits that sums and products of several are exact in float32, and equal ones are common.
    """
    count = 1
    for size in shape:
        count *= size
    state = 7919 * seed + 104729
    values: list[Any] = []
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2**31
        step = (state >> 12) % 33 - 16
        values.append({"int64": step % 5 - 1, "bool": step % 2 == 0}.get(dtype, step / 8))
    return values


def source(program: Sequence[Statement]) -> str:
    """Print a program."""
    return "\n".join(
        f"{text:60}# look at {looks}".rstrip() if looks else text for text, looks in program
    )


@contextlib.contextmanager
def recording_restored(torch: ModuleType) -> Iterator[None]:
    """Leave the grad mode as it was, whatever a program did to it."""
    before = torch.is_grad_enabled()
    try:
        yield
    finally:
        torch.set_grad_enabled(before)


def generator(seed: int) -> random.Random:
    """Give the random numbers of one program."""
    return random.Random(f"tensor program {seed}")
