"""What operations refuse: the type of the error is PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minigrad as torch

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
BOOLEANS = torch.tensor([True, False])

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "two booleans subtracted": (
        lambda: BOOLEANS - BOOLEANS,
        RuntimeError,
    ),
    "a boolean subtracted": (
        lambda: torch.ones(2) - BOOLEANS,
        RuntimeError,
    ),
    "a boolean negated": (
        lambda: -BOOLEANS,
        RuntimeError,
    ),
    "sizes that do not broadcast": (
        lambda: X * torch.ones(2),
        RuntimeError,
    ),
    "maximum with a number": (
        lambda: torch.maximum(X, 1),
        TypeError,
    ),
    "a number's exponential": (
        lambda: torch.exp(3),
        TypeError,
    ),
    "a condition of numbers": (
        lambda: torch.where(X, X, X),
        RuntimeError,
    ),
    "a mask of numbers": (
        lambda: X.masked_fill(X, 0),
        RuntimeError,
    ),
    "limits without limits": (
        lambda: X.clamp(),
        RuntimeError,
    ),
    "integers to a negative power": (
        lambda: torch.tensor([1, 2]) ** -1,
        RuntimeError,
    ),
    "largest of nothing": (
        lambda: torch.tensor([]).max(),
        RuntimeError,
    ),
    "largest along nothing": (
        lambda: torch.zeros(0, 3).max(dim=0),
        IndexError,
    ),
    "a dimension that is not there": (
        lambda: X.min(dim=2),
        IndexError,
    ),
    "gather: a place that is not there": (
        lambda: X.gather(1, torch.tensor([[5]])),
        RuntimeError,
    ),
    "gather: dimensions": (
        lambda: X.gather(1, torch.tensor([0])),
        RuntimeError,
    ),
    "gather: floating point": (
        lambda: X.gather(1, torch.tensor([[0.0]])),
        RuntimeError,
    ),
    "index: second axis": (
        lambda: X[0, 3],
        IndexError,
    ),
    "index: lists": (
        lambda: X[[0, 1], [0, 5]],
        IndexError,
    ),
    "index: lists of different lengths": (
        lambda: X[[0, 1], [0, 1, 2]],
        IndexError,
    ),
    "index: mask": (
        lambda: X[torch.tensor([True])],
        IndexError,
    ),
    "index: backward": (lambda: X[::-1], ValueError),
    "assignment": (
        lambda: X.clone().__setitem__(0, torch.zeros(2)),
        RuntimeError,
    ),
    "permute": (
        lambda: X.permute(0, 0),
        RuntimeError,
    ),
    "cat of nothing": (
        lambda: torch.cat([]),
        ValueError,
    ),
    "cat": (
        lambda: torch.cat([X, torch.zeros(3, 4)]),
        RuntimeError,
    ),
    "chunks": (
        lambda: X.chunk(0),
        RuntimeError,
    ),
    "scalar taken apart": (
        lambda: torch.tensor(3.0).unbind(),
        IndexError,
    ),
    "copy of a longer one": (
        lambda: torch.zeros(2).copy_(torch.zeros(2, 2)),
        RuntimeError,
    ),
    "fill with many": (
        lambda: torch.zeros(3).fill_(torch.zeros(2)),
        RuntimeError,
    ),
    "integers in place": (
        lambda: torch.tensor([1]).add_(0.5),
        RuntimeError,
    ),
    "mm": (
        lambda: torch.mm(X, X),
        RuntimeError,
    ),
    "mm of a vector": (lambda: torch.mm(torch.ones(3), X), RuntimeError),
    "mm by a vector": (lambda: torch.mm(X, torch.ones(3)), RuntimeError),
    "mv": (
        lambda: torch.mv(X, X),
        RuntimeError,
    ),
    "dot": (
        lambda: torch.dot(X, X),
        RuntimeError,
    ),
    "bmm": (lambda: torch.bmm(X, X), RuntimeError),
    "bmm: stacks": (
        lambda: torch.bmm(torch.zeros(2, 2, 3), torch.zeros(3, 3, 3)),
        RuntimeError,
    ),
    "matmul: stacks": (
        lambda: torch.zeros(2, 3, 4) @ torch.zeros(3, 4, 5),
        RuntimeError,
    ),
    "dtypes of factors": (
        lambda: X @ X.t().double(),
        RuntimeError,
    ),
    "dtypes of addmm": (
        lambda: torch.addmm(torch.zeros(2), X, X.t().double()),
        RuntimeError,
    ),
    "addmm: bias": (
        lambda: torch.addmm(torch.zeros(3), torch.zeros(2, 2), torch.zeros(2, 2)),
        RuntimeError,
    ),
    "a gradient of integers": (
        lambda: torch.tensor([1], requires_grad=True),
        RuntimeError,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """The error is of PyTorch's type, and says something."""
    action, kind = REFUSED[name]
    with pytest.raises(kind, match=r"\w+ \w+") as raised:
        action()
    assert type(raised.value) is kind


@pytest.mark.parametrize("name", REFUSED)
def test_torch_refuses_it_in_the_same_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is checked against PyTorch itself where it is installed."""
    real = pytest.importorskip("torch")
    action, kind = REFUSED[name]
    monkeypatch.setitem(globals(), "torch", real)
    monkeypatch.setitem(globals(), "X", real.tensor(X.tolist()))
    monkeypatch.setitem(globals(), "BOOLEANS", real.tensor(BOOLEANS.tolist()))
    with pytest.raises(kind):
        action()
