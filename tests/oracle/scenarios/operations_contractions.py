"""See einsum, tensordot, products that are added, triangles, diagonals, cross and distances."""

from __future__ import annotations

from .tools import graph, leaf
from .tools_operations import add_all, operation

INF = float("inf")
FEW = ("float64", "int64", "bool")

EQUATIONS = {
    "ij,jk->ik": ((2, 3), (3, 4)),
    "ij,jk->ki": ((2, 3), (3, 4)),
    "ij,kj->ik": ((2, 3), (4, 3)),
    "bij,bjk->bik": ((2, 3, 2), (2, 2, 3)),
    "bij,bjk": ((2, 3, 2), (2, 2, 3)),
    "...ij,...jk->...ik": ((2, 3, 2), (2, 3)),
    "ij->ji": ((2, 3),),
    "ij->": ((2, 3),),
    "ba": ((2, 3),),
    "ii": ((3, 3),),
    "ii->i": ((3, 3),),
    "...ii->...i": ((2, 3, 3),),
    "...i->...": ((2, 3),),
    "i,i->": ((3,), (3,)),
    "i,j->ij": ((2,), (3,)),
    "ij,j->i": ((2, 3), (3,)),
    "ab,bc->": ((2, 3), (3, 2)),
    "ij,ij->ij": ((2, 3), (2, 3)),
    "i,ij,j->": ((2,), (2, 3), (3,)),
    "bn,anm,bm->ba": ((2, 3), (2, 3, 2), (2, 2)),
}


TABLE = {
    **{
        f"einsum {equation}": operation(
            lambda t, *given, equation=equation: t.einsum(equation, *given),
            *shapes,
            dtypes=FEW if equation in ("ij,jk->ik", "ij->") else (),
        )
        for equation, shapes in EQUATIONS.items()
    },
    "tensordot": operation(
        lambda t, x, y: t.tensordot(x, y),
        (2, 3, 4),
        (3, 4, 2),
        dtypes=FEW,
        wrong={
            "sizes": lambda t, x, y: t.tensordot(x, y, dims=1),
            "negative": lambda t, x, y: t.tensordot(x, y, dims=-1),
            "too many": lambda t, x, y: t.tensordot(x, y, dims=4),
            "lists": lambda t, x, y: t.tensordot(x, y, dims=([0], [0, 1])),
            "twice": lambda t, x, y: t.tensordot(x, y, dims=([0, 0], [2, 2])),
            "numbers": lambda t, x, y: t.tensordot(x, y, dims=(0, 2)),
            "dtypes": lambda t, x, y: t.tensordot(x, y.double()),
        },
    ),
    "tensordot over given dimensions": operation(
        lambda t, x, y: t.tensordot(x, y, dims=([1], [0])), (2, 3, 2), (3, 2), dtypes=()
    ),
    "tensordot over none": operation(
        lambda t, x, y: t.tensordot(x, y, dims=0), (2,), (3,), dtypes=()
    ),
    "tensordot over all": operation(
        lambda t, x, y: t.tensordot(x, y), (2, 3), (2, 3), dtypes=(), composed=True
    ),
    "tensordot, turned": operation(
        lambda t, x, y: t.tensordot(x, y, dims=([0, 1], [1, 0])),
        (2, 3),
        (3, 2),
        dtypes=(),
        composed=True,
    ),
    "inner": operation(
        lambda t, x, y: t.inner(x, y),
        (2, 3),
        (3,),
        dtypes=FEW,
        wrong={"sizes": lambda t, x, y: t.inner(x, y[:2])},
    ),
    "inner of vectors": operation(lambda t, x, y: x.inner(y), (3,), (3,), dtypes=(), composed=True),
    "inner with a number": operation(lambda t, x, y: t.inner(x, y), (), (3,), dtypes=()),
    "outer": operation(
        lambda t, x, y: t.outer(x, y),
        (2,),
        (3,),
        dtypes=FEW,
        wrong={
            "first": lambda t, x, y: t.outer(t.eye(2), y),
            "second": lambda t, x, y: t.outer(x, t.eye(2)),
        },
    ),
    "cdist by a product": operation(
        lambda t, x, y: t.cdist(x, y, compute_mode="use_mm_for_euclid_dist"),
        (2, 3),
        (3, 3),
        dtypes=(),
        composed=True,
    ),
    "addmm, whole numbers": operation(
        lambda t, b, x, y: t.addmm(b, x, y),
        (2, 2),
        (2, 3),
        (3, 2),
        differentiable=False,
        dtypes=("int64",),
        wrong={
            "booleans": lambda t, b, x, y: t.addmm(b.bool(), x.bool(), y.bool()),
            "bias": lambda t, b, x, y: t.addmm(t.ones(1, 2, 2), x, y),
        },
    ),
    "tril": operation(
        lambda t, x: t.tril(x, 1),
        (2, 3),
        wrong={
            "vector": lambda t, x: t.tril(x[0]),
            "fraction": lambda t, x: t.tril(x, 1.0),
        },
    ),
    "tril_": operation(lambda t, x: (x * 1).tril_(-1), (2, 2, 2), dtypes=()),
    "triu": operation(lambda t, x: x.triu(diagonal=-1), (2, 3), dtypes=FEW),
    "triu_": operation(lambda t, x: (x * 1).triu_(), (3, 3), dtypes=()),
    "diag": operation(
        lambda t, x: t.diag(x, 1),
        (3, 3),
        dtypes=FEW,
        wrong={
            "batch": lambda t, x: t.diag(t.ones(2, 2, 2)),
            "number": lambda t, x: t.diag(t.tensor(2.0)),
        },
    ),
    "diag of a vector": operation(lambda t, x: x.diag(-1), (2,), dtypes=FEW),
    "diagonal": operation(
        lambda t, x: x.diagonal(1, 0, 2),
        (2, 2, 3),
        dtypes=FEW,
        wrong={
            "the same": lambda t, x: x.diagonal(0, 1, 1),
            "none": lambda t, x: x.diagonal(0, 1, 3),
        },
    ),
    "linalg.diagonal": operation(lambda t, x: t.linalg.diagonal(x, offset=1), (2, 2, 3), dtypes=()),
    "diag_embed": operation(
        lambda t, x: t.diag_embed(x, 1, 0, 2),
        (2, 2),
        dtypes=FEW,
        wrong={"the same": lambda t, x: t.diag_embed(x, 0, 1, 1)},
    ),
    "mH": operation(lambda t, x: x.mH, (2, 2, 3), dtypes=()),
}

family = add_all(TABLE)


@family
def trace(torch, log):
    """The sum of a diagonal; PyTorch records its gradient through index_fill and a view."""
    x = leaf(torch, (2, 3), 1)
    value = torch.trace(x)
    log("value", value, repr(value), graph(value))
    cotangent = leaf(torch, (), 2)
    (gradient,) = torch.autograd.grad(value, x, cotangent, create_graph=True)
    log("gradient", gradient.detach())
    weights = leaf(torch, (2, 3), 3, requires_grad=False)
    log("second", *torch.autograd.grad((gradient * weights).sum(), cotangent))
    log("whole", torch.trace(torch.ones(2, 2, dtype=torch.int32)))
    log.raises("batch", lambda: torch.trace(torch.ones(2, 2, 2)))


@family
def distances(torch, log):
    """Distances of all orders. PyTorch has no second derivative of them; minigrad has."""
    x, y = leaf(torch, (2, 3), 1), leaf(torch, (2, 3, 3), 2)
    for p in (0.5, 1.0, 1.5, 2.0, 3.0, INF):
        value = torch.cdist(x, y, p=p)
        log(str(p), value.detach())
        cotangent = leaf(torch, (2, 2, 3), 3, requires_grad=False)
        cotangent[0, 0, 0] = 0
        log("gradients", *torch.autograd.grad(value, (x, y), cotangent))
    for p in (1.5, 2.0, 3.0):
        same = torch.cdist(x, x.detach(), p=p)
        log("same", same.detach(), *torch.autograd.grad(same.sum(), x))
    log("many", torch.cdist(torch.ones(30, 2), torch.zeros(1, 2)).sum())
    log("nothing", torch.cdist(torch.zeros(0, 2), torch.zeros(3, 2)))
    log("no columns", torch.cdist(torch.zeros(2, 0), torch.zeros(3, 0)))
    log.raises("vector", lambda: torch.cdist(x[0], x))
    log.raises("columns", lambda: torch.cdist(x, x[:, :2]))
    log.raises("order", lambda: torch.cdist(x, x, p=-1.0))
    log.raises("batches", lambda: torch.cdist(torch.ones(2, 3, 2), torch.ones(3, 3, 2)))


@family
def einsum_errors(torch, log):
    """Equations that make no sense."""
    x = torch.ones(2, 3)
    for equation, count in (
        ("ij,jk->ik", 1), ("ij->ik", 1), ("ijk->i", 1), ("i->i", 1), ("ij,jk->ik", 2),
        ("ij->ii", 1), ("i.j->i", 1), ("...i...->i", 1), ("i1->i", 1), ("ii->i", 1),
        ("ij->i->j", 1), ("", 1), ("ij-i", 1), ("ij,", 1), ("ij..->i", 1), ("ij>i", 1),
        ("ij->i", 2), ("...ijk->i", 1), ("ij->.", 1), ("ij->......", 1),
    ):  # fmt: skip
        log.raises(f"{equation} {count}", lambda e=equation, n=count: torch.einsum(e, *[x] * n))
    log.raises("nothing", lambda: torch.einsum("ij"))
    log.raises("a number", lambda: torch.einsum("ij", 3))
    log.raises("dtypes", lambda: torch.einsum("ij,jk->ik", x, x.mT.double()))
    log.raises("booleans", lambda: torch.einsum("ij,jk->ik", x.bool(), x.mT.bool()))


@family
def einsum_of_views(torch, log):
    """A single operand that is only reordered shares its memory."""
    x = torch.zeros(2, 2)
    torch.einsum("ii->i", x).fill_(1)
    torch.einsum("ij->ji", x)[0, 1] = 5
    log("changed", x)
    log("spaces", torch.einsum(" i j , j k -> i k ", x, x))
    log("list", torch.einsum("ij,jk->ik", [x, x]))
    log("stretched", torch.einsum("ij,ij->ij", x, x[:1]))


@family
def diagonals_are_views(torch, log):
    """Changing a diagonal changes the matrix, and gradients know."""
    x = leaf(torch, (3, 3), 1)
    y = x * 1
    y.diagonal().mul_(2)
    torch.diagonal(y, -1).zero_()
    log("matrix", y, graph(y))
    log("gradient", *torch.autograd.grad(y, x, leaf(torch, (3, 3), 2, requires_grad=False)))
