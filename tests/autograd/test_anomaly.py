"""Anomaly mode: it names the line, changes no gradient, keeps nothing alive, and ends."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref

import pytest

import minigrad
from minigrad.autograd.anomaly_mode import is_anomaly_enabled


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


def test_gradients_are_those_without_it(torch, draw):
    x, w, cotangent = draw(3, 2, requires_grad=True), draw(2, 3, requires_grad=True), draw(3, 3)

    def derivatives():
        value = (x @ w).tanh().exp()
        first = torch.autograd.grad(value, (x, w), cotangent, create_graph=True)
        return [*first, *torch.autograd.grad((first[0] * first[0]).sum(), (x, w))]

    expected = derivatives()
    with torch.autograd.set_detect_anomaly(True):
        found = derivatives()
    for a, b in zip(expected, found, strict=True):
        assert torch.equal(a, b)


def test_the_line_is_named(torch, draw, anomaly, said):
    x = draw(3, requires_grad=True)
    root = (x - x - 1).sqrt()
    with pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values in its 0th output"):
        root.backward(draw(3))
    (text,) = said()
    assert text.startswith("Error detected in SqrtBackward0. Traceback of forward call")
    frame = text.partition(" (Triggered internally")[0].rstrip().splitlines()[-2:]
    assert __file__ in frame[0]
    assert "root = (x - x - 1).sqrt()" in frame[1]


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


def test_nan_that_comes_in_is_noticed_where_it_goes_out(torch, draw, anomaly, said):
    x = draw(3, requires_grad=True)
    y = x * 2
    z = y + 1
    y.register_hook(lambda grad: grad * float("nan"))
    with pytest.raises(RuntimeError, match="'MulBackward0' returned nan values"):
        z.backward(draw(3))
    assert x.grad is None


def test_missing_gradients_are_no_anomaly(torch, draw, anomaly):
    class First(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, index, w):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad * 2, None, None

    x, w, cotangent = draw(3, requires_grad=True), draw(3, requires_grad=True), draw(3)
    First.apply(x, torch.tensor([2, 0]), w * 2).backward(cotangent)
    assert torch.equal(x.grad, cotangent * 2) and w.grad is None


def test_after_a_failure_the_next_pass_works(torch, draw, said):
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="nan"), torch.autograd.set_detect_anomaly(True):
        x.sqrt().sum().backward()
    assert not torch.is_anomaly_enabled()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert "traceback_" not in (x * 3).grad_fn.metadata


def test_the_switch_holds_until_it_is_turned(torch):
    switch = torch.autograd.set_detect_anomaly
    try:
        switch(True, check_nan=False)
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
        with switch(False):
            assert not torch.is_anomaly_enabled()
        assert torch.is_anomaly_enabled()
    finally:
        switch(False)
    assert not torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()


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


def test_with_hooks_on_saved_tensors(torch, draw, anomaly, said):
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
        root = x.sqrt()
    root.grad_fn.metadata["traceback_"]
    with pytest.raises(RuntimeError, match="nan"):
        root.sum().backward()
    assert "root = x.sqrt()" in said()[0]


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


def test_nothing_is_noted_while_it_is_off(torch, draw):
    x = draw(3, requires_grad=True)
    y = x.exp()
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert y.grad_fn.metadata == {} and first.grad_fn.metadata == {}


def test_recording_goes_back_to_the_quick_way():
    before = minigrad.core.modes.grad_mode.enabled
    with minigrad.autograd.set_detect_anomaly(True):
        assert is_anomaly_enabled()
        assert minigrad.core.modes.grad_mode.enabled is not True
    assert before is True and minigrad.core.modes.grad_mode.enabled is True
    with minigrad.no_grad(), minigrad.autograd.set_detect_anomaly(True):
        assert minigrad.core.modes.grad_mode.enabled is False
    assert minigrad.core.modes.grad_mode.enabled is True
