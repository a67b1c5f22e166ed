"""Numbers at the edge: x[i] = 5, fill_, copy_, empty tensors joined, norms and powers at zero."""

from __future__ import annotations

import numpy as np

from .tools import Family, graph, leaf

family = Family()


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
def transposes(torch, log):
    """x.T and x.mT of tensors that are no matrices warn or are errors."""
    for sizes in ((2,), (2, 3), (2, 3, 4)):
        x = leaf(torch, sizes, 1)
        for name in ("T", "mT"):

            def transposed(x=x, name=name):
                y = getattr(x, name)
                return y.shape, y is x, None if y.grad_fn is None else graph(y)

            log.raises(f"{name} of {sizes}", transposed)
