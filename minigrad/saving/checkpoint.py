"""Save memory: keep only the inputs of a part of a computation, and recompute it in backward.

There are two ways, chosen by `use_reentrant`:

* False (recommended): forward records its graph as always, but what operations save is dropped.
  Operations inside the part save through `Frame.pack`, which keeps an empty `Slot` instead of
  each tensor. The first slot that a backward pass unpacks makes the part run again, under hooks
  that fill all slots.
* True: forward runs under `no_grad` as one custom `Function`. Its backward runs the part again,
  recorded this time, and starts a second backward pass inside of the running one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import InitVar, dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from minigrad.autograd.function import Function
from minigrad.autograd.grad_mode import enable_grad, no_grad
from minigrad.autograd.gradients import backward
from minigrad.autograd.messages import warn
from minigrad.autograd.saved_hooks import saved_tensors_hooks
from minigrad.core.modes import is_grad_enabled, modes
from minigrad.core.tensor import Tensor, wrap_as_normal
from minigrad.nn.modules.container import Sequential
from minigrad.random import fork_rng, get_rng_state, set_rng_state

__all__ = [
    "CheckpointError", "CheckpointFunction", "checkpoint", "checkpoint_sequential",
    "noop_context_fn", "set_checkpoint_early_stop",
]  # fmt: skip


class CheckpointError(RuntimeError):
    """The recomputation of a checkpointed part did not do what the first run did.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.checkpoint import CheckpointError, checkpoint
        >>> x, runs = torch.tensor([3.0], requires_grad=True), []
        >>> def different_each_time(x):
        ...     runs.append(1)
        ...     return x.exp() if len(runs) == 1 else x * 2
        >>> try:
        ...     checkpoint(different_each_time, x, use_reentrant=False).backward()
        ... except CheckpointError as error:
        ...     print(error)
        torch.utils.checkpoint: A different number of tensors was saved during the original \
forward and recomputation.
        Number of tensors saved during forward: 1
        Number of tensors saved during recomputation: 0.
    """


class StopRecomputation(Exception):
    """All that is needed has been recomputed."""


class Slot:
    """What stands for one saved tensor, until a recomputation gives it."""

    __slots__ = ("__weakref__",)


@dataclass(eq=False)
class Recomputation:
    """What one backward pass had recomputed.

    Attributes:
        count: How many tensors were saved.
        finished: Whether the part has run again.
        values: The tensors. Each is gone when it is unpacked, when the graph is released, and
            when the pass is over.
    """

    count: int = 0
    finished: bool = False
    values: Any = field(default_factory=weakref.WeakKeyDictionary)


class _Inputs(Function):
    """Keeps the inputs of a part, such that surrounding saved-tensor hooks see them."""

    @staticmethod
    def forward(ctx: Any, start: Any, *tensors: Any) -> Any:
        ctx.save_for_backward(*tensors)
        return start.clone()


DETERMINISM_CHECKS: dict[str, Callable[[Any], Any]] = {
    "default": lambda t: {"shape": t.shape, "dtype": t.dtype, "device": t.device},
    "none": lambda tensor: None,
}


@dataclass(eq=False)
class Frame:
    """One run of a checkpointed part: how to run it again, and the slots of what it saved.

    Attributes:
        completed: Whether the first run is over. A gradient may be asked for before.
    """

    function: Callable[..., Any]
    args: InitVar[tuple[Any, ...]]
    kwargs: dict[str, Any]
    context: AbstractContextManager[Any]
    rng_state: Any
    early_stop: bool
    metadata: Callable[[Any], Any]
    completed: bool = False
    _overtaken: bool = False

    def __post_init__(self, args: tuple[Any, ...]) -> None:
        self._slots: list[weakref.ref[Slot]] = []
        self._seen: list[Any] = []
        self._recomputations: Any = weakref.WeakKeyDictionary()  # by the pass
        self._args = [None if isinstance(value, Tensor) else value for value in args]
        self._indices = [index for index, value in enumerate(args) if isinstance(value, Tensor)]
        # a number that requires a gradient, so that the function is recorded in any case
        start = wrap_as_normal(np.zeros(())).requires_grad_()
        self._inputs = _Inputs.apply(start, *(args[index] for index in self._indices)).grad_fn

    def pack(self, tensor: Any) -> Slot:
        """Keep an empty slot instead of a tensor."""
        slot = Slot()
        self._slots.append(weakref.ref(slot))
        self._seen.append(self.metadata(tensor))
        return slot

    def unpack(self, slot: Slot) -> Any:
        """Give the tensor of a slot; recompute the part, if this pass has not done so."""
        # without a pass, somebody looks at a saved value
        found = {} if modes.task is None else self._recomputations
        recomputation = found.setdefault(modes.task, Recomputation())
        if not recomputation.finished:
            self._recompute(recomputation)
            recomputation.finished = True
            self._compare(recomputation)
        if slot not in recomputation.values:
            raise CheckpointError(
                "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already "
                "unpacked once. If you are calling ctx.saved_tensors in backward, make sure to do "
                "so only once. Otherwise please open an issue with details on your use case."
            )
        return recomputation.values.pop(slot)

    def _recompute(self, recomputation: Recomputation) -> None:
        """Run the part again, until all slots are filled."""
        args = list(self._args)
        for index, tensor in zip(self._indices, self._inputs.saved_tensors, strict=True):
            args[index] = tensor

        def pack(tensor: Any) -> Any:
            tensor = tensor.detach() if tensor.requires_grad else tensor
            index = recomputation.count
            recomputation.count += 1
            if index >= len(self._slots):
                if self.completed:
                    raise CheckpointError(
                        "torch.utils.checkpoint: trying to save more tensors during recomputation "
                        "than during the original forward pass."
                    )
                # a gradient was asked for within the part: the first run has not come so far yet
                self._overtaken = True
                return tensor
            slot = self._slots[index]()
            if slot is not None:  # else a gradient asked for within the part has released it
                recomputation.values[slot] = tensor
            if self.early_stop and recomputation.count == len(self._slots):
                raise StopRecomputation
            return tensor

        hooks = saved_tensors_hooks(pack, lambda tensor: tensor)
        with fork_rng(enabled=self.rng_state is not None), enable_grad(), hooks:
            if self.rng_state is not None:
                set_rng_state(self.rng_state)
            with suppress(StopRecomputation), self.context:
                self.function(*args, **self.kwargs)

    def _compare(self, recomputation: Recomputation) -> None:
        """Refuse a recomputation that saved other tensors than the first run."""
        if self._overtaken:
            return
        if len(self._slots) != recomputation.count:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self._slots)}\n"
                f"Number of tensors saved during recomputation: {recomputation.count}."
            )
        different = "".join(
            f"tensor at position {index}:\nsaved metadata: {before}\nrecomputed metadata: {now}\n"
            for index, (slot, before) in enumerate(zip(self._slots, self._seen, strict=True))
            if (key := slot()) and (now := self.metadata(recomputation.values[key])) != before
        )
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{different}."
            )


class CheckpointFunction(Function):
    """The custom function that `checkpoint` with `use_reentrant=True` applies.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.checkpoint import checkpoint
        >>> x = torch.tensor([0.0], requires_grad=True)
        >>> checkpoint(torch.exp, x, use_reentrant=True)
        tensor([1.], grad_fn=<CheckpointFunctionBackward>)
    """

    @staticmethod
    def forward(
        ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any
    ) -> Any:
        """Run the part without recording it; keep its inputs and the random numbers' state."""
        if not any(value.requires_grad for value in args if isinstance(value, Tensor)):
            warn("None of the inputs have requires_grad=True. Gradients will be None")
        ctx.run_function = run_function
        ctx.rng_state = get_rng_state() if preserve_rng_state else None
        # a tensor's place among the arguments is left empty: tensors are kept by autograd, which
        # notices when one was changed in place
        ctx.inputs = [None if isinstance(value, Tensor) else value for value in args]
        ctx.indices = [index for index, value in enumerate(args) if isinstance(value, Tensor)]
        ctx.save_for_backward(*(args[index] for index in ctx.indices))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Run the part again, recorded, and send the gradients through it."""
        if modes.task is not None and modes.task.needed is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        detached = list(ctx.inputs)
        for index, tensor in zip(ctx.indices, ctx.saved_tensors, strict=True):
            detached[index] = tensor.detach().requires_grad_(tensor.requires_grad)
        with fork_rng(enabled=ctx.rng_state is not None):
            if ctx.rng_state is not None:
                set_rng_state(ctx.rng_state)
            with enable_grad():
                outputs = ctx.run_function(*detached)
        outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
        both = zip(outputs, grad_outputs, strict=False)
        pairs = [(y, g) for y, g in both if isinstance(y, Tensor) and y.requires_grad]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        roots, gradients = zip(*pairs, strict=True)
        backward(roots, gradients)
        found = (value.grad if isinstance(value, Tensor) else None for value in detached)
        return (None, None, *found)


Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

_early_stop: list[bool | None] = [None]


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Generator[None]:
    """Choose for all checkpoints made in a block whether recomputation stops early.

    By default it stops as soon as all saved tensors are there again. What counts is where forward
    runs, not where backward does.

    Args:
        enable: Whether to stop.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.checkpoint import checkpoint, set_checkpoint_early_stop
        >>> def part(x):
        ...     y = x.exp()
        ...     print("runs")
        ...     return y
        >>> x = torch.tensor([0.0], requires_grad=True)
        >>> checkpoint(part, x, use_reentrant=False).backward()  # stops before it prints again
        runs
        >>> with set_checkpoint_early_stop(False):
        ...     y = checkpoint(part, x, use_reentrant=False)
        runs
        >>> y.backward()
        runs
    """
    previous, _early_stop[0] = _early_stop[0], enable
    try:
        yield
    finally:
        _early_stop[0] = previous


def noop_context_fn() -> Contexts:
    """Give two contexts that do nothing: the default `context_fn` of `checkpoint`.

    Example:
        >>> forward, recomputation = noop_context_fn()
        >>> with forward, recomputation:
        ...     1 + 1
        2
    """
    return nullcontext(), nullcontext()


def _by_default(beginning: str) -> bool:
    """Warn that it should be said which way to go."""
    end = " if use_reentrant is not passed" * beginning.endswith("we will raise an")
    warn(
        f"{beginning} exception{end}. use_reentrant=False is recommended, but if you need to "
        "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for "
        "more details on the differences between the two variants."
    )
    return True


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function(*args, **kwargs)` without keeping what its operations save for backward.

    Backward calls the function again. This trades time for memory: with n layers in about
    sqrt(n) checkpointed parts, the memory grows with sqrt(n) instead of n, for one more forward
    (T. Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016, arXiv:1604.06174).

    The function must do the same each time it is called. The random numbers of this package are
    the same in both runs.

    Args:
        function: What to run; often a module.
        *args: Its arguments.
        use_reentrant: False is recommended, see the module's description; None warns and means
            True. With True, backward must be run without `inputs`, and not by `grad`; tensors
            inside of lists or dicts get no gradient; and an argument must require one.
        context_fn: Gives two context managers, for the first run and for the recomputations.
        determinism_check: `"default"` compares shape and dtype of what the two runs save;
            `"none"` does not.
        debug: Not offered.
        early_stop: Stop a recomputation as soon as all saved tensors are there again.
        **kwargs: Keyword arguments of the function. `preserve_rng_state=False` among them is
            for `checkpoint` itself: let a recomputation draw other random numbers.

    Returns:
        What the function returns.

    Raises:
        ValueError: If an option is unknown, or needs `use_reentrant=False`.
        NotImplementedError: If `debug` is asked for.
        CheckpointError: In backward, if the recomputation saved other tensors than the first run.
        RuntimeError: If `context_fn` swallowed an exception; with `use_reentrant=True` in
            backward, if only some gradients were asked for.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.checkpoint import checkpoint
        >>> def part(x):
        ...     print("running")
        ...     return (x * x).exp()
        >>> x = torch.tensor([0.5], requires_grad=True)
        >>> y = checkpoint(part, x, use_reentrant=False)
        running
        >>> y.backward()
        running
        >>> x.grad
        tensor([1.2840])
    """
    if use_reentrant is None:
        use_reentrant = _by_default(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an"
        )
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError(
                f"Unexpected keyword arguments: {','.join(kwargs)}. Keyword arguments of the "
                "function need use_reentrant=False."
            )
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve, *args)
    if debug:
        raise NotImplementedError("debug=True is not offered: nothing is written down")
    if determinism_check not in DETERMINISM_CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(DETERMINISM_CHECKS)}, but got "
            f"{determinism_check}"
        )
    first_context, next_context = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    early_stop = early_stop if _early_stop[0] is None else _early_stop[0]
    rng_state = get_rng_state() if preserve else None
    metadata = DETERMINISM_CHECKS[determinism_check]
    frame = Frame(function, args, kwargs, next_context, rng_state, early_stop, metadata)
    with saved_tensors_hooks(frame.pack, frame.unpack), first_context:
        result = function(*args, **kwargs)
        frame.completed = True
    if not frame.completed:
        raise RuntimeError(
            "torch.utils.checkpoint: the forward context provided by context_fn suppressed an "
            "exception raised during the checkpointed forward. This is not supported because "
            "checkpoint cannot return a value for a failed forward."
        )
    return result


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Call functions one after the other, in checkpointed segments; the last one is kept whole.

    Args:
        functions: A `Sequential`, or a list of modules or functions of one tensor.
        segments: How many segments to make.
        input: What the first function gets.
        use_reentrant: As for `checkpoint`.
        **kwargs: `preserve_rng_state` is known.

    Returns:
        What the last function returns.

    Raises:
        ValueError: If a keyword is unknown.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.utils.checkpoint import checkpoint_sequential
        >>> def double(x):
        ...     print("running")
        ...     return x * 2
        >>> x = torch.ones(2, requires_grad=True)
        >>> y = checkpoint_sequential([double, torch.exp, torch.sin], 3, x, use_reentrant=False)
        running
        >>> y.sum().backward()
    """
    if use_reentrant is None:
        use_reentrant = _by_default(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
            "passed explicitly. In version 2.9 we will raise an"
        )
    settings = {"preserve_rng_state": kwargs.pop("preserve_rng_state", True)}
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    parts = list(functions.children()) if isinstance(functions, Sequential) else functions
    size = len(parts) // segments
    end = size * (segments - 1)
    for start in range(0, end, size):
        part = _in_a_row(parts[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, **settings)
    return _in_a_row(parts[end:])(input)


def _in_a_row(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Make one function of several."""
    return lambda value: reduce(lambda made, function: function(made), functions, value)
