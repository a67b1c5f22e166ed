"""See the handle of a hook by itself: its tables, its id, its state, and what it is not given."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from importlib import import_module

from .tools import Family, leaf

family = Family()


def handle_class(torch):
    """Give the class of handles."""
    return import_module(f"{torch.__name__}.utils.hooks").RemovableHandle


@family
def tables_assigned(torch, log):
    """The tables of hooks of a leaf may be assigned; of another tensor, nothing looks at them."""
    x = leaf(torch, (2,), 1)
    kept = x.view_as(x).grad_fn.next_functions[0][0]
    y = x * 2
    for name, tensor in (("leaf", x), ("inner", y)):
        table = OrderedDict({0: log.hook(name)})
        tensor._backward_hooks = table
        log("read", tensor._backward_hooks is table)
    x._post_accumulate_grad_hooks = OrderedDict({0: lambda leaf: log("after", leaf.grad)})
    y.sum().backward(retain_graph=True)
    x._backward_hooks = None
    y.sum().backward()
    log("kept", kept is x.view_as(x).grad_fn.next_functions[0][0], x._backward_hooks)


@family
def state_of_a_handle(torch, log):
    """The state holds tables and id; a state of two parts is taken too, and new ids go beyond."""
    make = handle_class(torch)
    table, extra = OrderedDict(), OrderedDict()
    handle = make(table, extra_dict=extra)
    hooks, number, extras = handle.__getstate__()
    log("state", hooks is table, number == handle.id, [each is extra for each in extras])
    other = make(table)
    other.__setstate__((table, number))
    log("two parts", other.id == number, other.hooks_dict_ref() is table, len(other.extra_dict_ref))
    other.__setstate__((table, number + 1000, (extra,)))
    log("three parts", other.id - number, [ref() is extra for ref in other.extra_dict_ref])
    log("the next id", make(table).id - number)
    other.__setstate__((None, number, ()))
    log("no table", other.hooks_dict_ref() is None, other.remove())
    log("an older id changes nothing", make(table).id - number)


@family
def a_pickle_from_elsewhere(torch, log):
    """Ids of a pickled handle are not given out again, so no hook replaces another by accident."""
    make = handle_class(torch)
    module = torch.nn.Identity()
    handle = module.register_forward_hook(str)
    saved = pickle.dumps((module, handle))
    make.next_id = 0
    twin, twin_handle = pickle.loads(saved)
    new = twin.register_forward_hook(repr)
    log("ids", new.id - twin_handle.id, len(twin._forward_hooks))
    handle.remove()
    log("original", len(module._forward_hooks), len(twin._forward_hooks))


@family
def private_tables(torch, log):
    """The tables of kinds of hooks have the handle's id, until it is removed, in whatever way."""
    module = torch.nn.Identity()
    where = torch.nn.modules.module

    def entries(handle, *tables):
        return [table.get(handle.id) for table in tables]

    def of_module(handle):
        return entries(
            handle,
            module._forward_hooks_with_kwargs,
            module._forward_hooks_always_called,
            module._forward_pre_hooks_with_kwargs,
        )

    for label, register in (
        ("plain", lambda: module.register_forward_hook(str)),
        ("kwargs", lambda: module.register_forward_hook(str, with_kwargs=True)),
        ("always", lambda: module.register_forward_hook(str, always_call=True)),
        (
            "both, prepended",
            lambda: module.register_forward_hook(
                str, with_kwargs=True, always_call=True, prepend=True
            ),
        ),
        ("pre", lambda: module.register_forward_pre_hook(str)),
        (
            "pre kwargs",
            lambda: module.register_forward_pre_hook(str, with_kwargs=True, prepend=True),
        ),
    ):
        handle = register()
        log(label, of_module(handle), len(handle.extra_dict_ref))
        handle.remove()
        log("removed", of_module(handle))

    for options in ({}, {"always_call": True}):
        handle = where.register_module_forward_hook(str, **options)
        log(f"global {options}", entries(handle, where._global_forward_hooks_always_called))
        handle.remove()
        log("removed", entries(handle, where._global_forward_hooks_always_called))
    for register in (
        where.register_module_forward_pre_hook,
        where.register_module_full_backward_pre_hook,
        where.register_module_full_backward_hook,
    ):
        with register(str) as handle:
            log("global", len(handle.hooks_dict_ref()), handle.extra_dict_ref)
        log("left", len(handle.hooks_dict_ref()))


@family
def arguments_of_registering(torch, log):
    """Which options each method takes, by keyword only or not, and that nobody checks the hook."""
    module = torch.nn.Identity()
    for label, action in (
        ("forward", lambda: module.register_forward_hook(str, True)),
        ("forward_pre", lambda: module.register_forward_pre_hook(str, True)),
        ("full_backward", lambda: module.register_full_backward_hook(str, True)),
        ("full_backward_pre", lambda: module.register_full_backward_pre_hook(str, True)),
        ("backward", lambda: module.register_backward_hook(str, True)),
        ("state_dict_pre", lambda: module.register_state_dict_pre_hook(str, True)),
        ("load_pre", lambda: module.register_load_state_dict_pre_hook(str, True)),
        ("forward without", lambda: module.register_forward_hook()),
        ("forward of None", lambda: module.register_forward_hook(None)),
        ("forward of a number", lambda: module.register_forward_hook(3)),
        ("load of a number", lambda: module.register_load_state_dict_pre_hook(3)),
        ("post of a number", lambda: module.register_state_dict_post_hook(3)),
        ("hook=", lambda: module.register_forward_hook(hook=str)),
        ("prepend=", lambda: module.register_full_backward_hook(hook=str, prepend=True)),
    ):
        log.raises(label, lambda action=action: type(action()).__name__)
    module = torch.nn.Identity()
    module.register_forward_hook(3)
    log.raises("called", lambda: module(leaf(torch, (2,), 1)))
