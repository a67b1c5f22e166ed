"""Keep the columns of a weight orthonormal: a parametrization by matrices that are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.autograd.modes import no_grad
from minigrad.creation import eye, zeros_like
from minigrad.nn.modules.module import Module
from minigrad.nn.utils.parametrize import register_parametrization
from minigrad.ops.calling.fitting import matrix_exp
from minigrad.ops.calling.pieces import cat
from minigrad.ops.calling.solving import solve
from minigrad.random_creation import randn
from minigrad.tensor import Tensor, wrap

__all__ = ["orthogonal"]

_MAPS = ("matrix_exp", "cayley", "householder")


def _made_orthogonal(matrix: Any) -> Tensor:
    """Give the orthogonal factor of the decomposition whose triangle has a positive diagonal."""
    q, r = np.linalg.qr(matrix._array, mode="complete")
    signs = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    return wrap(q * signs[..., None, :].astype(q.dtype))


def _reflections(matrix: Any) -> Any:
    """Give the reflections that a matrix with orthonormal columns is the product of."""
    raw, factors = np.linalg.qr(matrix._array, mode="raw")
    below = np.swapaxes(raw, -2, -1).astype(matrix._array.dtype)
    places = np.arange(below.shape[-1])
    signs = np.sign(below[..., places, places])
    below[..., places, places] = np.where(factors == 0, -signs, signs)
    return wrap(below)


def _is_orthogonal(q: Any) -> bool:
    array = q._array
    product = np.swapaxes(array, -2, -1) @ array
    tolerance = 10.0 * array.shape[-2] * np.finfo(array.dtype).eps
    return bool(np.allclose(product, np.eye(array.shape[-1]), atol=tolerance))


class _Orthogonal(Module):
    """Gives an orthogonal matrix for any matrix."""

    base: Tensor | None

    def __init__(
        self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True
    ) -> None:
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Any) -> Any:
        """Give the orthogonal matrix."""
        transposed = X.shape[-2] < X.shape[-1]
        if transposed:
            X = X.mT
        n, k = X.shape[-2:]
        if self.orthogonal_map == "householder":
            q = _reflected(X)
        else:
            X = X.tril()
            if n != k:
                padding = X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)
                X = cat([X, padding], dim=-1)
            skew = X - X.mT
            if self.orthogonal_map == "matrix_exp":
                q = matrix_exp(skew)
            else:
                identity = eye(n, dtype=skew.dtype)
                q = solve(identity - 0.5 * skew, identity + 0.5 * skew)
            if n != k:
                q = q[..., :k]
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if transposed else q

    @no_grad()
    def right_inverse(self, Q: Any) -> Any:
        """Give what leads to a matrix, or to an orthogonal one that is close to it."""
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. "
                f"Got a tensor of shape {Q.shape}."
            )
        given = Q
        transposed = Q.shape[-2] < Q.shape[-1]
        if transposed:
            Q = Q.mT
        n, k = Q.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley "
                    "parametrizations when use_trivialization=False."
                )
            reflections = _reflections(Q)
            return reflections.mT if transposed else reflections
        if n == k:
            Q = Q.clone() if _is_orthogonal(Q) else _made_orthogonal(Q)
        else:
            more = randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype)
            Q = _made_orthogonal(cat([Q, more], dim=-1))
        self.base = Q
        inner = zeros_like(given)
        places = np.arange(k)
        inner._array[..., places, places] = -1.0
        return inner


def _reflected(X: Any) -> Any:
    """Multiply the reflections that the columns below the diagonal stand for."""
    n, k = X.shape[-2:]
    below = X.tril(diagonal=-1)
    factors = 2.0 / (1.0 + (below * below).sum(dim=-2))
    identity = eye(n, dtype=X.dtype)
    q = identity[:, :k]
    for column in reversed(range(k)):
        v = below[..., :, column : column + 1] + identity[:, column : column + 1]
        q = q - factors[..., column, None, None] * (v @ (v.mT @ q))
    signs = np.diagonal(X._array, axis1=-2, axis2=-1).astype(np.int32)
    return q * wrap(signs[..., None, :].astype(X._array.dtype))


def orthogonal(
    module: Any,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Any:
    """Keep a weight orthogonal: its columns orthonormal, or its rows if they are fewer.

    Source: Lezcano-Casado, *Trivializations for gradient-based optimization on manifolds*, 2019.

    Args:
        module: The layer.
        name: The name of its weight.
        orthogonal_map: "matrix_exp", "cayley" or "householder"; if None, the first for square
            matrices and the last for others.
        use_trivialization: Whether to go from the present weight; else from the identity.

    Returns:
        The layer.

    Raises:
        ValueError: If there is no such weight or map, or the weight is no matrix.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(3, 3))
        >>> torch.allclose(layer.weight @ layer.weight.T, torch.eye(3), atol=1e-5)
        True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
