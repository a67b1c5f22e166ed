"""Jacobians, Hessians and products of torch.autograd.functional."""

from __future__ import annotations

from .tools import Family, leaf, numbers

family = Family()


PRODUCTS = ("vjp", "jvp", "vhp", "hvp")


def cubic(x):
    """Give a vector for a vector."""
    return x**3 * x.sum()


def number_of_two(x, z):
    """Give a number for two tensors of different shapes."""
    return ((x.t() @ z.reshape(2, 1)) ** 2).sum() * x[1, 2]


def linear_in_both(x, z):
    """Give a number that is linear in each of two tensors."""
    return x.sum() * 2 + z.sum()


def pair(torch, requires_grad=False):
    """Make a matrix and a vector."""
    return (
        leaf(torch, (2, 3), 1, requires_grad=requires_grad),
        leaf(torch, (2,), 2, requires_grad=requires_grad),
    )


def function_of(torch, name):
    """Give one of the functions of `autograd.functional`."""
    return getattr(torch.autograd.functional, name)


@family
def what_the_function_sees(torch, log):
    """Fresh tensors that require a gradient, recorded also under no_grad; `.grad` stays."""
    x = leaf(torch, (2,), 10)
    x.grad = torch.tensor([1.0, 2.0])

    def function(given):
        log("given", given, given is x, given.is_leaf, torch.is_grad_enabled())
        return (given * x).sum() ** 2

    with torch.no_grad():
        for name in (*PRODUCTS, "jacobian", "hessian"):
            v = () if name in ("vjp", "jacobian", "hessian") else (torch.tensor([0.5, -1.0]),)
            log(name, function_of(torch, name)(function, x, *v))
            log("with graph", function_of(torch, name)(function, x, *v, create_graph=True))
    log("kept", x.grad)


@family
def types_of_vectors(torch, log):
    """Vectors of another dtype are converted; inputs of integers are refused."""
    x = leaf(torch, (2,), 11)
    v = torch.tensor([1.0, -2.0], dtype=torch.float64)
    log("vjp", function_of(torch, "vjp")(cubic, x, v))
    log("jvp", function_of(torch, "jvp")(cubic, x, v))
    log("whole numbers", function_of(torch, "vjp")(cubic, x, torch.tensor([1, -2])))
    for name in ("vjp", "jvp", "jacobian"):
        log.raises(name, lambda name=name: function_of(torch, name)(cubic, torch.tensor([1, 2])))
    double = torch.tensor(numbers((2,), 12), dtype=torch.float64)
    log("double", function_of(torch, "jacobian")(cubic, double))


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
