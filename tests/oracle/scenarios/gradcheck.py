"""gradcheck and gradgradcheck: verdicts, what they call, and their errors."""

from __future__ import annotations

import re

from .tools import Family

family = Family()


LONG = re.compile(r"-?\d+\.\d{7,}(e-?\d+)?")


def fails(log, label, action):
    """Write down an error with its long numbers rounded: their last digits are the platform's."""
    try:
        result = action()
    except Exception as error:
        rounded = LONG.sub(lambda found: f"{float(found[0]):.6f}", str(error))
        log.error(label, type(error)(rounded))
    else:
        log(label, result)


def vector(torch, values=(0.5, -1.25, 2.0), **options):
    """Make the leaf that most scenarios check."""
    options = {"dtype": torch.float64, "requires_grad": True, **options}
    return torch.tensor(values, **options)


def checks(torch):
    """Name the two ways to check."""
    return {"first": torch.autograd.gradcheck, "second": torch.autograd.gradgradcheck}


def first_order(torch):
    """Name the way to check a first derivative."""
    return {"first": torch.autograd.gradcheck}


def function(torch, forward, backward, materialize=True):
    """Make a custom Function from two Python functions; backward also gets the input."""

    class Custom(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, *grads):
            return backward(ctx.saved_tensors[0], *grads)

    return Custom.apply


RIGHT = {
    "product": lambda torch, x: x * x,
    "linear": lambda torch, x: x * 2 + 1,
    "two_results": lambda torch, x: (x.exp(), x.sum()),
    "a_list_of_results": lambda torch, x: [x * x, x],
    "the_input_itself": lambda torch, x: x,
    "a_view": lambda torch, x: x.view(3, 1),
    "a_result_changed_in_place": lambda torch, x: (x * x).mul_(x),
    "one_entry": lambda torch, x: x[1] ** 3,
    "no_dimensions": lambda torch, x: x.sum().tanh() * x,
    "an_integer_result_last": lambda torch, x: (x * x, (x > 0).long()),
    "a_detached_result_last": lambda torch, x: (x * x, x.detach() * 2),
    "a_detached_result_first": lambda torch, x: (x.detach() * 2, x * x),
}


def add_right(name, what):
    """Make a scenario of a function that passes."""

    def scenario(torch, log):
        for way, check in checks(torch).items():
            fails(log, way, lambda check=check: check(lambda x: what(torch, x), vector(torch)))

    scenario.__doc__ = f"Check a function that gives {name.replace('_', ' ')} in both ways."
    family.add(f"verdict_{name}", scenario)


for _name, _what in RIGHT.items():
    add_right(_name, _what)


@family
def several_inputs(torch, log):
    """Check with a number, an unused input, and one that requires no gradient."""
    x, y = vector(torch), vector(torch, (1.5, 0.25, -0.75))
    still = vector(torch, requires_grad=False)
    for way, check in checks(torch).items():
        log(way, check(lambda x, n: x**n, (x, 3)))
        log(way, check(lambda x, y: x * 2, (x, y)))
        log(way, check(lambda x, y: x * y, [x, still]))
        log(way, check(lambda x, y: x * y * y, (x, x)))


@family
def broadcasting(torch, log):
    """Check a product of inputs of different shapes, one of them without dimensions."""
    x, y = vector(torch, ((1.0, 2.0, 3.0), (-0.5, 0.25, 4.0))), vector(torch)
    z = vector(torch, 0.5)
    for way, check in checks(torch).items():
        log(way, check(lambda x, y, z: x * y / z, (x, y, z)))


@family
def how_gradients_are_drawn(torch, log):
    """Look at the gradients that gradgradcheck draws: dtype, shape, range, memory."""
    seen = []

    def look(x):
        y = x * x
        y.register_hook(lambda grad: seen.append(grad))
        return y

    torch.manual_seed(4)
    torch.autograd.gradgradcheck(look, vector(torch, ((1.0, 2.0), (3.0, 4.0))))
    first = seen[0]
    log("drawn", str(first.dtype), list(first.shape), first.requires_grad, first.detach())
    log("range", bool((first >= -1).all()), bool((first < 1).all()), first.is_contiguous())


@family
def what_is_called(torch, log):
    """Write down how often the function and its backward run, and at what values of the input."""
    calls = []

    def watched(x, y):
        calls.append("call")
        product = x * y
        product.register_hook(lambda grad: calls.append("backward"))
        return product, x + y

    inputs = (vector(torch, (0.5, 2.0)), vector(torch, (1.5, -1.0)))
    for way, check in checks(torch).items():
        for undefined in (True, False):
            calls.clear()
            check(watched, inputs, check_undefined_grad=undefined)
            log(f"{way} {undefined}", "".join(call[0] for call in calls))


@family
def undefined_gradients_in_the_graph(torch, log):
    """Count the hooks that see no gradient, behind a node that lets none through."""
    seen = []

    def watched(x):
        parts = (x * x).unbind(0)
        parts[0].grad_fn.register_prehook(lambda grads: seen.append([g is None for g in grads]))
        return parts

    for way, check in first_order(torch).items():
        seen.clear()
        log(way, check(watched, vector(torch)), seen)


@family
def wrong_in_the_second(torch, log):
    """Check a rule whose value is right, and whose recording is cut off."""
    cut = function(torch, lambda x: x * x, lambda x, g: g * 2 * x.detach())
    v = vector(torch, (1.0, -2.0, 0.5))
    for way, check in checks(torch).items():
        if way == "first":
            log(way, check(cut, vector(torch)))
        else:
            fails(log, way, lambda check=check: check(cut, vector(torch), v))


@family
def tolerances(torch, log):
    """Let a wrong rule pass by a wide tolerance, and a right one fail by a narrow one."""
    bad = function(torch, lambda x: x * x, lambda x, g: g * 2.02 * x)
    for way, check in first_order(torch).items():
        for atol, rtol in ((1e-5, 1e-3), (1e-5, 2e-2), (0.5, 0.0), (1e-5, 5e-3)):
            log(way, check(bad, vector(torch), atol=atol, rtol=rtol, raise_exception=False))
        for eps in (1e-6, 1e-1, 1.0):
            log(way, check(torch.exp, vector(torch), eps=eps, raise_exception=False))


@family
def a_result_without_gradient(torch, log):
    """Check functions of whose results none requires a gradient."""
    x = vector(torch)
    for way, check in first_order(torch).items():
        fails(log, way, lambda check=check: check(lambda x: x.detach() * 2, x))
        log(way, check(lambda x: torch.ones(2, dtype=torch.float64), x))
        log(way, check(lambda x: (x > 0).long(), x))
        with torch.no_grad():
            fails(log, way, lambda check=check: check(lambda x: x * x, x))


@family
def inputs_refused(torch, log):
    """Check without anything to differentiate, and with entries that share memory."""
    plain = vector(torch, requires_grad=False)
    wide = vector(torch, (1.0,)).expand(3)
    for way, check in checks(torch).items():
        if way == "first":
            log.raises(way, lambda check=check: check(lambda x: x * x, plain))
        log.raises(way, lambda check=check: check(lambda x: x * x, wide))
        log.raises(way, lambda check=check: check(lambda x, n: 1.0, (vector(torch), 3)))


@family
def not_multiplied(torch, log):
    """Check a backward that gives more than zero for a gradient of zero."""
    bad = function(torch, lambda x: x * 2, lambda x, g: g * 2 + 1e-9)
    for way, check in first_order(torch).items():
        log.raises(way, lambda check=check: check(bad, vector(torch)))
        log.raises(way, lambda check=check: check(bad, vector(torch), masked=True))
        log.raises(
            way,
            lambda check=check: check(bad, vector(torch), masked=True, check_undefined_grad=False),
        )


@family
def one_undefined_gradient_of_two(torch, log):
    """Check backwards of two results, of which one may be without gradient."""
    seen = []

    def copes(x, first, second):
        seen.append((first is None, second is None))
        first = torch.zeros_like(x) if first is None else first * 2
        return first if second is None else first + second * 3

    def refuses(x, first, second):
        if first is not None and second is None:
            raise RuntimeError("second is missing")
        return None if first is None else first * 2 + second * 3

    for way, check in first_order(torch).items():
        log(way, check(function(torch, lambda x: (x * 2, x * 3), copes, False), vector(torch)))
        log("seen", seen)
        seen.clear()
        bad = function(torch, lambda x: (x * 2, x * 3), refuses, False)
        log.raises(way, lambda check=check, bad=bad: check(bad, vector(torch)))
