"""Drop what a part of a computation saves, and run the part again when backward asks for it.

Operations inside the part save through `Frame.pack`, which keeps an empty `Slot` in the place of
each tensor. The first slot that a backward pass unpacks makes the part run again, under hooks
that put each tensor which is saved now into the slot of its turn. All other slots of the part are
filled then. A tensor leaves its slot when it is unpacked, so a second pass recomputes again.

Checkpoints may be nested. The inputs of the inner one count as tensors that the outer one saves:
to get them back, the outer part is recomputed first.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NoReturn, Self

import numpy as np

from minigrad.autograd.function import Function
from minigrad.autograd.modes import enable_grad, grad_mode
from minigrad.autograd.node import Node
from minigrad.autograd.saved_hooks import saved_tensors_hooks
from minigrad.random import fork_rng, get_rng_state, set_rng_state
from minigrad.tensor import Tensor
from minigrad.utils.checkpoint.debugging import TIP, Record


class CheckpointError(RuntimeError):
    """The recomputation of a checkpointed part did not do what the first run did."""


class GraphExecGroup:
    """Let several backward passes in a block share one recomputation of each checkpointed part.

    The passes must not need the same saved tensor twice. Only for `use_reentrant=False`.

    Raises:
        RuntimeError: Upon entering, if such a block is entered already.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.checkpoint import GraphExecGroup, checkpoint
        >>> def part(x, y):
        ...     print("running")
        ...     return x.exp(), y.exp()
        >>> x = torch.zeros(1, requires_grad=True)
        >>> y = torch.zeros(1, requires_grad=True)
        >>> a, b = checkpoint(part, x, y, use_reentrant=False)
        running
        >>> with GraphExecGroup():
        ...     a.backward()
        ...     b.backward()
        running
    """

    def __enter__(self) -> Self:
        """Let the passes from here on be one group."""
        if _group.current is not None:
            raise RuntimeError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {_group.current}"
            )
        _group.current = self
        return self

    def __exit__(self, *exception: object) -> None:
        """Let each pass be for itself again."""
        _group.current = None

    @classmethod
    def _get_current_group(cls) -> GraphExecGroup | None:
        return _group.current


class _Group(threading.local):
    """The group that this thread's passes belong to."""

    current: GraphExecGroup | None = None


_group = _Group()


class StopRecomputation(Exception):
    """All that was wanted has been recomputed."""


class Slot:
    """The place of one saved tensor, to be filled by a recomputation."""

    __slots__ = ("__weakref__",)


class Recomputation:
    """What one backward pass had recomputed.

    Attributes:
        count: How many tensors were saved.
        finished: Whether the part has run again.
        values: The tensors. Each is gone when it is unpacked, when the graph is released, and
            when the pass is over.
    """

    __slots__ = ("count", "finished", "values")

    def __init__(self) -> None:
        self.count = 0
        self.finished = False
        self.values: weakref.WeakKeyDictionary[Slot, Any] = weakref.WeakKeyDictionary()


class _Inputs(Function):
    """Keeps the inputs of a part, such that surrounding saved-tensor hooks see them."""

    @staticmethod
    def forward(ctx: Any, start: Any, *tensors: Any) -> Any:
        ctx.save_for_backward(*tensors)
        return start.clone()


class _Device:
    """Where a tensor is, in PyTorch's words; here it is the same place for all."""

    def __repr__(self) -> str:
        return "device(type='cpu')"


_cpu = _Device()


def _metadata(tensor: Any) -> Any:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": _cpu}


DETERMINISM_CHECKS: dict[str, Callable[[Any], Any]] = {
    "default": _metadata,
    "none": lambda tensor: None,
}


class Frame:
    """One run of a checkpointed part: how to run it again, and the slots of what it saved.

    Attributes:
        completed: Whether the first run is over. A gradient may be asked for before.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        *,
        context: AbstractContextManager[Any],
        preserve_rng_state: bool,
        early_stop: bool,
        metadata: Callable[[Any], Any],
        record: Record | None,
    ) -> None:
        self.function, self.kwargs, self.context = function, kwargs, context
        self.early_stop, self.metadata, self.record = early_stop, metadata, record
        self.rng_state = get_rng_state() if preserve_rng_state else None
        self.completed = False
        self._overtaken = False
        self._slots: list[weakref.ref[Slot]] = []
        self._seen: list[Any] = []
        self._recomputations: weakref.WeakKeyDictionary[Any, Recomputation] = (
            weakref.WeakKeyDictionary()
        )
        self._args = [None if isinstance(value, Tensor) else value for value in args]
        self._places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
        # a number that requires a gradient, so that the function is recorded in any case
        start = Node.wrap(np.zeros(())).requires_grad_()
        self._inputs = _Inputs.apply(start, *(args[place] for place in self._places)).grad_fn

    def hooks(self) -> saved_tensors_hooks:
        """Give the hooks for the first run."""
        return saved_tensors_hooks(self.pack, self.unpack)

    def pack(self, tensor: Any) -> Slot:
        """Keep an empty slot instead of a tensor."""
        slot = Slot()
        self._slots.append(weakref.ref(slot))
        self._seen.append(self.metadata(tensor))
        return slot

    def unpack(self, slot: Slot) -> Any:
        """Give the tensor of a slot; recompute the part, if this pass has not done so."""
        if self.record is None:
            return self._recomputed(slot)
        try:
            return self._recomputed(slot)
        except CheckpointError as error:
            raise CheckpointError(self.record.report()) from error

    def _recomputed(self, slot: Slot) -> Any:
        recomputation = self._recomputation_of_this_pass()
        if not recomputation.finished:
            self._recompute(recomputation)
            recomputation.finished = True
            self._compare(recomputation)
        if slot not in recomputation.values:
            overlap = (
                "Performing two backward calls that overlap (i.e. require the same saved "
                "activation in order to compute gradients) is not allowed while under the "
                "torch.utils.checkpoint.GraphExecGroup context. "
            )
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                f"unpacked once. {overlap if _group.current else ''}If you are calling "
                "ctx.saved_tensors in backward, make sure to do so only once. Otherwise please "
                "open an issue with details on your use case."
            )
        return recomputation.values.pop(slot)

    def _recomputation_of_this_pass(self) -> Recomputation:
        key = _group.current or grad_mode.task
        if key is None:  # somebody looks at a saved value outside of any pass
            return Recomputation()
        found = self._recomputations.get(key)
        if found is None:
            found = self._recomputations[key] = Recomputation()
        return found

    def _recompute(self, recomputation: Recomputation) -> None:
        """Run the part again, until all slots are filled."""
        args = list(self._args)
        for place, tensor in zip(self._places, self._inputs.saved_tensors, strict=True):
            args[place] = tensor

        def pack(tensor: Any) -> Any:
            tensor = tensor.detach() if tensor.requires_grad else tensor
            place = recomputation.count
            recomputation.count += 1
            if place >= len(self._slots):
                self._refuse_surplus()
                return tensor
            slot = self._slots[place]()
            if slot is not None:  # else a gradient asked for within the part has released it
                recomputation.values[slot] = tensor
            if self.early_stop and recomputation.count == len(self._slots):
                raise StopRecomputation
            return tensor

        record = self.record
        with (
            fork_rng(enabled=self.rng_state is not None),
            record.recomputing() if record else enable_grad(),
            enable_grad(),
            saved_tensors_hooks(pack, lambda tensor: tensor),
        ):
            if self.rng_state is not None:
                set_rng_state(self.rng_state)
            try:
                with self.context:
                    self.function(*args, **self.kwargs)
            except StopRecomputation:
                return

    def _refuse_surplus(self) -> None:
        """Act on a tensor for which there is no slot."""
        if self.completed:
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than "
                f"during the original forward pass.\n{TIP}"
            )
        # a gradient was asked for within the part: the first run has not come this far yet
        self._overtaken = True

    def _compare(self, recomputation: Recomputation) -> None:
        """Refuse a recomputation that saved other tensors than the first run."""
        if self._overtaken:
            return
        if len(self._slots) != recomputation.count:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self._slots)}\n"
                f"Number of tensors saved during recomputation: {recomputation.count}.\n{TIP}"
            )
        different = ""
        for place, (reference, before) in enumerate(zip(self._slots, self._seen, strict=True)):
            slot = reference()
            if slot is None:
                continue
            now = self.metadata(recomputation.values[slot])
            if now != before:
                different += (
                    f"tensor at position {place}:\nsaved metadata: {before}\n"
                    f"recomputed metadata: {now}\n"
                )
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{different}.\n{TIP}"
            )


def refuse_suppression() -> NoReturn:
    """Refuse a context that swallowed the exception of the part."""
    raise RuntimeError(
        "torch.utils.checkpoint: the forward context provided by context_fn suppressed an "
        "exception raised during the checkpointed forward. This is not supported because "
        "checkpoint cannot return a value for a failed forward."
    )
