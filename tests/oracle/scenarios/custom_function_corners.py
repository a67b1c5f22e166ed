"""See rare marks of custom Functions: no zeros, dirty tensors that are no inputs, leftovers."""

from __future__ import annotations

import gc
import weakref

from .custom_function import define
from .tools import Family, graph, leaf

family = Family()


@family
def dirty_but_no_input(torch, log):
    """A marked tensor that is no input: a warning, and an error if it is a view."""
    makers = {
        "result": lambda x, y: x * 1,
        "detached": lambda x, y: x.detach(),
        "view of a result": lambda x, y: x.clone().view_as(x),
        "view of a constant": lambda x, y: y.view_as(y),
    }
    for name, make in makers.items():
        for count in (1, 2):
            for requires_grad in (True, False):

                def forward(ctx, x, y, make=make, count=count):
                    result = make(x, y)
                    ctx.mark_dirty(result)
                    return result if count == 1 else (result, x * 2)

                mine = define(torch, forward, lambda ctx, *g: (g[0], None))
                x = leaf(torch, (2,), 1, requires_grad=requires_grad)
                y = leaf(torch, (2,), 2, requires_grad=False)

                def run(mine=mine, x=x, y=y):
                    result = mine.apply(x.clone(), y)
                    result = result[0] if isinstance(result, tuple) else result
                    return graph(result) if result.requires_grad else "no graph"

                log.raises(f"{name}, {count}, {requires_grad}", run)


@family
def dirty_views_that_must_not_change(torch, log):
    """A view of a leaf, and one of several views: both refuse to be marked."""

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    mine = define(torch, forward, lambda ctx, g: g)
    x = leaf(torch, (2,), 1)
    log.raises("view of a leaf", lambda: mine.apply(x.view_as(x)))
    log.raises("one of several", lambda: mine.apply((x * 2).unbind()[0]))
    log.raises("split", lambda: mine.apply((x * 2).split([1, 1])[1]))
    log("left", x)


@family
def a_pack_hook_that_raises_leaves_nothing(torch, log):
    """If saving fails, the function's result is gone without a garbage collection."""
    results = []

    def forward(ctx, x):
        result = x.clone()
        ctx.save_for_backward(x, result)
        results.append(weakref.ref(result))
        return result

    mine = define(torch, forward, lambda ctx, g: g)

    def refuse(tensor):
        raise ValueError("not saved")

    def attempt():
        with torch.autograd.graph.saved_tensors_hooks(refuse, lambda packed: packed):
            mine.apply(leaf(torch, (2,), 1))

    gc.collect()
    gc.disable()
    try:
        log.raises("attempt", attempt)
        log("gone", results[0]() is None)
    finally:
        gc.enable()


@family
def changes_in_place_and_failing_sources(torch, log):
    """A view changed by a failing source: only passes that need the source fail."""

    def fail(ctx, grad):
        raise RuntimeError("this source fails")

    failing = define(torch, lambda ctx, y: y.clone(), fail, name="Failing")

    def once(x, y):
        view = x.clone().view(-1)
        view += y
        return view

    def twice(x, y):
        view = x.clone().view(-1)
        before = view * 2
        view += y
        return view + before

    x, y = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    for make in (once, twice):
        for wanted in ("y", "x", "source", "x and source"):
            source = failing.apply(y)
            inputs = {"y": y, "x": x, "source": source, "x and source": (x, source)}[wanted]
            loss = (make(x, source) * 3).sum()
            log.raises(wanted, lambda loss=loss, inputs=inputs: torch.autograd.grad(loss, inputs))
        log.raises("all", lambda make=make: make(x, failing.apply(y)).sum().backward())
        log("left", x.grad, y.grad)
