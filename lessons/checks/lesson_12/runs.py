"""Run the models of lesson 12's exercises: right derivatives, and the wrong ones learners write."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.autograd import grad
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import alike

Answer = Callable[..., Any]
MOST_PASSES = 4
LIMIT = 1.5
PRODUCT = "the product for f(x) = sum(x**3) + x[0]*x[1]*x[2] at (0.5, -1, 2) with (1, -2, 0.5)"
KEPT, EMPTIED, FILLED = "as before", "emptied", "added to"
UNCONNECTED = "none: no way leads from the penalty back to the weights"


def _tensor(data: Any, requires_grad: bool = False) -> Tensor:
    return torch.tensor(data, dtype=torch.float64, requires_grad=requires_grad)


def agree(answer: Any, expected: Any, digits: int = 4) -> bool:
    """Compare lists or tensors of numbers entry by entry."""
    return alike(answer, expected, digits)


def first_gradient(f: Answer, x: Tensor) -> Tensor:
    """Compute the gradient of f at x."""
    x = x.detach().requires_grad_()
    return grad(f(x), x)[0]


def hvp(f: Answer, x: Tensor, v: Tensor) -> Tensor:
    """Multiply the Hessian of f at x with v, in two backward passes."""
    x = x.detach().requires_grad_()
    (gradient,) = grad(f(x), x, create_graph=True)
    return grad((gradient * v).sum(), x)[0]


def one_sided(step: float) -> Answer:
    """Make a product with the Hessian by a difference of gradients, with a wide step."""

    def product(f: Answer, x: Tensor, v: Tensor) -> Tensor:
        return (first_gradient(f, x + step * v) - first_gradient(f, x)) / step

    return product


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
    ready = _tensor([1.5, 0.25], requires_grad=True)
    again = answer(lambda z: (z[0] * z[1]).sin() + z.exp().sum(), ready, _tensor([-0.5, 3.0]))
    passes.clear()
    many = torch.linspace(-1, 1, 40, dtype=torch.float64)
    answer(f, many, many)
    count = len(passes)
    return {
        PRODUCT: product,
        "the number of backward passes for 40 inputs": 2 if 0 < count <= MOST_PASSES else count,
        "x.requires_grad after the call": x.requires_grad,
        "x.grad after the call": x.grad,
        "the product for f(x) = sin(x[0]*x[1]) + sum(exp(x)) at (1.5, 0.25) with (-0.5, 3)": again,
        "x.grad of an x that required a gradient before": ready.grad,
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
    above: bool = True,
    excess_power: int = 2,
    p: int = 2,
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
        above: whether slopes below the limit are free.
        excess_power: of what is above the limit.
        p: which norm.
    """
    x = x.detach().requires_grad_()
    (slopes,) = grad(getattr(f(x), total)(), x, create_graph=True)
    length = slopes.norm(p) if dim is None else slopes.norm(p, dim=dim)
    excess = length**power - limit
    if above:
        excess = excess.clamp(min=0)
    return getattr(excess**excess_power, over)()


def _excesses(f: Any, x: Tensor, limit: float) -> Tensor:
    x = x.detach().requires_grad_()
    (slopes,) = grad(f(x).sum(), x, create_graph=True)
    return slopes.norm(dim=1) - limit


def _mean_of_some(excess: Tensor) -> Tensor:
    steep = excess.clamp(min=0)
    return (steep**2).sum() / steep.gt(0).sum().clamp(min=1)


_SLIPS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "mean first": lambda excess, limit: excess.mean().clamp(min=0) ** 2,
    "too flat": lambda excess, limit: (excess.clamp(max=0) ** 2).mean(),
    "steep rows": lambda excess, limit: _mean_of_some(excess),
    "of squares": lambda excess, limit: ((excess + limit) ** 2 - limit**2).clamp(min=0).mean(),
    "squared mean": lambda excess, limit: excess.clamp(min=0).mean() ** 2,
    "steepest": lambda excess, limit: excess.max().clamp(min=0) ** 2,
    "no limit": lambda excess, limit: ((excess + limit) ** 2).mean(),
    "whole length": lambda excess, limit: (excess.gt(0) * (excess + limit) ** 2).mean(),
}


def wrong_penalty(kind: str) -> Answer:
    """Give a penalty that is wrong in one way.

    Args:
        kind: a key of the table above.
    """

    def mended_penalty(f: Any, x: Tensor, limit: float) -> Tensor:
        return _SLIPS[kind](_excesses(f, x, limit), limit)

    return mended_penalty


def penalty_run(answer: Answer) -> dict[str, Any]:
    """Compute a penalty on a small network, and see what of it reaches the weights."""
    network = _network()
    calls: list[int] = []
    network.register_forward_hook(lambda *given: calls.append(1))
    for parameter in network.parameters():
        parameter.grad = torch.full_like(parameter, 7.0)
    x = _tensor([[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0], [4.0, -4.0]])
    value = answer(network, x, LIMIT)
    called = bool(calls)
    weight = network[0].weight
    states = {_of_grad(parameter.grad) for parameter in network.parameters()}
    gradient: Any = UNCONNECTED
    if getattr(value, "requires_grad", False):
        (found,) = grad(value, weight, allow_unused=True)
        gradient = UNCONNECTED if found is None else found
    ready = _tensor([[0.25, 0.5]], requires_grad=True)
    return {
        "the penalty": value,
        "the gradient that the penalty gives to the first weight": gradient,
        "the .grad of the parameters": KEPT if states == {KEPT} else min(states - {KEPT}),
        "x.requires_grad after the call": x.requires_grad,
        "x.grad after the call": x.grad,
        "whether f was called": called,
        "the penalty of one row, with the limit 0.75,": answer(network, ready, 0.75),
        "x.grad of an x that required a gradient before": ready.grad,
    }


def _of_grad(gradient: Tensor | None) -> str:
    if gradient is None or not gradient.any():
        return EMPTIED
    return KEPT if torch.equal(gradient, torch.full_like(gradient, 7.0)) else FILLED


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


def scaled_tower(f: Answer, x: float, n: int) -> list[float]:
    """List the coefficients of the Taylor series, a typical slip."""
    return [floor / math.factorial(k) for k, floor in enumerate(tower(f, x, n))]


def forgetful_tower(f: Answer, x: float, n: int) -> list[float]:
    """List f, its first derivative, and zeros: a tower without create_graph."""
    return [floor if k < 2 else 0.0 for k, floor in enumerate(tower(f, x, n))]


def composed_tower(f: Answer, x: float, n: int) -> list[float]:
    """List the slopes of f, of f(f), and so on."""
    at = _tensor(x, requires_grad=True)
    value, floors = f(at), [f(at).item()]
    for _ in range(n):
        floors.append(grad(value + 0 * at, at, create_graph=True)[0].item())
        value = f(value)
    return floors


def impatient_tower(f: Answer, x: float, n: int) -> list[float]:
    """List derivatives up to the first that happens to be zero, and zeros from there on."""
    floors = tower(f, x, n)
    for k in range(1, len(floors)):
        if floors[k] == 0.0:
            return floors[:k] + [0.0] * (len(floors) - k)
    return floors


def tower_run(answer: Answer) -> dict[str, Any]:
    """Build towers over functions whose derivatives never end, end, or lead elsewhere."""
    weight = _tensor(3.0, requires_grad=True)

    def floors(f: Answer, x: float, n: int) -> Any:
        found = answer(f, x, n)
        if found is not None and not isinstance(found, list | tuple | Tensor | np.ndarray):
            kind = type(found).__name__
            raise Objection(
                f"tower has to return a list of n + 1 numbers, and this is a thing of type {kind}."
            )
        return found

    return {
        "tower(torch.exp, 1.0, 4)": floors(torch.exp, 1.0, 4),
        "tower(lambda x: x**3, 5.0, 2)": floors(lambda x: x**3, 5.0, 2),
        "tower(torch.sin, 0.5, 0)": floors(torch.sin, 0.5, 0),
        "tower(lambda x: x**3, 5.0, 6)": floors(lambda x: x**3, 5.0, 6),
        "tower(lambda x: w * x, 2.0, 3), where w = 3 requires a gradient,": floors(
            lambda x: weight * x, 2.0, 3
        ),
        "w.grad": weight.grad,
        "tower(torch.sin, 0.0, 5)": floors(torch.sin, 0.0, 5),
        "tower(lambda x: x**2.5, 1.75, 5)": floors(lambda x: x**2.5, 1.75, 5),
    }
