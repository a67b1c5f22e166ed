"""A training step of a small convolutional network.

With `MINIGRAD_KEEP_FREED_MEMORY=0` in the environment one sees what the allocator costs: see
`minigrad/creation/memory.py`.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from timing import Step, Work

# isort: split
import numpy as np

BATCH, RATE = 32, 0.01
SHAPES = [(8, 1, 3, 3), (8,), (16, 8, 3, 3), (16,), (10, 400), (10,)]


def data() -> tuple[list[Any], Any, Any]:
    generator = np.random.default_rng(0)
    parameters = [(generator.standard_normal(s) * 0.1).astype(np.float32) for s in SHAPES]
    images = generator.standard_normal((BATCH, 1, 28, 28)).astype(np.float32)
    return parameters, images, generator.integers(0, 10, BATCH)


def network(torch: ModuleType) -> Work:
    """Give a training step of conv - relu - pool - conv - relu - pool - linear, cross-entropy."""
    parameters, images, classes = data()
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 10),
    )
    with torch.no_grad():
        for parameter, values in zip(model.parameters(), parameters, strict=True):
            parameter.copy_(torch.tensor(values))
    x, target = torch.tensor(images), torch.tensor(classes)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)

    def step() -> None:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()

    return step, lambda: [parameter.grad for parameter in model.parameters()]


def _columns(x: Any) -> Any:
    """Put the 3 x 3 windows of images side by side."""
    count, channels, height, width = x.shape
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    columns = windows.transpose(0, 1, 4, 5, 2, 3)
    return columns.reshape(count, channels * 9, (height - 2) * (width - 2))


def _quarters(x: Any) -> list[Any]:
    """Give the four corners of all 2 x 2 windows."""
    even = x.shape[-1] // 2 * 2
    return [x[:, :, i:even:2, j:even:2] for i in (0, 1) for j in (0, 1)]


def _pooled(x: Any) -> tuple[Any, list[Any]]:
    """Give the largest of each 2 x 2 window, and where it is."""
    a, b, c, d = _quarters(x)
    top, bottom = np.maximum(a, b), np.maximum(c, d)
    right, below, lower_right = b > a, bottom > top, d > c
    upper = ~below
    return np.maximum(top, bottom), [
        upper & ~right,
        upper & right,
        below & ~lower_right,
        below & lower_right,
    ]


def _unpooled(gradient: Any, places: list[Any], like: Any) -> Any:
    whole = np.zeros_like(like)
    for corner, place in zip(_quarters(whole), places, strict=True):
        np.multiply(gradient, place, out=corner)
    return whole


def by_hand() -> Step:
    """Give the same step in NumPy."""
    (w1, b1, w2, b2, w3, b3), images, classes = data()
    parameters = [w1, b1, w2, b2, w3, b3]
    rows = np.arange(BATCH)

    def step() -> list[Any]:
        columns1 = _columns(images)
        h1 = (w1.reshape(8, 9) @ columns1 + b1[:, None]).reshape(BATCH, 8, 26, 26)
        np.maximum(h1, 0, out=h1)
        p1, places1 = _pooled(h1)
        columns2 = _columns(p1)
        h2 = (w2.reshape(16, 72) @ columns2 + b2[:, None]).reshape(BATCH, 16, 11, 11)
        np.maximum(h2, 0, out=h2)
        p2, places2 = _pooled(h2)
        flat = p2.reshape(BATCH, 400)
        scores = flat @ w3.T + b3
        scores -= scores.max(1, keepdims=True)
        powers = np.exp(scores)
        gradient = powers / powers.sum(1, keepdims=True)
        gradient[rows, classes] -= 1
        gradient /= BATCH
        g3, gb3 = gradient.T @ flat, gradient.sum(0)
        d2 = _unpooled((gradient @ w3).reshape(p2.shape), places2, h2)
        d2 *= h2 > 0
        d2 = d2.reshape(BATCH, 16, 121)
        g2, gb2 = (d2 @ columns2.swapaxes(1, 2)).sum(0).reshape(w2.shape), d2.sum((0, 2))
        spread = (w2.reshape(16, 72).T @ d2).reshape(BATCH, 8, 3, 3, 11, 11)
        dp1 = np.zeros_like(p1)
        for i in range(3):
            for j in range(3):
                dp1[:, :, i : i + 11, j : j + 11] += spread[:, :, i, j]
        d1 = _unpooled(dp1, places1, h1)
        d1 *= h1 > 0
        d1 = d1.reshape(BATCH, 8, 676)
        g1, gb1 = (d1 @ columns1.swapaxes(1, 2)).sum(0).reshape(w1.shape), d1.sum((0, 2))
        gradients = [g1, gb1, g2, gb2, g3, gb3]
        for parameter, each in zip(parameters, gradients, strict=True):
            parameter -= np.float32(RATE) * each
        return gradients

    return step
