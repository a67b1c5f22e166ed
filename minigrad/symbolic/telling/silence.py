"""Tell where a gradient ended on its way, as a rule or a hook gave None in its place."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from minigrad.autograd.accumulate import AccumulateGrad
from minigrad.autograd.node import Node
from minigrad.autograd.recording import HookFired
from minigrad.symbolic.telling.effects import KINDS, name_of
from minigrad.symbolic.telling.local import Value
from minigrad.symbolic.telling.passage import Passage


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


def leaves_behind(ends: Sequence[Silence], reached: Container[Value]) -> list[Value]:
    """List the leaves to which nothing was sent, and which got no gradient from elsewhere."""
    targets = dict.fromkeys(each.target for each in ends if each.target)
    return [t for t in targets if type(t[0]) is AccumulateGrad and t not in reached]


def _by(hooks: Sequence[HookFired]) -> str:
    acting = [hook for hook in hooks if isinstance(hook.returned, tuple)]
    with_none = [hook for hook in acting if any(each is None for each in hook.returned)]
    return ", ".join(
        dict.fromkeys(
            f"{KINDS.get(hook.kind, hook.kind)} {name_of(hook)}" for hook in with_none or acting
        )
    )
