"""See the functions of a calculus course that are seldom met: angles, quantiles, ..."""

from __future__ import annotations

import warnings

from .tools import graph, leaf
from .tools_operations import add_all, operation

V, M = (3,), (2, 3)
FLOATS = ("float32", "float64")
ALL = (*FLOATS, "float16", "int64", "uint8", "bool")

TABLE = {
    "atan2": operation(lambda t, y, x: t.atan2(y, x), M, V, dtypes=ALL),
    "fmod": operation(lambda t, x, y: t.fmod(x, y), M, V, dtypes=(*FLOATS, "bool")),
}

family = add_all(TABLE)


def _refused(log, call):
    """Log the type of an error: its words are each library's own."""
    try:
        log("no error", call())
    except Exception as error:
        log("refused", type(error).__name__)


@family
def at_the_ends(torch, log):
    """Values and gradients at zeros of both signs, infinities, NaN, poles."""
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([0.0, -0.0, 0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 3.0, inf, -inf])
    y = torch.tensor([0.0, 0.0, -0.0, -0.0, 0.0, 0.0, -inf, inf, 1.0, nan, inf, -inf])
    for name in ("atan2", "fmod"):
        for pair in ((x, y), (y, x)):
            given = [each.clone().requires_grad_() for each in pair]
            result = getattr(torch, name)(*given)
            log(name, result, *torch.autograd.grad(result, given, torch.ones_like(result)))


@family
def names_and_forms(torch, log):
    """Forms in place and with out=, and what is refused."""
    x, y = torch.tensor([0.5, -0.25, 0.75]), torch.tensor([2.0, 3.0, -0.5])
    for name in ("atan2_", "fmod_"):
        log(name, getattr(x.clone(), name)(y))
    out = torch.empty(3)
    log("out", torch.atan2(x, y, out=out), out)
    log("numbers", torch.fmod(torch.tensor([7, -7]), 2.5))
    log.raises("by 0", lambda: torch.fmod(torch.tensor([1]), 0))


@family
def logarithms_of_determinants(torch, log):
    """Two outputs of one node; batches, negative determinants, what is no matrix."""
    for shape in ((2, 2), (3, 2, 2)):
        matrix = leaf(torch, shape, 3)
        sign, size = torch.linalg.slogdet(matrix)
        log("slogdet", sign, size, repr(size), sign.grad_fn is size.grad_fn, graph(size))
        weights = leaf(torch, tuple(size.shape), 7, requires_grad=False)
        (found,) = torch.autograd.grad((size * weights).sum(), matrix, create_graph=True)
        log("gradients", found.detach(), *torch.autograd.grad((found * found).sum(), matrix))
    matrix = torch.tensor([[2.0, 1.0], [0.5, 3.0]], requires_grad=True)
    for each in (matrix, matrix.flip(0), torch.stack([matrix, -matrix])):
        result = torch.logdet(each)
        log("logdet", result, *torch.autograd.grad(result, matrix, torch.ones_like(result)))
    log("singular", *torch.slogdet(torch.zeros(2, 2)), repr(torch.slogdet(torch.eye(2))))
    for wrong in (torch.ones(2, 3), torch.ones(2), torch.ones(2, 2, dtype=torch.int64)):
        _refused(log, lambda wrong=wrong: torch.slogdet(wrong))


def _tried(torch, log, calls):
    """Log values and gradients, but not the graphs: those are of other nodes."""
    for call in calls:
        x, v = leaf(torch, M, 3), leaf(torch, V, 4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call(x, v)
        found = torch.autograd.grad(
            (result * leaf(torch, tuple(result.shape), 9, requires_grad=False)).sum(),
            (x, v),
            allow_unused=True,
            create_graph=True,
        )
        log("value", result.detach(), *(None if g is None else g.detach() for g in found))


@family
def quantiles(torch, log):
    """Dimensions, NaN, several at once; and what is refused."""
    some = torch.tensor([0.0, 0.4, 0.5, 0.99, 1.0])
    calls = [
        lambda x, v: torch.quantile(v, some),
        lambda x, v: torch.quantile(x, 0.3),
        lambda x, v: x.quantile(0.6, 0, True),
        lambda x, v: x.quantile(some, 0, keepdim=True),
        lambda x, v: x.quantile(some, -1),
        lambda x, v: x.quantile(some, keepdim=True),
        lambda x, v: x.quantile(torch.tensor(0.2)),
        lambda x, v: (x * torch.tensor([1.0, float("nan"), 1.0])).quantile(0.5, 0),
    ]
    _tried(torch, log, calls)
    x = torch.tensor([3.0, 1.0, 2.0])
    for wrong in (
        lambda: torch.quantile(x, 1.4),
        lambda: torch.quantile(x, torch.tensor([[0.1]])),
        lambda: torch.quantile(x, torch.tensor(0.5, dtype=torch.float64)),
    ):
        _refused(log, wrong)


@family
def vector_products(torch, log):
    """Vector products."""
    counts = torch.tensor([1, 2, 1])
    calls = [
        lambda x, v: torch.cross(x, x * x),
        lambda x, v: x.cross(x.flip(0), dim=-1),
        lambda x, v: torch.linalg.cross(x, x.cos()),
    ]
    _tried(torch, log, calls)
    x, v = torch.tensor([[1.0, 2.0, 4.0], [1.0, 5.0, 0.0]]), torch.tensor([0.0, 1.0, 2.0])
    log("whole", torch.cross(counts, counts.flip(0), 0))
    for wrong in (
        lambda: torch.cross(x[:, :2], x[:, :2]),
        lambda: torch.cross(counts, v, 0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _refused(log, wrong)
