"""Grad modes: as a context, as a decorator, around generators, inside of a backward pass."""

from __future__ import annotations

import asyncio
import functools

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


# ------------------------------------------------------------------ what else is decorated


def test_callables_without_a_name(torch):
    class Speaker:
        def __call__(self, more=()):
            return [torch.is_grad_enabled(), *more]

        def method(self):
            return torch.is_grad_enabled()

    assert torch.no_grad()(Speaker())([1]) == [False, 1]
    assert torch.no_grad(Speaker().method)() is False
    assert torch.no_grad()(functools.partial(Speaker(), [2]))() == [False, 2]


@pytest.mark.parametrize("bare", [False, True])
def test_methods(torch, bare):
    mode = torch.no_grad if bare else torch.no_grad()

    class Thing:
        @mode
        def method(self):
            return torch.is_grad_enabled(), type(self)

        @staticmethod
        @mode
        def static():
            return torch.is_grad_enabled()

        @classmethod
        @mode
        def of_the_class(cls):
            return torch.is_grad_enabled(), cls

        @property
        @mode
        def asked(self):
            return torch.is_grad_enabled()

    thing = Thing()
    assert thing.method() == (False, Thing) == Thing.of_the_class()
    assert Thing.static() is False and thing.asked is False


def test_only_the_making_of_a_coroutine_is_in_the_mode(torch):
    async def ask():
        await asyncio.sleep(0)
        return torch.is_grad_enabled()

    async def count():
        yield torch.is_grad_enabled()

    async def collect():
        return [value async for value in torch.no_grad()(count)()]

    async def held():
        with torch.no_grad():
            return await ask()

    assert asyncio.run(torch.no_grad()(ask)()) is True
    assert asyncio.run(collect()) == [True]
    assert asyncio.run(held()) is False


def test_a_decorator_can_be_used_again(torch):
    mode = torch.no_grad()
    first, second = mode(torch.is_grad_enabled), mode(lambda: (torch.is_grad_enabled(), first()))
    assert second() == (False, False)
    with mode:
        assert first() is False
    assert torch.is_grad_enabled()


def test_a_mode_of_ones_own(torch):
    log = []

    class Loud(torch.no_grad):
        def __enter__(self):
            log.append("entered")
            super().__enter__()

    @Loud()
    def ask():
        return torch.is_grad_enabled()

    with Loud():
        assert ask() is False
    assert Loud(torch.is_grad_enabled)() is False
    assert log == ["entered"] * 3


def test_set_grad_enabled_wants_a_bool(torch, refused):
    with refused(
        TypeError, "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not int"
    ):
        torch.set_grad_enabled(1)
    assert repr(torch.set_grad_enabled(True)) == (
        "torch.autograd.grad_mode.set_grad_enabled(mode=True)"
    )


def test_names(torch):
    for name in torch.autograd.grad_mode.__all__:
        if hasattr(torch, name):
            assert getattr(torch, name) is getattr(torch.autograd.grad_mode, name)


# ------------------------------------------------------------------ inside of a backward pass


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_mode_inside_hooks_follows_create_graph(torch, draw, define, create_graph):
    seen = {}

    def told(name):
        def hook(*given):
            seen[name] = torch.is_grad_enabled()

        return hook

    def backward(ctx, grad):
        seen["backward"] = torch.is_grad_enabled()
        return grad * 2

    x = draw(3, requires_grad=True)
    y = define(lambda ctx, x: x * 2, backward).apply(x)
    x.register_hook(told("leaf"))
    x.register_post_accumulate_grad_hook(told("after accumulation"))
    y.register_hook(told("tensor"))
    y.grad_fn.register_prehook(told("before"))
    y.grad_fn.register_hook(told("after"))
    cotangent = draw(3)
    for outside in (True, False):
        seen.clear()
        with torch.set_grad_enabled(outside):
            (grad,) = torch.autograd.grad(
                y, x, cotangent, create_graph=create_graph, retain_graph=True
            )
            y.backward(cotangent, inputs=[x], create_graph=False, retain_graph=True)
            assert torch.is_grad_enabled() is outside
        assert set(seen.values()) == {False}
        assert torch.equal(grad, cotangent * 2)
        seen.clear()
        torch.autograd.grad(y, x, cotangent, create_graph=create_graph, retain_graph=True)
        assert set(seen.values()) == {create_graph}
        assert set(seen) == {"leaf", "backward", "tensor", "before", "after"}


def test_the_mode_after_a_hook_that_raises(torch, draw):
    def fails(grad):
        raise LookupError("planted")

    x = draw(3, requires_grad=True)
    for create_graph in (False, True):
        y = x.sum() * 2
        y.register_hook(fails)
        with torch.no_grad(), pytest.raises(LookupError, match="planted"):
            torch.autograd.grad(y, x, create_graph=create_graph)
        assert torch.is_grad_enabled()
