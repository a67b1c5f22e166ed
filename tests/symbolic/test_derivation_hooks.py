"""What hooks did to a gradient shows in its derivation: factors, and functions of it."""

import pytest
import sympy

import minigrad as torch
from minigrad.symbolic import derive, equal, symbols

from .examples import worked_example


def double(module, grad_input, grad_output):
    return (grad_input[0] * 2,)


def clip(module, grad_input, grad_output):
    return (grad_input[0].clamp(-1, 1),)


def nothing(module, grad_input, grad_output):
    return (grad_input[0] * 0,)


def cube(grad):
    return grad**3


def halve_outputs(module, grad_output):
    return (grad_output[0] / 2,)


def full(hook):
    return lambda model: model.f1.register_full_backward_hook(hook)


HOOKS = {
    "full doubles": (full(double), "dL/dx_1 = 2 * dL/dy * dy/ds * ds/dx_1", "full backward hook"),
    "full zeroes": (full(nothing), "dL/dx_1 = 0 * dL/dy", "full backward hook nothing"),
    "full pre halves": (
        lambda model: model.f1.register_full_backward_pre_hook(halve_outputs),
        "1/2",
        "full backward pre-hook halve_outputs",
    ),
    "legacy doubles": (
        lambda model: model.f1.register_backward_hook(double),
        "dL/ds   = 2 * dL/dy * dy/ds",
        "2: legacy backward hook double",
    ),
}


@pytest.mark.filterwarnings("ignore:Using a non-full backward hook:FutureWarning")
@pytest.mark.parametrize("case", HOOKS)
def test_a_modules_hook_shows_where_it_fired(case):
    prepare, line, remark = HOOKS[case]
    loss, names = worked_example(prepare)
    derivation = derive(loss, names=names)
    assert line in str(derivation)
    assert remark in str(derivation)
    checked = derivation.check()
    assert set(checked.steps) == set(derivation.gradients) and not checked.open
    assert not checked.sympy  # what a hook changed is no derivative any more


@pytest.mark.parametrize(
    ("place", "hook"),
    [("y", cube), ("s", lambda g: g * symbols("c")), ("x_1", torch.neg)],
)
def test_a_tensors_hook_shows_where_it_fired(place, hook):
    loss, names = worked_example()
    names[place].register_hook(hook)
    derivation = derive(loss, names=names)
    assert "tensor hook" in str(derivation)
    checked = derivation.check()
    assert len(checked.steps) == 9 and not checked.open


def test_a_hook_on_a_leaf_and_on_a_node():
    x = symbols("x", requires_grad=True)
    y = x * x
    x.register_hook(cube)
    y.grad_fn.register_prehook(lambda grads: (grads[0] + 1,))
    y.grad_fn.register_hook(lambda grad_inputs, grads: (grad_inputs[0] * 3, grad_inputs[1]))
    derivation = derive(y.exp(), names={"y": y})
    plain = sympy.Symbol("x", real=True)
    # the sum of the two edges of x * x, of which the first was multiplied by 3
    assert equal(derivation.gradients["x"], (4 * plain * (sympy.exp(plain**2) + 1)) ** 3)
    assert not derivation.check().open
    for said in ("node pre-hook", "node hook", "tensor hook cube"):
        assert said in str(derivation)


# ---------------------------------------------------------------------- clipping


def product(*hooks, requires_grad=True):
    """Put hooks on y = w x, of which L = (y - 1)^2."""
    w, x = symbols("w x", requires_grad=requires_grad)
    y = w * x
    for hook in hooks:
        y.register_hook(hook)
    return derive((y - 1) ** 2, names={"y": y})


CLAMPED = "Min(1/4, Max(-1/4, g))"
LATEX_CLAMPED = r"\min\left(\frac{1}{4}, \max\left(- \frac{1}{4}, g\right)\right)"
CASES = "0 if Abs(g) >= 2, g otherwise"
LATEX_CASES = (
    r"\begin{cases} 0 & \text{for}\: \left|{g}\right| \geq 2 \\g & \text{otherwise} \end{cases}"
)
CLIPS = {
    "clamp": (lambda g: g.clamp(-0.25, 0.25), CLAMPED, LATEX_CLAMPED),
    "by norm": (lambda g: g * torch.clamp(0.25 / g.norm(), max=1.0), "g*Min(1, 1/(4*Abs(g)))", ""),
    "up to a symbol": (lambda g: torch.minimum(symbols("c", positive=True), g), "Min(c, g)", ""),
    "sign": (torch.sign, "sign(g)", ""),
    "large ones": (lambda g: torch.where(g.abs() >= 2, torch.zeros(()), g), CASES, LATEX_CASES),
}


@pytest.mark.parametrize("case", CLIPS)
def test_clipping_is_told_as_a_function_of_the_gradient(case):
    hook, text, latex = CLIPS[case]
    derivation = product(hook)
    line = next(line for line in str(derivation).splitlines() if "(g) = " in line)
    assert line.split("(g) = ")[1].split("   ")[0] == text
    assert latex in derivation.latex()
    checked = derivation.check()
    assert checked.steps == ("L", "y", "w", "x") and not checked.open


# ---------------------------------------------------------------------- what is said


def test_it_is_said_that_a_hook_changed_the_derivative():
    checked = product(cube).check()
    assert checked.hooks == ("tensor hook cube",)
    assert str(checked).splitlines()[-1] == (
        "left out: the comparison with sympy.diff, because tensor hook cube changed the gradient "
        "(it is no derivative of the loss any more)"
    )
    assert "left out" not in str(product().check())


# ---------------------------------------------------------------------- one module, used often


def written_twice_as_large(grad):
    grad.mul_(2)


def test_a_hook_may_replace_a_gradient_by_symbols():
    x, k = symbols("x", requires_grad=True), symbols("k")
    y = x * 3
    y.register_hook(lambda grad: k * 1)
    y.register_hook(lambda grad: None)
    y.register_hook(written_twice_as_large)
    derivation = derive(y * y, names={"y": y})
    assert equal(derivation.gradients["x"], 6 * sympy.Symbol("k", real=True))
    text = str(derivation)
    assert "hook(g) = k " in text and "2: tensor hook written_twice_as_large" in text
    checked = derivation.check()
    assert checked.steps == ("L", "y", "x") and not checked.open
