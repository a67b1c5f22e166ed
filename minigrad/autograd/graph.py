"""Work with the graph itself: its nodes, its edges, what they saved, and the hooks on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from minigrad.autograd.accumulate import AccumulateGrad
from minigrad.autograd.gradient_edge import GradientEdge, get_gradient_edge
from minigrad.autograd.hooks import hook_name
from minigrad.autograd.multi_grad_hook import register_multi_grad_hook
from minigrad.autograd.mutation import allow_mutation_on_saved_tensors
from minigrad.autograd.node import Node
from minigrad.autograd.raw_saved import RawSavedTensor
from minigrad.autograd.saved_hooks import (
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
)
from minigrad.autograd.variable import Variable

__all__ = [
    "AccumulateGrad",
    "GradientEdge",
    "HookRecord",
    "Node",
    "RawSavedTensor",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "hooks_of",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


def increment_version(tensor: Any) -> None:
    """Count one more change of a tensor's memory, that nobody else noticed.

    Say so after writing to the memory behind a tensor's back, through its NumPy array for
    example. A backward rule that needed the old values will then refuse to run.

    Args:
        tensor: A tensor or several.

    Raises:
        RuntimeError: If one of them is no tensor.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([1.0, 2.0])
        >>> x.numpy()[0] = 5.0
        >>> increment_version(x)
        >>> x._version
        1
    """
    tensors = (tensor,) if isinstance(tensor, Variable) else tensor
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in tensors:
        if not isinstance(each, Variable):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor"
            )
        if not each.is_inference():
            each._bump_version()


class HookRecord(NamedTuple):
    """One hook, and where it sits.

    Attributes:
        kind: What sort of hook it is: "tensor pre-hook", "retain_grad", "node pre-hook",
            "node hook", "post-accumulate", "full backward", "full backward pre",
            "legacy backward".
        name: The hook's name.
        output_nr: For hooks on a tensor, which output of the node that tensor is.
        remark: "global" for one that is on every module, "multi-grad" for one that waits for
            several tensors, else empty.
    """

    kind: str
    name: str
    output_nr: int = 0
    remark: str = ""


def hooks_of(node: Node) -> list[HookRecord]:
    """List the hooks that sit on a node, in the order in which they run.

    A hook that the library itself put there to call others may say so: its method `shown_as`
    lists the records to give in its place.

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
    shown = hook.shown_as() if hasattr(hook, "shown_as") else None
    if shown is not None:
        return [HookRecord(*record) for record in shown]
    return [HookRecord(kind, hook_name(hook), output_nr, getattr(hook, "remark", ""))]
