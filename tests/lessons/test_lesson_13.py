"""What lesson 13 says of factors, and no output shows, holds for other seeds as well."""

import math

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.classroom.data import digits


class Residual(nn.Sequential):
    def forward(self, a):
        return a + super().forward(a)


def loss_and_layers(act, init=None, block=nn.Sequential, seed=13):
    pixels, labels = digits()
    images = ((pixels - pixels.mean()) / pixels.std()).flatten(1)[:100]
    torch.manual_seed(seed)
    layers = [nn.Linear(64, 64) for _ in range(14)]
    for layer in layers if init else []:
        init(layer.weight)
        nn.init.zeros_(layer.bias)
    model = nn.Sequential(*(block(layer, act()) for layer in layers), nn.Linear(64, 10))
    return nn.functional.cross_entropy(model(images), labels[:100]), layers


def factor(*recipe, seed):
    loss, layers = loss_and_layers(*recipe, seed=seed)
    first, *_, last = torch.autograd.grad(loss, [layer.bias for layer in layers])
    return (first.norm() / last.norm()).item() ** (1 / 13)


XAVIER, KAIMING = nn.init.xavier_uniform_, nn.init.kaiming_normal_


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("recipe", "low", "high"),
    [
        ((nn.Sigmoid,), 1 / 8, 1 / 6),
        ((nn.Sigmoid, XAVIER), 0.2, 0.25),
        ((nn.Tanh, XAVIER), 0.8, 1.1),
        ((nn.ReLU, KAIMING), 0.8, 1.2),
        ((nn.Sigmoid, None, Residual), 0.8, 1.2),
        ((nn.ReLU, KAIMING, Residual), 1.3, 1.8),
    ],
)
def test_the_factor_of_a_layer(recipe, low, high, seed):
    assert low < factor(*recipe, seed=seed) < high


@pytest.mark.parametrize("seed", range(4))
def test_the_first_layer_would_need_more_than_a_thousand_years(seed):
    loss, layers = loss_and_layers(nn.Sigmoid, seed=seed)
    (gradient,) = torch.autograd.grad(loss, layers[0].weight)
    steps = (layers[0].weight.norm() / (0.05 * gradient.norm())).item()
    assert steps / 1000 > 1000 * 365.25 * 24 * 3600
    assert math.isfinite(steps)
