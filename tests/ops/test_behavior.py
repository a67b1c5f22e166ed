"""How operations behave at the edges: infinities, ties, dtypes, named results, in-place changes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import grad

INF, NAN = float("inf"), float("nan")
EDGES = [-INF, -1e30, -1.0, -0.0, 0.0, 1.0, 1e30, INF, NAN]

ENTRYWISE = ["exp", "log", "log1p", "expm1", "sqrt", "rsqrt", "reciprocal", "tanh", "sigmoid"]
ENTRYWISE += ["sin", "cos", "abs", "relu", "sign"]
MORE: dict[str, Callable[[Any, Any], Any]] = {
    "divided by itself": lambda torch, x: x / x,
    "to its own power": lambda torch, x: x**x,
    "number to its power": lambda torch, x: 2.0**x,
    "number over it": lambda torch, x: 1 / x,
    "softmax": lambda torch, x: x.softmax(0),
    "log_softmax": lambda torch, x: x.log_softmax(0),
    "logsumexp": lambda torch, x: x.logsumexp(0),
    "norm": lambda torch, x: x.norm(),
    "norm of order 3": lambda torch, x: x.norm(3),
    "mean of nothing": lambda torch, x: x[:0].mean(),
    "mean along nothing": lambda torch, x: x.reshape(1, -1)[:0].mean(0),
    "softplus": lambda torch, x: torch.nn.functional.softplus(x),
    "elu": lambda torch, x: torch.nn.functional.elu(x),
    "silu": lambda torch, x: torch.nn.functional.silu(x),
    "leaky_relu": lambda torch, x: torch.nn.functional.leaky_relu(x),
    "hardshrink": lambda torch, x: torch.nn.functional.hardshrink(x, 1.0),
    "product with a logarithm": lambda torch, x: torch.xlogy(x, torch.full_like(x, 0.5)),
    "softshrink": lambda torch, x: torch.nn.functional.softshrink(x, 1.0),
    "norm of zeros": lambda torch, x: x[3:5].norm(),
    "clamp": lambda torch, x: x.clamp(-1, 1),
    "largest": lambda torch, x: x.max(),
    "larger": lambda torch, x: torch.maximum(x, torch.full_like(x, 2.0)),
}


def edge_values(torch: Any, name: str) -> tuple[Any, Any]:
    """Give an operation's result at the edges, and its gradient."""
    x = torch.tensor(EDGES, requires_grad=True)
    y = getattr(x, name)() if name in ENTRYWISE else MORE[name](torch, x)
    (gradient,) = torch.autograd.grad(y, x, torch.full_like(y, 2.0))
    return y.detach().numpy(), gradient.numpy()


@pytest.mark.parametrize("name", [*ENTRYWISE, *MORE])
def test_no_warning_of_numpy_leaks(name: str) -> None:
    """PyTorch computes on through infinities and NaN without a word, and so does minigrad."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        edge_values(torch, name)
    assert [str(warning.message) for warning in seen] == []


@pytest.mark.parametrize("name", [*ENTRYWISE, *MORE])
def test_edges_are_pytorchs(name: str) -> None:
    """Values and gradients at the edges are PyTorch's, where it is installed."""
    real = pytest.importorskip("torch")
    for ours, theirs in zip(edge_values(torch, name), edge_values(real, name), strict=True):
        # tanh, exp and the like round differently in the last bits of float32
        np.testing.assert_allclose(ours, theirs, rtol=4e-7, atol=1e-37)


def test_relu_passes_nothing_where_it_is_flat() -> None:
    """Zero stays zero though the gradient is infinite, NaN or negative; it is never -0."""
    x = torch.tensor([-1.0, 0.0, -2.0, 3.0], requires_grad=True)
    (gradient,) = grad(x.relu(), x, torch.tensor([INF, NAN, -1.0, -1.0]))
    assert gradient.tolist() == [0, 0, 0, -1]
    assert not np.signbit(gradient.numpy()[:3]).any()
    assert repr(gradient) == "tensor([ 0.,  0.,  0., -1.])"


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_relu_in_every_precision(dtype: Any) -> None:
    """The gradient is in the input's dtype."""
    x = torch.tensor([-1.0, 2.0, NAN], dtype=dtype, requires_grad=True)
    (gradient,) = grad(x.relu(), x, torch.tensor([3.0, 4.0, 5.0], dtype=dtype))
    assert gradient.dtype is dtype
    assert gradient.tolist() == [0, 4, 5]


def test_ties() -> None:
    """Equal ones share the gradient of a maximum; along a dimension the first one gets it."""
    x = torch.tensor([1.0, 3.0, 3.0], requires_grad=True)
    assert grad(x.max(), x, torch.tensor(5.0))[0].tolist() == [0, 2.5, 2.5]
    assert grad(x.amax(0), x, torch.tensor(5.0))[0].tolist() == [0, 2.5, 2.5]
    assert grad(x.max(0).values, x, torch.tensor(5.0))[0].tolist() == [0, 5, 0]
    y = torch.tensor([1.0, 3.0, 4.0], requires_grad=True)
    found = grad(torch.maximum(x, y), (x, y), torch.tensor([2.0, 4.0, 6.0]))
    assert [g.tolist() for g in found] == [[1, 2, 0], [1, 2, 6]]


@pytest.mark.parametrize(
    ("name", "border", "slope"), [("smooth_l1_loss", "beta", 2), ("huber_loss", "delta", 1)]
)
def test_a_loss_that_grows_straight_from_its_border_on_is_not_curved_there(
    name: str, border: str, slope: int
) -> None:
    loss = getattr(torch.nn.functional, name)
    x = torch.tensor([0.5, -0.5, 0.25, 1.0], requires_grad=True)
    (first,) = grad(loss(x, torch.zeros(4), reduction="sum", **{border: 0.5}), x, create_graph=True)
    assert grad(first.sum(), x)[0].tolist() == [0, 0, slope, 0]


@pytest.mark.filterwarnings("ignore:.*degrees of freedom is <= 0:UserWarning")
@pytest.mark.parametrize("dim", [None, 0])
def test_the_variance_of_one_number_has_no_gradient(dim: int | None) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    assert np.isnan(grad(x.var(dim), x)[0].item())


def test_where_no_class_counts_nothing_gets_a_gradient() -> None:
    """Though the mean of nothing is NaN."""
    x = torch.tensor([[0.5, 1.0, -2.0]], requires_grad=True)
    loss = torch.nn.functional.nll_loss(x, torch.tensor([2]), ignore_index=2)
    assert np.isnan(loss.item()) and grad(loss, x)[0].tolist() == [[0, 0, 0]]


def test_largest_along_a_dimension_is_a_named_tuple() -> None:
    """It unpacks, has names, and prints as PyTorch prints it."""
    x = torch.tensor([[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]], requires_grad=True)
    found = x.max(dim=1)
    values, indices = found
    assert values is found.values and indices is found.indices
    assert indices.dtype is torch.int64 and not indices.requires_grad
    assert type(found).__name__ == "max" and found._fields == ("values", "indices")
    assert repr(found) == (
        "torch.return_types.max(\nvalues=tensor([5., 7.], grad_fn=<MaxBackward0>),\n"
        "indices=tensor([1, 0]))"
    )
    assert torch.min(x, 0, keepdim=True).indices.tolist() == [[0, 1, 0]]
    assert torch.max(x, torch.tensor(2.0)).tolist() == [[2, 5, 2], [7, 2, 3]]
    assert torch.tensor([1.0, NAN, 5.0]).max(0).indices.item() == 1


def test_gradients_come_in_the_dtype_of_their_input() -> None:
    """Where dtypes meet, each gradient is converted back."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    for recorded in (False, True):
        found = grad(x * y, (x, y), torch.ones(2, dtype=torch.float64), create_graph=recorded)
        assert [g.dtype for g in found] == [torch.float32, torch.float64]


@pytest.mark.parametrize("recorded", [False, True])
def test_what_is_empty_gets_an_empty_gradient(recorded: bool) -> None:
    """Also what is left out where tensors are joined."""
    x, nothing = torch.ones(2, 2, requires_grad=True), torch.zeros(0, requires_grad=True)
    joined = torch.cat([x, nothing]).sum()
    found = grad(joined, (x, nothing), create_graph=recorded)
    assert [g.shape for g in found] == [(2, 2), (0,)]
    y = x * 3
    y[:, :0].mul_(2)
    assert grad(y.sum(), x, create_graph=recorded)[0].tolist() == [[3, 3], [3, 3]]


@pytest.mark.parametrize("recorded", [False, True])
def test_views_of_changed_memory_of_every_layout_get_their_gradients(recorded: bool) -> None:
    """Of windows that overlap by one entry, and of memory that lies column by column."""
    x = torch.ones(5, requires_grad=True)
    y = x * 1
    windows = y.unfold(0, 3, 2)
    y.mul_(2)
    assert grad(windows.sum(), x, create_graph=recorded)[0].tolist() == [2, 2, 4, 2, 2]
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    columns = x.t() * 1
    assert columns.stride() == (1, 3)
    columns.t().view(-1)[:2].mul_(torch.tensor([2.0, 3.0]))
    assert columns.t().tolist() == [[2, 6, 3], [4, 5, 6]]
    (found,) = grad(columns.sum(), x, create_graph=recorded)
    assert found.tolist() == [[2, 3, 1], [1, 1, 1]]


def test_sizes_at_their_edges() -> None:
    """No entries in a dimension put in front, a vector for a weight, a copy of what is repeated."""
    assert torch.ones(3).expand(0, 3).shape == (0, 3)
    assert torch.ones(1, 2).squeeze(torch.tensor([0])).shape == (2,)
    linear = torch.nn.functional.linear
    assert linear(torch.ones(3), torch.tensor([1.0, 2.0, 3.0]), torch.tensor(4.0)).item() == 10
    assert torch.ones(2, 1).expand(2, 3).t().clone().stride() == (2, 1)


@pytest.mark.parametrize("norm", ["layer_norm", "batch_norm"])
def test_the_rule_of_a_norm_may_be_called_by_hand(norm: str) -> None:
    x = torch.tensor([[1.0, 2.0], [4.0, 8.0]], requires_grad=True)
    settings = {"layer_norm": ((2,),), "batch_norm": (None, None, None, None, True)}[norm]
    y = getattr(torch.nn.functional, norm)(x, *settings)
    given = torch.tensor([[1.0, 3.0], [2.0, -1.0]])
    (due,) = grad(y, x, given, retain_graph=True)
    found = y.grad_fn(given)
    found = found[0] if isinstance(found, tuple) else found
    np.testing.assert_allclose(found.detach(), due, rtol=1e-5, atol=1e-6)


def test_gather_and_masked_fill() -> None:
    """Both are methods and functions."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert torch.gather(x, 0, torch.tensor([[1, 0]])).tolist() == [[3, 2]]
    y = x.masked_fill(x > 2, 0.0)
    assert y.tolist() == [[1, 2], [0, 0]] and y.grad_fn.name() == "MaskedFillBackward0"
    z = x.masked_fill(torch.tensor([True, False]), torch.tensor(9.0))
    assert z.tolist() == [[9, 2], [9, 4]] and z.grad_fn.name() == "MaskedFillBackward1"


# ---------------------------------------------------------------------- in place

IN_PLACE: dict[str, tuple[Any, Any]] = {
    "add_": (lambda x, y: x.add_(y), lambda x, y: x + y),
    "add_ with alpha": (lambda x, y: x.add_(y, alpha=3), lambda x, y: x + 3 * y),
    "sub_ with alpha": (lambda x, y: x.sub_(y, alpha=3), lambda x, y: x - 3 * y),
    "mul_": (lambda x, y: x.mul_(y), lambda x, y: x * y),
    "div_": (lambda x, y: x.div_(y), lambda x, y: x / y),
    "pow_": (lambda x, y: x.pow_(3), lambda x, y: x**3 + 0 * y),
    "exp_": (lambda x, y: x.exp_(), lambda x, y: x.exp() + 0 * y),
    "tanh_": (lambda x, y: x.tanh_(), lambda x, y: x.tanh() + 0 * y),
    "relu_": (lambda x, y: x.relu_(), lambda x, y: x.relu() + 0 * y),
    "clamp_": (lambda x, y: x.clamp_(-1, 1).mul_(y), lambda x, y: x.clamp(-1, 1) * y),
    "copy_": (lambda x, y: x.copy_(y), lambda x, y: 0 * x + y),
    "fill_": (lambda x, y: x.fill_(y[0]), lambda x, y: 0 * x + y[0]),
    "zero_": (lambda x, y: x.zero_().add_(y), lambda x, y: 0 * x + y),
    "masked_fill_": (
        lambda x, y: x.masked_fill_(y > 0, 2).mul_(y),
        lambda x, y: torch.where(y > 0, 2.0, x) * y,
    ),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_is_the_same_as_out_of_place(name: str) -> None:
    """Value and gradients agree, and the version goes up."""
    inside, outside = IN_PLACE[name]
    draw = np.random.default_rng(6)
    x, y = (torch.tensor(draw.normal(size=4), requires_grad=True) for _ in range(2))
    weights = torch.tensor(draw.normal(size=4))
    changed = x * 1
    result = inside(changed, y)
    assert result is changed and changed._version > 0
    expected = outside(x, y)
    np.testing.assert_allclose(result.detach().numpy(), expected.detach().numpy(), rtol=1e-14)
    options: dict[str, Any] = {"allow_unused": True, "materialize_grads": True}
    for got, due in zip(
        grad(result, (x, y), weights, **options),
        grad(expected, (x, y), weights, **options),
        strict=True,
    ):
        np.testing.assert_allclose(got.numpy(), due.numpy(), rtol=1e-13, atol=1e-15)


def test_names_of_in_place_nodes() -> None:
    """Each in-place operation leaves one node, under PyTorch's name."""
    x, y = (torch.tensor([0.5, 2.0], requires_grad=True) for _ in range(2))
    found = [
        x.clone().add_(y, alpha=2),
        x.clone().fill_(2.0),
        x.clone().fill_(y[0]),
        x.clone().zero_(),
        x.clone().masked_fill_(x > 1, 0),
    ]
    names = ["AddBackward0", "FillBackward2", "FillBackward3", "ZeroBackward0"]
    assert [each.grad_fn.name() for each in found] == [*names, "MaskedFillBackward0"]


# ---------------------------------------------------------------------- numbers within rules


def test_only_rules_have_number_nodes() -> None:
    """A number in a rule leaves a node of one edge; in a user's code, and in hooks, one of two."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = []
    y = x**3
    y.register_hook(lambda gradient: seen.append(gradient * 2))
    (first,) = grad(y, x, torch.tensor([1.0, 3.0], requires_grad=True), create_graph=True)
    inner = first.grad_fn.next_functions[1][0]
    assert inner.name() == "MulBackward1" and len(inner.next_functions) == 1
    assert seen[0].grad_fn.name() == (x * 2).grad_fn.name() == "MulBackward0"
    assert len(seen[0].grad_fn.next_functions) == 2


def test_numbers_are_met_as_usual_after_a_rule_that_raised() -> None:
    """An error in a rule leaves nothing behind."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y**2
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        grad(z, x, torch.ones(2), create_graph=True)
    assert (x * 2).grad_fn.name() == "MulBackward0"


def test_a_number_that_a_small_dtype_does_not_hold_divides_as_it_is() -> None:
    """Divide bytes by more than a byte holds: only products and sums wrap around."""
    x = torch.tensor([128], dtype=torch.uint8)
    assert (x / 256).item() == 0.5 and torch.div(x, 512).item() == 0.25
    assert (x * 257).item() == 128 and (x + 256).item() == 128


@pytest.mark.parametrize(
    "use",
    [
        lambda x: (x * 2).grad,
        lambda x: torch.nn.functional.softmax(x),
        lambda x: torch.nn.functional.mse_loss(x, x[None]),
        lambda x: torch.nn.functional.kl_div(x, x),
        lambda x: torch.ones(2, 2, 2).T,
        lambda x: torch.tensor(x),
    ],
)
def test_a_warning_points_to_the_users_line(use: Callable[[Any], Any]) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning) as seen:
        use(x)
    due = [(Path(__file__).name, use.__code__.co_firstlineno)]
    assert [(Path(each.filename).name, each.lineno) for each in seen] == due


def test_an_operation_says_what_it_does() -> None:
    assert (torch.sin.__doc__ or "").startswith("Sine")


def test_what_has_no_derivative_says_so_in_the_backward_pass() -> None:
    found = torch.unique(torch.ones(3, requires_grad=True))
    with pytest.raises(RuntimeError, match="unique is not implemented"):
        found.sum().backward()
