"""Models that several lessons run: a layer of given parameters, f1 of the worked example."""

from __future__ import annotations

from typing import Any

import minigrad as torch
from minigrad import Tensor, nn


def layer(weight: Any, bias: Any) -> Any:
    """Build a linear layer with the given parameters."""
    weight, bias = torch.tensor(weight), torch.tensor(bias)
    made: Any = nn.Linear(weight.shape[1], weight.shape[0])
    with torch.no_grad():
        made.weight.copy_(weight)
        made.bias.copy_(bias)
    return made


class SLinear(nn.Module):
    """The module f1 of the worked example: a linear layer and a square."""

    def __init__(self) -> None:
        super().__init__()
        self.f = layer([[0.4]], [0.2])

    def forward(self, x1: Tensor) -> Tensor:
        """Compute (w1 x1 + b1) ** 2."""
        return self.f(x1) ** 2
