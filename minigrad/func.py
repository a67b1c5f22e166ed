"""Make functions of functions and modules: `grad`, `vmap`, `jacrev`, ..., `functional_call`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minigrad.function_transforms import (
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)
from minigrad.nn.utils.stateless import call
from minigrad.ops.calling.pieces import stack
from minigrad.tensor import Tensor

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]


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
    if isinstance(parameter_and_buffer_dicts, dict):
        tensors = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, Sequence):
        if not all(isinstance(each, dict) for each in parameter_and_buffer_dicts):
            raise ValueError(
                "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
            )
        tensors = {}
        repeated = []
        for each in parameter_and_buffer_dicts:
            repeated += [name for name in each if name in tensors]
            tensors.update(each)
        if repeated:
            raise ValueError(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is "
                "ambiguous"
            )
    else:
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(parameter_and_buffer_dicts)}"
        )
    return call(module, tensors, args, kwargs, tie_weights=tie_weights, strict=strict)


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Stack the parameters and the buffers of models of one kind.

    Raises:
        RuntimeError: If there are no models, or they differ in class or mode.
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same training/eval mode."
        )
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def _stacked(states: list[dict[str, Tensor]]) -> dict[str, Any]:
    result = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        needs = {tensor.requires_grad for tensor in tensors}
        if len(needs) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        stacked = stack(tensors)
        result[name] = stacked.detach().requires_grad_() if needs == {True} else stacked
    return result
