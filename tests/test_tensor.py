"""The tensor itself: shape and type, conversions, copies, its place in the graph, NumPy."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import minigrad


@pytest.fixture(params=["minigrad", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


# ------------------------------------------------------------------ shape and type


def test_shape(torch):
    x = torch.zeros(2, 3, 4)
    assert x.shape == (2, 3, 4) and repr(x.shape) == "torch.Size([2, 3, 4])"
    assert x.size() == x.shape and x.size(-1) == 4 and x.size(dim=0) == 2
    assert x.shape.numel() == x.numel() == x.nelement() == 24
    assert x.ndim == x.dim() == 3 and len(x) == 2
    assert (*torch.Size((2,)), 3) == (2, 3)
    with pytest.raises(TypeError, match=r"^len\(\) of a 0-d tensor$"):
        len(torch.tensor(1.0))


def test_layout_in_memory(torch):
    x = torch.zeros(2, 3, dtype=torch.float64)
    assert x.stride() == (3, 1) and x.t().stride() == (1, 3) and x.t().stride(1) == 3
    assert x.is_contiguous() and not x.t().is_contiguous()


def test_type(torch):
    x = torch.zeros(2)
    assert x.type() == "torch.FloatTensor" and x.double().type() == "torch.DoubleTensor"
    assert x.is_floating_point() and not x.long().is_floating_point()
    assert x.type(torch.int64).dtype is torch.int64


def test_the_class_makes_tensors_of_the_default_type(torch):
    assert torch.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert torch.Tensor([1, 2]).dtype is torch.float32


# ------------------------------------------------------------------ to Python


def test_conversions_to_python(torch):
    x = torch.tensor([[2.5]])
    assert (x.item(), float(x), int(x), complex(x)) == (2.5, 2.5, 2, 2.5 + 0j)
    assert torch.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert [10, 20, 30][torch.tensor(2)] == 30
    assert type(torch.tensor(3).item()) is int and type(torch.tensor(True).item()) is bool
    assert bool(torch.tensor([0.5])) and not bool(torch.tensor(0))
    assert f"{torch.tensor(2.5):.3f}" == "2.500"


@pytest.mark.parametrize(
    "convert, kind, text",
    [
        (lambda x: x.item(), RuntimeError, "a Tensor with 2 elements cannot be converted to Sca"),
        (float, ValueError, "only one element tensors can be converted to Python scalars"),
        (int, ValueError, "only one element tensors can be converted to Python scalars"),
        (bool, RuntimeError, "Boolean value of Tensor with more than one value is ambiguous"),
        (lambda x: bool(x[:0]), RuntimeError, "Boolean value of Tensor with no values is ambig"),
        (lambda x: [1, 2][x], TypeError, "only integer tensors of a single element can be conv"),
        (lambda x: [1, 2][x[0]], TypeError, "only integer tensors of a single element can be c"),
    ],
)
def test_conversions_that_make_no_sense(torch, convert, kind, text):
    with pytest.raises(kind) as caught:
        convert(torch.tensor([1.0, 2.0]))
    assert str(caught.value).startswith(text)


def test_a_number_from_a_recorded_tensor_warns(torch):
    x = torch.tensor([1.5], requires_grad=True)
    with pytest.warns(
        UserWarning, match="^Converting a tensor with requires_grad=True to a scalar"
    ):
        assert float(x) == 1.5
    with torch.no_grad():
        assert float(x) == 1.5
    assert x.item() == 1.5


def test_iteration_and_membership(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    rows = list(x)
    assert [row.tolist() for row in rows] == [[1.0, 2.0], [3.0, 4.0]]
    rows[1].backward(torch.tensor([5.0, 6.0]))
    assert x.grad.tolist() == [[0.0, 0.0], [5.0, 6.0]]
    assert 3 in x and torch.tensor(4.0) in x and 5 not in x
    with pytest.raises(TypeError, match=r"^iteration over a 0-d tensor$"):
        iter(x[0, 0])


def test_tensors_are_compared_by_entry_and_hashed_by_identity(torch):
    x, same = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0])
    assert (x == same).tolist() == [True, True]
    assert hash(x) == id(x) and len({x, same, x}) == 2


# ------------------------------------------------------------------ the graph


def test_leaves_and_results(torch):
    x, constant = torch.tensor([1.0], requires_grad=True), torch.tensor([2.0])
    y = x * constant
    assert [t.is_leaf for t in (x, constant, y, y.detach())] == [True, True, False, True]
    assert [t.requires_grad for t in (x, constant, y, y.detach())] == [True, False, True, False]
    assert x.grad_fn is None and x.output_nr == 0 and not y.retains_grad
    assert constant.requires_grad_() is constant and constant.requires_grad
    constant.requires_grad = False
    assert not (constant * 2).requires_grad


def test_detached_tensors_share_memory(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.detach()[0] = 100.0
    assert y.tolist() == [100.0, 6.0]
    assert y.detach_() is y and y.is_leaf and not y.requires_grad


def test_data(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.data.mul_(10)
    assert x.tolist() == [10.0, 20.0] and x._version == 0
    x.data = torch.tensor([7.0, 8.0, 9.0])
    assert x.shape == (3,) and x.requires_grad
    with pytest.raises(TypeError, match=r"^Variable data has to be a tensor, but got list"):
        x.data = [1.0]


def test_assigned_gradients_are_checked(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = torch.tensor([5.0, 6.0])
    (x * 1).backward(torch.tensor([10.0, 20.0]))
    assert x.grad.tolist() == [15.0, 26.0]
    x.grad = None
    for value, kind, text in (
        ([1.0, 2.0], TypeError, "assigned grad expected to be a Tensor or None but got grad of t"),
        (x, RuntimeError, "can't assign Variable as its own grad"),
        (torch.zeros(3), RuntimeError, "attempting to assign a gradient of size '[3]' to a tensor"),
        (torch.zeros(2).double(), RuntimeError, "attempting to assign a gradient with dtype 'd"),
    ):
        with pytest.raises(kind) as caught:
            x.grad = value
        assert str(caught.value).startswith(text)
        assert x.grad is None


def test_what_cannot_require_a_gradient(torch):
    whole, y = torch.tensor([1, 2]), torch.tensor([1.0], requires_grad=True) * 2
    kinds = "only Tensors of floating point{} dtype can require gradients"
    leaf = "you can only change requires_grad flags of leaf variables."
    advice = " If you want to use a computed variable in a subgraph that doesn't require different"
    for change, text in (
        (lambda: whole.requires_grad_(), kinds.format("")),
        (lambda: setattr(whole, "requires_grad", True), kinds.format(" and complex")),
        (lambda: setattr(whole, "requires_grad", 1), "requires_grad must be a bool"),
        (lambda: setattr(y, "requires_grad", True), leaf),
        (lambda: setattr(y, "requires_grad", False), leaf + advice),
        (lambda: y.requires_grad_(False), leaf + advice),
    ):
        with pytest.raises(RuntimeError) as caught:
            change()
        assert str(caught.value).startswith(text)
    assert y.requires_grad_() is y and y.grad_fn is not None
    assert whole.requires_grad_(False) is whole


# ------------------------------------------------------------------ copies


def test_copies_by_copy_and_pickle(torch):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.note = "kept"
    (x * 3).sum().backward()
    for copied in (copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert copied.tolist() == [1.0, 2.0] and copied.requires_grad and copied.is_leaf
        assert copied.note == "kept"
        with torch.no_grad():
            copied.zero_()
        assert x.tolist() == [1.0, 2.0]
    deep = copy.deepcopy(x)
    assert deep.grad.tolist() == [3.0, 3.0] and deep.grad is not x.grad
    assert pickle.loads(pickle.dumps(x)).grad is None
    twice = copy.deepcopy([x, x])
    assert twice[0] is twice[1]


def test_only_leaves_are_deep_copied(torch):
    y = torch.tensor([1.0], requires_grad=True) * 2
    message = (
        "^Only Tensors created explicitly by the user .graph leaves. support the deepcopy prot"
    )
    with pytest.raises(RuntimeError, match=message):
        copy.deepcopy(y)


# ------------------------------------------------------------------ NumPy


def test_numpy_shares_memory_and_refuses_what_is_recorded(torch):
    x = torch.tensor([1.0, 2.0])
    x.numpy()[0] = 50.0
    assert x.tolist() == [50.0, 2.0]
    assert np.asarray(x).tolist() == [50.0, 2.0]
    y = x.requires_grad_() * 1
    message = r"^Can't call numpy\(\) on Tensor that requires grad\. Use tensor\.detach\(\)\.numpy"
    with pytest.raises(RuntimeError, match=message):
        y.numpy()
    assert y.numpy(force=True).tolist() == y.detach().numpy().tolist() == [50.0, 2.0]


def test_numpy_functions_are_recorded():
    x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = np.exp(x) * 2
    assert type(y) is minigrad.Tensor and type(y.grad_fn).__name__ == "MulBackward0"
    total = np.add.reduce(np.float32(3) * y, axis=None)
    total.backward(minigrad.tensor(0.5))
    # exp in single precision
    np.testing.assert_allclose(x.grad.numpy(), 3 * np.exp([[1, 2], [3, 4]]), rtol=1e-6)
