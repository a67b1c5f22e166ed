"""The layout: no overlaps, no edge through a stranger's box, the same every time, and quick."""

import random
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from minigrad.viz.layout import (
    FRAME_HEAD,
    FRAME_PAD,
    Box,
    Frame,
    Levels,
    assign_layers,
    lay_out,
    pool_adjacent_violators,
)
from tests.tracing import calls_of

from .graphs import random_graph


def random_boxes(seed: int, count: int) -> list[Box]:
    chance = random.Random(seed)
    return [Box(chance.uniform(30, 180), chance.uniform(20, 90)) for _ in range(count)]


def random_frames(seed: int, count: int) -> list[Frame]:
    """Put frames around stretches of a random graph's nodes, and frames in some of these."""
    chance, frames, stretches = random.Random(seed), [], [(0, count)]
    while stretches and len(frames) < 6:
        first, last = stretches.pop(0)
        if last - first < 3:
            continue
        cut = sorted(chance.sample(range(first, last + 1), 2))
        if cut[1] - cut[0] in (0, last - first):
            continue
        frames.append(Frame(frozenset(range(*cut)), chance.choice([0.0, 300.0])))
        stretches += [(first, cut[0]), tuple(cut), (cut[1], last)]
    return frames


ROUNDED = 0.21  # coordinates are rounded to a tenth, and two are compared


def disjoint(ones, others):
    """Tell for each of some rectangles (left, top, width, height) and others if they are apart."""
    one, other = np.asarray(ones)[..., :, None, :], np.asarray(others)[..., None, :, :]
    before = one[..., :2] >= other[..., :2] + other[..., 2:] - ROUNDED
    behind = other[..., :2] >= one[..., :2] + one[..., 2:] - ROUNDED
    return (before | behind).any(-1)


def within(inner, outer):
    """Tell for rectangles whether each is in the other."""
    inner, outer = np.asarray(inner), np.asarray(outer)
    begins = inner[..., :2] >= outer[..., :2] - ROUNDED
    return (
        begins & (inner[..., 2:] + inner[..., :2] <= outer[..., :2] + outer[..., 2:] + 0.21)
    ).all(-1)


def check(seed: int, boxes, edges, frames, layout) -> None:
    """Check that nothing overlaps, frames hold their members only, and edges go where they should.

    Edges are bent within the rectangle between two points, so it is that rectangle that must not
    touch a box.
    """
    count = len(boxes)
    sizes = np.array([(box.across, box.along) for box in boxes])
    places = np.hstack([np.array(layout.centers) - sizes / 2, sizes])
    assert (disjoint(places, places) | np.eye(count, dtype=bool)).all(), seed
    assert within(places, (0.0, 0.0, *layout.extent)).all()
    rims = np.array([(*corner, *size) for corner, size in layout.frames]).reshape(-1, 4)
    assert within(rims, (0.0, 0.0, *layout.extent)).all()
    for frame, rim in zip(frames, rims, strict=True):
        assert rim[2] >= frame.least_across - ROUNDED
        members = np.array([node in frame.members for node in range(count)])
        grown = places + np.array([-FRAME_PAD, -FRAME_HEAD, 2 * FRAME_PAD, FRAME_HEAD + FRAME_PAD])
        assert within(grown[members], rim).all(), seed
        assert disjoint(places[~members], rim[None]).all(), seed
        for other, outer in zip(frames, rims, strict=True):
            if frame.members < other.members:
                assert within(rim, outer)
            elif not frame.members & other.members:
                assert disjoint(rim[None], outer[None])
    for (source, target), route in zip(edges, layout.routes, strict=True):
        assert len(route) % 2 == 0
        points = np.array(route)
        assert (np.diff(points[:, 1]) >= 0).all()
        straight = np.diff(points[:, 0])[::2]  # straight, then a bend, then straight
        assert (abs(straight) < ROUNDED).all()
        for node, (x, y), side in ((source, route[0], 1), (target, route[-1], 0)):
            left, top, width, height = places[node]
            assert left <= x <= left + width
            assert abs(y - top - side * height) < ROUNDED
        low, high = np.minimum(points[:-1], points[1:]), np.maximum(points[:-1], points[1:])
        spans = np.hstack([low + 0.2, high - low - 0.4])
        assert disjoint(spans, places).all(), (seed, source, target)
        for frame, rim in zip(frames, rims, strict=True):
            if source in frame.members and target in frame.members:
                assert within(spans, rim).all()
            elif source not in frame.members and target not in frame.members:
                assert disjoint(spans, rim[None]).all(), (seed, source, target)


@pytest.mark.parametrize("block", range(10))
def test_500_random_graphs_with_and_without_nested_frames(block):
    for seed in range(50 * block, 50 * block + 50):
        count, edges = random_graph(seed)
        boxes = random_boxes(seed, count)
        frames = random_frames(seed, count) if seed % 4 else []
        check(seed, boxes, edges, frames, lay_out(boxes, edges, frames=frames))


def test_the_same_graph_is_laid_out_the_same():
    count, edges = random_graph(11)
    boxes = random_boxes(11, count)
    assert lay_out(boxes, edges) == lay_out(list(boxes), list(edges))


@pytest.mark.parametrize("framed", [False, True])
def test_a_layout_takes_few_steps(framed):
    spent = []
    for seed in range(40):
        count, edges = random_graph(seed)
        boxes = random_boxes(seed, count)
        frames = random_frames(seed, count) if framed else []
        spent.append(calls_of(partial(lay_out, boxes, edges, frames=frames)))
    # So many calls take less than 20 ms.
    assert sorted(spent)[len(spent) // 2] < 60_000


def test_few_edges_cross():
    total = 0
    for seed in range(100):
        count, edges = random_graph(seed)
        levels = Levels([20.0] * count, edges, assign_layers(count, edges))
        levels.sort_rows()
        total += levels.crossings()
    # The sweeps leave 2,625 crossings in these graphs.
    assert total <= 2_700


def test_crossings_are_counted():
    # Two sources and two targets, each source with edges to both: one crossing however they stand.
    square = Levels([10.0] * 4, [(0, 2), (0, 3), (1, 2), (1, 3)], [0, 0, 1, 1])
    assert square.crossings() == 1
    crossed = Levels([10.0] * 4, [(0, 3), (1, 2)], [0, 0, 1, 1])
    crossed.rows = [[0, 1], [2, 3]]
    assert crossed.crossings() == 1
    crossed.sort_rows()
    assert crossed.crossings() == 0
    # Where a frame's edges leave it counts: left to left and right to right do not cross.
    offsets = [(-20.0, 0.0), (20.0, 0.0)]
    frame = Levels([60.0, 10.0, 10.0], [(0, 1), (0, 2)], [0, 1, 1], offsets)
    assert frame.crossings() == 0
    frame.rows = [[0], [2, 1]]
    assert frame.crossings() == 1


def test_a_deep_chain_needs_no_recursion():
    count = 3000
    layout = lay_out([Box(10, 10)] * count, [(at, at + 1) for at in range(count - 1)])
    across, along = zip(*layout.centers, strict=True)
    assert len(set(across)) == 1 and len(set(along)) == count and list(along) == sorted(along)


def test_layers_are_longest_paths_and_a_cycle_has_none():
    assert assign_layers(4, [(0, 1), (1, 2), (0, 2), (2, 3), (0, 3)]) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="cycle"):
        assign_layers(2, [(0, 1), (1, 0)])
    with pytest.raises(ValueError, match="cycle"):
        lay_out([Box(1, 1), Box(1, 1)], [(0, 1), (1, 0)])
    with pytest.raises(ValueError, match="nothing to lay out"):
        lay_out([], [])


def test_a_chain_with_leaves_on_both_sides_stays_straight():
    boxes = [Box(100, 20), Box(100, 20), Box(160, 40), Box(90, 20), Box(60, 20), Box(80, 20)]
    layout = lay_out(boxes, [(0, 1), (1, 2), (1, 3), (1, 4), (3, 5)])
    spine = [layout.centers[node][0] for node in (0, 1, 3, 5)]
    assert max(spine) - min(spine) < 1.0


def test_of_two_frames_around_the_same_nodes_the_first_is_inside():
    edges = [(0, 1), (1, 2)]
    frames = [Frame(frozenset({1, 2}))] * 2
    inner, outer = lay_out([Box(50, 20)] * 3, edges, frames=frames).frames
    assert outer[1][0] == inner[1][0] + 2 * FRAME_PAD
    assert outer[0][1] == inner[0][1] - FRAME_HEAD


def test_pooling_solves_the_constrained_least_squares_problem():
    chance = random.Random(3)
    for _ in range(50):
        count = chance.randint(1, 7)
        wanted = [chance.uniform(-50, 50) for _ in range(count)]
        weights = [chance.uniform(0.1, 5) for _ in range(count)]
        least = [chance.uniform(1, 30) for _ in range(count - 1)]
        found = pool_adjacent_violators(wanted, weights, least)
        gaps = [b - a for a, b in pairwise(found)]
        # Room for rounding in the last digit only.
        assert all(gap >= want - 1e-9 for gap, want in zip(gaps, least, strict=True))

        def cost(places, weights=weights, wanted=wanted):
            return sum(w * (x - d) ** 2 for w, x, d in zip(weights, places, wanted, strict=True))

        for _ in range(100):
            other = [x + chance.uniform(-1, 1) for x in found]
            pairs = zip(other, other[1:], least, strict=False)
            if all(b - a >= want for a, b, want in pairs):
                assert cost(other) >= cost(found)
