"""Check gradients against finite differences: verdicts, and how often what runs."""

from __future__ import annotations

import importlib
import re
import sys

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
def empty_inputs(torch, log):
    """Check on inputs without entries."""
    for shape in ((0,), (2, 0)):
        x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
        for way, check in checks(torch).items():
            fails(log, f"{way} {shape}", lambda x=x, check=check: check(lambda x: x * 2, x))


@family
def given_gradients(torch, log):
    """Check second derivatives from given gradients: fixed ones, several, wrong ones."""
    gradgradcheck = torch.autograd.gradgradcheck
    x, v = vector(torch), vector(torch, (1.0, -2.0, 0.5))
    still = vector(torch, requires_grad=False)
    torch.manual_seed(3)
    log("fixed", gradgradcheck(lambda x: x**3, x, still))
    log("nothing drawn", torch.rand(2))
    log("drawn", gradgradcheck(lambda x: x**3, x), torch.rand(2))
    log("linear", gradgradcheck(lambda x: x * 2, x, still))
    log("several", gradgradcheck(lambda x: (x**3, x.exp()), x, (v, still)))
    log("a list", gradgradcheck(lambda x: [x**3, x.exp()], x, [v, still]))
    log("random", gradgradcheck(lambda x: (x**3, x.exp()), x))
    wrong = vector(torch, (1.0, 2.0))
    log.raises("wrong shape", lambda: gradgradcheck(lambda x: x**3, x, wrong))


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
def where_it_is_called(torch, log):
    """Write down the values at which the function is called: eps below and above, one by one."""
    seen = []

    def watched(x):
        seen.append([round(value, 3) for value in x.tolist()])
        return x * x

    for way, check in first_order(torch).items():
        seen.clear()
        x = vector(torch, (0.5, 2.0))
        log(way, check(watched, x, eps=0.125), seen)
        log("after", x, x._version, x.grad)


@family
def the_gradients_it_sends(torch, log):
    """Write down the gradients that arrive in backward: unit vectors, random ones, zeros."""
    for way, check in first_order(torch).items():
        log(way)

        def watched(x):
            y = x * x
            y.register_hook(lambda grad: log("gradient", grad))
            return y

        check(watched, vector(torch))


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
def leaves_and_others(torch, log):
    """Check at a result of an operation; its leaf gets no gradient."""
    leaf = vector(torch)
    x = leaf * 2
    for way, check in checks(torch).items():
        log(way, check(lambda x: x.exp(), x), leaf.grad)


@family
def importing(torch, log):
    """Find the functions and the error where PyTorch has them."""
    name = f"{torch.__name__}.autograd.gradcheck"
    module = importlib.import_module(name)
    log("module", type(module).__name__, hasattr(torch.autograd.gradcheck, "GradcheckError"))
    found = importlib.import_module(f"{torch.__name__}.autograd")
    log("function", callable(found.gradcheck), found.gradcheck.__name__)
    room = sys.modules[name]
    log("same", room.gradcheck is found.gradcheck, room.gradgradcheck is found.gradgradcheck)
    log("error", [kind.__name__ for kind in room.GradcheckError.__mro__])
    log("told", issubclass(room.GradcheckError, RuntimeError))
