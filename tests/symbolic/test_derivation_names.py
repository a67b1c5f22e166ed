"""No symbol that a derivation makes for itself is met by one of the user's, whatever its name."""

import pytest
import sympy

import minigrad as torch
from minigrad.symbolic import derive, equal, evaluate, explain, symbols
from minigrad.symbolic.chain_rule import in_cases


def clip(grad):
    return grad.clamp(-1, 1)


@pytest.mark.parametrize("name", ["g", "g_1", "x", "h", "p_0", "n_1", "p_1", "d", "v_1", "c_1"])
def test_an_input_may_have_any_name(name):
    def run(name):
        x = symbols(name, requires_grad=True)
        y = x * 3
        y.register_hook(clip)
        return derive((y * y).sum(), names={"y": y}), x

    derivation, x = run(name)
    other, z = run("z_0")
    assert not derivation.check().open
    renamed = dict(zip(z._array.flat, x._array.flat, strict=True))
    for own, others in zip(
        torch.symbolic.tensor_of(derivation.gradients[name])._array.flat,
        torch.symbolic.tensor_of(other.gradients["z_0"])._array.flat,
        strict=True,
    ):
        assert equal(own, others.xreplace(renamed))
    letter = "h" if name.startswith("g") else "g"
    assert f"clip({letter}) = -1 if {letter} < -1, 1 if {letter} > 1, {letter} otherwise" in str(
        derivation
    )


@pytest.mark.parametrize("name", ["v_1", "v", "dL/dx", "dL/dv_1", "L", "g", "d", "p_0", "a_1"])
def test_a_constant_may_have_any_name(name):
    x, constant = symbols("x", requires_grad=True), symbols(name)
    y = x * constant
    y.register_hook(lambda grad: grad.clamp(max=1) + constant)
    derivation = derive(y * y * constant)
    assert not derivation.check().open
    for value in (0.5, 3.0):
        found = evaluate(derivation.gradients["x"], {constant: 0.25, x: value})
        assert found.item() == (min(2 * 0.25**2 * value, 1) + 0.25) * 0.25


def test_the_loss_gets_another_name_where_its_own_is_taken():
    L, x = symbols("L x", requires_grad=True)
    text = str(derive(L * x))
    assert "dJ/dL = x" in text and "dJ/dx = L" in text


def test_a_name_that_is_a_symbols_is_refused():
    x, y = symbols("x", requires_grad=True), symbols("y")
    square = x * x
    with pytest.raises(ValueError, match=r"a tensor and a symbol .* called y. Choose other names"):
        derive(square * y, names={"y": square})


def test_names_are_told_apart_on_numbers():
    x, weight = torch.tensor(1.0, requires_grad=True), torch.tensor(3.0)
    assert "c = 3" in str(explain(x * weight, names={"c": weight, "x": x}))
    with pytest.raises(ValueError, match=r"two tensors .* called x"):
        explain(x * weight, names=[{"x": x}, {"x": weight}])


def test_a_bound_may_have_any_name():
    p, g = sympy.Symbol("p_0", positive=True), sympy.Symbol("g", real=True)
    assert in_cases(sympy.Min(p, g), g) == sympy.Piecewise((p, g > p), (g, True))
