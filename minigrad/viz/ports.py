"""Say where on the sides of its box each edge begins and ends."""

from collections.abc import Sequence

from minigrad.viz.coordinates import pool_adjacent_violators
from minigrad.viz.levels import Levels

SLOT = 46.0  # between the ports of a node with several outputs


def spread_ends(
    sides: Sequence[tuple[float, float]],
    levels: Levels,
    across: list[float],
    offsets: list[tuple[float, float]],
    slots: list[int],
    fixed: set[int],
) -> tuple[list[float], list[float]]:
    """Spread the ends of edges over the sides of their boxes.

    Args:
        sides: for each box how wide the side is where edges leave, and that where they arrive.
        levels: the ordered layers.
        across: where every node and dummy is.
        offsets: for each edge where it leaves and arrives on a frame, from the frame's middle.
        slots: for each edge the output of the target that it belongs to.
        fixed: the frames, on which `offsets` says where edges pass.

    Returns:
        Where each edge starts, and where it stops.
    """
    leaving: list[list[tuple[float, int]]] = [[] for _ in sides]
    arriving: list[list[tuple[float, int]]] = [[] for _ in sides]
    starts = [across[chain[0]] + offsets[at][0] for at, chain in enumerate(levels.chains)]
    stops = [across[chain[-1]] + offsets[at][1] for at, chain in enumerate(levels.chains)]
    for number, chain in enumerate(levels.chains):
        near = across[chain[-2]] if len(chain) > 2 else starts[number]
        arriving[chain[-1]].append((near, number))
    for node, (_, width) in enumerate(sides):
        if node not in fixed:
            for number, place in _ports(arriving[node], across[node], width, slots).items():
                stops[number] = place
    for number, chain in enumerate(levels.chains):
        near = across[chain[1]] if len(chain) > 2 else stops[number]
        leaving[chain[0]].append((near, number))
    for node, (width, _) in enumerate(sides):
        if node not in fixed:
            for number, place in _starts(leaving[node], across[node], width).items():
                starts[number] = place
    return starts, stops


def _starts(ends: list[tuple[float, int]], center: float, width: float) -> dict[int, float]:
    """Let edges leave a box side by side, those straight that end right across from it."""
    ends = sorted(ends)
    step = min(14.0, width / max(len(ends) - 1, 1))
    near = [abs(x - center) <= width / 2 for x, _ in ends]
    wanted = [x if close else center for (x, _), close in zip(ends, near, strict=True)]
    weights = [100.0 if close else 1.0 for close in near]
    places = pool_adjacent_violators(wanted, weights, [step] * max(len(ends) - 1, 0))
    over = max(places[-1] - center - width / 2, 0.0) if places else 0.0
    under = max(center - width / 2 - places[0], 0.0) if places else 0.0
    return {edge: x - over + under for (_, edge), x in zip(ends, places, strict=True)}


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
