"""What a step does is counted, not timed: Python calls and nodes. None of the figures may grow."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.core.engine import GraphTask

# Python calls and nodes run backward. A newer Python calls less: comprehensions are no calls there.
MOST = {
    "worked example": (107, 11),
    "training step": (194, 13),
    "training step, full backward hooks": (386, 23),
    "training step, tensor hooks": (240, 13),
    "addition": (3, 0),
}


def worked_example() -> Callable[[], Any]:
    """Give a step of the worked example, made of two `nn.Linear`."""
    f0, f1 = nn.Linear(1, 1), nn.Linear(1, 1)
    x = torch.tensor([0.3], requires_grad=True)

    def step() -> None:
        for leaf in (x, *f0.parameters(), *f1.parameters()):
            leaf.grad = None
        y = f1(f0(x)) ** 2
        ((y - 1) ** 2).backward()

    return step


def training_step(hooks: str = "") -> Callable[[], Any]:
    """Give a training step of a network with two hidden layers."""
    linear = [nn.Linear(i, o) for i, o in pairwise((2, 16, 16, 2))]
    model = nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])
    x, target = torch.randn(10, 2), torch.randint(0, 2, (10,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if hooks == "full":
        for module in model.modules():
            module.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    if hooks == "tensor":
        for module in (model[1], model[3]):
            module.register_forward_hook(
                lambda module, args, output: output.register_hook(lambda grad: None) and None
            )

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), target).backward()
        optimizer.step()

    return step


def addition() -> Callable[[], Any]:
    """Give an addition that is recorded."""
    x, y = torch.ones(16, requires_grad=True), torch.ones(16)
    return lambda: x + y


STEPS: dict[str, Callable[[], Callable[[], Any]]] = {
    "worked example": worked_example,
    "training step": training_step,
    "training step, full backward hooks": lambda: training_step("full"),
    "training step, tensor hooks": lambda: training_step("tensor"),
    "addition": addition,
}


def counted(step: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Count the calls of functions written in Python, and the nodes that the pass ran."""
    calls = 0

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call"

    gc.disable()  # what it frees may have something to say
    sys.setprofile(profile)
    try:
        step()
    finally:
        sys.setprofile(None)
        gc.enable()
    nodes: set[int] = set()
    begin = GraphTask.__init__

    def begun(task: GraphTask, roots: Any, *settings: Any) -> None:
        begin(task, roots, *settings)
        waiting = [node for node, _ in roots]
        while waiting:
            node = waiting.pop()
            if node is not None and id(node) not in nodes:
                nodes.add(id(node))
                waiting += [source for source, _ in node._edges]  # as they run: nobody looks

    with monkeypatch.context() as patch:
        patch.setattr(GraphTask, "__init__", begun)
        step()
    return calls - 1, len(nodes)  # without the step itself


@pytest.mark.parametrize("name", MOST)
def test_a_step_takes_no_more_calls_and_nodes(name, monkeypatch):
    with warnings.catch_warnings(action="ignore"):  # the input of a first layer needs no gradient
        step = STEPS[name]()
        for _ in range(3):  # functions are written at their first call
            step()
        calls, nodes = counted(step, monkeypatch)
    assert 0 < calls <= MOST[name][0]
    assert nodes == MOST[name][1]


def test_an_added_call_is_counted(monkeypatch):
    step = worked_example()
    step()
    step()
    before, _ = counted(step, monkeypatch)

    def more() -> None:
        step()

    assert counted(more, monkeypatch)[0] == before + 1
