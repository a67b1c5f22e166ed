"""See what keeps a module, its hooks, its outputs and its handles alive, and what lets them go."""

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


@family
def a_hook_dies_with_its_module(torch, log):
    """A hook of each kind goes when its module goes, or when its handle removes it."""
    for kind, register in KINDS.items():
        with no_collector():
            module, hook = torch.nn.Identity(), Witness()
            gone, left = weakref.ref(hook), weakref.ref(module)
            handle = register(module, hook)
            del hook
            tell(log, f"{kind}: registered", gone, left)
            log("counts", counts(module))
            handle.remove()
            tell(log, "removed", gone, left)
            log("counts", counts(module))
            hook = Witness()
            gone = weakref.ref(hook)
            handle = register(module, hook)
            del hook, module
            tell(log, "module deleted", gone, left)
            log("handle", handle.hooks_dict_ref() is None, [r() for r in handle.extra_dict_ref])
            handle.remove()


@family
def a_bound_method_as_hook(torch, log):
    """A module's own method as its hook: a cycle, or a weak reference where the hook is wrapped."""

    class Own(torch.nn.Module):
        def forward(self, x):
            return x * 2

        def hook(self, *args):
            log("hook", len(args))

    for kind, register in KINDS.items():
        with no_collector():
            module = Own()
            left = weakref.ref(module)
            register(module, module.hook)
            del module
            tell(log, kind, left)
        gc.collect()
        tell(log, "collected", left)


@family
def a_method_of_another_object(torch, log):
    """A bound method keeps its object alive as long as the module has it as a hook."""

    class Watcher:
        def hook(self, *args):
            log("called", len(args))

    for kind in ("forward", "full_backward", "load_pre", "state_dict_pre"):
        with no_collector():
            module, watcher = torch.nn.Identity(), Watcher()
            seen = weakref.ref(watcher)
            handle = KINDS[kind](module, watcher.hook)
            del watcher
            tell(log, kind, seen)
            module(leaf(torch, (2,), 1)).sum().backward()
            module.load_state_dict(module.state_dict())
            handle.remove()
            tell(log, "removed", seen)


@family
def a_load_hook_with_its_module(torch, log):
    """A load hook with module is kept with a weak reference: calling it later says what is dead."""

    def hook(module, state, prefix, *rest):
        log("called", type(module).__name__, prefix)

    module = torch.nn.Identity()
    module._register_load_state_dict_pre_hook(hook, with_module=True)
    kept = next(iter(module._load_state_dict_pre_hooks.values()))
    log("wrapped", kept.with_module, kept.hook is hook, kept.module() is module, kept.__name__)
    kept({}, "by hand", {}, True, [], [], [])
    with no_collector():
        del module
        log("gone", kept.module() is None)
    log.raises("called", lambda: kept({}, "late", {}, True, [], [], []))
    log.raises("state", lambda: sorted(kept.__getstate__().items(), key=str)[0][0])
    plain = torch.nn.Identity()
    plain._register_load_state_dict_pre_hook(hook)
    kept = next(iter(plain._load_state_dict_pre_hooks.values()))
    log("without", kept.with_module, hasattr(kept, "module"))


@family
def an_optimizer_and_its_parameters(torch, log):
    """An optimizer holds its parameters, not their module; hooks on it go with it."""
    # PyTorch's first optimizer of a process is held by what it imports on that occasion.
    torch.optim.SGD([torch.nn.Parameter(torch.tensor([1.0]))], lr=0.5)
    gc.collect()
    with no_collector():
        module = linear(torch, [[0.5, -1.0]], [0.25])
        optimizer = torch.optim.SGD(module.parameters(), lr=0.5, momentum=0.5)
        left, weight = weakref.ref(module), weakref.ref(module.weight)
        module(leaf(torch, (3, 2), 1)).sum().backward()
        hook = Witness()
        seen = weakref.ref(hook)
        optimizer.register_step_pre_hook(hook)
        optimizer.register_step_post_hook(hook)
        optimizer.register_state_dict_post_hook(hook)
        del hook
        optimizer.step()
        optimizer.state_dict()
        del module
        tell(log, "module deleted", left, weight, seen)
        gone = weakref.ref(optimizer)
        del optimizer
        tell(log, "optimizer deleted", gone, weight, seen)


@family
def handles_hold_nothing(torch, log):
    """A handle holds neither hook nor module; a forgotten handle leaves its hook in place."""
    with no_collector():
        module = torch.nn.Identity()
        handle = module.register_forward_hook(lambda m, i, o: log("forward"))
        table = handle.hooks_dict_ref()
        log("table", table is module._forward_hooks, list(table) == [handle.id])
        log("extra", [ref() is not None for ref in handle.extra_dict_ref])
        gone = weakref.ref(handle)
        del handle
        tell(log, "handle deleted", gone)
        module(leaf(torch, (2,), 1))
        del table
        with module.register_forward_hook(lambda m, i, o: log("inside")) as inner:
            log("entered", type(inner).__name__, len(module._forward_hooks))
            module(leaf(torch, (2,), 1))
        log("left", len(module._forward_hooks), inner.__exit__(None, None, None))
        log.raises("raising inside", lambda: leave_by_error(module, log))
        log("left", len(module._forward_hooks))


def leave_by_error(module, log):
    """Leave the block of a handle by an error."""
    with module.register_forward_hook(lambda m, i, o: log("never")):
        raise ValueError("inside")
