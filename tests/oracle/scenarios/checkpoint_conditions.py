"""See `utils.checkpoint`: errors on the way, random numbers, arguments, sequences."""

from __future__ import annotations

import contextlib

from .checkpoint import for_both, module
from .tools import Family, leaf, linear

family = Family()


@for_both(family)
def an_input_changed_in_place(torch, log, reentrant):
    """An input that was written to since cannot be recomputed from."""
    x = leaf(torch, (2,), 22)
    before = x * 3
    y = module(torch).checkpoint(lambda x: x.sin() + 1, before, use_reentrant=reentrant)
    before.add_(1)
    try:
        y.sum().backward()
    except RuntimeError as error:
        log("refused", str(error).split(";")[0].split("which is")[0])
    log("gradient", x.grad)


@for_both(family)
def an_error_in_forward(torch, log, reentrant):
    """An exception of the function passes; nothing is left switched on."""
    x = leaf(torch, (2,), 23)

    def function(x):
        x.exp()
        raise KeyError("from the function")

    log.raises("forward", lambda: module(torch).checkpoint(function, x, use_reentrant=reentrant))
    y = x.exp()
    y.sum().backward()
    log("afterwards", torch.is_grad_enabled(), x.grad)


@for_both(family)
def an_error_in_recomputation(torch, log, reentrant):
    """An exception of the second run passes through backward."""
    calls = []

    def function(x):
        calls.append(x)
        y = x.exp()
        if len(calls) > 1:
            raise KeyError("from the second run")
        return y * y

    x = leaf(torch, (2,), 24)
    y = module(torch).checkpoint(function, x, use_reentrant=reentrant)
    log.raises("backward", lambda: y.sum().backward())
    (x * 2).sum().backward()
    log("afterwards", torch.is_grad_enabled(), x.grad)


@for_both(family)
def random_numbers(torch, log, reentrant):
    """Both runs draw the same numbers, and the state outside is as if nothing had been drawn."""
    drawn = []

    def function(x):
        drawn.append(torch.rand(2))
        return x.exp() * drawn[-1] * x

    x = leaf(torch, (2,), 25)
    for preserve in (True, False):
        drawn.clear()
        torch.manual_seed(11)
        y = module(torch).checkpoint(
            function, x, use_reentrant=reentrant, preserve_rng_state=preserve
        )
        state = torch.get_rng_state()
        y.sum().backward()
        log("same draws", preserve, len(drawn), torch.equal(drawn[0], drawn[1]))
        log("state kept", torch.equal(state, torch.get_rng_state()))


@for_both(family)
def arguments_that_are_not_known(torch, log, reentrant):
    """Keyword arguments go to the function, or are refused."""
    x = leaf(torch, (2,), 26)
    checkpoint = module(torch).checkpoint

    def function(x, factor=1.0):
        return x.exp() * factor

    def run(**kwargs):
        y = checkpoint(function, x, use_reentrant=reentrant, **kwargs)
        y.sum().backward()
        return x.grad

    log.raises("factor", lambda: run(factor=2.0))
    log.raises("two", lambda: run(factor=2.0, other=1))
    if reentrant:  # else it logs, through a handler that a test runner stumbles over
        log.raises("debug", lambda: run(debug=True))
    log.raises("check", lambda: run(determinism_check="all"))
    log.raises("none", lambda: run(determinism_check="none"))
    log.raises("early stop", lambda: run(early_stop=False))
    contexts = (contextlib.nullcontext(), contextlib.nullcontext())
    log.raises("contexts", lambda: run(context_fn=lambda: contexts))


@for_both(family)
def a_sequence(torch, log, reentrant):
    """checkpoint_sequential: which parts run again, for several numbers of segments."""
    x = leaf(torch, (2,), 27)

    def function(number):
        def run(x):
            log("runs", number)
            return (x * number).sin()

        return run

    functions = [function(number) for number in range(1, 6)]
    for segments in (1, 2, 3, 5, 6, 0):
        x.grad = None

        def run(segments=segments):
            y = module(torch).checkpoint_sequential(functions, segments, x, use_reentrant=reentrant)
            y.sum().backward()
            return x.grad

        log.raises(f"{segments} segments", run)


@for_both(family)
def a_sequential_module(torch, log, reentrant):
    """checkpoint_sequential with a Sequential."""
    layers = [linear(torch, [[0.5, -1.0], [2.0, 0.25]], [0.5, -0.5]) for _ in range(3)]
    model = torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1], torch.nn.Tanh(), layers[2])
    x = leaf(torch, (3, 2), 28)
    run = module(torch).checkpoint_sequential
    run(model, 2, x, use_reentrant=reentrant, preserve_rng_state=False).sum().backward()
    log("gradients", x.grad, [p.grad for p in model.parameters()])
    log.raises("unknown", lambda: run(model, 2, x, use_reentrant=reentrant, segment=1))
