"""Draw what the call of a module left as one node, so that a large model fits one picture."""

from collections.abc import Mapping
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import Any

from minigrad.viz.graph import Edge, Graph, Node, in_order
from minigrad.viz.text import counted


def fold(graph: Graph, parts: Mapping[str, frozenset[int]]) -> Graph:
    """Replace each of some parts of a graph by one node.

    It has the tensors at which gradients come in, all hooks of the part, and an edge to each place
    that one of its nodes sends a gradient to.

    Args:
        graph: The graph; it is not changed.
        parts: Labels and nodes, without common ones.

    Raises:
        graphlib.CycleError: If gradients leave a part and come back.
    """
    label_of = {at: label for label, members in parts.items() for at in members}
    # what stands for each node: the label of its part, or its own number
    stands = [label_of.get(at, at) for at in range(len(graph.nodes))]
    crossing = [edge for edge in graph.edges if stands[edge.source] != stands[edge.target]]
    sorter: TopologicalSorter[Any] = TopologicalSorter({each: () for each in stands})
    for edge in crossing:
        sorter.add(stands[edge.target], stands[edge.source])
    place = {each: at for at, each in enumerate(sorter.static_order())}
    # the outputs of each part where gradients come in, and its ways out, with their new numbers
    entries: dict[Any, dict[Any, int]] = {label: {} for label in parts}
    exits: dict[Any, dict[Any, int]] = {label: {} for label in parts}
    arrivals = [(edge.target, edge.output_nr) for edge in crossing]
    for entry in arrivals + [(root, 0) for root in graph.roots]:
        if (part := stands[entry[0]]) in entries:
            entries[part].setdefault(entry, len(entries[part]))
    edges: dict[Edge, None] = {}  # each once
    for edge in crossing:
        source, target = stands[edge.source], stands[edge.target]
        input_nr = edge.input_nr
        output_nr = entries.get(target, {}).get((edge.target, edge.output_nr), edge.output_nr)
        if source in exits:
            input_nr = exits[source].setdefault((target, output_nr), len(exits[source]))
        edges[Edge(place[source], place[target], input_nr, output_nr)] = None
    nodes = [
        _folded(at, graph, each, parts[each], entries[each])
        if each in parts
        else replace(graph.nodes[each], index=at)
        for each, at in place.items()
    ]
    counts = [len(exits[each]) if each in parts else graph.input_counts[each] for each in place]
    groups = {
        label: frozenset(place[stands[member]] for member in members)
        for label, members in graph.groups.items()
        if not any(members <= part for part in parts.values())
    }
    roots = list(dict.fromkeys(place[stands[root]] for root in graph.roots))
    return Graph(nodes, list(edges), roots, groups, counts)


def _folded(
    at: int, graph: Graph, label: str, members: frozenset[int], entries: dict[Any, int]
) -> Node:
    folded = Node(at, label, notes=[counted(len(members), "node")])
    for node in (graph.nodes[each] for each in sorted(members)):
        around = [(len(each), name) for name, each in graph.groups.items() if node.index in each]
        of_module = min(around)[1].partition(":")[0]
        where = node.cards[0].name if node.cards else node.name
        for card in node.cards:
            if (entry := (node.index, card.output_nr)) in entries:
                folded.cards.append(replace(card, output_nr=entries[entry]))
        for hook in node.hooks:
            slot = entries.get((node.index, hook.output_nr))
            at_what = of_module if "backward" in hook.kind else where
            name = hook.name if slot is not None else f"{hook.name} at {at_what}".strip()
            folded.hooks.append(hook._replace(name=name, output_nr=slot or 0))
        folded.notes += node.notes
    folded.hooks = in_order(folded.hooks)
    return folded
