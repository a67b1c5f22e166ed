"""The handle of a hook: removal, blocks, copies; it keeps nothing alive."""

from __future__ import annotations

import copy
import gc
import importlib
import pickle
import weakref
from collections import OrderedDict

import pytest


@pytest.fixture(params=["minigrad", "torch"])
def handle_class(request):
    pytest.importorskip(request.param)
    return importlib.import_module(f"{request.param}.utils.hooks").RemovableHandle


def test_each_handle_has_an_id_of_its_own(handle_class):
    table = OrderedDict()
    first, second = handle_class(table), handle_class(table)
    assert second.id > first.id


def test_remove_takes_one_hook_out_and_may_be_repeated(handle_class):
    table = OrderedDict()
    first, second = handle_class(table), handle_class(table)
    table[first.id], table[second.id] = "first", "second"
    first.remove()
    first.remove()
    assert list(table.values()) == ["second"]


def test_a_block_removes_at_its_end_also_after_an_error(handle_class):
    table = OrderedDict()
    handle = handle_class(table)
    table[handle.id] = "hook"
    with pytest.raises(LookupError), handle as entered:
        assert entered is handle and len(table) == 1
        raise LookupError
    assert not table


@pytest.mark.parametrize("several", [True, False])
def test_more_tables_lose_the_id_too(handle_class, several):
    table, *extras = (OrderedDict() for _ in range(3))
    handle = handle_class(table, extra_dict=extras if several else extras[0])
    for each in (table, *extras):
        each[handle.id] = True
    handle.remove()
    assert not table and not extras[0]
    assert bool(extras[1]) is not several


def test_a_handle_does_not_keep_its_table_alive(handle_class):
    table = OrderedDict()
    handle, watched = handle_class(table), weakref.ref(table)
    assert handle.hooks_dict_ref() is table
    del table
    gc.collect()
    assert watched() is None and handle.hooks_dict_ref() is None
    handle.remove()


def test_a_copied_handle_belongs_to_the_copied_table(handle_class):
    table = OrderedDict()
    handle = handle_class(table)
    table[handle.id] = "hook"
    for copied_table, copied in (
        copy.deepcopy((table, handle)),
        pickle.loads(pickle.dumps((table, handle))),
    ):
        assert copied.id == handle.id and copied.hooks_dict_ref() is copied_table
        copied.remove()
        assert not copied_table and len(table) == 1


def test_a_handle_whose_table_is_gone_can_be_copied(handle_class):
    table = OrderedDict()
    handle = handle_class(table)
    del table
    gc.collect()
    copied = pickle.loads(pickle.dumps(handle))
    copied.remove()
    assert copied.id == handle.id


def test_the_id_of_a_handle_from_elsewhere_is_not_given_out_again(handle_class):
    table = OrderedDict()
    handle = handle_class(table)
    table[handle.id] = "hook"
    handle.__setstate__((table, handle.id + 1000, ()))
    assert handle_class(table).id == handle.id + 1
    handle.__setstate__((table, handle.id + 1000))
    assert handle_class(table).id == handle.id + 1 and handle.extra_dict_ref == ()


@pytest.mark.parametrize("package", ["minigrad", "torch"])
def test_a_marked_hook_may_stay_behind(package):
    torch = pytest.importorskip(package)
    hooks = importlib.import_module(f"{package}.utils.hooks")
    tensor = torch.ones(2, requires_grad=True)
    tensor.register_hook(hooks.unserializable_hook(lambda grad: None))
    hooks.warn_if_has_hooks(tensor)
    tensor.register_hook(lambda grad: None)
    with pytest.warns(UserWarning, match="on tensor will not be serialized") as caught:
        hooks.warn_if_has_hooks(tensor)
    assert len(caught) == 1
