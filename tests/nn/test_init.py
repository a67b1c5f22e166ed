"""Initialization: ranges, spreads, factors, and how a Linear starts out."""

from __future__ import annotations

import math

import numpy as np
import pytest


def init(torch):
    return torch.nn.init


@pytest.mark.parametrize(
    ("fill", "bound"),
    [
        (lambda t, w: init(t).uniform_(w, -0.5, 0.5), 0.5),
        (lambda t, w: init(t).xavier_uniform_(w), math.sqrt(6 / 500)),
        (lambda t, w: init(t).xavier_uniform_(w, gain=2.0), 2 * math.sqrt(6 / 500)),
        (lambda t, w: init(t).kaiming_uniform_(w), math.sqrt(6 / 300)),
        (lambda t, w: init(t).kaiming_uniform_(w, a=math.sqrt(5)), math.sqrt(1 / 300)),
        (
            lambda t, w: init(t).kaiming_uniform_(w, mode="fan_out", nonlinearity="relu"),
            math.sqrt(6 / 200),
        ),
    ],
)
def test_uniform_draws_fill_their_range(torch, fill, bound):
    torch.manual_seed(0)
    weight = torch.empty(200, 300)
    assert fill(torch, weight) is weight
    values = weight.numpy()
    assert np.abs(values).max() <= bound * (1 + 1e-6)  # float32 rounds the bound itself
    # 60,000 draws: the largest is within 1 in 1,000 of the bound, and the mean square is b^2 / 3
    # up to a relative standard error of sqrt(4 / 5 / 60,000) = 0.4 %
    assert np.abs(values).max() > 0.999 * bound
    assert np.mean(values**2) == pytest.approx(bound**2 / 3, rel=0.02)


@pytest.mark.parametrize(
    ("fill", "std"),
    [
        (lambda t, w: init(t).normal_(w, 0.0, 0.3), 0.3),
        (lambda t, w: init(t).xavier_normal_(w), math.sqrt(2 / 500)),
        (lambda t, w: init(t).kaiming_normal_(w, nonlinearity="relu"), math.sqrt(2 / 300)),
    ],
)
def test_normal_draws_have_their_spread(torch, fill, std):
    torch.manual_seed(0)
    weight = torch.empty(200, 300)
    assert fill(torch, weight) is weight
    # 60,000 draws: the relative standard error is 1 / sqrt(2 * 60,000) = 0.3 %
    assert weight.numpy().std() == pytest.approx(std, rel=0.015)
    assert abs(weight.numpy().mean()) < 5 * std / math.sqrt(60_000)


def test_linear_starts_between_plus_and_minus_one_over_root_n(torch):
    torch.manual_seed(0)
    linear = torch.nn.Linear(16, 4000)
    for values in (linear.weight.detach().numpy(), linear.bias.detach().numpy()):
        assert 0.24 < np.abs(values).max() <= 0.25
        assert np.mean(values**2) == pytest.approx(0.25**2 / 3, rel=0.1)


def test_filling_a_parameter_is_not_recorded_but_counted(torch):
    weight = torch.nn.Parameter(torch.empty(2, 2))
    assert init(torch).constant_(weight, 3.0) is weight
    assert weight.tolist() == [[3.0, 3.0], [3.0, 3.0]]
    assert weight.requires_grad and weight.is_leaf and weight._version == 1
    assert init(torch).ones_(weight).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert init(torch).zeros_(weight).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert init(torch).eye_(torch.empty(2, 3)).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 2, 3)])
def test_orthogonal_rows_or_columns(torch, shape):
    torch.manual_seed(0)
    matrix = init(torch).orthogonal_(torch.empty(*shape), gain=2.0).numpy().reshape(shape[0], -1)
    short = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    # float32: a handful of products of size 4, each exact to 2^-24
    np.testing.assert_allclose(short, 4 * np.eye(len(short)), atol=1e-5)


@pytest.mark.parametrize(
    ("nonlinearity", "param", "gain"),
    [
        ("linear", None, 1),
        ("conv2d", None, 1),
        ("sigmoid", None, 1),
        ("tanh", None, 5 / 3),
        ("relu", None, math.sqrt(2)),
        ("leaky_relu", None, math.sqrt(2 / (1 + 0.01**2))),
        ("leaky_relu", 0.2, math.sqrt(2 / 1.04)),
        ("selu", None, 0.75),
    ],
)
def test_gains(torch, nonlinearity, param, gain):
    assert init(torch).calculate_gain(nonlinearity, param) == gain


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: init(t).calculate_gain("square"), "Unsupported nonlinearity square"),
        (
            lambda t: init(t).xavier_uniform_(t.empty(3)),
            "Fan in and fan out",
        ),
        (
            lambda t: init(t).kaiming_uniform_(t.empty(3, 2), mode="x"),
            r"Mode x not supported, please use one of \['fan_in', 'fan_out'\]",
        ),
        (lambda t: init(t).eye_(t.empty(2)), "2 dimensions"),
        (
            lambda t: init(t).orthogonal_(t.empty(2)),
            "Only tensors with 2 or more dimensions are supported",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(torch, call, message):
    with pytest.raises(ValueError, match=message):
        call(torch)


def test_nothing_to_fill_is_a_warning(torch):
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        assert torch.nn.Linear(0, 2)(torch.ones(3, 0)).shape == (3, 2)
