"""What happens in a backward pass, event by event, and the log that holds the events."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from minigrad.core.node import Node
from minigrad.core.tensor import wrap_as_normal

# What an event shows of a gradient: a copy of it as a tensor, or None where there was none.
Gradient = Any


class NodeLabel:
    """One node of the graph as a log speaks of it: `2 MulBackward0`, or `4 AccumulateGrad of w`.

    Attributes:
        number: Its place in the order in which the log met the nodes, from 0.
        name: The node's name, without a namespace before it.
        called: For each output the name that `record(names)` gave it, if it did.
    """

    __slots__ = ("_reference", "called", "name", "number")

    def __init__(self, number: int, node: Node, called: dict[int, str]) -> None:
        self.number = number
        self._reference = weakref.ref(node)
        self.name = node.name().rpartition("::")[2]
        self.called = called

    @property
    def node(self) -> Any:
        """The node itself; None if the graph is gone. A log does not keep it alive."""
        return self._reference()

    def __eq__(self, other: object) -> bool:
        """Tell whether two logs mean the same node: in the same place, with the same names."""
        if not isinstance(other, NodeLabel):
            return NotImplemented
        mine, others = (self.number, self.name), (other.number, other.name)
        return mine == others and self.called == other.called

    def __hash__(self) -> int:
        return hash((self.number, self.name))

    def __repr__(self) -> str:
        called = ", ".join(dict.fromkeys(self.called.values()))
        return f"{self.number} {self.name}" + (f" of {called}" if called else "")


@dataclass(frozen=True, eq=False, slots=True)
class Event:
    """Something that happened in a backward pass. Events are equal if all they tell is equal."""

    node: NodeLabel

    def __eq__(self, other: object) -> bool:
        """Compare all that the two tell; numbers have to be the same, to the last digit."""
        if type(other) is not type(self):
            return NotImplemented
        return all(_same(getattr(self, f.name), getattr(other, f.name)) for f in fields(self))

    __hash__ = None  # type: ignore[assignment]

    def _columns(self) -> tuple[str, str]:
        """Give what the log's table says: what happened, and with which values."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, slots=True)
class PassStarted(Event):
    """A backward pass began at a root, the node of a loss for example, with this gradient."""

    output_nr: int
    gradient: Gradient

    def _columns(self) -> tuple[str, str]:
        return "pass starts here", shown(self.gradient)


@dataclass(frozen=True, eq=False, slots=True)
class NodeStarted(Event):
    """All gradients have arrived at a node: one for each of its outputs, their sum already."""

    gradients: tuple[Gradient, ...]

    def _columns(self) -> tuple[str, str]:
        return "starts with", _list(self.gradients)


# What the kinds of hooks are called, in the order in which those of one node run, from the incoming
# gradient to the outgoing ones.
HOOKS = {
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


@dataclass(frozen=True, eq=False, slots=True)
class HookFired(Event):
    """A hook was called.

    Attributes:
        kind: What sort of hook: "tensor pre-hook", "node pre-hook", "node hook",
            "post-accumulate", "full backward", "full backward pre", "legacy backward".
        name: The hook's name.
        output_nr: For a tensor's hook, which output of the node that tensor is.
        seen: What it was called with, a tuple for each tuple; without the module.
        returned: What it returned; None if it left things as they are.
        in_place: Whether it wrote into what it was given.
        raised: The error that it ended in, as text; None if it ended well.
    """

    kind: str
    name: str
    output_nr: int
    seen: tuple[Any, ...]
    returned: Any
    in_place: bool = False
    raised: str | None = None

    def _columns(self) -> tuple[str, str]:
        saw = " and ".join(map(_list_or_one, self.seen))
        if self.raised is not None:
            end = f"raised {self.raised}"
        elif self.returned is not None:
            end = f"returned {_list_or_one(self.returned)}"
        else:
            end = "wrote into it" if self.in_place else "changed nothing"
        return f"{self.kind} {self.name}", f"saw {saw}, {end}"


@dataclass(frozen=True, eq=False, slots=True)
class RuleApplied(Event):
    """The backward rule of a node turned the gradients of its outputs into those of its inputs.

    Attributes:
        grad_outputs: What the rule got, after the hooks that come before it.
        grad_inputs: What it gave, before the hooks that come after it.
    """

    grad_outputs: tuple[Gradient, ...]
    grad_inputs: tuple[Gradient, ...]

    def _columns(self) -> tuple[str, str]:
        return "rule", f"{_list(self.grad_outputs)} -> {_list(self.grad_inputs)}"


@dataclass(frozen=True, eq=False, slots=True)
class GradientSent(Event):
    """A node sent the gradient of one of its inputs along an edge.

    Attributes:
        input_nr: Which input of the node it is the gradient of.
        target: The node that it was sent to: the one that made that input, or a leaf's.
        output_nr: Which output of the target that input is.
        gradient: What was sent.
    """

    input_nr: int
    target: NodeLabel
    output_nr: int
    gradient: Gradient

    def _columns(self) -> tuple[str, str]:
        return f"sends to {self.target}", shown(self.gradient)


@dataclass(frozen=True, eq=False, slots=True)
class GradientAccumulated(Event):
    """A leaf's `.grad` was added to.

    Attributes:
        gradient: What arrived.
        total: What `.grad` was afterwards.
    """

    gradient: Gradient
    total: Gradient

    def _columns(self) -> tuple[str, str]:
        return "adds to .grad", f"{shown(self.gradient)}, now {shown(self.total)}"


@dataclass(frozen=True, eq=False, slots=True)
class GradientCaptured(Event):
    """A gradient that `grad()` was asked for had arrived.

    Attributes:
        position: Its place among the inputs that `grad()` was given.
        output_nr: Which output of the node that input is.
        gradient: What was captured.
    """

    position: int
    output_nr: int
    gradient: Gradient

    def _columns(self) -> tuple[str, str]:
        return f"captured as no. {self.position}", shown(self.gradient)


class Log:
    """The events of one or several backward passes, in their order; see `record`.

    It is a sequence of events. Two logs are equal if their events are. Printed, it is a table.

    Attributes:
        events: The events.
    """

    def __init__(
        self, events: list[Event] | None = None, names: list[tuple[str, Any]] | None = None
    ) -> None:
        self.events: list[Event] = [] if events is None else events
        self._names = [] if names is None else names

    def named(self) -> dict[str, Any]:
        """Give the tensors that `record(names)` has names for, as far as they are alive."""
        found = ((name, reference()) for name, reference in self._names)
        return {name: tensor for name, tensor in found if tensor is not None}

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __getitem__(self, key: int | slice) -> Any:
        """Give one event, or a log of some."""
        if isinstance(key, slice):
            return Log(self.events[key], self._names)
        return self.events[key]

    def __eq__(self, other: object) -> bool:
        """Tell whether the same happened: the same events in the same order."""
        if not isinstance(other, Log):
            return NotImplemented
        return self.events == other.events

    __hash__ = None  # type: ignore[assignment]

    def of(self, *kinds: type[Event]) -> Log:
        """Give a log of the events of some kinds only.

        Example:
            >>> import minigrad as torch
            >>> from minigrad.viz import GradientAccumulated, record
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> with record({"x": x}) as log:
            ...     (x * x).backward()
            >>> log.of(GradientAccumulated)
            node                   event          values
            1 AccumulateGrad of x  adds to .grad  [6.0000], now [6.0000]
        """
        return Log([event for event in self.events if isinstance(event, kinds)], self._names)

    @property
    def hooks(self) -> list[HookFired]:
        """The hooks that fired, in order."""
        return [event for event in self.events if isinstance(event, HookFired)]

    @property
    def table(self) -> str:
        """The events as a text table, a line each."""
        rows = [("node", "event", "values")]
        rows += [(str(event.node), *event._columns()) for event in self.events]
        widths = [max(len(row[place]) for row in rows) for place in range(2)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in rows)

    def __repr__(self) -> str:
        return self.table


def snapshot(value: Any) -> Any:
    """Copy gradients as they are now; nested tuples and lists become tuples."""
    if isinstance(value, (tuple, list)):
        return tuple(map(snapshot, value))
    array = getattr(value, "_array", None)
    return value if array is None else wrap_as_normal(array.copy("K"))


_MOST = 4  # entries of a gradient that a table shows; of others it shows the shape


def shown(gradient: Gradient) -> str:
    """Write a gradient on one line: its entries if they are few, else its shape."""
    array = getattr(gradient, "_array", None)
    if array is None:
        return str(gradient)
    return _entries(array.tolist()) if array.size <= _MOST else f"shape {array.shape}"


def _entries(nested: Any) -> str:
    if isinstance(nested, list):
        return "[" + ", ".join(map(_entries, nested)) + "]"
    if not isinstance(nested, float):
        return str(nested)
    if nested and not 1e-3 <= abs(nested) < 1e5:
        return f"{nested:.4e}"
    return f"{nested + 0.0:.4f}"  # adding zero takes the sign off a negative zero


def _list(gradients: tuple[Gradient, ...]) -> str:
    return shown(gradients[0]) if len(gradients) == 1 else f"({', '.join(map(shown, gradients))})"


def _list_or_one(value: Any) -> str:
    """Write what a hook saw or returned: a gradient, or a tuple of them."""
    if not isinstance(value, tuple):
        return shown(value)
    return f"({', '.join(map(_list_or_one, value))}{',' if len(value) == 1 else ''})"


def _same(mine: Any, other: Any) -> bool:
    if isinstance(mine, tuple) and isinstance(other, tuple):
        return len(mine) == len(other) and all(map(_same, mine, other))
    first, second = (getattr(each, "_array", None) for each in (mine, other))
    if first is None or second is None:
        return bool(type(mine) is type(other) and mine == other)
    if first.dtype != second.dtype or first.shape != second.shape:
        return False
    if first.dtype == object:
        return bool(first.tolist() == second.tolist())
    return bool(np.array_equal(first, second, equal_nan=first.dtype.kind in "fc"))
