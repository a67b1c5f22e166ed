"""See inverses, solutions, determinants, decompositions and norms of matrices: `torch.linalg`."""

from __future__ import annotations

from .tools import leaf
from .tools_operations import add_all, operation

FLOATS = ("float16", "float32", "float64", "int64", "bool")
FEW = ("float64",)


def well(t, x):
    """Add to the diagonal, so that a matrix is far from singular."""
    return x + 5 * t.eye(x.shape[-1], dtype=x.dtype)


def symmetric(t, x):
    """Make a symmetric matrix."""
    return x + x.mT


def exactly(t, function, *given):
    """Compute in float64, as not all of LAPACK's float32 digits are the same everywhere."""
    return function(*(x.double() if x.dtype == t.float32 else x for x in given)).to(given[0].dtype)


def squares(results):
    """Make something of eigenvectors that does not depend on their signs."""
    return [each * each for each in results]


def parts(result):
    """Give one result or several as a tuple."""
    return tuple(result) if isinstance(result, tuple) else (result,)


INF = float("inf")
S, B, R, W = (3, 3), (2, 2, 2), (4, 3), (2, 4)

TABLE = {
    "linalg.inv": operation(
        lambda t, x: t.linalg.inv(x),
        S,
        dtypes=(),
        wrong={
            "vector": lambda t, x: t.linalg.inv(x[0]),
            "not square": lambda t, x: t.linalg.inv(x[:2]),
            "singular": lambda t, x: t.linalg.inv(t.ones(2, 2)),
            "zeros": lambda t, x: t.linalg.inv(t.zeros(2, 2)),
            "singular in a batch": lambda t, x: t.linalg.inv(t.stack([t.eye(2), t.ones(2, 2)])),
            "no tensor": lambda t, x: t.linalg.inv(3),
        },
    ),
    "inverse of a batch": operation(lambda t, x: t.inverse(well(t, x)), B, dtypes=FEW),
    "x.inverse()": operation(lambda t, x: x.inverse(), S, dtypes=()),
    "linalg.solve": operation(
        lambda t, x, y: t.linalg.solve(x, y),
        S,
        (3, 2),
        dtypes=(),
        wrong={
            "sizes": lambda t, x, y: t.linalg.solve(x, y[:2]),
            "sizes of a vector": lambda t, x, y: t.linalg.solve(x, y[0]),
            "dtypes": lambda t, x, y: t.linalg.solve(x, y.double()),
            "singular": lambda t, x, y: t.linalg.solve(t.ones(3, 3), y),
            "batches": lambda t, x, y: t.linalg.solve(t.ones(2, 3, 3), t.ones(4, 3, 2)),
        },
    ),
    "linalg.solve for a batch": operation(
        lambda t, x, y: t.linalg.solve(well(t, x), y), B, (2, 2, 3), dtypes=()
    ),
    "linalg.det": operation(
        lambda t, x: t.linalg.det(x),
        S,
        dtypes=(),
        wrong={
            "vector": lambda t, x: t.linalg.det(x[0]),
            "not square": lambda t, x: t.det(x[:2]),
        },
    ),
    "det of a batch": operation(lambda t, x: x.det(), B, dtypes=FEW),
    "linalg.qr, Q": operation(
        lambda t, x: t.linalg.qr(x).Q,
        R,
        dtypes=(),
        wrong={
            "mode": lambda t, x: t.linalg.qr(x, mode="full"),
            "vector": lambda t, x: t.linalg.qr(x[0]),
        },
    ),
    "linalg.qr, R": operation(lambda t, x: t.linalg.qr(x).R, R, dtypes=()),
    "linalg.qr, wide": operation(lambda t, x: t.linalg.qr(x).Q, W, dtypes=()),
    "linalg.qr, wide, R": operation(lambda t, x: t.linalg.qr(x).R, W, dtypes=()),
    "linalg.qr, product": operation(
        lambda t, x: exactly(t, lambda x: (lambda r: r.Q.sin() @ r.R.cos())(t.linalg.qr(x)), x),
        S,
        dtypes=(),
    ),
    "linalg.eigh, values": operation(
        lambda t, x: t.linalg.eigh(symmetric(t, x)).eigenvalues,
        S,
        dtypes=("float64",),
        wrong={
            "not square": lambda t, x: t.linalg.eigh(x[:2]),
            "triangle": lambda t, x: t.linalg.eigh(x, UPLO="X"),
        },
    ),
    "linalg.eigh, vectors": operation(
        lambda t, x: exactly(t, lambda x: squares(t.linalg.eigh(x))[1], symmetric(t, x)),
        S,
        dtypes=(),
    ),
    "linalg.eigh, both": operation(
        lambda t, x: exactly(
            t,
            lambda x: (lambda r: r[1] @ (r[0].exp()[:, None] * r[1].mT))(t.linalg.eigh(x)),
            symmetric(t, x),
        ),
        S,
        dtypes=(),
    ),
    "linalg.eigvalsh of the upper triangles": operation(
        lambda t, x: t.linalg.eigvalsh(x, UPLO="U"), B, dtypes=FEW
    ),
    "linalg.svd, values": operation(
        lambda t, x: t.linalg.svd(x).S,
        R,
        dtypes=(),
        wrong={
            "vector": lambda t, x: t.linalg.svd(x[0]),
            "nan": lambda t, x: t.linalg.svd(t.full((2, 2), float("nan"))),
        },
    ),
    "linalg.svd, U": operation(
        lambda t, x: exactly(t, lambda x: squares(t.linalg.svd(x, full_matrices=False))[0], x),
        R,
        dtypes=(),
    ),
    "linalg.svd, Vh": operation(
        lambda t, x: exactly(t, lambda x: squares(t.linalg.svd(x, full_matrices=False))[2], x),
        W,
        dtypes=(),
    ),
    "linalg.svd, all": operation(
        lambda t, x: exactly(
            t,
            lambda x: (lambda r: (r[0] * r[1].exp()) @ r[2])(t.linalg.svd(x, full_matrices=False)),
            x,
        ),
        R,
        dtypes=(),
    ),
    "linalg.vector_norm": operation(
        lambda t, x: t.linalg.vector_norm(x, 3, dim=1),
        S,
        dtypes=FLOATS,
        wrong={
            "order": lambda t, x: t.linalg.vector_norm(x, "fro"),
            "dimension": lambda t, x: t.linalg.vector_norm(x, dim=2),
        },
    ),
    "linalg.norm": operation(
        lambda t, x: t.linalg.norm(x),
        S,
        dtypes=FLOATS,
        wrong={
            "three dimensions": lambda t, x: t.linalg.norm(t.ones(2, 2, 2), 2),
            "dims": lambda t, x: t.linalg.norm(t.ones(2, 2, 2), 2, dim=(0, 1, 2)),
        },
    ),
    "linalg.norm of a vector": operation(lambda t, x: t.linalg.norm(x, 1), (3,), dtypes=()),
}

family = add_all(TABLE)


@family
def several_results(torch, log):
    """The printed forms of what gives several results."""
    x = torch.tensor([[2.0, 0.0], [0.0, 1.0]], requires_grad=True)
    for name, value in (
        ("eigh", torch.linalg.eigh(x.detach())),
        ("svd", torch.linalg.svd(x.detach())),
        ("eig", torch.linalg.eig(x.detach())),
    ):
        log(name, repr(value))


@family
def nothing_in_them(torch, log):
    """Matrices without entries."""
    none, flat = torch.zeros(0, 0), torch.zeros(0, 3)
    batch = torch.zeros(0, 2, 2)
    L = torch.linalg
    for name, function in (
        ("inv", L.inv), ("det", L.det),
        ("eigh", L.eigh), ("svd", L.svd), ("qr", L.qr),
    ):  # fmt: skip
        log(name, *parts(function(none)), *parts(function(batch)))
    for name, function in (("svd", L.svd), ("qr", L.qr)):
        log(f"{name}, flat", *parts(function(flat)))
    log("solve", L.solve(none, none))


@family
def singular(torch, log):
    """A determinant of 0, and the error for singular matrices."""
    ones = torch.ones(2, 2)
    log("det", torch.det(ones).abs())
    error = torch.linalg.LinAlgError
    log("error", issubclass(error, RuntimeError), error.__name__)


@family
def without_gradients(torch, log):
    """Decompositions that cannot be differentiated."""
    x = leaf(torch, (3, 2), 1)
    log.raises("qr, mode r", lambda: torch.linalg.qr(x, mode="r").R.sum().backward())
    log.raises("qr, complete", lambda: torch.linalg.qr(x, mode="complete").R.sum().backward())


@family
def written_into_out(torch, log):
    """Results written into tensors that are there already."""
    x = torch.tensor([[2.0, 0.0], [0.0, 1.0]])
    place = torch.zeros(2, 2)
    log("inv", torch.linalg.inv(x, out=place) is place, place)
    log("det", torch.linalg.det(x, out=torch.zeros(())))
    log("solve", torch.linalg.solve(x, x, out=place) is place, place)
