"""Typical wrong answers and differently written right ones, for the exercises of lesson 10."""

import sympy as sp

import minigrad as torch
from minigrad.symbolic import tensor_of

X1, W1, B1, C = sp.symbols("x_1 w_1 b_1 c", real=True)
S = W1 * X1 + B1
DL_DS = 2 * (S**2 - 1) * 2 * S
PLAIN = sp.symbols("x_1 w_1 b_1 c")


def _plainly(x1, w1, b1, c):
    return 4 * c * x1 * ((w1 * x1 + b1) ** 3 - (w1 * x1 + b1))


def _silu_short(grad, x):
    p = torch.sigmoid(x)
    return grad * p * (1 + x * (1 - p))


def _sigmoids_rule(grad, x):
    return grad * torch.sigmoid(x) * (1 - torch.sigmoid(x))


def _at_the_gradient(grad, x):
    p = torch.sigmoid(grad)
    return grad * (p + x * p * (1 - p))


def _silu_by_quotient(grad, x):
    e = (-x).exp()
    return (grad * ((1 + e + x * e) / (1 + e) ** 2),)


def _silu_forgot_return(grad, x):
    _ = grad * torch.sigmoid(x)


def _silu_in_place(grad, x):
    grad *= torch.sigmoid(x) * (1 + x * (1 - torch.sigmoid(x)))
    return grad


def _silu_by_engine(grad, x):
    with torch.enable_grad():
        own = x.detach().clone().requires_grad_()
        torch.nn.functional.silu(own).backward(grad)
    return own.grad


def _silu_of_the_first(grad, x, kept={}):  # noqa: B006 (the mistake)
    p = kept.setdefault("p", torch.sigmoid(x))
    return grad * p * (1 + x * (1 - p))


def _scaling_by_engine(grad, x, w):
    x, w = x.detach().clone().requires_grad_(), w.detach().clone().requires_grad_()
    with torch.enable_grad():
        return torch.autograd.grad(x * w, (x, w), grad)


def _silu_in_floats(grad, x):
    return 0.5 * grad + 0.5 * x * grad


def _silu_of_numpy(grad, x):
    import numpy as np

    p = 1 / (1 + np.exp(-float(x)))
    return grad * p


def _standardize_by_three_ways(grad, x):
    n, mean = x.numel(), x.mean()
    v = ((x - mean) ** 2).mean()
    to_v = (grad * (x - mean)).sum() * -0.5 * v**-1.5
    to_m = -grad.sum() / v.sqrt()
    return grad / v.sqrt() + to_v * 2 * (x - mean) / n + to_m / n


def _standardize_with_sums(grad, x):
    n = len(x)
    c = x - x.sum() / n
    q = (c * c).sum()
    root = (q / n).sqrt()
    return (grad - grad.sum() / n - c * (grad * c).sum() / q) / root


def _standardize_wrong_sign(grad, x):
    c = x - x.mean()
    root = (c * c).mean().sqrt()
    r = c / root
    return (grad - grad.mean() + r * (grad * r).mean()) / root


def _standardize_only_direct(grad, x):
    c = x - x.mean()
    return grad / (c * c).mean().sqrt()


def _standardize_no_variance(grad, x):
    c = x - x.mean()
    return (grad - grad.mean()) / (c * c).mean().sqrt()


def _standardize_no_mean(grad, x):
    c = x - x.mean()
    root = (c * c).mean().sqrt()
    r = c / root
    return (grad - r * (grad * r).mean()) / root


def _standardize_no_root(grad, x):
    c = x - x.mean()
    r = c / (c * c).mean().sqrt()
    return grad - grad.mean() - r * (grad * r).mean()


def _standardize_sums(grad, x):
    c = x - x.mean()
    root = (c * c).mean().sqrt()
    r = c / root
    return (grad - grad.sum() - r * (grad * r).sum()) / root


def _standardize_by_jacobian(grad, x):
    n = x.numel()
    c = x - x.mean()
    root = (c * c).mean().sqrt()
    r = c / root
    return grad @ ((torch.eye(n, dtype=x.dtype) - 1 / n - torch.outer(r, r) / n) / root)


def _standardize(mean=1, variance=1, spread=None, units=True, third=None, n=None):
    """Make an answer to 10.6 with a slip."""

    def average(tensor):
        return tensor.mean() if n is None else tensor.sum() / n

    def rule(grad, x):
        c = x - average(x)
        root = c.var(unbiased=spread) ** 0.5 if spread is not None else average(c * c).sqrt()
        r = c / root
        way = (r if units else c) * average(grad * (x if third else r if units else c))
        return (grad - mean * average(grad) - variance * way) / root

    return rule


def _standardize_in_place(grad, x):
    x -= x.mean()
    root = (x * x).mean().sqrt()
    return (grad - grad.mean() - x / root * (grad * x / root).mean()) / root


def _standardize_by_engine(grad, x):
    with torch.enable_grad():
        own = x.detach().clone().requires_grad_()
        c = own - own.mean()
        result = c / (c * c).mean().sqrt()
    return torch.autograd.grad(result, own, grad)[0]


ANSWERS = {
    "10.1": {
        "wrong": [
            ("under a full hook", DL_DS * X1),
            ("what x_1 gets", C * DL_DS * W1),
            ("what b_1 gets", C * DL_DS),
            ("there once", C**2 * DL_DS * X1),
            ("You added the two", (1 + C) * DL_DS * X1),
            ("into the forward pass", 4 * X1 * C * S * (C**2 * S**2 - 1)),
            ("square of s", 4 * C * X1 * S * (S - 1)),
            ("Mind the brackets", 4 * C * X1**2 * (W1 + B1) * ((W1 + B1) ** 2 * X1**2 - 1)),
            ("differentiated twice", C * sp.diff((S**2 - 1) ** 2, W1, 2)),
            ("sign", -C * DL_DS * X1),
            ("constant factor", C * DL_DS * X1 / 2),
            ("2s, of the square", C * 2 * (S**2 - 1) * X1),
            ("a square too", C * 2 * S * X1),
            ("yours is", C * DL_DS * X1 + X1),
            ("does not depend on", C * X1),
            ("That is a number", -0.19378),
            ("without quotes", "4*c*x_1*(b_1 + w_1*x_1)*((b_1 + w_1*x_1)**2 - 1)"),
            ("without quotes", "no idea"),
            ("depends on s", C * 4 * sp.Symbol("s") * (sp.Symbol("s") ** 2 - 1) * X1),
            ("what the function returns", lambda x_1, w_1, b_1, c: c),
        ],
        "right": [
            C * DL_DS * X1,
            sp.expand(C * DL_DS * X1),
            _plainly(*PLAIN),
            tensor_of(C * DL_DS * X1),
        ],
    },
    "10.2": {
        "wrong": [
            ("as the first one", lambda grad, x: grad * x * torch.sigmoid(x) * torch.sigmoid(-x)),
            ("as a constant", lambda grad, x: grad * torch.sigmoid(x)),
            ("sigmoid alone", lambda g, x: g * torch.sigmoid(x) * (1 - torch.sigmoid(x))),
            ("what arrives is missing", lambda grad, x: _silu_short(1, x)),
            ("That is the forward", lambda grad, x: grad * x * torch.sigmoid(x)),
            ("refuted", _silu_in_floats),
            ("None", _silu_forgot_return),
            ("a symbol is no float", _silu_of_numpy),
            ("one of the two terms", lambda g, x: g * torch.sigmoid(x) + x * _sigmoids_rule(1, x)),
            ("has a minus", lambda g, x: g * (torch.sigmoid(x) * (1 + x + x * torch.sigmoid(x)))),
            ("arguments are exchanged", lambda x, grad: _silu_short(grad, x)),
            ("derivative is taken at x", lambda grad, x: _at_the_gradient(grad, x)),
            ("changed what it was given", _silu_in_place),
            ("called backward", _silu_by_engine),
            ("not of this call", _silu_of_the_first),
            ("gave 2 gradients", lambda grad, x: (_silu_short(grad, x), None or x)),
            ("without brackets", 0.5),
        ],
        "right": [_silu_short, _silu_by_quotient],
    },
    "10.3": {
        "wrong": [
            ("colleague's own", lambda g, x, w: (g * w, g.mean(0) * x.sum(0))),
            ("sum both", lambda g, x, w: (g * w, g.sum(0) * x.sum(0))),
            ("not averaged", lambda g, x, w: (g * w, (g * x).mean(0))),
            ("order of the inputs", lambda g, x, w: ((g * x).sum(0), g * w)),
            ("w itself has", lambda g, x, w: (g * w, g * x)),
            ("which index", lambda g, x, w: (g * w, (g * x).sum(1))),
            ("it is missing", lambda g, x, w: (g, (g * x).sum(0))),
            ("factor of its own", lambda g, x, w: (g * w, g.sum(0))),
            ("no w left", lambda g, x, w: (g * w, (g * x * w).sum(0))),
            ("gradient of ones gives", lambda g, x, w: (torch.ones_like(x) * w, x.sum(0))),
            ("of its column", lambda g, x, w: (g * w.reshape(-1, 1), (g * x).sum(0))),
            ("You divided", lambda g, x, w: (g / w, (g * x).sum(0))),
            ("product of matrices", lambda g, x, w: (g * w, (x.T @ g).sum(0))),
            ("gradient of x is refuted", lambda g, x, w: (g + w, (g * x).sum(0))),
            ("the derivative found", _scaling_by_engine),
            ("gave 1 gradients", lambda g, x, w: (g * x).sum(0)),
        ],
        "right": [
            lambda g, x, w: (g * w, (g * x).sum(0)),
            lambda g, x, w: [w * g, (x.T @ g).diagonal()],
            lambda g, x, w: (g * w, (g * x).mean(0) * len(x)),
        ],
    },
    "10.4": {
        "wrong": [
            ("moving x gives 2x", ("a", "because ones times x is still x")),
            ("wrong factor shows", ("c", "because a constant is not seen by ones")),
            ("two uses", ("d", "because the transpose of ones is ones, so it is symmetric")),
            ("Add your reason", "b"),
            ("letters a, b, c, d", ("e", "because ones are symmetric here")),
        ],
        "right": [
            ("b", "a matrix of ones is its own transpose"),
            ("B", "because the gradient is symmetric, exchanging entries changes nothing"),
            ("b", "all entries of the gradient are equal, so nobody sees them exchanged"),
            ("b", "because g is all ones, and ones.T == ones"),
        ],
    },
    "10.5": {
        "wrong": [
            ("Which sizes", ("a", "because it was proved for all values of the symbols")),
            ("not rounded", ("b", "because exact means that no digit is wrong")),
            ("something else", ("d", "because the forward was compared as well")),
            ("Add your reason", ("c", "...")),
            ("letters a, b, c, d", 3),
        ],
        "right": [
            ("c", "because it ran on symbols; other sizes are left open"),
            ("c", "it says nothing about rounding in float32"),
            ("(c)", "The forward itself could still be wrong."),
            ("c", "because I know nothing yet about, say, (5, 7) times (7, 4)"),
        ],
    },
    "10.6": {
        "wrong": [
            ("through v is missing", _standardize_no_variance),
            ("through m is missing", _standardize_no_mean),
            ("Only the direct way", _standardize_only_direct),
            ("division by the root", _standardize_no_root),
            ("not of sums", _standardize_sums),
            ("way through v has the wrong sign", _standardize_wrong_sign),
            ("way through m has the wrong sign", _standardize(mean=-1)),
            ("a wrong factor", _standardize(variance=2)),
            ("units are missing", _standardize(units=False)),
            ("not by x itself", _standardize(third=True)),
            ("not by n - 1", _standardize(spread=True)),
            ("any length", _standardize(n=3)),
            ("That is the forward.", lambda grad, x: (x - x.mean()) / x.std(unbiased=False)),
            ("standardized the gradient", lambda g, x: (g - g.mean()) / g.std(unbiased=False)),
            ("changed what it was given", _standardize_in_place),
            ("the derivative found", _standardize_by_engine),
            ("is not in the gradient of x", lambda grad, x: 0 * grad),
            (
                "With a gradient of ones it would have been right",
                lambda grad, x: grad - grad.mean(),
            ),
            ("refuted at entry", lambda grad, x: grad),
            ("has the shape", lambda grad, x: grad.mean()),
        ],
        "right": [
            _standardize_by_three_ways,
            _standardize_with_sums,
            _standardize_by_jacobian,
            _standardize(spread=False),
        ],
    },
}
