"""Make a random tensor program from a seed."""

from __future__ import annotations

from collections.abc import Callable

from . import program_effects as effects
from . import program_later as later
from . import program_operations as operations
from . import program_passes as passes
from . import program_views as views
from .program_model import Draft
from .programs import Program, generator

KINDS: dict[Callable[[Draft], object], int] = {
    operations.leaf: 3,
    operations.unary: 9,
    operations.binary: 14,
    operations.with_number: 8,
    operations.reduction: 7,
    operations.product: 4,
    views.view: 14,
    views.several_views: 2,
    operations.copy: 6,
    operations.custom: 2,
    effects.write: 13,
    effects.write_through_a_view: 4,
    effects.flag: 7,
    effects.mode: 1,
    effects.look: 3,
    effects.forget: 2,
    passes.hook: 14,
    passes.backward: 9,
    passes.grad: 6,
}

WIDE_KINDS: dict[Callable[[Draft], object], int] = {
    **KINDS,
    later.compute: 50,
    later.later_view: 16,
    later.later_write: 20,
    later.later_write_through_a_view: 6,
    later.out: 4,
    operations.unary: 2,
    operations.binary: 6,
    operations.with_number: 3,
    operations.reduction: 2,
    operations.product: 2,
    views.view: 8,
    operations.copy: 3,
    effects.write: 8,
    effects.flag: 9,
    passes.grad: 11,
}
WIDE_FROM = 1_000_000


def make(seed: int) -> Program:
    """Make the program of a seed: a few leaves, then anything, then a pass.

    Seeds from `WIDE_FROM` on use all operations, those below the usual ones only.
    """
    draft = Draft(generator(seed))
    draft.dtype = draft.one_of("float32", "float64")
    for _ in range(2 + draft.below(2)):
        operations.leaf(draft)
    if not draft.tensors(grad=True):
        operations.leaf(draft)
    chosen = KINDS if seed < WIDE_FROM else WIDE_KINDS
    kinds, weights = list(chosen), list(chosen.values())
    length = 6 + draft.below(20)
    while len(draft.statements) < length:
        draft.rng.choices(kinds, weights)[0](draft)
    passes.backward(draft)
    return draft.statements
