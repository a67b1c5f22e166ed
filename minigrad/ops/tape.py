"""Declare an operation by its forward and rules, and get a function that records itself.

An entry in the book of derivatives looks like this::

    @differentiable(
        "MulBackward0",
        self=lambda grad, other: grad * other,
        other=lambda grad, self: grad * self,
    )
    def mul(self, other):
        return self * other

The forward and the rules are plain NumPy. A rule is named after the input whose gradient it gives.
Its first argument is the gradient of the result; the names of its other arguments say what it
needs: inputs, `result`, settings such as `dim`, or `self_sym_sizes`, the shape of an input. Just
these values are saved, and only if an input that needs them requires a gradient. A rule may itself
be an operation of the book, such as `tanh_backward`: on arrays its forward is the rule, and on
tensors it leaves one node in the graph, as in PyTorch.

From such an entry `differentiable` writes three short functions, as `dataclasses` and `namedtuple`
do, so that recording an operation costs as little as Python allows: `mul(x, y)` computes and
records, `MulBackward0._run` applies the rules to arrays, and `MulBackward0._run_recorded` applies
the same rules to tensors, which records them. `print(mul.write())` shows them.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.modes import grad_mode
from minigrad.autograd.node import NO_EDGE, Node, next_priority
from minigrad.autograd.reduce import reduce_gradient
from minigrad.autograd.saved import RELEASED, SavedTensor, unpack_array, unpack_tensor
from minigrad.autograd.versions import INFERENCE
from minigrad.autograd.views import make_view
from minigrad.ops.meeting import (
    as_array,
    in_a_rule,
    meet_other,
    meet_types,
    new_silence,
    retry,
    rules_mode,
    scalar,
    silences,
)
from minigrad.ops.writing import Writer
from minigrad.tensor import Tensor

# What forwards and rules compute with: NumPy arrays, tensors, or arrays of symbols.
Array = Any
Rule = Callable[..., Any]


def _is_column_major(matrix: Any) -> bool:
    """Tell whether a matrix lies in memory column by column, such as a transposed weight."""
    row_step, column_step = matrix.strides
    size: int = matrix.itemsize
    return row_step == size and column_step == size * len(matrix)


# What the written functions may refer to.
_names: dict[str, Any] = {
    "__name__": __name__,
    "INFERENCE": INFERENCE,
    "NO_EDGE": NO_EDGE,
    "RELEASED": RELEASED,
    "SavedTensor": SavedTensor,
    "Tensor": Tensor,
    "as_array": as_array,
    "is_column_major": _is_column_major,
    "grad_mode": grad_mode,
    "make_view": make_view,
    "meet_other": meet_other,
    "meet_types": meet_types,
    "ndarray": np.ndarray,
    "new": object.__new__,
    "new_silence": new_silence,
    "next_priority": next_priority,
    "reduce_gradient": reduce_gradient,
    "resolve_edge": resolve_edge,
    "numbers": frozenset((int, float)),
    "retry": retry,
    "rules": rules_mode,
    "scalar": scalar,
    "silences": silences,
    "unpack_array": unpack_array,
    "unpack_tensor": unpack_tensor,
}

book: dict[str, Any] = {}  # every operation by its name


def differentiable(
    node_name: str,
    *,
    arithmetic: bool = False,
    broadcasts: bool | tuple[str, ...] = False,
    view: bool = False,
    constants: tuple[str, ...] = (),
    twins: dict[str, Callable[..., Any]] | None = None,
    **rules: Rule,
) -> Callable[[Callable[..., Any]], Any]:
    """Turn a forward in NumPy and its backward rules into an operation on tensors.

    Args:
        node_name: The name of the node in the graph, as PyTorch prints it.
        arithmetic: Whether the two inputs may be of different types, or the second a number.
        broadcasts: Whether inputs are broadcast or converted, so that their gradients have to be
            brought back; or the names of those that are broadcast.
        view: Whether the result shares the memory of the first input.
        constants: Inputs that are tensors but have no gradient, such as a condition.
        twins: For rules of inputs that may have been broadcast, quicker ways on arrays. Each gets
            what the rule gets, and then the shape and dtype that are wanted of the gradient.
        **rules: For each differentiable input its rule, in the order of the inputs.

    Returns:
        A decorator for the forward. The operation has the attributes `node` (the class of its
        nodes), `forward` and `rules`; `write()` gives the source of its functions.
    """

    def decorate(forward: Callable[..., Any]) -> Any:
        writer = Writer(node_name, forward, rules, constants, broadcasts or arithmetic, twins)
        node = type(
            node_name,
            (Node,),
            {
                "__slots__": (),
                "__doc__": f"Backward of `{forward.__name__}`.",
                "_names_of_saved": tuple(writer.saved),
                "_keeps_tensors": writer.keeps_tensors,
                "_optional": writer.optional,
            },
        )
        bare = getattr(forward, "__wrapped__", forward) if writer.quiet else forward
        names: dict[str, Any] = {**_names, "forward": bare, "NodeType": node}
        plain = {name: getattr(rule, "forward", rule) for name, rule in rules.items()}
        names |= {f"rule_{name}": rule for name, rule in plain.items()}
        names |= {f"recorded_rule_{name}": rule for name, rule in rules.items()}
        names |= {f"twin_{name}": twin for name, twin in writer.twins.items()}

        def write() -> str:
            return "\n\n".join(
                [
                    writer.operation(arithmetic, view),
                    writer.rule("_run", "rule", "{0}._array", "unpack_array({0}, node)"),
                    writer.rule(
                        "_run_recorded", "recorded_rule", "{0}", "unpack_tensor({0}, node)"
                    ),
                ]
            )

        operation: Any = FunctionType(_first_call.__code__, names, forward.__name__)
        names["this"], names["prepare"] = operation, lambda: _prepare(operation)
        operation.__doc__ = forward.__doc__
        operation.__wrapped__ = forward
        operation.__module__ = forward.__module__
        operation.node, operation.forward, operation.rules = node, forward, plain
        operation.write = write
        book[forward.__name__] = operation
        return operation

    return decorate


def _first_call(*arguments: Any) -> Any:
    """Stand in for an operation until it is first called: this makes importing quick."""
    prepare()  # type: ignore[name-defined]  # noqa: F821 - among the names of the operation
    return this(*arguments)  # type: ignore[name-defined]  # noqa: F821


def _prepare(operation: Any) -> None:
    """Write the source of an operation, and give the code to the operation and to its node."""
    source, names, node = operation.write(), operation.__globals__, operation.node
    filename = f"<minigrad {node.__name__}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    written: dict[str, Any] = {}
    exec(compile(source, filename, "exec"), names, written)
    node._run, node._run_recorded = written["_run"], in_a_rule(written["_run_recorded"])
    operation.__code__ = written[operation.__name__].__code__
