"""Check the exercises of lesson 11, on checks of gradients: steps, wrong rules and directions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.autograd.gradcheck import GradcheckError
from minigrad.classroom import Choice, Function, Hook, Numbers
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import as_number, describe

Answer = Callable[..., Any]

# --- 11.1

EPS = 2.0**-23
"""The distance from 1 to the next number, in float32."""


def thumb(eps: float) -> tuple[float, ...]:
    """Give the rules of thumb: step and error one-sided, step and error central."""
    return eps ** (1 / 2), eps ** (1 / 2), eps ** (1 / 3), eps ** (2 / 3)


STEPS = Numbers(
    id="11.1",
    asks="in float32 the step and the error of the one-sided quotient, then the step and the "
    "error of the central one",
    expected=lambda: thumb(EPS),
    digits=2,
    right="In float32 a central quotient gives four or five digits, with a step that looks much "
    "too large.",
    hints=(
        "Section 1 says which power of epsilon each of the four is.",
        "One-sided: step and error are both the square root. Central: the step is the cube "
        "root. What is its error, if it shrinks with the square of the step?",
    ),
    mistakes="""
        = thumb(2.0**-52)
            Those are for float64. Here epsilon is 2**-23.
        = (0.5, 0.5, 1 / 3, 2 / 3)
            Those are the exponents. Raise epsilon to them.
        = thumb(EPS / 2)
            Your epsilon is half as large. Here it is the distance from 1 to the next number.
        = thumb(1e-7)
            Epsilon was rounded before the roots were taken. Put in 2**-23.
        = thumb(2e-23)
            You took a power of ten for epsilon. It's a power of two.
        = (1e-4, 6e-5, 3e-3, 2e-6)
            Those are the measured numbers. The rules of thumb are powers of epsilon.
        = (*thumb(EPS)[2:], *thumb(EPS)[:2])
        ? alike(sorted(answer), sorted(thumb(EPS)), 2)
            Right numbers in another order: step and error one-sided, then step and error central.
        ~ 2 ** (-46 / 3) => 2 ** (-23 / 3)
        ? alike(answer[2], answer[3], 2)
            The error of the central quotient isn't its step. It shrinks with the step's square.
        ~ 2**-11.5, 2**-11.5 => 2 ** (-23 / 3), 2 ** (-23 / 3)
        ? alike(answer[0], EPS ** (1 / 3), 2)
            You used the central quotient's power for the one-sided one.
        ~ 23 / 3 => 11.5
        ? alike(answer[2], EPS**0.5, 2)
            The central step isn't a square root: truncation shrinks with the square of the step.
        = (EPS**1 / 2, EPS**1 / 2, EPS**1 / 3, EPS**2 / 3)
        ? alike(answer[0], EPS / 2, 2)
            Python reads e ** 1 / 2 as half of e: put the exponent in parentheses.
        ~ 2**-11.5 => 2.0**-23
        ? any(alike(each, EPS, 2) for each in answer)
            Epsilon is the error of a stored number. The quotient divides it by the step.
        = (3e-4, 3e-4, 5e-3, 2e-5)
        ? alike(answer, thumb(EPS), 1)
            All four are about right. Give two significant digits, and round at the end.
    """,
)

# --- 11.2


def cubes(x: Any) -> Any:
    """Sum the cubes of all entries, each with a weight of its own."""
    weights = torch.arange(1, x.numel() + 1, dtype=x.dtype).reshape(x.shape)
    return (weights * x**3).sum()


def product(x: Any) -> Any:
    """Multiply all entries, and square the result."""
    return x.prod() ** 2


def fields(rng: Random) -> list[tuple[Any, ...]]:
    """Draw losses, points and steps: steps so large that one-sided and central differ."""
    drawn = []
    for loss, shape in ((cubes, (3,)), (product, (2, 3)), (cubes, (2, 1, 2)), (cubes, (1,))):
        values = [each / 64 for each in rng.sample(range(32, 97), math.prod(shape))]  # not rounded
        drawn.append((loss, torch.tensor(values, dtype=torch.float64).reshape(shape), 0.125))
    return drawn


CENTRAL = Function(
    id="11.2",
    asks="central_difference(f, x, h), which returns a tensor shaped like x with the central "
    "difference quotient of each entry",
    inputs=fields,
    returns=Tensor,
    without=("backward", "grad", "jacobian"),
    right="Two calls for each entry, and no rule of differentiation anywhere.",
    hints=(
        "For one entry: which tensor has h at that place and zeros elsewhere?",
        "Go through the rows of torch.eye(x.numel()), bring each into the shape of x, and take "
        "(f(x + step) - f(x - step)) / (2 * h). Stack what you get, and reshape it.",
    ),
    mistakes=r"""
        ~ f(x - step)) / (2 * h) => f(x)) / h
        ~ (f(x + step) - f(x - step)) / (2 * h) => (f(x) - f(x - step)) / h
            That is the one-sided quotient: f(x) itself isn't in a central one.
        ~ f(x - step) => f(x)
            Your second point is x itself, and you divide as if it were on the other side.
        ~ (2 * h) => h
            How far is it from x - h to x + h? Divide by that distance.
        ~ f(x + step) - f(x - step) => f(x - step) - f(x + step)
            The sign is wrong: f(x + h) comes first.
        ~ (2 * h) => 2 * h
            / 2 * h divides by 2 and multiplies by h. Put the denominator in parentheses.
        ~ h * unit => h / 2 * unit
        | (2 * h) => h
        ~ step = h => h, step = h * 2, h * 2
            h is the step to each side. Your step has another size.
        ~ step = h => h, step = 1e-4, 1e-4
            Those are nearly the exact slopes. A central quotient with the given step h is further
            off.
        ~ h * unit.reshape(x.shape) => h
            You moved all entries at once. Move one at a time.
        ~ unit.reshape(x.shape) => (unit.reshape(len(x), -1).sum(1).reshape(-1, *x.dim() * [1])[..., 0] + 0 * x)
            x[i] of a matrix is a row, and you moved all of it. Move one entry at a time.
        ~ dtype=x.dtype) => dtype=x.dtype).cumsum(0)
            Earlier entries are still moved. Start with a fresh copy for each.
        ~ f(x + step) - f(x - step) => f(x.add_(step)) - f(x.sub_(2 * step))
        ? any(each.changed for each in trials)
            x isn't as you got it. Move a copy, or put everything back.
        ~ f(x - step) => f(x + step)
            All quotients are zero. Are your two points two tensors, or two names for one?
        ~ torch.stack(slopes) => torch.stack([slopes[0], *(0 * each for each in slopes[1:])])
            Only the first entry has a quotient. Is the return inside the loop?
        ~ h): => h, slopes=[]):
        | slopes = [] => pass
        | torch.stack(slopes) => torch.stack(slopes[: x.numel()])
            The second result starts with the first. A default list is made only once.
        ~ h * unit.reshape(x.shape) => h
        | torch.stack(slopes).reshape(x.shape) => slopes[0]
        ? seen[0].dim() == 0
            One number came back. The loss has a slope for each entry of x.
        ~ (slopes).reshape(x.shape) => (slopes)
            The numbers are right, but in one long row. Give them the shape of x.
        ~ x.numel() => x.shape[0] * x.shape[1]
        ! out of range, out of bounds, values to unpack, too many indices, 0-d, size of tensor
            x can have any shape. Go through all of its entries, whatever the shape is.
    """,
)

# --- 11.3 and 11.4


def shares(rng: Random) -> list[tuple[Any, Any]]:
    """Draw cotangents and points for a division by the total."""

    def row(low: float, count: int) -> Tensor:
        return torch.tensor([rng.uniform(low, 2) for _ in range(count)], dtype=torch.float64)

    return [(row(-2, count), row(0.2, count)) for count in (2, 3, 5)]


SHARE = Function(
    id="11.3",
    asks="share_backward(g, x), mended, which returns the gradient of x for y = x / x.sum()",
    inputs=shares,
    without=("backward", "grad"),
    right="The mean you subtract is weighted by the shares. With ones for g all means are equal, "
    "so the bug didn't show.",
    hints=(
        "x_i is in the numerator of y_i, and in the denominator of every y_j: two terms.",
        "The term of the numerator is g_i / S. The derivative of x_j / S by S is -x_j / S**2, "
        "and it is multiplied by g_j and summed over j.",
    ),
    mistakes="""
        ~ (g * x).sum() / total => g.mean()
        ~ (g * x).sum() / total => g.sum()
            Every g_j still has the same weight, as in the colleague's rule.
        ~ (g - (g * x).sum() / total) => g
            The denominator depends on x, too. One term is missing.
        ~ (g * x).sum() / total) => (g * x).sum())
            Nearly right: divide the second term by the total once more.
        ~ g - ( => g + (
            Your two terms have the same sign. What does y_j do when the total grows?
        ~ .sum() / total => / total
            The second term is a sum over all j. Yours uses one entry only.
        ~ total) / total => total)
        ~ total) / total => total) / total**2
        ~ (g * x).sum() / total => (g * x).sum() / total**2
            One term is divided by the total too often, or not often enough.
        ~ (g * x).sum() => x * g.sum()
        ~ (g * x).sum() => g.sum()
            In the second term x_j belongs with g_j, inside the sum over j.
        ~ (g * x).sum() / total => (g * x).mean()
        ~ (g * x).sum() => (g * x).mean()
            You took a mean over the entries. Weight each g_j by its share.
        ~ .sum() / total => .sum() / g.sum()
            The weights are the shares of x, not those of g.
        ~ total) / total => total) / total * x
            That's softmax's rule. Nothing is exponentiated here, so y isn't a factor.
        ~ return ( => return -(
            Both terms are there, each with the wrong sign.
        ~ return ( => return 0 * (
            Zeros are right for a cotangent of ones, and for no other.
        ~ x): => x, kept=[]):
        | total = x.sum() => kept.append(x.sum()); total = kept[0]
        ? alike(seen[0], right[0]) and not any(map(alike, seen[1:], right[1:]))
            Only the first case is right. What do you keep from an earlier call?
        ~ g * x => g * torch.ones(7)
        ! size of tensor, shape
            g and x come in several lengths. Does the rule use a tensor of the notebook?
    """,
)

IN_FLOAT32 = Choice(
    id="11.4",
    asks="why gradcheck refuses a right rule for float32 inputs",
    right="The rule is right, and the quotient isn't exact enough: a false alarm.",
    model="The two values that are subtracted differ by about 2e-6, and float32 has rounded each "
    "of them by up to 6e-8, so the quotient keeps only a digit or two.",
    hints=(
        "In the figure, how large is the error of the float32 curves at h = 1e-6?",
        "How many float32 numbers, 6e-8 apart, are between sin(0.7 - 1e-6) and sin(0.7 + 1e-6)?",
    ),
    mistakes="""
        = "a"
            Compare by_backward in both precisions: in which digit do they differ?
        = "c"
            It warned, and then it ran anyway. What did the comparison fail on?
        = "d"
            One in a thousand is three digits, and float32 has seven. Which of the two Jacobians
            has lost the other four?
    """,
)

# --- 11.5

ACCEPTED, RIGHT, WRONG = "accepted", "right everywhere", "wrong somewhere"


def sly_run(rule: Answer) -> dict[str, Any]:
    """Let gradcheck look at a rule for the cube, and then look at it in many more places."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            found = rule(g, *ctx.saved_tensors)
            if not isinstance(found, Tensor):
                raise Objection(f"sly_backward has to return a tensor, not {describe(found)}.")
            return found

    point = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64, requires_grad=True)
    try:
        torch.autograd.gradcheck(Cube.apply, point)
        verdict = ACCEPTED
    except GradcheckError as error:
        verdict = "refused: " + str(error).partition(",")[0]
    return {"gradcheck's verdict": verdict, "the rule": looked_at_widely(rule)}


def looked_at_widely(rule: Answer) -> str:
    """Compare a rule for the cube with the right one, at many points and cotangents."""
    rng, point = Random(11), [0.5, 1.0, 2.0]
    sizes = (0.0, 1e-6, 1e-3, 0.1, 0.25, *(each / 2 for each in range(1, 21)), 100.0, 1e3, 1e6)
    tried = [([0.7], [1.5]), ([0.7, 0.2], [1.5, -0.4]), ([2.0, -1.0, 0.0], point)]
    scales = (0.3, 0.5, 1.0, 2.0, 3.0, 10.0, 1e4, 1e6)
    tried += [([sign * scale] * 3, point) for scale in scales for sign in (1, -1)]
    for size in sizes * 3:
        draws = [rng.choice(scales) * rng.uniform(-1, 1) for _ in range(3)]
        tried.append((draws, [size, -size, rng.uniform(-3, 3)]))
    for dtype, tolerance in ((torch.float64, 1e-12), (torch.float32, 1e-5)):
        for cotangent, place in tried:
            g, x = (torch.tensor(values, dtype=dtype) for values in (cotangent, place))
            due = 3 * g * x**2
            try:
                found = rule(g.clone(), x.clone()).to(dtype)
            except (RuntimeError, ValueError, IndexError):
                if len(place) == 3:
                    raise
                return WRONG  # made for three entries
            if found.shape != due.shape or not torch.allclose(found, due, tolerance, 1e-300):
                return WRONG
    return RIGHT


SLY = Hook(
    id="11.5",
    asks="sly_backward(g, x), a backward for y = x**3 that gradcheck accepts at (0.5, 1, 2) "
    "and that is wrong somewhere",
    scenario=sly_run,
    right="Once you can fool a check, you know what it looks at: a few points, unit cotangents, "
    "and a tolerance.",
    hints=(
        "What does gradcheck never try: which x, which g, which size of an error?",
        "All entries of the point are positive. Which functions agree with x**2 only there?",
    ),
    mistakes="""
        ~ x.abs() => x
            This rule is right everywhere. Now make it wrong where gradcheck doesn't look.
        = lambda g, x: 3 * g * x * x.abs() + 1e-9 * torch.rand_like(x)
        ? "reentrant" in seen["gradcheck's verdict"]
            gradcheck runs every backward pass twice. Be wrong in the same way each time.
        ~ 3 * g => g
        ? seen["gradcheck's verdict"] != ACCEPTED
            Your rule is wrong, but gradcheck sees it. Be right at its point, for unit cotangents.
    """,
)

# --- 11.6


def small_models() -> Iterator[tuple[list[Any], list[Any], Answer]]:
    """Give the parameters, the directions and the loss of two models."""
    rng = Random(6)

    def leaf(*shape: int) -> Any:
        values = [rng.randint(-16, 16) / 16 for _ in range(math.prod(shape))]  # nothing is rounded
        return torch.tensor(values, dtype=torch.float64).reshape(shape).requires_grad_()

    weight, bias, row, number, square = leaf(2, 2), leaf(2), leaf(3), leaf(), leaf(2, 2)
    data = leaf(3, 2).detach()
    losses: list[tuple[list[Any], Answer]] = [
        ([weight, bias], lambda: ((data @ weight + bias + 1) ** 3).mean()),
        ([row, number, square], lambda: (row * number).exp().sum() * (square @ square).sum().sin()),
    ]
    for parameters, loss in losses:
        yield parameters, [2 * leaf(*each.shape).detach() for each in parameters], loss


def direction_run(answer: Answer) -> dict[str, Any]:
    """Check two small models along a direction, and look at what the check leaves behind."""
    seen: dict[str, Any] = {}
    for parameters, directions, compute in small_models():
        kept, moved = list(parameters), [0]
        for parameter in kept[1:]:
            parameter.grad = torch.full_like(parameter, 7.0)
        before = [each.detach().clone() for each in kept]

        def off(by: float, kept: list[Any] = kept, before: list[Any] = before) -> bool:
            pairs = zip(kept, before, strict=True)
            return not all(torch.allclose(a.detach(), b, 0.0, by) for a, b in pairs)

        def loss(compute: Answer = compute, off: Answer = off, moved: list[int] = moved) -> Any:
            moved[0] += off(1e-6)
            return compute()

        pair = answer(loss, parameters, directions, 2.0**-6)
        numbers = [as_number(each) for each in pair] if isinstance(pair, tuple | list) else []
        if len(numbers) != 2 or None in numbers:
            raise Objection(f"It has to return a pair of numbers, not {describe(pair)}.")
        grads = [each.grad is not None and {*each.grad.reshape(-1).tolist()} for each in kept]
        of_this = f"with {len(kept)} parameters"
        seen |= {
            f"the first number {of_this}": numbers[0],
            f"the second number {of_this}": numbers[1],
            f"whether the parameters are where they were, {of_this},": not off(1e-9),
            f"whether their .grad is as it was, {of_this},": grads
            == [False, *[{7.0}] * len(kept[1:])],
            f"whether loss was called at two other places {of_this}": moved[0] > 1,
        }
    return seen


DIRECTION = Hook(
    id="11.6",
    asks="check_direction(loss, parameters, directions, h), which returns the slope along the "
    "directions by two forward passes, and by one backward pass",
    scenario=direction_run,
    digits=8,
    right="Three forward passes, for any number of parameters. A random direction misses a wrong "
    "gradient only by bad luck.",
    hints=(
        "Take the gradients first, with torch.autograd.grad. Then move all parameters by h "
        "times their direction, inside torch.no_grad().",
        "Move by h, call loss, move by -2 * h, call loss, move by h. The second number is the sum "
        "of (gradient * direction).sum() over the parameters.",
    ),
    mistakes=r"""
        ~ .item()\n    move(h) => .item()
        ? False in [seen[name] for name in seen if "where they were" in name]
            The parameters are not where they were. Move them back.
        ~ torch.autograd.grad(loss(), parameters) => loss().backward() or [p.grad for p in parameters]
        ? False in [seen[name] for name in seen if ".grad" in name]
            The parameters' .grad was changed. torch.autograd.grad leaves it alone.
        ~ move(-2 * h) => move(-h)
        | .item()\n    move(h) => .item()
        | (2 * h) => h
            That's a one-sided quotient: take a step to the other side, too.
        ~ move(-2 * h) => move(-h)
        | .item()\n    move(h) => .item()
            Your second point is where you started. Go back by twice the step.
        ~ / (2 * h) => / h
            The two points are 2 * h apart.
        ~ / (2 * h), => ,
            The first number is a difference. Divide it by the distance.
        ~ (up - down) / (2 * h), predicted.item() => predicted.item(), (up - down) / (2 * h)
            Right numbers in the wrong order: first by steps, then by backward.
        ~ (g * d) => g
        ~ (g * d) => (g * g)
            You summed the gradients without their directions. Multiply first.
        ~ (g * d).sum() => (g * d).mean()
            In the second number you took a mean over entries. The formula has a sum.
        ~ gradients = => move(h)\n    gradients =
        | parameters)\n    move(h) => parameters)
        ~ gradients = => move(-h)\n    gradients =
        | parameters)\n    move(h) => parameters)\n    move(2 * h)
            Take the gradients at the point in the middle, before you move anything.
        ~ def move => parameters, directions = parameters[:1], directions[:1]\n    def move
        ~ zip(gradients, directions, => zip(gradients[:1], directions[:1],
            You only use the first parameter. Move all of them together.
        ~ parameter.add_(direction, alpha=distance) => parameter + direction
            loss() reads the parameters themselves. Move them in place, not copies of them.
        ~ def move => h = 1e-3\n    def move
        ? 0 < abs(trials[0].result / trials[1].result - 1) < 1e-5
            Use the step h that you're given. You measured with another one.
        ~ (up - down) / (2 * h) => predicted.item()
        ? trials[0].result == trials[1].result
            Both numbers come from backward. Measure the first: move, and call loss().
        ~ with torch.no_grad() => if True
        ! leaf
            You can change a leaf that requires grad only inside torch.no_grad().
        ~ grad(loss(), => grad(loss,
        ! 'function', builtin_function
            loss is a function: loss() computes the number.
        ~ gradients = => with torch.no_grad(): gradients =
        ! does not require grad
            A gradient needs a recorded forward pass: call loss() outside of torch.no_grad().
        ~ def move => first, second = parameters\n    def move
        ! to unpack, size of tensor, out of range
            There may be any number of parameters, of any shapes.
    """,
)

EXERCISES = [STEPS, CENTRAL, SHARE, IN_FLOAT32, SLY, DIRECTION]
