"""Convolutions by their definition: sums over windows, adjoints, products with columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

SETTINGS = [
    {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    for stride, padding, dilation, groups in itertools.product(
        (1, 2, (1, 2)), (0, (2, 1)), (1, (2, 1)), (1, 2)
    )
]
# windows that do not reach what is left at the end, border and all
SETTINGS.append({"stride": 4, "padding": 1, "dilation": 1, "groups": 1})


@pytest.fixture
def functional(torch):
    return torch.nn.functional


def drawn(torch, *shape, seed=0, **options):
    values = np.random.default_rng((seed, *shape)).normal(size=shape)
    return torch.tensor(values, **options)


def by_definition(x, w, stride, padding, dilation, groups):
    """Take each output by itself: the product of the kernel and a window of the bordered input."""
    (s1, s2), (p1, p2), (d1, d2) = (
        each if isinstance(each, tuple) else (each, each) for each in (stride, padding, dilation)
    )
    x = np.pad(x, ((0, 0), (0, 0), (p1, p1), (p2, p2)))
    count, kernels, within = len(x), len(w), w.shape[1]
    height = (x.shape[2] - d1 * (w.shape[2] - 1) - 1) // s1 + 1
    width = (x.shape[3] - d2 * (w.shape[3] - 1) - 1) // s2 + 1
    y = np.zeros((count, kernels, height, width))
    for n, o, i, j in np.ndindex(*y.shape):
        first = o // (kernels // groups) * within
        window = x[n, first : first + within, i * s1 :: d1, j * s2 :: d2]
        y[n, o, i, j] = (window[:, : w.shape[2], : w.shape[3]] * w[o]).sum()
    return y


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_conv2d_is_its_definition(torch, functional, settings):
    x, w = drawn(torch, 2, 4, 6, 5), drawn(torch, 6, 4 // settings["groups"], 3, 2, seed=1)
    found = functional.conv2d(x, w, **settings)
    # float64: sums of 24 products
    expected = by_definition(x.numpy(), w.numpy(), **settings)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-13)
    assert found.is_contiguous()


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_transposed_convolution_is_the_adjoint(torch, functional, settings):
    """<conv(x), y> = <x, conv_transpose(y)>, which defines it."""
    x, w = drawn(torch, 2, 4, 7, 5), drawn(torch, 6, 4 // settings["groups"], 3, 2, seed=1)
    there = functional.conv2d(x, w, **settings)
    y = drawn(torch, *there.shape, seed=2)
    height, width = functional.conv_transpose2d(y, w, **settings).shape[2:]
    missing = (7 - height, 5 - width)  # a stride leaves several sizes possible
    back = functional.conv_transpose2d(y, w, output_padding=missing, **settings)
    assert back.shape == x.shape
    assert (there * y).sum().item() == pytest.approx((x * back).sum().item(), rel=1e-10)


@pytest.mark.parametrize("stride", [1, 2])
def test_a_convolution_is_a_product_with_columns(torch, functional, stride):
    x, w = drawn(torch, 2, 3, 5, 6), drawn(torch, 4, 3, 2, 3, seed=1)
    columns = functional.unfold(x, (2, 3), padding=1, stride=stride)
    sizes = [(n + 2 - k) // stride + 1 for n, k in ((5, 2), (6, 3))]
    product = (w.reshape(4, 18) @ columns).reshape(2, 4, *sizes)
    found = functional.conv2d(x, w, stride=stride, padding=1)
    np.testing.assert_allclose(product.numpy(), found.numpy(), rtol=1e-12, atol=1e-13)  # float64


def test_a_large_batch_is_done_in_portions(torch, functional):
    """Columns of more than four megabytes are made in several portions; all agree."""
    x = drawn(torch, 40, 8, 20, 20, requires_grad=True)
    w = drawn(torch, 4, 8, 3, 3, seed=1, requires_grad=True)
    whole = functional.conv2d(x, w, stride=1)
    cotangent = drawn(torch, *whole.shape, seed=2)
    whole.backward(cotangent)
    dx, dw = x.grad.numpy(), w.grad.numpy()
    parts = np.zeros_like(dw)
    for start in range(0, 40, 7):
        part = x.detach()[start : start + 7].requires_grad_()
        w.grad = None
        y = functional.conv2d(part, w)
        np.testing.assert_allclose(y.detach().numpy(), whole.detach().numpy()[start : start + 7])
        y.backward(cotangent[start : start + 7])
        np.testing.assert_allclose(part.grad.numpy(), dx[start : start + 7], rtol=1e-12)
        parts += w.grad.numpy()
    np.testing.assert_allclose(parts, dw, rtol=1e-10)  # sums of 13,000 products in another order


def test_max_pooling_with_relu_in_place_after_it(torch, functional):
    x = drawn(torch, 1, 1, 4, 4, requires_grad=True)
    functional.max_pool2d(x * 1, 2).relu_().sum().backward()
    largest = x.detach().numpy().reshape(2, 2, 2, 2).max((1, 3))
    assert x.grad.sum().item() == (largest > 0).sum()


def test_a_border_never_wins(torch, functional):
    x = torch.full((1, 1, 3, 3), -float("inf"))
    pooled, places = functional.max_pool2d(x, 2, padding=1, return_indices=True)
    assert places.flatten().tolist() == [0, 1, 3, 4]
    assert (pooled == -float("inf")).all()


def test_a_batch_is_normalized(torch):
    norm = torch.nn.BatchNorm2d(3, eps=1e-9)
    x = drawn(torch, 4, 3, 5, 6).float() * 3 + 7
    y = norm(x).detach().numpy()
    # float32 sums of 120 numbers
    np.testing.assert_allclose(y.mean((0, 2, 3)), 0, atol=1e-5)
    np.testing.assert_allclose(y.var((0, 2, 3)), 1, rtol=1e-5)
    expected = 0.1 * x.numpy().mean((0, 2, 3))
    np.testing.assert_allclose(norm.running_mean.numpy(), expected, rtol=1e-5)
    expected = 0.9 + 0.1 * x.numpy().var((0, 2, 3), ddof=1)
    np.testing.assert_allclose(norm.running_var.numpy(), expected, rtol=1e-5)


def test_a_small_network_of_images_learns(torch, functional):
    """Horizontal and vertical bars are told apart after a few steps."""
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    images, classes = np.zeros((64, 1, 8, 8), np.float32), draw.integers(0, 2, 64)
    for image, vertical in zip(images, classes, strict=True):
        place = draw.integers(0, 8)
        image[0, ...] = draw.normal(0, 0.1, (8, 8))
        image[(0, slice(None), place) if vertical else (0, place)] += 1
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 2),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    x, target = torch.tensor(images), torch.tensor(classes)
    for _ in range(60):
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
    model.eval()
    assert (model(x).argmax(1) == target).float().mean().item() > 0.95
