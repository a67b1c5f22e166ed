"""Read a recorded backward pass node by node: what arrived, what hooks left, what was sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from minigrad.autograd.gradients import grad
from minigrad.autograd.recording import (
    GradientSent,
    HookFired,
    NodeStarted,
    RuleApplied,
    record,
)
from minigrad.core.leaves import AccumulateGrad
from minigrad.core.node import Node
from minigrad.core.tensor import Tensor
from minigrad.symbolic.derivations.hooks import KINDS, name_of
from minigrad.symbolic.derivations.nodes import Value

_OF_ONE = "tensor pre-hook"  # of a single output of its node


@dataclass(eq=False)
class Passage:
    """How a backward pass went through one node. Gradients are arrays, None where there was none.

    Attributes:
        node: The node.
        arrived: For each output the gradient that arrived, a sum already.
        given: What the rule got, after the hooks before it.
        computed: For each input what the rule gave.
        sent: For each input what was sent on, after the hooks behind the rule.
        before: The hooks that fired before the rule.
        after: The hooks that fired behind it.
    """

    node: Node
    arrived: list[Any]
    given: list[Any] = field(default_factory=list)
    computed: list[Any] = field(default_factory=list)
    sent: list[Any] = field(default_factory=list)
    before: list[HookFired] = field(default_factory=list)
    after: list[HookFired] = field(default_factory=list)
    ran: bool = False

    @property
    def is_leaf(self) -> bool:
        """Whether the node is a leaf's."""
        return type(self.node) is AccumulateGrad

    def changes(self, behind: bool) -> Iterator[tuple[int, list[HookFired], Any, Any]]:
        """Yield for each gradient before or behind the rule its number, and what hooks did there.

        That is the hooks, the gradient that they found, and what they left.
        """
        if behind:
            for number, pair in enumerate(zip(self.computed, self.sent, strict=False)):
                yield number, self.after, *pair
        else:
            for number, pair in enumerate(zip(self.arrived, self.given, strict=True)):
                own = [h for h in self.before if h.output_nr == number or h.kind != _OF_ONE]
                yield number, own, *pair


def run_recorded(loss: Tensor) -> list[Passage]:
    """Run one backward pass that changes nothing, and tell how it went.

    The graph is kept, no `.grad` changes, and every hook on the way fires once, as it does in
    `autograd.grad`.

    Returns:
        The passages in the order in which the engine ran the nodes.
    """
    leaves, retained = leaves_of(loss), _retained(loss)
    try:
        with record() as log:
            found = grad(loss, leaves, retain_graph=True, allow_unused=True)
    finally:
        for tensor, gradient in retained:
            tensor._grad = gradient
    passages: dict[Node, Passage] = {}
    for event in log.events:
        node = event.node.node
        if node is None:
            continue  # of a pass inside of a rule, whose graph is gone
        if isinstance(event, NodeStarted):
            arrived = [_array(each) for each in event.gradients]
            passages[node] = Passage(node, arrived, list(arrived))
        passage = passages.get(node)
        if passage is None:
            continue
        if isinstance(event, HookFired):
            (passage.after if passage.ran else passage.before).append(event)
        elif isinstance(event, RuleApplied):
            passage.ran = True
            passage.given = [_array(each) for each in event.grad_outputs]
            passage.computed = [_array(each) for each in event.grad_inputs]
            passage.sent = [None] * len(node.next_functions)
        elif isinstance(event, GradientSent):
            passage.sent[event.input_nr] = _array(event.gradient)
    captured = {id(tensor): _array(each) for tensor, each in zip(leaves, found, strict=True)}
    for passage in passages.values():
        leaf = id(passage.node.variable) if passage.is_leaf else None
        if leaf in captured:  # its accumulation does not run: what its hooks left was captured
            passage.given = [captured[leaf]]
    return list(passages.values())


def _array(gradient: Any) -> Any:
    return None if gradient is None else gradient._array


def _retained(loss: Tensor) -> list[tuple[Any, Any]]:
    """List the inner tensors that retain their gradient, with the one that they hold."""
    found = []
    for node in nodes_of(loss):
        hooks = node._hooks
        for reference in [] if hooks is None else hooks.retained.values():
            tensor = reference()
            if tensor is not None:
                found.append((tensor, tensor._grad))
    return found


def nodes_of(loss: Tensor) -> list[Node]:
    """List the nodes that a loss depends on, those of leaves included, the root first."""
    root = loss.grad_fn
    pending, seen = [root], {root}
    found = []
    while pending:
        node = pending.pop()
        if node is None:
            continue
        found.append(node)
        for source, _ in node.next_functions:
            if source is not None and source not in seen:
                seen.add(source)
                pending.append(source)
    return found


def leaves_of(loss: Tensor) -> list[Tensor]:
    """List the leaves that a loss depends on, in the order in which the forward used them."""
    found: list[Tensor] = []
    inner = [node for node in nodes_of(loss) if type(node) is not AccumulateGrad]
    for node in sorted(inner, key=lambda node: node._sequence_nr()):
        for source, _ in node.next_functions:
            if type(source) is AccumulateGrad and not any(source.variable is x for x in found):
                found.append(source.variable)
    return found


@dataclass(frozen=True)
class Silence:
    """A place in the graph behind which there is no gradient, though one came up to there.

    Attributes:
        node: The node at which it ended.
        target: The value to which nothing was sent; None if the node itself got nothing.
        hook: The hook that gave None, such as "node hook stop"; empty if the rule did.
    """

    node: Node
    target: Value | None
    hook: str = ""

    def told(self, target: str) -> str:
        """Say it in a sentence.

        Args:
            target: What the target is called.
        """
        name = self.node.name()
        if self.target is None:
            return f"{name} got no gradient: {self.hook} gave None for it"
        by = self.hook or "its rule"
        return f"{name} sends no gradient to {target}: {by} gave None for it"


def silences(passages: Sequence[Passage]) -> Iterator[Silence]:
    """Find where gradients ended."""
    for passage in passages:
        node = passage.node
        pairs = list(zip(passage.arrived, passage.given, strict=True))
        if any(arrived is not None and given is None for arrived, given in pairs):
            yield Silence(node, None, _by(passage.before))
        if not passage.ran or all(given is None for _, given in pairs):
            continue
        edges = zip(node.next_functions, passage.computed, passage.sent, strict=False)
        for (target, output_nr), computed, sent in edges:
            if target is not None and sent is None:
                hook = "" if computed is None else _by(passage.after)
                yield Silence(node, (target, output_nr), hook)


def _by(hooks: Sequence[HookFired]) -> str:
    acting = [hook for hook in hooks if isinstance(hook.returned, tuple)]
    with_none = [hook for hook in acting if any(each is None for each in hook.returned)]
    return ", ".join(
        dict.fromkeys(
            f"{KINDS.get(hook.kind, hook.kind)} {name_of(hook)}" for hook in with_none or acting
        )
    )
