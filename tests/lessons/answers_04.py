"""Typical wrong answers and differently written right ones, for the exercises of lesson 04."""

import numpy as np

import minigrad as torch


def _log(note):
    """Make a log_sizes whose hook calls note(sizes, name, grad)."""

    def log_sizes(tensors):
        sizes = {}
        for name, tensor in tensors.items():
            tensor.register_hook(lambda grad, name=name: note(sizes, name, grad))
        return sizes

    return log_sizes


def _steps(step, register="register_post_accumulate_grad_hook"):
    """Make a momentum_in_backward whose hook calls step(p, velocities, lr, momentum)."""

    def momentum_in_backward(parameters, lr, momentum):
        v = {}
        return [getattr(p, register)(lambda p: step(p, v, lr, momentum)) for p in parameters]

    return momentum_in_backward


def _step(p, v, lr, momentum):
    v[id(p)] = momentum * v.get(id(p), 0) + lr * p.grad
    p.data = p.data - v[id(p)]
    p.grad = None


def _step_shared(p, v, lr, momentum):
    v["v"] = momentum * v.get("v", 0) + p.grad
    p.sub_(lr * v["v"])
    p.grad = None


def _step_sgd(p, v, lr, momentum):
    sgd = v.setdefault(id(p), torch.optim.SGD([p], lr=lr, momentum=momentum))
    sgd.step()
    sgd.zero_grad()


def _parts(x, n, hook, make=torch.clone, arrange=lambda i, grad: (i, grad)):
    made = [make(x) for _ in range(n)]
    for i, each in enumerate(made):
        each.register_hook(lambda grad, i=i: hook(*arrange(i, grad)))
    return made


def _parts_unbound(x, n, hook):
    made = torch.stack([x] * n).unbind(0)
    for i in range(n):
        made[i].register_hook(lambda grad, number=i: hook(number, grad))
    return made


ANSWERS = {
    "04.1": {
        "wrong": [
            ("without any hook", (25, -5, 7.5)),
            ("3 are asked for", (4, -1.5)),
            ("opposite order", (3.75, -1.5, 4)),
            ("entry [2]", (4, -1.5, -3.75)),
            ("once, with their sum", (1, -1.5, 3.75)),
        ],
        "right": [(4, -1.5, 3.75), [4.0, -1.5, 3.75], np.array([4, -1.5, 3.75])],
    },
    "04.2": {
        "wrong": [
            ("norm of zero", lambda limit: lambda g: g * min(1.0, limit / g.norm().item())),
            ("stretched", lambda limit: lambda g: g * limit / (g.norm() + 1e-9)),
            ("wrote into the gradient", lambda limit: lambda g: g.mul_(0.5)),
            ("has to return a hook", lambda grad: grad / torch.tensor(grad).norm()),
            ("it takes nothing", lambda: 1.0),
        ],
        "right": [
            lambda limit: lambda g: g / max(1.0, float((g**2).sum()) ** 0.5 / limit),
            lambda limit: lambda g: g * (limit / g.norm()).clamp(max=1.0),
            lambda limit: lambda g: None if g.norm() <= limit else g.div(g.norm()).mul(limit),
        ],
    },
    "04.3": {
        "wrong": [
            ("has to return the dict", lambda tensors: [*tensors]),
            ("has to work without that", lambda tensors: tensors["out"].backward() or {}),
            ("['x']", _log(lambda d, n, g: d.clear() or d.update({n: g.norm()}))),
            ("Watching changed", _log(lambda d, n, g: d.update({n: g.pow_(2).sum().sqrt()}))),
            ("'x1'", lambda tensors: tensors["x1"].register_hook(print)),
        ],
        "right": [
            _log(lambda sizes, name, grad: sizes.update({name: torch.norm(grad)})),
            _log(lambda sizes, name, grad: sizes.__setitem__(name, float((grad**2).sum() ** 0.5))),
            _log(lambda sizes, name, grad: sizes.update({name: np.linalg.norm(grad.numpy())})),
        ],
    },
    "04.4": {
        "wrong": [
            ("four of them add up", ("a", "because it clips every gradient that comes")),
            ("retain_grad does nothing", ("c", "because retain_grad runs after the hooks")),
            ("Add your reason", "b"),
            ("letters a, b, c, d", ("e", "none of these can do it")),
            ("letters a, b, c, d", 2),
        ],
        "right": [("b", "it sees the sum"), ["(B)", "it clamps the total"], "b) all passes are in"],
    },
    "04.5": {
        "wrong": [
            ("one velocity", _steps(_step_shared)),
            (".grad isn't None", _steps(lambda p, v, lr, m: v.update({p: p.sub_(lr * p.grad)}))),
            ("a .grad that is None", _steps(_step, register="register_hook")),
            ("some parameter still moves", lambda *args: _steps(_step)(*args)[:1]),
            ("list of handles", lambda *args: _steps(_step)(*args)[0]),
        ],
        "right": [
            _steps(_step),
            _steps(_step_sgd),
            lambda ps, *rates: tuple(h for p in ps for h in _steps(_step)([p], *rates)),
        ],
    },
    "04.6": {
        "wrong": [
            ("sees the whole sum", lambda x, n, hook: _parts(x, n, hook, make=lambda x: x)),
            ("number first", lambda *args: _parts(*args, arrange=lambda i, grad: (grad, i))),
            ("list of n tensors", lambda x, n, hook: _parts(x, 3, hook)),
            ("[1, 2, 3]", lambda *args: _parts(*args, arrange=lambda i, grad: (i + 1, grad))),
            ("list of values", lambda *args: _parts(*args, make=lambda x: x / 3)),
        ],
        "right": [_parts, _parts_unbound, lambda *args: (*_parts(*args, make=lambda x: x + 0),)],
    },
}
