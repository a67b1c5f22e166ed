"""Typical wrong answers and differently written right ones, for the exercises of lesson 15."""

import math

import minigrad as torch
from minigrad import nn

# ------------------------------------------------------------------ 15.1, turn


def _turn_by_module(h, strength):
    module = nn.Identity()
    module.register_full_backward_hook(lambda m, gi, go: (-strength * gi[0],))
    return module(h)


def _turn_by_clone(h, strength, asked=None):
    e = h.clone()
    if (e if asked is None else asked).requires_grad:
        e.register_hook(lambda g: -strength * g)
    return e


# ------------------------------------------------------------------ 15.2, quantize


class _Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.clamp(torch.round(x / 0.25) * 0.25, -1, 1)

    @staticmethod
    def backward(ctx, gradient):
        return gradient * (ctx.saved_tensors[0].abs() < 1)


def _quantize_masked(x):
    mask = ((x >= -1) & (x <= 1)).to(x.dtype)
    return (x * 4).round().div(4).clamp(-1, 1).detach() + x * mask - (x * mask).detach()


def _quantize_where(x):
    moving = torch.where(x.abs() < 1, x, x.detach())
    return moving + (_Quantize.apply(x) - moving).detach()


# ------------------------------------------------------------------ 15.3, mended_step


def _unscale(parameters, scale):
    for p in parameters:
        if p.grad is not None:
            p.grad = p.grad / scale


def _step_by_hand(optimizer, parameters, scale, limit):
    there = [p.grad for p in parameters if p.grad is not None]
    length = math.sqrt(sum((gradient / scale).pow(2).sum().item() for gradient in there))
    if not math.isfinite(length):
        return scale / 2
    for gradient in there:
        gradient.mul_(min(1.0, limit / (length + 1e-9)) / scale)
    optimizer.step()
    return scale


def _step_or_error(optimizer, parameters, scale, limit):
    _unscale(parameters, scale)
    try:
        nn.utils.clip_grad_norm_(parameters, limit, error_if_nonfinite=True)
    except RuntimeError:
        return scale * 0.5
    optimizer.step()
    return scale


def _step_scaled_limit(optimizer, parameters, scale, limit):
    if nn.utils.clip_grad_norm_(parameters, limit * scale).isfinite():
        _unscale(parameters, scale)
        optimizer.step()
        return scale
    return scale / 2


def _careless(optimizer, parameters, scale, limit):
    nn.utils.clip_grad_norm_(parameters, limit)
    _unscale(parameters, scale)
    optimizer.step()
    return scale


# ------------------------------------------------------------------ 15.4, per_sample


def _samples_by_loop(layer, run):
    inputs, deltas = [], []
    first = layer.register_forward_pre_hook(lambda m, args: inputs.extend(args[0].detach()))
    second = layer.register_full_backward_hook(lambda m, gi, go: deltas.extend(go[0]))
    run()
    first.remove()
    second.remove()
    pairs = zip(torch.stack(inputs), torch.stack(deltas), strict=True)
    rows = [(a.reshape(-1, a.shape[-1]), d.reshape(-1, d.shape[-1])) for a, d in pairs]
    return torch.stack([d.T @ a for a, d in rows]), torch.stack([d.sum(0) for _, d in rows])


def _samples_by_cases(layer, run):
    noted = []
    with (
        layer.register_forward_pre_hook(lambda m, args: noted.extend(args)),
        layer.register_full_backward_pre_hook(lambda m, grad_output: noted.extend(grad_output)),
    ):
        run()
    a, d = noted
    return (d[:, :, None] * a[:, None], d) if a.ndim == 2 else (d.mT @ a, d.sum(1))


def _samples_by_retained_grad(layer, run):
    kept = []
    hook = lambda module, args, out: kept.extend((args[0].detach(), out, out.retain_grad()))  # noqa: E731
    with layer.register_forward_hook(hook):
        run()
    a, d = kept[0], kept[1].grad
    return torch.einsum("n...o,n...i->noi", d, a), d.reshape(len(d), -1, d.shape[-1]).sum(1)


def _samples_and(leave):
    return lambda layer, run: (_samples_by_loop(layer, run), leave(layer))[0]


# ------------------------------------------------------------------ 15.6, private


def _private_by_loop(noted, limit):
    sums = [[torch.zeros(d.shape[1], a.shape[1]), torch.zeros(d.shape[1])] for a, d in noted]
    for n in range(len(noted[0][0])):
        grads = [(torch.outer(d[n], a[n]), d[n]) for a, d in noted]
        norm = math.sqrt(sum((w**2).sum().item() + (b**2).sum().item() for w, b in grads))
        for total, (w, b) in zip(sums, grads, strict=True):
            total[0] += min(1.0, limit / (norm or 1.0)) * w
            total[1] += min(1.0, limit / (norm or 1.0)) * b
    return sums


def _private_bias_as_weight(noted, limit):
    wide = [(torch.cat([a, torch.ones(len(a), 1)], dim=1), d) for a, d in noted]
    norms = torch.stack([a.norm(dim=1) * d.norm(dim=1) for a, d in wide]).norm(dim=0)
    both = [((limit / norms.clamp(min=limit))[:, None] * d).T @ a for a, d in wide]
    return [(each[:, :-1], each[:, -1]) for each in both]


def _private_by_rows(noted, limit, smooth=False):
    rows = [(torch.einsum("no,ni->noi", d, a), d) for a, d in noted]
    norm = sum((w**2).sum((1, 2)) + (b**2).sum(1) for w, b in rows).sqrt()
    f = limit / (norm + limit) if smooth else torch.where(norm > limit, limit / norm, 1.0)
    return [((f[:, None, None] * w).sum(0), (f[:, None] * b).sum(0)) for w, b in rows]


ANSWERS = {
    "15.1": {
        "wrong": [
            ("refuses a hook", lambda h, s: _turn_by_clone(h, s, h)),
            ("turn returned None", lambda h, s: _turn_by_module(h, s) if h.requires_grad else None),
            ("that number isn't -strength", lambda h, s: (1 - s) * h.detach() + s * h),
            ("isn't a multiple of what arrived", lambda h, s: h + s * (h.detach().abs() - h.abs())),
            ("Nothing should happen in the forward pass", lambda h, strength: -h),
        ],
        "right": [_turn_by_clone, lambda h, s: (1 + s) * h.detach() - s * h, _turn_by_module],
    },
    "15.2": {
        "wrong": [
            ("0 of 10 values fit", lambda x: (t := x.sin()) + (_quantize_masked(x) - t).detach()),
            ("2 of 10 values fit", lambda x: _quantize_masked(2 * x) / 2),
            ("6 of 10 values fit", lambda x: _Quantize.apply(x).abs()),
            ("It changed", lambda x: _quantize_masked(x) + 0 * x.data.clamp_(-1, 1)),
            ("quantize returned a list", lambda x: _quantize_masked(x).tolist()),
        ],
        "right": [_quantize_masked, _Quantize.apply, _quantize_where],
    },
    "15.3": {
        "wrong": [
            ("the step is made anyway", _careless),
            ("the scale isn't", lambda o, p, s, limit: 0 * _step_by_hand(o, p, s, limit) + s),
            ("shorter by the scale", lambda o, p, s, limit: _step_by_hand(o, p, s, limit / s)),
            ("It has to return the scale", lambda *given: print(_step_by_hand(*given))),
            ("in the step after an overflow", lambda o, p, s, _: _step_by_hand(o, p, s, 7.0)),
        ],
        "right": [_step_by_hand, _step_or_error, _step_scaled_limit],
    },
    "15.4": {
        "wrong": [
            ("The shapes are wrong", lambda *given: [t.mT for t in _samples_by_loop(*given)]),
            (
                "of somebody else's is gone",
                _samples_and(lambda layer: layer._forward_hooks.clear()),
            ),
            ("is still registered", _samples_and(lambda layer: layer.register_forward_hook(print))),
            ("It has to return two tensors", lambda *given: _samples_by_loop(*given)[0]),
            ("values fit", lambda *given: [t.abs() for t in _samples_by_loop(*given)]),
        ],
        "right": [_samples_by_loop, _samples_by_cases, _samples_by_retained_grad],
    },
    "15.5": {
        "wrong": [
            ("a fixed amount", (-0.05, -0.4, -0.45)),
            ("2 of 3 values fit", (0, -0.976, -0.94)),
            ("entry [1]", (0, -0.9, -0.905)),
            ("3 are asked for", (0, -0.976)),
            ("wants numbers", "momentum"),
        ],
        "right": [
            [0.0, -0.976, -0.905],
            torch.tensor([0.0, -0.976, -0.905]),
            {"decay": 0, "momentum": -0.976, "both": -0.905},
        ],
    },
    "15.6": {
        "wrong": [
            ("values fit", lambda noted, limit: _private_by_rows(noted, limit, smooth=True)),
            ("0 of 9 values fit", lambda noted, limit: _private_by_loop(noted, 1.0)),
            ("return missing", lambda noted, limit: _private_by_loop(noted, limit).clear()),
            (
                "to be of type list",
                lambda *given: dict(enumerate(_private_by_loop(*given))),
            ),
            ("it takes noted", lambda noted: noted),
        ],
        "right": [_private_by_loop, _private_bias_as_weight, _private_by_rows],
    },
}
