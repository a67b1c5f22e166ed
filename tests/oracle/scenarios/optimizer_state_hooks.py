"""See hooks around an optimizer's state dict, and what copies and pickles of it keep."""

from __future__ import annotations

import copy
import pickle

from .optimizer_hooks import note, one_weight
from .tools import Family

family = Family()


@family
def state_dict_hooks(torch, log):
    """Before: hook(optimizer); after: hook(optimizer, state_dict), which may return another."""
    _, optimizer = one_weight(torch)
    kept = [
        optimizer.register_state_dict_pre_hook(note(log, "pre")),
        optimizer.register_state_dict_pre_hook(note(log, "prepended pre"), prepend=True),
        optimizer.register_state_dict_post_hook(note(log, "post")),
        optimizer.register_state_dict_post_hook(note(log, "replace", {"new": 1})),
        optimizer.register_state_dict_post_hook(note(log, "after")),
        optimizer.register_state_dict_post_hook(note(log, "prepended post"), prepend=True),
    ]
    log("state", optimizer.state_dict())
    for handle in kept:
        handle.remove()
    log("removed", optimizer.state_dict())
    for result in (False, 0, [], "text"):
        with optimizer.register_state_dict_post_hook(note(log, "any", result)):
            log("state", optimizer.state_dict())
    with optimizer.register_state_dict_pre_hook(note(log, "ignored", {"new": 1})):
        log("keys", list(optimizer.state_dict()))


@family
def load_state_dict_hooks(torch, log):
    """Before: hook(optimizer, state_dict), which may return another to load; after: hook(opt)."""
    w, optimizer = one_weight(torch, momentum=0.5)
    optimizer.step()
    state = optimizer.state_dict()

    def changed(factor):
        new = copy.deepcopy(state)
        new["param_groups"][0]["lr"] *= factor
        return new

    def in_place(opt, given):
        log("in place", given is state)
        given["more"] = 3

    kept = [
        optimizer.register_load_state_dict_pre_hook(note(log, "pre")),
        optimizer.register_load_state_dict_pre_hook(note(log, "replace", changed(2))),
        optimizer.register_load_state_dict_pre_hook(note(log, "then")),
        optimizer.register_load_state_dict_pre_hook(note(log, "first"), prepend=True),
        optimizer.register_load_state_dict_post_hook(note(log, "post")),
        optimizer.register_load_state_dict_post_hook(note(log, "first post"), prepend=True),
    ]
    log("loaded", optimizer.load_state_dict(state), optimizer.state_dict())
    for handle in kept:
        handle.remove()
    with optimizer.register_load_state_dict_pre_hook(in_place):
        optimizer.load_state_dict(state)
    log("the caller's", list(state), optimizer.param_groups[0]["lr"], w)
    for wrong in (3, {}, {"state": {}}, {"param_groups": state["param_groups"]}):
        with optimizer.register_load_state_dict_pre_hook(lambda *_, wrong=wrong: wrong):
            label = "3" if wrong == 3 else f"{list(wrong)}"
            log.raises(label, lambda: optimizer.load_state_dict(state))
    with optimizer.register_load_state_dict_post_hook(note(log, "ignored", 3)):
        log("post", optimizer.load_state_dict(state))


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


@family
def copies_and_pickles_lose_their_hooks(torch, log):
    """A copied or pickled optimizer has settings and state, and no hooks."""
    w, optimizer = one_weight(torch, momentum=0.5)
    optimizer.step()
    optimizer.register_step_pre_hook(print)
    optimizer.register_state_dict_post_hook(print)
    for way, copied in (
        ("pickle", lambda o: pickle.loads(pickle.dumps(o))),
        ("deepcopy", copy.deepcopy),
        ("copy", copy.copy),
    ):
        twin = copied(optimizer)
        log(way, twin.state_dict(), twin.defaults == optimizer.defaults, repr(twin))
        tables = [name for name, value in vars(twin).items() if name.endswith("_hooks") and value]
        log("hooks", tables, type(twin.state).__name__)
        log("same", twin.param_groups[0]["params"][0] is w)
        log("one list", twin.param_groups is optimizer.param_groups)
        twin.register_step_post_hook(note(log, "of the copy"))
        twin.param_groups[0]["params"][0].grad = torch.tensor([1.0, 1.0])
        twin.step()
        log("stepped", twin.param_groups[0]["params"], w)
    log("saved", sorted(optimizer.__getstate__()))


@family
def a_copy_with_its_model(torch, log):
    """Copied together, the optimizer's copy steps the model's copy."""
    model = torch.nn.Module()
    model.w, optimizer = one_weight(torch, momentum=0.5)
    twin, other = copy.deepcopy((model, optimizer))
    log("same", other.param_groups[0]["params"][0] is twin.w, twin.w.grad)
    twin.w.grad = torch.tensor([4.0, 4.0])
    other.step()
    log("stepped", twin.w, model.w, [twin.w is key for key in other.state])


@family
def states_set_by_hand(torch, log):
    """__setstate__ makes an optimizer of settings and state."""
    w, optimizer = one_weight(torch)
    new = torch.optim.SGD.__new__(torch.optim.SGD)
    group = dict(optimizer.param_groups[0])
    new.__setstate__({"state": {}, "param_groups": [group], "defaults": {"differentiable": False}})
    log("group", {k: v for k, v in new.param_groups[0].items() if k != "params"})
    log("tables", sorted(name for name in vars(new) if name.endswith("_hooks")))
    log("step", new.step(), w)
    bare = torch.optim.SGD.__new__(torch.optim.SGD)
    log.raises("without defaults", lambda: bare.__setstate__({"param_groups": [], "state": {}}))
    new.__setstate__({"param_groups": [], "state": {}})
    log("defaults", new.defaults, repr(new))
