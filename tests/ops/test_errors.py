"""What operations refuse: the type of the error and the beginning of its text are PyTorch's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import minigrad as torch

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
BOOLEANS = torch.tensor([True, False])

REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "two booleans subtracted": (
        lambda: BOOLEANS - BOOLEANS,
        RuntimeError,
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead.",
    ),
    "a boolean subtracted": (
        lambda: torch.ones(2) - BOOLEANS,
        RuntimeError,
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead.",
    ),
    "a boolean power differentiated": (
        lambda: (torch.ones(2, requires_grad=True) ** BOOLEANS).sum().backward(),
        RuntimeError,
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead.",
    ),
    "a boolean negated": (
        lambda: -BOOLEANS,
        RuntimeError,
        "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
        "invert a mask, use the `~` or `logical_not()` operator instead.",
    ),
    "sizes that do not broadcast": (
        lambda: X * torch.ones(2),
        RuntimeError,
        "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 1",
    ),
    "maximum with a number": (
        lambda: torch.maximum(X, 1),
        TypeError,
        "maximum(): argument 'other' (position 2) must be Tensor, not int",
    ),
    "a number's exponential": (
        lambda: torch.exp(3),
        TypeError,
        "exp(): argument 'input' (position 1) must be Tensor, not int",
    ),
    "a condition of numbers": (
        lambda: torch.where(X, X, X),
        RuntimeError,
        "where expected condition to be a boolean tensor, but got a tensor with dtype Float",
    ),
    "a mask of numbers": (
        lambda: X.masked_fill(X, 0),
        RuntimeError,
        "masked_fill_ only supports boolean masks, but got mask with dtype float",
    ),
    "limits without limits": (
        lambda: X.clamp(),
        RuntimeError,
        "torch.clamp: At least one of 'min' or 'max' must not be None",
    ),
    "integers to a negative power": (
        lambda: torch.tensor([1, 2]) ** -1,
        RuntimeError,
        "Integers to negative integer powers are not allowed.",
    ),
    "largest of nothing": (
        lambda: torch.tensor([]).max(),
        RuntimeError,
        "max(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
        "reduction dim with the 'dim' argument.",
    ),
    "largest along nothing": (
        lambda: torch.zeros(0, 3).max(dim=0),
        IndexError,
        "max(): Expected reduction dim 0 to have non-zero size.",
    ),
    "a dimension that is not there": (
        lambda: X.min(dim=2),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    "gather: a place that is not there": (
        lambda: X.gather(1, torch.tensor([[5]])),
        RuntimeError,
        "index 5 is out of bounds for dimension 1 with size 3",
    ),
    "gather: dimensions": (
        lambda: X.gather(1, torch.tensor([0])),
        RuntimeError,
        "Index tensor must have the same number of dimensions as input tensor",
    ),
    "gather: floating point": (
        lambda: X.gather(1, torch.tensor([[0.0]])),
        RuntimeError,
        "gather(): Expected dtype int32/int64 for index",
    ),
    "index: second axis": (
        lambda: X[0, 3],
        IndexError,
        "index 3 is out of bounds for dimension 1 with size 3",
    ),
    "index: lists": (
        lambda: X[[0, 1], [0, 5]],
        IndexError,
        "index 5 is out of bounds for dimension 1 with size 3",
    ),
    "index: lists of different lengths": (
        lambda: X[[0, 1], [0, 1, 2]],
        IndexError,
        "shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]",
    ),
    "index: mask": (
        lambda: X[torch.tensor([True])],
        IndexError,
        "The shape of the mask [1] at index 0 does not match the shape of the indexed tensor "
        "[2, 3] at index 0",
    ),
    "index: backward": (lambda: X[::-1], ValueError, "step must be greater than zero"),
    "assignment": (
        lambda: X.clone().__setitem__(0, torch.zeros(2)),
        RuntimeError,
        "The expanded size of the tensor (3) must match the existing size (2) at non-singleton "
        "dimension 0.  Target sizes: [3].  Tensor sizes: [2]",
    ),
    "permute": (
        lambda: X.permute(0, 0),
        RuntimeError,
        "permute(): duplicate dims are not allowed.",
    ),
    "cat of nothing": (
        lambda: torch.cat([]),
        ValueError,
        "torch.cat(): expected a non-empty list of Tensors",
    ),
    "cat": (
        lambda: torch.cat([X, torch.zeros(3, 4)]),
        RuntimeError,
        "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for "
        "tensor number 1 in the list.",
    ),
    "chunks": (
        lambda: X.chunk(0),
        RuntimeError,
        "chunk expects `chunks` to be greater than 0, got: 0",
    ),
    "scalar taken apart": (
        lambda: torch.tensor(3.0).unbind(),
        IndexError,
        "Dimension specified as 0 but tensor has no dimensions",
    ),
    "copy of a longer one": (
        lambda: torch.zeros(2).copy_(torch.zeros(2, 2)),
        RuntimeError,
        "output with shape [2] doesn't match the broadcast shape [2, 2]",
    ),
    "fill with many": (
        lambda: torch.zeros(3).fill_(torch.zeros(2)),
        RuntimeError,
        "fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions.",
    ),
    "integers in place": (
        lambda: torch.tensor([1]).add_(0.5),
        RuntimeError,
        "result type Float can't be cast to the desired output type Long",
    ),
    "a tensor for a number": (
        lambda: torch.nn.functional.smooth_l1_loss(X, X, beta=X),
        RuntimeError,
        "Boolean value of Tensor with more than one value is ambiguous",
    ),
    "mm": (
        lambda: torch.mm(X, X),
        RuntimeError,
        "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
    ),
    "mm of a vector": (lambda: torch.mm(torch.ones(3), X), RuntimeError, "self must be a matrix"),
    "mm by a vector": (lambda: torch.mm(X, torch.ones(3)), RuntimeError, "mat2 must be a matrix"),
    "mv": (
        lambda: torch.mv(X, X),
        RuntimeError,
        "vector + matrix @ vector expected, got 1, 2, 2",
    ),
    "dot": (
        lambda: torch.dot(X, X),
        RuntimeError,
        "1D tensors expected, but got 2D and 2D tensors",
    ),
    "bmm": (lambda: torch.bmm(X, X), RuntimeError, "batch1 must be a 3D tensor"),
    "bmm: stacks": (
        lambda: torch.bmm(torch.zeros(2, 2, 3), torch.zeros(3, 3, 3)),
        RuntimeError,
        "Expected size for first two dimensions of batch2 tensor to be: [2, 3] but got: [3, 3].",
    ),
    "matmul: stacks": (
        lambda: torch.zeros(2, 3, 4) @ torch.zeros(3, 4, 5),
        RuntimeError,
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    ),
    "dtypes of factors": (
        lambda: X @ X.t().double(),
        RuntimeError,
        "expected m1 and m2 to have the same dtype, but got: float != double",
    ),
    "dtypes of addmm": (
        lambda: torch.addmm(torch.zeros(2), X, X.t().double()),
        RuntimeError,
        "self and mat2 must have the same dtype, but got Float and Double",
    ),
    "addmm: bias": (
        lambda: torch.addmm(torch.zeros(3), torch.zeros(2, 2), torch.zeros(2, 2)),
        RuntimeError,
        "The expanded size of the tensor (2) must match the existing size (3) at non-singleton "
        "dimension 1.  Target sizes: [2, 2].  Tensor sizes: [3]",
    ),
    "a gradient of integers": (
        lambda: torch.tensor([1], requires_grad=True),
        RuntimeError,
        "Only Tensors of floating point and complex dtype can require gradients",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """The error is of PyTorch's type and begins with PyTorch's words."""
    action, kind, text = REFUSED[name]
    with pytest.raises(kind, match=f"^{re.escape(text)}") as raised:
        action()
    assert type(raised.value) is kind


@pytest.mark.parametrize("name", REFUSED)
def test_torch_refuses_it_with_the_same_words(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is checked against PyTorch itself where it is installed."""
    real = pytest.importorskip("torch")
    action, kind, text = REFUSED[name]
    monkeypatch.setitem(globals(), "torch", real)
    monkeypatch.setitem(globals(), "X", real.tensor(X.tolist()))
    monkeypatch.setitem(globals(), "BOOLEANS", real.tensor(BOOLEANS.tolist()))
    with pytest.raises(kind, match=f"^{re.escape(text)}"):
        action()
