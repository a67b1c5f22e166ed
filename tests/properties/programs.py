"""Random programs that compute, of the operations of the fuzzer, for what must hold of any."""

from __future__ import annotations

import random
import re
from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import minigrad as torch
from tests.oracle.fuzz import program_operations as operations
from tests.oracle.fuzz import program_views as views
from tests.oracle.fuzz.program_functions import functions
from tests.oracle.fuzz.program_model import Draft

KINDS = {
    operations.unary: 5,
    operations.binary: 8,
    operations.with_number: 4,
    operations.reduction: 4,
    operations.product: 3,
    operations.copy: 4,
    views.view: 6,
}


class Program(NamedTuple):
    """Leaves and statements; each statement's text makes one tensor out of earlier ones."""

    leaves: list[str]
    statements: list[str]


class Run(NamedTuple):
    """What a program starts from, and what it ends in, with the names of that."""

    names: list[str]
    leaves: list[Any]
    ends: list[Any]


@st.composite
def programs(draw: Any, length: int = 8) -> Program:
    """Draw a program in float64."""
    draft = Draft(draw(st.randoms(use_true_random=False)), dtype="float64")
    while len(draft.tensors(grad=True, floating=True)) < 2:
        operations.leaf(draft)
        last = draft.statements[-1].text
        if "float64" not in last or "grad=True" not in last:
            draft.variables.popitem()
            draft.statements.pop()
    leaves = [statement.text for statement in draft.statements]
    while len(draft.statements) < len(leaves) + length:
        draft.rng.choices([*KINDS], [*KINDS.values()])[0](draft)
    texts = [statement.text.split("_grad(): ")[-1] for statement in draft.statements]
    return Program(
        leaves,
        [text for text in texts[len(leaves) :] if not re.search("detach|data|float32", text)],
    )


def generic(seed: int, *shape: int, dtype: str = "float64", grad: bool = False) -> Any:
    """Make a tensor of numbers that are near no kink."""
    draw = np.random.default_rng(seed + 1)
    array = draw.uniform(0.3, 1.7, shape) * draw.choice([-1.0, 1.0], shape)
    return torch.tensor(array, dtype=getattr(torch, dtype), requires_grad=grad)


def run(program: Program, also: Any = None, shift: dict[str, Any] | None = None) -> Run:
    """Run a program; what fails is left out, as the fuzzer does.

    Args:
        program: What to run.
        also: Called with each name and tensor; what it gives takes the tensor's place.
        shift: Added to the leaves of these names.
    """
    names: dict[str, Any] = {"torch": torch, "T": generic, **functions(torch)}
    made = []
    for text in (*program.leaves, *program.statements):
        name = text.partition(" = ")[0]
        try:
            exec(text, names)
        except (RuntimeError, IndexError, TypeError, ValueError, NameError):
            continue
        if shift and name in shift:
            names[name] = (names[name].detach() + shift[name]).requires_grad_()
        value = names[name]
        if also is not None and value.requires_grad:
            names[name] = also(name, value)
        made.append(name)
    leaves = [names[text.partition(" = ")[0]] for text in program.leaves]
    used = {
        word for text in program.statements for word in re.findall(r"\w+", text.partition(" = ")[2])
    }
    computed = {name: names[name] for name in made[len(leaves) :] if name not in used}
    ends = {name: x for name, x in computed.items() if x.requires_grad and x.numel()}
    assume(ends and all(bool(torch.isfinite(end).all()) for end in ends.values()))
    return Run([*ends], leaves, [*ends.values()])


def cotangents(ends: list[Any], seed: int) -> list[Any]:
    """Draw a gradient for each end, nowhere near 0."""
    draw = np.random.default_rng(seed)
    return [torch.tensor(draw.uniform(0.5, 1.5, end.shape), dtype=end.dtype) for end in ends]


def gradients(ran: Run, given: list[Any], record: bool = False) -> list[Any]:
    """Give the gradients of all leaves, zeros where there is none."""
    return [
        *torch.autograd.grad(
            ran.ends,
            ran.leaves,
            given,
            retain_graph=True,
            create_graph=record,
            allow_unused=True,
            materialize_grads=True,
        )
    ]


def shuffled(program: Program, rng: random.Random) -> Program:
    """Put the statements into another order in which each still finds what it needs."""
    makers = {text.partition(" = ")[0]: text for text in program.statements}
    waiting, done, order = [*program.statements], set(), []
    while waiting:
        ready = [
            t
            for t in waiting
            if not {w for w in re.findall(r"\w+", t.partition(" = ")[2]) if w in makers} - done
        ]
        order.append(rng.choice(ready))
        waiting.remove(order[-1])
        done.add(order[-1].partition(" = ")[0])
    return Program(program.leaves, order)
