"""How operations behave at the edges: infinities, ties, dtypes, named results, in-place changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd import grad

INF, NAN = float("inf"), float("nan")


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
