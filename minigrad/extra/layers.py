"""Draw one of several; look at images through grids; normalize weights."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.messages import warn
from minigrad.core.tensor import Tensor
from minigrad.nn import functional as F
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.ops.type_promotion import check_one_type
from minigrad.signatures.variants import functional, in_functional

torch: Any = sys.modules["minigrad"]


@functional()
def gumbel_softmax(
    logits: Tensor, tau: Any = 1, hard: Any = False, eps: float = 1e-10, dim: Any = -1
) -> Tensor:
    """Draw one of several, nearly or, forward only, in full (Jang, Gu and Poole, 2016)."""
    noise = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    chosen = torch.zeros_like(logits).scatter_(dim, soft.argmax(dim, True), 1.0)
    return chosen - soft.detach() + soft


vars(F).update(in_functional)

# ---------------------------------------------------------------------- images through grids


@functional()
def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    r"""Give locations $(x, y) = \theta (u, v, 1)$ that an affine map assigns to pixels.

    Locations lie between -1 and 1: the left (or upper) end is -1, the right (or lower) end 1.

    Args:
        theta: The matrices of the maps.
        size: The shape of the images to be: N, C, H, W.
        align_corners: Whether the ends are the centers of the outermost pixels, or their edges.

    Raises:
        ValueError: If the shapes are not those of images.
        NotImplementedError: If volumes are asked for.

    Shape:
        - theta: (N, 2, 3)
        - output: (N, H, W, 2)

    Example:
        >>> import minigrad as torch
        >>> same = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> torch.nn.functional.affine_grid(same, (1, 1, 1, 2), align_corners=False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
    """
    align = _aligned(align_corners)
    if len(size) != 4:
        raise NotImplementedError(f"affine_grid is for images (N, C, H, W) here, not for {size}")
    if theta.ndim != 3 or theta.shape[1:] != (2, 3) or not theta.is_floating_point():
        raise ValueError(f"affine_grid takes floats of shape (N, 2, 3), not {[*theta.shape]}")
    count, _, height, width = size
    ends = (_ends(n, align, theta.dtype) for n in (height, width))
    v, u = torch.meshgrid(*ends, indexing="ij")
    base = torch.stack([u, v, torch.ones_like(u)], -1).view(1, -1, 3).expand(count, -1, 3)
    return base.bmm(theta.transpose(1, 2)).view(count, height, width, 2)


def _ends(count: int, align: bool, dtype: Any) -> Any:
    """Give locations of pixels along one dimension."""
    if count <= 1:
        return torch.zeros(count, dtype=dtype)
    locations = torch.linspace(-1, 1, count, dtype=dtype)
    return locations if align else locations * ((count - 1) / count)


def _aligned(align_corners: bool | None) -> bool:
    if align_corners is None:
        warn("Say align_corners=True or False: False is the default since PyTorch 1.3.")
    return bool(align_corners)


@functional()
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: Any = "bilinear",
    padding_mode: Any = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Give the values of images at locations between the pixels. Gradients reach both.

    Args:
        input: The images.
        grid: The locations (x, y), each between -1 and 1.
        mode: Must be `"bilinear"`, the mean of four pixels by distance.
        padding_mode: What is outside of the image: must be `"zeros"`.
        align_corners: Whether -1 and 1 are the centers of the outermost pixels, or their edges.

    Raises:
        ValueError: If the mode or the padding is another one.
        RuntimeError: If the shapes do not fit together.

    Shape:
        - input: (N, C, H, W)
        - grid: (N, H_out, W_out, 2)
        - output: (N, C, H_out, W_out)

    Example:
        >>> import minigrad as torch
        >>> image = torch.tensor([[[[0.0, 10.0]]]])
        >>> middle = torch.zeros(1, 1, 1, 2)
        >>> torch.nn.functional.grid_sample(image, middle, align_corners=True)
        tensor([[[[5.]]]])
    """
    if (mode, padding_mode) != ("bilinear", "zeros"):
        raise ValueError(f"grid_sample is bilinear here, between zeros: {mode=}, {padding_mode=}")
    align = _aligned(align_corners)
    if (input.ndim, grid.ndim) != (4, 4) or (len(grid), grid.shape[-1]) != (len(input), 2):
        raise RuntimeError("grid_sample takes images (N, C, H, W) and locations (N, H, W, 2)")
    check_one_type(input._array, grid._array)
    height, width = input.shape[2:]
    x = _pixels(grid[..., 0], width, align)
    y = _pixels(grid[..., 1], height, align)
    parts: Any = (
        _values(input, row, column) * (of_row * of_column).unsqueeze(1)
        for row, of_row in _around(y)
        for column, of_column in _around(x)
    )
    return sum(parts)


def _pixels(location: Tensor, count: int, align: bool) -> Tensor:
    """Turn locations between -1 and 1 into pixels' numbers, with fractions."""
    return (location + 1) * ((count - 1) / 2) if align else (location + 1) * (count / 2) - 0.5


def _around(pixel: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Give the pixels next to a location, each with its share."""
    first = pixel.detach().floor()
    return [(first, first + 1 - pixel), (first + 1, pixel - first)]


def _values(input: Tensor, row: Tensor, column: Tensor) -> Tensor:
    """Take the pixels of these numbers; outside of the image there are zeros."""
    height, width = input.shape[2:]
    i, j, n = row.long(), column.long(), torch.arange(len(input)).view(-1, 1, 1)
    inside = (i >= 0) & (i < height) & (j >= 0) & (j < width)
    taken = input[n, :, i.clamp(0, height - 1), j.clamp(0, width - 1)]
    return taken.permute(0, 3, 1, 2).masked_fill(~inside.unsqueeze(1), 0)


# ---------------------------------------------------------------------- weights with a norm

# In the old way: a hook before each forward makes the weight again.
AnyModule = TypeVar("AnyModule", bound=Module)


class _Norm:
    """A hook that gives a weight its form before each forward.

    Args:
        name: The name of the weight.
        dim: The dimension whose entries belong together.
    """

    parts: tuple[str, ...]

    def __init__(self, name: str, dim: int) -> None:
        self.name, self.dim = name, dim

    compute_weight: Any  # gives the weight, after improving what is kept if asked to

    def __call__(self, module: Any, inputs: Any) -> None:
        """Make the weight again."""
        setattr(module, self.name, self.compute_weight(module, module.training))

    @classmethod
    def remove(cls, module: AnyModule, name: str) -> AnyModule:
        """Remove the hook, and make the weight a parameter again.

        Raises:
            ValueError: If there is none.
        """
        for key, hook in module._forward_pre_hooks.items():
            if isinstance(hook, cls) and hook.name == name:
                with no_grad():
                    weight = hook.compute_weight(module, False)
                for kept in (name, *(f"{name}_{part}" for part in hook.parts)):
                    delattr(module, kept)
                module.register_parameter(name, Parameter(weight.detach()))
                del module._forward_pre_hooks[key]
                return module
        raise ValueError(f"{cls.__name__} of {name!r} not found in {module}")


# Length and direction ---------------------------------------------------------------------------


def _lengths(v: Tensor, dim: int) -> Tensor:
    """Give the norms of a tensor over all dimensions but one; of everything if it is -1."""
    rest = None if dim == -1 else [axis for axis in range(v.ndim) if axis != dim]
    return v.norm(2, rest, keepdim=dim != -1)


class _WeightNorm(_Norm):
    """The hook that makes the weight of length and direction."""

    parts = ("g", "v")

    def compute_weight(self, module: Any, improve: bool) -> Any:
        """Give the weight."""
        g, v = (getattr(module, f"{self.name}_{part}") for part in self.parts)
        return v * (g / _lengths(v, self.dim))


def weight_norm(module: AnyModule, name: str = "weight", dim: int | None = 0) -> AnyModule:
    """Learn length and direction of a weight apart. In PyTorch this is deprecated.

    Args:
        module: The layer.
        name: The name of its weight.
        dim: The dimension that keeps its own lengths; None for one length.

    Returns:
        The layer, with parameters such as `weight_g` and `weight_v`.

    Raises:
        RuntimeError: If it was done before.
    """
    text = "weight_norm is deprecated; minigrad has no parametrizations: here it stays the way."
    warn(text, FutureWarning)
    dim = -1 if dim is None else dim
    hook = _WeightNorm(name, dim)
    weight = getattr(module, name)
    parameters: Any = module._parameters
    del parameters[name]
    module.register_parameter(f"{name}_g", Parameter(_lengths(weight, hook.dim).data))
    module.register_parameter(f"{name}_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module, False))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Undo `weight_norm`; the weight keeps its present value.

    Raises:
        ValueError: If there is nothing to undo.
    """
    return _WeightNorm.remove(module, name)


# Largest singular value -------------------------------------------------------------------------


def _as_matrix(weight: Any, dim: int) -> Any:
    """Give a weight as a matrix whose rows belong to one dimension."""
    return weight.movedim(dim, 0).flatten(1)


class _SpectralNorm(_Norm):
    """The hook that divides the weight by its largest singular value."""

    parts = ("u", "v", "orig")

    def __init__(self, name: str, dim: int, n_power_iterations: int, eps: float) -> None:
        super().__init__(name, dim)
        self.n_power_iterations, self.eps = n_power_iterations, eps
        if n_power_iterations <= 0:
            raise ValueError(f"n_power_iterations={n_power_iterations} must be positive")

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
    return _SpectralNorm.remove(module, name)
