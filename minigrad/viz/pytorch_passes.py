"""Write down what PyTorch's own backward passes do, as `record` writes down minigrad's.

For the time of a pass a first and a last hook are put into the table of each node's hooks, and each
hook of the user's is called through a `RecordedHook`. When the pass is over every table is as it
was. PyTorch is not imported here either.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from itertools import count
from threading import current_thread
from typing import Any
from weakref import ref

from minigrad.autograd import recording
from minigrad.viz import pytorch


class Label(recording.NodeLabel):
    """A node of PyTorch's, which lasts as long as Python or its graph has it: no log keeps it.

    It is found again from the tensors that passes began at, while these are there.
    """

    def __init__(self, node: Any, roots: list[Any]) -> None:
        self.number, self.called = -1, {}  # the log gives it the next number
        self.name = node.name().rpartition("::")[2]
        self._roots = roots

    @property
    def node(self) -> Any:
        """The node itself; None if the graph is gone."""
        tensors = [root() for root in self._roots]
        nodes = pytorch.reachable([edge_of(each)[0] for each in tensors if each is not None])
        return next((node for node in nodes if self in node.metadata.values()), None)


class RecordedHook(recording.RecordedHook):
    """A hook of the user's that writes down each of its calls."""

    copied, versions = staticmethod(pytorch.copied), staticmethod(pytorch.versions)

    def __init__(
        self, hook: Any, kind: str, recorder: Recorder, at: Label | None = None, output_nr: int = 0
    ) -> None:
        super().__init__(hook, kind, at, output_nr, recorder)
        self.called = pytorch.called(hook.hook if kind == "legacy backward" else hook)

    def __call__(self, *given: Any) -> Any:
        """Call the hook, and write that down."""
        label = self.recorder.looks_on() and (self.node or self.recorder.running)
        return self.noted(label, given) if label else self.hook(*given)

    def sees(self, node: Any, facts: Any) -> Any:
        """Copy what the hook is given, which may be the first that arrives at a node."""
        seen = pytorch.copied(facts)
        if self.kind == "tensor pre-hook":
            self.recorder.arrives(node, self.output_nr, seen[0])
        return seen


class Recorder:
    """What PyTorch's passes of one block write their events to.

    Args:
        names: Names and tensors.
        log: Where the events go.
    """

    def __init__(self, names: Sequence[tuple[str, Any]], log: recording.Log) -> None:
        self.names, self.log = names, log
        self.thread = current_thread()  # whose passes they are
        self.numbers = count()
        self.roots: list[Any] = []  # where passes began
        self.undo = ExitStack()  # restores everything
        self.passes: list[set[Any] | None] = []  # of each that runs: the nodes it needs, None: all
        self.running: Label | None = None  # of the node that is at work
        self.prepared: set[Any] = set()
        self.begun: Any = None  # a label, the place in the log, what arrived at which output
        self.given: dict[Label, Any] = {}  # for each leaf what will be added
        self.early: dict[Label, list[tuple[int, int]]] = {}  # what is captured where a node runs
        self.waiting: list[recording.Event] = []  # written down unless the pass ends in an error

    # To find all hooks takes longer than a pass of minigrad's, so only a pass of PyTorch's does it.
    alive = cached_property(lambda self: pytorch.Hooked())

    def start(self) -> None:
        """Look on from now."""
        torch = sys.modules["torch"]
        self.register = torch.Tensor.register_hook
        self._replace(torch.autograd, "_engine_run_backward", self._run)
        self._replace(torch.Tensor, "register_hook", self._register_hook)
        self._replace(torch.Tensor, "retain_grad", self._retain_grad)

    def looks_on(self) -> bool:
        """Tell whether a hook was called by a pass that is written down."""
        return bool(self.passes) and not pytorch.is_other(self.thread)

    def _ours(self, hook: Callable[..., None]) -> Callable[..., None]:
        return lambda *given: hook(*given) if self.looks_on() else None

    def stop(self) -> None:
        """Leave everything as it was."""
        self.undo.close()

    # ---------------------------------------------------------------- what is put in, and taken out

    def _replace(self, owner: Any, name: str, around: Callable[..., Any]) -> None:
        original = getattr(owner, name)

        def replacement(*args: Any, **kwargs: Any) -> Any:
            return around(original, *args, **kwargs)

        setattr(owner, name, replacement)
        self.undo.callback(setattr, owner, name, original)

    def _register_hook(self, original: Any, tensor: Any, hook: Any) -> Any:
        handle = original(tensor, hook)
        table = tensor._backward_hooks
        self.alive.tables.append(ref(table))
        if self.looks_on():  # it may run in this pass
            node, output_nr = edge_of(tensor)
            self._wrap(table, "tensor pre-hook", self.undo, self.label(node), output_nr)
        return handle

    def _retain_grad(self, original: Any, tensor: Any) -> None:
        original(tensor)
        self.alive.retaining.append(ref(tensor))

    def _wrap(self, table: Any, kind: str, undo: ExitStack, *at: Any) -> None:
        """Call the hooks of a table through what writes their calls down."""
        for key, hook in list((table or {}).items()):
            inner = pytorch.module_hooks_of(hook)
            if inner is not None:  # PyTorch's own hook on an identity node calls the user's
                self._wrap_list(inner, "user_hooks", "full backward", undo)
                self._wrap_list(inner, "user_pre_hooks", "full backward pre", undo)
            elif getattr(hook, "recorder", None) is not self:
                for own in pytorch.hooks_in([hook]):  # none if a block around this one put it in
                    called = "legacy backward" if pytorch.is_legacy(own) else kind
                    table[key] = RecordedHook(hook, called, self, *at)
                    undo.callback(pytorch.restore, table, key, hook)

    def _wrap_list(self, inner: Any, name: str, kind: str, undo: ExitStack) -> None:
        hooks = getattr(inner, name)
        if not any(getattr(each, "recorder", None) is self for each in hooks):
            setattr(inner, name, [RecordedHook(each, kind, self) for each in hooks])
            undo.callback(setattr, inner, name, hooks)

    def _surround(self, table: Any, first: Any, last: Any, undo: ExitStack) -> None:
        """Put one hook before and one after those of a table; no handle has their numbers."""
        hooks, low = dict(table), min([0, *table])
        table.clear()  # the engine goes by when a hook was put in, not by `move_to_end`
        table[low - 1] = self._ours(first)
        table.update(hooks)
        table[low - 2] = self._ours(last)
        undo.callback(lambda: [table.pop(low - at, None) for at in (1, 2)])

    def _prepare(self, node: Any, undo: ExitStack) -> None:
        """Put around a node's hooks what writes down that it starts, what it gave, what it sent."""
        leaf, label = getattr(node, "variable", None), self.label(node)
        before, behind = map(pytorch.table_of, (node.register_prehook, node.register_hook))
        self._wrap(before, "node pre-hook", undo)
        self._wrap(behind, "node hook", undo)

        came: list[Any] = []  # one for each pass that is in this node
        left: Any = None

        def starts(gradients: Any) -> None:
            came.append(pytorch.copied(gradients))
            self.arrives(label, 0, came[-1][0])
            self._started(came[-1])

        def keep(gradients: Any) -> None:
            if len(before) > 2:  # else no hook of the user's was called since
                came[-1] = pytorch.copied(gradients)
            if leaf is not None:
                self.given[label] = came[-1]

        def gave(gradients: Any, arrived: Any) -> None:
            nonlocal left
            self.running, left = label, pytorch.copied(gradients)
            given = came.pop()
            if leaf is None:
                self.note(recording.RuleApplied, label, given, left)

        def sends(gradients: Any, arrived: Any) -> None:
            self._sends(node, left if len(behind) == 2 else pytorch.copied(gradients))

        self._surround(before, starts, keep, undo)
        self._surround(behind, gave, sends, undo)
        if leaf is not None:
            self._wrap(leaf._post_accumulate_grad_hooks, "post-accumulate", undo, label)
        if leaf is not None and leaf.requires_grad:  # still
            self._wrap(leaf._backward_hooks, "tensor pre-hook", undo, label, 0)
            after = pytorch.table_of(leaf.register_post_accumulate_grad_hook)

            def accumulated(leaf: Any) -> None:
                (given,) = self.given.pop(label)
                if given is not None:
                    total = pytorch.copied(leaf.grad)
                    self.note(recording.GradientAccumulated, label, given, total)

            self._surround(after, accumulated, pytorch.idle, undo)

    # ---------------------------------------------------------------- passes and what they do

    def _run(self, original: Any, outputs: Any, gradients: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a pass, and write down what it does."""
        inputs = args[2] if len(args) > 2 else kwargs.get("inputs", ())
        if pytorch.is_other(self.thread):
            return original(outputs, gradients, *args, **kwargs)
        try:
            edges = [edge_of(each) for each in outputs]
            ends = {edge_of(each)[0] for each in inputs}
            live = pytorch.walk([node for node, _ in edges])
        except (RuntimeError, AttributeError):  # without a graph: the engine says so itself
            return original(outputs, gradients, *args, **kwargs)
        self.roots += [ref(each) for each in outputs if pytorch.is_foreign(each)]
        places = set(live)
        for name, tensor in self.names:
            with suppress(RuntimeError, AttributeError):  # without a graph, or inside torch.func's
                node, output_nr = edge_of(tensor)
                if node in places:
                    self.label(node).called.setdefault(output_nr, name)
        needed: set[Any] = set()
        for node in reversed(live):
            if node in ends or any(target in needed for target, _ in node.next_functions):
                needed.add(node)
        with ExitStack() as undo:
            self.passes.append(needed if inputs else None)
            undo.callback(self._back_to, self.running, self.begun)
            self.begun = None
            new = [node for node in live if node not in self.prepared]
            hooked = pytorch.tensor_hooks(self.alive, new)
            for node in new:
                self.prepared.add(node)
                undo.callback(self.prepared.discard, node)
                for table, output_nr in hooked.get(node, ()):
                    self._wrap(table, "tensor pre-hook", undo, self.label(node), output_nr)
                self._prepare(node, undo)
            if not kwargs.get("accumulate_grad"):
                self._prepare_captures(inputs, undo)
            for (node, output_nr), gradient in zip(edges, gradients, strict=False):
                start = pytorch.copied(gradient.to(node._input_metadata[output_nr].dtype))
                self.waiting.append(recording.PassStarted(self.label(node), output_nr, start))
            try:
                result = original(outputs, gradients, *args, **kwargs)
            except RuntimeError as error:
                if "have been used in the graph" in str(error):  # which it tells afterwards
                    self._go_on()
                raise
            self._go_on()
            return result

    def _back_to(self, running: Label | None, begun: Any) -> None:
        """Leave a pass."""
        self.waiting.clear()
        self._started()
        self.running, self.begun = running, begun
        self.passes.pop()

    def _prepare_captures(self, inputs: Any, undo: ExitStack) -> None:
        """Look at what `grad()` was asked for: what arrives where a node runs, else what is left.

        A node that runs has its captures taken before the hooks of its tensors, and any other one
        after them.
        """
        needed, torch = self.passes[-1] or (), sys.modules["torch"]
        for position, tensor in enumerate(inputs):
            node, output_nr = edge_of(tensor)
            label = self.label(node)
            if any(target in needed for target, _ in node.next_functions):
                self.early.setdefault(label, []).append((position, output_nr))
                undo.callback(self.early.pop, label, None)
                continue
            hook = self._ours(self._capturing(label, position, output_nr))
            tensor = getattr(node, "variable", tensor)
            if pytorch.is_foreign(tensor):
                undo.callback(self.register(tensor, hook).remove)
                continue
            table = OrderedDict([(0, hook)])  # of an edge: by a tensor that is the same output
            stand_in = torch.zeros(output_nr + 1, requires_grad=True).unbind()[output_nr]
            stand_in._backward_hooks = table
            node._register_hook_dict(stand_in)
            undo.callback(table.clear)

    def _capturing(self, label: Label, position: int, output_nr: int) -> Any:
        depth = len(self.passes)

        def captured(gradient: Any) -> None:
            if len(self.passes) == depth:  # else of a pass within it
                shown = pytorch.copied(gradient)
                self.arrives(label, output_nr, shown)
                self._started(ends=True)
                if gradient is not None:
                    self.note(recording.GradientCaptured, label, position, output_nr, shown)

        return captured

    def label(self, node: Any) -> Label:
        """Give the label of a node; the node itself keeps it."""
        held: dict[Any, Any] = node.metadata
        if self not in held:
            held[self] = Label(node, self.roots)
        return held[self]

    def _number(self, label: recording.NodeLabel) -> None:
        if label.number < 0:
            label.number = next(self.numbers)

    def note(self, kind: type[recording.Event], label: Label, *facts: Any) -> None:
        """Write down an event."""
        self._go_on()
        self._write(kind(label, *facts), len(self.log.events))

    def _write(self, event: recording.Event, place: int) -> None:
        self._number(event.node)
        if isinstance(event, recording.GradientSent):
            self._number(event.target)
        self.log.events.insert(place, event)

    def _go_on(self) -> None:
        """Write down what waited for the engine to go on."""
        for event in self.waiting:
            self._write(event, len(self.log.events))
        self.waiting.clear()

    def arrives(self, label: Label, output_nr: int, gradient: Any) -> None:
        """Keep what arrived at an output before its first hook saw it."""
        if self.begun is None or self.begun[0] is not label:
            self._started()
            self._go_on()
            self._number(label)
            self.begun = label, len(self.log.events), {}
        self.begun[2].setdefault(output_nr, gradient)

    def _started(self, gradients: Sequence[Any] = (), ends: bool = False) -> None:
        """Write that a node starts, before its tensors' hooks, with what the first of them saw."""
        if self.begun is None or self.begun[1] is None:
            return
        label, place, arrived = self.begun
        self.begun = (label, None, arrived) if ends else None
        self.running = label
        given = [*gradients, *[None] * (1 + max(arrived) - len(gradients))]
        for output_nr, gradient in arrived.items():
            given[output_nr] = gradient
        self._write(recording.NodeStarted(label, tuple(given)), place)
        for position, output_nr in reversed(self.early.get(label, ())):
            if given[output_nr] is not None:
                event = recording.GradientCaptured(label, position, output_nr, given[output_nr])
                self._write(event, place + 1)

    def _sends(self, node: Any, gradients: Any) -> None:
        needed = self.passes[-1]
        for number, (target, output_nr) in enumerate(node.next_functions):
            sent = gradients[number] if number < len(gradients) else None
            if target is not None and sent is not None and (needed is None or target in needed):
                facts = self.label(node), number, self.label(target), output_nr, sent
                self.waiting.append(recording.GradientSent(*facts))


def edge_of(tensor: Any) -> tuple[Any, int]:
    """Give the node where the gradient of a tensor, or of a `GradientEdge`, enters."""
    if pytorch.is_foreign(tensor):
        with sys.modules["torch"].inference_mode(False):  # in it a leaf does not tell its node
            tensor = sys.modules["torch"].autograd.graph.get_gradient_edge(tensor)
    return tensor.node, tensor.output_nr
