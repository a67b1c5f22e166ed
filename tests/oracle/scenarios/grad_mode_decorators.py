"""See the modes as decorators of functions, methods, classes and other callables."""

from __future__ import annotations

import functools
import inspect

from .grad_modes import modes, state
from .tools import Family

family = Family()


@family
def every_mode_decorates_a_function(torch, log):
    """Each mode, bare or called, around a function; the mode outside is as before."""
    for outside in (True, False):
        with torch.set_grad_enabled(outside):
            for name, mode in modes(torch).items():
                log(name, outside, mode(lambda: state(torch))(), state(torch))


@family
def decorated_functions_keep_their_names(torch, log):
    """Name, text, annotations and signature of a decorated function are its own."""
    for name, mode in modes(torch).items():

        @mode
        def taught(a, *, b: int = 2) -> str:
            """Say what it does."""
            return f"{a} {b}"

        taught.note = 3
        log(name, taught.__name__, taught.__doc__, sorted(taught.__annotations__), taught.note)
        log("signature", str(inspect.signature(taught)), taught(1, b=5), taught.__wrapped__(1))
        log("kind", inspect.isgeneratorfunction(taught), inspect.iscoroutinefunction(taught))


@family
def recursion_under_a_decorator(torch, log):
    """A decorated function that calls itself, and others in other modes, leaves all as it was."""

    @torch.no_grad()
    def down(depth):
        log("down", depth, state(torch))
        if depth:
            up(depth - 1)
        log("down again", depth, state(torch))

    @torch.enable_grad
    def up(depth):
        log("up", depth, state(torch))
        if depth:
            strict(depth - 1)
        log("up again", depth, state(torch))

    @torch.inference_mode()
    def strict(depth):
        log("strict", depth, state(torch))
        if depth:
            down(depth - 1)
        log("strict again", depth, state(torch))

    down(4)
    log("after", state(torch))


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
def methods_are_decorated(torch, log):
    """Methods, static and class methods and properties under a mode."""

    class Base:
        def said(self):
            return state(torch)

    class Derived(Base):
        @torch.no_grad()
        def said(self):
            return state(torch), super().said()

        @staticmethod
        @torch.no_grad
        def static():
            return state(torch)

        @classmethod
        @torch.inference_mode()
        def of_the_class(cls):
            return cls.__name__, state(torch)

        @property
        @torch.inference_mode
        def asked(self):
            return state(torch)

    thing = Derived()
    log("said", thing.said(), thing.static(), Derived.of_the_class(), thing.asked, state(torch))


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
def contexts_used_wrongly(torch, log):
    """One context entered twice, and contexts left in another order than they were entered."""
    twice = torch.no_grad()
    with twice:
        with twice:
            log("twice", state(torch))
        log("left once", state(torch))
    log("left both", state(torch))
    torch.set_grad_enabled(True)
    for first, second in (
        (torch.no_grad(), torch.inference_mode()),
        (torch.inference_mode(), torch.no_grad()),
        (torch.no_grad(), torch.enable_grad()),
        (torch.inference_mode(False), torch.no_grad()),
    ):
        seen = []
        for step in (first.__enter__, second.__enter__):
            seen.append((step(), state(torch)))
        for left in (first, second):
            seen.append((left.__exit__(None, None, None), state(torch)))
        log("crossed", seen)
        torch.set_grad_enabled(True)


@family
def switched_inside_a_context(torch, log):
    """set_grad_enabled called inside a context holds until the context is left."""
    for name, context in modes(torch).items():
        if name.endswith(")"):
            with context:
                seen = [state(torch)]
                for wanted in (True, False, True):
                    torch.set_grad_enabled(wanted)
                    seen.append(state(torch))
            log(name, seen, state(torch))


@family
def names_of_the_modes(torch, log):
    """The modes are found in three places, and are the same there."""
    for name in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"):
        mode = getattr(torch, name)
        log(
            name,
            getattr(torch.autograd, name) is mode,
            getattr(torch.autograd.grad_mode, name) is mode,
            isinstance(mode, type),
            mode.__name__,
        )


@family
def subclasses_of_modes(torch, log):
    """A mode of one's own made of one that is there, as a context and as a decorator."""

    class Loud(torch.no_grad):
        def __enter__(self):
            log("entered", state(torch))
            return super().__enter__()

        def __exit__(self, *error):
            log("left", state(torch), error[0] is not None)
            return super().__exit__(*error)

    with Loud() as entered:
        log("inside", entered, state(torch))
    log("decorated", Loud()(lambda: state(torch))(), Loud(lambda: state(torch))())

    def fails():
        raise LookupError("planted")

    log.raises("an error", Loud()(fails))
