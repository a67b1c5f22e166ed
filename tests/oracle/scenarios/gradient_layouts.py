"""In which order the entries of .grad lie in memory: as in the leaf, where that is possible."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def leaves(torch):
    """Make functions that give constants whose entries lie in all sorts of orders."""

    def constant(*sizes):
        return leaf(torch, sizes, 1, requires_grad=False)

    return {
        "rows": lambda: constant(2, 3),
        "columns": lambda: constant(3, 2).t(),
        "permuted": lambda: constant(2, 3, 4).permute(2, 0, 1),
        "every other row": lambda: constant(4, 3)[::2],
        "every other column": lambda: constant(4, 6)[:, ::2],
    }


@family
def written_to(torch, log):
    """A gradient whose entries are one in memory is written to in all of them at once."""
    x = leaf(torch, (2, 3), 1)
    (alike,) = torch.autograd.grad(x.sum(), x)
    alike[0, 0] = 5
    (rows,) = torch.autograd.grad(x.sum(1), x, torch.tensor([1.0, 2.0]))
    rows[0, 0] = 5
    log("written", alike, rows)


@family
def gradients_of_leaves(torch, log):
    """A dense leaf hands its order on; one with gaps gets rows."""
    for name, make in leaves(torch).items():
        x, other = make().requires_grad_(), make().requires_grad_()
        log(name, x.stride())
        for operation, run in {
            "sum": lambda x: x.sum().backward(),
            "product": lambda x, other=other: (x * other).sum().backward(),
            "exp": lambda x: x.exp().sum().backward(),
            "given": lambda x: x.backward(torch.ones(x.shape)),
            "flat": lambda x: x.reshape(-1).backward(torch.ones(x.numel())),
            "matrix": lambda x: (x @ torch.ones(x.shape[-1], 2)).sum().backward(),
        }.items():
            run(x)
            log(operation, x.grad.stride())
            run(x)
            log("again", x.grad.stride(), x.grad)
            x.grad = None


@family
def recorded_gradients(torch, log):
    """The same with create_graph, and what autograd.grad gives."""
    for name, make in leaves(torch).items():
        x, other = make().requires_grad_(), make().requires_grad_()
        (x * other).sum().backward(create_graph=True)
        log(name, x.grad.stride(), other.grad.stride())
        log("grad", torch.autograd.grad((x * other).sum(), x)[0].stride())


@family
def windows_that_overlap(torch, log):
    """A view whose entries share memory collects their gradients, after a change of its base."""
    x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0], requires_grad=True)
    y = x * 1
    windows = y.unfold(0, 3, 1)
    y.mul_(x)
    weights = torch.arange(9.0).reshape(3, 3)
    (gradient,) = torch.autograd.grad((windows * windows * weights).sum(), x, create_graph=True)
    log("gradient", gradient.detach())
    log("second", torch.autograd.grad((gradient * torch.arange(5.0)).sum(), x)[0])


@family
def repeated_gradient_of_another_order(torch, log):
    """A gradient that repeats entries, and lies in memory in another order, keeps its values."""
    x = torch.zeros(2, 3, 4, requires_grad=True)
    weights = torch.arange(12.0).reshape(4, 3).t()
    (gradient,) = torch.autograd.grad(x.sum(0), x, weights)
    log("gradient", gradient)
    log.raises("written to", lambda: gradient.mul_(2))
