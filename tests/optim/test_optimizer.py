"""What all optimizers share: groups, saving and loading, hooks, the printed form."""

from __future__ import annotations

import copy
import importlib
import pickle

import pytest


def parameter(torch, *values):
    return torch.nn.Parameter(torch.tensor(values or (1.0,)))


def sgd(torch, *parameters, **settings):
    return torch.optim.SGD(parameters or [parameter(torch)], **settings)


def test_the_printed_form(torch):
    optimizer = sgd(torch, lr=0.1, momentum=0.9)
    optimizer.add_param_group({"params": parameter(torch), "lr": 0.5})
    expected = ["SGD ("]
    for number, rate in ((0, 0.1), (1, 0.5)):
        expected += [
            f"Parameter Group {number}",
            "    dampening: 0",
            "    differentiable: False",
            "    foreach: None",
            "    fused: None",
            f"    lr: {rate}",
            "    maximize: False",
            "    momentum: 0.9",
            "    nesterov: False",
            "    weight_decay: 0",
            "",
        ]
    assert repr(optimizer) == "\n".join(expected[:-1]) + "\n)"


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (lambda t: [], ValueError, "optimizer got an empty parameter list"),
        (
            parameter,
            TypeError,
            r"params argument given to the optimizer should be an iterable of Tensors or dicts, "
            r"but got torch\.FloatTensor",
        ),
        (lambda t: ["a"], TypeError, "can only optimize Tensors, but one of the params is str"),
        (
            lambda t: [{"params": {parameter(t)}}],
            TypeError,
            "optimizer parameters need to be organized in ordered collections",
        ),
        (lambda t: [parameter(t) * 2], ValueError, "can't optimize a non-leaf Tensor"),
        (
            lambda t: [{"params": [p]} for p in [parameter(t)] * 2],
            ValueError,
            "some parameters appear in more than one parameter group",
        ),
        (
            lambda t: [("a", parameter(t)), parameter(t)],
            ValueError,
            "all optimizer params should be with/without names. Some param names are missing",
        ),
    ],
)
def test_parameters_that_make_no_sense_are_refused(torch, given, kind, message):
    with pytest.raises(kind, match=message):
        torch.optim.SGD(given(torch))


def test_groups_that_make_no_sense_are_refused(torch):
    with pytest.raises(TypeError, match="param_group must be a dict, but got <class 'list'>"):
        sgd(torch).add_param_group([parameter(torch)])
    named = torch.optim.SGD(torch.nn.Linear(1, 1).named_parameters())
    assert named.param_groups[0]["param_names"] == ["weight", "bias"]
    with pytest.raises(ValueError, match="cannot add param group without names to the optimizer"):
        named.add_param_group({"params": [parameter(torch)]})


def test_the_same_parameter_twice_in_a_group_is_a_warning(torch):
    weight = parameter(torch)
    with pytest.warns(UserWarning, match="contains a parameter group with duplicate parameters"):
        torch.optim.SGD([weight, weight])


def test_zero_grad_forgets_or_fills(torch):
    weight = parameter(torch)
    optimizer = sgd(torch, weight)
    gradient = weight.grad = torch.ones(1)
    optimizer.zero_grad(set_to_none=False)
    assert weight.grad is gradient and gradient.item() == 0.0
    optimizer.zero_grad()
    assert weight.grad is None


def test_the_state_names_parameters_by_number(torch):
    weight = parameter(torch, 1.0, 2.0)
    optimizer = sgd(torch, weight, lr=0.5, momentum=0.9)
    weight.grad = torch.tensor([3.0, 4.0])
    optimizer.step()
    state = optimizer.state_dict()
    assert list(state) == ["state", "param_groups"]
    assert state["state"][0]["momentum_buffer"] is optimizer.state[weight]["momentum_buffer"]
    assert state["param_groups"][0]["params"] == [0] and state["param_groups"][0]["lr"] == 0.5


def test_loading_takes_over_settings_and_state(torch):
    one, other = parameter(torch, 1.0), parameter(torch, 5.0)
    trained, fresh = sgd(torch, one, lr=0.5, momentum=0.5), sgd(torch, other, lr=7.0)
    one.grad = torch.tensor([4.0])
    trained.step()
    fresh.load_state_dict(trained.state_dict())
    assert fresh.param_groups[0]["lr"] == 0.5 and fresh.param_groups[0]["params"][0] is other
    other.grad = torch.tensor([1.0])
    fresh.step()
    assert other.item() == 5.0 - 0.5 * (0.5 * 4.0 + 1.0)


def test_loading_what_does_not_fit_is_refused(torch):
    optimizer = sgd(torch)
    with pytest.raises(ValueError, match="a different number of parameter groups"):
        optimizer.load_state_dict({"state": {}, "param_groups": []})
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        optimizer.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})


def test_the_order_of_step_hooks(torch):
    optimizers = importlib.import_module(f"{torch.__name__}.optim.optimizer")
    optimizer, events = sgd(torch), []

    def note(name):
        return lambda given, args, kwargs: events.append((name, args == (optimizer,), kwargs))

    optimizer.register_step_pre_hook(note("pre"))
    optimizer.register_step_post_hook(note("post"))
    with (
        optimizers.register_optimizer_step_pre_hook(note("global pre")),
        optimizers.register_optimizer_step_post_hook(note("global post")),
    ):
        optimizer.step(closure=None)
    names = ("global pre", "pre", "post", "global post")
    assert events == [(name, True, {"closure": None}) for name in names]


def test_a_step_pre_hook_may_replace_the_arguments(torch):
    optimizer = sgd(torch)
    optimizer.register_step_pre_hook(lambda given, args, kwargs: ((given, lambda: "loss"), {}))
    assert optimizer.step() == "loss"
    optimizer.register_step_pre_hook(lambda given, args, kwargs: 5)
    text = r"must return None or a tuple of \(new_args, new_kwargs\), but got 5\."
    with pytest.raises(RuntimeError, match=text):
        optimizer.step()


def test_hooks_around_saving_and_loading(torch):
    optimizer, events = sgd(torch, lr=0.5), []
    other = sgd(torch, lr=0.25).state_dict()
    optimizer.register_state_dict_pre_hook(lambda given: events.append("save"))
    optimizer.register_state_dict_pre_hook(lambda given: events.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda given, state: {"replaced": True})
    assert optimizer.state_dict() == {"replaced": True}
    optimizer.register_load_state_dict_pre_hook(lambda given, state: other)
    optimizer.register_load_state_dict_post_hook(lambda given: events.append("loaded"))
    optimizer.load_state_dict({})
    assert optimizer.param_groups[0]["lr"] == 0.25
    assert events == ["first", "save", "loaded"]


def test_pickles_and_copies_keep_the_settings_and_leave_the_hooks(torch):
    optimizer = sgd(torch, lr=0.25)
    optimizer.register_step_pre_hook(print)
    for twin in (pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer)):
        assert repr(twin) == repr(optimizer)
        assert not twin._optimizer_step_pre_hooks
        twin.register_step_post_hook(lambda *args: None)
        assert twin.step() is None


def test_the_base_class_takes_no_step(torch):
    with pytest.raises(NotImplementedError):
        torch.optim.Optimizer([parameter(torch)], {}).step()


def test_an_old_pickle_is_completed(torch):
    optimizer = sgd(torch)
    state = optimizer.__getstate__()
    for name in ("nesterov", "maximize", "foreach", "differentiable", "fused"):
        del state["param_groups"][0][name]
    new = torch.optim.SGD.__new__(torch.optim.SGD)
    new.__setstate__(state)
    assert new.param_groups[0]["nesterov"] is False and new.param_groups[0]["foreach"] is None
    assert new.step() is None


def test_loaded_names_are_taken_over(torch):
    one = torch.optim.SGD([("one", parameter(torch))], lr=0.5)
    other = torch.optim.SGD([("other", parameter(torch))], lr=0.5)
    other.load_state_dict(one.state_dict())
    assert other.param_groups[0]["param_names"] == ["one"]
    other.load_state_dict(sgd(torch).state_dict())
    assert other.param_groups[0]["param_names"] == ["one"]


def test_a_count_of_steps_keeps_its_type_when_loaded(torch):
    w = torch.nn.Parameter(torch.tensor([1.0], dtype=torch.float64))
    optimizer = torch.optim.SGD([w], lr=0.5)
    state = optimizer.state_dict()
    state["state"] = {0: {"step": torch.tensor(3.0), "mean": torch.tensor([1.0])}}
    optimizer.load_state_dict(state)
    assert optimizer.state[w]["step"].dtype is torch.float32
    assert optimizer.state[w]["mean"].dtype is torch.float64
