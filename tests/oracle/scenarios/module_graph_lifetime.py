"""See what the graph of a hooked call keeps alive, and that it all goes with the result."""

from __future__ import annotations

import gc
import weakref
from functools import partial

from .module_lifetime import KINDS, Witness, no_collector, tell
from .tools import Family, leaf, linear

family = Family()


def run_and_drop(torch, log, label, register):
    """Call a hooked module forward and backward, drop all in turns, and tell what is left."""
    for backward in (False, True):
        with no_collector():
            module = linear(torch, [[0.5, -1.0]], [0.25])
            hook = Witness()
            handle = register(module, hook)
            seen = weakref.ref(hook)
            x = leaf(torch, (3, 2), 1)
            y = module(x)
            kept = (weakref.ref(module), seen, weakref.ref(module.weight), weakref.ref(y))
            del hook
            if backward:
                y.sum().backward()
            tell(log, f"{label}, backward {backward}", *kept)
            del module
            tell(log, "module deleted", *kept)
            handle.remove()
            tell(log, "hook removed", *kept)
            del y
            tell(log, "result deleted", *kept)


@family
def full_hooks_and_the_graph(torch, log):
    """Full backward hooks keep their module alive through the graph, and end with it."""
    run_and_drop(torch, log, "full", KINDS["full_backward"])
    run_and_drop(torch, log, "full pre", KINDS["full_backward_pre"])


@family
def legacy_hooks_and_the_graph(torch, log):
    """A legacy hook on the graph refers to its module weakly."""
    run_and_drop(torch, log, "legacy", KINDS["backward"])


@family
def forward_hooks_and_the_graph(torch, log):
    """Forward hooks leave nothing in the graph."""
    for kind in ("forward", "forward_pre", "forward with kwargs", "forward always"):
        run_and_drop(torch, log, kind, KINDS[kind])


@family
def a_legacy_hook_of_a_dead_module(torch, log):
    """Backward after the module of a legacy hook is gone is an error that says so."""
    module = torch.nn.Tanh()
    module.register_backward_hook(lambda m, i, o: log("called", type(m).__name__))
    x = leaf(torch, (2,), 1)
    y = module(x)
    y.sum().backward(retain_graph=True)
    with no_collector():
        del module
        log.raises("backward", lambda: y.sum().backward())
    log("gradient", x.grad)


@family
def a_full_hook_of_a_dropped_module(torch, log):
    """Full hooks run although nobody else holds their module; input and result free the rest."""
    with no_collector():
        module = torch.nn.Tanh()
        left = weakref.ref(module)
        module.register_full_backward_hook(lambda m, i, o: log("full", type(m).__name__, i, o))
        module.register_full_backward_pre_hook(lambda m, o: log("pre", type(m).__name__, o))
        x = leaf(torch, (2,), 1)
        y = module(x)
        del module
        tell(log, "dropped", left)
        y.sum().backward(retain_graph=True)
        y.backward(torch.tensor([1.0, -2.0]))
        tell(log, "after backward", left)
        del y
        tell(log, "result deleted", left)
        log("gradient", x.grad)


@family
def full_hooks_without_a_graph(torch, log):
    """Under no_grad, or where nothing needs a gradient, nothing of the call is kept."""
    with no_collector():
        module = linear(torch, [[0.5, -1.0]], [0.25])
        left = weakref.ref(module)
        module.register_full_backward_hook(lambda m, i, o: log("full", i, o))
        with torch.no_grad():
            y = module(leaf(torch, (3, 2), 1))
        module.requires_grad_(False)
        z = module(leaf(torch, (3, 2), 1, requires_grad=False))
        del module
        tell(log, "module", left)
        log("results", y, z)


@family
def full_hooks_without_gradients_of_inputs(torch, log):
    """The same when only parameters need gradients: the node behind the module holds on to it."""
    with no_collector():
        module = linear(torch, [[0.5, -1.0]], [0.25])
        left, weight = weakref.ref(module), module.weight
        module.register_full_backward_hook(lambda m, i, o: log("full", i, o))
        y = module(leaf(torch, (3, 2), 1, requires_grad=False))
        del module
        tell(log, "dropped", left)
        y.sum().backward()
        log("weight", weight.grad)
        tell(log, "after backward", left)
        del y
        tell(log, "result deleted", left)


@family
def a_hook_that_holds_its_module(torch, log):
    """A closure over the module is a cycle that the collector frees."""
    for kind in ("forward", "full_backward", "backward", "load_pre", "state_dict_pre"):
        with no_collector():
            module = linear(torch, [[0.5, -1.0]], [0.25])
            left = weakref.ref(module)
            KINDS[kind](module, lambda *args, module=module: None)
            y = module(leaf(torch, (3, 2), 1))
            y.sum().backward()
            del module, y
            tell(log, kind, left)
        gc.collect()
        tell(log, "collected", left)


@family
def gradients_kept_by_a_hook(torch, log):
    """Gradients that a hook keeps stay; those that it does not keep are freed after backward."""
    with no_collector():
        seen = []
        module = torch.nn.Tanh()
        module.register_full_backward_hook(
            lambda m, i, o: seen.extend(weakref.ref(g) for g in (*i, *o))
        )
        x = leaf(torch, (2,), 1)
        y = module(x)
        y.backward(torch.tensor([1.0, -2.0]))
        log("count", len(seen))
        tell(log, "after backward", seen[0])
        del y
        tell(log, "result deleted", *seen)


@family
def a_module_called_again(torch, log):
    """Each call has hooks of its own in the graph: the first result is free to go."""
    with no_collector():
        module = linear(torch, [[0.5, -1.0]], [0.25])
        module.register_full_backward_hook(lambda m, i, o: None)
        x = leaf(torch, (3, 2), 1)
        first, second = module(x), module(x)
        kept = (weakref.ref(first.grad_fn), weakref.ref(second.grad_fn))
        del first
        tell(log, "first", *kept)
        second.sum().backward()
        tell(log, "backward", *kept)
        del second
        tell(log, "second", *kept)


@family
def hooks_that_raise_in_backward(torch, log):
    """After an error in a hook everything still goes when the result and the error are gone."""

    def fail(*_):
        raise KeyError("hook")

    for kind in ("full_backward", "full_backward_pre", "backward"):
        with no_collector():
            module = torch.nn.Tanh()
            left = weakref.ref(module)
            KINDS[kind](module, fail)
            x = leaf(torch, (2,), 1)
            y = module(x)
            log.raises(kind, y.sum().backward)
            del module
            tell(log, "module deleted", left)
            y = None
            tell(log, "result deleted", left)
            log("gradient", x.grad)


@family
def a_forward_that_raises(torch, log):
    """A hooked call that raises leaves nothing behind, with always_call hooks too."""

    class Raises(torch.nn.Module):
        def forward(self, x):
            y = x * 2
            kept.append(weakref.ref(y))
            raise ValueError("forward")

    kept = []
    for always in (False, True):
        with no_collector():
            module, hook = Raises(), Witness()
            kept.extend((weakref.ref(module), weakref.ref(hook)))
            module.register_full_backward_hook(hook)
            module.register_forward_hook(hook, always_call=always)
            del hook
            x = leaf(torch, (2,), 1)
            log.raises("forward", partial(module, x))
            tell(log, f"always {always}", *kept)
            module = None
            tell(log, "module deleted", *kept)
            kept.clear()


@family
def several_inputs_and_outputs(torch, log):
    """Each output alone keeps the whole call alive; inputs keep nothing of it."""

    class Two(torch.nn.Module):
        def forward(self, a, b):
            return a * b, a + b

    with no_collector():
        module = Two()
        left = weakref.ref(module)
        module.register_full_backward_hook(lambda m, i, o: log("full", i, o))
        a, b = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
        first, second = module(a, b)
        del module, first
        tell(log, "one output left", left)
        second.sum().backward()
        tell(log, "after backward", left)
        del second
        tell(log, "no output left", left)


@family
def a_second_derivative(torch, log):
    """With create_graph the gradients hold what they need; it goes with them."""
    with no_collector():
        module = torch.nn.Tanh()
        left = weakref.ref(module)
        module.register_full_backward_hook(lambda m, i, o: log("full", i, o))
        x = leaf(torch, (2,), 1)
        y = module(x)
        (grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        del module, y
        tell(log, "gradient left", left)
        (again,) = torch.autograd.grad(grad.sum(), x)
        log("again", again)
        del grad
        tell(log, "gradient deleted", left)


@family
def hooks_that_keep_or_replace_gradients(torch, log):
    """A replaced gradient is freed after backward unless somebody keeps it."""
    with no_collector():
        seen = []

        def replace(module, grad_input, grad_output):
            new = tuple(grad * 2 for grad in grad_input)
            seen.extend(weakref.ref(each) for each in new)
            return new

        module = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Tanh())
        module[1].register_full_backward_hook(replace)
        x = leaf(torch, (2,), 1)
        y = module(x)
        y.sum().backward()
        tell(log, "replaced", *seen)
        log("gradient", x.grad)


@family
def nested_modules_with_hooks(torch, log):
    """Each module of a tree goes with the part of the graph that its hooks sit on."""
    with no_collector():
        net = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Sequential(torch.nn.Sigmoid()))
        kept = [weakref.ref(each) for each in net.modules()]
        for each in net.modules():
            each.register_full_backward_hook(lambda m, i, o: None)
            each.register_full_backward_pre_hook(lambda m, o: None)
        x = leaf(torch, (2,), 1)
        y = net(x)
        del net, each
        tell(log, "net deleted", *kept)
        y.sum().backward()
        tell(log, "after backward", *kept)
        del y
        tell(log, "result deleted", *kept)


@family
def global_hooks_keep_nothing(torch, log):
    """Global full hooks keep a module as long as its graph, no longer."""
    modules = torch.nn.modules.module
    with (
        no_collector(),
        modules.register_module_full_backward_hook(lambda m, i, o: log("full", i, o)),
        modules.register_module_full_backward_pre_hook(lambda m, o: log("pre", o)),
        modules.register_module_forward_hook(lambda m, i, o: log("forward", i, o)),
    ):
        module = torch.nn.Tanh()
        left = weakref.ref(module)
        x = leaf(torch, (2,), 1)
        y = module(x)
        del module
        tell(log, "module deleted", left)
        y.sum().backward()
        del y
        tell(log, "result deleted", left)
