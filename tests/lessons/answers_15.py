"""Typical wrong answers and differently written right ones, for the exercises of lesson 15."""

import math

import minigrad as torch
from minigrad import nn

# ------------------------------------------------------------------ 15.1, turn


def _turn(h, strength):
    e = h * 1
    if e.requires_grad:
        e.register_hook(lambda g: g * -strength)
    return e


def _turn_by_clone(h, strength):
    def reverse(gradient):
        return gradient.neg().mul(strength)

    copy = h.clone()
    if not copy.requires_grad:
        return copy
    copy.register_hook(reverse)
    return copy


class _Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h, strength):
        ctx.strength = strength
        return h.view_as(h)

    @staticmethod
    def backward(ctx, gradient):
        return -ctx.strength * gradient, None


def _turn_by_trick(h, strength):
    return (1 + strength) * h.detach() - strength * h


def _turn_by_module(h, strength):
    module = nn.Identity()
    module.register_full_backward_hook(lambda m, gi, go: (-strength * gi[0],))
    return module(h)


def _turn_if_recorded(h, strength):
    if torch.is_grad_enabled() and h.requires_grad:
        h = h + 0
        h.register_hook(lambda g, s=strength: -s * g)
    return h


def _turning(hook, copies=True, guarded=True):
    def turn(h, strength):
        e = h * 1 if copies else h
        if e.requires_grad or not guarded:
            e.register_hook(lambda g: hook(g, strength))
        return e

    return turn


def _turn_kept_argument(h, strength):
    h.register_hook(lambda g: -strength * g)
    return h


def _turn_hook_on_h_copy_back(h, strength):
    e = h * 1
    if h.requires_grad:
        h.register_hook(lambda g: -strength * g)
    return e


def _turn_returns_h(h, strength):
    e = h * 1
    if e.requires_grad:
        e.register_hook(lambda g: -strength * g)
    return h


def _turn_forgets(h, strength):
    _turn(h, strength)


def _in_place(gradient, strength):
    gradient.mul_(-strength)
    return gradient


def _in_place_silently(gradient, strength):
    gradient *= -strength


def _local_only(gradient, strength):
    gradient = -strength * gradient


def _turn_detached(h, strength):
    e = h.detach().requires_grad_()
    e.register_hook(lambda g: -strength * g)
    return e


def _turn_hook_with_two(h, strength):
    e = h * 1
    if e.requires_grad:
        e.register_hook(lambda g, s: -s * g)
    return e


def _turn_values(h, strength):
    e = h * 1
    if e.requires_grad:
        e.register_hook(lambda g: -strength * e.detach())
    return e


def _turn_asks_the_wrong_one(h, strength):
    e = h * 1
    if h.requires_grad:
        e.register_hook(lambda g: -strength * g)
    return e


# ------------------------------------------------------------------ 15.2, quantize


def _quantize(x):
    c = x.clamp(-1, 1)
    return c + (torch.round(c * 4) / 4 - c).detach()


def _quantize_masked(x):
    q = (x * 4).round().div(4).clamp(-1, 1).detach()
    mask = ((x >= -1) & (x <= 1)).to(x.dtype)
    return q + x * mask - (x * mask).detach()


class _Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.clamp(torch.round(x / 0.25) * 0.25, -1, 1)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() < 1)


class _QuantizeEverywhere(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.clamp(torch.round(4 * x) / 4, -1, 1)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class _QuantizeMask(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.clamp(torch.round(4 * x) / 4, -1, 1)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return (x.abs() < 1).to(x.dtype)


def _quantize_by_hook(x):
    c = x.clamp(-1, 1)
    q = ((4 * c).round() / 4).detach()
    if not x.requires_grad:
        return q
    inside = (x.detach().abs() <= 1).to(x.dtype)
    e = x * 1
    e.register_hook(lambda g: g * inside)
    return e + (q - e).detach()


def _quantize_forgets(x):
    _quantize(x)


def _quarters(x):
    return (4 * x).round() / 4


def _through(value, moving=lambda x: x.clamp(-1, 1)):
    def quantize(x):
        m = moving(x)
        return m + (value(x) - m).detach()

    return quantize


def _right_value(x):
    return _quarters(x.clamp(-1, 1))


# ------------------------------------------------------------------ 15.3, mended_step


def _finite(parameters):
    return all(torch.isfinite(p.grad).all() for p in parameters if p.grad is not None)


def _unscale(parameters, scale):
    for p in parameters:
        if p.grad is not None:
            p.grad /= scale


def _step(optimizer, parameters, scale, limit):
    _unscale(parameters, scale)
    if not _finite(parameters):
        optimizer.zero_grad()
        return scale * 0.5
    nn.utils.clip_grad_norm_(parameters, limit)
    optimizer.step()
    return scale


def _step_by_norm(optimizer, parameters, scale, limit):
    for p in parameters:
        if p.grad is not None:
            p.grad = p.grad / scale
    norm = nn.utils.clip_grad_norm_(parameters, max_norm=limit)
    if not math.isfinite(norm):
        return scale / 2
    optimizer.step()
    optimizer.zero_grad()
    return scale


def _step_by_hand(optimizer, parameters, scale, limit):
    total = 0.0
    for p in parameters:
        if p.grad is None:
            continue
        p.grad.data.div_(scale)
        if p.grad.isinf().any() or p.grad.isnan().any():
            return scale / 2
        total += p.grad.pow(2).sum().item()
    factor = limit / (math.sqrt(total) + 1e-6)
    if factor < 1:
        for p in parameters:
            if p.grad is not None:
                p.grad.mul_(factor)
    optimizer.step()
    return scale


def _step_else(optimizer, parameters, scale, limit):
    there = [p for p in parameters if p.grad is not None]
    overflow = any((~torch.isfinite(p.grad)).any().item() for p in there)
    if overflow:
        scale = scale / 2
    else:
        for p in there:
            p.grad.copy_(p.grad / scale)
        nn.utils.clip_grad_norm_(there, limit)
        optimizer.step()
    return scale


def _stepping(
    unscale=_unscale,
    finite=_finite,
    clip=nn.utils.clip_grad_norm_,
    early=False,
    bad=lambda o, p, s: s / 2,
    good=lambda s: s,
    steps=True,
):
    def mended_step(optimizer, parameters, scale, limit):
        fine = finite(parameters)
        if not fine:
            answer = bad(optimizer, parameters, scale)
            if answer is not None:
                return answer
        if early:
            clip(parameters, limit)
        unscale(parameters, scale)
        if not early:
            clip(parameters, limit)
        if steps:
            optimizer.step()
        return good(scale) if fine else scale / 2

    return mended_step


def _keep_finite(optimizer, parameters, scale):
    for p in parameters:
        if p.grad is not None:
            p.grad = torch.where(p.grad.isfinite(), p.grad / scale, torch.zeros_like(p.grad))
    optimizer.step()
    return scale / 2


def _all_zeros(optimizer, parameters, scale):
    for p in parameters:
        if p.grad is not None:
            p.grad = torch.zeros_like(p.grad)
    optimizer.step()
    return scale / 2


def _each_clipped(parameters, limit):
    for p in parameters:
        nn.utils.clip_grad_norm_([p], limit)


def _to_length(parameters, limit):
    there = [p for p in parameters if p.grad is not None]
    norm = torch.cat([p.grad.flatten() for p in there]).norm()
    for p in there:
        p.grad *= limit / norm


def _not_nan(parameters):
    return not any(p.grad.isnan().any() for p in parameters if p.grad is not None)


def _not_inf(parameters):
    return not any(p.grad.isinf().any() for p in parameters if p.grad is not None)


def _not_plus(parameters):
    bad = (p.grad.isnan() | (p.grad == math.inf) for p in parameters if p.grad is not None)
    return not any(each.any() for each in bad)


def _first_only(parameters):
    return parameters[0].grad.isfinite().all().item()


def _not_all(parameters):
    return all(p.grad.isfinite().any() for p in parameters if p.grad is not None)


def _step_late(optimizer, parameters, scale, limit):
    _unscale(parameters, scale)
    nn.utils.clip_grad_norm_(parameters, limit)
    optimizer.step()
    return scale if _finite(parameters) else scale / 2


def _careless(optimizer, parameters, scale, limit):
    nn.utils.clip_grad_norm_(parameters, limit)
    _unscale(parameters, scale)
    optimizer.step()
    return scale


def _no_return(optimizer, parameters, scale, limit):
    _step(optimizer, parameters, scale, limit)


def _none_forgotten(optimizer, parameters, scale, limit):
    for p in parameters:
        p.grad /= scale
    return _step(optimizer, parameters, 1.0, limit)


def _skips_parameters(optimizer, parameters, scale, limit):
    _unscale(parameters, scale)
    fine = _finite(parameters)
    for p in parameters:
        if p.grad is not None and not p.grad.isfinite().all():
            p.grad = None
    nn.utils.clip_grad_norm_(parameters, limit)
    optimizer.step()
    return scale if fine else scale / 2


def _emptied_too_early(optimizer, parameters, scale, limit):
    if not _finite(parameters):
        return scale / 2
    _unscale(parameters, scale)
    optimizer.zero_grad()
    optimizer.step()
    return scale


def _in_the_loop(optimizer, parameters, scale, limit):
    for p in parameters:
        if p.grad is not None:
            p.grad /= scale
            if not p.grad.isfinite().all():
                return scale / 2
            nn.utils.clip_grad_norm_(parameters, limit)
            optimizer.step()
    return scale


def _twice(optimizer, parameters, scale, limit):
    scale = _step_else(optimizer, parameters, scale, limit)
    optimizer.step()
    return scale


def _step_or_error(optimizer, parameters, scale, limit):
    _unscale(parameters, scale)
    try:
        nn.utils.clip_grad_norm_(parameters, limit, error_if_nonfinite=True)
    except RuntimeError:
        return scale / 2
    optimizer.step()
    return scale


def _step_scaled_limit(optimizer, parameters, scale, limit):
    if not _finite(parameters):
        return 0.5 * scale
    nn.utils.clip_grad_norm_(parameters, limit * scale)
    _unscale(parameters, scale)
    optimizer.step()
    return scale


# ------------------------------------------------------------------ 15.4, per_sample


def _note(layer, run, prepend=False):
    noted = {}

    def forward(module, args, out):
        noted["a"] = args[0].detach()
        out.register_hook(lambda g: noted.update(d=g.detach()))

    handle = layer.register_forward_hook(forward)
    try:
        run()
    finally:
        handle.remove()
    return noted["a"], noted["d"]


def _samples(layer, run):
    a, d = _note(layer, run)
    a, d = a.reshape(a.shape[0], -1, a.shape[-1]), d.reshape(d.shape[0], -1, d.shape[-1])
    return d.transpose(1, 2) @ a, d.sum(1)


def _samples_by_loop(layer, run):
    seen = []
    first = layer.register_forward_pre_hook(lambda m, args: seen.append(args[0]))
    second = layer.register_full_backward_hook(lambda m, gi, go: seen.append(go[0]))
    run()
    first.remove()
    second.remove()
    weights, biases = [], []
    for a, d in zip(*seen, strict=True):
        if a.dim() == 1:
            a, d = a[None], d[None]
        weights.append((d.T @ a).detach())
        biases.append(d.sum(0))
    return torch.stack(weights), torch.stack(biases)


def _samples_by_cases(layer, run):
    noted = []

    def keep(module, args):
        noted.append(args[0])

    def keep_back(module, grad_output):
        noted.append(grad_output[0])

    with (
        layer.register_forward_pre_hook(keep),
        layer.register_full_backward_pre_hook(keep_back),
    ):
        run()
    a, d = noted
    if a.ndim == 2:
        return d[:, :, None] * a[:, None, :], d
    return torch.einsum("nto,nti->noi", d, a), d.sum(dim=1)


def _samples_as(compute):
    return lambda layer, run: compute(*_note(layer, run))


def _flat(t):
    return t.reshape(len(t), -1, t.shape[-1])


def _outer(a, d):
    return torch.einsum("nto,nti->noi", _flat(d), _flat(a)), _flat(d).sum(1)


def _samples_left(layer, run):
    noted = {}

    def forward(module, args, out):
        noted["a"] = args[0].detach()
        out.register_hook(lambda g: noted.update(d=g))

    layer.register_forward_hook(forward)
    run()
    return _outer(noted["a"], noted["d"])


def _samples_late(layer, run):
    noted = {}
    run()
    with layer.register_forward_hook(lambda m, args, out: noted.update(a=args[0])):
        return noted["a"], noted["a"]


def _samples_sum(layer, run):
    run()
    return layer.weight.grad, layer.bias.grad


def _samples_repeated(layer, run):
    n = len(_note(layer, run)[0])
    return torch.stack([layer.weight.grad] * n), torch.stack([layer.bias.grad] * n)


def _samples_twice(layer, run):
    found = _samples(layer, run)
    run()
    return found


def _samples_replacing(layer, run):
    noted = {}
    hook = lambda m, args, out: noted.setdefault("a", args[0])  # noqa: E731
    back = layer.register_full_backward_hook(lambda m, gi, go: noted.setdefault("d", go[0]))
    with layer.register_forward_hook(hook), back:
        run()
    return _outer(noted["a"], noted["d"])


def _samples_of_output(layer, run):
    noted = {}

    def forward(module, args, out):
        noted["a"] = out.detach()
        out.register_hook(lambda g: noted.update(d=g))

    with layer.register_forward_hook(forward):
        run()
    return _outer(noted["a"], noted["d"])


def _samples_grad_input(layer, run):
    noted = {}

    def forward(module, args):
        noted["a"] = args[0].detach()

    def back(module, grad_input, grad_output):
        noted["d"] = grad_input[0]

    with layer.register_forward_pre_hook(forward), layer.register_full_backward_hook(back):
        run()
    return _outer(noted["a"], noted["d"])


def _samples_whole_tuple(layer, run):
    noted = {}

    def forward(module, args, out):
        noted["a"] = args
        out.register_hook(lambda g: noted.update(d=g))

    with layer.register_forward_hook(forward):
        run()
    return torch.einsum("no,ni->noi", noted["d"], noted["a"]), noted["d"]


# ------------------------------------------------------------------ 15.6, private


def _rows(noted):
    return [(torch.einsum("no,ni->noi", d, a), d) for a, d in noted]


def _private(noted, limit):
    rows = _rows(noted)
    total = sum((w**2).sum((1, 2)) + (b**2).sum(1) for w, b in rows)
    norm = total.sqrt()
    factor = torch.where(norm > limit, limit / norm, torch.ones_like(norm))
    return [((factor[:, None, None] * w).sum(0), (factor[:, None] * b).sum(0)) for w, b in rows]


def _private_by_loop(noted, limit):
    sums = [[torch.zeros(d.shape[1], a.shape[1]), torch.zeros(d.shape[1])] for a, d in noted]
    for n in range(len(noted[0][0])):
        grads = [(torch.outer(d[n], a[n]), d[n]) for a, d in noted]
        norm = math.sqrt(sum((w**2).sum().item() + (b**2).sum().item() for w, b in grads))
        scale = min(1.0, limit / norm) if norm > 0 else 1.0
        for total, (w, b) in zip(sums, grads, strict=True):
            total[0] += scale * w
            total[1] += scale * b
    return sums


def _private_short(noted, limit):
    length = sum(d.square().sum(1) * (1 + a.square().sum(1)) for a, d in noted).sqrt()
    f = torch.clamp(limit / (length + 1e-9), max=1.0).unsqueeze(1)
    return [((d * f).T @ a, (d * f).sum(dim=0)) for a, d in noted]


def _private_bias_as_weight(noted, limit):
    wide = [(torch.cat([a, torch.ones(len(a), 1)], dim=1), d) for a, d in noted]
    norms = torch.stack([a.norm(dim=1) * d.norm(dim=1) for a, d in wide]).norm(dim=0)
    f = (limit / norms.clamp(min=limit))[:, None]
    both = [(f * d).T @ a for a, d in wide]
    return [(each[:, :-1], each[:, -1]) for each in both]


def _clipping(norms=None, factor=None, after=lambda pairs, n: pairs):
    def private(noted, limit):
        rows = _rows(noted)
        lengths = (norms or _all_norms)(rows)
        found = []
        for (w, b), length in zip(rows, lengths, strict=True):
            f = (factor or _down)(length, limit)
            found.append(((f[:, None, None] * w).sum(0), (f[:, None] * b).sum(0)))
        return after(found, len(rows[0][0]))

    return private


def _squares(rows):
    return [(w**2).sum((1, 2)) + (b**2).sum(1) for w, b in rows]


def _all_norms(rows):
    return [sum(_squares(rows)).sqrt()] * len(rows)


def _down(length, limit):
    return torch.where(length > limit, limit / length, torch.ones_like(length))


def _sum_first(noted, limit):
    sums = [(d.T @ a, d.sum(0)) for a, d in noted]
    norm = torch.cat([each.flatten() for pair in sums for each in pair]).norm()
    f = min(1.0, (limit / norm).item())
    return [(f * w, f * b) for w, b in sums]


def _weight_and_bias_apart(noted, limit):
    found = []
    for w, b in _rows(noted):
        f, g = _down((w**2).sum((1, 2)).sqrt(), limit), _down((b**2).sum(1).sqrt(), limit)
        found.append(((f[:, None, None] * w).sum(0), (g[:, None] * b).sum(0)))
    return found


def _weights_and_biases_apart(noted, limit):
    rows = _rows(noted)
    f = _down(sum((w**2).sum((1, 2)) for w, b in rows).sqrt(), limit)
    g = _down(sum((b**2).sum(1) for w, b in rows).sqrt(), limit)
    return [((f[:, None, None] * w).sum(0), (g[:, None] * b).sum(0)) for w, b in rows]


def _weight_plus_bias(w, b):
    return (w**2).sum((1, 2)).sqrt() + (b**2).sum(1).sqrt()


def _swapped_lengths(noted, limit):
    f = _down(sum((d**2).sum(1) * ((a**2).sum(1) + 1) for d, a in noted).sqrt(), limit)
    return [((f[:, None] * d).T @ a, (f[:, None] * d).sum(0)) for a, d in noted]


def _sums_multiplied(noted, limit):
    f = _down(_all_norms(_rows(noted))[0], limit)[:, None]
    return [(torch.outer((f * d).sum(0), a.sum(0)), (f * d).sum(0)) for a, d in noted]


def _entries(noted, limit):
    return [(w.clamp(-limit, limit).sum(0), b.clamp(-limit, limit).sum(0)) for w, b in _rows(noted)]


def _private_forgets(noted, limit):
    _private(noted, limit)


def _no_axis(noted, limit):
    f = _down(_all_norms(_rows(noted))[0], limit)
    return [((f * d).T @ a, (f * d).sum(0)) for a, d in noted]


_strengths = {}


def _turn_by_the_last(h, strength):
    _strengths["last"] = strength
    return _turning(lambda g, s: -_strengths["last"] * g)(h, strength)


def _turn_only_recorded(h, strength):
    if torch.is_grad_enabled() and h.requires_grad:
        return _turn(h, strength)
    return None


def _quantize_hook_on_x(x):
    if x.requires_grad:
        x.register_hook(lambda g: g * (x.abs() < 1))
    return x + (_right_value(x) - x).detach()


def _quantize_in_place(x):
    x.data.clamp_(-1, 1)
    return x + (_right_value(x) - x).detach()


def _to_the_first_none(optimizer, parameters, scale, limit):
    for p in parameters:
        if p.grad is None:
            break
        p.grad /= scale
    nn.utils.clip_grad_norm_(parameters, limit)
    optimizer.step()
    return scale


def _undone(optimizer, parameters, scale, limit):
    before = [p.detach().clone() for p in parameters]
    new = _stepping(bad=lambda o, p, s: (o.step(), s / 2)[1])(optimizer, parameters, scale, limit)
    if new != scale:
        for p, old in zip(parameters, before, strict=True):
            p.data.copy_(old)
    return new


def _raises_on_overflow(optimizer, parameters, scale, limit):
    if not all(p.grad.isfinite().all() for p in parameters if p.grad is not None):
        raise OverflowError("inf")
    return _step(optimizer, parameters, scale, limit)


def _samples_by_retained_grad(layer, run):
    kept = []

    def keep(module, args, out):
        out.retain_grad()
        kept.extend((args[0].detach(), out))

    with layer.register_forward_hook(keep):
        run()
    a, out = kept
    return torch.einsum("n...o,n...i->noi", out.grad, a), _flat(out.grad).sum(1)


def _samples_of_all_layers(layer, run):
    noted = {}

    def forward(module, args, out):
        if isinstance(module, nn.Linear):
            out.register_hook(lambda g: noted.update(pair=(args[0].detach(), g)))

    with nn.modules.module.register_module_forward_hook(forward):
        run()
    return _outer(*noted["pair"])


def _samples_of_the_first_call(layer, run, noted=[]):  # noqa: B006
    def forward(module, args, out):
        noted.append(args[0].detach())
        out.register_hook(noted.append)

    with layer.register_forward_hook(forward):
        run()
    return _outer(*noted[:2])


def _samples_setdefault(layer, run, noted={}):  # noqa: B006
    def forward(module, args, out):
        noted.setdefault("a", args[0].detach())
        out.register_hook(lambda g: noted.setdefault("d", g))

    with layer.register_forward_hook(forward):
        run()
    return _outer(noted["a"], noted["d"])


def _samples_keeps_the_output(layer, run):
    noted = {}
    hook = lambda m, args, out: noted.update(a=args[0], d=out)  # noqa: E731
    with layer.register_forward_hook(hook):
        run()
    return _outer(noted["a"].detach(), noted["d"].detach())


def _samples_clears_all(layer, run):
    found = _samples(layer, run)
    layer._forward_hooks.clear()
    return found


ANSWERS = {
    "15.1": {
        "wrong": [
            ("it refuses a hook", _turning(lambda g, s: -s * g, guarded=False)),
            ("it refuses a hook", _turn_kept_argument),
            ("hears everybody", _turning(lambda g, s: -s * g, copies=False)),
            ("hears everybody", _turn_hook_on_h_copy_back),
            ("as if there were no hook", _turn_returns_h),
            ("turn returned None", _turn_forgets),
            ("writes into its argument", _turning(_in_place)),
            ("writes into its argument", _turning(_in_place_silently)),
            ("as if there were no hook", _turning(_local_only)),
            ("cut off from h", _turn_detached),
            ("the direction is not", _turning(lambda g, s: s * g)),
            ("strength has not come in", _turning(lambda g, s: -g)),
            ("for no other", _turning(lambda g, s: -0.5 * g)),
            ("comes in twice", _turning(lambda g, s: -s * s * g)),
            ("You divide by the strength", _turning(lambda g, s: -g / s)),
            ("It is a factor", _turning(lambda g, s: g - s)),
            ("1 is left in the factor", _turning(lambda g, s: g - s * g)),
            ("Once is enough", _turning(lambda g, s: s * s * g)),
            ("one multiple of what arrived", _turning(lambda g, s: -s * g.abs())),
            ("a tensor: the new gradient", _turning(lambda g, s: -s)),
            ("multiplies the values of h", _turn_values),
            ("it refuses a hook", _turn_asks_the_wrong_one),
            ("a number in place of the gradient", _turning(lambda g, s: -s * torch.ones_like(g))),
            ("Forward nothing is to happen", lambda h, strength: -strength * h),
            ("Forward nothing is to happen", lambda h, strength: -h),
            ("as if there were no hook", lambda h, strength: h),
            ("cut off from h", lambda h, strength: h.detach()),
            ("A hook gets the gradient and nothing else", _turn_hook_with_two),
            ("it takes h", lambda h: h),
            ("the later one takes over", _turn_by_the_last),
            ("None where nothing is recorded", _turn_only_recorded),
            ("but not by -strength", _turning(lambda g, s: -(1 + s) * g)),
            ("a thing of type", lambda h, strength: [_turn(h, strength)]),
        ],
        "right": [
            _turn,
            _turn_by_clone,
            _Turn.apply,
            _turn_by_trick,
            _turn_by_module,
            _turn_if_recorded,
        ],
    },
    "15.2": {
        "wrong": [
            ("zero everywhere", _right_value),
            ("zero everywhere", lambda x: _quarters(x).clamp(-1, 1)),
            ("outside of the range, too", _through(_right_value, lambda x: x)),
            ("outside of the range, too", _QuantizeEverywhere.apply),
            ("whatever arrives", _QuantizeMask.apply),
            ("1.05 is rounded to 1", lambda x: _through(_quarters, lambda x: x)(x).clamp(-1, 1)),
            ("Right inside of the range", _through(_quarters)),
            ("rounds to whole numbers", _through(lambda x: x.clamp(-1, 1).round())),
            ("numbers of the steps", _through(lambda x: (4 * x.clamp(-1, 1)).round())),
            ("of another width", _through(lambda x: (x.clamp(-1, 1) / 4).round() * 4)),
            ("Asked for is the nearest", _through(lambda x: (4 * x.clamp(-1, 1)).floor() / 4)),
            ("Asked for is the nearest", _through(lambda x: (4 * x.clamp(-1, 1)).trunc() / 4)),
            ("all of it is detached", lambda x: _right_value(x).detach()),
            ("all of it is detached", lambda x: _right_value(x.detach())),
            ("The value is x itself", lambda x: x + (_right_value(x).detach() - x.detach()) * 0),
            ("The value is x itself", lambda x: _right_value(x) + x - _right_value(x).detach()),
            (
                "other sign",
                lambda x: (c := x.clamp(-1, 1)).detach() * 2 - c + (_right_value(x) - c).detach(),
            ),
            ("What lies outside became 0", _through(lambda x: _quarters(x) * (x.abs() <= 1))),
            (
                "width of a step",
                lambda x: (s := 4 * x.clamp(-1, 1)) + (s.round() / 4 - s).detach(),
            ),
            ("Only one end", _through(_right_value, lambda x: x.clamp(max=1))),
            ("comes in twice", _through(_right_value, lambda x: 2 * x.clamp(-1, 1))),
            ("exchanged", _through(_right_value, lambda x: x * (x.abs() > 1))),
            ("The range goes from -1 to 1", _through(lambda x: _quarters(x.clamp(-1, 0.75)))),
            ("there in the values", _through(lambda x: _quarters(x.clamp(max=1)))),
            ("do not cancel", lambda x: x.clamp(-1, 1) + (_right_value(x) - x).detach()),
            ("just as it arrived", _through(_right_value, torch.tanh)),
            ("of another width", _through(lambda x: torch.round(x.clamp(-1, 1), decimals=2))),
            ("quantize returned None", _quantize_forgets),
            ("sits on x itself", _quantize_hook_on_x),
            ("changed x itself", _quantize_in_place),
            ("a thing of type", lambda x: _quantize(x).tolist()),
        ],
        "right": [_quantize, _quantize_masked, _Quantize.apply, _quantize_by_hook],
    },
    "15.3": {
        "wrong": [
            ("The limit holds for unscaled", _careless),
            ("The limit holds for unscaled", _stepping(early=True)),
            ("not unscaled any more", _stepping(unscale=lambda p, s: None)),
            ("Unscaling is a division", _stepping(unscale=lambda p, s: _unscale(p, 1 / s))),
            ("Unscaled twice", _stepping(unscale=lambda p, s: _unscale(p, s * s))),
            ("Nothing is clipped", _stepping(clip=lambda p, limit: None)),
            ("clipped by itself", _stepping(clip=_each_clipped)),
            ("The entries are clipped", _stepping(clip=nn.utils.clip_grad_value_)),
            ("makes short ones longer", _stepping(clip=_to_length)),
            ("Where is the step", _stepping(steps=False)),
            ("spoiled for good", _step_late),
            ("spoiled for good", _stepping(finite=lambda p: True)),
            ("NaN is not", _stepping(finite=_not_inf)),
            ("Inf is not", _stepping(finite=_not_nan)),
            ("-Inf is not noticed", _stepping(finite=_not_plus)),
            ("Not every gradient is looked at", _stepping(finite=_first_only)),
            ("only for some of them", _stepping(finite=_not_all)),
            ("no skipped step", _stepping(bad=_keep_finite)),
            ("no skipped step", _stepping(bad=_all_zeros)),
            ("no skipped step", _skips_parameters),
            ("The scale stays after an overflow", _stepping(bad=lambda o, p, s: s)),
            ("Yours grows", _stepping(bad=lambda o, p, s: 2 * s)),
            ("The scale shrinks on good days", _stepping(good=lambda s: s / 2)),
            (
                "the other way round",
                _stepping(bad=lambda o, p, s: s, good=lambda s: s / 2),
            ),
            ("The scale grows on good days", _stepping(good=lambda s: 2 * s)),
            (
                "need not be 1024",
                _stepping(bad=lambda o, p, s: 512.0, good=lambda s: 1024.0),
            ),
            ("Half the old scale", _stepping(bad=lambda o, p, s: s / 10)),
            ("neither rounded nor held back", _stepping(bad=lambda o, p, s: s // 2)),
            ("neither rounded nor held back", _stepping(bad=lambda o, p, s: max(s / 2, 1.0))),
            ("Are the gradients still there", _emptied_too_early),
            ("goes in a wrong direction", _in_the_loop),
            (
                "is neither scaled nor used twice",
                _stepping(
                    clip=lambda p, limit: nn.utils.clip_grad_norm_(p, limit / 1024), early=True
                ),
            ),
            ("longer than the limit", _twice),
            ("do not leave the loop", _to_the_first_none),
            (
                "only if all of them are bad",
                _stepping(
                    finite=lambda ps: any(p.grad.isfinite().all() for p in ps if p.grad is not None)
                ),
            ),
            ("its momentum keeps it", _undone),
            ("An overflow is no error", _raises_on_overflow),
            ("returned as it was given", _stepping(good=lambda s: 1.0)),
            (
                "that is all",
                _stepping(unscale=lambda p, s: _unscale(p, s**0.5)),
            ),
            ("mended_step returned None", _no_return),
            ("has no gradient", _none_forgotten),
            ("it takes optimizer", lambda optimizer, scale: scale),
        ],
        "right": [
            _step,
            _step_by_norm,
            _step_by_hand,
            _step_else,
            _stepping(),
            _step_or_error,
            _step_scaled_limit,
        ],
    },
    "15.4": {
        "wrong": [
            ("Keep the axis of the samples", _samples_sum),
            ("the same gradient for each sample".capitalize(), _samples_repeated),
            (
                "axes are exchanged",
                _samples_as(
                    lambda a, d: (torch.einsum("nto,nti->nio", _flat(d), _flat(a)), _flat(d).sum(1))
                ),
            ),
            ("a sum already", _samples_as(lambda a, d: [t / len(a) for t in _outer(a, d)])),
            ("a sum already", _samples_as(lambda a, d: [t * len(a) for t in _outer(a, d)])),
            ("These are squares", _samples_as(lambda a, d: [t**2 for t in _outer(a, d)])),
            ("what came out of the layer", _samples_of_output),
            ("The gradient of its output", _samples_grad_input),
            ("weight first, then bias", _samples_as(lambda a, d: _outer(a, d)[::-1])),
            ("one call is enough", _samples_twice),
            ("A hook of yours is still registered", _samples_left),
            ("Something was not noted", _samples_late),
            ("A hook that returns something", _samples_replacing),
            (
                "fourth between samples",
                _samples_as(lambda a, d: (torch.einsum("no,ni->noi", d, a), d)),
            ),
            ("its gradient is the sum over them", _samples_as(lambda a, d: (_outer(a, d)[0], d))),
            (
                "and no more than that",
                _samples_as(
                    lambda a, d: (
                        torch.einsum("no,ni->noi", _flat(d).sum(1), _flat(a).sum(1)),
                        _flat(d).sum(1),
                    )
                ),
            ),
            (
                "and no more than that",
                _samples_as(lambda a, d: (_outer(a, d)[0] / _flat(a).shape[1], _flat(d).sum(1))),
            ),
            (
                "nothing is multiplied",
                _samples_as(
                    lambda a, d: (
                        _outer(a, d)[0],
                        _flat(d).mean(2)[:, :, None].expand(-1, -1, 2).sum(1),
                    )
                ),
            ),
            ("two tensors", _samples_as(lambda a, d: _outer(a, d)[0])),
            ("two tensors", _samples_as(lambda a, d: None)),
            (
                "One number for each sample",
                _samples_as(
                    lambda a, d: (_outer(a, d)[0].norm(dim=(1, 2)), _flat(d).sum(1).norm(dim=1))
                ),
            ),
            ("Hooks that others had registered", _samples_clears_all),
            ("shapes of another layer", _samples_of_all_layers),
            ("what an earlier one has noted", _samples_of_the_first_call),
            ("Does a lambda return", _samples_setdefault),
            ("what came out of the layer. Its gradient", _samples_keeps_the_output),
            (
                "in the bias or in both",
                _samples_as(lambda a, d: (_outer(a, d)[0], _flat(d).sum((0, 1)))),
            ),
            ("signs are lost", _samples_as(lambda a, d: [t.abs() for t in _outer(a, d)])),
            (
                "No axis is left",
                _samples_as(
                    lambda a, d: (
                        torch.einsum("nto,nti->ntoi", _flat(d), _flat(a)),
                        _flat(d).sum(1),
                    )
                ),
            ),
            ("hook gets tuples", _samples_whole_tuple),
        ],
        "right": [
            _samples,
            _samples_by_retained_grad,
            _samples_by_loop,
            _samples_by_cases,
            _samples_as(_outer),
        ],
    },
    "15.5": {
        "wrong": [
            ("their order does not", (-0.976, 0, -0.905)),
            ("their order does not", [-0.905, -0.976, 0]),
            ("a fixed amount", (-0.15, -0.976, -0.905)),
            ("a fixed amount", (-0.05, -0.4, -0.45)),
            ("a fixed amount", (-0.5, -0.976, -0.905)),
            ("there is no buffer", (-0.5125, -0.976, -0.905)),
            ("there is no buffer", (0.8574, 0.024, 0.095)),
            ("reach the optimizer's buffer", (0, 0, 0)),
            ("do not round", (0, -0.98, -0.91)),
            ("goes against the buffer", (0, 0.976, 0.905)),
            ("moves by 0.1 of it", (0, -9.76, -3.56)),
            ("moves by 0.1 of it", (0, 2.56, 2.05)),
            ("before the weight moves", (0, -1.22, -1.098)),
            ("0.9 belonged to the example above", (0, -1.2195, -1.1351)),
            ("there will ever be", (0, -1.1808, -1.0238)),
            ("moves by 0.1 of it", (0, -0.0976, -0.0905)),
            ("Numbers are asked for", ("stays", "moves", "moves")),
            ("before the weight moves", (0, -1.5, -1.35)),
            ("before the weight moves", (0, -1.2, -1.1)),
            ("there will ever be", (0, -0.4, -0.4)),
            ("there will ever be", (0, -0.72, -0.7)),
            ("there will ever be", (0, -2, -1.5)),
            ("the third by itself", (0, -0.256, -0.205)),
            ("no hook sees the decay", (0, -0.976, -0.976)),
            ("as AdamW does", (0, -0.976, -0.921)),
            ("as AdamW does", (0, -0.976, -0.516)),
            ("only the old buffer shrinks", (0, -0.976, -0.91904)),
            ("only the old buffer shrinks", (0, -0.976, -0.9616)),
            ("not away", (0, -0.976, -1.049)),
            ("The first two fit", (0, -0.976, -0.94)),
            ("The first two fit", (0, -0.976, -0.205)),
            ("Decay alone fits", (0, -0.9, -0.905)),
            ("3 are asked for", (0, -0.976)),
            ("wants numbers", "momentum"),
        ],
        "right": [
            (0, -0.976, -0.905),
            [0.0, -0.976, -0.905],
            torch.tensor([0.0, -0.976, -0.905]),
            {"decay": 0, "momentum": -0.976, "both": -0.905},
        ],
    },
    "15.6": {
        "wrong": [
            ("Nothing is clipped", lambda noted, limit: [(d.T @ a, d.sum(0)) for a, d in noted]),
            ("clip each, then add", _sum_first),
            ("For each layer a pair", _clipping(after=lambda pairs, n: [*pairs, ()])),
            (
                "Each layer is clipped by itself",
                _clipping(lambda r: [s.sqrt() for s in _squares(r)]),
            ),
            ("Weight and bias are clipped", _weight_and_bias_apart),
            (
                "The bias is missing",
                _clipping(lambda r: [sum((w**2).sum((1, 2)) for w, b in r).sqrt()] * len(r)),
            ),
            (
                "Short gradients are made longer",
                _clipping(factor=lambda n, c: c / n.clamp(min=1e-12)),
            ),
            (
                "wrong way round",
                _clipping(factor=lambda n, c: (c / n.clamp(min=1e-12)).clamp(min=1)),
            ),
            ("upside down", _clipping(factor=lambda n, c: (n / c).clamp(max=1))),
            ("upside down", _clipping(factor=lambda n, c: (n / c).clamp(min=1))),
            (
                "mean over the samples",
                _clipping(after=lambda pairs, n: [(w / n, b / n) for w, b in pairs]),
            ),
            ("a square root is missing", _clipping(lambda r: [sum(_squares(r))] * len(r))),
            ("comes in twice", _clipping(factor=lambda n, c: _down(n, c) ** 2)),
            (
                "the root comes last",
                _clipping(lambda r: [sum(s.sqrt() for s in _squares(r))] * len(r)),
            ),
            ("is left out", _clipping(factor=lambda n, c: (n <= c).to(n.dtype))),
            (
                "One factor for the whole batch",
                _clipping(factor=lambda n, c: _down(n.max() + 0 * n, c)),
            ),
            (
                "(outputs, inputs)",
                _clipping(after=lambda pairs, n: [(w.T, b) for w, b in pairs]),
            ),
            (
                "divide by it",
                _clipping(factor=lambda n, c: (c / n) * (n > c) + (n <= c) * (n / n)),
            ),
            ("The entries are clipped", _entries),
            (
                "not one of them alone",
                _clipping(lambda r: [sum((b**2).sum(1) for w, b in r).sqrt()] * len(r)),
            ),
            ("needs a second axis", _no_axis),
            ("opposite order", lambda noted, limit: _private(noted, limit)[::-1]),
            (
                "weight comes first",
                lambda noted, limit: [(b, w) for w, b in _private(noted, limit)],
            ),
            ("For each layer a pair", lambda noted, limit: [w for w, b in _private(noted, limit)]),
            ("are to be left as they are", _clipping(factor=lambda n, c: (n > c) * c / (n + 1e-9))),
            ("The limit is an argument", _clipping(factor=lambda n, c: _down(n, 1.0))),
            (
                "One factor for the whole batch",
                _clipping(lambda r: [sum(_squares(r)).sum().sqrt().expand(len(r[0][0]))] * len(r)),
            ),
            ("Take one sample", _clipping(factor=lambda n, c: c / (n + c))),
            ("Short gradients are made longer", _clipping(factor=lambda n, c: c / n)),
            ("Weight and bias are clipped", _weights_and_biases_apart),
            (
                "of layers or of weight and bias",
                _clipping(
                    lambda r: [sum(_weight_plus_bias(w, b) ** 2 for w, b in r).sqrt()] * len(r)
                ),
            ),
            (
                "Right for one layer",
                _clipping(lambda r: [_squares(r)[0].sqrt()] * len(r)),
            ),
            ("the 1 joins", _swapped_lengths),
            ("multiply first, then add up", _sums_multiplied),
            ("Sum over the samples", lambda noted, limit: _rows(noted)),
            ("return missing", _private_forgets),
            ("its keys", lambda noted, limit: dict(enumerate(_private(noted, limit)))),
            ("its keys", lambda noted, limit: dict(enumerate(noted))),
            (
                "For each layer a pair",
                lambda noted, limit: [dict(enumerate(pair)) for pair in _private(noted, limit)],
            ),
            ("it takes noted", lambda noted: noted),
        ],
        "right": [_private, _private_bias_as_weight, _private_by_loop, _private_short],
    },
}
