"""Make training steps of fully connected networks: by functions, by modules, and by hand."""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import Any

# before NumPy: this holds the libraries to one thread
from timing import Step, Work

# isort: split
import numpy as np

RATE = 0.01
Sizes = tuple[int, ...]


def _data(sizes: Sizes, batch: int) -> tuple[list[Any], list[Any], Any, Any]:
    generator = np.random.default_rng(0)
    weights = [
        (generator.standard_normal((o, i)) / np.sqrt(i)).astype(np.float32)
        for i, o in pairwise(sizes)
    ]
    biases = [np.zeros(o, np.float32) for o in sizes[1:]]
    inputs = generator.standard_normal((batch, sizes[0])).astype(np.float32)
    return weights, biases, inputs, generator.integers(0, sizes[-1], batch)


def functions(torch: ModuleType, sizes: Sizes, batch: int) -> Work:
    """Give a training step (cross-entropy, SGD) of a network with two hidden layers."""
    weights, biases, inputs, classes = _data(sizes, batch)
    parameters = [
        torch.tensor(array, requires_grad=True)
        for pair in zip(weights, biases, strict=True)
        for array in pair
    ]
    w1, b1, w2, b2, w3, b3 = parameters
    x, target = torch.tensor(inputs), torch.tensor(classes)
    linear, cross_entropy = torch.nn.functional.linear, torch.nn.functional.cross_entropy
    gradients: list[Any] = []

    def step() -> None:
        h = torch.relu(linear(x, w1, b1))
        h = torch.relu(linear(h, w2, b2))
        loss = cross_entropy(linear(h, w3, b3), target)
        loss.backward()
        gradients[:] = [p.grad for p in parameters]
        with torch.no_grad():
            for p, gradient in zip(parameters, gradients, strict=True):
                p.sub_(gradient, alpha=RATE)
                p.grad = None

    return step, lambda: gradients


def modules(torch: ModuleType, sizes: Sizes, batch: int) -> Work:
    """Give the same step with `nn.Module` and `optim.SGD`."""
    weights, biases, inputs, classes = _data(sizes, batch)
    layers = [torch.nn.Linear(i, o) for i, o in pairwise(sizes)]
    with torch.no_grad():
        for layer, weight, bias in zip(layers, weights, biases, strict=True):
            layer.weight.copy_(torch.tensor(weight))
            layer.bias.copy_(torch.tensor(bias))
    model = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    x, target = torch.tensor(inputs), torch.tensor(classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)

    def step() -> None:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()

    return step, lambda: [p.grad for layer in layers for p in (layer.weight, layer.bias)]


def by_hand(sizes: Sizes, batch: int) -> Step:
    """Give the same step in NumPy."""
    weights, biases, inputs, classes = _data(sizes, batch)
    rows = np.arange(batch)

    def step() -> list[Any]:
        hidden = [inputs]
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            h = hidden[-1] @ weight.T
            h += bias
            hidden.append(np.maximum(h, 0, out=h))
        scores = hidden[-1] @ weights[-1].T + biases[-1]
        scores -= scores.max(1, keepdims=True)
        powers = np.exp(scores)
        totals = powers.sum(1, keepdims=True)
        loss = (np.log(totals)[:, 0] - scores[rows, classes]).mean()
        gradient = powers / totals
        gradient[rows, classes] -= 1
        gradient /= batch
        gradients: list[Any] = []
        for layer in (2, 1, 0):
            gradients += [gradient.sum(0), gradient.T @ hidden[layer]]
            if layer:
                passed = gradient @ weights[layer]
                passed *= hidden[layer] > 0
                gradient = passed
        gradients.reverse()
        for layer in range(3):
            weights[layer] -= np.float32(RATE) * gradients[2 * layer]
            biases[layer] -= np.float32(RATE) * gradients[2 * layer + 1]
        return gradients if np.isfinite(loss) else []

    return step
