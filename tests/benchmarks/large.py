"""Work on large arrays: an attention block, ten million numbers."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from timing import Step, Work

# isort: split
import numpy as np

N, T, WIDTH, HEADS = 8, 128, 64, 4
DEPTH = WIDTH // HEADS


def attention_data() -> list[Any]:
    generator = np.random.default_rng(0)
    shapes = [(N, T, WIDTH), (3 * WIDTH, WIDTH), (3 * WIDTH,), (WIDTH, WIDTH), (WIDTH,)]
    arrays = [generator.standard_normal(shape).astype(np.float32) for shape in shapes]
    arrays[1] /= 8
    arrays[3] /= 8
    return [*arrays, generator.standard_normal((N, T, WIDTH)).astype(np.float32)]


def attention(torch: ModuleType) -> Work:
    """Give forward and backward of self-attention: batch 8, 128 places, width 64, 4 heads."""
    *arrays, cotangent = attention_data()
    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]
    x, w, b, w_out, b_out = leaves
    g = torch.tensor(cotangent)
    linear, scale = torch.nn.functional.linear, DEPTH**-0.5

    def step() -> None:
        for leaf in leaves:
            leaf.grad = None
        projected = linear(x, w, b).view(N, T, 3, HEADS, DEPTH).permute(2, 0, 3, 1, 4)
        q, k, v = projected.unbind(0)
        weights = ((q * scale) @ k.transpose(-2, -1)).softmax(-1)
        heads = weights @ v
        out = linear(heads.transpose(1, 2).reshape(N, T, WIDTH), w_out, b_out)
        out.backward(g)

    return step, lambda: [leaf.grad for leaf in leaves]


def attention_by_hand() -> Step:
    """Give the same in NumPy."""
    x, w, b, w_out, b_out, g = attention_data()
    scale = np.float32(DEPTH**-0.5)
    flat, flat_g = x.reshape(-1, WIDTH), g.reshape(-1, WIDTH)

    def step() -> list[Any]:
        projected = (flat @ w.T + b).reshape(N, T, 3, HEADS, DEPTH).transpose(2, 0, 3, 1, 4)
        q, k, v = projected[0] * scale, projected[1], projected[2]
        scores = q @ k.swapaxes(-2, -1)
        scores -= scores.max(-1, keepdims=True)
        weights = np.exp(scores, scores)
        weights /= weights.sum(-1, keepdims=True)
        heads = (weights @ v).transpose(0, 2, 1, 3).reshape(-1, WIDTH)
        heads @ w_out.T + b_out
        d_heads = (flat_g @ w_out).reshape(N, T, HEADS, DEPTH).transpose(0, 2, 1, 3)
        d_weights = d_heads @ v.swapaxes(-2, -1)
        d_scores = d_weights - (d_weights * weights).sum(-1, keepdims=True)
        d_scores *= weights
        d_projected = np.empty((3, N, HEADS, T, DEPTH), np.float32)
        np.matmul(d_scores, k, d_projected[0])
        d_projected[0] *= scale
        np.matmul(d_scores.swapaxes(-2, -1), q, d_projected[1])
        np.matmul(weights.swapaxes(-2, -1), d_heads, d_projected[2])
        d_flat = d_projected.transpose(1, 3, 0, 2, 4).reshape(N * T, 3 * WIDTH)
        return [
            (d_flat @ w).reshape(N, T, WIDTH),
            d_flat.T @ flat,
            d_flat.sum(0),
            flat_g.T @ heads,
            flat_g.sum(0),
        ]

    return step


LENGTH = 10**7


def long_data(length: int = LENGTH) -> list[Any]:
    generator = np.random.default_rng(0)
    x = generator.standard_normal(length, dtype=np.float32)
    return [x, np.array([0.5], np.float32), np.array([0.1], np.float32)]


def long(torch: ModuleType, length: int = LENGTH) -> Work:
    """Give forward and backward of sum(tanh(x * w + b)) for ten million x and numbers w, b."""
    array, *numbers = long_data(length)
    x = torch.from_numpy(array)
    w, b = (torch.tensor(number, requires_grad=True) for number in numbers)

    def step() -> None:
        w.grad = b.grad = None
        torch.tanh(x * w + b).sum().backward()

    return step, lambda: [w.grad, b.grad]


def long_by_hand() -> Step:
    """Give the same in NumPy."""
    x, w, b = long_data()

    def step() -> list[Any]:
        y = x * w
        y += b
        np.tanh(y, y)
        y.sum()
        y *= y
        np.subtract(1, y, y)
        return [np.reshape(y @ x, 1), y.sum(keepdims=True)]

    return step
