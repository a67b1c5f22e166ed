"""Work on few numbers, where the tape costs more than the numbers do."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from timing import Step, Work

# isort: split
import numpy as np


def worked_example(torch: ModuleType) -> Work:
    """Give a step that computes the loss of the worked example and its five gradients."""
    values = (0.3, 0.3, 0.1, 0.4, 0.2)
    x, w0, b0, w1, b1 = leaves = [torch.tensor([value], requires_grad=True) for value in values]

    def step() -> None:
        for leaf in leaves:
            leaf.grad = None
        y = (w1 * (w0 * x + b0) + b1) ** 2
        ((y - 1) ** 2).backward()

    return step, lambda: [leaf.grad for leaf in leaves]


def worked_example_modules(torch: ModuleType) -> Work:
    """Give the same, made of two `nn.Linear`."""
    f0, f1 = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    parameters = (f0.weight, f0.bias, f1.weight, f1.bias)
    with torch.no_grad():
        for parameter, value in zip(parameters, (0.3, 0.1, 0.4, 0.2), strict=True):
            parameter.fill_(value)
    x = torch.tensor([0.3], requires_grad=True)
    leaves = [x, *parameters]

    def step() -> None:
        for leaf in leaves:
            leaf.grad = None
        y = f1(f0(x)) ** 2
        ((y - 1) ** 2).backward()

    return step, lambda: [leaf.grad.reshape(1) for leaf in leaves]


def worked_example_by_hand() -> Step:
    """Give the same in NumPy."""
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


LENGTH, ENTRIES = 500, 16


def chain_data(numbers: bool) -> tuple[Any, Any, Any]:
    """Give x, w and b: arrays, or Python's numbers for the latter two."""
    x = np.linspace(0.5, 1.5, ENTRIES, dtype=np.float32)
    if numbers:
        return x, 1.0001, 1e-4
    return x, np.full(ENTRIES, 1.0001, np.float32), np.full(ENTRIES, 1e-4, np.float32)


def chain(torch: ModuleType, numbers: bool) -> Work:
    """Give a step of 1,000 multiplications and additions of arrays, or of numbers to an array."""
    array, *factors = chain_data(numbers)
    x, g = torch.tensor(array, requires_grad=True), torch.ones(ENTRIES)
    w, b = factors if numbers else map(torch.tensor, factors)

    def step() -> None:
        x.grad = None
        h = x
        for _ in range(LENGTH):
            h = h * w + b
        h.backward(g)

    return step, lambda: [x.grad]


def chain_by_hand(numbers: bool) -> Step:
    """Give the same in NumPy."""
    x, w, b = chain_data(numbers)
    g = np.ones(ENTRIES, np.float32)

    def step() -> list[Any]:
        h, saved = x, []
        for _ in range(LENGTH):
            saved.append(w)
            h = h * w + b
        gradient = g
        for factor in reversed(saved):
            gradient = gradient * factor
        return [gradient]

    return step


WIDTHS, POINTS = (10, 64, 64, 1), 32


def penalty_data() -> list[Any]:
    generator = np.random.default_rng(0)
    shapes = [(64, 10), (64,), (64, 64), (64,), (1, 64)]
    arrays = [(generator.standard_normal(shape) * 0.2).astype(np.float32) for shape in shapes]
    return [*arrays, generator.standard_normal((POINTS, 10)).astype(np.float32)]


def gradient_penalty(torch: ModuleType) -> Work:
    """Give a step of the penalty on the length of a critic's gradient: backward twice."""
    *arrays, points = penalty_data()
    leaves = w1, b1, w2, b2, w3 = [torch.tensor(array, requires_grad=True) for array in arrays]
    x = torch.tensor(points, requires_grad=True)
    linear = torch.nn.functional.linear

    def step() -> None:
        for leaf in leaves:
            leaf.grad = None
        h = torch.tanh(linear(x, w1, b1))
        y = linear(torch.tanh(linear(h, w2, b2)), w3)
        (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (((gradient**2).sum(1).sqrt() - 1) ** 2).mean().backward()

    return step, lambda: [leaf.grad for leaf in leaves]


def gradient_penalty_by_hand() -> Step:
    """Give the same in NumPy: the derivative of the gradient, worked out on paper."""
    w1, b1, w2, b2, w3, x = penalty_data()

    def step() -> list[Any]:
        h1 = np.tanh(x @ w1.T + b1)
        h2 = np.tanh(h1 @ w2.T + b2)
        slope1, slope2 = 1 - h1 * h1, 1 - h2 * h2
        s2 = w3 * slope2
        p1 = s2 @ w2
        s1 = p1 * slope1
        gradient = s1 @ w1
        length = np.sqrt((gradient * gradient).sum(1, keepdims=True))
        d_gradient = gradient * (2 * (length - 1) / (length * len(x)))
        d_s1 = d_gradient @ w1.T
        d_p1 = d_s1 * slope1
        d_s2 = d_p1 @ w2.T
        d_a2 = d_s2 * w3 * -2 * h2 * slope2
        d_a1 = (d_a2 @ w2 + d_s1 * p1 * -2 * h1) * slope1
        return [
            s1.T @ d_gradient + d_a1.T @ x,
            d_a1.sum(0),
            s2.T @ d_p1 + d_a2.T @ h1,
            d_a2.sum(0),
            (d_s2 * slope2).sum(0, keepdims=True),
        ]

    return step
