"""See which mode hooks, custom functions and other threads find themselves in."""

from __future__ import annotations

import threading

from .grad_modes import modes, state
from .tools import Family

family = Family()


@family
def modes_inside_hooks(torch, log):
    """is_grad_enabled in every hook and in a Function, with and without create_graph."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            log("forward", state(torch), x.requires_grad, (x * 2).requires_grad)
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            log("backward", state(torch), grad.requires_grad, (x * grad).requires_grad)
            return 3 * x**2 * grad

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(x):
            log("forward without ctx", state(torch))
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            log("setup_context", state(torch), output.requires_grad)

        @staticmethod
        def backward(ctx, grad):
            log("backward with setup", state(torch))
            return grad * 2

    def told(name, value=None):
        return lambda *given: log(name, state(torch))

    for outside in (True, False):
        for create_graph in (False, True):
            log("grad mode and create_graph", outside, create_graph)
            x = torch.tensor([1.0, 2.0], requires_grad=True)
            layer = torch.nn.Linear(2, 2)
            torch.nn.init.ones_(layer.weight)
            torch.nn.init.ones_(layer.bias)
            layer.register_forward_pre_hook(told("module, before forward"))
            layer.register_forward_hook(told("module, after forward"))
            layer.register_full_backward_pre_hook(told("module, before backward"))
            layer.register_full_backward_hook(told("module, after backward"))
            y = Twice.apply(layer(Cube.apply(x)))
            y.register_hook(told("tensor"))
            y.grad_fn.register_prehook(told("before node"))
            y.grad_fn.register_hook(told("after node"))
            x.register_hook(told("leaf"))
            x.register_post_accumulate_grad_hook(told("after accumulation"))
            torch.autograd.graph.register_multi_grad_hook((x, y), told("several"))
            loss = (y * torch.tensor([1.0, -2.0])).sum()
            with torch.set_grad_enabled(outside):
                loss.backward(create_graph=create_graph)
                log("after", state(torch), x.grad.requires_grad)


@family
def modes_inside_legacy_hooks(torch, log):
    """is_grad_enabled in a legacy module hook and in a global hook."""
    layer = torch.nn.Linear(2, 1)
    torch.nn.init.ones_(layer.weight)
    torch.nn.init.ones_(layer.bias)
    layer.register_backward_hook(lambda *given: log("legacy", state(torch)))
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    for create_graph in (False, True):
        layer(x).backward(create_graph=create_graph)
    log("after", state(torch))


@family
def modes_changed_inside_hooks(torch, log):
    """A hook that switches the mode: what the next hook and the caller see."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def switch(grad):
        log("first", state(torch))
        torch.set_grad_enabled(not torch.is_grad_enabled())

    for create_graph in (False, True):
        y = x * 2
        y.register_hook(switch)
        y.register_hook(lambda grad: log("second", state(torch)))
        (y * y).sum().backward(create_graph=create_graph)
        log("after", state(torch))
        torch.set_grad_enabled(True)


@family
def recording_inside_hooks(torch, log):
    """enable_grad inside a hook records there; a backward of its own works inside of it."""
    x = torch.tensor([2.0], requires_grad=True)
    w = torch.tensor([3.0], requires_grad=True)

    def hook(grad):
        log("not recorded", (w * 2).requires_grad)
        with torch.enable_grad():
            inner = (w * grad).sum()
            log("recorded", inner.requires_grad)
            inner.backward()
        with torch.inference_mode():
            log("in inference mode", state(torch), (w * grad).is_inference())
        log("left", state(torch))

    (x * x).register_hook(hook)
    y = x * x
    y.register_hook(hook)
    y.backward()
    log("gradients", x.grad, w.grad)


@family
def modes_after_errors_in_hooks(torch, log):
    """A hook or a backward that raises leaves the mode outside as it was."""

    def fails(*given):
        raise LookupError(f"planted {state(torch)}")

    x = torch.tensor([2.0], requires_grad=True)
    for outside in (True, False):
        for create_graph in (False, True):
            y = x * x
            y.register_hook(fails)
            with torch.set_grad_enabled(outside):
                log.raises(
                    "raised",
                    lambda create_graph=create_graph, y=y: y.backward(create_graph=create_graph),
                )
                log("after", state(torch))


# ------------------------------------------------------------------ threads


@family
def threads_have_their_own_modes(torch, log):
    """A new thread starts in normal mode, whatever its parent is in, and does not change it."""

    def in_a_thread(function):
        results = []
        thread = threading.Thread(target=lambda: results.append(function()))
        thread.start()
        thread.join()
        return results[0]

    def change():
        before = state(torch)
        torch.set_grad_enabled(False)
        context = torch.inference_mode()
        context.__enter__()
        return before, state(torch)

    for name, context in modes(torch).items():
        if name.endswith(")"):
            with context:
                log(name, state(torch), in_a_thread(change), state(torch))
            log("after", state(torch), in_a_thread(lambda: state(torch)))


@family
def a_decorated_function_in_two_threads(torch, log):
    """One decorated function that runs in two threads at once keeps their modes apart."""
    inside, go_on = threading.Event(), threading.Event()

    @torch.no_grad()
    def wait_inside():
        inside.set()
        go_on.wait(20)
        return state(torch)

    @torch.no_grad()
    def pass_through():
        return state(torch)

    results = []
    thread = threading.Thread(target=lambda: results.append((wait_inside(), state(torch))))
    thread.start()
    inside.wait(20)
    log("here", state(torch), pass_through(), state(torch))
    go_on.set()
    thread.join()
    log("there", results)
