"""Independent wrong answers and differently written right ones, for the exercises of lesson 12."""

import numpy as np

import minigrad as torch
from minigrad.autograd import grad


def _hvp(f, x, v):
    x = x.clone().detach().requires_grad_(True)
    gradient = grad(f(x), x, create_graph=True)[0]
    return grad(gradient @ v, x)[0]


def _hvp_by_backward(f, x, v):
    x = x.detach().requires_grad_()
    grad(f(x), x, create_graph=True)[0].mul(v).sum().backward()
    return x.grad


def _hvp_by_func(f, x, v):
    return torch.func.grad(lambda t: (torch.func.grad(f)(t) * v).sum())(x.detach())


def _hvp_keeping(f, x, v, kept=[]):  # noqa: B006
    x = x.detach().requires_grad_()
    kept.append((x, grad(f(x), x, create_graph=True)[0]))
    x, gradient = kept[0]
    return grad((gradient * v).sum(), x, retain_graph=True)[0]


def _slopes(f, x, **options):
    x = x.detach().requires_grad_()
    return grad(f(x).sum(), x, **options)[0]


def _penalty(f, x, limit):
    slopes = _slopes(f, x, create_graph=True)
    return torch.mean(torch.relu((slopes**2).sum(dim=1).sqrt() - limit).square())


def _penalty_by_ones(f, x, limit):
    x = x.detach().requires_grad_()
    out = f(x)
    (slopes,) = grad(out, x, grad_outputs=torch.ones_like(out), create_graph=True)
    excess = torch.linalg.vector_norm(slopes, dim=-1) - limit
    return torch.where(excess > 0, excess**2, torch.zeros_like(excess)).sum() / len(x)


def _penalty_by_norm(f, x, limit):
    excess = _slopes(f, x, create_graph=True).norm(2, 1) - limit
    return excess.clamp(min=0).square().sum() / x.shape[0]


def _penalty_pretends(f, x, limit):
    lengths = _slopes(f, x).requires_grad_().norm(dim=1)
    return ((lengths - limit).clamp(min=0) ** 2).mean()


def _penalty_changes_x(f, x, limit):
    return _penalty(f, x.requires_grad_(), limit)


def _penalty_of_all(f, x, limit):
    return torch.relu((_slopes(f, x, create_graph=True) ** 2).sum().sqrt() - limit) ** 2


def _tower(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    floors = [f(x)]
    while len(floors) <= n:
        last, found = floors[-1], None
        if last.requires_grad:
            (found,) = grad(last, x, create_graph=True, allow_unused=True)
        floors.append(torch.zeros_like(x) if found is None else found)
    return floors


def _tower_added_zero(f, x, n):
    x = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    value, floors = f(x) + 0 * x, []
    for _ in range(n):
        floors.append(value.item())
        value = grad(value, x, create_graph=True)[0] + 0 * x
    return (*floors, value.item())


def _tower_by_func(f, x, n):
    level, floors = lambda t: f(t) + 0 * t, []
    for _ in range(n + 1):
        floors.append(level(torch.tensor(x)).item())
        level = torch.func.grad(level)
    return floors


def _tower_repeats(f, x, n):
    x = torch.tensor(x, requires_grad=True)
    floors = [f(x)]
    for _ in range(n):
        try:
            floors.append(grad(floors[-1], x, create_graph=True)[0])
        except RuntimeError:
            floors.append(floors[-1])
    return floors


ANSWERS = {
    "12.1": {
        "wrong": [
            ("2 are asked for", -0.384),
            ("opposite order", (-0.432, 0.048)),
            ("look for a lost or extra minus", (-0.048, 0.432)),
            ("4x and y - 1 both stay", (0.048, -2.16)),
            ("entry [1]", (0.048, 0.0)),
        ],
        "right": [(0.048, -0.432), np.array([0.048, -0.432]), [4 * 1.5 * 0.008, 0.8 * -0.54]],
    },
    "12.2": {
        "wrong": [
            ("differentiated once", lambda f, x, v: torch.func.grad(f)(x.detach())),
            ("kept from the first", _hvp_keeping),
            ("look for a lost or extra minus", lambda f, x, v: -_hvp(f, x, v)),
            ("without that", lambda f, x, v: torch.autograd.functional.hvp(f, x, v)[1]),
            ("Is a return missing", lambda f, x, v: [_hvp(f, x, v)].clear()),
        ],
        "right": [_hvp, _hvp_by_backward, _hvp_by_func],
    },
    "12.3": {
        "wrong": [
            ("No path leads", _penalty_pretends),
            ("requires a gradient now", _penalty_changes_x),
            ("one norm for the whole batch", _penalty_of_all),
            ("After the run", lambda f, x, limit: _penalty(f, x, limit) + 1),
            ("it takes f", lambda f: f),
        ],
        "right": [_penalty, _penalty_by_ones, _penalty_by_norm],
    },
    "12.4": {
        "wrong": [
            ("with respect to what", ("a", "because the second derivative of ReLU is zero")),
            ("computes nothing", "b) the graph has to be retained for it"),
            ("doesn't: look", ("D", "because PyTorch smooths the kink of the ReLU function")),
            ("Add your reason", "c"),
            ("letters a, b, c", ("e", "none of these will do it at all")),
        ],
        "right": [
            ("c", "because for f(x) = w*relu(x) the slope is w, and its derivative by w is 1"),
            ["(C)", "twice by x gives zero, once by x and once by a weight does not"],
            "c: the slope is a product of the weights that are switched on",
        ],
    },
    "12.5": {
        "wrong": [
            ("opposite order", (4500, 5625)),
            ("2 are asked for", (5625,)),
            ("Write g as a formula", (5625, 4501.5 * 3)),
            ("the 3 is squared", (1875, 1500)),
            ("0 of 2 values fit", (6000, 5000)),
        ],
        "right": [(5625, 4500), [5625.0, 4500.0], torch.tensor([5625.0, 4500.0])],
    },
    "12.6": {
        "wrong": [
            ("After the run", lambda f, x, n: [t / (1 + n) for t in _tower(f, x, n)]),
            ("You repeat the last", _tower_repeats),
            ("5 are asked for", lambda f, x, n: _tower(f, x, n + 1)),
            ("asked for a list", lambda f, x, n: _tower(f, x, n)[-1].item()),
            ("opposite order", lambda f, x, n: _tower(f, x, n)[::-1]),
        ],
        "right": [_tower, _tower_added_zero, _tower_by_func],
    },
}
