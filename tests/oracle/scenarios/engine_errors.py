"""See what backward and grad refuse, stale saved values, and in-place changes that are
not allowed.
"""

from __future__ import annotations

from .tools import Family

family = Family()


@family
def not_a_scalar(torch, log):
    """Without a gradient only a tensor with one entry can be differentiated."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    log.raises("two", lambda: (x * 2).backward())
    log.raises("grad", lambda: torch.autograd.grad(x * 2, x))
    log.raises("one", lambda: (x * 2)[:1].backward())
    log("x.grad", x.grad)


@family
def nothing_requires_grad(torch, log):
    """Backward on a constant."""
    c = torch.tensor([1.0])
    log.raises("leaf", lambda: c.backward())
    log.raises("result", lambda: (c * 2).backward())
    x = torch.tensor([1.0], requires_grad=True)
    log.raises("grad of a constant", lambda: torch.autograd.grad(c, x))
    log.raises("grad for a constant", lambda: torch.autograd.grad(x * 2, c))
    with torch.no_grad():
        y = x * 2
    log.raises("under no_grad", lambda: y.backward())


@family
def wrong_gradient_given(torch, log):
    """The gradient given must fit the tensor."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    log.raises("shape", lambda: y.backward(torch.tensor([1.0, 2.0, 3.0])))
    log.raises("scalar", lambda: y.backward(torch.tensor(1.0)))
    log.raises("matrix", lambda: torch.autograd.grad(y, x, torch.tensor([[1.0, 2.0]])))
    log.raises("number", lambda: y.backward(1.0))
    log.raises("list", lambda: torch.autograd.backward([y, y], [torch.tensor([1.0, 2.0])]))


@family
def unused_inputs(torch, log):
    """An input that takes no part is an error, unless unused inputs are allowed or made zeros."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([[3.0]], requires_grad=True)
    y = (x * 2).sum()
    log.raises("unused", lambda: torch.autograd.grad(y, [x, u]))
    y = (x * 2).sum()
    log("allowed", torch.autograd.grad(y, [x, u], allow_unused=True))
    y = (x * 2).sum()
    log("zeros", torch.autograd.grad(y, [x, u], materialize_grads=True))
    log.raises(
        "contradiction",
        lambda: torch.autograd.grad(y, u, allow_unused=False, materialize_grads=True),
    )
    log.raises("no inputs", lambda: y.backward(inputs=[]))


@family
def backward_twice(torch, log):
    """The text of the second backward's error."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    log.raises("again", lambda: y.backward())
    log("x.grad", x.grad)
    z = x * x
    torch.autograd.grad(z, x)
    log.raises("grad again", lambda: torch.autograd.grad(z, x))


@family
def stale_saved_values(torch, log):
    """A saved value that was changed in place since: the full text, for outputs and for inputs of
    nodes.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def attempt(label, build, spoil):
        inner = x * 2
        result = build(inner)
        spoil(inner, result)
        log.raises(label, lambda: result.sum().backward())

    attempt("input of mul", lambda y: y * y, lambda y, r: y.add_(1))
    attempt("twice changed", lambda y: y * y, lambda y, r: y.add_(1).mul_(2))
    attempt("output of exp", lambda y: y.exp(), lambda y, r: r.mul_(2))
    attempt("output of sigmoid", lambda y: y.sigmoid(), lambda y, r: r.add_(1))
    attempt("output of relu", lambda y: y.relu(), lambda y, r: r.sub_(1))
    attempt("input of pow", lambda y: y**2, lambda y, r: y.zero_())
    attempt("input of log", lambda y: y.log(), lambda y, r: y.div_(2))
    attempt("assignment", lambda y: y * y, lambda y, r: y.__setitem__(0, 5.0))
    attempt("harmless: add saves nothing", lambda y: y + 1, lambda y, r: y.mul_(2))
    attempt("harmless: output of mul", lambda y: y * y, lambda y, r: r.mul_(2))
    log("x.grad", x.grad)


@family
def stale_leaf(torch, log):
    """A leaf, saved by a product of matrices and changed under no_grad."""
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = torch.tensor([[1.0, -1.0], [0.5, 2.0]], requires_grad=True)
    y = (x @ w).sum()
    with torch.no_grad():
        w.mul_(2)
    log.raises("leaf", lambda: y.backward())


@family
def stale_view_of_a_leaf(torch, log):
    """The transposed weight that a Linear saves is a view, remade after the weight was changed in
    place.
    """
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = torch.tensor([[1.0, -1.0], [0.5, 2.0]], requires_grad=True)
    out = torch.nn.functional.linear(x, w).sum()
    with torch.no_grad():
        w.add_(1)
    log.raises("weight", lambda: out.backward())


@family
def stale_constants(torch, log):
    """A constant's change is stale too; a change through .data goes unseen."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([3.0, 4.0])
    y = (x * c).sum()
    c.add_(1)
    log.raises("constant", lambda: y.backward())
    z = (x * c).sum()
    c.data.mul_(10)
    log.raises("through data", lambda: z.backward())
    log("x.grad", x.grad)


@family
def in_place_on_leaves(torch, log):
    """A leaf that requires grad cannot be changed in place while grad mode is on."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)

    def assign():
        x[0] = 5.0

    for name, action in (
        ("add_", lambda: x.add_(1)),
        ("mul_", lambda: x.mul_(2)),
        ("zero_", lambda: x.zero_()),
        ("copy_", lambda: x.copy_(torch.tensor([3.0, 4.0]))),
        ("+=", lambda: x.__iadd__(1)),
        ("assignment", assign),
        ("view", lambda: x[0:1].mul_(2)),
    ):
        log.raises(name, action)
    with torch.no_grad():
        x.mul_(2)
        assign()
    log("x", x, x._version)


@family
def in_place_on_inner_tensors(torch, log):
    """In-place operations on inner tensors extend the graph."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    before = y.grad_fn.name()
    same = y.mul_(2)
    log("names", before, y.grad_fn.name(), same is y)
    y += x
    y[0] = 7.0
    log("y", y)
    y.backward(torch.tensor([10.0, 100.0]))
    log("x.grad", x.grad)


@family
def requires_grad_rules(torch, log):
    """requires_grad is for floating point leaves."""
    log.raises("integers", lambda: torch.tensor([1, 2], requires_grad=True))
    log.raises("bool", lambda: torch.tensor([True], requires_grad=True))
    log.raises("later", lambda: torch.tensor([1, 2]).requires_grad_())
    log.raises("parameter", lambda: torch.nn.Parameter(torch.tensor([1, 2])))
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 2
    log.raises("off for an inner one", lambda: y.requires_grad_(False))

    def off():
        y.requires_grad = False

    log.raises("assigned", off)
    log.raises("on for an inner one", lambda: y.requires_grad_(True))
    log.raises("numpy", lambda: x.numpy())
    log.raises("numpy of inner", lambda: y.numpy())
    log("numpy of detached", x.detach().numpy().tolist(), x.tolist(), x.item())


@family
def scalar_conversions(torch, log):
    """item, bool and len of tensors with the wrong number of entries."""
    x = torch.tensor([1.0, 2.0])
    log.raises("item", lambda: x.item())
    log.raises("bool", lambda: bool(x))
    log.raises("bool of none", lambda: bool(torch.tensor([])))
    log.raises("len of a scalar", lambda: len(torch.tensor(1.0)))
    log.raises("iterating a scalar", lambda: list(torch.tensor(1.0)))
    log.raises("float", lambda: float(x))
    log(
        "fine",
        bool(torch.tensor([0.0])),
        float(torch.tensor([2.5])),
        int(torch.tensor(3.7)),
        len(x),
    )


@family
def errors_leave_the_engine_usable(torch, log):
    """After an error in a backward the next one works, and grad mode is what it was."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x

    def fail(grad):
        raise ValueError("planted")

    handle = y.register_hook(fail)
    log.raises("planted", lambda: y.sum().backward())
    handle.remove()
    log("mode", torch.is_grad_enabled(), x.grad)
    log.raises("same graph", lambda: y.sum().backward())
    log("x.grad", x.grad)
