"""Prove that a backward rule gives the derivative of its forward, for all values at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from minigrad.nn import Module
from minigrad.symbolic.array import OrderUnknown, entries
from minigrad.symbolic.deciding import decide
from minigrad.symbolic.equality import Refuted, Undecided, shaped
from minigrad.symbolic.models import symbolic_like
from minigrad.symbolic.points import compare, points
from minigrad.symbolic.proving.evidence import Evidence, Proof
from minigrad.symbolic.proving.operations import assumptions_of, label, made, name_of, operation_of
from minigrad.symbolic.proving.reading import Reading
from minigrad.symbolic.proving.running import Claim, run
from minigrad.symbolic.regions import EVERYWHERE, Region, cut, kinks_in, region_of
from minigrad.tensor import Tensor

ADVICE = (
    "Give regions in which there is no kink (regions=[{x: d}, {x: -d}] with a positive d), or "
    "stronger assumptions on the symbols (positive=True)."
)
_PARTS = 256  # of more parts than these the regions should be given


def prove(
    operation: Callable[..., Any] | str,
    *inputs: Any,
    regions: Sequence[Any] | None = None,
    settings: Sequence[Any] = (),
    constants: Sequence[Any] = (),
    **assumptions: bool,
) -> Proof:
    r"""Prove that the engine's gradient of an operation is the derivative of its forward.

    The operation runs on symbols, backward from a gradient of symbols $g$. What arrives at each
    input is compared with $\sum_k g_k\, \partial r_k / \partial x_i$, for which SymPy
    differentiates the result's formula itself. Where formulas have kinks (relu, max, abs), space
    is cut at them, and each part is proved on its own; the kinks themselves are left out.

    Args:
        operation: A function of tensors, such as `torch.mul`, a lambda, the `apply` of a custom
            function, or a module, whose parameters are differentiated too; or the name of an
            operation in minigrad's book of derivatives, such as "mul".
        *inputs: Shapes, each an integer or a tuple, for which symbols x, y, z, ... are made; or
            tensors of symbols, of which those that require a gradient are differentiated.
        regions: For functions with kinks, the parts of space to prove it in: substitutions such
            as `{x: d}` and `{x: -d}` with a positive `d`, or conditions such as `x > 0`. They are
            found where none are given.
        settings: What the operation takes after the tensors, such as a dimension.
        constants: Exact numbers, such as `sympy.log(2)`, that are meant where the rule has the
            float next to them.
        **assumptions: What SymPy may assume of the symbols that are made, such as
            `positive=True`. Without any: `real=True`.

    Returns:
        The evidence, which can be printed.

    Raises:
        Refuted: If the rule is wrong; it names the entry, both formulas and a counterexample.
        Undecided: If SymPy finds neither a proof nor a counterexample.
        ValueError: If no input requires a gradient, or the book has no such operation.

    Example:
        >>> import minigrad as torch
        >>> prove(torch.tanh, ()).gradients
        (g*(1 - tanh(x)**2),)
        >>> prove(torch.relu, ()).where
        'region by region: x > 0; x < 0'
    """
    function = operation_of(operation)
    if isinstance(function, Module):
        function = symbolic_like(function)
    tensors = made(inputs, assumptions)
    wanted = [each for each in tensors if isinstance(each, Tensor) and each.requires_grad]
    if isinstance(function, Module):
        wanted += [each for each in function.parameters() if each.requires_grad]
    if not wanted:
        raise ValueError("prove() needs an input that requires a gradient")
    given = [EVERYWHERE] if regions is None else [region_of(_of_symbols(each)) for each in regions]
    reading = Reading(constants)
    explored = list(_explored(function, tensors, settings, wanted, reading))
    evidence: list[Evidence] = []
    for around, claims, *_ in explored:
        for claim in claims:
            evidence.append(_proved(claim, reading, around, given))
    _, _, result, cotangent, gradients = explored[0]
    return Proof(
        shaped(list(result.flat), result.shape),
        shaped(list(cotangent.flat), cotangent.shape),
        tuple(shaped(list(each.flat), each.shape) for each in gradients),
        tuple({str(r): r for each in evidence for r in each.regions}.values()) or (EVERYWHERE,),
        name_of(operation),
        tuple((label(each), tuple(each.shape)) for each in wanted),
        tuple(evidence),
        tuple(constants),
        tuple(map(assumptions_of, wanted)),
    )


def _of_symbols(region: Any) -> Any:
    """Let tensors stand for the only symbol in them."""
    if isinstance(region, tuple):
        return tuple(map(_of_symbols, region))
    if not isinstance(region, Mapping):
        return entries(region).item() if isinstance(region, Tensor) else region
    pairs = [[entries(each).item() for each in pair] for pair in region.items()]
    return dict(pairs)


def _explored(
    function: Callable[..., Any],
    tensors: list[Any],
    settings: Sequence[Any],
    wanted: list[Tensor],
    reading: Reading,
) -> Iterator[Any]:
    """Run the function; where it asks for an order of symbols, run it in each of the orders."""
    waiting, seen = [EVERYWHERE], 0
    while waiting:
        region = waiting.pop(0)
        try:
            yield region, *run(function, tensors, settings, wanted, reading, region)
        except OrderUnknown as error:
            kinks = kinks_in([error.formula]) or [error.formula]
            seen += 1
            if seen > _PARTS or not all(kink.free_symbols for kink in kinks[:1]):
                raise
            waiting = [*cut(kinks[0], region), *waiting]
            if any(each.assumed for each in waiting):
                raise  # without a substitution the program would ask again


def _proved(claim: Claim, reading: Reading, around: Region, given: Sequence[Region]) -> Evidence:
    """Prove a claim in every part of the regions given."""
    leaves: list[Region] = []
    for region in given if around is EVERYWHERE else [around]:
        _prove_in(claim, reading, region, leaves)
    jumps = reading.jumps([claim.found, claim.due, *claim.carriers])
    if jumps:
        leaves = [replace(each, conditions=(*each.conditions, *jumps)) for each in leaves]
    found, due = (around.original(reading.back(side)) for side in (claim.found, claim.due))
    return Evidence(claim.input, claim.entry, found, due, tuple(leaves))


def _prove_in(claim: Claim, reading: Reading, start: Region, leaves: list[Region]) -> None:
    """Prove a claim in a region, which is cut at kinks until there are none; add the parts.

    Raises:
        Refuted: If it is wrong.
        Undecided: If it is not decided in a part.
    """
    waiting, first = [start], len(leaves)
    while waiting:
        region = waiting.pop()
        left, right = region.enter(claim.found), region.enter(claim.due)
        carriers = [region.enter(each) for each in claim.carriers]
        kinks = [
            h for h in [*kinks_in(carriers), *kinks_in([left, right])] if region.sign(h) is None
        ]
        if kinks and len(leaves) - first < _PARTS:
            waiting += reversed(cut(kinks[0], region))
            continue
        verdict = decide(left, right, _Domain(claim, region).admits, _symbols(claim, region))
        if isinstance(verdict, dict):
            raise _refuted(claim, reading, region, left, right, verdict)
        if verdict is not None:
            difference, comparison = verdict
            raise Undecided(claim.entry, left, right, difference, comparison, claim.of, ADVICE)
        leaves.append(region)


class _Domain:
    """Tells at which points a rule has to be right: in the region, where the result is real."""

    def __init__(self, claim: Claim, region: Region) -> None:
        self._claim, self._region = claim, region

    def admits(self, point: Mapping[Any, Any]) -> bool:
        """Tell whether the rule has to be right at a point."""
        if not self._region.admits(point):
            return False
        values = (self._region.enter(each).subs(point) for each in self._claim.values)
        return not any(value.is_real is False for value in values)


def _symbols(claim: Claim, region: Region) -> set[Any]:
    """List the symbols that need values to tell whether a point is in the domain."""
    found: set[Any] = set().union(*(each.free_symbols for each in region.assumed))
    for symbol in set().union(*(each.free_symbols for each in claim.values)):
        found |= region.place.get(symbol, symbol).free_symbols
    return found


def _refuted(
    claim: Claim, reading: Reading, region: Region, left: Any, right: Any, point: dict[Any, Any]
) -> Refuted:
    """Tell a counterexample in the symbols that the operation was given."""
    found, due = (region.original(reading.back(each)) for each in (claim.found, claim.due))
    symbols = sorted(
        (found.free_symbols | due.free_symbols | set(region.place)) - set(region.meaning), key=str
    )
    values = {symbol: region.place.get(symbol, symbol) for symbol in symbols}
    missing = set().union(*(each.free_symbols for each in values.values())) - set(point)
    values_of_missing = next(points(missing), {})
    values = {s: each.subs(point).subs(values_of_missing) for s, each in values.items()}
    shown_sides = [side.subs(values).doit() for side in (found, due)]
    known = all(each.is_number and each.is_finite for each in shown_sides)
    if known and abs((shown_sides[0] - shown_sides[1]).evalf(30)) > 0:
        return Refuted(claim.entry, found, due, values, claim.of, claim.note)
    if reading.in_use(left, right):  # the point need not be one: what is rounded has its own value
        agreed = compare(
            found, due, lambda at: all(c.subs(at) for c in region.conditions), set(values)
        )
        if isinstance(agreed, dict):
            return Refuted(claim.entry, found, due, agreed, claim.of, claim.note)
        raise Undecided(claim.entry, found, due, found - due, agreed, claim.of, ADVICE)
    return Refuted(claim.entry, left, right, point, claim.of, claim.note)
