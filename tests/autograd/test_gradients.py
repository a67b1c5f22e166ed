"""`backward` and `grad`: what may be asked for, what comes back, what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import minigrad

# ------------------------------------------------------------------ backward


def test_backward_adds_to_the_leaves_only(torch, draw):
    x, w, constant, cotangent = (
        draw(3, requires_grad=True),
        draw(3, requires_grad=True),
        *draw(2, 3),
    )
    middle = x * w
    (middle * constant).backward(cotangent)
    assert torch.allclose(x.grad, cotangent * constant * w.detach())
    assert torch.allclose(w.grad, cotangent * constant * x.detach())
    assert constant.grad is None
    with pytest.warns(UserWarning, match=r"^The \.grad attribute of a Tensor that is not a leaf"):
        assert middle.grad is None


def test_backward_of_one_entry_starts_from_one(torch, draw):
    for shape in ((), (1,), (1, 1)):
        x = draw(*shape, requires_grad=True)
        x.sin().backward()
        assert torch.allclose(x.grad, x.detach().cos())


def test_backward_into_inner_tensors_keeps_their_gradient(torch, draw):
    x, w, cotangent = draw(2, requires_grad=True), draw(2, requires_grad=True), draw(2)
    inner = x.exp()
    (inner * w).backward(cotangent, inputs=[inner, w])
    assert torch.allclose(inner.grad, cotangent * w.detach())
    assert torch.allclose(w.grad, cotangent * inner.detach())
    assert x.grad is None


def test_several_roots_one_of_them_twice(torch, draw):
    x, a, b, c = draw(2, requires_grad=True), *draw(3, 2)
    y, z = x.sin(), x * x
    torch.autograd.backward([y, z, y], [a, b, c])
    expected = (a + c) * x.detach().cos() + 2 * b * x.detach()
    assert torch.allclose(x.grad, expected)
    (again,) = torch.autograd.grad([x.sin(), x * x], x, [a + c, b])
    assert torch.allclose(again, expected)


def test_a_leaf_may_be_the_root(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    x.backward(cotangent)
    assert torch.equal(x.grad, cotangent)
    (found,) = torch.autograd.grad(x, x, cotangent)
    assert torch.equal(found, cotangent)


def test_a_gradient_of_another_dtype_is_converted(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    y, seen = x * 1, []
    y.register_hook(lambda grad: seen.append(grad.dtype))
    y.backward(cotangent.to(torch.float32))
    assert seen == [torch.float64]
    assert x.grad.dtype is torch.float64
    assert torch.equal(x.grad, cotangent.to(torch.float32).to(torch.float64))


# ------------------------------------------------------------------ grad


def test_grad_gives_one_gradient_for_each_input_and_leaves_grad_alone(torch, draw):
    x, w, cotangent = draw(2, 3, requires_grad=True), draw(3, requires_grad=True), draw(2, 3)
    found = torch.autograd.grad(x * w, [w, x], cotangent)
    assert isinstance(found, tuple)
    assert torch.allclose(found[0], (cotangent * x.detach()).sum(0))
    assert torch.allclose(found[1], cotangent * w.detach())
    assert x.grad is None and w.grad is None


def test_grad_of_a_tensor_within_the_graph(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    inner = x.exp()
    outer = inner.sin()
    to_inner, to_x = torch.autograd.grad(outer, (inner, x), cotangent)
    assert torch.allclose(to_inner, cotangent * inner.detach().cos())
    assert torch.allclose(to_x, to_inner * inner.detach())


def test_the_same_input_twice(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    first, second = torch.autograd.grad(x.sin(), (x, x), cotangent)
    assert torch.equal(first, second)


def test_unused_inputs(torch, draw, refused):
    x, unused, cotangent = draw(2, requires_grad=True), draw(3, requires_grad=True), draw(2)
    message = (
        "The differentiated Tensor at index 1 appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior."
    )
    one = "One of the differentiated Tensors appears to not have been used in the graph."
    with pytest.raises(RuntimeError) as caught:
        torch.autograd.grad(x * 2, (x, unused), cotangent)
    assert str(caught.value).startswith((message, one))
    found = torch.autograd.grad(x * 2, (x, unused), cotangent, allow_unused=True)
    assert torch.equal(found[0], cotangent * 2) and found[1] is None
    found = torch.autograd.grad(x * 2, (unused, x), cotangent, materialize_grads=True)
    assert found[0].tolist() == [0.0] * 3 and torch.equal(found[1], cotangent * 2)
    with refused(ValueError, "Expected allow_unused to be True or not passed when materialize"):
        torch.autograd.grad(x, x, cotangent, allow_unused=False, materialize_grads=True)


def test_tensor_hooks_on_an_input_change_what_grad_gives(torch, draw):
    x, factor, cotangent = draw(2, requires_grad=True), draw(2), draw(2)
    inner = x * 3
    outer = inner.sin()
    handles = [tensor.register_hook(lambda grad: grad * factor) for tensor in (x, inner)]
    arrived = cotangent * inner.detach().cos()
    for wanted, expected in ((inner, arrived * factor), (x, 3 * arrived * factor * factor)):
        (found,) = torch.autograd.grad(outer, wanted, cotangent, retain_graph=True)
        assert torch.allclose(found, expected)
    for handle in handles:
        handle.remove()
    (found,) = torch.autograd.grad(outer, inner, cotangent)
    assert torch.allclose(found, arrived)


def test_node_hooks_of_an_input_run_only_if_its_node_must_run(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    inner, seen = x * 3, []
    outer = inner.sin()
    inner.grad_fn.register_prehook(lambda grads: seen.append("pre"))
    inner.grad_fn.register_hook(lambda ins, outs: seen.append("post"))
    accumulate = inner.grad_fn.next_functions[0][0]
    accumulate.register_prehook(lambda grads: seen.append("leaf pre"))
    torch.autograd.grad(outer, inner, cotangent, retain_graph=True)
    assert seen == []
    torch.autograd.grad(outer, (inner, x), cotangent, retain_graph=True)
    assert seen == ["pre", "post"]
    outer.backward(cotangent, inputs=[inner, x])
    assert seen == ["pre", "post"] * 2 + ["leaf pre"]


def test_an_inner_input_whose_node_runs_is_captured_before_its_hooks(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    inner = x * 3
    outer = inner * 1
    inner.register_hook(lambda grad: grad * 5)
    inner.grad_fn.register_prehook(lambda grads: (grads[0] * 7,))
    (to_inner,) = torch.autograd.grad(outer, inner, cotangent, retain_graph=True)
    assert torch.allclose(to_inner, cotangent * 5)
    to_inner, to_x = torch.autograd.grad(outer, (inner, x), cotangent)
    assert torch.equal(to_inner, cotangent)
    assert torch.allclose(to_x, cotangent * 105)


def test_post_accumulate_hooks_do_not_run_in_grad(torch, draw):
    x, seen = draw(2, requires_grad=True), []
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf))
    torch.autograd.grad(x * 2, x, draw(2))
    assert seen == []
    (x * 2).backward(draw(2))
    assert seen == [x]


# ------------------------------------------------------------------ derivatives of derivatives


def test_create_graph_gives_every_derivative_of_a_power(torch):
    x = torch.tensor(1.7, dtype=torch.float64, requires_grad=True)
    y, factor = x**5, 1.0
    for order in range(1, 6):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        factor *= 6 - order
        assert y.item() == pytest.approx(factor * 1.7 ** (5 - order), rel=1e-14)


# PyTorch warns once in the life of the process
@pytest.mark.filterwarnings("ignore:.*create_graph=True will create a reference cycle")
def test_create_graph_keeps_an_earlier_gradient_as_it_was(torch, draw):
    x, cotangent = draw(2, requires_grad=True), draw(2)
    (x * 3).backward(cotangent)
    earlier = x.grad
    (x * x).backward(cotangent, create_graph=True)
    assert x.grad is not earlier
    assert torch.equal(earlier, cotangent * 3)
    assert torch.allclose(x.grad, cotangent * (3 + 2 * x))
    (second,) = torch.autograd.grad(x.grad, x, torch.ones_like(cotangent))
    assert torch.allclose(second, 2 * cotangent)
    x.grad = None


def test_backward_with_create_graph_warns_and_grad_does_not():
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    with pytest.warns(UserWarning, match=r"^Using backward\(\) with create_graph=True will create"):
        (x * x).sum().backward(create_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = minigrad.autograd.grad(x.sin().sum(), x, create_graph=True)
    assert found.requires_grad
    x.grad = None


# ------------------------------------------------------------------ what is refused


def test_backward_on_more_than_one_entry(torch, draw, refused):
    x = draw(2, 3, requires_grad=True)
    message = "grad can be implicitly created only for scalar outputs"
    with refused(RuntimeError, message, "sum() or mean(), or pass gradient="):
        (x * 2).backward()
    with refused(RuntimeError, message, "has shape [2, 3]"):
        torch.autograd.grad(x * 2, x)


def test_backward_of_what_needs_no_gradient(torch, draw, refused):
    message = "element 0 of tensors does not require grad and does not have a grad_fn"
    x, constant = draw(1, requires_grad=True), draw(1)
    with torch.no_grad():
        unrecorded = x * 2
    for root in (constant, constant * 2, x.detach(), unrecorded):
        with refused(RuntimeError, message, "requires_grad=True"):
            root.backward()
    with refused(RuntimeError, "element 1 of tensors does not require grad"):
        torch.autograd.backward([x, constant])
    with refused(RuntimeError, "One of the differentiated Tensors does not require grad"):
        torch.autograd.grad(x * 2, constant)


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


def test_empty_inputs(torch, draw, refused):
    x = draw(1, requires_grad=True)
    with refused(RuntimeError, "`inputs` argument to `backward()` cannot be empty."):
        (x * 2).backward(inputs=[])


def test_a_refused_call_leaves_the_graph_as_it_was():
    x = minigrad.tensor(np.arange(3.0), requires_grad=True)
    y = x.exp()
    with pytest.raises(RuntimeError):
        y.backward()
    y.backward(minigrad.tensor([1.0, 10.0, 100.0]))
    np.testing.assert_allclose(x.grad.numpy(), np.exp(np.arange(3.0)) * [1, 10, 100])
