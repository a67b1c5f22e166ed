"""Complex tensors hold values; whatever would make one require a gradient is refused."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest
from minigrad.utils.checkpoint import checkpoint

import minigrad as torch
from minigrad.autograd import Function, gradcheck
from minigrad.nn import functional

TEXT = (
    "minigrad does not differentiate complex numbers: a complex tensor can hold values, but it "
    "cannot require a gradient. Keep the real and the imaginary part in two real tensors, or "
    "compute under no_grad()."
)
MASK = torch.tensor([True, False, True])


def real():
    return torch.tensor([0.5, -1.5, 2.0], requires_grad=True)


def one():
    return torch.tensor(3.0, requires_grad=True)


def number():
    return torch.tensor([1 + 2j, 0.5j, -3.0])


def refused(action):
    with pytest.raises(NotImplementedError, match=f"^{re.escape(TEXT)}$"):
        action()


def put(key, value):
    number()[key] = value


class Turned(Function):
    """Multiplies by i; the result is marked as not differentiable if so wished."""

    marked = False

    @staticmethod
    def forward(ctx, x):
        turned = torch.tensor(x.detach().numpy() * 1j)
        if Turned.marked:
            ctx.mark_non_differentiable(turned)
        return turned, x * 2

    @staticmethod
    def backward(ctx, turned, doubled):
        return doubled * 2


class AddsTo(Function):
    """Adds to its first input in place."""

    @staticmethod
    def forward(ctx, target, x):
        ctx.mark_dirty(target)
        return target.add_(x)

    @staticmethod
    def backward(ctx, grad):
        return grad, grad


# ------------------------------------------------------------------ a leaf

LEAVES = {
    "tensor": lambda: torch.tensor([1j], requires_grad=True),
    "zeros": lambda: torch.zeros(2, dtype=torch.complex64, requires_grad=True),
    "zeros_like": lambda: torch.zeros_like(number(), requires_grad=True),
    "requires_grad": lambda: setattr(number(), "requires_grad", True),
    "requires_grad_": lambda: number().requires_grad_(),
    "data": lambda: setattr(real(), "data", number()),
    "parameter": lambda: torch.nn.Parameter(number()),
    "module": lambda: torch.nn.Linear(2, 2).to(torch.complex64),
    "gradcheck": lambda: gradcheck(lambda z: z * 2, number().requires_grad_()),
}


@pytest.mark.parametrize("name", LEAVES)
def test_a_complex_leaf_cannot_require_a_gradient(name):
    refused(LEAVES[name])


def test_a_refusal_changes_nothing():
    x, z = real(), number()
    refused(lambda: setattr(x, "data", z))
    refused(lambda: z.requires_grad_())
    assert (x.dtype, x.tolist(), x.requires_grad) == (torch.float32, [0.5, -1.5, 2.0], True)
    assert (z.requires_grad, z.is_leaf, z.grad_fn) == (False, True, None)
    module = torch.nn.Linear(2, 1)
    refused(lambda: module.to(torch.complex64))
    assert {parameter.dtype for parameter in module.parameters()} == {torch.float32}


def test_integers_are_refused_as_before():
    text = "nly Tensors of floating point and complex dtype can require gradients"
    for action in (
        lambda: torch.tensor([1], requires_grad=True),
        lambda: setattr(torch.tensor([1]), "requires_grad", True),
        lambda: torch.nn.Parameter(torch.tensor([1])),
    ):
        with pytest.raises(RuntimeError, match=text) as caught:
            action()
        assert caught.type is RuntimeError


# ------------------------------------------------------------------ a result

RESULTS = {
    "add": lambda: real() + 1j,
    "radd": lambda: 1j + real(),
    "sub": lambda: real() - number(),
    "rsub": lambda: 1j - real(),
    "mul": lambda: number() * real(),
    "div": lambda: real() / 2j,
    "rdiv": lambda: 2j / real(),
    "of numpy": lambda: real() * np.complex64(1j),
    "with an array": lambda: real() * np.array([1j, 1, 2]),
    "alpha": lambda: torch.add(real(), number(), alpha=2),
    "pow": lambda: real() ** 1j,
    "pow of numpy": lambda: real() ** np.complex128(1j),
    "rpow": lambda: 1j ** real(),
    "pow of tensors": lambda: number() ** real(),
    "outer": lambda: torch.outer(real(), number()),
    "where": lambda: torch.where(MASK, real(), 1j),
    "where of tensors": lambda: torch.where(MASK, number(), real()),
    "masked_fill": lambda: number().masked_fill(MASK, one()),
    "cat": lambda: torch.cat([real(), number()]),
    "stack": lambda: torch.stack([number(), real()]),
    "to": lambda: real().to(torch.complex64),
    "type": lambda: real().type(torch.complex128),
    "sum": lambda: real().sum(dtype=torch.complex64),
    "l1_loss": lambda: functional.l1_loss(real(), number()),
    "custom": lambda: Turned.apply(real()),
    "checkpoint": lambda: checkpoint(lambda x: x * 1j, real(), use_reentrant=True),
    "recomputing": lambda: checkpoint(lambda x: x * 1j, real(), use_reentrant=False),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_complex_result_cannot_be_recorded(name):
    refused(RESULTS[name])


@pytest.mark.parametrize("name", [name for name in RESULTS if name != "recomputing"])
def test_without_recording_it_is_computed(name):
    with torch.no_grad():
        results = RESULTS[name]()
    with torch.inference_mode():
        again = RESULTS[name]()
    results, again = ((r if isinstance(r, tuple) else (r,)) for r in (results, again))
    assert results[0].dtype.is_complex is (name != "l1_loss")
    assert not any(result.requires_grad for result in (*results, *again))
    assert [r.tolist() for r in results] == [r.tolist() for r in again]


def test_a_refused_operation_leaves_the_modes_as_they_were():
    for action in (*RESULTS.values(), *IN_PLACE.values()):
        with torch.enable_grad():
            refused(action)
            assert torch.is_grad_enabled()
    x = real()
    (x * x).sum().backward()
    assert x.grad.tolist() == [1.0, -3.0, 4.0]


IN_PLACE = {
    "add_": lambda: number().add_(real()),
    "alpha": lambda: number().sub_(real(), alpha=3),
    "mul_": lambda: number().mul_(real()),
    "pow_": lambda: number().pow_(real()),
    "copy_": lambda: number().copy_(real()),
    "fill_": lambda: number().fill_(one()),
    "masked_fill_": lambda: number().masked_fill_(MASK, one()),
    "an entry": lambda: put(0, one()),
    "a slice": lambda: put(slice(1, 3), real()[:2]),
    "under a mask": lambda: put(MASK, one()),
    "a view": lambda: number()[:2].copy_(real()[:2]),
    "custom": lambda: AddsTo.apply(number(), real()),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_complex_tensor_cannot_take_a_history(name):
    refused(IN_PLACE[name])


def test_a_refused_write_changes_nothing():
    z, x = number(), real()
    before = z.tolist()
    for write in (z.copy_, z.add_, z.mul_, lambda x: z.fill_(x.sum())):
        version = z._version
        refused(lambda write=write: write(x))
        assert (z.tolist(), z._version, z.requires_grad) == (before, version, False)
    with torch.no_grad():
        assert z.copy_(x).tolist() == [0.5, -1.5, 2.0]


def test_a_write_that_does_not_fit_is_refused_as_before():
    text = "^result type ComplexFloat can't be cast to the desired output type Float$"
    for write in (
        lambda x: x.mul_(1j),
        lambda x: x.add_(number()),
        lambda x: x.pow_(1j),
        lambda x: x.__itruediv__(number()),
    ):
        x = real() * 2
        with pytest.raises(RuntimeError, match=text) as caught:
            write(x)
        assert caught.type is RuntimeError
        assert torch.is_grad_enabled()
        assert x.tolist() == [1.0, -3.0, 4.0]


# ------------------------------------------------------------------ among real numbers


AMONG_REAL = {
    "masked_fill": lambda torch, x: x.masked_fill(x > 0, 1j),
    "masked_fill with a tensor": lambda torch, x: x.double().masked_fill(x > 0, torch.tensor(1j)),
    "masked_fill of integers": lambda torch, x: x.long().masked_fill(x > 0, 1j),
    "clamp with a tensor": lambda torch, x: x.clamp(max=torch.tensor(1j)),
    "mse_loss": lambda torch, x: torch.nn.functional.mse_loss(x, torch.tensor([1j, 2.0, 0.0])),
}
TEXTS = {
    "clamp with a tensor": "not implemented|does not differentiate",
    "mse_loss": "not implemented",
}


@pytest.mark.parametrize("name", AMONG_REAL)
def test_a_complex_number_among_real_ones_is_refused(torch, name):
    text = TEXTS.get(name, "cannot be converted")
    with pytest.raises(RuntimeError, match=text) as caught:
        AMONG_REAL[name](torch, torch.tensor([0.5, -1.5, 2.0], requires_grad=True))
    assert (caught.type is NotImplementedError) is ("not implemented" in text)


def test_a_complex_number_without_imaginary_part_counts_as_real():
    actual = torch.tensor([0.5, -1.5, 2.0]).masked_fill(MASK, 7 + 0j)
    assert actual.dtype is torch.float32
    assert actual.tolist() == [7.0, -1.5, 7.0]


# ------------------------------------------------------------------ gradients


class TurnsBack(Function):
    """Gives a gradient that is complex."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return torch.tensor(grad.detach().numpy() * 1j)


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_complex_gradient_of_a_real_input_is_refused(create_graph):
    x = real()
    y = TurnsBack.apply(x).sum()
    refused(lambda: torch.autograd.grad(y, x, create_graph=create_graph))
    refused(lambda: torch.autograd.grad(x * 2, x, number(), create_graph=create_graph))
    edge = torch.autograd.graph.GradientEdge((x * 2).sum().grad_fn, 0)
    refused(lambda: torch.autograd.grad(edge, x, torch.tensor(1j), create_graph=create_graph))
    z = number()
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        z.sum().backward()


def test_a_complex_output_may_be_marked_as_not_differentiable(monkeypatch):
    monkeypatch.setattr(Turned, "marked", True)
    x = real()
    turned, doubled = Turned.apply(x)
    assert (turned.tolist(), turned.requires_grad) == ([0.5j, -1.5j, 2j], False)
    doubled.backward(torch.tensor([1.0, 10.0, -3.0]))
    assert x.grad.tolist() == [2.0, 20.0, -6.0]


def test_hooked_modules_let_complex_tensors_pass():
    class Both(torch.nn.Module):
        def forward(self, x, z):
            return x * 2, z * 2

    seen = []
    module = Both()
    module.register_full_backward_hook(lambda module, inputs, outputs: seen.append(inputs[0]))
    x = real()
    doubled, z = module(x, number())
    assert (z.tolist(), z.requires_grad) == ([2 + 4j, 1j, -6.0], False)
    doubled.backward(torch.tensor([1.0, 10.0, -3.0]))
    assert x.grad.tolist() == seen[0].tolist() == [2.0, 20.0, -6.0]


FUNCTIONAL = {
    "jacobian": lambda f: f.jacobian(lambda z: z * 2, number()),
    "hessian": lambda f: f.hessian(lambda z: z.abs().sum(), number()),
    "vjp": lambda f: f.vjp(lambda z: z * 2, number(), number()),
    "jvp": lambda f: f.jvp(lambda z: z * 2, number(), number()),
    "vhp": lambda f: f.vhp(lambda z: z.abs().sum(), number(), number()),
    "hvp": lambda f: f.hvp(lambda z: z.abs().sum(), number(), number()),
    "a complex output": lambda f: f.jacobian(lambda x: x * 1j, real()),
    "one of two": lambda f: f.jacobian(lambda x, z: x * 2, (real(), number())),
}


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_derivatives_of_functions_of_complex_numbers_are_refused(name):
    refused(lambda: FUNCTIONAL[name](torch.autograd.functional))


# ------------------------------------------------------------------ values


def test_complex_values_are_computed():
    values = np.array([1 + 2j, 0.5j, -3.0], dtype=np.complex64)
    z = torch.tensor(values)
    for actual, expected in (
        (z + 1j, values + np.complex64(1j)),
        (z * z, values * values),
        (z - 2, values - np.float32(2)),
        (1 / z, np.reciprocal(values)),
        (z**2, values * values),
        (z.exp(), np.exp(values)),
        (z.abs(), np.abs(values)),
        (z.sum(), values.sum()),
        (torch.cat([z, torch.ones(1)]), np.append(values, np.float32(1))),
    ):
        assert actual.numpy().dtype == expected.dtype
        assert np.allclose(actual.numpy(), expected, rtol=1e-6, atol=0)
    assert not (z * z).requires_grad


def test_types_meet():
    z = number()
    assert (torch.tensor([1, 2, 3]) * z).dtype is torch.complex64
    assert (real().detach() * z).dtype is torch.complex64
    assert (real().detach().double() * z).dtype is torch.complex128
    assert (real().detach() + 1j).dtype is torch.complex64
    assert real().detach().to(torch.complex128).dtype is torch.complex128
    assert (real() == z).tolist() == [False, False, False]
    assert (real() != 1j).tolist() == [True, True, True]


def test_complex_tensors_are_kept_copied_and_pickled():
    z = torch.nn.Parameter(number(), requires_grad=False)
    assert (z.dtype, z.requires_grad) == (torch.complex64, False)
    for other in (
        copy.deepcopy(z),
        pickle.loads(pickle.dumps(z)),
        number().clone(),
        number().detach(),
        number().requires_grad_(False),
    ):
        assert other.tolist() == number().tolist()
        assert not other.requires_grad
    module = torch.nn.Linear(2, 1, bias=False).requires_grad_(False).to(torch.complex64)
    assert module.weight.dtype is torch.complex64
