"""What is proved, of what, and where: read from proofs, from their text, and from verdicts."""

import numpy as np
import pytest
import sympy

import minigrad as torch
import minigrad.nn.functional as F
from minigrad import nn
from minigrad.autograd import Function
from minigrad.symbolic import Refuted, Undecided, prove, symbols
from minigrad.symbolic.regions import EVERYWHERE

X = sympy.Symbol("x", real=True)


class Cube(Function):
    """A custom function with a right rule."""

    @staticmethod
    def forward(ctx, value):
        ctx.save_for_backward(value)
        return value**3

    @staticmethod
    def backward(ctx, grad):
        (value,) = ctx.saved_tensors
        return grad * 3 * value**2


# ---------------------------------------------------------------------- what is proved


@pytest.mark.parametrize(
    ("operation", "shapes", "inputs"),
    [
        (torch.mul, (2, ()), [("x", (2,)), ("y", ())]),
        (torch.mul, ((2, 1), 3), [("x", (2, 1)), ("y", (3,))]),
        (F.silu, (2,), [("x", (2,))]),
        (lambda a, b, c: a * b + c, (2, 2, ()), [("x", (2,)), ("y", (2,)), ("z", ())]),
        (Cube.apply, (2,), [("x", (2,))]),
        (nn.Linear(2, 1), ((1, 2),), [("x", (1, 2)), ("w_0", (1, 2)), ("b_0", (1,))]),
        (torch.cumsum, (), None),
    ],
)
def test_functions_and_modules(operation, shapes, inputs):
    if inputs is None:  # with a setting
        proof = prove(operation, (1, 2, 4), settings=(2,))
        inputs = [("x", (1, 2, 4))]
    else:
        proof = prove(operation, *shapes)
    assert list(proof.inputs) == inputs
    assert proof.everywhere
    assert proof.regions == (EVERYWHERE,)
    assert proof.where == "for all values of the symbols"
    assert len(proof.gradients) == len(inputs)
    assert len(proof.evidence) == sum(int(np.prod(shape)) for _, shape in inputs)


def test_tensors_and_shapes_together():
    w = symbols("x", 2, requires_grad=True)
    assert [name for name, _ in prove(torch.mul, w, 2).inputs] == ["x", "y"]


def test_assumptions_are_passed_on_and_told():
    proof = prove(torch.log, 2, positive=True)
    assert proof.assumed == ("positive",)
    assert proof.where == "for all values of the symbols (x positive)"
    assert "x of shape [2] and positive" in str(proof)


def test_several_results_are_differentiated_together():
    proof = prove(lambda a: (a * a, a.exp()), ())
    assert str(proof.gradients[0]) == "2*g_1*x + g_2*exp(x)"


def test_what_prove_does_not_take():
    with pytest.raises(TypeError, match=r"settings=\(\.\.\.\)"):
        prove(torch.relu, 2.5)
    with pytest.raises(ValueError, match="needs an input that requires a gradient"):
        prove(torch.relu, symbols("x"))
    for function in (lambda a: torch.ones(2), lambda a: a.detach() * 2):
        with pytest.raises(ValueError, match="needs a graph"):
            prove(function, 2)
    with torch.no_grad(), pytest.raises(ValueError, match=r"under no_grad\(\)"):
        prove(torch.mul, 2, 2)
    with pytest.raises(Undecided):  # a symbol that isn't an input has no number
        prove(lambda a: a * symbols("c"), 2)


# ---------------------------------------------------------------------- regions


# what is found without being told: (function, shapes, some of the regions, how many there are)
FOUND = {
    "relu": (torch.relu, [2], ["x_{0} > 0", "x_{1} < 0"], 4),
    "abs": (torch.abs, [()], ["x > 0", "x < 0"], 2),
    "clamp": (lambda a: a.clamp(-1, 2), [()], ["x < -1", "x > -1, x < 2", "x > -1, x > 2"], 3),
    "relu6": (F.relu6, [()], ["x > 0, x < 6", "x < 0"], 3),
    "hinge": (lambda a, b: (1 - a * b).relu(), [(), ()], ["x*y > 1", "x*y < 1"], 2),
    "maximum": (torch.maximum, [(), ()], ["x > y", "x < y"], 2),
    "largest": (torch.max, [2], ["x_{0} > x_{1}", "x_{0} < x_{1}"], 2),
    "max along": (lambda a: a.max(1)[0], [(1, 2)], ["x_{0,1} > x_{0,0}"], 2),
    "sort": (lambda a: a.sort()[0], [3], ["x_{1} > x_{0}, x_{2} > x_{1}"], 6),
    "topk": (lambda a: a.topk(1)[0], [2], [], 2),
    "median": (torch.median, [3], [], 6),
    "max-pool": (lambda a: F.max_pool2d(a, (1, 2)), [(1, 1, 2)], ["x_{0,0,1} > x_{0,0,0}"], 2),
    "max-pool with a border": (lambda a: F.max_pool1d(a, 2, padding=1), [(1, 3)], [], None),
    "adaptive max-pool": (lambda a: F.adaptive_max_pool1d(a, 1), [(1, 2)], [], 2),
    "a program's own if": (lambda a: a * 2 if a > 1 else a * a, [()], ["x > 1", "x < 1"], 2),
    "floor": (torch.floor, [()], ["x != floor(x)"], 1),
    "remainder": (torch.remainder, [(), ()], ["x/y != floor(x/y)"], None),
    "norm": (torch.norm, [2], ["sqrt(x_{0}**2 + x_{1}**2) > 0"], 1),
    "softplus": (F.softplus, [()], ["x > 20", "x < 20"], 2),
    "where": (lambda a, b: torch.where(a > b, a * b, b), [(), ()], ["x > y", "x < y"], 2),
    "softmax": (lambda a: a.softmax(0), [2], ["x_{0} > x_{1}", "x_{0} < x_{1}"], 2),
    "cross entropy": (lambda a: F.cross_entropy(a, torch.tensor([1])), [(1, 2)], [], 2),
    "huber": (F.huber_loss, [(), ()], ["x > y, x > y + 1"], None),
}


@pytest.mark.parametrize("name", FOUND)
def test_regions_are_found(name):
    function, shapes, some, count = FOUND[name]
    proof = prove(function, *shapes)
    said = [str(region) for region in proof.regions]
    assert not proof.everywhere
    assert count is None or len(said) == count, said
    assert [each for each in some if each not in said] == [], said
    assert "The kinks and jumps between the regions are left out" in str(proof)
    assert proof.where == " ".join(["region by region: " + "; ".join(said), proof.limits]).rstrip()


class _Identity(Function):
    """Its rule is that of the identity, which its forward is above 1 only."""

    @staticmethod
    def forward(ctx, value):
        return value.clamp(min=1)

    @staticmethod
    def backward(ctx, grad):
        return grad


# ---------------------------------------------------------------------- text


def test_a_proof_reads_like_one():
    assert str(prove(torch.mul, 2, ())).splitlines() == [
        "mul, of x of shape [2], y of shape []",
        "",
        "The result, on symbols:",
        "  entry [0]: r = x_{0}*y",
        "  entry [1]: r = x_{1}*y",
        "A gradient of the result, any at all:",
        "  g_{0}, g_{1}",
        "",
        "The gradient of x:",
        "  entry [0]: the rule gives   g_{0}*y",
        "             the same formula as SymPy's",
        "  entry [1]: the rule gives   g_{1}*y",
        "             the same formula as SymPy's",
        "",
        "The gradient of y:",
        "  the rule gives   g_{0}*x_{0} + g_{1}*x_{1}",
        "  the same formula as SymPy's",
        "",
        "All of these are equal exactly, for all values of the symbols.",
        "The rule itself, run on numbers at 200 points, gave what difference quotients of the "
        "forward give.",
    ]


def test_a_proof_region_by_region_says_where():
    text = str(prove(torch.relu, ()))
    assert "  SymPy has        g*Heaviside(x)\n  equal exactly, where x > 0; or x < 0" in text
    assert "exactly, region by region: x > 0; x < 0.\nThe kinks" in text


# ---------------------------------------------------------------------- verdicts


def test_a_refutation_names_input_entry_formulas_and_numbers():
    class Doubled(Cube):
        @staticmethod
        def backward(ctx, grad):
            return 2 * Cube.backward(ctx, grad)

    with pytest.raises(Refuted) as refuted:
        prove(Doubled.apply, 2)
    verdict = refuted.value
    assert (verdict.of, verdict.entry) == ("the gradient of x", (0,))
    assert verdict.numbers[0] == 2 * verdict.numbers[1] != 0
    assert str(verdict).startswith(
        "the gradient of x, entry [0]: 6*g_{0}*x_{0}**2 is not 3*g_{0}*x_{0}**2: at g_{0} = "
    )
    assert str(verdict).endswith(f"they are {verdict.numbers[0]} and {verdict.numbers[1]}")


def test_a_counterexample_lies_in_its_region():
    class Wrong(Function):
        """Right where x is positive."""

        @staticmethod
        def forward(ctx, value):
            return value.abs()

        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(Refuted) as refuted:
        prove(Wrong.apply, ())
    assert refuted.value.counterexample[X] < 0
    assert refuted.value.left == sympy.Symbol("g", real=True)


def test_undecided_says_what_is_left(monkeypatch):
    monkeypatch.setattr("minigrad.symbolic.equality._steps", (sympy.expand,))
    monkeypatch.setattr("minigrad.symbolic.equality.numerator", lambda difference: difference)

    class Sine(Function):
        @staticmethod
        def forward(ctx, value):
            ctx.save_for_backward(value)
            return value.sin() ** 2

        @staticmethod
        def backward(ctx, grad):
            (value,) = ctx.saved_tensors
            return grad * (2 * value).sin()

    with pytest.raises(Undecided) as undecided:
        prove(Sine.apply, ())
    assert "they agree wherever numbers were tried" in str(undecided.value)
    assert undecided.value.of == "the gradient of x"


def test_a_gradient_that_never_comes_is_a_gradient_of_zeros():
    assert prove(lambda a, b: a * 2, (), ()).gradients[1] == 0
    with pytest.raises(Refuted, match="the gradient of y: 0 is not g\\*x") as refuted:
        prove(_OneGradient.apply, (), ())
    assert refuted.value.left == 0
    with pytest.raises(Refuted, match="the gradient of x: 0 is not"):
        prove(lambda a, b: a.detach() * b, (), ())


class _OneGradient(Function):
    """Forgets its second input."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        (b,) = ctx.saved_tensors
        return grad * b, None


class _Wrong(Function):
    """Wrong by the cube of the input."""

    @staticmethod
    def forward(ctx, value):
        ctx.save_for_backward(value)
        return value.sin()

    @staticmethod
    def backward(ctx, grad):
        (value,) = ctx.saved_tensors
        return grad * (value.cos() + value**3)


def test_only_points_with_a_real_result_refute():
    proof = prove(torch.acosh, ())  # below 1 it has no real value
    assert proof.domain == (X > 1,)
    assert proof.where == "for all values of the symbols with x > 1"


# ---------------------------------------------------------------------- domains and witnesses


def of(forward, backward):
    """Make an operation of a forward and a rule."""

    class Planted(Function):
        @staticmethod
        def forward(ctx, *inputs):
            ctx.save_for_backward(*inputs)
            return forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return backward(grad, *ctx.saved_tensors)

    return Planted.apply


@pytest.mark.parametrize(
    ("operation", "count", "where"),
    [
        (torch.log, 1, "with x > 0"),
        (torch.div, 2, "with y != 0"),
        (torch.asin, 1, "with x < 1, x > -1"),
        (lambda a: a.sqrt() * a.sqrt(), 1, "with x > 0"),
        (lambda a, b: (a.log() + b.log()).exp(), 2, "with x > 0, y > 0"),
    ],
)
def test_a_proof_says_where_it_holds(operation, count, where):
    proof = prove(operation, *[()] * count)
    assert proof.where == f"for all values of the symbols {where}"
    assert proof.limits == where
    assert f"equal exactly, {proof.where}." in str(proof)
    assert proof.points >= 150


def test_a_guard_is_seen_through():
    guarded = prove(lambda a: torch.where(a > 0, a, 1 + 0 * a).log(), ())
    assert guarded.where == "region by region: x > 0; x < 0"


def test_what_the_run_shows_counts_where_formulas_nod():
    with pytest.raises(Refuted, match="the run gives nan, and the derivative is") as refuted:
        prove(of(lambda a: a * a / 2, lambda g, a: g * a.sqrt() * a.sqrt()), ())
    assert refuted.value.counterexample[X] < 0
    assert refuted.value.left == refuted.value.right  # as formulas they are the same


def test_a_simplifier_that_always_nods_fools_nobody(monkeypatch):
    """The witness alone refutes what the formulas would let through."""
    monkeypatch.setattr("minigrad.symbolic.equality.decide", lambda *given: None)
    for wrong in (_Wrong.apply, _Identity.apply, of(lambda a: a**3, lambda g, a: 3.01 * g * a * a)):
        with pytest.raises(Refuted) as refuted:
            prove(wrong, ())
        first, second = refuted.value.numbers
        assert abs(first - second) > 1e-3
