"""See indexing of every kind that NumPy knows, and assignment through each."""

from __future__ import annotations

import numpy as np

from .tools import graph, leaf
from .tools_operations import add_all, operation

V, M, T, S = (5,), (3, 4), (2, 3, 4), ()


def row(call, *shapes, dtypes=(), **wrong):
    return operation(call, *shapes, dtypes=dtypes, wrong=wrong)


def at(torch, *places):
    return torch.tensor(list(places))


TABLE = {
    "x[()]": row(lambda t, x: x[()] * 1, M),
    "x[...]": row(lambda t, x: x[...] * 1, M),
    "x[..., None]": row(lambda t, x: x[..., None], M),
    "x[None, ..., 1, None]": row(lambda t, x: x[None, ..., 1, None], T),
    "x[True]": row(lambda t, x: x[True], M),
    "x[tensor(1)]": row(lambda t, x: x[t.tensor(1)], M),
    "x[range(2)]": row(lambda t, x: x[range(2)], M),
    "x[np.int64(1)]": row(lambda t, x: x[np.int64(1)], M),
    "x[np.array]": row(lambda t, x: x[np.array([2, 0])], M),
    "x[a, :, b]": row(lambda t, x: x[at(t, 0, 1), :, at(t, 1, 3)], T),
    "x[:, a, b]": row(lambda t, x: x[:, at(t, 0, 1), at(t, 1, 3)], T),
    "x[0, :, b]": row(lambda t, x: x[0, :, at(t, 1, 1)], T),
    "x[a, None, b]": row(lambda t, x: x[at(t, 0, 1), None, at(t, 1, 1)], M),
    "x[..., [0, 1]]": row(lambda t, x: x[..., [0, 1]], T),
    "x[::2, [0, 1]]": row(lambda t, x: x[::2, [0, 1]], M),
    "x[[-1, 0], [-1, -2]]": row(lambda t, x: x[[-1, 0], [-1, -2]], M),
    "x[mask, 0]": row(lambda t, x: x[at(t, True, False, True), 0], M),
    "x[mask, b]": row(lambda t, x: x[at(t, True, False, True), at(t, 1, 2)], M),
    "x[:, mask of matrices]": row(lambda t, x: x[:, x[0] > 0], T),
    "x[a], broadcast with b": row(lambda t, x: x[at(t, [0], [1]), at(t, 1, 3)], M),
    "x[int32]": row(lambda t, x: x[at(t, 0, 1).int()], M),
    "x[tensor:tensor]": row(lambda t, x: x[t.tensor(1) : t.tensor(3)], M),
    "x[list of floats]": row(lambda t, x: x[[0.5, 1.9]], M),
    "of a number": row(
        lambda t, x: x[None] * x[...] + x[True],
        S,
        integer=lambda t, x: x[0],
        list=lambda t, x: x[[0]],
        slice=lambda t, x: x[:],
    ),
    "errors": row(
        lambda t, x: x[:],
        M,
        zero=lambda t, x: x[::0],
        backward=lambda t, x: x[::-1],
        half=lambda t, x: x[0.5:1],
        float=lambda t, x: x[1.5],
        dict=lambda t, x: x[{}],
        short=lambda t, x: x[at(t, 0).short()],
        mask=lambda t, x: x[at(t, True, False)],
        empty=lambda t, x: x[t.zeros(0)],
        many=lambda t, x: x[0, 0, 0],
        twice=lambda t, x: x[..., ..., 0],
        beyond=lambda t, x: x[..., ..., None],
        none=lambda t, x: t.zeros(0)[[0]],
    ),
}

family = add_all(TABLE)

KEYS = {
    "integer": 1,
    "negative": -1,
    "None": None,
    "...": Ellipsis,
    "slice": slice(0, 2),
    "step": slice(None, None, 2),
    "True": True,
    "False": False,
    "list": [0, 2],
    "lists": ([0, 2], [1, 0]),
    "column": (slice(None), 1),
    "columns": (slice(None), [0, 3]),
    "range": range(2),
    "entry": (1, 2),
    "numpy": np.array([2, 0]),
}


@family
def assigning_numbers(torch, log):
    """A number goes to every entry of the part."""
    for name, key in KEYS.items():
        x = leaf(torch, M, 1)
        y = x * 1
        y[key] = 2.5
        log(name, y, y._version, graph(y))
        log("gradient", torch.autograd.grad(y.sum() + (y * y).sum(), x)[0])


@family
def assigning_tensors(torch, log):
    """A tensor broadcasts to the part, and gets the gradient of its places."""
    for name, key in KEYS.items():
        x, v = leaf(torch, M, 1), leaf(torch, (), 2)
        y = x * 1
        y[key] = v * 2
        log(name, y, graph(y))
        weights = leaf(torch, M, 5, requires_grad=False)
        log("gradients", *torch.autograd.grad((y * weights).sum(), (x, v), allow_unused=True))


@family
def assigning_parts(torch, log):
    """Values of the part's shape, or of one that broadcasts to it."""
    for name, key, shape in (
        ("row", 1, (4,)),
        ("rows", slice(0, 2), (2, 4)),
        ("rows of one", slice(0, 2), (4,)),
        ("leading ones", slice(0, 2), (1, 1, 1, 4)),
        ("list", [0, 2], (2, 4)),
        ("columns", (slice(None), [0, 3]), (3, 1)),
        ("mask", "mask", (3,)),
        ("entries", ([0, 2], [1, 0]), (2,)),
    ):
        x, v = leaf(torch, M, 1), leaf(torch, shape, 2)
        y = x * 1
        where = torch.tensor([[True, False, True, False], [False] * 4, [False, True] * 2])
        where[2, 1] = False
        y[where if key == "mask" else key] = v
        log(name, y, graph(y))
        weights = leaf(torch, M, 5, requires_grad=False)
        log("gradients", *torch.autograd.grad((y * weights).sum(), (x, v)))


@family
def augmented(torch, log):
    """x[key] += 1 reads the part, changes it, and writes it back."""
    for name, key in KEYS.items():
        if name == "False":
            continue
        x = leaf(torch, M, 1)
        y = x * 1
        y[key] += 1
        y[key] *= 2
        log(name, y, y._version, graph(y))
        log("gradient", torch.autograd.grad((y * y).sum(), x)[0])
    x = torch.zeros(3)
    x[[0, 0, 1]] += 1
    log("named twice, added once", x)


@family
def nothing_selected(torch, log):
    """Keys that select nothing give tensors without entries, and zeros as gradients."""
    for name, key in (
        ("False", False),
        ("[]", []),
        ("5:9", slice(5, 9)),
        ("-1:0", slice(-1, 0)),
        ("range(0)", range(0)),
    ):
        x = leaf(torch, M, 1)
        y = x[key]
        log(name, list(y.shape), graph(y))
        log("gradient", torch.autograd.grad(y.sum(), x)[0])


@family
def assignments_that_fail(torch, log):
    """Values that do not fit, and things that are no values."""
    x = torch.zeros(2, 3)
    for name, key, value in (
        ("shape", 0, torch.zeros(2)),
        ("dims", 0, torch.zeros(2, 2, 3)),
        ("list shape", [0, 1], torch.ones(7)),
        ("list type", [0], torch.tensor([2.0], dtype=torch.float64)),
        ("complex", 0, 1j),
        ("list", 0, [1, 2, 3]),
        ("array", 0, np.ones(3)),
        ("numpy number", 0, np.float32(3)),
        ("text", 0, "a"),
        ("None", 0, None),
        ("outside", 5, 1.0),
        ("too many", (0, 0, 0), 1.0),
    ):
        log.raises(name, lambda key=key, value=value: x.__setitem__(key, value))
    b = torch.zeros(2, dtype=torch.uint8)
    log.raises("overflow", lambda: b.__setitem__(0, 300))
    x[0] = torch.tensor(2.0, dtype=torch.float64)
    x[1] = torch.tensor([1, 2, 3])
    log("converted", x)
