"""Classes made of Tensor: what is kept of them, and what is said of what is not."""

from __future__ import annotations

import warnings

import pytest

import minigrad as torch


class Marked(torch.Tensor):
    """A class of a user's."""


def test_operations_give_plain_tensors_and_what_is_in_place_keeps_its_class():
    x = Marked([1.0, 2.0])
    assert type(x.add_(1)) is Marked
    assert {type(each) for each in (x * 2, torch.sin(x), x[0], x.detach())} == {torch.Tensor}


@pytest.mark.parametrize("name", ["__torch_function__", "__torch_dispatch__"])
def test_what_a_class_overrides_in_vain_is_said_as_it_is_defined(name):
    with pytest.warns(UserWarning, match=f"Logging.{name} is never called"):
        type("Logging", (torch.Tensor,), {name: classmethod(lambda cls, *given: None)})
    with warnings.catch_warnings(action="error"):
        type("Plain", (torch.nn.Parameter,), {})


def test_an_object_that_would_answer_for_operations_is_no_tensor():
    class Scalar:
        @classmethod
        def __torch_function__(cls, function, types, arguments=(), named=None):
            return 1

    for call in (torch.sin, torch.mean, lambda scalar: torch.ones(2) * scalar):
        with pytest.raises(TypeError, match="Scalar"):
            call(Scalar())
