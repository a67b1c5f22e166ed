"""State dicts: what is in them, hooks around them, and loading."""

from __future__ import annotations

from .tools import Family, leaf, linear, numbers

family = Family()


def nested(torch):
    """Make a net two levels deep: layers `0` and `1.0`, an empty child and one without tensors."""
    inner = torch.nn.Sequential(linear(torch, [[0.5, -1.0]], [0.25]), torch.nn.Tanh())
    net = torch.nn.Sequential(linear(torch, [[1.0], [2.0]], None), inner)
    net.register_module("gone", None)
    return net


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


def note(log, label, also=lambda *_: None):
    """Make a load pre-hook that writes down what it is given, with or without the module."""

    def hook(*args):
        *module, state, prefix, metadata, strict, missing, unexpected, errors = args
        names = [type(each).__name__ for each in module]
        log(label, names, list(state), prefix, dict(metadata), strict, missing, unexpected, errors)
        return also(*args)

    return hook


def attempt(log, label, action):
    """Write down the two lists that loading gave, or its error."""

    def lists():
        keys = action()
        return [repr(keys), keys.missing_keys, keys.unexpected_keys, type(keys).__name__]

    log.raises(label, lists)


@family
def pre_hooks_of_a_tree(torch, log):
    """Load pre-hooks run from the root down; each sees the whole of its own part of the dict."""
    net = nested(torch)
    for name, module in net.named_modules():
        module.register_load_state_dict_pre_hook(note(log, f"public {name}"))
        module._register_load_state_dict_pre_hook(note(log, f"private {name}"))
        module._register_load_state_dict_pre_hook(note(log, f"with module {name}"), True)
        module.register_load_state_dict_post_hook(
            lambda m, keys, name=name: log("post", name, type(m).__name__, keys)
        )
    attempt(log, "loaded", lambda: net.load_state_dict(net.state_dict()))
    attempt(log, "half", lambda: net.load_state_dict({"1.0.bias": torch.zeros(1), "x.y": 1}))
    attempt(log, "not strict", lambda: net.load_state_dict({"0.weight": torch.ones(2, 1)}, False))


@family
def assigned_values(torch, log):
    """assign=True puts the tensors themselves in place, as parameters that keep requires_grad."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    layer.register_buffer("steps", torch.tensor(1))
    layer.bias.requires_grad_(False)
    old = layer.weight
    state = {
        "weight": torch.tensor(numbers((1, 2), 1), dtype=torch.float64),
        "bias": torch.nn.Parameter(torch.tensor([3.0])),
        "steps": torch.tensor(5.0),
    }
    attempt(log, "loaded", lambda: layer.load_state_dict(state, assign=True))
    log("values", layer.weight, layer.bias, layer.steps, old)
    log("same", layer.bias is state["bias"], layer.steps is state["steps"], layer.weight is old)
    state["weight"].zero_()
    log("memory", layer.weight)
    attempt(log, "shape", lambda: layer.load_state_dict({"weight": torch.ones(2)}, False, True))
    wants = {"weight": leaf(torch, (1, 2), 2)}
    attempt(log, "leaf", lambda: layer.load_state_dict(wants, False, True))
    log("the leaf", layer.weight is wants["weight"], layer.weight, wants["weight"])
    moved = {"weight": wants["weight"] * 2}
    attempt(log, "of a graph", lambda: layer.load_state_dict(moved, strict=False, assign=True))
    log("detached", layer.weight)
    attempt(
        log,
        "integers",
        lambda: layer.load_state_dict({"weight": torch.ones(1, 2).int()}, False, True),
    )
    attempt(
        log,
        "frozen integers",
        lambda: layer.load_state_dict({"bias": torch.ones(1).int()}, False, True),
    )
    log("bias", layer.bias)
    single = torch.nn.Module()
    single.scale = torch.nn.Parameter(torch.tensor(1.0))
    attempt(
        log, "(1,)", lambda: single.load_state_dict({"scale": torch.tensor([4.0])}, assign=True)
    )
    log("scale", single.scale)
    attempt(log, "no tensor", lambda: single.load_state_dict({"scale": 4.0}, assign=True))


@family
def an_error_while_copying(torch, log):
    """An exception of copying one value is reported with the key and both shapes."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    layer.weight = torch.nn.Parameter(torch.tensor([[1.0], [2.0]]).expand(2, 3))
    state = {"weight": torch.ones(2, 3), "bias": torch.ones(1)}
    log.raises("an expanded parameter", lambda: layer.load_state_dict(state))
    log("the rest is loaded", layer.bias)
