"""The engine's formulas are those of the textbooks, and what differs from them is refuted."""

import numpy as np
import pytest
import sympy

import minigrad as torch
from minigrad import autograd, nn
from minigrad.nn import functional as F
from minigrad.nn.utils import clip_grad_norm_
from minigrad.symbolic import Refuted, equal, expression, symbolic_like, symbols, tensor_of


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


def test_sigmoid_and_tanh():
    x = leaf("x")
    s, t = x.sigmoid(), x.tanh()
    (found,) = gradients(s, x)
    assert equal(found, s * (1 - s)) and refuted(found, s * (1 + s))
    (found,) = gradients(t, x)
    assert equal(found, 1 - t**2) and refuted(found, 1 - t)


def test_logsumexp_has_the_softmax():
    x = leaf("x", 3)
    (found,) = gradients(x.logsumexp(0), x)
    assert equal(found, x.exp() / x.exp().sum())
    assert refuted(found, x.exp() / (1 + x.exp().sum()))


def test_norm():
    x = leaf("x", 3, positive=True)
    (found,) = gradients(x.norm(), x)
    assert equal(found, x / (x * x).sum().sqrt())
    assert refuted(found, x / (x * x).sum())
    y = leaf("y", 2)  # of any sign
    (found,) = gradients((y * y).sum().sqrt(), y)
    assert equal(found, y / (y * y).sum().sqrt())


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


def test_cross_entropy_with_probabilities_as_targets():
    x, y = leaf("x", 1, C), symbols("y", (1, C))
    (found,) = gradients(F.cross_entropy(x, y), x)
    assert equal(found, _probabilities(x) * y.sum() - y)
    assert refuted(found, _probabilities(x) - y)  # right only where the targets' sum is 1
    due = tensor_of([[y[0, 0], 1 - y[0, 0]]])
    (found,) = gradients(F.cross_entropy(x, due), x)
    assert equal(found, _probabilities(x) - due)


def test_cross_entropy_with_smooth_labels():
    x = leaf("x", N, C)
    s = sympy.Rational(1, 10)
    (found,) = gradients(F.cross_entropy(x, CLASSES, label_smoothing=0.1), x)
    smooth = tensor_of(ONE_HOT) * (1 - s) + s / C
    assert equal(found, (_probabilities(x) - smooth) / N)
    assert refuted(found, (_probabilities(x) - tensor_of(ONE_HOT) * (1 - s)) / N)


def test_cross_entropy_with_weights_of_classes():
    x, w = leaf("x", N, C), symbols("w", C, positive=True)
    (found,) = gradients(F.cross_entropy(x, CLASSES, w), x)
    own = w[CLASSES].reshape(N, 1)
    assert equal(found, own * (_probabilities(x) - ONE_HOT) / own.sum())
    assert refuted(found, own * (_probabilities(x) - ONE_HOT) / N)


def test_the_hessian_of_cross_entropy():
    x = leaf("x", C)
    hessian = autograd.functional.hessian(lambda x: F.cross_entropy(x, torch.tensor(1)), x)
    p = x.exp() / x.exp().sum()
    assert equal(hessian, torch.diag(p) - torch.outer(p, p))
    assert refuted(hessian, torch.diag(p) - torch.outer(p, p) * 2)


def test_mean_squared_error():
    x, t = leaf("x", N, C), symbols("t", (N, C))
    (found,) = gradients(F.mse_loss(x, t), x)
    assert equal(found, 2 * (x - t) / (N * C)) and refuted(found, 2 * (x - t) / N)


def test_binary_cross_entropy():
    z, y = leaf("z", 2), symbols("y", 2)
    (found,) = gradients(F.binary_cross_entropy_with_logits(z, y, reduction="sum"), z)
    assert equal(found, 1 / (1 + (-z).exp()) - y)
    assert refuted(found, y - 1 / (1 + (-z).exp()))
    w = symbols("w", positive=True)
    loss = F.binary_cross_entropy_with_logits(z, y, reduction="sum", pos_weight=w)
    (found,) = gradients(loss, z)
    s = 1 / (1 + (-z).exp())
    assert equal(found, (1 - y) * s - w * y * (1 - s))
    p = leaf("p", 1)
    (found,) = gradients(F.binary_cross_entropy(p, y[:1]), p)
    divisor = torch.maximum(p * (1 - p), tensor_of(1e-12))  # as PyTorch keeps it away from 0
    assert equal(found, (p - y[:1]) / divisor) and refuted(found, p - y[:1])


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


def test_batch_normalization_in_training():
    n = 3
    x, w, b = leaf("x", n, 1), leaf("gamma", 1), leaf("beta", 1)
    g = symbols("g", (n, 1))
    eps = symbols("epsilon", positive=True)
    y = F.batch_norm(x, None, None, w, b, training=True, eps=expression(eps))
    dx, dw, db = gradients(y, x, w, b, cotangent=g)
    normalized, root = _normalized(x.detach(), 0, eps, n)
    assert equal(y, normalized * w + b)
    assert equal(dx, _three_terms(g * w, normalized, root, 0, n))
    assert equal(dw, (g * normalized).sum(0)) and equal(db, g.sum(0))
    assert refuted(dx, g * w / root)  # as if mean and variance were constants
    without = (g * w - (g * w).sum(0) / n) / root
    assert refuted(dx, without)  # as if the variance were a constant


def test_batch_normalization_in_evaluation():
    norm = symbolic_like(nn.BatchNorm1d(2), buffers=True).eval()
    x, g = leaf("x", 2, 2), symbols("g", (2, 2))
    (dx,) = gradients(norm(x), x, cotangent=g)
    root = (norm.running_var + sympy.Rational(1, 10**5)).sqrt()
    assert equal(dx, g * norm.weight / root) and refuted(dx, g / root)


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


@pytest.mark.parametrize("name", BROADCASTS)
def test_undoing_a_broadcast_is_a_sum_over_indices(name):
    shapes = BROADCASTS[name]
    whole = np.broadcast_shapes(*shapes)
    factors = [leaf(*named) for named in (("a", *shapes[0]), ("b", *shapes[1]))]
    g = symbols("g", whole)
    found = gradients(factors[0] * factors[1], *factors, cotangent=g)
    for gradient, shape, other in zip(found, shapes, reversed(factors), strict=True):
        due = np.full(shape, sympy.Integer(0), object)
        wide = other.detach().expand(whole)
        for index in np.ndindex(whole):
            own = index[len(whole) - len(shape) :]
            place = tuple(at % size for at, size in zip(own, shape, strict=True))
            due[place] += expression(g[index]) * expression(wide[index])
        assert gradient.shape == shape
        assert equal(gradient, tensor_of(due))
        last = tuple(size - 1 for size in whole)
        due[tuple(size - 1 for size in shape)] -= expression(g[last]) * expression(wide[last])
        assert refuted(gradient, tensor_of(due))  # one term of the sum missing


@pytest.mark.parametrize(("n", "m", "p"), [(1, 1, 1), (2, 3, 2), (1, 2, 3), (3, 1, 2)])
def test_products_of_matrices(n, m, p):
    a, b, g = leaf("a", n, m), leaf("b", m, p), symbols("g", (n, p))
    da, db = gradients(a @ b, a, b, cotangent=g)
    assert equal(da, g @ b.T) and equal(db, a.T @ g)
    for i in range(n):
        for j in range(m):
            due = sum(expression(g[i, k]) * expression(b[j, k]) for k in range(p))
            assert equal(da[i, j], due)
    assert refuted(da, 2 * (g @ b.T))
    assert refuted(db, a.T @ g + g.sum())


def test_batches_of_matrices_share_a_factor():
    a, b, g = leaf("a", 2, 1, 2), leaf("b", 2, 2), symbols("g", (2, 1, 2))
    da, db = gradients(a @ b, a, b, cotangent=g)
    assert equal(da, g @ b.T)
    assert equal(db, a[0].T @ g[0] + a[1].T @ g[1]) and refuted(db, a[0].T @ g[0])


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


def test_the_gates_of_an_lstm_cell():
    cell = symbolic_like(nn.LSTMCell(1, 1))
    x, h, c = leaf("x", 1, 1), leaf("h", 1, 1), leaf("c", 1, 1)
    new_h, new_c = cell(x, (h, c))
    gates = (cell.weight_ih @ x.T + cell.weight_hh @ h.T).T + cell.bias_ih + cell.bias_hh
    i, f, g, o = gates.chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    assert equal(new_c, f * c + i * g)
    assert equal(new_h, o * (f * c + i * g).tanh())
    (dc,) = gradients(new_c, c)
    assert equal(dc, f) and refuted(dc, i)
    (dh,) = gradients(new_h, c)
    t = (f * c + i * g).tanh()
    assert equal(dh, o * (1 - t**2) * f) and refuted(dh, o * f)
    (weights,) = gradients(new_c, cell.weight_hh)
    assert equal(weights[1], (c * f * (1 - f) * h)[0])  # of the gate that forgets
    assert equal(weights[3], tensor_of([0]))  # the gate of the output has no part in it


def test_clipping_by_the_norm_is_a_factor():
    w = leaf("w", 2)
    a = symbols("a", 2, positive=True)
    (w * a).sum().backward()
    norm = clip_grad_norm_([w], 1.0)
    length = (a * a).sum().sqrt()
    assert equal(norm, length)
    factor = torch.clamp(1 / (length + sympy.Rational(1, 10**6)), max=1.0)
    assert equal(w.grad, a * factor) and refuted(w.grad, a / length)
    assert all(each.has(sympy.Min) for each in expression(w.grad))
