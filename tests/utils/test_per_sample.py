"""Give each parameter the gradients of each sample: what samples one by one give."""

from __future__ import annotations

from typing import Any

import pytest
from minigrad.nn.utils._per_sample_grad import call_for_per_sample_grads

import minigrad as torch


def network() -> Any:
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Conv1d(2, 3, 2), torch.nn.Flatten(), torch.nn.Linear(6, 2))


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_each_sample_leaves_its_own_gradient(reduction: str) -> None:
    """Compare with one backward pass for each sample; `grad` and the graph's other end stay."""
    model, x = network(), torch.randn(4, 2, 3, requires_grad=True)
    cotangents = torch.randn(4, 2)
    result = call_for_per_sample_grads(model, loss_reduction=reduction)(x)
    assert torch.allclose(result, model(x))
    (result * cotangents / (4 if reduction == "mean" else 1)).sum().backward()
    for place in range(4):
        loss = (model(x[place : place + 1]) * cotangents[place]).sum()
        alone = torch.autograd.grad(loss, list(model.parameters()))
        for parameter, gradient in zip(model.parameters(), alone, strict=True):
            assert parameter.grad is None
            assert torch.allclose(parameter.grad_sample[place], gradient, atol=1e-6)
    assert x.grad is not None


def test_a_parameter_used_twice_adds_up() -> None:
    """Use one layer twice in a sample."""
    layer = torch.nn.Linear(2, 2, bias=False)
    twice = torch.nn.Sequential(layer, layer)
    x = torch.randn(3, 2)
    call_for_per_sample_grads(twice)(x).sum().backward()
    whole = torch.autograd.grad(twice(x).sum(), [layer.weight])[0]
    assert torch.allclose(layer.weight.grad_sample.sum(0), whole, atol=1e-6)


@pytest.mark.parametrize(
    ("module", "settings", "given", "says"),
    [
        (3, {}, (), "Module passed must be nn.Module, got int"),
        (None, {"loss_reduction": "x"}, (), "sum or mean, got x"),
        (None, {"batch_size": "a"}, (), "must be None or an integer, got str"),
        (None, {"batch_size": 0}, (), "Batch size must be positive, got 0"),
        (None, {}, (3,), "Unable to find a tensor"),
        (None, {}, (torch.ones(2, 2), torch.ones(3, 3)), "batch size 2 and one with batch size 3"),
    ],
)
def test_what_makes_no_sense_is_named(module: Any, settings: Any, given: Any, says: str) -> None:
    """Be told, in PyTorch's words."""
    with pytest.raises(RuntimeError, match=says):
        call_for_per_sample_grads(module or network(), **settings)(*given)


def test_gradients_of_before_must_be_cleared() -> None:
    """Call twice without clearing."""
    model, x = network(), torch.ones(2, 2, 3)
    call_for_per_sample_grads(model)(x).sum().backward()
    with pytest.raises(RuntimeError, match="clear out the grad_sample parameter"):
        call_for_per_sample_grads(model)(x)


def test_a_module_with_two_names_gets_its_parameters_back() -> None:
    """Call with other parameters: afterwards the module's own are where they were."""
    layer = torch.nn.Linear(2, 2, bias=False)
    twice, own = torch.nn.Sequential(layer, layer), layer.weight
    given = {"0.weight": torch.zeros(2, 2)}
    assert not torch.func.functional_call(twice, given, torch.ones(1, 2)).any()
    assert layer.weight is own
