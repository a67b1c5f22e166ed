"""Grad modes: as a context, as a decorator, around generators, in threads."""

from __future__ import annotations

import threading

import pytest


def test_no_grad_records_nothing(torch, draw):
    x = draw(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
        z = x.view_as(x)
    assert not y.requires_grad and y.grad_fn is None and y.is_leaf
    assert z.grad_fn is None
    assert (x * 2).requires_grad


def test_modes_nest_and_are_restored(torch):
    seen = []
    with torch.no_grad():
        seen.append(torch.is_grad_enabled())
        with torch.enable_grad():
            seen.append(torch.is_grad_enabled())
            with torch.set_grad_enabled(False):
                seen.append(torch.is_grad_enabled())
            seen.append(torch.is_grad_enabled())
        seen.append(torch.is_grad_enabled())
    assert [*seen, torch.is_grad_enabled()] == [False, True, False, True, False, True]


@pytest.mark.parametrize("name", ["no_grad", "enable_grad"])
def test_modes_are_restored_after_an_error(torch, name):
    for before in (True, False):
        with torch.set_grad_enabled(before):
            with pytest.raises(LookupError), getattr(torch, name)():
                raise LookupError
            assert torch.is_grad_enabled() is before


def test_set_grad_enabled_works_at_once(torch):
    torch.set_grad_enabled(False)
    try:
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    assert torch.is_grad_enabled()


def test_decorators(torch):
    @torch.no_grad()
    def called(depth):
        """Say something."""
        inside = [torch.is_grad_enabled()]
        return inside + called(depth - 1) if depth else inside

    @torch.no_grad
    def bare():
        return torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def set_off():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled()  # decorating changed nothing
    assert called(3) == [False] * 4
    assert called.__name__ == "called" and called.__doc__ == "Say something."
    assert bare() is False and set_off() is False
    with torch.no_grad():
        assert torch.enable_grad()(torch.is_grad_enabled)() is True
        assert torch.enable_grad(torch.is_grad_enabled)() is True


def test_a_decorated_function_that_raises(torch):
    @torch.no_grad()
    def fails():
        raise LookupError("inside")

    with pytest.raises(LookupError, match="inside"):
        fails()
    assert torch.is_grad_enabled()


def test_decorating_a_class_warns(torch):
    with pytest.warns(FutureWarning, match=r"^Decorating classes is deprecated"):

        @torch.no_grad()
        class Made:
            def __init__(self):
                self.enabled = torch.is_grad_enabled()

            def later(self):
                return torch.is_grad_enabled()

    assert Made().enabled is False
    assert Made().later() is True


# ------------------------------------------------------------------ generators


def _generator(torch, log):
    """Write down the mode at every step of the body; give back what is sent."""
    received = None
    try:
        while True:
            log.append(torch.is_grad_enabled())
            try:
                received = yield received
            except LookupError as error:
                received = f"caught {error}"
            if received == "stop":
                return "returned"
    finally:
        log.append(("closed", torch.is_grad_enabled()))


@pytest.mark.parametrize("name", ["no_grad", "enable_grad"])
def test_generators_hold_the_mode_in_their_body_only(torch, name):
    log, wanted = [], name == "enable_grad"
    with torch.set_grad_enabled(not wanted):
        decorated = getattr(torch, name)()(_generator)
        steps = decorated(torch, log)
        outside = [torch.is_grad_enabled()]
        assert next(steps) is None
        outside.append(torch.is_grad_enabled())
        assert steps.send(5) == 5
        outside.append(torch.is_grad_enabled())
        assert steps.throw(LookupError("it")) == "caught it"
        outside.append(torch.is_grad_enabled())
        with pytest.raises(StopIteration) as finished:
            steps.send("stop")
        assert finished.value.value == "returned"
        outside.append(torch.is_grad_enabled())
    assert log == [wanted] * 3 + [("closed", wanted)]
    assert outside == [not wanted] * 5


def test_generators_that_are_closed_or_thrown_out_of(torch):
    log = []
    decorated = torch.no_grad()(_generator)
    steps = decorated(torch, log)
    next(steps)
    steps.close()
    assert log == [False, ("closed", False)]
    steps = decorated(torch, log)
    next(steps)
    with pytest.raises(ZeroDivisionError, match="mine"):
        steps.throw(ZeroDivisionError("mine"))
    assert log[2:] == [False, ("closed", False)]
    assert torch.is_grad_enabled()
    with pytest.raises(StopIteration):
        next(steps)


def test_generators_see_changes_made_by_their_caller(torch):
    @torch.no_grad()
    def steps():
        for _ in range(3):
            yield torch.is_grad_enabled()

    seen = []
    iterator = steps()
    seen.append((next(iterator), torch.is_grad_enabled()))
    with torch.no_grad():
        seen.append((next(iterator), torch.is_grad_enabled()))
    seen.append((next(iterator), torch.is_grad_enabled()))
    assert seen == [(False, True), (False, False), (False, True)]


# ------------------------------------------------------------------ threads


def test_each_thread_has_its_own_mode(torch):
    seen, inside, done = {}, threading.Event(), threading.Event()

    def other():
        seen["start"] = torch.is_grad_enabled()
        with torch.no_grad():
            seen["off"] = torch.is_grad_enabled()
            inside.set()
            done.wait(10)

    with torch.no_grad():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(0.01)
    inside.wait(10)
    here = torch.is_grad_enabled()
    done.set()
    thread.join()
    assert seen == {"start": True, "off": False}
    assert here is True


def test_graphs_are_run_in_several_threads(torch, draw):
    leaves, cotangents = [draw(3, requires_grad=True) for _ in "ab"], draw(2, 3)

    def work(leaf, cotangent):
        for _ in range(50):
            leaf.grad = None
            (leaf.sin() * leaf).backward(cotangent)

    pairs = list(zip(leaves, cotangents, strict=True))
    threads = [threading.Thread(target=work, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for leaf, cotangent in pairs:
        x = leaf.detach()
        assert torch.allclose(leaf.grad, cotangent * (x.cos() * x + x.sin()))
