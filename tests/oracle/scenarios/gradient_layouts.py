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
        "every other, transposed": lambda: constant(4, 6)[:, ::2].t(),
        "expanded": lambda: constant(1, 3).expand(2, 3),
    }


@family
def gradients_of_leaves(torch, log):
    """A dense leaf hands its order on; one with gaps, or repeated entries, gets rows."""
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
