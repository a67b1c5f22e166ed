"""Lookups in tables and dropout: gradients that PyTorch has otherwise or refuses, and chance."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as torch
from minigrad.nn import functional as F


def test_dropout_keeps_the_mean_and_drops_as_often_as_asked() -> None:
    """Of many entries about p are zero, and the rest is divided by 1 - p."""
    torch.manual_seed(0)
    x = torch.ones(100_000)
    result = F.dropout(x, 0.3).numpy()
    # the share of zeros has a standard deviation of 0.0015
    assert abs((result == 0).mean() - 0.3) < 0.01
    assert set(np.unique(result)) == {np.float32(0), np.float32(1) / np.float32(0.7)}


def test_channels_are_dropped_as_a_whole() -> None:
    """Each channel of dropout2d is all zero or not zero at all."""
    torch.manual_seed(0)
    result = torch.nn.Dropout2d(0.5)(torch.ones(8, 16, 3, 3)).numpy().reshape(128, 9)
    zeros = (result == 0).sum(1)
    assert set(zeros) == {0, 9}


def test_modules_drop_only_while_they_are_trained() -> None:
    """In evaluation the input itself comes back."""
    x = torch.ones(50)
    for module in (torch.nn.Dropout(), torch.nn.Dropout(0.75)):
        assert not torch.equal(module(x), x)
        assert module.eval()(x) is x


def test_the_mask_of_the_gradient_is_that_of_the_value() -> None:
    """What was dropped gets no gradient."""
    torch.manual_seed(1)
    x = torch.ones(1000, requires_grad=True)
    result = torch.nn.Dropout(0.25)(x)
    result.sum().backward()
    assert torch.equal(x.grad, result.detach())


def test_sparse_gradients_are_refused() -> None:
    """There are no sparse tensors: the error says what to do."""
    layer = torch.nn.Embedding(3, 2, sparse=True)
    with pytest.raises(NotImplementedError, match="Leave out sparse=True"):
        layer(torch.tensor([0]))


def test_gradients_by_frequency_are_refused() -> None:
    table, numbers = torch.zeros(3, 1, requires_grad=True), torch.tensor([[0, 2, 2]])
    for call in (F.embedding, F.embedding_bag):
        with pytest.raises(NotImplementedError, match="scale_grad_by_freq"):
            call(numbers, table, scale_grad_by_freq=True)


def test_a_weight_may_change_after_the_loss() -> None:
    """The backward pass uses the weights that the loss was computed with."""
    x = torch.tensor([[0.0, 1.0]], requires_grad=True)
    weight = torch.tensor([1.0, 2.0])
    loss = F.binary_cross_entropy_with_logits(x, torch.zeros(1, 2), weight, reduction="sum")
    weight.zero_()
    loss.backward()
    expected = torch.sigmoid(x.detach()) * torch.tensor([1.0, 2.0])
    assert torch.equal(x.grad, expected)
