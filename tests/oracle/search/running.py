"""Run a random program on torch or on minigrad, and compare what can be seen of it.

Random programs leave out on purpose:

* Hooks on a view that was made under `no_grad` of a tensor that requires a gradient: PyTorch
  2.13.0 crashes the whole process (`guarded` raises instead, for both).
* Versions of gradients, and whether they're views: PyTorch adds up gradients in place where it
  happens to hold the only reference, and returns transposed views where a rule ends in one. So
  programs don't look at these, and change no result of `torch.autograd.grad` in place.
* A write whose source overlaps it in memory: PyTorch doesn't always notice, and what it writes
  depends on the order in which its loops run.
* A change of a leaf's `.grad` in a hook after accumulation, beside hooks on the leaf's accumulate
  node: whether these see it depends on whether PyTorch could take the gradient over as it is.
* `view`, `reshape`, `flatten` and `contiguous` of a result of tensors that lie in memory in another
  order, or of a gradient: one library may have to copy where the other need not. `sort`, `median`
  and their kind of such tensors: which of equal entries is found depends on that order.
* Products of tensors of three dimensions some of which have size 1: which of two ways PyTorch's
  matmul goes depends on strides that NumPy doesn't keep.
* In-place changes of a second output of a Function: PyTorch mixes up which output retains its
  gradient.
* Floating-point tensors written to whole numbers or booleans, which may then require a gradient.
* `.data = ...` of a view, and `detach_()` of what was changed in place.
* Results of `out=` that have another shape, or that share memory with something.
* A tensor that requires a gradient as the gradient that a pass begins with, or as a hook's answer:
  PyTorch shows that very tensor to the next hooks, also in a pass that isn't recorded.
* A text given to or by a module: PyTorch never returns from a legacy hook on such a module.
* Hooks registered after forward in programs whose modules change tensors in place: where that made
  a view invalid, PyTorch raises or not depending on whether the tensor had a hook before.

These count as equal:

* Programs in which PyTorch fails in one of the ways that `ACCIDENTS` lists.
* Numbers where PyTorch itself gives others if the numbers that the program starts from change by
  some units in the last place: the sine of a large number, the sign of what should be 0.
* The numbers in "is at version 2; expected version 1" if their difference is the same, the number
  in "argument 'other' (position 1) must be Tensor", and the list of C++ signatures of an error.
* Names of nodes, and graphs, in programs that differentiate twice, or with one of the nodes that
  `reasons.py` lists: PyTorch has nodes for what is a composition here. Numbers are compared.
* NumPy's own warnings of overflow and the like, which PyTorch never gives.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

import minigrad

from ..compare import EPSILON, differences, unworded
from ..log import Log, run
from ..reasons import REASONS
from ..scenarios.tools import each, look

Program = list[str]
# A random program may divide by a small number or take the difference of large ones, and so make a
# rounding error of its largest entry visible, many units in the last place of a small result. The
# numbers that programs start from have few digits, so a wrong derivative, a missing term or a
# write to the wrong place is off by far more than a thousandth of the unit that float32 rounds
# sums of this size in, and by far more still in float64.
ULPS = {"float32": 2.0**7, "float64": 2.0**18}
ACCIDENTS = (
    "INTERNAL ASSERT FAILED",
    "ZeroTensors are immutable",
    "Autograd not support dtype",
    "Boolean value of Tensor with more than one value is ambiguous",
    "left out",
)


def namespace(torch: ModuleType, log: Log) -> dict[str, Any]:
    """Give the names that a program may use."""
    given: set[str] = set()  # the variables that are gradients, or share memory with one
    names = {"torch": torch, "F": torch.nn.functional, "log": log, "np": np, "_given": given}
    return names | {"look": look, "each": each, "__name__": "program"}


def execute(program: Program, torch: ModuleType, log: Log) -> None:
    """Run the statements one by one, and go on after errors."""
    names = namespace(torch, log)
    try:
        with guarded(torch):
            for text in program:
                try:
                    exec(text, names)
                except Exception as error:
                    log.error(text, error)
    finally:
        restore(torch, names)


def restore(torch: ModuleType, names: dict[str, Any]) -> None:
    """Leave nothing of a program behind: the hooks of all modules would stay."""
    torch.set_grad_enabled(True)
    for value in names.values():
        if isinstance(value, torch.utils.hooks.RemovableHandle):
            value.remove()


@contextlib.contextmanager
def guarded(torch: ModuleType) -> Iterator[None]:
    """Refuse the hooks that crash PyTorch."""
    names = ("register_hook", "register_post_accumulate_grad_hook")
    own = {name: getattr(torch.Tensor, name) for name in names}

    def refusing(name: str) -> Any:
        def register(tensor: Any, hook: Any) -> Any:
            view = tensor._is_view() and tensor.requires_grad and tensor.is_leaf
            if view and tensor._base.requires_grad:
                raise RuntimeError("left out: a hook on a view made under no_grad")
            return own[name](tensor, hook)

        return register

    try:
        for name in names:
            setattr(torch.Tensor, name, refusing(name))
        yield
    finally:
        for name in names:
            setattr(torch.Tensor, name, own[name])


def run_program(program: Program, torch: ModuleType) -> list[Any]:
    """Give the log of one program."""
    events = run(lambda module, log: execute(program, module, log), torch)
    # Python names functions by their module, which is another one here
    text = json.dumps(events, default=lambda _: "no label")
    return json.loads(text.replace("minigrad.nn.", "torch.nn."))  # type: ignore[no-any-return]


def shaken(program: Program) -> Program:
    """Change the numbers that a program starts from by some units in the last place."""

    def shake(literal: re.Match[str]) -> str:
        off = 2.0 ** (-48 if "float64" in literal[0] else -21)
        return re.sub(r"\d+\.\d+", lambda number: str(float(number[0]) * (1 + off)), literal[0])

    return [re.sub(r"torch\.tensor\([^)]*\)", shake, text) for text in program]


def compare(program: Program, torch: ModuleType, words: bool = True) -> list[str]:
    """Run a program on both and list the differences; `words`: the texts of errors count."""
    expected, actual = run_program(program, torch), run_program(program, minigrad)
    names = not any("create_graph" in text for text in program) and not _has_other_nodes(expected)
    if not words:
        expected = json.loads(json.dumps(expected), object_hook=_without_message)
    found = apart(expected, actual)
    if found and not names:
        found = apart(expected, actual, names=False)
    if not found or apart(expected, actual, infinitely=True, names=names):
        return found
    # only numbers differ: can PyTorch itself tell them, or do they depend on rounding?
    unsure = apart(expected, run_program(shaken(program), torch), names=names)
    return [] if unsure else found


def apart(
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
    expected, actual = unworded(_comparable(expected)), _comparable(actual)
    largest = max([1.0, *_magnitudes(expected)])
    room = {dtype: (ULPS.get(dtype, 8.0) * epsilon, largest) for dtype, epsilon in EPSILON.items()}
    if infinitely:
        room = dict.fromkeys(room, (float("inf"), 1.0))
    elif "float32" in json.dumps(expected):
        room["float64"] = room["float32"]
    return differences(expected, actual, room=room)


def _without_message(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "message": ""} if "message" in value else value


def _has_other_nodes(events: list[Any]) -> bool:
    """Tell whether PyTorch has a node for what is made of others here: see `reasons.py`."""
    patterns = [re.escape(p).replace(r"\*", r"\w*").replace(r"\?", ".") for p in _ONE_NODE]
    return re.search(rf"\b({'|'.join(patterns)})\b", json.dumps(events)) is not None


_ONE_NODE = ["ClampM*Backward1", *" ".join(each.nodes for each in REASONS.values()).split()]
_NODE = re.compile(r" [\w:]*Back[wW]ard\w*(?=\"| )")
_VERSIONS = re.compile(r"is at version (\d+); expected version (\d+) instead")


def _without_names(events: list[Any]) -> list[Any]:
    """Leave out graphs, and the names of nodes behind the dtypes and shapes of tensors."""
    kept = [event for event in events if not str(event[0]).startswith("graph of ")]
    return json.loads(_NODE.sub(" node", json.dumps(kept)))  # type: ignore[no-any-return]


def _comparable(events: list[Any]) -> list[Any]:
    """Leave out NumPy's warnings, those that come once a process, and what messages count."""
    kept = []
    for event in events:
        told = event[-1] if isinstance(event[-1], dict) else {}
        text = str(told.get("message", ""))
        if told.get("warning") == "RuntimeWarning" or " is in beta " in text:
            continue
        if text:
            if "received an invalid comb" in text:
                text = ""
            text = _VERSIONS.sub(lambda found: f"{int(found[1]) - int(found[2])} later", text)
            text = re.sub(r" \(position \d+\)|which is output \d of \w+", "", text)
            event = [*event[:-1], {**told, "message": text}]
        kept.append(event)
    return kept


def _magnitudes(value: Any) -> list[float]:
    """Give the absolute values of all finite floats in a log."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [magnitude for item in value for magnitude in _magnitudes(item)]
    return [abs(value)] if isinstance(value, float) else []


def note_given(text: str, names: dict[str, Any]) -> None:
    """Note which variables are gradients or share memory with one."""
    given = names["_given"]
    targets = re.match(r"(?:with [^:]*: )?([\w, ]+?),? = ", text)
    for name in targets[1].split(", ") if targets else ():
        given.discard(name)
        value = names.get(name)
        gradient = re.search(r"= (?:\w+\.grad$|torch\.autograd\.grad\()", text)
        if isinstance(value, minigrad.Tensor) and (
            gradient or any(shares(value, names[other]) for other in given if other in names)
        ):
            given.add(name)


def shares(one: Any, other: Any) -> bool:
    """Tell whether two tensors of minigrad may share memory."""
    return bool(np.may_share_memory(one._array, other._array))


def looks_at_gradients(program: Program) -> bool:
    """Tell whether a program looks at versions of gradients, as one made shorter may."""
    given = set[str]()
    for text in program:
        if found := re.match(r"([\w, ]+?),? = (?:\w+\.grad$|torch\.autograd\.grad\()", text):
            given |= {*found[1].split(", ")}
    looked = {name for text in program if text[:5] == "look(" for name in re.findall(r"\w+", text)}
    return bool(given & looked)


def apart_in_kind(found: list[str]) -> str:
    """Tell differences apart roughly, so that a program made smaller keeps its kind of failure."""
    if not found:
        return ""
    first = found[0].split("\n")[0].split(": ", 1)[-1]
    return re.sub(r"[-+\d.e]+|\b[a-z]\b", "", "number" if "tolerance" in first else first)[:40]
