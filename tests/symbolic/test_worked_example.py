"""The worked example on symbols: each formula is SymPy's, and each number the engine's.

x1 = w0 x + b0, s = w1 x1 + b1, y = s^2, L = (y - 1)^2, at x = 0.3, w0 = 0.3, b0 = 0.1, w1 = 0.4,
b1 = 0.2.
"""

import math
import warnings
from fractions import Fraction

import pytest
import sympy

from minigrad import autograd, float64, nn, no_grad
from minigrad.creation.construction import tensor
from minigrad.symbolic import (
    Refuted,
    derivative,
    equal,
    expression,
    substitute,
    symbolic_like,
    symbols,
)

VALUES = {"x": 0.3, "w_0": 0.3, "b_0": 0.1, "w_1": 0.4, "b_1": 0.2}
X, W0, B0, W1, B1 = (sympy.Symbol(name, real=True) for name in VALUES)
X1 = W0 * X + B0
S = W1 * X1 + B1
Y = S**2
LOSS = (Y - 1) ** 2
PARAMETERS = {"f0.weight": W0, "f0.bias": B0, "f1.f.weight": W1, "f1.f.bias": B1}


def partial(*path):
    """Differentiate the loss by the chain rule's named places: one factor for each step."""
    upstream = 2 * (Y - 1)
    return upstream * math.prod(path, start=sympy.Integer(1))


DL_DY = partial()
DL_DS = partial(2 * S)
DL_DX1 = partial(2 * S, W1)


class SLinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(1, 1, dtype=float64)

    def forward(self, x):
        return self.f(x) ** 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f0 = nn.Linear(1, 1, dtype=float64)
        self.f1 = SLinear()
        with no_grad():
            self.f0.weight[0, 0], self.f0.bias[0] = VALUES["w_0"], VALUES["b_0"]
            self.f1.f.weight[0, 0], self.f1.f.bias[0] = VALUES["w_1"], VALUES["b_1"]

    def forward(self, x):
        return self.f1(self.f0(x))


def run(kind, *, on_symbols, factor=None):
    """Run the example under one kind of hook; give everything that was seen, by name."""
    seen = {}

    def hook(module, grad_input, grad_output):
        (seen["grad_input"],) = grad_input[-1:]  # the legacy hook's power node has one input
        (seen["grad_output"],) = grad_output
        return None if factor is None else (grad_input[0] * factor,)

    model = Net()
    if kind is not None:
        getattr(model.f1, kind)(hook)
    x = tensor([VALUES["x"]], dtype=float64, requires_grad=True)
    if on_symbols:
        model, x = symbolic_like(model), symbols("x", 1, requires_grad=True)
    x1 = model.f0(x)
    x1.register_hook(lambda grad: seen.__setitem__("hook on x1", grad))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the legacy hook; tested elsewhere
        y = model.f1(x1)
    y.register_hook(lambda grad: seen.__setitem__("hook on y", grad))
    loss = (y - 1) ** 2
    loss.backward()
    seen |= {"loss": loss.detach(), "x": x.grad}
    return seen | {name: parameter.grad for name, parameter in model.named_parameters()}


def exactly(formula):
    """Compute a polynomial with Python's fractions alone."""
    values = [Fraction(str(value)) for value in VALUES.values()]
    return sympy.lambdify([X, W0, B0, W1, B1], formula, modules=[])(*values)


EXPECTED = {
    "loss": LOSS,
    "x": sympy.diff(LOSS, X),
    "hook on x1": DL_DX1,
    "hook on y": DL_DY,
    **{name: sympy.diff(LOSS, symbol) for name, symbol in PARAMETERS.items()},
}
SEEN = {
    None: {},
    "register_full_backward_hook": {"grad_input": DL_DX1, "grad_output": DL_DY},
    "register_backward_hook": {"grad_input": DL_DS, "grad_output": DL_DY},
}


def test_the_chain_rule_by_hand_is_sympys_derivative():
    assert equal(DL_DX1 * W0, sympy.diff(LOSS, X))
    assert equal(DL_DS, sympy.diff(LOSS, B1))
    assert equal(DL_DY * 2 * S * X1, sympy.diff(LOSS, W1))


@pytest.mark.parametrize("kind", SEEN)
def test_all_that_is_seen_is_the_derivatives_formula(kind):
    seen = run(kind, on_symbols=True)
    expected = EXPECTED | SEEN[kind]
    assert seen.keys() == expected.keys()
    for name, formula in expected.items():
        assert equal(seen[name], formula), name


@pytest.mark.parametrize("kind", SEEN)
def test_with_numbers_put_in_it_is_the_engines_number(kind):
    formulas = run(kind, on_symbols=True)
    numbers = run(kind, on_symbols=False)
    assert formulas.keys() == numbers.keys()
    for name, formula in formulas.items():
        rational = substitute(formula, VALUES)
        assert rational.is_Rational
        fraction = Fraction(int(rational.p), int(rational.q))
        assert fraction == exactly((EXPECTED | SEEN[kind])[name])
        # Five inputs and at most twelve operations are each rounded by half a unit in the last
        # place. None cancels much (y - 1 = -0.92), so no error grows more than twofold: 16 units.
        engines = numbers[name].item()
        assert abs(Fraction(engines) - fraction) <= 16 * Fraction(math.ulp(engines)), name


def test_the_seeds_numbers():
    seen = run("register_full_backward_hook", on_symbols=True)
    five = {name: round(float(substitute(each, VALUES)), 5) for name, each in seen.items()}
    assert five["loss"] == 0.85345
    assert five["grad_input"] == -0.40796
    assert five["grad_output"] == -1.84765
    assert five["x"] == five["f0.weight"] == -0.12239
    legacy = run("register_backward_hook", on_symbols=True)["grad_input"]
    assert substitute(legacy, VALUES) == sympy.Rational("-1.019901696")


# What a hook that doubles grad_input changes: everything from its node toward the inputs.
DOUBLED = {
    "register_full_backward_hook": {"x", "f0.weight", "f0.bias", "hook on x1"},
    "register_backward_hook": {
        "x", "f0.weight", "f0.bias", "hook on x1", "f1.f.weight", "f1.f.bias",
    },
}  # fmt: skip


@pytest.mark.parametrize("kind", DOUBLED)
def test_a_hook_that_doubles_is_a_factor_in_the_formula(kind):
    seen = run(kind, on_symbols=True, factor=2)
    expected = EXPECTED | SEEN[kind]
    for name, formula in seen.items():
        factor = 2 if name in DOUBLED[kind] else 1
        assert sympy.cancel(expression(formula) / expected[name]) == factor, name


def test_a_hook_may_bring_a_symbol_of_its_own():
    c = symbols("c")
    seen = run("register_full_backward_hook", on_symbols=True, factor=c)
    assert equal(seen["x"], sympy.Symbol("c", real=True) * EXPECTED["x"])
    assert equal(seen["f1.f.weight"], EXPECTED["f1.f.weight"])


def test_a_wrong_formula_is_refuted_with_numbers():
    seen = run(None, on_symbols=True)
    with pytest.raises(Refuted) as refuted:
        equal(seen["x"], EXPECTED["x"] + X - X1)
    assert refuted.value.counterexample.keys() == {X, W0, B0, W1, B1}


def test_second_derivatives_are_sympys():
    model, x = symbolic_like(Net()), symbols("x", 1, requires_grad=True)
    loss = (model(x) - 1) ** 2
    leaves = {X: x} | dict(zip(PARAMETERS.values(), model.parameters(), strict=True))
    first = autograd.grad(loss, list(leaves.values()), create_graph=True)
    for symbol, gradient in zip(leaves, first, strict=True):
        second = autograd.grad(gradient, list(leaves.values()), retain_graph=True)
        for other, found in zip(leaves, second, strict=True):
            assert equal(found, sympy.diff(LOSS, symbol, other)), (symbol, other)


def test_derivative_asks_sympy():
    x = symbols("x", 1, requires_grad=True)
    loss = (x * x * 3).sum()
    loss.backward()
    assert equal(x.grad, derivative(loss, x))
