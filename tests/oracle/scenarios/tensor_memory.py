"""See which tensors share memory, versions and attributes: data, detach, copies, views."""

from __future__ import annotations

import numpy as np

from .tensor_attributes import assigning, tensors
from .tools import Family, leaf

family = Family()


@family
def data_is_detached(torch, log):
    """x.data: same memory, no graph, a version counter of its own."""
    for name, x in tensors(torch).items():
        data = x.data
        log(name, data, data is x, data._is_view(), data._version)
        if name == "integers":
            continue
        data.mul_(2)
        log("written", data._version, x._version, x)
    x = leaf(torch, (2,), 5)
    y = x.exp()
    y.data.mul_(0)
    y.sum().backward()
    log("unnoticed", x.grad)


@family
def assigning_data(torch, log):
    """x.data = ...: another shape is fine, another dtype for some, no other types."""
    x = leaf(torch, (2, 2), 6)
    for name, value in {
        "same": torch.ones(2, 2),
        "shape": torch.ones(3),
        "double": torch.ones(2, dtype=torch.float64),
        "integers": torch.tensor([1, 2]),
        "requires grad": leaf(torch, (2, 2), 7),
        "result": leaf(torch, (2, 2), 8) * 2,
        "view": torch.ones(2, 2)[0],
    }.items():
        log.raises(name, lambda v=value: assigning("data", v)(x))
        log(name, x, x._version, x.is_leaf, x.data.dtype, x._is_view())
    for value in (None, 5, [1.0], "text"):
        log.raises(repr(value), lambda v=value: assigning("data", v)(x))
    constant = torch.ones(2)
    constant.data = torch.tensor([1, 2])
    log("constant becomes integers", constant)
    source = torch.ones(2)
    constant.data = source
    constant.mul_(3)
    log("shares memory", source, constant._version, source._version)


@family
def data_of_other_kinds(torch, log):
    """x.data = ... of a result and of a view; what was saved keeps the old value."""
    x = leaf(torch, (2,), 9)
    y = x * 2
    z = y * y
    y.data = torch.tensor([10.0, 20.0])
    log("result", y, y._version)
    z.sum().backward(retain_graph=True)
    log("gradient", x.grad)
    (y * y).sum().backward()
    log("after", x.grad)
    y = x * 2
    part, z = y[0], y * y
    y.data = torch.tensor([10.0, 20.0])
    z.sum().backward()
    log("with a version counter", x.grad, part)
    y = x.exp()
    z = y * 1
    y.data = torch.tensor([10.0, 20.0])
    z.sum().backward()
    log("saved result", x.grad)
    base = torch.zeros(2, 2)
    view = base[0]
    view.data = torch.ones(2)
    log("view", view, base, view._is_view())
    view.mul_(5)
    log("written", view, base)


@family
def detaching_in_place(torch, log):
    """detach_ on each kind; hooks and retain_grad afterwards."""
    for name, x in tensors(torch).items():
        try:
            log(name, x.detach_() is x, x, x.is_leaf, x._version)
        except RuntimeError as error:
            log.error(name, error)
    x = leaf(torch, (2,), 12)
    y = x * 2
    z = y * 3
    y.retain_grad()
    y.detach_()
    z.sum().backward()
    log("graph before", x.grad, y.requires_grad, y.retains_grad, y.grad)
    y = x * 2
    y.register_hook(log.hook("waiting"))
    y.detach_().requires_grad_()
    (y * 3).sum().backward()
    log("a leaf again", y.grad)
    base = x * 2
    part = base[0]
    base.detach_()
    log("view of it", part.requires_grad, base.requires_grad)
    base = torch.ones(2)
    part = base[0]
    base.mul_(x)
    log("view of what was written to", part.requires_grad)
    base.detach_()
    log("and taken out", part.requires_grad, (part * 2).requires_grad)


@family
def detached(torch, log):
    """detach shares memory and version counter; is a view only of itself."""
    x = leaf(torch, (2, 2), 13)
    y = x * 2
    for name, source in {"leaf": x, "result": y, "view": y[0], "constant": y.data}.items():
        d = source.detach()
        log(name, d, d is source, d._is_view(), d._base is None, d.is_leaf, d._version)
        d.mul_(2)
        log("versions", d._version, source._version)
    log("chain", x.detach()[0]._base is not None, x.detach().detach()._version)


@family
def to_numpy(torch, log):
    """numpy() and __array__ refuse tensors that require grad, unless grad mode is off."""
    for name, x in tensors(torch).items():
        for label, convert in {
            "numpy": lambda x: x.numpy().tolist(),
            "force": lambda x: x.numpy(force=True).tolist(),
            "asarray": lambda x: np.asarray(x).tolist(),
            "float64": lambda x: np.asarray(x, dtype=np.float64).dtype.name,
        }.items():
            log.raises(f"{name} {label}", lambda c=convert, x=x: c(x))
        with torch.no_grad():
            log.raises(f"{name} no_grad", lambda x=x: x.numpy().tolist())
    x = torch.ones(2)
    array = x.numpy()
    array[0] = 5.0
    log("shared", x, x._version)
    log("tolist", leaf(torch, (2,), 14).tolist(), leaf(torch, (), 15).item())


@family
def bases(torch, log):
    """_base is the tensor that owns the memory, for views of views and over detach."""
    x = leaf(torch, (2, 2), 21)
    y = x * 2
    view = y[0]
    log("view of view", view[0]._base is y, view.view(2, 1).t()._base is y, view._base is y)
    log("of a leaf", x.t()._base is x, x.t()[0]._base is x)
    detached = y.detach()
    log("detached", detached._base is None, detached[0]._base is detached)
    part = view.detach()
    log("detached view", part._base is None, part[0]._base is part)
    log("data", y.data._base is None, y.data[0]._base is None)
    log("no copy", y.contiguous() is y, y.reshape(4)._base is y, y.clone()._base is None)
    log("copied", y.t().reshape(4)._base is None, y.t().contiguous()._base is None)
    log("same dtype", y.float() is y, y.double()._base is None)
    log("unbind", [part._base is y for part in y.unbind()])
    log("expand", y.expand(3, 2, 2)._base is y, y.T._base is y)
    with torch.no_grad():
        log("no_grad", y[0]._base is y, y[0].requires_grad, y[0]._is_view())


@family
def versions(torch, log):
    """Which tensors share a version counter, and what counts."""
    x = leaf(torch, (2, 2), 22)
    y = x * 2
    parts = {"view": y[0], "detached": y.detach(), "data": y.data, "other view": y.t()}
    clone = y.clone()

    def all_versions(label):
        log(label, y._version, clone._version, *(part._version for part in parts.values()))

    all_versions("new")
    y.mul_(2)
    all_versions("base")
    parts["view"].add_(1)
    all_versions("view")
    parts["detached"].zero_()
    all_versions("detached")
    parts["data"].zero_()
    all_versions("data")
    with torch.no_grad():
        y.fill_(3)
    all_versions("no_grad")
    y[0, 0] = 5.0
    all_versions("entry")
    y += 1
    all_versions("operator")
    y.copy_(clone)
    all_versions("copy_")
    y.detach_()
    all_versions("detach_")
    y.add_(1)
    all_versions("after detach_")
    y.requires_grad_()
    all_versions("requires_grad_")


@family
def saved_and_detached_in_place(torch, log):
    """detach_ of a tensor that was saved: refused if it had a history, fine for leaves."""
    x, w = leaf(torch, (2,), 23), leaf(torch, (2,), 24)
    y = x * 2
    z = y * w
    y.detach_()
    log.raises("result", lambda: z.sum().backward(retain_graph=True))
    log("no gradients", x.grad, w.grad)
    z = x * w
    x.detach_()
    z.sum().backward()
    log("leaf", x.grad, w.grad)
    x.requires_grad_()
    y = x.exp()
    z = y * 3
    y.detach_()
    z.sum().backward()
    log("own result", x.grad)
    y = x * 1
    other = y.detach()
    z = other * w
    other.detach_()
    y.detach_()
    z.sum().backward()
    log("detached before", w.grad)
    y = x * 2
    y.detach_()
    (y * w).sum().backward()
    log("saved afterwards", w.grad)
    y = x * 2
    z = y * w
    y.detach_()
    y.requires_grad_()
    log.raises("a leaf again", lambda: z.sum().backward())


@family
def switched_off_after_use(torch, log):
    """A leaf that requires no gradient any more when backward reaches it gets none."""
    x = leaf(torch, (2,), 26)
    x.register_hook(log.hook("x"))
    x.register_post_accumulate_grad_hook(lambda x: log("accumulated", x.grad))
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward(retain_graph=True)
    log("off", x.grad)
    x.requires_grad_()
    y.sum().backward(retain_graph=True)
    log("on", x.grad)
    x.detach_()
    y.sum().backward()
    log("detached", x.grad)
