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
    "einsum of lists": operation(
        lambda t, x, y: t.einsum(x, [..., 0, 1], y, [..., 1, 2], [..., 0, 2]),
        (2, 2, 3),
        (2, 3, 2),
        dtypes=(),
        wrong={
            "number": lambda t, x, y: t.einsum(x, [0, 1, 60]),
            "output": lambda t, x, y: t.einsum(x, [0, 1, 2], [0, 3]),
        },
    ),
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
    "tensordot over all": operation(lambda t, x, y: t.tensordot(x, y), (2, 3), (2, 3), dtypes=()),
    "tensordot, turned": operation(
        lambda t, x, y: t.tensordot(x, y, dims=([0, 1], [1, 0])), (2, 3), (3, 2), dtypes=()
    ),
    "tensordot, broadcast": operation(
        lambda t, x, y: t.tensordot(x, y, dims=([1], [0])), (2, 1), (3, 2), dtypes=()
    ),
    "inner": operation(
        lambda t, x, y: t.inner(x, y),
        (2, 3),
        (3,),
        dtypes=FEW,
        wrong={"sizes": lambda t, x, y: t.inner(x, y[:2])},
    ),
    "inner of vectors": operation(lambda t, x, y: x.inner(y), (3,), (3,), dtypes=()),
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
    "ger": operation(lambda t, x, y: x.ger(y), (2,), (3,), dtypes=()),
    "vdot": operation(
        lambda t, x, y: t.vdot(x, y),
        (3,),
        (3,),
        dtypes=FEW,
        wrong={
            "sizes": lambda t, x, y: x.vdot(y[:2]),
            "matrix": lambda t, x, y: t.vdot(t.eye(3), y),
            "dtypes": lambda t, x, y: t.vdot(x, y.double()),
        },
    ),
    "linalg.vecdot": operation(
        lambda t, x, y: t.linalg.vecdot(x, y),
        (2, 3),
        (3,),
        dtypes=("float64", "int64"),
        wrong={"dtypes": lambda t, x, y: t.linalg.vecdot(x, y.double())},
    ),
    "linalg.vecdot of vectors": operation(
        lambda t, x, y: t.linalg.vecdot(x, y), (3,), (3,), dtypes=()
    ),
    "linalg.cross": operation(
        lambda t, x, y: t.linalg.cross(x, y),
        (2, 3),
        (1, 3),
        dtypes=FEW,
        wrong={
            "dimensions": lambda t, x, y: t.linalg.cross(x, y[0]),
            "size": lambda t, x, y: t.linalg.cross(x, y, dim=0),
            "sizes": lambda t, x, y: t.linalg.cross(x, t.ones(4, 3)),
            "dtypes": lambda t, x, y: t.linalg.cross(x, y.double()),
        },
    ),
    "cross": operation(
        lambda t, x, y: t.cross(x, y, dim=0),
        (3, 2),
        (3, 2),
        dtypes=(),
        wrong={"none": lambda t, x, y: t.cross(t.ones(2), t.ones(2))},
    ),
    "kron": operation(lambda t, x, y: t.kron(x, y), (2, 2), (3,), dtypes=FEW),
    "kron of a batch": operation(lambda t, x, y: x.kron(y), (2, 1, 2), (1, 2), dtypes=()),
    **{
        f"matrix_power {n}": operation(
            lambda t, x, n=n: t.matrix_power(x, n), (3, 3), dtypes=FEW if n == 2 else ()
        )
        for n in (0, 1, 2, 3, 5, -1, -2)
    },
    "matrix_power of a batch": operation(
        lambda t, x: t.linalg.matrix_power(x, 6),
        (2, 2, 2),
        dtypes=(),
        wrong={
            "not square": lambda t, x: t.linalg.matrix_power(x[:, :1], 2),
            "exponent": lambda t, x: t.linalg.matrix_power(x, 2.0),
            "vector": lambda t, x: t.linalg.matrix_power(x[0, 0], 2),
        },
    ),
    "linalg.multi_dot": operation(
        lambda t, x, y, z: t.linalg.multi_dot([x, y, z]),
        (2, 3),
        (3, 4),
        (4, 2),
        dtypes=(),
        wrong={
            "one": lambda t, x, y, z: t.linalg.multi_dot([x]),
            "sizes": lambda t, x, y, z: t.linalg.multi_dot([x, z]),
            "dtypes": lambda t, x, y, z: t.linalg.multi_dot([x, y.double()]),
            "vector between": lambda t, x, y, z: t.linalg.multi_dot([x, t.ones(3), z]),
            "batch": lambda t, x, y, z: t.linalg.multi_dot([x, t.ones(1, 3, 2)]),
        },
    ),
    "linalg.multi_dot with vectors": operation(
        lambda t, x, y, z: t.linalg.multi_dot([x, y, z]), (2,), (2, 3), (3,), dtypes=()
    ),
    "chain_matmul": operation(
        lambda t, x, y, z: t.chain_matmul(x, y, z), (4, 2), (2, 3), (3, 1), dtypes=()
    ),
    "cdist by a product": operation(
        lambda t, x, y: t.cdist(x, y, compute_mode="use_mm_for_euclid_dist"),
        (2, 3),
        (3, 3),
        dtypes=(),
    ),
    "addmm, beta 0": operation(
        lambda t, b, x, y: t.addmm(b * float("nan"), x, y, beta=0),
        (2, 2),
        (2, 3),
        (3, 2),
        differentiable=False,
        dtypes=("float64", "int64"),
        wrong={
            "booleans": lambda t, b, x, y: t.addmm(b.bool(), x.bool(), y.bool()),
            "bias": lambda t, b, x, y: t.addmm(t.ones(1, 2, 2), x, y),
        },
    ),
    "addmm, whole numbers": operation(
        lambda t, b, x, y: t.addmm(b, x, y, alpha=2.5),
        (2, 2),
        (2, 3),
        (3, 2),
        differentiable=False,
        dtypes=("int64",),
    ),
    "addmm_": operation(
        lambda t, b, x, y: (b * 1).addmm_(x, y, beta=2),
        (2, 2),
        (2, 3),
        (3, 2),
        dtypes=(),
        wrong={"sizes": lambda t, b, x, y: t.ones(2).addmm_(x, y)},
    ),
    "addmv": operation(
        lambda t, b, x, y: t.addmv(b, x, y),
        (2,),
        (2, 3),
        (3,),
        dtypes=("float64", "int64"),
        wrong={
            "sizes": lambda t, b, x, y: t.addmv(b, x, y[:2]),
            "bias": lambda t, b, x, y: t.addmv(t.ones(3), x, y),
            "dimensions": lambda t, b, x, y: t.addmv(b, y, y),
            "dtypes": lambda t, b, x, y: t.addmv(b, x, y.double()),
        },
    ),
    "addmv with factors": operation(
        lambda t, b, x, y: b.addmv(x, y, beta=0.5, alpha=2), (), (2, 3), (3,), dtypes=()
    ),
    "addmv_": operation(
        lambda t, b, x, y: (b * 1).addmv_(x, y, alpha=2), (2,), (2, 3), (3,), dtypes=()
    ),
    "addr": operation(
        lambda t, b, x, y: t.addr(b, x, y),
        (2, 3),
        (2,),
        (3,),
        dtypes=("float64", "int64"),
        wrong={
            "sizes": lambda t, b, x, y: t.addr(b, y, x),
            "dimensions": lambda t, b, x, y: t.addr(b, b, y),
            "whole": lambda t, b, x, y: t.addr(b.long(), x.long(), y.long(), alpha=0.5),
        },
    ),
    "addr with factors": operation(
        lambda t, b, x, y: b.addr(x, y, beta=0.5, alpha=2), (3,), (2,), (3,), dtypes=()
    ),
    "addr_": operation(lambda t, b, x, y: (b * 1).addr_(x, y), (2, 3), (2,), (3,), dtypes=()),
    "baddbmm": operation(
        lambda t, b, x, y: t.baddbmm(b, x, y),
        (2, 2, 2),
        (2, 2, 3),
        (2, 3, 2),
        dtypes=FEW,
        wrong={
            "sizes": lambda t, b, x, y: t.baddbmm(b, x, x),
            "bias": lambda t, b, x, y: t.baddbmm(t.ones(3), x, y),
            "dtypes": lambda t, b, x, y: t.baddbmm(b, x, y.double()),
            "dtype of the bias": lambda t, b, x, y: t.baddbmm(b.double(), x, y),
            "dimensions": lambda t, b, x, y: t.baddbmm(b, x[0], y[0]),
        },
    ),
    "baddbmm with factors": operation(
        lambda t, b, x, y: b.baddbmm(x, y, beta=0.5, alpha=2), (2,), (2, 2, 3), (2, 3, 2), dtypes=()
    ),
    "baddbmm_": operation(
        lambda t, b, x, y: (b * 1).baddbmm_(x, y, beta=2),
        (2, 2, 2),
        (2, 2, 3),
        (2, 3, 2),
        dtypes=(),
        wrong={"sizes": lambda t, b, x, y: t.ones(2, 2).baddbmm_(x, y)},
    ),
    "addbmm": operation(
        lambda t, b, x, y: t.addbmm(b, x, y),
        (2, 2),
        (2, 2, 3),
        (2, 3, 2),
        dtypes=("float64", "int64"),
        wrong={
            "sizes": lambda t, b, x, y: t.addbmm(b, x, x),
            "batches": lambda t, b, x, y: t.addbmm(b, x, y[:1]),
            "bias": lambda t, b, x, y: t.addbmm(t.ones(3), x, y),
            "dimensions of the bias": lambda t, b, x, y: t.addbmm(t.ones(1, 2, 2), x, y),
        },
    ),
    "addbmm with factors": operation(
        lambda t, b, x, y: b.addbmm(x, y, beta=0.5, alpha=2), (2,), (2, 2, 3), (2, 3, 2), dtypes=()
    ),
    "addbmm_": operation(
        lambda t, b, x, y: (b * 1).addbmm_(x, y), (2, 2), (2, 2, 3), (2, 3, 2), dtypes=()
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
    "diagflat": operation(lambda t, x: x.diagflat(-1), (2, 1), dtypes=()),
    "diagonal_scatter": operation(
        lambda t, x, y: t.diagonal_scatter(x, y, 1),
        (2, 3),
        (2,),
        dtypes=(),
        wrong={"sizes": lambda t, x, y: x.diagonal_scatter(y[:1])},
    ),
    "fill_diagonal_": operation(
        lambda t, x: (x * 1).fill_diagonal_(3),
        (2, 3),
        dtypes=FEW,
        wrong={
            "vector": lambda t, x: t.ones(2).fill_diagonal_(3),
            "sizes": lambda t, x: t.ones(2, 3, 2).fill_diagonal_(3),
        },
    ),
    "H": operation(
        lambda t, x: x.H,
        (2, 3),
        dtypes=(),
        wrong={
            "batch": lambda t, x: t.ones(2, 2, 2).H,
            "vector": lambda t, x: x[0].H,
            "vector.mH": lambda t, x: x[0].mH,
            "vector.adjoint()": lambda t, x: x[0].adjoint(),
        },
    ),
    "mH": operation(lambda t, x: x.mH, (2, 2, 3), dtypes=()),
    "adjoint": operation(lambda t, x: t.adjoint(x), (2, 2, 3), dtypes=()),
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
    log.raises("booleans", lambda: torch.trace(torch.eye(2).bool()))


@family
def distances(torch, log):
    """Distances of all orders. PyTorch has no second derivative of them; minigrad has."""
    x, y = leaf(torch, (2, 3), 1), leaf(torch, (2, 3, 3), 2)
    for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, INF):
        value = torch.cdist(x, y, p=p)
        log(str(p), value, graph(value))
        cotangent = leaf(torch, (2, 2, 3), 3, requires_grad=False)
        log("gradients", *torch.autograd.grad(value, (x, y), cotangent))
    same = torch.cdist(x, x.detach())
    log("same", same, *torch.autograd.grad(same.sum(), x))
    log("many", torch.cdist(torch.ones(30, 2), torch.zeros(1, 2)).sum())
    log("nothing", torch.cdist(torch.zeros(0, 2), torch.zeros(3, 2)))
    log("no columns", torch.cdist(torch.zeros(2, 0), torch.zeros(3, 0)))
    log.raises("vector", lambda: torch.cdist(x[0], x))
    log.raises("columns", lambda: torch.cdist(x, x[:, :2]))
    log.raises("order", lambda: torch.cdist(x, x, p=-1.0))
    log.raises("mode", lambda: torch.cdist(x, x, compute_mode="fast"))
    log.raises("whole", lambda: torch.cdist(x.long(), x.long()))
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
    log.raises("no operand", lambda: torch.einsum("ij", []))
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
    z = torch.zeros(7, 3).fill_diagonal_(1, wrap=True)
    log("wrapped", z, torch.zeros(2, 2, 2).fill_diagonal_(1), torch.zeros(5, 2).fill_diagonal_(1))


@family
def indices_of_triangles(torch, log):
    """Where the entries of triangles are."""
    log("lower", torch.tril_indices(3, 2), torch.tril_indices(2, 4, 1))
    log("upper", torch.triu_indices(3, 4, -1, dtype=torch.int32), torch.triu_indices(0, 2))
    log.raises("negative", lambda: torch.tril_indices(-1, 2))
    log.raises("floats", lambda: torch.triu_indices(2, 2, dtype=torch.float32))
    log.raises("fraction", lambda: torch.tril_indices(2.0, 2))


@family
def powers_of_entries(torch, log):
    """Vandermonde's matrix, whose graph is another one here."""
    x = leaf(torch, (3,), 1)
    log("vander", torch.vander(x).detach(), torch.vander(x, 2, increasing=True).detach())
    y = torch.linalg.vander(x, N=4)
    log("linalg", y.detach(), *torch.autograd.grad(y, x, leaf(torch, (3, 4), 2).detach()))
    log("whole", torch.vander(torch.tensor([1, 2, 3])), torch.vander(torch.zeros(0)))
    log("none", torch.vander(torch.ones(2), 0))
    log.raises("matrix", lambda: torch.vander(torch.ones(2, 2)))
    log.raises("negative", lambda: torch.vander(x, -1))
    log.raises("one", lambda: torch.linalg.vander(x, N=1))


@family
def products_of_nothing(torch, log):
    """Products without entries, and of booleans."""
    zeros = torch.zeros
    log("mm", zeros(2, 0) @ zeros(0, 3), zeros(2, 0) @ zeros(0), zeros(0) @ zeros(0))
    log("bmm", torch.bmm(zeros(0, 2, 3), zeros(0, 3, 2)), zeros(2, 3, 0) @ zeros(0, 2))
    log("addbmm", torch.addbmm(torch.eye(2), zeros(0, 2, 2), zeros(0, 2, 2)))
    yes = torch.ones(2, 2).bool()
    log.raises("mm of booleans", lambda: yes @ yes)
    log.raises("mv of booleans", lambda: yes @ yes[0])
    log.raises("dot of booleans", lambda: yes[0] @ yes[0])
    log.raises("bmm of booleans", lambda: torch.bmm(yes[None], yes[None]))
    log.raises("mm of a number", lambda: torch.mm(torch.eye(2), 3))
