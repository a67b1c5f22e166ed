"""What a step does is counted, not timed: calls, nodes, memory. None of the figures may grow."""

from __future__ import annotations

import dis
import gc
import sys
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad import fast, nn
from minigrad.core.engine import GraphTask
from tests.budgets import STEPS as MOST
from tests.tracing import traced

COMPUTING = str(Path(torch.__file__).parent / "ops")


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


def broadcasting() -> Callable[[], Any]:
    """Give a sum of what was broadcast from a row and from a number, with nothing to squeeze."""
    leaves = [torch.ones(sizes, requires_grad=True) for sizes in ((4, 3), (3,), ())]

    def step() -> None:
        for leaf in leaves:
            leaf.grad, leaf.requires_grad = None, True
        x, row, number = leaves
        ((x + row) * number).squeeze(0).sum().backward()

    return step


def images() -> Callable[[], Any]:
    """Give a step of a network of images, with arrays large enough for quicker ways."""
    model = nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1),
        nn.BatchNorm2d(2),
        nn.Hardsigmoid(),
        nn.LeakyReLU(),
        nn.MaxPool2d(2, padding=1),
        nn.MaxPool2d(2),
    )
    x, target = torch.randn(4, 1, 32, 32), torch.zeros(4, 2, 8, 8)

    def step() -> None:
        model.zero_grad()
        nn.functional.smooth_l1_loss(model(x), target).backward()

    return step


def sequences() -> Callable[[], Any]:
    """Give a step of a network of words, with small arrays."""
    table, norm, lstm = nn.Embedding(5, 4), nn.LayerNorm(4), nn.LSTM(4, 3)
    lstm.bias_hh_l0.requires_grad_(False)
    words, given = torch.tensor([[0], [2], [2]]), torch.randn(3, 1, 4)

    def step() -> None:
        for module in (table, norm, lstm):
            module.zero_grad()
        total = lstm(given)[0].sum() + (norm(table(words)) ** 2).mean()
        (total + table.weight[words].sum() + norm(table.weight[0]).sum()).backward()

    return step


def chosen() -> Callable[[], Any]:
    """Give the gradient of one leaf of two."""
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    return lambda: torch.autograd.grad((x.exp().exp().exp() * y.exp()).sum(), y)


STEPS: dict[str, Callable[[], Callable[[], Any]]] = {
    "worked example": worked_example,
    "training step": training_step,
    "training step, full backward hooks": lambda: training_step("full"),
    "training step, tensor hooks": lambda: training_step("tensor"),
    "addition": addition,
    "broadcasting": broadcasting,
    "chosen": chosen,
    "images": images,
    "sequences": sequences,
}


def is_numpys(called: Any) -> bool:
    """Tell whether a function written in C is one of NumPy's, or a method of an array."""
    owner = getattr(called, "__self__", None)
    return isinstance(owner, (np.ndarray, np.ufunc)) or str(called.__module__).startswith("numpy")


class CountingNumPy:
    """Stands for NumPy, and counts how often one of its ufuncs is asked for: Python does not."""

    asked = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        CountingNumPy.asked += isinstance(found, np.ufunc)
        return found


def calls_of(step: Callable[[], Any]) -> tuple[int, int]:
    """Count the calls of functions written in Python, and of NumPy's.

    An operator between arrays calls NumPy without a function. So the arithmetic instructions that
    run in forwards and rules are counted too; a few of them are between numbers.
    """
    calls = numpys = CountingNumPy.asked = 0
    arithmetic: dict[Any, set[int]] = {}

    def profile(frame: FrameType, event: str, called: Any) -> None:
        nonlocal calls, numpys
        calls += event == "call"
        numpys += event == "c_call" and is_numpys(called)

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal numpys
        code = frame.f_code
        if event == "call":
            if not code.co_filename.startswith(COMPUTING):
                return None
            frame.f_trace_opcodes = True
            if code not in arithmetic:
                names = ("BINARY_OP", "UNARY_NEGATIVE", "COMPARE_OP")
                found = {each.offset for each in dis.get_instructions(code) if each.opname in names}
                arithmetic[code] = found
        numpys += event == "opcode" and frame.f_lasti in arithmetic[code]
        return trace

    sys.setprofile(profile)
    try:
        step()
    finally:
        sys.setprofile(None)
    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("minigrad") and getattr(module, "np", None) is np:
                patch.setattr(module, "np", CountingNumPy())
        with traced(trace):
            step()
    return calls - 1, numpys + CountingNumPy.asked  # without the step itself


def nodes_of(step: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """Count the nodes that a pass runs."""
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
    return len(nodes)


def objects_of(step: Callable[[], Any]) -> int:
    """Count the objects that the graph of a step holds when its backward begins.

    The collector knows the objects of all threads, and what runs the tests has one of its own. It
    can only add, so the least of three counts is the step's.
    """
    return min(objects_once(step) for _ in range(3))


def objects_once(step: Callable[[], Any]) -> int:
    """Count once what `objects_of` counts."""
    backward = torch.Tensor.backward
    counts: list[int] = []

    def counting(tensor: Any) -> None:
        counts.append(len(gc.get_objects()))
        backward(tensor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "backward", counting)
        before = len(gc.get_objects())
        result = step()
        counts.append(len(gc.get_objects()))  # of a step without a backward, with its result
    del result
    return counts[0] - before


def counted(step: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> tuple[int, int, int, int]:
    """Count what a step does."""
    gc.collect()
    gc.disable()  # what it frees may have something to say
    try:
        return (*calls_of(step), nodes_of(step, monkeypatch), objects_of(step))
    finally:
        gc.enable()


@pytest.mark.skipif(not fast.on, reason="MINIGRAD_FAST=0")
@pytest.mark.parametrize("name", MOST)
def test_a_step_does_no_more(name, monkeypatch):
    with warnings.catch_warnings(action="ignore"):  # the input of a first layer needs no gradient
        step = STEPS[name]()
        for _ in range(3):  # functions are written at their first call
            step()
        found = counted(step, monkeypatch)
    assert found[0] > 0
    assert all(count <= most for count, most in zip(found, MOST[name], strict=True)), found
    assert found[2] == MOST[name][2]


def test_an_added_call_is_counted(monkeypatch):
    step = worked_example()
    step()
    step()
    before = counted(step, monkeypatch)
    x = np.ones(1)

    def more() -> None:
        x.sum()
        step()

    assert counted(more, monkeypatch)[:2] == (before[0] + 2, before[1] + 2)
