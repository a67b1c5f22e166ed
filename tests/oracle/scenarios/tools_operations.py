"""Make scenarios out of single operations: value, printed form, graph, gradients, second
derivatives, the dtypes of the result for each dtype of the inputs, and the errors.

A row of a table is a tuple of a function and the shapes of its inputs, or an `Operation`, which can
say more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .tools import Family, graph, leaf, numbers

DTYPES = ("float16", "float32", "float64", "uint8", "int32", "int64", "bool")


@dataclass
class Operation:
    """One call of an operation, for a table.

    Attributes:
        call: Calls it with the library and its inputs.
        shapes: The shapes of its inputs.
        positive: Whether the inputs must be positive.
        differentiable: Whether it has gradients; else only its value is compared.
        dtypes: The dtypes that it is tried with, all inputs alike; none to leave that out.
        wrong: Calls that must raise, by what is wrong with them. Each gets the library and the
            same inputs.
        results: Which of several results the gradients are taken of, if not of the only one.
        composed: Whether minigrad composes what is one node in PyTorch: the graph is not compared.
    """

    call: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    positive: bool = False
    differentiable: bool = True
    dtypes: tuple[str, ...] = DTYPES
    wrong: dict[str, Callable[..., Any]] = field(default_factory=dict)
    results: Callable[[Any], Any] = lambda result: result
    composed: bool = False


def operation(call: Callable[..., Any], *shapes: tuple[int, ...], **more: Any) -> Operation:
    """Describe an operation by its call and the shapes of its inputs; see `Operation`."""
    return Operation(call, shapes, **more)


# Name, function, and what makes the inputs, of all that were added to any family.
ADDED: list[tuple[Any, ...]] = []


def add_operation(family, name, function, *shapes, positive=False, dtype=None, composed=False):
    """Add three scenarios for an operation on tensors of the given shapes.

    The first has value, printed form, graph and gradients for a cotangent that is never all ones;
    the second has second derivatives, also for the cotangent; the third the graph that
    create_graph leaves behind.
    """

    def inputs(torch):
        options = {} if dtype is None else {"dtype": getattr(torch, dtype)}
        return [
            leaf(torch, shape, seed + 1, positive=positive, **options)
            for seed, shape in enumerate(shapes)
        ]

    if not composed:
        ADDED.append((name, function, inputs))

    def cotangent_for(torch, value, requires_grad):
        return leaf(torch, tuple(value.shape), 91, dtype=value.dtype, requires_grad=requires_grad)

    def first(torch, log):
        tensors = inputs(torch)
        value = function(torch, *tensors)
        if composed:
            log("value", value.detach())
        else:
            log("value", value, repr(value))
            log("graph", graph(value))
        log(
            "gradients",
            *torch.autograd.grad(
                value, tensors, cotangent_for(torch, value, False), allow_unused=True
            ),
        )

    def gradients_with_graph(torch):
        tensors = inputs(torch)
        value = function(torch, *tensors)
        cotangent = cotangent_for(torch, value, True)
        found = torch.autograd.grad(value, tensors, cotangent, create_graph=True, allow_unused=True)
        return [*tensors, cotangent], [g for g in found if g is not None]

    def second(torch, log):
        tensors, found = gradients_with_graph(torch)
        # A weight of its own for each gradient: with one for all, those of x - y would cancel.
        total = sum(
            (g * leaf(torch, tuple(g.shape), 55 + k, dtype=g.dtype, requires_grad=False)).sum()
            for k, g in enumerate(found)
        )
        if not total.requires_grad:
            log("constant", total)
            return
        # a rule of straight pieces gives zeros, whether its node has a place for the input or not
        log("second", *torch.autograd.grad(total, tensors, materialize_grads=True))

    first.__doc__ = f"Value, printed form, graph and gradients of {name}."
    second.__doc__ = f"Second derivatives of {name}."
    family.add(name, first)
    family.add(f"{name} (second derivative)", second)


def of_dtype(torch, shape, seed, name, positive):
    """Make an input of a dtype: small whole numbers and halves, so that results are exact enough.

    Numbers that must be positive are so in every dtype; whole ones are kept apart from 0 then.
    """
    floats = torch.tensor(numbers(shape, seed, positive))
    dtype = getattr(torch, name)
    if dtype.is_floating_point or dtype.is_complex:
        return floats.to(dtype)
    if name == "bool":
        return floats > (1 if positive else 0)
    return (
        (floats * 2).abs().to(dtype) + positive
        if name == "uint8" or positive
        else (floats * 2).to(dtype)
    )


def add_dtypes(family, name, row):
    """Add a scenario with the result, or the error, for inputs of each dtype."""

    def dtypes(torch, log):
        for each in row.dtypes:
            given = [
                of_dtype(torch, shape, seed + 1, each, row.positive)
                for seed, shape in enumerate(row.shapes)
            ]
            try:
                result = row.call(torch, *given)
            except Exception as error:
                log.error(each, error)
            else:
                log(each, result)

    dtypes.__doc__ = f"Values and dtypes, or errors, of {name} for inputs of each dtype."
    family.add(f"{name} (dtypes)", dtypes)


def add_wrong(family, name, row):
    """Add a scenario with the errors of wrong calls."""

    def wrong(torch, log):
        given = [
            leaf(torch, shape, seed + 1, positive=row.positive)
            for seed, shape in enumerate(row.shapes)
        ]
        for label, call in row.wrong.items():
            log.raises(label, lambda call=call: call(torch, *given))

    wrong.__doc__ = f"Errors of {name}."
    family.add(f"{name} (errors)", wrong)


def add_row(family, name, row):
    """Add the scenarios of an `Operation`."""
    if row.differentiable:
        add_operation(
            family,
            name,
            lambda torch, *tensors: row.results(row.call(torch, *tensors)),
            *row.shapes,
            positive=row.positive,
            composed=row.composed,
        )
    if row.dtypes:
        add_dtypes(family, name, row)
    if row.wrong:
        add_wrong(family, name, row)


def add_all(table, **options):
    """Make a family out of a table of rows by name."""
    family = Family()
    for name, row in table.items():
        if isinstance(row, Operation):
            add_row(family, name, row)
        else:
            function, *shapes = row
            add_operation(family, name, function, *shapes, **options)
    return family
