"""Note what an answer is given and what holds for the whole process; say what was changed."""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.autograd import anomaly_mode
from minigrad.core.modes import modes
from minigrad.nn.modules import module
from minigrad.optim import optimizer as optimizer_hooks

_MOST_NODES = 400
_TABLES = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_SLOTS = ("tensor_pre", "pre", "post", "post_accumulate")

SAYS = {
    "values": "It changed what it was given. Make a new value, and leave the argument as it is.",
    "entries": "It changed what it was given: a list or dict has other entries now. Make a copy, "
    "and change that.",
    "requires_grad": "It changed what it was given: requires_grad of a tensor is another now. Work "
    "on a copy of your own, such as x.detach().requires_grad_().",
    "requires_grad of parameters": "It froze parameters, or thawed them. Put back what you found.",
    "grad": "It left its traces in .grad of what it was given. Whoever collects gradients there "
    "finds yours among them: work on a detached copy, or ask for gradients with autograd.grad.",
    "grad of parameters": "It left gradients in .grad of the parameters of a module that it was "
    "given. Put back what was there, or ask for gradients with autograd.grad.",
    "graph": "The graph that it was given cannot be walked a second time now: its saved values are "
    "gone. Others may need them: retain_graph=True keeps them.",
    "hooks": "A hook of yours is still registered on what it was given, and goes on being called. "
    "Keep the handle, and remove it in the end.",
    "hooks gone": "A hook of somebody else's is gone. Remove your own, each by its handle.",
    "training": "It left a module in another mode, train() or eval(). Put back what you found.",
    "settings": "It changed a setting of a module that it was given, and left it so.",
    "modules": "It changed the modules that it was given: there are others in their place now.",
}
"""What to say to each kind of change; the first that applies is said."""


def _state(value: Any, keep: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Give the facts about a value that a well-behaved function leaves alone.

    What is looked at goes into `keep`, so that no number of `id` is used twice.
    """
    done, own = set[int](), set[int]()
    pending = [value]
    while pending:
        each = pending.pop()
        if id(each) in done:
            continue
        done.add(id(each))
        keep.append(each)
        if isinstance(each, nn.Module):
            yield from _of_module(each)
            own.update(map(id, each._parameters.values()))
            for parts in (each._modules, each._parameters, each._buffers):
                pending.extend(parts.values())
        elif isinstance(each, Tensor):
            for kind, key, fact in _of_tensor(each):
                yield f"{kind} of parameters" if "grad" in kind and key in own else kind, key, fact
            if each.grad_fn is not None:
                yield from _of_graph(each.grad_fn)
        elif isinstance(each, np.ndarray):
            yield "values", id(each), _bytes(each)
        elif isinstance(each, list | tuple | set | frozenset):
            yield "entries", id(each), [_identity(entry) for entry in each]
            pending.extend(each)
        elif isinstance(each, Mapping):
            yield "entries", id(each), [(key, _identity(entry)) for key, entry in each.items()]
            pending.extend(each.values())


def _identity(entry: Any) -> Any:
    return entry if isinstance(entry, str | int | float | None) else id(entry)


def _of_tensor(tensor: Any) -> Iterator[tuple[str, Any, Any]]:
    key = id(tensor)
    yield "values", key, _bytes(tensor.detach().numpy())
    yield "requires_grad", key, tensor.requires_grad
    if tensor.is_leaf:
        gradient = tensor.grad
        yield "grad", key, None if gradient is None else _bytes(gradient.detach().numpy())
    yield "hooks", key, _keys(tensor._backward_hooks)
    yield "hooks", (key, "post"), _keys(tensor._post_accumulate_grad_hooks)


def _of_module(module: nn.Module) -> Iterator[tuple[str, Any, Any]]:
    key = id(module)
    yield "training", key, module.training
    yield "hooks", key, [_keys(vars(module).get(table)) for table in _TABLES]
    plain = {name: v for name, v in vars(module).items() if isinstance(v, str | int | float)}
    yield from (("settings", (key, name), v) for name, v in plain.items() if name != "training")
    parts = {**module._modules, **module._parameters, **module._buffers}
    yield "modules", key, [(name, id(part)) for name, part in parts.items()]


def _of_graph(root: Any) -> Iterator[tuple[str, Any, Any]]:
    """Walk through a graph: are its saved values there, and what is in its leaves?"""
    pending, done = [root], {id(root)}
    while pending and len(done) < _MOST_NODES:
        node = pending.pop()
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            yield from (fact for fact in _of_tensor(leaf) if fact[0] in ("grad", "hooks"))
        else:
            yield "graph", id(node), getattr(node, "_saved", ()) is None
        hooks = getattr(node, "_hooks", None)
        yield "hooks", (id(node), "node"), [_keys(getattr(hooks, slot, None)) for slot in _SLOTS]
        for following, _ in node.next_functions:
            if following is not None and id(following) not in done:
                done.add(id(following))
                pending.append(following)


def _bytes(array: Any) -> Any:
    return [str(each) for each in array.flat] if array.dtype == object else array.tobytes()


def _keys(table: Any) -> list[Any]:
    """List the handles of a table of hooks, and of the tables inside of it."""
    items = table.items() if table else ()
    return [(key, list(entry)) if isinstance(entry, Mapping) else key for key, entry in items]


class Belongings:
    """What was handed to an answer, noted before a call.

    Args:
        given: the arguments.

    Example:
        >>> import minigrad as torch
        >>> x = torch.ones(2)
        >>> noted = Belongings([x])
        >>> _ = x.mul_(2)
        >>> noted.changes()
        {'values'}
    """

    def __init__(self, given: Iterable[Any]) -> None:
        self._given = tuple(given)
        self._keep: list[Any] = []
        self._before = self._facts()

    def _facts(self) -> dict[Any, Any]:
        found = list(_state(self._given, self._keep))
        return {(kind, key): fact for kind, key, fact in reversed(found)}  # the first one counts

    def changes(self) -> set[str]:
        """Tell what kinds of things are different now; keys of `SAYS`."""
        now = self._facts()
        found = set()
        for key, fact in self._before.items():
            if key in now and not _same(now[key], fact):
                fewer = key[0] == "hooks" and len(str(now[key])) < len(str(fact))
                found.add("hooks gone" if fewer else key[0])
        return found


def _same(now: Any, before: Any) -> bool:
    """Compare two facts; NaN equals itself here."""
    if isinstance(now, list | tuple) and isinstance(before, list | tuple):
        return len(now) == len(before) and all(map(_same, now, before))
    return bool(now == before or (now != now and before != before))


def said_of(changes: Iterable[str]) -> str | None:
    """Say what was changed, in one sentence or two; None where nothing was.

    Args:
        changes: keys of `SAYS`.
    """
    kinds = set(changes)
    return next((text for kind, text in SAYS.items() if kind in kinds), None)


_GLOBAL_TABLES = [
    table
    for room in (module, optimizer_hooks)
    for name, table in sorted(vars(room).items())
    if name.startswith("_global") and hasattr(table, "items")
]
_OF_THE_MODE = (
    "recording", "inference", "asked", "observers", "saved_hooks", "hooks_forbidden", "recorder",
)  # fmt: skip


def _read_hooks() -> Any:
    return [dict(table) for table in _GLOBAL_TABLES], module._global_is_full_backward_hook


def _write_hooks(noted: Any) -> None:
    for table, before in zip(_GLOBAL_TABLES, noted[0], strict=True):
        table.clear()
        table.update(before)
    module._global_is_full_backward_hook = noted[1]


def _attributes(owner: Any, *names: str) -> tuple[Callable[[], Any], Callable[[Any], object]]:
    """Give what reads attributes of something that the whole process has, and what sets them."""

    def write(noted: Any) -> None:
        for name, value in zip(names, noted, strict=True):
            setattr(owner, name, value)

    return lambda: tuple(getattr(owner, name) for name in names), write


def _write_printing(noted: Any) -> None:
    torch.set_printoptions(**noted[0])
    np.set_printoptions(**noted[1])


def _write_random(noted: Any) -> None:
    random.setstate(noted[0])
    np.random.set_state(noted[1])
    torch.set_rng_state(noted[2])


@dataclass(frozen=True)
class Setting:
    """One thing that holds for the whole process.

    Args:
        left: what to say where code left it changed.
        read: tells what it is.
        write: puts it back.
        usual: what it is to be while an answer is checked; ... for what it was before.
        here: what to say where an earlier cell had changed it; "" where that needs no word.
    """

    left: str
    read: Callable[[], Any]
    write: Callable[[Any], object]
    usual: Any = ...
    here: str = ""


SETTINGS = [
    # Before the mode, because switching it changes the mode.
    Setting(
        "It left anomaly detection switched on or off.",
        lambda: (anomaly_mode.anomaly.enabled, anomaly_mode.anomaly.check_nan),
        lambda noted: anomaly_mode.set_detect_anomaly(*noted),
        usual=(False, True),
    ),
    Setting(
        "It left the recording of operations switched over. As a block, `with torch.no_grad():` or "
        "`with torch.enable_grad():`, a switch goes back by itself, and that holds for "
        "saved-tensor hooks, too.",
        *_attributes(modes, *_OF_THE_MODE),
        usual=(True, None, True, (), (), None, None),
        here="The recording of operations is switched off in this notebook (or tensor hooks of an "
        "earlier cell are in force); the check ran without that.",
    ),
    Setting(
        "It left a global hook registered, and every module in this process would go on calling "
        "it: keep the handle, and remove it in the end, also after an error.",
        _read_hooks,
        _write_hooks,
        usual=([{} for _ in _GLOBAL_TABLES], None),
        here="A global hook from an earlier cell is still registered; the check ran without it. "
        "Remove it by its handle.",
    ),
    Setting(
        "It changed the default dtype and left it so: whatever is computed next would be of "
        "another type.",
        torch.get_default_dtype,
        torch.set_default_dtype,
        usual=torch.float32,  # a lesson may choose float64 for itself
    ),
    Setting(
        "It changed how numbers are printed, and left it so.",
        lambda: (torch.get_printoptions(), np.get_printoptions()),
        _write_printing,
    ),
    Setting(
        "It changed what NumPy does about overflows and divisions by zero, and left it so: "
        "`with np.errstate(...):` goes back by itself.",
        np.geterr,
        lambda noted: np.seterr(**noted),
    ),
    Setting(
        "It seeded the random numbers anew, for the whole process: what others draw next is "
        "decided by that. A torch.Generator of its own disturbs nobody.",
        torch.initial_seed,
        torch.manual_seed,
    ),
    Setting(
        "It changed which warnings are shown, and left it so: `with warnings.catch_warnings():` "
        "goes back by itself.",
        lambda: list(warnings.filters),
        lambda noted: setattr(warnings, "filters", noted),
    ),
    Setting(
        "It put something else in the place of sys.stdout or sys.stderr, and left it so.",
        *_attributes(sys, "stdout", "stderr"),
    ),
    Setting(
        "It changed Python's limit for recursion, and left it so.",
        sys.getrecursionlimit,
        sys.setrecursionlimit,
    ),
]


@contextmanager
def put_back() -> Iterator[list[str]]:
    """Put every setting and the random numbers back at the end of a block.

    Yields:
        A list that holds, after the block, a sentence for each setting that was left changed.
        Drawing random numbers is no such thing; they are put back silently.

    Example:
        >>> with put_back() as left:
        ...     torch.set_default_dtype(torch.float64)
        >>> left[0].partition(":")[0], torch.get_default_dtype()
        ('It changed the default dtype and left it so', torch.float32)
    """
    noted = [setting.read() for setting in SETTINGS]
    drawn = random.getstate(), np.random.get_state(), torch.get_rng_state()
    left: list[str] = []
    try:
        yield left
    finally:
        for setting, before in zip(SETTINGS, noted, strict=True):
            now = setting.read()
            if now != before:
                setting.write(before)
                # A hook that came and went leaves behind only the choice between full and old.
                if setting.read is not _read_hooks or now[0] != before[0]:
                    left.append(setting.left)
        _write_random(drawn)


@contextmanager
def as_usual() -> Iterator[list[str]]:
    """Have every setting as it is in a fresh notebook, for a block; then put all of it back.

    Yields:
        A sentence for each setting that was unusual before the block.

    Example:
        >>> with torch.no_grad(), as_usual() as unusual:
        ...     torch.is_grad_enabled()
        True
        >>> len(unusual)
        1
    """
    unusual: list[str] = []
    with put_back():
        for setting in SETTINGS:
            if setting.usual is not ... and setting.read() != setting.usual:
                if setting.here and not (setting.read is _read_hooks and not any(_read_hooks()[0])):
                    unusual.append(setting.here)
                setting.write(setting.usual)
        yield unusual
