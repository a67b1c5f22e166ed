"""Quicker ways of computing on many numbers agree with the plain ones."""

import numpy as np
import pytest

import minigrad
from minigrad.nn.functional import pooling
from minigrad.ops import (
    activations,
    choices,
    convolution,
    elementwise,
    linear_algebra,
    normalization,
    parts,
    softmax,
    sorting,
)
from minigrad.ops.shape import _needs_no_copy

FLOATS = (np.float16, np.float32, np.float64)
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3.0, -3.0, 1e-7, -1e-7]


def numbers(dtype, *shape, seed=0):
    """Many random numbers, among them zeros of both signs, infinities and NaN."""
    array = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    array.reshape(-1)[: len(SPECIAL)] = SPECIAL
    return array


def same(found, expected):
    """Equal numbers of one type, also the signs of zeros; not those of NaN, which mean nothing."""
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    signs, wanted = (np.signbit(each[each == each]) for each in (found, expected))
    np.testing.assert_array_equal(signs, wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_signs_without_numpys_sign(dtype):
    array = numbers(dtype, 40)
    expected = np.where(np.isnan(array), 0, np.sign(array)).astype(dtype)
    np.testing.assert_array_equal(choices.sgn.forward(array), expected)


@pytest.mark.parametrize("exponent", [3, 3.0, 4, 5, 6.0, -2, -3, 7])
def test_whole_powers_of_many_numbers(exponent):
    array = numbers(np.float64, 500)
    with np.errstate(all="ignore"):
        expected = array**exponent
    found = elementwise.pow_number.forward(array, exponent)
    np.testing.assert_allclose(found, expected, rtol=1e-15)  # one rounding more
    if exponent == 3:  # and not by NumPy's slow way
        np.testing.assert_array_equal(found, array * array * array)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_powers_that_are_not_whole_of_many_numbers_below_zero_are_nan():
    assert np.isnan(elementwise.pow_number.forward(-np.ones(500), 2.5)).all()


@pytest.mark.parametrize("slope", [0.01, 0.5, 1, 0, 2, -0.5])
def test_leaky_relu_of_many_numbers(slope):
    array, gradient = numbers(np.float32, 500), numbers(np.float32, 500, seed=1)[::-1]
    with np.errstate(invalid="ignore"):
        expected = np.where(array > 0, array, array * slope)
        rule = np.where(array > 0, gradient, gradient * slope)
        np.testing.assert_array_equal(activations.leaky_relu.forward(array, slope), expected)
        found = activations.leaky_relu_backward.forward(gradient, array, slope)
    np.testing.assert_array_equal(found, rule)


@pytest.mark.parametrize("shape", [(5000,), (100, 50), (60, 3)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_relu_of_many_numbers_is_that_of_few(shape, dtype):
    array = numbers(dtype, *shape)
    few = [activations.relu.forward(array.reshape(-1)[i : i + 8]) for i in range(0, array.size, 8)]
    same(activations.relu.forward(array).reshape(-1), np.concatenate(few))


@pytest.mark.parametrize("count", [10, 40, 400])
@pytest.mark.parametrize("shape", [(), (3,), (2, 5)])
def test_rows_are_added_as_numpy_adds_them(count, shape):
    generator = np.random.default_rng(count)
    positions = generator.integers(-20, 20, count)
    values = generator.standard_normal((count, *shape)).astype(np.float32)
    found, expected = np.ones((2, 20, *shape), np.float32)
    parts.add_rows(found, positions, values)
    np.add.at(expected, positions, values)
    np.testing.assert_array_equal(found, expected)  # in the same order, so with the same rounding


@pytest.mark.parametrize("shape", [(), (0,), (1, 1), (3, 4)])
def test_one_gradient_for_all_is_like_any(shape):
    output = np.full(shape, 0.5)
    for value in (1.0, 2.0, np.nan):
        alike, full = np.broadcast_to(value, shape), np.full(shape, value)
        same(activations.tanh_backward.forward(alike, output), full * 0.75)
        same(activations.tanh_backward.forward(full, output), full * 0.75)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(5000,), (70, 90), (3, 5, 401), (1, 4999), (4999, 1), (4500, 2)])
def test_running_sums_of_many_are_those_of_few(shape, dtype):
    array = numbers(dtype, *shape)
    for each in (array, array[..., ::-1], np.swapaxes(array, 0, -1)):
        rows = [sorting.cumsum.forward(row, 0) for row in each.reshape(-1, each.shape[-1])]
        found = sorting.cumsum.forward(each, each.ndim - 1)
        same(found, np.stack(rows).reshape(each.shape))
        behind = sorting.cumsum.rules["self"](each[..., ::-1], each.ndim - 1)
        same(behind, found[..., ::-1])
        assert behind.flags.c_contiguous


@pytest.mark.parametrize("low", [0, -7])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_parts_at_several_indices_are_numpys(count, low):
    generator = np.random.default_rng(count)
    for whole in (generator.standard_normal((7, 8, 9)), generator.standard_normal((9, 8, 7)).T):
        for size in ((300,), (20, 20), (0,), (2,)):
            keys = generator.integers(low, 7, (count, *size))
            leaf = minigrad.tensor(whole.copy(order="K"), requires_grad=True)
            part = leaf[tuple(map(minigrad.tensor, keys))]
            np.testing.assert_array_equal(part.detach(), whole[tuple(keys)])
            grad, expected = generator.standard_normal(part.shape), np.zeros(whole.shape)
            np.add.at(expected, tuple(keys), grad)
            for recorded in (False, True):
                options = {"retain_graph": True, "create_graph": recorded}
                (found,) = minigrad.autograd.grad(part, leaf, minigrad.tensor(grad), **options)
                np.testing.assert_array_equal(found.detach(), expected)
    keys = [minigrad.full((300,), 7)] * count
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        minigrad.zeros(7, 7, 7)[tuple(keys)]


def test_a_column_times_a_row():
    generator = np.random.default_rng(0)
    column, row = generator.standard_normal((3, 4, 1)), generator.standard_normal((3, 1, 5))
    np.testing.assert_array_equal(linear_algebra.bmm.forward(column, row), column @ row)


# PyTorch's kernels, and a shape for few numbers and for many: of these the sums are made otherwise
NORMS = {
    "native_layer_norm": [((6, 5), (1,), (0,)), ((90, 5, 10), (1, 2), (0,))],
    "native_batch_norm": [
        ((6, 5), (0,), (0,)),
        ((90, 50), (0,), (0,)),
        ((7, 90, 9), (0, 2), (0, 2)),
        ((9, 600), (0,), (0,)),
    ],
    "native_group_norm": [((2, 3, 2, 3), (2, 3), (0, 3)), ((9, 3, 19, 9), (2, 3), (0, 3))],
}


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("name", NORMS)
def test_the_rule_of_a_normalization_in_place_is_the_recorded_one(name, weighted):
    generator = np.random.default_rng(0)
    for shape, axes, alike in NORMS[name]:
        layout = normalization.Layout(shape, axes, alike)
        sizes = [n for axis, n in enumerate(shape) if axis not in alike] if weighted else [0]
        arrays = [generator.standard_normal(each) for each in (shape, sizes, sizes, shape)]
        results = []
        for dtype in (np.float64, np.float32):
            *leaves, cotangent = (minigrad.tensor(each.astype(dtype)) for each in arrays)
            settings = (layout, 1e-5, normalization.Statistics())
            wanted = [leaf.requires_grad_() for leaf in leaves if leaf.numel()]
            result = getattr(normalization, name)(*leaves, *settings)
            for recorded in (False, True):
                options = {"retain_graph": True, "create_graph": recorded}
                found = minigrad.autograd.grad(result, wanted, cotangent, **options)
                results.append([result, *found])
                assert {each.dtype for each in found} == {cotangent.dtype}
            results.append([result])
            for place, leaf in enumerate(wanted, 1):  # by itself, of a gradient changed since
                grad = minigrad.autograd.grad(result, leaf, cotangent.mul_(2), retain_graph=True)
                results[-1].append(grad[0] / 2**place)
        errors = (1e-11, 1e-11, 2e-4, 2e-4, 2e-4)
        for other, digits in zip(results[1:], errors, strict=True):
            for a, b in zip(results[0], other, strict=True):  # sums in another order
                np.testing.assert_allclose(a.detach(), b.detach(), rtol=digits, atol=digits)


@pytest.mark.parametrize("size", [1, 100, np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_of_many_numbers(dtype, size):
    array, gradient = numbers(dtype, 40, 3, 30), numbers(dtype, 40, 3, 30, seed=1)[::-1]
    if size < np.inf:
        array, gradient = np.nan_to_num(array, posinf=2, neginf=1) * dtype(size), gradient[20:29]
    tight = {"rtol": 20 * np.finfo(dtype).eps, "atol": np.finfo(dtype).eps}
    for each in (array, array.T):
        for dim in range(3):
            rows = np.moveaxis(each, dim, 2)
            for operation in (softmax.softmax, softmax.log_softmax):
                found = operation.forward(each, dim)
                assert found.flags.c_contiguous and found.dtype == dtype
                few = [[operation.forward(row, 0) for row in part] for part in rows]
                np.testing.assert_allclose(np.moveaxis(found, dim, 2), few, **tight)
    output = softmax.softmax.forward(array[: len(gradient)], 2)
    with np.errstate(all="ignore"):
        expected = output * (gradient - (gradient * output).sum(2, keepdims=True))
        found = softmax.softmax_backward(gradient, output, 2)
    np.testing.assert_allclose(found, expected, atol=50 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("bias", [(5,), (1,), (1, 5), (7, 1), (7, 5), ()])
@pytest.mark.parametrize("inner", [4, 4000])
def test_gradients_of_a_product_with_a_bias(bias, dtype, inner):
    generator = np.random.default_rng(0)
    shapes = [bias, (7, inner), (inner, 5), (7, 5)]
    b, x, y, gradient = (generator.standard_normal(s).astype(dtype) for s in shapes)
    y = np.asfortranarray(y)
    for infinite in (False, True):
        gradient[3, 2] = np.inf if infinite else 1
        leaves = [minigrad.from_numpy(array).requires_grad_() for array in (b, x, y)]
        result = minigrad.addmm(*leaves)
        product = x @ y if dtype != np.float16 else x.astype("f") @ y.astype("f")
        np.testing.assert_allclose(
            result.detach(), b + product, rtol=1e-2 if dtype == np.float16 else 1e-5
        )
        cotangent = minigrad.from_numpy(gradient)
        plain = minigrad.autograd.grad(result, leaves, cotangent, retain_graph=True)
        recorded = minigrad.autograd.grad(result, leaves, cotangent, create_graph=True)
        for found, expected in zip(plain, recorded, strict=True):
            assert found.stride() == expected.stride() and found.dtype == expected.dtype
            np.testing.assert_allclose(
                found, expected.detach(), rtol=0.01 if dtype == np.float16 else 1e-5
            )


def test_what_can_be_seen_in_another_shape():
    generator = np.random.default_rng(0)
    for _ in range(2000):
        sizes = generator.choice([1, 2, 3, 4, 6], generator.integers(1, 5))
        array = np.zeros(sizes).transpose(generator.permutation(len(sizes)))
        array = array[
            tuple(slice(None, None, step) for step in generator.choice([1, 2, -1], 2))[: array.ndim]
        ]
        if generator.random() < 0.3:
            array = np.broadcast_to(array, (2, 3, *array.shape))
        new = generator.permutation([*_factors(array.size), 1])
        shared = np.may_share_memory(array.reshape(new), array)
        assert _needs_no_copy(array, tuple(new)) == shared


def test_a_border_that_is_none_costs_no_copy():
    image = np.ones((1, 1, 3, 4))
    assert convolution.padded(image, (0, 0), (0, 0)) is image
    assert convolution.padded(image[..., ::2], (0, 0), (0, 0)).flags.c_contiguous


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_a_border_ends_where_the_last_window_does(ceil_mode):
    image = np.ones((2, 7, 9))
    for kernel, stride, padding, dilation in (
        (3, 2, 1, 1),
        (2, 3, 1, 2),
        (3, 1, 0, 2),
        (4, 3, 2, 1),
    ):
        settings = ((kernel,) * 2, (stride,) * 2, (padding,) * 2, (dilation,) * 2, ceil_mode)
        whole, outputs, inner = pooling.bordered(image, settings, 0)
        assert (whole[inner] == image).all() and whole.sum() == image.size
        for size, count, given in zip(whole.shape[1:], outputs, image.shape[1:], strict=True):
            last = (count - 1) * stride + dilation * (kernel - 1) + 1
            assert size == (max(last, given + padding) if padding or ceil_mode else given)


def _factors(number):
    factor = next((f for f in (2, 3, 4) if number % f == 0), number)
    return [factor, *_factors(number // factor)] if factor > 1 else []
