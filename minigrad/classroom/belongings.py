"""Note what an answer is given, and say what of it was changed: tensors, graphs, modules, lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from minigrad import nn
from minigrad.tensor import Tensor

_MOST_NODES = 400
_TABLES = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_SLOTS = ("tensor_pre", "pre", "post", "post_accumulate")

SAYS = {
    "values": "It changed what it was given. Make a new value, and leave the argument as it is.",
    "entries": "It changed what it was given: a list or dict has other entries now. Make a copy, "
    "and change that.",
    "requires_grad": "It changed what it was given: requires_grad of a tensor is another now. Work "
    "on a copy of your own, such as x.detach().requires_grad_().",
    "grad": "It left its traces in .grad of what it was given. Whoever collects gradients there "
    "finds yours among them: work on a detached copy, or ask for gradients with autograd.grad.",
    "grad of parameters": "It left gradients in .grad of the parameters of a module that it was "
    "given. Put back what was there, or ask for gradients with autograd.grad.",
    "graph": "The graph that it was given cannot be walked a second time now: its saved values are "
    "gone. Others may need them: retain_graph=True keeps them.",
    "hooks": "A hook of yours is still registered on what it was given, and goes on being called. "
    "Keep the handle, and remove it in the end.",
    "hooks gone": "A hook that was there before is gone from what it was given, and it was "
    "somebody else's. Remove your own, each by its handle.",
    "training": "It left a module in another mode, train() or eval(). Put back what you found.",
    "settings": "It changed a setting of a module that it was given, and left it so.",
    "modules": "It changed the modules that it was given: there are others in their place now.",
}
"""What to say to each kind of change; the first that applies is said."""


def _state(value: Any, keep: list[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Give the facts about a value that a well-behaved function leaves alone.

    What is looked at goes into `keep`, so that no number of `id` is used twice.
    """
    done, own = set[int](), set[int]()
    pending = [value]
    while pending:
        each = pending.pop()
        if id(each) in done:
            continue
        done.add(id(each))
        keep.append(each)
        if isinstance(each, nn.Module):
            yield from _of_module(each)
            own.update(map(id, each._parameters.values()))
            pending.extend(each._modules.values())
            pending.extend(each._parameters.values())
            pending.extend(each._buffers.values())
        elif isinstance(each, Tensor):
            for kind, key, fact in _of_tensor(each):
                yield "grad of parameters" if kind == "grad" and key in own else kind, key, fact
            if each.grad_fn is not None:
                yield from _of_graph(each.grad_fn)
        elif isinstance(each, np.ndarray):
            yield "values", id(each), _bytes(each)
        elif isinstance(each, list | tuple | set | frozenset):
            yield "entries", id(each), [_identity(entry) for entry in each]
            pending.extend(each)
        elif isinstance(each, Mapping):
            yield "entries", id(each), [(key, _identity(entry)) for key, entry in each.items()]
            pending.extend(each.values())


def _identity(entry: Any) -> Any:
    return entry if isinstance(entry, str | int | float | None) else id(entry)


def _of_tensor(tensor: Any) -> Iterator[tuple[str, Any, Any]]:
    key = id(tensor)
    yield "values", key, _bytes(tensor.detach().numpy())
    yield "requires_grad", key, tensor.requires_grad
    if tensor.is_leaf:
        yield "grad", key, _gradient(tensor)
    yield "hooks", key, _keys(tensor._backward_hooks)
    yield "hooks", (key, "post"), _keys(tensor._post_accumulate_grad_hooks)


def _of_module(module: nn.Module) -> Iterator[tuple[str, Any, Any]]:
    key = id(module)
    yield "training", key, module.training
    yield "hooks", key, [_keys(vars(module).get(table)) for table in _TABLES]
    plain = {name: v for name, v in vars(module).items() if isinstance(v, str | int | float)}
    yield from (("settings", (key, name), v) for name, v in plain.items() if name != "training")
    parts = {**module._modules, **module._parameters, **module._buffers}
    yield "modules", key, [(name, id(part)) for name, part in parts.items()]


def _of_graph(root: Any) -> Iterator[tuple[str, Any, Any]]:
    """Walk through a graph: are its saved values there, and what is in its leaves?"""
    pending, done = [root], {id(root)}
    while pending and len(done) < _MOST_NODES:
        node = pending.pop()
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            yield "grad", id(leaf), _gradient(leaf)
            yield "hooks", id(leaf), _keys(leaf._backward_hooks)
            yield "hooks", (id(leaf), "post"), _keys(leaf._post_accumulate_grad_hooks)
        else:
            yield "graph", id(node), getattr(node, "_saved", ()) is None
        hooks = getattr(node, "_hooks", None)
        yield "hooks", (id(node), "node"), [_keys(getattr(hooks, slot, None)) for slot in _SLOTS]
        for following, _ in node.next_functions:
            if following is not None and id(following) not in done:
                done.add(id(following))
                pending.append(following)


def _gradient(tensor: Any) -> Any:
    gradient = tensor.grad
    return None if gradient is None else _bytes(gradient.detach().numpy())


def _bytes(array: Any) -> Any:
    if array.dtype == object:
        return [str(entry) for entry in array.flat]
    return array.tobytes()


def _keys(table: Any) -> list[Any]:
    """List the handles of a table of hooks, and of the tables inside of it."""
    if not table:
        return []
    return [
        (key, list(entry)) if isinstance(entry, Mapping) else key for key, entry in table.items()
    ]


class Belongings:
    """What was handed to an answer, noted before a call.

    Args:
        given: the arguments.

    Example:
        >>> import minigrad as torch
        >>> x = torch.ones(2)
        >>> noted = Belongings([x])
        >>> _ = x.mul_(2)
        >>> noted.changes()
        {'values'}
    """

    def __init__(self, given: Iterable[Any]) -> None:
        self._given = tuple(given)
        self._keep: list[Any] = []
        self._before = self._facts()

    def _facts(self) -> dict[Any, Any]:
        facts: dict[Any, Any] = {}
        for kind, key, fact in _state(self._given, self._keep):
            facts.setdefault((kind, key), fact)
        return facts

    def changes(self) -> set[str]:
        """Tell what kinds of things are different now; keys of `SAYS`."""
        now = self._facts()
        found = set()
        for key, fact in self._before.items():
            if key in now and not _same(now[key], fact):
                fewer = key[0] == "hooks" and len(str(now[key])) < len(str(fact))
                found.add("hooks gone" if fewer else key[0])
        return found


def _same(now: Any, before: Any) -> bool:
    """Compare two facts; NaN equals itself here."""
    if isinstance(now, list) and isinstance(before, list):
        return len(now) == len(before) and all(map(_same, now, before))
    if isinstance(now, tuple) and isinstance(before, tuple):
        return len(now) == len(before) and all(map(_same, now, before))
    return bool(now == before or (now != now and before != before))


def said_of(changes: Iterable[str]) -> str | None:
    """Say what was changed, in one sentence or two; None where nothing was.

    Args:
        changes: keys of `SAYS`.
    """
    kinds = set(changes)
    return next((text for kind, text in SAYS.items() if kind in kinds), None)
