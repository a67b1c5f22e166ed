"""Run a learner's code: stop endless loops, explain errors, see and undo what else it changed."""

from __future__ import annotations

import contextlib
import inspect
import io
import linecache
import os
import random
import sys
import sysconfig
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Self

import numpy as np

import minigrad as torch
from minigrad import Tensor, autograd, func, nn
from minigrad.autograd import anomaly_mode, functional
from minigrad.autograd.gradients import in_another_thread
from minigrad.classroom.data import CHECKS
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import describe, rounded, without_addresses
from minigrad.core import engine
from minigrad.core.modes import Modes, modes
from minigrad.nn.modules import module
from minigrad.optim import optimizer

# Checks are the machinery's, and the lessons': their errors are not the learner's.
_CHECKS = tuple(f"{each}{os.sep}" for each in (Path(__file__).resolve().parent, CHECKS) if each)
_PACKAGE = str(Path(__file__).resolve().parents[1])
# Lines of libraries are not counted: one call of SymPy may take a million of them.
_LIBRARIES = (
    _PACKAGE,
    *_CHECKS,
    "<minigrad",  # functions that the tape wrote
    "<frozen",
    *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")},
)

# Python 3.11 does not report the lines of `while True: pass` on one line; its steps it does.
_COUNT_STEPS = sys.version_info < (3, 12)
_STEPS_A_LINE = 20

MOST_LINES = 300_000
"""How many of its lines a learner's code may run through before it counts as endless."""

MOST_SECONDS = 8.0
"""How long a run may compute: for loops whose few lines are slow."""

MOST_THREADS = 100
"""How many threads a learner's code may start: a backward pass in a hook begins new ones."""

ENGINE = ("backward", "grad", "autograd")
"""Names that mean the engine itself: forbidding one of them forbids every way to start it."""


class Endless(BaseException):
    """A function ran through too many lines; no `except Exception` of the learner stops it."""


class Forbidden(BaseException):
    """A function called what would skip the exercise; no `except Exception` stops it."""


def _code(function: Any) -> CodeType | None:
    function = inspect.unwrap(function) if callable(function) else function
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code if isinstance(code, CodeType) else None


@cache
def codes(names: tuple[str, ...]) -> tuple[frozenset[Any], frozenset[Any]]:
    """Find what may not run where these names are forbidden.

    Args:
        names: of functions or methods, such as "backward" or "register_full_backward_hook".

    Returns:
        Code that may not run at all, and code that the learner may not call, though libraries may.
    """
    nowhere: list[Any] = []
    if set(names) & set(ENGINE):  # what every backward pass runs through, and the forward modes
        nowhere += [engine.run_backward, func.jacfwd, functional.jvp]
    holders = [torch, Tensor, autograd, functional, func, nn.Module, nn.functional, np, np.linalg]
    sympy: Any = sys.modules.get("sympy")
    if sympy is not None and "diff" in names:
        nowhere += [sympy.diff, sympy.Expr.diff, sympy.Poly.diff, sympy.Derivative.__new__]
    found = [getattr(holder, name, None) for holder in holders for name in names]
    nothing = {None, _code(getattr(func, "what minigrad lacks", None))}  # one function for all
    return frozenset(map(_code, nowhere)) - nothing, frozenset(map(_code, found)) - nothing


class Watch:
    """The trace function of one run; `with watch.on():` lets it see every call and line.

    Args:
        most_lines: how many lines of its own the learner's code may run through.
        forbidden: names of what may not be called.
        only_inside: a list that is empty where nothing is forbidden just now, or None for always.

    Attributes:
        called: what was called although it is forbidden, in words.
        too_much: what there was too much of, in words.
    """

    def __init__(
        self, most_lines: int, forbidden: Sequence[str] = (), only_inside: list[Any] | None = None
    ) -> None:
        self.called: str | None = None
        self.too_much: str | None = None
        self._most, self._left = most_lines, most_lines * _STEPS_A_LINE
        # This clock does not run while the machine is busy with other programs.
        self._until = time.process_time() + MOST_SECONDS
        self._of_the_notebook = {name for name in forbidden if not any(codes((name,)))}
        self._nowhere, self._not_by_hand = codes(tuple(forbidden))
        self._forbidden, self._inside = bool(forbidden), only_inside
        self._threads = threading.active_count() + MOST_THREADS

    @property
    def is_over(self) -> bool:
        """Whether it has ended what it watches, so that Python takes it off."""
        return self.too_much is not None or self.called is not None

    @contextlib.contextmanager
    def on(self) -> Iterator[Self]:
        """Watch this thread, and those that start meanwhile."""
        before, others = sys.gettrace(), threading.gettrace()
        with np.errstate():  # what is ended on the way out of such a block leaves it in force
            threading.settrace(self)
            sys.settrace(self)
            try:
                yield self
            finally:
                sys.settrace(before)
                threading.settrace(others)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        """Look at a call, a line or a step."""
        code = frame.f_code
        library = code.co_filename.startswith(_LIBRARIES)
        self._left -= {"line": _STEPS_A_LINE, "opcode": 1}.get(event, 0)
        if self._left < 0 or time.process_time() > self._until:
            if library and self.is_over:  # it closes what is open, where this wasn't taken off
                return None
            lines, seconds = f"{self._most:,} lines of Python", f"{MOST_SECONDS:g} seconds"
            self._end(f" within {lines if self._left < 0 else seconds}. Is there an endless loop?")
        if event == "call":
            if self._forbidden and (self._inside is None or self._inside):
                self._look_at(frame, code, library)
            if code is in_another_thread.__code__ and threading.active_count() > self._threads:
                self._end(": each backward pass starts another. Does a hook call backward on the "
                          "graph that it sits on?")  # fmt: skip
            if library:
                return None
            frame.f_trace_opcodes = _COUNT_STEPS
        return self

    def _end(self, why: str) -> None:
        self.too_much = self.too_much or f"It didn't finish{why}"
        raise Endless

    def _look_at(self, frame: FrameType, code: CodeType, library: bool) -> None:
        # Functions may stand in a wrapper that checks their arguments: two frames are looked at.
        callers = [frame.f_back, frame.f_back and frame.f_back.f_back]
        by_hand = any(each and not is_library(each.f_code.co_filename) for each in callers)
        own = not library and code.co_name in self._of_the_notebook
        if code in self._nowhere:
            self.called = "It has the derivative found for it"
        elif by_hand and (own or code in self._not_by_hand):
            self.called = f"It called {code.co_name.lstrip('_')}"
        else:
            return
        raise Forbidden


def is_library(file: str) -> bool:
    """Tell whether a file belongs to a library, and not to the learner.

    Args:
        file: as a code object names it.
    """
    return file.startswith(_LIBRARIES)


@dataclass(frozen=True)
class Outcome:
    """The result of a run: a value, or the trouble in words.

    Args:
        value: what the function returned.
        trouble: what went wrong, in words; None where it returned.
        raised: the kind and the text of the error, for looking into.
        unsolved: whether the function said that it is not written yet.
        endless: whether it was stopped.
        checks: whether the error came up in the check itself, which made nothing of the answer.
        left: what it left changed for the whole process, in words; it is put back.
    """

    value: Any = None
    trouble: str | None = None
    raised: str = ""
    unsolved: bool = False
    endless: bool = False
    checks: bool = False
    left: tuple[str, ...] = ()


class HeldBack(io.StringIO):
    """Takes what is printed and keeps none of it, however much it is.

    Attributes:
        lines: how many were begun, on all such streams together.
    """

    lines = 0

    def write(self, text: str) -> int:
        """Count, and forget."""
        HeldBack.lines += text.count("\n")
        return len(text)


def run(
    function: Callable[..., Any],
    *args: Any,
    most_lines: int = MOST_LINES,
    without: Sequence[str] = (),
    only_inside: list[Any] | None = None,
) -> Outcome:
    """Call a function and catch whatever it does wrong.

    Lines are counted, so that the outcome does not depend on how fast the machine is; the time
    limit is far off, for loops whose lines are slow. Settings that the function changes for the
    whole process are put back. What sleeps, or never comes back from compiled code, is not stopped.

    Args:
        function: what to call.
        *args: its arguments.
        most_lines: how many lines it may run through.
        without: names of functions that may not be called meanwhile, in whatever way.
        only_inside: a list; only while there is something in it are they forbidden.

    Example:
        >>> run(lambda x: 2 * x, 3).value
        6
        >>> def forever():
        ...     while True:
        ...         pass
        >>> run(forever, most_lines=1000).trouble
        "It didn't finish within 1,000 lines of Python. Is there an endless loop?"
    """
    watch, aside = Watch(most_lines, without, only_inside), HeldBack()
    with (
        contextlib.redirect_stdout(aside),
        contextlib.redirect_stderr(aside),
        warnings.catch_warnings(),
        put_back() as left,
    ):
        warnings.simplefilter("ignore")
        try:
            with watch.on():
                value = function(*args)
            outcome = Outcome(value)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            outcome = _explained(error)
    if watch.called is not None:
        trouble = f"{watch.called}. Here it has to work without that: it's the exercise."
        outcome = Outcome(trouble=trouble, raised=f"Forbidden: {watch.called}")
    elif watch.too_much is not None:
        outcome = Outcome(trouble=watch.too_much, raised="Endless", endless=True)
    return replace(outcome, left=tuple(left))


def _explained(error: BaseException) -> Outcome:
    """Describe a run that ended in an error, and whose error it is."""
    raised = f"{type(error).__name__}: {without_addresses(_text(error))}"
    if isinstance(error, Objection):
        return Outcome(trouble=_text(error), raised=raised)
    steps = list(traceback.walk_tb(error.__traceback__))
    files = [frame.f_code.co_filename for frame, _ in steps]
    if isinstance(error, NotImplementedError) and files and not is_library(files[-1]):
        return Outcome(trouble="It isn't written yet.", raised=raised, unsolved=True)
    ours = [file for file in files if file.startswith((_PACKAGE, "<minigrad", *_CHECKS))]
    checks = bool(ours) and ours[-1].startswith(_CHECKS) and all(map(is_library, files))
    lines = [
        linecache.getline(file, number).strip()
        for file, (_, number) in zip(files, steps, strict=True)
        if "ipykernel_" in file or file.startswith("<ipython-input")
    ]
    where = f', in the line "{lines[-1]}"' if lines else ""
    trouble = f"It raised {raised.rstrip('. :')}{where}."
    return Outcome(trouble=trouble, raised=raised, checks=checks)


def _text(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())
    except Exception:  # the learner's own __str__ fails
        return ""


def called_with(name: str, args: tuple[Any, ...]) -> str:
    """Name the arguments of a call: one in words, several numbers or words as the call reads.

    Args:
        name: of the function that is called.
        args: its arguments.

    Example:
        >>> called_with("f", (0.5,))
        'the number 0.5'
        >>> called_with("f", (0.5, 2, "sum"))
        "f(0.5, 2, 'sum')"
    """
    if len(args) > 1 and all(isinstance(argument, int | float | str) for argument in args):
        written = (repr(a) if isinstance(a, str) else rounded(a) for a in args)
        return f"{name if name.isidentifier() else 'f'}({', '.join(written)})"
    return " and ".join(describe(argument) for argument in args) or "no arguments"


_MOST_NODES = 400
_TABLES = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_SLOTS = ("tensor_pre", "pre", "post", "post_accumulate")

SAYS = {
    "values": "It changed what it was given. Make a new value, and leave the argument as it is.",
    "entries": "It changed what it was given: a list or dict has other entries now. Change a copy "
    "instead.",
    "requires_grad": "It changed what it was given: requires_grad of a tensor is another now. Put "
    "back what you found, or work on a copy of your own, such as x.detach().requires_grad_().",
    "grad": "It added to .grad of what it was given, where others collect gradients. Work on a "
    "detached copy, or use autograd.grad.",
    "graph": "It freed the saved values of the graph that it was given, so nobody can go backward "
    "through it again. retain_graph=True keeps them.",
    "hooks": "A hook of yours is still registered on what it was given. Keep the handle, and "
    "remove the hook at the end.",
    "hooks gone": "A hook of somebody else's is gone. Remove only your own, by their handles.",
    "training": "It left a module in another mode, train() or eval(). Restore what you found.",
    "modules": "It replaced some of the modules that it was given. Leave them as they are.",
}
"""What to say to each kind of change; the first that applies is said."""


def _state(given: Iterable[Any], keep: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Give the facts about values that a well-behaved function leaves alone.

    What is looked at goes into `keep`, so that no number of `id` is used twice.
    """
    done, pending = set[int](), list(given)
    while pending:
        each = pending.pop()
        key = id(each)
        if key in done:
            continue
        done.add(key)
        keep.append(each)
        if isinstance(each, nn.Module):
            parts = {**each._modules, **each._parameters, **each._buffers}
            yield "training", key, each.training
            yield "hooks", key, [_keys(vars(each).get(table)) for table in _TABLES]
            yield "modules", key, [(name, id(part)) for name, part in parts.items()]
            pending.extend(parts.values())
        elif isinstance(each, Tensor):
            yield "values", key, _bytes(each.detach().numpy())
            yield "requires_grad", key, each.requires_grad
            yield from _of_tensor(each)
            if each.grad_fn is not None:
                yield from _of_graph(each.grad_fn)
        elif isinstance(each, np.ndarray):
            yield "values", key, _bytes(each)
        elif isinstance(each, Mapping | list | tuple | set | frozenset):
            entries = each if isinstance(each, Mapping) else dict(enumerate(each))
            kept = (str, int, float, type(None))
            same = [(at, e if isinstance(e, kept) else id(e)) for at, e in entries.items()]
            yield "entries", key, same
            pending.extend(entries.values())


def _of_tensor(tensor: Any) -> Iterator[tuple[str, Any, Any]]:
    if tensor.is_leaf:
        gradient = tensor.grad
        yield "grad", id(tensor), None if gradient is None else _bytes(gradient.detach().numpy())
    yield "hooks", id(tensor), _keys(tensor._backward_hooks)
    yield "hooks", (id(tensor), "post"), _keys(tensor._post_accumulate_grad_hooks)


def _of_graph(root: Any) -> Iterator[tuple[str, Any, Any]]:
    """Walk through a graph: are its saved values there, and what is in its leaves?"""
    pending, done = [root], {id(root)}
    while pending and len(done) < _MOST_NODES:
        node = pending.pop()
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            yield from _of_tensor(leaf)
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
        return {(kind, key): fact for kind, key, fact in _state(self._given, self._keep)}

    def changes(self) -> set[str]:
        """Tell what kinds of things are different now; keys of `SAYS`."""
        now, found = self._facts(), set()
        for key, fact in self._before.items():
            if now.get(key, fact) != fact:
                fewer = key[0] == "hooks" and len(str(now[key])) < len(str(fact))
                found.add("hooks gone" if fewer else key[0])
        return found


def said_of(changes: Container[str]) -> str | None:
    """Say what was changed, in one sentence or two; None where nothing was.

    Args:
        changes: keys of `SAYS`.
    """
    return next((text for kind, text in SAYS.items() if kind in changes), None)


_GLOBAL_TABLES = [
    table
    for room in (module, optimizer)
    for name, table in sorted(vars(room).items())
    if name.startswith("_global") and hasattr(table, "items")
]
# Of the modes of a thread those that a learner can switch.
_SWITCHES = {*Modes.__annotations__} - {"in_rule", "task", "levels_left"}


def _write_hooks(noted: Any) -> None:
    for table, before in zip(_GLOBAL_TABLES, noted, strict=True):
        table.clear()
        table.update(before)


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
    # Before the modes, because switching it changes them.
    Setting(
        "It left anomaly detection switched on or off.",
        lambda: (anomaly_mode.anomaly.enabled, anomaly_mode.anomaly.check_nan),
        lambda noted: anomaly_mode.set_detect_anomaly(*noted),
        usual=(False, True),
    ),
    Setting(
        "It left recording switched on or off. Blocks, `with torch.no_grad():` or "
        "`with torch.enable_grad():`, switch back by themselves, and so do blocks of "
        "saved-tensor hooks.",
        lambda: {name: getattr(modes, name) for name in _SWITCHES},
        lambda noted: vars(modes).update(noted),
        usual={name: getattr(Modes, name) for name in _SWITCHES},
        here="Recording is switched off in this notebook (or saved-tensor hooks of an earlier cell "
        "are active); the check ran without that.",
    ),
    Setting(
        "It left a global hook registered, and every module in this process would keep calling "
        "it. Keep the handle, and remove the hook at the end, even after an error.",
        lambda: [dict(table) for table in _GLOBAL_TABLES],
        _write_hooks,
        usual=[{} for _ in _GLOBAL_TABLES],
        here="A global hook from an earlier cell is still registered; the check ran without it. "
        "Remove it by its handle.",
    ),
    Setting(
        "It changed the default dtype and didn't change it back: everything computed next would "
        "have another type.",
        torch.get_default_dtype,
        torch.set_default_dtype,
        usual=torch.float32,  # a lesson may choose float64 for itself
    ),
    Setting(
        "It seeded the random numbers of the whole process, which decides what others draw next. "
        "Use a torch.Generator of its own instead.",
        torch.initial_seed,
        torch.manual_seed,
    ),
]


@contextlib.contextmanager
def put_back() -> Iterator[list[str]]:
    """Put every setting and the random numbers back at the end of a block.

    Yields:
        A list that holds, after the block, a sentence for each setting that was left changed.
        Random numbers are put back silently.

    Example:
        >>> with put_back() as left:
        ...     torch.set_default_dtype(torch.float64)
        >>> left[0].partition(" and")[0], torch.get_default_dtype()
        ('It changed the default dtype', torch.float32)
    """
    noted = [setting.read() for setting in SETTINGS]
    full = module._global_is_full_backward_hook
    drawn = random.getstate(), np.random.get_state(), torch.get_rng_state()
    left: list[str] = []
    try:
        yield left
    finally:
        for setting, before in zip(SETTINGS, noted, strict=True):
            if setting.read() != before:
                setting.write(before)
                left.append(setting.left)
        module._global_is_full_backward_hook = full
        random.setstate(drawn[0])
        np.random.set_state(drawn[1])
        torch.set_rng_state(drawn[2])


@contextlib.contextmanager
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
                unusual += [setting.here] if setting.here else []
                setting.write(setting.usual)
        module._global_is_full_backward_hook = None
        yield unusual
