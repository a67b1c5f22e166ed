"""The bank of rules: what it claims is true in numbers, and the referee does not contradict it."""

import contextlib
import itertools
import math
import re
import zlib

import numpy as np
import pytest

import minigrad as torch
from minigrad.symbolic import Refuted, Undecided, derive, expression, prove, symbols

from .rule_bank import bank

BANK = bank()
BY_ID = {row.id: row for row in BANK}
EACH = [pytest.param(row, id=row.id) for row in BANK]
STEPS = [2.0**-k for k in (8, 10, 13, 16, 19, 22)]
MANY, SOME = 400, 40  # points; of a right rule, no more than make so many entries:
ENOUGH = 60


# ---------------------------------------------------------------------- numbers


def numbers(result):
    """Give the outputs as a tuple."""
    return result if isinstance(result, tuple) else (result,)


@contextlib.contextmanager
def silence():
    with np.errstate(all="ignore"):
        yield


class Run:
    """A row run on float64: `slope` is by small steps of the forward, `rule` by the rule."""

    def __init__(self, row, drawn, cotangents=None, rng=None):
        self.refused = False
        self.inputs = [np.array(each, float) for each in drawn]
        self.function = row.function()
        results = [each.detach().numpy() for each in self.forward(self.inputs)]
        self.cotangents = cotangents or [cotangent(rng, each.shape) for each in results]

    def forward(self, inputs):
        tensors = [torch.from_numpy(np.array(each)) for each in inputs]
        return numbers(self.function(*(t.requires_grad_() for t in tensors)))

    def weighed(self, inputs, batch):
        """Give the sum of the outputs, weighed with the cotangents; of a batch, one for each."""
        parts = [
            each.detach().numpy() * c
            for each, c in zip(self.forward(inputs), self.cotangents, strict=True)
        ]
        return sum(parts) if batch else sum(part.sum() for part in parts)

    def rule(self):
        """Give the gradients by the rule; what the engine refuses is NaN."""
        tensors = [torch.from_numpy(np.array(each)).requires_grad_() for each in self.inputs]
        outputs = numbers(self.function(*tensors))
        needed = [(o, torch.from_numpy(np.array(c))) for o, c in zip(outputs, self.cotangents)]  # noqa: B905
        outputs, given = zip(*[each for each in needed if each[0].requires_grad], strict=True)
        try:
            grads = torch.autograd.grad(outputs, tensors, given, allow_unused=True)
        except RuntimeError as error:
            if "invalid gradient" not in str(error):
                raise
            self.refused = True
            return [np.full(each.shape, np.nan) for each in self.inputs]
        return [
            np.zeros(i.shape) if g is None else g.numpy()
            for g, i in zip(grads, self.inputs, strict=True)
        ]

    def slope(self, which, entry=None):
        """Differentiate by small steps: the derivative, NaN where there is a kink, and a bound."""
        batch = entry is None
        best = np.full(self.inputs[which].shape if batch else (), np.nan)
        bound = np.zeros_like(best)

        def at(distance):
            moved = [each.copy() for each in self.inputs]
            moved[which][... if batch else entry] += distance
            return self.weighed(moved, batch)

        size = 0 if batch else abs(float(self.inputs[which][entry]))
        steps = STEPS + [step * size for step in STEPS[:3] if size > 1000]
        middle, before, clear = at(0.0), np.nan, False
        for step in steps:
            one, two, back, far = at(step), at(2 * step), at(-step), at(-2 * step)
            right = (4 * one - two - 3 * middle) / (2 * step)
            left = (3 * middle + far - 4 * back) / (2 * step)
            value = (8 * (one - back) - two + far) / (12 * step)
            noise = 8e-15 * (abs(middle) + abs(one) + abs(back)) / step
            apart = np.maximum(abs(right - value), abs(left - value))
            allowed = 3e-5 * (1 + abs(value)) + noise
            good = (apart < allowed) & (noise < 1e-4 * (1 + abs(value))) & np.isfinite(value)
            take = np.isnan(best) & clear & good & (abs(value - before) < allowed)
            best = np.where(take, value, best)
            bound = np.where(take, abs(value - before) + noise, bound)
            before, clear = value, good
            if not np.isnan(best).any():
                break
        return best, bound


def cotangent(rng, shape):
    """Draw gradients of the result: common ones, large ones, and now and then 0."""
    kind = rng.random(shape)
    drawn = rng.normal(size=shape) * np.where(kind < 0.8, 1.0, 200.0)
    return np.where(kind > 0.97, 0.0, drawn)


def compared(rule, slope, bound):
    """Say where a rule is wrong for certain, and where it is right."""
    smooth = ~np.isnan(slope)
    off = abs(rule - slope)
    right = off <= 1e-5 * (1 + abs(slope)) + bound
    wrong = ~(off <= 2e-4 * (1 + abs(slope)) + 3 * bound)
    return smooth & wrong, smooth & right, smooth


def judged(row):
    """Count the entries, and the wrong and right ones among those that can be compared."""
    rng = np.random.default_rng(zlib.crc32(row.id.encode()))
    count = MANY if row.claim == "wrong" or row.entrywise else SOME
    counts = np.zeros(3, int)
    with silence():
        if row.entrywise:
            drawn = [
                np.array(each) for each in zip(*(row.draw(rng) for _ in range(count)), strict=True)
            ]
            run = Run(row, drawn, rng=rng)
            for k, rule in enumerate(run.rule()):
                counts += [part.sum() for part in compared(rule, *run.slope(k))]
            return counts
        for _ in range(count):
            run = Run(row, row.draw(rng), rng=rng)
            for k, rule in enumerate(run.rule()):
                for entry in np.ndindex(rule.shape):
                    counts += [part.sum() for part in compared(rule[entry], *run.slope(k, entry))]
            if {"wrong": counts[0] > 0, "right": counts[2] >= ENOUGH}.get(row.claim):
                break
    return counts


@pytest.mark.examples
@pytest.mark.parametrize("row", EACH)
def test_the_claim_is_true_in_numbers(row):
    wrong, right, smooth = judged(row)
    assert smooth >= (1 if row.claim == "wrong" and not row.entrywise else 20)
    if row.claim == "wrong":
        assert wrong
    elif row.claim == "right":
        assert right == smooth
    else:
        assert wrong and right + wrong == smooth and wrong <= smooth / 3


def test_the_bank_is_as_large_as_promised():
    claims = [row.claim for row in BANK]
    assert len(BY_ID) == len(BANK)
    assert claims.count("wrong") >= 380 and claims.count("right") >= 200
    assert claims.count("single") >= 25


def test_the_bank_is_the_same_each_time():
    again = bank()
    assert [(r.id, r.forward, r.backward) for r in again if r.backward] == [
        (r.id, r.forward, r.backward) for r in BANK if r.backward
    ]
    first, second = (row.draw(np.random.default_rng(1)) for row in (BANK[0], again[0]))
    assert np.array_equal(first, second)


# ---------------------------------------------------------------------- prove


# Right rules that SymPy brings to no verdict. The list is to get shorter.
OPEN = {
    # two symbols of one name
    "right-names-two_called_x",
    "right-names-two_called_x,_difference",
    "right-names-x_and_a_positive_x",
    "right-arrays-called_x_and_x_{0}",
    "right-domain-asinh_sinh",
    # that a floor is at most its argument, and less by less than 1, is not used
    "right-harmless-sinh_nobody_at_a_floor",
    "right-harmless-elu_nobody_at_a_floor",
    "right-pieces-root_of_1_-_cos**2",
}


def verdict(row):
    """Ask the referee."""
    operation, inputs, options = row.make()
    try:
        return "proved", prove(operation, *inputs, **options)
    except Refuted as refuted:
        return "refuted", refuted
    except Undecided as undecided:
        return "undecided", undecided
    except Exception as error:
        return "failed", error


EXCEPTION = re.compile(r"!=|where the rule gives NaN|[a-z}'] = -?\d+(/\d+)?(?![\d*/])")


@pytest.mark.examples
@pytest.mark.parametrize("row", EACH)
def test_the_referee_is_not_fooled(row):
    word, said = verdict(row)
    if word == "failed":
        raise said
    if word == "refuted":
        assert row.claim != "right", said
        assert confirmed(row, said), said
    assert (word == "proved" or row.id in OPEN) if row.claim == "right" else True, said
    if word == "proved":
        assert row.claim != "wrong", said
        assert row.claim == "right" or EXCEPTION.search(f"{said.where}\n{said}"), said


def test_nearly_all_right_rules_are_proved():
    """Each of the others is proved: see test_the_referee_is_not_fooled."""
    right = {row.id for row in BANK if row.claim == "right"}
    assert right >= OPEN
    assert len(OPEN) <= 0.05 * len(right)


# ---------------------------------------------------------------------- counterexamples


def as_number(number):
    """Give a float, NaN for what is none."""
    try:
        number = complex(number)
    except (TypeError, ValueError):
        return math.nan
    size = abs(number.real) + abs(number.imag)  # `abs(number)` cannot be too large for a float
    return number.real if abs(number.imag) <= 1e-12 * (1 + size) else math.nan


def entries(tensor):
    """List the symbols of a tensor with their indices."""
    return [(expression(tensor[index]), index) for index in np.ndindex(*tensor.shape)]


def slots_of(row, shapes):
    """List what can be set: for each number its symbol, and where it goes."""
    slots, sure = [], not row.named
    for place, (tensor, (name, shape)) in enumerate(zip(row.tensors(), row.inputs, strict=True)):
        made = isinstance(tensor, tuple)
        listed = entries(symbols(name, shape) if made else tensor)
        slots += [(s if sure or not made else None, ("input", place, index)) for s, index in listed]
    for place, shape in enumerate(shapes):
        listed = entries(symbols("g" if len(shapes) == 1 else f"g_{place + 1}", shape))
        slots += [(symbol, ("cotangent", place, index)) for symbol, index in listed]
    return slots


def assignments(row, slots, given):
    """Say in which ways the symbols of a counterexample can be meant, likely ones first.

    Only where names can be taken for one another is there more than one way.
    """
    choices, unknown = [], []
    for symbol, value in given.items():
        same = [place for each, place in slots if each == symbol]
        same = same or [place for each, place in slots if str(each) == str(symbol)]
        same = [place for place in same if place[0] == "input"] or same
        if same:
            alone = [[place] for place in same] if len(same) > 1 else []
            choices.append([dict.fromkeys(places, value) for places in [same, *alone]])
        else:
            unknown.append(value)
    if unknown and not row.named:
        return
    for chosen in itertools.product(*choices):
        fixed = {place: value for each in chosen for place, value in each.items()}
        free = sorted(place for _, place in slots if place not in fixed)
        for places in itertools.islice(itertools.permutations(free, len(unknown)), 200):
            yield fixed | dict(zip(places, unknown, strict=True))


def named_entries(row, of, entry):
    """Give the input and the entry that a verdict speaks of; several if names are equal."""
    name = of.partition("gradient of ")[2].split(",")[0].split(" ")[0]
    known = [each for each, _ in row.inputs]
    for place, own in enumerate(row.named):
        known[place] = own and own.rstrip("+")
    places = [k for k, each in enumerate(known) if each == name] or range(len(known))
    return [(k, entry) for k in places if len(entry) == len(row.inputs[k][1])]


def confirmed(row, refuted):
    """Put a counterexample into the function itself: the rule is as told, and wrong there."""
    if not refuted.of:  # the engine itself refused the gradient
        return "invalid gradient" in str(refuted)
    given = refuted.counterexample or {}
    for symbol, value in given.items():
        assert value.is_positive or not symbol.is_positive
        assert value.is_negative or not symbol.is_negative
    rng = np.random.default_rng(3)
    values = {symbol: as_number(value) for symbol, value in given.items()}
    with silence():
        for _ in range(6):
            drawn = [np.array(each, float) for each in row.draw(rng)]
            run = Run(row, drawn, rng=rng)
            shapes = [each.shape for each in run.cotangents]
            for chosen in assignments(row, slots_of(row, shapes), values):
                inputs = [each.copy() for each in drawn]
                cotangents = [each.copy() for each in run.cotangents]
                for (what, place, index), value in chosen.items():
                    (inputs if what == "input" else cotangents)[place][index] = value
                again = Run(row, inputs, cotangents)
                for place, entry in named_entries(row, refuted.of, refuted.entry):
                    if differs_as_told(again, place, entry, refuted.numbers[0]):
                        return True
    return False


def differs_as_told(run, place, entry, told):
    rule = run.rule()[place][entry]
    slope, bound = run.slope(place, entry)
    if np.isnan(slope) or abs(rule - slope) <= 1e-8 * (1 + abs(slope)) + bound:
        return False
    told = as_number(told)
    if not np.isfinite(rule):
        return run.refused or not np.isfinite(told)
    return run.refused or abs(rule - told) <= 1e-6 * (1 + abs(rule))


# ---------------------------------------------------------------------- derive


def of_numbers(row):
    """Say whether a loss can be made of a row.

    It is of scalars with names of their own, has no hooks, which a derivation takes for factors,
    and no `if`, which has no answer where there is nobody to cut space for it.
    """
    known = [each for each, _ in row.inputs]
    names = [own or each for own, each in zip(row.named or known, known, strict=True)]
    apart = len({name.rstrip("+") for name in names}) == len(names)
    scalar = all(shape == () for _, shape in row.inputs)
    branches = " if " in f"{row.forward} {row.backward}"
    return scalar and apart and row.kind != "hooks" and not branches


SAMPLE = [row for row in BANK if of_numbers(row) and zlib.crc32(row.id.encode()) % 20 == 0]


def checked(row):
    """Check a loss made of a row: its results, weighed with symbols."""
    operation, inputs, _ = row.make()
    leaves = [
        symbols(name, shape, requires_grad=True, **row.assumptions)
        if isinstance(tensor, tuple)
        else tensor
        for tensor, (name, shape) in zip(inputs, row.inputs, strict=True)
    ]
    try:
        results = numbers(operation(*leaves))
        loss = sum(each * symbols(f"w_{k}") for k, each in enumerate(results))
        return "checked", derive(loss).check()
    except Refuted as refuted:
        return "refuted", refuted
    except Undecided as undecided:
        return "undecided", undecided
    except Exception as error:
        return "failed", error


@pytest.mark.examples
@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in SAMPLE])
def test_a_derivation_is_not_fooled(row):
    word, said = checked(row)
    if word == "failed":
        raise said
    if word == "refuted":
        assert row.claim != "right", said
    elif word == "checked" and row.claim != "right":
        proved = len(said.sympy) >= len(row.inputs)
        # behind a guard nothing is claimed, since a step has no value there
        limited = said.domain if row.claim == "single" or row.kind == "guarded" else ()
        assert not proved or said.open or said.apart_from or limited, said
