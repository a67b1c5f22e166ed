"""Random programs of the operations of the search, to test what holds for any program."""

from __future__ import annotations

import random
import re
from typing import Any, NamedTuple

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import minigrad as torch
from tests.oracle.search.programs import SHAPES, Draft, Holes, too_large
from tests.oracle.search.tables import TABLES

# The operations that programs often use, and views; not what warns or cuts gradients off.
UNUSED = r"detach|data|float|int64|\.[TH]\b"
CHOICES = [text for text, weight in TABLES["compute"].items() if weight > 1] + [*TABLES["view"]]


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
    """Draw a program in float64, of numbers that are near no kink."""
    rng = draw(st.randoms(use_true_random=False))
    draft = Draft(rng, "float64", lambda rng: round(rng.uniform(0.3, 1.7), 6) * rng.choice([-1, 1]))
    for _ in range(rng.choice([2, 2, 3])):
        draft.say(f"{draft.new()} = {draft.literal(rng.choice(SHAPES), 'float64', True)}")
    leaves = [*draft.program]
    for _ in range(6 * length):
        holes = Holes(draft, x=draft.late(draft.tensors()))
        text = holes.fill(rng.choice(CHOICES))
        value = draft.tried(text)
        useful = isinstance(value, torch.Tensor) and value.is_floating_point()
        if useful and not too_large(value) and not re.search(UNUSED, text):
            draft.say(f"{draft.new()} = {text}")
        if len(draft.program) == len(leaves) + length:
            break
    return Program(leaves, draft.program[len(leaves) :])


def run(program: Program, also: Any = None, shift: dict[str, Any] | None = None) -> Run:
    """Run a program; what fails is left out, as the search does.

    Args:
        program: What to run.
        also: Called with each name and tensor; what it gives takes the tensor's place.
        shift: Added to the leaves of these names.
    """
    names: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
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
