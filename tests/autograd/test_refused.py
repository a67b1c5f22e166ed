"""What attributes, gradients and functions refuse, in PyTorch's words and with advice."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import minigrad


def test_only_leaves_are_deep_copied(draw, refused):
    text = "Only Tensors created explicitly by the user (graph leaves) support the deepcopy"
    with refused(RuntimeError, text):
        copy.deepcopy(draw(2, requires_grad=True) * 2)


@pytest.mark.parametrize(
    "value, text",
    [
        ("array", "assigned grad expected to be a Tensor or None but got grad of type numpy.ndar"),
        ("self", "can't assign Variable as its own grad"),
        ("float", "attempting to assign a gradient with dtype 'float' to a tensor with grad_dtyp"),
        ("shape", "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'."),
    ],
)
def test_gradients_that_cannot_be_assigned(draw, refused, value, text):
    x = draw(2, requires_grad=True)
    values = {"array": draw(2).numpy(), "self": x, "float": draw(2).float(), "shape": draw(3)}
    with refused(TypeError if value == "array" else RuntimeError, text):
        x.grad = values[value]
    assert x.grad is None


def test_backward_with_create_graph_warns_and_grad_does_not():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match=r"^Using backward\(\) with create_graph=True will create"):
        (x * x).sum().backward(create_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = minigrad.autograd.grad(x.sin().sum(), x, create_graph=True)
    assert found.requires_grad
    x.grad = None


def test_gradients_of_wrong_shape_number_or_kind(torch, draw, refused):
    x = draw(2, requires_grad=True)
    message = (
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a "
        "shape of torch.Size([2])."
    )
    with refused(RuntimeError, message):
        (x * 2).backward(draw(3))
    with refused(RuntimeError, "got 2 tensors and 1 gradients"):
        torch.autograd.backward([x * 2, x * 3], [draw(2)])
    with refused(TypeError, "gradients can be either Tensors or None, but got str"):
        torch.autograd.backward([x * 2], ["one"])


def test_a_refused_call_leaves_the_graph_as_it_was():
    x = minigrad.tensor(np.arange(3.0), requires_grad=True)
    y = x.exp()
    with pytest.raises(RuntimeError):
        y.backward()
    y.backward(minigrad.tensor([1.0, 10.0, 100.0]))
    np.testing.assert_allclose(x.grad.numpy(), np.exp(np.arange(3.0)) * [1, 10, 100])


@pytest.mark.parametrize(
    "backward, kind, text, advice",
    [
        (
            lambda ctx, grad: grad,
            RuntimeError,
            "function MineBackward returned an incorrect number of gradients (expected 2, got 1)",
            "one for each argument of forward",
        ),
        (
            lambda ctx, grad: (grad, None, grad),
            RuntimeError,
            "function MineBackward returned an incorrect number of gradients (expected 2, got 3)",
            "one for each argument of forward",
        ),
        (
            lambda ctx, grad: (grad[:1].reshape(1, 1).expand(3, 3), None),
            RuntimeError,
            "Function MineBackward returned an invalid gradient at index 0 - got [3, 3] but "
            "expected shape compatible with [2]",
            "",
        ),
        (
            lambda ctx, grad: (grad, grad),
            RuntimeError,
            "function MineBackward returned a gradient different than None at position 2, but the "
            "corresponding forward input was not a Variable",
            "",
        ),
        (lambda ctx, grad: (5, None), RuntimeError, "expected Variable or None (got int)", ""),
    ],
)
def test_gradients_that_do_not_fit(draw, define, refused, backward, kind, text, advice):
    function = define(lambda ctx, x, number: x * number, backward)
    y = function.apply(draw(2, requires_grad=True), 3.0)
    with refused(kind, text, advice):
        y.backward(draw(2))


def test_an_inference_tensor_cannot_be_asked_for_a_gradient(torch):
    with torch.inference_mode():
        x = torch.ones(1)
    with pytest.raises(RuntimeError, match="inference tensor"):
        x.requires_grad = True
    assert not x.requires_grad


def test_an_empty_output_has_no_jacobian(torch):
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match=r"^stack expects a non-empty TensorList"):
        torch.autograd.functional.jacobian(lambda x: x[:0], x)


def test_forward_mode_is_refused():
    x = minigrad.ones(2)
    functional = minigrad.autograd.functional
    with pytest.raises(NotImplementedError, match="no forward mode"):
        functional.jacobian(minigrad.exp, x, vectorize=True, strategy="forward-mode")
    with pytest.raises(NotImplementedError, match="no forward mode"):
        functional.hessian(minigrad.sum, x, outer_jacobian_strategy="forward-mode")


def test_gradients_under_their_old_name(torch):
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated"):
        torch.autograd.backward([x * 2], grad_variables=[torch.tensor([1.0, 5.0])])
    assert x.grad.tolist() == [2.0, 10.0]


@pytest.mark.parametrize("recorded", [False, True])
def test_a_pass_from_an_edge_put_together_by_hand(torch, recorded):
    x = torch.ones(2, requires_grad=True)
    edge = torch.autograd.graph.GradientEdge((x * 3).grad_fn, 0)
    given = torch.tensor([1.0, 5.0], requires_grad=recorded)
    (found,) = torch.autograd.grad([edge], [x], [given], True, recorded)
    assert found.tolist() == [3.0, 15.0] and found.requires_grad is recorded
    with pytest.raises(RuntimeError, match="shape"):
        torch.autograd.backward([edge], [torch.ones(3)])


@pytest.mark.parametrize("register", ["register_hook", "register_prehook"])
def test_a_hook_that_gives_the_class_of_tensors(torch, register):
    y = torch.ones(2, requires_grad=True) * 2
    one = register == "register_hook"
    getattr(y if one else y.grad_fn, register)(lambda g: torch.Tensor if one else (torch.Tensor,))
    with pytest.raises(TypeError, match="expected Variable, but hook returned"):
        y.sum().backward()
