"""Write a graph in words: a table, a description for those who cannot see it, DOT for Graphviz."""

from collections import Counter

from minigrad.viz.graph import Graph, Node
from minigrad.viz.parts import HOOK_LABELS
from minigrad.viz.reading import Hook


def hook_words(hook: Hook) -> str:
    """Name a hook in words.

    Example:
        >>> hook_words(Hook("full backward", "rescale_hook"))
        'full backward hook rescale_hook'
    """
    label = HOOK_LABELS.get(hook.kind, hook.kind)
    return f"{label} {hook.name}" if hook.name else label


def tensor_words(node: Node) -> str:
    """Name the tensors at a node with shape, value and gradient."""
    words = []
    for card in node.cards:
        value = "" if card.value is None else f" = {card.value}"
        grad = "" if card.grad is None else f", grad {card.grad}"
        words.append(f"{card.name} {card.shape}{value}{grad}")
    return "; ".join(words)


def _targets(graph: Graph) -> list[str]:
    """Say for each node where its gradients go, a dash for an input that needs none."""
    ways = [["-"] * count for count in graph.input_counts]
    for edge in graph.edges:
        nr = f".{edge.output_nr}" if edge.output_nr else ""
        ways[edge.source][edge.input_nr] = f"{edge.target}{nr}"
    return [" ".join(way) for way in ways]


def table(graph: Graph) -> str:
    """Write the graph as a text table, a line for each node, the same every time."""
    rows = [("#", "node", "sends to", "tensor", "hooks")]
    for node, targets in zip(graph.nodes, _targets(graph), strict=True):
        hooks = ", ".join(map(hook_words, node.hooks))
        notes = "; ".join(note.replace("\n", " ") for note in node.notes)
        last = " | ".join(part for part in (hooks, notes) if part)
        rows.append((str(node.index), node.name, targets, tensor_words(node), last))
    if not any(row[4] for row in rows[1:]):
        rows = [(*row[:4], "") for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[4]]).rstrip())
    for label, members in graph.groups.items():
        lines.append(f"{label}: nodes {' '.join(map(str, sorted(members)))}")
    return "\n".join(lines)


def description(graph: Graph) -> str:
    """Describe the graph in sentences, for the alternative text of its picture."""
    operations = [node for node in graph.nodes if node.role != "leaf"]
    leaves = [node for node in graph.nodes if node.role == "leaf"]
    heads = [tensor_words(graph.nodes[root]) or graph.nodes[root].name for root in graph.roots]
    sentences = [f"Graph of {' and '.join(heads)}"]
    if operations and len(operations) <= 16:
        sentences.append(f"From the output on: {', '.join(node.name for node in operations)}")
    elif operations:
        counted = Counter(node.name for node in operations)
        sentences.append("Operations: " + ", ".join(f"{n} {name}" for name, n in counted.items()))
    if leaves and len(leaves) <= 16:
        sentences.append(f"Leaves: {'; '.join(tensor_words(node) or 'leaf' for node in leaves)}")
    elif leaves:
        sentences.append(f"{len(leaves)} leaves")
    hooks = [
        f"{hook_words(hook)} at node {node.index} ({node.name})"
        for node in graph.nodes
        for hook in node.hooks
    ]
    if hooks:
        sentences.append(f"Hooks: {', '.join(hooks)}")
    for label, members in graph.groups.items():
        inside = ", ".join(graph.nodes[member].name for member in sorted(members)[:12])
        sentences.append(f"A box named {label} holds {inside}")
    return ". ".join(sentences) + "."


def dot(graph: Graph, prefix: str = "n") -> str:
    """Write the statements of a DOT graph, for those who have Graphviz."""
    lines = []
    shapes = {"operation": "box", "leaf": "box", "identity": "hexagon"}
    for node in graph.nodes:
        label = [node.name] if node.role != "leaf" else []
        label += [tensor_words(node)] if node.cards else []
        label += [hook_words(hook) for hook in node.hooks] + node.notes
        style = ', style="rounded"' if node.role == "operation" else ""
        text = _quoted("\n".join(label))
        lines.append(f"  {prefix}{node.index} [label={text}, shape={shapes[node.role]}{style}];")
    lines += [f"  {prefix}{edge.source} -> {prefix}{edge.target};" for edge in graph.edges]
    for at, (group, members) in enumerate(graph.groups.items()):
        names = "; ".join(f"{prefix}{member}" for member in sorted(members))
        lines.append(f"  subgraph cluster_{prefix}{at} {{ label={_quoted(group)}; {names}; }}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'
