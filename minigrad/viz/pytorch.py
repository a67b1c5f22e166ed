"""Read PyTorch's tensors, and find the hooks that sit on a graph of its nodes.

PyTorch's engine isn't written in Python, but if you register a hook on a node, you get the table
of all hooks of its kind on that node. Hooks that were registered in C++ are in no table of Python's
and can't be seen. PyTorch is not imported here: its tensors come from the caller.
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
from graphlib import TopologicalSorter
from itertools import compress
from math import inf
from threading import Thread, _DummyThread, current_thread
from typing import Any
from weakref import ref

from minigrad.autograd.graph import HookRecord
from minigrad.autograd.messages import hook_name
from minigrad.autograd.recording import RecordedHook, snapshot
from minigrad.core.tensor import wrap_as_normal

MOST_COPIED = 4096  # entries; of larger gradients a log keeps a summary only
UNREADABLE = "numbers that cannot be read"


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
        # of a corner, so that the rest is not copied
        self.first = as_array(tensor[(slice(4),) * tensor.dim()]).reshape(-1)[:4].tolist()

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
        return snapshot(value)
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
        return f"shape {tuple(value.shape)} of {UNREADABLE}"


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


def is_other(thread: Thread) -> bool:
    """Tell whether another thread than this is at work. The engine's threads work for all."""
    # the engine's were not started by Python
    return current_thread() is not thread and not isinstance(current_thread(), _DummyThread)


def versions(values: Any) -> Any:
    """Give how often each of some tensors was written to."""
    if isinstance(values, (tuple, list)):
        return [versions(each) for each in values]
    return values._version if is_foreign(values) and not values.is_inference() else 0


# ------------------------------------------------------------------ the hooks that are there


def table_of(register: Callable[..., Any]) -> Any:
    """Give the table into which a method like `node.register_hook` puts its hooks."""
    handle = register(idle)
    table = handle.hooks_dict_ref()
    handle.remove()
    return table


def idle(*gradients: Any) -> None:
    """Do nothing."""


def hooks_in(hooks: Iterable[Any]) -> list[Any]:
    """Give the user's hooks among those of a table, as they are without a recorder."""
    own = [each.hook if isinstance(each, RecordedHook) else each for each in hooks]
    return [each for each in own if "Recorder._ours." not in getattr(each, "__qualname__", "")]


def module_hooks_of(hook: Any) -> Any:
    """Give the `BackwardHook` whose own hook on an identity node this is, or None."""
    if not getattr(hook, "__qualname__", "").startswith("BackwardHook."):
        return None
    return next((cell.cell_contents for cell in hook.__closure__ or ()), None)


def called(hook: Any) -> str:
    """Give the name of a hook; of one that `register_multi_grad_hook` made, the user's own."""
    if isinstance(hook, RecordedHook):
        return hook.called
    if getattr(hook, "__name__", "") == "inner_hook" and "fn" in hook.__code__.co_freevars:
        hook = inspect.getclosurevars(hook).nonlocals["fn"]
    return hook_name(hook)


def is_legacy(hook: Any) -> bool:
    """Tell whether a hook on a node is a module's legacy hook."""
    kind = type(hook)
    return kind.__name__ == "_WrappedHook" and kind.__module__ == "torch.nn.modules.module"


def hook_reader(nodes: Sequence[Any]) -> Callable[[Any], list[HookRecord]]:
    """Give what lists the hooks on each of some nodes, as `autograd.graph.hooks_of` does."""
    alive = Hooked()
    tables = tensor_hooks(alive, nodes)
    retaining = _still(alive.retaining)

    def hooks_of(node: Any) -> list[HookRecord]:
        leaf = getattr(node, "variable", None)
        found = [
            HookRecord("tensor pre-hook", called(hook), output_nr)
            for table, output_nr in tables.get(node, ())
            for hook in hooks_in(table.values())
        ]
        here = (each.output_nr for each in retaining if each.grad_fn is node)
        found += [HookRecord("retain_grad", "retain_grad", output_nr) for output_nr in here]
        after = (getattr(leaf, "_post_accumulate_grad_hooks", None) or {}).values()
        found += [HookRecord("post-accumulate", hook_name(hook)) for hook in hooks_in(after)]
        registers = {"node pre-hook": node.register_prehook, "node hook": node.register_hook}
        for kind, register in registers.items():
            for hook in hooks_in(table_of(register).values()):
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
        for each in hooks_in(hooks):
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
        tables = [each for each in tables if all(map(callable, each.values()))]
        self.tables = [ref(each) for each in tables if all(type(key) is int for key in each)]
        tensors = (each for each in found if type(each) is not OrderedDict)
        self.retaining = [ref(each) for each in tensors if each.retains_grad]


def _still(references: Iterable[Any]) -> list[Any]:
    """Give what is alive of some weak references, each once."""
    found = (reference() for reference in references)
    return list({id(each): each for each in found if each is not None}.values())


def tensor_hooks(alive: Hooked, nodes: Iterable[Any]) -> dict[Any, list[tuple[Any, int]]]:
    """Find the tables of tensors' hooks on each of some nodes, and of which output they are.

    PyTorch doesn't say. So a gradient is brought to each node, as far as these hooks and no
    further, while each hook is replaced by one that only reports that it was called. The tables
    keep their keys: one may be a dict of the user's, in the middle of a loop.
    """
    found: dict[Any, list[tuple[Any, int]]] = {}
    torch = sys.modules["torch"]
    engine = torch.autograd.Variable._execution_engine
    tables = [table for table in _still(alive.tables) if table]
    kept = [(table, key, hook) for table in tables for key, hook in table.items()]
    gradients = [(each, each.grad) for each in _still(alive.retaining)]
    node, output_nr, thread = None, 0, current_thread()

    def tell(table: Any, key: int, hook: Any, gradient: Any) -> Any:
        other = is_other(thread)
        # None is of the other outputs of a node
        if not other and gradient is not None and key == next(iter(table)):
            found.setdefault(node, []).append((table, output_nr))
        return hook(gradient) if other else None

    try:
        for table, key, hook in kept:
            table[key] = partial(tell, table, key, hook)
        for node in nodes if tables else ():
            for output_nr, about in enumerate(node._input_metadata):
                edge = (torch.autograd.graph.GradientEdge(node, output_nr),)
                with suppress(RuntimeError):  # a Function's outputs are not all tensors
                    zeros = (torch.zeros(about.shape, dtype=about.dtype, device=about.device),)
                    engine.run_backward(edge, zeros, True, False, edge, accumulate_grad=False)
    finally:
        for each in kept:
            restore(*each)
        for tensor, gradient in gradients:
            tensor.grad = gradient
    return found


def restore(table: Any, key: int, hook: Any) -> None:
    """Put a hook back in its place."""
    if key in table:  # else somebody has taken it off
        table[key] = hook


def reachable(roots: Iterable[Any], limit: float = inf) -> list[Any]:
    """Find all nodes to which a gradient goes from some roots, and these.

    Raises:
        ValueError: if there are more nodes than `limit`.
    """
    found: dict[int, Any] = {}
    stack = list(roots)[::-1]
    while stack:
        node = stack.pop()
        if id(node) in found:
            continue
        found[id(node)] = node
        if len(found) > limit:
            raise ValueError(
                f"this graph has more than {limit} nodes, too many for one picture. Draw a smaller "
                "part (an intermediate tensor, a shorter run), draw modules as one node each by "
                "depth=1, or raise limit=."
            )
        targets = (target for target, _ in reversed(node.next_functions))
        stack += [target for target in targets if target is not None]
    return list(found.values())


def walk(roots: Iterable[Any], limit: float = inf) -> list[Any]:
    """Give what is `reachable`, each node before those that it sends its gradients to."""
    found = {id(node): node for node in reachable(roots, limit)}
    sorter = TopologicalSorter({key: () for key in found})
    for key, node in found.items():
        for target, _ in node.next_functions:
            if target is not None:
                sorter.add(id(target), key)
    return [found[key] for key in sorter.static_order()]
