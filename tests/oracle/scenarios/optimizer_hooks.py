"""Hooks around steps and states of optimizers."""

from __future__ import annotations

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
def errors_while_loading(torch, log):
    """A load hook that raises before leaves all as it was; one after comes too late."""

    def fail(*_):
        raise KeyError("hook")

    _, optimizer = one_weight(torch)
    state = optimizer.state_dict()
    state["param_groups"][0]["lr"] = 8.0
    with optimizer.register_load_state_dict_pre_hook(fail):
        log.raises("before", lambda: optimizer.load_state_dict(state))
    log("lr", optimizer.param_groups[0]["lr"])
    with optimizer.register_load_state_dict_post_hook(fail):
        log.raises("after", lambda: optimizer.load_state_dict(state))
    log("lr", optimizer.param_groups[0]["lr"])
    for hook in (optimizer.register_state_dict_pre_hook, optimizer.register_state_dict_post_hook):
        with hook(fail):
            log.raises("saving", lambda: optimizer.state_dict())
    state["param_groups"] = []
    with optimizer.register_load_state_dict_post_hook(note(log, "never")):
        log.raises("groups", lambda: optimizer.load_state_dict(state))
