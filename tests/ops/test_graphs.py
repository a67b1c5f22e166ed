"""Recorded gradients leave PyTorch's graph also where the oracle's scenarios do not look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minigrad

FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "leaky_relu": lambda torch, x, y: torch.nn.functional.leaky_relu(x),
    "norm": lambda torch, x, y: x.norm(),
    "norm of order 1": lambda torch, x, y: x.norm(1),
    "largest size": lambda torch, x, y: x.norm(float("inf")),
    "logsumexp": lambda torch, x, y: x.logsumexp(0),
    "log1p": lambda torch, x, y: x.log1p(),
    "expm1": lambda torch, x, y: x.expm1(),
    "rsqrt": lambda torch, x, y: x.rsqrt(),
    "dot": lambda torch, x, y: torch.dot(x, y),
    "linear with a vector": lambda torch, x, y: torch.nn.functional.linear(x, y),
    "flip": lambda torch, x, y: x.flip(0),
    "cat": lambda torch, x, y: torch.cat([x, y]),
    "stack": lambda torch, x, y: torch.stack([x, y]),
    "masked_fill": lambda torch, x, y: x.masked_fill(y > 1, 0),
    "min along a dimension": lambda torch, x, y: x.min(0).values,
    "gather": lambda torch, x, y: x.gather(0, torch.tensor([1, 1])),
    "outer": lambda torch, x, y: torch.outer(x, y),
    "in place": lambda torch, x, y: x.clone().mul_(y).tanh_(),
}


NOT_YET = {}


def graphs(torch: Any, name: str) -> list[str]:
    """Write the graphs of the value and of its recorded gradients as nested names."""

    def written(node: Any) -> str:
        if node is None:
            return "None"
        inner = ", ".join(written(each) for each, _ in node.next_functions)
        return f"{node.name().removeprefix('torch::autograd::')}({inner})"

    x, y = (torch.tensor(data, requires_grad=True) for data in ([0.5, 2.0], [1.5, 0.75]))
    value = FUNCTIONS[name](torch, x, y)
    cotangent = torch.full_like(value, 2.0).requires_grad_()
    found = torch.autograd.grad(value, (x, y), cotangent, create_graph=True, allow_unused=True)
    return [written(None if each is None else each.grad_fn) for each in (value, *found)]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(reason=NOT_YET[name], strict=True))
        if name in NOT_YET
        else name
        for name in FUNCTIONS
    ],
)
def test_graph_is_pytorchs(name: str) -> None:
    """Node by node, edge by edge."""
    real = pytest.importorskip("torch")
    assert graphs(minigrad, name) == graphs(real, name)
