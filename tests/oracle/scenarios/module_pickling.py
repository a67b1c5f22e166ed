"""See modules, optimizers and handles being pickled and copied together with their hooks."""

from __future__ import annotations

import copy
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
def tables_are_ordered_dicts(torch, log):
    """The tables of hooks keep their type and order through a pickle."""
    layer = torch.nn.Identity()
    layer.register_forward_hook(note)
    layer.register_forward_hook(double, prepend=True)
    for way, copied in WAYS.items():
        table = copied(layer)._forward_hooks
        names = [hook.__name__ for hook in table.values()]
        log(way, isinstance(table, OrderedDict), names, list(table) == list(layer._forward_hooks))
