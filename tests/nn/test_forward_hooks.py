"""Hooks before and after `forward`: order, replacing, keyword arguments, and what always runs."""

from __future__ import annotations

import copy
import pickle

import pytest


def echo(torch, error=None):
    """A module that returns what it was called with, or raises."""

    class Echo(torch.nn.Module):
        def forward(self, *args, **kwargs):
            if error is not None:
                raise error
            return "result", args, kwargs

    return Echo()


def record(events, name, returned=None):
    """A hook that notes its arguments after the module, and returns or raises what is given."""

    def hook(module, *args):
        events.append((name, *args))
        if isinstance(returned, Exception):
            raise returned
        return returned

    return hook


@pytest.mark.parametrize(
    ("returned", "seen"),
    [(None, (1,)), (5, (5,)), ((5, 6), (5, 6)), ([5, 6], ([5, 6],))],
)
def test_a_pre_hook_may_replace_the_arguments(torch, returned, seen):
    module, events = echo(torch), []
    module.register_forward_pre_hook(record(events, "pre", returned))
    assert module(1, key=2) == ("result", seen, {"key": 2})
    assert events == [("pre", (1,))]


def test_a_pre_hook_with_kwargs_replaces_both(torch):
    module, events = echo(torch), []
    module.register_forward_pre_hook(record(events, "pre", ((5,), {"new": 6})), with_kwargs=True)
    assert module(1, key=2) == ("result", (5,), {"new": 6})
    assert events == [("pre", (1,), {"key": 2})]


@pytest.mark.parametrize("returned", [5, (1,), [(1,), {}], ((1,), {}, 3)])
def test_a_pre_hook_with_kwargs_must_return_a_pair(torch, returned):
    module = echo(torch)
    module.register_forward_pre_hook(record([], "pre", returned), with_kwargs=True)
    with pytest.raises(RuntimeError) as error:
        module(1)
    assert str(error.value) == (
        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
        f"but got {returned}."
    )


def test_hooks_run_in_order_and_each_sees_the_result_so_far(torch):
    module, events = echo(torch), []
    module.register_forward_hook(record(events, "first", "replaced"))
    module.register_forward_hook(record(events, "second"), with_kwargs=True)
    module.register_forward_hook(record(events, "in front", False), prepend=True)
    assert module(1, key=2) == "replaced"
    plain = ("result", (1,), {"key": 2})
    assert events == [
        ("in front", (1,), plain),
        ("first", (1,), False),  # False is a result like any other; only None is not
        ("second", (1,), {"key": 2}, "replaced"),
    ]


def test_a_hook_may_remove_itself_or_a_later_one(torch):
    module, events = echo(torch), []

    def once(*args):
        events.append("once")
        itself.remove()

    itself = module.register_forward_hook(once)
    module.register_forward_hook(lambda *args: later.remove())
    later = module.register_forward_hook(lambda *args: events.append("later"))
    module(1)
    module(1)
    assert events == ["once", "later"]  # who runs is settled when the hooks' turn comes


def test_removing_a_hook_clears_all_tables(torch):
    module = echo(torch)
    before = module.register_forward_pre_hook(lambda *args: None, with_kwargs=True)
    after = module.register_forward_hook(lambda *args: None, with_kwargs=True, always_call=True)
    assert list(module._forward_pre_hooks) == list(module._forward_pre_hooks_with_kwargs)
    assert list(module._forward_hooks) == [after.id]
    assert list(module._forward_hooks_with_kwargs) == [after.id]
    assert list(module._forward_hooks_always_called) == [after.id]
    before.remove()
    after.remove()
    after.remove()
    tables = ("_pre_hooks", "_pre_hooks_with_kwargs")
    tables += ("_hooks", "_hooks_with_kwargs", "_hooks_always_called")
    assert [len(getattr(module, f"_forward{table}")) for table in tables] == [0] * 5


def test_a_handle_is_a_context_manager(torch):
    module, events = echo(torch), []
    with module.register_forward_hook(record(events, "inside")):
        module(1)
    module(2)
    assert events == [("inside", (1,), ("result", (1,), {}))]


def test_always_called_hooks_run_when_forward_raises(torch):
    module, events = echo(torch, ValueError("forward")), []
    module.register_forward_hook(record(events, "not this"))
    module.register_forward_hook(record(events, "a", 3), always_call=True)
    module.register_forward_hook(record(events, "b"), always_call=True, with_kwargs=True)
    with pytest.raises(ValueError, match="forward"):
        module(1, key=2)
    assert events == [("a", (1,), None), ("b", (1,), {"key": 2}, 3)]


def test_always_called_hooks_run_when_a_pre_hook_raises(torch):
    module, events = echo(torch), []
    module.register_forward_pre_hook(record(events, "pre", KeyError("pre")))
    module.register_forward_hook(record(events, "a"), always_call=True)
    with pytest.raises(KeyError, match="pre"):
        module(1)
    assert events == [("pre", (1,)), ("a", (1,), None)]


def test_always_called_hooks_run_once_when_another_hook_raises(torch):
    module, events = echo(torch), []
    module.register_forward_hook(record(events, "before"), always_call=True)
    module.register_forward_hook(record(events, "raising", KeyError("hook")))
    module.register_forward_hook(record(events, "after"), always_call=True)
    with pytest.raises(KeyError, match="hook"):
        module(1)
    assert [name for name, *_ in events] == ["before", "raising", "after"]


def test_an_always_called_hook_that_raises_is_not_run_again(torch):
    module, events = echo(torch), []
    module.register_forward_hook(record(events, "a", KeyError("a")), always_call=True)
    with pytest.raises(KeyError, match="a"):
        module(1)
    assert [name for name, *_ in events] == ["a"]


def test_the_first_error_is_the_one_that_counts(torch):
    module, events = echo(torch, ValueError("forward")), []
    module.register_forward_hook(record(events, "a", KeyError("a")), always_call=True)
    module.register_forward_hook(record(events, "b"), always_call=True)
    with pytest.warns(UserWarning) as caught, pytest.raises(ValueError, match="forward"):
        module(1)
    assert [str(each.message) for each in caught] == [
        "module forward hook with ``always_call=True`` raised an exception that was silenced as "
        "another error was raised in forward: 'a'"
    ]
    assert [name for name, *_ in events] == ["a", "b"]


def test_a_keyboard_interrupt_calls_nothing(torch):
    module, events = echo(torch, KeyboardInterrupt()), []
    module.register_forward_hook(record(events, "a"), always_call=True)
    with pytest.raises(KeyboardInterrupt):
        module(1)
    assert events == []


def test_hooks_are_pickled_and_copied_with_the_module(torch):
    module = torch.nn.Identity()
    handle = module.register_forward_hook(print)
    for twin in (pickle.loads(pickle.dumps(module)), copy.deepcopy(module)):
        assert dict(twin._forward_hooks) == {handle.id: print}
        assert twin._forward_hooks is not module._forward_hooks


def test_without_forward_the_call_says_so(torch):
    class Empty(torch.nn.Module):
        pass

    with pytest.raises(NotImplementedError) as error:
        Empty()(1)
    assert str(error.value) == 'Module [Empty] is missing the required "forward" function'


def test_without_init_the_call_says_so(torch):
    class Hasty(torch.nn.Module):
        def __init__(self):
            self.number = 3

    with pytest.raises(AttributeError, match="'Hasty' object has no attribute '_backward_hooks'"):
        Hasty()(1)
