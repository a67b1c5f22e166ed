"""See state dicts being loaded: the hooks before and after, what is assigned, each error."""

from __future__ import annotations

from collections import OrderedDict, UserDict
from types import MappingProxyType

from .module_state import nested
from .tools import Family, leaf, linear, numbers

family = Family()


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
def a_pre_hook_changes_everything(torch, log):
    """A pre-hook may rename keys, add to the three lists and change the local metadata."""
    net = nested(torch)

    def rename(module, state, prefix, metadata, strict, missing, unexpected, errors):
        state[prefix + "weight"] = state.pop(prefix + "old")
        metadata["seen"] = True
        missing.append("a missing one")
        unexpected.append("an unexpected one")
        return "ignored"

    net[0].register_load_state_dict_pre_hook(note(log, "rename", rename))
    net[0].register_load_state_dict_pre_hook(note(log, "then"))
    state = net.state_dict()
    state["0.old"] = state.pop("0.weight") * 3
    attempt(log, "not strict", lambda: net.load_state_dict(state, strict=False))
    log("values", net[0].weight, list(state), dict(state._metadata))
    attempt(log, "strict", lambda: net.load_state_dict(state))

    def complain(state, prefix, metadata, strict, missing, unexpected, errors):
        errors.append("a complaint")

    net[1]._register_load_state_dict_pre_hook(complain)
    attempt(log, "with a complaint", lambda: net.load_state_dict(state, strict=False))


@family
def a_pre_hook_takes_keys_away_for_the_children(torch, log):
    """What a parent's pre-hook removes or adds, its children do not get or do get."""
    net = nested(torch)

    def above(module, state, prefix, metadata, strict, missing, unexpected, errors):
        state.pop("1.0.bias")
        state["0.weight"] = torch.tensor([[7.0], [8.0]])
        state["2.new"] = torch.tensor(1.0)

    net.register_load_state_dict_pre_hook(note(log, "root", above))
    net[0].register_load_state_dict_pre_hook(note(log, "child"))
    net[1][0].register_load_state_dict_pre_hook(note(log, "grandchild"))
    attempt(log, "loaded", lambda: net.load_state_dict(net.state_dict()))
    log("values", net[0].weight)


@family
def post_hooks_edit_the_lists(torch, log):
    """Post-hooks run children first and may edit both lists before strictness is judged."""
    net = nested(torch)

    def clear(module, keys):
        log("clear", type(module).__name__, keys.missing_keys, keys.unexpected_keys)
        keys.missing_keys.clear()

    def add(module, keys):
        log("add", type(module).__name__, keys.missing_keys, keys.unexpected_keys)
        keys.unexpected_keys.append("from the hook")

    one = net[1].register_load_state_dict_post_hook(clear)
    two = net.register_load_state_dict_post_hook(add)
    attempt(log, "empty dict", lambda: net.load_state_dict({}))
    two.remove()
    attempt(log, "without the second", lambda: net.load_state_dict({}))
    attempt(log, "extra key", lambda: net.load_state_dict({"extra": 1}, strict=False))
    one.remove()
    attempt(log, "without any", lambda: net.load_state_dict({}))
    wrong = net[0].register_load_state_dict_post_hook(lambda module, keys: keys)
    attempt(log, "a result", lambda: net.load_state_dict(net.state_dict()))
    wrong.remove()
    net.register_load_state_dict_post_hook(lambda module, keys: False)
    attempt(log, "False", lambda: net.load_state_dict(net.state_dict()))


@family
def error_texts(torch, log):
    """All that is wrong is listed in one error, named after the class that was asked."""
    net = nested(torch)
    good = dict(net.state_dict())
    one = torch.ones(1)

    def load(label, changes, strict=True, drop=()):
        state = {key: value for key, value in {**good, **changes}.items() if key not in drop}
        attempt(log, label, lambda: net.load_state_dict(state, strict=strict))

    load("a shape", {"0.weight": one})
    load("two shapes", {"0.weight": one, "1.0.weight": torch.ones(2, 2)}, strict=False)
    load("scalars", {"0.weight": torch.tensor(1.0), "1.0.bias": torch.tensor(1.0)})
    load("everything", {"0.weight": one, "x": 1, "1.y": 2}, drop=("1.0.bias", "1.0.weight"))
    load("no tensor", {"1.0.bias": 3.0})
    load("None", {"1.0.bias": None})
    load("a list", {"1.0.bias": [0.25]}, strict=False)
    load("unknown names", {"0": 1, "0.": 2, "0.weight.x": 3, "": 4, ".": 5, "1.0": 6, "gone.a": 7})
    load("beside a layer", {"00.weight": one, "1.00.bias": one, "1": one, "gone": one})
    load("below a layer", {"0.weight.0": one, "0.sub.weight": one, "1.1.x": one})
    attempt(log, "a number as key", lambda: net.load_state_dict({**good, 3: one}))
    attempt(log, "number, not strict", lambda: net.load_state_dict({**good, 3: one}, strict=False))


@family
def what_is_a_dict(torch, log):
    """Any mapping is taken and left as it is; anything else is a TypeError."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    state = {"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([3.0])}
    attempt(log, "UserDict", lambda: layer.load_state_dict(UserDict(state)))
    attempt(log, "read only", lambda: layer.load_state_dict(MappingProxyType(state)))
    log("values", layer.weight, layer.bias)
    for label, value in (("list", [1]), ("None", None), ("pairs", state.items()), ("text", "ab")):
        attempt(log, label, lambda value=value: layer.load_state_dict(value))
    attempt(log, "a type", lambda: layer.load_state_dict(dict))
    state["more"] = torch.ones(1)
    layer.register_load_state_dict_pre_hook(lambda m, s, *_: s.pop("more"))
    attempt(log, "popped", lambda: layer.load_state_dict(state))
    log("the caller's", list(state))


@family
def copied_values(torch, log):
    """Values are copied in place: same parameter, cast to its dtype, one version later."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    weight = layer.weight
    result = layer(torch.tensor([[1.0, 2.0]]))
    state = {
        "weight": torch.tensor([[1.0, 2.0]], dtype=torch.float64),
        "bias": torch.tensor([3]),
    }
    attempt(log, "loaded", lambda: layer.load_state_dict(state))
    log("kept", layer.weight is weight, layer.weight, layer.bias, weight._version)
    given = leaf(torch, (1, 2), 1)
    attempt(log, "of a graph", lambda: layer.load_state_dict({"weight": given * 2}, False))
    log("a leaf", layer.weight.is_leaf, layer.weight.requires_grad, layer.weight)
    log.raises("stale", lambda: (result * layer.weight).sum().backward())
    layer.weight.requires_grad_(False)
    attempt(log, "frozen", lambda: layer.load_state_dict(state))
    log("still frozen", layer.weight)
    single = torch.nn.Module()
    single.scale = torch.nn.Parameter(torch.tensor(1.0))
    attempt(log, "(1,) into ()", lambda: single.load_state_dict({"scale": torch.tensor([4.0])}))
    attempt(log, "(2,) into ()", lambda: single.load_state_dict({"scale": torch.tensor([4.0, 5])}))
    log("scale", single.scale)
    attempt(log, "(1, 1)", lambda: single.load_state_dict({"scale": torch.tensor([[4.0]])}))


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
def assigning_buffers_and_shared_ones(torch, log):
    """A shared module is loaded under each of its names; an assigned one changes with the last."""
    net = torch.nn.Module()
    net.a = linear(torch, [[0.5]], [0.25])
    net.b = net.a
    net.tied = torch.nn.Module()
    net.tied.weight = net.a.weight
    net.register_buffer("left", torch.tensor([1.0]), persistent=False)
    state = net.state_dict()
    log("keys", list(state))
    for place, key in enumerate(state):
        state[key] = torch.full_like(state[key], float(place))
    attempt(log, "copied", lambda: net.load_state_dict(state))
    log("values", net.a.weight, net.a.bias, net.tied.weight)
    attempt(log, "assigned", lambda: net.load_state_dict(state, assign=True))
    log("values", net.a.weight, net.a.bias, net.tied.weight, net.tied.weight is net.a.weight)
    left = {**state, "left": torch.tensor([2.0])}
    attempt(log, "not persistent", lambda: net.load_state_dict(left, assign=True))
    kept = net.state_dict(keep_vars=True)
    attempt(log, "its own", lambda: net.load_state_dict(kept, assign=True))
    log("still its own", net.a.weight is kept["a.weight"])


@family
def an_overridden_load(torch, log):
    """A class may load its own part: what it gets by position, and that it may leave all alone."""

    class Own(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.tensor([1.0]))
            self.child = linear(torch, [[0.5]], None)

        def _load_from_state_dict(
            self, state_dict, prefix, local_metadata, strict, missing, unexpected, errors
        ):
            log("given", list(state_dict), prefix, dict(local_metadata), strict)
            log("lists", missing, unexpected, errors)
            errors.append(f"{prefix}: no")

    net = torch.nn.Sequential(Own(), torch.nn.ReLU())
    attempt(log, "strict", lambda: net.load_state_dict(net.state_dict()))
    attempt(log, "missing", lambda: net.load_state_dict(OrderedDict(), strict=False))
    attempt(log, "assign", lambda: net.load_state_dict(net.state_dict(), assign=True))

    def load(module, lists, state, prefix="", strict=True):
        module._load_from_state_dict(state, prefix, {}, strict, *lists)
        return lists

    layer = linear(torch, [[0.5, -1.0]], [0.25])
    state = {"p.weight": torch.ones(2), "p.more": 1, "q.bias": 2, "p._extra_state": 3}
    log.raises("by hand", lambda: load(layer, ([], [], []), state, "p."))
    log.raises("not strict", lambda: load(layer, ([], [], []), state, "p.", False))
    log.raises("no prefix", lambda: load(layer, ([], [], []), state))


@family
def an_error_while_copying(torch, log):
    """An exception of copying one value is reported with the key and both shapes."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    layer.weight = torch.nn.Parameter(torch.tensor([[1.0], [2.0]]).expand(2, 3))
    state = {"weight": torch.ones(2, 3), "bias": torch.ones(1)}
    log.raises("an expanded parameter", lambda: layer.load_state_dict(state))
    log("the rest is loaded", layer.bias)


@family
def the_result_of_loading(torch, log):
    """The result is a named tuple that says in words if all is well."""
    layer = linear(torch, [[0.5]], [0.25])
    keys = layer.load_state_dict(layer.state_dict())
    log("well", repr(keys), str(keys), f"{keys}", keys == ([], []), len(keys))
    missing, unexpected = layer.load_state_dict({"more": 1}, strict=False)
    log("unpacked", missing, unexpected)
    keys = layer.load_state_dict({"more": 1}, strict=False)
    log("not well", repr(keys), str(keys), keys._fields, isinstance(keys, tuple))
