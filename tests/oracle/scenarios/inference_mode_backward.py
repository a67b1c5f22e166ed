"""See backward passes inside of inference mode, and what grad mode is there in between."""

from __future__ import annotations

from .inference_mode import facts, made
from .inference_mode_functions import Recorded
from .tools import Family, leaf, linear

family = Family()


def state(torch):
    """Tell both modes of this thread."""
    return [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]


@family
def backward_in_the_mode(torch, log):
    """A backward in inference mode over a graph made outside: its gradients are made in it."""
    x, w = leaf(torch, (3,), 1), leaf(torch, (3,), 2)
    square = Recorded(torch, log).all[0]
    for create_graph in (False, True):
        x.grad = w.grad = None
        hooks = [
            x.register_hook(lambda g: log("leaf", state(torch), facts(g))),
            x.register_post_accumulate_grad_hook(lambda t: log("after", state(torch), t.grad)),
        ]
        loss = (square.apply(x) * w).sum()
        with torch.inference_mode():
            for _ in range(2):
                loss.backward(retain_graph=True, create_graph=create_graph)
                log("gradients", facts(x.grad), facts(w.grad), x.grad, state(torch))
            found = torch.autograd.grad(loss, (x, w), retain_graph=True, create_graph=create_graph)
            log("grad", [facts(t) for t in found], found)
        log.raises(
            "accumulated outside",
            lambda create_graph=create_graph, loss=loss: loss.backward(
                retain_graph=True, create_graph=create_graph
            ),
        )
        x.grad = w.grad = None
        loss.backward()
        log("anew", x.grad, w.grad)
        for hook in hooks:
            hook.remove()


@family
def gradient_from_the_mode_meets_outside(torch, log):
    """A .grad that is an inference tensor is not added to outside."""
    x = leaf(torch, (3,), 1)
    x.grad = made(torch)
    log.raises("added to", lambda: (x * 2).sum().backward())
    log("still", facts(x.grad))
    x.grad = None
    (x * 2).sum().backward()
    log("anew", x.grad)


@family
def functions_recorded_in_the_mode(torch, log):
    """Under enable_grad inside of the mode a custom Function is recorded, though nothing else."""
    for function in Recorded(torch, log).all:
        for kind in ("leaf", "result", "plain", "inference", "inference leaf"):
            x = leaf(torch, (3,), 1)
            tensor = {"leaf": x, "result": x * 2, "plain": torch.ones(3)}.get(kind)
            if tensor is None:
                tensor = made(torch, requires_grad=kind == "inference leaf")
            with torch.inference_mode(), torch.enable_grad():
                log.raises(
                    f"{function.__name__}, {kind}",
                    lambda function=function, tensor=tensor: facts(function.apply(tensor)),
                )


@family
def hooked_modules_under_enable_grad_in_the_mode(torch, log):
    """Full backward hooks are set up under enable_grad inside of the mode, and go nowhere."""
    layer = linear(torch, [[1.0, 2.0, 3.0]], [4.0])
    layer.register_full_backward_hook(log.module_hook("after"))
    layer.register_full_backward_pre_hook(log.module_hook("before"))
    layer.register_forward_hook(
        lambda module, given, result: log("forward", facts(given[0]), facts(result))
    )
    x = leaf(torch, (1, 3), 1)
    with torch.inference_mode(), torch.enable_grad():
        log("result", facts(layer(x)), facts(layer(x * 2)))


@family
def switched_by_a_hook(torch, log):
    """A hook that switches the mode does so for the rest of its node only."""
    x = leaf(torch, (3,), 1)

    def switch(grad):
        log("first", state(torch))
        torch.set_grad_enabled(not torch.is_grad_enabled())

    for create_graph in (False, True):
        x.grad = None
        y = x * 2
        y.register_hook(switch)
        y.register_hook(lambda grad: log("second", state(torch)))
        hook = x.register_hook(lambda grad: log("leaf", state(torch), grad.requires_grad))
        (y * y).sum().backward(create_graph=create_graph)
        log("after", state(torch), x.grad.requires_grad)
        hook.remove()


@family
def counted_by_hand(torch, log):
    """increment_version passes inference tensors by."""
    tensor = made(torch)
    log.raises("outside", lambda: torch.autograd.graph.increment_version(tensor))
    with torch.inference_mode():
        log.raises("inside", lambda: torch.autograd.graph.increment_version([tensor]))
