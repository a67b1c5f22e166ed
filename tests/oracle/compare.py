"""Compare two logs event by event and say in a few lines where they part."""

from __future__ import annotations

import json
import re
from typing import Any

# PyTorch and NumPy round exp, tanh and long sums differently in the last bits. Eight units in the
# last place
# of the largest entry (of 1 where all are smaller, as terms of that size have gone in and
# cancelled) leave room
# for that, and a wrong derivative is wrong by far more.
ULPS = 8
EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52, "float16": 2.0**-10}
ROOM = {dtype: (ULPS * epsilon, 1.0) for dtype, epsilon in EPSILON.items()}
Room = dict[str, tuple[float, float]]


# The families whose words are PyTorch's: hooks, graph, engine, views, in-place, saved values,
# modes, Function, gradcheck, Module. Elsewhere errors and warnings are compared in type and place.
_SUBJECT = re.compile(
    "accumulation|anomaly|calling|checkpoint|custom_function|engine|"
    "grad_mode|gradcheck|gradient_|graph_|higher_|hook_|inference_|inplace|lazy_|module|multi_grad|"
    "mutation|node|old_variables|operations_reshaping_in_place|optimizer_hooks|optimizer_state_hooks|"
    "saved_|second_|tensor_attributes|tensor_hook|tensor_memory|threads"
)


def worded(family: str) -> bool:
    """Tell whether a family's errors have PyTorch's words."""
    return _SUBJECT.match(family) is not None


# What is said of graphs, gradients, hooks, views and changes in place is said in PyTorch's words;
# of other errors and warnings the type counts.
_WORDED = re.compile(r"grad|hook|leaf|view|in-?place|[Gg]raph|[Bb]ackward|Variable")


def unworded(value: Any) -> Any:
    """Take out of what is expected the messages that may be in other words."""
    if isinstance(value, list):
        return [unworded(item) for item in value]
    if isinstance(value, dict) and "message" in value and not _WORDED.search(value["message"]):
        return {**value, "message": ""}
    return value


def differences(
    expected: list[Any],
    actual: list[Any],
    limit: int = 5,
    room: Room = ROOM,
    words: bool = True,
) -> list[str]:
    """List how the actual log differs from the expected one; an empty list means that
    they agree.

    Args:
        expected: The events that there should be.
        actual: The events that there are.
        limit: How many differences are listed.
        room: For each dtype how far numbers may be apart relative to the largest entry, and what
            that counts as at least.
    """
    found: list[str] = []
    for index in range(max(len(expected), len(actual))):
        if len(found) == limit:
            return [
                *found,
                f"... and perhaps more (logs of {len(expected)} and {len(actual)} events)",
            ]
        if index >= len(actual):
            found.append(f"event {index}: missing\n  expected {_show(expected[index])}")
        elif index >= len(expected):
            found.append(f"event {index}: one too many\n  got      {_show(actual[index])}")
        elif why := _differ(expected[index], actual[index], room, words):
            both = f"  expected {_show(expected[index])}\n  got      {_show(actual[index])}"
            found.append(f"event {index}: {why}\n{both}")
    return found


def _show(event: Any) -> str:
    text = json.dumps(event)
    return text if len(text) <= 700 else f"{text[:700]} ..."


def _differ(expected: Any, actual: Any, room: Room, words: bool) -> str:
    """Say how two JSON values differ, or return an empty string."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _differ_dict(expected, actual, room, words)
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return f"{len(actual)} items instead of {len(expected)}"
        for a, b in zip(expected, actual, strict=True):
            if why := _differ(a, b, room, words):
                return why
        return ""
    if isinstance(expected, float) and isinstance(actual, float):
        return _differ_numbers(expected, actual, room["float32"])
    if type(expected) is not type(actual) or expected != actual:
        return f"{actual!r} instead of {expected!r}"
    return ""


def _differ_dict(expected: dict[str, Any], actual: dict[str, Any], room: Room, words: bool) -> str:
    if list(expected) != list(actual):
        return f"{list(actual)} instead of {list(expected)}"
    if "message" in expected:
        kind = "error" if "error" in expected else "warning"
        if expected[kind] != actual[kind]:
            return f"{kind} {actual[kind]} instead of {expected[kind]}"
        # minigrad may go on to say what to do; PyTorch's own text stands first, unchanged.
        if words and not actual["message"].startswith(expected["message"]):
            return f"{kind} message does not begin with PyTorch's"
        return ""
    for key in expected:
        dtype = key.removeprefix("Parameter ").split("[")[0]
        differ = _differ(expected[key], actual[key], room, words)
        if dtype in EPSILON and "[" in key:
            differ = _differ_numbers(expected[key], actual[key], room[dtype])
        if differ:
            return differ
    return ""


def _differ_numbers(expected: Any, actual: Any, room: tuple[float, float]) -> str:
    """Compare the entries of two tensors of one shape within the stated tolerance."""
    a, b = _flat(expected), _flat(actual)
    if len(a) != len(b):
        return f"{len(b)} entries instead of {len(a)}"
    finite = [abs(value) for value in a if not isinstance(value, str)]
    relative, least = room
    tolerance = relative * max([least, *finite])
    for left, right in zip(a, b, strict=True):
        if isinstance(left, str) or isinstance(right, str):
            if left != right:
                return f"{right} instead of {left}"
        elif abs(left - right) > tolerance:
            off = f"off by {abs(left - right):.3g}, tolerance {tolerance:.3g}"
            return f"{right} instead of {left}: {off}"
    return ""


def _flat(value: Any) -> list[Any]:
    if isinstance(value, list):
        return [entry for item in value for entry in _flat(item)]
    return [value]
