"""Read names, values, gradients and hooks off live tensors and nodes, without changing them."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import prod
from typing import Any

from minigrad.autograd.names import named_tensors
from minigrad.viz.text import format_shape, format_values

__all__ = [
    "BEFORE_RULE",
    "HOOK_ORDER",
    "INSIDE",
    "Card",
    "Hook",
    "card_of",
    "hook_name",
    "hook_reader",
    "hooks_on_tensor",
    "in_order",
    "named_tensors",
]

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
    "saved-tensor hooks",
)
# These run before the node's own rule, the others after it.
BEFORE_RULE = HOOK_ORDER[:3]
INSIDE = " inside"  # behind the kind of such a hook that is somewhere in a folded box


@dataclass(frozen=True)
class Hook:
    """One hook: its kind (see `HOOK_ORDER`), its function's name, the node's output it is on.

    The remark is "global" for a hook on every module, "multi-grad" for one that waits for several
    tensors, the name of what was saved for hooks on a saved tensor, and empty otherwise.
    """

    kind: str
    name: str
    output_nr: int = 0
    remark: str = ""


@dataclass(frozen=True)
class Card:
    """What is shown of one tensor, all as text; None where there is nothing to show.

    Where value or gradient had to be cut, `whole` has them in full.
    """

    name: str
    shape: str
    value: str | None = None
    grad: str | None = None
    output_nr: int = 0
    whole: str = ""


def card_of(tensor: Any, name: str, values: bool, gradients: bool, digits: int, most: int) -> Card:
    """Put what is to be shown of `tensor` into text; more than `most` entries are left out."""
    shape, is_leaf = tuple(tensor.shape), bool(tensor.is_leaf)
    small = prod(shape) <= most
    shown: dict[str, tuple[str, str]] = {}
    if values and small:
        shown["value"] = _both(tensor, digits)
    # Reading .grad of an inner tensor that does not retain it warns, so it is not read.
    if gradients and (is_leaf or getattr(tensor, "retains_grad", False)):
        held = tensor.grad
        if held is None:
            shown["grad"] = ("None", "None")
        else:
            shown["grad"] = _both(held, digits) if small else (format_shape(held.shape),) * 2
    whole = ", ".join(f"{what} {full}" for what, (text, full) in shown.items() if full != text)
    texts = {what: text for what, (text, _) in shown.items()}
    output_nr = int(getattr(tensor, "output_nr", 0))
    return Card(name, format_shape(shape), **texts, output_nr=output_nr, whole=whole)


def _both(tensor: Any, digits: int) -> tuple[str, str]:
    """Write a small tensor: cut where a formula is long, and in full."""
    entries = tensor.tolist()
    return format_values(entries, digits), format_values(entries, digits, cut=False)


def hook_reader(output: Any) -> Callable[[Any], Iterable[Any]] | None:
    """Find `autograd.graph.hooks_of` in the package that `output` comes from, if it has one."""
    for kind in type(output).__mro__:
        module = sys.modules.get(kind.__module__.partition(".")[0] + ".autograd.graph")
        if module is not None and hasattr(module, "hooks_of"):
            reader: Callable[[Any], Iterable[Any]] = module.hooks_of
            return lambda node: [*reader(node), *hooks_on_saved(node)]
    return None


def hooks_on_saved(node: Any) -> list[Hook]:
    """List the hooks that packed what a node saved, by the one that will unpack it."""
    if not any(hasattr(saved, "unpack") for saved in getattr(node, "_saved", None) or ()):
        return []
    raw = {name: getattr(node, name) for name in dir(node) if name.startswith("_raw_saved_")}
    return [
        Hook("saved-tensor hooks", hook_name(hook), 0, name.removeprefix("_raw_saved_"))
        for name, saved in raw.items()
        if (hook := getattr(saved, "unpack_hook", None)) is not None
    ]


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
        Hook(
            h.kind,
            "" if h.name == h.kind else str(h.name),
            int(getattr(h, "output_nr", 0) or 0),
            str(getattr(h, "remark", "")),
        )
        for h in hooks
    ]
    rank = {kind: at for at, kind in enumerate(HOOK_ORDER)}
    return sorted(plain, key=lambda hook: rank.get(hook.kind, len(rank)))
