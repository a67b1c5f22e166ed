"""Write the local derivative of one node in the names of the tensors it saved: `2*s`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from minigrad.autograd.node import Node
from minigrad.symbolic.array import SymbolicArray
from minigrad.symbolic.formulas import expression
from minigrad.symbolic.making import named_array
from minigrad.symbolic.telling.forwards import passes_on
from minigrad.symbolic.telling.local import Value, run_rule, stand_in
from minigrad.tensor import wrap


def local_formula(
    node: Node, input_nr: int, shape: tuple[int, ...], name_of: Callable[[Value], str | None]
) -> str | None:
    """Write the derivative of a node's only entry with respect to that of one of its inputs.

    Args:
        node: The node; its saved values must not have been released.
        input_nr: Which input.
        shape: The shape of the node's result, which has one entry.
        name_of: Gives the name of a value of the graph, if it has one. Values without a name are
            put in as numbers.

    Returns:
        The formula; None if there is no name in it, if there is more than one entry, if the node
        has no formula that its rule could be asked for, or if it is too long to help.

    Example:
        >>> import minigrad as torch
        >>> s = torch.tensor([0.276], requires_grad=True)
        >>> y = s**2
        >>> local_formula(y.grad_fn, 0, (1,), lambda value: "s")
        '2*s'
    """

    def replacement(value: Value | None, array: Any) -> Any:
        while value is not None and name_of(value) is None and passes_on(value[0]):
            source = value[0].next_functions[0]
            value = None if source[0] is None else (source[0], source[1])
        name = None if value is None else name_of(value)
        if name is None or array.size != 1:
            return SymbolicArray(array) if array.dtype.kind == "f" else array
        return named_array(name, array.shape, {"real": True})

    if node._multiple:
        return None
    try:
        results = run_rule(stand_in(node, replacement), [SymbolicArray(np.ones(shape))])
    except (TypeError, RuntimeError, ValueError):
        return None  # released, or a rule that symbols can't go through
    found = results[input_nr]
    if found is None or np.size(found) != 1:
        return None
    formula = expression(wrap(found))
    text = str(formula)
    plain = all(number.q <= _MOST_PARTS for number in formula.atoms(sympy.Rational))
    return text if formula.free_symbols and plain and len(text) <= _LONGEST else None


# A formula is there to be read at a glance: without numbers of many digits, and short.
_MOST_PARTS, _LONGEST = 1000, 40
