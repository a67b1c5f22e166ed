"""Random statements that compute: arithmetic, functions, reductions, products, views, copies."""

from __future__ import annotations

import math
from typing import Any

from .program_model import Draft, Known, Shape, broadcast, meeting

# Functions of each entry, with the largest value each gives from one of a size; None where they
# need positive entries.
SMOOTH = {
    "tanh": lambda bound: 1.0,
    "sigmoid": lambda bound: 1.0,
    "sin": lambda bound: 1.0,
    "cos": lambda bound: 1.0,
    "relu": lambda bound: bound,
    "abs": lambda bound: bound,
    "neg": lambda bound: bound,
    "sign": lambda bound: 1.0,
}
GROWING = {"exp": math.exp, "expm1": math.exp, "square": lambda bound: bound * bound}
POSITIVE = ("sqrt", "log", "rsqrt", "reciprocal", "log1p")
LARGE = 300.0


def _float(known: Known) -> str:
    return known.dtype if known.floating else "float32"


def unary(draft: Draft) -> None:
    """Apply a function to each entry."""
    rng = draft.rng
    x = draft.choose(draft.tensors())
    if draft.chance(0.2):
        name = draft.one_of(*POSITIVE)
        if not x.positive and not draft.chance(0.1):
            x = draft.define(
                f"{x.name}.abs() + 0.5",
                x,
                shape=x.shape,
                dtype=_float(x),
                bound=x.bound + 0.5,
                positive=True,
            )
        bound = max(math.sqrt(x.bound), 16.0)
    elif draft.chance(0.3) and x.bound < 4:
        name = draft.one_of(*GROWING)
        bound = GROWING[name](x.bound)
    else:
        name = rng.choice(list(SMOOTH))
        bound = SMOOTH[name](x.bound)
    text = f"torch.{name}({x.name})" if draft.chance(0.3) else f"{x.name}.{name}()"
    dtype = x.dtype if name in ("relu", "abs", "neg", "sign", "square") else _float(x)
    draft.define(
        text,
        x,
        shape=x.shape,
        dtype=dtype,
        bound=bound,
        positive=x.positive and name in ("abs", "relu", "square", "sqrt"),
    )


def _pair(draft: Draft, bound: float) -> tuple[Known, Known, Shape] | None:
    x = draft.choose(draft.tensors(bound=bound) or draft.tensors())
    others = [
        y
        for y in draft.tensors(bound=bound)
        if broadcast(x.shape, y.shape) is not None and x.bound * y.bound < LARGE
    ]
    if not others or draft.chance(0.02):
        others = [y for y in draft.tensors() if not y.view and not x.view] or [x]
    y = draft.choose(others)
    shape = broadcast(x.shape, y.shape)
    return (x, y, shape if shape is not None else x.shape) if draft.variables else None


def binary(draft: Draft) -> None:
    """Combine two tensors."""
    x, y, shape = _pair(draft, 64)  # type: ignore[misc]
    dtype = meeting(x, y)
    kind = draft.one_of(
        "+",
        "-",
        "*",
        "*",
        "/",
        "**",
        "maximum",
        "minimum",
        "where",
        "add",
        "sub",
        "compare",
        "masked_fill",
    )
    bound = max(x.bound, y.bound)
    a, b = x.name, y.name
    if kind == "/" and not y.positive:
        kind = "*"
    if kind == "**" and not (x.positive and x.bound < 8 and y.bound < 4):
        kind = "*"
    if kind in "+-":
        draft.define(f"{a} {kind} {b}", x, y, shape=shape, dtype=dtype, bound=2 * bound)
    elif kind in ("*", "/", "**"):
        if kind == "**":
            size = x.bound**y.bound
        else:
            size = x.bound * y.bound if kind == "*" else x.bound * 16
        result = meeting(x, y) if kind != "/" or dtype.startswith("float") else "float32"
        draft.define(f"{a} {kind} {b}", x, y, shape=shape, dtype=result, bound=size)
    elif kind in ("maximum", "minimum"):
        draft.define(f"torch.{kind}({a}, {b})", x, y, shape=shape, dtype=dtype, bound=bound)
    elif kind == "where":
        text = f"torch.where({a} > {draft.one_of('0', '0.5', b)}, {a}, {b})"
        draft.define(text, x, y, shape=shape, dtype=dtype, bound=bound)
    elif kind == "compare":
        sign = draft.one_of(">", "<", "==", "!=", ">=", "<=")
        draft.define(f"{a} {sign} {b}", x, y, shape=shape, dtype="bool", bound=1.0)
    elif kind == "masked_fill":
        number = draft.one_of("0", "1.5", "-2")
        draft.define(
            f"{a}.masked_fill({a} > {b}, {number})",
            x,
            shape=shape,
            dtype=x.dtype,
            bound=max(x.bound, 2),
        )
    else:
        text = f"{a}.{kind}({b}, alpha={draft.one_of('2', '0.5', '-1')})"
        draft.define(text, x, y, shape=shape, dtype=dtype, bound=3 * bound)


def with_number(draft: Draft) -> None:
    """Combine a tensor with a Python number."""
    x = draft.choose(draft.tensors())
    a = x.name
    kind = draft.below(10)
    number = draft.one_of("2", "0.5", "-1", "3", "1.5", "0", "0.125")
    dtype = x.dtype if x.floating or "." not in number else "float32"
    bound = x.bound * 3 + 3
    if kind < 5:
        sign = draft.one_of("+", "-", "*")
        text = f"{a} {sign} {number}" if draft.chance(0.6) else f"{number} {sign} {a}"
    elif kind < 6:
        text, dtype = f"{a} / {draft.one_of('2', '4', '0.5', '3')}", _float(x)
    elif kind < 7 and x.bound < 8:
        text, bound = f"{a} ** {draft.one_of('2', '3', '1', '0')}", x.bound**3
    elif kind < 8 and x.bound < 6:
        text, bound = f"{draft.one_of('2', '0.5')} ** {a}", 2.0**x.bound
    elif kind < 9 and x.positive:
        text = draft.one_of(f"2 / {a}", f"{a} ** -1", f"{a} ** 0.5")
        dtype, bound = _float(x), 32.0
    else:
        text = f"{a}.clamp({draft.one_of('-1, 1', 'min=0.5', 'max=0', '0, 1.5')})"
        bound = x.bound + 1.5
    draft.define(text, x, shape=x.shape, dtype=dtype, bound=bound)


def _reduced(shape: Shape, dims: tuple[int, ...], keepdim: bool) -> Shape:
    wanted = {d % max(len(shape), 1) for d in dims}
    return tuple(
        1 if d in wanted else size for d, size in enumerate(shape) if keepdim or d not in wanted
    )


def reduction(draft: Draft) -> None:
    """Make fewer entries of many."""
    x = draft.choose(draft.tensors())
    name = draft.one_of(
        "sum",
        "sum",
        "sum",
        "mean",
        "mean",
        "amax",
        "amin",
        "max",
        "min",
        "norm",
        "softmax",
        "log_softmax",
        "logsumexp",
    )
    floats = ("mean", "norm", "softmax", "log_softmax", "logsumexp")
    if name in floats and not x.floating and not draft.chance(0.05):
        name = "sum"
    if name in ("amax", "amin", "max", "min") and x.view and not x.size:
        name = "sum"
    dtype = "int64" if name == "sum" and not x.floating else x.dtype
    size = max(x.size, 1)
    bound = x.bound * size if name in ("sum", "norm") else x.bound + size
    ndim = len(x.shape)
    a = x.name
    if name in ("softmax", "log_softmax"):
        dim = draft.below(ndim) - ndim * draft.below(2) if ndim else 0
        draft.define(f"{a}.{name}({dim})", x, shape=x.shape, dtype=dtype, bound=bound)
        return
    if name != "logsumexp" and (draft.chance(0.4) or not ndim):
        draft.define(f"{a}.{name}()", x, shape=(), dtype=dtype, bound=bound)
        return
    keepdim = draft.chance(0.3)
    dims: tuple[int, ...] = (draft.below(ndim) - ndim * draft.below(2),) if ndim else (0,)
    if ndim > 1 and draft.chance(0.2) and name not in ("max", "min"):
        dims = (0, -1)
    if draft.chance(0.02) and not x.view:
        dims = (ndim,)
    given = str(dims[0]) if len(dims) == 1 else str(dims)
    if name == "norm":
        given = f"dim={given}"
    text = f"{a}.{name}({given}{', keepdim=True' if keepdim else ''})"
    if name in ("max", "min"):
        text += ".values"
    draft.define(text, x, shape=_reduced(x.shape, dims, keepdim), dtype=dtype, bound=bound)


def product(draft: Draft) -> None:
    """Multiply matrices and vectors."""
    candidates = draft.tensors(floating=True, at_least=1, bound=16)
    candidates = [
        x for x in candidates if x.size and (len(x.shape) <= 2 or not (x.uncertain or 1 in x.shape))
    ]
    if not candidates:
        return unary(draft)
    x = draft.choose(candidates)
    inner = x.shape[-1]
    others = [
        y
        for y in candidates
        if y.dtype == x.dtype
        and len(x.shape) <= 2
        and (y.shape == (inner,) or (len(y.shape) == 2 and y.shape[0] == inner))
    ]
    if others and draft.chance(0.7):
        y = draft.choose(others)
        text, other = f"{x.name} @ {y.name}", y.shape
        sources = [x, y]
        bound = x.bound * y.bound * max(inner, 1)
    elif len(x.shape) == 2 and draft.chance(0.5):
        text, other, sources = f"{x.name} @ {x.name}.{draft.one_of('T', 't()')}", x.shape[::-1], [x]
        bound = x.bound * x.bound * max(inner, 1)
    else:
        other = (inner, 2) if draft.chance(0.7) else (inner,)
        text = f"torch.matmul({x.name}, {made(draft, other, x.dtype)})"
        sources, bound = [x], x.bound * 2 * max(inner, 1)
    draft.define(text, *sources, shape=x.shape[:-1] + other[1:], dtype=x.dtype, bound=bound)
    return None


def made(draft: Draft, shape: Shape, dtype: str, extra: str = "") -> str:
    sizes = "".join(f", {size}" for size in shape)
    dtype = "" if dtype == "float32" else f", dtype={dtype!r}"
    return f"T({draft.seed()}{sizes}{dtype}{extra})"


def leaf(draft: Draft) -> None:
    """Make a tensor of numbers."""
    shape = draft.shape()
    dtype = draft.dtype
    if draft.chance(0.25):
        dtype = draft.one_of("float32", "float64", "int64", "bool", "float64")
    grad = dtype.startswith("float") and draft.chance(0.75)
    known = Known(draft.name(), shape, dtype, grad=grad, leaf=True)
    known.memory, known.whole = known.name, known.size
    known.sources = frozenset([known.name]) if grad else frozenset()
    draft.variables[known.name] = known
    draft.say(f"{known.name} = {made(draft, shape, dtype, ', grad=True' if grad else '')}")


def copy(draft: Draft) -> None:
    """Copy a tensor, whole or in parts, or join several."""
    x = draft.choose(draft.tensors())
    a, shape, ndim = x.name, x.shape, len(x.shape)
    facts: dict[str, Any] = {"dtype": x.dtype, "bound": x.bound, "positive": x.positive}
    kind = draft.below(13)
    if kind < 2:
        draft.define(f"{a}.clone()", x, shape=shape, **facts)
    elif kind == 2 and not x.uncertain:
        draft.define(f"{a}.contiguous()", x, shape=shape, view=True, **facts)
    elif kind < 5 and ndim and shape[0]:
        picked = [draft.below(shape[0]) for _ in range(1 + draft.below(3))]
        draft.define(f"{a}[{picked}]", x, shape=(len(picked), *shape[1:]), **facts)
    elif kind == 5:
        # how many entries a mask leaves is not known beforehand: add them up
        facts["bound"] = x.bound * max(x.size, 1)
        draft.define(f"{a}[{a} > 0].sum()", x, shape=(), **facts)
    elif kind == 6 and ndim:
        draft.define(f"{a}.flip(0)", x, shape=shape, **facts)
    elif kind == 7 and ndim:
        draft.define(
            f"{a}.repeat({', '.join(['2'] + ['1'] * (ndim - 1))})",
            x,
            shape=(2 * shape[0], *shape[1:]),
            **facts,
        )
    elif kind == 8 and ndim:
        others = [y for y in draft.tensors() if y.shape[1:] == shape[1:] and y.shape]
        y = draft.choose(others)
        draft.define(
            f"torch.cat([{a}, {y.name}])",
            x,
            y,
            shape=(shape[0] + y.shape[0], *shape[1:]),
            dtype=meeting(x, y),
            bound=max(x.bound, y.bound),
        )
    elif kind == 9:
        y = draft.choose([y for y in draft.tensors() if y.shape == shape])
        draft.define(
            f"torch.stack([{a}, {y.name}])",
            x,
            y,
            shape=(2, *shape),
            dtype=meeting(x, y),
            bound=max(x.bound, y.bound),
        )
    elif kind == 10:
        facts["dtype"] = draft.one_of("float32", "float64", "float64", "int64")
        draft.define(f"{a}.to(torch.{facts['dtype']})", x, shape=shape, view=True, **facts)
    elif kind == 11:
        facts["view"] = True
        what = draft.one_of("detach()", "data") if x.leaf else "detach()"
        known = draft.define(f"{a}.{what}", shape=shape, **facts)
        known.given, known.memory, known.whole = x.given, x.memory, x.whole
        known.grad = False
    elif ndim == 2 and 0 not in shape:
        picked = [[draft.below(shape[0]) for _ in range(shape[1])]]
        draft.define(f"{a}.gather(0, torch.tensor({picked}))", x, shape=(1, shape[1]), **facts)
    else:
        draft.define(f"{a}.clone()", x, shape=shape, **facts)


def custom(draft: Draft) -> None:
    """Apply a custom Function."""
    candidates = draft.tensors(floating=True, bound=4)
    if not candidates:
        return unary(draft)
    x = draft.choose(candidates)
    a = x.name
    facts: dict[str, Any] = {"dtype": x.dtype, "shape": x.shape}
    kind = draft.one_of(
        "Square", "Exp", "Scale", "SumAndDifference", "PassOn", "Doubled_", "NoGradient"
    )
    if kind == "Scale":
        draft.define(
            f"Scale.apply({a}, {draft.one_of('2.0', '-0.5')})", x, bound=x.bound * 2, **facts
        )
    elif kind == "SumAndDifference":
        y = draft.choose([y for y in candidates if y.shape == x.shape and y.dtype == x.dtype])
        names = [draft.name(), draft.name()]
        for name in names:
            draft.variables[name] = Known(
                name,
                x.shape,
                x.dtype,
                grad=x.grad or y.grad,
                bound=x.bound + y.bound,
                memory=name,
                given=name == names[1],
                uncertain=not (x.ordered and y.ordered),
                sources=x.sources | y.sources,
            )
        draft.say(f"{', '.join(names)} = SumAndDifference.apply({a}, {y.name})", *names)
    elif kind == "Doubled_":
        if x.leaf and x.grad and not draft.chance(0.1):
            kind = "Square"
            draft.define(f"Square.apply({a})", x, bound=x.bound**2, **facts)
        else:
            draft.say(f"{draft.mode()}Doubled_.apply({a})", a)
            x.bound *= 2
    else:
        bound = {"Square": x.bound**2, "Exp": math.exp(x.bound)}.get(kind, 3 * x.bound)
        draft.define(f"{kind}.apply({a})", x, bound=bound, view=kind == "PassOn", **facts)
    return None
