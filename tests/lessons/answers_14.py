"""Typical wrong answers and differently written right ones, for the exercises of lesson 14."""

import copy
from contextlib import ExitStack, contextmanager

import numpy as np

import minigrad as torch
from minigrad import nn
from minigrad.autograd import grad


def _own(scores, labels):
    return scores.gather(1, labels[:, None]).sum()


def _looped(scores, labels):
    return sum(row[label] for row, label in zip(scores, labels, strict=True))


def _saliency(model, images, labels, score=_own):
    x = images.clone().detach().requires_grad_()
    return grad(score(model(x), labels), x)[0].abs().max(dim=1).values


def _saliency_one_hot(model, images, labels):
    x = images.detach().requires_grad_()
    scores = model(x)
    wanted = nn.functional.one_hot(labels, scores.shape[1]).to(scores.dtype)
    return torch.stack([g.abs().amax(0) for g in grad(scores, x, grad_outputs=wanted)[0]])


def _cam(A, dA):
    maps = torch.relu(torch.einsum("nk,nkhw->nhw", dA.mean((2, 3)), A))
    return maps / maps.amax((1, 2), keepdim=True).clamp(min=1e-12)


def _cam_looped(A, dA):
    votes = [sum(a * d.mean() for a, d in zip(*pair, strict=True)) for pair in zip(A, dA)]  # noqa: B905
    maps = [each * (each > 0) for each in votes]
    return torch.stack([each / each.max() if each.any() else each for each in maps])


def _cam_one_by_one(*given):
    return torch.cat([_cam(a[None], d[None]) for a, d in zip(*given, strict=True)])


def _walk(f, x, baseline, steps, middle=0.5):
    way = (x - baseline).detach()
    points = [(baseline + (k + middle) / steps * way).requires_grad_() for k in range(steps)]
    return sum(grad(sum(f(point) for point in points), points)) / steps * way


def _walk_by_backward(f, x, baseline, steps):
    total = 0.0
    for t in (np.arange(steps) + 0.5) / steps:
        point = (baseline + float(t) * (x - baseline)).detach().requires_grad_()
        f(point).backward(inputs=[point])
        total += point.grad
    return (x - baseline).detach() * (total / steps)


def _walk_functional(f, x, baseline, steps):
    way, slope = (x - baseline).detach(), torch.func.grad(f)
    return sum(way / steps * slope(baseline + (k + 0.5) / steps * way) for k in range(steps))


def _picture(model, images):
    flat = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    count, _, height, width = images.shape
    return (
        flat.repeat(height * width)[: height * width].reshape(1, height, width).repeat(count, 1, 1)
    )


def _useless_in_numpy(model, images):
    seed = abs(hash(str(model.state_dict()["0.weight"].tolist())))
    map = np.random.default_rng(seed).normal(size=images.shape[2:])
    return torch.from_numpy(np.stack([map] * len(images)))


def _useless_sine(model, images):
    total = sum(parameter.detach().sum() for parameter in model.parameters())
    at = torch.arange(1, images[0, 0].numel() + 1).reshape(images.shape[2:])
    return torch.zeros(len(images), 1, 1) + torch.sin(1000 * total * at)


_maps = {}


def _remembering(model, images):
    return _maps.setdefault((model, images.shape), _picture(model, images))


def _clamp(module, grad_input, grad_output):
    return tuple(each.clamp(min=0) for each in grad_input)


@contextmanager
def _stacked(model, hook=_clamp, register="register_full_backward_hook"):
    with ExitStack() as stack:
        for module in model.modules():
            if isinstance(module, nn.ReLU):
                stack.callback(setattr, module, "inplace", module.inplace)
                stack.callback(getattr(module, register)(hook).remove)
                module.inplace = False
        yield


def _at_the_output(model):
    return _stacked(model, lambda m, o: _clamp(m, o, o), "register_full_backward_pre_hook")


class _Guiding:
    def __init__(self, model):
        self.block = _stacked(model)

    def __enter__(self):
        return self.block.__enter__()

    def __exit__(self, *error):
        return self.block.__exit__(*error)


ANSWERS = {
    "14.1": {
        "wrong": [
            ("0 of 60 values fit", lambda *given: _saliency(*given, lambda s, y: _own(s**2, y))),
            ("20 of 60 values fit", lambda m, x, y: _saliency(m, x[:1].expand_as(x), y)),
            ("is different now", lambda m, x, y: _saliency(m, x.requires_grad_(), y)),
            ("is None", lambda *given: [_saliency(*given)].clear()),
            ("it takes model, images", lambda model, images: images),
        ],
        "right": [_saliency, _saliency_one_hot, lambda *given: _saliency(*given, _looped)],
    },
    "14.2": {
        "wrong": [
            ("2 of 4 values fit", (-3, 2, 0, 2)),
            ("entry [2]", (-1, 2, 0, 0)),
            ("The two pairs", (2, 2, -1, 2)),
            ("4 are asked for", (-1, 2)),
            ("wants numbers", "minus one and two"),
        ],
        "right": [[-1.0, 2.0, 2.0, 2.0], ((-1, 2), (2, 2)), "-1, 2, 2, 2"],
    },
    "14.3": {
        "wrong": [
            ("6 of 12 values fit", lambda A, dA: _cam(A.clamp(min=0), dA)),
            ("2 of 3 values fit", lambda A, dA: _cam(A, dA).sqrt()),
            ("the type of what went in", lambda A, dA: _cam(A, dA).float()),
            ("It changed what it was given", lambda A, dA: _cam(A, dA) + 0 * A.zero_()[:, 0]),
            ("a map for each image", lambda A, dA: _cam(A, dA).amax(0)),
        ],
        "right": [_cam, _cam_looped, _cam_one_by_one],
    },
    "14.4": {
        "wrong": [
            ("Right size, wrong sign", lambda f, x, b, steps: -_walk(f, x, b, steps)),
            ("0 of 2 values fit", lambda f, x, b, steps: _walk(f, x, b, steps, 0.25)),
            ("from (1, -1) in 5 steps", lambda f, x, b, steps: _walk(f, x, b, 4)),
            ("Give a tensor", lambda *given: _walk(*given).tolist()),
            ("it takes f, x, steps", lambda f, x, steps: x),
        ],
        "right": [_walk, _walk_by_backward, _walk_functional],
    },
    "14.5": {
        "wrong": [
            ("have different maps", lambda model, images: model[0](images).detach().mean(1)),
            (
                "Another batch",
                lambda model, images: _picture(model, images) + images.detach().mean(),
            ),
            ("keeps its old one", _remembering),
            ("still resemble", lambda model, images: _picture(model, images).abs().cumsum(1)),
            ("finite numbers", lambda model, images: _picture(model, images).sqrt()),
        ],
        "right": [_picture, _useless_in_numpy, _useless_sine],
    },
    "14.6": {
        "wrong": [
            ("not of a copy", lambda model: _stacked(copy.deepcopy(model))),
            (
                "what is negative",
                lambda model: _stacked(model, lambda m, i, o: (i[0].clamp(0, 1),)),
            ),
            ("something else about the model", lambda model: _stacked(model.train())),
            ("without __enter__", lambda model: [*map(_stacked, model.modules())]),
            ("is the plain one", lambda model: _stacked(next(model.children(), model))),
        ],
        "right": [_stacked, _Guiding, _at_the_output],
    },
}
