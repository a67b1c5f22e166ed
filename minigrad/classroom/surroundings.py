"""Note settings that hold for the whole process, say what code left changed, and put it back."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.autograd import anomaly_mode
from minigrad.autograd.modes import grad_mode
from minigrad.nn.modules import module, registration
from minigrad.optim import hooks as optimizer_hooks

_TABLES = [
    table
    for room in (module, registration, optimizer_hooks)
    for name, table in sorted(vars(room).items())
    if name.startswith("_global") and hasattr(table, "items")
]
_OF_THE_MODE = ("enabled", "attention", "asked", "saved_hooks", "hooks_forbidden", "recorder")


def _read_hooks() -> Any:
    return [dict(table) for table in _TABLES], module._global_is_full_backward_hook


def _write_hooks(noted: Any) -> None:
    for table, before in zip(_TABLES, noted[0], strict=True):
        table.clear()
        table.update(before)
    module._global_is_full_backward_hook = noted[1]


def _write_mode(noted: Any) -> None:
    for name, value in zip(_OF_THE_MODE, noted, strict=True):
        setattr(grad_mode, name, value)


def _write_anomaly(noted: Any) -> None:
    anomaly_mode.set_detect_anomaly(*noted)


def _write_seed(noted: int) -> None:
    torch.manual_seed(noted)


def _write_printing(noted: Any) -> None:
    torch.set_printoptions(**noted[0])
    np.set_printoptions(**noted[1])


@dataclass(frozen=True)
class Setting:
    """One thing that holds for the whole process.

    Args:
        left: what to say where code left it changed.
        here: what to say where an earlier cell had changed it; "" where that needs no word.
        usual: what it is to be while an answer is checked; ... for what it was before.
        read: tells what it is.
        write: puts it back.
    """

    left: str
    here: str
    usual: Any
    read: Callable[[], Any]
    write: Callable[[Any], None]


SETTINGS = [
    # Before the mode, because switching it changes the mode.
    Setting(
        "It left anomaly detection switched on or off.",
        "",
        (False, True),
        lambda: (anomaly_mode.watch.enabled, anomaly_mode.watch.check_nan),
        _write_anomaly,
    ),
    Setting(
        "It left the recording of operations switched over. As a block, `with torch.no_grad():` or "
        "`with torch.enable_grad():`, a switch goes back by itself, and that holds for "
        "saved-tensor hooks, too.",
        "The recording of operations is switched off in this notebook (or tensor hooks of an "
        "earlier cell are in force); the check ran without that.",
        (True, None, False, (), None, None),
        lambda: tuple(getattr(grad_mode, name) for name in _OF_THE_MODE),
        _write_mode,
    ),
    Setting(
        "It left a global hook registered, and every module in this process would go on calling "
        "it: keep the handle, and remove it in the end, also after an error.",
        "A global hook from an earlier cell is still registered; the check ran without it. "
        "Remove it by its handle.",
        ([{} for _ in _TABLES], None),
        _read_hooks,
        _write_hooks,
    ),
    Setting(
        "It changed the default dtype and left it so: whatever is computed next would be of "
        "another type.",
        "",  # a lesson may choose float64 for itself
        torch.float32,
        torch.get_default_dtype,
        torch.set_default_dtype,
    ),
    Setting(
        "It changed how numbers are printed, and left it so.",
        "",
        ...,
        lambda: (torch.get_printoptions(), np.get_printoptions()),
        _write_printing,
    ),
    Setting(
        "It changed what NumPy does about overflows and divisions by zero, and left it so: "
        "`with np.errstate(...):` goes back by itself.",
        "",
        ...,
        np.geterr,
        lambda noted: np.seterr(**noted) and None,
    ),
    Setting(
        "It seeded the random numbers anew, for the whole process: what others draw next is "
        "decided by that. A torch.Generator of its own disturbs nobody.",
        "",
        ...,
        torch.initial_seed,
        _write_seed,
    ),
    Setting(
        "It changed Python's limit for recursion, and left it so.",
        "",
        ...,
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
        random.setstate(drawn[0])
        np.random.set_state(drawn[1])
        torch.set_rng_state(drawn[2])


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
