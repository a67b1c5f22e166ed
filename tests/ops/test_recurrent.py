"""The whole-layer node of an LSTM: its quick rule, its written one, and the steps agree."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd.gradcheck import gradcheck, gradgradcheck
from minigrad.ops import recurrent

SHAPES = {
    "x": (3, 2, 2),
    "w_x": (8, 2),
    "w_h": (8, 2),
    "b_x": 8,
    "b_h": 8,
    "h": (2, 2),
    "c": (2, 2),
}


def lstm_layer(x, w_x, w_h, b_x, b_h, h, c, reverse=False):
    states, last = recurrent.lstm_layer(x, (h, c), recurrent.Weights(w_x, w_h, b_x, b_h), reverse)
    return states, *last


def inputs(dtype=np.float64, skip=()):
    generator = np.random.default_rng(0)
    return [
        None
        if name in skip
        else torch.tensor(generator.standard_normal(shape).astype(dtype), requires_grad=True)
        for name, shape in SHAPES.items()
    ]


@pytest.mark.parametrize(("reverse", "skip"), [(False, ()), (True, ("b_x", "b_h"))])
def test_first_and_second_derivatives_are_those_of_differences(reverse, skip):
    tensors = inputs(skip=skip)
    given = [each for each in tensors if each is not None]

    def layer(*tensors):
        rest = list(tensors)
        full = [None if name in skip else rest.pop(0) for name in SHAPES]
        return lstm_layer(*full, reverse)

    assert gradcheck(layer, given)
    assert gradgradcheck(layer, given)


def test_the_quick_rule_is_the_recorded_one():
    tensors = inputs()
    outputs = lstm_layer(*tensors)
    generator = np.random.default_rng(1)
    calls = []
    tensors[1].register_hook(calls.append)
    for used in ((0, 1, 2), (0,), (1,), (2,)):
        some = [outputs[place] for place in used]
        cotangents = [torch.tensor(generator.standard_normal(each.shape)) for each in some]
        quick, recorded = (
            torch.autograd.grad(some, tensors, cotangents, retain_graph=True, create_graph=create)
            for create in (False, True)
        )
        for a, b in zip(quick, recorded, strict=True):
            assert b.requires_grad
            np.testing.assert_allclose(a, b.detach(), rtol=1e-12, atol=1e-13)
    assert len(calls) == 8  # the recorded rule calls no hook a second time


def test_one_node_computes_what_the_steps_compute():
    torch.manual_seed(0)
    layer = torch.nn.LSTM(2, 3, 2, bidirectional=True)
    x = torch.randn(4, 2, 2, requires_grad=True)
    results = []
    for dtype in (torch.float32, torch.float64):
        layer.to(dtype)
        output, (h, c) = layer(x.to(dtype))
        loss = (output**2).sum() + h.sum() + (c**3).sum()
        gradients = torch.autograd.grad(loss, [x, *layer.parameters()])
        results.append([output, h, c, *gradients])
    for one_node, steps in zip(*results, strict=True):
        assert torch.allclose(one_node.double(), steps.double(), rtol=1e-4, atol=1e-5)


def test_only_what_is_needed_is_computed():
    tensors = inputs(np.float32)
    all_of_them = torch.autograd.grad(lstm_layer(*tensors)[0].sum(), tensors)
    for place in range(7):
        for number, tensor in enumerate(tensors):
            tensor.requires_grad_(number == place)
        output, _, _ = lstm_layer(*tensors)
        output.sum().backward()
        found = [tensor.grad is not None for tensor in tensors]
        assert found == [number == place for number in range(7)]
        assert torch.equal(tensors[place].grad, all_of_them[place])
        tensors[place].grad = None


def test_the_layer_may_be_gone_through_again_only_if_it_is_kept():
    tensors = inputs(np.float32)
    output, _, _ = lstm_layer(*tensors)
    output.sum().backward(retain_graph=True)
    first = tensors[0].grad.clone()
    output.sum().backward()
    assert torch.equal(tensors[0].grad, 2 * first)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        output.sum().backward()


def test_a_weight_that_changed_is_noticed():
    tensors = inputs(np.float32)
    output, _, _ = lstm_layer(*tensors)
    with torch.no_grad():
        tensors[2].mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        output.sum().backward()


def test_outputs_may_be_changed_before_the_backward_pass():
    gradients = []
    for change in (False, True):
        tensors = inputs(np.float32)
        output, h, _ = lstm_layer(*tensors)
        if change:
            output.add_(1)
            h.zero_()
        output.sum().backward()
        gradients.append(tensors[1].grad)
    assert torch.equal(*gradients)
