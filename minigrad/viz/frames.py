"""Nest the frames around groups of nodes, and say in which frame each piece of an edge runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from minigrad.viz.levels import assign_layers


@dataclass(frozen=True)
class Frame:
    """A box around a group of nodes: the room it needs on each side, and its least size."""

    members: frozenset[int]
    left: float = 0.0
    right: float = 0.0
    before: float = 0.0
    after: float = 0.0
    least_across: float = 0.0
    least_along: float = 0.0


@dataclass(frozen=True)
class Nesting:
    """Which frame is the innermost around each node and each frame; -1 stands for no frame.

    Attributes:
        order: the frames that nest, inner ones first.
        of_node: for each node its frame.
        of_frame: for each frame of `order` the next one around it.
    """

    order: list[int]
    of_node: list[int]
    of_frame: dict[int, int]

    def around(self, node: int) -> list[int]:
        """List the frames around a node from the inside out, and -1 at the end."""
        found = [self.of_node[node]]
        while found[-1] >= 0:
            found.append(self.of_frame[found[-1]])
        return found


def nest(count: int, edges: Sequence[tuple[int, int]], frames: Sequence[Frame]) -> Nesting:
    """Nest the frames as far as they can be boxes.

    A frame that cuts another one, or that gradients leave and come back to, cannot be a box that
    holds its members and nobody else: it is left out. Of frames around the same nodes the one that
    was given first is the inner one.
    """
    order = sorted(range(len(frames)), key=lambda number: len(frames[number].members))
    taken: list[int] = []
    for number in order:
        members = frames[number].members
        others = [frames[other].members for other in taken]
        if members and all(other <= members or not other & members for other in others):
            taken.append(number)
    nesting = _nest(count, taken, frames)
    if _in_layers(count, edges, nesting):
        return nesting
    fitting: list[int] = []
    for number in taken:
        tried = sorted([*fitting, number], key=taken.index)
        if _in_layers(count, edges, _nest(count, tried, frames)):
            fitting = tried
    return _nest(count, fitting, frames)


def _nest(count: int, order: list[int], frames: Sequence[Frame]) -> Nesting:
    of_node, of_frame = [-1] * count, {}
    outermost: dict[int, int] = {}
    for number in order:
        of_frame[number] = -1
        for node in frames[number].members:
            inner = outermost.get(node, -1)
            if inner < 0:
                of_node[node] = number
            else:
                of_frame[inner] = number
            outermost[node] = number
    return Nesting(order, of_node, of_frame)


def _in_layers(count: int, edges: Sequence[tuple[int, int]], nesting: Nesting) -> bool:
    """Tell whether no two frames side by side send gradients to each other in a circle."""
    within: dict[int, list[tuple[int, int]]] = {}
    for source, target in edges:
        container, one, other = meeting(nesting, source, target, count)
        within.setdefault(container, []).append((one, other))
    total = count + max(nesting.order, default=-1) + 1
    return all(assign_layers(total, inside) is not None for inside in within.values())


def meeting(nesting: Nesting, source: int, target: int, count: int) -> tuple[int, int, int]:
    """Return the innermost frame around both ends of an edge, and what stands in it for each.

    A frame with number k stands for what it holds as `count` + k.
    """
    if nesting.of_node[source] == nesting.of_node[target]:
        return nesting.of_node[source], source, target
    ways = (nesting.around(source), nesting.around(target))
    common = next(frame for frame in ways[0] if frame in ways[1])
    ends = []
    for node, way in zip((source, target), ways, strict=True):
        at = way.index(common)
        ends.append(node if at == 0 else count + way[at - 1])
    return common, ends[0], ends[1]
