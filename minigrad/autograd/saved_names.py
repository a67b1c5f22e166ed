"""Ask a node for what it saved, under PyTorch's names: `_saved_self`, `_raw_saved_self`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.autograd.messages import FREED, RELEASED, stale
from minigrad.autograd.rules import attach
from minigrad.autograd.saved_hooks import PackedTensor, Unpack, gradient_edge, pack
from minigrad.core.engine import AccumulateGrad
from minigrad.core.node import Node
from minigrad.core.tensor import SavedTensor, Tensor, unpack_array, unpack_tensor, wrap_as_normal


def kept(node: Node, name: str) -> Any:
    """Give what a node saved under a name, as it keeps it.

    Raises:
        RuntimeError: If it was released.
    """
    place = node._names_of_saved.index(name)
    if node._saved is not None:
        return node._saved[place]
    if place not in node._numbers_at:
        raise RuntimeError(RELEASED)
    return node._numbers[node._numbers_at.index(place)]


def look_at(saved: Any, node: Node) -> Any:
    """Give a saved value to somebody who looks at a node: its rule would refuse a detached one."""
    if isinstance(saved, PackedTensor) or (isinstance(saved, SavedTensor) and saved.tensor is None):
        return unpack_tensor(saved, node)
    counter = saved._version_counter
    if counter is not None and counter.value != getattr(saved, "version", 0):
        raise stale(saved, node)
    return saved.tensor if isinstance(saved, SavedTensor) else saved


# Values that PyTorch's nodes show though they are always the same: minigrad has no other.
_CONSTANT = {
    **{name: {"alpha": 1} for name in ("AddBackward0", "SubBackward0", "RsubBackward1")},
    **{name: {"alpha": 1, "beta": 1} for name in ("AddmmBackward0", "BaddbmmBackward0")},
}

# What nodes keep for minigrad's rules alone.
_HIDDEN = {"bags", "chosen", "kept", "layout", "own", "positions", "sizes", "statistics", "taps"}


def names_of(node: Any) -> list[str]:
    """Give the names under which a node can be asked for what it saved."""
    names = [name for name in node._names_of_saved if name not in _HIDDEN and "_sym_c" not in name]
    return [*names, *(n for n in _CONSTANT.get(type(node).__name__, ()) if n not in names)]


def attributes_of(node: Any) -> list[str]:
    """List the attributes of a node that show what it saved."""
    names = names_of(node)
    raw = [f"_raw_saved_{name}" for name in names if _is_tensor(node, name)]
    return [*(f"_saved_{name}" for name in names), *raw]


def ask(node: Any, attribute: str) -> Any:
    """Give the value of an attribute `_saved_<name>` or `_raw_saved_<name>`.

    Raises:
        AttributeError: If there is no such attribute.
        RuntimeError: If the value was released, or modified by an in-place operation.
    """
    kind = type(node).__name__
    prefix, found, name = attribute.partition("_saved_")
    known = found and prefix in ("", "_raw") and name in names_of(node)
    if not known or (prefix and not _is_tensor(node, name)):
        raise AttributeError(f"'{kind}' object has no attribute '{attribute}'")
    if name not in node._names_of_saved:
        return _CONSTANT[kind][name]
    if prefix:
        return raw_saved(node, node._names_of_saved.index(name))
    value = kept(node, name)
    return look_at(value, node) if hasattr(value, "_version_counter") else _shown(value, name)


def _is_tensor(node: Any, name: str) -> bool:
    """Tell whether a tensor is saved under a name, or was, or would be if it was needed."""
    if name not in node._names_of_saved or node._names_of_saved.index(name) in node._numbers_at:
        return False
    value = None if node._saved is None else kept(node, name)
    return value is None or hasattr(value, "_version_counter")


# Numbers that tensors are computed with, which keep their sign.
_NUMBERS = "alpha exponent max max_val min min_val negative_slope ord self threshold value"
_SIGNED = {"beta", "other", "p", *_NUMBERS.split()}


def _shown(value: Any, name: str) -> Any:
    """Show index arrays as tensors, and a dimension that is taken whole as None.

    Of dimensions and the like, a number that was negative is shown as PyTorch shows it: without
    sign, in 64 bits.
    """
    value = getattr(value, "said", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value >= 0 or name in _SIGNED else value + 2**64
    if isinstance(value, np.ndarray):
        return wrap_as_normal(value)
    if isinstance(value, tuple) and any(not isinstance(each, Tensor) for each in value):
        return tuple(None if isinstance(each, slice) else _shown(each, name) for each in value)
    return value


class RawSavedTensor:
    """A value that a node saved, as `node._raw_saved_<name>` gives it: it can be given hooks."""

    __slots__ = ("__weakref__", "_node", "_place")

    _node: Node
    _place: int

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @property
    def unpack_hook(self) -> Unpack | None:
        """The hook that gives the value back; None if there is none."""
        entry = self._entry()
        return entry.unpack if isinstance(entry, PackedTensor) else None

    def _entry(self) -> Any:
        return None if self._node._saved is None else self._node._saved[self._place]

    def register_hooks(self, *hooks: Any) -> None:
        """Pack this saved value, now, with `pack_hook`; `unpack_hook` will give it back.

        Args:
            *hooks: The pack hook and the unpack hook, as for `saved_tensors_hooks`.

        Raises:
            TypeError: If the arguments are not two callables.
            RuntimeError: If the value has hooks already, is None, or was released.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> y = x * x
            >>> y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 10, lambda t: t)
            >>> y.backward()
            >>> x.grad
            tensor([33.])
        """
        if len(hooks) != 2 or not all(callable(hook) for hook in hooks):
            raise TypeError(
                "register_hooks(): incompatible function arguments. It takes a pack hook and an "
                "unpack hook"
            )
        node = self._node
        if node._saved is None:
            words = FREED.format("variables")
            raise RuntimeError(
                f"Calling register_hooks on a saved tensor after it has been freed. {words}"
            )
        entry = node._saved[self._place]
        if isinstance(entry, PackedTensor):
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if entry is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        tensor = entry if isinstance(entry, Tensor) else entry.tensor
        if tensor is None:
            packed = pack(wrap_as_normal(entry.array), None, node._result_nr(self._place), hooks)
        else:
            packed = pack(tensor.detach(), *gradient_edge(tensor), hooks)
        packed.requires_grad = tensor is None or tensor.requires_grad
        saved = list(node._saved)
        saved[self._place] = packed
        node._saved = tuple(saved)


def raw_saved(node: Node, place: int) -> RawSavedTensor:
    """Give a handle on one of the values that a node saved."""
    raw = object.__new__(RawSavedTensor)
    raw._node = node
    raw._place = place
    return raw


RawSavedTensor.__name__ = RawSavedTensor.__qualname__ = "SavedTensor"  # as in PyTorch


@attach(Node)
class NodeAttributes(Node):
    """What a node offers beside what the engine needs of it."""

    __slots__ = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """A dict for notes about this node."""
        try:
            return self._metadata
        except AttributeError:
            self._metadata: dict[str, Any] = {}
            return self._metadata

    def __call__(self, *gradients: Any) -> Any:
        """Apply the backward rule to gradients of the results, by hand.

        Args:
            *gradients: A tensor for each output of the node.

        Returns:
            The gradients of the inputs: a tuple, or a tensor if there is one input.

        Raises:
            TypeError: If there are not as many gradients as outputs.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> (x * x).grad_fn(torch.tensor([10.0]))
            (tensor([30.], grad_fn=<MulBackward0>), tensor([30.], grad_fn=<MulBackward0>))
        """
        expected = len(self._shape) if self._multiple else 1
        if len(gradients) != expected:
            raise TypeError(f"expected {expected} arguments, got {len(gradients)} instead")
        if all(gradient is None for gradient in gradients) and not self._runs_without_gradient:
            results: Sequence[Any] = (None,) * len(self.next_functions)
        else:
            results = self._run_recorded(list(gradients) if self._multiple else gradients[0])
        if isinstance(self, AccumulateGrad) and self._hooks is not None:
            self._hooks.run_post_accumulate_hooks(self.variable)  # no others run
        return results[0] if len(results) == 1 else tuple(results)

    def _sequence_nr(self) -> int:
        """Tell the place of this node in the order of recording; the latest runs first."""
        return 2**64 - 1 if isinstance(self, AccumulateGrad) else -self._priority

    def _set_sequence_nr(self, number: int) -> None:
        self._priority = -number

    def _check_saved(self) -> None:
        """Raise if the saved values that the rule needs were released, or written to since.

        Raises:
            RuntimeError: If they were.
        """
        if self._names_of_saved:
            if self._saved is None:
                raise RuntimeError(RELEASED)
            for value in self._saved:
                if getattr(value, "_version_counter", None) is not None:
                    unpack_array(value, self)

    def __getattr__(self, name: str) -> Any:
        """Give `_saved_<name>`, a value that the node keeps for its rule, or `_raw_saved_<name>`.

        A raw one is a handle that takes hooks.
        """
        return ask(self, name)

    def __dir__(self) -> list[str]:
        """List the saved values too."""
        hidden = ("_names_of_saved", "_saved")  # what begins like this is a saved value
        own = (name for name in object.__dir__(self) if name not in hidden)
        return [*own, *attributes_of(self)]
