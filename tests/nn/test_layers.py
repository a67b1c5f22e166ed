"""Layers and losses: what they refuse, and values by formulas."""

from __future__ import annotations

import importlib
import math
import re
import warnings

import numpy as np
import pytest


def nodes(node):
    """The graph below a node, as nested names."""
    if node is None:
        return None
    name = type(node).__name__
    below = [nodes(edge[0]) for edge in node.next_functions]
    return [name, *below] if below else name


@pytest.fixture
def functional(torch):
    return importlib.import_module(f"{torch.__name__}.nn.functional")


LEAF = "AccumulateGrad"


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ((2, 4), r"mat1 and mat2 shapes cannot be multiplied \(2x4 and 3x2\)"),
        ((4,), r"mat1 and mat2 shapes cannot be multiplied \(1x4 and 3x2\)"),
        ((), "0D and 2D"),
    ],
)
def test_linear_says_which_shapes_do_not_fit(torch, x, message):
    with pytest.raises(RuntimeError, match=message):
        torch.nn.Linear(3, 2)(torch.ones(x))


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ((), "2D and 0D"),
        ((3,), "mat2 must be a matrix, got 1-D tensor"),
        ((2, 2, 3), "t() expects a tensor with <= 2 dimensions, but self is 3D"),
    ],
)
def test_linear_says_what_its_weight_must_be(torch, functional, weight, message):
    with pytest.raises(RuntimeError, match=re.escape(message)):
        functional.linear(torch.ones(2, 3), torch.ones(weight), torch.ones(2))


# Values and derivatives at -1.5, 0.25 and 3, by the formulas in the docstrings.


X, Y = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[2.0, 2.0], [-1.0, 0.0]])


def test_hard_sigmoids_of_half_precision_are_rounded_once(torch):
    x = torch.arange(-4.0, 4.0, 0.0137).to(torch.float16).requires_grad_()
    y = torch.nn.functional.hardsigmoid(x)
    single = x.detach().float()
    expected = torch.nn.functional.hardsigmoid(single).to(torch.float16)
    assert y.dtype is torch.float16 and y.tolist() == expected.tolist()
    y.backward(x.detach())
    inside = (single > -3) & (single < 3)
    assert x.grad.tolist() == (single * (1 / 6) * inside).to(torch.float16).tolist()


def test_losses_of_the_table_hear_the_old_switches(torch, functional):
    x, labels = torch.zeros(2, 2), torch.ones(2, 2)
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        found = functional.binary_cross_entropy_with_logits(x, labels, size_average=False)
    assert found.item() == pytest.approx(4 * math.log(2))


def test_warnings_that_are_errors_stay_what_they_are(torch, functional):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (
            lambda: torch.ones(1).var(),
            lambda: functional.softmax(torch.ones(2)),
            lambda: functional.mse_loss(torch.ones(2, 1), torch.ones(2)),
        ):
            with pytest.raises(UserWarning):
                call()
