"""Run the answers of lesson 01: a chain, and backward passes through it with a mistake in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from minigrad.classroom.behaviors import Trial
from minigrad.classroom.exercises import Mistake
from minigrad.classroom.values import as_number

Slope = Callable[[SimpleNamespace], float]
Seen = Callable[[Sequence[Trial]], bool]


# --- backward passes with a mistake in them


@dataclass(frozen=True)
class Chain:
    """A chain and its backward pass, each link and each side road written for itself.

    Args:
        forward: for each value on the way, how it is computed from those before.
        main: from the loss on, for each place the slope of the link that leads there.
        roads: for each input the place where its road leaves, and the slope of its own link.
    """

    forward: Mapping[str, Slope]
    main: Mapping[str, Slope]
    roads: Mapping[str, tuple[str, Slope]]

    def __call__(self, *values: float) -> tuple[float, ...]:
        """Give the gradients of the inputs."""
        known = self.known(*values)
        return tuple(known.at[place] * slope(known) for place, slope in self.roads.values())

    def known(self, *values: float) -> SimpleNamespace:
        """Give all values, and as `at` what arrives at each place.

        Args:
            *values: the inputs, in the order of their roads.
        """
        known = SimpleNamespace(**dict(zip(self.roads, values, strict=True)))
        for name, compute in self.forward.items():
            setattr(known, name, compute(known))
        known.at, arrives = {}, 1.0
        for place, slope in self.main.items():
            arrives *= slope(known)
            known.at[place] = arrives
        return known

    def but(self, **changed: Slope) -> Chain:
        """Make a chain in which some links have another slope.

        Args:
            **changed: for each place the slope of the link that leads there.
        """
        return replace(self, main={**self.main, **changed})

    def after(self, **changed: Slope) -> Chain:
        """Make a chain with another forward pass.

        Args:
            **changed: for each value how it is computed.
        """
        return replace(self, forward={**self.forward, **changed})


def one(_: SimpleNamespace) -> float:
    """Give the slope of what is added."""
    return 1.0


CHAIN = Chain(
    forward={
        "x1": lambda v: v.w0 * v.x + v.b0,
        "s": lambda v: v.w1 * v.x1 + v.b1,
        "y": lambda v: v.s**2,
    },
    main={"y": lambda v: 2 * (v.y - 1), "s": lambda v: 2 * v.s, "x1": lambda v: v.w1},
    roads={
        "x": ("x1", lambda v: v.w0),
        "w0": ("x1", lambda v: v.x),
        "b0": ("x1", one),
        "w1": ("s", lambda v: v.x1),
        "b1": ("s", one),
    },
)
"""The chain of the lesson."""

DEEPER = Chain(
    forward={**CHAIN.forward, "t": lambda v: v.w2 * v.y + v.b2, "z": lambda v: v.t**2},
    main={
        "z": lambda v: 2 * (v.z - 1),
        "t": lambda v: 2 * v.t,
        "y": lambda v: v.w2,
        "s": lambda v: 2 * v.s,
        "x1": lambda v: v.w1,
    },
    roads={**CHAIN.roads, "w2": ("t", lambda v: v.y), "b2": ("t", one)},
)
"""The chain with one more layer."""

FROM_X1 = Chain(
    forward={"s": CHAIN.forward["s"], "y": CHAIN.forward["y"]},
    main=CHAIN.main,
    roads={"x1": ("x1", one), "w1": CHAIN.roads["w1"], "b1": CHAIN.roads["b1"]},
)
"""The chain from x1 on."""


def at_x1(chain: Chain) -> Callable[..., float]:
    """Make a function that gives the gradient of x1 only.

    Args:
        chain: from x1 on, perhaps with a mistake.
    """
    return lambda x1, w1, b1: chain(x1, w1, b1)[0]


# --- what the results of several calls have in common


def values_of(trial: Trial) -> list[float]:
    """Read the numbers in order out of a result.

    Args:
        trial: a call.
    """
    result = trial.result
    if isinstance(result, set | str | Mapping) or result is None:
        raise TypeError("no values in order")
    entries = result if hasattr(result, "__len__") else [result]
    numbers = [as_number(entry) for entry in entries]
    if any(number is None for number in numbers):
        raise TypeError("not a number")
    return [number for number in numbers if number is not None]


def near(a: float, b: float, tolerance: float = 1e-6) -> bool:
    """Tell whether two numbers are the same but for the last digits.

    Args:
        a: the first.
        b: the second.
        tolerance: relative.
    """
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-9)


def all_near(have: Sequence[float], want: Sequence[float]) -> bool:
    """Tell whether two rows of numbers are the same but for the last digits."""
    return len(have) == len(want) and all(map(near, have, want))


def keeps_something(found: Sequence[Trial]) -> bool:
    """Recognize a function that gives two results for the same numbers: the first and last call."""
    first = found[0].result
    if isinstance(first, list) and any(trial.result is first for trial in found[1:]):
        return True
    return not all_near(values_of(found[0]), values_of(found[-1]))


def results_of(found: Sequence[Trial], right: Callable[..., Any]) -> Iterator[tuple[Any, Any]]:
    """Give, for each call, the numbers that came and those that should have come.

    Args:
        found: the calls.
        right: the right function.
    """
    for trial in found:
        want = right(*trial.args)
        yield values_of(trial), list(want) if isinstance(want, tuple) else [want]


def permuted(right: Callable[..., Any]) -> Seen:
    """Recognize the right values in another order, the same one each time."""

    def seen(found: Sequence[Trial]) -> bool:
        pairs = list(results_of(found, right))
        size = len(pairs[0][1])
        sources = set()
        for place in range(size):
            fits = (all(near(have[place], want[k]) for have, want in pairs) for k in range(size))
            sources.add(tuple(k for k, fit in enumerate(fits) if fit))
        return all(len(have) == size for have, _ in pairs) and (
            all(sources) and len(set().union(*sources)) == size
        )

    return seen


def nearly(right: Callable[..., Any]) -> Seen:
    """Recognize values that are right but for their last digits: rounded, or by a small step."""

    def close(have: float, want: float) -> bool:
        return abs(have - want) <= 0.01 + 0.1 * abs(want)

    def seen(found: Sequence[Trial]) -> bool:
        pairs = list(results_of(found, right))
        few = max(abs(w) for _, want in pairs for w in want) > 0.5
        return few and all(len(a) == len(b) and all(map(close, a, b)) for a, b in pairs)

    return seen


def only_at_first(right: Callable[..., Any]) -> Seen:
    """Recognize what is right at the numbers of the lesson, and at no others."""

    def seen(found: Sequence[Trial]) -> bool:
        fit = [all_near(have, want) for have, want in results_of(found, right)]
        return fit[0] and fit[-1] and sum(fit) <= 4

    return seen


def one_sign(right: Callable[..., Any]) -> Seen:
    """Recognize results whose signs are the other way round, but not in all calls."""

    def seen(found: Sequence[Trial]) -> bool:
        pairs = [(have, want) for have, want in results_of(found, right) if any(want)]
        fit = [all_near(have, want) for have, want in pairs]
        turned = [all_near(have, [-w for w in want]) for have, want in pairs]
        return any(fit) and all(a or b for a, b in zip(fit, turned, strict=True))

    return seen


def has_more(right: Callable[..., Any]) -> Seen:
    """Recognize the right gradients with more values before or behind them."""

    def seen(found: Sequence[Trial]) -> bool:
        return all(
            len(have) > len(want)
            and (all_near(have[: len(want)], want) or all_near(have[-len(want) :], want))
            for have, want in results_of(found, right)
        )

    return seen


def moved(right: Callable[..., Any]) -> Callable[..., tuple[float, ...]]:
    """Make a function that returns the inputs after a step, in place of the gradients."""
    return lambda *values: tuple(v - g for v, g in zip(values, right(*values), strict=True))


def rearranged(*order: int) -> Callable[..., tuple[float, ...]]:
    """Make a backward pass that returns the right gradients in another order."""

    def backward(*values: float) -> tuple[float, ...]:
        gradients = (DEEPER if len(values) > len(CHAIN.roads) else CHAIN)(*values)
        return tuple(gradients[place] for place in order)

    return backward


# --- one gradient of several


def _first_wrong(found: Sequence[Trial], chain: Chain) -> int:
    results = list(results_of(found, chain))
    wrong = (
        place
        for place in range(len(chain.roads))
        if not all(near(have[place], want[place]) for have, want in results)
    )
    return next(wrong, -1)


def entries(chain: Chain) -> list[Mistake]:
    """Declare what goes wrong with one gradient: its road leaves elsewhere, its factor is another.

    Args:
        chain: the right one.
    """
    return [
        mistake
        for name, (place, slope) in chain.roads.items()
        for mistake in _on_a_road(chain, name, place, slope)
    ]


def _on_a_road(chain: Chain, name: str, place: str, slope: Slope) -> Iterator[Mistake]:
    number = list(chain.roads).index(name)
    is_bias = name.startswith("b")

    def seen(factor: Slope, leaves: str = place) -> Seen:
        def is_it(found: Sequence[Trial]) -> bool:
            if _first_wrong(found, chain) != number:
                return False
            known = [chain.known(*trial.args) for trial in found]
            expected = [each.at[leaves] * factor(each) for each in known]
            return all(map(near, (values_of(trial)[number] for trial in found), expected))

        return is_it

    partner = (
        f"{name} is added, so its own link has the derivative 1."
        if is_bias
        else f"{name} stands in a product: with which partner?"
    )
    yield Mistake(
        f"Your gradient of {name} contains {name} itself. {partner}",
        when=seen(attrgetter(name)),
    )
    if not is_bias:
        yield Mistake(
            f"Your gradient of {name} is what arrives where its road leaves. Its own link is "
            "missing: what multiplies it there?",
            when=seen(one),
        )
    yield Mistake(f"Your gradient of {name} is always zero.", when=seen(lambda v: 0.0))
    for other in chain.main:
        if other != place:
            yield Mistake(
                f"Your gradient of {name} takes what arrives at {other}. Where does the road to "
                f"{name} leave the main road?",
                when=seen(slope, other),
            )
    for other in [*chain.roads, *chain.forward]:
        if other != name:
            yield Mistake(
                f"Your gradient of {name} contains {other}. {partner}",
                when=seen(attrgetter(other)),
            )
