"""Hooks that watch every module: they run before a module's own, and exclude one another."""

from __future__ import annotations

import pytest


def test_global_hooks_run_first_everywhere(torch, hooks):
    identity, events = torch.nn.Identity(), []

    def note(name):
        return lambda *args: events.append(name)

    identity.register_forward_pre_hook(note("forward-pre"))
    identity.register_forward_hook(note("forward"))
    identity.register_full_backward_pre_hook(note("backward-pre"))
    identity.register_full_backward_hook(note("backward"))
    with (
        hooks.register_module_forward_pre_hook(note("global forward-pre")),
        hooks.register_module_forward_hook(note("global forward")),
        hooks.register_module_full_backward_pre_hook(note("global backward-pre")),
        hooks.register_module_full_backward_hook(note("global backward")),
    ):
        identity(torch.tensor(1.0, requires_grad=True)).backward()
    kinds = ("forward-pre", "forward", "backward-pre", "backward")
    assert events == [name for kind in kinds for name in (f"global {kind}", kind)]


def test_global_hooks_watch_parents_and_children(torch, hooks):
    model = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Identity())
    seen = []
    with (
        hooks.register_module_forward_hook(lambda module, args, y: seen.append(type(module))),
        hooks.register_module_full_backward_hook(lambda module, gi, go: seen.append(type(module))),
    ):
        model(torch.tensor(1.0, requires_grad=True)).backward()
    tanh, identity, sequential = torch.nn.Tanh, torch.nn.Identity, torch.nn.Sequential
    assert seen == [tanh, identity, sequential, identity, tanh, sequential]
    model(torch.tensor(1.0, requires_grad=True)).backward()
    assert len(seen) == 6


def test_global_hooks_may_replace(torch, hooks):
    x = torch.tensor(2.0, requires_grad=True)
    with (
        hooks.register_module_forward_pre_hook(lambda module, args: args[0] * 3),
        hooks.register_module_forward_hook(lambda module, args, result: result * 5),
        hooks.register_module_full_backward_pre_hook(lambda module, go: (go[0] * 7,)),
        hooks.register_module_full_backward_hook(lambda module, gi, go: (gi[0] * 11,)),
    ):
        result = torch.nn.Identity()(x)
        result.backward()
    assert result.item() == 30.0
    assert x.grad.item() == 3 * 5 * 7 * 11


def test_a_global_hook_with_kwargs_gets_none_after_an_error(torch, hooks):
    class Failing(torch.nn.Module):
        def forward(self, *args, **kwargs):
            raise ValueError("forward")

    seen = []
    with (
        hooks.register_module_forward_hook(
            lambda *args: seen.append(args[1:]), with_kwargs=True, always_call=True
        ),
        pytest.raises(ValueError, match="forward"),
    ):
        Failing()(1, key=2)
    assert seen == [((1,), None)]
    with hooks.register_module_forward_hook(lambda *args: seen.append(args[2]), with_kwargs=True):
        torch.nn.Identity()(1)
    assert seen[1:] == [{}]


def test_a_silenced_error_of_a_global_hook_is_a_warning(torch, hooks):
    class Failing(torch.nn.Module):
        def forward(self):
            raise ValueError("forward")

    def failing_hook(*args):
        raise KeyError("hook")

    with (
        hooks.register_module_forward_hook(failing_hook, always_call=True),
        pytest.warns(UserWarning) as caught,
        pytest.raises(ValueError, match="forward"),
    ):
        Failing()()
    assert [str(each.message) for each in caught] == [
        "global module forward hook with ``always_call=True`` raised an exception that was "
        "silenced as another error was raised in forward: 'hook'"
    ]


@pytest.mark.parametrize("first", ["full", "legacy"])
def test_full_and_legacy_exclude_each_other_even_after_removal(torch, hooks, first):
    kinds = [hooks.register_module_full_backward_hook, hooks.register_module_backward_hook]
    one, other = kinds if first == "full" else kinds[::-1]
    one(lambda *args: None).remove()
    assert hooks._global_is_full_backward_hook is (first == "full")
    with pytest.raises(RuntimeError) as error:
        other(lambda *args: None)
    assert str(error.value) == (
        "Cannot use both regular backward hooks and full backward hooks as a global Module hook. "
        "Please use only one of them."
    )


@pytest.mark.parametrize("kind", ["global full, local legacy", "global legacy, local full"])
def test_one_kind_globally_and_the_other_on_a_module_run_both(torch, hooks, kind):
    class Exp(torch.nn.Module):
        def forward(self, x):
            return x.exp()

    module, seen = Exp(), []

    def full(module, grad_input, grad_output):
        seen.append(("full", grad_input[0].item()))

    def legacy(module, grad_input, grad_output):
        seen.append(("legacy", grad_input[0].item()))

    if kind.startswith("global full"):
        handle = hooks.register_module_full_backward_hook(full)
        module.register_backward_hook(legacy)
    else:
        handle = hooks.register_module_backward_hook(legacy)
        module.register_full_backward_hook(full)
    x = torch.zeros(1, requires_grad=True)
    with handle, pytest.warns(FutureWarning, match="multiple autograd Nodes"):
        result = module(x)
    (result * 3).sum().backward()
    # The legacy hook sits on the identity node behind the module, so nothing has happened to it.
    assert seen == [("legacy", 3.0), ("full", 3.0)]


def test_registration_hooks_see_and_replace(torch, hooks):
    seen = []
    other = torch.nn.Tanh()

    def note(kind, replacement=None):
        def hook(module, name, value):
            seen.append((kind, name, value is None))
            return replacement

        return hook

    with (
        hooks.register_module_parameter_registration_hook(note("parameter")),
        hooks.register_module_buffer_registration_hook(note("buffer")),
        hooks.register_module_module_registration_hook(note("module", other)),
    ):
        module = torch.nn.Module()
        module.weight = torch.nn.Parameter(torch.ones(1))
        module.register_parameter("nothing", None)
        module.register_buffer("mean", None)
        module.mean = torch.ones(1)
        module.child = torch.nn.Identity()
        module.add_module("second", None)
    assert seen == [
        ("parameter", "weight", False),  # not called for a parameter that is None
        ("buffer", "mean", True),
        ("buffer", "mean", False),
        ("module", "child", False),
        ("module", "second", True),
    ]
    assert module.child is other
