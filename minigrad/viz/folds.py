"""Fold parts of a graph into one node each: what the call of a module left."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from math import sqrt
from typing import Any

from minigrad.viz.graph import BEFORE_RULE, INSIDE, Card, Edge, Graph, Hook, Index, Node, in_order
from minigrad.viz.modules import Found
from minigrad.viz.text import format_number

OPEN = 40  # so many nodes are drawn before modules are folded without being asked
FEW = 25  # and so few are then aimed at
MOST_READ = 20_000  # so many are read if they may be folded


@dataclass(frozen=True)
class Fold:
    """What is to become one node.

    Attributes:
        label: What to call it.
        members: The nodes.
        lines: What to say of it.
        hidden: Leaves that are left out, because all who use them are folded.
    """

    label: str
    members: frozenset[int]
    lines: tuple[str, ...] = ()
    hidden: frozenset[int] = frozenset()


def parameter_line(parameters: Iterable[Any], digits: int, gradients: bool = True) -> str:
    """Say how many numbers parameters hold and how long their gradient is.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(3, 2)
        >>> layer(torch.ones(1, 3)).sum().backward()
        >>> parameter_line(layer.parameters(), 2)
        '8 parameters, gradient norm 2.83'
    """
    held = list(parameters)
    if not held:
        return ""
    count = sum(int(each.numel()) for each in held)
    words = f"{count:,} parameter{'' if count == 1 else 's'}"
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

    Raises:
        graphlib.CycleError: if gradients leave a fold and come back.
    """
    hidden = frozenset().union(*(fold.hidden for fold in folds))
    # What stands for each node: itself, or -1 - k if it is in fold number k.
    stands = {at: at for at in range(len(graph.nodes)) if at not in hidden}
    for number, fold in enumerate(folds):
        stands.update(dict.fromkeys(fold.members, -1 - number))
    crossing = [
        edge
        for edge in graph.edges
        if edge.source in stands
        and edge.target in stands
        and stands[edge.source] != stands[edge.target]
    ]
    sorter = TopologicalSorter({key: () for key in stands.values()})
    for edge in crossing:
        sorter.add(stands[edge.target], stands[edge.source])
    order = list(sorter.static_order())
    index = {key: at for at, key in enumerate(order)}
    place = {at: index[key] for at, key in stands.items()}
    # Each output of a node inside, to which a gradient comes, is an output of the fold.
    outputs: dict[int, dict[tuple[int, int], int]] = {key: {} for key in order}
    entries = [(e.target, e.output_nr) for e in crossing] + [(at, 0) for at in graph.roots]
    for entry in entries:
        slots = outputs[stands[entry[0]]]
        slots.setdefault(entry, len(slots))
    edges: list[Edge] = []
    counts = [0 if key < 0 else graph.input_counts[key] for key in order]
    seen: set[tuple[int, int, int]] = set()
    for edge in crossing:
        source, target = place[edge.source], place[edge.target]
        input_nr, output_nr = edge.input_nr, edge.output_nr
        if stands[edge.target] < 0:
            output_nr = outputs[stands[edge.target]][edge.target, output_nr]
        if stands[edge.source] < 0:
            if (source, target, output_nr) in seen:
                continue
            seen.add((source, target, output_nr))
            input_nr = counts[source]
            counts[source] += 1
        edges.append(Edge(source, target, input_nr, output_nr))
    nodes = [
        _folded(at, folds[-1 - key], graph, outputs[key])
        if key < 0
        else replace(graph.nodes[key], index=at)
        for at, key in enumerate(order)
    ]
    groups = {
        label: frozenset(place[member] for member in members if member in place)
        for label, members in graph.groups.items()
        if not any(members <= fold.members for fold in folds)
    }
    roots = list(dict.fromkeys(place[root] for root in graph.roots))
    return Graph(nodes, edges, roots, groups, counts)


def _folded(at: int, fold: Fold, graph: Graph, outputs: dict[tuple[int, int], int]) -> Node:
    """Make the node that stands for a fold."""
    node = Node(at, fold.label, lines=list(fold.lines), holds=len(fold.members))
    hooks: list[Hook] = []
    cards: list[Card] = []
    for member in (graph.nodes[each] for each in sorted(fold.members)):
        node.notes += member.notes
        for card in member.cards:
            if (member.index, card.output_nr) in outputs:
                cards.append(replace(card, output_nr=outputs[member.index, card.output_nr]))
        for hook in member.hooks:
            slot = outputs.get((member.index, hook.output_nr))
            if slot is not None:
                hooks.append(hook._replace(output_nr=slot))
            elif hook.kind != "retain_grad":
                # Not where a gradient comes in: it is drawn below, among those inside.
                kind = hook.kind if hook.kind not in BEFORE_RULE else hook.kind + INSIDE
                hooks.append(hook._replace(kind=kind, output_nr=0))
    node.cards = sorted(cards, key=lambda card: card.output_nr)
    node.hooks = in_order(hooks)
    return node


def fold_modules(
    graph: Graph, index: Index, found: Found, fold: bool | int | None, digits: int, gradients: bool
) -> Graph:
    """Fold modules: those of the depth asked for, or as few as are needed."""
    total = len(graph.nodes)
    if fold is None and total <= OPEN:
        return graph
    # Where several calls stand side by side it is they who are the parts, else what one called.
    base = 1 if sum(call.depth == 0 for call, _ in found) == 1 else 0
    deepest = max((call.depth for call, _ in found), default=-1)
    depths = [base + fold - 1] if fold is not None else range(deepest, base - 1, -1)
    folded = graph
    for depth in depths:
        chosen = [each for each in found if each[0].depth == depth]
        folded = fold_graph(graph, _folds(chosen, graph, index, digits, gradients))
        if len(folded.nodes) <= FEW:
            break
    if fold is None and folded is not graph:
        folded.folded = f"{total} nodes folded to {len(folded.nodes)}; fold=False shows all"
    return folded


def _folds(chosen: Found, graph: Graph, index: Index, digits: int, gradients: bool) -> list[Fold]:
    """Make one fold of each call."""
    users: dict[int, set[int]] = {}
    for edge in graph.edges:
        if graph.nodes[edge.target].role == "leaf":
            users.setdefault(edge.target, set()).add(edge.source)
    lone = {leaf for leaf in users if not graph.nodes[leaf].hooks}
    of_module: dict[int, set[int]] = {}
    for call, members in chosen:
        of_module.setdefault(id(call.module), set()).update(members)
    folds = []
    for call, members in chosen:
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
        lines = (shapes, count) if count else (shapes,)
        folds.append(Fold(call.label, members, lines, hidden))
    return folds
