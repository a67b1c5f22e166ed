"""Functions of functions: a Jacobian, a Hessian, a gradient for each sample, each at once."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from layers import random
from timing import Work


def _called(function: Any, *arguments: Any) -> Work:
    """Give a step that calls a function, and a look at what it gave last."""
    last: list[Any] = [()]

    def step() -> None:
        last[0] = function(*arguments)

    return step, lambda: last[0] if isinstance(last[0], tuple) else (last[0],)


def _func(torch: ModuleType) -> Any:
    return importlib.import_module(f"{torch.__name__}.func")


def _layers(torch: ModuleType) -> list[Any]:
    """Give weights and biases of a network 10-64-1."""
    shapes = ((64, 10), (64,), (1, 64), (1,))
    return [torch.tensor(random(*shape, seed=k) / 4) for k, shape in enumerate(shapes)]


def _network(torch: ModuleType, w1: Any, b1: Any, w2: Any, b2: Any, x: Any) -> Any:
    linear = torch.nn.functional.linear
    return linear(torch.tanh(linear(x, w1, b1)), w2, b2)


def jacobian(torch: ModuleType) -> Work:
    """Give the Jacobian of a layer of 50 inputs and 50 outputs."""
    weight, bias, x = (torch.tensor(random(*s)) / 7 for s in ((50, 50), (50,), (50,)))
    return _called(_func(torch).jacrev(lambda x: torch.tanh(weight @ x + bias)), x)


def hessian(torch: ModuleType) -> Work:
    """Give the Hessian of a network in its ten inputs."""
    layers = _layers(torch)
    function = _func(torch).hessian(lambda x: _network(torch, *layers, x).squeeze())
    return _called(function, torch.tensor(random(10)))


def per_sample(torch: ModuleType) -> Work:
    """Give the gradients of a network's parameters for each of 64 samples."""

    def loss(*given: Any) -> Any:
        *network, target = given
        return ((_network(torch, *network) - target) ** 2).sum()

    gradient = _func(torch).grad(loss, argnums=(0, 1, 2, 3))
    function = torch.vmap(gradient, in_dims=(None, None, None, None, 0, 0))
    x, target = torch.tensor(random(64, 10)), torch.tensor(random(64, 1))
    return _called(function, *_layers(torch), x, target)
