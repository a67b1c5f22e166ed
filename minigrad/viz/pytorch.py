"""Write down what PyTorch's own backward passes do, as `record` writes down minigrad's.

PyTorch's engine is not written in Python, but whoever registers a hook on a node gets the table of
all hooks of its kind on that node. So a first and a last hook are put into each table for the time
of a pass, and each hook of the user's is called through a `RecordedHook`. When the pass is over
every table is as it was. PyTorch is not imported here: its tensors come from who has imported it.
"""

from __future__ import annotations

import gc
import inspect
import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import compress
from typing import Any
from weakref import ref

from minigrad.autograd import recording
from minigrad.autograd.graph import HookRecord
from minigrad.autograd.messages import hook_name
from minigrad.core.modes import modes
from minigrad.core.tensor import wrap_as_normal

MOST_COPIED = 4096  # entries; of larger gradients a log keeps a summary only


class Summary:
    """What a log keeps of a large gradient: its shape, its norm and its first entries."""

    def __init__(self, tensor: Any) -> None:
        torch = sys.modules["torch"]
        self.shape = tuple(tensor.shape)
        # In parts: over millions of entries float32 loses digits, and float64 is ten times as slow.
        parts = tensor.split(max(1, 65536 * len(tensor) // tensor.numel()))
        for wide in (torch.float32, torch.float64):
            kind = torch.promote_types(tensor.dtype, wide)
            norms = (torch.linalg.vector_norm(part, dtype=kind) for part in parts)
            self.norm = math.hypot(*map(float, norms))
            if 0 < self.norm < math.inf:  # squares of float32 overflow from 2e19 on
                break
        corner = tensor[(slice(4),) * tensor.dim()]  # so that the rest is not copied
        self.first = as_array(corner).reshape(-1)[:4].tolist()

    def numel(self) -> int:
        """Give the number of entries."""
        return math.prod(self.shape)

    def __str__(self) -> str:
        return f"{self.shape} of norm {self.norm:.4f}"

    def __repr__(self) -> str:
        first = ", ".join(f"{each:.4f}" for each in self.first)
        return f"{self} that begins with {first}"


def is_foreign(value: Any) -> bool:
    """Tell whether a value is a tensor of PyTorch's, or a node of its graph."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, (torch.Tensor, torch.autograd.graph.Node))


def copied(value: Any) -> Any:
    """Copy PyTorch's gradients into minigrad's tensors; nested tuples and lists become tuples."""
    if isinstance(value, (tuple, list)):
        return tuple(map(copied, value))
    if not is_foreign(value):
        return recording.snapshot(value)
    functorch = sys.modules["torch"]._C._functorch
    if functorch.is_functorch_wrapped_tensor(value):  # in a transform of torch.func
        with sys.modules["torch._functorch.pyfunctorch"].temporarily_clear_interpreter_stack():
            return copied(functorch.get_unwrapped(value))
    try:
        value = dense(value)
        if value.numel() > MOST_COPIED:
            return Summary(value)
        return wrap_as_normal(as_array(value).copy())
    except RuntimeError:  # a batch of vmap, or without memory as on the device "meta"
        return f"shape {tuple(value.shape)} of numbers that cannot be read"


def dense(tensor: Any) -> Any:
    """Give a tensor of PyTorch's outside of its graph, with all its entries if it is sparse."""
    tensor = tensor.detach()
    return tensor if tensor.layout is sys.modules["torch"].strided else tensor.to_dense()


def as_array(tensor: Any) -> Any:
    """Give the numbers of a tensor of PyTorch's, from whatever device, in a type NumPy has."""
    tensor = dense(tensor)
    try:
        return tensor.numpy(force=True)
    except TypeError:  # bfloat16 and the smaller ones
        return tensor.float().numpy(force=True)


def versions(values: Any) -> Any:
    """Give how often each of some tensors was written to."""
    if isinstance(values, (tuple, list)):
        return [versions(each) for each in values]
    return values._version if is_foreign(values) and not values.is_inference() else 0


# ------------------------------------------------------------------ the hooks that are there


def table_of(register: Callable[[Any], Any]) -> Any:
    """Give the table that a method puts hooks into: PyTorch keeps one of each kind on a node."""
    handle = register(_idle)
    table = handle.hooks_dict_ref()
    handle.remove()
    return table


def _idle(*gradients: Any) -> None:
    """Do nothing."""


def module_hooks_of(hook: Any) -> Any:
    """Give the `BackwardHook` whose own hook on an identity node this is, or None."""
    if not getattr(hook, "__qualname__", "").startswith("BackwardHook."):
        return None
    return next((cell.cell_contents for cell in hook.__closure__ or ()), None)


def called(hook: Any) -> str:
    """Give the name of a hook; of one that `register_multi_grad_hook` made, the user's own."""
    if getattr(hook, "__name__", "") == "inner_hook" and "fn" in hook.__code__.co_freevars:
        hook = inspect.getclosurevars(hook).nonlocals["fn"]
    return hook_name(hook)


def is_legacy(hook: Any) -> bool:
    """Tell whether a hook on a node is a module's legacy hook."""
    return (
        type(hook).__name__ == "_WrappedHook" and type(hook).__module__ == "torch.nn.modules.module"
    )


def hook_reader(nodes: Sequence[Any]) -> Callable[[Any], list[HookRecord]]:
    """Give what lists the hooks on each of some nodes, as `autograd.graph.hooks_of` does.

    A hook that was put on in C++ cannot be seen.
    """
    alive = Hooked()
    tables = tensor_hooks(alive, nodes)
    retained: dict[Any, list[HookRecord]] = {}
    for tensor in _still(alive.retaining):
        record = HookRecord("retain_grad", "retain_grad", tensor.output_nr)
        retained.setdefault(tensor.grad_fn, []).append(record)

    def hooks_of(node: Any) -> list[HookRecord]:
        leaf = getattr(node, "variable", None)
        found = [
            HookRecord("tensor pre-hook", called(hook), output_nr)
            for table, output_nr in tables.get(node, ())
            for hook in table.values()
        ]
        found += retained.get(node, ())
        after = getattr(leaf, "_post_accumulate_grad_hooks", None) or {}
        found += [HookRecord("post-accumulate", hook_name(hook)) for hook in after.values()]
        tables_of_node = table_of(node.register_prehook), table_of(node.register_hook)
        for kind, table in zip(("node pre-hook", "node hook"), tables_of_node, strict=True):
            for hook in table.values():
                inner = module_hooks_of(hook)
                if inner is not None:
                    found += _of_module(inner, hook)
                elif is_legacy(hook):
                    found.append(HookRecord("legacy backward", hook_name(hook.hook)))
                else:
                    found.append(HookRecord(kind, hook_name(hook)))
        return found

    return hooks_of


def _of_module(inner: Any, hook: Any) -> Iterator[HookRecord]:
    at_outputs = "setup_output_hook" in hook.__qualname__
    kinds = {"full backward pre": inner.user_pre_hooks, "full backward": inner.user_hooks}
    if not at_outputs or inner.input_tensors_index is not None:
        del kinds["full backward" if at_outputs else "full backward pre"]
    own = (*inner.module._backward_hooks.values(), *inner.module._backward_pre_hooks.values())
    for kind, hooks in kinds.items():
        for each in hooks:
            each = getattr(each, "hook", each)
            remark = "" if any(mine is each for mine in own) else "global"
            yield HookRecord(kind, hook_name(each), 0, remark)


class Hooked:
    """What is alive of the tables of hooks, those of all tensors among them, and who retains.

    A tensor that is gone, or was written to, has left its hooks on the node it came from.

    Attributes:
        tables: The tables that are not empty, with the hooks of modules as well.
        retaining: The tensors that retain their gradients, whether they have a name or not.
    """

    def __init__(self) -> None:
        torch = sys.modules["torch"]
        kinds = {OrderedDict, torch.Tensor, torch.nn.Parameter}
        everything = gc.get_objects()
        found = list(compress(everything, map(kinds.__contains__, map(type, everything))))
        tables = [each for each in found if type(each) is OrderedDict and each]
        self.tables = [ref(each) for each in tables if all(type(key) is int for key in each)]
        tensors = [each for each in found if type(each) is not OrderedDict]
        self.retaining = [ref(each) for each in tensors if each.retains_grad]


def _still(references: Iterable[Any]) -> list[Any]:
    """Give what is alive of some weak references, each once."""
    found = (reference() for reference in references)
    return list({id(each): each for each in found if each is not None}.values())


def tensor_hooks(alive: Hooked, nodes: Iterable[Any]) -> dict[Any, list[tuple[Any, int]]]:
    """Find the tables of tensors' hooks on each of some nodes, and of which output they are.

    PyTorch does not tell. So a gradient is brought to each node, as far as these hooks and no
    further, with a hook in each table that only says that it was called.
    """
    found: dict[Any, list[tuple[Any, int]]] = {}
    torch = sys.modules["torch"]
    engine = torch.autograd.Variable._execution_engine
    tables = [table for table in _still(alive.tables) if table]
    kept = [dict(table) for table in tables]
    gradients = [(each, each.grad) for each in _still(alive.retaining)]
    node, output_nr = None, 0

    def telling(table: Any) -> Callable[[Any], None]:
        def tell(gradient: Any) -> None:
            if gradient is not None:  # of the other outputs of a node it is
                found.setdefault(node, []).append((table, output_nr))

        return tell

    try:
        for table in tables:
            table.clear()
            table[0] = telling(table)
        for node in nodes if tables else ():
            for output_nr, about in enumerate(node._input_metadata):
                edge = (torch.autograd.graph.GradientEdge(node, output_nr),)
                zeros = (torch.zeros(about.shape, dtype=about.dtype, device=about.device),)
                with suppress(RuntimeError):  # a Function's outputs are not all tensors
                    engine.run_backward(edge, zeros, True, False, edge, accumulate_grad=False)
    finally:
        for table, hooks in zip(tables, kept, strict=True):
            table.clear()
            table.update(hooks)
        for tensor, gradient in gradients:
            tensor.grad = gradient
    return found


# ------------------------------------------------------------------ one block of recording


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
        alive = _reachable(_edge(each)[0] for each in tensors if each is not None)
        return next((node for node in alive if self in node.metadata.values()), None)


class RecordedHook:
    """A hook of the user's that writes down each of its calls."""

    def __init__(
        self, hook: Any, kind: str, recorder: Recorder, at: Label | None = None, output_nr: int = 0
    ) -> None:
        self.hook, self.kind, self.recorder = hook, kind, recorder
        self.at, self.output_nr = at, output_nr
        self.__name__ = self.called = called(hook.hook if kind == "legacy backward" else hook)

    def __call__(self, *given: Any) -> Any:
        """Call the hook, and write that down."""
        recorder = self.recorder
        label = self.at or recorder.running
        if not recorder.passes or label is None:
            return self.hook(*given)
        facts = [each for each in given if each is None or type(each) is tuple or is_foreign(each)]
        seen, before = copied(facts), versions(facts)
        if self.kind == "tensor pre-hook":
            recorder.arrives(label, self.output_nr, seen[0])
        returned, raised = None, None
        try:
            returned = self.hook(*given)
        except BaseException as error:
            raised = f"{type(error).__name__}: {error}"
            raise
        finally:
            in_place = versions(facts) != before
            event = (self.kind, self.called, self.output_nr, seen, copied(returned))
            recorder.note(recording.HookFired, label, *event, in_place, raised)
        return returned


class Recorder:
    """What PyTorch's passes of one block write their events to.

    Args:
        names: Names and tensors.
        log: Where the events go.
    """

    def __init__(self, names: Sequence[tuple[str, Any]], log: recording.Log) -> None:
        self.names, self.log = names, log
        self.numbered = 0  # how many nodes have a number
        self.roots: list[Any] = []  # where passes began
        self.undo: list[Callable[[], Any]] = []  # what restores everything, the last first
        self.passes: list[set[Any] | None] = []  # of each that runs: the nodes it needs, None: all
        self.running: Label | None = None  # of the node that is at work
        self.prepared: set[Any] = set()
        self.begun: Any = None  # a label, the place in the log, what arrived at which output
        self.given: dict[Label, Any] = {}  # for each leaf what will be added
        self.early: dict[Label, list[tuple[int, int]]] = {}  # what is captured where a node runs
        self.waiting: list[recording.Event] = []  # written down unless the pass ends in an error

    def start(self) -> None:
        """Look on from now."""
        torch = sys.modules["torch"]
        self.register = torch.Tensor.register_hook
        self.alive = Hooked()
        self._replace(torch.autograd, "_engine_run_backward", self._run)
        self._replace(torch.Tensor, "register_hook", self._register_hook)
        self._replace(torch.Tensor, "retain_grad", self._retain_grad)

    def stop(self) -> None:
        """Leave everything as it was."""
        while self.undo:
            self.undo.pop()()

    # ---------------------------------------------------------------- what is put in, and taken out

    def _replace(self, owner: Any, name: str, around: Callable[..., Any]) -> None:
        original = getattr(owner, name)

        def replacement(*args: Any, **kwargs: Any) -> Any:
            return around(original, *args, **kwargs)

        setattr(owner, name, replacement)
        self.undo.append(lambda: setattr(owner, name, original))

    def _register_hook(self, original: Any, tensor: Any, hook: Any) -> Any:
        handle = original(tensor, hook)
        self.alive.tables.append(ref(tensor._backward_hooks))
        if self.passes:  # it may run in this pass
            node, output_nr = _edge(tensor)
            at = self.label(node), output_nr
            self._wrap(tensor._backward_hooks, "tensor pre-hook", self.undo, *at)
        return handle

    def _retain_grad(self, original: Any, tensor: Any) -> None:
        original(tensor)
        self.alive.retaining.append(ref(tensor))

    def _wrap(self, table: Any, kind: str, undo: list[Any], *at: Any) -> None:
        """Call the hooks of a table through what writes their calls down."""
        for key, hook in list((table or {}).items()):
            inner = module_hooks_of(hook)
            if inner is not None:  # PyTorch's own hook on an identity node calls the user's
                self._wrap_list(inner, "user_hooks", "full backward", undo)
                self._wrap_list(inner, "user_pre_hooks", "full backward pre", undo)
            elif not isinstance(hook, RecordedHook):
                own = "legacy backward" if is_legacy(hook) else kind
                table[key] = RecordedHook(hook, own, self, *at)
                undo.append(partial(_restore, table, key, hook))

    def _wrap_list(self, inner: Any, name: str, kind: str, undo: list[Any]) -> None:
        hooks = getattr(inner, name)
        if not any(isinstance(each, RecordedHook) for each in hooks):
            setattr(inner, name, [RecordedHook(each, kind, self) for each in hooks])
            undo.append(lambda: setattr(inner, name, hooks))

    def _surround(self, table: Any, first: Any, last: Any, undo: list[Any]) -> None:
        """Put one hook before and one behind those of a table; no handle has their numbers."""
        hooks = dict(table)
        table.clear()
        table[-1] = first
        table.update(hooks)
        table[-2] = last
        undo.append(lambda: [table.pop(number, None) for number in (-1, -2)])

    def _prepare(self, node: Any, undo: list[Callable[[], Any]]) -> None:
        """Put around a node's hooks what writes down that it starts, what it gave, what it sent."""
        leaf, label = getattr(node, "variable", None), self.label(node)
        before, behind = table_of(node.register_prehook), table_of(node.register_hook)
        self._wrap(before, "node pre-hook", undo)
        self._wrap(behind, "node hook", undo)

        came: list[Any] = []  # one for each pass that is in this node
        left: Any = None

        def starts(gradients: Any) -> None:
            came.append(copied(gradients))
            self.arrives(label, 0, came[-1][0])
            self._started(came[-1])

        def keep(gradients: Any) -> None:
            if len(before) > 2:  # else no hook of the user's was called since
                came[-1] = copied(gradients)
            if leaf is not None:
                self.given[label] = came[-1]

        def gave(gradients: Any, arrived: Any) -> None:
            nonlocal left
            self.running, left = label, copied(gradients)
            given = came.pop()
            if leaf is None:
                self.note(recording.RuleApplied, label, given, left)

        def sends(gradients: Any, arrived: Any) -> None:
            self._sends(node, left if len(behind) == 2 else copied(gradients))

        self._surround(before, starts, keep, undo)
        self._surround(behind, gave, sends, undo)
        if leaf is not None and not leaf.requires_grad:  # any more
            self._wrap(leaf._post_accumulate_grad_hooks, "post-accumulate", undo, label)
        elif leaf is not None:
            self._wrap(leaf._backward_hooks, "tensor pre-hook", undo, label, 0)
            after = table_of(leaf.register_post_accumulate_grad_hook)
            self._wrap(after, "post-accumulate", undo, label)

            def accumulated(leaf: Any) -> None:
                (given,) = self.given.pop(label)
                if given is not None:
                    self.note(recording.GradientAccumulated, label, given, copied(leaf.grad))

            self._surround(after, accumulated, _idle, undo)

    # ---------------------------------------------------------------- passes and what they do

    def _run(self, original: Any, outputs: Any, gradients: Any, *args: Any, **kwargs: Any) -> Any:
        """Run a pass, and write down what it does."""
        inputs = args[2] if len(args) > 2 else kwargs.get("inputs", ())
        if modes.recorder is None and not self.passes:  # of another thread
            return original(outputs, gradients, *args, **kwargs)
        try:
            edges = [_edge(each) for each in outputs]
            ends = [_edge(each)[0] for each in inputs]
            live = _reachable(node for node, _ in edges)
        except (RuntimeError, AttributeError):  # without a graph: the engine says so itself
            return original(outputs, gradients, *args, **kwargs)
        self.roots += [ref(each) for each in outputs if is_foreign(each)]
        for name, tensor in self.names:
            node, output_nr = _edge(tensor) if tensor.requires_grad else (None, 0)
            if node in live:
                self.label(node).called.setdefault(output_nr, name)
        undo: list[Callable[[], Any]] = [self.passes.pop]
        undo.append(partial(self._back_to, self.running, self.begun))
        self.begun = None
        self.passes.append(_leading_to(ends, live) if inputs else None)
        try:
            new = [node for node in live if node not in self.prepared]
            hooked = tensor_hooks(self.alive, new)
            for node in new:
                self.prepared.add(node)
                undo.append(partial(self.prepared.discard, node))
                for table, output_nr in hooked.get(node, ()):
                    self._wrap(table, "tensor pre-hook", undo, self.label(node), output_nr)
                self._prepare(node, undo)
            if not kwargs.get("accumulate_grad"):
                self._prepare_captures(inputs, undo)
            for (node, output_nr), gradient in zip(edges, gradients, strict=False):
                start = copied(gradient.to(node._input_metadata[output_nr].dtype))
                self._wait(recording.PassStarted, self.label(node), output_nr, start)
            result = original(outputs, gradients, *args, **kwargs)
            self._go_on()
            return result
        except RuntimeError as error:
            if "have been used in the graph" in str(error):  # which PyTorch tells afterwards
                self._go_on()
            raise
        finally:
            self.waiting.clear()
            for restore in reversed(undo):
                restore()

    def _back_to(self, running: Label | None, begun: Any) -> None:
        self._started()
        self.running, self.begun = running, begun

    def _prepare_captures(self, inputs: Any, undo: list[Any]) -> None:
        """Look at what `grad()` was asked for: what arrives where a node runs, else what is left.

        A node that runs has its captures taken before the hooks of its tensors, and any other one
        behind them.
        """
        needed, torch = self.passes[-1] or (), sys.modules["torch"]
        for position, tensor in enumerate(inputs):
            node, output_nr = _edge(tensor)
            label = self.label(node)
            if any(target in needed for target, _ in node.next_functions):
                self.early.setdefault(label, []).append((position, output_nr))
                undo.append(partial(self.early.pop, label, None))
                continue
            hook = self._capturing(label, position, output_nr)
            tensor = getattr(node, "variable", tensor)
            if is_foreign(tensor):
                undo.append(self.register(tensor, hook).remove)
                continue
            table = OrderedDict([(0, hook)])  # of an edge: by a tensor that is the same output
            stand_in = torch.zeros(output_nr + 1, requires_grad=True).unbind()[output_nr]
            stand_in._backward_hooks = table
            node._register_hook_dict(stand_in)
            undo.append(table.clear)

    def _capturing(self, label: Label, position: int, output_nr: int) -> Any:
        depth = len(self.passes)

        def captured(gradient: Any) -> None:
            if len(self.passes) != depth:  # of a pass within it
                return
            shown = copied(gradient)
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
            label.number = self.numbered
            self.numbered += 1

    def note(self, kind: type[recording.Event], label: Label, *facts: Any) -> None:
        """Write down an event."""
        self._go_on()
        self._write(kind(label, *facts), len(self.log.events))

    def _write(self, event: recording.Event, place: int) -> None:
        self._number(event.node)
        if isinstance(event, recording.GradientSent):
            self._number(event.target)
        self.log.events.insert(place, event)

    def _wait(self, kind: type[recording.Event], *facts: Any) -> None:
        self.waiting.append(kind(*facts))

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
                facts = number, self.label(target), output_nr, sent
                self._wait(recording.GradientSent, self.label(node), *facts)


def _restore(table: Any, key: Any, hook: Any) -> None:
    if key in table:  # else somebody has taken it off
        table[key] = hook


def _edge(tensor: Any) -> tuple[Any, int]:
    """Give the node where the gradient of a tensor, or of a `GradientEdge`, enters."""
    if is_foreign(tensor):
        with sys.modules["torch"].inference_mode(False):  # in it a leaf does not tell its node
            tensor = sys.modules["torch"].autograd.graph.get_gradient_edge(tensor)
    return tensor.node, tensor.output_nr


def _reachable(roots: Iterable[Any]) -> dict[Any, list[Any]]:
    """Find the nodes behind some roots, and from which nodes of these an edge leads to each."""
    sources: dict[Any, list[Any]] = {node: [] for node in roots}
    stack = list(sources)
    while stack:
        node = stack.pop()
        for target, _ in node.next_functions:
            if target is not None:
                if target not in sources:
                    sources[target] = []
                    stack.append(target)
                sources[target].append(node)
    return sources


def _leading_to(ends: Iterable[Any], sources: dict[Any, list[Any]]) -> set[Any]:
    """Find the nodes from which the gradient goes on to some nodes, and these."""
    needed: set[Any] = set()
    stack = list(ends)
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack += sources.get(node, ())
    return needed
