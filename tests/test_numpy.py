"""NumPy's functions and operators on tensors: what is recorded, what NumPy computes, what not.

PyTorch hands its numbers to NumPy and wraps or keeps what comes back; minigrad records where it has
an operation. The values are NumPy's own in every case, which is what is compared here.
"""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import gradcheck
from minigrad.autograd.rules import overridable

VALUES = np.array([0.5, -1.25, 2.0], dtype=np.float32)
MATRIX = np.array([[1.0, 2.0, -3.0], [0.5, 4.0, 1.5]], dtype=np.float32)
OTHER = np.array([2.0, 0.25, -1.0], dtype=np.float32)

# Calls with a vector, a matrix and another vector. Recorded: the result has a graph if the vector
# or the matrix requires a gradient.
RECORDED = {
    "add": lambda v, m, o: np.add(v, o),
    "operators from the right": lambda v, m, o: o + v - o * v,
    "the other first": lambda v, m, o: o / (np.exp(v) + 1),
    "power": lambda v, m, o: np.power(np.float32(2), v),
    "NumPy's number first": lambda v, m, o: np.float32(2) * v - np.float32(1) / (v * v),
    "maximum": lambda v, m, o: np.maximum(o, v) + np.minimum(v, 1),
    "matmul": lambda v, m, o: m @ v,
    "matmul from the right": lambda v, m, o: o @ v,
    "reduce": lambda v, m, o: np.add.reduce(m),
    "reduce along 1": lambda v, m, o: np.add.reduce(m, axis=1, keepdims=True),
    "reduce all": lambda v, m, o: np.maximum.reduce(m, axis=None),
    "sum": lambda v, m, o: np.sum(m, axis=0),
    "mean": lambda v, m, o: np.mean(m, 1, keepdims=True),
    "max": lambda v, m, o: np.max(m, axis=1),
    "min": lambda v, m, o: np.min(m),
    "where": lambda v, m, o: np.where(o > 0, v, o),
    "clip": lambda v, m, o: np.clip(v, -1, None),
    "clip by name": lambda v, m, o: np.clip(v, a_min=-1.0, a_max=1.0),
    "concatenate": lambda v, m, o: np.concatenate([v, o]),
    "concatenate all": lambda v, m, o: np.concatenate([m, m], axis=None),
    "stack": lambda v, m, o: np.stack([v, o], axis=1),
    "stack along the last": lambda v, m, o: np.stack([v, o], axis=-1),
    "concatenate along the last": lambda v, m, o: np.concatenate([m, m[:, :1]], axis=-1),
    "reduce along the last": lambda v, m, o: np.minimum.reduce(m, axis=-1) + np.mean(m, axis=-1),
    "flip": lambda v, m, o: np.flip(m) * o + np.flip(m, axis=-1),
    "swapaxes": lambda v, m, o: np.swapaxes(m, -1, 0),
    "broadcast_to": lambda v, m, o: np.broadcast_to(v, (2, 3)) * m,
    "copy": lambda v, m, o: np.copy(m),
    "one more dimension": lambda v, m, o: np.squeeze(np.expand_dims(m, -1) * 2, axis=-1),
    "reshape": lambda v, m, o: np.reshape(m, (3, -1)),
    "ravel": lambda v, m, o: np.ravel(m),
    "transpose": lambda v, m, o: np.transpose(m),
    "transpose by axes": lambda v, m, o: np.transpose(m, (1, 0)),
    "squeeze": lambda v, m, o: np.squeeze(np.expand_dims(m, (0, 2)), axis=(0, 2)),
    "arguments that change nothing": lambda v, m, o: np.exp(
        v, where=True, casting="same_kind", order="K", dtype=None, subok=True
    ),
}
# What NumPy computes itself; tensors that require a gradient are refused.
COMPUTED = {
    "cbrt": lambda v, m, o: np.cbrt(v),
    "outer": lambda v, m, o: np.add.outer(v, o),
    "in another dtype": lambda v, m, o: np.multiply(v, o, dtype=np.float64),
    "sum in double precision": lambda v, m, o: np.sum(m, dtype=np.float64),
    "tile": lambda v, m, o: np.tile(v, 2),
    "sort": lambda v, m, o: np.sort(v),
    "cumsum": lambda v, m, o: np.cumsum(v),
    "var": lambda v, m, o: np.var(v, ddof=1),
    "pad": lambda v, m, o: np.pad(v, 1, mode="linear_ramp"),
    "two results": lambda v, m, o: np.modf(v),
    "accumulate": lambda v, m, o: np.logaddexp.accumulate(v),
    "reduceat": lambda v, m, o: np.add.reduceat(v, [0, 2]),
    "where": lambda v, m, o: np.add(v, o, where=o > 0, out=np.zeros(3, np.float32)),
    "sum where": lambda v, m, o: np.sum(m, where=m > 0),
    "interp": lambda v, m, o: np.interp(v, [-2.0, 2.0], [0.0, 1.0]),
    "convolve": lambda v, m, o: np.convolve(v, o),
    "average": lambda v, m, o: np.average(m, axis=0),
    "within a list": lambda v, m, o: np.sum([v, v], axis=0),
    "out": lambda v, m, o: np.multiply(v, o, out=np.zeros(3)),
    "histogram": lambda v, m, o: np.histogram(v, bins=2)[0],
    "in-place on an array": lambda v, m, o: np.add.at(np.zeros(3), [0, 1, 1], v),
    "copyto": lambda v, m, o: np.copyto(np.zeros(3), v),
}


def _arrays(result):
    return [np.asarray(each) for each in (result if isinstance(result, tuple) else (result,))]


def _compare(call, *given):
    expected = _arrays(call(VALUES, MATRIX, OTHER))
    with torch.no_grad():
        found = _arrays(call(*given))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        if one.dtype.kind != "O":  # None
            np.testing.assert_allclose(one, other, rtol=1e-6)  # single precision


@pytest.mark.parametrize("name", RECORDED)
def test_what_stands_for_a_function_of_numpy_is_recorded(name):
    vector = torch.tensor(VALUES, requires_grad=True)
    matrix = torch.tensor(MATRIX, requires_grad=True)
    result = RECORDED[name](vector, matrix, OTHER)
    assert type(result) is torch.Tensor and result.grad_fn is not None
    _compare(RECORDED[name], vector, matrix, OTHER)
    exact = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (VALUES, MATRIX)]
    assert gradcheck(lambda v, m: RECORDED[name](v, m, OTHER.astype(np.float64)), exact)


@pytest.mark.parametrize("name", COMPUTED)
def test_other_functions_compute_with_the_memory(name):
    vector, matrix = torch.tensor(VALUES), torch.tensor(MATRIX)
    _compare(COMPUTED[name], vector, matrix, OTHER)
    message = r"^Can't call numpy\(\) on Tensor that requires grad\. Use tensor\.detach\(\)\.numpy"
    with pytest.raises(RuntimeError, match=message):
        COMPUTED[name](vector.requires_grad_(), matrix.requires_grad_(), OTHER)


def test_an_array_of_another_class_that_answers_nothing_is_computed_with():
    class Plain(np.ndarray):
        pass

    double = overridable(lambda array: array * 2)
    assert double(np.ones(1).view(Plain)).tolist() == [2]


def test_ufuncs_give_tensors_as_in_pytorch():
    vector = torch.tensor(VALUES)
    assert type(np.cbrt(vector)) is torch.Tensor
    assert [type(each) for each in np.modf(vector)] == [torch.Tensor] * 2
    assert type(np.convolve(vector, OTHER)) is np.ndarray


def test_numbers_of_numpy_count_as_numbers_of_python():
    whole, single = torch.tensor([1, 2]), torch.tensor([1.0, 2.0])
    for result in (np.float64(2) * single, np.float64(2) - single, np.float64(2) ** single):
        assert result.dtype is torch.float32
    for result in (np.float64(2) * whole, np.float64(2) - whole, np.float64(2) / whole):
        assert result.dtype is torch.float32
    assert (np.int64(2) - whole).tolist() == [1, 0] and (np.int64(2) < whole).tolist() == [
        False
    ] * 2


def test_arrays_are_changed_in_place():
    array, tensor = np.array([10.0, 20.0]), torch.tensor([1.0, 2.0])
    same = array
    array += tensor
    array *= tensor
    assert same is array and type(array) is np.ndarray and array.tolist() == [11.0, 44.0]
    with pytest.raises(RuntimeError, match=r"^Can't call numpy\(\) on Tensor that requires grad"):
        array -= tensor.requires_grad_()
    assert array.tolist() == [11.0, 44.0]
    whole = np.array([1, 2])
    with pytest.raises(TypeError, match=r"^Cannot cast ufunc 'add' output from dtype"):
        whole += tensor.detach()


def test_numpy_does_not_write_into_tensors():
    tensor = torch.zeros(3)
    for change in (
        lambda: np.add(tensor, 1, out=tensor),
        lambda: np.add.at(tensor, [0, 0], 1.0),
        lambda: np.copyto(tensor, VALUES),
        lambda: np.put(tensor, [2], 7.0),
        lambda: np.cumsum(VALUES, out=tensor),
    ):
        with pytest.raises(ValueError, match="read-only"):
            change()
    assert tensor.tolist() == [0.0] * 3 and tensor._version == 0


def test_memory_is_shared_both_ways():
    array = np.array([1.0, 2.0])
    for share in (torch.from_numpy, torch.as_tensor):
        tensor = share(array)
        array[0] += 1
        tensor[1] += 1
        assert tensor.tolist() == array.tolist()
    assert np.asarray(tensor) is tensor.numpy()


def test_arrays_that_must_not_be_written_to_warn():
    array = np.ones(2)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        tensor = torch.from_numpy(array)
    with pytest.raises(ValueError, match="read-only"):
        tensor.add_(1)


def test_an_array_that_counts_backward_is_refused():
    with pytest.raises(ValueError, match="counts backward"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(ValueError, match="byte order"):
        torch.from_numpy(np.arange(3).astype(np.dtype("int32").newbyteorder()))


def test_symbols_are_refused_by_what_has_no_formula():
    symbolic = pytest.importorskip("minigrad.symbolic")
    with pytest.raises(TypeError, match=r"^NumPy's cbrt .* is not known for arrays of symbols"):
        np.cbrt(symbolic.symbols("x", 2))


def test_what_numpy_computes_is_recorded():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = np.exp(x) * 2
    assert type(y) is torch.Tensor and type(y.grad_fn).__name__ == "MulBackward0"
    total = np.add.reduce(np.float32(3) * y, axis=None)
    total.backward(torch.tensor(0.5))
    # exp in single precision
    np.testing.assert_allclose(x.grad.numpy(), 3 * np.exp([[1, 2], [3, 4]]), rtol=1e-6)
