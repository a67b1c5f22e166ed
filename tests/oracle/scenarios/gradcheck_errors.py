"""Check gradients that are wrong: the messages and warnings of gradcheck, and what it refuses."""

from __future__ import annotations

from .gradcheck import checks, fails, first_order, function, vector
from .tools import Family

family = Family()


def raises(log, label, action):
    """Write down the first paragraph of an error: the next is about PyTorch's own tests."""
    try:
        log(label, action())
    except Exception as error:
        log.error(label, type(error)(str(error).split("\n\n")[0]))


@family
def wrong_factor(torch, log):
    """Check a rule that is wrong by half: both Jacobians are shown."""
    bad = function(torch, lambda x: x * x, lambda x, g: g * 3 * x)
    for way, check in first_order(torch).items():
        fails(log, way, lambda check=check: check(bad, vector(torch)))
        log("told", check(bad, vector(torch), raise_exception=False))


@family
def wrong_in_one_of_several(torch, log):
    """Check two results of two inputs; one of the four Jacobians is wrong."""
    bad = function(torch, lambda x: x * x, lambda x, g: g * 3 * x)
    inputs = (vector(torch), vector(torch, (1.0, 2.0)))
    for way, check in first_order(torch).items():
        fails(log, way, lambda check=check: check(lambda a, b: (a * a.sum(), bad(b)), inputs))


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
def kinks(torch, log):
    """Check where there is no derivative, or no number."""
    for way, check in first_order(torch).items():
        fails(log, way, lambda check=check: check(torch.relu, vector(torch, (0.0, 1.0))))
        fails(log, way, lambda check=check: check(torch.log, vector(torch, (-1.0, 1.0))))
        fails(log, way, lambda check=check: check(torch.sqrt, vector(torch, (0.0, 1.0))))


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
def single_precision(torch, log):
    """Check in float32: a warning, and differences that are too coarse."""
    x = vector(torch, dtype=torch.float32)
    y = vector(torch)
    for way, check in first_order(torch).items():
        fails(log, way, lambda check=check: check(lambda x: x * x, x))
        log(way, check(lambda y, x: y * x.double(), (y, x), eps=1e-3, atol=1e-2))
    ones = torch.ones(3, requires_grad=True)
    fails(log, "second", lambda: torch.autograd.gradgradcheck(lambda x: x * 2, y, ones))


@family
def not_deterministic(torch, log):
    """Check a backward that gives something else each time."""
    calls = []

    def backward(x, grad):
        calls.append(1)
        return grad * 2 + (len(calls) % 2) * 1e-9

    wavering = function(torch, lambda x: x * 2, backward)
    for way, check in first_order(torch).items():
        raises(log, way, lambda check=check: check(wavering, vector(torch)))
        log(way, check(wavering, vector(torch), raise_exception=False))


@family
def tolerance_of_nondeterminism(torch, log):
    """Check a backward that gives something else each time, with a tolerance for it."""
    calls = []

    def backward(x, grad):
        calls.append(1)
        return grad * (2 + (len(calls) % 2) * 1e-9)

    wavering = function(torch, lambda x: x * 2, backward)
    for way, check in first_order(torch).items():
        for tolerance in (1e-6, 1e-12):
            raises(log, way, lambda c=check, t=tolerance: c(wavering, vector(torch), nondet_tol=t))


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
def undefined_gradients(torch, log):
    """Check backwards that do not cope with a missing gradient: a refusal, ones, the wrong type."""

    def refuses(x, grad):
        if grad is None:
            raise RuntimeError("no gradient")
        return grad * 2

    def gives_ones(x, grad):
        return torch.ones(3, dtype=torch.float64) if grad is None else grad * 2

    for way, check in first_order(torch).items():
        for backward in (refuses, gives_ones, lambda x, grad: grad * 2):
            bad = function(torch, lambda x: x * 2, backward, False)
            log.raises(way, lambda check=check, bad=bad: check(bad, vector(torch)))
            log(way, check(bad, vector(torch), check_undefined_grad=False))
            if backward is refuses:
                log(way, check(bad, vector(torch), raise_exception=False))


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


@family
def converted_result(torch, log):
    """Check a result in float32 of an input in float64, with the dtypes of gradients."""
    fails(
        log,
        "narrow",
        lambda: torch.autograd.gradcheck(
            lambda x: x.float(), vector(torch), check_grad_dtypes=True
        ),
    )
    for way, check in first_order(torch).items():
        log(
            way,
            check(
                lambda x: x.float() * 2, vector(torch), eps=1e-2, atol=1e-2, check_grad_dtypes=True
            ),
        )


@family
def errors_of_the_function(torch, log):
    """Let the function raise: the error passes through, and the inputs are as before."""
    x = vector(torch)
    calls = []

    def breaks(x):
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError("here")
        return x * x

    for way, check in checks(torch).items():
        calls.clear()
        log.raises(way, lambda check=check: check(breaks, vector(torch), raise_exception=False))
    log("after", x)
