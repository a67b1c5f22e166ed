"""See hooks that pack and unpack what operations save: which pair counts, when, and errors."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


def hooks(torch):
    """Give the context manager."""
    return torch.autograd.graph.saved_tensors_hooks


def numbered(torch, log, name):
    """Make a context that writes down each packing and unpacking under a name."""

    def pack(tensor):
        log(f"{name} packs", tensor)
        return tensor.detach()

    def unpack(packed):
        log(f"{name} unpacks", packed)
        return packed

    return hooks(torch)(pack, unpack)


@family
def the_innermost_pair_counts(torch, log):
    """Of nested pairs only the innermost packs; each value is unpacked by the pair that packed."""
    x = leaf(torch, (3,), 1)
    with numbered(torch, log, "outer"):
        a = x * x
        with numbered(torch, log, "inner"):
            b = a.exp()
        c = b * a
    d = c.sin()
    log("recorded")
    d.sum().backward()
    log("x.grad", x.grad)


@family
def what_unpack_returns_is_used(torch, log):
    """The gradient is computed from what the unpack hook gives."""
    for name, unpack in (
        ("twice", lambda t: t * 2),
        ("zeros", lambda t: torch.zeros_like(t)),
        ("float64", lambda t: t.double()),
        ("with a gradient", lambda t: t.clone().requires_grad_()),
    ):
        x = leaf(torch, (3,), 1)
        with hooks(torch)(lambda t: t.detach(), unpack):
            y = x * x
        log.raises(name, lambda y=y: y.sum().backward())
        log("x.grad", x.grad)


@family
def unpacked_has_its_place_in_the_graph(torch, log):
    """What is unpacked by hand carries the original's grad_fn; it is another tensor, though."""
    x = leaf(torch, (3,), 1)
    a = x * 2
    with hooks(torch)(lambda t: t.tolist(), lambda v: torch.tensor(v)):
        b = a * x
        e = a.exp()
        c = a * torch.tensor([1.0, 2.0, 3.0])
    for name, node, attribute, original in (
        ("inner", b.grad_fn, "_saved_self", a),
        ("leaf", b.grad_fn, "_saved_other", x),
        ("result", e.grad_fn, "_saved_result", e),
        ("constant", c.grad_fn, "_saved_other", None),
    ):
        unpacked = getattr(node, attribute)
        log(name, unpacked, unpacked is original, unpacked.is_leaf)
        if original is not None:
            log("place", unpacked.grad_fn is original.grad_fn, unpacked.output_nr)
    unpacked = b.grad_fn._saved_other
    unpacked.sum().backward()
    log("x.grad", x.grad, unpacked.grad)
    log("versions", unpacked._version, x._version)
    with torch.no_grad():
        unpacked.add_(1)
    log("versions", unpacked._version, x._version, x)


@family
def identity_through_hooks_that_do_nothing(torch, log):
    """Even hooks that return what they got give back another tensor."""
    x = leaf(torch, (3,), 1)
    a = x * 2
    with hooks(torch)(lambda t: t, lambda t: t):
        y = a * x
        e = a.exp()
        c = a * torch.tensor([1.0, 2.0, 3.0])
    log("leaf", y.grad_fn._saved_other is x, y.grad_fn._saved_other)
    log("inner", y.grad_fn._saved_self is a, y.grad_fn._saved_self)
    log("result", e.grad_fn._saved_result is e, e.grad_fn._saved_result)
    log("constant", c.grad_fn._saved_other)
    y.sum().backward(retain_graph=True)
    e.sum().backward()
    log("x.grad", x.grad)


@family
def identity_without_hooks(torch, log):
    """A saved input is the identical object; a node's own output an equal one."""
    x = leaf(torch, (3,), 1)
    a = x * 2
    y = a * x
    e = a.exp()
    log("inputs", y.grad_fn._saved_self is a, y.grad_fn._saved_other is x)
    log("result", e.grad_fn._saved_result is e, torch.equal(e.grad_fn._saved_result, e))
    log("grad_fn", e.grad_fn._saved_result.grad_fn is e.grad_fn)
    log("twice", e.grad_fn._saved_result is e.grad_fn._saved_result)
    v = a.view(3, 1)
    w = v * v
    log("a view", w.grad_fn._saved_self is v)
    f = a.sin()
    g = f.tanh()
    log("saved by the next", g.grad_fn._saved_result is g, f.cos().grad_fn._saved_self is f)


@family
def packing_under_create_graph(torch, log):
    """A recorded pass packs with the hooks in force around the pass; unpacks with its own."""
    x = leaf(torch, (2,), 1)
    with numbered(torch, log, "forward"):
        y = x**3
    with numbered(torch, log, "backward"):
        (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    log("derivatives", first, second, third)


@family
def one_pack_many_unpacks(torch, log):
    """Packing happens once, unpacking at each use."""
    x = leaf(torch, (2,), 1)
    with numbered(torch, log, "hooks"):
        y = x.exp()
    for _ in range(2):
        y.sum().backward(retain_graph=True)
    log("by hand", y.grad_fn._saved_result)
    y.sum().backward()
    log.raises("again", lambda: y.sum().backward())
    log("x.grad", x.grad)


@family
def nothing_recorded_nothing_packed(torch, log):
    """Without a gradient to come nothing is saved."""
    x, c = leaf(torch, (2,), 1), torch.tensor([1.0, 2.0])
    with numbered(torch, log, "hooks"):
        c * c
        x + c
        x.detach().exp()
        with torch.no_grad():
            x * x
        with torch.inference_mode():
            x * x
        log("numbers", x * 2, 3.0 / (x * x + 5) - 1)


@family
def in_place_operations(torch, log):
    """What in-place operations save, and hooks that keep the old values."""
    x = leaf(torch, (3,), 1)
    with numbered(torch, log, "hooks"):
        a = x * 1
        a.exp_()
        a.add_(x)
        a.tanh_()
    a.sum().backward()
    log("x.grad", x.grad)
    with hooks(torch)(lambda t: t.clone(), lambda t: t):
        a = x * 1
        b = a * a
        a.zero_()
    log.raises("changed after packing", lambda: b.sum().backward())
    log("x.grad", x.grad)


@family
def in_place_on_a_view(torch, log):
    """What an in-place operation on a view saves."""
    x = leaf(torch, (2, 2), 1)
    with numbered(torch, log, "hooks"):
        a = x * 1
        a[0].add_(x[1])
        a[:, 1].mul_(torch.tensor([2.0, 3.0]))
    a.sum().backward()
    log("x.grad", x.grad)


@family
def pack_changes_its_input(torch, log):
    """A pack hook must not change what it gets."""
    for name, pack in (
        ("mul_", lambda t: t.mul_(2)),
        ("view", lambda t: t.view(-1).zero_()),
        ("detach", lambda t: t.detach().add_(1)),
    ):
        x = leaf(torch, (2,), 1)
        a = x * 1
        with hooks(torch)(pack, lambda t: t):
            log.raises(name, lambda a=a: a * a)
        log("value", a)


@family
def wrong_hooks(torch, log):
    """Wrong numbers of parameters and wrong results."""
    x = leaf(torch, (2,), 1)

    def use(pack, unpack):
        with hooks(torch)(pack, unpack):
            y = x.sin()
        y.sum().backward()
        return "done"

    log.raises("pack without parameters", lambda: use(lambda: 5, lambda t: t))
    log.raises("pack with two", lambda: use(lambda a, b: 5, lambda t: t))
    log.raises("unpack without parameters", lambda: use(lambda t: t, lambda: 5))
    log.raises("unpack gives a number", lambda: use(lambda t: t, lambda t: 5))
    log.raises("unpack gives None", lambda: use(lambda t: t, lambda t: None))
    log.raises("unpack gives a list", lambda: use(lambda t: t, lambda t: [t]))
    log.raises("pack gives None", lambda: use(lambda t: None, lambda n: torch.ones(2)))
    log.raises("no arguments", lambda: hooks(torch)())
    log("x.grad", x.grad)
    log.raises("usable", lambda: use(lambda t: t, lambda t: t))


@family
def errors_pass_through(torch, log):
    """What a hook raises keeps its type; nothing stays behind."""

    class Mine(Exception):
        pass

    def stop(tensor):
        raise Mine("stopped")

    x = leaf(torch, (2,), 1)
    with hooks(torch)(stop, lambda t: t):
        log.raises("pack", lambda: x * x)
        log.raises("pack a result", lambda: x.exp())
    with hooks(torch)(lambda t: t, stop):
        y = x * x
    log.raises("unpack", lambda: y.sum().backward())
    log.raises("by hand", lambda: y.grad_fn._saved_self)
    log("x.grad", x.grad)
    (x * x).sum().backward()
    log("x.grad", x.grad)
