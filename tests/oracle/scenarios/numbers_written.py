"""Numbers at the edge: x[i] = 5, fill_, copy_, empty tensors joined, norms and powers at zero."""

from __future__ import annotations

import numpy as np

from .tools import Family, graph, leaf

family = Family()

NUMBERS = (3, 2.75, True, -1, -200, 300, 2**40, float("nan"), float("inf"), 1e300, 1j)
OTHERS = ([1.0, 2.0], (1.0,), [], None, "a", {}, np.ones(2), np.float32(2), np.float64(2))
TYPES = ("float32", "float64", "int64", "uint8", "int8", "bool")


def assigned(x, key, value):
    """Write a value under a key and give the tensor."""
    x[key] = value
    return x


@family
def assigning_numbers(torch, log):
    """x[i] = number: what does not fit into the type is an error."""
    for value in NUMBERS:
        for dtype in TYPES:
            for key in (0, slice(None), [0, 1]):
                x = torch.ones(2, dtype=getattr(torch, dtype))
                log.raises(f"{value} {dtype}", lambda x=x, k=key, v=value: assigned(x, k, v))
                log("version", x._version)


@family
def assigning_other_things(torch, log):
    """x[i] = list: only numbers and tensors can be assigned."""
    for value in OTHERS:
        for dtype in ("float32", "int64"):
            x = torch.ones(2, dtype=getattr(torch, dtype))
            log.raises(f"{value!r} {dtype}", lambda x=x, v=value: assigned(x, slice(None), v))


@family
def assigning_under_false(torch, log):
    """x[False] = 5 changes nothing and records nothing."""
    for key in (False, True, (False,), [False, True], []):
        y = leaf(torch, (2, 2), 1) * 2
        log(repr(key), assigned(y, key, 5.0), y._version, graph(y))


@family
def filling_with_numbers(torch, log):
    """fill_ with a number: what does not fit into the type is an error."""
    for value in NUMBERS:
        for dtype in TYPES:
            x = torch.ones(2, dtype=getattr(torch, dtype))
            log.raises(f"{value} {dtype}", lambda x=x, v=value: x.fill_(v))
            log("version", x._version)


@family
def copying_numbers(torch, log):
    """copy_ takes numbers too, and forgets the history of what it overwrites."""
    for value in (3.0, 2, True, torch.tensor(2), [1.0], None, "a", np.ones(2), np.float64(3)):
        x = torch.ones(2)
        log.raises(repr(value), lambda x=x, v=value: x.copy_(v))
        log("version", x._version)
    x = leaf(torch, (2,), 1)
    y = (x * 2).copy_(4)
    log("recorded", y, graph(y))
    y.sum().backward()
    log("gradient", x.grad)


@family
def looking_for_things(torch, log):
    """`value in x` takes numbers and tensors."""
    x = torch.tensor([1, 2])
    for value in (1, 3, 1.0, True, torch.tensor(2), torch.tensor([1, 3]), "a", None, [1], {}):
        log.raises(repr(value), lambda v=value: v in x)


@family
def joining_nothing(torch, log):
    """A tensor of shape (0,) may be joined to any other, and gets an empty gradient."""

    def nothing(*sizes):
        return torch.zeros(sizes or (0,), requires_grad=True)

    for dim in (0, 1, -1):
        for make in (
            lambda: [nothing(), leaf(torch, (2, 2), 1)],
            lambda: [leaf(torch, (2, 2), 1), nothing(), leaf(torch, (2, 2), 2)],
            lambda: [nothing(), nothing()],
            lambda: [nothing(0, 2), leaf(torch, (2, 2), 1)],
            lambda: [nothing(0, 3), leaf(torch, (2, 2), 1)],
            lambda: [nothing(0, 1), nothing()],
        ):
            tensors = make()

            def join(tensors=tensors, dim=dim):
                joined = torch.cat(tensors, dim)
                (joined * joined).sum().backward()
                return joined, graph(joined), [tensor.grad for tensor in tensors]

            log.raises(f"dim {dim}", join)


@family
def norms_at_zero(torch, log):
    """Norms of any order where entries, or all of them, are zero."""
    for p in (0, 0.5, -1, -2, 1, 1.5, 2, 3, float("inf"), float("-inf")):
        for rows in ([[0.0, 1.0, -2.0], [0.0, 0.0, 0.0]], [[3.0, 1.0, -2.0], [1.0, 0.5, 4.0]]):
            for settings in ({}, {"dim": 1}, {"dim": 0, "keepdim": True}):
                x = torch.tensor(rows, dtype=torch.float64, requires_grad=True)
                y = x.norm(p, **settings)
                log(f"p={p}", y, graph(y))
                (y * y).sum().backward()
                log("gradient", x.grad)


@family
def types_to_reduce_in(torch, log):
    """sum, mean and norm in another type: values, and gradients in the type of the input."""
    for name, settings in {
        "sum": {},
        "sum, dim": {"dim": 0},
        "sum, both": {"dim": (0, 1), "keepdim": True},
        "sum, none": {"dim": ()},
        "mean": {},
        "mean, dim": {"dim": 1},
        "norm": {"p": 2, "dim": 1},
        "norm, 3": {"p": 3},
    }.items():
        x = leaf(torch, (2, 3), 1)
        method = getattr(x, name.split(",", maxsplit=1)[0])
        for dtype in (torch.float64, torch.float32):
            y = method(dtype=dtype, **settings)
            log(name, y)
            y.backward(torch.ones_like(y) * 3)
        log("total", x.grad)


@family
def types_by_name(torch, log):
    """x.type("torch.DoubleTensor"), type_as, and what is no type."""
    x = leaf(torch, (2,), 1)
    for kind in ("Double", "Float", "Half", "Long", "Int", "Short", "Char", "Bool"):
        y = x.type(f"torch.{kind}Tensor")
        log(kind, y, y is x, y.type(), y.grad_fn is not None)
    for name in ("torch.Foo", "FloatTensor"):
        log.raises(repr(name), lambda name=name: x.type(name))
    for other in (torch.ones(1, dtype=torch.float64), torch.ones(1)):
        log.raises("type_as", lambda other=other: x.type_as(other))


@family
def transposes(torch, log):
    """x.T and x.mT of tensors that are no matrices warn or are errors."""
    for sizes in ((2,), (2, 3), (2, 3, 4)):
        x = leaf(torch, sizes, 1)
        for name in ("T", "mT"):

            def transposed(x=x, name=name):
                y = getattr(x, name)
                return y.shape, y is x, None if y.grad_fn is None else graph(y)

            log.raises(f"{name} of {sizes}", transposed)


@family
def attributes_to_read_only(torch, log):
    """Attributes that describe a tensor can be neither assigned nor deleted."""
    y = leaf(torch, (2, 2), 1) * 2
    for name in ("shape", "dtype", "ndim", "T", "mT", "grad_fn", "is_leaf", "retains_grad"):
        log.raises(name, lambda name=name: setattr(y, name, None))
        log.raises(name, lambda name=name: delattr(y, name))
    for name in ("_base", "_version", "output_nr"):
        log.raises(name, lambda name=name: setattr(y, name, 1))
        log.raises(name, lambda name=name: delattr(y, name))
    log("unchanged", y, y._version)


@family
def powers_that_are_infinite(torch, log):
    """Powers at zero and of negative numbers are inf or nan, without a warning."""
    for exponent in (-1, -2, 0, 0.0, 0.5, -0.5, 1.5, 3):
        x = torch.tensor([0.0, -1.0, 2.0], requires_grad=True)
        y = x**exponent
        log(repr(exponent), y)
        y.backward(torch.tensor([1.0, 2.0, 3.0]))
        log("gradient", x.grad)
