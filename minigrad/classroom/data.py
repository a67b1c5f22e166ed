"""Get data to learn from: handwritten digits, and two moons that no straight line can separate."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import minigrad
from minigrad import Generator, Tensor

_DIGITS = Path("lessons", "data", "digits.npz")


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
    # beside the package, where a checkout has the lessons; or above a notebook that is open
    here = Path.cwd()
    places = [Path(__file__).resolve().parents[2], here, *here.parents]
    path = next((place / _DIGITS for place in places if (place / _DIGITS).is_file()), None)
    if path is None:
        raise FileNotFoundError(
            f"there is no {_DIGITS.as_posix()} beside the package or above {here}. The digits come "
            "with the lessons: work in a copy of the whole repository."
        )
    with np.load(path, allow_pickle=False) as archive:
        images, labels = archive["images"], archive["labels"]
    return (
        minigrad.from_numpy(images[:, None].astype(np.float32) / 16),
        minigrad.from_numpy(labels.astype(np.int64)),
    )


def two_moons(
    n: int = 200, noise: float = 0.1, generator: Generator | None = None
) -> tuple[Tensor, Tensor]:
    r"""Make points on two half circles that reach into each other.

    With angles $a$ evenly spaced from 0 to $\pi$, the points of the first are
    $(\cos a, \sin a)$, those of the second $(1 - \cos a, \frac{1}{2} - \sin a)$.

    Args:
        n: How many points; the first moon has one more if the number is odd.
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
    angles = [minigrad.linspace(0.0, math.pi, count) for count in (n - n // 2, n // 2)]
    first = minigrad.stack([angles[0].cos(), angles[0].sin()], 1)
    second = minigrad.stack([1 - angles[1].cos(), 0.5 - angles[1].sin()], 1)
    points = minigrad.cat([first, second])
    if noise:
        points = points + minigrad.randn(n, 2, generator=generator) * noise
    moons = minigrad.cat(
        [minigrad.full((len(a),), moon, dtype=minigrad.int64) for moon, a in enumerate(angles)]
    )
    return points, moons
