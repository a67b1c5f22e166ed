"""Measure work on large arrays, where the numbers cost more than the tape: a wide network, an
attention block, ten million elements.

    python3 tests/benchmarks/large.py     (in the environment of the tests, with torch or not)

How it is measured is told in `timing.py`. At the end stands how much memory the ten million
elements took beside the inputs, each library in a process of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

# before NumPy: this holds the libraries to one thread
from timing import Step, Work, Workload, run

# isort: split
import networks
import numpy as np

WIDE: dict[str, Any] = {"sizes": (1024, 1024, 1024, 10), "batch": 256}
wide = partial(networks.modules, **WIDE)
wide_by_hand = partial(networks.by_hand, **WIDE)
N, T, WIDTH, HEADS = 8, 128, 64, 4
DEPTH = WIDTH // HEADS


def _attention_data() -> list[Any]:
    generator = np.random.default_rng(0)
    shapes = [(N, T, WIDTH), (3 * WIDTH, WIDTH), (3 * WIDTH,), (WIDTH, WIDTH), (WIDTH,)]
    arrays = [generator.standard_normal(shape).astype(np.float32) for shape in shapes]
    arrays[1] /= 8
    arrays[3] /= 8
    return [*arrays, generator.standard_normal((N, T, WIDTH)).astype(np.float32)]


def attention(torch: ModuleType) -> Work:
    """Give forward and backward of self-attention: batch 8, 128 places, width 64, 4 heads."""
    *arrays, cotangent = _attention_data()
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


def multihead(torch: ModuleType) -> Work:
    """Give the same by `nn.MultiheadAttention`."""
    x_array, *arrays, cotangent = _attention_data()
    module = torch.nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    parameters = [
        module.in_proj_weight,
        module.in_proj_bias,
        module.out_proj.weight,
        module.out_proj.bias,
    ]
    with torch.no_grad():
        for parameter, array in zip(parameters, arrays, strict=True):
            parameter.copy_(torch.tensor(array))
    leaves = [torch.tensor(x_array, requires_grad=True), *parameters]
    x, g = leaves[0], torch.tensor(cotangent)

    def step() -> None:
        for leaf in leaves:
            leaf.grad = None
        out, _ = module(x, x, x, need_weights=False)
        out.backward(g)

    return step, lambda: [leaf.grad for leaf in leaves]


def attention_by_hand() -> Step:
    """Give the same in NumPy."""
    x, w, b, w_out, b_out, g = _attention_data()
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


def _long_data() -> list[Any]:
    generator = np.random.default_rng(0)
    x = generator.standard_normal(LENGTH, dtype=np.float32)
    return [x, np.array([0.5], np.float32), np.array([0.1], np.float32)]


def long(torch: ModuleType) -> Work:
    """Give forward and backward of sum(tanh(x * w + b)) for ten million x and numbers w, b."""
    array, *numbers = _long_data()
    x = torch.from_numpy(array)
    w, b = (torch.tensor(number, requires_grad=True) for number in numbers)

    def step() -> None:
        w.grad = b.grad = None
        torch.tanh(x * w + b).sum().backward()

    return step, lambda: [w.grad, b.grad]


def long_by_hand() -> Step:
    """Give the same in NumPy."""
    x, w, b = _long_data()

    def step() -> list[Any]:
        y = x * w
        y += b
        np.tanh(y, y)
        y.sum()
        y *= y
        np.subtract(1, y, y)
        return [np.reshape(y @ x, 1), y.sum(keepdims=True)]

    return step


WORKLOADS: list[Workload] = [
    (
        "1024-1024-1024-10 step, batch 256",
        partial(networks.modules, **WIDE),
        partial(networks.by_hand, **WIDE),
        1,
    ),
    ("attention 8 x 128 x 64, 4 heads", attention, attention_by_hand, 4),
    ("attention, nn.MultiheadAttention", multihead, attention_by_hand, 4),
    ("sum(tanh(x * w + b)), 10**7", long, long_by_hand, 1),
]


def peak() -> int:
    """Give in kilobytes how much memory this process has held at most; Linux counts it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def print_memory(library: str) -> None:
    """Print by how many kilobytes the process grew while it took a step on long arrays."""
    step, _ = long(importlib.import_module(library))
    before = peak()
    step()
    print(peak() - before)


def memory(library: str) -> str:
    """Give in megabytes what `print_memory` prints in a process of its own."""
    command = [sys.executable, __file__, library]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return f"{int(answer.stdout) * 1024 / 1e6:.0f} MB"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print_memory(sys.argv[1])
    else:
        run(WORKLOADS, rounds=15)
        for name in ("minigrad", "torch"):
            if sys.platform == "linux" and importlib.util.find_spec(name) is not None:
                print(f"memory for the 10**7 elements, {name}: {memory(name)}")
