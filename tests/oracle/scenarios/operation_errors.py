"""See what arithmetic refuses, and the dtypes that mixed operands lead to."""

from __future__ import annotations

from .tools import Family, leaf

family = Family()


@family
def shapes_that_do_not_broadcast(torch, log):
    """The text names the sizes and the axis."""
    for name, a, b in (
        ("vectors", (2,), (3,)),
        ("matrix and row", (2, 3), (2,)),
        ("matrices", (2, 3), (3, 3)),
        ("three axes", (2, 3, 4), (2, 1, 3)),
    ):
        x, y = torch.zeros(a), torch.zeros(b)
        log.raises(name, lambda x=x, y=y: x + y)
    x, y = torch.zeros(2), torch.zeros(3)
    for name, action in (
        ("-", lambda: x - y),
        ("*", lambda: x * y),
        ("/", lambda: x / y),
        ("**", lambda: x**y),
        ("maximum", lambda: torch.maximum(x, y)),
        ("==", lambda: x == y),
        (">", lambda: x > y),
        ("where", lambda: torch.where(x > 0, x, y)),
    ):
        log.raises(name, action)


@family
def in_place_shapes(torch, log):
    """An in-place operation cannot enlarge its tensor."""
    x = torch.zeros(2)
    log.raises("add_", lambda: x.add_(torch.zeros(3, 2)))
    log.raises("mul_", lambda: x.mul_(torch.zeros(3)))
    log.raises("copy_", lambda: x.copy_(torch.zeros(3)))
    log("fits", torch.zeros(2, 2).add_(torch.tensor([1.0, 2.0])))


@family
def result_dtypes(torch, log):
    """What dtype mixed operands give."""
    f, d = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0], dtype=torch.float64)
    i, b = torch.tensor([1, 2]), torch.tensor([True, False])
    s = torch.tensor(2.0, dtype=torch.float64)
    for name, value in (
        ("float + double", f + d),
        ("float + integer", f + i),
        ("float * bool", f * b),
        ("integer + number", i + 2),
        ("integer + float number", i + 2.5),
        ("integer * bool", i * b),
        ("integer / integer", i / i),
        ("bool + bool", b + b),
        ("float + double scalar", f + s),
        ("integer + double scalar", i + s),
        ("float ** 2", f**2),
        ("integer ** 2", i**2),
        ("2 ** integer", 2**i),
        ("exp of integer", i.exp()),
        ("comparison", f > i),
        ("equality", i == 2),
        ("sum of bool", b.sum()),
    ):
        log(name, value)
    log.raises("integer in place", lambda: i.add_(0.5))
    log.raises("integer to a negative power", lambda: i**-1)
    log.raises("bool minus bool", lambda: b - b)
    log.raises("minus bool", lambda: -b)


@family
def mixed_dtypes_in_backward(torch, log):
    """Gradients come in each input's own dtype."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d = torch.tensor([3.0, 0.1], dtype=torch.float64, requires_grad=True)
    y = x * d
    log("y", y)
    y.sum().backward()
    log("grads", x.grad, d.grad)
    z = x.double() * 2
    log("double", z, z.float(), x.to(torch.float64), x.to(torch.float32) is x)
    z.sum().backward()
    log("x.grad", x.grad)


@family
def comparisons(torch, log):
    """Comparisons give booleans without a graph."""
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = torch.tensor([3.0, 2.0, 1.0])
    log("all six", x > y, x >= y, x < y, x <= y, x == y, x != y)
    log(
        "questions",
        torch.equal(x, y),
        torch.allclose(x, x + 1e-9),
        torch.isnan(x).any(),
        torch.isfinite(x).all(),
    )
    log("logic", (x > 1) & (x < 3), (x > 2) | (x < 2), ~(x > 1))


@family
def creating(torch, log):
    """Creation functions and the dtypes they choose."""
    for name, value in (
        ("zeros", torch.zeros(2, 3)),
        ("zeros of a tuple", torch.zeros((2,))),
        ("ones", torch.ones(2)),
        ("full", torch.full((2,), 7.0)),
        ("full of an integer", torch.full((2,), 7)),
        ("arange", torch.arange(4)),
        ("arange of floats", torch.arange(0.0, 1.0, 0.25)),
        ("arange from to", torch.arange(2, 8, 3)),
        ("linspace", torch.linspace(0, 1, 5)),
        ("eye", torch.eye(2)),
        ("zeros_like", torch.zeros_like(torch.tensor([1, 2]))),
        ("ones_like", torch.ones_like(torch.tensor([1.0, 2.0]))),
        ("tensor of a mixture", torch.tensor([1, 2.5])),
        ("tensor of booleans", torch.tensor([True, False])),
        ("empty", torch.tensor([])),
        ("of a dtype", torch.tensor([1, 2], dtype=torch.float64)),
        ("requires grad", torch.ones(2, requires_grad=True)),
    ):
        log(name, value)
    log.raises("ragged", lambda: torch.tensor([[1.0, 2.0], [3.0]]))
    x = torch.tensor([1.0], requires_grad=True)
    log("tensor of a tensor", torch.tensor(x))
    log("kept", torch.is_tensor(x), torch.is_tensor(1.0))


@family
def subtracting_true_and_false(torch, log):
    """True and False in tensors are no numbers for the minus sign; for the plus sign they are."""
    x = leaf(torch, (2,), 3)
    for name, action in (
        ("from the left", lambda: False - x),
        ("two booleans", lambda: True - torch.tensor([True])),
        ("added", lambda: x + True),
    ):
        log.raises(name, action)


@family
def derivatives_in_inference_mode(torch, log):
    """Functions that give derivatives record what they need, whatever the mode outside."""
    for mode in (torch.inference_mode, torch.no_grad):
        with mode():
            x = torch.arange(3.0)
            found, value = torch.func.grad_and_value(lambda a: (a**3).sum())(x)
            log(mode.__name__, found, value, torch.func.jacrev(torch.square)(x))


@family
def a_parameter_given_twice(torch, log):
    """Its last number counts in the group."""
    p, q = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([{"params": [p, q, p]}, {"params": [torch.ones(1)]}], 0.1)
    log("numbers", [group["params"] for group in optimizer.state_dict()["param_groups"]])
