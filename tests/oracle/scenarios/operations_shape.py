"""See operations that rearrange: reshape, transpose, squeeze, expand, join, split."""

from __future__ import annotations

from .tools import graph
from .tools_operations import add_all

V, M, T = (6,), (2, 3), (2, 3, 4)

TABLE = {
    "reshape": (lambda t, x: x.reshape(3, 2), M),
    "reshape with a tuple": (lambda t, x: x.reshape((6,)), M),
    "reshape with -1": (lambda t, x: x.reshape(2, -1), V),
    "torch.reshape": (lambda t, x: t.reshape(x, (1, 6)), M),
    "reshape of a transpose": (lambda t, x: x.t().reshape(6), M),
    "view": (lambda t, x: x.view(3, 2), M),
    "view with -1": (lambda t, x: x.view(-1), M),
    "view_as": (lambda t, x, y: x.view_as(y) * y, V, M),
    "transpose": (lambda t, x: x.transpose(0, 1), M),
    "transpose of negative axes": (lambda t, x: x.transpose(-1, -3), T),
    "torch.transpose": (lambda t, x: t.transpose(x, 1, 2), T),
    "t": (lambda t, x: x.t(), M),
    "t of a vector": (lambda t, x: x.t(), V),
    "T": (lambda t, x: x.T, M),
    "mT": (lambda t, x: x.mT, T),
    "permute": (lambda t, x: x.permute(2, 0, 1), T),
    "permute with a tuple": (lambda t, x: x.permute((1, 2, 0)), T),
    "flatten": (lambda t, x: x.flatten(), M),
    "flatten from 1": (lambda t, x: x.flatten(1), T),
    "flatten of a vector": (lambda t, x: x.flatten() * 2, V),
    "torch.flatten": (lambda t, x: t.flatten(x, 0, 1), T),
    "squeeze": (lambda t, x: x.squeeze(), (1, 3, 1)),
    "squeeze one axis": (lambda t, x: x.squeeze(0), (1, 3, 1)),
    "squeeze an axis that is longer": (lambda t, x: x.squeeze(1), (1, 3, 1)),
    "unsqueeze": (lambda t, x: x.unsqueeze(0), M),
    "unsqueeze at the end": (lambda t, x: x.unsqueeze(-1), M),
    "expand": (lambda t, x: x.expand(4, 3), (3,)),
    "expand with -1": (lambda t, x: x.expand(-1, 3), (2, 1)),
    "expand_as": (lambda t, x, y: x.expand_as(y) * y, (3,), (2, 3)),
    "contiguous of a transpose": (lambda t, x: x.t().contiguous(), M),
    "contiguous": (lambda t, x: x.contiguous() * 2, M),
    "cat": (lambda t, x, y: t.cat([x, y]), (2, 3), (1, 3)),
    "cat along 1": (lambda t, x, y, z: t.cat((x, y, z), dim=1), (2, 1), (2, 2), (2, 1)),
    "cat with itself": (lambda t, x: t.cat([x, x * 2], dim=-1), M),
    "stack": (lambda t, x, y: t.stack([x, y]), (3,), (3,)),
    "stack along 1": (lambda t, x, y: t.stack((x, y), dim=1), (3,), (3,)),
    "stack of scalars": (lambda t, x, y: t.stack([x, y, x * y]), (), ()),
}

family = add_all(TABLE)


@family
def unbinding(torch, log):
    """Iterating over a tensor gives views from one node with several outputs; so does unpacking."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    rows = list(x)
    log("rows", rows, graph(rows[1]), rows[0].grad_fn is rows[2].grad_fn)
    (rows[0] * rows[2]).sum().backward()
    log("x.grad", x.grad)
    a, b = torch.tensor([3.0, 4.0], requires_grad=True)
    log("scalars", a, b)


@family
def views_share_memory(torch, log):
    """Views share memory and version with their base; in-place changes of the one show in the
    other.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for name, view in (
        ("view", x.view(4)),
        ("t", x.t()),
        ("row", x[0]),
        ("reshape", x.reshape(-1)),
    ):
        view.mul_(2)
        log(name, x, view._base is x, x._version)
    log("copies", x.clone()._base is None, x.flatten()._base is x, x.t().reshape(4)._base is None)
    y = torch.tensor([1.0, 2.0, 3.0], requires_grad=True) * 1
    log("before", y)
    part = y[1:]
    part.mul_(10)
    log("base after", y, part)
    y.backward(torch.tensor([1.0, 2.0, 4.0]))


@family
def sizes(torch, log):
    """Shape, size, ndim, numel, dim, stride-free questions about a tensor."""
    x = torch.zeros(2, 3, 4)
    log(
        "repr",
        repr(x.shape),
        repr(x.size()),
        x.size(1),
        x.size(-1),
        x.ndim,
        x.dim(),
        x.numel(),
        len(x),
    )
    log("scalar", repr(torch.tensor(1.0).shape), torch.tensor(1.0).ndim, torch.tensor(1.0).numel())
    log("tuple", isinstance(x.shape, tuple), x.shape == (2, 3, 4), tuple(x.shape), x.shape.numel())
    log("contiguous", x.is_contiguous(), x.transpose(0, 1).is_contiguous())


@family
def errors(torch, log):
    """Shapes and axes that are not possible."""
    x = torch.zeros(2, 3)
    log.raises("reshape", lambda: x.reshape(4, 2))
    log.raises("reshape with -1", lambda: x.reshape(4, -1))
    log.raises("two -1", lambda: x.reshape(-1, -1))
    log.raises("view", lambda: x.view(5))
    log.raises("view of a transpose", lambda: x.t().view(6))
    log.raises("transpose", lambda: x.transpose(0, 2))
    log.raises("t of three axes", lambda: torch.zeros(1, 2, 3).t())
    log.raises("permute", lambda: x.permute(0, 0))
    log.raises("permute too few", lambda: x.permute(0))
    log.raises("squeeze", lambda: x.squeeze(2))
    log.raises("unsqueeze", lambda: x.unsqueeze(4))
    log.raises("expand", lambda: x.expand(2, 4))
    log.raises("expand too few", lambda: x.expand(3))
    log.raises("flatten", lambda: x.flatten(1, 0))
    log.raises("cat shapes", lambda: torch.cat([x, torch.zeros(2, 4)]))
    log.raises("cat axes", lambda: torch.cat([x, torch.zeros(3)]))
    log.raises("cat nothing", lambda: torch.cat([]))
    log.raises("stack shapes", lambda: torch.stack([x, torch.zeros(3, 2)]))
    log.raises("stack nothing", lambda: torch.stack([]))
