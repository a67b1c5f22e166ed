"""Compare the logs of one tensor program, with room for rounding."""

from __future__ import annotations

import json
import re
from typing import Any

from ..compare import EPSILON, unworded
from ..compare import differences as differences_within

# A random program may divide by a small number or take the difference of large ones, and so make a
# rounding error of its largest entry visible, many units in the last place of a small result. The
# numbers that programs start from have few digits, so a wrong derivative, a missing term or a
# write to the wrong place is off by far more than a thousandth of the unit that float32 rounds
# sums of this size in, and by far more still in float64.
ULPS = {"float32": 2.0**7, "float64": 2.0**18}


# Errors that end the comparison of a program (see `excluded`).
ACCIDENTS = (
    "INTERNAL ASSERT FAILED",
    "ZeroTensors are immutable",
    "Autograd not support dtype",
    "Boolean value of Tensor with more than one value is ambiguous",
)


def differences(
    expected: list[Any], actual: list[Any], *, infinitely: bool = False, names: bool = True
) -> list[str]:
    """List how the logs of a program differ.

    Numbers may be apart by some units in the last place of the program's largest entry. If
    anything in the program was float32, its rounding may show everywhere. `infinitely`: numbers
    may be any. `names`: the names of nodes count.
    """
    if any(accident in json.dumps(expected) for accident in ACCIDENTS):
        return []
    if not names:
        expected, actual = _without_names(expected), _without_names(actual)
    expected = _comparable(expected)
    actual = _without_signatures(expected, _comparable(actual))
    expected = unworded(expected)
    largest = max([1.0, *_magnitudes(expected)])
    single = "float32" in json.dumps(expected)
    room = {dtype: (ULPS.get(dtype, 8.0) * epsilon, largest) for dtype, epsilon in EPSILON.items()}
    if infinitely:
        room = dict.fromkeys(room, (float("inf"), 1.0))
    elif single:
        room["float64"] = room["float32"]
    return differences_within(expected, actual, room=room)


def _left_out(event: Any) -> bool:
    """Tell of NumPy's own warnings, and of those that minigrad gives once only."""
    if not (isinstance(event, list) and len(event) == 1 and isinstance(event[0], dict)):
        return False
    kind, message = event[0].get("warning"), str(event[0].get("message"))
    return kind == "RuntimeWarning" or " is in beta " in message


def _signatures(event: Any) -> bool:
    error = event[-1] if isinstance(event, list) and event else None
    return isinstance(error, dict) and "received an invalid comb" in str(error.get("message"))


def _without_signatures(expected: list[Any], actual: list[Any]) -> list[Any]:
    """Take over the message where PyTorch's is a list of signatures: only its type counts."""
    return [
        [got[0], want[1]]
        if _signatures(want) and len(got) == 2 and isinstance(got[1], dict) and "error" in got[1]
        else got
        for want, got in zip(expected, actual, strict=False)
    ] + actual[len(expected) :]


_NODE = re.compile(r" [\w:]*Back[wW]ard\w*(?=\"| )")


def _without_names(events: list[Any]) -> list[Any]:
    """Leave out graphs, and the names of nodes behind the dtypes and shapes of tensors."""
    kept = [event for event in events if not str(event[0]).startswith("graph ")]
    written = _NODE.sub(" node", json.dumps(kept))
    return json.loads(written)  # type: ignore[no-any-return]


_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+) instead")


def _later(match: re.Match[str]) -> str:
    return f"is {int(match[1]) - int(match[2])} versions later"


def _comparable(value: Any) -> Any:
    """Take out of the messages what `excluded` says."""
    if isinstance(value, list):
        return [_comparable(item) for item in value if not _left_out(item)]
    if isinstance(value, dict) and _VERSIONS.search(str(value.get("message"))):
        return {**value, "message": _VERSIONS.sub(_later, value["message"])}
    if isinstance(value, dict) and "received an invalid comb" in str(value.get("message")):
        return {**value, "message": value["message"].split(" - got")[0]}
    if isinstance(value, dict) and "(position " in str(value.get("message")):
        return {**value, "message": re.sub(r" \(position \d+\)", "", value["message"])}
    return value


def _magnitudes(value: Any) -> list[float]:
    """Give the absolute values of all finite floats in a log."""
    if isinstance(value, float):
        return [abs(value)]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [magnitude for item in value for magnitude in _magnitudes(item)]
    return []
