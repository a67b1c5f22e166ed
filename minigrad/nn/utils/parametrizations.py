"""Give weights a form: unit spectral norm, length and direction, orthogonal columns."""

from __future__ import annotations

from typing import Any

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.nn.utils.norm_hooks import (
    as_matrix,
    check_iterations,
    drawn_vectors,
    norm_except_dim,
    normed_weight,
    outputs_dimension,
)
from minigrad.nn.utils.parametrize import register_parametrization


class _WeightNorm(Module):
    """Gives weights of lengths and directions."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """Give the weight."""
        return normed_weight(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Give length and direction of a weight."""
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    r"""Learn length and direction of a weight apart: $w = g v / \lVert v \rVert$.

    Source: Salimans and Kingma, *Weight normalization*, 2016.

    Args:
        module: The layer.
        name: The name of its weight.
        dim: The dimension that keeps its own lengths; None for one length.

    Returns:
        The layer.

    Example:
        >>> from minigrad import nn
        >>> layer = nn.utils.parametrizations.weight_norm(nn.Linear(2, 3))
        >>> [*layer.state_dict()][1:]
        ['parametrizations.weight.original0', 'parametrizations.weight.original1']
    """
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def read_old_names(state_dict: Any, prefix: str, *rest: Any) -> None:
        old = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state_dict for key in old):
            for place, key in enumerate(old):
                new = f"{prefix}parametrizations.{name}.original{place}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(read_old_names)
    return module


class _SpectralNorm(Module):
    """Divides a weight by its largest singular value, which the power method finds."""

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] "
                f"but got {dim})"
            )
        check_iterations(n_power_iterations)
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight, self.dim)
            for name, vector in zip(("_u", "_v"), drawn_vectors(matrix, eps), strict=True):
                self.register_buffer(name, vector)
            self._power_method(matrix, 15)

    @no_grad()
    def _power_method(self, matrix: Any, n_power_iterations: int) -> None:
        """Improve the two singular vectors."""
        for _ in range(n_power_iterations):
            self._u.copy_(F.normalize(matrix.mv(self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(matrix.t().mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        """Give the weight divided by its largest singular value."""
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # the buffers change at the next call, before this graph may have been used
        u, v = self._u.clone(), self._v.clone()
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """Give the weight itself."""
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a weight by its largest singular value whenever it is used.

    Source: Miyato et al., *Spectral normalization for generative adversarial networks*, 2018.

    Args:
        module: The layer.
        name: The name of its weight.
        n_power_iterations: How many steps of the power method are taken each time, in training.
        eps: Keeps from dividing by 0.
        dim: The dimension of the outputs; if None, 1 for transposed convolutions and else 0.

    Returns:
        The layer.

    Raises:
        ValueError: If there is no such weight.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(20, 40))
        >>> bool((torch.linalg.matrix_norm(layer.weight, 2) - 1).abs() < 0.2)
        True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    made = _SpectralNorm(weight, n_power_iterations, outputs_dimension(module, dim), eps)
    return register_parametrization(module, name, made)
