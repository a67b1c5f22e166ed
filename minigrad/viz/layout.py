"""Give every box of a directed graph a place: layers, order within them, coordinates, routes.

A layered layout in four steps, after Sugiyama, Tagawa and Toda (1981): layers by the longest path
from the outputs, dummy points where an edge passes a layer, order by barycenter sweeps, coordinates
by weighted least squares under the condition that boxes keep their distance, which the method of
pooling adjacent violators solves exactly, one layer at a time. No recursion, no randomness.

What is in a frame is laid out by itself, with a point on the rim for every edge that passes it;
then the frame is one box of what is around it. So nothing else can ever stand in it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import TopologicalSorter
from itertools import accumulate, combinations, pairwise
from math import inf
from typing import Any

GAP_ACROSS, GAP_ALONG = 24.0, 26.0  # the least distance between boxes, and between layers
FRAME_PAD, FRAME_HEAD = 9.0, 27.0  # the room in a frame around its members, and above them


# An end of an edge as seen from its other end: the node there, where on that node the edge ends
# and where on this one, both counted from the middle of the node.
End = tuple[int, float, float]
Point = tuple[float, float]
Pairs = Sequence[tuple[int, int]]  # edges, each by its source and its target
Ends = list[tuple[float, int]]  # edges at a box, each by where it comes from and its number


def assign_layers(count: int, edges: Pairs) -> list[int]:
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
    """The graph with dummy points instead of long edges, and the order within each layer.

    Attributes:
        across: How wide each node is; dummy points have no width.
        layer: The layer of each.
        real: How many nodes there are; dummy points are numbered from here on.
        offsets: For each edge where it leaves and arrives on a frame, from the frame's middle.
        chains: For each edge its source, its dummy points and its target.
        above: For each node the upper ends of the edges that come to it.
        below: For each node the lower ends of those that leave it.
        rows: The nodes of each layer in their order.
    """

    def __init__(
        self, across: Sequence[float], edges: Pairs, layer: list[int], offsets: Sequence[Point] = ()
    ) -> None:
        """Put dummy points where edges pass layers, and each layer in the order of discovery."""
        self.layer, self.real = list(layer), len(across)
        self.offsets = offsets or [(0.0, 0.0)] * len(edges)
        self.chains: list[list[int]] = []
        for source, target in edges:
            first = len(self.layer)
            self.layer += range(layer[source] + 1, layer[target])
            self.chains.append([source, *range(first, len(self.layer)), target])
        self.across = [*across, *[0.0] * (len(self.layer) - self.real)]
        self.above: list[list[End]] = [[] for _ in self.layer]
        self.below: list[list[End]] = [[] for _ in self.layer]
        for chain, (leaves, arrives) in zip(self.chains, self.offsets, strict=True):
            for upper, lower in pairwise(chain):
                here = leaves if upper == chain[0] else 0.0
                there = arrives if lower == chain[-1] else 0.0
                self.below[upper].append((lower, there, here))
                self.above[lower].append((upper, here, there))
        self.rows: list[list[int]] = [[] for _ in range(max(self.layer) + 1)]
        for node in self._discovery():
            self.rows[self.layer[node]].append(node)

    def _discovery(self) -> Iterable[int]:
        """List the nodes depth first, so that what hangs together begins side by side."""
        stack = [node for node in range(self.real) if not self.above[node]][::-1]
        found: dict[int, None] = {}
        while stack:
            node = stack.pop()
            if node not in found:
                found[node] = None
                stack.extend(other for other, _, _ in reversed(self.below[node]))
        return found

    def _point(self, node: int, offset: float, place: Mapping[int, int]) -> float:
        """Say where an edge ends on a node, in places: half a place to each side is its width."""
        return place[node] + (offset / self.across[node] if offset else 0.0)

    def _places(self) -> dict[int, int]:
        return {node: at for row in self.rows for at, node in enumerate(row)}

    def crossings(self) -> int:
        """Count how often two edges cross between neighboring layers."""
        place, total = self._places(), 0
        for row in self.rows:
            ends = sorted(
                (self._point(node, here, place), self._point(other, there, place))
                for node in row
                for other, there, here in self.below[node]
            )
            total += sum([below > other for (_, below), (_, other) in combinations(ends, 2)])
        return total

    def sort_rows(self, sweeps: int = 12) -> None:
        """Order the layers so that few edges cross.

        Each layer is ordered by the mean place of its neighbors, over and over, down and up. The
        best order of all sweeps is kept.
        """
        found = [(self.crossings(), [list(row) for row in self.rows])]
        for sweep in range(sweeps if found[0][0] else 0):
            self._order_by_neighbors(downward=sweep % 2 == 0)
            found.append((self.crossings(), [list(row) for row in self.rows]))
        self.rows = min(found, key=lambda each: each[0])[1]

    def _order_by_neighbors(self, downward: bool) -> None:
        """Order each layer by the mean place of its neighbors in the layer before it."""
        place = self._places()
        neighbors = self.above if downward else self.below
        for row in self.rows[1:] if downward else self.rows[-2::-1]:
            mean = {}
            for at, node in enumerate(row):
                points = [self._point(other, there, place) for other, there, _ in neighbors[node]]
                mean[node] = sum(sorted(points)) / len(points) if points else float(at)
            row.sort(key=mean.__getitem__)
            place |= {node: at for at, node in enumerate(row)}


def pool_adjacent_violators(
    desired: Sequence[float], weights: Sequence[float], apart: Sequence[float]
) -> list[float]:
    """Place points in a given order as near as possible to where each wants to be.

    Minimizes the weighted sum of squares of (x - desired) under x[i + 1] - x[i] >= apart[i], that
    is isotonic regression once the distances are taken off (Barlow et al., 1972).

    Args:
        desired: where each point wants to be.
        weights: how strongly, positive.
        apart: the least distances between neighbors, one fewer than points.

    Returns:
        The places.

    Example:
        >>> pool_adjacent_violators([0.0, 0.0], [1.0, 1.0], [10.0])
        [-5.0, 5.0]
    """
    if len(desired) < 2:
        return [*desired]
    offsets = list(accumulate(apart, initial=0.0))
    blocks: list[tuple[float, float, int]] = []  # weight, mean, number of points
    for want, weight, offset in zip(desired, weights, offsets, strict=True):
        total, mean, number = weight, want - offset, 1
        while blocks and blocks[-1][1] > mean:
            other, before, more = blocks.pop()
            mean = (other * before + total * mean) / (other + total)
            total, number = other + total, more + number
        blocks.append((total, mean, number))
    means = [mean for _, mean, number in blocks for _ in range(number)]
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
        # the one way that is longer than all others, if there is one
        longest = max(heights) if heights and heights.count(max(heights)) == 1 else None
        for each, _, _ in levels.below[node]:
            weight = (1.0, 2.0, 8.0)[(node >= points) + (each >= points)]
            if height[each] and height[each] == longest:
                weight = 1000.0
            weights[node, each] = weights[each, node] = weight
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
    pull_up, pull_down = (
        [[(weights[at, each], each, there - here) for each, there, here in ends]
         for at, ends in enumerate(sides)]
        for sides in (levels.above, levels.below)
    )  # fmt: skip
    at: dict[int, float] = {}
    rows: list[tuple[list[int], list[float]]] = []  # with the distances that neighbors keep
    for row in levels.rows:
        distances = [
            (levels.across[left] + levels.across[right]) / 2
            + (gap if left < points or right < points else gap / 2)
            for left, right in pairwise(row)
        ]
        rows.append((row, distances))
        at |= zip(row, accumulate(distances, initial=-sum(distances) / 2), strict=False)
    pull_both = [up + down for up, down in zip(pull_up, pull_down, strict=True)]
    settled, before = False, dict[int, float]()
    for sweep in range(sweeps):
        downward, final = sweep % 2 == 0, sweep >= sweeps - 2
        if downward and not final:
            settled, before = at == before, dict(at)
        if settled and not final:  # the others would change nothing either
            continue
        pulls = pull_both if final else pull_up if downward else pull_down
        for row, distances in rows if downward else reversed(rows):
            desired, weighed = [], []
            for node in row:
                total = sum([weight for weight, _, _ in pulls[node]])
                sums = sum([weight * (at[other] + offset) for weight, other, offset in pulls[node]])
                desired.append(sums / total if total else at[node])
                weighed.append(total or 0.01)
            at |= zip(row, pool_adjacent_violators(desired, weighed, distances), strict=True)
    _straighten(levels.chains, at, rows)
    return [at[node] for node in range(len(at))]


def _straighten(chains: list[list[int]], at: dict[int, float], rows: Any) -> None:
    """Put all dummy points of a long edge on one line where their neighbors leave room for it."""
    left: dict[int, tuple[int, float]] = {}
    right: dict[int, tuple[int, float]] = {}
    for row, distances in rows:
        for (one, other), distance in zip(pairwise(row), distances, strict=True):
            left[other], right[one] = (one, distance), (other, distance)
    for first, *dummies, last in [chain for chain in chains if len(chain) > 2]:
        before = [left[node] for node in dummies if node in left]
        after = [right[node] for node in dummies if node in right]
        least = max((at[neighbor] + distance for neighbor, distance in before), default=-inf)
        most = min((at[neighbor] - distance for neighbor, distance in after), default=inf)
        if least <= most:
            low, high = sorted((at[first], at[last]))
            middle = sorted(at[node] for node in dummies)[len(dummies) // 2]
            line = min(max(middle, low), high)
            for node in dummies:
                at[node] = min(max(line, least), most)


@dataclass(frozen=True)
class Frame:
    """A box around a group of nodes, with the least width that its label needs."""

    members: frozenset[int]
    least_across: float = 0.0


@dataclass(frozen=True)
class Box:
    """How much room a node needs across and along the direction of the gradient, and its ports."""

    across: float
    along: float
    port_in: float = 20.0
    port_out: float = 20.0


SLOT = 46.0  # between the ports of a node with several outputs


def spread_ends(
    boxes: Sequence[Box], levels: Levels, across: list[float], slots: list[int], free: Sequence[int]
) -> tuple[dict[int, float], dict[int, float]]:
    """Spread the ends of edges over the sides of their boxes.

    Args:
        boxes: the boxes.
        levels: the ordered layers.
        across: where every node and dummy is.
        slots: for each edge the output of the target that it belongs to.
        free: the nodes; on other boxes the offsets of `levels` say where edges pass.

    Returns:
        Where each edge starts, and where it stops.
    """
    leaving: list[Ends] = [[] for _ in boxes]
    arriving: list[Ends] = [[] for _ in boxes]
    chains = dict(enumerate(levels.chains))
    starts = {at: across[chain[0]] + levels.offsets[at][0] for at, chain in chains.items()}
    stops = {at: across[chain[-1]] + levels.offsets[at][1] for at, chain in chains.items()}
    for at, chain in chains.items():
        arriving[chain[-1]].append((across[chain[-2]] if len(chain) > 2 else starts[at], at))
    for node in free:
        stops |= _ports(arriving[node], across[node], boxes[node].port_in, slots)
    for at, chain in chains.items():
        leaving[chain[0]].append((across[chain[1]] if len(chain) > 2 else stops[at], at))
    for node in free:
        starts |= _starts(leaving[node], across[node], boxes[node].port_out)
    return starts, stops


def _starts(ends: Ends, center: float, width: float) -> dict[int, float]:
    """Let edges leave a box side by side, those straight that end right across from it."""
    ends = sorted(ends)
    step = min(14.0, width / max(len(ends) - 1, 1))
    near = [abs(x - center) <= width / 2 for x, _ in ends]
    desired = [x if close else center for (x, _), close in zip(ends, near, strict=True)]
    weights = [100.0 if close else 1.0 for close in near]
    places = pool_adjacent_violators(desired, weights, [step] * max(len(ends) - 1, 0))
    low, high = center - width / 2, center + width / 2
    shift = max(low - places[0], 0.0) - max(places[-1] - high, 0.0) if places else 0.0
    placed = zip(ends, places, strict=True)
    return {edge: min(max(x + shift, low), high) for (_, edge), x in placed}


def _ports(ends: Ends, center: float, width: float, slots: list[int]) -> dict[int, float]:
    """Spread the ends of edges over one side of a box: by slot, else in the order they come in."""
    place = {edge: at for at, (_, edge) in enumerate(sorted(ends))}
    used = sorted({slots[edge] for edge in place})
    if len(used) > 1:
        place = {edge: used.index(slots[edge]) for edge in place}
    last = max(place.values(), default=0)
    step = min(SLOT if len(used) > 1 else 14.0, width / max(last, 1))
    return {edge: center + (at - last / 2) * step for edge, at in place.items()}


@dataclass(frozen=True)
class Layout:
    """Where everything is, all as (across, along).

    Attributes:
        centers: The middle of each box.
        routes: The way of each edge: straight along the direction from the first point to the
            second, a bend to the third, straight to the fourth, and so on.
        extent: The size of the whole.
        frames: The nearest corner and the size of each frame.
    """

    centers: list[Point]
    routes: list[list[Point]]
    extent: Point
    frames: list[tuple[Point, Point]]


_RIM = -1  # instead of an item


@dataclass
class _Room:
    """What stands directly in one frame, or outside all, with its places once they are known."""

    depth: int  # how many frames are around it
    items: dict[int, None] = field(default_factory=dict)
    # source, target and number of edges; those of others begin or end at the rim
    edges: list[tuple[int, int, int]] = field(default_factory=list)
    entering: list[tuple[int, int, int]] = field(default_factory=list)
    leaving: list[tuple[int, int, int]] = field(default_factory=list)
    centers: dict[int, Point] = field(default_factory=dict)
    routes: dict[int, list[Point]] = field(default_factory=dict)
    size: Point = (0.0, 0.0)


def lay_out(
    boxes: Sequence[Box],
    edges: Pairs,
    frames: Sequence[Frame] = (),
    slots: Sequence[int] | None = None,
    gap: float = GAP_ALONG,
) -> Layout:
    """Lay out a directed graph without cycles.

    Args:
        boxes: the room each node needs.
        edges: pairs of node numbers (source, target); several between the same two are kept.
        frames: boxes to put around groups of nodes, of which two have no common members or one is
            in the other; of equal groups the first is the inner one.
        slots: for each edge the number of the target's output it belongs to; edges of one slot end
            at one point.
        gap: the least distance between layers.

    Returns:
        The places. No two boxes overlap, no edge touches a box that is not its own, and a frame
        holds its members only.

    Raises:
        ValueError: if the graph has a cycle or no nodes.

    Example:
        >>> lay_out([Box(40, 20), Box(40, 20), Box(40, 20)], [(0, 1), (0, 2)]).centers
        [(52.0, 10.0), (20.0, 58.9), (84.0, 58.9)]
    """
    if not boxes:
        raise ValueError("there is nothing to lay out: no boxes were given")
    return _laid_out(*map(tuple, (boxes, edges, frames, slots or [0] * len(edges))), gap)


@lru_cache(16)
def _laid_out(boxes: Any, edges: Any, frames: Any, slots: Any, gap: float) -> Layout:
    """Lay a graph out once: it is drawn again by its player, and after the next step."""
    return _Plan(boxes, edges, frames, slots, gap).layout()


def _shifted(point: Point, by: Point = (0.0, 0.0)) -> Point:
    return round(point[0] + by[0], 1), round(point[1] + by[1], 1)


class _Plan:
    """What stands in which frame, each laid out by itself, and all of it put together.

    A frame with number k stands as the number of nodes + k in the frame around it.

    Attributes:
        rooms: What stands in each frame by its number, -1 for no frame.
        ways: For each edge the frames that it runs through.
    """

    def __init__(self, boxes: Any, edges: Pairs, frames: Any, slots: Any, gap: float) -> None:
        self.count, self.frames, self.slots, self.gap = len(boxes), frames, slots, gap
        # For each node the frames around it from the outside in, after -1 for no frame. Of frames
        # around the same nodes the one that was given first is inside.
        order = sorted(range(len(frames)), key=lambda n: (-len(frames[n].members), -n))
        self.sizes = dict(enumerate(boxes))
        self.nesting = [[-1, *(n for n in order if at in frames[n].members)] for at in self.sizes]
        self.rooms = {-1: _Room(0)}
        self.ways: list[list[int]] = []
        # What stands for each node in each of the frames around it: a frame in this, or itself.
        inside: list[dict[int, int]] = []
        for node, around in enumerate(self.nesting):
            standing = [*(self.count + number for number in around[1:]), node]
            inside.append(dict(zip(around, standing, strict=True)))
            for depth, (number, item) in enumerate(inside[-1].items()):
                self.rooms.setdefault(number, _Room(depth)).items[item] = None
        for number, (source, target) in enumerate(edges):
            up, down = inside[source], inside[target]
            common = [frame for frame in up if frame in down][-1]
            self.rooms[common].edges.append((up[common], down[common], number))
            leaves = [frame for frame in up if frame not in down]
            enters = [frame for frame in down if frame not in up]
            for frame in leaves:
                self.rooms[frame].leaving.append((up[frame], _RIM, number))
            for frame in enters:
                self.rooms[frame].entering.append((_RIM, down[frame], number))
            self.ways.append([*reversed(leaves), common, *enters])

    def layout(self) -> Layout:
        """Lay the frames out from the inside out, then say where each stands in all of it."""
        inward = sorted(self.rooms.items(), key=lambda each: each[1].depth)
        for number, room in reversed(inward):
            self._furnish(room, self.frames[number] if number >= 0 else None)
            self.sizes[self.count + number] = Box(*room.size)
        corners: dict[int, Point] = {-1: (0.0, 0.0)}
        for number, room in inward:
            left, top = corners[number]
            for item in (each for each in room.items if each >= self.count):
                (x, y), box = room.centers[item], self.sizes[item]
                place = (left + x - box.across / 2, top + y - box.along / 2)
                corners[item - self.count] = place
        centers = [
            _shifted(self.rooms[around[-1]].centers[node], corners[around[-1]])
            for node, around in enumerate(self.nesting)
        ]
        routes = []
        for number, way in enumerate(self.ways):
            points: list[Point] = []  # from frame to frame
            for frame in way:
                found = self.rooms[frame].routes[number]
                piece = [_shifted(point, corners[frame]) for point in found]
                points = points[:-1] + piece[1:] if points else piece
            routes.append(points)
        sizes = [_shifted(self.rooms[at].size) for at in range(-1, len(self.frames))]
        places = [(_shifted(corners[at]), size) for at, size in enumerate(sizes[1:])]
        return Layout(centers, routes, sizes[0], places)

    def _furnish(self, room: _Room, frame: Frame | None) -> None:
        """Lay out what stands directly in one frame, the frames in it being boxes already."""
        index = {item: at for at, item in enumerate(room.items)}
        boxes = [self.sizes[item] for item in room.items]
        real = len(boxes)
        pairs, offsets, belongs = [], [], []
        ends = room.edges + room.entering + room.leaving
        for source, target, number in ends:
            if source == _RIM or target == _RIM:
                index[_RIM] = len(boxes)
                boxes.append(Box(0.0, 0.0, 0.0, 0.0))
            pairs.append((index[source], index[target]))
            offsets.append((self._port(source, number, -1), self._port(target, number, 0)))
            belongs.append(self.slots[number])
        inner = real + len(room.entering)
        layer = _layers(len(boxes), real, inner, pairs, framed=frame is not None)
        levels = Levels([box.across for box in boxes], pairs, layer, offsets)
        if frame is not None and not room.leaving:
            levels.rows.append([])  # the rim at the end
        levels.sort_rows()
        across = place_rows(levels, GAP_ACROSS, real)
        bands = _bands(boxes, levels, across, self.gap, framed=frame is not None)
        across, width = _fit(across, levels, frame)
        room.size = (width, bands[-1][1])
        for at, item in enumerate(room.items):
            room.centers[item] = (across[at], sum(bands[layer[at]]) / 2)
        free = [at for at, item in enumerate(room.items) if item < self.count]
        starts, stops = spread_ends(boxes, levels, across, belongs, free)
        for at, ((_, _, number), chain) in enumerate(zip(ends, levels.chains, strict=True)):
            first, *dummies, last = chain
            points = [(starts[at], sum(bands[layer[first]]) / 2 + boxes[first].along / 2)]
            points.append((starts[at], bands[layer[first]][1]))
            points += [(across[node], y) for node in dummies for y in bands[levels.layer[node]]]
            points.append((stops[at], bands[layer[last]][0]))
            points.append((stops[at], sum(bands[layer[last]]) / 2 - boxes[last].along / 2))
            room.routes[number] = points

    def _port(self, item: int, number: int, end: int) -> float:
        """Say where an edge passes the rim of a frame, counted from the frame's middle; else 0."""
        if item < self.count:
            return 0.0
        room = self.rooms[item - self.count]
        return room.routes[number][end][0] - room.size[0] / 2


def _layers(total: int, real: int, last: int, pairs: Pairs, framed: bool) -> list[int]:
    """Assign layers; in a frame the first and the last one hold the points on the rim only."""
    if not framed:
        return assign_layers(total, pairs)
    begins = {target for _, target in pairs}
    rim = [(total, node) for node in range(real) if node not in begins]
    layer = assign_layers(total + 1, [*pairs, *rim])
    bottom = max(layer[:real]) + 1
    return [*layer[:last], *[bottom] * (total - last)]


def _bands(
    boxes: Sequence[Box], levels: Levels, across: list[float], gap: float, framed: bool
) -> list[Point]:
    """Return where each layer begins and ends along the direction.

    Layers stand further apart where an edge between them goes far across, so that it can bend.
    """
    bands, place, last = [], 0.0, len(levels.rows) - 1
    for number, row in enumerate(levels.rows):
        size = max((boxes[node].along for node in row if node < levels.real), default=0.0)
        bands.append((place, place + size))
        ways = (
            abs(across[a] + here - across[b] - there)
            for a in row
            for b, there, here in levels.below[a]
        )
        space = gap
        if framed and number in (0, last - 1):
            space = FRAME_HEAD if number == 0 else FRAME_PAD
        place += size + space + min(0.09 * max(ways, default=0.0), gap)
    return bands


def _fit(across: list[float], levels: Levels, frame: Frame | None) -> tuple[list[float], float]:
    """Let the coordinates begin at the left rim, and return them and the width with the rims."""
    sizes = levels.across
    least = min(x - size / 2 for x, size in zip(across, sizes, strict=True))
    width = max(x + size / 2 for x, size in zip(across, sizes, strict=True)) - least
    rim = 0.0
    if frame is not None:
        rim = FRAME_PAD + max(frame.least_across - (width + 2 * FRAME_PAD), 0.0) / 2
    return [x - least + rim for x in across], width + 2 * rim
