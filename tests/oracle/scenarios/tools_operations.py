"""Make scenarios out of single operations: value, printed form, graph, gradients, second
derivatives.
"""

from __future__ import annotations

from .tools import Family, graph, leaf


def add_operation(family, name, function, *shapes, positive=False, dtype=None):
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

    def cotangent_for(torch, value, requires_grad):
        return leaf(torch, tuple(value.shape), 91, dtype=value.dtype, requires_grad=requires_grad)

    def first(torch, log):
        tensors = inputs(torch)
        value = function(torch, *tensors)
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
        log("second", *torch.autograd.grad(total, tensors, allow_unused=True))

    def shape_of_second(torch, log):
        _, found = gradients_with_graph(torch)
        log("graphs", *(graph(g) for g in found))

    first.__doc__ = f"Value, printed form, graph and gradients of {name}."
    second.__doc__ = f"Second derivatives of {name}."
    shape_of_second.__doc__ = f"Graph of the gradient of {name}."
    family.add(name, first)
    family.add(f"{name} (second derivative)", second)
    family.add(f"{name} (graph of the gradient)", shape_of_second)


def add_all(table, **options):
    """Make a family out of a table: name, then function and shapes."""
    family = Family()
    for name, (function, *shapes) in table.items():
        add_operation(family, name, function, *shapes, **options)
    return family
