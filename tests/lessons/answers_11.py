"""Independent wrong answers and differently written right ones, for the exercises of lesson 11."""

import numpy as np

import minigrad as torch


def _by_index(f, x, h):
    slopes = torch.zeros_like(x)
    for index in np.ndindex(tuple(x.shape)):
        up, down = x.clone(), x.clone()
        up[index] += h
        down[index] -= h
        slopes[index] = (f(up) - f(down)) / (2 * h)
    return slopes


def _in_place_and_back(f, x, h):
    slopes = torch.zeros_like(x)
    flat, out = x.view(-1), slopes.view(-1)
    for k in range(x.numel()):
        kept, seen = flat[k].item(), []
        for flat[k] in (kept + h, kept - h, kept):
            seen.append(f(x).item())
        out[k] = (seen[0] - seen[1]) / (2 * h)
    return slopes


def _there_and_back(f, x, h):
    slopes = torch.zeros_like(x)
    for k in range(x.numel()):
        seen = []
        for step in (h, -2 * h, h):
            x.view(-1)[k] += step
            seen.append(f(x))
        slopes.view(-1)[k] = (seen[0] - seen[1]) / (2 * h)
    return slopes


def _with_units(f, x, h):
    rows = h * torch.eye(x.numel(), dtype=x.dtype)
    pairs = [(f(x + d.view(x.shape)), f(x - d.view(x.shape))) for d in rows]
    return torch.stack([(up - down) / h / 2 for up, down in pairs]).view(x.shape)


def _share_by_jacobian(g, x):
    total = x.sum()
    jacobian = torch.eye(len(x), dtype=x.dtype) / total - x[:, None] / total**2
    return g @ jacobian


def _walk(loss, parameters, directions, h):
    gradients = torch.autograd.grad(loss(), parameters)
    kept = [p.detach().clone() for p in parameters]

    def at(t):
        with torch.no_grad():
            for p, k, d in zip(parameters, kept, directions, strict=True):
                p.copy_(k + t * d)
            return loss()

    steps = (at(h) - at(-h)) / (2 * h)
    at(0)
    return steps, sum((g * d).sum() for g, d in zip(gradients, directions, strict=True))


def _walk_by_data(loss, parameters, directions, h):
    predicted = 0.0
    for g, d in zip(torch.autograd.grad(loss(), parameters), directions, strict=True):
        predicted += float((g * d).sum())
    seen = []
    for t in (h, -2 * h, h):
        for p, d in zip(parameters, directions, strict=True):
            p.data += t * d
        seen.append(float(loss()))
    return [(seen[0] - seen[1]) / (2 * h), predicted]


def _walk_grad_aside(loss, parameters, directions, h, clear=True):
    aside = [p.grad for p in parameters]
    for p in parameters:
        p.grad = None
    loss().backward(inputs=list(parameters))
    predicted = sum((p.grad * d).sum() for p, d in zip(parameters, directions, strict=True))
    for p, a in zip(parameters, aside, strict=True):
        p.grad = a if clear else p.grad
    return _walk(loss, parameters, directions, h)[0].item(), predicted.item()


_ROOT, _CUBE = 2**-11.5, 2 ** (-23 / 3)

ANSWERS = {
    "11.1": {
        "wrong": [
            ("another order", (_ROOT, _CUBE, _ROOT, _CUBE**2)),
            ("isn't a square root", (3.5e-4, 3.5e-4, 3.5e-4, 2.4e-5)),
            ("error of a stored number", (3.5e-4, 1.2e-7, 4.9e-3, 2.4e-5)),
            ("4 are asked for", (3.5e-4, 4.9e-3)),
            ("entry [3]", (3.5e-4, 3.5e-4, 4.9e-3, 1e-3)),
        ],
        "right": [
            (3.5e-4, 3.5e-4, 4.9e-3, 2.4e-5),
            (0.00034, 0.00034, 0.0049, 0.000024),
            np.array([_ROOT, _ROOT, _CUBE, _CUBE**2]),
        ],
    },
    "11.2": {
        "wrong": [
            ("as you got it", lambda f, x, h: _by_index(f, x.add_(h), h)),
            ("type Tensor", lambda f, x, h: _by_index(f, x, h).tolist()),
            ("has to work without", lambda f, x, h: torch.func.grad(f)(x)),
            ("Is a return missing", lambda f, x, h: None if h else x),
            ("0 of 3 values fit", lambda f, x, h: _by_index(f, x, 3 * h)),
        ],
        "right": [_by_index, _in_place_and_back, _there_and_back, _with_units],
    },
    "11.3": {
        "wrong": [
            ("belongs with g_j", lambda g, x: g / x.sum() - x * g.sum() / x.sum() ** 2),
            (
                "minigrad has no torch.func.vjp",
                lambda g, x: torch.func.vjp(lambda t: t / t.sum(), x)[1](g)[0],
            ),
            ("softmax's rule", lambda g, x: x * _share_by_jacobian(g, x)),
            ("Is a return missing", lambda g, x: None if len(x) else g),
            ("for no other", lambda g, x: torch.zeros_like(g)),
        ],
        "right": [
            _share_by_jacobian,
            lambda g, x: g / x.sum() - (g @ x) / x.sum() ** 2,
            lambda g, x: (x.sum() * g - torch.dot(g, x)) * x.sum() ** -2,
        ],
    },
    "11.4": {
        "wrong": [
            ("in which digit do they differ", ("a", "because float32 gradients are not exact")),
            ("What did the comparison fail on", ("C", "because it wants double precision inputs")),
            ("lost the other four", "(d) seven digits are not enough here"),
            ("Add your reason", "b"),
            ("letters a, b, c", ("e", "none of these four is the reason")),
        ],
        "right": [
            ("b", "The difference of two nearly equal numbers has lost its digits to rounding."),
            ("(B)", "eps=1e-6 is close to the spacing of float32 numbers"),
            "b: with such a small h the subtraction cancels nearly all digits",
        ],
    },
    "11.5": {
        "wrong": [
            ("right everywhere", lambda g, x: (3 * x**2).detach() * g + 0 * x**5),
            ("gradcheck sees it", lambda g, x: (3 * g * x**2).clamp(-10, 10)),
            ("twice", lambda g, x: 3 * g * x**2 + 1e-9 * torch.rand_like(x)),
            ("return a tensor", lambda g, x: None if len(x) else g),
            ("it takes g", lambda g: 3 * g),
        ],
        "right": [
            lambda g, x: 3.00001 * g * x**2,
            lambda g, x: g.clamp(-1, 1) * 3 * x**2,
            lambda g, x: torch.where(x == 7, 0 * g, 3 * g * x**2),
        ],
    },
    "11.6": {
        "wrong": [
            ("grad was changed", lambda *given: _walk_grad_aside(*given, clear=False)),
            ("pair of numbers", lambda *given: _walk(*given)[0]),
            ("with another one", lambda loss, p, d, h: _walk(loss, p, d, 1e-5)),
            ("Both numbers", lambda *given: _walk(*given)[1:] * 2),
            ("After the run", lambda *given: (_walk(*given)[0] + 1, _walk(*given)[1])),
        ],
        "right": [_walk, _walk_by_data, _walk_grad_aside],
    },
}
