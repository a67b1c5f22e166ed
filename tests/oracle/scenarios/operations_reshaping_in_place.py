"""See tensors that are given another shape in place."""

from __future__ import annotations

from .tools import graph, leaf
from .tools_operations import Family

family = Family()

CHANGES = {
    "t_": lambda a: a.t_(),
    "transpose_": lambda a: a.transpose_(0, -1),
    "swapaxes_": lambda a: a.swapaxes_(0, 1),
    "swapdims_": lambda a: a.swapdims_(1, 0),
    "squeeze_": lambda a: a.squeeze_(),
    "squeeze_ of one": lambda a: a.squeeze_(0),
    "squeeze_ of several": lambda a: a.squeeze_((0, 1)),
    "unsqueeze_": lambda a: a.unsqueeze_(-1),
    "as_strided_": lambda a: a.as_strided_((2,), (1,)),
}


@family
def in_the_graph(torch, log):
    """The tensor becomes a view of what it was; its node says that it happened in place."""
    for name, change in CHANGES.items():
        for shape in ((2, 3), (1, 3)):
            x = leaf(torch, shape, 1)
            y = x * 2
            before = y * y
            log(name, change(y) is y, y, y._version, graph(y))
            log.raises("saved before", lambda before=before: before.sum().backward())
            weights = leaf(torch, tuple(y.shape), 3, requires_grad=False)
            log("gradient", torch.autograd.grad((y * weights).sum(), x)[0])
        log.raises("leaf", lambda change=change: change(leaf(torch, (2, 3), 1)))


@family
def of_views(torch, log):
    """A view is given another shape without a trace in its base."""
    for name, change in CHANGES.items():
        x = leaf(torch, (3, 3), 1)
        y = x * 2
        part = y[1:]
        change(part)
        log(name, part, graph(part), graph(y), y._version, part._base is y)
        part.mul_(10)
        log("changed after", y, graph(y), list(part.shape))
        weights = leaf(torch, (3, 3), 3, requires_grad=False)
        log("gradient", torch.autograd.grad((y * weights).sum(), x)[0])


@family
def out_of_the_graph(torch, log):
    """Without a graph only shape and version change; the memory is the same."""
    for name, change in CHANGES.items():
        x = torch.arange(6.0).reshape(2, 3)
        alias = x.detach()
        address = x.data_ptr()
        change(x)
        log(name, x, x._version, alias._version, x.data_ptr() == address, x.is_contiguous())
    log.raises("dim", lambda: torch.zeros(2).unsqueeze_(3))
    log.raises("cube", lambda: torch.zeros(1, 2, 3).t_())
    log.raises("strides", lambda: torch.zeros(2).as_strided_((3,), (1,)))


@family
def resized(torch, log):
    """resize_ keeps the entries that the memory has."""
    x = torch.arange(6.0)
    log("smaller", x.resize_(2, 2), x._version)
    log("back", x.resize_((6,)), x.resize_as_(torch.zeros(3, 2)))
    x.resize_(2, 5)
    log("larger", list(x.shape), x.flatten()[:6])
    log("part", torch.arange(6)[2:4].resize_(1))
    log.raises("grad", lambda: leaf(torch, (2,), 1).resize_(1))
    log.raises("inner", lambda: (leaf(torch, (2,), 1) * 1).resize_(1))


@family
def set_to_another(torch, log):
    """set_ shares the memory of another tensor."""
    x, y = torch.zeros(3), torch.ones(2, 2)
    log("shared", x.set_(y) is x, x, x._version, x.data_ptr() == y.data_ptr())
    y[0, 0] = 7
    log("seen", x)
    log("nothing", x.set_())
    log.raises("type", lambda: x.set_(torch.zeros(2, dtype=torch.float64)))
    log.raises("leaf", lambda: leaf(torch, (2,), 1).set_(y))


@family
def retained_gradients(torch, log):
    """A gradient that is retained stays that of the value in its old shape."""
    for name, change in CHANGES.items():
        for shape in ((2, 3), (1, 3)):
            x = leaf(torch, shape, 1)
            y = x * 3
            y.retain_grad()
            used_before = (y * 2).sum()
            change(y)
            (used_before + (y * y).sum()).backward()
            log(name, y.grad, x.grad, y.retains_grad)
