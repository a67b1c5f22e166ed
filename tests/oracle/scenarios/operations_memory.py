"""See what operations share with their inputs: views, memory, versions, `out`, what may change."""

from __future__ import annotations

import numpy as np

from .tools import Family, graph, leaf

family = Family()
NAN = float("nan")
M = (3, 4)
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
def bits_in_place(torch, log):
    """`x &= y` and the like."""
    x = torch.tensor([6, -3, 1])
    address = x.data_ptr()
    x &= 7
    x |= torch.tensor([8, 0, 1])
    x ^= 1
    x <<= 2
    x >>= 1
    log("bits", x, x._version, x.data_ptr() == address)
    mask = torch.tensor([True, False])
    mask &= torch.tensor([True, True])
    mask |= True
    mask ^= torch.tensor([True, False])
    log("booleans", mask)
    log("reversed", 6 | x, 6 ^ x, True & mask, True | mask, 1 << torch.tensor([3]), 9 >> mask.int())


@family
def quotients_in_place(torch, log):
    """`x %= y` and `x //= y`."""
    x = torch.tensor([7.0, -7.0])
    address = x.data_ptr()
    x %= 4
    x //= 2
    log("numbers", x, x.data_ptr() == address, x._version)
    x = torch.tensor([7, -7])
    x //= torch.tensor([2, 2])
    x %= torch.tensor([3, 3])
    log("tensors", x, x._version)


@family
def no_derivative(torch, log):
    """A quotient rounded down by `//` can't be differentiated."""
    x, y = leaf(torch, (3,), 1), leaf(torch, (3,), 2)
    for name, call in {
        "x // y": lambda: x // y,
        "x // 2": lambda: x // 2,
        "2 // x": lambda: 2 // x,
    }.items():
        z = call()
        log(name, z, graph(z), type(z.grad_fn).__name__, repr(z))
        log.raises(name, lambda z=z: z.sum().backward())
    z = x * 1
    z //= y
    log("in place", z, graph(z))


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


def changes(torch):
    """In-place operations, each with the tensor it changes and another one."""
    zero = torch.tensor([0])
    place = torch.tensor([[0, 1]])
    return {
        "index_add_": lambda a, b: a.index_add_(0, zero, b[:1]),
        "index_add_ by names": lambda a, b: a.index_add_(dim=0, index=zero, source=b[:1], alpha=2),
        "scatter_": lambda a, b: a.scatter_(0, place, b[:1, :2]),
        "scatter_ of a number": lambda a, b: a.scatter_(0, place, 1.0),
        "scatter_ by name": lambda a, b: a.scatter_(0, place, value=1.5),
        "scatter_add_": lambda a, b: a.scatter_add_(0, place, b[:1, :2]),
    }


@family
def in_place_through_views(torch, log):
    """Changing a view changes its base, and its place in the graph."""
    for name, change in changes(torch).items():
        x, w = leaf(torch, (3, 3), 1), leaf(torch, (2, 3), 2)
        y = x * 1
        part = y[1:]
        change(part, w)
        log(name, y, graph(y), graph(part))
        weights = leaf(torch, (3, 3), 5, requires_grad=False)
        log("gradients", *torch.autograd.grad((y * weights).sum(), (x, w), allow_unused=True))


@family
def pieces_and_their_memory(torch, log):
    """Pieces are views of one node, which may not be changed in place."""
    x = leaf(torch, (4,), 3) * 1
    pieces = x.split(2)
    log("split", *pieces, pieces[0]._base is x, x._version)
    log.raises("in place", lambda: pieces[0].mul_(2))
    log("graph", graph(pieces[1]))


@family
def einsum_of_views(torch, log):
    """A single operand that is only reordered shares its memory."""
    x = torch.zeros(2, 2)
    torch.einsum("ii->i", x).fill_(1)
    torch.einsum("ij->ji", x)[0, 1] = 5
    log("changed", x)
    log("spaces", torch.einsum(" i j , j k -> i k ", x, x))
    log("list", torch.einsum("ij,jk->ik", [x, x]))
    log("stretched", torch.einsum("ij,ij->ij", x, x[:1]))


@family
def diagonals_are_views(torch, log):
    """Changing a diagonal changes the matrix, and gradients know."""
    x = leaf(torch, (3, 3), 1)
    y = x * 1
    y.diagonal().mul_(2)
    torch.diagonal(y, -1).zero_()
    log("matrix", y, graph(y))
    log("gradient", *torch.autograd.grad(y, x, leaf(torch, (3, 3), 2, requires_grad=False)))


@family
def pooled_and_changed_in_place(torch, log):
    """The result is not saved, so it may change; the input is, so it must not."""
    x = leaf(torch, (1, 2, 4), 1)
    hidden = x * 1
    torch.nn.functional.max_pool2d(hidden, 2).relu_().sum().backward()
    log("gradient", x.grad)
    hidden = x * 1
    y = torch.nn.functional.max_pool2d(hidden, 2)
    hidden.mul_(2)
    log.raises("input", lambda: y.sum().backward())


@family
def inputs_changed_before_backward(torch, log):
    """Input and weight are saved, so they must not change."""
    x, w = leaf(torch, (1, 1, 3, 3), 1, requires_grad=False), leaf(torch, (1, 1, 2, 2), 2)
    y = torch.nn.functional.conv2d(x, w)
    x.add_(1)
    log.raises("input", lambda: y.sum().backward())
    hidden = w * 1
    y = torch.nn.functional.conv2d(torch.ones(1, 1, 3, 3, requires_grad=True), hidden)
    with torch.no_grad():
        hidden.add_(1)
    log.raises("weight", lambda: y.sum().backward())


@family
def only_what_is_needed(torch, log):
    """Gradients go where they are wanted."""
    x, w, b = leaf(torch, (1, 1, 3, 3), 1), leaf(torch, (1, 1, 2, 2), 2), leaf(torch, (1,), 3)
    for name, free in (("input", (x,)), ("weight", (w,)), ("bias", (b,))):
        for each in (x, w, b):
            each.requires_grad_(any(each is one for one in free))
        y = torch.nn.functional.conv2d(x, w, b)
        log(name, graph(y), *torch.autograd.grad(y.sum(), free))


@family
def complex_numbers(torch, log):
    """Parts of complex numbers, and complex numbers of parts."""
    c = torch.tensor([1 + 2j, -1 - 1j])

    def show(what, *tensors):
        log(what, *map(repr, tensors))

    log("parts", c.real, c.imag, torch.real(c), torch.imag(c))

    show("views", torch.view_as_real(c), torch.view_as_complex(torch.ones(2, 2)))
    show("polar", torch.polar(torch.tensor([2.0, 1.0]), torch.tensor([0.0, 0.5])))
    log("flags", torch.is_neg(c))
    log.raises("real as real", lambda: torch.view_as_real(torch.ones(2)))
    log.raises("three", lambda: torch.view_as_complex(torch.ones(3)))
    with torch.no_grad():
        torch.view_as_real(c)[0, 0] = 5
    show("the same memory", c)


def F(t):
    return t.nn.functional


@family
def gradients_to_detach(torch, log):
    """A gradient that is recorded can be detached in place."""
    x, w, b = (leaf(torch, shape, seed) for seed, shape in enumerate(((2, 4, 3), (4,), (4,)), 1))
    functions = F(torch)
    for name, y in (
        ("batch", functions.batch_norm(x, None, None, w, b, training=True)),
        ("evaluated", functions.batch_norm(x, torch.zeros(4), torch.ones(4), w, b)),
        ("layer", functions.layer_norm(x.transpose(1, 2), (4,), w, b)),
    ):
        gradients = torch.autograd.grad(y.square().sum(), (w, b), create_graph=True)
        log(name, [gradient._is_view() for gradient in gradients])
        log(name, [gradient.detach_() for gradient in gradients])
    gradients = torch.autograd.grad(
        functions.batch_norm(x, None, None, training=True).square().sum(), x, create_graph=True
    )
    log("input", gradients[0]._is_view())


@family
def running_statistics(torch, log):
    """They move by the momentum; the variance is the unbiased one. No version counts that."""
    x = leaf(torch, (3, 2), 1)
    mean, var = torch.zeros(2), torch.ones(2)
    for momentum in (0.1, 0.5, 1.0, 0.0):
        y = F(torch).batch_norm(x, mean, var, training=True, momentum=momentum)
        log("batch", y, mean, var, mean._version, var._version)
    x = leaf(torch, (2, 2, 3), 2)
    y = F(torch).instance_norm(x, mean, var, momentum=0.25)
    log("instance", y, graph(y), mean, var)
    log("evaluated", F(torch).instance_norm(x, mean, var, use_input_stats=False))


@family
def batch_norm_in_a_network(torch, log):
    """Training, evaluation, frozen statistics, resetting."""
    norm = torch.nn.BatchNorm1d(2)
    x = leaf(torch, (3, 2), 1, requires_grad=False)
    norm(x), norm(x)
    log("tracked", norm.num_batches_tracked, norm.running_mean, norm.running_var)
    log("versions", norm.num_batches_tracked._version, norm.running_mean._version)
    copy = torch.nn.BatchNorm1d(2)
    log("loaded", str(copy.load_state_dict(norm.state_dict())), copy.running_var)
    norm.reset_running_stats()
    log("reset", norm.num_batches_tracked, norm.running_mean, norm.running_var)
    norm.momentum = None
    for shift in (0.0, 1.0, 5.0):
        norm(x + shift)
    log("mean of all", norm.running_mean, norm.running_var)
    norm.eval()
    norm(x)
    log("evaluated", norm.num_batches_tracked, norm.running_mean)


@family
def assignment(torch, log):
    """Assigning through an index on an inner tensor: values, graph and gradients for both sides."""
    for name, index, value in (
        ("integer", 1, 5.0),
        ("slice", slice(0, 2), 7.0),
        ("slice of a tensor", slice(0, 2), "tensor"),
        ("list", [0, 3], -1.0),
        ("mask", "mask", 0.5),
    ):
        x = torch.tensor([1.0, -2.0, 3.0, -4.0], requires_grad=True)
        w = torch.tensor([10.0, 20.0], requires_grad=True)
        y = x * 2
        where = y > 0 if index == "mask" else index
        y[where] = w if value == "tensor" else value
        log(name, y, graph(y))
        y.backward(torch.tensor([1.0, 2.0, 3.0, 5.0]))
        log("grads", x.grad, w.grad)


@family
def assignment_to_constants(torch, log):
    """Assigning into a tensor that needs no gradient, of numbers and of a tensor that needs one."""
    c = torch.zeros(3)
    c[0] = 4
    c[1:] = torch.tensor([1.5, 2.5])
    log("constant", c, c._version)
    x = torch.tensor(3.0, requires_grad=True)
    c[1] = x * 2
    log("now in the graph", c, graph(c))
    c.sum().backward()
    log("x.grad", x.grad)
    m = torch.zeros(2, 2)
    m[0, 0] = 1.0
    m[:, 1] = torch.tensor([5.0, 6.0])
    m[m > 5] = 0.0
    log("matrix", m)


@family
def views_and_copies(torch, log):
    """Indexing gives views for integers and slices and copies for lists and masks."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    for name, part in (
        ("row", x[0]),
        ("slice", x[:1]),
        ("list", x[[0]]),
        ("mask", x[x > 2]),
        ("None", x[None]),
    ):
        log(name, part._base is x, list(part.shape))
    i = torch.tensor([5, 6, 7])
    log("integers", i[1], i[1].item(), i[[True, False, True]], x[i[0] - 4])


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
