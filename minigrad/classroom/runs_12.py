"""Run the models of lesson 12's exercises: right derivatives, and the wrong ones learners write."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.autograd import grad
from minigrad.classroom.describing import leaves, same
from minigrad.classroom.runs_06 import stumbled
from minigrad.tensor import Tensor

__all__ = [
    "PRODUCT",
    "UNCONNECTED",
    "agree",
    "cube_with",
    "first_gradient",
    "hvp",
    "hvp_run",
    "mixed",
    "penalty",
    "penalty_run",
    "stumbled",
    "tower",
    "tower_run",
]

Answer = Callable[..., Any]
INPUTS = (0.3, 0.3, 0.1, 0.4, 0.2)
MOST_PASSES = 4
LIMIT = 1.5
PRODUCT = "the product for f(x) = sum(x**3) + x[0]*x[1]*x[2] at (0.5, -1, 2) with (1, -2, 0.5)"
UNCONNECTED = "none: no way leads from the penalty back to the weights"


def _tensor(data: Any, requires_grad: bool = False) -> Tensor:
    return torch.tensor(data, dtype=torch.float64, requires_grad=requires_grad)


def mixed(*, through: float = 1.0, factor: float = 1.0) -> float:
    """Compute d2L/dx dw0 by hand: w0 moves the slope through s, and as a factor of it.

    Args:
        through: times the term that comes through s.
        factor: times the term of w0 as a factor.
    """
    x, w0, b0, w1, b1 = INPUTS
    s = w1 * (w0 * x + b0) + b1
    return through * (12 * s**2 - 4) * w1 * x * w1 * w0 + factor * 4 * s * (s**2 - 1) * w1


def agree(answer: Any, expected: Any, digits: int = 4) -> bool:
    """Compare lists or tensors of numbers entry by entry."""
    have, want = dict(leaves(answer)), dict(leaves(expected))
    return have.keys() == want.keys() and all(same(have[p], want[p], digits) for p in want)


def first_gradient(f: Answer, x: Tensor) -> Tensor:
    """Compute the gradient of f at x."""
    x = x.detach().requires_grad_()
    return grad(f(x), x)[0]


def hvp(f: Answer, x: Tensor, v: Tensor) -> Tensor:
    """Multiply the Hessian of f at x with v, in two backward passes."""
    x = x.detach().requires_grad_()
    (gradient,) = grad(f(x), x, create_graph=True)
    return grad((gradient * v).sum(), x)[0]


def hvp_run(answer: Answer) -> dict[str, Any]:
    """Multiply with two Hessians, and count the backward passes for the larger one."""
    passes = []

    def f(x: Tensor) -> Tensor:
        z = x * 1.0
        if z.requires_grad:
            z.register_hook(lambda gradient: passes.append(1))
        return (z**3).sum() + z[0] * z[1] * z[-1]

    x = _tensor([0.5, -1.0, 2.0])
    product = answer(f, x, _tensor([1.0, -2.0, 0.5]))
    passes.clear()
    many = torch.linspace(-1, 1, 40, dtype=torch.float64)
    answer(f, many, many)
    count = len(passes)
    return {
        PRODUCT: product,
        "the number of backward passes for 40 inputs": 2 if 0 < count <= MOST_PASSES else count,
        "x.requires_grad after the call": x.requires_grad,
        "x.grad after the call": x.grad,
    }


def _network() -> Any:
    network = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    with torch.no_grad():
        for at, parameter in enumerate(network.parameters()):
            count = parameter.numel()
            entries = [math.sin(1.0 + at + 2.3 * index) for index in range(count)]
            parameter.copy_(_tensor(entries).reshape(parameter.shape))
        network[2].weight.mul_(10)
    return network


def penalty(
    f: Any,
    x: Tensor,
    limit: float,
    *,
    dim: int | None = 1,
    total: str = "sum",
    power: int = 1,
    over: str = "mean",
    one_sided: bool = True,
    excess_power: int = 2,
) -> Tensor:
    """Punish slopes of f steeper than a limit, row by row; the settings name typical slips.

    Args:
        f: the network.
        x: the points, one a row.
        limit: the length up to which a slope costs nothing.
        dim: what the norm runs over; None for one norm of everything.
        total: how the outputs are made one number, "sum" or "mean".
        power: of the norm.
        over: how the penalties of the rows are made one number.
        one_sided: whether slopes below the limit are free.
        excess_power: of what is above the limit.
    """
    x = x.detach().requires_grad_()
    (slopes,) = grad(getattr(f(x), total)(), x, create_graph=True)
    length = slopes.norm() if dim is None else slopes.norm(dim=dim)
    excess = length**power - limit
    if one_sided:
        excess = excess.clamp(min=0)
    return getattr(excess**excess_power, over)()


def penalty_run(answer: Answer) -> dict[str, Any]:
    """Compute a penalty on a small network, and see what of it reaches the weights."""
    network = _network()
    x = _tensor([[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0], [4.0, -4.0]])
    value = answer(network, x, LIMIT)
    filled = [name for name, parameter in network.named_parameters() if parameter.grad is not None]
    weight = network[0].weight
    gradient: Any = UNCONNECTED
    if getattr(value, "requires_grad", False):
        (found,) = grad(value, weight, allow_unused=True)
        gradient = UNCONNECTED if found is None else found
    return {
        "the penalty": value,
        "the gradient that the penalty gives to the first weight": gradient,
        "the list of parameters whose .grad it filled": filled or "empty",
        "x.requires_grad after the call": x.requires_grad,
        "x.grad after the call": x.grad,
    }


def cube_with(hook: Answer | None) -> tuple[float, float]:
    """Differentiate x**3 at 5 twice, with a full backward hook on the module that cubes."""

    class Cube(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x**3

    cube = Cube()
    if hook is not None:
        cube.register_full_backward_hook(hook)
    x = _tensor([5.0], requires_grad=True)
    (first,) = grad(cube(x), x, create_graph=True)
    return first.item(), grad(first, x)[0].item()


def tower(f: Answer, x: float, n: int) -> list[float]:
    """List f and its first n derivatives at x."""
    at = _tensor(x, requires_grad=True)
    current, floors = f(at), []
    for _ in range(n + 1):
        floors.append(current.item())
        if current.requires_grad:
            current = grad(current, at, create_graph=True, materialize_grads=True)[0]
        else:
            current = torch.zeros_like(at)
    return floors


def tower_run(answer: Answer) -> dict[str, Any]:
    """Build towers over functions whose derivatives never end, end, or lead elsewhere."""
    weight = _tensor(3.0, requires_grad=True)
    return {
        "tower(torch.exp, 1.0, 4)": answer(torch.exp, 1.0, 4),
        "tower(lambda x: x**3, 5.0, 2)": answer(lambda x: x**3, 5.0, 2),
        "tower(torch.sin, 0.5, 0)": answer(torch.sin, 0.5, 0),
        "tower(lambda x: x**3, 5.0, 6)": answer(lambda x: x**3, 5.0, 6),
        "tower(lambda x: w * x, 2.0, 3), where w = 3 requires a gradient,": answer(
            lambda x: weight * x, 2.0, 3
        ),
        "w.grad": weight.grad,
    }
