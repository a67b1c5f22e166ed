"""See tensors that are given another shape in place."""

from __future__ import annotations

from .tools import Family, graph, leaf

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


VIEWS = {
    "entry": lambda y: y[0],
    "last entry": lambda y: y[..., -1],
    "range": lambda y: y[1:],
    "steps": lambda y: y[:, ::2],
    "narrow": lambda y: y.narrow(1, 0, 2),
    "t": lambda y: y.t(),
    "permute": lambda y: y.permute(1, 0),
    "view": lambda y: y.view(-1),
    "unsqueeze": lambda y: y.unsqueeze(1),
    "expand": lambda y: y.expand(2, *y.shape),
    "diagonal": lambda y: y.diagonal(),
    "unfold": lambda y: y.unfold(1, 2, 1),
    "as_strided": lambda y: y.as_strided((2,), (1,), 1),
    "unbind": lambda y: y.unbind(0)[-1],
    "split": lambda y: y.split(1)[0],
    "detach": lambda y: y.detach(),
    "view of a view": lambda y: y.t()[1:][..., 0],
}


def saved(node):
    """Give how a view lies in memory, as its node says; nothing if its node is another one."""
    if type(node).__name__ != "AsStridedBackward0":
        return None
    empty = 0 in node._saved_size  # NumPy does not say where that begins
    return node._saved_size, node._saved_stride, None if empty else node._saved_storage_offset


def add_views(name, change):
    """Add a scenario for an in-place reshape."""

    def scenario(torch, log):
        shape = (1, 3) if name.startswith("squeeze") else (2, 3)
        for kind, take in VIEWS.items():
            x = leaf(torch, shape, 1)
            y = x * 2
            part = take(y)
            change(y)

            def look(part=part, x=x, y=y):
                log("graph", graph(part), saved(part.grad_fn))
                weights = leaf(torch, tuple(part.shape), 3)
                parts = (part * part * weights).sum()
                (first,) = torch.autograd.grad(parts, x, create_graph=True)
                log("gradient", first)
                log("second", torch.autograd.grad((first * first).sum(), (x, weights)))

            def write(part=part, x=x, y=y):
                part.mul_(leaf(torch, tuple(part.shape), 5))
                log("written", graph(part), graph(y))
                weights = leaf(torch, tuple(y.shape), 3)
                log("gradient", torch.autograd.grad((y * y * weights).sum(), x)[0])

            # windows that overlap are not written to: who writes last is a matter of chance
            for step in (look,) if kind == "unfold" else (look, write):
                log.raises(f"{kind} {step.__name__}", step)

    scenario.__doc__ = f"The gradients of views of what {name} reshapes; then they are written to."
    family.add(f"views before {name}", scenario)


for _name, _change in CHANGES.items():
    add_views(_name, _change)


@family
def several_reshapes(torch, log):
    """Values and shapes change in turn; views of views and views made in between stay right."""
    x = leaf(torch, (2, 3), 1)
    y = x * 2
    first = y[0]
    inner = first[1:]
    y.t_()
    second = y[1:]
    y.mul_(leaf(torch, (3, 2), 2))
    first.unsqueeze_(0)
    y.unsqueeze_(-1)
    inner.add_(leaf(torch, (2,), 3))
    third = y[..., 0]
    y.squeeze_()
    for name, view in (("1", first), ("inner", inner), ("2", second), ("3", third), ("y", y)):
        log(name, graph(view), view, saved(view.grad_fn))
        weights = leaf(torch, tuple(view.shape), 4, requires_grad=False)
        loss = (view * view * weights).sum()
        log("gradient", torch.autograd.grad(loss, x, retain_graph=True)[0])


@family
def a_layer_in_place(torch, log):
    """What a linear layer gives is reshaped after a view of it was made."""
    for shape in ((2, 3), (2, 2, 3)):
        layer = torch.nn.Linear(3, 4)
        with torch.no_grad():
            layer.weight.copy_(leaf(torch, (4, 3), 1))
            layer.bias.copy_(leaf(torch, (4,), 2))
        out = layer(leaf(torch, shape, 3))
        row = out[0]
        out.transpose_(0, -1)
        (row * leaf(torch, tuple(row.shape), 4)).sum().backward()
        log(str(shape), graph(row), layer.weight.grad, layer.bias.grad)


@family
def out_of_reach(torch, log):
    """Where the base no longer reaches the view, a change of the view has no gradient."""
    x = leaf(torch, (2, 2), 1)
    y = x * 1
    row = y[0]
    y.as_strided_((2,), (1,), 2)
    log("nothing", torch.autograd.grad((row * 2).sum(), x, retain_graph=True)[0])
    row.mul_(2)
    log.raises("before", lambda: (y * y).sum().backward())
    y = x * 1
    column = y[:, 1]
    y.as_strided_((2,), (1,))
    column.mul_(2)
    log.raises("after", lambda: (y * y).sum().backward())


@family
def a_leaf_reshaped(torch, log):
    """A leaf may be reshaped where nothing is recorded; its views follow."""
    x = leaf(torch, (2, 2), 1)
    row = x[0]
    with torch.no_grad():
        x.t_()
    log("row", graph(row), row)
    (row * leaf(torch, (2,), 2)).sum().backward()
    log("gradient", x.grad)


@family
def hooks_around(torch, log):
    """Hooks stay where the first one was put: they see the old shape, in their order."""

    def tell(name):
        def hook(gradient):
            log(name, gradient)

        return hook

    for name, change in CHANGES.items():
        for early in (True, False):
            for of_view in (True, False):
                shape = (1, 3) if name.startswith("squeeze") else (2, 3)
                x = leaf(torch, shape, 1)
                y = (x * 3)[:1] if of_view else x * 3
                if early:
                    y.register_hook(tell("first"))
                node = y.grad_fn
                node.register_prehook(lambda gradients: log("node", *gradients))
                change(y)
                y.register_hook(tell("second"))
                y.grad_fn.register_prehook(lambda gradients: log("new node", *gradients))
                y.unsqueeze_(0)
                handle = y.register_hook(tell("third"))
                y.register_hook(tell("fourth"))
                handle.remove()
                weights = leaf(torch, tuple(y.shape), 3, requires_grad=False)
                log(name, graph(y), list(y._backward_hooks) != [])
                (y * weights).sum().backward()
                y = y * 1


@family
def retained_and_changed(torch, log):
    """A gradient that is retained after a reshape moves along with a change of values."""
    y = leaf(torch, (1, 3), 1) * 2
    y.squeeze_(0)
    y.retain_grad()
    y.mul_(2)
    (y * leaf(torch, (3,), 2)).sum().backward()
    log("moved", y.grad)
