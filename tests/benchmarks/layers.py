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


def lstm_by_hand() -> Step:
    """Give the same in NumPy.

    The batch is the last dimension: so the products are quicker. One tanh serves all gates, as a
    logistic function is (1 + tanh(a / 2)) / 2. The first state is zero: it isn't multiplied.
    """
    minigrad.manual_seed(0)
    module = minigrad.nn.LSTM(FEATURES, STATES)
    x, g = (minigrad.randn(STEPS, SEQUENCES, n).numpy() for n in (FEATURES, STATES))
    w_x, w_h, b_x, b_h = (parameter.detach().numpy() for parameter in module.parameters())
    n, batch, kind = STATES, SEQUENCES, np.float32

    def step() -> list[Any]:
        scale = np.repeat(np.array([0.5, 0.5, 1, 0.5], kind), n)[:, None]
        weight = np.hstack([w_h, w_x, (b_x + b_h)[:, None]]) * scale
        read = np.ones((STEPS + 1, n + FEATURES + 1, batch), kind)
        read[:-1, n:-1] = x.swapaxes(1, 2)
        gates = np.empty((STEPS, 4, n, batch), kind)
        cells, bent = np.zeros((STEPS + 1, n, batch), kind), np.empty((STEPS, n, batch), kind)
        product = np.empty((n, batch), kind)
        for t in range(STEPS):
            z = gates[t].reshape(4 * n, batch)
            np.matmul(weight if t else weight[:, n:], read[t] if t else read[0, n:], z)
            np.tanh(z, z)
            for logistic in (z[: 2 * n], z[3 * n :]):
                logistic += 1
                logistic *= 0.5
            i, f, new, o = gates[t]
            np.multiply(f, cells[t], cells[t + 1])
            cells[t + 1] += np.multiply(i, new, product)
            np.multiply(o, np.tanh(cells[t + 1], bent[t]), read[t + 1, :n])
        h = read[1:, :n].swapaxes(1, 2).copy()
        # for all steps at once, all that needs no gradient of a later step
        i, f, new, o = gates.swapaxes(0, 1)
        d = np.multiply(gates, gates)
        np.subtract(gates, d, d)
        np.subtract(1, new * new, d[:, 2])
        for gate, factor in enumerate((new, cells[:-1], i, bent)):
            d[:, gate] *= factor
        through = o - o * bent * bent
        upstream, turned = g.swapaxes(1, 2).copy(), w_h.T.copy()
        d_h, d_c = np.zeros((2, n, batch), kind)
        rows = d.reshape(STEPS, 4 * n, batch)
        for t in reversed(range(STEPS)):
            d_h += upstream[t]
            d_c += np.multiply(d_h, through[t], product)
            d[t, :3] *= d_c
            d[t, 3] *= d_h
            d_c *= f[t]
            if t:
                np.matmul(turned, rows[t], d_h)
        rows = rows.swapaxes(0, 1).reshape(4 * n, -1)
        of_w_h = rows[:, batch:] @ h[:-1].reshape(-1, n)
        total = rows @ np.ones(STEPS * batch, kind)
        return [rows @ x.reshape(-1, FEATURES), of_w_h, total, total]

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
    """Give the same in NumPy: each line of a kernel is a product with three shifted copies."""
    count, channels, height, width = IMAGES
    x, weight = random(*IMAGES), random(channels, 1, 3, 3, seed=1)[:, 0]
    g = random(*IMAGES, seed=2)
    size, turned = height * width, weight[:, ::-1, ::-1].copy()
    # of one image, which stays in the processor's cache; the lines above and below stay zero
    lines = np.zeros((channels, 3, size + 2 * width), np.float32)
    products = np.empty_like(lines)
    windows = np.lib.stride_tricks.sliding_window_view(lines, size, 2)[:, :, ::width]

    def shift(image: Any) -> None:
        for j in range(3):
            start = width + 1 - j
            lines[:, j, start : start + size] = image.reshape(channels, size)
        lines[:, 0, ::width] = lines[:, 2, width - 1 :: width] = 0  # of the line before or after

    def correlate(kernel: Any, out: Any) -> None:
        np.matmul(kernel, lines, out=products)
        above, middle, below = (products[:, i, i * width : i * width + size] for i in range(3))
        flat = out.reshape(channels, size)
        np.add(np.add(above, middle, out=flat), below, out=flat)

    def step() -> list[Any]:
        result, of_x = np.empty_like(x), np.empty_like(x)
        of_weight = np.zeros((channels, 3, 3), np.float32)
        for n in range(count):
            shift(x[n])
            correlate(weight, result[n])
            of_weight += np.vecdot(windows, g[n].reshape(channels, 1, 1, size))
            shift(g[n])
            correlate(turned, of_x[n])
        return [of_x, of_weight.swapaxes(1, 2).reshape(channels, 1, 3, 3)]

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
