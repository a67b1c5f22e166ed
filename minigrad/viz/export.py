"""Write a graph in words: a table, a description for those who cannot see it, DOT for Graphviz."""

from collections import Counter

from minigrad.viz.graph import Graph, Node
from minigrad.viz.parts import hook_label
from minigrad.viz.reading import Hook


def hook_words(hook: Hook) -> str:
    """Name a hook in words.

    Example:
        >>> hook_words(Hook("full backward", "rescale_hook"))
        'full backward hook rescale_hook'
    """
    label = hook_label(hook)
    return f"{label} {hook.name}" if hook.name else label


def tensor_words(node: Node) -> str:
    """Name the tensors at a node with shape, value and gradient."""
    words = []
    for card in node.cards:
        value = "" if card.value is None else f" = {card.value}"
        grad = "" if card.grad is None else f", grad {card.grad}"
        words.append(f"{card.name} {card.shape}{value}{grad}")
    return "; ".join(words)


def node_words(node: Node) -> str:
    """Name a node, and say how often it comes in a row and how many it stands for."""
    if node.role != "fold":
        return node.name
    return f"[{node.name}{f' x {node.repeats}' if node.repeats > 1 else ''}]"


def fold_words(node: Node) -> list[str]:
    """List what is to be said of a folded node."""
    if node.role != "fold":
        return []
    return [*node.lines, f"{node.holds} node{'s' if node.holds > 1 else ''}"]


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
        held = "; ".join(part for part in (tensor_words(node), *fold_words(node)) if part)
        rows.append((str(node.index), node_words(node), targets, held, last))
    if not any(row[4] for row in rows[1:]):
        rows = [(*row[:4], "") for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  ".join([*cells, row[4]]).rstrip())
    for label, members in graph.groups.items():
        lines.append(f"{label}: nodes {' '.join(map(str, sorted(members)))}")
    if graph.folded:
        lines.append(graph.folded)
    return "\n".join(lines)


def description(graph: Graph) -> str:
    """Describe the graph in sentences, for the alternative text of its picture."""
    operations = [node for node in graph.nodes if node.role != "leaf"]
    leaves = [node for node in graph.nodes if node.role == "leaf"]
    heads = [tensor_words(graph.nodes[root]) or graph.nodes[root].name for root in graph.roots]
    sentences = [f"Graph of {' and '.join(heads)}"]
    if graph.folded:
        sentences.append(graph.folded)
    if operations and len(operations) <= 16:
        names = (
            node_words(node) + (f" ({'; '.join(fold_words(node))})" if node.lines else "")
            for node in operations
        )
        sentences.append(f"From the output on: {', '.join(names)}")
    elif operations:
        counted = Counter(node_words(node) for node in operations)
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
    if len(graph.groups) > 6:
        sentences.append(f"Boxes: {'; '.join(graph.groups)}")
    for label, members in graph.groups.items() if len(graph.groups) <= 6 else ():
        inside = ", ".join(graph.nodes[member].name for member in sorted(members)[:12])
        sentences.append(f"A box named {label} holds {inside}")
    return ". ".join(sentences) + "."


def dot(graph: Graph, prefix: str = "n") -> str:
    """Write the statements of a DOT graph, for those who have Graphviz."""
    lines = []
    shapes = {"operation": "box", "leaf": "box", "identity": "hexagon", "fold": "box3d"}
    for node in graph.nodes:
        label = [node_words(node)] if node.role != "leaf" else []
        label += fold_words(node)
        label += [tensor_words(node)] if node.cards else []
        label += [hook_words(hook) for hook in node.hooks] + node.notes
        style = ', style="rounded"' if node.role == "operation" else ""
        text = _quoted("\n".join(label))
        lines.append(f"  {prefix}{node.index} [label={text}, shape={shapes[node.role]}{style}];")
    lines += [f"  {prefix}{edge.source} -> {prefix}{edge.target};" for edge in graph.edges]
    return "\n".join(lines + _clusters(graph, prefix))


def _clusters(graph: Graph, prefix: str) -> list[str]:
    """Write the groups as clusters, each within the smallest one that holds all of it."""
    groups = sorted(graph.groups.items(), key=lambda item: -len(item[1]))
    depth: list[int] = []
    around: list[int] = []
    for at, (_, members) in enumerate(groups):
        outer = [other for other in range(at) if members <= groups[other][1]]
        around.append(outer[-1] if outer else -1)
        depth.append(depth[outer[-1]] + 1 if outer else 0)
    # Written in the order of a walk through the tree, each closed when the walk leaves it.
    lines: list[str] = []
    stack = [at for at in reversed(range(len(groups))) if around[at] < 0]
    opened: list[int] = []
    while stack:
        at = stack.pop()
        while len(opened) > depth[at]:
            lines.append("  " * len(opened) + "}")
            opened.pop()
        label, members = groups[at]
        opened.append(at)
        pad = "  " * len(opened)
        lines.append(f"{pad}subgraph cluster_{prefix}{at} {{ label={_quoted(label)};")
        names = "; ".join(f"{prefix}{member}" for member in sorted(members))
        lines.append(f"{pad}  {names};")
        stack += [other for other in reversed(range(len(groups))) if around[other] == at]
    while opened:
        lines.append("  " * len(opened) + "}")
        opened.pop()
    return lines


def _quoted(text: str) -> str:
    inner = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'
