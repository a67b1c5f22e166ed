"""Convolutions of large batches, pooling of what changes, and a small network that learns."""

from __future__ import annotations

import numpy as np
import pytest

from minigrad.ops import convolution


@pytest.fixture
def functional(torch):
    return torch.nn.functional


def drawn(torch, *shape, seed=0, **options):
    values = np.random.default_rng((seed, *shape)).normal(size=shape)
    return torch.tensor(values, **options)


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


@pytest.mark.parametrize("dims", [2, 3])
def test_shared_lines_give_what_all_columns_give(torch, functional, monkeypatch, dims):
    """Results and gradients, whether each window is copied or only what it shares with none."""
    draw, shared = np.random.default_rng(dims), 0
    for turn in range(100):
        groups, inner, outer = map(int, draw.integers(1, 3, 3))
        kernel, dilation = draw.integers(1, 5, dims), draw.integers(1, 3, dims)
        reach, padding = dilation * (kernel - 1), draw.integers(0, 3, dims)
        sizes = reach + draw.integers(1, 5, dims)
        if turn % 2:  # results as wide as the input, which may be narrower than the kernel
            padding, sizes = reach // 2, reach % 2 + draw.integers(1, 6, dims)
        x = drawn(torch, 2, groups * inner, *sizes, requires_grad=True)
        w = drawn(torch, groups * outer, inner, *kernel, seed=1, requires_grad=True)
        stride = 1 + (turn % 3 == 0)
        settings = (None, stride, *[tuple(map(int, s)) for s in (padding, dilation)], groups)
        found = []
        for small in (0, 1 << 40):
            monkeypatch.setattr(convolution, "_SMALL", small)
            y = getattr(functional, f"conv{dims}d")(x, w, *settings)
            cotangent = drawn(torch, *y.shape, seed=2)
            first = torch.autograd.grad(y, (x, w), cotangent, create_graph=True)
            second = torch.autograd.grad((first[0] * x).sum(), w)
            found.append([each.detach().numpy() for each in (y, *first, *second)])
            of_kernel = w.shape[2:], y.shape[2:], [stride], outer
            shared += convolution._shared(x.detach().numpy(), *of_kernel) > 1
        for ours, all_columns in zip(*found, strict=True):
            np.testing.assert_allclose(ours, all_columns, atol=1e-12)
    assert shared > 10


def test_the_largest_of_each_window_is_that_of_the_window_alone(torch, functional):
    """The first of equal ones, the last NaN, and never the border, gets the gradient."""
    draw, (height, width) = np.random.default_rng(0), (7, 8)
    for turn in range(60):
        kernel, stride, dilation = map(int, draw.integers(1, 4, 3))
        reach = dilation * (kernel - 1) + 1
        padding = int(draw.integers(0, kernel // 2 + 1))
        image = draw.choice([-np.inf, 0, 1, 2, np.nan][: 4 + turn % 2], (height, width))
        x = torch.tensor(image[None], requires_grad=True)
        settings = kernel, stride, padding, dilation, bool(draw.integers(2)), True
        largest, positions = functional.max_pool2d(x, *settings)
        cotangent = drawn(torch, *largest.shape)
        largest.backward(cotangent)
        expected = np.zeros(height * width)
        for place in np.ndindex(*largest.shape[1:]):
            starts = [i * stride - padding for i in place]
            rows, columns = (range(i, i + reach, dilation) for i in starts)
            rows = [i for i in rows if 0 <= i < height]
            inside = [i * width + j for i in rows for j in columns if 0 <= j < width]
            values = image.reshape(-1)[inside]
            nans = np.flatnonzero(values != values)
            chosen = inside[nans[-1] if len(nans) else values.argmax()]
            assert positions[(0, *place)] == chosen
            expected[chosen] += cotangent[(0, *place)].item()
        np.testing.assert_allclose(x.grad.numpy().reshape(-1), expected)


def test_max_pooling_with_relu_in_place_after_it(torch, functional):
    x = drawn(torch, 1, 1, 4, 4, requires_grad=True)
    functional.max_pool2d(x * 1, 2).relu_().sum().backward()
    largest = x.detach().numpy().reshape(2, 2, 2, 2).max((1, 3))
    assert x.grad.sum().item() == (largest > 0).sum()


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


def test_an_infinite_gradient_of_a_smaller_image_stays_where_it_came_from(torch, functional):
    x = torch.ones(1, 1, 4, requires_grad=True)
    y = functional.interpolate(x, size=2)  # of the entries 0 and 2
    y.backward(torch.tensor([[[np.inf, 1.0]]]))
    assert x.grad.tolist() == [[[np.inf, 0.0, 1.0, 0.0]]]  # as PyTorch 2.13 gives it
