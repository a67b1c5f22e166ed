"""`explain` tells a run on numbers: formulas and numbers agree with each other and the engine."""

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.symbolic import explain, symbols
from minigrad.symbolic.passes import leaves_of

from .examples import Cube, Net, ProductAndSum, diamond

F = nn.functional
NUMBERS = {"f0.weight": 0.3, "f0.bias": 0.1, "f1.f.weight": 0.4, "f1.f.bias": 0.2}


def worked_example():
    model = Net().double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(NUMBERS[name])
    x = torch.tensor([0.3], dtype=torch.float64, requires_grad=True)
    return model, x


def explained(model, x):
    loss = model(x)
    places = {"x": x, "y": model.y, "s": model.f1.s, "x_1": model.x1}
    return explain(loss, names=[model, places])


TEXT = """\
Forward
  x   = 0.3
  w_0 = 0.3
  b_0 = 0.1
  w_1 = 0.4
  b_1 = 0.2
  x_1 = w_0*x + b_0   = 0.3*0.3 + 0.1     = 0.19
  s   = w_1*x_1 + b_1 = 0.4*0.19 + 0.2    = 0.276
  y   = s**2          = 0.276**2          = 0.076176
  L   = (y - 1)**2    = (0.076176 - 1)**2 = 0.853451

Backward
  dL/dy   = 2*(y - 1)     = 2*(0.076176 - 1)  = -1.847648
  dL/ds   = dL/dy * 2*s   = -1.847648 * 0.552 = -1.019902
  dL/dx_1 = dL/ds * w_1   = -1.019902 * 0.4   = -0.407961
  dL/dx   = dL/dx_1 * w_0 = -0.407961 * 0.3   = -0.122388
  dL/dw_0 = dL/dx_1 * x   = -0.407961 * 0.3   = -0.122388
  dL/db_0 = dL/dx_1 * 1   = -0.407961 * 1     = -0.407961
  dL/dw_1 = dL/ds * x_1   = -1.019902 * 0.19  = -0.193781
  dL/db_1 = dL/ds * 1     = -1.019902 * 1     = -1.019902"""


def test_the_worked_example_can_be_followed_number_by_number():
    model, x = worked_example()
    explanation = explained(model, x)
    assert str(explanation) == TEXT
    latex = explanation.latex()
    assert r"\frac{\partial L}{\partial s} \cdot w_{1} = -1.019902 \cdot 0.4 = -0.407961" in latex
    assert r"w_{0} x + b_{0} = 0.3 \cdot 0.3 + 0.1 = 0.19" in latex
    assert "*" not in latex
    shown = explanation._repr_mimebundle_()
    assert shown == {"text/plain": TEXT, "text/latex": explanation.latex()}
    assert x.grad is None


def test_hooks_are_told_with_numbers():
    def double(module, grad_input, grad_output):
        return (grad_input[0] * 2,)

    model, x = worked_example()
    model.f1.register_full_backward_hook(double)
    lines = str(explained(model, x)).splitlines()
    (line,) = (line for line in lines if line.startswith("  dL/dx_1 "))
    assert line.split("=")[1:] == [
        " 2 * dL/ds * w_1 ", " 2 * (-1.019902 * 0.4) ",
        " -0.815921   2: full backward hook double",
    ]  # fmt: skip


def test_a_hook_that_is_no_factor_is_told_by_its_name():
    def clip(grad):
        return grad.clamp(-1, 1)

    model, x = worked_example()
    loss = model(x)
    model.y.register_hook(clip)
    text = str(explain(loss, names={"y": model.y}))
    assert "dL/dy   = clip(2*(y - 1))" in text
    assert "clip(2*(0.076176 - 1))" in text and "= -1   tensor hook clip" in text


# ---------------------------------------------------------------------- formulas and numbers agree


def leaf(*shape):
    size = int(np.prod(shape, dtype=int))
    numbers = torch.tensor([0.1 + 0.3 * ((7 * k) % 5) - 0.2 * k for k in range(size)])
    return numbers.double().reshape(shape).requires_grad_()


def square_sum(result):
    return (result * result).sum()


RUNS = {
    "diamond": lambda: diamond(leaf()),
    "network": lambda: square_sum(
        nn.Sequential(nn.Linear(1, 1), nn.Tanh(), nn.Linear(1, 1)).double()(leaf(1, 1))
    ),
    "squared error": lambda: F.mse_loss(leaf(1), leaf(1)),
    "convolution": lambda: square_sum(nn.Conv2d(1, 1, 1).double()(leaf(1, 1, 1, 1))),
    "relu": lambda: torch.relu(leaf() + 1) * leaf(),
    "custom": lambda: Cube.apply(leaf() * 2) * 3,
    "custom with two results": lambda: torch.mul(*ProductAndSum.apply(leaf() * 2, leaf())),
}


@pytest.mark.parametrize("case", RUNS)
def test_what_is_told_is_what_backward_gives(case):
    torch.manual_seed(0)
    loss = RUNS[case]()
    explanation = explain(loss)
    leaves = {}
    for value in explanation._layout.order:
        if not value[0].next_functions:
            leaves[explanation._layout.names[value]] = value[0].variable
    loss.backward()
    assert leaves
    for name, tensor in leaves.items():
        np.testing.assert_array_equal(explanation.gradients[name], tensor.grad.numpy())


@pytest.mark.parametrize("case", RUNS)
def test_telling_leaves_nothing_behind_in_the_graph(case):
    torch.manual_seed(0)
    told = explain(loss := RUNS[case]())
    assert str(explain(loss)) == str(told)
    gradients = torch.autograd.grad(loss, leaves_of(loss))
    assert all(gradient.dtype is torch.float64 for gradient in gradients)


@pytest.mark.parametrize("kind", ["register_full_backward_hook", "register_full_backward_pre_hook"])
def test_a_hook_that_only_watches_changes_no_number(kind):
    torch.manual_seed(0)
    model, x = nn.Linear(1, 1), torch.tensor([[0.5]], requires_grad=True)
    plain = explain(square_sum(model(x)), names=[model, {"x": x}])
    getattr(model, kind)(lambda *given: None)
    watched = explain(square_sum(model(x)), names=[model, {"x": x}])
    assert watched.gradients.keys() == plain.gradients.keys()
    for name, gradient in plain.gradients.items():
        np.testing.assert_array_equal(watched.gradients[name], gradient)
    assert all(array.dtype == np.float32 for array in watched.values.values())
    assert "x   = 0.5" in str(watched)


# ---------------------------------------------------------------------- what can't be explained


def test_after_a_backward_it_says_what_to_do():
    x = leaf()
    loss = x * x
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        explain(loss)
    loss = x * x
    loss.backward(retain_graph=True)
    assert "dL/dx" in str(explain(loss, names={"x": x}))


def test_bad_input_is_refused():
    with pytest.raises(TypeError, match="derive"):
        explain(symbols("x", requires_grad=True) * 2)
    with pytest.raises(TypeError, match="takes a tensor that holds numbers"):
        explain(1.0)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        explain(leaf(2) * 2)
    with pytest.raises(RuntimeError, match="no graph"):
        explain(torch.ones(1))
    with pytest.raises(ValueError, match=r"single numbers, and here is a tensor of shape \(2,\)"):
        explain(square_sum(leaf(2)))
