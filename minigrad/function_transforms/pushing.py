"""Multiply the Jacobian of a function with a direction: `jvp` and `linearize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.autograd.modes import enable_grad
from minigrad.function_transforms.gradients import with_extra
from minigrad.function_transforms.levels import Level, differentiate
from minigrad.function_transforms.structure import mapped, take_apart
from minigrad.tensor import Tensor, wrap

_CALL = "jvp(f, primals, tangents)"


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Call a function, and multiply its Jacobian with a direction v.

    minigrad has no forward mode: as in `autograd.functional.jvp` two backward passes give J v.

    Args:
        func: Gives tensors, also in tuples, lists and dictionaries.
        primals: The tuple of what to call it with.
        tangents: The direction, in the same form.
        strict: Whether to refuse an output that does not depend on the arguments; otherwise the
            product is zero there.
        has_aux: Whether the function gives a pair: the output, and something that is handed on.

    Returns:
        The output and the product, in the form of the output; with `has_aux` a third thing, what
        was handed on.

    Raises:
        RuntimeError: If the direction has another form or shape than the arguments.

    Example:
        >>> import minigrad as torch
        >>> x, v = torch.tensor([1.0, 3.0]), torch.tensor([1.0, 10.0])
        >>> torch.func.jvp(lambda x: x**2, (x,), (v,))
        (tensor([1., 9.]), tensor([ 2., 60.]))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_CALL}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    inputs, structure = take_apart(primals)
    directions, form = take_apart(tangents)
    if form != structure:
        raise RuntimeError(
            f"{_CALL}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {structure.specification()} and tangents with structure "
            f"{form.specification()}"
        )
    if not inputs:
        raise RuntimeError(f"{_CALL}: Expected primals to contain at least one Tensor.")
    for tensor, direction in zip(inputs, directions, strict=True):
        if tensor.shape != direction.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the "
                f"original Tensor, this is not supported. Tensor is of size {list(tensor.shape)} "
                f"while the given forward gradient is of size {list(direction.shape)}."
            )
    level = Level()
    with enable_grad():
        entered = [level.enter(tensor) for tensor in inputs]
        output, extra = func(*structure.build(entered)), None
        if has_aux:
            output, extra = with_extra(output, _CALL)
        outputs, its_form = take_apart(output)
        for leaf in outputs:
            if not isinstance(leaf, Tensor):
                raise RuntimeError(
                    f"{_CALL}: expected f(*primals) to return only tensors, got unsupported type "
                    f"{type(leaf)}"
                )
            if strict and not leaf.requires_grad:
                raise RuntimeError(
                    "jvp(f, primals, tangents, strict=True): The output of f is independent of "
                    "the inputs. This is not allowed with strict=True."
                )
        # the product u J is linear in u; its derivative in the direction v is J v
        u = [level.enter(wrap(np.zeros_like(leaf._array))) for leaf in outputs]
        first = differentiate(outputs, entered, u, create_graph=True)
        seen = level.is_seen(*outputs, *directions)
        found = differentiate(first, u, directions, seen)
    results = its_form.build(map(level.leave, outputs)), its_form.build(map(level.leave, found))
    return (*results, mapped(level.leave, extra)) if has_aux else results


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Call a function, and give with its output the linear function that approximates it there.

    PyTorch records that function once; here it computes `jvp` at the same place anew.

    Args:
        func: Gives tensors, also in tuples, lists and dictionaries.
        *primals: What to call it with.

    Returns:
        The output, and a function that takes a direction v and gives J v.

    Example:
        >>> import minigrad as torch
        >>> output, push = torch.func.linearize(lambda x: x**2, torch.tensor([1.0, 3.0]))
        >>> push(torch.tensor([1.0, 10.0]))
        tensor([ 2., 60.])
    """
    fixed = mapped(lambda tensor: tensor.clone(), primals)

    def push(*tangents: Any) -> Any:
        return jvp(func, fixed, tangents)[1]

    return func(*primals), push
