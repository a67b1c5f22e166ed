"""Ctrl-C in a backward pass: nothing stays switched on, and nothing stays locked.

`MINIGRAD_INTERRUPTS=1000` interrupts each kind of pass that often, by a real signal. The suite does
a few of each. The interrupt is kept, as a notebook keeps the last one: what only goes away with it
would stay for good there.
"""

from __future__ import annotations

import os
import random
import signal
import warnings

import numpy as np
import pytest

import minigrad as torch
from minigrad.core.modes import Modes, modes

TIMES = int(os.environ.get("MINIGRAD_INTERRUPTS", "12"))

x = torch.ones(3, requires_grad=True)


def hooked_backward():
    y = x * x
    y.register_hook(lambda grad: grad * 1)
    y.sum().backward()


def second_derivative():
    y = (x * x).sum()
    torch.autograd.grad(y, x, create_graph=True)[0].sum().backward()


KINDS = {
    "backward": lambda: (x * x).exp().sum().backward(),
    "hooked backward": hooked_backward,
    "second derivative": second_derivative,
}
NORMAL = {name: getattr(modes, name) for name in Modes.__annotations__}
NUMPYS = np.geterr()


def left_on():
    """List what an interrupt has left that was not so before."""
    changed = [name for name, value in NORMAL.items() if getattr(modes, name) is not value]
    if np.geterr() != NUMPYS:
        changed.append("NumPy's settings")
    x.grad = None
    (x * x).sum().backward()
    return changed if x.grad.tolist() == [2, 2, 2] else [*changed, "wrong gradient"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers that signal")
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupt_leaves_nothing_on(kind, monkeypatch):
    warnings.simplefilter("ignore")
    KINDS[kind]()  # loads what it needs
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for _ in range(TIMES):
            with pytest.raises(KeyboardInterrupt) as kept:
                signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0001, 0.001))
                while True:
                    KINDS[kind]()
            assert left_on() == [], kept.traceback[-1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
