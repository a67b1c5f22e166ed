"""An affine map is recorded by one node, and nobody can tell: its twin has PyTorch's nodes."""

from __future__ import annotations

import importlib
from itertools import product
from typing import Any

import pytest

import minigrad as torch
from minigrad.ops import linear as operations

# without `fast` there is nothing to tell
pytestmark = pytest.mark.skipif(operations.fused_linear is None, reason="MINIGRAD_FAST=0")
linear = torch.nn.functional.linear
SHAPES = [(3,), (4, 3), (1, 3), (2, 4, 3)]
NEEDS = [needs for needs in product((True, False), repeat=3) if any(needs)]


def tensors(shape: tuple[int, ...], needs: Any = (True, True, True)) -> list[Any]:
    """Give input, weight and bias."""
    torch.manual_seed(0)
    made = [torch.randn(*size) for size in (shape, (2, 3), (2,))]
    return [each.requires_grad_(need) for each, need in zip(made, needs, strict=True)]


def numbers(gradients: Any) -> list[Any]:
    """Give gradients as lists."""
    return [None if each is None else each.tolist() for each in gradients]


def told(node: Any, released: bool = False) -> Any:
    """Describe the nodes that a node leads to, and what they saved."""
    saved = {
        name: value.tolist() if isinstance(value, torch.Tensor) else value
        for name in dir(node)
        if name.startswith("_saved_") and not released
        for value in [getattr(node, name)]
    }
    further = [None if n is None else told(n, released) for n, _ in node.next_functions]
    return [node.name(), saved, further]


def order_of(node: Any) -> list[str]:
    """Give the names of the nodes that a node leads to in the order in which they were recorded."""
    found, waiting = {}, [node]
    while waiting:
        each = waiting.pop()
        found[each] = each._sequence_nr()
        waiting += [n for n, _ in each.next_functions if n is not None]
    return [each.name() for each in sorted(found, key=found.__getitem__)]


def folded(result: Any) -> bool:
    """Tell whether a result has a node that stands for several."""
    becomes = result._edge[0]._materialize_fused.__func__
    return becomes is not torch.autograd.graph.Node._materialize_fused


def plain(shape: Any, needs: Any, leaf: bool) -> list[Any]:
    """Run forward and backward without a look; tell the gradients and the leaves' turns."""
    leaves = tensors(shape, needs)
    turns: list[str] = []
    for name, each in zip("xwb", leaves, strict=True):
        if each.requires_grad:
            each.register_post_accumulate_grad_hook(lambda _, name=name: turns.append(name))
    x, weight, bias = leaves
    result = linear(x if leaf else x * 2, weight, bias)
    (result * torch.randn(*result.shape)).sum().backward()
    return [result.tolist(), turns, numbers(each.grad for each in leaves)]


def looked_at(shape: Any, needs: Any, leaf: bool) -> list[Any]:
    """Look at the graph before backward, and use the result as a view."""
    x, weight, bias = leaves = tensors(shape, needs)
    result = linear(x if leaf else x * 2, weight, bias)
    behind = (result * 1).grad_fn.next_functions[0][0]
    notes = [behind.name(), told(result.grad_fn), order_of(result.grad_fn), result._is_view()]
    part = result[..., :1]
    notes += [part._base is result._base, None if result._base is None else told(part.grad_fn)]
    seen: list[Any] = []
    result.grad_fn.register_hook(lambda ins, outs: seen.append(numbers(ins)))
    first = result.sum()
    first.backward(retain_graph=True)
    (result * result).sum().backward()
    return [*notes, seen, numbers(each.grad for each in leaves)]


def twice(shape: Any, needs: Any, leaf: bool) -> list[Any]:
    """Derive twice, and look at a graph that was released."""
    x, weight, bias = tensors(shape, needs)
    inputs = [each for each in (x, weight, bias) if each.requires_grad]
    result = linear(x if leaf else x * 2, weight, bias)
    grads = torch.autograd.grad((result**3).sum(), inputs, create_graph=True)
    again = torch.autograd.grad(sum((g * g).sum() for g in grads), inputs, allow_unused=True)
    other = linear(x if leaf else x * 2, weight, bias)
    other.sum().backward()
    notes: list[Any] = numbers((*grads, *again))
    for _ in range(2):  # before a look and after it
        try:
            other.sum().backward()
        except RuntimeError as error:
            notes.append(str(error))
        notes.append(order_of(other.grad_fn))
    return notes


def written_to(shape: Any, needs: Any, leaf: bool) -> list[Any]:
    """Write to the result, to the weight and to the input before backward."""
    notes: list[Any] = []
    for what in ("result", "silently", "detached", "weight", "input"):
        x, weight, bias = leaves = tensors(shape, needs)
        given = x if leaf else x * 2
        result = linear(given, weight, bias)
        if what == "result":
            result.relu_()
        with torch.no_grad():
            if what == "silently":
                result.add_(1)
            if what == "detached":
                result.detach().mul_(2)
            if what in ("weight", "input"):
                {"weight": weight, "input": given}[what].mul_(2)
        try:
            result.sum().backward()
            notes.append(numbers(each.grad for each in leaves))
        except RuntimeError as error:
            notes.append(str(error))
        notes.append([result._version, told(result.grad_fn, True)])
    return notes


@pytest.mark.parametrize("leaf", [True, False])
@pytest.mark.parametrize("needs", NEEDS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("use", [plain, looked_at, twice, written_to])
def test_nobody_can_tell(use, shape, needs, leaf, monkeypatch):
    found = use(shape, needs, leaf)
    monkeypatch.setattr(operations, "fused_linear", None)
    assert found == use(shape, needs, leaf)


def test_a_fold_is_made_and_opened():
    x, weight, bias = tensors((2, 3))
    result = linear(x * 2, weight, bias)
    assert folded(result)
    assert [n.name() for n, _ in result.grad_fn.next_functions] == [
        "torch::autograd::AccumulateGrad",
        "MulBackward0",
        "TBackward0",
    ]
    assert not folded(result)


def test_a_changed_weight_is_told_by_one_error():
    x, weight, bias = tensors((4, 3))
    total = linear(x, weight, bias).sum()
    with torch.no_grad():
        weight.add_(1)
    with pytest.raises(RuntimeError, match="AsStrided, is at version 1") as raised:
        total.backward()
    assert raised.value.__cause__ is None and raised.value.__suppress_context__


def test_a_wrong_fold_is_told(monkeypatch):
    fused = importlib.import_module("minigrad.fast.linear")
    wrong = fused._Affine._run
    found = plain((4, 3), (True, True, True), False)
    monkeypatch.setattr(fused._Affine, "_run", lambda *given: [2 * g for g in wrong(*given)])
    assert found != plain((4, 3), (True, True, True), False)
