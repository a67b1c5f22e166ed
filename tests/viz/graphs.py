"""Make graphs to draw out of nothing: nodes and tensors with just the names that drawing reads."""

import os
import random
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.nn import functional as F
from minigrad.viz import watch_modules


@dataclass(eq=False)
class FakeTensor:
    """As much of a tensor as drawing looks at."""

    data: Any = 0.5
    shape: tuple[int, ...] = ()
    grad: Any = None
    grad_fn: Any = None
    output_nr: int = 0
    requires_grad: bool = True
    retains_grad: bool = False

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    def tolist(self) -> Any:
        return self.data


@dataclass(eq=False)
class FakeNode:
    """As much of a node as drawing looks at."""

    title: str
    next_functions: tuple[tuple[Any, int], ...] = ()
    hooks: list[Any] = field(default_factory=list)

    def name(self) -> str:
        return self.title


@dataclass(eq=False)
class FakeLeaf(FakeNode):
    """An accumulate node with its tensor."""

    variable: Any = None


def leaf(data: Any = 0.5, shape: tuple[int, ...] = (), grad: Any = None) -> FakeLeaf:
    tensor = FakeTensor(data, shape, None if grad is None else FakeTensor(grad, shape))
    return FakeLeaf("torch::autograd::AccumulateGrad", variable=tensor)


def operation(title: str, *targets: Any) -> FakeNode:
    edges = (each if isinstance(each, tuple) else (each, 0) for each in targets)
    return FakeNode(title, tuple(edges))


def hooks_of(node: FakeNode) -> list[Any]:
    """List a node's hooks, as `hooks=` takes it."""
    return node.hooks


def output_of(node: FakeNode, data: Any = 1.0, shape: tuple[int, ...] = ()) -> FakeTensor:
    return FakeTensor(data, shape, grad_fn=node)


def random_graph(seed: int) -> tuple[int, list[tuple[int, int]]]:
    """Return the number of nodes and the edges of a random connected graph without cycles."""
    chance = random.Random(seed)
    count = chance.randint(5, 60)
    edges = []
    for node in range(1, count):
        for _ in range(chance.choice([1, 1, 1, 2, 2, 3])):
            first = max(0, node - 12) if chance.random() < 0.9 else 0
            edges.append((chance.randint(first, node - 1), node))
    return count, edges


def told_by(program: str, **environment: str) -> str:
    """Give what a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | environment,
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    return done.stdout


def contrasts(color: str | tuple[float, ...]) -> tuple[float, float]:
    """Give a color's contrast to a white page and to JupyterLab's dark one, as WCAG defines it."""

    def light_of(color: str | tuple[float, ...]) -> float:
        if isinstance(color, str):
            color = tuple(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
        red, green, blue = (
            value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
            for value in color[:3]
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light = light_of(color) + 0.05
    return 1.05 / light, light / (light_of("#111111") + 0.05)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(256, 120), nn.Linear(120, 84), nn.Linear(84, 10)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x))).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


def lenet():
    torch.manual_seed(0)
    model = LeNet()
    with watch_modules(model) as modules:
        out = model(torch.randn(2, 1, 28, 28))
    loss = F.cross_entropy(out, torch.tensor([1, 2]))
    loss.backward()
    return loss, modules
