"""Read the graph that a computation left behind into plain data: nodes, edges, tensors, hooks."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from typing import Any

from minigrad.autograd.graph import HookRecord as Hook
from minigrad.autograd.graph import hooks_of
from minigrad.autograd.messages import hook_name
from minigrad.autograd.recording import HOOKS, named_tensors
from minigrad.core.node import Node as GraphNode
from minigrad.viz import pytorch
from minigrad.viz.text import format_shape, format_values

# These run before the node's own rule, the others after it.
BEFORE_RULE = tuple(HOOKS)[:3]


@dataclass(frozen=True)
class Card:
    """What is shown of one tensor, all as text; None where there is nothing to show."""

    name: str
    shape: str
    value: str | None = None
    grad: str | None = None
    output_nr: int = 0


MOST_VALUES = 4  # entries of a tensor that are shown; of others the shape alone


def card_of(tensor: Any, name: str, values: bool, gradients: bool, digits: int) -> Card:
    """Put what is to be shown of `tensor` into text."""
    small = prod(tensor.shape) <= MOST_VALUES
    value = _entries(tensor, digits) if values and small else None
    grad = None
    # Reading .grad of an inner tensor that does not retain it warns, so it is not read.
    if gradients and (tensor.is_leaf or getattr(tensor, "retains_grad", False)):
        grad = "None"
        if tensor.grad is not None:
            grad = _entries(tensor.grad, digits) if small else format_shape(tensor.grad.shape)
    return Card(name, format_shape(tensor.shape), value, grad, int(getattr(tensor, "output_nr", 0)))


def _entries(tensor: Any, digits: int) -> str:
    try:
        return format_values(tensor.tolist(), digits)
    except RuntimeError:  # without memory, as on the device "meta", or a batch of vmap
        return pytorch.UNREADABLE


def hook_reader(nodes: Sequence[Any]) -> Callable[[Any], Iterable[Any]]:
    """Give what lists the hooks of a graph's nodes, of minigrad's or of PyTorch's."""
    known = hooks_of if isinstance(nodes[0], GraphNode) else pytorch.hook_reader(nodes)
    return lambda node: [*known(node), *hooks_on_saved(node)]


def hooks_on_saved(node: Any) -> list[Hook]:
    """List the hooks that packed what a node saved, by the one that will unpack it."""
    if isinstance(node, GraphNode) and not any(hasattr(s, "unpack") for s in node._saved or ()):
        return []
    found = []
    for name in (each for each in dir(node) if each.startswith("_raw_saved_")):
        with suppress(RuntimeError):  # freed by a pass
            saved = getattr(node, name)
            several = saved if isinstance(saved, tuple) else (saved,)
            hooks = (getattr(each, "unpack_hook", None) for each in several)
            title = name.removeprefix("_raw_saved_")
            found += [Hook("saved-tensor hooks", hook_name(h), 0, title) for h in hooks if h]
    return found


def in_order(hooks: Iterable[Any]) -> list[Hook]:
    """Return the hooks in the order in which they run; within one kind as they were given."""
    # retain_grad is no function of the user's, so it has no name besides its kind.
    plain = [
        Hook(h.kind, "" if h.name == h.kind else h.name, h.output_nr or 0, getattr(h, "remark", ""))
        for h in hooks
    ]
    rank = [*HOOKS]
    return sorted(plain, key=lambda hook: rank.index(hook.kind) if hook.kind in rank else 99)


LEAF = "AccumulateGrad"
IDENTITY = "BackwardHookFunctionBackward"
# What stands for a whole graph that was compiled, and what to say of it.
COMPILED = "CompiledFunctionBackward"
UNSEEN = "compiled: what happens inside is not visible"


@dataclass
class Node:
    """One node of the graph: an operation, a leaf, or the identity node of a full backward hook."""

    index: int
    name: str
    cards: list[Card] = field(default_factory=list)
    hooks: list[Hook] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def role(self) -> str:
        """Return `"leaf"`, `"identity"` or `"operation"`."""
        return {LEAF: "leaf", IDENTITY: "identity"}.get(self.name, "operation")


@dataclass(frozen=True)
class Edge:
    """The gradient's way from one node to another, by index: which input, which output of it."""

    source: int
    target: int
    input_nr: int
    output_nr: int


@dataclass
class Graph:
    """Nodes in an order in which each comes before those it sends gradients to, edges, groups."""

    nodes: list[Node]
    edges: list[Edge]
    roots: list[int]
    groups: dict[str, frozenset[int]] = field(default_factory=dict)
    input_counts: list[int] = field(default_factory=list)


class Index:
    """Find a node's index by the live node, by a tensor, or by a name."""

    def __init__(self, nodes: list[Any], names: list[tuple[str, Any]]) -> None:
        """Hold the live nodes and the named tensors for as long as a picture is being made."""
        self.live = nodes
        self._places = {id(node): at for at, node in enumerate(nodes)}
        self.leaves = [(at, n.variable) for at, n in enumerate(nodes) if hasattr(n, "variable")]
        self._places |= {id(leaf): at for at, leaf in self.leaves}
        self.names = [(name, tensor, self.locate(tensor)) for name, tensor in names]

    def locate(self, thing: Any) -> int | None:
        """Return the index of a live node, or of the node a tensor came out of; None if absent."""
        at = self._places.get(id(thing))
        grad_fn = getattr(thing, "grad_fn", None) if at is None else None
        return at if grad_fn is None else self._places.get(id(grad_fn))

    def resolve(self, thing: Any) -> int:
        """Return the index meant by a node, a tensor or a name.

        Raises:
            KeyError: if it is not part of the graph.
        """
        if isinstance(thing, str):
            known = {name: at for name, _, at in reversed(self.names) if at is not None}
            if thing in known:
                return known[thing]
            listed = ", ".join(reversed(known)) or "no names"
            raise KeyError(f"{thing!r} names nothing in this graph; it has: {listed}")
        at = self.locate(thing)
        if at is None:
            raise KeyError(
                f"a {type(thing).__name__} was given that is not part of this graph; "
                "give a node or tensor of the computation drawn, or a name from names="
            )
        return at


def root_of(output: Any) -> Any:
    """Return the node where the gradient of `output` enters: its `grad_fn`, or a leaf's node.

    Raises:
        ValueError: if `output` carries no graph.
    """
    if hasattr(output, "next_functions"):
        return output
    node = getattr(output, "grad_fn", None)
    if node is None and getattr(output, "requires_grad", False):
        return output.view_as(output).grad_fn.next_functions[0][0]
    if node is None:
        raise ValueError(
            "there is no graph to draw: this tensor has no grad_fn and requires no gradient. Set "
            "requires_grad=True on an input, compute again outside no_grad, and draw the result."
        )
    return node


def read_graph(
    outputs: list[Any],
    names: Any = None,
    hooks: bool | Callable[[Any], Iterable[Any]] = True,
    values: bool = True,
    gradients: bool = True,
    digits: int = 4,
    limit: int = 500,
) -> tuple[Graph, Index]:
    """Read the graph behind `outputs`; nothing is run and nothing is changed.

    Args:
        outputs: tensors (or nodes) to begin with.
        names: names for tensors, see `named_tensors`.
        hooks: True to show the hooks, False not to, or a function that lists a node's hooks.
        values: whether to show tensors' values.
        gradients: whether to show the gradients they hold.
        digits: decimals.
        limit: how many nodes there may be.

    Returns:
        The graph as plain data, and an index from live nodes, tensors and names into it.
    """
    live = pytorch.walk([root_of(output) for output in outputs], limit)
    index = Index(live, list(named_tensors(names)))
    # without the namespace that PyTorch puts before AccumulateGrad
    titles = enumerate(node.name().rpartition("::")[2] for node in live)
    nodes = [Node(at, name, notes=[UNSEEN] * (name == COMPILED)) for at, name in titles]
    edges = [
        Edge(at, target, input_nr, int(output_nr))
        for at, node in enumerate(live)
        for input_nr, (successor, output_nr) in enumerate(node.next_functions)
        if (target := index.locate(successor)) is not None
    ]
    known: list[tuple[str, Any, int | None]] = list(index.names)
    results = [each for each in outputs if not hasattr(each, "next_functions")]
    known += [("output", each, index.locate(each)) for each in results]
    known += [("leaf", leaf, at) for at, leaf in index.leaves]
    shown: dict[Any, tuple[str, Any]] = {}
    for name, tensor, found in known:
        shown.setdefault((found, int(getattr(tensor, "output_nr", 0))), (name, tensor))
    for (found, _), (name, tensor) in shown.items():
        if found is not None:
            nodes[found].cards.append(card_of(tensor, name, values, gradients, digits))
    reader = hooks if callable(hooks) else hook_reader(live) if hooks else None
    for at, node in enumerate(live):
        nodes[at].cards.sort(key=lambda card: card.output_nr)
        if reader:
            nodes[at].hooks = in_order(reader(node))
    roots = list(dict.fromkeys(index.resolve(root_of(each)) for each in outputs))
    return Graph(nodes, edges, roots, {}, [len(node.next_functions) for node in live]), index
