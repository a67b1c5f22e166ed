"""Run a part without recording it, and run it again, recorded, when its backward comes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

from minigrad.autograd.function import Function
from minigrad.autograd.gradients import backward
from minigrad.autograd.modes import enable_grad, no_grad
from minigrad.autograd.variable import Variable
from minigrad.random import fork_rng, get_rng_state, set_rng_state
from minigrad.tensor import Tensor


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Detach tensors; each requires a gradient if it did before. Other things stay as they are.

    Raises:
        RuntimeError: If the inputs are not a tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(
        value.detach().requires_grad_(value.requires_grad) if isinstance(value, Tensor) else value
        for value in inputs
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if none of the tensors among the inputs requires a gradient."""
    if not any(value.requires_grad for value in inputs if isinstance(value, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


class CheckpointFunction(Function):
    """The custom function that `checkpoint` with `use_reentrant=True` applies."""

    @staticmethod
    def forward(
        ctx: Any, run_function: Callable[..., Any], preserve_rng_state: bool, *args: Any
    ) -> Any:
        """Run the part without recording it; keep its inputs and the random numbers' state."""
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.rng_state = get_rng_state() if preserve_rng_state else None
        # a tensor's place among the arguments is left empty: tensors are kept by autograd, which
        # notices when one was changed in place
        ctx.inputs = [None if isinstance(value, Tensor) else value for value in args]
        ctx.places = [place for place, value in enumerate(args) if isinstance(value, Tensor)]
        ctx.save_for_backward(*(args[place] for place in ctx.places))
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Run the part again, recorded, and send the gradients through it."""
        if not Variable._execution_engine.is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        inputs = list(ctx.inputs)
        for place, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[place] = tensor
        detached = detach_variable(tuple(inputs))
        with fork_rng(enabled=ctx.rng_state is not None):
            if ctx.rng_state is not None:
                set_rng_state(ctx.rng_state)
            with enable_grad():
                outputs = ctx.run_function(*detached)
        pairs = [
            (output, gradient)
            for output, gradient in zip(
                outputs if isinstance(outputs, (tuple, list)) else (outputs,),
                grad_outputs,
                strict=False,
            )
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        roots, gradients = zip(*pairs, strict=True)
        backward(roots, gradients)
        return (
            None,
            None,
            *(value.grad if isinstance(value, Tensor) else None for value in detached),
        )
