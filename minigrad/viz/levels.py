"""Put the nodes of a directed graph into layers, and order each layer so that few edges cross."""

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Frame:
    """A box around a group of nodes: the room it needs beside, before and after its members."""

    members: frozenset[int]
    beside: float = 0.0
    before: float = 0.0
    after: float = 0.0


def assign_layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int] | None:
    """Return for each node the length of the longest path to it; None if there is a cycle."""
    targets: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, target in edges:
        targets[source].append(target)
        waiting[target] += 1
    ready = [node for node in range(count) if not waiting[node]]
    layer = [0] * count
    for node in ready:  # grows while it is read
        for target in targets[node]:
            layer[target] = max(layer[target], layer[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return layer if len(ready) == count else None


def assign_layers_of_frames(
    count: int, edges: list[tuple[int, int]], frames: Sequence[Frame]
) -> list[int]:
    """Assign layers so that what a group sends gradients to comes after all of the group."""
    layer = assign_layers(count, edges)
    if layer is None:
        raise ValueError("a graph with a cycle has no layers")
    for frame in frames:
        inside = frame.members
        goes_on = {s for s, t in edges if s in inside and t in inside}
        beyond = sorted({t for s, t in edges if s in inside and t not in inside})
        extra = [(s, t) for s in sorted(inside - goes_on) for t in beyond]
        tried = assign_layers(count, edges + extra)
        if tried is not None:
            layer, edges = tried, edges + extra
    return layer


class Levels:
    """The graph with dummy points in place of long edges, and the order within each layer."""

    def __init__(
        self, across: Sequence[float], edges: Sequence[tuple[int, int]], layer: list[int]
    ) -> None:
        """Put dummy points where edges pass layers, and each layer in the order of discovery."""
        self.across = list(across)
        self.layer = list(layer)
        self.chains: list[list[int]] = []
        self.above: list[list[int]] = [[] for _ in across]
        self.below: list[list[int]] = [[] for _ in across]
        self.real = len(across)
        self.owner: list[tuple[int, int]] = [(at, at) for at in range(len(across))]
        for source, target in edges:
            chain = [source]
            for level in range(layer[source] + 1, layer[target]):
                chain.append(len(self.layer))
                self.layer.append(level)
                self.across.append(0.0)
                self.above.append([])
                self.below.append([])
                self.owner.append((source, target))
            chain.append(target)
            for upper, lower in pairwise(chain):
                self.below[upper].append(lower)
                self.above[lower].append(upper)
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
                stack.extend(reversed(self.below[node]))
        return found

    def crossings(self) -> int:
        """Count how often two edges cross between neighboring layers."""
        total = 0
        for upper, lower in pairwise(self.rows):
            place = {node: at for at, node in enumerate(lower)}
            passed: list[int] = []
            for node in upper:
                ends = sorted(place[target] for target in self.below[node])
                total += sum(len(passed) - bisect_right(passed, end) for end in ends)
                for end in ends:
                    insort(passed, end)
        return total

    def sort_rows(self, sweeps: int = 8) -> None:
        """Order each layer by the mean place of its neighbors, down and up; keep the best."""
        best, fewest = [list(row) for row in self.rows], self.crossings()
        for sweep in range(sweeps):
            if not fewest:
                break
            rows = self.rows if sweep % 2 == 0 else self.rows[::-1]
            neighbors = self.above if sweep % 2 == 0 else self.below
            for fixed, row in pairwise(rows):
                place = {node: at for at, node in enumerate(fixed)}
                mean = {}
                for at, node in enumerate(row):
                    places = [place[each] for each in neighbors[node]]
                    mean[node] = sum(places) / len(places) if places else float(at)
                row.sort(key=mean.__getitem__)
            crossings = self.crossings()
            if crossings < fewest:
                best, fewest = [list(row) for row in self.rows], crossings
        self.rows = best
