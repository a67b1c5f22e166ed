"""Take hold of what operations save for backward: pack it, unpack it, ask a node for it by name."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minigrad.autograd.grad_mode import INFERENCE, OBSERVERS, choose_observers, no_grad
from minigrad.autograd.messages import FREED, RELEASED, stale
from minigrad.autograd.rules import attach
from minigrad.core.engine import AccumulateGrad, resolve_edge
from minigrad.core.modes import modes
from minigrad.core.node import NO_EDGE, Node
from minigrad.core.tensor import (
    AutogradMeta,
    SavedTensor,
    Tensor,
    counter_of,
    made_by,
    unpack_array,
    unpack_tensor,
    wrap_as_normal,
)

Pack = Callable[[Any], Any]
Unpack = Callable[[Any], Any]


def set_grad_fn(tensor: Tensor, node: Node, output_nr: int) -> None:
    """Let a tensor be an output of a node, or the leaf of an accumulate node."""
    if isinstance(node, AccumulateGrad):
        tensor._edge = None
        tensor._autograd_meta().accumulator = weakref.ref(node)
    else:
        tensor._edge = (node, output_nr)


# The `_meta` of a Python number that became a tensor to meet another one.
wrapped_number = AutogradMeta()


class PackedTensor:
    """A saved tensor that a pack hook took, and that an unpack hook will give back.

    Attributes:
        packed: What the pack hook returned.
        unpack: Gives a tensor for it.
        node: The node that made the tensor; None for a result of the node that saved it.
        output_nr: Which output of that node the tensor is.
        requires_grad: Whether a gradient flows to the tensor.
        dtype: The NumPy dtype of the tensor.
        place: For a view that was changed in place, as in `SavedTensor`.
    """

    _version_counter = INFERENCE  # not None: so that the tape asks for unpacking
    place: Callable[[], Any]
    own_result = False  # whether a node's result was packed as it was: it is kept without its edge

    def __init__(
        self, packed: Any, unpack: Unpack, node: Node | None, output_nr: int, tensor: Tensor
    ) -> None:
        self.packed = packed
        self.unpack = unpack
        self.node = node
        self.output_nr = output_nr
        self.requires_grad = tensor.requires_grad
        self.dtype, self.shape = tensor._array.dtype, tensor._array.shape

    def unpack_array(self, node: Node) -> Any:
        """Give the array, in the dtype that was saved: that of the gradients' tensors."""
        array = self.unpack_tensor(node)._array
        return array if array.dtype == self.dtype else array.astype(self.dtype)

    def unpack_tensor(self, node: Node) -> Any:
        """Call the unpack hook, and give what it returned its edge in the graph."""
        packed = self.packed
        if self.own_result:
            packed = packed.detach()
            set_grad_fn(packed, made_by(self, node), self.output_nr)
        tensor = self.unpack(packed)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of "
                f"type {type(tensor).__name__}"
            )
        if tensor._array.shape != self.shape:
            raise RuntimeError(
                f"{type(node).__name__} saved a tensor of {list(self.shape)}, but the unpack hook "
                f"gave {list(tensor._array.shape)}: it has to give back what the pack hook got"
            )
        if not self.requires_grad:
            return tensor
        placed = wrap_as_normal(tensor._array)
        placed._version_counter = counter_of(tensor)
        set_grad_fn(placed, self.node or made_by(self, node), self.output_nr)
        return placed


class saved_tensors_hooks:
    """Call a pair of hooks for each tensor that an operation in the block saves for backward.

    Of nested blocks the innermost counts. Numbers that became tensors are not packed.

    Args:
        pack_hook: Gets the tensor, once, when it is saved; returns whatever is to be kept in its
            place. It must not change the tensor.
        unpack_hook: Gets what was kept, each time the tensor is used; returns a tensor of the
            same values.

    Raises:
        RuntimeError: Upon entering, if `disable_saved_tensors_hooks` forbids it; when saving, if
            the pack hook changed the tensor.
        TypeError: Upon entering, if a hook is not callable; when unpacking, if the unpack hook
            does not return a tensor.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> def pack(tensor):
        ...     print("saving", tensor.tolist())
        ...     return tensor.numpy(force=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(pack, torch.tensor):
        ...     y = x.exp()
        saving [20.08553695678711]
        >>> y.backward()
        >>> x.grad
        tensor([20.0855])
    """

    def __init__(self, pack_hook: Pack, unpack_hook: Unpack) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        """Let the pair count from here on."""
        if modes.hooks_forbidden is not None:
            raise RuntimeError(modes.hooks_forbidden)
        pair = (self.pack_hook, self.unpack_hook)
        if not all(map(callable, pair)):
            raise TypeError(f"saved_tensors_hooks takes two functions, not {pair!r}")
        modes.saved_hooks = (*modes.saved_hooks, pair)
        choose_observers()

    def __exit__(self, *exception: object) -> None:
        """Let the pair of the surrounding block count again."""
        modes.saved_hooks = modes.saved_hooks[:-1]
        choose_observers()


class save_on_cpu(saved_tensors_hooks):
    """Keep what operations in the block save in the memory of the CPU.

    There it is in minigrad anyway: the class is here for code that is written for PyTorch, where
    it moves saved tensors off a GPU until backward needs them.

    Args:
        pin_memory: Whether to keep copies, in memory that a GPU could reach quickly.
        device_type: The type of device that would hold the tensors.

    Example:
        >>> import minigrad as torch
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> with torch.autograd.graph.save_on_cpu():
        ...     y = x * x
        >>> y.backward()
        >>> x.grad
        tensor([6.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(
            lambda tensor: tensor.clone() if pin_memory else tensor.detach(), lambda packed: packed
        )


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Generator[None]:
    """Forbid `saved_tensors_hooks` within a block.

    Args:
        error_message: The text of the error that entering such hooks raises.

    Raises:
        RuntimeError: With that message, also if hooks are active already.

    Example:
        >>> hooks = saved_tensors_hooks(lambda tensor: tensor, lambda tensor: tensor)
        >>> with disable_saved_tensors_hooks("not within this block"), hooks:
        ...     pass
        Traceback (most recent call last):
        RuntimeError: not within this block
    """
    if modes.saved_hooks:
        raise RuntimeError(error_message)
    previous, modes.hooks_forbidden = modes.hooks_forbidden, error_message
    try:
        yield
    finally:
        modes.hooks_forbidden = previous


def pack_saved(node: Node, outputs: tuple[Any, ...]) -> None:
    """Let the innermost pair of hooks pack what a new node has saved.

    Args:
        node: The node, with saved values in place.
        outputs: Its results, some of which it may have saved.
    """
    saved = getattr(node, "_saved", None)  # some nodes are shown before they save: no tensors
    if not saved or not modes.saved_hooks:
        return
    hooks = modes.saved_hooks[-1]
    packed = list(saved)
    for index, entry in enumerate(saved):
        if isinstance(entry, SavedTensor) and entry.tensor is None:
            result = outputs[node._result_nr(index)]
            packed[index] = pack(result, None, node._result_nr(index), hooks)
            if hasattr(entry, "owner"):
                packed[index].owner = entry.owner
        elif isinstance(entry, (SavedTensor, Tensor)):
            tensor: Any = entry if isinstance(entry, Tensor) else entry.tensor
            if tensor._meta is not wrapped_number:
                edge = gradient_edge(tensor)
                packed[index] = pack(tensor, edge[0], edge[1], hooks)
    node._saved = tuple(packed)


OBSERVERS.append((lambda: modes.saved_hooks, pack_saved))


def gradient_edge(tensor: Tensor) -> tuple[Node | None, int]:
    """Give the edge at which a tensor's gradient arrives; no node if it needs none."""
    return (tensor._edge or resolve_edge(tensor)) if tensor.requires_grad else NO_EDGE


def pack(
    tensor: Tensor, node: Node | None, output_nr: int, hooks: tuple[Pack, Unpack]
) -> PackedTensor:
    """Call the pack hook with a tensor, and keep what it returns.

    Args:
        tensor: The tensor that is saved.
        node: The node that made it; None if it is a result of the node that saves it.
        output_nr: Which output of that node it is.
        hooks: The pack hook and the unpack hook.

    Raises:
        RuntimeError: If the pack hook changed the tensor.
    """
    counter = counter_of(tensor)
    before = counter.value
    with no_grad():
        packed = hooks[0](tensor)
    if counter.value != before:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input "
            "to pack hook cannot be modified by in-place operations as this can lead to "
            "unexpected side-effects. Please open an issue if you need to perform in-place "
            "operations on the input to a pack hook."
        )
    own_result = False
    if packed is tensor and node is None and tensor.requires_grad:
        # the tensor refers to the node that saves it: keep it without its edge, so
        # that no cycle holds both
        packed, own_result = tensor.detach(), True
    saved = PackedTensor(packed, hooks[1], node, output_nr, tensor)
    saved.own_result = own_result
    return saved


# ------------------------------------------------------------------ what a node saved, by name


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


def is_tensor(node: Any, name: str) -> bool:
    """Tell whether a tensor is saved under a name, or was, or would be if it was needed."""
    if name not in node._names_of_saved or node._names_of_saved.index(name) in node._numbers_at:
        return False
    value = node._saved and node._saved[node._names_of_saved.index(name)]
    return value is None or hasattr(value, "_version_counter")


def _shown(value: Any) -> Any:
    """Show index arrays as tensors, and a dimension that is taken whole as None."""
    if isinstance(value, np.ndarray):
        return wrap_as_normal(value)
    if isinstance(value, tuple) and any(not isinstance(each, Tensor) for each in value):
        return tuple(None if isinstance(each, slice) else _shown(each) for each in value)
    return value


class RawSavedTensor:
    """A value that a node saved, as `node._raw_saved_<name>` gives it: it can be given hooks.

    Example:
        >>> import minigrad as torch
        >>> y = torch.tensor([3.0], requires_grad=True).exp()
        >>> saved = y.grad_fn._raw_saved_result
        >>> saved.register_hooks(lambda t: t.tolist(), torch.tensor)
        >>> saved.unpack_hook is torch.tensor
        True
    """

    __slots__ = ("__weakref__", "_index", "_node")

    _node: Node
    _index: int

    def __init__(self) -> None:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")

    @property
    def unpack_hook(self) -> Unpack | None:
        """The hook that gives the value back; None if there is none."""
        entry = self._node._saved and self._node._saved[self._index]
        return entry.unpack if isinstance(entry, PackedTensor) else None

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
        node, wrong = self._node, ""
        saved = list(node._saved or ())
        entry: Any = saved[self._index] if saved else None
        if not saved:
            wrong = f"after it has been freed. {FREED.format('variables')}"
        elif isinstance(entry, PackedTensor):
            wrong = (
                "whose hooks have already been set. Hint: only one pair of hooks is allowed at a "
                "time."
            )
        elif entry is None:
            wrong = "with value None is forbidden"
        if wrong:
            raise RuntimeError(f"Calling register_hooks on a saved tensor {wrong}")
        tensor = entry if isinstance(entry, Tensor) else entry.tensor
        if tensor is None:
            packed = pack(wrap_as_normal(entry.array), None, node._result_nr(self._index), hooks)
        else:
            packed = pack(tensor.detach(), *gradient_edge(tensor), hooks)
        packed.requires_grad = tensor is None or tensor.requires_grad
        saved[self._index] = packed
        node._saved = tuple(saved)


def raw_saved(node: Node, index: int) -> RawSavedTensor:
    """Give a handle on one of the values that a node saved."""
    raw = object.__new__(RawSavedTensor)
    raw._node = node
    raw._index = index
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
        """Tell the number of this node in the order of recording; the latest runs first."""
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
        kind, names = type(self).__name__, self._names_of_saved
        prefix, found, saved_name = name.partition("_saved_")
        known = found and prefix in ("", "_raw") and saved_name in names_of(self)
        if not known or (prefix and not is_tensor(self, saved_name)):
            raise AttributeError(f"'{kind}' object has no attribute '{name}'")
        if saved_name not in names:
            return _CONSTANT[kind][saved_name]
        index = names.index(saved_name)
        if prefix:
            return raw_saved(self, index)
        if self._saved is not None:
            value = self._saved[index]
        elif index in self._numbers_at:
            value = self._numbers[self._numbers_at.index(index)]
        else:
            raise RuntimeError(RELEASED)
        return look_at(value, self) if hasattr(value, "_version_counter") else _shown(value)

    def __dir__(self) -> list[str]:
        """List the saved values too."""
        hidden = ("_names_of_saved", "_saved")  # what begins like this is a saved value
        own, names = (each for each in object.__dir__(self) if each not in hidden), names_of(self)
        raw = (f"_raw_saved_{name}" for name in names if is_tensor(self, name))
        return [*own, *(f"_saved_{name}" for name in names), *raw]
