"""Check the exercises of lesson 12, on derivatives of derivatives."""

from __future__ import annotations

from minigrad.classroom.answers import Choice, Numbers
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.runs_12 import (
    PRODUCT,
    UNCONNECTED,
    agree,
    cube_with,
    first_gradient,
    hvp,
    hvp_run,
    mixed,
    penalty,
    penalty_run,
    stumbled,
    tower,
    tower_run,
)

_EXP_3 = [2.718281828459045] * 4

EXERCISES = [
    Numbers(
        id="12.1",
        asks="two terms of the second derivative of L by x and w_0: the one through s, then the "
        "one of the factor",
        expected=lambda: (mixed(factor=0), mixed(through=0)),
        right="The second is ten times the first, and an old acquaintance: dL/dx_1.",
        hints=(
            "For each term one of the two places moves, and the other one stands still.",
            "Through s: the derivative of 4s(s^2 - 1) by s is 12 s^2 - 4, s moves by w_1 * x, and "
            "w_1 * w_0 stands still. Of the factor: take w_0 away, and leave all else as it is.",
        ),
        mistakes=[
            Mistake(
                "In the first term a factor w_1 is missing: w_0 moves x_1, and w_1 times that "
                "moves s.",
                when=lambda answer: abs(float(answer[0]) - mixed(through=1 / 0.4, factor=0)) < 1e-4,
            ),
            Mistake(
                "In the first term the slope's own factor w_1 * w_0 is missing: it stands still, "
                "but it stays.",
                when=lambda answer: abs(float(answer[0]) - mixed(factor=0) / 0.12) < 1e-3,
            ),
            Mistake(
                "In the first term it is not enough to differentiate by s: how far does s move "
                "when w_0 does?",
                when=lambda answer: abs(float(answer[0]) - mixed(factor=0) / 0.12**2) < 1e-2,
            ),
            Mistake(
                "In the second term a factor is missing. Which one stands beside w_0 in the slope, "
                "and stays?",
                when=lambda answer: abs(float(answer[1]) - mixed(through=0) / 0.4) < 1e-4,
            ),
            Mistake(
                "The second term has the whole slope in it. Its derivative by the factor w_0 does "
                "not contain w_0 any more.",
                when=lambda answer: abs(float(answer[1]) - mixed(through=0) * 0.3) < 1e-4,
            ),
            Mistake(
                "The sum of both is asked for by nobody: give the two terms one by one.",
                when=lambda answer: any(abs(float(entry) - mixed()) < 1e-3 for entry in answer),
            ),
        ],
    ),
    Hook(
        id="12.2",
        asks="hvp(f, x, v), which returns the product of the Hessian of f at x with v, without "
        "building the matrix",
        scenario=hvp_run,
        reference=hvp,
        without=("hessian", "jacobian", "hvp", "vhp", "hessian_by_rows", "jacrev", "jacfwd"),
        right="Two backward passes, for three inputs or for a million.",
        hints=(
            "Which one number has H v as its gradient, and what does its making need?",
            "Take a detached copy of x that requires a gradient. Take the gradient of f with "
            "create_graph=True, multiply it with v, sum it up, and take the gradient of that sum.",
        ),
        mistakes=[
            Mistake(
                "Something that is to be differentiated has no past. Either x does not require a "
                "gradient: take a detached copy that does. Or the first gradient was taken without "
                "create_graph=True, or was detached.",
                when=stumbled("not require grad"),
            ),
            Mistake(
                "grad wants one number to start from. The gradient times v has several: sum them "
                "up.",
                when=stumbled("only for scalar outputs"),
            ),
            Mistake(
                "That is the gradient times v, one number. The Hessian's product is the gradient "
                "of that number.",
                like=lambda f, x, v: (first_gradient(f, x) * v).sum(),
            ),
            Mistake(
                "That is the gradient of f, differentiated once. v has not come in yet.",
                like=lambda f, x, v: first_gradient(f, x),
            ),
            Mistake(
                "That is the product with a vector of ones: sum(gradient) instead of the dot "
                "product with v.",
                like=lambda f, x, v: hvp(f, x, v / v),
            ),
            Mistake(
                "You multiplied with v after the second gradient. It has to come in before: the "
                "dot product is what is differentiated.",
                like=lambda f, x, v: hvp(f, x, v / v) * v,
            ),
            Mistake(
                "The product is right, and it took a backward pass for each row of the matrix. "
                "Differentiate one number, the dot product, instead.",
                when=lambda found: (
                    found[1].result > 2 and agree(found[0].result, hvp_run(hvp)[PRODUCT])
                ),
            ),
            Mistake(
                "The product is right, and the caller's x requires a gradient now. Work on a "
                "detached copy.",
                when=lambda found: found[2].result is True,
            ),
            Mistake(
                "Nothing came back: is a return missing, or the [0] that takes the tensor out of "
                "the tuple?",
                when=lambda found: found[0].result is None and found[0].trouble is None,
            ),
        ],
    ),
    Hook(
        id="12.3",
        asks="mended_penalty(f, x, limit), the mean over the rows of x of the squared excess of "
        "the slope's length over the limit, through which the weights of f can be trained",
        scenario=penalty_run,
        reference=penalty,
        right="Now the penalty has a past, and each point has a slope of its own.",
        hints=(
            "Which argument of grad makes its result differentiable? And how many slopes does a "
            "batch of eight points have?",
            "Work on x.detach().requires_grad_(), take the gradient with create_graph=True, and "
            "take the norm of each row: norm(dim=1).",
        ),
        mistakes=[
            Mistake(
                "x came without requires_grad, so nothing can be differentiated by it. Work on a "
                "copy that requires a gradient.",
                when=stumbled("not have been used", "does not require grad"),
            ),
            Mistake(
                "Slopes and penalty are there, but no way leads from the penalty back to the "
                "weights. What records a backward pass? And does anything cut the graph behind it?",
                when=lambda found: found[1].result == UNCONNECTED and found[0].trouble is None,
            ),
            Mistake(
                "The graph is there now. The second bug is still in: one norm for the whole batch, "
                "where each row has a slope of its own.",
                like=lambda f, x, limit: penalty(f, x, limit, dim=None),
            ),
            Mistake(
                "The norm runs over the points: it should run over the entries of one slope.",
                like=lambda f, x, limit: penalty(f, x, limit, dim=0),
            ),
            Mistake(
                "The mean of the outputs divides each slope by the number of points. Take the sum.",
                like=lambda f, x, limit: penalty(f, x, limit, total="mean"),
            ),
            Mistake(
                "Slopes below the limit are punished too. They should cost nothing.",
                like=lambda f, x, limit: penalty(f, x, limit, one_sided=False),
            ),
            Mistake(
                "That is the excess itself; its square is asked for.",
                like=lambda f, x, limit: penalty(f, x, limit, excess_power=1),
            ),
            Mistake(
                "That compares the square of the length with the limit. It is the length that is "
                "asked for.",
                like=lambda f, x, limit: penalty(f, x, limit, power=2),
            ),
            Mistake(
                "That adds the points up; asked for is the mean over them.",
                like=lambda f, x, limit: penalty(f, x, limit, over="sum"),
            ),
            Mistake(
                "The penalty is right, but computing it filled the .grad of the parameters. "
                "backward adds to .grad, grad does not.",
                when=lambda found: isinstance(found[2].result, list),
            ),
            Mistake(
                "The penalty is right, and the caller's x requires a gradient now. Work on a "
                "detached copy.",
                when=lambda found: found[3].result is True,
            ),
        ],
    ),
    Choice(
        id="12.4",
        asks="your judgment on ReLU and the gradient penalty",
        option="c",
        right="Twice by x is zero. Once by x and once by a weight is not.",
        why_not={
            "a": "All second derivatives by x, twice, are zero. By what is the penalty "
            "differentiated?",
            "b": "retain_graph keeps a graph from being freed. It computes nothing that was not "
            "computed before.",
            "d": "It does not: look at the Hessian of a small ReLU network. All of its entries are "
            "zero.",
        },
        mentions={"what the slope depends on": ("weight", "parameter", "w_", "w0", "w1", "matri")},
        hints=(
            "Write down f(x) = w_1 * relu(w_0 * x) for a point where relu lets through. What is "
            "its slope?",
            "The slope is w_1 * w_0. Is its derivative by x zero? And by w_1?",
        ),
    ),
    Numbers(
        id="12.5",
        asks="two numbers: g, and the gradient of g, for x**3 at 5 with the squaring hook",
        expected=lambda: cube_with(lambda module, grad_input, grad_output: (grad_input[0] ** 2,)),
        right="g became 9x^4, and 36x^3 is its derivative: the hook was differentiated.",
        hints=(
            "The hook turns g into a new function of x. Which one?",
            "g is (3x^2)^2. On a cube the hook is not called again, so the second number is the "
            "plain derivative of this formula.",
        ),
        mistakes=[
            Mistake(
                "That is without the hook. What it returns takes the place of grad_input.",
                value=lambda: cube_with(None),
            ),
            Mistake(
                "The first fits. For the second you squared the plain second derivative: that "
                "would be a hook that is called again. In the second pass of a cube it is not.",
                value=(5625.0, 900.0),
            ),
            Mistake(
                "The first fits. The second number is the derivative of what the hook made, not "
                "of what it was given.",
                value=(5625.0, 30.0),
            ),
            Mistake(
                "The first fits. In the second the inner derivative is missing: what is squared "
                "depends on x too.",
                value=(5625.0, 150.0),
            ),
            Mistake(
                "The first fits. The second is squared once too often: the hook is not called in "
                "the second pass of a cube.",
                value=(5625.0, 4500.0**2),
            ),
            Mistake(
                "You squared x**3. The hook squares the gradient.",
                when=lambda answer: abs(float(answer[0]) - 125.0**2) < 1,
            ),
            Mistake(
                "The hook squares the gradient; this one is doubled.",
                value=(150.0, 60.0),
            ),
        ],
    ),
    Hook(
        id="12.6",
        asks="tower(f, x, n), which returns the list of f(x) and the first n derivatives at x",
        scenario=tower_run,
        reference=tower,
        digits=4,
        right="With these numbers you could write down the Taylor series of anything.",
        hints=(
            "When does a derivative have no past, and what are all the derivatives after it?",
            "Ask current.requires_grad before each step; if it is False, go on with zeros. And "
            "materialize_grads=True makes grad return zeros where no way leads to x.",
        ),
        mistakes=[
            Mistake(
                "It came to a derivative that has no past, a constant, and grad refused it. Ask "
                "for requires_grad before you differentiate, and know what comes after a constant.",
                when=stumbled("does not require grad"),
            ),
            Mistake(
                "w * x has the derivative w. It requires a gradient, but no way leads from it to "
                "x. grad has an argument that turns this case into zeros.",
                when=stumbled("not to have been used", "not have been used"),
            ),
            Mistake(
                "f(x) itself is the first entry of the list, before any derivative.",
                when=lambda found: (
                    agree(found[0].result, _EXP_3) and agree(found[1].result, [75.0, 30.0])
                ),
            ),
            Mistake(
                "One derivative too many: n of them, and f(x) in front.",
                when=lambda found: agree(found[1].result, [125.0, 75.0, 30.0, 6.0]),
            ),
            Mistake(
                "One entry too few: f(x), and then n derivatives.",
                when=lambda found: agree(found[1].result, [125.0, 75.0]),
            ),
            Mistake(
                "The list ends where the derivatives become zero. Zeros are derivatives too: the "
                "list has n + 1 entries.",
                when=lambda found: (
                    agree(found[1].result, [125.0, 75.0, 30.0]) and len(found[3].result) < 7
                ),
            ),
            Mistake(
                "backward adds each derivative to .grad on top of the last one. Use grad, or "
                "empty .grad between two steps.",
                when=lambda found: agree(found[1].result, [125.0, 75.0, 105.0]),
            ),
            Mistake(
                "The numbers are right, and the .grad of another tensor in f was filled on the "
                "way. grad leaves it alone.",
                when=lambda found: found[5].result is not None,
            ),
        ],
    ),
]
