"""Prove that a backward rule gives the derivative of its forward, for all values at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.gradients import grad
from minigrad.symbolic.array import entries
from minigrad.symbolic.equality import check, shaped
from minigrad.symbolic.making import named_array
from minigrad.tensor import Tensor, wrap


@dataclass(frozen=True)
class Proof:
    r"""What was proved, and on what evidence.

    Attributes:
        forward: The formula of the forward, with one entry for each of the result's.
        cotangent: The symbols $g_k$ that stand for any gradient of the result.
        gradients: For each input the gradient that the engine gave, $\sum_k g_k\, \partial y_k /
            \partial x_i$ as was proved.
        regions: The parts of space in which it was proved, each a substitution; a single empty
            one means everywhere.
    """

    forward: Any
    cotangent: Any
    gradients: tuple[Any, ...]
    regions: tuple[Mapping[Any, Any], ...]


def prove(
    function: Callable[..., Tensor],
    *inputs: Tensor,
    regions: Sequence[Mapping[Any, Any]] = ({},),
) -> Proof:
    r"""Prove that the engine's gradient of a function is the derivative of its forward.

    The function runs on symbols, backward from a gradient of symbols $g$. What arrives at each
    input is compared with $\sum_k g_k\, \partial y_k / \partial x_i$, for which SymPy
    differentiates the forward's formula itself.

    Args:
        function: Takes the tensors and returns one.
        *inputs: Tensors of symbols. Those that require a gradient are differentiated.
        regions: For functions with kinks: substitutions, each of which leads into a region in
            which there is none, such as `{x: d}` and `{x: -d}` with a positive `d` for `abs(x)`.

    Returns:
        The evidence.

    Raises:
        Refuted: If the rule is wrong; it names the entry, both formulas and a counterexample.
        Undecided: If SymPy finds neither a proof nor a counterexample.
        ValueError: If no input requires a gradient.

    Example:
        >>> from minigrad.symbolic import symbols
        >>> x = symbols("x", requires_grad=True)
        >>> prove(lambda x: x.tanh(), x).gradients
        (g*(1 - tanh(x)**2),)
    """
    wanted = [each for each in inputs if each.requires_grad]
    if not wanted:
        raise ValueError("prove() needs an input that requires a gradient")
    result = function(*inputs)
    outputs = entries(result)
    cotangent = entries(named_array("g", outputs.shape, {"real": True}))
    gradients = grad(result, wanted, wrap(named_array("g", outputs.shape, {"real": True})))
    for tensor, gradient in zip(wanted, gradients, strict=True):
        symbols, found = entries(tensor), entries(gradient)
        if found.shape != symbols.shape:
            raise ValueError(f"a gradient of shape {found.shape} came for {symbols.shape}")
        for entry in np.ndindex(symbols.shape):
            due = sympy.Add(
                *(
                    g * sympy.diff(y, symbols[entry])
                    for g, y in zip(cotangent.flat, outputs.flat, strict=True)
                )
            )
            for region in regions:
                place = {_symbol(key): _symbol(value) for key, value in region.items()}
                sides = [side.subs(place, simultaneous=True).doit() for side in (found[entry], due)]
                check(entry, *sides)
    found_all = list(map(entries, gradients))
    forward, starting, *found_gradients = [
        shaped(list(array.flat), array.shape) for array in (outputs, cotangent, *found_all)
    ]
    return Proof(forward, starting, tuple(found_gradients), tuple(regions))


def _symbol(value: Any) -> Any:
    return value._array.item() if isinstance(value, Tensor) else value
