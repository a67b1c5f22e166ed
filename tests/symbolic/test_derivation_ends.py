"""Where a hook gives None for a gradient, `derive` and `explain` say so."""

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.symbolic import derive, explain, symbols


class Square(nn.Module):
    def forward(self, a):
        return a * a


def stop(*given):
    """Give None for what came."""
    return (None,)


def stop_x(grad_inputs, grads):
    return None, grad_inputs[1]


def ended(case, x, w):
    """Run until a gradient ends; give the loss and names."""
    y = x * w
    z = y
    if case == "node hook":
        y.grad_fn.register_hook(stop_x)
    elif case == "node pre-hook":
        z = y + w
        y.grad_fn.register_prehook(stop)
    else:
        module = Square()
        module.register_full_backward_hook(stop)
        z = module(y) + w
    return (z - 1) ** 2, {"y": y, "x": x, "w": w}


ENDS = {
    "node hook": "no gradient came to x: node hook stop_x gave None",
    "node pre-hook": "no gradient came to x: node pre-hook stop gave None",
    "full backward hook": "no gradient came to x: full backward hook stop gave None",
}


@pytest.mark.parametrize("case", ENDS)
def test_where_a_gradient_ends_is_told(case):
    loss, names = ended(case, *symbols("x w", requires_grad=True))
    derivation = derive(loss, names={"y": names["y"]})
    assert str(derivation).endswith(f"  {ENDS[case]}")
    assert derivation.latex().endswith(ENDS[case].replace("_", r"\_"))
    assert "x" not in derivation.gradients
    checked = derivation.check()
    assert not checked.open and checked.hooks == (ENDS[case].split(": ")[1][: -len(" gave None")],)
    numbers = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0))
    loss, names = ended(case, *numbers)
    explanation = explain(loss, names=names)
    assert str(explanation).endswith(f"  {ENDS[case]}")
    grads = torch.autograd.grad(loss, [names["x"], names["w"]], allow_unused=True)
    for name, grad in zip("xw", grads, strict=True):
        assert (name in explanation.gradients) == (grad is not None)


def test_a_loss_whose_own_gradient_is_taken_away():
    loss = symbols("x", requires_grad=True) ** 2
    loss.grad_fn.register_prehook(stop)
    with pytest.raises(RuntimeError, match="None for the gradient of the loss"):
        derive(loss)
