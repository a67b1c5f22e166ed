"""Fold parts of a graph into one node each: what a module left, or what a loop left many times."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from math import sqrt
from typing import Any

from minigrad.viz.graph import BEFORE_RULE, INSIDE, Card, Edge, Graph, Hook, Index, Node, in_order
from minigrad.viz.modules import Found
from minigrad.viz.text import format_number

OPEN = 40  # so many nodes are drawn before modules are folded without being asked

FEW = 25  # and so few are then aimed at

MOST_READ = 20_000  # so many are read if they may be folded


FEWEST = 4  # so often something must come in a row to be folded
LONGEST = 40  # so many nodes may come again and again


@dataclass(frozen=True)
class Fold:
    """What is to become one node.

    Attributes:
        label: What to call it.
        members: The nodes.
        lines: What to say of it.
        alike: What it has in common with those it may be folded with.
        repeats: How often the same comes in a row in it.
        hidden: Leaves that are left out, because all who use them are folded.
    """

    label: str
    members: frozenset[int]
    lines: tuple[str, ...] = ()
    alike: str = ""
    repeats: int = 1
    hidden: frozenset[int] = frozenset()


def parameter_line(leaves: Iterable[Any], digits: int, gradients: bool = True) -> str:
    """Say how many numbers parameters, or other leaves, hold and how long their gradient is.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(3, 2)
        >>> layer(torch.ones(1, 3)).sum().backward()
        >>> parameter_line(layer.parameters(), 2)
        '8 parameters, gradient norm 2.83'
    """
    held = list({id(each): each for each in leaves}.values())
    if not held:
        return ""
    count = sum(int(each.numel()) for each in held)
    ours = all("Parameter" in type(each).__name__ for each in held)
    words = f"{count:,} {'parameter' if ours else 'number'}{'' if count == 1 else 's'}"
    words += "" if ours else " in leaves"
    if not gradients:
        return words
    grads = [each.grad for each in held if each.grad is not None]
    if not grads:
        return words + ", no gradient yet"
    squares = [float((grad.detach() * grad.detach()).sum()) for grad in grads]
    return f"{words}, gradient norm {format_number(sqrt(sum(squares)), digits)}"


def fold_graph(graph: Graph, folds: Sequence[Fold]) -> Graph:
    """Put one node in the place of each fold's members, and keep all that is seen from outside.

    Tensors and their hooks are kept where a gradient comes in, and the hooks inside are listed.
    Edges from a fold to the same place become one: what is added up in it is one gradient outside.

    Args:
        graph: the graph; it is not changed.
        folds: parts of it without common members.

    Returns:
        The smaller graph.
    """
    hidden = frozenset().union(*(fold.hidden for fold in folds))
    of_node = {member: number for number, fold in enumerate(folds) for member in fold.members}
    keys = [
        ("fold", of_node[at]) if at in of_node else ("node", at) for at in range(len(graph.nodes))
    ]
    kept = [at for at in range(len(graph.nodes)) if at not in hidden]
    crossing = [
        edge
        for edge in graph.edges
        if edge.source not in hidden
        and edge.target not in hidden
        and keys[edge.source] != keys[edge.target]
    ]
    order = _in_order(
        [keys[at] for at in kept], [(keys[e.source], keys[e.target]) for e in crossing]
    )
    index = {key: at for at, key in enumerate(order)}
    place = {at: index[keys[at]] for at in kept}
    # Each output of a node inside, to which a gradient comes, is an output of the fold.
    outputs: dict[int, dict[tuple[int, int], int]] = {}
    entries = [(e.target, e.output_nr) for e in crossing] + [(at, 0) for at in graph.roots]
    for target, output_nr in entries:
        if target in of_node:
            slots = outputs.setdefault(of_node[target], {})
            slots.setdefault((target, output_nr), len(slots))
    edges: list[Edge] = []
    seen: set[tuple[int, int, int]] = set()
    counts = [0] * len(order)
    for edge in crossing:
        source, target, output_nr = place[edge.source], place[edge.target], edge.output_nr
        if edge.target in of_node:
            output_nr = outputs[of_node[edge.target]][edge.target, edge.output_nr]
        input_nr = edge.input_nr
        if edge.source in of_node:
            if (source, target, output_nr) in seen:
                continue
            seen.add((source, target, output_nr))
            input_nr = counts[source]
            counts[source] += 1
        edges.append(Edge(source, target, input_nr, output_nr))
    nodes = []
    for at, (kind, which) in enumerate(order):
        if kind == "fold":
            nodes.append(_folded(at, folds[which], graph, outputs.get(which, {})))
        else:
            nodes.append(replace(graph.nodes[which], index=at))
            counts[at] = graph.input_counts[which]
    groups = {}
    for label, members in graph.groups.items():
        if not any(members <= fold.members for fold in folds):
            groups[label] = frozenset(place[member] for member in members if member in place)
    roots = list(dict.fromkeys(place[root] for root in graph.roots))
    return Graph(nodes, edges, roots, groups, counts, graph.folded)


def _in_order(keys: Iterable[Any], edges: Iterable[tuple[Any, Any]]) -> list[Any]:
    """Order keys so that each comes before those it has an edge to, else as they were.

    Raises:
        ValueError: if there is no such order.
    """
    rank = {key: at for at, key in reversed(list(enumerate(keys)))}
    targets: dict[Any, list[Any]] = {key: [] for key in rank}
    waiting = dict.fromkeys(rank, 0)
    for source, target in dict.fromkeys(edges):
        targets[source].append(target)
        waiting[target] += 1
    ready = [(rank[key], key) for key in rank if not waiting[key]]
    heapify(ready)
    order = []
    while ready:
        _, key = heappop(ready)
        order.append(key)
        for target in targets[key]:
            waiting[target] -= 1
            if not waiting[target]:
                heappush(ready, (rank[target], target))
    if len(order) < len(rank):
        raise ValueError(
            "what is to be folded cannot be one box: gradients leave it and come back. "
            "Draw with fold=False."
        )
    return order


def _folded(at: int, fold: Fold, graph: Graph, outputs: dict[tuple[int, int], int]) -> Node:
    """Make the node that stands for a fold."""
    node = Node(at, fold.label, lines=list(fold.lines), repeats=fold.repeats)
    node.alike = fold.alike or fold.label
    members = [graph.nodes[member] for member in sorted(fold.members)]
    node.holds = sum(member.holds for member in members)
    node.number = max((each.number for each in members if each.role != "leaf"), default=-1)
    node.leaves = fold.hidden.union(*(member.leaves for member in members))
    hooks: list[Hook] = []
    cards: list[Card] = []
    for member in members:
        node.notes += member.notes
        for card in member.cards:
            if (member.index, card.output_nr) in outputs:
                cards.append(replace(card, output_nr=outputs[member.index, card.output_nr]))
        for hook in member.hooks:
            slot = outputs.get((member.index, hook.output_nr))
            if slot is not None:
                hooks.append(replace(hook, output_nr=slot))
            elif hook.kind != "retain_grad":
                # Not where a gradient comes in: it is drawn below, among those inside.
                kind = hook.kind if hook.kind not in BEFORE_RULE else hook.kind + INSIDE
                hooks.append(replace(hook, kind=kind, output_nr=0))
    node.cards = sorted(cards, key=lambda card: card.output_nr)
    node.hooks = in_order(hooks)
    return node


def find_repeats(graph: Graph, lines: Callable[[frozenset[int]], tuple[str, ...]]) -> list[Fold]:
    """Find what comes in a row many times, as a loop or a stack of equal layers leaves it.

    The nodes are taken in the order in which they were made. A stretch repeats if the names come
    again and again, and all edges go equally far back.

    Args:
        graph: the graph.
        lines: tells what to say of some leaves.
    """
    made = [node for node in graph.nodes if node.role != "leaf"]
    made.sort(key=lambda node: (-node.number, node.index))
    place = {node.index: at for at, node in enumerate(made)}
    if any(place.get(e.target, len(made)) < place[e.source] for e in graph.edges):
        made.sort(key=lambda node: node.index)  # somebody set the numbers; this order always holds
        place = {node.index: at for at, node in enumerate(made)}
    # For each node and each of its inputs how far back the gradient goes; 0 stands for a leaf.
    ways: list[dict[tuple[int, int], int]] = [{} for _ in made]
    leaves: list[dict[tuple[int, int], int]] = [{} for _ in made]
    users: dict[int, set[int]] = {}
    for edge in graph.edges:
        source, key = place[edge.source], (edge.input_nr, edge.output_nr)
        ways[source][key] = place.get(edge.target, source) - source
        if edge.target not in place:
            leaves[source][key] = edge.target
            users.setdefault(edge.target, set()).add(edge.source)
    inner = sorted(graph.groups.values(), key=len)
    numbers: dict[Any, int] = {}
    signature, names = [], []
    for node, way in zip(made, ways, strict=True):
        around = next((at for at, group in enumerate(inner) if node.index in group), -1)
        name = (node.alike or node.name, around, len(way))
        names.append(numbers.setdefault(name, len(numbers)))
        sign = (name, tuple(sorted(way.items())))
        signature.append(numbers.setdefault(sign, len(numbers)))
    folds, taken = [], [False] * len(made)
    while (found := _longest(signature, names, taken)) is not None:
        first, period, times = found
        end = first + period * times
        begun = {
            leaf
            for at in range(end - period, end)
            for key, leaf in leaves[at].items()
            if ways[at - period].get(key, 0) != 0
        }
        stretch = made[first:end]
        members = {node.index for node in stretch}
        members |= {leaf for leaf, by in users.items() if by <= members and leaf not in begun}
        held = frozenset().union(*(graph.nodes[at].leaves for at in members))
        label = _label([node.name for node in stretch], period)
        folds.append(Fold(label, frozenset(members), lines(held), repeats=times))
        taken[first:end] = [True] * (end - first)
    return folds


def _longest(
    signature: list[int], names: list[int], taken: list[bool]
) -> tuple[int, int, int] | None:
    """Find the stretch that covers most: where it begins, how long its piece is, how often.

    The last piece, which was made first, needs the same names only: it may have begun with a leaf
    where the others went on from each other.
    """
    best, most = None, 0
    for period in range(1, min(LONGEST, len(signature) // FEWEST) + 1):
        run = 0
        for at in range(len(signature) - period - 1, -2, -1):
            same = at >= 0 and signature[at] == signature[at + period]
            if same and not (taken[at] or taken[at + period]):
                run += 1
                continue
            if run:
                first, times = at + 1, run // period + 1
                end = first + period * times
                begins = names[end : end + period] == names[first : first + period]
                times += begins and not any(taken[end : end + period])
                if times >= FEWEST and times * period > most:
                    best, most = (first, period, times), times * period
            run = 0
    return best


def _label(names: list[str], period: int) -> str:
    """Name a repeated stretch: `layers.0 to layers.5: Layer`, or the names of one piece."""
    if period == 1 and ": " in names[0]:
        first, last = names[-1].partition(": "), names[0].partition(": ")
        return f"{first[0]} to {last[0]}: {first[2]}"
    piece = [name.rpartition(": ")[2] for name in names[:period]]
    more = f" and {period - 3} more" if period > 4 else ""
    return ", ".join(piece[:3] if more else piece) + more


def fold_modules(
    graph: Graph,
    index: Index,
    found: Found,
    fold: bool | int | str | Sequence[str] | None,
    digits: int,
    gradients: bool,
) -> Graph:
    """Fold modules, those asked for or as few as are needed, and what comes again and again."""
    total = len(graph.nodes)
    if fold is None and total <= OPEN:
        return graph
    # Where several calls stand side by side it is they who are the parts, else what one called.
    base = 1 if sum(call.depth == 0 for call, _ in found) == 1 else 0
    if fold is None:
        depths = list(range(max((call.depth for call, _ in found), default=0), base - 1, -1))
        choices = [[each for each in found if each[0].depth == depth] for depth in depths]
    elif isinstance(fold, int):
        choices = [[each for each in found if each[0].depth == base + fold - 1]]
    else:
        choices = [_named(found, [fold] if isinstance(fold, str) else fold)]

    def lines(held: frozenset[int]) -> tuple[str, ...]:
        line = parameter_line((index.live[at].variable for at in sorted(held)), digits, gradients)
        return (line,) if line else ()

    folded = graph
    for choice in choices or [[]]:
        folds = _folds(choice, graph, index, digits, gradients)
        folded = fold_graph(graph, folds) if folds else graph
        if fold is None or isinstance(fold, int):
            repeats = find_repeats(folded, lines)
            folded = fold_graph(folded, repeats) if repeats else folded
        if len(folded.nodes) <= FEW:
            break
    if fold is None and folded is not graph:
        folded.folded = f"{total} nodes folded to {len(folded.nodes)}; fold=False shows all"
    return folded


def _folds(chosen: Found, graph: Graph, index: Index, digits: int, gradients: bool) -> list[Fold]:
    """Make one fold of each call, but for those within another."""
    outer = [
        (call, members)
        for call, members in chosen
        if not any(members < other for _, other in chosen)
    ]
    users: dict[int, set[int]] = {}
    for edge in graph.edges:
        if graph.nodes[edge.target].role == "leaf":
            users.setdefault(edge.target, set()).add(edge.source)
    lone = {leaf for leaf in users if not graph.nodes[leaf].hooks}
    of_module: dict[int, set[int]] = {}
    for call, members in outer:
        of_module.setdefault(id(call.module), set()).update(members)
    folds = []
    for call, members in outer:
        parameters = {id(each): each for each in call.module.parameters()}
        # What all calls of this module share is in none of them, and goes with all of them.
        inside = of_module[id(call.module)]
        hidden = frozenset(
            leaf
            for leaf in lone - members
            if id(index.live[leaf].variable) in parameters and users[leaf] <= inside
        )
        shapes = f"in {', '.join(call.given) or '-'}; out {', '.join(call.gave) or '-'}"
        count = parameter_line(parameters.values(), digits, gradients)
        alike = f"{call.kind} {shapes} {parameter_line(parameters.values(), digits, False)}"
        lines = (shapes, count) if count else (shapes,)
        folds.append(Fold(call.label, members, lines, alike, 1, hidden))
    return folds


def _named(found: Found, names: Sequence[str]) -> Found:
    """Pick the calls of modules with these dotted names, or these labels.

    Raises:
        KeyError: if there is no such module among those watched.
    """
    known = {call.name: None for call, _ in found}
    for name in names:
        if not any(name in (call.name, call.label) for call, _ in found):
            listed = ", ".join(repr(each) for each in known) or "none: give modules="
            raise KeyError(f"{name!r} names no module in this graph; it has: {listed}")
    return [(call, members) for call, members in found if {call.name, call.label} & {*names}]
