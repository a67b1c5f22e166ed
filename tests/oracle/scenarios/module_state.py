"""See state dicts being made: their hooks, keys, metadata, extra state and buffers."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

from .tools import Family, linear

family = Family()


def nested(torch):
    """Make a net two levels deep: layers `0` and `1.0`, an empty child and one without tensors."""
    inner = torch.nn.Sequential(linear(torch, [[0.5, -1.0]], [0.25]), torch.nn.Tanh())
    net = torch.nn.Sequential(linear(torch, [[1.0], [2.0]], None), inner)
    net.register_module("gone", None)
    return net


@family
def pre_and_post_hooks_of_a_tree(torch, log):
    """Each module calls its own pre-hooks, saves, lets its children save, then calls post-hooks."""
    net = nested(torch)
    for name, module in net.named_modules():
        module.register_state_dict_pre_hook(
            lambda m, prefix, keep, name=name: log("pre", name, type(m).__name__, prefix, keep)
        )
        module.register_state_dict_post_hook(
            lambda m, state, prefix, data, name=name: log(
                "post", name, type(m).__name__, list(state), prefix, data
            )
        )
    log("state", dict(net.state_dict()))
    log("prefix, keep_vars", dict(net.state_dict(prefix="net.", keep_vars=True)))


@family
def several_post_hooks_run_in_order(torch, log):
    """Public and private post-hooks stand in one table; a private one may return another dict."""
    layer = linear(torch, [[0.5]], [0.25])

    def replace(module, state, prefix, metadata):
        log("replace", list(state), prefix, metadata)
        return {"only": torch.tensor(1.0)}

    one = layer.register_state_dict_post_hook(lambda m, s, p, d: log("first", list(s)))
    two = layer._register_state_dict_hook(replace)
    three = layer.register_state_dict_post_hook(lambda m, s, p, d: log("last", list(s)))
    log("state", dict(layer.state_dict()))
    log("in a parent", dict(torch.nn.Sequential(layer).state_dict()))
    two.remove()
    log("removed", dict(layer.state_dict()), list(layer._state_dict_hooks) == [one.id, three.id])
    one.remove()
    three.remove()
    log("empty", len(layer._state_dict_hooks), len(layer._state_dict_pre_hooks))


@family
def a_public_post_hook_must_return_none(torch, log):
    """A post-hook registered in public returns nothing; the same one is no private hook then."""
    layer = linear(torch, [[0.5]], [0.25])

    def hook(module, state, prefix, metadata):
        return state

    layer._register_state_dict_hook(hook)
    log("private", list(layer.state_dict()))
    handle = layer.register_state_dict_post_hook(hook)
    log("marked", hook._from_public_api)
    log.raises("public", lambda: layer.state_dict())
    log.raises("again in private", lambda: layer._register_state_dict_hook(hook))
    handle.remove()
    log.raises("the mark stays", lambda: layer.state_dict())
    log.raises("a bound method", lambda: layer.register_state_dict_post_hook([].append))
    log.raises("a partial result", lambda: layer.register_state_dict_post_hook(print))


@family
def a_hook_that_raises(torch, log):
    """An error in a hook ends the saving or the loading with that error."""
    net = nested(torch)

    def fail(*_):
        raise KeyError("hook")

    for register in (
        net[1].register_state_dict_pre_hook,
        net[1]._register_state_dict_hook,
        net[1].register_state_dict_post_hook,
    ):
        handle = register(fail)
        log.raises("saving", lambda: net.state_dict())
        handle.remove()
    state = net.state_dict()
    for register in (
        net[1].register_load_state_dict_pre_hook,
        net[1]._register_load_state_dict_pre_hook,
        net[1].register_load_state_dict_post_hook,
    ):
        handle = register(fail)
        log.raises("loading", lambda: net.load_state_dict(state))
        handle.remove()
    log("after all", repr(net.load_state_dict(state)))


@family
def keys_and_arguments(torch, log):
    """destination, prefix and keep_vars, and who shares memory."""
    net = nested(torch)
    given = OrderedDict(before=1)
    back = net.state_dict(destination=given, prefix="x.")
    log("destination", back is given, list(given), hasattr(given, "_metadata"))
    plain = {}
    log("plain dict", net.state_dict(destination=plain) is plain, list(plain))
    state = net.state_dict(keep_vars=True)
    log("kept", state["0.weight"] is net[0].weight, state["0.weight"])
    shared = net.state_dict()
    shared["0.weight"].zero_()
    log("shared", net[0].weight, net[0].weight._version, shared["0.weight"].requires_grad)
    log("types", type(state).__name__, type(state["0.weight"]).__name__)
    log("type of a value", type(shared["0.weight"]).__name__)


@family
def metadata_of_versions(torch, log):
    """The dict carries each module's version; loading hands it to the module it belongs to."""

    class Versioned(torch.nn.Module):
        _version = 3

        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([1.0]))

        def _load_from_state_dict(self, state, prefix, metadata, *rest):
            log("loads", list(state), prefix, dict(metadata), rest[0])
            if metadata.get("version", 1) < 3:
                state[prefix + "weight"] = state.pop(prefix + "old")
            super()._load_from_state_dict(state, prefix, metadata, *rest)

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            log("saves", list(destination), prefix, keep_vars)
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "more"] = torch.tensor(2.0)

    net = torch.nn.Sequential(Versioned(), torch.nn.ReLU())
    state = net.state_dict(prefix="n.")
    log("metadata", dict(state._metadata), type(state._metadata).__name__)
    log("keys", list(state), hasattr(state.copy(), "_metadata"))
    log("deep copy", dict(copy.deepcopy(state)._metadata))
    log("pickled", dict(pickle.loads(pickle.dumps(state))._metadata))
    log.raises("wrong prefix", lambda: net.load_state_dict(state))
    log.raises("more is not known", lambda: net.load_state_dict(net.state_dict()))
    old = OrderedDict({"0.old": torch.tensor([5.0])})
    log("old", repr(net.load_state_dict(old)), net[0].weight, list(old))
    old._metadata = OrderedDict({"": {"version": 1}, "0": {"version": 2}})
    log("old with version", repr(net.load_state_dict(old)), dict(old._metadata))
    log("assign", repr(net.load_state_dict(old, assign=True)), dict(old._metadata))
    log("without a class version", dict(torch.nn.Tanh().state_dict()._metadata))


@family
def extra_state(torch, log):
    """get_extra_state puts any value under `_extra_state`; set_extra_state takes it back."""

    class Extra(torch.nn.Module):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def get_extra_state(self):
            return self.value

        def set_extra_state(self, state):
            log("set", state)
            self.value = state

    class OnlyGets(torch.nn.Module):
        def get_extra_state(self):
            return 1

    class OnlySets(torch.nn.Module):
        def set_extra_state(self, state):
            log("only sets", state)

    net = torch.nn.Sequential(Extra({"steps": 3}), Extra(torch.tensor([2.0])))
    state = net.state_dict()
    log("state", dict(state))
    log("loaded", repr(net.load_state_dict(state)))
    log.raises("missing", lambda: net.load_state_dict({"0._extra_state": 1}))
    keys = net.load_state_dict({"0._extra_state": None}, strict=False)
    log("not strict", list(keys.missing_keys), list(keys.unexpected_keys))
    log("only gets", dict(OnlyGets().state_dict()))
    log.raises("unexpected", lambda: OnlyGets().load_state_dict({"_extra_state": 1}))
    log.raises("only sets", lambda: OnlySets().load_state_dict(OnlySets().state_dict()))
    log.raises("set", lambda: repr(OnlySets().load_state_dict({"_extra_state": 4})))
    plain = torch.nn.ReLU()
    log.raises("unexpected in a plain one", lambda: plain.load_state_dict({"_extra_state": 1}))
    log.raises("get of a plain one", lambda: plain.get_extra_state())
    log.raises("set of a plain one", lambda: plain.set_extra_state(1))


@family
def buffers_in_the_state(torch, log):
    """Persistent buffers are saved, others and None are not; the module of a None has no key."""
    net = torch.nn.Module()
    net.register_buffer("kept", torch.tensor([1, 2]))
    net.register_buffer("left", torch.tensor([3.0]), persistent=False)
    net.register_buffer("none", None)
    net.register_parameter("nothing", None)
    net.child = None
    log("state", dict(net.state_dict()))
    log.raises("left", lambda: net.load_state_dict({"kept": torch.tensor([1, 2]), "left": 1}))
    log.raises("none", lambda: net.load_state_dict({**net.state_dict(), "none": torch.ones(1)}))
    log.raises("nothing", lambda: net.load_state_dict({"kept": net.kept, "nothing": None}))
    log("rounded", repr(net.load_state_dict({"kept": torch.tensor([1.5, -2.5])})), net.kept)
    net.register_buffer("left", torch.tensor([3.0]))
    log("persistent now", list(net.state_dict()))
    net.register_buffer("left", torch.tensor([3.0]), persistent=False)
    del net.left
    log("deleted", list(net.state_dict()), sorted(net._non_persistent_buffers_set))
