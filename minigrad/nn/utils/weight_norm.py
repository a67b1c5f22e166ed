"""Learn length and direction of weights apart, the old way: by a hook that runs before forward."""

from __future__ import annotations

from typing import Any, TypeVar

from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.ops.normalization import weight_norm as normed_over

__all__ = [
    "WeightNorm", "remove_weight_norm", "weight_norm",
]  # fmt: skip


def norm_except_dim(v: Tensor, pow: float = 2, dim: int = 0) -> Tensor:
    """Give the norms of a tensor over all dimensions but one; of everything if it is -1."""
    if dim == -1:
        return v.norm(pow)
    if dim == 0:
        sizes = (v.shape[0], *[1] * (v.ndim - 1))
        return v.contiguous().view(v.shape[0], -1).norm(pow, 1).view(sizes)
    if dim == v.ndim - 1:
        sizes = (*[1] * (v.ndim - 1), v.shape[dim])
        return v.contiguous().view(-1, v.shape[dim]).norm(pow, 0).view(sizes)
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


def normed_weight(v: Tensor, g: Tensor, dim: int) -> Tensor:
    """Give weights with directions and lengths."""
    if dim in (0, v.ndim - 1):
        axes = tuple(axis for axis in range(v.ndim) if axis != dim)
        return normed_over(v, g, axes)
    scale: Any = g / norm_except_dim(v, 2, dim)
    return v * scale


AnyModule = TypeVar("AnyModule", bound=Module)


class WeightNorm:
    """The hook that makes the weight of length and direction.

    Args:
        name: The name of the weight.
        dim: The dimension that keeps its own lengths; -1 or None for one length.
    """

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """Give the weight."""
        g, v = (getattr(module, f"{self.name}_{part}") for part in "gv")
        return normed_weight(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Put length and direction in the place of the weight, and register the hook.

        Raises:
            RuntimeError: If it was done before.
        """
        warn(
            "`torch.nn.utils.weight_norm` is deprecated in favor of "
            "`torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
        )
        for other in module._forward_pre_hooks.values():
            if isinstance(other, WeightNorm) and other.name == name:
                raise RuntimeError(
                    f"Cannot register two weight_norm hooks on the same parameter {name}"
                )
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        del module._parameters[name]
        lengths = norm_except_dim(weight, 2, hook.dim)
        module.register_parameter(f"{name}_g", Parameter(lengths.data))
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"]
        del module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        """Make the weight anew."""
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: AnyModule, name: str = "weight", dim: int | None = 0) -> AnyModule:
    """Learn length and direction of a weight apart. Deprecated: use `parametrizations`.

    Args:
        module: The layer.
        name: The name of its weight.
        dim: The dimension that keeps its own lengths; None for one length.

    Returns:
        The layer, with parameters such as `weight_g` and `weight_v`.

    Raises:
        RuntimeError: If it was done before.
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Undo `weight_norm`; the weight keeps its present value.

    Raises:
        ValueError: If there is nothing to undo.
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
