"""Put the nodes of a directed graph into layers, in an order with few crossings, and place each."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from itertools import pairwise
from math import inf

# An end of an edge as seen from its other end: the node there, where on that node the edge ends
# and where on this one, both counted from the middle of the node.
End = tuple[int, float, float]


def assign_layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each node the length of the longest path to it.

    Raises:
        graphlib.CycleError: if there is a cycle, which is a ValueError.
    """
    sources: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        sources[target].append(source)
    layer = [0] * count
    for node in TopologicalSorter(dict(enumerate(sources))).static_order():
        layer[node] = max((layer[source] + 1 for source in sources[node]), default=0)
    return layer


class Levels:
    """The graph with dummy points in place of long edges, and the order within each layer.

    Attributes:
        across: How wide each node is; dummy points have no width.
        layer: The layer of each.
        real: How many nodes there are; dummy points are numbered from here on.
        chains: For each edge its source, its dummy points and its target.
        above: For each node the upper ends of the edges that come to it.
        below: For each node the lower ends of those that leave it.
        rows: The nodes of each layer in their order.
    """

    def __init__(
        self,
        across: Sequence[float],
        edges: Sequence[tuple[int, int]],
        layer: Sequence[int],
        offsets: Sequence[tuple[float, float]] | None = None,
    ) -> None:
        """Put dummy points where edges pass layers, and each layer in the order of discovery."""
        self.across = list(across)
        self.layer = list(layer)
        self.chains: list[list[int]] = []
        self.above: list[list[End]] = [[] for _ in across]
        self.below: list[list[End]] = [[] for _ in across]
        self.real = len(across)
        self._wide: set[int] = set()  # nodes whose edges leave at different places
        for number, (source, target) in enumerate(edges):
            leaves, arrives = offsets[number] if offsets else (0.0, 0.0)
            if leaves:
                self._wide.add(source)
            chain = [source]
            for level in range(layer[source] + 1, layer[target]):
                chain.append(len(self.layer))
                self.layer.append(level)
                self.across.append(0.0)
                self.above.append([])
                self.below.append([])
            chain.append(target)
            for upper, lower in pairwise(chain):
                here = leaves if upper == source else 0.0
                there = arrives if lower == target else 0.0
                self.below[upper].append((lower, there, here))
                self.above[lower].append((upper, here, there))
            self.chains.append(chain)
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer) + 1)]
        for node in self._discovery():
            self.rows[self.layer[node]].append(node)

    def _discovery(self) -> list[int]:
        """List the nodes depth first, so that what hangs together begins side by side."""
        seen = [False] * len(self.layer)
        stack = [node for node in range(self.real) if not self.above[node]][::-1]
        found = []
        while stack:
            node = stack.pop()
            if not seen[node]:
                seen[node] = True
                found.append(node)
                stack.extend(other for other, _, _ in reversed(self.below[node]))
        return found

    def _points(self, ends: list[End], place: Mapping[int, int]) -> list[float]:
        """Say where edges end in the neighboring layer, in places of nodes, in order.

        A wide node counts from half a place before its own to half a place behind it.
        """
        return sorted(
            place[other] + there / self.across[other] if there else place[other]
            for other, there, _ in ends
        )

    def _count(self, upper: list[int], place: Mapping[int, int]) -> int:
        """Count the crossings between a layer and the next."""
        total = 0
        passed: list[float] = []
        for node in upper:
            ends = self.below[node]
            groups = [ends]
            if node in self._wide:
                heres = sorted({here for _, _, here in ends})
                groups = [[end for end in ends if end[2] == here] for here in heres]
            for group in groups:
                # In ascending order, so that edges from one place do not count as crossing.
                for point in self._points(group, place):
                    behind = bisect_right(passed, point)
                    total += len(passed) - behind
                    passed.insert(behind, point)
        return total

    def _places(self) -> dict[int, int]:
        return {node: at for row in self.rows for at, node in enumerate(row)}

    def crossings(self) -> int:
        """Count how often two edges cross between neighboring layers."""
        place = self._places()
        return sum(self._count(row, place) for row in self.rows[:-1])

    def sort_rows(self, sweeps: int = 12) -> None:
        """Order the layers so that few edges cross.

        Each layer is ordered by the mean place of its neighbors, over and over, down and up; then
        neighbors in a layer change places wherever that takes away a crossing. The best order of
        all sweeps is kept; half of them begin with the best of the others, mirrored.
        """
        best, fewest = [list(row) for row in self.rows], self.crossings()
        for sweep in range(sweeps):
            if not fewest:
                break
            if sweep == sweeps // 2:
                self.rows = [row[::-1] for row in best]
            self._order_by_neighbors(downward=sweep % 2 == 0)
            self._swap_neighbors()
            crossings = self.crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
        self.rows = best

    def _order_by_neighbors(self, downward: bool) -> None:
        """Order each layer by the mean place of its neighbors in the layer before it."""
        place = self._places()
        rows, neighbors = (
            (self.rows[1:], self.above) if downward else (self.rows[-2::-1], self.below)
        )
        for row in rows:
            mean = {}
            for at, node in enumerate(row):
                points = self._points(neighbors[node], place)
                mean[node] = sum(points) / len(points) if points else float(at)
            row.sort(key=mean.__getitem__)
            place |= {node: at for at, node in enumerate(row)}

    def _swap_neighbors(self, rounds: int = 6) -> None:
        """Swap nodes side by side as long as that makes fewer crossings."""
        place = self._places()
        for _ in range(rounds):
            changed = False
            for row in self.rows:
                over = {node: self._points(self.above[node], place) for node in row}
                under = {node: self._points(self.below[node], place) for node in row}
                for at in range(len(row) - 1):
                    left, right = row[at], row[at + 1]
                    gain = _gain(over[left], over[right]) + _gain(under[left], under[right])
                    if gain > 0:
                        row[at], row[at + 1] = right, left
                        place[left], place[right] = at + 1, at
                        changed = True
            if not changed:
                break


def _gain(left: list[float], right: list[float]) -> int:
    """Say how many crossings fewer there are if two neighbors with these ends change places."""
    return sum((a > b) - (a < b) for a in left for b in right)


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
    pull_both = [up + down for up, down in zip(pull_up, pull_down, strict=True)]
    rows = list(zip(levels.rows, apart, strict=True))
    for sweep in range(sweeps):
        downward, final = sweep % 2 == 0, sweep >= sweeps - 2
        pulls = pull_both if final else pull_up if downward else pull_down
        for row, distances in rows if downward else reversed(rows):
            wanted, weighed = [], []
            for node in row:
                total = sum(weight for weight, _, _ in pulls[node])
                sums = sum(weight * (at[other] + offset) for weight, other, offset in pulls[node])
                wanted.append(sums / total if total else at[node])
                weighed.append(total or 0.01)
            places = pool_adjacent_violators(wanted, weighed, distances)
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
        before = [left[node] for node in dummies if node in left]
        behind = [right[node] for node in dummies if node in right]
        least = max((at[neighbor] + distance for neighbor, distance in before), default=-inf)
        most = min((at[neighbor] - distance for neighbor, distance in behind), default=inf)
        if least <= most:
            ends = sorted(at[node] for node in (chain[0], chain[-1]))
            middle = sorted(at[node] for node in dummies)[len(dummies) // 2]
            line = min(max(middle, ends[0]), ends[1])
            for node in dummies:
                at[node] = min(max(line, least), most)
