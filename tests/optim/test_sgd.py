"""Stochastic gradient descent: its steps, its state, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest


def parameter(torch, *values):
    return torch.nn.Parameter(torch.tensor(values, dtype=torch.float64))


def by_hand(
    start, gradients, lr, momentum=0, dampening=0, weight_decay=0, nesterov=False, up=False
):
    """The formulas of the docstring."""
    value, velocity = np.array(start), None
    for gradient in gradients:
        gradient = (-gradient if up else gradient) + weight_decay * value
        velocity = (
            gradient
            if velocity is None or not momentum
            else momentum * velocity + (1 - dampening) * gradient
        )
        value = value - lr * (gradient + momentum * velocity if nesterov else velocity)
    return value, velocity


GRADIENTS = [np.array([1.0, -2.0]), np.array([0.5, 4.0]), np.array([-3.0, 0.25])]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"momentum": 0.9},
        {"momentum": 0.9, "dampening": 0.5},
        {"momentum": 0.9, "nesterov": True},
        {"weight_decay": 0.1},
        {"maximize": True},
        {"momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1, "maximize": True},
    ],
)
def test_three_steps_by_the_formula(torch, settings):
    weight = parameter(torch, 1.0, -2.0)
    optimizer = torch.optim.SGD([weight], lr=0.1, **settings)
    for gradient in GRADIENTS:
        weight.grad = torch.tensor(gradient)
        optimizer.step()
        assert weight.grad.tolist() == gradient.tolist()  # the gradient itself stays as it is
    formula = {("up" if name == "maximize" else name): value for name, value in settings.items()}
    value, velocity = by_hand([1.0, -2.0], GRADIENTS, 0.1, **formula)
    np.testing.assert_allclose(weight.detach().numpy(), value, rtol=1e-12)  # float64
    if settings.get("momentum"):
        buffer = optimizer.state[weight]["momentum_buffer"]
        np.testing.assert_allclose(buffer.numpy(), velocity, rtol=1e-12)
    else:
        assert optimizer.state_dict()["state"] == {}


def test_a_step_happens_in_place_and_is_not_recorded(torch):
    weight = parameter(torch, 1.0)
    view = weight.detach()
    weight.grad = torch.tensor([2.0], dtype=torch.float64)
    assert torch.optim.SGD([weight], lr=0.25).step() is None
    assert view.tolist() == [0.5]
    assert weight._version == 1 and weight.is_leaf and weight.requires_grad


def test_parameters_without_a_gradient_stay(torch):
    with_gradient, without = parameter(torch, 1.0), parameter(torch, 1.0)
    with_gradient.grad = torch.tensor([1.0], dtype=torch.float64)
    torch.optim.SGD([with_gradient, without], lr=0.5).step()
    assert (with_gradient.item(), without.item(), without._version) == (0.5, 1.0, 0)


def test_a_closure_runs_first_with_gradients_on(torch):
    weight = parameter(torch, 3.0)
    optimizer = torch.optim.SGD([weight], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = (weight**2).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        assert optimizer.step(closure).item() == 9.0
    assert weight.item() == 0.0


def test_groups_have_their_own_settings(torch):
    fast, slow = parameter(torch, 1.0), parameter(torch, 1.0)
    optimizer = torch.optim.SGD([{"params": [fast], "lr": 0.5}, {"params": slow}], lr=0.125)
    for weight in (fast, slow):
        weight.grad = torch.tensor([1.0], dtype=torch.float64)
    optimizer.step()
    assert (fast.item(), slow.item()) == (0.5, 0.875)
    optimizer.param_groups[1]["lr"] = 0.875
    optimizer.step()
    assert (fast.item(), slow.item()) == (0.0, 0.0)


def test_the_rate_may_be_a_tensor(torch):
    weight = parameter(torch, 1.0)
    rate = torch.tensor(0.5)
    optimizer = torch.optim.SGD([weight], lr=rate)
    weight.grad = torch.tensor([1.0], dtype=torch.float64)
    optimizer.step()
    rate.fill_(0.25)
    optimizer.step()
    assert weight.item() == 0.25


def test_a_model_learns(torch):
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    x, y = torch.tensor([[-1.0], [0.0], [1.0]]), torch.tensor([[-1.0], [2.0], [5.0]])
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.MSELoss()(model(x), y).backward()
        optimizer.step()
    # each coefficient is at least a third closer after every step: 60 of them reach float32
    assert model.weight.item() == pytest.approx(3.0, abs=1e-5)
    assert model.bias.item() == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"lr": -1}, "Invalid learning rate: -1"),
        ({"momentum": -1}, "Invalid momentum value: -1"),
        ({"weight_decay": -1}, "Invalid weight_decay value: -1"),
        ({"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
        (
            {"nesterov": True, "momentum": 0.9, "dampening": 0.1},
            "Nesterov momentum requires a momentum and zero dampening",
        ),
    ],
)
def test_numbers_out_of_range_are_refused(torch, settings, message):
    with pytest.raises(ValueError, match=message):
        torch.optim.SGD([parameter(torch, 1.0)], **settings)
