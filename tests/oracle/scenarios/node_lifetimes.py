"""Nodes, what they saved, and hooks on them are freed by reference counts, or else collected."""

from __future__ import annotations

import contextlib
import gc
import weakref

from .tools import Family, leaf

family = Family()


class Marker:
    """Something that a hook or a context holds, to tell whether that is still there."""


@contextlib.contextmanager
def no_collector():
    """Leave all freeing to reference counts."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def functions(torch):
    """Make custom Functions: one that saves its input, one its output, one with two outputs."""

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (_,) = ctx.saved_tensors
            return grad * 2

    class Exponential(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, grad):
            (y,) = ctx.saved_tensors
            return grad * y

    class Halves(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2].clone(), x[2:].clone()

        @staticmethod
        def backward(ctx, first, second):
            return torch.cat([first, second])

    return Twice, Exponential, Halves


def hook_on(kind, leaf_tensor, result, held):
    """Put a hook of some kind, which holds objects, on a result or on its leaf."""

    def hook(*_):
        assert held

    register = {
        "tensor hook": result.register_hook,
        "node hook": result.grad_fn.register_hook,
        "node pre-hook": result.grad_fn.register_prehook,
        "post-accumulate": leaf_tensor.register_post_accumulate_grad_hook,
    }[kind]
    register(hook)


@family
def hooks(torch, log):
    """A hook goes with its graph; one that holds its own node waits for the collector."""
    twice, _, _ = functions(torch)
    for custom in (False, True):
        for kind in ("tensor hook", "node hook", "node pre-hook", "post-accumulate"):
            for holds_node in (False, True):
                if holds_node and kind == "post-accumulate":
                    continue  # which PyTorch never frees
                for retain_graph in (None, False, True):

                    def run(custom=custom, kind=kind, holds=holds_node, retain=retain_graph):
                        x = leaf(torch, (4,), 1)
                        y = twice.apply(x) if custom else x * 2
                        marker = Marker()
                        hook_on(kind, x, y, [marker, y.grad_fn if holds else None])
                        if retain is not None:
                            y.sum().backward(retain_graph=retain)
                        return weakref.ref(marker)

                    with no_collector():
                        marker = run()
                        freed = marker() is None
                        if not freed:
                            gc.collect()
                    log(kind, custom, holds_node, retain_graph, freed, marker() is None)


@family
def leaves(torch, log):
    """A graph keeps its leaf as long as it lives itself, run or not."""
    for retain_graph in (None, False, True):
        x = leaf(torch, (2,), 1)
        y = (x * 2).sum()
        reference = weakref.ref(x)
        with no_collector():
            if retain_graph is not None:
                y.backward(retain_graph=retain_graph)
            del x
            kept = reference() is not None
            del y
            log("leaf", retain_graph, kept, reference() is None)


@family
def nodes_with_two_outputs(torch, log):
    """A node lives until the last of its outputs is gone."""
    _, _, halves = functions(torch)
    for run in (False, True):
        x = leaf(torch, (4,), 1)
        with no_collector():
            first, second = halves.apply(x)
            node = weakref.ref(first.grad_fn)
            if run:
                first.sum().backward(retain_graph=True)
            del first
            kept = node() is not None
            del second
            log("node", run, kept, node() is None)


@family
def saved_inputs(torch, log):
    """What an operation saved goes when its graph is released, or goes."""
    twice, _, _ = functions(torch)
    for name, operation in {"square": lambda b: b**2, "custom": twice.apply}.items():
        for retain_graph in (None, False, True):
            x = leaf(torch, (2,), 1)
            with no_collector():
                b = x + 1
                saved = weakref.ref(b)
                y = operation(b).sum()
                del b
                before = saved() is not None
                if retain_graph is not None:
                    y.backward(retain_graph=retain_graph)
                after = saved() is not None
                del y
                log(name, retain_graph, before, after, saved() is None)


@family
def saved_results(torch, log):
    """A node that saved its own result does not keep it alive."""
    _, exponential, _ = functions(torch)
    operations = {
        name: (lambda x, name=name: getattr(x, name)())
        for name in ("exp", "sigmoid", "sqrt", "tanh", "relu", "reciprocal", "max", "norm")
    }
    operations["softmax"] = lambda x: x.softmax(0)
    operations["custom"] = exponential.apply
    for name, operation in operations.items():
        for run in (False, True):
            x = leaf(torch, (2,), 1, positive=True)
            with no_collector():
                y = operation(x)
                result = weakref.ref(y)
                if run:
                    y.sum().backward()
                del y
                log(name, run, result() is None)


@family
def contexts(torch, log):
    """What a Function put on its ctx goes with the graph, not with backward."""

    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.marker = Marker()
            references.append(weakref.ref(ctx.marker))
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            log("in backward", ctx.marker is references[-1]())
            return grad * 2

    references = []
    x = leaf(torch, (2,), 1)
    with no_collector():
        y = Keeps.apply(x)
        y.sum().backward()
        log("after backward", references[-1]() is None)
        del y
        log("after the graph", references[-1]() is None)


@family
def gradients_in_hooks(torch, log):
    """The gradient that a hook was given is gone after the pass."""
    x = leaf(torch, (2,), 1)
    y = x * 2
    given = []
    y.register_hook(lambda grad: given.append(weakref.ref(grad)))
    with no_collector():
        y.exp().sum().backward()
        log("gradient", given[0]() is None)


@family
def the_same_node_object(torch, log):
    """A node is one object, however one comes to it."""
    x = leaf(torch, (2,), 1)
    y = x.exp()
    z = y * 2
    log("node", y.grad_fn is y.grad_fn, z.grad_fn.next_functions[0][0] is y.grad_fn)
    node = y.grad_fn
    del y
    log("without its tensor", z.grad_fn.next_functions[0][0] is node)
    accumulate = node.next_functions[0][0]
    log("leaf", accumulate.variable is x)
    log("from another view", x.view_as(x).grad_fn.next_functions[0][0] is accumulate)
