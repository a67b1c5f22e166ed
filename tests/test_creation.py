"""Making tensors: values, types, whose memory it is, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(params=["minigrad", "torch"])
def torch(request):
    return pytest.importorskip(request.param)


def _is(torch, tensor, values, dtype):
    assert tensor.dtype is dtype
    assert tensor.tolist() == values
    assert not tensor.requires_grad


# ------------------------------------------------------------------ from data


def test_the_type_follows_from_the_data(torch):
    _is(torch, torch.tensor([1, 2]), [1, 2], torch.int64)
    _is(torch, torch.tensor([1, 2.5]), [1.0, 2.5], torch.float32)
    _is(torch, torch.tensor(True), True, torch.bool)
    _is(torch, torch.tensor([True, False]), [True, False], torch.bool)
    _is(torch, torch.tensor([[1j]]), [[1j]], torch.complex64)
    _is(torch, torch.tensor([]), [], torch.float32)
    _is(torch, torch.tensor((1, (2)), dtype=torch.float64), [1.0, 2.0], torch.float64)
    _is(torch, torch.tensor([1.9, -1.9], dtype=torch.int64), [1, -1], torch.int64)


def test_arrays_keep_their_type_and_are_copied(torch):
    for name in ("float64", "float16", "int32", "uint8", "bool", "complex128"):
        array = np.ones((2, 3), dtype=name)
        made = torch.tensor(array)
        array[:] = 0
        _is(torch, made, np.ones((2, 3), dtype=name).tolist(), getattr(torch, name))
    assert torch.tensor(np.float64(2.5)).dtype is torch.float64


def test_memory_is_shared_where_pytorch_shares_it(torch):
    array = np.arange(3.0)
    for shared in (torch.from_numpy(array), torch.as_tensor(array)):
        array[1] += 10
        assert shared[1].item() == array[1]
    tensor = torch.as_tensor(shared)
    assert tensor is shared
    array[:] = 0
    assert torch.as_tensor(array, dtype=torch.float32).dtype is torch.float32


def test_tensors_within_the_data(torch):
    one, two = torch.tensor(1.5), torch.tensor(2.5)
    _is(torch, torch.tensor([[one, two], [3, 4]]), [[1.5, 2.5], [3.0, 4.0]], torch.float32)


def test_a_copy_of_a_tensor_warns(torch):
    x = torch.tensor([1.5], requires_grad=True)
    with pytest.warns(UserWarning, match=r"^To copy construct from a tensor, it is recommended"):
        copied = torch.tensor(x)
    assert copied.is_leaf and not copied.requires_grad
    with torch.no_grad():
        x.zero_()
    assert copied.tolist() == [1.5]


@pytest.mark.parametrize(
    "data, kind, text",
    [
        ([[1, 2], [3]], ValueError, "expected sequence of length 2 at dim 1 (got 1)"),
        ([[[1], [2]], [[1], [2, 3]]], ValueError, "expected sequence of length 1 at dim 2 (got 2)"),
        ([[1], 2], TypeError, "not a sequence"),
        ("text", TypeError, "new(): invalid data type 'str'"),
        ([1.0, [2.0]], TypeError, "must be real number, not list"),
        ([1, [2]], TypeError, "'list' object cannot be interpreted as an integer"),
    ],
)
def test_data_that_is_no_tensor(torch, data, kind, text):
    with pytest.raises(kind) as caught:
        torch.tensor(data)
    assert str(caught.value).startswith(text)


def test_gradients_only_of_floating_point_numbers(torch):
    assert torch.tensor([1.0], requires_grad=True).requires_grad
    message = r"^Only Tensors of floating point and complex dtype can require gradients"
    for make in (lambda **options: torch.tensor([1], **options), lambda **o: torch.arange(3, **o)):
        with pytest.raises(RuntimeError, match=message):
            make(requires_grad=True)


# ------------------------------------------------------------------ filled, and in order


def test_filled_tensors(torch):
    _is(torch, torch.zeros(2, 1), [[0.0], [0.0]], torch.float32)
    _is(torch, torch.ones((2,), dtype=torch.int64), [1, 1], torch.int64)
    _is(torch, torch.zeros([]), 0.0, torch.float32)
    _is(torch, torch.full((2,), 7), [7, 7], torch.int64)
    _is(torch, torch.full((1, 2), 7.5), [[7.5, 7.5]], torch.float32)
    _is(torch, torch.full((2,), True), [True, True], torch.bool)
    _is(torch, torch.eye(2, 3), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], torch.float32)
    assert torch.empty(2, 3).shape == (2, 3)
    assert torch.zeros(2, 0).numel() == 0


def test_tensors_like_another(torch):
    x = torch.tensor([[1.5, 2.5]], dtype=torch.float64, requires_grad=True)
    _is(torch, torch.zeros_like(x), [[0.0, 0.0]], torch.float64)
    _is(torch, torch.ones_like(x, dtype=torch.int64), [[1, 1]], torch.int64)
    _is(torch, torch.full_like(x, 3), [[3.0, 3.0]], torch.float64)
    for made in (torch.rand_like(x), torch.randn_like(x)):
        assert made.dtype is torch.float64 and made.shape == (1, 2) and not made.requires_grad
    assert torch.ones_like(x, requires_grad=True).is_leaf


def test_numbers_in_order(torch):
    _is(torch, torch.arange(3), [0, 1, 2], torch.int64)
    _is(torch, torch.arange(5, 1, -2), [5, 3], torch.int64)
    _is(torch, torch.arange(0, 1, 0.25), [0.0, 0.25, 0.5, 0.75], torch.float32)
    _is(torch, torch.arange(2.0), [0.0, 1.0], torch.float32)
    _is(torch, torch.linspace(0, 1, 5), [0.0, 0.25, 0.5, 0.75, 1.0], torch.float32)
    _is(torch, torch.linspace(3, 4, 1), [3.0], torch.float32)


def test_every_kind_may_require_a_gradient(torch):
    for made in (
        torch.zeros(2, requires_grad=True),
        torch.ones(2, requires_grad=True),
        torch.full((2,), 1.5, requires_grad=True),
        torch.eye(2, requires_grad=True),
        torch.linspace(0, 1, 2, requires_grad=True),
        torch.rand(2, requires_grad=True),
        torch.randn(2, requires_grad=True),
    ):
        assert made.requires_grad and made.is_leaf and made.grad is None


# ------------------------------------------------------------------ random


def test_random_numbers_have_their_ranges(torch):
    torch.manual_seed(3)
    uniform, normal = torch.rand(4000), torch.randn(4000, dtype=torch.float64)
    assert uniform.dtype is torch.float32 and normal.dtype is torch.float64
    assert uniform.min().item() >= 0 and uniform.max().item() < 1
    # 4 standard errors of 4,000 draws
    assert abs(uniform.mean().item() - 0.5) < 4 * (1 / 12 / 4000) ** 0.5
    assert abs(normal.mean().item()) < 4 * 4000**-0.5
    assert abs((normal * normal).mean().item() - 1) < 4 * (2 / 4000) ** 0.5
    dice = torch.randint(1, 7, (600,))
    assert dice.dtype is torch.int64 and set(dice.tolist()) == {1, 2, 3, 4, 5, 6}
    assert set(torch.randint(2, (50,)).tolist()) == {0, 1}
    assert sorted(torch.randperm(20).tolist()) == [*range(20)]


def test_a_seed_fixes_what_is_drawn(torch):
    drawn = []
    for seed in (7, 7, 8):
        torch.manual_seed(seed)
        drawn.append([torch.rand(3), torch.randn(2), torch.randint(9, (5,)), torch.randperm(6)])
    same, other = (
        [torch.equal(a, b) for a, b in zip(drawn[0], each, strict=True)] for each in drawn[1:]
    )
    assert all(same) and not all(other)


def test_is_tensor(torch):
    assert torch.is_tensor(torch.ones(1)) and not torch.is_tensor(np.ones(1))
