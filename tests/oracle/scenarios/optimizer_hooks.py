"""See hooks around an optimizer's step: when they run, with what, and in which order."""

from __future__ import annotations

from importlib import import_module

from .tools import Family

family = Family()


def one_weight(torch, **options):
    """Make a weight with a gradient and an SGD optimizer for it."""
    w = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    w.grad = torch.tensor([0.5, 0.25])
    return w, torch.optim.SGD([w], **{"lr": 0.5, **options})


def note(log, label, returns=None):
    """Make a hook that writes down the classes and values it is given."""

    def hook(optimizer, *rest):
        plain = [
            [type(each).__name__ if hasattr(each, "step") else each for each in value]
            if isinstance(value, tuple)
            else value
            for value in rest
        ]
        log(label, type(optimizer).__name__, *plain)
        return returns

    return hook


def global_hooks(torch):
    """Give the two functions that register hooks for all optimizers."""
    where = import_module(f"{torch.__name__}.optim.optimizer")
    return where.register_optimizer_step_pre_hook, where.register_optimizer_step_post_hook


@family
def order_around_a_step(torch, log):
    """Global pre, local pre, step, local post, global post; each in the order registered."""
    w, optimizer = one_weight(torch)
    before, after = global_hooks(torch)
    handles = [
        optimizer.register_step_post_hook(note(log, "local post")),
        optimizer.register_step_pre_hook(note(log, "local pre")),
        after(note(log, "global post")),
        before(note(log, "global pre")),
        optimizer.register_step_post_hook(note(log, "second local post")),
        optimizer.register_step_pre_hook(note(log, "second local pre")),
        after(note(log, "second global post")),
        before(note(log, "second global pre")),
    ]

    def closure():
        log("closure", torch.is_grad_enabled())
        return 7.5

    log("result", optimizer.step(closure), w)
    log("keyword", optimizer.step(closure=None), w)
    optimizer.zero_grad()
    optimizer.state_dict()
    for handle in handles:
        handle.remove()
    log("removed", optimizer.step(closure), len(handles[0].hooks_dict_ref()))


@family
def global_hooks_and_other_optimizers(torch, log):
    """A global hook sees the steps of every optimizer, of classes of one's own too."""

    class Own(torch.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {})

        def step(self, closure=None, *, scale=1.0):
            log("own step", closure, scale)
            return "result"

    class Child(Own):
        pass

    class Calls(Own):
        def step(self, closure=None):
            log("calls")
            return super().step(closure, scale=2.0)

    before, after = global_hooks(torch)
    w = torch.nn.Parameter(torch.tensor([1.0]))
    with before(note(log, "pre")), after(note(log, "post")):
        for kind in (Own, Child, Calls):
            optimizer = kind([w])
            log(kind.__name__, optimizer.step(), optimizer.step(closure=None))
        log("scale", Own([w]).step(scale=3.0))
    log("marks", Own.step.hooked, Child.step.hooked, Calls.step.hooked, Own.step.__name__)
    log("outside", Own([w]).step())


@family
def a_pre_hook_replaces_arguments(torch, log):
    """A step pre-hook may return (args, kwargs), the optimizer among them, for all that follows."""
    _, optimizer = one_weight(torch)

    def closure():
        log("closure")
        return 1.5

    def replace(opt, args, kwargs):
        log("replace", len(args), list(kwargs))
        return (opt, closure), {}

    first = optimizer.register_step_pre_hook(replace)
    optimizer.register_step_pre_hook(lambda o, a, k: log("then", len(a), list(k)))
    optimizer.register_step_post_hook(lambda o, a, k: log("post", len(a), list(k)))
    log("result", optimizer.step())
    first.remove()
    second = optimizer.register_step_pre_hook(lambda o, a, k: (a, {"closure": closure}))
    log("result", optimizer.step())
    log.raises("twice", lambda: optimizer.step(None))
    second.remove()
    third = optimizer.register_step_pre_hook(lambda o, a, k: ((), {}))
    log.raises("without the optimizer", lambda: optimizer.step())
    third.remove()
    _, other = one_weight(torch)
    optimizer.register_step_pre_hook(lambda o, a, k: ((other,), {}))
    optimizer.step()
    log("another optimizer", optimizer.param_groups[0]["params"], other.param_groups[0]["params"])


@family
def wrong_results_of_pre_hooks(torch, log):
    """A step pre-hook returns None or two things; post-hooks may return anything."""
    for wrong in (1, (1,), (1, 2, 3), [(), {}], False, "ab"):
        w, optimizer = one_weight(torch)
        optimizer.register_step_pre_hook(lambda o, a, k, wrong=wrong: wrong)
        try:
            optimizer.step()
        except RuntimeError as error:
            text = str(error)
            log(f"{wrong}", text[text.index(" must return") :], text.startswith("<function SGD"))
        log("no step", w)
    w, optimizer = one_weight(torch)
    optimizer.register_step_post_hook(lambda o, a, k: "ignored")
    log("post", optimizer.step(), w)


@family
def hooks_that_raise(torch, log):
    """An error before the step prevents it; one after it comes too late; both pass through."""

    def fail(*_):
        raise KeyError("hook")

    w, optimizer = one_weight(torch)
    with optimizer.register_step_pre_hook(fail):
        log.raises("before", lambda: optimizer.step())
        log("no step", w)
    with optimizer.register_step_post_hook(fail):
        log.raises("after", lambda: optimizer.step())
        log("stepped", w)
    before, after = global_hooks(torch)
    with before(fail):
        log.raises("global", lambda: optimizer.step())
    with after(note(log, "global post")):
        log.raises("closure", lambda: optimizer.step(fail))
        log("grad mode", torch.is_grad_enabled(), optimizer.step(), w)
    log.raises("wrong signature", lambda: call_with(optimizer, lambda: None))


def call_with(optimizer, hook):
    """Step with a hook that takes other arguments than it is given."""
    with optimizer.register_step_pre_hook(hook):
        optimizer.step()


@family
def grad_mode_in_hooks(torch, log):
    """Hooks run in the grad mode of the caller, the step without, the closure with gradients."""
    w, optimizer = one_weight(torch)
    optimizer.register_step_pre_hook(lambda *_: log("pre", torch.is_grad_enabled()))
    optimizer.register_step_post_hook(lambda *_: log("post", torch.is_grad_enabled()))
    optimizer.step(lambda: log("closure", torch.is_grad_enabled()))
    with torch.no_grad():
        optimizer.step(lambda: log("closure", torch.is_grad_enabled()))
    log("after", torch.is_grad_enabled(), w)


@family
def hooks_that_change_things(torch, log):
    """A pre-hook may change gradients and settings; hooks may remove themselves while they run."""
    w, optimizer = one_weight(torch)

    def scale(opt, args, kwargs):
        for group in opt.param_groups:
            group["lr"] = group["lr"] * 2
            for p in group["params"]:
                p.grad.mul_(3)

    optimizer.register_step_pre_hook(scale)
    optimizer.step()
    log("stepped", w, w.grad, optimizer.param_groups[0]["lr"])
    handles = []
    handles.append(optimizer.register_step_post_hook(lambda *_: handles[0].remove()))
    optimizer.register_step_post_hook(note(log, "next"))
    log.raises("removes itself", lambda: optimizer.step())
    log.raises("again", lambda: optimizer.step())
    log.raises("registers", lambda: registering(optimizer, log))


def registering(optimizer, log):
    """Step with a hook that registers another one of its own kind."""
    late = []

    def hook(*_):
        late.append(optimizer.register_step_pre_hook(note(log, "late")))

    with optimizer.register_step_pre_hook(hook):
        optimizer.step()
    log("registered", len(late))


@family
def where_things_are(torch, log):
    """The functions for all optimizers are imported from torch.optim.optimizer, not reached."""
    log("reached", [hasattr(torch.optim, name) for name in ("optimizer", "SGD")])
    where = import_module(f"{torch.__name__}.optim.optimizer")
    before, after = global_hooks(torch)
    one, two = before(print), after(print)
    log("tables", list(where._global_optimizer_pre_hooks) == [one.id])
    log("tables", one.hooks_dict_ref() is where._global_optimizer_pre_hooks, two.id - one.id)
    one.remove()
    two.remove()
    log("removed", len(where._global_optimizer_pre_hooks), len(where._global_optimizer_post_hooks))
