"""No symbol that a derivation makes for itself is met by one of the user's, whatever its name."""

import pytest
import sympy

import minigrad as torch
from minigrad.symbolic import derive, equal, evaluate, explain, symbols
from minigrad.symbolic.derivations.hooks import in_cases


def clip(grad):
    return grad.clamp(-1, 1)


@pytest.mark.parametrize("shape", [(), 2])
@pytest.mark.parametrize("name", ["g", "g_1", "x", "h", "p_0", "n_1", "p_1", "d", "v_1", "c_1"])
def test_an_input_may_have_any_name(name, shape):
    def run(name):
        x = symbols(name, shape, requires_grad=True)
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
    x, constant = symbols("x", 2, requires_grad=True), symbols(name)
    y = x * constant
    y.register_hook(lambda grad: grad.clamp(max=1) + constant)
    derivation = derive((y * y * constant).sum())
    assert not derivation.check().open
    values = {constant: 0.25, x: [0.5, 3.0]}
    found = evaluate(derivation.gradients["x"], values)
    expected = [[(min(2 * 0.25**2 * each, 1) + 0.25) * 0.25] for each in values[x]]
    assert found.tolist() == expected
    found = [total for total in derivation._account.composed().values() if total is not None]
    for symbol in set().union(*(entry.free_symbols for total in found for entry in total.flat)):
        meant = symbol == sympy.Symbol(name, real=True)
        assert (symbol.name == name) == meant


def test_the_loss_gets_another_name_where_its_own_is_taken():
    L, x = symbols("L x", requires_grad=True)
    text = str(derive(L * x))
    assert "dJ/dL = x" in text and "dJ/dx = L" in text


def test_a_name_that_is_a_symbols_is_refused():
    x, y = symbols("x", requires_grad=True), symbols("y")
    square = x * x
    with pytest.raises(ValueError, match=r"a tensor and a symbol .* called y. Choose other names"):
        derive(square * y, names={"y": square})
    pair = symbols("z", 2, requires_grad=True)
    with pytest.raises(ValueError, match=r"two tensors .* called z_\{0\}"):
        derive((pair * square).sum(), names={"z_{0}": square})


def test_names_are_told_apart_on_numbers():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    weights = torch.tensor([3.0, 4.0])
    text = str(explain((x * weights).sum(), names={"c_1": x}))
    assert "c_2 = [3, 4]" in text and "dL/dc_{1;0} = c_{2;0}*dL/dv_{1;0} = 3" in text
    with pytest.raises(ValueError, match=r"two tensors .* called x_\{0\}"):
        total = (x * weights).sum()
        explain(total * total, names={"x": x, "x_{0}": total})
    with pytest.raises(ValueError, match=r"two tensors .* called x"):
        explain((x * weights).sum(), names=[{"x": x}, {"x": weights}])


def test_a_bound_may_have_any_name():
    p, g = sympy.Symbol("p_0", positive=True), sympy.Symbol("g", real=True)
    assert in_cases(sympy.Min(p, g), g) == sympy.Piecewise((p, g > p), (g, True))
