"""The worked example of lesson 00: by the chain rule, and as a network with a hook on f1."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from minigrad import Tensor, nn, tensor

from ..models import SLinear, layer

X, W0, B0, W1, B1 = (Fraction(text) for text in ("0.3", "0.3", "0.1", "0.4", "0.2"))
INPUTS = ([0.3], [-7.5], [[2.0], [-3.0], [9.5]])


def inner(x: Fraction, w1: Fraction = W1) -> Fraction:
    """Compute s, the number that is squared."""
    return w1 * (W0 * x + B0) + B1


def loss(x: Fraction, w1: Fraction = W1) -> Fraction:
    """Compute L."""
    return (inner(x, w1) ** 2 - 1) ** 2


def gradients(x: Fraction) -> dict[str, Fraction]:
    """Compute the gradient of L at each number of the example, by the chain rule."""
    s = inner(x)
    at_y = 2 * (s**2 - 1)
    at_s = at_y * 2 * s
    at_x_1 = at_s * W1
    return {
        "y": at_y, "s": at_s, "w_1": at_s * (W0 * x + B0), "x_1": at_x_1, "w_0": at_x_1 * x,
        "x": at_x_1 * W0,
    }  # fmt: skip


def slope(x: Fraction) -> Fraction:
    """Compute dL/dx."""
    return gradients(x)["x"]


def where(s: Fraction) -> Fraction:
    """Find the x that leads to this s."""
    return ((s - B1) / W1 - B0) / W0


def flat() -> list[Fraction]:
    """Find the three x at which the slope is zero."""
    return [where(Fraction(s)) for s in (-1, 0, 1)]


class _Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.f0 = layer([[float(W0)]], [float(B0)])
        self.f1 = SLinear()

    def forward(self, x: Tensor) -> Tensor:
        return self.f1(self.f0(x))


def on_f1(hook: Callable[..., Any]) -> dict[str, Any]:
    """Run the worked example with a hook on f1, on several inputs, and give every gradient."""
    seen: dict[str, Any] = {}
    for values in INPUTS:
        net = _Net()
        net.f1.register_full_backward_hook(hook)
        x = tensor(values, requires_grad=True)
        ((net(x) - 1) ** 2).sum().backward()
        found = {"x": x, **dict(net.named_parameters())}
        seen.update({f"with x = {values}, {name}.grad": each.grad for name, each in found.items()})
    return seen


def passing_on(what: Callable[[Tensor], Tensor]) -> Callable[..., tuple[Tensor]]:
    """Make a hook that sends something else on.

    Args:
        what: gets the gradient that leaves the module toward its input, and gives another.
    """

    def hook(module: nn.Module, grad_input: Any, grad_output: Any) -> tuple[Tensor]:
        return (what(grad_input[0]),)

    return hook


halve = passing_on(lambda incoming: incoming / 2)
