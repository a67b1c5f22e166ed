"""Start several backward passes with one call: `grad(..., is_grads_batched=True)`."""

from __future__ import annotations

from .tools import Family, leaf, numbers

family = Family()


@family
def rows_of_a_jacobian(torch, log):
    """Each row of the gradients to start from gives a row of each result."""
    x, w = leaf(torch, (2,), 1), leaf(torch, (2,), 2)
    y = x * x * w
    rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]])
    log("one output", torch.autograd.grad(y, (x, w), rows, is_grads_batched=True))
    outputs, starts = (x * x, x.sum()), (rows, torch.tensor([1.0, 2.0, 3.0]))
    log("two outputs", torch.autograd.grad(outputs, x, starts, is_grads_batched=True))
    unused = leaf(torch, (3,), 3)
    results = torch.autograd.grad(
        (x * w).sum(), (x, unused), torch.ones(2), is_grads_batched=True, allow_unused=True
    )
    log("unused", results)


@family
def recorded_rows(torch, log):
    """With create_graph the rows are recorded: by the input and by the gradients given."""
    x = leaf(torch, (2,), 1)
    starts = torch.tensor(numbers((3, 2), 2), requires_grad=True)
    for given in (starts.detach(), starts):
        (rows,) = torch.autograd.grad(x**3, x, given, is_grads_batched=True, create_graph=True)
        log("rows", rows.requires_grad, rows.detach())
        wanted = (x, given) if given.requires_grad else (x,)
        log("second", torch.autograd.grad((rows * rows).sum(), wanted))


@family
def gradients_that_do_not_fit(torch, log):
    """The first dimension counts the passes; the others must be the output's."""
    x = leaf(torch, (2,), 1)

    def attempt(label, outputs, starts):
        log.raises(
            label,
            lambda: torch.autograd.grad(
                outputs, x, starts, is_grads_batched=True, retain_graph=True
            ),
        )

    attempt("no batch", x * x, torch.ones(2))
    attempt("other shape", x * x, torch.ones(3, 3))
    attempt("one number", x * x, torch.tensor(1.0))
    attempt("no passes", x * x, torch.ones(0, 2))
    attempt("scalar output", x.sum(), torch.ones(2, 1))
    attempt("numbers of passes", (x * x, x.sum()), (torch.ones(3, 2), torch.ones(2)))
    attempt("no tensor", x * x, 3)
