"""See what nodes have saved, by hand: values, handles that take hooks, and when they are gone."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def doubling():
    """Give a pair of hooks of which the second doubles."""
    return (lambda t: t.detach(), lambda t: t * 2)


@family
def handles_take_hooks(torch, log):
    """A raw saved tensor can be packed afterwards, once."""
    x = leaf(torch, (3,), 1)
    a = x * 2
    y = a * x
    node = y.grad_fn
    node._raw_saved_self.register_hooks(
        lambda t: log("pack", t, torch.is_grad_enabled()) or t.tolist(),
        lambda v: log("unpack", v) or torch.tensor(v) * 10,
    )
    log("by hand", node._saved_self, node._saved_other is x)
    log.raises("again", lambda: node._raw_saved_self.register_hooks(*doubling()))
    node._raw_saved_other.register_hooks(*doubling())
    y.sum().backward()
    log("x.grad", x.grad)
    log.raises("value when freed", lambda: node._saved_self)
    log.raises("handle", lambda: node._raw_saved_self.register_hooks(*doubling()))


@family
def hooks_on_a_result(torch, log):
    """A node's own output, packed afterwards."""
    x = leaf(torch, (3,), 1)
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(
        lambda t: log("pack", t) or t.tolist(), lambda v: torch.tensor(v) * 3
    )
    value = y.grad_fn._saved_result
    log("value", value, value.grad_fn is y.grad_fn)
    y.sum().backward()
    log("x.grad", x.grad)


@family
def wrong_arguments_of_register_hooks(torch, log):
    """The arguments of register_hooks must be two callables."""
    x = leaf(torch, (3,), 1)
    node = (x * x).grad_fn
    raw = node._raw_saved_self

    def kind(*arguments):
        try:
            raw.register_hooks(*arguments)
        except TypeError as error:
            return str(error).split(".")[0]
        return "no error"

    log("none", kind())
    log("one", kind(lambda t: t))
    log("three", kind(id, id, id))
    log("a number", kind(lambda t: t, 3))
    log("two", kind(id, id))


@family
def looking_through_handles(torch, log):
    """What a handle shows: the unpack hook."""
    x = leaf(torch, (3,), 1)

    def give(tensor):
        return tensor * 2

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
        a = x.sin()
    b = a.exp()
    c = b * a
    d = x * torch.ones(3)
    for name, raw in (
        ("packed", a.grad_fn._raw_saved_self),
        ("result", b.grad_fn._raw_saved_result),
        ("input", c.grad_fn._raw_saved_self),
        ("None", d.grad_fn._raw_saved_self),
    ):
        log(name, raw.unpack_hook is torch.tensor, raw.unpack_hook is None)
    raw = c.grad_fn._raw_saved_self
    raw.register_hooks(lambda t: t.detach(), give)
    log("packed", raw.unpack_hook is give)
    c.sum().backward()
    log("released", raw.unpack_hook)


@family
def custom_functions(torch, log):
    """What a custom Function saved: saved_tensors, handles, hooks."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, c):
            result = x * x
            ctx.save_for_backward(result, x, None, c)
            return result

        @staticmethod
        def backward(ctx, grad):
            result, x, nothing, c = ctx.saved_tensors
            log("saved", result, x, nothing, c)
            return grad * x * 2, None

    def pack(tensor):
        log("pack", tensor)
        return tensor.detach()

    def unpack(tensor):
        log("unpack", tensor)
        return tensor

    x, c = leaf(torch, (3,), 1), torch.tensor([1.0, 2.0, 3.0])
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = Square.apply(x, c)
    log("recorded")
    y.sum().backward()
    log("x.grad", x.grad)
    log.raises("freed", lambda: y.grad_fn.saved_tensors)
    log.raises("freed", lambda: y.grad_fn._raw_saved_tensors)
    y = Square.apply(x, c)
    raw = y.grad_fn._raw_saved_tensors
    log("handles", len(raw))
    raw[1].register_hooks(lambda t: t.tolist(), lambda v: torch.tensor(v) * 2)
    raw[0].register_hooks(pack, unpack)
    log.raises("again", lambda: raw[1].register_hooks(pack, unpack))
    log.raises("None", lambda: raw[2].register_hooks(pack, unpack))
    y.sum().backward()
    log("x.grad", x.grad)


@family
def detached_in_place(torch, log):
    """A saved input that was detached in place is refused; a result is not."""
    x = leaf(torch, (3,), 1)
    for name, function in (
        ("input", lambda a: a * a),
        ("result", lambda a: a.exp()),
        ("not saved", lambda a: a + a),
    ):
        a = x * 2
        y = function(a)
        a.detach_()
        log.raises(name, lambda y=y: y.sum().backward())
        log("x.grad", x.grad)
    a = x * 2
    e = a.exp()
    y = e * 3
    e.detach_()
    log.raises("own result", lambda: y.sum().backward())
    log("x.grad", x.grad)
    a = x * 2
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = a * a
    a.detach_()
    log.raises("packed", lambda: y.sum().backward())
    a = x * 2
    y = a * a
    a.detach_()
    log.raises("by hand", lambda: y.grad_fn._saved_self)
    a = x.detach().clone()
    y = a * x
    a.requires_grad_()
    log.raises("required later", lambda: y.sum().backward())
    x2 = leaf(torch, (3,), 1)
    y = x2 * x2
    x2.requires_grad_(False)
    log.raises("required no more", lambda: y.sum().backward())
    log("x2.grad", x2.grad)
