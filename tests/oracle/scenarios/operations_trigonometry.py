"""See trigonometric and hyperbolic functions, their inverses, angles and lengths."""

from __future__ import annotations

from .tools_operations import add_all, operation

V, M = (3,), (2, 3)


# PyTorch cannot differentiate these in place, and no course asks for it.
NOT_IN_PLACE = {"asinh", "acosh", "atanh"}


def _row(name, domain):
    wrong = {
        "a number": lambda t, x: getattr(t, name)(2.0),
        "a text": lambda t, x: getattr(t, name)("x"),
    }
    if name not in NOT_IN_PLACE:
        wrong |= {
            "in place on a leaf": lambda t, x: getattr(x, f"{name}_")(),
            "in place on integers": lambda t, x: getattr(t.tensor([1, 0]), f"{name}_")(),
        }
    return operation(lambda t, x: getattr(t, name)(domain(x)), V, wrong=wrong)


def _others(name, domain):
    forms = (name,) if name in NOT_IN_PLACE else (name, f"{name}_")
    return {
        f"x.{form}()": operation(
            lambda t, x, form=form: getattr(domain(x), form)(), M if form == name else V, dtypes=()
        )
        for form in forms
    }


DOMAINS = {
    "tan": lambda x: x * 1,
    "asin": lambda x: x / 2,
    "acos": lambda x: x / 2,
    "atan": lambda x: x * 1,
    "sinh": lambda x: x * 1,
    "cosh": lambda x: x * 1,
    "asinh": lambda x: x * 1,
    "acosh": lambda x: x * x + 1.25,
    "atanh": lambda x: x / 2,
    "deg2rad": lambda x: x * 1,
    "rad2deg": lambda x: x * 1,
}

TABLE = {}
for _name, _domain in DOMAINS.items():
    TABLE[_name] = _row(_name, _domain)
    TABLE |= _others(_name, _domain)

family = add_all(TABLE)


@family
def aliases(torch, log):
    """The long names are the same functions, methods and methods in place."""
    x = torch.tensor([0.25, -0.5, 0.75])
    for name in ("arcsin", "arccos", "arctan"):
        log(name, getattr(torch, name)(x), getattr(x, name)(), getattr(x.clone(), f"{name}_")())
    for name, y in (("arcsinh", x), ("arctanh", x), ("arccosh", x + 2)):
        log(name, getattr(torch, name)(y), getattr(y, name)())


@family
def at_the_ends(torch, log):
    """Values and gradients at infinities, at NaN and where the domain ends."""
    inf, nan = float("inf"), float("nan")
    values = [0.0, -0.0, 1.0, -1.0, 2.0, inf, -inf, nan, 1e30]
    for name in DOMAINS:
        x = torch.tensor(values, requires_grad=True)
        y = getattr(torch, name)(x)
        if name == "tan":  # of 1e30 the two differ by the reduction of the angle
            y = y[:-1]
        log(name, y, *torch.autograd.grad(y, x, torch.ones_like(y)))


@family
def written_into(torch, log):
    """`out` takes the result, in a type that can hold it."""
    x = torch.tensor([0.25, -0.5])
    place = torch.zeros(2, dtype=torch.float64)
    log("tan", torch.tan(x, out=place) is place, place.float())
    log.raises("integers", lambda: torch.tan(x, out=torch.zeros(2, dtype=torch.int64)))
    x.requires_grad_()
    log.raises("requires grad", lambda: torch.tan(x, out=place))
