"""Decompositions with several results, and what linear algebra does with NumPy and with symbols."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad import linalg
from minigrad.autograd.gradcheck import GradcheckError, gradcheck
from minigrad.ops import decompositions


def made(*shape: int, seed: int = 0) -> Any:
    """Draw a matrix."""
    draw = np.random.default_rng((seed, *shape))
    return torch.tensor(
        draw.uniform(0.3, 1.7, shape) * draw.choice([-1.0, 1.0], shape)
    ).requires_grad_()


def symmetric(x: Any) -> Any:
    return x + x.mT


@pytest.mark.parametrize(
    ("node", "function"),
    [
        (decompositions.LinalgEighBackward0, lambda x: linalg.eigvalsh(symmetric(x))),
        (decompositions.LinalgSvdBackward0, lambda x: linalg.svd(x)[1]),
        (decompositions.LinalgQrBackward0, lambda x: linalg.qr(x)[1]),
    ],
)
def test_a_rule_wrong_by_a_thousandth_is_caught(
    node: Any, function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checks above can fail."""
    right = node.rule
    monkeypatch.setattr(node, "rule", staticmethod(lambda *given: right(*given) * 1.001))
    with pytest.raises(GradcheckError):
        gradcheck(function, (made(3, 3),), atol=1e-6, rtol=1e-4)


def test_results_that_are_changed_in_place_are_noticed() -> None:
    """A rule that needs a result refuses one that was written to."""
    x = made(3, 3)
    values = linalg.svd(x, False)[1]
    values.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        values.sum().backward()


def test_the_graph_is_released_after_one_pass() -> None:
    """A second pass says why it does not run."""
    x = made(3, 3)
    total = linalg.eigvalsh(symmetric(x)).sum()
    total.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        total.backward()


def test_saved_tensor_hooks_see_what_a_decomposition_saves() -> None:
    """Each saved result passes through the hooks, and comes back in its place."""
    seen: list[Any] = []

    def pack(tensor: Any) -> Any:
        seen.append(tuple(tensor.shape))
        return tensor.detach().numpy().copy()

    x = made(4, 3)
    with torch.autograd.graph.saved_tensors_hooks(pack, torch.tensor):
        U, S, _ = linalg.svd(x, full_matrices=False)
    assert seen == [(4, 3), (3,), (3, 3)]
    packed = torch.autograd.grad((U[:, :1] ** 2 * S[:1]).sum(), x)[0]
    U, S, _ = linalg.svd(x, full_matrices=False)
    assert torch.autograd.grad((U[:, :1] ** 2 * S[:1]).sum(), x)[0].tolist() == packed.tolist()


NUMPY: dict[str, Callable[[Any, Any], Any]] = {
    "dot": np.dot, "matmul": np.matmul, "inner": np.inner,
    "solve": np.linalg.solve,
    "inv": lambda a, b: np.linalg.inv(a), "det": lambda a, b: np.linalg.det(a),
    "norm": lambda a, b: np.linalg.norm(a),
    "norm of rows": lambda a, b: np.linalg.norm(a, axis=1), "trace": lambda a, b: np.trace(a),
    "svd": lambda a, b: np.linalg.svd(a)[1],
    "eigh": lambda a, b: np.linalg.eigh(a + a.T)[0], "tril": lambda a, b: np.tril(a, 1),
    "triu": lambda a, b: np.triu(a), "diag": lambda a, b: np.diag(a),
    "diagonal": lambda a, b: np.diagonal(a, 1), "qr": lambda a, b: np.abs(np.linalg.qr(a)[1]),
    "array first": lambda a, b: np.dot(np.eye(3), b),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMPY)
def test_numpy_functions_of_tensors_record_themselves(name: str) -> None:
    """NumPy's functions give tensors with the values that they give for arrays."""
    a, b = made(3, 3), made(3, 3, seed=1)
    value = NUMPY[name](a, b)
    due = NUMPY[name](a.detach().numpy(), b.detach().numpy())
    assert value.requires_grad
    np.testing.assert_allclose(value.detach().numpy(), due, rtol=1e-10, atol=1e-12)


def test_eigenvalues_of_matrices_that_are_not_symmetric_have_no_gradient() -> None:
    """They are complex numbers."""
    with pytest.raises(NotImplementedError, match="complex"):
        linalg.eig(made(2, 2))
    values = linalg.eigvals(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))
    assert sorted(values.numpy().imag.tolist()) == [-1.0, 1.0]


def test_singular_matrices_are_refused() -> None:
    """They have no inverse, and the logarithm of their determinant no gradient."""
    singular = torch.tensor([[1.0, 2.0], [2.0, 4.0]], requires_grad=True)
    for function in (linalg.inv, torch.logdet, lambda a: linalg.solve(a, a)):
        with pytest.raises(linalg.LinAlgError, match="Singular matrix"):
            function(singular).sum().backward()


@pytest.mark.parametrize("create_graph", [False, True])
def test_the_determinant_of_a_singular_matrix_has_a_gradient(create_graph: bool) -> None:
    """It is the matrix of cofactors, and has a derivative itself."""
    x = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    both = torch.stack([x, torch.eye(2, dtype=torch.float64)])
    (found,) = torch.autograd.grad(torch.det(both).sum(), x, create_graph=create_graph)
    assert found.tolist() == [[4, -2], [-2, 1]]
    if create_graph:
        weights = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
        (second,) = torch.autograd.grad((found * weights).sum(), x)
        assert second.tolist() == [[4, -3], [-2, 1]]
    zero = torch.zeros(1, 1, requires_grad=True)
    assert torch.autograd.grad(torch.det(zero), zero)[0].tolist() == [[1]]
