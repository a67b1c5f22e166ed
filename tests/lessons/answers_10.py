"""Independent wrong answers and differently written right ones, for the exercises of lesson 10."""

import sympy as sp

import minigrad as torch
from minigrad.symbolic import tensor_of

X, W, B, C = sp.symbols("x w b c", real=True)
S = W * X + B
RIGHT = (X + S**2) * (1 + 2 * C * S * W)


def _silu(grad, x):
    p = torch.sigmoid(x)
    return grad * p * (1 + x * (1 - p))


def _silu_in_place(grad, x):
    grad *= torch.sigmoid(x) * (1 + x * torch.sigmoid(-x))
    return grad


def _silu_of_the_first(grad, x, kept={}):  # noqa: B006 (the mistake)
    p = kept.setdefault("p", torch.sigmoid(x))
    return grad * p * (1 + x * (1 - p))


def _standardize_by_three_ways(grad, x):
    n, mean = x.numel(), x.mean()
    v = ((x - mean) ** 2).mean()
    to_v = (grad * (x - mean)).sum() * -0.5 * v**-1.5
    to_m = -grad.sum() / v.sqrt()
    return grad / v.sqrt() + to_v * 2 * (x - mean) / n + to_m / n


def _standardize_with_sums(grad, x):
    c = x - x.sum() / len(x)
    q = (c * c).sum()
    root = (q / len(x)).sqrt()
    return (grad - grad.sum() / len(x) - c * (grad * c).sum() / q) / root


def _standardize_by_jacobian(grad, x):
    n, c = x.numel(), x - x.mean()
    root = (c * c).mean().sqrt()
    r = c / root
    return grad @ ((torch.eye(n, dtype=x.dtype) - 1 / n - torch.outer(r, r) / n) / root)


def _standardize_without_v(grad, x):
    spread = x.var(unbiased=False)
    return (grad - grad.sum() / x.numel()) / spread**0.5


def _standardize_in_place(grad, x):
    x -= x.mean()
    root = (x * x).mean().sqrt()
    return (grad - grad.mean() - x / root * (grad * x / root).mean()) / root


ANSWERS = {
    "10.1": {
        "wrong": [
            ("sign", -RIGHT),
            ("constant factor", RIGHT / 2),
            ("yours is", RIGHT + X * C),
            ("without quotes", "(x + s**2)*(1 + 2*c*s*w)"),
            ("depends on s", (X + sp.Symbol("s") ** 2) * (1 + 2 * C * W * sp.Symbol("s"))),
        ],
        "right": [sp.expand(RIGHT), RIGHT.subs(C, sp.Symbol("c")), tensor_of(RIGHT)],
    },
    "10.2": {
        "wrong": [
            ("What arrives", lambda grad, x: _silu(1, x)),
            ("changed what it was given", _silu_in_place),
            ("not of this call", _silu_of_the_first),
            (
                "minigrad has no torch.func.vjp",
                lambda g, x: torch.func.vjp(torch.nn.functional.silu, x)[1](g)[0],
            ),
            ("refuted", lambda grad, x: 0.5 * grad + 0.5 * x * grad),
        ],
        "right": [
            _silu,
            lambda g, x: (g * (1 + (-x).exp() * (1 + x)) / (1 + (-x).exp()) ** 2,),
            lambda grad, x: grad / (1 + (-x).exp()) * (1 + x / (1 + x.exp())),
        ],
    },
    "10.3": {
        "wrong": [
            ("w itself has", lambda g, x, w: (g * w, g * x)),
            ("gradient of x is refuted", lambda g, x, w: (g + w, (g * x).sum(0))),
            ("Gradients asked for: 2", lambda g, x, w: (g * x).sum(0)),
            ("you left it out", lambda g, x, w: [w * g, torch.ones(len(x)) @ g]),
            ("order of the inputs", lambda g, x, w: [(x.T @ g).diagonal(), w * g]),
        ],
        "right": [
            lambda g, x, w: [w * g, (x.T @ g).diagonal()],
            lambda g, x, w: (g * w, (g * x).mean(0) * len(x)),
            lambda g, x, w: (g @ torch.diag(w), torch.einsum("ij,ij->j", g, x)),
        ],
    },
    "10.4": {
        "wrong": [
            ("moving x gives 2x", ("a", "because ones times x is still x")),
            ("wrong factor shows", "(c) a constant is not seen by ones"),
            ("two uses", ("D", "because the sum is symmetric")),
            ("Add your reason", "b"),
            ("letters a, b, c, d", ("e", "because ones are symmetric here")),
        ],
        "right": [
            ("b", "a matrix of ones is its own transpose"),
            ("B", "because the gradient is symmetric, exchanging entries changes nothing"),
            "(b) because g is all ones, and ones.T == ones",
        ],
    },
    "10.5": {
        "wrong": [
            ("Which sizes", ("a", "because it was proved for all values of the symbols")),
            ("not rounded", ("B", "because exact means that no digit is wrong")),
            ("something else", ("d", "because the forward was compared as well")),
            ("Add your reason", ("c", "...")),
            ("letters a, b, c, d", 3),
        ],
        "right": [
            ("c", "because it ran on symbols; other sizes are left open"),
            ("(c)", "The forward itself could still be wrong."),
            "c: rounding in float32 is left open",
        ],
    },
    "10.6": {
        "wrong": [
            ("through v is missing", _standardize_without_v),
            ("changed what it was given", _standardize_in_place),
            ("What arrives", lambda grad, x: _standardize_with_sums(torch.ones_like(x), x) + x),
            ("a gradient of ones it would have been right", lambda grad, x: grad - grad.mean()),
            ("has the shape", lambda grad, x: grad.mean()),
        ],
        "right": [_standardize_by_three_ways, _standardize_with_sums, _standardize_by_jacobian],
    },
}
