"""Layers and losses: their values, their nodes in the graph, and the worked example."""

from __future__ import annotations

import importlib

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
TRANSPOSED = ["TBackward0", LEAF]


@pytest.mark.parametrize(
    ("shape", "bias", "graph"),
    [
        ((4, 3), True, ["AddmmBackward0", LEAF, LEAF, TRANSPOSED]),
        (
            (3,),
            True,
            ["ViewBackward0", ["AddmmBackward0", LEAF, ["ViewBackward0", LEAF], TRANSPOSED]],
        ),
        (
            (5, 4, 3),
            True,
            ["ViewBackward0", ["AddmmBackward0", LEAF, ["ViewBackward0", LEAF], TRANSPOSED]],
        ),
        ((4, 3), False, ["MmBackward0", LEAF, TRANSPOSED]),
        (
            (5, 4, 3),
            False,
            ["UnsafeViewBackward0", ["MmBackward0", ["ViewBackward0", LEAF], TRANSPOSED]],
        ),
    ],
)
def test_linear_leaves_these_nodes(torch, shape, bias, graph):
    linear = torch.nn.Linear(3, 2, bias=bias)
    x = torch.ones(*shape, requires_grad=True)
    result = linear(x)
    assert tuple(result.shape) == (*shape[:-1], 2)
    assert nodes(result.grad_fn) == graph


@pytest.mark.parametrize("shape", [(3,), (4, 3), (5, 4, 3)])
def test_linear_is_x_times_w_transposed_plus_b(torch, shape):
    linear = torch.nn.Linear(3, 2).double()
    rng = np.random.default_rng(0)
    x, cotangent = rng.normal(size=shape), rng.normal(size=(*shape[:-1], 2))
    weight, bias = linear.weight.detach().numpy(), linear.bias.detach().numpy()
    tensor = torch.tensor(x, requires_grad=True)
    result = linear(tensor)
    result.backward(torch.tensor(cotangent))
    rows, columns = x.reshape(-1, 3), cotangent.reshape(-1, 2)
    for got, expected in [
        (result.detach(), x @ weight.T + bias),
        (tensor.grad, cotangent @ weight),
        (linear.weight.grad, columns.T @ rows),
        (linear.bias.grad, columns.sum(0)),
    ]:
        # float64, sums of at most 20 products
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ((2, 4), r"mat1 and mat2 shapes cannot be multiplied \(2x4 and 3x2\)"),
        ((4,), r"mat1 and mat2 shapes cannot be multiplied \(1x4 and 3x2\)"),
        ((), "both arguments to linear need to be at least 1D, but they are 0D and 2D"),
    ],
)
def test_linear_says_which_shapes_do_not_fit(torch, x, message):
    with pytest.raises(RuntimeError, match=message):
        torch.nn.Linear(3, 2)(torch.ones(x))


def test_linear_without_bias_has_none(torch):
    linear = torch.nn.Linear(3, 2, bias=False, dtype=torch.float64)
    assert linear.bias is None and list(linear.state_dict()) == ["weight"]
    assert linear.weight.dtype == torch.float64
    assert repr(linear) == "Linear(in_features=3, out_features=2, bias=False)"


# Values and derivatives at -1.5, 0.25 and 3, by the formulas in the docstrings.
POINTS = np.array([-1.5, 0.25, 3.0])
SIGMOID = 1 / (1 + np.exp(-POINTS))
POSITIVE = POINTS > 0


@pytest.mark.parametrize(
    ("make", "node", "value", "slope"),
    [
        (lambda nn: nn.ReLU(), "ReluBackward0", POINTS * POSITIVE, POSITIVE),
        (lambda nn: nn.Tanh(), "TanhBackward0", np.tanh(POINTS), 1 - np.tanh(POINTS) ** 2),
        (lambda nn: nn.Sigmoid(), "SigmoidBackward0", SIGMOID, SIGMOID * (1 - SIGMOID)),
        (
            lambda nn: nn.SiLU(),
            "SiluBackward0",
            POINTS * SIGMOID,
            SIGMOID * (1 + POINTS * (1 - SIGMOID)),
        ),
        (
            lambda nn: nn.Softplus(beta=2.0),
            "SoftplusBackward0",
            np.log1p(np.exp(2 * POINTS)) / 2,
            1 / (1 + np.exp(-2 * POINTS)),
        ),
        (
            lambda nn: nn.LeakyReLU(0.1),
            "LeakyReluBackward0",
            np.where(POSITIVE, POINTS, 0.1 * POINTS),
            np.where(POSITIVE, 1, 0.1),
        ),
        (
            lambda nn: nn.ELU(0.5),
            "EluBackward0",
            np.where(POSITIVE, POINTS, 0.5 * np.expm1(POINTS)),
            np.where(POSITIVE, 1, 0.5 * np.exp(POINTS)),
        ),
    ],
)
def test_activations(torch, make, node, value, slope):
    x = torch.tensor(POINTS, requires_grad=True)
    cotangent = np.array([2.0, -0.5, 3.0])
    result = make(torch.nn)(x)
    assert type(result.grad_fn).__name__ == node
    result.backward(torch.tensor(cotangent))
    # float64: a few operations
    np.testing.assert_allclose(result.detach().numpy(), value, rtol=1e-12)
    np.testing.assert_allclose(x.grad.numpy(), cotangent * slope, rtol=1e-12)


def test_activations_far_out_stay_finite(torch):
    x = torch.tensor([-1000.0, 1000.0], requires_grad=True)
    for make, value, slope in [
        (torch.nn.Softplus, [0.0, 1000.0], [0.0, 1.0]),
        (torch.nn.Sigmoid, [0.0, 1.0], [0.0, 0.0]),
        (torch.nn.SiLU, [0.0, 1000.0], [0.0, 1.0]),
        (torch.nn.ELU, [-1.0, 1000.0], [0.0, 1.0]),
    ]:
        x.grad = None
        result = make()(x)
        result.backward(torch.tensor([1.0, 1.0]))
        assert result.tolist() == value, make
        assert x.grad.tolist() == slope, make


def test_in_place_relu_bumps_the_version(torch):
    x = torch.tensor([-1.0, 2.0])
    assert torch.nn.ReLU(inplace=True)(x) is x
    assert x.tolist() == [0.0, 2.0] and x._version == 1


def test_the_printed_forms_of_activations(torch):
    nn = torch.nn
    assert [repr(made) for made in (nn.ReLU(), nn.ReLU(True), nn.Tanh(), nn.Softplus())] == [
        "ReLU()",
        "ReLU(inplace=True)",
        "Tanh()",
        "Softplus(beta=1.0, threshold=20.0)",
    ]
    assert repr(nn.LeakyReLU(0.1, True)) == "LeakyReLU(negative_slope=0.1, inplace=True)"
    assert repr(nn.Sequential(nn.ELU(), nn.Softmax(1))) == (
        "Sequential(\n  (0): ELU(alpha=1.0)\n  (1): Softmax(dim=1)\n)"
    )
    assert repr(nn.Flatten()) == "Flatten(start_dim=1, end_dim=-1)"
    assert repr(nn.MSELoss(reduction="sum")) == "MSELoss()"


def test_softmax_along_a_dimension(torch):
    x = np.array([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]])
    expected = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    result = torch.nn.Softmax(dim=1)(torch.tensor(x, requires_grad=True))
    logarithm = torch.nn.LogSoftmax(dim=1)(torch.tensor(x, requires_grad=True))
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-12)  # float64
    np.testing.assert_allclose(logarithm.detach().numpy(), np.log(expected), rtol=1e-12)
    assert nodes(result.grad_fn) == ["SoftmaxBackward0", LEAF]
    assert nodes(logarithm.grad_fn) == ["LogSoftmaxBackward0", LEAF]


@pytest.mark.parametrize(("ndim", "dim"), [(1, 0), (2, 1), (3, 0)])
def test_softmax_without_a_dimension_warns_and_guesses(torch, functional, ndim, dim):
    x = torch.arange(2.0**ndim).reshape([2] * ndim)
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprec"):
        guessed = functional.softmax(x)
    assert guessed.tolist() == functional.softmax(x, dim).tolist()


def test_flatten(torch):
    x = torch.ones(2, 3, 4)
    assert torch.nn.Flatten()(x).shape == (2, 12)
    assert torch.nn.Flatten(0, 1)(x).shape == (6, 4)
    flat = torch.ones(2, 3)
    assert torch.nn.Flatten()(flat) is flat


X, Y = np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[2.0, 2.0], [-1.0, 0.0]])


@pytest.mark.parametrize(
    ("name", "losses", "slopes"),
    [("MSELoss", (X - Y) ** 2, 2 * (X - Y)), ("L1Loss", abs(X - Y), np.sign(X - Y))],
)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses_of_differences(torch, name, losses, slopes, reduction):
    x = torch.tensor(X, requires_grad=True)
    loss = getattr(torch.nn, name)(reduction=reduction)(x, torch.tensor(Y))
    expected = {"mean": losses.mean(), "sum": losses.sum(), "none": losses}[reduction]
    np.testing.assert_allclose(loss.detach().numpy(), expected, rtol=1e-12)  # float64
    cotangent = np.array([[2.0, -1.0], [3.0, 0.5]]) if reduction == "none" else np.array(3.0)
    loss.backward(torch.tensor(cotangent))
    share = cotangent / (X.size if reduction == "mean" else 1)
    np.testing.assert_allclose(x.grad.numpy(), share * slopes, rtol=1e-12)


def test_the_nodes_of_losses(torch, functional):
    x = torch.ones(2, 3, requires_grad=True)
    y, classes = torch.zeros(2, 3), torch.tensor([0, 2])
    assert nodes(functional.mse_loss(x, y).grad_fn) == ["MseLossBackward0", LEAF, None]
    assert nodes(functional.l1_loss(x, y).grad_fn) == [
        "MeanBackward0",
        ["AbsBackward0", ["SubBackward0", LEAF, None]],
    ]
    assert nodes(functional.cross_entropy(x, classes).grad_fn) == [
        "NllLossBackward0",
        ["LogSoftmaxBackward0", LEAF],
    ]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_of_classes_and_of_probabilities(torch, reduction):
    scores = np.array([[1.0, 2.0, 4.0], [0.0, -1.0, 3.0]])
    classes = np.array([0, 2])
    logarithms = scores - np.log(np.exp(scores).sum(1, keepdims=True))
    losses = -logarithms[[0, 1], classes]
    expected = {"mean": losses.mean(), "sum": losses.sum(), "none": losses}[reduction]
    cotangent = np.array([2.0, -3.0]) if reduction == "none" else np.array(3.0)
    share = np.broadcast_to(cotangent / (2 if reduction == "mean" else 1), 2)[:, None]
    for target in (torch.tensor(classes), torch.tensor(np.eye(3)[classes])):
        x = torch.tensor(scores, requires_grad=True)
        loss = torch.nn.CrossEntropyLoss(reduction=reduction)(x, target)
        loss.backward(torch.tensor(cotangent))
        # float64: a few operations
        np.testing.assert_allclose(loss.detach().numpy(), expected, rtol=1e-12)
        slope = np.exp(logarithms) - np.eye(3)[classes]
        np.testing.assert_allclose(x.grad.numpy(), share * slope, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda f, t: f.mse_loss(t.ones(2), t.ones(2), reduction="x"),
            ValueError,
            "x is not a valid",
        ),
        (
            lambda f, t: f.l1_loss(t.ones(2), t.ones(2), reduction="x"),
            ValueError,
            "x is not a valid",
        ),
        (
            lambda f, t: f.cross_entropy(t.ones(2, 3), t.tensor([0, 3])),
            IndexError,
            "Target 3 is out of bounds.",
        ),
        (
            lambda f, t: f.cross_entropy(t.ones(2, 3), t.tensor([0, 2, 1])),
            ValueError,
            r"Expected input batch_size \(2\) to match target batch_size \(3\).",
        ),
        (
            lambda f, t: f.nll_loss(t.ones(2, 3), t.ones(2)),
            RuntimeError,
            "expected target dtype to be Long or Byte, but got Float",
        ),
    ],
)
def test_what_losses_refuse(torch, functional, call, kind, message):
    with pytest.raises(kind, match=message):
        call(functional, torch)


def test_different_sizes_are_a_warning(torch, functional):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with pytest.warns(UserWarning) as caught:
        loss = functional.mse_loss(x, torch.tensor([1.0, 2.0]))
    assert str(caught[0].message) == (
        "Using a target size (torch.Size([2])) that is different to the input size "
        "(torch.Size([2, 2])). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size."
    )
    assert loss.item() == 2.0
