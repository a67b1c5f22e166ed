"""Give every box of a directed graph a place: layers, order within them, coordinates, routes.

A layered layout in four steps, after Sugiyama, Tagawa and Toda (1981): layers by the longest path
from the outputs, dummy points where an edge passes a layer, order by barycenter sweeps, coordinates
by weighted least squares under the condition that boxes keep their distance, which the method of
pooling adjacent violators solves exactly, one layer at a time. No recursion, no randomness.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from minigrad.viz.levels import Frame, Levels, assign_layers_of_frames

Point = tuple[float, float]
SLOT = 46.0  # between the ports of a node with several outputs


@dataclass(frozen=True)
class Box:
    """How much room a node needs across and along the direction of the gradient, and its ports."""

    across: float
    along: float
    port_in: float = 20.0
    port_out: float = 20.0


@dataclass(frozen=True)
class Layout:
    """Centers of the boxes, the way of each edge, and the extent; all as (across, along)."""

    centers: list[Point]
    routes: list[list[Point]]
    layers: list[int]
    extent: Point


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


def _edge_weights(levels: Levels) -> dict[tuple[int, int], float]:
    """Weigh edges: the longest way down from each node and the long edges want to be straight."""
    count = len(levels.layer)
    height = [0] * count
    for row in reversed(levels.rows):
        for node in row:
            height[node] = max((height[each] + 1 for each in levels.below[node]), default=0)
    weights: dict[tuple[int, int], float] = {}
    for node in range(count):
        if not levels.below[node]:
            continue
        highest = max(height[each] for each in levels.below[node])
        single = [height[each] for each in levels.below[node]].count(highest) == 1
        for each in levels.below[node]:
            dummies = (node >= levels.real) + (each >= levels.real)
            weight = (1.0, 2.0, 8.0)[dummies]
            if single and height[each] == highest > 0:
                weight = 1000.0
            weights[node, each] = weight
    return weights


def _place_rows(
    levels: Levels, gap: float, frames: Sequence[Frame], sweeps: int = 10
) -> list[float]:
    """Return the coordinate across for every node and dummy."""
    weights = _edge_weights(levels)
    inside = [
        frozenset(k for k, f in enumerate(frames) if a in f.members and b in f.members)
        for a, b in levels.owner
    ]
    at = [0.0] * len(levels.layer)
    apart: list[list[float]] = []
    for row in levels.rows:
        distances = []
        for left, right in pairwise(row):
            pads = max((frames[k].beside for k in inside[left] - inside[right]), default=0.0)
            pads += max((frames[k].beside for k in inside[right] - inside[left]), default=0.0)
            distances.append((levels.across[left] + levels.across[right]) / 2 + gap + pads)
        apart.append(distances)
        place = -sum(distances) / 2
        for node, distance in zip(row, [*distances, 0.0], strict=True):
            at[node] = place
            place += distance
    for sweep in range(sweeps):
        final = sweep >= sweeps - 2
        downward = sweep % 2 == 0
        for number in range(len(levels.rows)) if downward else reversed(range(len(levels.rows))):
            row = levels.rows[number]
            wanted, pull = [], []
            for node in row:
                ends = []
                if downward or final:
                    ends += [(weights[each, node], at[each]) for each in levels.above[node]]
                if not downward or final:
                    ends += [(weights[node, each], at[each]) for each in levels.below[node]]
                total = sum(weight for weight, _ in ends)
                mean = sum(w * x for w, x in ends) / total if ends else at[node]
                wanted.append(mean)
                pull.append(total if ends else 0.01)
            for node, place in zip(
                row, pool_adjacent_violators(wanted, pull, apart[number]), strict=True
            ):
                at[node] = place
    pairs = {
        (left, right): distance
        for row, distances in zip(levels.rows, apart, strict=True)
        for left, right, distance in zip(row, row[1:], distances, strict=False)
    }
    _straighten(levels, at, pairs)
    return at


def _straighten(levels: Levels, at: list[float], apart: dict[tuple[int, int], float]) -> None:
    """Put all dummy points of a long edge on one line where their neighbors leave room for it."""
    beside: dict[int, tuple[int | None, int | None]] = {}
    for row in levels.rows:
        for left, node, right in zip([None, *row], row, [*row[1:], None], strict=False):
            beside[node] = (left, right)
    for chain in levels.chains:
        dummies = chain[1:-1]
        least, most = float("-inf"), float("inf")
        for node in dummies:
            left, right = beside[node]
            if left is not None:
                least = max(least, at[left] + apart[left, node])
            if right is not None:
                most = min(most, at[right] - apart[node, right])
        if dummies and least <= most:
            ends = sorted(at[node] for node in (chain[0], chain[-1]))
            middle = sorted(at[node] for node in dummies)[len(dummies) // 2]
            line = min(max(middle, ends[0]), ends[1])
            for node in dummies:
                at[node] = min(max(line, least), most)


def _bands(
    boxes: Sequence[Box], levels: Levels, across: list[float], gap: float, frames: Sequence[Frame]
) -> list[tuple[float, float]]:
    """Return where each layer begins and ends along the direction, with room for the frames.

    Layers stand further apart where an edge between them goes far across, so that it can bend.
    """
    count = len(levels.rows)
    before, after = [0.0] * count, [0.0] * count
    for frame in frames:
        levels_in = [levels.layer[node] for node in frame.members]
        first, last = min(levels_in), max(levels_in)
        before[first] = max(before[first], frame.before)
        after[last] = max(after[last], frame.after)
    bands, place = [], 0.0
    for number, row in enumerate(levels.rows):
        place += before[number]
        size = max((boxes[node].along for node in row if node < levels.real), default=0.0)
        bands.append((place, place + size))
        far = max((abs(across[a] - across[b]) for a in row for b in levels.below[a]), default=0.0)
        place += size + after[number] + gap + min(0.09 * far, gap)
    return bands


def _ports(
    ends: list[tuple[float, int]], center: float, width: float, slots: Sequence[int]
) -> dict[int, float]:
    """Spread the ends of edges over one side of a box: by slot, else in the order they come in."""
    used = sorted({slots[edge] for _, edge in ends})
    if len(used) > 1:
        step = min(SLOT, width / (len(used) - 1))
        place = {slot: center + (at - (len(used) - 1) / 2) * step for at, slot in enumerate(used)}
        return {edge: place[slots[edge]] for _, edge in ends}
    step = min(14.0, width / max(len(ends) - 1, 1))
    return {
        edge: center + (number - (len(ends) - 1) / 2) * step
        for number, (_, edge) in enumerate(sorted(ends))
    }


def lay_out(
    boxes: Sequence[Box],
    edges: Sequence[tuple[int, int]],
    *,
    gap_across: float = 22.0,
    gap_along: float = 30.0,
    frames: Sequence[Frame] = (),
    slots: Sequence[int] | None = None,
) -> Layout:
    """Lay out a directed graph without cycles.

    Args:
        boxes: the room each node needs.
        edges: pairs of node numbers (source, target); several between the same two are kept.
        gap_across: the least distance between boxes side by side.
        gap_along: the distance between layers.
        frames: groups to keep together, inner ones first.
        slots: for each edge the number of the target's output it belongs to; edges of one slot end
            at one point.

    Returns:
        The places. No two boxes overlap, and no edge touches a box that is not its own.

    Raises:
        ValueError: if the graph has a cycle or no nodes.

    Example:
        >>> result = lay_out([Box(40, 20), Box(40, 20), Box(40, 20)], [(0, 1), (0, 2)])
        >>> result.layers, result.centers
        ([0, 1, 1], [(51.0, 10.0), (20.0, 62.8), (82.0, 62.8)])
    """
    if not boxes:
        raise ValueError("there is nothing to lay out: no boxes were given")
    layer = assign_layers_of_frames(len(boxes), list(edges), frames)
    levels = Levels([box.across for box in boxes], edges, layer)
    levels.sort_rows()
    across = _place_rows(levels, gap_across, frames)
    bands = _bands(boxes, levels, across, gap_along, frames)
    least = min(x - size / 2 for x, size in zip(across, levels.across, strict=True))
    across = [x - least for x in across]
    centers = [
        (round(across[node], 1), round(sum(bands[levels.layer[node]]) / 2, 1))
        for node in range(len(boxes))
    ]
    leaving: list[list[tuple[float, int]]] = [[] for _ in boxes]
    arriving: list[list[tuple[float, int]]] = [[] for _ in boxes]
    for number, chain in enumerate(levels.chains):
        leaving[chain[0]].append((across[chain[1]], number))
        arriving[chain[-1]].append((across[chain[-2]], number))
    none = [0] * len(edges)
    out = [_ports(leaving[n], centers[n][0], b.port_out, none) for n, b in enumerate(boxes)]
    into = [
        _ports(arriving[n], centers[n][0], b.port_in, slots or none) for n, b in enumerate(boxes)
    ]
    routes = []
    for number, chain in enumerate(levels.chains):
        first, last = chain[0], chain[-1]
        start = out[first][number]
        points = [(start, sum(bands[levels.layer[first]]) / 2 + boxes[first].along / 2)]
        points.append((start, bands[levels.layer[first]][1]))
        for node in chain[1:-1]:
            points += [(across[node], y) for y in bands[levels.layer[node]]]
        end = into[last][number]
        points.append((end, bands[levels.layer[last]][0]))
        points.append((end, sum(bands[levels.layer[last]]) / 2 - boxes[last].along / 2))
        routes.append([(round(x, 1), round(y, 1)) for x, y in points])
    width = max(x + size / 2 for x, size in zip(across, levels.across, strict=True))
    return Layout(centers, routes, layer, (round(width, 1), round(bands[-1][1], 1)))
