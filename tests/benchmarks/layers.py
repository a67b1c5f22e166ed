"""Layers whose PyTorch has code of its own: an LSTM, depthwise convolution, resizing, checkpoints.

The LSTM and the convolution by hand show how near NumPy can come.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from timing import Step, Work

# isort: split
import numpy as np

import minigrad

FEATURES, STATES, SEQUENCES, STEPS = 64, 128, 32, 32
IMAGES = (8, 32, 56, 56)
SEGMENTS, WIDTH = 10, 64


def random(*shape: int, seed: int = 0) -> Any:
    """Give random numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def lstm(torch: ModuleType) -> Work:
    """Give forward and backward of an LSTM."""
    torch.manual_seed(0)
    module = torch.nn.LSTM(FEATURES, STATES)
    x = torch.randn(STEPS, SEQUENCES, FEATURES)
    cotangent = torch.randn(STEPS, SEQUENCES, STATES)
    parameters = list(module.parameters())

    def step() -> None:
        module.zero_grad()
        module(x)[0].backward(cotangent)

    return step, lambda: [parameter.grad for parameter in parameters]


def _logistic_in_place(x: Any) -> None:
    np.exp(np.negative(x, out=x), out=x)
    np.reciprocal(np.add(x, 1, out=x), out=x)


def lstm_by_hand() -> Step:
    """Give the same in NumPy: the gradients of the weights are one product for all steps."""
    minigrad.manual_seed(0)
    module = minigrad.nn.LSTM(FEATURES, STATES)
    x, g = (minigrad.randn(STEPS, SEQUENCES, n).numpy() for n in (FEATURES, STATES))
    w_x, w_h, b_x, b_h = (parameter.detach().numpy() for parameter in module.parameters())
    rows, n = x.reshape(-1, FEATURES), STATES

    def step() -> list[Any]:
        gates = (rows @ w_x.T + (b_x + b_h)).reshape(STEPS, SEQUENCES, 4 * n)
        h, c = (np.zeros((STEPS + 1, SEQUENCES, n), np.float32) for _ in range(2))
        bent = np.empty((STEPS, SEQUENCES, n), np.float32)
        for t in range(STEPS):
            z = gates[t]
            z += h[t] @ w_h.T
            _logistic_in_place(z[:, : 2 * n])
            _logistic_in_place(z[:, 3 * n :])
            np.tanh(z[:, 2 * n : 3 * n], out=z[:, 2 * n : 3 * n])
            np.multiply(z[:, n : 2 * n], c[t], out=c[t + 1])
            c[t + 1] += z[:, :n] * z[:, 2 * n : 3 * n]
            np.tanh(c[t + 1], out=bent[t])
            np.multiply(z[:, 3 * n :], bent[t], out=h[t + 1])
        d = np.empty_like(gates)
        d_h, d_c = (np.zeros((SEQUENCES, n), np.float32) for _ in range(2))
        for t in reversed(range(STEPS)):
            d_h += g[t]
            i, f, new, o = np.split(gates[t], 4, 1)
            d[t, :, 3 * n :] = d_h * bent[t] * o * (1 - o)
            d_c += d_h * o * (1 - bent[t] * bent[t])
            d[t, :, :n] = d_c * new * i * (1 - i)
            d[t, :, n : 2 * n] = d_c * c[t] * f * (1 - f)
            d[t, :, 2 * n : 3 * n] = d_c * i * (1 - new * new)
            d_c *= f
            d_h = d[t] @ w_h
        d = d.reshape(-1, 4 * n)
        total = d.sum(0)
        return [d.T @ rows, d.T @ h[:-1].reshape(-1, n), total, total]

    return step


def depthwise(torch: ModuleType) -> Work:
    """Give forward and backward of a convolution with one kernel of 3 x 3 for each channel."""
    channels = IMAGES[1]
    x = torch.tensor(random(*IMAGES)).requires_grad_()
    weight = torch.tensor(random(channels, 1, 3, 3, seed=1)).requires_grad_()
    cotangent = torch.tensor(random(*IMAGES, seed=2))

    def step() -> None:
        x.grad = weight.grad = None
        y = torch.nn.functional.conv2d(x, weight, None, padding=1, groups=channels)
        y.backward(cotangent)

    return step, lambda: [x.grad, weight.grad]


def depthwise_by_hand() -> Step:
    """Give the same in NumPy: shifted copies of the flat images are multiplied and added."""
    count, channels, height, width = IMAGES
    x, weight = random(*IMAGES), random(channels, 1, 3, 3, seed=1).reshape(channels, 9, 1)
    g = random(*IMAGES, seed=2)
    across = width + 2
    length = height * across - 2
    offsets = [i * across + j for i in range(3) for j in range(3)]
    product = np.empty((channels, length), np.float32)

    def framed(images: Any) -> Any:
        whole = np.zeros((count, channels, height + 2, across), np.float32)
        whole[..., 1:-1, 1:-1] = images
        return whole.reshape(count, channels, -1)

    def correlated(flat: Any, kernel: Any) -> Any:
        result = np.zeros((count, channels, height * across), np.float32)
        for image, out in zip(flat, result[..., :length], strict=True):
            for k, offset in enumerate(offsets):
                out += np.multiply(image[:, offset : offset + length], kernel[:, k], out=product)
        return result.reshape(count, channels, height, across)[..., :width]

    def step() -> list[Any]:
        flat = framed(x)
        correlated(flat, weight)
        spread = framed(g)
        of_x = correlated(spread, weight[:, ::-1])
        inside = spread[..., across + 1 : across + 1 + length]
        of_weight = [np.vecdot(flat[..., k : k + length], inside).sum(0) for k in offsets]
        return [of_x, np.stack(of_weight, 1).reshape(channels, 1, 3, 3)]

    return step


def bilinear(torch: ModuleType) -> Work:
    """Give forward and backward of making images twice as large."""
    x = torch.tensor(random(8, 16, 32, 32)).requires_grad_()
    cotangent = torch.tensor(random(8, 16, 64, 64, seed=1))

    def step() -> None:
        x.grad = None
        y = torch.nn.functional.interpolate(x, scale_factor=2, mode="bilinear")
        y.backward(cotangent)

    return step, lambda: [x.grad]


def checkpointed(torch: ModuleType) -> Work:
    """Give forward and backward of ten checkpointed layers, without re-entering."""
    checkpoint = importlib.import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    torch.manual_seed(0)
    parts = [
        torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.Tanh()) for _ in range(SEGMENTS)
    ]
    parameters = [parameter for part in parts for parameter in part.parameters()]
    x = torch.tensor(random(WIDTH, WIDTH)).requires_grad_()

    def step() -> None:
        x.grad = None
        for parameter in parameters:
            parameter.grad = None
        h = x
        for part in parts:
            h = checkpoint(part, h, use_reentrant=False)
        h.sum().backward()

    return step, lambda: [x.grad]
