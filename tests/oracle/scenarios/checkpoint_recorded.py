"""See `utils.checkpoint` without reentrant backward: early stop, differing runs, contexts."""

from __future__ import annotations

import contextlib

from .checkpoint import module, observed
from .tools import Family, leaf

family = Family()


@family
def early_stop(torch, log):
    """A recomputation ends after the last saved tensor, unless that is switched off."""
    checkpoint = module(torch).checkpoint
    x = leaf(torch, (2,), 32)

    def function(x):
        y = x.exp()
        log("exp")
        z = y.sin()
        log("sin")
        w = z + 1
        log("end")
        return w * 2

    for options in ({}, {"early_stop": False}):
        checkpoint(function, x, use_reentrant=False, **options).sum().backward()
        log("options", options, x.grad)
    for enable in (True, False):
        with module(torch).set_checkpoint_early_stop(enable):
            y = checkpoint(function, x, use_reentrant=False, early_stop=not enable)
        y.sum().backward()
        log("switch", enable, x.grad)


@family
def what_is_packed_inside(torch, log):
    """Outer saved-tensor hooks see the inputs of the checkpoint, and nothing of its inside."""

    def pack(tensor):
        log("pack", tensor)
        return tensor

    def unpack(tensor):
        log("unpack", tensor)
        return tensor

    x = leaf(torch, (2,), 33)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        before = x * 3
        y = module(torch).checkpoint(
            lambda x, c: (x.tanh() * c).sin(), before, x.detach(), use_reentrant=False
        )
        z = y.sin()
    log("forward is over")
    z.sum().backward()
    log("gradient", x.grad)


@family
def saved_values_looked_at(torch, log):
    """Reading a saved value recomputes, each time anew."""
    x = leaf(torch, (2,), 34)
    y = module(torch).checkpoint(observed(torch, log), x, use_reentrant=False)
    node = y.grad_fn
    log("self", node._saved_self)
    log("other", node._saved_other)
    log("again", node._saved_self)
    y.sum().backward()
    log("gradient", x.grad)
    log.raises("released", lambda: node._saved_self)


def message_of(torch, log, action):
    """Write down an error up to the part of its text that is about debugging and torch.compile."""
    try:
        action()
    except RuntimeError as error:
        text = str(error).split("\nTip:")[0].split("\nIf this error occurs")[0]
        log("refused", type(error).__name__, text.rstrip())
        log("kind", isinstance(error, module(torch).CheckpointError))
    else:
        log("passes")


def recompute_differently(name, first, second, **options):
    """Add a scenario in which the second run of a function does something else."""

    def scenario(torch, log):
        calls = []

        def function(x):
            calls.append(x)
            return first(torch, x) if len(calls) == 1 else second(torch, x)

        x = leaf(torch, (3,), 35)
        y = module(torch).checkpoint(function, x, use_reentrant=False, **options)
        message_of(torch, log, lambda: y.sum().backward())
        log("gradient", x.grad)

    scenario.__doc__ = f"The two runs differ: {name.replace('_', ' ')}."
    family.add(f"differing_{name}", scenario)


recompute_differently("fewer", lambda torch, x: x.sin().exp(), lambda torch, x: x.sin())
recompute_differently("more", lambda torch, x: x.sin(), lambda torch, x: x.sin().exp())
recompute_differently(
    "more_to_the_end", lambda torch, x: x.sin(), lambda torch, x: x.sin().exp(), early_stop=False
)
recompute_differently("none", lambda torch, x: x.sin().exp(), lambda torch, x: x + 1)
recompute_differently(
    "shape", lambda torch, x: x.sin().exp(), lambda torch, x: x[:1].sin().exp().exp()
)
recompute_differently(
    "dtype",
    lambda torch, x: x.sin().exp(),
    lambda torch, x: x.to(torch.float64).sin().exp(),
    early_stop=False,
)
recompute_differently("values", lambda torch, x: x.sin().exp(), lambda torch, x: x.cos().exp())


@family
def saved_tensors_twice(torch, log):
    """A custom Function reads ctx.saved_tensors twice in one backward: refused."""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            (x,) = ctx.saved_tensors
            return grad * 2 * x

    x = leaf(torch, (2,), 36)
    y = module(torch).checkpoint(lambda x: Twice.apply(x.exp()), x, use_reentrant=False)
    message_of(torch, log, lambda: y.sum().backward())


@family
def a_gradient_within_the_part(torch, log):
    """The function itself asks for a gradient: in both runs, with and without early stop."""
    checkpoint = module(torch).checkpoint
    for early_stop in (True, False):
        for retain in (True, False):

            def function(x, retain=retain):
                log("runs")
                y = x.sin()
                z = y.cos() * x
                (gx,) = torch.autograd.grad(z.sum(), x, retain_graph=retain)
                log("gradient within", gx)
                return x.cos() * gx if not retain else z * gx

            x = leaf(torch, (2,), 37)
            y = checkpoint(function, x, use_reentrant=False, early_stop=early_stop)
            log("result", early_stop, retain, y)
            log.raises("backward", lambda y=y: y.sum().backward())
            log("gradient", x.grad)


@family
def contexts(torch, log):
    """The two contexts surround the first run and each recomputation."""

    @contextlib.contextmanager
    def context(name):
        log("enter", name)
        try:
            yield
        finally:
            log("leave", name)

    class Again:
        def __enter__(self):
            log("enter again")

        def __exit__(self, *exception):
            log("leave again", exception[0] is None)

    x = leaf(torch, (2,), 38)
    y = module(torch).checkpoint(
        observed(torch, log),
        x,
        use_reentrant=False,
        context_fn=lambda: (context("forward"), Again()),
    )
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    log("gradient", x.grad)


@family
def a_context_that_swallows(torch, log):
    """A forward context that suppresses the function's exception is refused."""

    def function(x):
        raise KeyError("from the function")

    x = leaf(torch, (2,), 39)
    log.raises(
        "swallowed",
        lambda: module(torch).checkpoint(
            function,
            x,
            use_reentrant=False,
            context_fn=lambda: (contextlib.suppress(KeyError), contextlib.nullcontext()),
        ),
    )
    x.exp().sum().backward()
    log("afterwards", x.grad)


@family
def parts_of_the_module(torch, log):
    """The smaller public functions."""
    names = module(torch)
    x, z = leaf(torch, (2,), 40), leaf(torch, (2,), 41, requires_grad=False)
    log("unrecorded", names.checkpoint(lambda z, n: z * n, z, 3, use_reentrant=True))
    log("contexts", [type(context).__name__ for context in names.noop_context_fn()])
    log("error", issubclass(names.CheckpointError, RuntimeError))
    log("direct", names.CheckpointFunction.apply(torch.exp, True, x))
