"""Keep the largest singular value of weights at 1, the old way: by a hook before forward."""

from __future__ import annotations

from typing import Any, TypeVar

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tensor import Tensor
from minigrad.creation.factories import empty
from minigrad.nn.functional import normalize
from minigrad.nn.modules.conv import (
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.ops.linear_systems import pinv

__all__ = [
    "SpectralNorm", "SpectralNormLoadStateDictPreHook", "SpectralNormStateDictHook",
    "remove_spectral_norm", "spectral_norm",
]  # fmt: skip

AnyModule = TypeVar("AnyModule", bound=Module)
TRANSPOSED = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)


def as_matrix(weight: Any, dim: int) -> Any:
    """Give a weight as a matrix whose rows belong to one dimension."""
    if dim != 0:
        weight = weight.permute(dim, *(d for d in range(weight.ndim) if d != dim))
    return weight.reshape(weight.shape[0], -1)


class SpectralNorm:
    """The hook that divides the weight by its largest singular value.

    Args:
        name: The name of the weight.
        n_power_iterations: How many steps of the power method a call takes in training.
        dim: The dimension of the outputs.
        eps: Keeps from dividing by 0.

    Raises:
        ValueError: If there are no iterations.
    """

    _version = 1

    def __init__(
        self,
        name: str = "weight",
        n_power_iterations: int = 1,
        dim: int = 0,
        eps: float = 1e-12,
    ) -> None:
        self.name = name
        self.dim = dim
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Give the weight as a matrix."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """Give the weight, after improving the singular vectors if asked for."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
                # the buffers change at the next call, before this graph may have been used
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        """Make the weight anew."""
        setattr(module, self.name, self.compute_weight(module, module.training))

    def _solve_v_and_rescale(self, matrix: Any, u: Any, target_sigma: Any) -> Any:
        """Find the right vector that goes with the left one and a singular value."""
        v = (pinv(matrix.t().mm(matrix), 1e-15) @ matrix.t() @ u.unsqueeze(1)).squeeze(1)
        return v.mul_(target_sigma / u.dot(matrix.mv(v)))

    @staticmethod
    def apply(
        module: Any, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Put weight and singular vectors in the place of the weight, and register the hooks.

        Raises:
            RuntimeError: If it was done before.
            ValueError: If there is no weight.
        """
        for other in module._forward_pre_hooks.values():
            if isinstance(other, SpectralNorm) and other.name == name:
                raise RuntimeError(
                    f"Cannot register two spectral_norm hooks on the same parameter {name}"
                )
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with no_grad():
            sizes = as_matrix(weight, dim).shape
            u, v = (
                normalize(empty(size, dtype=weight.dtype).normal_(0, 1), dim=0, eps=eps)
                for size in sizes
            )
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        # a plain attribute: as a parameter it would be trained a second time
        setattr(module, name, weight.data)
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormLoadStateDictPreHook:
    """Brings a state of an older version up to date before it is loaded."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        *rest: Any,
    ) -> None:
        """Compute what an older version did not save."""
        hook = self.fn
        version = local_metadata.get("spectral_norm", {}).get(f"{hook.name}.version", None)
        if version is not None and version >= 1:
            return
        key = prefix + hook.name
        has_all = all(key + suffix in state_dict for suffix in ("_orig", "_u", "_v"))
        if version is None and has_all and key not in state_dict:
            return
        missing = [key + s for s in ("_orig", "", "_u") if key + s not in state_dict]
        if missing:
            if strict:
                missing_keys.extend(missing)
            return
        with no_grad():
            original, weight = state_dict[f"{key}_orig"], state_dict.pop(key)
            sigma = (original / weight).mean()
            matrix = as_matrix(original, hook.dim)
            u = state_dict[f"{key}_u"]
            state_dict[f"{key}_v"] = hook._solve_v_and_rescale(matrix, u, sigma)


class SpectralNormStateDictHook:
    """Notes the version in a state that is saved."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        """Note the version."""
        versions = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.fn.name}.version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


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
        dim = 1 if isinstance(module, TRANSPOSED) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Undo `spectral_norm`; the weight keeps its present value.

    Raises:
        ValueError: If there is nothing to undo.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    tables: tuple[Any, ...] = (module._state_dict_hooks, module._load_state_dict_pre_hooks)
    for table in tables:
        for key, hook in list(table.items()):
            hook = getattr(hook, "hook", hook)  # PyTorch's own wrapping of such hooks
            if isinstance(getattr(hook, "fn", None), SpectralNorm) and hook.fn.name == name:
                del table[key]
                break
    return module
