"""Saving a module's state and loading it: keys, errors, hooks."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import pytest


def model(torch):
    nn = torch.nn
    made = nn.Module()
    made.linear = nn.Linear(2, 3)
    made.register_buffer("mean", torch.zeros(1))
    return made


def test_the_state_shares_memory_and_has_no_graph(torch):
    linear = torch.nn.Linear(1, 1)
    state = linear.state_dict()
    assert type(state).__name__ == "OrderedDict" and list(state) == ["weight", "bias"]
    assert not state["weight"].requires_grad and type(state["weight"]) is torch.Tensor
    state["weight"].fill_(3.0)
    assert linear.weight.item() == 3.0
    assert linear.state_dict(keep_vars=True)["weight"] is linear.weight
    assert state._metadata == {"": {"version": 1}}


def test_destination_and_prefix(torch):
    destination = {}
    assert model(torch).state_dict(destination=destination, prefix="net.") is destination
    assert list(destination) == ["net.mean", "net.linear.weight", "net.linear.bias"]
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        assert "p.mean" in model(torch).state_dict({}, "p.")


def test_loading_copies_in_place(torch):
    here, there = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    weight, version = here.weight, here.weight._version
    keys = here.load_state_dict(there.state_dict())
    assert repr(keys) == "<All keys matched successfully>"
    assert here.weight is weight and weight.tolist() == there.weight.tolist()
    assert weight._version == version + 1 and weight.requires_grad


def test_loading_converts_the_element_type(torch):
    linear = torch.nn.Linear(1, 1)
    state = {name: value.double() for name, value in linear.state_dict().items()}
    linear.load_state_dict(state)
    assert linear.weight.dtype == torch.float32


def test_assigning_puts_the_given_tensors_in_place(torch):
    linear = torch.nn.Linear(1, 1)
    linear.bias.requires_grad_(False)
    old = linear.weight
    state = {"weight": torch.full((1, 1), 3.0), "bias": torch.ones(1)}
    linear.load_state_dict(state, assign=True)
    assert linear.weight is not old and isinstance(linear.weight, torch.nn.Parameter)
    assert linear.weight.requires_grad and not linear.bias.requires_grad
    state["weight"].fill_(4.0)
    assert linear.weight.item() == 4.0


def test_all_errors_come_together_and_what_fits_is_loaded(torch):
    made = model(torch)
    with pytest.raises(RuntimeError) as error:
        made.load_state_dict(
            {
                "mean.more": 1,
                "other": 1,
                "linear.weight": torch.ones(2, 2),
                "linear.bias": torch.full((3,), 7.0),
            }
        )
    assert str(error.value) == (
        "Error(s) in loading state_dict for Module:\n"
        '\tMissing key(s) in state_dict: "mean". \n'
        '\tUnexpected key(s) in state_dict: "mean.more", "other". \n'
        "\tsize mismatch for linear.weight: copying a param with shape torch.Size([2, 2]) from "
        "checkpoint, the shape in current model is torch.Size([3, 2])."
    )
    assert made.linear.bias.tolist() == [7.0, 7.0, 7.0]


def test_without_strict_the_keys_are_returned_but_shapes_still_count(torch):
    made = model(torch)
    keys = made.load_state_dict({"other": 1, "mean": torch.ones(1)}, strict=False)
    assert keys.missing_keys == ["linear.weight", "linear.bias"]
    assert keys.unexpected_keys == ["other"]
    assert made.mean.item() == 1.0
    with pytest.raises(RuntimeError, match="size mismatch for mean"):
        made.load_state_dict({"mean": torch.ones(2)}, strict=False)


def test_values_that_are_no_tensors_and_states_that_are_no_dictionaries(torch):
    with pytest.raises(RuntimeError) as error:
        model(torch).load_state_dict({"mean": 3}, strict=False)
    assert str(error.value).endswith(
        'While copying the parameter named "mean", expected torch.Tensor or Tensor-like object '
        "from checkpoint but received <class 'int'>"
    )
    with pytest.raises(
        TypeError, match=r"Expected state_dict to be dict-like, got <class 'list'>."
    ):
        model(torch).load_state_dict([])


def test_extra_state_is_saved_and_loaded(torch):
    class Counting(torch.nn.Module):
        count = 5

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    module, other = Counting(), Counting()
    module.count = 8
    other.load_state_dict(module.state_dict())
    assert other.count == 8
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "_extra_state"'):
        other.load_state_dict({})


def test_hooks_around_saving(torch):
    net = torch.nn.Sequential(torch.nn.Linear(1, 1))
    seen = []
    net[0].register_state_dict_pre_hook(lambda module, *rest: seen.append(("pre", *rest)))
    net[0].register_state_dict_post_hook(
        lambda module, state, prefix, metadata: seen.append((list(state), prefix, metadata))
    )
    net.state_dict(prefix="net.")
    assert seen == [
        ("pre", "net.0.", False),
        (["net.0.weight", "net.0.bias"], "net.0.", {"version": 1}),
    ]


def test_a_post_hook_must_return_none_but_the_private_kind_may_replace(torch):
    linear, other = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    linear.register_state_dict_post_hook(lambda *args: 5)
    with pytest.raises(RuntimeError, match="state_dict post-hook must return None"):
        linear.state_dict()
    other._register_state_dict_hook(lambda *args: 5)
    assert other.state_dict() == 5


def test_hooks_before_loading_may_rename_keys(torch):
    net = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False))
    seen = []

    def rename(module, state, prefix, metadata, strict, missing, unexpected, errors):
        seen.append((module, prefix, strict, missing, unexpected, errors))
        state[prefix + "weight"] = state.pop(prefix + "old")

    net[0].register_load_state_dict_pre_hook(rename)
    net[0]._register_load_state_dict_pre_hook(lambda *args: seen.append(len(args)))
    net[0]._register_load_state_dict_pre_hook(
        lambda *args: seen.append(len(args)), with_module=True
    )
    net.load_state_dict({"0.old": torch.full((1, 1), 3.0)})
    assert seen == [(net[0], "0.", True, [], [], []), 7, 8]
    assert net[0].weight.item() == 3.0


def test_hooks_after_loading_edit_the_keys_before_strictness_is_judged(torch):
    linear, seen = torch.nn.Linear(1, 1), []

    def forgive(module, keys):
        seen.append((module, list(keys.missing_keys)))
        keys.missing_keys.clear()

    linear.register_load_state_dict_post_hook(forgive)
    linear.load_state_dict({"weight": torch.ones(1, 1)})
    assert seen == [(linear, ["bias"])]
    linear.register_load_state_dict_post_hook(lambda *args: 5)
    with pytest.raises(AssertionError, match="are not expected to return new values"):
        linear.load_state_dict(linear.state_dict())


def pre_hook(module, state_dict, prefix, *rest):
    module.loaded_from = sorted(state_dict)


def test_a_hook_with_its_module_survives_pickling_and_copying(torch):
    linear = torch.nn.Linear(1, 1)
    linear._register_load_state_dict_pre_hook(pre_hook, with_module=True)
    for twin in (pickle.loads(pickle.dumps(linear)), copy.deepcopy(linear)):
        twin.load_state_dict(linear.state_dict())
        assert twin.loaded_from == ["bias", "weight"]
        assert not hasattr(linear, "loaded_from")


def test_a_hook_with_its_module_does_not_keep_it_alive(torch):
    linear = torch.nn.Linear(1, 1)
    linear._register_load_state_dict_pre_hook(pre_hook, with_module=True)
    gone = weakref.ref(linear)
    gc.disable()
    try:
        del linear
        assert gone() is None
    finally:
        gc.enable()
