"""See indexing with integers, slices, None, lists, masks and tensors, and assignment through an
index.
"""

from __future__ import annotations

from .tools import graph, leaf
from .tools_operations import add_all

V, M, T = (5,), (3, 4), (2, 3, 4)

TABLE = {
    "x[1]": (lambda t, x: x[1], V),
    "x[-1]": (lambda t, x: x[-1], M),
    "x[1, 2]": (lambda t, x: x[1, 2], M),
    "x[0, -1, 1]": (lambda t, x: x[0, -1, 1], T),
    "x[1:3]": (lambda t, x: x[1:3], V),
    "x[:]": (lambda t, x: x[:], V),
    "x[::2]": (lambda t, x: x[::2], V),
    "x[:, 1]": (lambda t, x: x[:, 1], M),
    "x[1:, :2]": (lambda t, x: x[1:, :2], M),
    "x[-2:]": (lambda t, x: x[-2:], V),
    "x[..., 0]": (lambda t, x: x[..., 0], T),
    "x[None]": (lambda t, x: x[None], V),
    "x[:, None]": (lambda t, x: x[:, None], V),
    "x[[0, 2, 2]]": (lambda t, x: x[[0, 2, 2]], V),
    "x[[0, 2]] of rows": (lambda t, x: x[[0, 2]], M),
    "x[tensor]": (lambda t, x: x[t.tensor([3, 1, 3])], V),
    "x[matrix of indices]": (lambda t, x: x[t.tensor([[0, 1], [4, 0]])], V),
    "x[[0, 1], [2, 0]]": (lambda t, x: x[[0, 1], [2, 0]], M),
    "x[:, tensor]": (lambda t, x: x[:, t.tensor([1, 1, 0])], M),
    "x[tensor, 1:3]": (lambda t, x: x[t.tensor([2, 0]), 1:3], M),
    "x[arange, targets]": (lambda t, x: x[t.arange(3), t.tensor([1, 0, 3])], M),
    "x[mask]": (lambda t, x: x[x > 0], V),
    "x[mask of rows]": (lambda t, x: x[t.tensor([True, False, True])], M),
    "x[mask of entries]": (lambda t, x: x[x > 0.25], M),
    "gather": (lambda t, x: x.gather(1, t.tensor([[0], [3], [1]])), M),
}

family = add_all(TABLE)


@family
def assignment(torch, log):
    """Assigning through an index on an inner tensor: values, graph and gradients for both sides."""
    for name, index, value in (
        ("integer", 1, 5.0),
        ("slice", slice(0, 2), 7.0),
        ("slice of a tensor", slice(0, 2), "tensor"),
        ("list", [0, 3], -1.0),
        ("mask", "mask", 0.5),
    ):
        x = torch.tensor([1.0, -2.0, 3.0, -4.0], requires_grad=True)
        w = torch.tensor([10.0, 20.0], requires_grad=True)
        y = x * 2
        where = y > 0 if index == "mask" else index
        y[where] = w if value == "tensor" else value
        log(name, y, graph(y))
        y.backward(torch.tensor([1.0, 2.0, 3.0, 5.0]))
        log("grads", x.grad, w.grad)


@family
def assignment_to_constants(torch, log):
    """Assigning into a tensor that needs no gradient, of numbers and of a tensor that needs one."""
    c = torch.zeros(3)
    c[0] = 4
    c[1:] = torch.tensor([1.5, 2.5])
    log("constant", c, c._version)
    x = torch.tensor(3.0, requires_grad=True)
    c[1] = x * 2
    log("now in the graph", c, graph(c))
    c.sum().backward()
    log("x.grad", x.grad)
    m = torch.zeros(2, 2)
    m[0, 0] = 1.0
    m[:, 1] = torch.tensor([5.0, 6.0])
    m[m > 5] = 0.0
    log("matrix", m)


@family
def errors(torch, log):
    """Indices that are not there or of the wrong kind."""
    x = torch.zeros(2, 3)

    def assign():
        x[0] = torch.zeros(2)

    log.raises("too large", lambda: x[2])
    log.raises("too negative", lambda: x[-3])
    log.raises("second axis", lambda: x[0, 3])
    log.raises("too many", lambda: x[0, 0, 0])
    log.raises("scalar", lambda: torch.tensor(1.0)[0])
    log.raises("list", lambda: x[[0, 5]])
    log.raises("mask", lambda: x[torch.tensor([True, False, True])])
    log.raises("lists that do not fit", lambda: x[[0, 1], [0, 1, 2]])
    log.raises("float tensor", lambda: x[torch.tensor([0.0])])
    log.raises("negative step", lambda: x[::-1])
    log.raises("assignment", assign)


@family
def views_and_copies(torch, log):
    """Indexing gives views for integers and slices and copies for lists and masks."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for name, part in (
        ("row", x[0]),
        ("slice", x[:1]),
        ("list", x[[0]]),
        ("mask", x[x > 2]),
        ("None", x[None]),
    ):
        log(name, part._base is x, list(part.shape))
    i = torch.tensor([5, 6, 7])
    log("integers", i[1], i[1].item(), i[[True, False, True]], x[i[0] - 4])


@family
def places_of_gather(torch, log):
    """An index is of int64, and `out` has the dtype of the input."""
    x = leaf(torch, (2, 3), 1)
    index = torch.tensor([[0, 1, 0]])
    log("out", torch.gather(x.detach(), 0, index, out=torch.zeros(1, 3)))
    log.raises("out of another type", lambda: torch.gather(x.detach(), 0, index, out=index.clone()))
    log.raises("short", lambda: x.gather(0, index.short()))
