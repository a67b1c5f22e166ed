"""See `autograd.functional`: whole Jacobians and Hessians, their forms and options."""

from __future__ import annotations

from .functional import (
    cubic,
    function_of,
    kind_of_error,
    linear_in_both,
    number_of_two,
    only_the_first,
    pair,
    two_to_two,
    unrelated,
)
from .tools import Family, leaf

family = Family()


@family
def jacobian_shapes(torch, log):
    """The four forms of the result: one or several inputs, one or several outputs."""
    jacobian = function_of(torch, "jacobian")
    x, z = pair(torch)
    log("one of one", jacobian(cubic, z))
    log("one of a tuple", jacobian(cubic, (z,)))
    log("a tuple of one", jacobian(lambda z: (z * 2, (z**2).sum()), z))
    log("one of two", jacobian(lambda x, z: x.t() @ z, (x, z)))
    log("two of two", jacobian(two_to_two, (x, z)))
    log("a tuple of one each", jacobian(lambda z: (z**2,), (z,)))
    log("of a matrix", jacobian(lambda x: x @ x.t(), x))
    log("number", jacobian(lambda z: z.sum() ** 2, z))
    log("of a number", jacobian(lambda z: z * torch.tensor([2.0, 3.0]), torch.tensor(1.5)))
    log("of no entries", jacobian(lambda z: z.sum(), torch.zeros(0)))


@family
def jacobian_options(torch, log):
    """With a graph, and vectorized."""
    jacobian = function_of(torch, "jacobian")
    x, z = pair(torch, requires_grad=True)
    plain = x.detach()
    log("graph", jacobian(cubic, z, create_graph=True))
    log("graph of plain", jacobian(lambda x: (x**2).sum(), plain, create_graph=True))
    log("graph of two", jacobian(two_to_two, (plain, z), create_graph=True))
    log("vectorized", jacobian(two_to_two, (x, z), vectorize=True))


@family
def jacobian_strictness(torch, log):
    """In strict mode an output that does not depend on an input is an error."""
    jacobian = function_of(torch, "jacobian")
    x, z = pair(torch, requires_grad=True)
    functions = {
        "both": two_to_two,
        "linear": linear_in_both,
        "one": only_the_first,
        "neither": unrelated,
        "second output": lambda x, z: (x.sum() * z, z * z),
    }
    for name, function in functions.items():
        for create_graph in (False, True):
            for strict in (False, True):

                def run(function=function, create_graph=create_graph, strict=strict):
                    return jacobian(function, (x, z), create_graph=create_graph, strict=strict)

                kind_of_error(log, f"{name} {create_graph} {strict}", run)


@family
def jacobian_differentiated(torch, log):
    """The Jacobian with a graph: its own gradient, and its second Jacobian."""
    jacobian = function_of(torch, "jacobian")
    z = leaf(torch, (2,), 8)
    (
        jacobian(cubic, z, create_graph=True) * torch.tensor([[1.0, 2.0], [3.0, -4.0]])
    ).sum().backward()
    log("gradient", z.grad)
    log("second", jacobian(lambda z: jacobian(cubic, z, create_graph=True), z))


@family
def hessian_shapes(torch, log):
    """One input, several inputs, a graph, and other ways to the same numbers."""
    hessian = function_of(torch, "hessian")
    x, z = pair(torch)
    log("one", hessian(lambda z: (z**3).sum() * z[0], z))
    log("a tuple", hessian(lambda z: (z**3).sum() * z[0], (z,)))
    log("two", hessian(number_of_two, (x, z)))
    log("linear", hessian(linear_in_both, (x, z)))
    log("graph", hessian(lambda z: (z**4).sum(), leaf(torch, (2,), 9), create_graph=True))
    log("vectorized", hessian(number_of_two, (x, z), vectorize=True))
    log.raises("list", lambda: hessian(number_of_two, [x, z]))


@family
def hessian_strictness(torch, log):
    """In strict mode a gradient that is constant is an error."""
    hessian = function_of(torch, "hessian")
    functions = [number_of_two, linear_in_both, only_the_first, unrelated]
    functions.append(lambda x, z: (x**2).sum() * 2 + (z**2).sum())
    for number, function in enumerate(functions):
        for create_graph in (False, True):

            def run(function=function, create_graph=create_graph):
                inputs = pair(torch, requires_grad=True)
                return hessian(function, inputs, create_graph=create_graph, strict=True)

            kind_of_error(log, f"{number} {create_graph}", run)
