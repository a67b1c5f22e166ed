"""Check the exercises of lesson 12, on derivatives of derivatives."""

from __future__ import annotations

import minigrad as torch
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake

from .relu import WITH_RELU
from .runs import (
    EMPTIED,
    FILLED,
    PRODUCT,
    UNCONNECTED,
    agree,
    composed_tower,
    first_gradient,
    forgetful_tower,
    hvp,
    hvp_run,
    impatient_tower,
    one_sided,
    penalty,
    penalty_run,
    scaled_tower,
    tower,
    tower_run,
    wrong_penalty,
)
from .terms import SQUARED, TERMS

_EXP_3 = [2.718281828459045] * 4

EXERCISES = [
    TERMS,
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
                trouble=("not require grad",),
            ),
            Mistake(
                "grad wants one number to start from. The gradient times v has several: sum them "
                "up.",
                trouble=("only for scalar outputs",),
            ),
            Mistake(
                "f(x) is one number, so the first pass cannot take v along: v has the shape of "
                "the gradient. Where does it come in?",
                trouble=("Mismatch in shape",),
            ),
            Mistake(
                "The second call comes with another f and a longer or shorter x. What is kept "
                "from the first?",
                trouble=("must match the size", "appears to not have been used"),
            ),
            Mistake(
                "A pass frees what it has used. create_graph=True in the first one keeps it, and "
                "records it.",
                trouble=("a second time",),
            ),
            Mistake(
                "The first gradient is still in there: backward adds to .grad. Use grad, or empty "
                ".grad before the second pass.",
                like=lambda f, x, v: hvp(f, x, v) + first_gradient(f, x),
            ),
            Mistake(
                "grad returns a tuple, one gradient for each input. Take the tensor out of it.",
                when=lambda found: isinstance(found[0].result, tuple | list),
            ),
            Mistake(
                "That is right for the f of the text, (v . v)^2, and for no other. Differentiate "
                "the f that is given.",
                like=lambda f, x, v: 8 * (x * v).sum() * x + 4 * (x * x).sum() * v,
            ),
            Mistake(
                "Gradient times gradient is no second derivative. Differentiate the dot product.",
                like=lambda f, x, v: first_gradient(f, x) * (first_gradient(f, x) * v).sum(),
            ),
            Mistake(
                "That is the gradient times v entry by entry. Sum it up, and differentiate.",
                like=lambda f, x, v: first_gradient(f, x) * v,
            ),
            *(
                Mistake(
                    "A difference of gradients comes close, and no closer than its step allows. "
                    "Differentiate the dot product.",
                    like=one_sided(step),
                )
                for step in (0.1, 1e-2, 1e-3, 1e-4)
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
                "The product is right, and .grad of the caller's x was filled. Work on a detached "
                "copy, and with grad.",
                when=lambda found: any(found[at].result is not None for at in (3, 5)),
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
                trouble=("differentiated Tensors does not require grad",),
            ),
            Mistake(
                "What you differentiate has no past. Was the forward pass recorded, and was x "
                "ready for a gradient before f was called?",
                trouble=("does not require grad",),
            ),
            Mistake(
                "You differentiate by a tensor that f has not seen: f has to be called on the very "
                "copy that requires a gradient.",
                trouble=("not have been used",),
            ),
            Mistake(
                "The first argument is the network itself and not its output: call it.",
                trouble=("'Sequential' object has no attribute",),
            ),
            Mistake(
                "f was not called at all. Use the network that is given, whatever there is in the "
                "notebook.",
                when=lambda found: found[5].result is False,
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
                like=lambda f, x, limit: penalty(f, x, limit, above=False),
            ),
            Mistake(
                "That is the excess itself; its square is asked for.",
                like=lambda f, x, limit: penalty(f, x, limit, excess_power=1),
            ),
            Mistake(
                "The mean comes too early: flat rows make up for steep ones. Clamp and square row "
                "by row, then take the mean.",
                like=wrong_penalty("mean first"),
            ),
            Mistake(
                "You squared the mean. Asked for is the mean of the squares.",
                like=wrong_penalty("squared mean"),
            ),
            Mistake(
                "You punish the slopes that are too flat: clamp(min=0) keeps what is above.",
                like=wrong_penalty("too flat"),
            ),
            Mistake(
                "You divide by the number of steep rows. The mean is over all of them.",
                like=wrong_penalty("steep rows"),
            ),
            Mistake(
                "The square of the excess is not the excess of the squares: subtract first, then "
                "square.",
                like=wrong_penalty("of squares"),
            ),
            Mistake(
                "Only the steepest row counts here. Take the mean over all rows.",
                like=wrong_penalty("steepest"),
            ),
            Mistake("The limit has not come in.", like=wrong_penalty("no limit")),
            Mistake(
                "Above the limit you square the whole length. Only what is beyond the limit costs.",
                like=wrong_penalty("whole length"),
            ),
            *(
                Mistake(
                    "The limit is an argument: use the one that is given.",
                    like=lambda f, x, limit, fixed=fixed: penalty(f, x, fixed),
                )
                for fixed in (0.5, 1.0)
            ),
            *(
                Mistake(
                    "The length of a slope is the root of the sum of its squares. norm's first "
                    "argument is another: it says which norm.",
                    like=lambda f, x, limit, dim=dim: penalty(f, x, limit, dim=dim, p=1),
                )
                for dim in (None, 1)
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
                when=lambda found: found[2].result == FILLED,
            ),
            Mistake(
                "The penalty is right, and .grad of the parameters is empty now. There may be "
                "gradients in it that somebody still needs: leave it alone.",
                when=lambda found: found[2].result == EMPTIED,
            ),
            Mistake(
                "The penalty is right, and the caller's x requires a gradient now. Work on a "
                "detached copy.",
                when=lambda found: found[3].result is True,
            ),
            Mistake(
                "The penalty is right, and .grad of the caller's x was filled. grad returns its "
                "result, and leaves .grad alone.",
                when=lambda found: any(found[at].result is not None for at in (4, 7)),
            ),
        ],
    ),
    WITH_RELU,
    SQUARED,
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
                trouble=("does not require grad",),
            ),
            Mistake(
                "w * x has the derivative w. It requires a gradient, but no way leads from it to "
                "x. grad has an argument that turns this case into zeros.",
                trouble=(
                    "not to have been used",
                    "not have been used",
                ),
            ),
            Mistake(
                "f is called on a tensor, so it may use all that tensors can do. Symbols and "
                "plain numbers cannot.",
                trouble=("must be Tensor", "Symbol", "'float' object"),
            ),
            Mistake(
                "f(x) itself is the first entry of the list, before any derivative.",
                when=lambda found: any(
                    agree(found[1].result, wrong) for wrong in ([75.0, 30.0], [75.0, 30.0, 6.0])
                ),
            ),
            Mistake(
                "Those are divided by factorials: the coefficients of Taylor's series. Asked for "
                "are the derivatives themselves.",
                like=scaled_tower,
            ),
            Mistake(
                "After the first derivative come zeros. Does the first step leave a graph behind? "
                "And does a caught error hide that it does not?",
                like=forgetful_tower,
            ),
            Mistake(
                "backward adds each derivative to .grad on top of the last one. Use grad, or "
                "empty .grad between two steps.",
                when=lambda found: agree(found[1].result, [125.0, 75.0, 105.0]),
            ),
            Mistake(
                "Where no derivative comes any more you repeat the last one. What is the "
                "derivative of a constant?",
                when=lambda found: agree(found[4].result, [6.0, 3.0, 3.0, 3.0]),
            ),
            Mistake(
                "A derivative that is zero at this x need not be zero elsewhere: sin goes on at 0. "
                "Ask whether it still has a past, not for its value.",
                like=impatient_tower,
            ),
            Mistake(
                "You put f into f. Differentiate the last derivative, and not f of f(x).",
                when=lambda found: agree(
                    list(found[0].result)[:3], composed_tower(torch.exp, 1.0, 2)
                ),
            ),
            Mistake(
                "f(x) comes first, and the highest derivative last.",
                like=lambda f, x, n: tower(f, x, n)[::-1],
            ),
            Mistake(
                "The tower ends at a height of its own. Differentiate n times, however large n is.",
                when=lambda found: (
                    agree(found[0].result, [*_EXP_3, 0.0])
                    or agree(found[0].result, [*_EXP_3[:3], 0.0, 0.0])
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
                "The numbers are right, and the .grad of another tensor in f was filled on the "
                "way. grad leaves it alone.",
                when=lambda found: found[5].result is not None,
            ),
            Mistake(
                "A small step gives a derivative with few digits, and the next one fewer. grad "
                "loses none.",
                when=lambda found: (
                    agree(found[0].result[1], _EXP_3[0], 2)
                    and not agree(found[0].result[1], _EXP_3[0], 4)
                ),
            ),
        ],
    ),
]
