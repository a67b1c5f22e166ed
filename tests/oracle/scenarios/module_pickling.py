"""See modules, optimizers and handles being pickled and copied together with their hooks."""

from __future__ import annotations

import copy
import functools
import pickle
from collections import OrderedDict

from .module_lifetime import KINDS, counts
from .tools import Family, leaf, linear

family = Family()
called: list[str] = []


def note(*args):
    """Be a hook that pickle finds by its name, and note the classes of what it is given."""
    called.append(", ".join(type(arg).__name__ for arg in args))


def double(module, args, result):
    """Be a forward hook that changes the result."""
    return result * 2


def what_was_called():
    """Give what the hooks noted since the last time."""
    given = called.copy()
    called.clear()
    return given


def exercise(torch, module):
    """Do everything with a module that can call a hook, and give what was called."""
    module(leaf(torch, (3, 2), 1)).sum().backward()
    module.load_state_dict(module.state_dict())
    return what_was_called()


def through_pickle(value):
    """Pickle with every protocol there is; all must give the same, the last is returned."""
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copied = pickle.loads(pickle.dumps(value, protocol=protocol))
    return copied


WAYS = {"pickle": through_pickle, "deepcopy": copy.deepcopy}


def add_copying(way, kind):
    """Make a scenario in which module and handle are copied together, then used and removed."""

    def scenario(torch, log):
        module = linear(torch, [[0.5, -1.0]], [0.25])
        what_was_called()
        handle = KINDS[kind](module, note)
        twin, twin_handle = WAYS[way]((module, handle))
        log("counts", counts(module), counts(twin))
        log("handle", twin_handle.id == handle.id, len(twin_handle.extra_dict_ref))
        table = twin_handle.hooks_dict_ref()
        log("table", any(table is each for each in vars(twin).values()), type(table).__name__)
        log("original", exercise(torch, module))
        log("copy", exercise(torch, twin))
        twin_handle.remove()
        log("removed from the copy", counts(module), counts(twin))
        log("original", exercise(torch, module))
        log("copy", exercise(torch, twin))
        handle.remove()
        log("removed from both", counts(module), counts(twin))

    scenario.__doc__ = f"A {kind} hook and its handle by {way}: the copies belong to each other."
    family.add(f"{way} {kind}", scenario)


for _way in WAYS:
    for _kind in KINDS:
        add_copying(_way, _kind)


@family
def handles_alone(torch, log):
    """A handle copied without its module belongs to a table of its own; removing is harmless."""
    module = torch.nn.Identity()
    handle = module.register_forward_hook(double, with_kwargs=True, always_call=True)
    for way, copied in WAYS.items():
        other = copied(handle)
        table = other.hooks_dict_ref()
        log(way, table is None, other.id == handle.id, len(other.extra_dict_ref))
        other.remove()
        log("original", counts(module))
    shallow = copy.copy(handle)
    log("shallow", shallow.hooks_dict_ref() is module._forward_hooks, shallow.id == handle.id)
    state = handle.__getstate__()
    log("state", len(state), state[0] is module._forward_hooks, state[1] == handle.id)
    log("extra", [table is not None for table in state[2]])
    shallow.remove()
    log("removed by the shallow copy", counts(module))
    handle = module.register_forward_hook(double)
    del module
    log("dead", handle.__getstate__()[0] is None)
    for way, copied in WAYS.items():
        other = copied(handle)
        log(way, other.hooks_dict_ref() is None)
        other.remove()


@family
def ids_of_new_handles(torch, log):
    """Ids count up over all tables; a copied handle takes no new one and collides with none."""
    module = torch.nn.Identity()
    first = module.register_forward_hook(double)
    other = through_pickle((module, first))
    second = module.register_forward_pre_hook(note)
    third = other[0].register_forward_hook(double)
    log("ids", second.id - first.id, third.id - first.id, other[1].id == first.id)
    log("copy", counts(other[0]))


@family
def a_tree_is_copied(torch, log):
    """Hooks of submodules are copied with them; load hooks refer to the copied modules."""
    net = torch.nn.Sequential(linear(torch, [[0.5, -1.0]], [0.25]), torch.nn.Tanh())
    net[0].register_forward_hook(double)
    net[0].register_load_state_dict_pre_hook(note)
    net[1].register_full_backward_hook(note)
    net.train(False)
    net.register_buffer("steps", torch.tensor(3), persistent=False)
    for way, copied in WAYS.items():
        twin = copied(net)
        (hook,) = twin[0]._load_state_dict_pre_hooks.values()
        log(way, hook.module() is twin[0], hook.hook is note, hook.with_module)
        log("hooks", counts(twin[0]), counts(twin[1]))
        log("called", exercise(torch, twin))
        log("result", net(leaf(torch, (1, 2), 2)), twin(leaf(torch, (1, 2), 2)))
        log("kept", twin.training, twin.steps, list(twin.state_dict()), repr(twin))


@family
def wrapped_hooks_are_copied(torch, log):
    """A load hook with module is copied with the module it belongs to, alone as well."""
    module = torch.nn.Identity()
    module.register_load_state_dict_pre_hook(note)
    (hook,) = module._load_state_dict_pre_hooks.values()
    for way, copied in WAYS.items():
        alone = copied(hook)
        log.raises(f"{way}: alone", lambda alone=alone: alone({}, "", {}, True, [], [], []))
        log("called", what_was_called())
    log("state", sorted(hook.__getstate__()))
    del module
    for way, copied in WAYS.items():
        log.raises(f"{way}: dead", lambda copied=copied: copied(hook))


@family
def a_shallow_copy_shares_its_hooks(torch, log):
    """copy.copy shares parameters and the tables of hooks with the original."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    twin = copy.copy(layer)
    handle = twin.register_forward_hook(double)
    log("counts", counts(layer), counts(twin), twin.weight is layer.weight)
    log("results", layer(leaf(torch, (1, 2), 2)))
    twin.more = torch.nn.ReLU()
    log("modules", list(layer._modules), twin._modules is layer._modules)
    handle.remove()
    log("removed", counts(layer))


@family
def old_states(torch, log):
    """A state from before some tables existed is completed when it is set."""
    layer = linear(torch, [[0.5, -1.0]], [0.25])
    state = {
        name: value
        for name, value in layer.__dict__.items()
        if not name.endswith(("_hooks", "_hook", "_called", "_kwargs", "_set"))
        or name in ("_forward_hooks", "_backward_hooks")
    }
    new = torch.nn.Linear.__new__(torch.nn.Linear)
    new.__setstate__(state)
    log("tables", sorted(name for name in set(layer.__dict__) - set(new.__dict__)))
    log.raises("called", lambda: new(leaf(torch, (1, 2), 2)))
    log.raises("state", lambda: list(new.state_dict()))
    log.raises("load", lambda: repr(new.load_state_dict(layer.state_dict())))


@family
def parameters_are_copied(torch, log):
    """A pickled or copied parameter is a leaf with its values, its flag and its own memory."""
    for parameter in (
        torch.nn.Parameter(torch.tensor([1.0, 2.0])),
        torch.nn.Parameter(torch.tensor([1, 2]), requires_grad=False),
        torch.nn.Buffer(torch.tensor([3.0]), persistent=False),
    ):
        for way, copied in {**WAYS, "copy": copy.copy}.items():
            twin = copied(parameter)
            log(way, type(twin).__name__, twin, twin.is_leaf, getattr(twin, "persistent", None))
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    (parameter * 3).sum().backward()
    parameter.note = "a note"
    parameter.register_hook(log.hook("hook"))
    log("gradient of a copy", copy.deepcopy(parameter).grad, parameter.grad)
    log("attribute of a copy", getattr(copy.deepcopy(parameter), "note", None))
    (copy.deepcopy(parameter) * 2).sum().backward()
    layer = torch.nn.Module()
    layer.a = layer.b = parameter
    twin = copy.deepcopy(layer)
    log("shared", twin.a is twin.b, twin.a is parameter)
    memo = {}
    log("memo", copy.deepcopy(parameter, memo) is copy.deepcopy(parameter, memo))


@family
def memory_and_versions_of_copies(torch, log):
    """Who shares memory and version with whom: a shallow copy the memory, a deep one nothing."""
    for make in (torch.nn.Parameter, torch.nn.Buffer):
        for way, copied in {**WAYS, "copy": copy.copy}.items():
            tensor = make(torch.tensor([1.0, 2.0]))
            with torch.no_grad():
                tensor.add_(1)
            twin = copied(tensor)
            log(f"{make.__name__} {way}", tensor._version, twin._version, sorted(twin.__dict__))
            log("kind", isinstance(twin, make), twin.is_leaf, twin.grad)
            with torch.no_grad():
                twin.add_(5)
            log("changed", tensor, twin, tensor._version, twin._version)


@family
def own_methods_as_hooks(torch, log):
    """A bound method of the module as its hook belongs to the copy's module in a copy."""

    class Own(torch.nn.Module):
        __qualname__ = "OWN"

        def forward(self, x):
            return x * 2

        def hook(self, module, *rest):
            called.append(f"{self is module} {self.name}")

        def load_hook(self, *rest):
            called.append(f"{self.name} {len(rest)}")

    globals()["OWN"] = Own
    net = Own()
    net.name = "original"
    net.child = Own()
    net.child.name = "child"
    what_was_called()
    net.register_forward_hook(net.hook)
    net.register_full_backward_hook(functools.partial(net.hook))
    net.child.register_state_dict_pre_hook(net.hook)
    net._register_load_state_dict_pre_hook(net.load_hook)
    net.register_load_state_dict_pre_hook(net.hook)
    for way, copied in WAYS.items():
        twin = copied(net)
        twin.name, twin.child.name = way, f"child of {way}"
        log(way, exercise(torch, twin), exercise(torch, net))


@family
def pickled_parameters_with_hooks(torch, log):
    """Hooks of a tensor do not go into a pickle: it warns; attributes do."""
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    (parameter * 3).sum().backward()
    parameter.note = "a note"
    twin = through_pickle(parameter)
    log("pickled", twin, twin.grad, getattr(twin, "note", None))
    parameter.register_hook(note)
    log.raises("with a hook", lambda: through_pickle(parameter))


@family
def local_hooks_do_not_pickle(torch, log):
    """A lambda as a hook can be copied but not pickled."""
    layer = torch.nn.Identity()
    layer.register_forward_hook(lambda m, i, o: o * 3)
    log("copied", copy.deepcopy(layer)(leaf(torch, (1, 2), 2)))
    try:
        pickle.dumps(layer)
    except (AttributeError, pickle.PicklingError) as error:
        log("not pickled", "lambda" in str(error))


@family
def tables_are_ordered_dicts(torch, log):
    """The tables of hooks keep their type and order through a pickle."""
    layer = torch.nn.Identity()
    layer.register_forward_hook(note)
    layer.register_forward_hook(double, prepend=True)
    for way, copied in WAYS.items():
        table = copied(layer)._forward_hooks
        names = [hook.__name__ for hook in table.values()]
        log(way, isinstance(table, OrderedDict), names, list(table) == list(layer._forward_hooks))
