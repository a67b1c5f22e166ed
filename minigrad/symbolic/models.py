"""Turn a model into one whose parameters are symbols, with all its hooks, to run it unchanged."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TypeVar

from minigrad.nn import Module
from minigrad.symbolic.making import named_array

AnyModule = TypeVar("AnyModule", bound=Module)


def symbolic_like(
    model: AnyModule, names: Mapping[str, str] | None = None, **assumptions: bool
) -> AnyModule:
    """Copy a model and make its parameters named symbols.

    The modules that have parameters of their own are counted in the order in which
    `model.named_modules()` meets them; `weight` becomes `w` and `bias` becomes `b` with that
    number. So `f0.weight`, `f0.bias`, `f1.f.weight`, `f1.f.bias` are `w_0`, `b_0`, `w_1`, `b_1`. A
    parameter of any other name keeps it: `scale` of the third such module is `scale_2`. The
    entries of a parameter with several are numbered as by `symbols`.

    Args:
        model: The model. It is not changed. Its hooks are on the copy as well.
        names: Names to use instead, by the parameter's name in `model.named_parameters()`.
        **assumptions: What SymPy may assume of the symbols. Without any: `real=True`.

    Returns:
        The copy. Its buffers, such as running means, stay numbers.

    Raises:
        KeyError: If `names` has a name that no parameter has.
        ValueError: If two parameters would be called the same.

    Example:
        >>> import minigrad as torch
        >>> model = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Tanh())
        >>> symbolic_like(model)(torch.symbolic.symbols("x", 1))
        tensor([tanh(b_0 + w_0*x)], grad_fn=<TanhBackward0>)
    """
    parameters = dict(model.named_parameters())
    chosen = dict(names or {})
    for name in chosen:
        if name not in parameters:
            raise KeyError(
                f"the model has no parameter '{name}'; it has {', '.join(parameters) or 'none'}"
            )
    called = {name: chosen.get(name, ruled) for name, ruled in _ruled_names(model).items()}
    for name, symbol in called.items():
        other = next(first for first, taken in called.items() if taken == symbol)
        if other != name:
            raise ValueError(f"{other} and {name} would both be called {symbol}")
    symbolic = copy.deepcopy(model)
    for name, parameter in symbolic.named_parameters():
        parameter._array = named_array(called[name], tuple(parameter.shape), assumptions)
        parameter.grad = None
    return symbolic


_short = {"weight": "w", "bias": "b"}


def _ruled_names(model: Module) -> dict[str, str]:
    """Give each parameter its name by the rule; one that two modules share has the first's."""
    ruled: dict[str, str] = {}
    named = {id(parameter): name for name, parameter in model.named_parameters()}
    number = 0
    for _, module in model.named_modules():
        own = list(module.named_parameters(recurse=False))
        for short, parameter in own:
            name = named.pop(id(parameter), None)
            if name is not None:
                ruled[name] = f"{_short.get(short, short)}_{number}"
        number += bool(own)
    return ruled
