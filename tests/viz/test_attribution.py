"""Saliency and Grad-CAM: the formulas, and nothing of the model changed."""

from __future__ import annotations

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.nn import functional as F
from minigrad.viz import grad_cam, saliency


class Net(nn.Module):
    def __init__(self, inplace=False):
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(2, 3, 3, padding=1)
        self.act = nn.ReLU(inplace=inplace)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Linear(12, 4)
        self.double()

    def forward(self, x):
        return self.head(self.pool(self.act(self.conv(x))).flatten(1))


def images(count=3):
    torch.manual_seed(1)
    return torch.randn(count, 2, 4, 4, dtype=torch.float64)


def gradient(model, batch, classes):
    x = batch.detach().clone().requires_grad_()
    model(x)[range(len(batch)), classes].sum().backward()
    return x.grad


def test_saliency_is_the_gradient_of_the_score():
    model, batch = Net(), images()
    expected = gradient(model, batch, [0, 3, 1])
    sizes = saliency(model, batch, [0, 3, 1])
    assert torch.equal(sizes, expected.abs().amax(1))
    signed = saliency(model, batch, torch.tensor([0, 3, 1]), signed=True)
    assert torch.equal(signed, expected.sum(1))
    assert (signed < 0).any()
    assert tuple(sizes.shape) == (3, 4, 4)
    assert not sizes.requires_grad


def test_one_image_one_class_and_the_class_with_the_highest_score():
    model, batch = Net(), images()
    each = saliency(model, batch, 2)
    for number in range(3):
        # one image at a time: matrix products of other shapes may round otherwise
        assert torch.allclose(saliency(model, batch[number], 2), each[number], rtol=1e-12, atol=0)
    best = model(batch).argmax(1)
    assert len(set(best.tolist())) > 1
    assert torch.equal(saliency(model, batch), saliency(model, batch, best))
    assert torch.equal(grad_cam(model, "act", batch), grad_cam(model, "act", batch, best))


def test_grad_cam_is_its_formula():
    model, batch = Net(), images()
    maps = model.act(model.conv(batch)).detach().requires_grad_()
    scores = model.head(model.pool(maps).flatten(1))
    scores[range(3), [0, 3, 1]].sum().backward()
    weights = maps.grad.mean((2, 3), keepdim=True)
    expected = (weights * maps.detach()).sum(1).relu()
    small = grad_cam(model, "act", batch, [0, 3, 1], enlarge=False)
    # the same sums, by other operations
    assert torch.allclose(small, expected, rtol=1e-12, atol=1e-15)
    assert (small > 0).any()
    assert torch.equal(grad_cam(model, model.act, batch, [0, 3, 1], enlarge=False), small)


def test_the_map_is_enlarged_to_the_image():
    model, batch = Net(), images(1)
    small = grad_cam(model, "pool", batch, 0, enlarge=False)
    assert tuple(small.shape) == (1, 2, 2)
    large = grad_cam(model, "pool", batch[0], 0)
    expected = F.interpolate(small[None], size=(4, 4), mode="bilinear")[0, 0]
    assert torch.equal(large, expected)


def test_a_layer_behind_may_write_in_place():
    plain, inplace = (grad_cam(Net(each), "conv", images(), 0) for each in (False, True))
    assert torch.equal(plain, inplace)


def test_nothing_of_the_model_or_the_image_changes():
    model, batch = Net(), images()
    model(batch).sum().backward()
    before = [p.grad.tolist() for p in model.parameters()]
    with torch.no_grad():
        saliency(model, batch, 0)
        grad_cam(model, "conv", batch, 0)
    assert [p.grad.tolist() for p in model.parameters()] == before
    assert batch.grad is None
    assert not batch.requires_grad
    assert not any(module._forward_hooks for module in model.modules())


def test_a_frozen_model_has_maps_too():
    model, batch = Net(), images()
    maps = [saliency(model, batch, 0), grad_cam(model, "conv", batch, 0)]
    model.requires_grad_(False)
    assert torch.equal(saliency(model, batch, 0), maps[0])
    assert torch.equal(grad_cam(model, "conv", batch, 0), maps[1])


def test_a_layer_called_twice_is_looked_at_where_it_was_called_last():
    class Again(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.conv = nn.Conv2d(1, 1, 3, padding=1).double()

        def forward(self, x):
            return self.conv(self.conv(x)).flatten(1)

    model, image = Again(), images(1)[:, :1]
    maps = model.conv(model.conv(image)).detach()
    # the score of class 5 is entry 5 of the last map, so its gradient has the mean 1/16
    expected = (maps / 16).relu()[:, 0]
    assert torch.allclose(grad_cam(model, "conv", image, 5), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: saliency(m, torch.ones(4, 4)), r"expected an image \(C, H, W\)"),
        (lambda m: saliency(nn.Flatten(0), images()), r"scores \(N, classes\)"),
        (lambda m: saliency(Constant(), images(), 0), "does not depend on the image"),
        (lambda m: grad_cam(m, nn.ReLU(), images()), "not one of the model's"),
        (lambda m: grad_cam(m, "head", images()), r"has to return maps \(N, K, h, w\)"),
        (lambda m: grad_cam(Unused(), "spare", images(), 0), "what the layer returns"),
    ],
)
def test_what_does_not_fit_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call(Net())


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="conv9"):
        grad_cam(Net(), "conv9", images())


class Constant(nn.Module):
    def forward(self, x):
        return torch.zeros(len(x), 2, requires_grad=True) * 1.0


class Unused(Net):
    def __init__(self):
        super().__init__()
        self.spare = nn.Conv2d(2, 1, 1)
