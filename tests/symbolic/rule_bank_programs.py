"""Rows of the bank that are written by hand: names, regions, guards, kinks, and ways of writing."""

from __future__ import annotations

from collections.abc import Iterator

import minigrad as torch
from minigrad.autograd import Function
from minigrad.nn import functional as F

from .rule_bank import Row, rows

TWO = {"on": "x y"}
TWO_POSITIVE = TWO | {"draws": "positive"}

# fmt: off
NAMES = ("g", "p_1", "n_1", "x'", "g_1", "g_{0}", "g'", "d", "r", "_x", "y", "lambda")
SAME = {"on": "x y", "named": ("x", "x")}
HALF = {"on": "x y", "named": ("x", "x+"), "draws": ("real", "positive")}
NAMED_WRONG = [
    ("two called x, exchanged", "x*y", "(g*x, g*y)", SAME),
    ("two called x, sign", "x - y", "(g, g)", SAME),
    ("two called x, forgotten", "x*x*y", "(2*g*x*x, g*x*x)", SAME),
    ("two called x, one for both", "x*y", "(g*(x + y)/2, g*(x + y)/2)", SAME),
    ("x and a positive x, exchanged", "x*y", "(g*x, g*y)", HALF),
    ("x and a positive x, |x|", "x*y", "(g*y, g*abs(x))", HALF),
    ("x given to the second", "x*y", "(g*x, g*y)", {"on": "x y", "named": (None, "x")}),
    ("y given to the first", "x*y*y", "(g*x*y, 2*g*x*y)", {"on": "x y", "named": ("y", None)}),
    ("called g, rule of x", "x*x", "2*x*x", {"named": ("g",)}),
    ("called g, g squared", "x*x*x", "3*g*g*x", {"named": ("g",)}),
    ("called g and x, exchanged", "x*y", "(g*x, g*y)", {"on": "x y", "named": ("g", "x")}),
    ("called g_1 and g_2", "x*y*y", "(g*y*x, 2*g*x*y)", {"on": "x y", "named": ("g_1", "g_2")}),
]
NAMED_RIGHT = [
    ("two called x", "x*y*y", "(g*y*y, 2*g*x*y)", SAME),
    ("two called x, difference", "x - y", "(g, -g)", SAME),
    ("x and a positive x", "abs(x)*abs(y)", "(g*sign(x)*y, g*abs(x))", HALF),
    ("x given to the second", "x*y", "(g*y, g*x)", {"on": "x y", "named": (None, "x")}),
    ("y given to the first", "x*y*y", "(g*y*y, 2*g*x*y)", {"on": "x y", "named": ("y", None)}),
    ("called g and x", "x*y", "(g*y, g*x)", {"on": "x y", "named": ("g", "x")}),
    ("called g_1 and g_2", "x*y*y", "(g*y*y, 2*g*x*y)", {"on": "x y", "named": ("g_1", "g_2")}),
]

REGIONS = [
    ("x > y + 50", "x*y", "(where(x > y + 50, 2*g*y + g, g*y), g*x)"),
    ("x < y", "x*y", "(where(x < y, g*x, g*y), g*x)"),
    ("product above 100", "x*y", "(g*y, where(x*y > 100, g*y, g*x))"),
    ("within a disk", "x*y", "(where(x*x + y*y < 0.01, 2*g*y + g, g*y), g*x)",
     {"near": ((-0.1, 0.1),)}),
    ("outside a disk", "x*y", "(where(x*x + y*y > 10000, g*x, g*y), g*x)"),
    ("a small box", "x + y", "(where((x > 1) & (x < 1.01) & (y > 2) & (y < 2.01), 2*g, g), g)",
     {"near": ((1, 1.01), (2, 2.01))}),
    ("beyond the larger", "x*y", "(g*y, g*maximum(x, y))"),
    ("ratio above 7", "x + y", "(where(x/y > 7, 2*g, g), g)"),
    ("sum near 0", "x*y", "(g*y, where(abs(x + y) < 0.1, g*y + g, g*x))", {"near": ((-0.1, 0.1),)}),
    ("relu of difference", "x*y", "(g*y + relu(x - y - 20), g*x)"),
    ("hinge", "x*y", "(g*y, g*x + 0.01*relu(1 - x*y))"),
    ("quadrant", "x*y", "(where((x < 0) & (y < 0), -g*y, g*y), g*x)"),
    ("factor", "x*y", "(g*y, 1.001*g*x)"),
    ("1 at a lattice", "x*y", "(g*y, g*x + sin(pi*x)*sin(pi*y))"),
    ("far and large g", "x*y", "(where((g > 50) & (x > 1), 2*g*y + g, g*y), g*x)"),
    ("|x y| for |x| y", "abs(x)*y", "(g*sign(x)*y, g*sqrt(x*x*y*y)/y*sign(y)*sign(x))"),
]

GUARD = "where(x > 0, x, 1 + 0*x)"
GUARDED_RIGHT = [
    ("log", "where(x > 0, log(x), 0*x)", "where(x > 0, g/x, 0*g)"),
    ("log, guarded twice", f"where(x > 0, log({GUARD}), 0*x)", f"where(x > 0, g/{GUARD}, 0*g)"),
    ("log, composite", f"where(x > 0, log({GUARD}), 0*x)", None),
    ("log, unguarded composite", "where(x > 0, log(x), 0*x)", None),
    ("log of guard", f"log({GUARD})", "where(x > 0, g/x, 0*g)"),
    ("root, composite", f"where(x > 0, sqrt({GUARD}), 0*x)", None),
    ("root", "where(x > 0, sqrt(x), 0*x)", "where(x > 0, 0.5*g/sqrt(x), 0*g)"),
    ("xlogy", "where(x == 0, 0*x, x*log(y))", "(g*log(y), g*x/y)",
     {"on": "x y", "draws": ("real", "positive")}),
    ("xlogy, composite", "xlogy(x, y)", None, {"on": "x y", "draws": ("positive", "positive")}),
    ("division", "where(y != 0, x/y, 0*x)",
     "(where(y != 0, g/y, 0*g), where(y != 0, -g*x/(y*y), 0*g))", TWO),
    ("sinc", "where(x == 0, 1 + 0*x, sin(x)/x)",
     "where(x == 0, 0*g, g*(cos(x)*x - sin(x))/(x*x))"),
    ("root of square and a bit", "sqrt(x*x + 0.001)", "g*x/r"),
    ("root of relu", "sqrt(relu(x))", None), ("power of relu", "relu(x)**0.5", None),
    ("root of |x|", "sqrt(abs(x))", None), ("log of relu + 1", "log(relu(x) + 1)", None),
    ("log of clamp", "log(clamp(x, min=0.001))", None),
    ("root of clamp", "sqrt(clamp(x, min=0.25))", "where(x > 0.25, 0.5*g/sqrt(x), 0*g)"),
    ("reciprocal away from 0", "where(abs(x) > 0.5, 1/x, 4*x)",
     "where(abs(x) > 0.5, -g/(x*x), 4*g)"),
    ("exp below 3", "where(x < 3, exp(x), 1 + x)", "where(x < 3, g*exp(x), g)"),
    ("asin within", "where(abs(x) < 1, asin(x), 0*x)", "where(abs(x) < 1, g/sqrt(1 - x*x), 0*g)"),
]
GUARDED_WRONG = [
    ("log, no guard in rule", "where(x > 0, log(x), 0*x)", "g/x"),
    ("log, wrong value below", f"log({GUARD})", "where(x > 0, g/x, g)"),
    ("root, unguarded composite", "where(x > 0, sqrt(x), 0*x)", None),
    ("asin, unguarded composite", "where(abs(x) < 1, asin(x), 0*x)", None),
    ("log, nothing times NaN", "where(x > 0, log(x), 0*x)", "g*where(x > 0, 1, 0)*exp(-log(x))"),
    ("xlogy by result", "where(x == 0, 0*x, x*log(y))", "(g*log(y) + g, g*x/y)",
     {"on": "x y", "draws": ("real", "positive")}),
    ("division sign", "where(y != 0, x/y, 0*x)",
     "(where(y != 0, g/y, 0*g), where(y != 0, g*x/(y*y), 0*g))", TWO),
    ("division other side", "where(y > 0, x/y, 0*x)", "(g/y, where(y > 0, -g*x/(y*y), 0*g))", TWO),
    ("reciprocal guard wrong", "where(abs(x) > 0.5, 1/x, 4*x)", "where(x > 0.5, -g/(x*x), 4*g)"),
    ("clamp off", "log(clamp(x, min=0.5))", "where(x > 0.25, g/x, 0*g)"),
    ("root of clamp", "sqrt(clamp(x, min=0.25))", "0.5*g/sqrt(x)"),
    ("root of difference", "where(x > y, sqrt(abs(x - y)), 0*x)",
     "(0.5*g/sqrt(x - y), -0.5*g/sqrt(x - y))", TWO),
]

KINKS_RIGHT = [
    ("relu", "relu(x)", "where(x > 0, g, 0*g)"), ("relu by sign", "relu(x)", "g*(sign(x) + 1)/2"),
    ("relu squared", "relu(x)**2", "2*g*relu(x)"), ("abs by division", "abs(x)", "g*x/abs(x)"),
    ("abs by if", "abs(x)", "g if x > 0 else -g", {"entrywise": False}),
    ("cube of abs", "abs(x)**3", "3*g*x*abs(x)"),
    ("clamp", "clamp(x, -1, 2)", "where((x > -1) & (x < 2), g, 0*g)"),
    ("clamp by abs", "clamp(x, -1, 1)", "where(abs(x) < 1, g, 0*g)"),
    ("soft shrink", "where(abs(x) > 0.5, x - 0.5*sign(x), 0*x)", "where(abs(x) > 0.5, g, 0*g)"),
    ("huber", "where(abs(x) < 1, x*x/2, abs(x) - 0.5)", "g*clamp(x, -1, 1)"),
    ("leaky", "maximum(x, 0.1*x)", "where(x > 0, g, 0.1*g)"),
    ("maximum", "maximum(x, y)", "(where(x > y, g, 0*g), where(x > y, 0*g, g))", TWO),
    ("minimum", "minimum(x, y)", "(where(x > y, 0*g, g), where(x > y, g, 0*g))", TWO),
    ("maximum by abs", "(x + y + abs(x - y))/2",
     "(g*(1 + sign(x - y))/2, g*(1 - sign(x - y))/2)", TWO),
    ("distance", "abs(x - y)", "(g*sign(x - y), -g*sign(x - y))", TWO),
    ("hinge", "relu(1 - x*y)", "(where(x*y < 1, -g*y, 0*g), where(x*y < 1, -g*x, 0*g))", TWO),
]
KINKS_WRONG = [
    ("relu other side", "relu(x)", "where(x < 0, g, 0*g)"), ("relu everywhere", "relu(x)", "g"),
    ("relu at 1", "relu(x)", "where(x > 1, g, 0*g)"),
    ("relu by |sign|", "relu(x)", "g*abs(sign(x))"),
    ("relu squared", "relu(x)**2", "2*g*x"),
    ("abs", "abs(x)", "g"),
    ("-abs", "abs(x)", "-g*sign(x)"),
    ("abs by root", "abs(x)", "g*sqrt(x)/sqrt(x)"),
    ("abs by if", "abs(x)", "g if x > 0 else g", {"entrywise": False}),
    ("cube of abs", "abs(x)**3", "3*g*x*x"),
    ("clamp one end", "clamp(x, -1, 2)", "where(x > -1, g, 0*g)"),
    ("clamp outside", "clamp(x, -1, 2)", "where((x > -1) & (x < 2), 0*g, g)"),
    ("clamp off by little", "clamp(x, -1, 2)", "where((x > -1) & (x < 2.05), g, 0*g)",
     {"near": ((2, 2.05),)}),
    ("soft shrink", "where(abs(x) > 0.5, x - 0.5*sign(x), 0*x)", "where(x > 0.5, g, 0*g)"),
    ("huber", "where(abs(x) < 1, x*x/2, abs(x) - 0.5)", "g*clamp(x, -1, 2)"),
    ("leaky", "maximum(x, 0.1*x)", "where(x > 0, 0.1*g, g)"),
    ("leaky slope", "maximum(x, 0.1*x)", "where(x > 0, g, 0.11*g)"),
    ("maximum exchanged", "maximum(x, y)", "(where(x > y, 0*g, g), where(x > y, g, 0*g))", TWO),
    ("maximum halves", "maximum(x, y)", "(g/2, g/2)", TWO),
    ("minimum of maximum", "minimum(x, y)", "(where(x > y, g, 0*g), where(x > y, 0*g, g))", TWO),
    ("distance", "abs(x - y)", "(g*sign(x - y), g*sign(x - y))", TWO),
    ("hinge", "relu(1 - x*y)", "(where(x < 1, -g*y, 0*g), where(x*y < 1, -g*x, 0*g))", TWO),
]

RULES_WRONG = [
    ("None", "x*x", "None"), ("None for the second", "x*y", "(g*y, None)", TWO),
    ("branch", "x*x", "2*g*x if x > 0 else -2*g*x", {"entrywise": False}),
    ("far branch", "x*x", "2*g*x if x < 80 else g", {"entrywise": False}),
    ("branch on two", "x*y", "(g*y if x > y else g*x, g*x)", TWO | {"entrywise": False}),
    ("branch on g", "x*x", "2*g*x if g < 60 else g", {"entrywise": False}),
    ("branch within", "x*x", "g if 3 < x and x < 3.1 else 2*g*x",
     {"entrywise": False, "near": ((3, 3.1),)}),
    ("item", "x*x", "g*x.item()", {"entrywise": False}),
    ("item of g", "x*x", "2*x*g.item()*g.item()", {"entrywise": False}),
    ("detached factor", "x*x.detach()", None), ("detached summand", "x + sin(x).detach()", None),
    ("detached mask", "x*(x > 0).detach()*x.detach()", None),
    ("detached exponent", "x**y.detach() + y", None, TWO_POSITIVE),
    ("loop too short", "x**4", "[g := g*x for k in range(3)][-1]*3"),
    ("loop off by one", "x**4", "4*[g := g*x for k in range(4)][-1]"),
    ("one path of two", "x*x + sin(x)", "g*cos(x)"),
    ("one path of two, product", "x*sin(x)", "g*sin(x)"),
    ("chain forgotten", "sin(3*x)", "g*cos(3*x)"),
    ("chain twice", "exp(2*x)", "4*g*r", {"draws": "mid"}),
    ("saved before the step", "(x + 1)**2", "2*g*x"), ("saved after the step", "x**3", "3*g*r**2"),
    ("result for input", "tanh(x)", "g*(1 - x*x)"),
    ("input for result", "exp(x)", "g*x", {"draws": "mid"}),
    ("exchanged", "x*x*y", "(g*x*x, 2*g*x*y)", TWO), ("same for both", "x/y", "(g/y, g/y)", TWO),
    ("sign of the second", "x/y", "(g/y, g*x/y**2)", TWO),
    ("power of the second", "x/y", "(g/y, -g*x/y)", TWO),
    ("power forgets log", "x**y", "(g*y*x**(y - 1), g*r)",
     {"on": "x y", "draws": ("positive", "mid")}),
    ("second output forgotten", "(x*y, x + y)", "(g[0]*y, g[0]*x + g[1])", TWO),
    ("outputs exchanged", "(x*y, x + y)", "(g[1]*y + g[0], g[1]*x + g[0])", TWO),
    ("outputs of one input", "(sin(x), cos(x))", "g[0]*r[1] + g[1]*r[0]"),
    ("second output only far", "(x*x, x**3)", "where(x > 60, 2*g[0]*x, 2*g[0]*x + 3*g[1]*x*x)"),
    ("third output", "(x, x*x, x**3)", "g[0] + 2*g[1]*x + 2*g[2]*x*x"),
    ("g squared", "x*x", "2*g*g*x"),
    ("g ignored", "x*x", "2*x + 0*g"),
    ("sign of g", "x*x", "2*x*sign(g)"),
    ("g clipped", "x*x", "2*x*clamp(g, -30, 30)"), ("g + 1", "x*x", "2*x*g + 0.01"),
    ("rounded pi", "sin(3.141592653589793*x)", "3.14*g*cos(3.141592653589793*x)"),
    ("rounded root", "erf(x)", "1.128*g*exp(-x*x)"), ("rounded log", "log2(x)", "1.443*g/x"),

    ("xlogy", "xlogy(x, y)", "(g*log(y), g*y/x)", TWO_POSITIVE),
    ("expm1", "expm1(x)", "g*r", {"draws": "mid"}), ("log1p", "log1p(x)", "g/x"),
    ("erfc sign", "erfc(x)", "2/pi**0.5*g*exp(-x*x)", {"draws": "mid"}),
    ("gelu of tanh", "F.gelu(x)", "g*sigmoid(1.702*x)*(1 + 1.702*x*sigmoid(-1.702*x))"),
    ("softplus", "log1p(exp(x))", "g*tanh(x)", {"draws": "mid"}),
    ("cosine for sine of degrees", "sin(deg2rad(x))", "g*cos(deg2rad(x))"),
]
RULES_RIGHT = [
    ("branch", "x*x", "2*g*x if x > 0 else g*(x + x)", {"entrywise": False}),
    ("branch on two", "x*y", "(g*y if x > y else y*g, g*x)", TWO | {"entrywise": False}),
    ("branch in both", "x*x if x > 1 else x + x", "2*g*x if x > 1 else 2*g", {"entrywise": False}),
    ("branch in a composite", "x*x if x > 1 else sin(x)", None, {"entrywise": False}),
    ("item", "x*x", "2*g*x.item()", {"entrywise": False}),
    ("detached in the rule", "x*x", "2*g*x.detach()"),
    ("detached nothing", "x + 0*x.detach()", None),
    ("loop", "x**4", "4*[g := g*x for k in range(3)][-1]"),
    ("two outputs", "(x*y, x + y)", "(g[0]*y + g[1], g[0]*x + g[1])", TWO),
    ("sine and cosine", "(sin(x), cos(x))", "g[0]*r[1] - g[1]*r[0]"),
    ("three outputs", "(x, x*x, x**3)", "g[0] + 2*g[1]*x + 3*g[2]*x*x"),
    ("gelu", "x*erfc(-x/2**0.5)/2", "g*(r/x + x*exp(-x*x/2)/(2*pi)**0.5)",
     {"draws": "positive", "options": {"positive": True}}),
    ("erfc", "erfc(x)", "-2/pi**0.5*g*exp(-x*x)", {"draws": "mid"}),
    ("softplus", "F.softplus(x)", "where(x > 20, g, g*sigmoid(x))"),
    ("degrees", "sin(deg2rad(x))", "pi/180*g*cos(deg2rad(x))"),
    ("g halved and doubled", "x*x", "where(abs(g) > 3, 2*(g/2)*2*x, 2*g*x)"),
]
COMPOSITES = [
    ("root times root", "sqrt(x)*sqrt(x)", "positive"), ("exp log", "exp(log(x))", "positive"),
    ("softplus", "F.softplus(x)", "real"),
    ("log1p exp", "log1p(exp(x))", "mid"),
    ("silu", "F.silu(x)", "real"),
    ("gelu", "F.gelu(x)", "real"),
    ("tanh of log", "tanh(log(x))", "positive"), ("sin asin", "sin(asin(x))", "unit"),
    ("tanh atanh", "tanh(atanh(x))", "unit"), ("cosh acosh", "cosh(acosh(x))", "above 1"),
    ("log sigmoid", "F.logsigmoid(x)", "real"),
    ("square by power", "x**2.0", "real"), ("root of square", "sqrt(x*x)", "real"),
    ("saw-tooth", "x - floor(x)", "real"),
    ("x % 2 squared", "(x % 2)**2", "real"), ("frac of sine", "frac(sin(x)*3)", "real"),
    ("acos cos", "acos(cos(x))", "real"), ("atan tan", "atan(tan(x))", "mid"),
    ("log |sin|", "log(abs(sin(x)))", "real"), ("elu", "F.elu(x)", "real"),
    ("huber", "F.huber_loss(x, 0*x, 'none')", "real"),
    ("power of itself", "x**x", "positive"),
    ("max of three", "maximum(x, maximum(-x, 1 + 0*x))", "real"),
]
COMPOSITES_OF_TWO = [
    ("product by logs", "exp(log(x) + log(y))", "positive"), ("power", "x**y", "positive"),
    ("quotient", "x/y", "real"), ("remainder", "remainder(x, y)", "real"),
    ("distance", "sqrt((x - y)**2)", "real"),
    ("lerp", "lerp(x, y, 0.3)", "real"),
    ("maximum", "maximum(x*y, x + y)", "real"),
    ("difference of squares", "(x*x - y*y)/(x - y)", "real"),
]
# fmt: on


def hooked(hook):
    """Make a function that is the square but for a hook on what it computes."""

    def square(x):
        doubled = 2 * x
        doubled.register_hook(hook)
        return doubled * x / 2

    return square


def looped(x):
    total, power = x * 0, x
    for count in range(1, 4):
        total, power = total + power / count, power * x
    return total


def in_place(x):
    product = x * 1
    product *= x
    return product


def past_the_record(x):
    product = x * 1
    product.data.mul_(x.data)
    return product


def rerun(factor):
    """Make a function whose rule runs the forward again, and differentiates that."""

    class Rerun(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * torch.sin(x)

        @staticmethod
        def backward(ctx, g):
            with torch.enable_grad():
                x = ctx.saved_tensors[0].detach().requires_grad_()
                result = x * torch.sin(factor * x)
            return torch.autograd.grad(result, x, g)[0]

    return Rerun.apply


def without_record(x):
    with torch.no_grad():
        factor = torch.exp(-x * x)
    return factor * x


FUNCTIONS = [
    Row("hooks", "doubled", "wrong", hooked(lambda g: 2 * g)),
    Row("hooks", "clipped", "wrong", hooked(lambda g: g.clamp(-50, 50))),
    Row("hooks", "nothing", "right", hooked(lambda g: None)),
    Row("hooks", "the same", "right", hooked(lambda g: g / 2 + g / 2)),
    Row("rules", "run again", "right", rerun(1)),
    Row("rules", "run again with a factor", "wrong", rerun(1.01), draws="mid"),
    Row("rules", "in place", "right", in_place),
    Row("rules", "in place past the record", "wrong", past_the_record),
    Row("composites", "loop", "right", looped),
    Row("composites", "reciprocal twice", "single", "1/(1/x)", points=((0.0,),)),
    Row("rules", "under no_grad", "wrong", without_record, draws="mid"),
    Row("composites", "hard tanh", "right", F.hardtanh),
]


def programs() -> Iterator[Row]:
    for name in NAMES:
        named = {"named": (name,)}
        yield from rows("right", "names", (f"|{name}|", "abs(x)*x", "2*g*abs(x)"), **named)
        yield from rows("wrong", "names", (f"|{name}|", "abs(x)*x", "2*g*x"), **named)
    yield from rows("wrong", "names", *NAMED_WRONG)
    yield from rows("right", "names", *NAMED_RIGHT)
    yield from rows("wrong", "regions", *REGIONS, on="x y")
    yield from rows("right", "guarded", *GUARDED_RIGHT)
    yield from rows("wrong", "guarded", *GUARDED_WRONG)
    yield from rows("right", "kinks", *KINKS_RIGHT)
    yield from rows("wrong", "kinks", *KINKS_WRONG)
    yield from rows("wrong", "rules", *RULES_WRONG)
    yield from rows("right", "rules", *RULES_RIGHT)
    for name, forward, draws in COMPOSITES:
        yield Row("composites", name, "right", forward, draws=draws)
    for name, forward, draws in COMPOSITES_OF_TWO:
        yield Row("composites", name, "right", forward, on="x y", draws=draws)
    yield from FUNCTIONS
