"""LeNet's forward and backward pass, plain and with what looks at it: recorded, drawn, played."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from timing import Step, Work

# isort: split
from minigrad.viz import draw, play, record, watch_modules


def lenet(torch: ModuleType) -> tuple[Any, Step]:
    """Give LeNet-5, and what runs it forward and backward on 32 images and returns the loss."""
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )
    x, target = torch.randn(32, 1, 28, 28), torch.randint(0, 10, (32,))

    def run() -> Any:
        model.zero_grad()
        x.mul_(0.999)  # each time there are other numbers to write
        loss = nn.functional.cross_entropy(model(x), target)
        loss.backward()
        return loss

    return model, run


def plain(torch: ModuleType) -> Work:
    """Give the pass that nobody looks at."""
    model, run = lenet(torch)
    return run, lambda: [parameter.grad for parameter in model.parameters()]


def watched(torch: ModuleType, kind: str) -> Work:
    """Give a pass that is recorded; or its drawing, or its player, without a pass; or all three."""
    model, run = lenet(torch)

    def recorded() -> tuple[Any, ...]:
        with watch_modules(model) as calls, record(model) as log:
            return run(), log, calls

    def drawn(seen: Any) -> None:
        draw(seen[0], modules=seen[2]).html()

    def played(seen: Any) -> None:
        play(seen[1], modules=seen[2]).html()

    def everything() -> None:
        seen = recorded()
        drawn(seen)
        played(seen)

    known = recorded()
    steps: dict[str, Step] = {"recorded": recorded, "all three": everything}
    steps |= {"drawn": lambda: drawn(known), "played": lambda: played(known)}
    return steps[kind], lambda: [parameter.grad for parameter in model.parameters()]
