"""See what is seldom met in a calculus course: logarithms of determinants, and quantiles."""

from __future__ import annotations

import warnings

from .tools import Family, graph, leaf

V, M = (3,), (2, 3)

family = Family()


def _refused(log, call):
    """Log the type of an error: its words are each library's own."""
    try:
        log("no error", call())
    except Exception as error:
        log("refused", type(error).__name__)


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
