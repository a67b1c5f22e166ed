"""Check the exercises of lesson 12, on derivatives of derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.autograd import grad
from minigrad.classroom import Choice, Hook, Numbers
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import describe

Answer = Callable[..., Any]

# --- 12.1

TERMS = Numbers(
    id="12.1",
    asks="two terms of the second derivative of L with respect to x and a: the one through y, then the one "
    "from the factor",
    right="The second is -0.648 / 1.5, the slope without its factor a.",
    hints=(
        "In each term a changes in only one of the two places. The other one stays as it is.",
        "Through y: how far does y move when a does? The rest, 4ax, stays. From the factor: drop "
        "a, and leave everything else.",
    ),
    mistakes="""
        ~ 4 * a * x**3 => 4 * x**3
            In the first term the factor a is missing. You don't differentiate it there, so it stays.
        ~ 4 * a * x**3 => 4 * a * x
        ~ 4 * a * x**3 => 4 * a
            In the first term it isn't enough to differentiate with respect to y: how far does y
            move when a does?
        ~ 4 * a * x**3 => 8 * a**2 * x**2
        ~ 4 * a * x**3 => 8 * a * x**2
            In the first term you changed x inside y. Here a changes.
        ~ 4 * a * x**3 => 4 * a * x**2
            In the first term a factor x is missing: one x is in the factor 4ax, and x squared is
            in y.
        ~ 4 * a * x**3, 4 => -4 * a * x**3, 4
        ~ (y - 1)) => (1 - y))
            One of the signs is wrong. Does y grow with a? And is y above 1 or below it?
        ~ 4 * x * (y - 1) => 4 * x
        ~ 4 * x * (y - 1) => 4 * (y - 1)
            In the second term you drop only the factor a. 4x and y - 1 both stay.
        ~ 4 * x * (y - 1) => 4 * a * x * (y - 1)
            The second term has the whole slope in it. Its derivative with respect to the factor a
            doesn't contain a any more.
        ~ 4 * x * (y - 1) => 2 * x * (y - 1)
            In the second term a factor of 2 is missing. The slope begins with 4.
        ~ (4 * a * x**3, 4 * => [4 * a * x**3 + 4 *
        | (y - 1)) => (y - 1)]
            That's the sum. Give the two terms one by one.
    """,
)

# --- 12.2


def tensor(data: Any, requires_grad: bool = False) -> Tensor:
    """Make a tensor of float64."""
    return torch.tensor(data, dtype=torch.float64, requires_grad=requires_grad)


def hvp_run(answer: Answer) -> dict[str, Any]:
    """Multiply with two Hessians, and count the backward passes for a larger one."""
    passes = []

    def f(x: Tensor) -> Tensor:
        z = x * 1.0
        if z.requires_grad:
            z.register_hook(lambda gradient: passes.append(1))
        return (z**3).sum() + z[0] * z[1] * z[-1]

    x, ready = tensor([0.5, -1.0, 2.0]), tensor([1.5, 0.25], requires_grad=True)
    product = answer(f, x, tensor([1.0, -2.0, 0.5]))
    again = answer(lambda z: (z[0] * z[1]).sin() + z.exp().sum(), ready, tensor([-0.5, 3.0]))
    passes.clear()
    many = torch.linspace(-1, 1, 40, dtype=torch.float64)
    answer(f, many, many)
    return {
        "the product for f(x) = sum(x**3) + x[0]*x[1]*x[2] at (0.5, -1, 2) with (1, -2, 0.5)": (
            product
        ),
        "the product for f(x) = sin(x[0]*x[1]) + sum(exp(x)) at (1.5, 0.25) with (-0.5, 3)": again,
        "the number of backward passes for 40 inputs": max(2, len(passes) - 2),
        "x.requires_grad after the call": x.requires_grad,
        "x.grad after the call": x.grad,
        "x.grad of an x that required a gradient before": ready.grad,
    }


HVP = Hook(
    id="12.2",
    asks="hvp(f, x, v), which returns the product of the Hessian of f at x with v, without "
    "building the matrix",
    scenario=hvp_run,
    without=("hessian", "jacobian", "hvp", "vhp", "hessian_by_rows", "jacrev", "jacfwd"),
    right="Two backward passes, for three inputs or for a million.",
    hints=(
        "Which one number has H v as its gradient, and what do you need to make it?",
        "Take a detached copy of x that requires a gradient. Take the gradient of f with "
        "create_graph=True, multiply it by v, sum it up, and take the gradient of that sum.",
    ),
    mistakes="""
        ~ , create_graph=True =>
        ~ x.detach().requires_grad_() => x
        ! not require grad
            What you differentiate has no graph. Does x require a gradient? And was the first
            gradient taken with create_graph=True, and not detached?
        ~ (gradient * v).sum() => gradient * v
        ! only for scalar outputs
            grad starts from one number. The gradient times v has several: sum them up.
        ~ def hvp(f, x, v): => def hvp(f, x, v, kept={}):
        | return grad((gradient * v).sum(), x)[0] => x, gradient = kept.setdefault(0, (x, gradient)); return grad(gradient, x, v, retain_graph=True)[0]
        ! has a shape of torch.Size([2]), must match the size, appears to not have been used
            The second call comes with another f and another x. What is kept from the first?
        ~ f(x), x, => f(x), x, v,
        ! Mismatch in shape
            f(x) is one number, so the first pass can't take v: v has the shape of the gradient.
        ~ x)[0] => x)[0] + gradient.detach()
            The first gradient is still in there: backward adds to .grad. Use grad, or empty .grad
            before the second pass.
        ~ [0] =>
            grad returns a tuple, one gradient for each input. Take the tensor out of it.
        = lambda f, x, v: 8 * (x * v).sum() * x + 4 * (x * x).sum() * v
            That's right for the f in the text, (v . v)^2, and for no other.
        ~ grad((gradient * v).sum(), x)[0] => gradient * (gradient * v).sum()
            Gradient times gradient isn't a second derivative. Differentiate the dot product.
        ~ grad((gradient * v).sum(), x)[0] => gradient * v
            That is the gradient times v entry by entry. Sum it up, and differentiate.
        ~ grad((gradient * v).sum(), x)[0] => (gradient * v).sum()
            That is the gradient times v, one number. The product is the gradient of that number.
        ~ grad((gradient * v).sum(), x)[0] => gradient
            That is the gradient of f, differentiated once. You haven't used v yet.
        ~ (gradient * v).sum() => gradient.sum()
            That is the product with a vector of ones: v is missing in the dot product.
        ~ (gradient * v).sum(), x)[0] => gradient.sum(), x)[0] * v
            You multiplied by v after the second gradient. Multiply before it: you need the gradient
            of the dot product.
        ~ grad((gradient * v).sum(), x)[0] => torch.stack([grad(g, x, retain_graph=True)[0] for g in gradient]) @ v
        ? seen["the number of backward passes for 40 inputs"] > 2 and alike(trials[0].result, [*right.values()][0])
            The product is right, and it took a backward pass for each row of the matrix.
            Differentiate one number, the dot product, instead.
        ~ x.detach().requires_grad_() => x.requires_grad_()
        ? seen["x.requires_grad after the call"]
            The caller's x requires a gradient now. Work on a detached copy.
        ~ x.detach().requires_grad_() => x if x.requires_grad else x.detach().requires_grad_()
        | return grad((gradient * v).sum(), x)[0] => (gradient * v).sum().backward(); return x.grad
        ? seen["x.grad of an x that required a gradient before"] is not None
            The .grad of the caller's x was filled. Work on a detached copy, and use grad.
        ~ grad((gradient * v).sum(), x)[0] => (grad(f(y := x + 1e-3 * v), y)[0] - gradient) / 1e-3
        ? alike(trials[0].result, [*right.values()][0], 2) and not alike(trials[0].result, [*right.values()][0], 6)
            A difference of gradients comes close, but only as close as its step allows.
            Differentiate the dot product.
    """,
)

# --- 12.3 and 12.4

UNCONNECTED = "none: no path leads from the penalty back to the weights"
OF_WEIGHT = "the gradient that the penalty gives to the first weight"


def penalty_run(answer: Answer) -> dict[str, Any]:
    """Compute a penalty on a small network, and see what of it reaches the weights."""
    network: Any = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)).double()
    with torch.no_grad():
        for at, parameter in enumerate(network.parameters()):
            entries = [math.sin(1.0 + at + 2.3 * index) for index in range(parameter.numel())]
            parameter.copy_(tensor(entries).reshape(parameter.shape))
            parameter.grad = torch.full_like(parameter, 7.0)
        network[2].weight.mul_(10)
    x = tensor([[0.5, -1.0], [1.5, 0.25], [-0.75, 2.0], [4.0, -4.0]])
    value, weight, gradient = answer(network, x, 1.5), network[0].weight, None
    grads = [each.grad for each in network.parameters()]
    if getattr(value, "requires_grad", False):
        (gradient,) = grad(value, weight, allow_unused=True)
    ready = tensor([[0.25, 0.5]], requires_grad=True)
    return {
        "the penalty": value,
        OF_WEIGHT: UNCONNECTED if gradient is None else gradient,
        "the .grad of the parameters": [each if each is None else each.mean() for each in grads],
        "x.requires_grad after the call": x.requires_grad,
        "x.grad after the call": x.grad,
        "the penalty of one row, with the limit 0.75,": answer(network, ready, 0.75),
        "x.grad of an x that required a gradient before": ready.grad,
    }


PENALTY = Hook(
    id="12.3",
    asks="mended_penalty(f, x, limit), which squares how far each row's slope is longer than the "
    "limit, and returns the mean over the rows of x, with a graph that leads to the weights of f",
    scenario=penalty_run,
    right="Now the penalty has a graph, and each point has its own slope.",
    hints=(
        "Which argument of grad makes its result differentiable? And how many slopes does a "
        "batch of eight points have?",
        "Work on x.detach().requires_grad_(), take the gradient with create_graph=True, and "
        "take the norm of each row: norm(dim=1).",
    ),
    mistakes=r"""
        ~ x.detach().requires_grad_() => x
        ~ (slopes,) = grad(f(x).sum(), => with torch.no_grad(): y = f(x)\n    (slopes,) = grad(y.sum(),
        ! does not require grad
            What you differentiate has no graph. x came without requires_grad: did you make a copy
            that requires a gradient before f was called, and was the forward pass recorded?
        ~ (slopes,) = grad(f(x).sum(), x, => (slopes,) = grad(f(x).sum(), x.clone(),
        ! not have been used
            You differentiate by a tensor that f hasn't seen: call f on the very copy that
            requires a gradient.
        ~ f(x).sum() => f.sum()
        ! 'Sequential' object has no attribute
            The first argument is the network itself and not its output: call it.
        ~ , create_graph=True =>
        ~ slopes.norm => slopes.detach().norm
        ~ .mean() => .mean().item()
        ? seen[OF_WEIGHT] == UNCONNECTED
            No path leads from the penalty back to the weights. What records a backward pass? And
            does anything cut the graph after it?
        ~ norm(dim=1) => norm()
            The graph is there now. The second bug still is, too: one norm for the whole batch,
            though each row has its own slope.
        ~ norm(dim=1) => norm(dim=0)
            The norm runs over the points: it should run over the entries of one slope.
        ~ f(x).sum() => f(x).mean()
            The mean of the outputs divides each slope by the number of points. Take the sum.
        ~ .clamp(min=0) =>
            Slopes below the limit add to the penalty. They should add nothing.
        ~ ** 2).mean() => ).mean()
            That is the excess itself. You are asked for its square.
        ~ .clamp(min=0) ** 2).mean() => .mean().clamp(min=0) ** 2)
        ~ .clamp(min=0) ** 2).mean() => .clamp(min=0).mean() ** 2)
            The mean comes too early. Clamp and square row by row, then take the mean.
        ~ min=0 => max=0
            That keeps the slopes below the limit: clamp(min=0) keeps those above it.
        ~ ((slopes.norm(dim=1) - limit).clamp(min=0) ** 2) => ((e := slopes.norm(dim=1) - limit)[e > 0] ** 2)
            You divide by the number of steep rows. The mean is over all of them.
        ~ norm(dim=1) - limit => norm(dim=1) ** 2 - limit
        ~ norm(dim=1) - limit).clamp(min=0) ** 2 => norm(dim=1) ** 2 - limit**2).clamp(min=0)
            You squared too early: subtract the limit from the length, then square.
        ~ .mean() => .max()
            Only the steepest row counts here. Take the mean over all rows.
        ~ - limit => - 0 * limit
            The limit isn't used.
        ~ - limit => - 0.5
        ~ - limit => - 1
            The limit is an argument: use the one you're given.
        ~ norm(dim=1) => norm(1)
        ~ norm(dim=1) => norm(1, dim=1)
        ~ slopes.norm(dim=1) => slopes.abs()
            The length of a slope is the root of the sum of its squares. norm's first argument says
            which norm it computes.
        ~ .mean() => .sum()
            That adds the points up. You're asked for their mean.
        ~ (slopes,) = grad(f(x).sum(), x, create_graph=True) => f(x).sum().backward(create_graph=True)\n    slopes = x.grad
        ~ x = => f.zero_grad(); x =
        ? seen["the .grad of the parameters"] != right["the .grad of the parameters"]
            The .grad of the parameters has changed, and the caller may still need what was in it.
            grad leaves it alone.
        ~ x.detach().requires_grad_() => x.requires_grad_()
        ? seen["x.requires_grad after the call"]
            The caller's x requires a gradient now. Work on a detached copy.
    """,
)

WITH_RELU = Choice(
    id="12.4",
    asks="your judgment on ReLU and the gradient penalty",
    right="Both derivatives with respect to x give zero. If one is with respect to a weight, they don't.",
    model="The slope of such a network is a product of its weights, and the penalty is "
    "differentiated with respect to the weights, not to x again, so its gradient isn't zero.",
    hints=(
        "Write down f(x) = w_1 * relu(w_0 * x) at a point where the input of relu is positive. "
        "What's its slope?",
        "The slope is w_1 * w_0. Is its derivative with respect to x zero? And with respect to w_1?",
    ),
    mistakes="""
        = "a"
            Both derivatives with respect to x give zero. But the penalty's gradient is with respect
            to what?
        = "b"
            retain_graph keeps a graph from being freed. It computes nothing new.
        = "d"
            It doesn't: look at the Hessian of a small ReLU network. All entries are zero.
    """,
)

# --- 12.5

SQUARED = Numbers(
    id="12.5",
    asks="two numbers: g, and the gradient of g, for x**3 at 5 with the squaring hook",
    right="g became 9x^4, and 36x^3 is its derivative: the hook was differentiated.",
    hints=(
        "The hook turns g into a new function of x. Which one?",
        "g is (3x^2)^2. The hook doesn't run again in the second pass, so the second number is the "
        "plain derivative of this formula.",
    ),
    mistakes="""
        = (75, 30)
            That's without the hook. What the hook returns replaces grad_input.
        ~ 2 * 75.0 * 30.0 => 30.0**2
        ~ 2 * 75.0 * 30.0 => (2 * 75.0 * 30.0)**2
            The first fits. The second is squared as if the hook ran again. Does the second pass
            arrive at the output gate?
        ~ 2 * 75.0 * 30.0 => 30.0
            The first fits. The second number is the derivative of what the hook made, not of what
            it got.
        ~ 2 * 75.0 => 75.0
        ~ * 75.0 * 30.0 => * 75.0
        ~ * 75.0 * 30.0 => * 75.0**2
            The first fits. The derivative of a square has three factors: 2, what was squared, and
            the derivative of that.
        = (3 * 5**4, 12 * 5**3)
        ? answer[0] == 3 * 5**4
            (3x^2)^2 is not 3x^4: the 3 is squared, too.
        = (6 * 5**5, 30 * 5**4)
        ? answer[0] == 6 * 5**5
            You squared before differentiating. The hook gets the derivative, and squares that.
        = (125**2, 6 * 5**5)
        ? answer[0] == 125**2
            You squared x**3. The hook squares the gradient.
        ~ 75.0**2 => 75.0
        ? answer[0] == 75
            g is already what the hook returned in the first pass.
        = (150, 60)
            The hook squares the gradient. You doubled it.
        ~ 2 * 75.0 * 30.0 => 120.0
        ? answer[0] == 75**2 and len(answer) == 2
            The first fits. Write g as a formula in x, the hook included, and differentiate it.
    """,
)

# --- 12.6


def tower_run(answer: Answer) -> dict[str, Any]:
    """Build towers over functions whose derivatives never end, end, or lead elsewhere."""
    weight = tensor(3.0, requires_grad=True)

    def floors(f: Answer, x: float, n: int) -> Any:
        found = answer(f, x, n)
        if not isinstance(found, list | tuple | Tensor | np.ndarray):
            raise Objection(f"It returned {describe(found)}. You are asked for a list.")
        return found

    return {
        "tower(torch.exp, 1.0, 4)": floors(torch.exp, 1.0, 4),
        "tower(lambda x: x**3, 5.0, 2)": floors(lambda x: x**3, 5.0, 2),
        "tower(torch.sin, 0.5, 0)": floors(torch.sin, 0.5, 0),
        "tower(lambda x: x**3, 5.0, 6)": floors(lambda x: x**3, 5.0, 6),
        "tower(lambda x: w * x, 2.0, 3), where w = 3 requires a gradient,": floors(
            lambda x: weight * x, 2.0, 3
        ),
        "w.grad": weight.grad,
        "tower(torch.sin, 0.0, 5)": floors(torch.sin, 0.0, 5),
        "tower(lambda x: x**2.5, 1.75, 5)": floors(lambda x: x**2.5, 1.75, 5),
    }


TOWER = Hook(
    id="12.6",
    asks="tower(f, x, n), which returns the list of f(x) and its first n derivatives at x",
    scenario=tower_run,
    digits=4,
    right="With these numbers you can write down a Taylor series.",
    hints=(
        "When does a derivative have no graph, and what are all the derivatives after it?",
        "Ask current.requires_grad before each step; if it is False, go on with zeros. And "
        "materialize_grads=True makes grad return zeros where no path leads to x.",
    ),
    mistakes=r"""
        ~ if current.requires_grad => if True
        ! does not require grad
            You came to a derivative without a graph, a constant, and grad refused it. Ask for
            requires_grad before you differentiate. What comes after a constant?
        ~ , materialize_grads=True =>
        ! not to have been used, not have been used
            w * x has the derivative w. That requires a gradient, but its graph doesn't lead to x.
            grad has an argument that turns this case into zeros.
        ~ torch.tensor(x, requires_grad=True) => x
        ! must be Tensor, Symbol, 'float' object
            Call f on a tensor. It may use anything that tensors can do, and plain numbers can't.
        ~ return floors => return floors[1:]
        ~ return floors => return floors[1:]
        | n + 1 => n + 2
            f(x) itself is the first entry of the list, before any derivative.
        ~ current.item() => current.item() / math.factorial(len(floors))
            Those are divided by factorials: the coefficients of a Taylor series. You're asked for
            the derivatives themselves.
        ~ create_graph=True, =>
            After the first derivative come zeros. Does the first step leave a graph? Or does a
            caught error hide that it doesn't?
        ~ current = grad(current, x, create_graph=True, materialize_grads=True)[0] => current.backward(create_graph=True); current = 1 * x.grad if x.grad is not None else 0 * x
        ? alike(trials[1].result, [125.0, 75.0, 105.0])
            backward adds each derivative to what is in .grad. Use grad, or empty .grad between
            two steps.
        ~ current = grad(current, x, create_graph=True, materialize_grads=True)[0] => found = grad(current, x, create_graph=True, allow_unused=True)[0]; current = current if found is None else found
        ? alike(trials[4].result, [6.0, 3.0, 3.0, 3.0]) and alike(trials[1].result[1], 75.0)
            You repeat the last derivative. What is the derivative of a constant?
        ~ if current.requires_grad => if current.requires_grad and (current != 0 or len(floors) < 2)
            A derivative that is zero at this x may not be zero elsewhere: sin goes on at 0. Ask
            whether it has a graph, not for its value.
        ~ if current.requires_grad => if current.requires_grad and len(floors) < 4
            The list has a fixed length. Differentiate n times, however large n is.
        ~ return floors => while floors[-1] == 0 and len(floors) > 1: floors.pop()\n    return floors
        ? alike(trials[1].result, [125.0, 75.0, 30.0]) and len(trials[3].result) < 7
            The list ends where the derivatives become zero. Zeros are derivatives too: the list
            has n + 1 entries.
        ~ current, floors = f(x), [] => current, floors = f(x), []; f(x).backward()
        ? seen["w.grad"] is not None
            You filled the .grad of another tensor in f. grad leaves it alone.
        ~ n): => n):\n    if n: return [f(torch.tensor(x)).item(), *tower(lambda t: (f(t + 1e-3) - f(t)) / 1e-3, x, n - 1)]
        ? alike(trials[0].result[1], math.e, 2) and not alike(trials[0].result[1], math.e, 4)
            A small step gives a derivative with few correct digits, and the next one has fewer. Use
            grad.
    """,
)

EXERCISES = [TERMS, HVP, PENALTY, WITH_RELU, SQUARED, TOWER]
