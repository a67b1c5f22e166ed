"""Read the equations of einsum: which dimensions meet, and which are summed over."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

ELLIPSIS = "..."
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


class Plan(NamedTuple):
    """What an equation says, for operands of certain numbers of dimensions.

    Attributes:
        labels: For each operand the labels of its dimensions.
        places: For each label its place among all dimensions: first those of the result.
        covered: How many dimensions an ellipsis stands for.
        kept: How many dimensions the result has.
        total: How many dimensions there are in all.
    """

    labels: tuple[tuple[str, ...], ...]
    places: dict[str, int]
    covered: int
    kept: int
    total: int


def _labels(equation: str, count: int) -> list[list[str]]:
    """Read the labels of each operand."""
    text = equation.partition("->")[0]
    found: list[list[str]] = [[]]
    index = 0
    while index < len(text):
        sign = text[index]
        operand = len(found) - 1
        if sign == ".":
            if ELLIPSIS in found[-1]:
                raise RuntimeError(
                    f"einsum(): found '.' for operand {operand} for which an ellipsis was already "
                    "found"
                )
            if text[index : index + 3] != ELLIPSIS:
                raise RuntimeError(
                    f"einsum(): found '.' for operand {operand} that is not part of any ellipsis"
                )
            found[-1].append(ELLIPSIS)
            index += 2
        elif sign == ",":
            if len(found) == count:
                raise RuntimeError(
                    "einsum(): fewer operands were provided than specified in the equation"
                )
            found.append([])
        elif sign != " ":
            found[-1].append(_letter(sign, index))
        index += 1
    if len(found) != count:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return found


def _letter(sign: str, index: int) -> str:
    if sign not in _LETTERS:
        raise RuntimeError(
            f"einsum(): invalid subscript given at index {index} in the equation string, "
            "subscripts must be in [a-zA-Z]"
        )
    return sign


def _output(equation: str, counts: dict[str, int]) -> list[str]:
    """Read the labels of the result; or infer them: those that occur once, in order."""
    _, arrow, text = equation.partition("->")
    if not arrow:
        once = [label for label in _LETTERS if counts.get(label) == 1]
        return [ELLIPSIS, *once]
    start = len(equation) - len(text)
    found: list[str] = []
    index = 0
    while index < len(text):
        sign = text[index]
        if sign == ".":
            if ELLIPSIS in found:
                raise RuntimeError(
                    "einsum(): found '.' for output but an ellipsis (...) was already found"
                )
            if text[index : index + 3] != ELLIPSIS:
                raise RuntimeError(
                    "einsum(): found '.' for output that is not part of any ellipsis (...)"
                )
            found.append(ELLIPSIS)
            index += 2
        elif sign != " ":
            label = _letter(sign, start + index)
            if label in found:
                raise RuntimeError(
                    f"einsum(): output subscript {label} appears more than once in the output"
                )
            if label not in counts:
                raise RuntimeError(
                    f"einsum(): output subscript {label} does not appear in the equation for any "
                    "input operand"
                )
            found.append(label)
        index += 1
    return found


@lru_cache(maxsize=512)
def plan(equation: str, ndims: tuple[int, ...]) -> Plan:
    """Read an equation."""
    labels = _labels(equation, len(ndims))
    counts: dict[str, int] = {}
    covered = 0
    for operand, (own, ndim) in enumerate(zip(labels, ndims, strict=True)):
        has_ellipsis = ELLIPSIS in own
        if has_ellipsis and len(own) - 1 > ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(own) - 1}) is more than "
                f"the number of dimensions ({ndim}) for operand {operand}"
            )
        if not has_ellipsis and len(own) != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(own)}) does not match "
                f"the number of dimensions ({ndim}) for operand {operand} and no ellipsis was given"
            )
        if has_ellipsis:
            covered = max(covered, ndim - len(own) + 1)
        for label in own:
            counts[label] = counts.get(label, 0) + 1
    output = _output(equation, counts)
    places: dict[str, int] = {}
    place = 0
    for label in output:
        places[label] = place
        place += covered if label == ELLIPSIS else 1
    kept = place
    if ELLIPSIS not in places:
        places[ELLIPSIS] = place
        place += covered
    for label in _LETTERS:
        if label in counts and label not in places:
            places[label] = place
            place += 1
    return Plan(tuple(map(tuple, labels)), places, covered, kept, place)


def equation_of(arguments: Sequence[Any]) -> tuple[str, list[Any]]:
    """Turn operands with lists of numbers into an equation and operands."""

    def written(numbers: Any) -> str:
        return "".join(ELLIPSIS if n is Ellipsis else _letter_of(n) for n in numbers)

    pairs = len(arguments) // 2
    equation = ",".join(written(arguments[2 * k + 1]) for k in range(pairs))
    if len(arguments) % 2:
        equation += "->" + written(arguments[-1])
    return equation, [arguments[2 * k] for k in range(pairs)]


def _letter_of(number: int) -> str:
    if not 0 <= number < len(_LETTERS):
        raise ValueError(
            "einsum(): subscript in subscript list is not within the valid range [0, 52)"
        )
    return _LETTERS[number]
