"""See the modes as decorators of generators and coroutines."""

from __future__ import annotations

import asyncio
import functools
import inspect

from .grad_modes import attempt, modes, state
from .tools import Family

family = Family()


@family
def generators_driven_from_other_modes(torch, log):
    """A decorated generator that is sent to, thrown into and closed by callers in other modes."""
    outside = {
        "normal": torch.enable_grad,
        "no_grad": torch.no_grad,
        "inference": torch.inference_mode,
    }
    for name in ("no_grad()", "enable_grad()", "inference_mode()", "inference_mode(False)"):

        @modes(torch)[name]
        def speak():
            """Tell what comes in, and the mode."""
            received = "started"
            try:
                while received != "end":
                    try:
                        received = yield received, state(torch)
                    except KeyError as error:
                        received = f"caught {error}"
                return "returned", state(torch)
            finally:
                log("finally", state(torch))

        log(name, inspect.isgeneratorfunction(speak), speak.__doc__)
        for called_from, context in outside.items():
            with context():
                talk = speak()
                log("made", called_from, state(torch))
                log("next", next(talk), state(torch))
                log("sent", talk.send(1), state(torch))
            log("next outside", next(talk), state(torch))
            with context():
                log("thrown", talk.throw(KeyError("a")), state(torch))
                try:
                    talk.send("end")
                except StopIteration as finished:
                    log("value", finished.value, state(torch))
                attempt(log, "exhausted", lambda talk=talk: list(talk))
                talk = speak()
                next(talk)
                talk.close()
                log("closed", state(torch))
                talk = speak()
                next(talk)
                attempt(log, "thrown through", lambda talk=talk: talk.throw(ValueError("planted")))
                log("after", state(torch))


@family
def generators_before_they_start(torch, log):
    """A decorated generator closed, thrown into or sent to before its first value."""
    for name in ("no_grad", "inference_mode()"):

        @modes(torch)[name]
        def speak():
            log("started", state(torch))
            yield 1

        speak().close()
        log.raises("thrown into", lambda: speak().throw(ValueError("planted")))
        log.raises("sent to", lambda: speak().send(1))
        waiting = speak()
        next(waiting)
        log.raises(
            "StopIteration thrown in",
            lambda waiting=waiting: waiting.throw(StopIteration("planted")),
        )

        @modes(torch)[name]
        def stubborn():
            try:
                yield 1
            except GeneratorExit:
                yield 2

        waiting = stubborn()
        next(waiting)
        log.raises("does not end", waiting.close)
    log("after", state(torch))


@family
def generators_within_generators(torch, log):
    """yield from between generators in different modes, and a generator that is left midway."""

    @torch.no_grad()
    def inner():
        received = yield "inner", state(torch)
        return received, state(torch)

    @torch.inference_mode
    def outer():
        result = yield from inner()
        yield "outer", result, state(torch)

    talk = outer()
    log("values", next(talk), talk.send(7), state(torch), list(talk))

    def held():
        with torch.inference_mode():
            yield state(torch)

    left = held()
    log("not decorated", next(left), state(torch))
    left.close()
    log("closed", state(torch))


@family
def generators_that_are_not_seen(torch, log):
    """An object or a function that returns a generator is called in the mode, which then ends."""

    class Maker:
        def __call__(self):
            yield state(torch)

        def method(self):
            yield state(torch)

    for name in ("no_grad()", "inference_mode"):
        mode = modes(torch)[name]
        log("object", list(mode(Maker())()))
        log("function", list(mode(lambda: (state(torch) for _ in "a"))()))
        log("bound method", list(mode(Maker().method)()))
        log("partial", list(mode(functools.partial(Maker().method))()))


@family
def coroutines(torch, log):
    """Of coroutines and asynchronous generators only the making happens in the mode."""

    async def ask():
        before = state(torch)
        await asyncio.sleep(0)
        return before, state(torch)

    async def count():
        yield state(torch)
        yield state(torch)

    for name, mode in modes(torch).items():

        async def collect(mode=mode):
            return [value async for value in mode(count)()]

        async def held(mode=mode):
            with torch.no_grad():
                return state(torch), await mode(ask)(), state(torch)

        log(name, asyncio.run(mode(ask)()), asyncio.run(collect()), asyncio.run(held()))
        log("kind", inspect.iscoroutinefunction(mode(ask)), inspect.isasyncgenfunction(mode(count)))
    log("after", state(torch))


@family
def contexts_inside_coroutines(torch, log):
    """A mode held across an await is the thread's: other coroutines of the thread see it."""

    async def hold(turn):
        with torch.no_grad():
            log("held", state(torch))
            turn.set()
            await asyncio.sleep(0)
            log("still held", state(torch))

    async def look(turn):
        await turn.wait()
        log("looked", state(torch))

    async def both():
        turn = asyncio.Event()
        await asyncio.gather(hold(turn), look(turn))

    asyncio.run(both())
    log("after", state(torch))
