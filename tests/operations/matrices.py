"""Products of matrices, contractions, and linear algebra."""

from __future__ import annotations

from .table import FLOATS, B, M, Q, V, op

FEW = ("float64", "int64", "bool")
WELL = "(x + 3 * torch.eye(x.shape[-1], dtype=x.dtype))"
SYMMETRIC = "(x + x.mT)"
SIGNS = "SymPy has no formula for it"

EINSUM = {
    "ij,jk->ik": ((2, 3), (3, 4)), "ij,kj->ki": ((2, 3), (4, 3)), "bij,bjk->bki": ((2, 3, 2), (2, 2,
    3)),
    "...ij,...jk->...ik": ((2, 3, 2), (2, 3)), "ij->ji": ((2, 3),), "ij->": ((2, 3),),
    "ba": ((2, 3),), "ii": ((3, 3),), "ii->i": ((3, 3),), "...ii->...i": ((2, 3, 3),),
    "...i->...": ((2, 3),), "i,i->": ((3,), (3,)), "i,j->ij": ((2,), (3,)),
    "ab,bc->": ((2, 3), (3, 2)), "ij,ij->ij": ((2, 3), (2, 3)), "i,ij,j->": ((2,), (2, 3), (3,)),
    "bn,anm,bm->ba": ((2, 3), (2, 3, 2), (2, 2)), "iij->j": ((3, 3, 2),), ",ij->ji": ((), (2, 3)),
    "xAx->A": ((2, 3, 2),), "abc,cd,de,ea->b": ((2, 3, 2), (2, 2), (2, 2), (2, 2)),
}  # fmt: skip
NO_EINSUM = (
    "ij,jk->ik", "ijk->i", "i->i", "ij->ii", "i.j->i", "...i...->i", "i1->i", "ii->i", "ij->i->j",
    "",
    "ij-i", "ij,", "ij..->i", "ij>i", "...ijk->i", "ij->.", "ij->......",
)  # fmt: skip

# fmt: off
TABLE = [
    op("mm", ((2, 3), (3, 2)), "x @ y", "torch.mm(x, y)", "torch.matmul(x, y)",
       "y.mm(x)", "torch.tanh(x @ y / 4) @ x", dtypes=FEW,
       faults=["torch.mm(x, x)", "torch.mm(torch.ones(3), x)", "torch.mm(x, torch.ones(3))",
               "x @ y.double()", "x @ 3.0", "torch.tensor(2.0) @ x", "x @ torch.zeros(2)"]),
    op("t of products", (3, 2), "x.t() @ x", "x @ x.t()", dtypes=()),
    op("addmm", ((2,), (2, 3), (3, 2)), "torch.addmm(x, y, z)",
       "torch.addmm(x, y, z, beta=0.5, alpha=2)", "x.addmm(y, z, beta=0)", dtypes=FEW,
       faults=["torch.addmm(torch.zeros(3), y, z)", "torch.addmm(x, y, z.double())",
               "torch.addmm(torch.ones(1, 2, 2), y, z)",
               "torch.addmm(x.bool(), y.bool(), z.bool())"]),
    op("addmm", ((2, 2), (2, 3), (3, 2)), "torch.addmm(x, y, z)",
       "x.clone().addmm_(y, z, alpha=2)", "torch.addmm(x[0, 0], y, z)", "torch.addmm(x, y, y.T)",
       dtypes=()),
    op("mv", ((2, 3), (3,)), "torch.mv(x, y)", "x @ y", "y @ x.t()", dtypes=FEW,
       faults=["torch.mv(x, x)", "torch.mv(x, torch.zeros(2))", "torch.zeros(2) @ x.t()"]),
    op("dot", (V, V), "torch.dot(x, y)", "x @ y", "x.inner(y)", dtypes=FEW,
       faults=["torch.dot(x, x[:3])", "torch.dot(torch.zeros(2, 2), x)", "x @ y[:2]"]),
    op("bmm", ((2, 2, 3), (2, 3, 1)), "torch.bmm(x, y)", "x @ y", dtypes=FEW,
       faults=["torch.bmm(x, x)", "torch.bmm(x[0], y[0])", "torch.bmm(x, torch.zeros(3, 3, 3))",
               "x @ torch.zeros(3, 3, 5)", "x @ x"]),
    op("stacks", ((2, 2, 3), (3, 2)), "x @ y", "y @ x", "x @ y[:, 0]", "y[:, 0] @ x.mT", dtypes=()),
    op("stacks", ((1, 2, 3), (2, 3, 2)), "x @ y", "x[None] @ y", dtypes=()),
    op("linear", ((4, 3), (2, 3), (2,)), "F.linear(x, y, z)", "F.linear(x, y)",
       "F.linear(x[0], y, z)", "F.linear(x[0], y)", "F.linear(x[0], y[0], z[0])",
       "F.linear(x, y.view(2, 3), z * 1)", dtypes=FEW[:2],
       faults=["F.linear(x, torch.zeros(4, 2))"]),
    op("linear", ((2, 2, 3), (2, 3), (2,)), "F.linear(x, y, z)", "F.linear(x, y)", dtypes=()),
    op("inner", ((2, 3), (3,)), "torch.inner(x, y)", "torch.inner(x[0, 0], y)", dtypes=FEW,
       faults=["torch.inner(x, y[:2])"]),
    op("outer", ((2,), (3,)), "torch.outer(x, y)", dtypes=FEW,
       faults=["torch.outer(torch.eye(2), y)", "torch.outer(x, torch.eye(2))"]),
    op("tensordot", ((2, 3, 2), (3, 2, 2)), "torch.tensordot(x, y)",
       "torch.tensordot(x, y, dims=([1], [0]))", "torch.tensordot(x[:, 0], y[0], dims=0)",
       "torch.tensordot(x, y, dims=([1, 0], [0, 2]))", dtypes=FEW,
       faults=["torch.tensordot(x, y, dims=1)", "torch.tensordot(x, y, dims=-1)",
               "torch.tensordot(x, y, dims=4)", "torch.tensordot(x, y, dims=([0], [0, 1]))",
               "torch.tensordot(x, y, dims=([0, 0], [2, 2]))",
               "torch.tensordot(x, y, dims=(0, 2))", "torch.tensordot(x, y.double())"]),
    *(
        op(
            f"einsum {equation}",
            shapes,
            f"torch.einsum('{equation}', *given)",
            dtypes=FEW if equation in ("ij,jk->ik", "ij->") else (),
        )
        for equation, shapes in EINSUM.items()
    ),
    op("einsum", (2, 3), "torch.einsum(' i j , k j -> i k ', x, x)",
       "torch.einsum('ij,ij->ij', x, x[:1])", "torch.einsum('ij,kj->ik', [x, x])", dtypes=(),
       faults=[
            *(f"torch.einsum('{equation}', x)" for equation in NO_EINSUM),
            "torch.einsum('ij,jk->ik', x, x)",
            "torch.einsum('ij->i', x, x)",
            "torch.einsum('ij')",
            "torch.einsum('ij', 3)",
            "torch.einsum('ij,kj->ik', x, x.double())",
            "torch.einsum('ij,kj->ik', x > 0, x > 0)",
        ]),
    # ------------------------------------------------------------ linear algebra
    op("inv", Q, f"torch.linalg.inv({WELL})", f"{WELL}.inverse()", f"torch.inverse({WELL})",
       dtypes=(), proof=(2, 2),
       faults=["torch.linalg.inv(x[0])", "torch.linalg.inv(x[:2])",
               "torch.linalg.inv(torch.ones(2, 2))", "torch.linalg.inv(torch.zeros(2, 2))",
               "torch.linalg.inv(3)",
               "torch.linalg.inv(torch.stack([torch.eye(2), torch.ones(2, 2)]))"]),
    op("inv", B, f"torch.linalg.inv({WELL})", f"torch.linalg.det({WELL})", dtypes=("float64",)),
    op("solve", (Q, (3, 2)), f"torch.linalg.solve({WELL}, y)",
       f"torch.linalg.solve({WELL}, y[:, 0])", dtypes=(), proof=((2, 2), (2, 1)),
       faults=["torch.linalg.solve(x, y[:2])", "torch.linalg.solve(x, y[0])",
               "torch.linalg.solve(x, y.double())", "torch.linalg.solve(torch.ones(3, 3), y)",
               "torch.linalg.solve(torch.ones(2, 3, 3), torch.ones(4, 3, 2))"]),
    op("solve", (B, (2, 2, 3)), f"torch.linalg.solve({WELL}, y)", dtypes=(), proof="it takes long"),
    op("det", Q, f"torch.linalg.det({WELL})", f"{WELL}.det()", "torch.det(x)", dtypes=(),
       proof=(2, 2), faults=["torch.linalg.det(x[0])", "torch.det(x[:2])"]),
    op("slogdet", (2, 2, 2), f"torch.linalg.slogdet({WELL})", f"torch.logdet({WELL})",
       f"torch.slogdet({WELL}[0])", f"{WELL}.logdet()", dtypes=(), proof=SIGNS,
       faults=["torch.slogdet(torch.ones(2, 3))", "torch.slogdet(torch.ones(2))",
               "torch.slogdet(torch.ones(2, 2).long())"]),
    op("pinv", (3, 2), "back(torch.linalg.pinv(x.double()))",
       "back(torch.linalg.pinv(x.T.double()))",
       "back(torch.linalg.pinv((x.T @ x).double(), rtol=0.01))", dtypes=(),
       proof="there is no formula for the singular values of symbols"),
    op("lstsq", (Q, (3, 2)), f"back(torch.linalg.lstsq({WELL}.double(), y.double()).solution)",
       dtypes=(), proof=SIGNS, faults=["torch.linalg.lstsq(x, torch.ones(3, 1).double())"]),
    op("matrix_rank", Q, "torch.linalg.matrix_rank(x)", "torch.linalg.matrix_rank(x, 0.1)",
       "torch.linalg.matrix_rank(x, rtol=0.01)", dtypes=()),
    *(
        op(
            f"qr of {shape}",
            shape,
            "back(*torch.linalg.qr(x.double()))",
            "back(torch.linalg.qr(x.double()).Q)",
            "back(torch.linalg.qr(x.double()).R)",
            dtypes=(),
            proof=SIGNS,
        )
        for shape in ((3, 3), (4, 3), (2, 4), (2, 3, 2))
    ),
    op("qr", (4, 3), "back(*torch.linalg.qr(x[:2].double(), mode='complete'))", dtypes=(),
       proof=SIGNS,
       faults=["torch.linalg.qr(x, mode='full')", "torch.linalg.qr(x[0])",
               "torch.linalg.qr(x, mode='r').R.sum().backward()",
               "torch.linalg.qr(x, mode='complete').R.sum().backward()"]),
    op("eigh", Q, f"back(torch.linalg.eigh({SYMMETRIC}.double())[0])",
       f"back(torch.linalg.eigh({SYMMETRIC}.double())[1] ** 2)",
       "back((lambda r: r[1] @ (r[0].exp()[:, None] * r[1].mT))"
       f"(torch.linalg.eigh({SYMMETRIC}.double())))",
       dtypes=(), proof=SIGNS,
       faults=["torch.linalg.eigh(x[:2])", "torch.linalg.eigh(x, UPLO='X')"]),
    op("eigvalsh", (2, 3, 3), f"back(torch.linalg.eigvalsh({SYMMETRIC}.double(), UPLO='U'))",
       f"back(torch.linalg.eigh({SYMMETRIC}.double(), 'U')[1] ** 2)", dtypes=(), proof=SIGNS),
    *(
        op(
            f"svd of {shape}",
            shape,
            "back(torch.linalg.svd(x.double(), full_matrices=False)[0] ** 2)",
            "back(torch.linalg.svd(x.double(), False)[2] ** 2)",
            "back(torch.linalg.svd(x.double())[1])",
            "back((lambda r: (r[0] * r[1].exp()[..., None, :]) @ r[2])"
            "(torch.linalg.svd(x.double(), False)))",
            dtypes=(),
            proof=SIGNS,
        )
        for shape in ((3, 3), (4, 3), (2, 4), (2, 3, 2))
    ),
    op("svd", Q, "back(torch.linalg.svd(x.double()).S)", dtypes=(), proof=SIGNS,
       faults=["torch.linalg.svd(x[0])", "torch.linalg.svd(torch.full((2, 2), nan))"]),
    op("cdist", ((2, 3), (2, 3, 3)), "torch.cdist(x, y)", "torch.cdist(x, y, p=1.0)",
       "torch.cdist(x, y, p=1.5)", "torch.cdist(x, y, p=inf)",
       "torch.cdist(x, y, compute_mode='use_mm_for_euclid_dist')", dtypes=(), twice=False,
       proof=((1, 2), (1, 2)),
       faults=["torch.cdist(x[0], x)", "torch.cdist(x, x[:, :2])", "torch.cdist(x, x, p=-1.0)",
               "torch.cdist(torch.ones(2, 3, 2), torch.ones(3, 3, 2))"]),
    op("pairwise_distance", (M, (3,)), "torch.pairwise_distance(x, y)",
       "F.pairwise_distance(x, y, p=3.0, keepdim=True)", dtypes=FLOATS, proof=((1, 2), (2,))),
    op("cosine_similarity", (M, (1, 3)), "torch.cosine_similarity(x, y)", dtypes=("float64",),
       proof="it takes long",
       faults=["torch.cosine_similarity(x, y, 2)", "torch.cosine_similarity(x, torch.ones(4))"]),
    op("cosine_similarity of short vectors", (M, (1, 3)),
       "F.cosine_similarity(x, y, dim=-1, eps=1.5)", dtypes=(), checked=False,
       proof="PyTorch's gradient leaves the least length out"),
]
# fmt: on
