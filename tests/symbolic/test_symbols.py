"""Symbolic tensors are made, printed, evaluated, and meet numbers."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy

import minigrad as torch
from minigrad import nn
from minigrad.creation import dtypes
from minigrad.symbolic import (
    SymbolicArray,
    derivative,
    equal,
    evaluate,
    expression,
    latex,
    substitute,
    symbols,
    tensor_of,
)

ROOT = Path(__file__).resolve().parents[2]


def real(name):
    return sympy.Symbol(name, real=True)


def test_names_and_shapes():
    x = symbols("x")
    assert x.shape == () and x.dtype is dtypes.symbolic and not x.requires_grad
    assert expression(x) == real("x")
    assert list(expression(symbols("x", 2))) == [real("x_{0}"), real("x_{1}")]
    assert expression(symbols("w_0", (1, 2)))[1] == real("w_{0;0,1}")
    assert expression(symbols("w_{10}", 2))[1] == real("w_{10;1}")
    assert expression(symbols("w_0", (1, 1))) == real("w_0")
    a, b = symbols("a, b", 2, requires_grad=True, positive=True)
    assert a.requires_grad and expression(b)[0].is_positive
    assert symbols("x", 0).shape == (0,)
    with pytest.raises(ValueError, match="needs a name"):
        symbols(" ")
    with pytest.raises(ValueError, match="x y x more than once"):
        symbols("x y x")


def test_tensor_of():
    x = real("x")
    for data in (
        [[x, 0.1]], ((x, 0.1),), sympy.Matrix([[x, 0.1]]), sympy.Array([[x, 0.1]]),
        np.array([[x, 0.1]], dtype=object), [[symbols("x"), 0.1]],
    ):  # fmt: skip
        assert expression(tensor_of(data)) == sympy.Matrix([[x, sympy.Rational(1, 10)]])
    assert expression(tensor_of(torch.tensor([0.1, 0.7]))) == sympy.Matrix(
        [1, 7]
    ) / 10 + sympy.Matrix([0, 0])
    assert tensor_of(x, requires_grad=True).requires_grad
    with pytest.raises(TypeError, match="expected a number or a SymPy expression, but got str"):
        tensor_of(["x"])


def test_expression_of_any_shape():
    assert expression(symbols("x", (2, 3))).shape == (2, 3)
    assert expression(symbols("x", 2)).shape == (2, 1)
    assert expression(symbols("x", (2, 1, 2))).shape == (2, 1, 2)
    assert expression(symbols("x", (2, 1, 2)))[1, 0, 0] == real("x_{1,0,0}")


def test_substitute():
    w, x = symbols("w x")
    v = symbols("v", 2)
    formula = w * x + v.sum()
    given = {w: 0.3, "x": 0.1, v: [1, 0.5]}
    assert substitute(formula, given) == sympy.Rational("1.53")
    assert substitute(expression(formula), {real("w"): 2}) == expression(2 * x + v.sum())
    assert substitute(v, {v: torch.tensor([0.1, 3.0])}) == sympy.Matrix([sympy.Rational(1, 10), 3])
    assert substitute(w + x, {w: x, x: w}) == expression(w + x), "all at once"
    assert substitute(w - x, {w: x, x: w}) == expression(x - w), "all at once"
    assert substitute(w, {"another": 1}) == expression(w)
    with pytest.raises(ValueError, match="longer than argument"):
        substitute(v, {v: [1, 2, 3]})
    with pytest.raises(TypeError, match="more than that"):
        substitute(v, {v * 2: [1, 2]})


def test_evaluate():
    w, x = symbols("w", 2), symbols("x")
    formula = (w * x).exp()
    found = evaluate(formula, {"w": [0.5, -2], x: 0.25})
    assert type(found) is torch.Tensor and found.dtype is torch.float64 and found.shape == (2,)
    assert found.tolist() == [math.exp(0.125), math.exp(-0.5)]
    assert evaluate([[1, x]], {"x": 7, "y": 1}).tolist() == [[1, 7]]
    assert evaluate(sympy.pi, {}).item() == math.pi
    assert evaluate(2, {}).shape == ()


def test_evaluate_is_exact_where_a_run_on_numbers_is_not():
    x, y = symbols("x y")
    assert evaluate((x + y) - y - x, {x: 0.1, y: 1e17}).item() == 0
    tiny = evaluate((1 + x).log() - x, {x: sympy.Rational(1, 10**12)}).item()
    assert tiny == pytest.approx(-5e-25, rel=1e-9)  # numbers would give rounding errors only


def test_evaluate_names_what_has_no_value():
    w, x = symbols("w", 10), symbols("x")
    with pytest.raises(ValueError, match=r"no value was given for w_\{0\}, w_\{1\}: evaluate"):
        evaluate(w[:2] * x, {x: 1})
    with pytest.raises(ValueError, match=r"w_\{9\}: evaluate"):
        evaluate(w.sum(), {})
    with pytest.raises(ValueError, match="no value was given for x"):
        evaluate(x, {x: symbols("y")})
    with pytest.raises(TypeError, match="more than that"):
        evaluate(x, {x + 1: 1})


def test_substitute_takes_a_name_for_all_entries():
    w = symbols("w_0", (1, 2))
    assert substitute(w, {"w_0": [[1, 0.5]]}) == sympy.Matrix([[1, sympy.Rational(1, 2)]])


def test_derivative():
    x = symbols("x", 2)
    assert expression(derivative((x * x).sum(), x)) == expression(2 * x)
    assert expression(derivative(expression((x * x).sum()), expression(x[0]))) == expression(
        2 * x[0]
    )
    with pytest.raises(ValueError, match="array of size 1"):
        derivative(x, x)
    with pytest.raises(TypeError, match="with respect to symbols"):
        derivative(x.sum(), x * 2)


def test_latex_and_printing():
    w = symbols("w_0", 2, requires_grad=True)
    assert latex(w[0] / 2) == r"\frac{w_{0;0}}{2}"
    assert repr(w) == "tensor([w_{0;0}, w_{0;1}], requires_grad=True)"
    assert repr((w * w).sum()) == "tensor(w_{0;0}**2 + w_{0;1}**2, grad_fn=<SumBackward0>)"
    assert f"{symbols('x') / 2}" == "x/2"
    assert repr(SymbolicArray([1, 0.5])) == "SymbolicArray([1, 1/2])"


def test_numbers_meet_symbols_exactly():
    x = symbols("x", 2, requires_grad=True)
    weights = torch.tensor([0.1, 0.7])  # float32, read as the decimals that were meant
    for result in (
        weights * x,
        x * weights,
        x * np.array([0.1, 0.7]),
        torch.where(x > 0, x, weights),
    ):
        assert type(result._array) is SymbolicArray
        assert not any(entry.has(sympy.Float) for entry in result._array.flat)
    assert expression(weights * x) == sympy.Matrix([real("x_{0}") / 10, real("x_{1}") * 7 / 10])
    loss = (weights**x).sum() + (x @ weights) + nn.functional.linear(x, weights.reshape(1, 2)).sum()
    loss.backward()
    assert equal(x.grad, derivative(loss, x))


def test_a_gradient_of_symbols_does_not_fit_a_tensor_of_numbers():
    weight = torch.tensor([0.1], requires_grad=True)
    with pytest.raises(TypeError, match=r"x.* still has symbols in it.*tensor_of"):
        (weight * symbols("x")).backward()


# ---------------------------------------------------------------------- loading


def test_without_sympy_it_says_what_to_install():
    program = "import sys; sys.modules['sympy'] = None; import minigrad.symbolic"
    answer = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT
    )
    assert answer.returncode == 1
    last = answer.stderr.strip().splitlines()[-1]
    assert last.startswith("ModuleNotFoundError: minigrad.symbolic computes with SymPy")
    assert "pip install sympy" in last
