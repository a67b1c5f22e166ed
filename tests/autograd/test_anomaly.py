"""Anomaly mode: it names the line, changes no gradient, keeps nothing alive, and ends."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref

import pytest

import minigrad
from minigrad.autograd.anomaly_mode import is_anomaly_enabled
from minigrad.core.modes import modes


@pytest.fixture
def anomaly(torch):
    """Switch anomaly mode on without its warning, for one test."""
    with torch.autograd.set_detect_anomaly(True):
        yield


@pytest.fixture
def said(torch):
    """Collect the warnings of a test."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield lambda: [str(warning.message) for warning in caught]


def test_no_frame_of_the_package_is_shown(said):
    x = minigrad.tensor([-1.0], requires_grad=True)
    layer = minigrad.nn.Linear(1, 1)
    with minigrad.autograd.set_detect_anomaly(True):
        loss = layer(x * 1).sqrt() - 1e30
        loss.grad_fn.register_hook(lambda ins, outs: (ins[0] * float("nan"), None))
        with pytest.raises(RuntimeError, match="SubBackward0"):
            loss.backward()
    (text,) = said()
    last = [line for line in text.splitlines() if line.startswith('  File "')][-1]
    assert __file__ in last


def test_a_pass_in_another_thread_is_watched(torch, said):
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    errors = []

    def run():
        try:
            root.sum().backward()
        except RuntimeError as error:
            errors.append(str(error))

    with torch.autograd.set_detect_anomaly(True):
        root = x.sqrt()
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert len(errors) == 1 and "SqrtBackward0" in errors[0]


# ------------------------------------------------------------------ memory


class Note:
    """An object that weak references can watch."""


def test_notes_are_freed_with_the_graph(torch, draw, anomaly, collector_off):
    x = draw(3, requires_grad=True)
    y = x.exp() * x
    y.grad_fn.metadata["note"] = note = Note()
    alive = weakref.ref(note)
    del note
    assert alive() is not None
    y.sum().backward()
    del y
    assert alive() is None


def test_notes_are_freed_with_the_graph_of_a_second_derivative(torch, draw, anomaly):
    x = draw(3, requires_grad=True)
    gc.disable()
    try:
        y = x**3
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        for node in (y.grad_fn, first.grad_fn):
            node.metadata["note"] = Note()
        alive = [weakref.ref(node.metadata["note"]) for node in (y.grad_fn, first.grad_fn)]
        torch.autograd.grad(first.sum(), x)
        del y, first, node
        assert [reference() for reference in alive] == [None, None]
    finally:
        gc.enable()


def test_notes_are_freed_after_an_error(torch, draw, anomaly, said):
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    y = x.sqrt()
    y.grad_fn.metadata["note"] = note = Note()
    alive = weakref.ref(note)
    del note
    with pytest.raises(RuntimeError, match="nan") as caught:
        y.sum().backward()
    del y, caught
    gc.collect()
    assert alive() is None


# ------------------------------------------------------------------ no cost while it is off


def test_recording_goes_back_to_the_quick_way():
    before = modes.observers
    with minigrad.autograd.set_detect_anomaly(True):
        assert is_anomaly_enabled()
        assert modes.observers
    assert before == () == modes.observers
    with minigrad.no_grad(), minigrad.autograd.set_detect_anomaly(True):
        assert modes.observers and not modes.recording
    assert modes.observers == () and modes.recording


NODES = {
    "BackwardHookFunctionBackward": lambda torch, x: gated(torch.nn.Identity())(x),
    "SplitBackward0": lambda torch, x: x.split(1)[0],
    "StackBackward0": lambda torch, x: torch.stack([x]),
}


def gated(module):
    module.register_full_backward_hook(lambda *_: None)
    return module


@pytest.mark.parametrize("name", NODES)
def test_nodes_that_are_recorded_by_hand_know_their_line_too(torch, anomaly, said, name):
    result = NODES[name](torch, torch.ones(2, requires_grad=True) * 1)
    with pytest.raises(RuntimeError, match=f"Function '{name}' returned nan"):
        result.backward(torch.full_like(result, float("nan")))
    assert __file__ in said()[-1]
