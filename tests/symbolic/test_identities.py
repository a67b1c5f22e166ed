"""The engine's formulas are those of the textbooks, and what differs from them is refuted."""

import pytest
import sympy

import minigrad as torch
from minigrad import autograd
from minigrad.nn import functional as F
from minigrad.symbolic import Refuted, equal, expression, symbols


def refuted(found, wrong):
    """Hold a planted wrong formula against what the engine found."""
    with pytest.raises(Refuted) as caught:
        equal(found, wrong)
    assert caught.value.counterexample
    return True


def gradients(result, *inputs, cotangent=None):
    return autograd.grad(result, inputs, cotangent, retain_graph=True)


def leaf(name, *shape, **assumptions):
    return symbols(name, shape, requires_grad=True, **assumptions)


# ---------------------------------------------------------------------- functions of one number


# ---------------------------------------------------------------------- softmax and its losses


N, C = 2, 2
CLASSES = torch.tensor([1, 0])
ONE_HOT = F.one_hot(CLASSES, C)


def test_the_softmax_jacobian():
    x = leaf("x", C)
    jacobian = autograd.functional.jacobian(lambda x: x.softmax(0), x)
    p = x.exp() / x.exp().sum()
    assert equal(jacobian, torch.diag(p) - torch.outer(p, p))
    assert refuted(jacobian, torch.diag(p) + torch.outer(p, p))


def _probabilities(x):
    return x.exp() / x.exp().sum(1, keepdim=True)


def test_cross_entropy_has_p_minus_y():
    x = leaf("x", N, C)
    for reduction, share in (("sum", 1), ("mean", N)):
        (found,) = gradients(F.cross_entropy(x, CLASSES, reduction=reduction), x)
        assert equal(found, (_probabilities(x) - ONE_HOT) / share)
        assert refuted(found, (ONE_HOT - _probabilities(x)) / share)
    assert refuted(found, _probabilities(x) - ONE_HOT)  # the share of the batch left out


# ---------------------------------------------------------------------- normalization


def _normalized(x, dims, eps, shares):
    centered = x - x.sum(dims, keepdim=True) / shares
    variance = (centered**2).sum(dims, keepdim=True) / shares
    root = (variance + eps) ** sympy.Rational(1, 2)
    return centered / root, root


def _three_terms(grad, normalized, root, dims, shares):
    """The textbook's formula: the gradient without its mean and without its part along x-hat."""
    along = (grad * normalized).sum(dims, keepdim=True)
    return (grad - grad.sum(dims, keepdim=True) / shares - normalized * along / shares) / root


def test_layer_normalization():
    x, w, b = leaf("x", 2, 2), leaf("gamma", 2), leaf("beta", 2)
    g = symbols("g", (2, 2))
    eps = symbols("epsilon", positive=True)
    y = F.layer_norm(x, (2,), w, b, eps=expression(eps))
    dx, dw, db = gradients(y, x, w, b, cotangent=g)
    normalized, root = _normalized(x.detach(), 1, eps, 2)
    assert equal(dx, _three_terms(g * w, normalized, root, 1, 2))
    assert equal(dw, (g * normalized).sum(0)) and equal(db, g.sum(0))
    assert refuted(dx, _three_terms(g, normalized, root, 1, 2))


# ---------------------------------------------------------------------- attention


def test_attention():
    length, width = 2, 2
    q, k, v = leaf("q", 1, width), leaf("k", length, width), leaf("v", length, 1)
    g = symbols("g", (1, 1))
    output = F.scaled_dot_product_attention(q[None], k[None], v[None])[0]
    dq, dk, dv = gradients(output, q, k, v, cotangent=g)
    scores = q @ k.T / sympy.sqrt(width)
    p = scores.exp() / scores.exp().sum(1, keepdim=True)
    assert equal(output, p @ v)
    dp = g @ v.T
    ds = p * (dp - (dp * p).sum(1, keepdim=True))
    assert equal(dv, p.T @ g)
    assert equal(dq, ds @ k / sympy.sqrt(width))
    assert equal(dk, ds.T @ q / sympy.sqrt(width))
    assert refuted(dq, ds @ k)  # the scale left out
    assert refuted(dk, (p * dp).T @ q / sympy.sqrt(width))  # the sum along the row left out
    assert refuted(dv, (p * p).T @ g)


# ---------------------------------------------------------------------- sums over indices


BROADCASTS = {
    "a number": ((), (2, 3)),
    "a row": ((3,), (2, 3)),
    "a column": ((2, 1), (2, 3)),
    "both": ((2, 1), (1, 3)),
    "a new dimension": ((2,), (3, 1, 2)),
    "ones between": ((2, 1, 2), (1, 3, 1)),
}


def test_a_convolutions_backward_is_the_full_correlation_with_the_flipped_kernel():
    x, w, g = leaf("x", 1, 1, 3, 3), leaf("w", 1, 1, 2, 2), symbols("g", (1, 1, 2, 2))
    dx, dw = gradients(F.conv2d(x, w), x, w, cotangent=g)
    full = F.conv2d(g, w.detach().flip(2, 3), padding=1)
    assert equal(dx, full)
    assert equal(dw, F.conv2d(x.detach(), g))
    assert refuted(dx, F.conv2d(g, w.detach(), padding=1))  # the kernel not flipped
    assert equal(dx, F.conv_transpose2d(g, w.detach()))


# ---------------------------------------------------------------------- steps, gates, clipping


def test_newtons_step_solves_a_quadratic_at_once():
    x = leaf("x", 2)
    root = symbols("l", (2, 2), positive=True)
    b = symbols("b", 2)
    matrix = root @ root.T + torch.eye(2)

    def cost(x):
        return (x @ matrix @ x) / 2 - b @ x

    gradient = torch.func.grad(cost)(x)
    hessian = torch.func.hessian(cost)(x)
    assert equal(hessian, matrix)
    after = x - torch.linalg.solve(hessian, gradient)
    assert equal(matrix @ after, b)
    assert refuted(x - gradient, after)
