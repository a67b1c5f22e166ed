"""Training steps of fully connected networks: plain, with hooks, and by hand."""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import Any

from timing import Step, Work

# isort: split
import numpy as np

RATE = 0.01
Sizes = tuple[int, ...]


def data(sizes: Sizes, batch: int) -> tuple[list[Any], list[Any], Any, Any]:
    """Give weights, biases, inputs and classes."""
    generator = np.random.default_rng(0)
    weights = [
        (generator.standard_normal((o, i)) / np.sqrt(i)).astype(np.float32)
        for i, o in pairwise(sizes)
    ]
    biases = [np.zeros(o, np.float32) for o in sizes[1:]]
    inputs = generator.standard_normal((batch, sizes[0])).astype(np.float32)
    return weights, biases, inputs, generator.integers(0, max(2, sizes[-1]), batch)


def network(torch: ModuleType, sizes: Sizes, batch: int, hooks: str = "") -> Work:
    """Give a training step (cross-entropy, or its like for two classes; SGD).

    Args:
        torch: The library.
        sizes: Of the layers.
        batch: The number of samples.
        hooks: "module" puts a full backward hook on each module, "tensor" a hook on the result of
            each hidden layer.
    """
    weights, biases, inputs, classes = data(sizes, batch)
    nn = torch.nn
    linear = [nn.Linear(i, o) for i, o in pairwise(sizes)]
    with torch.no_grad():
        for layer, weight, bias in zip(linear, weights, biases, strict=True):
            layer.weight.copy_(torch.tensor(weight))
            layer.bias.copy_(torch.tensor(bias))
    layers = [module for layer in linear for module in (layer, nn.ReLU())][:-1]
    model = nn.Sequential(*layers)
    x, target = torch.tensor(inputs), torch.tensor(classes)
    cross_entropy = nn.functional.cross_entropy
    if sizes[-1] == 1:
        target = target.to(torch.float32).reshape(-1, 1)
        cross_entropy = nn.functional.binary_cross_entropy_with_logits
    if hooks == "module":
        for module in model.modules():
            module.register_full_backward_hook(lambda module, grad_input, grad_output: None)

    def watch(module: Any, args: Any, output: Any) -> None:
        output.register_hook(lambda grad: None)

    if hooks == "tensor":
        for module in layers[1::2]:
            module.register_forward_hook(watch)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)

    def step() -> None:
        optimizer.zero_grad()
        loss = cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()

    return step, lambda: [p.grad for layer in linear for p in (layer.weight, layer.bias)]


def by_hand(sizes: Sizes, batch: int) -> Step:
    """Give the same step in NumPy."""
    weights, biases, inputs, classes = data(sizes, batch)
    rows, last = np.arange(batch), len(weights) - 1
    targets = classes.astype(np.float32).reshape(-1, 1)

    def step() -> list[Any]:
        hidden = [inputs]
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            h = hidden[-1] @ weight.T
            h += bias
            hidden.append(np.maximum(h, 0, out=h))
        scores = hidden[-1] @ weights[-1].T + biases[-1]
        if sizes[-1] == 1:
            (np.maximum(scores, 0) - scores * targets + np.log1p(np.exp(-np.abs(scores)))).mean()
            gradient = 1 / (1 + np.exp(-scores)) - targets
        else:
            scores -= scores.max(1, keepdims=True)
            powers = np.exp(scores)
            totals = powers.sum(1, keepdims=True)
            (np.log(totals)[:, 0] - scores[rows, classes]).mean()
            gradient = powers / totals
            gradient[rows, classes] -= 1
        gradient /= batch
        gradients: list[Any] = []
        for layer in range(last, -1, -1):
            gradients += [gradient.sum(0), gradient.T @ hidden[layer]]
            if layer:
                passed = gradient @ weights[layer]
                passed *= hidden[layer] > 0
                gradient = passed
        gradients.reverse()
        for layer in range(last + 1):
            weights[layer] -= np.float32(RATE) * gradients[2 * layer]
            biases[layer] -= np.float32(RATE) * gradients[2 * layer + 1]
        return gradients

    return step
