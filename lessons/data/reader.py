"""Train a small reader of digits in PyTorch, and record what PyTorch computes with it.

Lesson 14 loads the parameters into minigrad and compares. Needs PyTorch:

    pip install torch==2.13.0
    python3 lessons/data/reader.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
WIDTHS = (8, 16, 16)
SHOWN = 20
"""For how many images, from the first of the file, the results are recorded."""


def network(nn: Any, a: int, b: int, c: int) -> Any:
    """Build the network of lesson 14 from the layers of one library or of the other."""
    return nn.Sequential(
        nn.Conv2d(1, a, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(a, b, 3, padding=1, stride=2),
        nn.ReLU(),
        nn.Conv2d(b, c, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(c, 10),
    )


def digits(torch: Any) -> tuple[Any, Any]:
    """Read the digits as tensors of PyTorch."""
    with np.load(HERE / "digits.npz", allow_pickle=False) as file:
        images = torch.from_numpy(file["images"][:, None].astype(np.float32) / 16)
        return images, torch.from_numpy(file["labels"].astype(np.int64))


def trained(torch: Any) -> Any:
    """Train on all images but those whose results are recorded."""
    torch.manual_seed(14)
    model = network(torch.nn, *WIDTHS)
    images, labels = digits(torch)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    steps = 12 * -(-(len(images) - SHOWN) // 32)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.02, total_steps=steps)
    for _ in range(12):
        for batch in (SHOWN + torch.randperm(len(images) - SHOWN)).split(32):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images[batch]), labels[batch]).backward()
            optimizer.step()
            schedule.step()
    return model


def results(torch: Any, state: Any) -> dict[str, Any]:
    """Compute in float64 the scores of the first images, and the slopes of the right ones."""
    model = network(torch.nn, *WIDTHS).double()
    model.load_state_dict(state)
    images, labels = (part[:SHOWN] for part in digits(torch))
    x = images.double().requires_grad_()
    scores = model(x)
    (slopes,) = torch.autograd.grad(scores[torch.arange(SHOWN), labels].sum(), x)
    return {"scores": scores.detach().numpy(), "slopes": slopes.numpy()}


def main() -> None:
    """Write the file."""
    import torch

    state = trained(torch).state_dict()
    found = {name: tensor.numpy() for name, tensor in state.items()} | results(torch, state)
    version = np.array(list(map(int, torch.__version__.partition("+")[0].split("."))))
    np.savez_compressed(HERE / "reader.npz", **found, version=version)


if __name__ == "__main__":
    main()
