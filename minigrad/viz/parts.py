"""Stack up what belongs to a node (tensor, hooks, rule) in the order in which gradients meet it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from minigrad.viz.graph import Edge, Graph, Node
from minigrad.viz.reading import BEFORE_RULE, INSIDE, Hook
from minigrad.viz.text import MONOSPACE, SANS, text_width

SIZE = 12.0
SMALL = 10.5
LINE = 15.5
SUM_SIZE = 17.0

HOOK_LABELS = {
    "tensor pre-hook": "tensor hook",
    "retain_grad": "retain_grad",
    "node pre-hook": "node pre-hook",
    "full backward pre": "full backward pre-hook",
    "full backward": "full backward hook",
    "legacy backward": "legacy backward hook",
    "post-accumulate": "post-accumulate hook",
    "node hook": "node hook",
    "saved-tensor hooks": "saved-tensor hooks",
}
MOST_HOOKS = 4  # so many are listed at a folded box


@dataclass(frozen=True)
class Run:
    """A piece of text in one style: family, size, `"bold"` or not, `"ink"` or another tone."""

    text: str
    family: str = MONOSPACE
    size: float = SIZE
    bold: bool = False
    tone: str = "ink"

    @property
    def width(self) -> float:
        """The width to be reserved for it."""
        return text_width(self.text, self.size, self.family, self.bold)


@dataclass(frozen=True)
class Part:
    """One shape of a stack with its lines of text; `gap` is the way to the next part."""

    kind: str
    lines: tuple[tuple[Run, ...], ...]
    width: float
    height: float
    gap: float = 0.0
    hook: str = ""
    whole: str = ""


def hook_label(hook: Hook, several: bool = False) -> str:
    """Say what kind of hook it is.

    Example:
        >>> hook_label(Hook("full backward", "watch", 0, "global"))
        'global full backward hook'
        >>> hook_label(Hook("tensor pre-hook", "gather", 0, "multi-grad"))
        'multi-grad hook'
        >>> hook_label(Hook("saved-tensor hooks", "unpack", 0, "self"))
        'saved-tensor hooks on self'
    """
    kind = hook.kind.removesuffix(INSIDE)
    label = HOOK_LABELS.get(kind, kind)
    if hook.remark == "multi-grad":
        label = "multi-grad hook"
    elif hook.kind == "saved-tensor hooks" and hook.remark:
        label += f" on {hook.remark}"
    elif hook.remark:
        label = f"{hook.remark} {label}"
    if kind != hook.kind:
        label += INSIDE
    if several and hook.kind in ("tensor pre-hook", "retain_grad"):
        label += f", output {hook.output_nr}"
    return label


def _part(
    kind: str, lines: Sequence[Sequence[Run]], pad: float = 9.0, gap: float = 0.0, hook: str = ""
) -> Part:
    width = max((sum(run.width for run in line) for line in lines), default=0.0)
    height = max(LINE * len(lines) + 9.0, 22.0)
    return Part(
        kind, tuple(map(tuple, lines)), round(width + 2 * pad, 1), round(height, 1), gap, hook
    )


def _hook_part(hook: Hook, several: bool) -> Part:
    label = hook_label(hook, several)
    runs = [Run(label, SANS, SMALL)]
    if hook.name:
        runs = [Run(hook.name, bold=True), Run("  " + label, SANS, SMALL)]
    on_edge = hook.kind in ("tensor pre-hook", "retain_grad")
    part = _part("hook", [runs], pad=9.0, gap=8.0 if on_edge else 0.0, hook=hook.kind)
    return replace(part, width=part.width + 17, height=21.0)


def _tensor_lines(node: Node, several: bool = False) -> list[list[Run]]:
    lines = []
    for card in node.cards:
        shape = f" {card.shape}, out {card.output_nr}" if several else f" {card.shape}"
        lines.append([Run(card.name, bold=True), Run(shape, size=SMALL, tone="soft")])
        numbers = []
        if card.value is not None:
            numbers.append(Run(card.value))
        if card.grad is not None:
            numbers.append(Run("  grad " if numbers else "grad ", SANS, SMALL, tone="soft"))
            numbers.append(Run(card.grad, bold=card.grad != "None", tone="grad"))
        if len(numbers) == 3 and sum(run.width for run in numbers) > 190:
            label = Run("grad ", SANS, SMALL, tone="soft")
            lines += [numbers[:1], [label, *numbers[2:]]]
        elif numbers:
            lines.append(numbers)
    return lines


def _whole(node: Node) -> str:
    return "; ".join(f"{card.name}: {card.whole}" for card in node.cards if card.whole)


def _fold_part(node: Node) -> Part:
    """Draw several nodes as one: what it is, how often, and what goes in and out."""
    counted = [Run(f"{node.holds} node{'s' if node.holds > 1 else ''}", SANS, SMALL, tone="soft")]
    if node.repeats > 1:
        counted.insert(0, Run(f"\u00d7 {node.repeats}   ", SANS, SIZE, bold=True, tone="grad"))
    lines = [[Run(node.name, SANS, SIZE, bold=True)]]
    lines += [[Run(line, SANS, SMALL, tone="soft")] for line in node.lines]
    lines.append(counted)
    part = _part("repeat" if node.repeats > 1 else "fold", lines, 12.0)
    return replace(part, height=part.height + (4.0 if node.repeats > 1 else 0.0))


def stack_of(node: Node, summed: int, outputs: int, sideways: bool = False) -> list[Part]:
    """Return a node's parts in the order in which a gradient passes them.

    Args:
        node: the node.
        summed: how many gradients arrive at its output, to be added if there are several.
        outputs: at how many of its outputs gradients arrive.
        sideways: whether gradients flow to the side rather than up or down.
    """
    # The sign grows with the number of arrows, across the direction in which they come.
    size = min(SUM_SIZE + 7.0 * max(summed - 2, 0), 120.0)
    width, height = (SUM_SIZE, size) if sideways else (size, SUM_SIZE)
    plus = Part("sum", ((Run("+", SANS, 13.0, bold=True),),), width, height, 6.0)
    parts = [plus] if summed > 1 else []
    if node.cards and node.role != "leaf":
        part = _part("tensor", _tensor_lines(node, outputs > 1), gap=8.0)
        parts.append(replace(part, whole=_whole(node)))
    parts += [_hook_part(hook, outputs > 1) for hook in node.hooks if hook.kind in BEFORE_RULE]
    if node.role == "leaf":
        lines = _tensor_lines(node) or [[Run("leaf", bold=True)]]
        parts.append(replace(_part("leaf", lines), whole=_whole(node)))
    elif node.role == "fold":
        parts.append(_fold_part(node))
    else:
        pad = 16.0 if node.role == "identity" else 11.0
        parts.append(_part(node.role, [[Run(node.name)]], pad))
    behind = [hook for hook in node.hooks if hook.kind not in BEFORE_RULE]
    most = MOST_HOOKS if node.role == "fold" else len(behind)
    parts += [_hook_part(hook, outputs > 1) for hook in behind[:most]]
    if len(behind) > most:
        parts.append(_part("note", [[Run(f"{len(behind) - most} more hooks inside", SANS, SMALL)]]))
    if outputs > 1:  # room for an arrow to each
        parts[0] = replace(parts[0], width=max(parts[0].width, 64.0 * (outputs - 1)))
    if node.notes:
        lines = [
            [Run(line, SANS, SMALL + 0.5, tone="note")]
            for note in node.notes
            for line in note.splitlines()
        ]
        parts[-1] = replace(parts[-1], gap=5.0)
        parts.append(_part("note", lines, pad=7.0))
    return parts


def stacks_of(graph: Graph, sideways: bool = False) -> list[list[Part]]:
    """Return the stack of every node of a graph."""
    arriving: list[list[Edge]] = [[] for _ in graph.nodes]
    for edge in graph.edges:
        arriving[edge.target].append(edge)
    stacks = []
    for node in graph.nodes:
        outputs = [edge.output_nr for edge in arriving[node.index]]
        distinct = {*outputs, *(card.output_nr for card in node.cards)}
        # A sum is drawn as a sign of its own, but where several outputs would have to share it.
        summed = len(outputs) if len(set(outputs)) == 1 else 0
        stacks.append(stack_of(node, summed, len(distinct), sideways))
    return stacks
