"""How long modules, hooks and graphs live that hold one another."""

from __future__ import annotations

import contextlib
import gc
import weakref

from .tools import Family, leaf, linear

family = Family()


@contextlib.contextmanager
def no_collector():
    """Switch the garbage collector off: what is freed now is freed by reference counts alone."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def tell(log, label, *references):
    """Write down which weakly referenced things are still there."""
    log(label, [reference() is not None for reference in references])


class Witness:
    """Something to hold in a closure and to watch."""

    def __call__(self, *args):
        """Be a hook that does nothing."""


KINDS = {
    "forward_pre": lambda m, hook: m.register_forward_pre_hook(hook),
    "forward_pre with kwargs": lambda m, hook: m.register_forward_pre_hook(hook, with_kwargs=True),
    "forward": lambda m, hook: m.register_forward_hook(hook),
    "forward with kwargs": lambda m, hook: m.register_forward_hook(hook, with_kwargs=True),
    "forward always": lambda m, hook: m.register_forward_hook(hook, always_call=True),
    "full_backward_pre": lambda m, hook: m.register_full_backward_pre_hook(hook),
    "full_backward": lambda m, hook: m.register_full_backward_hook(hook),
    "backward": lambda m, hook: m.register_backward_hook(hook),
    "state_dict_pre": lambda m, hook: m.register_state_dict_pre_hook(hook),
    "state_dict_post": lambda m, hook: m._register_state_dict_hook(hook),
    "load_pre": lambda m, hook: m.register_load_state_dict_pre_hook(hook),
    "load_pre without": lambda m, hook: m._register_load_state_dict_pre_hook(hook),
    "load_pre with": lambda m, hook: m._register_load_state_dict_pre_hook(hook, True),
    "load_post": lambda m, hook: m.register_load_state_dict_post_hook(hook),
}


TABLES = (
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_backward_pre_hooks",
    "_backward_hooks",
    "_state_dict_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def counts(module):
    """Give the number of entries in each of the module's tables of hooks that has any."""
    return {name: len(getattr(module, name)) for name in TABLES if getattr(module, name)}


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
