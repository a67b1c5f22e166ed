"""See what numbers are made of: divisors, complex parts; and differences of samples."""

from __future__ import annotations

from .tools_operations import add_all, operation

V, M = (5,), (2, 3)
WHOLE = ("uint8", "int32", "int64", "bool", "float32")
FLOATS = ("float16", "float32", "float64", "int64")

TABLE = {
    "gcd": operation(
        lambda t, x, y: t.gcd(x, y),
        V,
        V,
        differentiable=False,
        dtypes=WHOLE,
        positive=True,
        wrong={
            "floats": lambda t, x, y: t.gcd(x, y),
            "a number": lambda t, x, y: t.gcd(t.tensor([1]), 4),
            "shapes": lambda t, x, y: t.gcd(t.tensor([1, 2]), t.tensor([1, 2, 3])),
        },
    ),
    "lcm": operation(
        lambda t, x, y: x.lcm(y), V, V, differentiable=False, dtypes=WHOLE, positive=True
    ),
    "real": operation(lambda t, x: t.real(x * 2), V, dtypes=FLOATS),
    "conj": operation(lambda t, x: (x * 2).conj(), V, dtypes=FLOATS),
    "resolve": operation(lambda t, x: t.resolve_conj(x * 2), V, dtypes=()),
    "imag": operation(lambda t, x: t.imag(x), V, differentiable=False, dtypes=FLOATS),
    "detach": operation(lambda t, x: t.detach(x), V, differentiable=False, dtypes=FLOATS),
    "sum_to_size": operation(
        lambda t, x: x.sum_to_size(1, 3),
        M,
        dtypes=FLOATS,
        wrong={
            "no size": lambda t, x: x.sum_to_size(),
            "size": lambda t, x: x.sum_to_size(2, 2),
        },
    ),
    "sum_to_size, fewer dimensions": operation(lambda t, x: x.sum_to_size((3,)), M, dtypes=()),
}

family = add_all(TABLE)


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


@family
def in_place(torch, log):
    """Divisors that are written, and a sum to the same size."""
    a, b = torch.tensor([12, 18]), torch.tensor([8, 12])
    x = torch.tensor([1.0, 2.0])
    log("out", torch.gcd(a, b, out=torch.zeros(2, dtype=torch.int64)))

    log("name", x.name)
    log("same size", x.sum_to_size(2) is x)


@family
def numbers_of_the_edge(torch, log):
    """Infinities, NaN, zeros of both signs, and steps of tensors with few entries."""
    odd = torch.tensor([float("inf"), float("nan"), 0.0, -0.0])

    log("relu", torch.relu(odd[2:]), torch.relu(odd[2:].double()), torch.relu(odd[2:].half()))
    log("relu_", odd[2:].clone().relu_())
    for sizes in ((0,), (2, 0, 3), (0, 0), (1, 0), (0, 3)):
        log(f"stride {sizes}", torch.zeros(sizes).stride())
    m = torch.zeros(4, 5)
    for part in (m[None], m[:, None], m[:1], m[:, :1], m[:1].t(), m[::4], m.view(1, 20)):
        log("stride", part.stride(), part.is_contiguous())
    log("expanded", torch.zeros(5).expand(1, 5).stride(), torch.zeros(1, 5).expand(4, 5).stride())
    log("powers", torch.tensor([True, False]) ** True, torch.tensor([1, 2]) ** True)
    log("var", torch.ones(2, 3).var(()))
