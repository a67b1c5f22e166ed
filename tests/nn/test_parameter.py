"""Parameters: leaves that print, copy and pickle under their own name."""

from __future__ import annotations

import copy
import pickle

import pytest


def test_it_prints_under_a_heading(torch):
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    assert repr(parameter) == "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    frozen = torch.nn.Parameter(torch.tensor([1.0]), requires_grad=False)
    assert repr(frozen) == "Parameter containing:\ntensor([1.])"
    assert torch.nn.Parameter().shape == (0,)


def test_it_shares_its_numbers_and_its_count_of_changes(torch):
    data = torch.ones(2)
    parameter = torch.nn.Parameter(data)
    with torch.no_grad():
        parameter.add_(2)
    assert data.tolist() == [3.0, 3.0]
    assert data._version == parameter._version == 1


def test_results_are_plain_tensors(torch):
    parameter = torch.nn.Parameter(torch.ones(1))
    assert type(parameter + 1) is type(parameter.detach()) is type(parameter.data) is torch.Tensor
    assert isinstance(parameter, torch.Tensor) and parameter.is_leaf


def test_a_copy_has_the_numbers_but_not_the_gradient(torch):
    parameter = torch.nn.Parameter(torch.ones(2))
    parameter.grad = torch.ones(2)
    twin = copy.deepcopy([parameter, parameter])
    assert twin[0] is twin[1] and twin[0] is not parameter
    assert isinstance(twin[0], torch.nn.Parameter) and twin[0].grad is None
    with torch.no_grad():
        twin[0].fill_(5.0)
    assert parameter.tolist() == [1.0, 1.0]


def test_it_pickles(torch):
    parameter = torch.nn.Parameter(torch.tensor([1.0, 2.0]), requires_grad=False)
    twin = pickle.loads(pickle.dumps(parameter))
    assert isinstance(twin, torch.nn.Parameter)
    assert twin.tolist() == [1.0, 2.0] and not twin.requires_grad


def test_it_takes_floating_point_tensors_only(torch):
    with pytest.raises(AttributeError, match="'int' object has no attribute 'detach'"):
        torch.nn.Parameter(3)
    text = "Only Tensors of floating point and complex dtype can require gradients"
    with pytest.raises(RuntimeError, match=text):
        torch.nn.Parameter(torch.tensor([1]))


def test_a_result_cannot_be_registered(torch):
    module = torch.nn.Module()
    made_from_result = torch.nn.Parameter(torch.ones(1, requires_grad=True) * 2)
    assert made_from_result.is_leaf
    module.weight = made_from_result
    assert list(module.parameters()) == [made_from_result]
