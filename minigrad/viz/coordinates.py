"""Place ordered layers across: each box near its neighbors, long edges straight, distances kept."""

from collections.abc import Sequence
from itertools import pairwise

from minigrad.viz.levels import Levels


def pool_adjacent_violators(
    wanted: Sequence[float], weights: Sequence[float], apart: Sequence[float]
) -> list[float]:
    """Place points in a given order as near as possible to where each wants to be.

    Minimizes the weighted sum of squares of (x - wanted) under x[i + 1] - x[i] >= apart[i], that
    is isotonic regression once the distances are taken off (Barlow et al., 1972).

    Args:
        wanted: where each point wants to be.
        weights: how strongly, positive.
        apart: the least distances between neighbors, one fewer than points.

    Returns:
        The places.

    Example:
        >>> pool_adjacent_violators([0.0, 0.0], [1.0, 1.0], [10.0])
        [-5.0, 5.0]
    """
    if not wanted:
        return []
    offsets = [0.0]
    for distance in apart:
        offsets.append(offsets[-1] + distance)
    blocks: list[list[float]] = []  # weight, mean, number of points
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        block = [weight, want - offset, 1]
        while blocks and blocks[-1][1] > block[1]:
            before = blocks.pop()
            weight = before[0] + block[0]
            mean = (before[0] * before[1] + block[0] * block[1]) / weight
            block = [weight, mean, before[2] + block[2]]
        blocks.append(block)
    means = [mean for _, mean, number in blocks for _ in range(int(number))]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _edge_weights(levels: Levels, points: int) -> dict[tuple[int, int], float]:
    """Weigh edges: the longest way down from each node and the long edges want to be straight."""
    count = len(levels.layer)
    height = [0] * count
    for row in reversed(levels.rows):
        for node in row:
            height[node] = max((height[each] + 1 for each, _, _ in levels.below[node]), default=0)
    weights: dict[tuple[int, int], float] = {}
    for node in range(count):
        heights = [height[each] for each, _, _ in levels.below[node]]
        highest = max(heights, default=0)
        single = heights.count(highest) == 1
        for each, _, _ in levels.below[node]:
            weight = (1.0, 2.0, 8.0)[(node >= points) + (each >= points)]
            if single and height[each] == highest > 0:
                weight = 1000.0
            weights[node, each] = weight
    return weights


def place_rows(levels: Levels, gap: float, points: int, sweeps: int = 10) -> list[float]:
    """Return the coordinate across for every node and dummy.

    Args:
        levels: the ordered layers.
        gap: the least distance between boxes; mere points come as near as half of it.
        points: nodes from this number on are points on edges and no boxes.
        sweeps: how often to go over the layers.
    """
    weights = _edge_weights(levels, points)
    # Where each end of an edge pulls a node to: the other end's node, and the distance from it.
    pull_up = [
        [(weights[each, node], each, there - here) for each, there, here in levels.above[node]]
        for node in range(len(levels.layer))
    ]
    pull_down = [
        [(weights[node, each], each, there - here) for each, there, here in levels.below[node]]
        for node in range(len(levels.layer))
    ]
    at = [0.0] * len(levels.layer)
    apart: list[list[float]] = []
    for row in levels.rows:
        distances = [
            (levels.across[left] + levels.across[right]) / 2
            + (gap if left < points or right < points else gap / 2)
            for left, right in pairwise(row)
        ]
        apart.append(distances)
        place = -sum(distances) / 2
        for node, distance in zip(row, [*distances, 0.0], strict=False):
            at[node] = place
            place += distance
    for sweep in range(sweeps):
        final = sweep >= sweeps - 2
        downward = sweep % 2 == 0
        for number in range(len(levels.rows)) if downward else reversed(range(len(levels.rows))):
            row = levels.rows[number]
            if not row:
                continue
            wanted, pull = [], []
            for node in row:
                if final:
                    ends = pull_up[node] + pull_down[node]
                else:
                    ends = pull_up[node] if downward else pull_down[node]
                if len(ends) == 1:
                    weight, other, offset = ends[0]
                    wanted.append(at[other] + offset)
                    pull.append(weight)
                elif ends:
                    total = sum(weight for weight, _, _ in ends)
                    sums = sum(weight * (at[other] + offset) for weight, other, offset in ends)
                    wanted.append(sums / total)
                    pull.append(total)
                else:
                    wanted.append(at[node])
                    pull.append(0.01)
            places = pool_adjacent_violators(wanted, pull, apart[number])
            for node, place in zip(row, places, strict=True):
                at[node] = place
    _straighten(levels, at, apart)
    return at


def _straighten(levels: Levels, at: list[float], apart: list[list[float]]) -> None:
    """Put all dummy points of a long edge on one line where their neighbors leave room for it."""
    left: dict[int, tuple[int, float]] = {}
    right: dict[int, tuple[int, float]] = {}
    for row, distances in zip(levels.rows, apart, strict=True):
        for (one, other), distance in zip(pairwise(row), distances, strict=True):
            left[other], right[one] = (one, distance), (other, distance)
    for chain in levels.chains:
        dummies = chain[1:-1]
        if not dummies:
            continue
        least, most = float("-inf"), float("inf")
        for node in dummies:
            if node in left:
                neighbor, distance = left[node]
                least = max(least, at[neighbor] + distance)
            if node in right:
                neighbor, distance = right[node]
                most = min(most, at[neighbor] - distance)
        if least <= most:
            ends = sorted(at[node] for node in (chain[0], chain[-1]))
            middle = sorted(at[node] for node in dummies)[len(dummies) // 2]
            line = min(max(middle, ends[0]), ends[1])
            for node in dummies:
                at[node] = min(max(line, least), most)
