"""Call a function so that what is in between its inputs and outputs is computed again later."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from minigrad.autograd.modes import is_grad_enabled
from minigrad.nn.modules.container import Sequential
from minigrad.utils.checkpoint.debugging import Record
from minigrad.utils.checkpoint.recomputation import DETERMINISM_CHECKS, Frame, refuse_suppression
from minigrad.utils.checkpoint.reentrant import CheckpointFunction

Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

_early_stop: list[bool | None] = [None]
_debug: list[bool | None] = [None]


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Choose for all checkpoints made in a block whether recomputation stops early.

    By default it stops as soon as all saved tensors are there again. What counts is where forward
    runs, not where backward does.

    Args:
        enable: Whether to stop.
    """
    previous, _early_stop[0] = _early_stop[0], enable
    try:
        yield
    finally:
        _early_stop[0] = previous


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Choose for all checkpoints made in a block whether errors show the operations that ran.

    Args:
        enabled: Takes the place of `debug` of `checkpoint`, if it is not None.
    """
    previous, _debug[0] = _debug[0], enabled
    try:
        yield
    finally:
        _debug[0] = previous


def noop_context_fn() -> Contexts:
    """Give two contexts that do nothing: the default `context_fn` of `checkpoint`."""
    return nullcontext(), nullcontext()


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
        debug: Let errors show the operations that both runs recorded.
        early_stop: Stop a recomputation as soon as all saved tensors are there again.
        **kwargs: Keyword arguments of the function. `preserve_rng_state=False` among them is
            for `checkpoint` itself: let a recomputation draw other random numbers.

    Returns:
        What the function returns.

    Raises:
        ValueError: If an option is unknown, or needs `use_reentrant=False`.
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
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
            "Starting in PyTorch 2.9, calling checkpoint without use_reentrant will raise an "
            "exception. use_reentrant=False is recommended, but if you need to preserve the "
            "current default behavior, you can pass use_reentrant=True. Refer to docs for more "
            "details on the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if not use_reentrant:
        return _recorded(
            function, args, kwargs, preserve, context_fn, determinism_check, debug, early_stop
        )
    if kwargs:
        raise ValueError(
            f"Unexpected keyword arguments: {','.join(kwargs)}. Keyword arguments of the function "
            "need use_reentrant=False."
        )
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    return CheckpointFunction.apply(function, preserve, *args)


def _recorded(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve_rng_state: bool,
    context_fn: Callable[[], Contexts],
    determinism_check: str,
    debug: bool,
    early_stop: bool,
) -> Any:
    """Run the function under hooks that drop what it saves: `use_reentrant=False`."""
    record = None
    if debug if _debug[0] is None else _debug[0]:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        record = Record()
    if determinism_check not in DETERMINISM_CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(DETERMINISM_CHECKS)}, but got "
            f"{determinism_check}"
        )
    first_context, next_context = context_fn()
    if not is_grad_enabled():
        return function(*args, **kwargs)
    frame = Frame(
        function,
        args,
        kwargs,
        context=next_context,
        preserve_rng_state=preserve_rng_state,
        early_stop=early_stop if _early_stop[0] is None else _early_stop[0],
        metadata=DETERMINISM_CHECKS[determinism_check],
        record=record,
    )
    with record.running() if record else nullcontext(), frame.hooks(), first_context:
        result = function(*args, **kwargs)
        frame.completed = True
    if not frame.completed:
        refuse_suppression()
    return result


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
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
        warnings.warn(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be "
            "passed explicitly. In version 2.9 we will raise an exception if use_reentrant is not "
            "passed. use_reentrant=False is recommended, but if you need to preserve the current "
            "default behavior, you can pass use_reentrant=True. Refer to docs for more details on "
            "the differences between the two variants.",
            stacklevel=2,
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
    parts = list(functions.children()) if isinstance(functions, Sequential) else functions
    size = len(parts) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(
            _in_a_row(parts[start:end]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _in_a_row(parts[end:])(input)


def _in_a_row(functions: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Make one function of several."""

    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run
