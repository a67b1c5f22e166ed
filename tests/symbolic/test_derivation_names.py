"""No symbol that a derivation makes for itself is met by one of the user's, whatever its name."""

import pytest

import minigrad as torch
from minigrad.symbolic import derive, equal, symbols


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
    assert f"clip({letter}) = Min(1, Max(-1, {letter}))" in str(derivation)


def test_the_loss_gets_another_name_where_its_own_is_taken():
    L, x = symbols("L x", requires_grad=True)
    text = str(derive(L * x))
    assert "dJ/dL = x" in text and "dJ/dx = L" in text


def test_a_name_that_is_a_symbols_is_refused():
    x, y = symbols("x", requires_grad=True), symbols("y")
    square = x * x
    with pytest.raises(ValueError, match=r"a tensor and a symbol .* called y. Choose other names"):
        derive(square * y, names={"y": square})
