"""Work with the graph itself: its nodes, its edges, what they saved, and the hooks on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from minigrad.autograd.gradients import GradientEdge, get_gradient_edge
from minigrad.autograd.messages import hook_name, warn
from minigrad.autograd.saved_hooks import (
    RawSavedTensor,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from minigrad.core import engine
from minigrad.core.engine import AccumulateGrad, resolve_edge
from minigrad.core.hooks import RemovableHandle
from minigrad.core.modes import modes
from minigrad.core.module_hooks import FullBackwardHooks, LegacyHook
from minigrad.core.node import Node
from minigrad.core.tensor import Tensor, wrap_as_normal

__all__ = ["AccumulateGrad", "GradientEdge", "HookRecord", "Node", "RawSavedTensor"]
__all__ += ["disable_saved_tensors_hooks", "save_on_cpu"]
__all__ += ["get_gradient_edge", "hooks_of", "increment_version", "register_multi_grad_hook"]
__all__ += ["saved_tensors_hooks"]


def allow_mutation_on_saved_tensors() -> NoReturn:
    """Refuse: a saved tensor that is changed is always an error here."""
    raise NotImplementedError(
        "minigrad has no allow_mutation_on_saved_tensors: change a clone() of the tensor instead."
    )


def increment_version(tensor: Any) -> None:
    """Count one more change of a tensor's memory, that nobody else noticed.

    Say so after writing to the memory behind a tensor's back, through its NumPy array for
    example. A backward rule that needed the old values will then refuse to run.

    Args:
        tensor: A tensor or several.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> x.numpy()[0] = 5.0
        >>> increment_version(x)
        >>> x._version
        1
    """
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if not each.is_inference():
            each._bump_version()


class HookRecord(NamedTuple):
    """One hook, and where it sits.

    Attributes:
        kind: What sort of hook it is: "tensor pre-hook", "retain_grad", "node pre-hook",
            "node hook", "post-accumulate", "full backward", "full backward pre",
            "legacy backward"; in pictures also "saved-tensor hooks".
        name: The hook's name.
        output_nr: For hooks on a tensor, which output of the node that tensor is.
        remark: "global" for one that is on every module, "multi-grad" for one that waits for
            several tensors, for hooks on a saved tensor the name of what was saved, else empty.

    Example:
        >>> import minigrad as torch
        >>> y = torch.tensor([1.0], requires_grad=True) * 2
        >>> y.retain_grad()
        >>> [hook.kind for hook in hooks_of(y.grad_fn)]
        ['retain_grad']
    """

    kind: str
    name: str
    output_nr: int = 0
    remark: str = ""


def hooks_of(node: Node) -> list[HookRecord]:
    """List the hooks that sit on a node, in the order in which they run.

    Instead of what the library itself put there, for a module, stand the module's hooks.

    Example:
        >>> import minigrad as torch
        >>> y = torch.tensor([1.0], requires_grad=True) * 2
        >>> def double(grad):
        ...     return grad * 2
        >>> handle = y.register_hook(double)
        >>> hooks_of(y.grad_fn)
        [HookRecord(kind='tensor pre-hook', name='double', output_nr=0, remark='')]
    """
    hooks = node._hooks
    if hooks is None:
        return []
    found: list[HookRecord] = []
    for output_nr, table in hooks.tensor_pre.items():
        for hook in table.values():
            found += _records(hook, "tensor pre-hook", output_nr)
    for output_nr, reference in hooks.retained.items():
        if reference() is not None:
            found.append(HookRecord("retain_grad", "retain_grad", output_nr))
    tables: list[tuple[str, Any]] = [
        ("node pre-hook", hooks.pre),
        ("post-accumulate", hooks.post_accumulate),
        ("node hook", hooks.post),
    ]
    for kind, table in tables:
        for hook in (table or {}).values():
            found += _records(hook, kind, 0)
    return found


def _records(hook: Any, kind: str, output_nr: int) -> list[HookRecord]:
    hooks = getattr(hook, "__self__", None)
    if isinstance(hooks, FullBackwardHooks):  # the node's hook calls the module's
        before = [("full backward pre", each) for each in hooks.pre_hooks]
        after = [("full backward", each) for each in hooks.hooks]
        shown = after
        if hook.__func__ is FullBackwardHooks.at_outputs:
            shown = before if hooks.inputs_need_grad else before + after
        return [
            HookRecord(what, hook_name(each), 0, _remark(hooks.module, each))
            for what, each in shown
        ]
    if isinstance(hook, LegacyHook):
        remark = _remark(hook.module(), hook.hook)
        return [HookRecord("legacy backward", hook_name(hook.hook), 0, remark)]
    return [HookRecord(kind, hook_name(hook), output_nr, getattr(hook, "remark", ""))]


def _remark(module: Any, hook: Any) -> str:
    """Say of a hook that is none of the module's own that it is on every module."""
    if module is None:
        return ""
    own = (*module._backward_hooks.values(), *module._backward_pre_hooks.values())
    return "" if any(each is hook for each in own) else "global"


class _MultiHandle(RemovableHandle):
    """The handles of one hook on several tensors; `remove()` takes it off all of them."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Remove the hook from every tensor."""
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[[Any], None], *, mode: str = "all"
) -> _MultiHandle:
    """Call `fn` once per backward pass for the gradients of several tensors.

    Args:
        tensors: Tensors that require a gradient.
        fn: In mode "all" it gets the list of gradients, None for a tensor that got none; in mode
            "any" the first gradient that arrives. What it returns is ignored.
        mode: "all" waits for every tensor whose gradient this pass computes; "any" does not.

    Returns:
        A handle whose `remove()` takes the hook off all tensors.

    Raises:
        ValueError: If the mode is another one.
        AssertionError: In mode "all", if a tensor requires no gradient.

    Example:
        >>> import minigrad as torch
        >>> a = torch.tensor([1.0], requires_grad=True)
        >>> b = torch.tensor([2.0], requires_grad=True)
        >>> handle = torch.autograd.graph.register_multi_grad_hook([a, b], print)
        >>> (a * b).backward()
        [tensor([2.]), tensor([1.])]
    """
    modes = ("all", "any")
    if mode not in modes:
        raise ValueError(f"Expects mode to be one of {modes} but got {mode}")
    if mode == "any":
        hook = _first_of_a_pass(fn)
        return _MultiHandle(tuple(t.register_hook(hook) for t in tensors if t.requires_grad))
    for tensor in tensors:
        if not tensor.requires_grad:
            raise AssertionError("Expected gradient function to be set")
    hook_for = _gathering([(t._edge or resolve_edge(t))[0] for t in tensors], fn)
    return _MultiHandle(
        tuple(t.register_hook(hook_for(number)) for number, t in enumerate(tensors))
    )


def count_coming(task: Any, nodes: Sequence[Node]) -> int:
    """Count the nodes that a pass runs, or whose gradient it captures.

    Raises:
        RuntimeError: For a leaf while `grad()` runs, whose accumulation is not needed.
    """
    roots, needed = task.roots, task.needed
    several = (
        len(roots) > 1 or roots[0][0] is None
    )  # a single root is not among them, as in PyTorch
    reachable = engine.count_uses(roots if several else roots[0][0].next_functions)
    coming = [node for node in nodes if node in reachable]
    if needed is None:
        return len(coming)
    captures = getattr(task, "captures", ())
    if any(type(node) is AccumulateGrad and node in captures for node in coming):
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported."
        )
    return sum(node in needed for node in coming)


def _gathering(nodes: list[Any], fn: Callable[[Any], None]) -> Callable[[int], Any]:
    """Make what gives the hook for each of some tensors: the last of a pass calls `fn`."""
    # How many gradients are to come. As in PyTorch, a pass that starts inside another one, over
    # the same tensors, overwrites it for both.
    coming = 0
    # for each pass that runs: how many gradients have come, and which
    passes: WeakKeyDictionary[Any, tuple[list[int], list[Any]]] = WeakKeyDictionary()

    def hook_for(number: int) -> Callable[[Any], None]:
        def gather(grad: Any) -> None:
            nonlocal coming
            task = modes.task
            with engine.accumulation:
                if task not in passes:
                    coming = count_coming(task, nodes)
                    passes[task] = ([0], [None] * len(nodes))
                came, gradients = passes[task]
                gradients[number] = grad
                came[0] += 1
                complete = came[0] == coming
                if complete:
                    del passes[task]
            if complete:
                fn(gradients)

        return _named(gather, fn)

    return hook_for


def _first_of_a_pass(fn: Callable[[Any], None]) -> Callable[[Any], None]:
    """Give a hook that passes on the first gradient of each pass only."""
    served: WeakSet[Any] = WeakSet()

    def first(grad: Any) -> None:
        task = modes.task
        with engine.accumulation:
            if task in served:
                return
            served.add(task)
        fn(grad)

    return _named(first, fn)


def _named(hook: Any, fn: Any) -> Any:
    """Let lists of hooks name a hook after the function that it calls."""
    hook.__name__, hook.remark = hook_name(fn), "multi-grad"
    return hook


# ------------------------------------------------------------------ code of before 2018


class Engine:
    """What running hooks may ask of the engine; `Variable._execution_engine` is the one."""

    def queue_callback(self, callback: Callable[[], Any]) -> None:
        """Call a function without arguments at the end of the backward pass that runs now.

        Raises:
            RuntimeError: If none runs.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> engine = torch.autograd.Variable._execution_engine
            >>> def hook(grad):
            ...     engine.queue_callback(lambda: print("at the end:", x.grad))
            >>> y = x * 2
            >>> handle = y.register_hook(hook)
            >>> y.backward()
            at the end: tensor([2.])
        """
        task = modes.task
        if task is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        if task.callbacks is None:
            task.callbacks = []
        task.callbacks.append(callback)


class VariableMeta(type):
    """The class of `Variable`: it says that every tensor is one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        """Tell whether something is a tensor."""
        return isinstance(instance, Tensor)


class Variable(metaclass=VariableMeta):
    """What a tensor with a graph once was wrapped in; today it gives a tensor.

    Args:
        data: A tensor, whose memory and version counter the result shares; None for an empty one.
        requires_grad: Whether the result requires a gradient.
        volatile: Does nothing any more.
        name: Does nothing.

    Raises:
        RuntimeError: If integers should require a gradient.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.autograd import Variable
        >>> Variable(torch.ones(2), requires_grad=True)
        tensor([1., 1.], requires_grad=True)
        >>> isinstance(torch.ones(2), Variable)
        True
    """

    _execution_engine: ClassVar[Engine] = Engine()

    def __new__(
        cls, data: Any = None, requires_grad: Any = False, volatile: Any = False, name: Any = None
    ) -> Any:
        """Give a tensor on the same memory, outside of its graph."""
        if volatile:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        tensor = wrap_as_normal(np.empty(0, np.float32)) if data is None else data.detach()
        return tensor.requires_grad_() if requires_grad else tensor
