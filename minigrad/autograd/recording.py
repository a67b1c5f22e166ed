"""Write down what a backward pass does, event by event, without changing it: `record`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, ref

from minigrad.autograd.grad_mode import INFERENCE
from minigrad.autograd.messages import hook_name, type_name
from minigrad.core import extensions
from minigrad.core.engine import AccumulateGrad, GraphTask, resolve_edge
from minigrad.core.modes import modes
from minigrad.core.module_hooks import FullBackwardHooks, LegacyHook
from minigrad.core.node import NO_EDGE, Edge, Node
from minigrad.core.tensor import Tensor, wrap_as_normal

# ------------------------------------------------------------------ events, and their log

# What an event shows of a gradient: a copy of it as a tensor, or None where there was none.
Gradient = Any


class NodeLabel:
    """One node of the graph as a log speaks of it: `2 MulBackward0`, or `4 AccumulateGrad of w`.

    Attributes:
        number: Its number in the order in which the log met the nodes, from 0.
        name: The node's name, without a namespace before it.
        called: For each output the name that `record(names)` gave it, if it did.
    """

    __slots__ = ("_reference", "called", "name", "number")

    def __init__(self, number: int, node: Node, called: dict[int, str]) -> None:
        self.number, self.called, self._reference = number, called, ref(node)
        self.name = node.name().rpartition("::")[2]

    @property
    def node(self) -> Any:
        """The node itself; None if the graph is gone. A log does not keep it alive."""
        return self._reference()

    def __repr__(self) -> str:
        called = ", ".join(dict.fromkeys(self.called.values()))
        return f"{self.number} {self.name}" + (f" of {called}" if called else "")


@dataclass(frozen=True, eq=False, slots=True)
class Event:
    """Something that happened in a backward pass."""

    node: NodeLabel

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
        return "starts with", listed(self.gradients)


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
        in_place: Whether it wrote into what it was given, or changed the `.grad` of a leaf.
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
        saw = " and ".join(map(written, self.seen))
        wrote = "changed .grad" if self.kind == "post-accumulate" else "wrote into it"
        end = wrote if self.in_place else "changed nothing"
        if self.raised is not None:
            end = f"raised {self.raised}"
        elif self.returned is not None:
            end = f"returned {written(self.returned)}"
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
        return "rule", f"{listed(self.grad_outputs)} -> {listed(self.grad_inputs)}"


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
        position: Its position among the inputs that `grad()` was given.
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

    It is a sequence of events. Printed, it is a table.

    Attributes:
        events: The events.
    """

    def __init__(self, events: Any = None, names: Any = None) -> None:
        self.events: list[Event] = [] if events is None else events
        self._names: list[tuple[str, Any]] = [] if names is None else names

    def named(self) -> dict[str, Any]:
        """Give the tensors that `record(names)` has names for, as far as they are alive."""
        return {name: each for name, tensor in self._names if (each := tensor()) is not None}

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __getitem__(self, key: int | slice) -> Any:
        """Give one event, or a log of some."""
        if isinstance(key, slice):
            return type(self)(self.events[key], self._names)
        return self.events[key]

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
        return type(self)([each for each in self.events if isinstance(each, kinds)], self._names)

    @property
    def hooks(self) -> list[HookFired]:
        """The hooks that fired, in order."""
        return [event for event in self.events if isinstance(event, HookFired)]

    @property
    def table(self) -> str:
        """The events as a text table, a line each."""
        rows = self.rows()
        widths = [max(len(row[column]) for row in rows) for column in range(2)]
        return "\n".join(f"{a:<{widths[0]}}  {b:<{widths[1]}}  {c}".rstrip() for a, b, c in rows)

    def rows(self) -> list[tuple[str, str, str]]:
        """Give what the table says, its head first."""
        return [("node", "event", "values"), *((str(e.node), *e._columns()) for e in self.events)]

    def __repr__(self) -> str:
        return self.table


def snapshot(value: Any) -> Any:
    """Copy gradients as they are now, to tensors; nested tuples and lists become tuples."""
    if isinstance(value, (tuple, list)):
        return tuple(map(snapshot, value))
    array = getattr(value, "_array", value)
    return wrap_as_normal(array.copy("K")) if hasattr(array, "dtype") else value


# Entries of a gradient, of others a table shows the shape; and gradients of a tuple.
_MOST, _MOST_LISTED = 4, 8


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


def written(value: Any, write: Callable[[Any], str] = shown) -> str:
    """Write what a hook saw or returned: a gradient, or a tuple of them, of many the first few."""
    if not isinstance(value, tuple):
        return write(value)
    parts = [written(each, write) for each in value[:_MOST_LISTED]]
    parts += [f"and {len(value) - _MOST_LISTED} more"] * (len(value) > _MOST_LISTED)
    return f"({', '.join(parts)}{',' if len(value) == 1 else ''})"


def listed(gradients: tuple[Gradient, ...], write: Callable[[Any], str] = shown) -> str:
    """Write gradients, a single one without brackets."""
    return written(gradients[0] if len(gradients) == 1 else gradients, write)


# ------------------------------------------------------------------ writing them down


class record:
    """Log the backward passes of a block on minigrad's tensors; see `minigrad.viz.record`.

    Passes of other threads are not logged; those that a hook starts are.
    """

    def __init__(self, names: Any = None) -> None:
        self._names: list[tuple[str, Any]] = []
        self._other_names: list[tuple[str, Any]] = []  # of PyTorch's tensors: see `viz.pytorch`
        for name, tensor in named_tensors(names):
            if not hasattr(tensor, "requires_grad"):
                raise TypeError(f"{name!r} names a {type_name(tensor)}, which isn't a tensor")
            known = self._names if isinstance(tensor, Tensor) else self._other_names
            known.append((name, tensor))

    def __enter__(self) -> Log:
        """Begin to log."""
        self._outer, modes.recorder = modes.recorder, Recorder(self._names, modes.recorder)
        extensions.pass_kinds.append(recorded_here)
        return modes.recorder.log

    def __exit__(self, *exception: object) -> None:
        """End."""
        modes.recorder = self._outer
        extensions.pass_kinds.remove(recorded_here)


class Recorder:
    """What the passes of one block write their events to."""

    def __init__(self, names: Sequence[tuple[str, Any]], outer: Recorder | None) -> None:
        self.log = Log(names=[(name, ref(tensor)) for name, tensor in names])
        self.outer = outer
        self._met = 0  # how many nodes
        # Nothing here keeps a node alive: when a graph goes must not depend on who looks on.
        self._labels: WeakKeyDictionary[Node, NodeLabel] = WeakKeyDictionary()

    def label(self, node: Node) -> NodeLabel:
        """Give the label of a node, the next number if it is met for the first time."""
        label = self._labels.get(node)
        if label is None:
            called: dict[int, str] = {}
            for name, reference in self.log._names:
                tensor = reference()
                edge = NO_EDGE if tensor is None else tensor._edge or resolve_edge(tensor)
                if edge[0] is node:
                    called.setdefault(edge[1], name)
            label = self._labels[node] = NodeLabel(self._met, node, called)
            self._met += 1
        return label

    def note(self, kind: type[Event], node: Node, *facts: Any) -> None:
        """Write down an event, here and in the log of a block around this one."""
        self.log.events.append(kind(self.label(node), *facts))
        if self.outer is not None:
            if kind is GradientSent:  # each log numbers the nodes by itself
                facts = (facts[0], self.outer.label(facts[1].node), *facts[2:])
            self.outer.note(kind, node, *facts)


class RecordedTask(GraphTask):
    """A backward pass that writes down what it does."""

    every_step = observed = True
    evaluating: Node | None = None  # the node that runs

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.recorder: Recorder = modes.recorder

    def run(self, edges: Sequence[Edge], gradients: Any) -> None:
        """Write down where the pass starts, and run it."""
        for (node, output_nr), gradient in zip(edges, gradients, strict=True):
            if node is not None:
                self.recorder.note(PassStarted, node, output_nr, snapshot(gradient))
        super().run(edges, gradients)

    def _evaluate(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        self.evaluating, note = node, self.recorder.note
        self.arrived, self.left = snapshot(grad_outputs), None
        note(NodeStarted, node, self.arrived)
        results = super()._evaluate(node, grad_outputs)
        copies = self.left if self.left is not None and node._hooks is None else snapshot(results)
        pairs = zip(copies, node.next_functions, strict=False)
        for input_nr, (sent, (target, output_nr)) in enumerate(pairs):
            runs = self.needed is None or target in self.needed
            if target is not None and sent is not None and runs:
                note(GradientSent, node, input_nr, self.recorder.label(target), output_nr, sent)
        return results

    def _capture(self, node: Node, grad_outputs: Sequence[Any]) -> None:
        super()._capture(node, grad_outputs)  # type: ignore[misc]  # only a chosen pass does
        for position, output_nr in self.captures[node]:  # type: ignore[attr-defined]
            if grad_outputs[output_nr] is not None:
                facts = position, output_nr, snapshot(grad_outputs[output_nr])
                self.recorder.note(GradientCaptured, node, *facts)

    def _call_rule(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        # Without hooks the rule gets what arrived, and what it gives is sent: one copy is enough.
        given = self.arrived if node._hooks is None else snapshot(grad_outputs)
        results = super()._call_rule(node, grad_outputs)
        if type(node) is not AccumulateGrad:
            self.left = snapshot(self._asked_for(node, results))
            self.recorder.note(RuleApplied, node, given, self.left)
        elif given[0] is not None and node.variable.requires_grad:
            total = snapshot(node.variable._grad)
            self.recorder.note(GradientAccumulated, node, given[0], total)
        return results

    def hooks_to_call(self, kind: str, hooks: Iterable[Any], output_nr: int = 0) -> list[Any]:
        """Put around each hook what writes down that it fired, what it saw and what it returned.

        A full hook's own hook on the node stays: it calls the user's, which are written down.
        """
        facts = kind, self.evaluating, output_nr, self.recorder
        inner = [isinstance(getattr(hook, "__self__", None), FullBackwardHooks) for hook in hooks]
        return [h if own else RecordedHook(h, *facts) for h, own in zip(hooks, inner, strict=True)]


@functools.cache
def _recorded(kind: type[GraphTask]) -> type[GraphTask]:
    return type(kind.__name__, (RecordedTask, kind), {})


def recorded_here(kind: type[GraphTask]) -> type[GraphTask]:
    """Give the kind of pass that is a given kind, and written down if this thread records."""
    if modes.recorder is None or issubclass(kind, RecordedTask):
        return kind
    return _recorded(kind)  # type: ignore[arg-type]  # classes can be hashed


def _versions(values: Any) -> Any:
    """Give how often each of some gradients was written to."""
    if isinstance(values, (tuple, list)):
        return [_versions(each) for each in values]
    counter = getattr(values, "_version_counter", None)
    return 0 if counter is None or counter is INFERENCE else counter.value


class RecordedHook:
    """A hook that writes down each of its calls."""

    copied, versions = staticmethod(snapshot), staticmethod(_versions)

    def __init__(self, hook: Any, kind: str, node: Any, output_nr: int, recorder: Any) -> None:
        self.hook, self.node, self.output_nr, self.recorder = hook, node, output_nr, recorder
        self.kind = "legacy backward" if isinstance(hook, LegacyHook) else kind
        self.called = hook_name(hook.hook if isinstance(hook, LegacyHook) else hook)
        if hasattr(hook, "__name__"):  # errors name the hook
            self.__name__ = hook.__name__

    def __call__(self, *given: Any) -> Any:
        """Call the hook, and write that down."""
        return self.noted(self.node, given)

    def noted(self, node: Any, given: tuple[Any, ...]) -> Any:
        """Call the hook at a node, and write that down."""
        facts = [each for each in given if not hasattr(each, "register_forward_hook")]  # no module
        leaf = given[0] if self.kind == "post-accumulate" else None  # which has its .grad changed
        seen, held = self.sees(node, facts), getattr(leaf, "grad", None)
        before = self.versions([facts, held])
        returned, raised = None, None
        try:
            returned = self.hook(*given)
        except BaseException as error:
            raised = f"{type(error).__name__}: {error}"
            raise
        finally:
            changed = getattr(leaf, "grad", None) is not held
            in_place = changed or self.versions([facts, held]) != before
            event = (self.kind, self.called, self.output_nr, seen, self.copied(returned))
            self.recorder.note(HookFired, node, *event, in_place, raised)
        return returned

    def sees(self, node: Any, facts: Any) -> Any:
        """Copy what the hook is given."""
        return self.copied(facts)


def named_tensors(names: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (name, tensor) from a dict, a Module, or a list of such; a dict may hold Modules.

    Args:
        names: `{"x": x, "net": net}`, a Module, `[net, {"x": x}]`, or None.
        prefix: Put before the names of parameters, with a dot.

    Raises:
        TypeError: If it is none of these.

    Example:
        >>> import minigrad as torch
        >>> x = torch.ones(2)
        >>> [name for name, _ in named_tensors([torch.nn.Linear(1, 1), {"x": x}])]
        ['weight', 'bias', 'x']
    """
    # As deep as somebody wrote brackets into a call, so recursion is safe here.
    if names is None:
        return
    if hasattr(names, "named_parameters"):
        yield from names.named_parameters(prefix)
    elif isinstance(names, Mapping):
        for name, value in names.items():
            module = hasattr(value, "named_parameters")
            yield from named_tensors(value, str(name)) if module else [(str(name), value)]
    elif isinstance(names, list | tuple):
        for part in names:
            yield from named_tensors(part)
    else:
        raise TypeError(f"names must be a dict of tensors or a Module, not {type(names).__name__}")
