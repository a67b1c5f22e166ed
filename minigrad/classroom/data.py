"""Get what comes with the lessons: data to learn from, and the place of the checks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import minigrad
from minigrad import Generator, Tensor


def of_the_lessons(*parts: str) -> Path | None:
    """Find a file or folder of the lessons: beside the package, or above an open notebook.

    Where the package was installed, they stand beside it in a folder `minigrad_lessons`.

    Args:
        *parts: of its path in the folder `lessons`.

    Returns:
        Where it is; None where there is no such thing.
    """
    here, beside = Path.cwd(), Path(__file__).resolve().parents[2]
    folders = [place / "lessons" for place in (beside, here, *here.parents)]
    found = (folder.joinpath(*parts) for folder in [*folders, beside / "minigrad_lessons"])
    return next((path for path in found if path.exists()), None)


CHECKS = of_the_lessons("checks")
"""The folder of the exercises' checks; None where the lessons are not there."""


def digits() -> tuple[Tensor, Tensor]:
    """Give 1,797 handwritten digits.

    Source: E. Alpaydin and C. Kaynak, *Optical Recognition of Handwritten Digits*, UCI Machine
    Learning Repository, 1998, CC BY 4.0; see `lessons/data/README.md`.

    Returns:
        The images, (1797, 1, 8, 8), float32 from 0 (white) to 1 (ink); and the digits, (1797,),
        int64. Images of one writer follow each other: shuffle before you split.

    Raises:
        FileNotFoundError: If the lessons are not there.

    Example:
        >>> images, labels = digits()
        >>> images.shape, labels[:5]
        (torch.Size([1797, 1, 8, 8]), tensor([0, 1, 2, 3, 4]))
    """
    path = of_the_lessons("data", "digits.npz")
    if path is None:
        raise FileNotFoundError(f"digits.npz comes with the lessons: none above {Path.cwd()}")
    with np.load(path, allow_pickle=False) as archive:
        images, labels = archive["images"], archive["labels"]
    images = images[:, None].astype(np.float32) / 16
    return minigrad.from_numpy(images), minigrad.from_numpy(labels.astype(np.int64))


def two_moons(
    n: int = 200, noise: float = 0.1, generator: Generator | None = None
) -> tuple[Tensor, Tensor]:
    r"""Make points on two half circles that reach into each other.

    With angles $a$ evenly spaced from 0 to $\pi$, the points of the first are
    $(\cos a, \sin a)$, those of the second $(1 - \cos a, \frac{1}{2} - \sin a)$.

    Args:
        n: How many points, an even number.
        noise: The standard deviation of the normal noise added to each coordinate.
        generator: The source of the noise, if not the one that `manual_seed` starts.

    Returns:
        The points, (n, 2), float32; and their moons, (n,), int64: first all 0, then all 1.

    Example:
        >>> points, moons = two_moons(4, noise=0.0)
        >>> moons
        tensor([0, 0, 1, 1])
        >>> points[0]
        tensor([1., 0.])
    """
    angle = minigrad.linspace(0.0, math.pi, n // 2)
    first = minigrad.stack([angle.cos(), angle.sin()], 1)
    second = minigrad.stack([1 - angle.cos(), 0.5 - angle.sin()], 1)
    points = minigrad.cat([first, second])
    points = points + minigrad.randn(*points.shape, generator=generator) * noise
    return points, minigrad.arange(2).repeat_interleave(n // 2)
