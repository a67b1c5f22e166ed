"""See products of vectors, matrices and stacks of them, addmm and linear."""

from __future__ import annotations

from .tools_operations import add_all, operation

TABLE = {
    "matrix @ matrix": (lambda t, x, y: x @ y, (2, 3), (3, 4)),
    "matrix @ vector": (lambda t, x, y: x @ y, (2, 3), (3,)),
    "vector @ matrix": (lambda t, x, y: x @ y, (3,), (3, 2)),
    "vector @ vector": (lambda t, x, y: x @ y, (3,), (3,)),
    "stack @ stack": (lambda t, x, y: x @ y, (2, 3, 2), (2, 2, 3)),
    "stack @ matrix": (lambda t, x, y: x @ y, (2, 3, 2), (2, 3)),
    "matrix @ stack": (lambda t, x, y: x @ y, (3, 2), (2, 2, 3)),
    "stack @ vector": (lambda t, x, y: x @ y, (2, 3, 2), (2,)),
    "vector @ stack": (lambda t, x, y: x @ y, (3,), (2, 3, 2)),
    "broadcast stacks": operation(
        lambda t, x, y: x @ y, (1, 2, 3), (4, 3, 2), dtypes=(), composed=True
    ),
    "four axes": (lambda t, x, y: x @ y, (2, 1, 2, 3), (2, 3, 2)),
    "torch.matmul": (lambda t, x, y: t.matmul(x, y), (2, 3), (3, 2)),
    "torch.mm": (lambda t, x, y: t.mm(x, y), (2, 3), (3, 2)),
    "mm": (lambda t, x, y: x.mm(y), (1, 3), (3, 1)),
    "torch.mv": (lambda t, x, y: t.mv(x, y), (2, 3), (3,)),
    "torch.dot": (lambda t, x, y: t.dot(x, y), (4,), (4,)),
    "torch.bmm": (lambda t, x, y: t.bmm(x, y), (2, 2, 3), (2, 3, 1)),
    "addmm": (lambda t, b, x, y: t.addmm(b, x, y), (2, 4), (2, 3), (3, 4)),
    "addmm with a row": (lambda t, b, x, y: t.addmm(b, x, y), (4,), (2, 3), (3, 4)),
    "x.t() @ x": (lambda t, x: x.t() @ x, (3, 2)),
    "a quadratic form": (lambda t, x, a: x @ a @ x, (3,), (3, 3)),
    "F.linear": (lambda t, x, w, b: t.nn.functional.linear(x, w, b), (4, 3), (2, 3), (2,)),
    "F.linear without bias": (lambda t, x, w: t.nn.functional.linear(x, w), (4, 3), (2, 3)),
    "F.linear on a vector": (
        lambda t, x, w, b: t.nn.functional.linear(x, w, b),
        (3,),
        (2, 3),
        (2,),
    ),
    "F.linear on a vector without bias": (
        lambda t, x, w: t.nn.functional.linear(x, w),
        (3,),
        (2, 3),
    ),
    "F.linear on a stack": (
        lambda t, x, w, b: t.nn.functional.linear(x, w, b),
        (2, 2, 3),
        (2, 3),
        (2,),
    ),
    "F.linear on a stack without bias": (
        lambda t, x, w: t.nn.functional.linear(x, w),
        (2, 2, 3),
        (2, 3),
    ),
    "two layers": (lambda t, x, w, v: t.tanh(x @ w / 4) @ v, (2, 3), (3, 4), (4, 1)),
}

family = add_all(TABLE)


@family
def constants(torch, log):
    """Gradients where only one of the factors needs one."""
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    c = torch.tensor([[0.5, -1.0], [2.0, 0.25]])
    for name, value in (("left", x @ c), ("right", c @ x)):
        log(name, value, torch.autograd.grad(value, x, torch.tensor([[1.0, -2.0], [0.5, 4.0]])))


@family
def errors(torch, log):
    """Shapes that do not fit."""

    def zeros(*shape):
        return torch.zeros(*shape)

    log.raises("matrix @ matrix", lambda: zeros(2, 3) @ zeros(2, 3))
    log.raises("matrix @ vector", lambda: zeros(2, 3) @ zeros(2))
    log.raises("vector @ matrix", lambda: zeros(2) @ zeros(3, 2))
    log.raises("vector @ vector", lambda: zeros(2) @ zeros(3))
    log.raises("stacks", lambda: zeros(2, 3, 4) @ zeros(3, 4, 5))
    log.raises("stack rows", lambda: zeros(2, 3, 4) @ zeros(2, 3, 4))
    log.raises("scalar", lambda: torch.tensor(2.0) @ zeros(2))
    log.raises("mm of vectors", lambda: torch.mm(zeros(2), zeros(2, 2)))
    log.raises("mv", lambda: torch.mv(zeros(2, 3), zeros(2)))
    log.raises("dot", lambda: torch.dot(zeros(2), zeros(3)))
    log.raises("dot of matrices", lambda: torch.dot(zeros(2, 2), zeros(2)))
    log.raises("addmm", lambda: torch.addmm(zeros(3), zeros(2, 2), zeros(2, 2)))
    log.raises("dtypes", lambda: zeros(2, 2) @ zeros(2, 2).double())
    log.raises("linear", lambda: torch.nn.functional.linear(zeros(2, 3), zeros(4, 2)))
    log.raises("with a number", lambda: zeros(2, 2) @ 3.0)


@family
def corners(torch, log):
    """Wide and tall matrices, a weight of one row, zeros in norms, few entries."""
    for sizes in ((2, 3), (3, 2)):
        matrix = torch.tensor([0.5, -2.0, 1.5, 3.0, 0.25, -1.0]).reshape(sizes).requires_grad_()
        inverse = torch.linalg.pinv(matrix)
        weights = torch.arange(6.0).reshape(inverse.shape)
        log("pinv", inverse, torch.autograd.grad(inverse, matrix, weights))
    x, weight, bias = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -1.0]), torch.tensor(0.5)
    log("linear", torch.nn.functional.linear(x, weight, bias))
    for order in (0.5, 2.5):
        entries = torch.tensor([0.0, 4.0, -1.0], requires_grad=True)
        norm = torch.linalg.vector_norm(entries, order)
        log("norm", norm, torch.autograd.grad(norm, entries))
    for values, correction in (([2.0], 1), ([2.0, 2.0], 2)):
        entries = torch.tensor(values, requires_grad=True)
        log("variance", torch.autograd.grad(entries.var(correction=correction), entries))
