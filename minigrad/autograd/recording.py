"""Write down what a backward pass does, event by event, without changing it: `record`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary, ref

from minigrad.autograd.accumulate import AccumulateGrad
from minigrad.autograd.events import (
    Event,
    GradientAccumulated,
    GradientCaptured,
    GradientSent,
    HookFired,
    Log,
    NodeLabel,
    NodeStarted,
    PassStarted,
    RuleApplied,
    snapshot,
)
from minigrad.autograd.graph_task import GraphTask, WatchedTask
from minigrad.autograd.hooks import hook_name
from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.names import named_tensors
from minigrad.autograd.node import Edge, Node
from minigrad.autograd.type_name import type_name
from minigrad.autograd.variable import Variable
from minigrad.autograd.versions import INFERENCE

__all__ = [
    "Event",
    "GradientAccumulated",
    "GradientCaptured",
    "GradientSent",
    "HookFired",
    "Log",
    "NodeStarted",
    "PassStarted",
    "RuleApplied",
    "record",
]


class record:
    """Log the backward passes of a block: what each node got, what each hook saw, what went where.

    The passes run as they would have, in the same order and with the same values. Gradients are
    copied into the log, so that what is written into them later does not change it. Passes of other
    threads are not logged; those that a hook starts are.

    Args:
        names: Names for tensors, as in `minigrad.viz.draw`: a dict `{"x": x, "s": s}`, a Module,
            whose parameters' names are taken, or a list of both.

    Returns:
        As the target of `with`: the `Log`.

    Raises:
        TypeError: If something else than a tensor of minigrad's has a name.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> def double(grad):
        ...     return grad * 2
        >>> handle = x.register_hook(double)
        >>> with record({"x": x}) as log:
        ...     (x * 5).backward()
        >>> log
        node                   event                           values
        0 MulBackward0         pass starts here                [1.0000]
        0 MulBackward0         starts with                     [1.0000]
        0 MulBackward0         rule                            [1.0000] -> ([5.0000], None)
        0 MulBackward0         sends to 1 AccumulateGrad of x  [5.0000]
        1 AccumulateGrad of x  starts with                     [5.0000]
        1 AccumulateGrad of x  tensor pre-hook double          saw [5.0000], returned [10.0000]
        1 AccumulateGrad of x  adds to .grad                   [10.0000], now [10.0000]
    """

    def __init__(self, names: Any = None) -> None:
        self._names = list(named_tensors(names))
        for name, tensor in self._names:
            if not isinstance(tensor, Variable):
                raise TypeError(
                    f"record() writes down what minigrad's engine does, but {name!r} is a "
                    f"{type_name(tensor)}. Name minigrad's tensors."
                )

    def __enter__(self) -> Log:
        """Begin to log."""
        self._outer = grad_mode.recorder
        recorder = grad_mode.recorder = Recorder(self._names, self._outer)
        return recorder.log

    def __exit__(self, *exception: object) -> None:
        """End."""
        grad_mode.recorder = self._outer


class Recorder:
    """What the passes of one block write their events to."""

    def __init__(self, names: Sequence[tuple[str, Any]], outer: Recorder | None) -> None:
        self.log = Log(names=[(name, ref(tensor)) for name, tensor in names])
        self.outer = outer
        self._met = 0  # how many nodes
        # Nothing here keeps a node alive: when a graph goes must not depend on who looks on.
        self._labels: WeakKeyDictionary[Node, NodeLabel] = WeakKeyDictionary()
        self._called: WeakKeyDictionary[Node, dict[int, str]] = WeakKeyDictionary()
        # A leaf's node may not be there before its first use.
        self._leaves: dict[int, tuple[Callable[[], Any], str]] = {}
        for name, tensor in names:
            node, output_nr = tensor._edge or resolve_edge(tensor)
            if type(node) is AccumulateGrad:
                self._leaves.setdefault(id(tensor), (ref(tensor), name))
            elif node is not None:
                self._called.setdefault(node, {}).setdefault(output_nr, name)

    def label(self, node: Node) -> NodeLabel:
        """Give the label of a node, the next number if it is met for the first time."""
        label = self._labels.get(node)
        if label is None:
            called = self._called.get(node, {})
            if type(node) is AccumulateGrad:
                leaf, name = self._leaves.get(id(node.variable), (None, ""))
                called = {0: name} if leaf is not None and leaf() is node.variable else {}
            label = NodeLabel(self._met, node, called)
            self._labels[node] = label
            self._met += 1
        return label

    def note(self, kind: type[Event], node: Node, *told: Any) -> None:
        """Write down an event, here and in the log of a block around this one."""
        self.log.events.append(kind(self.label(node), *told))
        if self.outer is not None:
            if kind is GradientSent:  # each log numbers the nodes by itself
                told = (told[0], self.outer.label(told[1].node), *told[2:])
            self.outer.note(kind, node, *told)

    def kind_of_task(self, watched: bool) -> type[GraphTask]:
        """Choose the sort of pass that writes down what it does."""
        return RecordedWatchedTask if watched else RecordedTask


class RecordedTask(GraphTask):
    """A backward pass that writes down what it does."""

    arrived: Any = None  # what arrived at the node that runs, if no hook can change it
    found: Any = None  # what its rule gave, if no hook can change it

    def __init__(self, *settings: Any) -> None:
        super().__init__(*settings)
        self.recorder: Recorder = grad_mode.recorder
        self.attended = True

    def run(self, edges: Sequence[Edge], gradients: Any) -> None:
        """Write down where the pass starts, and run it."""
        for (node, output_nr), gradient in zip(edges, gradients, strict=True):
            if node is not None:
                self.recorder.note(PassStarted, node, output_nr, _copied(gradient))
        super().run(edges, gradients)

    def _attend_only_root(self, edge: Edge, gradient: Any) -> None:
        self.evaluating = edge[0]
        super()._attend_only_root(edge, gradient)

    def _run_attended(self, node: Node, gradient: Any) -> Sequence[Any]:
        self.evaluating, note = node, self.recorder.note
        arrived = tuple(map(_copied, gradient if type(gradient) is list else [gradient]))
        note(NodeStarted, node, arrived)
        # what no hook can change is copied once
        self.arrived, self.found = (arrived, None) if node._hooks is None else (None, None)
        results = super()._run_attended(node, gradient)
        if self.found is None:
            self.found = tuple(map(_copied, results))
        for input_nr, (sent, edge) in enumerate(zip(self.found, node.next_functions, strict=False)):
            target, output_nr = edge
            wanted = self.needed is None or target in self.needed or target in self.captures
            if target is not None and sent is not None and wanted:
                label = self.recorder.label(target)
                note(GradientSent, node, input_nr, label, output_nr, sent)
        return results

    def _capture(self, position: int, node: Node, output_nr: int, gradient: Any) -> None:
        super()._capture(position, node, output_nr, gradient)
        if gradient is not None:
            self.recorder.note(GradientCaptured, node, position, output_nr, snapshot(gradient))

    def _call_rule(self, node: Node, grad_outputs: list[Any]) -> Sequence[Any]:
        given = self.arrived or snapshot(grad_outputs)
        results = super()._call_rule(node, grad_outputs)
        if type(node) is not AccumulateGrad:
            found = tuple(map(_copied, results))
            self.recorder.note(RuleApplied, node, given, found)
            self.found = found if node._hooks is None else None
        elif given[0] is not None and node.variable.requires_grad:
            total = snapshot(node.variable._grad)
            self.recorder.note(GradientAccumulated, node, given[0], total)
        return results

    def hooks_to_call(self, kind: str, hooks: Iterable[Any], output_nr: int = 0) -> list[Any]:
        """Put around each hook what writes down that it fired, what it saw and what it returned."""
        node = self.evaluating
        assert node is not None
        return [RecordedHook(hook, kind, node, output_nr, self.recorder) for hook in hooks]


class RecordedWatchedTask(RecordedTask, WatchedTask):
    """A backward pass in anomaly mode that writes down what it does."""


class RecordedHook:
    """A hook that writes down each of its calls."""

    def __init__(
        self, hook: Callable[..., Any], kind: str, node: Node, output_nr: int, recorder: Recorder
    ) -> None:
        self.hook, self.node, self.output_nr, self.recorder = hook, node, output_nr, recorder
        shown = hook.shown_as() if hasattr(hook, "shown_as") else None
        # A full hook's own hook on the node calls the user's, which are written down one by one.
        self.silent = shown is not None and [each[0] for each in shown] != ["legacy backward"]
        self.kind: str = shown[0][0] if shown else kind
        self.called: str = shown[0][1] if shown else hook_name(hook)
        if hasattr(hook, "__name__"):  # errors name the hook
            self.__name__ = hook.__name__

    def __call__(self, *given: Any) -> Any:
        """Call the hook, and write that down."""
        if self.silent:
            return self.hook(*given)
        told = [each for each in given if each is None or isinstance(each, (tuple, Variable))]
        seen, before = snapshot(told), _versions(told)
        returned, raised = None, None
        try:
            returned = self.hook(*given)
        except BaseException as error:
            raised = f"{type(error).__name__}: {error}"
            raise
        finally:
            in_place = _versions(told) != before
            event = (self.kind, self.called, self.output_nr, seen, snapshot(returned))
            self.recorder.note(HookFired, self.node, *event, in_place, raised)
        return returned


def _versions(gradients: Any) -> Any:
    """Give how often each of some gradients was written to."""
    if isinstance(gradients, (tuple, list)):
        return [_versions(each) for each in gradients]
    counter = getattr(gradients, "_version_counter", None)
    return 0 if counter is None or counter is INFERENCE else counter.value


def _copied(gradient: Any) -> Any:
    """Copy a gradient, an array or a tensor, into a tensor of its own."""
    if gradient is None:
        return None
    return Node.wrap(getattr(gradient, "_array", gradient).copy("K"))
