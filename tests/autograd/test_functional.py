"""Products with Jacobians and Hessians, and the matrices: held against formulas and each other."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad


def smooth(x, z):
    """Give a vector and a matrix for a matrix and a vector."""
    return (x @ z).tanh() * z.sum(), x * x.sin() * z[0]


def energy(x, z):
    """Give a number for a matrix and a vector."""
    return ((x @ z).tanh() ** 3).sum() * z.exp().sum()


def flat(tensors):
    """Lay tensors out in one row."""
    return np.concatenate([tensor.detach().numpy().reshape(-1) for tensor in tensors])


def matrix(blocks, rows, columns):
    """Put the blocks of a Jacobian together."""
    return np.block(
        [
            [
                block.detach().numpy().reshape(row.numel(), column.numel())
                for block, column in zip(line, columns, strict=True)
            ]
            for line, row in zip(blocks, rows, strict=True)
        ]
    )


def test_the_jacobian_is_what_finite_differences_say(torch, draw):
    inputs = draw(2, 3), draw(3)
    blocks = torch.autograd.functional.jacobian(smooth, inputs)
    found = matrix(blocks, smooth(*inputs), inputs)
    start, step = flat(inputs), 1e-6
    for column, place in zip(found.T, range(start.size), strict=True):
        outputs = []
        for sign in (1, -1):
            moved = start.copy()
            moved[place] += sign * step
            x, z = torch.tensor(moved[:6]).reshape(2, 3), torch.tensor(moved[6:])
            outputs.append(flat(smooth(x, z)))
        # the truncation error is of the order of step**2, rounding of 1e-16 / step
        np.testing.assert_allclose(
            column, (outputs[0] - outputs[1]) / (2 * step), rtol=1e-7, atol=1e-8
        )


def test_the_products_are_products_with_the_matrices(torch, draw):
    functional = torch.autograd.functional
    inputs = draw(2, 3), draw(3)
    right, left = (draw(2, 3), draw(3)), (draw(2), draw(2, 3))
    jacobian = matrix(functional.jacobian(smooth, inputs), left, inputs)
    hessian = matrix(functional.hessian(energy, inputs), inputs, inputs)
    assert abs(hessian).max() > 0.1
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-10, atol=1e-12)
    for name, function, v, expected in (
        ("vjp", smooth, left, flat(left) @ jacobian),
        ("jvp", smooth, right, jacobian @ flat(right)),
        ("vhp", energy, right, flat(right) @ hessian),
        ("hvp", energy, right, hessian @ flat(right)),
    ):
        outputs, product = getattr(functional, name)(function, inputs, v)
        # sums of a dozen terms of order 1
        np.testing.assert_allclose(flat(product), expected, rtol=1e-10, atol=1e-12)
        computed = function(*inputs)
        expected_outputs = computed if isinstance(computed, tuple) else (computed,)
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        np.testing.assert_array_equal(flat(given), flat(expected_outputs))


def test_all_ways_to_a_jacobian_agree(torch, draw):
    functional = torch.autograd.functional
    x = draw(3)

    def function(x):
        return x.tanh() * x.sum()

    expected = functional.jacobian(function, x).numpy()
    for options in (
        {"vectorize": True},
        {"create_graph": True},
        {"strict": True},
    ):
        found = functional.jacobian(function, x, **options)
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12)
    columns = [functional.jvp(function, x, torch.tensor(row))[1] for row in np.eye(3)]
    np.testing.assert_allclose(flat(columns).reshape(3, 3).T, expected, rtol=1e-12)


def test_third_derivatives_come_by_a_graph(torch, draw):
    x = draw(2)

    def function(x):
        return (x**4).sum() * x[0]

    def second(x):
        return torch.autograd.functional.hessian(function, x, create_graph=True)

    third = torch.autograd.functional.jacobian(second, x).numpy()
    a, b = x.tolist()
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 0] = 60 * a**2
    for place in ((0, 1, 1), (1, 0, 1), (1, 1, 0)):
        expected[place] = 12 * b**2
    expected[1, 1, 1] = 24 * a * b
    np.testing.assert_allclose(third, expected, rtol=1e-12)


def test_nothing_is_left_behind(torch, draw):
    x = draw(3, requires_grad=True)
    v = draw(3, requires_grad=True)

    def function(given):
        return (given**3).sum() * x.sum()

    for name in ("vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"):
        arguments = (v,) if name in ("jvp", "vhp", "hvp") else ()
        results = getattr(torch.autograd.functional, name)(function, x, *arguments)
        for result in results if isinstance(results, tuple) else (results,):
            assert not result.requires_grad
    assert x.grad is None and v.grad is None


def test_one_function_may_use_the_inputs_themselves_too(torch, draw):
    x = draw(3, requires_grad=True)

    def function(given):
        return (given * x).sum()

    _, product = torch.autograd.functional.vjp(function, x, create_graph=True)
    np.testing.assert_array_equal(product.detach().numpy(), x.detach().numpy())


def test_hooks_of_inputs_do_not_run_unless_a_graph_is_wanted(torch, draw):
    x = draw(3, requires_grad=True)
    seen = []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    _, product = torch.autograd.functional.vjp(lambda x: (x**3).sum(), x)
    assert seen == []
    _, product = torch.autograd.functional.vjp(lambda x: (x**3).sum(), x, create_graph=True)
    assert seen == []
    v = draw(3)
    (product * v).sum().backward()
    assert seen == [x.grad.tolist()]
    np.testing.assert_allclose(x.grad.numpy(), (6 * x.detach() * v).numpy(), rtol=1e-12)


def test_an_empty_output_has_no_jacobian(torch):
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match=r"^stack expects a non-empty TensorList"):
        torch.autograd.functional.jacobian(lambda x: x[:0], x)


@pytest.mark.parametrize("name", ["vjp", "jacobian"])
def test_no_outputs_are_refused(torch, name):
    arguments = ((),) if name == "vjp" else ()
    with pytest.raises(IndexError, match="tuple index out of range"):
        getattr(torch.autograd.functional, name)(lambda x: (), torch.ones(2), *arguments)


def test_wrong_shapes_are_told_with_what_they_should_be(refused, torch):
    functional = torch.autograd.functional
    x = torch.ones(2, 3)
    with refused(
        RuntimeError,
        "The vector v can only be None if the user-provided function returns a single Tensor with "
        "a single element.",
        "[[2, 3]]",
    ):
        functional.vjp(lambda x: x * 2, x)
    with refused(
        RuntimeError,
        "The Tensor returned by the function given to hessian should contain a single element",
        "shape [2, 3]",
    ):
        functional.hessian(lambda x: x * 2, x)
    with refused(
        RuntimeError,
        "Entry 1 in v has invalid size: should be torch.Size([3]) but got torch.Size([2, 3]).",
    ):
        functional.jvp(lambda x, z: x @ z, (x, torch.ones(3)), (x, x))


def test_forward_mode_is_refused():
    x = minigrad.ones(2)
    functional = minigrad.autograd.functional
    with pytest.raises(NotImplementedError, match="no forward mode"):
        functional.jacobian(minigrad.exp, x, vectorize=True, strategy="forward-mode")
    with pytest.raises(NotImplementedError, match="no forward mode"):
        functional.hessian(minigrad.sum, x, outer_jacobian_strategy="forward-mode")
