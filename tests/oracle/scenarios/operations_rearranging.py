"""See the less usual operations that rearrange: move, roll, turn, tile, windows, parts, strides."""

from __future__ import annotations

from .tools import graph, leaf
from .tools_operations import add_all, operation

V, M, T = (6,), (2, 3), (2, 3, 4)
SOME = ("float64", "int64", "bool")
NONE = ()


def row(call, *shapes, dtypes=NONE, composed=False, **wrong):
    return operation(call, *shapes, dtypes=dtypes, composed=composed, wrong=wrong)


TABLE = {
    "unflatten": row(
        lambda t, x: t.unflatten(x, 0, (2, -1)),
        V,
        dtypes=SOME,
        wrong=lambda t, x: x.unflatten(0, (4, 5)),
        empty=lambda t, x: x.unflatten(0, ()),
        inferred=lambda t, x: x.unflatten(0, (-1, 4)),
        dim=lambda t, x: x.unflatten(3, (1, 1)),
    ),
    "ravel": row(lambda t, x: t.ravel(x), M),
    "ravel of a transpose": row(lambda t, x: x.t().ravel(), M),
    "swapaxes": row(lambda t, x: t.swapaxes(x, 0, 1), M),
    "swapdims": row(lambda t, x: x.swapdims(0, -1), T, dim=lambda t, x: t.swapdims(x, 0, 3)),
    "movedim": row(
        lambda t, x: t.movedim(x, 0, 2),
        T,
        twice=lambda t, x: x.movedim((0, 0), (0, 1)),
        onto=lambda t, x: x.movedim((0, 1), (1, 1)),
        count=lambda t, x: x.movedim((0, 1), (0,)),
        dim=lambda t, x: x.movedim(0, 5),
    ),
    "movedim of several": row(lambda t, x: x.movedim((0, 1), (2, 0)), T),
    "moveaxis": row(lambda t, x: x.moveaxis(1, 0), T),
    "squeeze of several": row(
        lambda t, x: x.squeeze((0, 2)),
        (1, 3, 1),
        dtypes=SOME,
        twice=lambda t, x: x.squeeze((0, 0)),
        dim=lambda t, x: t.squeeze(x, (0, 4)),
    ),
    "squeeze of several, one longer": row(lambda t, x: t.squeeze(x, (0, 1)), (1, 3, 1)),
    "broadcast_to": row(
        lambda t, x: t.broadcast_to(x, (2, 3)), (3,), wrong=lambda t, x: x.broadcast_to((2, 2))
    ),
    "broadcast_tensors": row(
        lambda t, x, y: t.stack(t.broadcast_tensors(x, y)),
        (3,),
        (2, 1),
        wrong=lambda t, x, y: t.broadcast_tensors(x, t.zeros(2)),
    ),
    "tile": row(lambda t, x: t.tile(x, (2,)), M, dtypes=SOME),
    "tile of many": row(lambda t, x: x.tile(2, 1, 2), M),
    "repeat_interleave": row(
        lambda t, x: t.repeat_interleave(x, 2),
        M,
        composed=True,
        dtypes=SOME,
        negative=lambda t, x: x.repeat_interleave(-1),
    ),
    "repeat_interleave along a dimension": row(
        lambda t, x: x.repeat_interleave(2, dim=1), M, composed=True
    ),
    "repeat_interleave by a tensor": row(
        lambda t, x: x.repeat_interleave(t.tensor([1, 2, 0]), dim=1),
        M,
        count=lambda t, x: x.repeat_interleave(t.tensor([1, 2]), dim=1),
    ),
    "repeat_interleave of all by a tensor": row(
        lambda t, x: t.repeat_interleave(x, t.tensor([1, 2, 0, 1, 1, 1])), M
    ),
    "flip": row(
        lambda t, x: t.flip(x, (0, -1)),
        M,
        twice=lambda t, x: x.flip(0, 0),
        dim=lambda t, x: x.flip(2),
    ),
    "roll": row(lambda t, x: t.roll(x, (1, 1), (0, 1)), M, none=lambda t, x: x.roll(())),
    "roll in a row": row(lambda t, x: x.roll(2), M, align=lambda t, x: x.roll((1, 2), 0)),
    "select": row(
        lambda t, x: t.select(x, 1, -1),
        M,
        index=lambda t, x: x.select(0, 9),
        dim=lambda t, x: x.select(9, 0),
        scalar=lambda t, x: x[0, 0].select(0, 0),
    ),
    "narrow": row(
        lambda t, x: t.narrow(x, 1, 1, 2),
        M,
        length=lambda t, x: x.narrow(1, 2, 2),
        negative=lambda t, x: x.narrow(1, 0, -1),
        start=lambda t, x: x.narrow(1, 9, 0),
        scalar=lambda t, x: x[0, 0].narrow(0, 0, 1),
    ),
    "narrow from a tensor": row(lambda t, x: x.narrow(1, t.tensor(-2), 2), M),
    "unfold": row(
        lambda t, x: x.unfold(0, 3, 2),
        V,
        dtypes=SOME,
        size=lambda t, x: x.unfold(0, 7, 1),
        negative=lambda t, x: x.unfold(0, -1, 1),
        step=lambda t, x: x.unfold(0, 1, 0),
    ),
    "unfold of overlapping windows": row(lambda t, x: x.unfold(1, 2, 1), M),
    "reshape_as": row(lambda t, x, y: x.reshape_as(y) * y, V, M),
    "expand": row(
        lambda t, x: x.expand(2, 3),
        (3,),
        leading=lambda t, x: x.expand(-1, 3),
        few=lambda t, x: x.expand(()),
    ),
    "reshape": row(
        lambda t, x: x.reshape(-1, 2),
        M,
        negative=lambda t, x: x.reshape(-2, 3),
        ambiguous=lambda t, x: t.zeros(0).reshape(-1, 0),
        none=lambda t, x: x.reshape(()),
    ),
    "repeat": row(
        lambda t, x: x.repeat(2, 1, 2),
        M,
        few=lambda t, x: x.repeat(2),
        negative=lambda t, x: x.repeat(-1, 2),
    ),
}

family = add_all(TABLE)


@family
def strided(torch, log):
    """as_strided reads the memory in any steps; overlapping entries collect their gradients."""
    x = leaf(torch, (6,), 1)
    for name, arguments in (
        ("apart", ((2, 2), (1, 2))),
        ("overlapping", ((2, 3), (1, 1), 1)),
        ("repeated", ((2, 2), (0, 3))),
    ):
        y = x.as_strided(*arguments)
        log(name, y, graph(y), y._base is x)
        (grad,) = torch.autograd.grad(y, x, leaf(torch, tuple(y.shape), 3, requires_grad=False))
        log("gradient", grad)
    m = leaf(torch, (2, 3), 2)
    turned = m.t()
    y = torch.as_strided(turned, (2, 2), (2, 1))
    log("of a view", y, graph(y), torch.autograd.grad((y * y).sum(), m)[0])
    row = leaf(torch, (3,), 4)
    y = row.expand(2, 3).as_strided((2,), (1,), 1)
    log("of a repeated row", y, torch.autograd.grad((y * y).sum(), row)[0])
    part = m[1]
    log("own offset", part.as_strided((2,), (1,)), part.as_strided((2,), (1,), 1))
    for label, arguments in (
        ("outside", ((9, 9), (9, 1))),
        ("negative", ((1,), (-1,))),
        ("lengths", ((1,), (1, 1))),
        ("offset", ((1,), (1,), -2)),
        ("size", ((-1,), (1,))),
    ):
        log.raises(label, lambda a=arguments: x.as_strided(*a))


@family
def views(torch, log):
    """Which of them are views of the input, and which are copies."""
    x = torch.arange(12.0).reshape(3, 4)
    for name, y in (
        ("unflatten", x.unflatten(1, (2, 2))),
        ("ravel", x.ravel()),
        ("ravel of a transpose", x.t().ravel()),
        ("movedim", x.movedim(0, 1)),
        ("broadcast_to", x.broadcast_to(2, 3, 4)),
        ("select", x.select(0, 1)),
        ("narrow", x.narrow(0, 1, 2)),
        ("unfold", x.unfold(1, 2, 1)),
        ("as_strided", x.as_strided((2,), (1,))),
        ("tile", x.tile(1)),
    ):
        log(name, y._base is x, y._is_view())
    y = torch.ones(4, requires_grad=True) * 2
    y.unfold(0, 2, 2).mul_(3)
    log("written through a window", y, graph(y))
    y.select(0, 1).zero_()
    y.narrow(0, 2, 2).add_(1)
    log("written through parts", y)


@family
def corners(torch, log):
    """Copies of what is repeated; distances in stacks; nothing that is added at no places."""
    row, column = torch.arange(3.0).expand(2, 3), torch.arange(2.0)[:, None].expand(2, 3)
    log("strides", *(each.clone().stride() for each in (row, column, column.t())))
    a = torch.arange(6.0).reshape(2, 3, 1).requires_grad_()
    b = (torch.arange(8.0).reshape(2, 4, 1) * 3 + 1).requires_grad_()
    distances = torch.cdist(a, b, compute_mode="use_mm_for_euclid_dist")
    log("distances", torch.autograd.grad(distances, (a, b), torch.arange(24.0).reshape(2, 3, 4)))
    nowhere = torch.tensor([], dtype=torch.int64)
    log("nothing", torch.ones(2, 3).index_add(0, nowhere, torch.zeros(0, 3)))
    matrix, weights = torch.ones(2, 3, requires_grad=True), torch.arange(6.0).reshape(2, 3)
    log("rolled", torch.autograd.grad(torch.roll(matrix, (1, 2), (0, 1)), matrix, weights))
