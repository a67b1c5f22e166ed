"""The steps of a chain rule as data: local derivatives, and the gradients that they multiply to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import shaped
from minigrad.symbolic.telling.account import Account
from minigrad.symbolic.telling.effects import HookEffect
from minigrad.symbolic.telling.local import Value
from minigrad.symbolic.telling.told import Told


@dataclass(frozen=True)
class LocalDerivative:
    r"""The derivative of one place with respect to an earlier one, $\partial y / \partial s$.

    Attributes:
        of: The name of the later place.
        wrt: The name of the earlier one.
        formula: The derivative in the symbols of places. If the later place has several entries,
            the gradient $\sum_k g_k\, \partial y_k / \partial s_i$ instead, with symbols for the
            $g_k$ that are called `dL/dy_{k}`. None if there is no formula.
        number: On numbers the derivative as the rule gave it, an array; else None.
        nodes: The names of the nodes whose rules were multiplied.
        reason: Why there is no formula.
    """

    of: str
    wrt: str
    formula: Any
    number: Any
    nodes: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True)
class Term:
    """One summand of a gradient: the gradient of a later place times a local derivative."""

    place: str
    derivative: LocalDerivative


@dataclass(frozen=True)
class Hooked:
    """A part of a gradient, on which hooks acted one after the other."""

    hooks: tuple[HookEffect, ...]
    terms: tuple[Any, ...]


@dataclass(frozen=True)
class GradientStep:
    """How the gradient of a place comes together.

    Attributes:
        wrt: The name of the place.
        terms: The summands, each a `Term` or `Hooked`.
        formula: The gradient in the symbols of places, or None.
        number: On numbers the gradient, an array; else None.
    """

    wrt: str
    terms: tuple[Any, ...]
    formula: Any
    number: Any


Step = LocalDerivative | GradientStep


def formula_or_none(array: Any) -> Any:
    """Give an array of formulas as SymPy has them."""
    return None if array is None else shaped(list(entries(array).flat), entries(array).shape)


def terms_of(account: Account, value: Value, told: Told) -> tuple[Any, ...]:
    """Give the summands of a gradient as data."""
    names = account.places.names
    terms: list[Any] = []
    for place, pull in told.pulls.items():
        local = LocalDerivative(
            names[place],
            names[value],
            formula_or_none(pull.formula),
            pull.number,
            tuple(node.name() for node in pull.nodes),
            pull.reason,
        )
        terms.append(Term(names[place], local))
    for effects, part in told.hooked:
        terms.append(Hooked(effects, terms_of(account, value, part)))
    return tuple(terms)


def locals_in(terms: tuple[Any, ...]) -> list[LocalDerivative]:
    """List the local derivatives in summands, those under hooks included."""
    found: list[LocalDerivative] = []
    for term in terms:
        found += [term.derivative] if isinstance(term, Term) else locals_in(term.terms)
    return found


def in_reading_order(account: Account) -> list[Value]:
    """Order the places: inner ones from the loss backward, each with its leaves behind it."""
    places = account.places
    values = list(account.gradients)
    inner = sorted(
        (v for v in values if not _is_leaf(account, v)),
        key=lambda v: (-v[0]._sequence_nr(), v[1]),
    )
    leaves = sorted(
        (v for v in values if _is_leaf(account, v)), key=lambda v: places._first_use(v[0])
    )
    return [*inner, *leaves]


def _is_leaf(account: Account, value: Value) -> bool:
    return not value[0].next_functions and value != account.places.root


def sources_of(told: Told) -> list[Value]:
    """List the later places that a gradient came from."""
    return list(dict.fromkeys(place for place, _ in told.all_pulls()))
