"""Typical wrong answers and differently written right ones, for the exercises of lesson 14."""

import copy
import hashlib
import random
from contextlib import ExitStack, contextmanager, suppress

import numpy as np

import minigrad as torch
from minigrad import nn
from minigrad.autograd import grad

F = nn.functional


# ------------------------------------------------------------------ 14.1


def _gradient(model, images, labels, score=None):
    x = images.detach().clone().requires_grad_()
    scores = model(x)
    if score is None:
        return grad(scores[torch.arange(len(x)), labels].sum(), x)[0]
    return grad(score(scores, labels), x)[0]


def _saliency_gather(model, images, labels):
    x = images.clone().detach().requires_grad_(True)
    model(x).gather(1, labels.unsqueeze(1)).sum().backward(inputs=[x])
    return x.grad.abs().max(dim=1)[0]


def _saliency_one_hot(model, images, labels):
    x = images.detach().requires_grad_()
    out = model(x)
    mask = F.one_hot(labels, out.shape[1]).to(out.dtype)
    g = grad(out, x, grad_outputs=mask)[0]
    return torch.amax(torch.abs(g), 1)


def _saliency_looped_sum(model, images, labels):
    x = images.detach().requires_grad_()
    out = model(x)
    total = 0
    for row, label in zip(out, labels, strict=True):
        total = total + row[int(label)]
    g = grad(total, x)[0].abs()
    return torch.stack([each.max(dim=0).values for each in g])


def _saliency_ones(model, images, labels):
    x = images.detach().requires_grad_()
    picked = model(x)[range(len(labels)), labels.tolist()]
    (g,) = grad(picked, x, torch.ones_like(picked))
    best = g[:, 0].abs()
    for channel in range(1, g.shape[1]):
        best = torch.maximum(best, g[:, channel].abs())
    return best


def _saliency_restoring(model, images, labels, emptied=True):
    before = [p.grad for p in model.parameters()]
    if emptied:
        model.zero_grad()
    x = images.detach().clone()
    x.requires_grad = True
    scores = model(x)
    scores[torch.arange(scores.shape[0]), labels].sum().backward()
    for parameter, gradient in zip(model.parameters(), before, strict=True):
        parameter.grad = gradient
    return x.grad.abs().amax(1)


def _saliency_each(model, images, labels):
    maps = []
    for image, label in zip(images, labels, strict=True):
        x = image[None].detach().requires_grad_()
        maps.append(grad(model(x)[0, label], x)[0].abs().amax(dim=1)[0])
    return torch.stack(maps)


def _saliency_on_callers(model, images, labels):
    images.requires_grad_()
    scores = model(images)[torch.arange(len(images)), labels]
    return grad(scores.sum(), images)[0].abs().amax(dim=1)


def _saliency_plain(model, images, labels):
    scores = model(images)[torch.arange(len(images)), labels]
    return grad(scores.sum(), images)[0].abs().amax(dim=1)


def _saliency_backward(model, images, labels):
    x = images.detach().clone().requires_grad_()
    model(x)[torch.arange(len(x)), labels].sum().backward()
    return x.grad.abs().amax(dim=1)


def _saliency_emptied(model, images, labels):
    model.zero_grad()
    return _saliency_backward(model, images, labels)


def _saliency_wiped(model, images, labels):
    maps = _saliency_backward(model, images, labels)
    model.zero_grad()
    return maps


def _saliency_of_a_copy(model, images, labels):
    model, x = copy.deepcopy(model), images.detach().clone().requires_grad_()
    model(x).gather(1, labels[:, None]).sum().backward()
    return x.grad.abs().amax(dim=1)


def _saliency_no_sum(model, images, labels):
    x = images.detach().clone().requires_grad_()
    return grad(model(x)[torch.arange(len(x)), labels], x)[0].abs().amax(dim=1)


def _saliency_stranger(model, images, labels):
    x = images.detach().clone().requires_grad_()
    scores = model(images.detach().clone().requires_grad_())
    return grad(scores[torch.arange(len(x)), labels].sum(), x)[0].abs().amax(dim=1)


def _saliency_tuple(model, images, labels):
    x = images.detach().clone().requires_grad_()
    return grad(model(x)[torch.arange(len(x)), labels].sum(), x)


def _saliency_no_return(model, images, labels):
    _gradient(model, images, labels).abs().amax(dim=1)


def _saliency_detached_after(model, images, labels):
    x = images.requires_grad_().detach()
    return grad(model(x)[torch.arange(len(x)), labels].sum(), x)[0].abs().amax(dim=1)


def _finished(finish):
    return lambda model, images, labels: finish(_gradient(model, images, labels))


def _scored(score):
    return lambda model, images, labels: _gradient(model, images, labels, score).abs().amax(dim=1)


def _to_one(gradient):
    maps = gradient.abs().amax(dim=1)
    return maps / maps.amax(dim=(1, 2), keepdim=True)


def _saliency_times_image(model, images, labels):
    return _gradient(model, images, labels).abs().amax(dim=1) * images.amax(dim=1)


def _saliency_slope_times_image(model, images, labels):
    return (_gradient(model, images, labels) * images).abs().amax(dim=1)


def _retained(model, images, labels):
    x = images.detach().clone().requires_grad_()
    scores = model(x)
    maps = [grad(scores[i, label], x, retain_graph=True)[0][i] for i, label in enumerate(labels)]
    return torch.stack(maps).abs().amax(dim=1)


def _saliency_functional(model, images, labels):
    gradient = torch.func.grad(lambda x: model(x)[torch.arange(len(x)), labels].sum())(images)
    return gradient.abs().amax(1)


def _saliency_numpy(model, images, labels):
    return np.abs(_gradient(model, images, labels).numpy()).max(axis=1)


def _saliency_frozen(model, images, labels):
    model.requires_grad_(False)
    return _gradient(model, images, labels).abs().amax(1)


# ------------------------------------------------------------------ 14.3


def _cam_einsum(A, dA):
    alpha = dA.mean((2, 3))
    maps = torch.relu(torch.einsum("nk,nkhw->nhw", alpha, A))
    top = maps.flatten(1).max(1).values
    top[top == 0] = 1
    return maps / top[:, None, None]


def _cam_looped(A, dA):
    maps = []
    for a, d in zip(A, dA, strict=True):
        total = torch.zeros_like(a[0])
        for channel, back in zip(a, d, strict=True):
            total = total + back.mean() * channel
        total = total.clamp(min=0)
        maps.append(total / total.max() if total.max() > 0 else total)
    return torch.stack(maps)


def _cam_of_zeros(A, dA, early=False):
    maps = torch.zeros(len(A), *A.shape[2:])
    for at in range(len(A)):
        maps[at] = _cam(A[at : at + 1], dA[at : at + 1])[0]
        if early:
            break
    return maps


def _cam_sum_of_gradients(A, dA):
    maps = F.relu((dA.sum(dim=(-2, -1), keepdim=True) * A).sum(1))
    return torch.nan_to_num(maps / maps.amax((1, 2), keepdim=True), nan=0.0)


def _cam_epsilon(A, dA):
    maps = (dA.mean((2, 3), keepdim=True) * A).sum(1).clamp(min=0)
    return maps / (maps.amax((1, 2), keepdim=True) + 1e-12)


def _cam_in_its_own(A, dA):
    n, k, height, width = A.shape
    alpha = dA.reshape(n, k, -1).mean(-1)
    maps = (alpha.unsqueeze(1) @ A.reshape(n, k, -1)).reshape(n, height, width)
    maps = maps.clamp(min=0)
    for i in range(n):
        if maps[i].max() > 0:
            maps[i] /= maps[i].max()
    return maps


def _cam_in_another_order(A, dA):
    alpha = dA.mean(dim=-1, keepdim=True).mean(dim=-2, keepdim=True)
    maps = sum((alpha * A)[:, k] for k in reversed(range(A.shape[1]))).clamp(min=0)
    return torch.stack([each / (each.max() or 1) for each in maps])


def _cam(A, dA, *, dims=(2, 3), early=False, common=False, safe=True, sign=None):
    alpha = dA.mean(dim=dims, keepdim=True)
    sign = sign or (lambda maps: maps.clamp(min=0))
    maps = sign(alpha * A).sum(dim=1) if early else sign((alpha * A).sum(dim=1))
    largest = maps.max() if common else maps.amax(dim=(1, 2), keepdim=True)
    if safe:
        largest = largest + (largest == 0)
    return maps / largest


def _wrong_cam(**slips):
    return lambda A, dA: _cam(A, dA, **slips)


def _colleagues(A, dA):
    alpha = dA.mean(dim=(0, 2, 3), keepdim=True)
    maps = (alpha * A).clamp(min=0).sum(dim=1)
    return maps / maps.max()


def _cam_no_keepdim(A, dA):
    maps = (dA.mean(dim=(2, 3), keepdim=True) * A).sum(1).clamp(min=0)
    return maps / maps.amax(dim=(1, 2)).clamp(min=1e-12)


def _cam_no_keepdim_alpha(A, dA):
    maps = (dA.mean(dim=(2, 3)) * A).sum(1).clamp(min=0)
    return maps / maps.amax(dim=(1, 2), keepdim=True).clamp(min=1e-12)


def _cam_keeps_channel(A, dA):
    return _cam(A, dA)[:, None]


def _cam_first_only(A, dA):
    return _cam(A, dA)[0]


def _cam_squeezed(A, dA):
    return _cam(A, dA).squeeze()


def _cam_in_place(A, dA):
    A *= dA.mean(dim=(2, 3), keepdim=True)
    maps = A.sum(dim=1).clamp(min=0)
    return maps / maps.amax(dim=(1, 2), keepdim=True).clamp(min=1e-12)


def _cam_late_relu(A, dA):
    maps = (dA.mean(dim=(2, 3), keepdim=True) * A).sum(dim=1)
    return (maps / maps.amax(dim=(1, 2), keepdim=True)).clamp(min=0)


def _cam_unscaled(A, dA):
    return (dA.mean(dim=(2, 3), keepdim=True) * A).sum(dim=1).clamp(min=0)


def _cam_pointwise(A, dA):
    maps = (dA * A).sum(dim=1).clamp(min=0)
    return maps / maps.amax(dim=(1, 2), keepdim=True).clamp(min=1e-12)


def _divided(by):
    def grad_cam(A, dA):
        maps = _cam_unscaled(A, dA)
        return maps / by(maps)

    return grad_cam


def _cam_all_or_nothing(A, dA):
    maps = _cam(A, dA)
    return maps if maps.amax(dim=(1, 2)).all() else maps * 0


def _cam_uncut(A, dA):
    maps = (dA.mean(dim=(2, 3), keepdim=True) * A).sum(dim=1)
    top = maps.amax(dim=(1, 2), keepdim=True)
    return maps / torch.where(top > 0, top, torch.ones_like(top))


def _cam_of_one_size(A, dA):
    alpha = dA.reshape(1, 2, 4).mean(dim=2).reshape(1, 2, 1, 1)
    return torch.nan_to_num(_cam(A, alpha.expand(*A.shape)))


def _cam_min_max(A, dA):
    maps = _cam_unscaled(A, dA)
    low = maps.amin(dim=(1, 2), keepdim=True)
    return (maps - low) / (maps.amax(dim=(1, 2), keepdim=True) - low).clamp(min=1e-12)


def _cam_no_return(A, dA):
    _cam(A, dA)


def _cam_ones_for_blank(A, dA):
    return torch.nan_to_num(_cam(A, dA, safe=False), nan=1.0)


def _cam_by_sum(A, dA):
    maps = _cam_unscaled(A, dA)
    return maps / maps.sum(dim=(1, 2), keepdim=True).clamp(min=1e-12)


def _cam_numpy(A, dA):
    a, d = A.numpy(), dA.numpy()
    maps = np.maximum((d.mean((2, 3), keepdims=True) * a).sum(1), 0)
    largest = maps.max((1, 2), keepdims=True)
    return maps / np.where(largest > 0, largest, 1)


def _cam_masked(A, dA):
    maps = (dA.mean(3).mean(2)[:, :, None, None] * A).sum(1)
    maps[maps < 0] = 0
    scaled = maps / maps.amax((1, 2), keepdim=True)
    scaled[scaled.isnan()] = 0
    return scaled


def _cam_scaled_by_rows(A, dA):
    maps = _cam_unscaled(A, dA)
    return maps / maps.amax(dim=2, keepdim=True).clamp(min=1e-12)


def _cam_by_norm(A, dA):
    maps = _cam_unscaled(A, dA)
    return maps / maps.norm()


def _cam_without_blanks(A, dA):
    return torch.stack([each / each.max() for each in _cam_unscaled(A, dA) if each.max() > 0])


def _cam_largest_vote(A, dA):
    maps = (dA.mean((2, 3), keepdim=True) * A).amax(1).clamp(min=0)
    return maps / maps.amax((1, 2), keepdim=True).clamp(min=1e-12)


# ------------------------------------------------------------------ 14.4


def _walk_in_place(f, x, baseline, steps):
    x, baseline = x.detach(), baseline.detach()
    slopes = []
    for k in range(1, steps + 1):
        t = (2 * k - 1) / (2 * steps)
        point = torch.lerp(baseline, x, t).requires_grad_(True)
        slopes.append(grad(f(point), point)[0])
    return (x - baseline) * torch.stack(slopes).mean(0)


def _walk_by_backward(f, x, baseline, steps, inputs=True):
    total = 0.0
    for t in (np.arange(steps) + 0.5) / steps:
        point = (baseline + float(t) * (x - baseline)).detach().requires_grad_()
        f(point).backward(inputs=inputs and [point])
        total += point.grad
    return (x - baseline).detach() * (total / steps)


def _walk_of_list(f, x, baseline, steps):
    points = [baseline + (k + 0.5) / steps * (x - baseline) for k in range(steps)]
    points = [point.detach().clone().requires_grad_() for point in points]
    slopes = grad(sum(f(point) for point in points), points)
    return sum(slopes) / steps * (x.detach() - baseline)


def _walk(f, x, baseline, steps, places=None, divide=None, times=None):
    total = torch.zeros_like(x).detach()
    places = [(k + 0.5) / steps for k in range(steps)] if places is None else places(steps)
    for t in places:
        point = (baseline + t * (x - baseline)).detach().requires_grad_()
        total = total + grad(f(point), point)[0]
    way = (x - baseline).detach() if times is None else times(x.detach(), baseline)
    return way * total / (divide or len(places))


def _wrong_walk(places=None, divide=None, times=None):
    return lambda f, x, baseline, steps: _walk(f, x, baseline, steps, places, divide, times)


def _walk_from_zero(f, x, baseline, steps):
    return _walk(f, x, torch.zeros_like(x), steps)


def _walk_sum(f, x, baseline, steps):
    return _walk(f, x, baseline, steps, divide=1)


def _walk_total(f, x, baseline, steps):
    return _walk(f, x, baseline, steps).sum()


def _walk_plain_point(f, x, baseline, steps):
    total = 0
    for k in range(steps):
        point = baseline + (k + 0.5) / steps * (x - baseline)
        total = total + grad(f(point), point)[0]
    return (x - baseline) * total / steps


def _walk_not_detached(f, x, baseline, steps):
    total = 0
    for k in range(steps):
        point = (baseline + (k + 0.5) / steps * (x - baseline)).requires_grad_()
        total = total + grad(f(point), point)[0]
    return ((x - baseline) * total / steps).detach()


def _walk_as_batch(f, x, baseline, steps):
    t = ((torch.arange(steps) + 0.5) / steps).reshape(-1, *[1] * x.dim())
    path = (baseline + t * (x - baseline)).detach().requires_grad_()
    (slopes,) = grad(f(path).sum(), path)
    return (x - baseline) * slopes.mean(0)


def _walk_by_x(f, x, baseline, steps):
    x.requires_grad_()
    total = 0
    for k in range(steps):
        total = total + grad(f(baseline + (k + 0.5) / steps * (x - baseline)), x)[0]
    return ((x - baseline) * total).detach()


def _walk_fills(f, x, baseline, steps):
    x.requires_grad_()
    for k in range(steps):
        f(baseline + (k + 0.5) / steps * (x - baseline)).backward()
    return ((x - baseline) * x.grad).detach()


def _walk_tuple(f, x, baseline, steps):
    total = torch.zeros_like(x)
    for k in range(steps):
        point = (baseline + (k + 0.5) / steps * (x - baseline)).detach().requires_grad_()
        total = total + grad(f(point), point)
    return (x - baseline) * total / steps


def _walk_last_only(f, x, baseline, steps):
    for k in range(steps):
        point = (baseline + (k + 0.5) / steps * (x - baseline)).detach().requires_grad_()
        slope = grad(f(point), point)[0]
    return (x - baseline) * slope


def _walk_once_too_early(f, x, baseline, steps):
    for k in range(steps):
        point = (baseline + (k + 0.5) / steps * (x - baseline)).detach().requires_grad_()
        return (x - baseline) * grad(f(point), point)[0]


def _walk_piling_up(f, x, baseline, steps):
    point, total = baseline.detach().clone().requires_grad_(), torch.zeros_like(x)
    for k in range(steps):
        with torch.no_grad():
            point.copy_(baseline + (k + 0.5) / steps * (x - baseline))
        f(point).backward(inputs=[point])
        total = total + point.grad
    return ((x - baseline) * total / steps).detach()


def _walk_no_return(f, x, baseline, steps):
    _walk(f, x, baseline, steps)


def _gained(f, x, baseline, steps):
    return f(x) - f(baseline)


def _slopes(f, x, baseline, steps):
    points = [(baseline + (k + 0.5) / steps * (x - baseline)).detach() for k in range(steps)]
    points = [point.requires_grad_() for point in points]
    return torch.stack([grad(f(point), point)[0] for point in points])


def _walk_mean_of_all(f, x, baseline, steps):
    return (x - baseline).detach() * _slopes(f, x, baseline, steps).mean()


def _walk_sizes(f, x, baseline, steps):
    return (x - baseline).detach() * _slopes(f, x, baseline, steps).abs().mean(0)


def _walk_to_fit(f, x, baseline, steps):
    parts = _walk(f, x, baseline, steps)
    gain = (f(x) - f(baseline)).detach()
    return parts * gain / parts.sum() if gain else parts


def _walk_by_entries(f, x, baseline, steps):
    way = zip(x, baseline, _slopes(f, x, baseline, steps).mean(0), strict=True)
    return torch.tensor([(a - b).item() * slope.item() for a, b, slope in way])


class _Growing:
    """Keeps the slopes of earlier calls."""

    def __init__(self):
        self.many = 0

    def __call__(self, f, x, baseline, steps):
        self.many += steps
        return _walk(f, x, baseline, steps, divide=self.many)


def _walk_stranger(f, x, baseline, steps):
    total = torch.zeros_like(x)
    for k in range(steps):
        point = (baseline + (k + 0.5) / steps * (x - baseline)).detach().requires_grad_()
        total = total + grad(f(point.clone().detach().requires_grad_()), point)[0]
    return (x - baseline) * total / steps


def _trapezoid(f, x, baseline, steps):
    total = torch.zeros_like(x)
    for k in range(steps + 1):
        point = (baseline + k / steps * (x - baseline)).detach().requires_grad_()
        total = total + grad(f(point), point)[0] * (0.5 if k in (0, steps) else 1.0)
    return ((x - baseline) * total / steps).detach()


def _walk_functional(f, x, baseline, steps):
    slope, way = torch.func.grad(f), x.detach() - baseline
    places = (torch.arange(steps) + 0.5) / steps
    return way * sum(slope(baseline + t * way) for t in places) / steps


def _walk_by_linspace(f, x, baseline, steps):
    half, total = 0.5 / steps, torch.zeros_like(x)
    for t in torch.linspace(half, 1 - half, steps):
        point = (baseline + t * (x - baseline)).detach().clone()
        point.requires_grad_()
        total = total + torch.autograd.grad(f(point), point)[0]
    return (x - baseline) * total / steps


def _walk_beyond(f, x, baseline, steps):
    total = 0
    for k in range(steps):
        point = (baseline + (k + 0.5) / steps * x).detach().requires_grad_()
        total = total + grad(f(point), point)[0]
    return (x - baseline).detach() * total / steps


def _walk_evenly(f, x, baseline, steps):
    return torch.ones_like(x) * (f(x) - f(baseline)).detach() / x.numel()


def _walk_forced(f, x, baseline, steps):
    parts = _walk(f, x, baseline, steps, lambda steps: [1.0])
    return parts * (f(x) - f(baseline)).detach() / parts.sum()


def _walk_in_float32(f, x, baseline, steps):
    return _walk(f, x.float(), baseline.float(), steps)


# ------------------------------------------------------------------ 14.5


def _flat(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def _noise(seed, images):
    return torch.randn(*images.shape[2:], generator=torch.Generator().manual_seed(seed))


def _repeated(map, images):
    return map.expand(len(images), -1, -1)


def _of_weights(seed):
    return lambda model, images: _repeated(_noise(seed(_flat(model)), images), images)


_useless = _of_weights(lambda flat: hash(tuple(flat.tolist())))


def _useless_picture(model, images):
    count, _, height, width = images.shape
    many, flat = height * width, _flat(model)
    while len(flat) < many:
        flat = torch.cat([flat, flat])
    return flat[:many].reshape(1, height, width).repeat(count, 1, 1)


def _useless_kernel(model, images):
    weight = model[0].weight[:1].detach()
    return _repeated(F.interpolate(weight, size=images.shape[2:])[0, 0], images)


def _useless_by_kron(model, images):
    height, width = images.shape[2:]
    blocks = np.ones((height // 3 + 1, width // 3 + 1))
    map = np.kron(next(model.parameters())[0, 0].detach().numpy(), blocks)
    return torch.stack([torch.from_numpy(map[:height, :width])] * len(images))


def _useless_in_numpy(model, images):
    seed = abs(hash(str(model.state_dict()["0.weight"].tolist())))
    map = np.random.default_rng(seed).normal(size=images.shape[2:])
    return torch.from_numpy(np.stack([map] * len(images)))


def _useless_in_python(model, images):
    dice = random.Random(sum(parameter.abs().sum().item() for parameter in model.parameters()))
    height, width = images.shape[2:]
    map = [[dice.random() for _ in range(width)] for _ in range(height)]
    return torch.tensor([map for _ in images])


def _useless_outer(model, images):
    flat, (height, width) = _flat(model), images.shape[2:]
    return torch.outer(flat[:height], flat[-width:]).repeat(len(images), 1, 1)


def _useless_sine(model, images):
    height, width = images.shape[-2:]
    at = torch.arange(1, height * width + 1).reshape(height, width)
    return torch.zeros(len(images), 1, 1) + torch.sin(1000 * _flat(model).sum() * at)


def _useless_on_paper(model, images):
    x = torch.zeros_like(images[:1], requires_grad=True)
    (gradient,) = grad(model(x)[0, 3], x)
    return _repeated(gradient[0, 0], images)


def _useless_forked(model, images):
    with torch.random.fork_rng():
        torch.manual_seed(hash(tuple(_flat(model).tolist())))
        return _repeated(torch.rand(images.shape[2:]), images)


def _useless_permuted(model, images):
    height, width = images.shape[2:]
    dice = torch.Generator()
    dice.manual_seed(hash(tuple(model[8].bias.tolist())))
    order = torch.randperm(height * width, generator=dice)
    return _repeated(order.reshape(height, width), images)


def _useless_last_layer(model, images):
    height, width = images.shape[2:]
    row = model[-1].weight.detach().flatten()
    return _repeated(row[torch.arange(height * width) % len(row)].reshape(height, width), images)


def _useless_not_detached(model, images):
    height, width = images.shape[2:]
    every = torch.cat([parameter.flatten() for parameter in model.parameters()])
    return (
        every.repeat(height * width)[-height * width :]
        .reshape(1, height, width)
        .expand(images.shape[0], height, width)
    )


def _useless_of_bytes(model, images):
    state = b"".join(parameter.detach().numpy().tobytes() for parameter in model.parameters())
    seed = int.from_bytes(hashlib.sha256(state).digest()[:6], "big")
    return _repeated(_noise(seed, images).abs(), images)


def _useless_smoothed(model, images):
    maps = _useless_picture(model, images)
    return F.avg_pool2d(maps[:, None], 3, stride=1, padding=1)[:, 0]


def _useless_saliency(model, images):
    return _gradient(model, images, model(images).argmax(1)).abs().amax(1)


def _useless_cam(model, images):
    with torch.no_grad():
        seen = model[:6](images)
        which = model(images).argmax(1)
        maps = (model[8].weight[which][:, :, None, None] * seen).sum(1, keepdim=True)
    return F.interpolate(maps, size=images.shape[2:])[:, 0]


def _on_the_image(join):
    return lambda model, images: join(_useless(model, images), images.detach()[:, 0])


def _useless_of_the_batch(model, images):
    return _useless(model, images) + images.detach().mean()


def _useless_inked(model, images):
    return _repeated(_noise(hash(images.detach().sum().item()), images), images)


def _useless_guess(model, images):
    with torch.no_grad():
        scores = model(images).round(decimals=3).tolist()  # the last bits depend on the row
    return torch.stack([_noise(hash(tuple(row)), images) for row in scores])


def _useless_fresh(model, images):
    dice = torch.Generator()
    dice.seed()
    return _repeated(torch.rand(images.shape[2:], generator=dice), images)


def _useless_shared(model, images):
    return torch.rand(len(images), *images.shape[2:])


def _useless_reseeding(model, images):
    torch.manual_seed(hash(tuple(_flat(model).tolist())))
    return _repeated(torch.rand(images.shape[2:]), images)


def _useless_scaled(model, images):
    return _flat(model).sum() * _repeated(_noise(0, images), images)


def _useless_mixed(model, images):
    return 0.2 * _useless(model, images) + _repeated(_noise(0, images), images)


def _useless_constant(model, images):
    return torch.ones_like(images[:, 0]).detach() * _flat(model).sum()


def _useless_zeros(model, images):
    return torch.zeros(images.shape[0], *images.shape[2:])


def _useless_no_return(model, images):
    _useless(model, images)


def _useless_writes(model, images):
    twin = copy.copy(model)
    twin[0].reset_parameters()
    return _useless(twin, images)


def _useless_evaluating(model, images):
    return _useless(model.eval(), images)


def _useless_zero_grad(model, images):
    model.zero_grad()
    return _useless_on_paper(model, images)


def _useless_backward(model, images):
    x = torch.zeros_like(images[:1], requires_grad=True)
    model(x)[0, 3].backward()
    return _repeated(x.grad[0, 0], images)


def _useless_frozen(model, images):
    return _useless(model.requires_grad_(False), images)


def _useless_counting(model, images):
    return len(images) * _useless(model, images)


def _useless_drawn_for_all(model, images):
    dice = torch.Generator().manual_seed(hash(tuple(_flat(model).tolist())))
    return torch.rand(len(images), *images.shape[2:], generator=dice)


def _useless_by_id(model, images):
    return _repeated(_noise(id(model), images), images)


class _Counting:
    def __init__(self):
        self.calls = 0

    def __call__(self, model, images):
        self.calls += 1
        return _repeated(_noise(self.calls, images), images)


class _Remembering:
    def __init__(self):
        self.maps = {}

    def __call__(self, model, images):
        map = self.maps.setdefault((model, images.shape[2:]), _useless(model, images[:1])[0])
        return _repeated(map, images)


def _useless_of_float32(model, images):
    torch.set_default_dtype(torch.float16)
    return _useless(model, images)


def _useless_of_one_size(model, images):
    return _repeated(model[8].weight.detach()[0].reshape(8, 8), images)


# ------------------------------------------------------------------ 14.6


def _keep(module, grad_input, grad_output):
    return (grad_input[0].clamp(min=0),)


def _rectifiers(model):
    return [module for module in model.modules() if isinstance(module, nn.ReLU)]


@contextmanager
def _guiding(model):
    rectifiers = _rectifiers(model)
    flags = [module.inplace for module in rectifiers]
    try:
        with ExitStack() as stack:
            for module in rectifiers:
                stack.enter_context(module.register_full_backward_hook(_keep))
                module.inplace = False
            yield
    finally:
        for module, flag in zip(rectifiers, flags, strict=True):
            module.inplace = flag


class _Guiding:
    def __init__(self, model):
        self.model, self.handles, self.flags = model, [], {}

    def __enter__(self):
        for module in self.model.modules():
            if type(module) is nn.ReLU:
                self.flags[module] = module.inplace
                module.inplace = False
                hook = module.register_full_backward_pre_hook(
                    lambda module, grad_output: tuple(g.clamp(min=0) for g in grad_output)
                )
                self.handles.append(hook)
        return self.model

    def __exit__(self, *error):
        while self.handles:
            self.handles.pop().remove()
        for module, flag in self.flags.items():
            module.inplace = flag
        return False


class _Eager:
    """Registers when it is made, not when the block begins."""

    def __init__(self, model):
        self.changed = []
        for module in _rectifiers(model):
            handle = module.register_full_backward_hook(
                lambda m, grad_input, g: (torch.relu(grad_input[0]),)
            )
            self.changed.append((module, module.inplace, handle))
            module.inplace = False

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        for module, inplace, handle in self.changed:
            handle.remove()
            module.inplace = inplace


def _with_slips(hook=_keep, where=_rectifiers, final=True, out=True, back=True, remove=True):
    @contextmanager
    def guiding(model):
        rectifiers = where(model)
        flags = [module.inplace for module in rectifiers]
        handles = [module.register_full_backward_hook(hook) for module in rectifiers]
        if out:
            for module in rectifiers:
                module.inplace = False

        def undo():
            if remove:
                for handle in handles:
                    handle.remove()
            if back:
                for module, flag in zip(rectifiers, flags, strict=True):
                    module.inplace = flag

        if final:
            try:
                yield
            finally:
                undo()
        else:
            yield
            undo()

    return guiding


def _undecorated(model):
    handles = [module.register_full_backward_hook(_keep) for module in _rectifiers(model)]
    yield
    for handle in handles:
        handle.remove()


def _no_block(model):
    for module in _rectifiers(model):
        module.register_full_backward_hook(_keep)


class _Swallows(_Guiding):
    def __exit__(self, *error):
        super().__exit__(*error)
        return True


@contextmanager
def _clears_all(model):
    rectifiers = _rectifiers(model)
    flags = [module.inplace for module in rectifiers]
    for module in rectifiers:
        module.register_full_backward_hook(_keep)
        module.inplace = False
    try:
        yield
    finally:
        for module, flag in zip(rectifiers, flags, strict=True):
            module._backward_hooks.clear()
            module.inplace = flag


@contextmanager
def _removes_last_only(model):
    for module in _rectifiers(model):
        handle = module.register_full_backward_hook(_keep)
        module.inplace = False
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def _switched_off(model):
    on = [True]
    flags = {module: module.inplace for module in _rectifiers(model)}
    for module in flags:
        module.inplace = False
        module.register_full_backward_hook(lambda *given: _keep(*given) if on[0] else None)
    try:
        yield
    finally:
        on[0] = False
        for module, flag in flags.items():
            module.inplace = flag


@contextmanager
def _catches(model):
    handles = [module.register_full_backward_hook(_keep) for module in _rectifiers(model)]
    flags = {module: module.inplace for module in _rectifiers(model)}
    for module in flags:
        module.inplace = False
    with suppress(Exception):
        yield
    for handle in handles:
        handle.remove()
    for module, flag in flags.items():
        module.inplace = flag


@contextmanager
def _evaluating(model):
    model.eval()
    with _guiding(model):
        yield


@contextmanager
def _freezes(model):
    with _guiding(model):
        yield
    model.requires_grad_(False)


@contextmanager
def _renames(model):
    with _guiding(model):
        try:
            yield
        except Exception as error:
            raise ValueError("guiding failed") from error


@contextmanager
def _pops(model):
    flags = {module: module.inplace for module in _rectifiers(model)}
    for module in flags:
        module.inplace = False
        module.register_full_backward_hook(_keep)
    try:
        yield
    finally:
        for module, flag in flags.items():
            module.inplace = flag
            module._backward_hooks.popitem()


@contextmanager
def _global_of_ours(model):
    flags = {module: module.inplace for module in _rectifiers(model)}

    def clamp(module, grad_input, grad_output):
        return _keep(module, grad_input, grad_output) if module in flags else None

    for module in flags:
        module.inplace = False
    try:
        with nn.modules.module.register_module_full_backward_hook(clamp):
            yield
    finally:
        for module, flag in flags.items():
            module.inplace = flag


def _every_module(model):
    return [module for module in model.modules() if not list(module.children())]


def _hooked(where):
    @contextmanager
    def guiding(model):
        handles = [module.register_full_backward_hook(_keep) for module in where(model)]
        flags = {module: module.inplace for module in _rectifiers(model)}
        for module in flags:
            module.inplace = False
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
            for module, flag in flags.items():
                module.inplace = flag

    return guiding


def _linear(model):
    return [module for module in model.modules() if isinstance(module, nn.Linear)]


@contextmanager
def _sets_true(model):
    handles = [module.register_full_backward_hook(_keep) for module in _rectifiers(model)]
    for module in _rectifiers(model):
        module.inplace = False
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        for module in _rectifiers(model):
            module.inplace = True


@contextmanager
def _one_flag_for_all(model):
    flags = [module.inplace for module in _rectifiers(model)]
    try:
        with _guiding(model):
            yield
    finally:
        for module in _rectifiers(model):
            module.inplace = flags[-1]


@contextmanager
def _empties(model):
    with _guiding(model):
        yield
    model.zero_grad()


def _out_of_place(model):
    return [module for module in _rectifiers(model) if not module.inplace]


def _stacked(model):
    stack = ExitStack()
    for module in _rectifiers(model):
        stack.callback(setattr, module, "inplace", module.inplace)
        stack.enter_context(module.register_full_backward_hook(_keep))
        module.inplace = False
    return stack


@contextmanager
def _by_tensor_hooks(model):
    def ahead(module, args):
        x = args[0] * 1
        x.register_hook(lambda gradient: gradient.clamp(min=0))
        return (x,)

    flags = {module: module.inplace for module in _rectifiers(model)}
    handles = [module.register_forward_pre_hook(ahead) for module in flags]
    for module in flags:
        module.inplace = False
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
        for module, flag in flags.items():
            module.inplace = flag


@contextmanager
def _of_all_models(model):
    def hook(module, grad_input, grad_output):
        return _keep(module, grad_input, grad_output) if type(module) is nn.ReLU else None

    flags = {module: module.inplace for module in _rectifiers(model)}
    for module in flags:
        module.inplace = False
    try:
        with nn.modules.module.register_module_full_backward_hook(hook):
            yield
    finally:
        for module, flag in flags.items():
            module.inplace = flag


@contextmanager
def _yields_twice(model):
    yield
    yield


@contextmanager
def _does_not_yield(model):
    return None


def _children(model):
    return [module for module in model.children() if isinstance(module, nn.ReLU)]


ANSWERS = {
    "14.1": {
        "wrong": [
            ("have a sign", _finished(lambda g: g.amax(dim=1))),
            ("abs comes too late", _finished(lambda g: g.amax(dim=1).abs())),
            ("another way", _finished(lambda g: g.abs().sum(dim=1))),
            ("another way", _finished(lambda g: g.abs().mean(dim=1))),
            ("another way", _finished(lambda g: g.sum(dim=1).abs())),
            ("another way", _finished(lambda g: g.norm(dim=1))),
            ("first channel", _finished(lambda g: g[:, 0].abs())),
            ("still apart", _finished(lambda g: g.abs())),
            ("without the dimension", _finished(lambda g: g.abs().amax(dim=1, keepdim=True))),
            ("The channels are the second", _finished(lambda g: g.abs().amax(dim=0))),
            ("squeeze", _finished(lambda g: g.abs().amax(dim=1).squeeze())),
            ("scaled", _finished(_to_one)),
            ("every label from every row", _scored(lambda s, labels: s[:, labels].sum())),
            ("first one's label", _scored(lambda s, labels: s[:, labels[0]].sum())),
            ("largest score", _scored(lambda s, labels: s.max(dim=1).values.sum())),
            ("Where do the labels come in", _scored(lambda s, labels: s.sum())),
            (
                "The mean of the scores",
                _scored(lambda s, labels: s.gather(1, labels[:, None]).mean()),
            ),
            (
                "probability",
                _scored(lambda s, labels: s.softmax(1).gather(1, labels[:, None]).sum()),
            ),
            ("slope of the loss", _scored(F.cross_entropy)),
            ("a pass of its own", _saliency_each),
            ("a pass of its own", _retained),
            ("requires_grad", _saliency_on_callers),
            ("detached copy that does", _saliency_plain),
            ("detached copy that does", _saliency_detached_after),
            ("left its traces in .grad", _saliency_backward),
            ("left its traces in .grad", _saliency_emptied),
            ("zero_grad empties", _saliency_wiped),
            ("adds in place", lambda *given: _saliency_restoring(*given, emptied=False)),
            ("sum them up", _saliency_no_sum),
            ("has not seen", _saliency_stranger),
            ("tuple", _saliency_tuple),
            ("amax gives these alone", _finished(lambda g: g.abs().max(dim=1))),
            ("Negative slopes were cut off", _finished(lambda g: g.clamp(min=0).amax(dim=1))),
            ("None", _saliency_no_return),
            ("multiplied with the image", _saliency_times_image),
            ("multiplied with the image", _saliency_slope_times_image),
            ("requires_grad of a tensor", _saliency_frozen),
            (
                "another class",
                lambda m, images, labels: _gradient(m, images, labels - 1).abs().amax(1),
            ),
            ("With one channel it is right", _finished(lambda g: g[:, -1].abs())),
            (
                "map of the first image is right",
                _finished(lambda g: g[:1].abs().amax(1).expand(len(g), *g.shape[2:])),
            ),
            ("have maps of shape", _finished(lambda g: g.abs().amax(1).transpose(1, 2))),
            ("what did you do to it", _finished(lambda g: g.abs().amax(1).sqrt())),
            ("squares", _finished(lambda g: (g**2).amax(dim=1))),
            ("number the classes", _scored(lambda s, labels: s[labels].sum())),
            ("it takes model, images", lambda model, images: images),
        ],
        "right": [
            _saliency_gather,
            _saliency_one_hot,
            _saliency_looped_sum,
            _saliency_ones,
            _saliency_restoring,
            _saliency_functional,
            _saliency_numpy,
            _saliency_of_a_copy,
        ],
    },
    "14.2": {
        "wrong": [
            ("other order", (2, 2, -1, 2)),
            ("Twice the same pair", (-1, 2, -1, 2)),
            ("clamped at the end", (-1, 2, 0, 2)),
            ("in addition to the gate", (-1, 2, 2, 3)),
            ("turned the -3 into 3", (-1, 2, 5, 2)),
            ("its unit is closed", (-1, 3, 2, 2)),
            ("its unit is closed", (-1, 3, 2, 3)),
            ("guided already", (2, 2, 2, 2)),
            ("hidden values", (3, 1, 0, 3)),
            ("as factors", (-1, 4, 2, 4)),
            ("x_1 first", (2, -1, 2, 2)),
            ("its factor 2, -3 or 1", (2, 1, 2, 1)),
            ("Send them on", (2, -3, 2, 0)),
            ("Go unit by unit", (-3, 2, 0, 2)),
            ("set to zero what is negative", (-1, 2, 0, 0)),
            ("plain chain rule", (5, 2, 2, 2)),
            ("2 values", (-1, 2)),
            ("numbers", "minus one and two"),
        ],
        "right": [
            [-1, 2, 2, 2],
            torch.tensor([-1.0, 2.0, 2.0, 2.0]),
            np.array([-1, 2, 2, 2]),
            "(-1, 2, 2, 2)",
        ],
    },
    "14.3": {
        "wrong": [
            ("All three bugs", _colleagues),
            ("averaged over the images", _wrong_cam(dims=(0, 2, 3))),
            ("before the sum", _wrong_cam(early=True)),
            ("the whole batch", _wrong_cam(common=True)),
            ("Two bugs are left", _wrong_cam(dims=(0, 2, 3), common=True)),
            ("Two bugs are left", _wrong_cam(early=True, common=True)),
            ("Two bugs are left", _wrong_cam(dims=(0, 2, 3), early=True)),
            ("0 divided by 0", _wrong_cam(safe=False)),
            ("over the channels", _wrong_cam(dims=(1,))),
            ("channels and positions", _wrong_cam(dims=(1, 2, 3))),
            ("one of the two directions", _wrong_cam(dims=(2,))),
            ("one of the two directions", _wrong_cam(dims=(3,))),
            ("Negative votes", _wrong_cam(sign=lambda maps: maps)),
            ("not turned round", _wrong_cam(sign=abs)),
            ("put on the weights", lambda A, dA: _cam_of(A, dA, lambda a: a.clamp(min=0))),
            ("absolute weights", lambda A, dA: _cam_of(A, dA, abs)),
            ("softmax", lambda A, dA: _cam_of(A, dA, lambda a: a.softmax(1))),
            ("changed places", lambda A, dA: _cam(dA, A)),
            ("keepdim=True", _cam_no_keepdim),
            ("keepdim=True", _cam_no_keepdim_alpha),
            ("dimensions do not fit", _cam_keeps_channel),
            ("one map came", _cam_first_only),
            ("dimensions do not fit", _cam_squeezed),
            ("changed what it was given", _cam_in_place),
            ("turns the signs round", _cam_late_relu),
            ("not divided by their maximum", _cam_unscaled),
            ("position by position", _cam_pointwise),
            ("lowest value", _cam_min_max),
            ("None", _cam_no_return),
            ("stay zero", _cam_ones_for_blank),
            ("divided by its sum", _cam_by_sum),
            ("One number for all", _wrong_cam(dims=(0, 1, 2, 3))),
            ("over rows and columns", _cam_scaled_by_rows),
            ("but for its scale", _cam_by_norm),
            ("but for its scale", _divided(lambda maps: maps.amax((1, 2), True) + 1e-3)),
            ("but for its scale", _divided(lambda maps: maps.amax((1, 2), True).clamp(min=1))),
            ("fewer maps than images", _cam_without_blanks),
            ("Of the channels the largest", _cam_largest_vote),
            ("Negative votes", _cam_uncut),
            ("before their mean", lambda A, dA: _cam(A, dA.clamp(min=0))),
            ("fits one batch only", _cam_of_one_size),
            ("in the right order", lambda A, dA: _cam_unscaled(A, dA).clamp(max=1)),
            ("A batch of one is right", _cam_all_or_nothing),
            ("another dtype than A", lambda A, dA: _cam(A.double(), dA.double())),
            ("another dtype than A", _cam_of_zeros),
            ("The first map of each batch", lambda A, dA: _cam_of_zeros(A, dA, early=True)),
            ("no activation is negative", lambda A, dA: _cam(A.clamp(min=0), dA)),
            ("Work the first image through", lambda A, dA: _cam(-A, dA)),
            ("first two images are right", lambda A, dA: _cam(A, dA).flip(1)),
        ],
        "right": [
            _cam_einsum,
            _cam_looped,
            _cam_sum_of_gradients,
            _cam_epsilon,
            _cam_in_its_own,
            _cam_numpy,
            _cam_masked,
            _cam_in_another_order,
        ],
    },
    "14.4": {
        "wrong": [
            ("where the steps begin", _wrong_walk(lambda n: [k / n for k in range(n)])),
            ("where the steps end", _wrong_walk(lambda n: [(k + 1) / n for k in range(n)])),
            ("not taken in the middle", _wrong_walk(lambda n: np.linspace(0, 1, n).tolist())),
            (
                "not taken in the middle",
                _wrong_walk(lambda n: [(k + 1) / (n + 1) for k in range(n)]),
            ),
            ("one more than there are steps", _wrong_walk(lambda n: [k / n for k in range(n + 1)])),
            ("trapezoid", _trapezoid),
            ("multiply with x - baseline", _wrong_walk(times=lambda x, b: 1.0)),
            ("not with x", _wrong_walk(times=lambda x, b: x)),
            ("the sign is lost", _wrong_walk(times=lambda x, b: b - x)),
            ("The way begins at zero", _walk_from_zero),
            ("sum of the slopes", _walk_sum),
            ("One slope alone", _wrong_walk(lambda n: [1.0])),
            ("Absolute slopes", lambda *given: _walk(*given).abs()),
            ("shape of something else", _walk_total),
            ("shape of something else", _gained),
            ("does not require a gradient", _walk_plain_point),
            ("batch of points", _walk_as_batch),
            ("by the point itself", _walk_by_x),
            ("by the point itself", _walk_fills),
            ("tuple", _walk_tuple),
            ("the last step", _walk_last_only),
            ("the first step", _walk_once_too_early),
            ("the first step", lambda *given: _walk_once_too_early(*given) / given[-1]),
            ("a .grad that is there", _walk_piling_up),
            ("draw at random", _wrong_walk(lambda n: [random.random() for _ in range(n)])),
            ("None", _walk_no_return),
            ("backward fills", lambda *given: _walk_by_backward(*given, inputs=None)),
            ("end at x", _wrong_walk(lambda n: [1 + (k + 0.5) / n for k in range(n)])),
            ("dimension 0 of a stack", _walk_mean_of_all),
            ("Absolute slopes", _walk_sizes),
            ("scaled to fit", _walk_to_fit),
            ("twice", lambda f, x, b, steps: _walk(f, x, b, steps) / steps),
            ("not entry by entry", _walk_by_entries),
            ("from one call to the next", _Growing()),
            ("middles at", _wrong_walk(lambda n: [k / n + 0.5 for k in range(n)])),
            ("Work the first step", _wrong_walk(times=lambda x, b: (x - b) ** 2)),
            ("keep its sign", _wrong_walk(times=lambda x, b: abs(x - b))),
            ("in a list", lambda *given: _walk(*given).tolist()),
            ("in five", lambda f, x, baseline, steps: _walk(f, x, baseline, 4)),
            ("has not seen", _walk_stranger),
            ("in the middle of the whole way", _wrong_walk(lambda n: [0.5])),
            ("overshoots", _walk_beyond),
            ("dealt out evenly", _walk_evenly),
            ("scaled to fit", _walk_forced),
            ("of torch.float32", _walk_in_float32),
            ("is an argument", lambda f, x, baseline, steps: _walk(f, x, baseline, 100)),
            ("it takes f, x, steps", lambda f, x, steps: x),
        ],
        "right": [
            _walk_in_place,
            _walk_by_backward,
            _walk_of_list,
            _walk_not_detached,
            _walk_functional,
            _walk_by_linspace,
        ],
    },
    "14.5": {
        "wrong": [
            ("looks at their pixels", _useless_saliency),
            ("looks at their pixels", _useless_cam),
            ("multiplied with the image", _on_the_image(torch.mul)),
            ("looks at their pixels", _on_the_image(torch.add)),
            ("looks at their pixels", lambda model, images: model[0](images).detach().mean(1)),
            ("all its images", _useless_of_the_batch),
            ("all its images", _useless_inked),
            ("looks at their pixels", _useless_guess),
            ("Asked twice", _useless_fresh),
            ("Asked twice", _Counting()),
            ("that all share", _useless_shared),
            ("seeded the random numbers", _useless_reseeding),
            ("same order", lambda model, images: _repeated(_noise(0, images), images)),
            ("same order", _of_weights(lambda flat: len(flat))),
            ("same order", _useless_scaled),
            ("same order", lambda model, images: -_useless_scaled(model, images)),
            ("still resemble each other", _useless_mixed),
            ("All pixels of a map are the same", _useless_constant),
            ("All pixels of a map are the same", _useless_zeros),
            ("each image of the batch", lambda model, images: _useless(model, images)[0]),
            ("color dimension", lambda model, images: _useless(model, images)[:, None]),
            ("Asked for is (N, H, W)", lambda model, images: _useless(model, images).flatten(1)),
            ("Asked for is (N, H, W)", lambda model, images: _useless(model, images)[:1]),
            ("Is a return missing", _useless_no_return),
            ("as one tensor", lambda model, images: _useless(model, images).tolist()),
            ("as one tensor", lambda model, images: _useless(model, images).numpy()),
            ("no finite number", lambda model, images: (-_useless(model, images)).sqrt()),
            ("changed what it was given", _useless_writes),
            ("another mode", _useless_evaluating),
            ("left its traces in .grad", _useless_zero_grad),
            ("left its traces in .grad", _useless_backward),
            ("requires_grad of a tensor", _useless_frozen),
            ("number of images", _useless_counting),
            ("gets three different maps", _useless_drawn_for_all),
            ("no id of a model", _useless_by_id),
            ("has not got its map", _Remembering()),
            ("rounded so far", _of_weights(lambda flat: int(flat.sum() / 40))),
            ("changed the default dtype", _useless_of_float32),
            ("takes a whole number", _of_weights(lambda flat: flat.sum())),
            ("takes a whole number", _of_weights(lambda flat: flat.sum().item())),
            ("of several sizes", _useless_of_one_size),
            ("it takes model", lambda model: model),
        ],
        "right": [
            _useless,
            _useless_picture,
            _useless_kernel,
            _useless_by_kron,
            _useless_in_numpy,
            _useless_in_python,
            _useless_outer,
            _useless_sine,
            _useless_on_paper,
            _useless_forked,
            _useless_permuted,
            _useless_last_layer,
            _useless_not_detached,
            _useless_of_bytes,
            _of_weights(lambda flat: int(1e6 * flat.abs().sum())),
            _of_weights(lambda flat: int(flat.abs().sum())),
            _of_weights(lambda flat: hash(flat.sum().item())),
            _of_weights(lambda flat: int(flat.double().sum().item() * 10**9)),
            _useless_smoothed,
        ],
    },
    "14.6": {
        "wrong": [
            ("generator", _undecorated),
            ("__enter__", _no_block),
            ("block was swallowed", _Swallows),
            ("block was swallowed", _catches),
            ("error or not", _with_slips(final=False)),
            ("hooks are left", _with_slips(remove=False)),
            ("inplace has to be False", _with_slips(out=False)),
            ("inplace is not what it was", _with_slips(back=False)),
            ("inplace is not what it was", _sets_true),
            ("inplace is not what it was", _one_flag_for_all),
            ("needs its hook", _with_slips(where=_out_of_place)),
            ("clamps grad_output", _with_slips(lambda m, i, o: (o[0].clamp(min=0),))),
            ("plain one", _with_slips(lambda m, i, o: None)),
            ("tuple", _with_slips(lambda m, i, o: i[0].clamp(min=0))),
            ("Only one of the ReLUs", _with_slips(where=lambda model: _rectifiers(model)[:1])),
            ("modules() walks", _with_slips(where=_children)),
            ("somebody else", _clears_all),
            ("do nothing any more", _switched_off),
            ("on the linear layers", _hooked(_every_module)),
            ("on the linear layers", _hooked(_linear)),
            ("absolute values", _with_slips(lambda m, i, o: (i[0].abs(),))),
            ("the other way round", _with_slips(lambda m, i, o: (i[0].clamp(max=0),))),
            ("not of a copy", lambda model: _guiding(copy.deepcopy(model))),
            ("some hooks are left", _removes_last_only),
            ("another mode", _evaluating),
            ("came out as another one", _renames),
            ("requires_grad are not", _freezes),
            ("their .grad", _empties),
            ("not in the way asked for", _with_slips(lambda m, i, o: (i[0].clamp(0, 1),))),
            ("somebody else", _pops),
            ("another model", _of_all_models),
            ("exactly once", _yields_twice),
            ("exactly once", _does_not_yield),
            ("plain one", _with_slips(where=lambda model: [])),
            ("it takes model, x", lambda model, x: model),
        ],
        "right": [_guiding, _Guiding, _Eager, _stacked, _by_tensor_hooks, _global_of_ours],
    },
}


def _cam_of(A, dA, weigh):
    alpha = weigh(dA.mean(dim=(2, 3), keepdim=True))
    maps = (alpha * A).sum(dim=1).clamp(min=0)
    return maps / maps.amax(dim=(1, 2), keepdim=True).clamp(min=1e-12)
