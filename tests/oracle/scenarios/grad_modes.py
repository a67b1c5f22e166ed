"""Grad modes: as context managers, decorators, of generators, and inside hooks."""

from __future__ import annotations

import functools
import inspect

from .tools import Family

family = Family()


def modes(torch):
    """Give each way to ask for a mode, by name, as something that makes a decorator."""
    return {
        "no_grad()": torch.no_grad(),
        "no_grad": torch.no_grad,
        "enable_grad()": torch.enable_grad(),
        "enable_grad": torch.enable_grad,
        "inference_mode()": torch.inference_mode(),
        "inference_mode": torch.inference_mode,
        "inference_mode(False)": torch.inference_mode(False),
        "inference_mode(mode=False)": torch.inference_mode(mode=False),
    }


def state(torch):
    """Tell both modes of this thread."""
    return [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]


@family
def every_mode_decorates_a_function(torch, log):
    """Each mode, bare or called, around a function; the mode outside is as before."""
    for outside in (True, False):
        with torch.set_grad_enabled(outside):
            for name, mode in modes(torch).items():
                log(name, outside, mode(lambda: state(torch))(), state(torch))


@family
def anything_callable_is_decorated(torch, log):
    """Partials, objects with __call__, bound methods, built-ins, static methods."""

    class Speaker:
        """Tells the mode."""

        def __call__(self):
            return state(torch)

        def method(self):
            return state(torch)

    for name in ("no_grad()", "inference_mode"):
        mode = modes(torch)[name]
        log("partial", mode(functools.partial(lambda a, b: (a, b, state(torch)), 1))(2))
        log("object", mode(Speaker())())
        log("bound", mode(Speaker().method)(), mode(Speaker().method).__name__)
        log("built-in", mode(len)([1, 2]))
        log("static", mode(staticmethod(lambda: state(torch)))())
    log("after", state(torch))


@family
def classes_are_decorated_with_a_warning(torch, log):
    """A decorated class becomes a function that makes its objects in the mode, and warns."""
    for name in ("no_grad()", "no_grad", "inference_mode()", "enable_grad"):

        class Made:
            def __init__(self, value, *, more=0):
                self.said = value, more, state(torch)

            def later(self):
                return state(torch)

        made = modes(torch)[name](Made)
        log(name, inspect.isclass(made), made.__name__, made(3, more=4).said, made(3).later())
        log("its objects", isinstance(made(1), Made), state(torch))

    @torch.set_grad_enabled(False)
    class AlsoMade:
        def __init__(self):
            self.said = state(torch)

    log("set_grad_enabled", AlsoMade().said, state(torch))


@family
def set_grad_enabled_as_a_decorator(torch, log):
    """set_grad_enabled(mode)(f) undoes the change that set_grad_enabled(mode) made at once."""
    for before in (True, False):
        for wanted in (True, False):
            with torch.set_grad_enabled(before):
                switch = torch.set_grad_enabled(wanted)
                log("made", before, wanted, state(torch))
                decorated = switch(lambda: state(torch))
                log("decorated", state(torch))
                log("called", decorated(), state(torch))
                with switch:
                    log("used again", state(torch))
                log("left", state(torch))
    log("clone", torch.set_grad_enabled(True).clone().mode)
    for wrong in (1, None, "yes"):
        log.raises("no bool", lambda wrong=wrong: torch.set_grad_enabled(wrong))


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
