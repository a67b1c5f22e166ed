"""Arrays of symbols answer to NumPy: with numbers put in, what NumPy computes with numbers."""

import numpy as np
import pytest
import sympy

from minigrad.ops.scatter import index_add_dim
from minigrad.symbolic import SymbolicArray
from minigrad.symbolic.mathematics import ENTRYWISE

X = sympy.symbols("x0:6", real=True)
# Inside the domain of every function below (arcsin up to 1, log from 0, arccosh from 1 apart).
VALUES = dict(
    zip(X, map(sympy.Rational, ("0.5", "0.25", "0.75", "0.6", "0.2", "0.9")), strict=True)
)


def array(*shape):
    count = int(np.prod(shape))
    return SymbolicArray(np.array(X[:count], dtype=object).reshape(shape))


def numbers(symbolic):
    """Put numbers in."""
    assert type(symbolic) is SymbolicArray
    values = [float(entry.subs(VALUES)) for entry in symbolic.flat]
    return np.array(values).reshape(symbolic.shape)


def same(symbolic, numeric):
    numeric = np.asarray(numeric, dtype=np.float64)
    assert symbolic.shape == numeric.shape
    # SymPy's number is exact up to the last rounding; NumPy's functions err by a few units
    np.testing.assert_array_max_ulp(numbers(symbolic), numeric, maxulp=4)
    return True


INTEGERS_ONLY = {np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert}


@pytest.mark.parametrize("ufunc", ENTRYWISE, ids=lambda ufunc: ufunc.__name__)
def test_ufuncs_mean_what_they_mean_for_numbers(ufunc):
    a, b = array(2, 3), array(3)
    if ufunc is np.arccosh:
        a = a + 1
    x, y = numbers(a), numbers(b)
    if ufunc in INTEGERS_ONLY:
        a, b, x, y = a > 0.5, b < 0.5, x > 0.5, y < 0.5
    operands, known = ((a,), (x,)) if ufunc.nin == 1 else ((a, b), (x, y))
    assert same(ufunc(*operands), ufunc(*known))


AXES = [0, 1, -1, None, (0, 1)]
REDUCTIONS = [
    (ufunc, axis) for ufunc in (np.add, np.multiply, np.maximum, np.minimum) for axis in AXES
]
REDUCTIONS += [(np.subtract, axis) for axis in (0, 1, -1)]  # NumPy subtracts along one axis only


@pytest.mark.parametrize(("ufunc", "axis"), REDUCTIONS)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(ufunc, axis, keepdims):
    a = array(2, 3)
    assert same(
        ufunc.reduce(a, axis=axis, keepdims=keepdims),
        ufunc.reduce(numbers(a), axis=axis, keepdims=keepdims),
    )


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ((2, 3), (3, 2)),
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((2,), (2, 3)),
        ((1, 2, 3), (3, 1)),
        ((2, 1, 1), (1, 1, 3)),
    ],
)
def test_products_of_matrices(p, q):
    a, b = array(*p), array(*q)
    assert same(a @ b, numbers(a) @ numbers(b))
    assert same(a @ numbers(b), numbers(a) @ numbers(b))


def test_outer_at_and_out():
    a, b = array(2), array(3)
    assert same(np.multiply.outer(a, b), np.multiply.outer(numbers(a), numbers(b)))
    total = np.zeros_like(b)
    known = np.zeros(3)
    for target, values in ((total, a), (known, numbers(a))):
        np.add.at(target, ([1, 1],), values)
    assert same(total, known)
    same_memory = total
    total += b
    assert same_memory is total
    assert same(total, known + numbers(b))
    with pytest.raises(TypeError, match="can't be written into an array of float64"):
        known += a[:1]


FUNCTIONS = {
    "where": lambda a: np.where(a > 0.4, a, 0),
    "where, broadcast": lambda a: np.where(a[0] > 0.4, a, -a),
    "where, twice": lambda a: np.where((a > 0.4) * (a < 0.7), a * a, 1),
    "zeros_like": lambda a: np.zeros_like(a, shape=(4,)),
    "ones_like": np.ones_like,
    "full_like": lambda a: np.full_like(a, 0.5),
    "stack": lambda a: np.stack([a, a * 0], 1),
    "concatenate": lambda a: np.concatenate([a, np.ones((1, 3))]),
    "broadcast_to": lambda a: np.broadcast_to(a, (2, 2, 3)),
    "expand_dims": lambda a: np.expand_dims(a, (0, 2)),
    "squeeze": lambda a: np.squeeze(a[:1], 0),
    "transpose": np.transpose,
    "flip": lambda a: np.flip(a, 1),
    "tile": lambda a: np.tile(a, (2, 1)),
    "copy": lambda a: np.copy(a, subok=True),
    "take_along_axis": lambda a: np.take_along_axis(a, np.array([[2], [0]]), -1),
    "sum": lambda a: np.sum(a, axis=1),
    "mean": lambda a: np.mean(a, axis=0, keepdims=True),
    "max": np.max,
    "clip": lambda a: np.clip(a, 0.3, 0.7),
    "einsum": lambda a: np.einsum("ij,kj->ik", a, a),
    "all": lambda a: np.all(a > 0.3, axis=1),
    "any": lambda a: np.any(a > 0.8),
    "method sum": lambda a: a.sum(0),
    "method max": lambda a: a.max(),
    "method squeeze": lambda a: a[:, :1].squeeze(1),
    "a single entry": lambda a: a[0, 0],
    "no dimensions": lambda a: np.exp(a[0, 0]) * 2 - 1,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_mean_what_they_mean_for_numbers(name):
    a = array(2, 3)
    assert same(FUNCTIONS[name](a), FUNCTIONS[name](numbers(a)))


def test_what_is_known_of_symbols_decides():
    p, q = sympy.symbols("p q", positive=True)
    assert bool(SymbolicArray(p + q)) is True
    with pytest.raises(TypeError, match="depends on the values"):
        bool(SymbolicArray(p - q))


def test_views_share_memory():
    a = array(2, 3)
    for view in (np.expand_dims(a, 0), a.T, np.broadcast_to(a, (2, 2, 3)), a[0], a[1, ...]):
        assert np.shares_memory(a, view)
    a.T[0] = 0.1
    assert a[0, 0].item() == sympy.Rational(1, 10)


def test_comparisons_are_decided_where_assumptions_do():
    positive = SymbolicArray([sympy.Symbol("p", positive=True)])
    assert (positive > 0).tolist() == [1]
    assert (np.maximum(positive, 0) == positive).tolist() == [1]
    assert (array(1) > 0).item() == sympy.Piecewise((1, X[0] > 0), (0, True))
    assert (np.maximum(array(1), 0) > 0).item() == sympy.Piecewise((1, X[0] > 0), (0, True))


def test_what_depends_on_the_values_is_refused():
    with pytest.raises(TypeError, match="depends on the values of its symbols"):
        bool(array(1) > 0)
    with pytest.raises(TypeError, match="argmax has to know which is larger"):
        np.argmax(array(3))
    with pytest.raises(TypeError, match="nextafter"):
        np.nextafter(array(1), 1)
    with pytest.raises(TypeError, match="still has symbols in it"):
        array(1).astype(np.float32)
    assert bool(SymbolicArray([2]) > 1) is True


def test_array_equal_is_decided_exactly():
    a = array(2)
    assert np.array_equal((a + 1) ** 2, a**2 + 2 * a + 1)
    assert not np.array_equal(a, a + 1)
    assert not np.array_equal(a, array(3))


def test_what_is_added_at_listed_places_stays_symbolic():
    found = index_add_dim.forward(array(3), array(2), 0, np.array([2, 2]), 1)
    assert type(found) is SymbolicArray
    assert found.tolist() == [X[0], X[1], X[2] + X[0] + X[1]]
