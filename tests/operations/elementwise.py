"""Functions of each entry, arithmetic, and choices between entries."""

from __future__ import annotations

from .table import BROADCAST, FLOATS, E, M, T, V, op

ANY = "abs cos erf erfc exp exp2 expm1 neg relu sigmoid sin sinh cosh square tanh"
ANY += " floor ceil trunc round frac sgn sign deg2rad rad2deg atan"
POSITIVE = "log log1p log2 log10 sqrt rsqrt"
HALVED = "asin acos tan"
ALIKE = {"asinh": "x", "atanh": "x / 2", "acosh": "x * x + 1.25"}
IS = "isfinite isinf isnan signbit logical_not isreal"
LONG = "not_equal less less_equal greater greater_equal"
OF_INTEGERS = {"abs", "neg", "relu", "square", "floor", "ceil", "trunc", "round", "sgn", "sign"}
OTHER_NAMES = "absolute negative arcsin arccos arctan fix"


def of_one(name: str, given: str = "x", positive: bool = False):
    faults = [f"torch.{name}(2.0)", f"torch.{name}('x')", f"x.{name}_()"]
    if name not in OF_INTEGERS:
        faults.append(f"torch.tensor([1, 0]).{name}_()")
    calls = f"torch.{name}({given})", f"({given} * 1).{name}_()"
    return op(name, E, *calls, positive=positive, faults=faults)


# fmt: off
TABLE = [
    *(of_one(name) for name in ANY.split()),
    *(of_one(name, positive=True) for name in POSITIVE.split()),
    *(of_one(name, "(x / 2)") for name in HALVED.split()),
    *(op(name, E, f"torch.{name}({given})") for name, given in ALIKE.items()),
    *(
        op(f"arc{n[1:]}", V, f"torch.arc{n[1:]}({g})", f"({g}).arc{n[1:]}()", dtypes=())
        for n, g in ALIKE.items()
    ),
    *(
        op(name, V, f"torch.{name}(x / 4)", f"(x / 4).{name}_()", dtypes=())
        for name in OTHER_NAMES.split()
    ),
    *(op(name, E, f"torch.{name}(x)") for name in IS.split()),
    op("reciprocal", E, "x.reciprocal()", "1 / x", "3 / x"),
    op("positive", V, "torch.positive(x) * 1", "+x * 1", dtypes=("float64", "int64")),
    op("round", E, "torch.round(x * 2.317, decimals=1)", "(x * 23.17).round(decimals=-1)",
       "(x / 3).round_(decimals=2)"),
    op("nan_to_num", E, "torch.nan_to_num(x, 1.0, 2.0, 3.0)", "(x * 1).nan_to_num_(1.0)",
       "torch.nan_to_num_(x * 1)"),
    op("logit", E, "torch.logit(x / 4)", "(x / 4).logit(eps=0.3)", "(x / 4).logit_()", edges=False,
       positive=True),
    op("softplus", E, "F.softplus(x, 2.0, 1.5)", "F.softplus(x)", dtypes=FLOATS),
    op("xlogy", (E, E), "torch.xlogy(x, y)", "(x * 1).xlogy_(y)", positive=True),
    op("xlogy", (M, (3,)), "torch.xlogy(x, y)", "torch.xlogy(x, 2.0)", "torch.xlogy(2.0, x)",
       positive=True),
    # ------------------------------------------------------------ arithmetic
    *(op("add", s, "x + y", "(y + x) * 1") for s in BROADCAST),
    *(op("sub", s, "x - y", "y - x") for s in BROADCAST),
    *(op("mul", s, "x * y", "y * x") for s in BROADCAST),
    *(op("div", s, "x / y", "y / x") for s in BROADCAST),
    op("add", (M, M), "(x * 1).add_(y)", "torch.add(x, x)", "x + x + y",
       faults=["x + torch.ones(2)", "x.add_(y)", "torch.tensor([1]).add_(0.5)", "x + 'a'"]),
    op("add_scaled", (M, (3,)), "torch.add(x, y, alpha=2.5)", "(x * 1).add_(y, alpha=3)",
       faults=["torch.add(torch.tensor([1]), torch.tensor([1]), alpha=1.5)"]),
    op("sub_scaled", (M, (3,)), "torch.sub(x, y, alpha=2.5)", "(x * 1).sub_(y, alpha=3)",
       "torch.subtract(x, y, alpha=2)", "(x * 1).subtract_(y)",
       faults=["(x > 0) - (x > 0)", "x - (x > 0)"]),
    op("mul", (M, M), "(x * 1).mul_(y)", "torch.multiply(x, y)", "(x * 1).multiply_(3)",
       "x * x * y", faults=["x * torch.ones(2)", "x.mul_(y)"]),
    op("div", (M, M), "(x * 1).div_(y)", "torch.divide(x, y)", "(x * 1).true_divide_(y)",
       "torch.true_divide(x, y)", "(x * 1).divide_(y)", "x / x + y"),
    op("numbers", V, "x + 2", "2.5 + x", "x.add(1)", "(x * 1).add_(3)",
       "torch.add(x, 2, alpha=3)", "x - 2", "(x * 1).sub_(0.5)", "2 - x", "x * 3", "0.5 * x",
       "(x * 1).mul_(2)", "x / 4", "(x * 1).div_(4)", faults=["1 - (x > 0)"]),
    *(op(f"{name}_number", V, "op(x, 3)") for name in ("add", "sub", "rsub", "mul", "div")),
    op("pow_number", V, "x ** 2", "x ** 3.0", "x ** 1", "x ** 0", "x ** -1", "x ** -2",
       "x.pow(5)", "torch.pow(x, 3)", "(x * 1).pow_(3)", faults=["torch.tensor([1, 2]) ** -1"]),
    op("pow_number", V, "x ** 0.5", "x ** -1.5", positive=True),
    *(op("pow_tensor", s, "x ** y", positive=True) for s in BROADCAST),
    op("pow_of_number", V, "2 ** x", "2.5 ** x", "torch.pow(2.0, x)", dtypes=("float64",)),
    op("polynomial", V, "3 * x**2 - 2 * x + 1", "((x * 2).tanh() + x.exp()).sigmoid()"),
    op("addcmul", (M, (3,), (3,)), "torch.addcmul(x, y, z, value=2)", "(x * 1).addcmul_(y, z)",
       dtypes=("float64",), faults=["torch.tensor([1]).addcmul_(x, x)"]),
    op("addcdiv", (M, (3,), (3,)), "torch.addcdiv(x, y, z, value=2)", "(x * 1).addcdiv_(y, z)",
       dtypes=("float64",), positive=True),
    op("lerp_number", (M, (3,)), "torch.lerp(x, y, 0.25)", "x.lerp(y, 1.5)",
       "(x * 1).lerp_(y, 0.75)",
       faults=["torch.lerp(x, y.double(), 0.25)", "torch.lerp(x, torch.ones(2), 0.25)",
               "torch.lerp(torch.tensor(1), torch.tensor(1), 0.5)"]),
    op("lerp", (M, (3,), (2, 1)), "torch.lerp(x, y, z)", "(x * 1).lerp_(y, z)"),
    op("lerp", ((), (3,), (3,)), "torch.lerp(x, y, z)"),
    # ------------------------------------------------------------ quotients that are rounded
    op("div_floor", (M, (3,)), "torch.div(x * 3.1, y, rounding_mode='floor')",
       "(x * 3).div_(y, rounding_mode='floor')", "x.divide(0.75, rounding_mode='floor')",
       positive=True, faults=["torch.div(x, y, rounding_mode='up')"]),
    op("div_trunc", (M, (3,)), "(x * 3.1).div(y, rounding_mode='trunc')",
       "x.div(-0.75, rounding_mode='trunc')", "(x * 1).divide_(0.75, rounding_mode='trunc')",
       positive=True),
    op("remainder", (M, (3,)), "x % y", "torch.remainder(x, y)", "(x * 1).remainder_(y)", "x % 2",
       "x % -0.75",
       faults=["x % torch.ones(2)", "x % 'a'", "x % None", "torch.tensor([1]) % 0",
               "torch.tensor([1]).remainder_(2.5)"]),
    op("floor_divide", (M, (3,)), "(x * 3 // y).detach()", "(x // 2).detach()",
       "(7 // x).detach()", "(x // -0.75).detach()", positive=True,
       faults=["x // 'a'", "x // torch.ones(2)", "(x // y).sum().backward()",
               "(2 // x).sum().backward()", "torch.tensor([1]) // 0",
               "torch.tensor([1]).floor_divide_(2.5)"]),
    # ------------------------------------------------------------ choices
    *(op("maximum", s, "torch.maximum(x, y)", proof=((2, 1), (2,)) if s[0] == (2,
      1) else "other shapes are")
      for s in BROADCAST),
    *(op("minimum", s, "torch.minimum(x, y)", "torch.max(x, y)", "torch.min(y, x)",
         proof=((2, 1), (2,)) if s[0] == (2, 1) else "other shapes are") for s in BROADCAST),
    op("maximum with itself", V, "torch.maximum(x, x)", dtypes=(), checked=False,
       faults=["torch.maximum(x, 1)", "torch.maximum(x, torch.ones(3))"]),
    op("clamp", E, "x.clamp(-0.9, 1.1)", "torch.clip(x, -0.5, 0.5)", "(x * 1).clamp_(-1, 1)",
       "torch.clamp_(x * 1, -1, 1)", "(x * 1).clip_(max=0.5)", faults=["x.clamp()"]),
    op("clamp_from_number", E, "op(x, 0.25)"),
    op("clamp_from", E, "torch.clamp(x, min=0.25)", "torch.clamp_min(x, 0.5)",
       "(x * 1).clamp_min_(0.5)", faults=["torch.tensor([1]).clamp_min_(1.5)"]),
    op("clamp_to_number", E, "op(x, 0.25)"),
    op("clamp_to", E, "x.clamp(max=0.25)", "x.clamp_max(1)", "(x * 1).clamp_max_(0.5)"),
    op("clamp_between", (V, V, V), "torch.clamp(x, y - 1, z + 1)", "x.clamp(y)",
       "x.clamp(max=z)", faults=["torch.tensor([1]).clamp_(x)"]),
    op("where", (M, (3,)), "torch.where(mask, x, y)", "x.where(mask, y)",
       faults=["torch.where(x, x, x)", "torch.where(mask, x, torch.ones(2))"]),
    op("where", ((2, 1), (3,)), "torch.where(mask, x, y)", "torch.where(mask, x, 2)",
       "torch.where(mask, 2.0, x)", "torch.where(x > 0, x, y)"),
    op("masked_fill", (M, ()), "x.masked_fill(mask, y)", "(x * 1).masked_fill_(mask, y)",
       faults=["x.masked_fill(x, 0)", "x.masked_fill(mask, x)"]),
    op("masked_fill_number", M, "x.masked_fill(mask, 7.0)", "(x * 1).masked_fill_(mask, 2)",
       faults=["x.masked_fill_(mask, 2)"]),
    # ------------------------------------------------------------ comparisons, logic, bits
    *(
        op(name, (V, V), f"torch.{name}(x, y)", f"x.{name}(1.5)")
        for name in ("eq", "ne", "lt", "le", "gt", "ge", *LONG.split())
    ),
    op("compare", (V, V), "x == y", "x != 1", "x < y", "x <= 1", "x > y", "x >= 1", "x == 'a'",
       faults=["torch.eq(x, torch.ones(3))", "x < 'a'"]),
    op("bits", (V, V), "(x > 0) & (y > 0)", dtypes=("int64", "uint8", "bool")),
    *(
        op(f"bits {call}", (V, V), call, dtypes=("float64", "int64", "uint8", "bool"))
        for call in (
            "x.sign().long() | y.sign().long()",
            "x.long() ^ 3",
            "3 & x.long()",
            "~x.long()",
            "torch.bitwise_and(x.long(), 6)",
            "torch.bitwise_or(x.long(), y.long())",
            "torch.bitwise_xor(x.long(), y.long())",
            "torch.bitwise_not(x.long())",
            "x.abs().long() << 2",
            "x.abs().long() >> y.abs().long()",
            "5 << x.abs().long()",
            "torch.bitwise_left_shift(x.abs().long(), 70)",
            "torch.bitwise_right_shift(x.long(), 1)",
            "x.long().bitwise_right_shift(1)",
            "x.long().bitwise_left_shift(1)",
        )
    ),
    op("logic", (V, V), "torch.logical_and(x, y)", "x.logical_xor(y)",
       "torch.logical_or(x, y > 0)", faults=["torch.logical_and(x, True)"]),
    op("isclose", V, "torch.isclose(x, x)", "x.isclose(x + 0.01, 0, 0.02)",
       "torch.allclose(x, x)", "torch.equal(x, x)",
       "torch.isclose(x * nan, x * nan, equal_nan=True)",
       faults=["torch.isclose(x, x.double())", "torch.isclose(x, 2.0)",
               "torch.allclose(x, torch.ones(3))"]),
    op("gcd", (V, V), "torch.gcd((x * 9).long(), (y * 9).long())",
       "(x * 9).long().lcm(y.long())", positive=True, dtypes=(),
       faults=["torch.gcd(x, y)", "torch.gcd(torch.tensor([1]), 4)"]),
    op("parts of numbers", V, "torch.real(x * 2)", "(x * 2).conj()", "torch.resolve_conj(x * 2)",
       "torch.detach(x)", dtypes=("float64",), faults=["torch.imag(x)"]),
    op("special", (M, M), "torch.special.expit(x)", "torch.special.erf(x)",
       "torch.special.erfc(x)", "torch.special.exp2(x)", "torch.special.expm1(x)",
       "torch.special.log1p(x)", "torch.special.logit(x / 4)", "torch.special.round(x)",
       "torch.special.xlogy(x, y)", "torch.special.softmax(x, 0)",
       "torch.special.log_softmax(x, 1)", "torch.special.logsumexp(x, 1)", positive=True, dtypes=(),
       proof="each is proved elsewhere"),
    # ------------------------------------------------------------ filled with something else
    op("zeros", M, "(x * 1).zero_()", faults=["x.zero_()"]),
    op("filled", M, "op(x, 3.0)"), op("fill_", M, "(x * 1).fill_(3.0)"),
    op("filled_with", (M, ()), "(x * 1).fill_(y)",
       faults=["torch.zeros(3).fill_(torch.zeros(2))", "x.fill_(y)"]),
    op("copy_values", (M, (3,)), "(x * 1).copy_(y)",
       faults=["torch.zeros(2).copy_(torch.zeros(2, 2))", "x.copy_(y)"]),
    op("clone", T, "x.clone()", "x.clone() * x"),
    op("alias", M, "op(x)"), op("whole", M, "x[:]", "x[...] * 1"),
    op("to_copy", M, "op(x, x.detach().numpy().dtype)"),
    op("conversions", M, "x.double()", "x.to(torch.float64) * 2", "x.half().float()",
       "x.type_as(x.double())", dtypes=(), checked=False),
]
# fmt: on
