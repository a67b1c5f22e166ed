"""Normalize weights by their largest singular value."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter

torch: Any = sys.modules["minigrad"]

# In the old way: a hook before each forward makes the weight again.
AnyModule = TypeVar("AnyModule", bound=Module)


def _as_matrix(weight: Any, dim: int) -> Any:
    """Give a weight as a matrix whose rows belong to one dimension."""
    return (weight.movedim(dim, 0) if dim else weight).reshape(weight.shape[dim], -1)


class _SpectralNorm:
    """A hook that divides a weight by its largest singular value before each forward.

    Args:
        name: The name of the weight.
        dim: The dimension whose entries belong together.
        n_power_iterations: How many steps of the power method a call takes in training.
        eps: Keeps from dividing by 0.
    """

    parts = ("u", "v", "orig")

    def __init__(self, name: str, dim: int, n_power_iterations: int, eps: float) -> None:
        self.name, self.dim = name, dim
        self.n_power_iterations, self.eps = n_power_iterations, eps
        if n_power_iterations <= 0:
            raise ValueError(f"n_power_iterations={n_power_iterations} must be positive")

    def __call__(self, module: Any, inputs: Any) -> None:
        """Make the weight again."""
        setattr(module, self.name, self.compute_weight(module, module.training))

    def compute_weight(self, module: Any, improve: bool) -> Tensor:
        """Give the weight, after improving the singular vectors if asked for."""
        u, v, weight = (getattr(module, f"{self.name}_{part}") for part in self.parts)
        matrix = _as_matrix(weight, self.dim)
        if improve:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(matrix.mv(v), dim=0, eps=self.eps))
                # the buffers change at the next call, before this graph may have been used
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))


def spectral_norm(
    module: AnyModule,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> AnyModule:
    """Divide a weight by its largest singular value before each forward.

    Source: Miyato et al., *Spectral normalization for generative adversarial networks*, 2018.

    Args:
        module: The layer.
        name: The name of its weight.
        n_power_iterations: How many steps of the power method a call takes in training.
        eps: Keeps from dividing by 0.
        dim: The dimension of the outputs; if None, 1 for transposed convolutions and else 0.

    Returns:
        The layer, with a parameter `weight_orig` and buffers `weight_u` and `weight_v`.
    """
    if dim is None:
        dim = int(getattr(module, "transposed", False))
    hook = _SpectralNorm(name, dim, n_power_iterations, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"spectral_norm: the parameter {name} is None")
    with no_grad():
        sizes = _as_matrix(weight, dim).shape
        drawn = [torch.empty(size, dtype=weight.dtype).normal_(0, 1) for size in sizes]
        u, v = (F.normalize(values, dim=0, eps=eps) for values in drawn)
    delattr(module, name)
    module.register_parameter(f"{name}_orig", weight)
    # a plain attribute: as a parameter it would be trained a second time
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Undo `spectral_norm`; the weight keeps its present value.

    Raises:
        ValueError: If there is nothing to undo.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, _SpectralNorm) and hook.name == name:
            with no_grad():
                weight = hook.compute_weight(module, False)
            for kept in (name, *(f"{name}_{part}" for part in hook.parts)):
                delattr(module, kept)
            module.register_parameter(name, Parameter(weight.detach()))
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"spectral_norm of {name!r} not found in {module}")
