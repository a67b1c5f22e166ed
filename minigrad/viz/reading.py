"""Read names, values, gradients and hooks off live tensors and nodes, without changing them."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from minigrad.viz.text import format_shape, format_values

# The order in which one node's hooks run, from the incoming gradient to the outgoing ones.
HOOK_ORDER = (
    "tensor pre-hook",
    "retain_grad",
    "node pre-hook",
    "full backward pre",
    "full backward",
    "legacy backward",
    "post-accumulate",
    "node hook",
)
# These run before the node's own rule, the others after it.
BEFORE_RULE = HOOK_ORDER[:3]


@dataclass(frozen=True)
class Hook:
    """One hook: its kind (see `HOOK_ORDER`), its function's name, the node's output it is on."""

    kind: str
    name: str
    output_nr: int = 0


@dataclass(frozen=True)
class Card:
    """What is shown of one tensor, all as text; None where there is nothing to show."""

    name: str
    shape: str
    value: str | None = None
    grad: str | None = None
    output_nr: int = 0


def named_tensors(names: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (name, tensor) from a dict, a Module, or a list of such; a dict may hold Modules.

    Args:
        names: `{"x": x, "net": net}`, a Module, `[net, {"x": x}]`, or None.
        prefix: put before the names of parameters, with a dot.
    """
    # As deep as somebody wrote brackets into a call, so recursion is safe here.
    if names is None:
        return
    if hasattr(names, "named_parameters"):
        for name, parameter in names.named_parameters():
            yield (f"{prefix}.{name}" if prefix else name), parameter
    elif isinstance(names, Mapping):
        for name, value in names.items():
            if hasattr(value, "named_parameters"):
                yield from named_tensors(value, str(name))
            else:
                yield str(name), value
    elif isinstance(names, list | tuple):
        for part in names:
            yield from named_tensors(part)
    else:
        raise TypeError(
            f"names must be a dict of names and tensors or a Module, not {type(names).__name__}"
        )


def card_of(tensor: Any, name: str, values: bool, gradients: bool, digits: int, most: int) -> Card:
    """Put what is to be shown of `tensor` into text; more than `most` entries are left out."""
    shape, is_leaf = tuple(tensor.shape), bool(tensor.is_leaf)
    small = prod(shape) <= most
    value = format_values(tensor.tolist(), digits) if values and small else None
    grad = None
    # Reading .grad of an inner tensor that does not retain it warns, so it is not read.
    if gradients and (is_leaf or getattr(tensor, "retains_grad", False)):
        held = tensor.grad
        if held is None:
            grad = "None"
        else:
            grad = format_values(held.tolist(), digits) if small else format_shape(held.shape)
    output_nr = int(getattr(tensor, "output_nr", 0))
    return Card(name, format_shape(shape), value, grad, output_nr)


def hook_reader(output: Any) -> Callable[[Any], Iterable[Any]] | None:
    """Find `autograd.graph.hooks_of` in the package that `output` comes from, if it has one."""
    for kind in type(output).__mro__:
        module = sys.modules.get(kind.__module__.partition(".")[0] + ".autograd.graph")
        if module is not None and hasattr(module, "hooks_of"):
            reader: Callable[[Any], Iterable[Any]] = module.hooks_of
            return reader
    return None


def hooks_on_tensor(tensor: Any) -> list[Hook]:
    """Read the hooks that a tensor itself knows of, where the package cannot tell them by node."""
    nr = int(getattr(tensor, "output_nr", 0))
    found = [
        Hook("tensor pre-hook", hook_name(function), nr)
        for function in (getattr(tensor, "_backward_hooks", None) or {}).values()
    ]
    if getattr(tensor, "retains_grad", False) and not tensor.is_leaf:
        found.append(Hook("retain_grad", "", nr))
    after = getattr(tensor, "_post_accumulate_grad_hooks", None) or {}
    found.extend(Hook("post-accumulate", hook_name(function)) for function in after.values())
    return found


def hook_name(function: Any) -> str:
    """Return a hook's name: the function's, or the class's for a callable object."""
    inner = getattr(function, "func", function)  # functools.partial
    return str(getattr(inner, "__name__", type(inner).__name__))


def in_order(hooks: Iterable[Any]) -> list[Hook]:
    """Return the hooks in the order in which they run; within one kind as they were given."""
    plain = [
        # retain_grad is no function of the user's, so it has no name besides its kind.
        Hook(h.kind, "" if h.name == h.kind else str(h.name), int(getattr(h, "output_nr", 0) or 0))
        for h in hooks
    ]
    rank = {kind: at for at, kind in enumerate(HOOK_ORDER)}
    return sorted(plain, key=lambda hook: rank.get(hook.kind, len(rank)))
