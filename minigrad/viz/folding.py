"""Draw what the call of a module left as one node, so that a large model fits one picture."""

from collections.abc import Mapping
from dataclasses import replace
from graphlib import TopologicalSorter

from minigrad.viz.graph import Card, Edge, Graph, Hook, Node, in_order
from minigrad.viz.text import counted


def fold(graph: Graph, parts: Mapping[str, frozenset[int]]) -> Graph:
    """Put one node in the place of each of some parts of a graph.

    It has the tensors at which gradients come in, all hooks of the part, and an edge to each place
    that one of its nodes sends a gradient to.

    Args:
        graph: The graph; it is not changed.
        parts: Labels and nodes, without common ones.

    Raises:
        graphlib.CycleError: If gradients leave a part and come back.
    """
    stands = {at: at for at in range(len(graph.nodes))}
    for number, members in enumerate(parts.values()):
        stands |= dict.fromkeys(members, -1 - number)
    crossing = [edge for edge in graph.edges if stands[edge.source] != stands[edge.target]]
    sorter = TopologicalSorter({key: () for key in stands.values()})
    for edge in crossing:
        sorter.add(stands[edge.target], stands[edge.source])
    order, labeled = list(sorter.static_order()), list(parts.items())
    index = {key: at for at, key in enumerate(order)}
    place = {at: index[key] for at, key in stands.items()}
    entries = [(edge.target, edge.output_nr) for edge in crossing]
    entries += [(root, 0) for root in graph.roots]
    outputs: dict[int, dict[tuple[int, int], int]] = {at: {} for at in range(len(order))}
    for target, output_nr in entries:
        found = outputs[place[target]]
        found.setdefault((target, output_nr), len(found) if stands[target] < 0 else output_nr)
    counts = [0 if key < 0 else graph.input_counts[key] for key in order]
    edges: dict[tuple[int, int, int, int], Edge] = {}
    for edge in crossing:
        source, target = place[edge.source], place[edge.target]
        output_nr = outputs[target][edge.target, edge.output_nr]
        inside = stands[edge.source] < 0
        way = (source, target, -1 if inside else edge.input_nr, output_nr)
        if way not in edges:
            input_nr = counts[source] if inside else edge.input_nr
            counts[source] += inside
            edges[way] = Edge(source, target, input_nr, output_nr)
    nodes = [
        replace(graph.nodes[key], index=at)
        if key >= 0
        else _folded(at, graph, *labeled[-1 - key], outputs[at])
        for at, key in enumerate(order)
    ]
    groups = {
        label: frozenset(place[member] for member in members)
        for label, members in graph.groups.items()
        if not any(members <= part for part in parts.values())
    }
    roots = list(dict.fromkeys(place[root] for root in graph.roots))
    return Graph(nodes, list(edges.values()), roots, groups, counts)


def _folded(
    at: int,
    graph: Graph,
    label: str,
    members: frozenset[int],
    outputs: dict[tuple[int, int], int],
) -> Node:
    cards: list[Card] = []
    hooks: list[Hook] = []
    notes = [counted(len(members), "node")]
    for node in (graph.nodes[each] for each in sorted(members)):
        for card in node.cards:
            if (entry := (node.index, card.output_nr)) in outputs:
                cards.append(replace(card, output_nr=outputs[entry]))
        where = node.cards[0].name if node.cards else node.name
        for hook in node.hooks:
            slot = outputs.get((node.index, hook.output_nr))
            name = hook.name if slot is not None else f"{hook.name} at {where}".strip()
            hooks.append(hook._replace(name=name, output_nr=slot or 0))
        notes += node.notes
    return Node(at, label, cards, in_order(hooks), notes)
