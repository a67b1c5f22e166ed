"""Make functions of functions and modules: `grad`, `vmap`, `jacrev`, ..., `functional_call`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.breadth.batches import vmap
from minigrad.breadth.derivatives import grad, grad_and_value, hessian, jacfwd, jacrev
from minigrad.core.tensor import Tensor
from minigrad.nn.utils.stateless import call

__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "vmap"]


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other tensors in the place of its parameters and buffers.

    Args:
        module: The module, which is as it was afterwards.
        parameter_and_buffer_dicts: Tensors by name, such as "0.weight"; or several dictionaries.
        args: What to call the module with: a tuple of arguments, or a single one.
        kwargs: The keyword arguments.
        tie_weights: Whether tensors that have several names are replaced under all of them.
        strict: Whether each parameter and buffer must be given, and nothing else.

    Returns:
        What the module gives.

    Raises:
        RuntimeError: If `strict` is set and names do not fit.
        ValueError: If a name is given twice, or tied names get different tensors.

    Example:
        >>> import minigrad as torch
        >>> layer = torch.nn.Linear(1, 1, bias=False)
        >>> torch.func.functional_call(layer, {"weight": torch.tensor([[2.0]])}, torch.ones(1))
        tensor([2.])
    """
    given = parameter_and_buffer_dicts
    several = [given] if isinstance(given, dict) else given
    if not isinstance(several, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(given)}"
        )
    if not all(isinstance(each, dict) for each in several):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    tensors: dict[str, Tensor] = {}
    repeated = []
    for each in several:
        repeated += [name for name in each if name in tensors]
        tensors.update(each)
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
            "ambiguous"
        )
    return call(module, tensors, args, kwargs, tie_weights=tie_weights, strict=strict)
