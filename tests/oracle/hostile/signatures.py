"""Make hostile calls from signatures alone: any value for any argument of any function.

Nobody has to write down a working call: what a function takes is read off it. So what is added to
minigrad is called in hostile ways from then on.
"""

from __future__ import annotations

import inspect
import itertools
import random
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import NamedTuple

import minigrad

from .values import VALUES

ROOMS = ("torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.Tensor")
# What sets something for the whole process, gives what was in the memory or comes by chance, is
# kept in full (see the reference on sparse tensors), or has a path of its own in PyTorch.
LEFT_OUT = frozenset(
    """
    coalesce compile data_ptr empty empty_like empty_strided exponential_ fork get_printoptions
    get_rng_state initial_seed load manual_seed multinomial new_empty poisson printoptions rand
    rand_like randint randint_like randn randn_like randperm requires_grad_ resize_ resize_as_
    save seed set_ set_anomaly_enabled set_default_device set_default_dtype
    set_default_tensor_type set_float32_matmul_precision set_grad_enabled
    set_num_interop_threads set_num_threads set_printoptions set_rng_state set_warn_always
    to_sparse typename use_deterministic_algorithms vmap
    """.split()  # noqa: SIM905 - one name after the other reads better
) | {f"{name}{end}" for name in ("bernoulli", "dropout", "normal") for end in ("", "_")}
# Names that hardly any function has, and some that many have.
NAMES = "dim keepdim dtype out other alpha value weight nothing axis input requires_grad size"
TENSORS = "shapes dtypes memory not finite"


class Callee(NamedTuple):
    """A function or a method: how it is called, and what it takes."""

    name: str
    needed: int
    most: int
    names: tuple[str, ...]

    @property
    def method(self) -> str:
        """The method's name, or nothing for a function."""
        room, _, name = self.name.rpartition(".")
        return name if room == "torch.Tensor" else ""


@cache
def callees() -> tuple[Callee, ...]:
    """List all functions and methods with what their signatures tell."""
    found = []
    for room in ROOMS:
        place, theirs = minigrad, import_module("torch")
        for part in room.split(".")[1:]:
            place, theirs = getattr(place, part), getattr(theirs, part)
        for name in (each for each in dir(place) if each[0].islower()):
            function = getattr(place, name)
            if (
                name in LEFT_OUT
                or not hasattr(theirs, name)
                or isinstance(function, type)
                or not callable(function)
            ):
                continue
            try:
                taken = [*inspect.signature(function).parameters.values()]
            except ValueError:
                continue
            by_place = [each for each in taken if each.kind is each.POSITIONAL_OR_KEYWORD]
            needed = sum(each.default is each.empty for each in by_place)
            named = tuple(each.name for each in taken if each.name != "self")
            found.append(Callee(f"{room}.{name}", needed, len(by_place), named))
    return tuple(found)


def call(callee: Callee, chance: random.Random) -> str:
    """Draw arguments for a function: mostly a tensor first, then anything."""
    rows = {kind: row.split("|") for kind, row in VALUES.items()}
    tensors = [each for kind, row in rows.items() if kind in TENSORS for each in row]

    def drawn(tensor: float) -> str:
        if chance.random() < tensor:
            return chance.choice(tensors)
        return chance.choice(rows[chance.choice([*rows])])

    most = chance.randint(0, callee.most + 1)
    count = chance.choice([callee.needed, callee.needed, callee.needed + 1, most])
    arguments = [drawn(0.4 if place else 0.9) for place in range(count)]
    if chance.random() < 0.35:
        name = chance.choice([*callee.names, *NAMES.split()])
        arguments.append(f"{name}={drawn(0.3)}")
    if not callee.method:
        return f"{callee.name}({', '.join(arguments)})"
    return f"({chance.choice(tensors)}).{callee.method}({', '.join(arguments[1:])})"


def generate(seed: int, count: int) -> Iterator[str]:
    """Give hostile calls.

    Args:
        seed: Which ones.
        count: How many.
    """
    # each has a source of its own: what is called does not change when another one is added
    chances = {each: random.Random(f"{seed} {each.name}") for each in callees()}
    order = sorted(chances, key=lambda each: chances[each].random())
    for callee in itertools.islice(itertools.cycle(order), count):
        yield call(callee, chances[callee])
