"""Measure what recording and running backward costs, against PyTorch and hand-written NumPy.

    python tests/benchmarks/tape.py     (in the environment of the tests; with torch if it is there)

How it is measured is told in `timing.py`.
"""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from timing import Step, Work, Workload, run


def worked_example(torch: ModuleType) -> Work:
    """Give a step that computes the loss of the worked example and its five gradients."""
    names = {"x": 0.3, "w0": 0.3, "b0": 0.1, "w1": 0.4, "b1": 0.2}
    x, w0, b0, w1, b1 = leaves = [
        torch.tensor([value], requires_grad=True) for value in names.values()
    ]

    def step() -> None:
        x1 = w0 * x + b0
        y = (w1 * x1 + b1) ** 2
        loss = (y - 1) ** 2
        loss.backward()

    return step, lambda: [leaf.grad for leaf in leaves]


def worked_example_by_hand() -> Step:
    """Give the same step in NumPy."""
    x, w0, b0, w1, b1 = (np.array([v], np.float32) for v in (0.3, 0.3, 0.1, 0.4, 0.2))
    one, two = np.float32([1]), np.float32([2])

    def step() -> list[Any]:
        x1 = w0 * x + b0
        s = w1 * x1 + b1
        y = s * s
        dy = two * (y - one)
        ds = dy * two * s
        dx1 = ds * w1
        return [dx1 * w0, dx1 * x, dx1, ds * x1, ds]

    return step


def worked_example_modules(torch: ModuleType) -> Work:
    """Give the step of the worked example made of two `nn.Linear`."""
    f0, f1 = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    with torch.no_grad():
        for parameter, value in zip(
            (f0.weight, f0.bias, f1.weight, f1.bias), (0.3, 0.1, 0.4, 0.2), strict=True
        ):
            parameter.fill_(value)
    x = torch.tensor([0.3], requires_grad=True)
    leaves = [x, f0.weight, f0.bias, f1.weight, f1.bias]

    def step() -> None:
        y = f1(f0(x)) ** 2
        loss = (y - 1) ** 2
        loss.backward()

    return step, lambda: [leaf.grad.reshape(1) for leaf in leaves]


def chain(torch: ModuleType) -> Work:
    """Give a step of 1,000 multiplications and additions on 16 entries."""
    x = torch.linspace(0.5, 1.5, 16).requires_grad_()
    w, b, g = torch.full((16,), 1.0001), torch.full((16,), 1e-4), torch.ones(16)

    def step() -> None:
        h = x
        for _ in range(500):
            h = h * w + b
        h.backward(g)

    return step, lambda: [x.grad]


def chain_by_hand() -> Step:
    """Give the same step in NumPy."""
    x = np.linspace(0.5, 1.5, 16, dtype=np.float32)
    w, b, g = (np.full(16, v, np.float32) for v in (1.0001, 1e-4, 1.0))

    def step() -> list[Any]:
        h, saved = x, []
        for _ in range(500):
            saved.append(w)
            h = h * w + b
        gradient = g
        for factor in reversed(saved):
            gradient = gradient * factor
        return [gradient]

    return step


SIZES, BATCH, RATE = (784, 256, 128, 10), 64, 0.01


def _mlp_data() -> tuple[list[Any], list[Any], Any, Any]:
    generator = np.random.default_rng(0)
    weights = [
        (generator.standard_normal((o, i)) / np.sqrt(i)).astype(np.float32)
        for i, o in pairwise(SIZES)
    ]
    biases = [np.zeros(o, np.float32) for o in SIZES[1:]]
    inputs = generator.standard_normal((BATCH, SIZES[0])).astype(np.float32)
    return weights, biases, inputs, generator.integers(0, SIZES[-1], BATCH)


def mlp(torch: ModuleType) -> Work:
    """Give a training step (cross-entropy, SGD) of a 784-256-128-10 network, batch 64."""
    weights, biases, inputs, classes = _mlp_data()
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


def mlp_modules(torch: ModuleType) -> Work:
    """Give the same step with `nn.Module` and `optim.SGD`."""
    weights, biases, inputs, classes = _mlp_data()
    layers = [torch.nn.Linear(i, o) for i, o in pairwise(SIZES)]
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


def mlp_by_hand() -> Step:
    """Give the same step in NumPy."""
    weights, biases, inputs, classes = _mlp_data()
    rows = np.arange(BATCH)

    def step() -> list[Any]:
        hidden = [inputs]
        for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
            hidden.append(np.maximum(hidden[-1] @ weight.T + bias, 0))
        scores = hidden[-1] @ weights[-1].T + biases[-1]
        scores -= scores.max(1, keepdims=True)
        powers = np.exp(scores)
        totals = powers.sum(1, keepdims=True)
        loss = (np.log(totals)[:, 0] - scores[rows, classes]).mean()
        gradient = powers / totals
        gradient[rows, classes] -= 1
        gradient /= BATCH
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


WORKLOADS: list[Workload] = [
    ("worked example, operations", worked_example, worked_example_by_hand, 200),
    ("worked example, nn.Linear", worked_example_modules, worked_example_by_hand, 100),
    ("chain of 1,000 add, mul", chain, chain_by_hand, 4),
    ("784-256-128-10 step, functions", mlp, mlp_by_hand, 8),
    ("784-256-128-10 step, nn, optim", mlp_modules, mlp_by_hand, 8),
]


if __name__ == "__main__":
    run(WORKLOADS)
