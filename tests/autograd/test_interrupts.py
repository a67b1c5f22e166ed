"""Ctrl-C and forks, at any moment: nothing stays switched on, and nothing stays locked.

`MINIGRAD_INTERRUPTS=1000` interrupts each kind of block that often, by a real signal, in 15 minutes
at most. The suite does a few of each. The interrupt is kept, as a notebook keeps the last one: what
only goes away with it would stay for good there.
"""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import recording
from minigrad.autograd.messages import anomaly
from minigrad.autograd.saved_hooks import _open_blocks
from minigrad.autograd.views import write_watchers
from minigrad.core import extensions
from minigrad.core.modes import Modes, modes
from minigrad.saving import checkpoint as checkpoints

graph = torch.autograd.graph
TIMES = int(os.environ.get("MINIGRAD_INTERRUPTS", "12"))

x = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([x], lr=0.0)


def block(make):
    def enter():
        with make():
            pass

    return enter


def generator():
    yield 1
    yield 2


decorated_generator = torch.no_grad()(generator)


def hooked_backward():
    y = x * x
    y.register_hook(lambda grad: grad * 1)
    y.sum().backward()


def second_derivative():
    y = (x * x).sum()
    torch.autograd.grad(y, x, create_graph=True)[0].sum().backward()


def checkpointed(reentrant):
    part = checkpoints.checkpoint(lambda v: (v * v).exp(), x, use_reentrant=reentrant)
    part.sum().backward()


KINDS = {
    "no_grad": block(torch.no_grad),
    "enable_grad": block(torch.enable_grad),
    "inference_mode": block(torch.inference_mode),
    "detect_anomaly": block(torch.autograd.detect_anomaly),
    "saved_tensors_hooks": block(lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t)),
    "record": block(lambda: recording.record({"x": x})),
    "save_on_cpu": block(graph.save_on_cpu),
    "disable_saved_tensors_hooks": block(lambda: graph.disable_saved_tensors_hooks("no")),
    "allow_mutation_on_saved_tensors": block(graph.allow_mutation_on_saved_tensors),
    "set_checkpoint_early_stop": block(lambda: checkpoints.set_checkpoint_early_stop(False)),
    "decorated": torch.no_grad()(lambda: None),
    "decorated by set_grad_enabled": torch.set_grad_enabled(False)(lambda: None),
    "decorated generator": lambda: list(decorated_generator()),
    "backward": lambda: (x * x).exp().sum().backward(),
    "hooked backward": hooked_backward,
    "second derivative": second_derivative,
    "checkpoint": lambda: checkpointed(False),
    "reentrant checkpoint": lambda: checkpointed(True),
    "func.grad": lambda: torch.func.grad(lambda v: (v * v).sum())(x.detach()),
    "optimizer": optimizer.step,
}
NORMAL = {name: getattr(modes, name) for name in Modes.__annotations__}
NUMPYS = np.geterr()


def left_on():
    """List what an interrupt has left that was not so before."""
    changed = [name for name, value in NORMAL.items() if getattr(modes, name) is not value]
    if anomaly.enabled or not anomaly.check_nan:
        changed.append("anomaly mode")
    if extensions.pass_kinds or _open_blocks or write_watchers or checkpoints._early_stop != [None]:
        changed.append("a block")
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


def test_blocks_are_left_in_every_way():
    """An end of a block is not a function of Python's; all who call it find it nevertheless."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    torch.no_grad().__enter__()  # nothing holds it, and it holds
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    hooks.__enter__()
    hooks.__exit__(None, None, None)
    assert modes.saved_hooks == () and modes.recording is True
    with pytest.raises(LookupError), torch.inference_mode():
        raise LookupError
    assert not torch.is_inference_mode_enabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork")
def test_a_fork_beside_a_backward_pass_works():
    leaf, stop = torch.ones(100_000, requires_grad=True), threading.Event()

    def work():
        while not stop.is_set():
            (leaf * 2).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(8):
            time.sleep(0.005)
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # a child that hangs is ended, and the test fails
                y = torch.ones(2, requires_grad=True)
                (y * y).sum().backward()
                os._exit(0 if y.grad.tolist() == [2, 2] else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()
