"""See which in-place operations are refused, when, and with which words."""

from __future__ import annotations

from .tools import Family, graph, leaf

family = Family()

# A few in-place operations of each kind, as functions of the tensor and of another of its shape.
WRITES = {
    "mul_": lambda x, w: x.mul_(2),
    "add_": lambda x, w: x.add_(w),
    "copy_": lambda x, w: x.copy_(w),
    "fill_": lambda x, w: x.fill_(3.0),
    "zero_": lambda x, w: x.zero_(),
    "exp_": lambda x, w: x.exp_(),
    "item": lambda x, w: x.__setitem__(0, 5.0),
    "slice": lambda x, w: x.__setitem__(slice(None), w),
    "+=": lambda x, w: x.__iadd__(w),
    "masked_fill_": lambda x, w: x.masked_fill_(w.detach() > 0, 7.0),
}


def attempt(log, label, write, *tensors):
    """Log the error of a write, or that there is none; not the result, which may be unreadable."""
    try:
        write(*tensors)
    except Exception as error:
        log.error(label, error)
    else:
        log(label, "no error")


@family
def leaves(torch, log):
    """A leaf that requires grad, and views of it, with grad mode on and off."""
    w = leaf(torch, (2, 2), 1, requires_grad=False)
    for name, write in WRITES.items():
        x = leaf(torch, (2, 2), 2)
        attempt(log, f"{name} leaf", write, x, w)
        attempt(log, f"{name} view", write, x[:1], w[:1])
        log("unchanged", x, x._version)
        with torch.no_grad():
            attempt(log, f"{name} no_grad", write, x, w)
            attempt(log, f"{name} no_grad view", write, x[1:], w[1:])
        log("changed", x, x._version)
        attempt(log, f"{name} detached", write, x.detach(), w)


@family
def constants_and_what_requires_grad(torch, log):
    """Writing what requires grad into a constant is fine; into its view too."""
    w = leaf(torch, (2, 2), 3)
    for name, write in WRITES.items():
        x = leaf(torch, (2, 2), 4, requires_grad=False)
        attempt(log, name, write, x, w)
        x = leaf(torch, (2, 2), 4, requires_grad=False)
        part = x[:1]
        attempt(log, f"{name} view", write, part, w[:1])
        log("base", x, x.requires_grad, part.requires_grad)


@family
def views_made_under_no_grad(torch, log):
    """A view made under no_grad, changed with grad mode on; its base changed; printed."""
    w = leaf(torch, (2, 2), 5)
    for name, source in {
        "leaf": leaf(torch, (2, 2), 6),
        "result": leaf(torch, (2, 2), 7) * 2,
        "constant": leaf(torch, (2, 2), 8, requires_grad=False),
    }.items():
        with torch.no_grad():
            view = source[0]
            other = source.view(4)[2:]
        part = view[:1]
        log(name, view.requires_grad, view.is_leaf, repr(view), part.requires_grad)
        attempt(log, "write", lambda x: x.mul_(2), view)
        attempt(log, "write part", lambda x: x.mul_(2), part)
        attempt(log, "write what requires grad", lambda x: x.mul_(w[0]), view)
        with torch.no_grad():
            attempt(log, "no_grad", lambda x: x.mul_(2), view)
        log("versions", view._version, source._version)
        if name != "leaf":
            attempt(log, "write the base", lambda x: x.mul_(w), source)
        log("print", repr(view), repr(part), repr(other))
        log.raises("use", lambda view=view: view * 2)
        log.raises("grad_fn", lambda other=other: other.grad_fn)


@family
def outputs_of_functions_with_several_views(torch, log):
    """unbind, split, chunk: writing into their outputs, views of these, or their base."""
    makers = {
        "unbind": lambda x: x.unbind(),
        "unbind(1)": lambda x: x.unbind(1),
        "split": lambda x: x.split(1),
        "split sizes": lambda x: x.split([1, 1]),
        "chunk": lambda x: x.chunk(2, 1),
        "iteration": lambda x: list(x),
        "unpacking": lambda x: (lambda a, b: (a, b))(*x),
    }
    for name, make in makers.items():
        x = leaf(torch, (2, 2), 9)
        y = x * 2
        parts = make(y)
        for number, part in enumerate(parts):
            attempt(log, f"{name} {number}", lambda x: x.mul_(2), part)
            attempt(log, "a view of it", lambda x: x.reshape(-1)[0].mul_(2), part)
        log("unchanged", y._version, y)
        with torch.no_grad():
            parts[0].mul_(2)
        log.raises("read", lambda parts=parts: parts[1].grad_fn)
        log.raises("read it", lambda parts=parts: parts[0] * 2)
        constant = x.detach().clone()
        parts = make(constant)
        parts[0].mul_(2)
        log("constant", constant)
        attempt(log, "what requires grad", lambda x, w: x.mul_(w), parts[0], make(x)[0])
        attempt(log, "the leaf", lambda x: x.mul_(2), make(x)[0])


@family
def expanded(torch, log):
    """Tensors of which several entries lie in one place of memory."""
    x = leaf(torch, (2, 1), 10, requires_grad=False)
    y = leaf(torch, (2, 1), 11) * 2
    for name, tensor in {"constant": x, "result": y}.items():
        wide = tensor.expand(2, 3)
        for operation, write in WRITES.items():
            if operation in ("item", "masked_fill_"):
                continue
            w = torch.ones(2, 3)
            attempt(log, f"{name} {operation}", write, wide, w)
        log("after", tensor, tensor._version)


@family
def saved_and_changed(torch, log):
    """What was needed for backward was changed: shape, node, versions in the message."""

    def run(name, make, change):
        x = leaf(torch, (2, 3), 12)
        inner = x * 1
        result = make(inner)
        with torch.no_grad():
            change(inner, result)
        log.raises(name, lambda: result.sum().backward())
        log("gradient", x.grad)

    def change_input(inner, result):
        inner.add_(1)

    def change_result(inner, result):
        result.add_(1)
        result.mul_(2)

    for name, make in {
        "exp": lambda x: x.exp(),
        "sin": lambda x: x.sin(),
        "tanh": lambda x: x.tanh(),
        "sigmoid": lambda x: x.sigmoid(),
        "pow": lambda x: x**3,
        "square": lambda x: x * x,
        "add": lambda x: x + x,
        "relu": lambda x: x.relu(),
        "matmul": lambda x: x @ x.t(),
        "div": lambda x: 1 / x,
        "sqrt": lambda x: (x * x).sqrt(),
        "softmax": lambda x: torch.softmax(x, 1),
        "sum": lambda x: x.sum(0),
        "max": lambda x: x.max(1)[0],
        "index": lambda x: x[torch.tensor([1, 0])],
        "norm": lambda x: x.norm(),
    }.items():
        run(f"{name}: input", make, change_input)
        run(f"{name}: result", make, change_result)
    w, v = leaf(torch, (2, 3), 18), leaf(torch, (3,), 19, dtype=torch.float64)
    run("a leaf", lambda inner: inner * w, lambda inner, result: w.add_(1))
    run("view of a leaf", lambda inner: inner * w[0], lambda inner, result: w.add_(1))
    run("double", lambda inner: inner.double() * v, lambda inner, result: v.zero_())


@family
def written_into_what_it_reads(torch, log):
    """Operations that need their old value, recorded in place: refused in backward or not."""
    for name, write in {
        "exp_": lambda x: x.exp_(),
        "sin_": lambda x: x.sin_(),
        "mul_ by itself": lambda x: x.mul_(x),
        "add_ itself": lambda x: x.add_(x),
        "pow_": lambda x: x.pow_(2),
        "sqrt_": lambda x: x.mul_(0).add_(4).sqrt_(),
        "div_": lambda x: x.div_(3),
        "div_ by itself": lambda x: x.div_(x),
        "tanh_": lambda x: x.tanh_(),
        "neg_": lambda x: x.neg_(),
        "twice exp_": lambda x: x.exp_().exp_(),
        "exp_ mul_": lambda x: x.exp_().mul_(2),
        "relu_": lambda x: x.relu_(),
        "abs_": lambda x: x.abs_(),
        "log_": lambda x: x.abs_().log_(),
    }.items():
        x = leaf(torch, (3,), 13)
        y = write(x * 1)
        log(name, y, y._version, graph(y))
        log.raises("backward", lambda y=y: y.sum().backward())
        log("gradient", x.grad)


@family
def results_that_do_not_fit(torch, log):
    """In place with a result of another shape or a higher dtype."""
    for name, write in {
        "wider": lambda x: x.add_(torch.ones(3, 2)),
        "wider with grad": lambda x: x.mul_(leaf(torch, (2, 2), 14)),
        "no broadcast": lambda x: x.add_(torch.ones(3)),
        "double": lambda x: x.mul_(torch.ones(2, dtype=torch.float64)),
        "integers": lambda x: x.long().add_(x),
        "integers with a float": lambda x: x.long().mul_(1.5),
        "integers divided": lambda x: x.long().div_(2),
        "bool": lambda x: (x > 0).add_(1),
        "copy_ wider": lambda x: x.copy_(torch.ones(2, 2)),
        "copy_ no broadcast": lambda x: x.copy_(torch.ones(3)),
        "copy_ integers": lambda x: x.copy_(torch.tensor([1, 2])),
        "item of another shape": lambda x: x.__setitem__(0, torch.ones(3)),
        "out of range": lambda x: x.__setitem__(5, 1.0),
        "fill_ with two": lambda x: x.fill_(torch.ones(2)),
    }.items():
        x = leaf(torch, (2,), 15) * 1
        before = x._version
        attempt(log, name, write, x)
        log("after", x, x._version - before)
