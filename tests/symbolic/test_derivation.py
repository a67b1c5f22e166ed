"""`derive` tells the chain rule as the engine took it, and what it tells is proved to be right."""

import pytest
import sympy

import minigrad as torch
from minigrad.symbolic import Refuted, derive, expression, symbolic_like, symbols
from tests.tracing import calls_of

from .examples import FUNCTIONS, KINKS, Net, diamond, worked_example

TEXT = """\
Forward
  x_1 = w_0*x + b_0
  s   = w_1*x_1 + b_1
  y   = s**2
  L   = (y - 1)**2

Backward
  dL/dy     = 2*(y - 1)
  dy/ds     = 2*s
  ds/dx_1   = w_1
  ds/dw_1   = x_1
  ds/db_1   = 1
  dx_1/dx   = w_0
  dx_1/dw_0 = x
  dx_1/db_0 = 1

According to the chain rule
  dL/ds   = dL/dy * dy/ds           = 4*s*(y - 1)
  dL/dx_1 = dL/dy * dy/ds * ds/dx_1 = 4*s*w_1*(y - 1)
  dL/dx   = dL/dx_1 * dx_1/dx       = 4*s*w_0*w_1*(y - 1)
  dL/dw_0 = dL/dx_1 * dx_1/dw_0     = 4*s*w_1*x*(y - 1)
  dL/db_0 = dL/dx_1 * dx_1/db_0     = 4*s*w_1*(y - 1)
  dL/dw_1 = dL/ds * ds/dw_1         = 4*s*x_1*(y - 1)
  dL/db_1 = dL/ds * ds/db_1         = 4*s*(y - 1)"""

LATEX = r"""Backward

$$
\begin{aligned}
\frac{\partial L}{\partial y} &= 2 (y - 1) \\
\frac{\partial y}{\partial s} &= 2 s \\
\frac{\partial s}{\partial x_{1}} &= w_{1} \\
\frac{\partial s}{\partial w_{1}} &= x_{1} \\
\frac{\partial s}{\partial b_{1}} &= 1 \\
\frac{\partial x_{1}}{\partial x} &= w_{0} \\
\frac{\partial x_{1}}{\partial w_{0}} &= x \\
\frac{\partial x_{1}}{\partial b_{0}} &= 1
\end{aligned}
$$"""


def test_the_worked_example_reads_like_a_page_of_a_book():
    loss, names = worked_example()
    derivation = derive(loss, names=names)
    assert str(derivation) == TEXT
    assert derivation.latex().split("\n\n", 2)[2].startswith(LATEX)
    assert r"\frac{\partial L}{\partial y} \cdot \frac{\partial y}{\partial s} \cdot " in (
        derivation.latex()
    )
    shown = derivation._repr_mimebundle_()
    assert shown == {"text/plain": TEXT, "text/latex": derivation.latex()}
    assert str(derive(loss, names=names)) == TEXT


def test_the_worked_example_is_told_and_proved_in_few_steps():
    loss, names = worked_example()
    derivation = derive(loss, names=names)
    found = []
    steps = calls_of(lambda: found.append(derivation.check()))
    assert steps < 1_500_000  # about a second: what a learner waits without wondering
    (checked,) = found
    assert checked.sympy == ("x", "w_0", "b_0", "w_1", "b_1")
    assert checked.steps == ("L", "y", "s", "x_1", *checked.sympy)
    assert not checked.open and not checked.apart_from
    assert str(checked).count("proved") == 2


def test_nodes_between_two_named_places_are_one_step():
    loss, names = worked_example()
    text = str(derive(loss, names={"y": names["y"], "x_1": names["x_1"]}))
    assert "dy/dx_1   = 2*w_1*(w_1*x_1 + b_1)" in text
    assert "dL/ds" not in text


def test_without_names_every_result_is_a_place():
    loss, _ = worked_example()
    derivation = derive(loss)
    assert "v_2 = v_1*w_1 + b_1" in str(derivation)
    assert "dv_4/dv_3 = 1" in str(derivation)
    assert not derivation.check().open


def test_nothing_is_changed_by_telling():
    model = symbolic_like(Net())
    x = symbols("x", 1, requires_grad=True)
    calls = []
    loss = model(x)
    model.y.retain_grad()
    model.y.register_hook(calls.append)
    derive(loss)
    assert len(calls) == 1 and x.grad is None and model.y.grad is None
    loss.backward()
    assert model.y.grad is not None
    with pytest.raises(RuntimeError, match="second time"):
        derive(loss)


# ---------------------------------------------------------------------- many functions


@pytest.mark.parametrize("case", FUNCTIONS)
def test_the_told_steps_are_the_engines_gradient_and_sympys(case):
    derivation = derive(FUNCTIONS[case]())
    checked = derivation.check()
    assert not checked.open
    assert set(checked.steps) == set(derivation.gradients)
    leaves = {name for name in derivation.gradients if name[0] != "v" and name != "L"}
    assert set(checked.sympy) == leaves and leaves
    assert case in KINKS or not checked.apart_from


def test_paths_that_meet_are_a_sum_of_terms():
    x = symbols("x", requires_grad=True)
    text = str(derive(diamond(x)))
    assert "dL/dv_1 = 1 + dL/dv_3 * dv_3/dv_1 + dL/dv_2 * dv_2/dv_1" in text


# ---------------------------------------------------------------------- what is wrong


class WrongSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x


def test_a_wrong_rule_is_refuted():
    x = symbols("x", requires_grad=True)
    derivation = derive(WrongSquare.apply(x) + x)
    with pytest.raises(Refuted) as refuted:
        derivation.check()
    assert refuted.value.counterexample.keys() == {sympy.Symbol("x", real=True)}
    assert expression(derivation.gradients["x"]) == 3 * sympy.Symbol("x", real=True) + 1


def test_a_wrong_rule_of_the_book_is_refuted(monkeypatch):
    x = symbols("x", requires_grad=True)
    loss = x.sin() * x
    kind = type(loss.grad_fn.next_functions[0][0])
    right = kind._run
    monkeypatch.setattr(kind, "_run", lambda node, g, *how: (-right(node, g, *how)[0],))
    with pytest.raises(Refuted):
        derive(loss).check()


def test_a_backward_that_is_not_linear_does_not_pass_for_the_chain_rule():
    class Sign(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad**2

    x = symbols("x", requires_grad=True)
    y = Sign.apply(x)
    with pytest.raises(Refuted):
        derive(y**3, names={"y": y}).check()


def test_bad_input_is_refused():
    x = symbols("x", 2, requires_grad=True)
    with pytest.raises(ValueError, match=r"here is a tensor of shape \(2,\)"):
        derive((x * x).sum())
    with pytest.raises(TypeError, match=r"For one of numbers, see explain\(\)"):
        derive(torch.ones(1, requires_grad=True) * 2)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        derive(x * 2)
    with pytest.raises(RuntimeError, match="no graph"):
        derive(symbols("x") * 2)
    x = symbols("x", requires_grad=True)
    y, z = x * x, x * 3
    with pytest.raises(ValueError, match="would be called x"):
        derive(y * z, names={"x": y})
