"""Check the exercises of lesson 04, on tensor hooks: each answer runs in a real backward pass."""

from __future__ import annotations

from minigrad.classroom.answers import Choice, Numbers
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercise import Mistake
from minigrad.classroom.runs_04 import (
    NUMBERS,
    START,
    X_GRADIENT,
    five_gradients,
    is_nan,
    log_sizes,
    logged_run,
    momentum,
    momentum_run,
    norm_clipper,
    norm_run,
    stand_ins,
    stand_ins_run,
    stumbled,
)

EXERCISES = [
    Numbers(
        id="04.1",
        asks="the gradients of x, w0, b0, w1 and b1 with the three hooks, in this order",
        expected=five_gradients,
        right="Each hook changes what lies upstream of its place, and nothing else.",
        hints=(
            "Walk from the loss to the inputs. What leaves s after its hook, and to which three "
            "tensors does it go?",
            "b1 gets what leaves s; w1 gets that times x_1, and then its own hook; x_1 gets it "
            "times w_1, and is clipped. Only then multiply on to w0, b0 and x.",
        ),
        mistakes=[
            Mistake(
                "Those are the gradients without any hook.",
                value=lambda: five_gradients(1, 9, 1),
            ),
            Mistake(
                "The hook on s is missing. All five lie upstream of s; the clipping hides that for "
                "three of them.",
                value=lambda: five_gradients(1),
            ),
            Mistake(
                "The hook on x1 is missing. Does what arrives at x1 fit between -0.1 and 0.1?",
                value=lambda: five_gradients(clip=9),
            ),
            Mistake(
                "The hook on w1 is missing. It sits on a leaf: it changes what goes into w1.grad.",
                value=lambda: five_gradients(w1=1),
            ),
            Mistake(
                "The hook on w1 turned the sign of others, too. It sits on a leaf: nothing lies "
                "behind it.",
                when=lambda answer: answer[3] > 0 and any(answer[i] > 0 for i in (0, 1, 2, 4)),
            ),
            Mistake(
                "The hook on s halves the gradient. You doubled it.",
                value=lambda: five_gradients(2),
            ),
            Mistake(
                "x, w0 and b0 are clipped one by one here. The clipping happens at x1; from there "
                "on the chain rule goes on with what is left.",
                when=lambda answer: all(abs(abs(float(answer[i])) - 0.1) < 1e-6 for i in (0, 1, 2)),
            ),
        ],
    ),
    Hook(
        id="04.2",
        asks="norm_clipper(limit), which returns a hook that scales a gradient down to that norm "
        "if it is longer, and keeps it otherwise",
        scenario=norm_run,
        reference=norm_clipper(),
        right="One factor for all entries: shorter, and still in the same direction.",
        hints=(
            "By what do you multiply a gradient of norm 5 to get norm 1? And when is nothing to be "
            "done?",
            "Inside norm_clipper define hook(grad): if grad.norm() is above the limit, return grad "
            "times limit over norm. Return the hook itself at the end.",
        ),
        mistakes=[
            Mistake(
                "norm_clipper has to return a hook: a function, defined inside, that takes grad.",
                when=stumbled("has to return a hook"),
            ),
            Mistake(
                "It cuts each entry by itself, which bends the direction. One factor for the whole "
                "gradient is asked for.",
                like=lambda limit: lambda grad: grad.clamp(-limit, limit),
            ),
            Mistake(
                "The lengths fit, and the hook wrote into the gradient it was given. Others may "
                "hold the same tensor: return a new one.",
                when=lambda found: found[-1].result is False,
            ),
            Mistake(
                "For a gradient of zeros it gives NaN, from dividing 0 by 0. Such a gradient is "
                "short enough: keep it.",
                when=lambda found: is_nan(found[2].result),
            ),
            Mistake(
                "It divides by a norm of zero. Ask first whether the gradient is too long at all.",
                when=stumbled("ZeroDivisionError"),
            ),
            Mistake(
                "Short gradients are stretched to the limit. Only those that are too long are to "
                "change.",
                when=lambda found: abs(found[1].result.norm().item() - 1) < 1e-3,
            ),
            Mistake(
                "Nothing was clipped. What you compute in a hook counts only if it is returned.",
                like=lambda limit: lambda grad: None,
            ),
            Mistake(
                "It clips to 1 whatever the limit is. Use the argument.",
                like=norm_clipper(obeys=False),
            ),
            Mistake(
                "That measures the largest entry. The norm is the root of the sum of the squares.",
                like=norm_clipper(size=lambda grad: grad.abs().max()),
            ),
            Mistake(
                "That measures the sum of the entries' sizes. The norm is the root of the sum of "
                "the squares.",
                like=norm_clipper(size=lambda grad: grad.abs().sum()),
            ),
            Mistake(
                "The norm is squared somewhere: the root is missing.",
                like=norm_clipper(size=lambda grad: (grad * grad).sum()),
            ),
            Mistake(
                "The hook returned something that does not fit: a tensor of the gradient's shape "
                "replaces it, None keeps it.",
                when=stumbled("expected Variable", "changed the size"),
            ),
        ],
    ),
    Hook(
        id="04.3",
        asks="log_sizes(tensors), which hooks each tensor and returns a dict that every pass fills "
        "with the norms of their gradients, under their names",
        scenario=logged_run,
        reference=log_sizes(),
        without=("backward",),
        right="A hook that watches returns None, and knows its own name.",
        hints=(
            "When does the lambda look up name: when it is made, or when it runs? And what does a "
            "lambda return?",
            "Write a function remember(name) that returns a hook; the hook stores "
            "sizes[name] = grad.norm().item() and returns nothing.",
        ),
        mistakes=[
            Mistake(
                "log_sizes has to return the dict that the hooks fill.",
                when=stumbled("has to return a dict"),
            ),
            Mistake(
                "The hook returned something, and that took the gradient's place. A lambda returns "
                "its expression: setdefault and norm give a value, not None.",
                when=stumbled("changed the size", "expected Variable"),
            ),
            Mistake(
                "When log_sizes runs there is no gradient yet. It has to be a hook that notes it "
                "later.",
                when=stumbled("NoneType"),
            ),
            Mistake(
                "Post-accumulate hooks are for leaves only. Some of these tensors are inner ones.",
                when=stumbled("non-leaf"),
            ),
            Mistake(
                "The dict is empty after the pass. The hooks have to be there while backward runs.",
                when=lambda found: found[0].result == [],
            ),
            Mistake(
                "One name for all: a hook made in a loop looks its name up when it runs, and by "
                "then the loop is over. Make each hook in a function of its own.",
                when=lambda found: len(found[0].result) == 1,
            ),
            Mistake(
                "Only the first pass is noted. Each pass is to fill the dict anew.",
                like=log_sizes(first=True),
            ),
            Mistake(
                "Watching changed the gradient of x. What does your hook return, or write into?",
                when=lambda found: (
                    found[2].result is None or abs(found[2].result.item() - X_GRADIENT) > 1e-4
                ),
            ),
            Mistake(
                "Lists are stored, where each name should have one number: that of the latest "
                "pass.",
                when=lambda found: isinstance(found[1].result[0], list),
            ),
            Mistake(
                "It stores the gradients. Their norms are asked for, one number each.",
                when=lambda found: found[1].result[0] < 0,
            ),
            Mistake(
                "That is the sum of the entries' sizes. The norm is the root of the sum of the "
                "squares.",
                like=log_sizes(lambda grad: grad.abs().sum().item()),
            ),
        ],
    ),
    Choice(
        id="04.4",
        asks="how to keep every entry of p.grad between -1 and 1 over four backward passes",
        option="b",
        right="It is the only one of the four that sees what has been added up.",
        why_not={
            "a": "Each pass adds something between -1 and 1. What can four of them add up to?",
            "c": "On a leaf retain_grad does nothing, and the tensor hook clips each pass by "
            "itself. What can four passes add up to?",
            "d": "It clips the gradient that the loss starts from, which is 1 anyway.",
        },
        mentions={
            "what this hook sees, or when it runs": (
                "after",
                "sum",
                "total",
                "add",
                "accumul",
                "together",
                "all passes",
                "all four",
                "stored",
                "complete",
                "final",
                "p.grad itself",
                "already",
            )
        },
        hints=(
            "Section 9: which of the two hooks on a leaf sees 6 in the second pass, and which 12?",
            "Think of an entry that gets 1 in each pass, and follow it through all four passes.",
        ),
    ),
    Hook(
        id="04.5",
        asks="momentum_in_backward(parameters, lr, momentum), which registers a step with momentum "
        "on each parameter and returns the list of handles",
        scenario=momentum_run,
        reference=momentum(),
        right="That is torch.optim.SGD with momentum, without a step() to forget.",
        hints=(
            "Section 9 has the step without momentum. Where can each parameter's velocity live "
            "between two passes?",
            "Make the hook in a function of its own that holds the velocity (nonlocal), or keep a "
            "dict from parameter to velocity. The hook changes p with p.sub_(...) and sets p.grad "
            "to None.",
        ),
        mistakes=[
            Mistake(
                "It has to return the list of handles that registering gives.",
                when=stumbled("list of handles"),
            ),
            Mistake(
                "The hook read a .grad that is None. A tensor hook comes before .grad is there; "
                "and a hook should touch its own parameter only, for the others may still wait.",
                when=stumbled("NoneType"),
            ),
            Mistake(
                "A post-accumulate hook has to return None: nothing is left to be replaced.",
                when=stumbled("should return None"),
            ),
            Mistake(
                "The shapes of two parameters meet: do they share one velocity? Each needs its "
                "own.",
                when=stumbled("broadcast", "size of tensor", "shape"),
            ),
            Mistake(
                "After a pass .grad is not None. Clear it once the step is taken, in a hook that "
                "runs after it was filled.",
                when=lambda found: any(grad is not None for grad in found[1].result),
            ),
            Mistake(
                "The parameters do not move. Change them in place: p = p - ... only gives a new "
                "tensor the name p.",
                when=lambda found: (
                    max(abs(a - b) for a, b in zip(found[2].result, START, strict=True)) < 1e-6
                ),
            ),
            Mistake(
                "These are the steps of SGD without momentum: is the velocity kept from one pass "
                "to the next?",
                like=momentum(keep=0.0),
            ),
            Mistake(
                "The step goes up the slope. To make the loss smaller, go against the gradient.",
                like=momentum(sign=-1.0),
            ),
            Mistake(
                "The new gradient is weighted by 1 - momentum. In the formula it comes in full.",
                like=momentum(new=0.0),
            ),
            Mistake(
                "That is Nesterov's step, which looks ahead. Here the step is lr times the "
                "velocity.",
                like=momentum(ahead=True),
            ),
            Mistake(
                "The velocity is not forgotten at all: multiply it by momentum in each pass.",
                like=momentum(keep=1.0),
            ),
        ],
    ),
    Hook(
        id="04.6",
        asks="stand_ins(x, n, hook), which returns n tensors equal to x whose parts of the "
        "gradient go through hook(i, grad), one by one",
        scenario=stand_ins_run,
        reference=stand_ins(),
        right="A hook sees the sum at its own tensor: so give each use a tensor of its own.",
        hints=(
            "A hook sees the sum over the uses of its tensor. How many uses has each stand-in?",
            "Make n views with x.view_as(x), and on each register a hook that knows its own i "
            "(lambda grad, i=i: ...) and returns what hook(i, grad) returns.",
        ),
        mistakes=[
            Mistake(
                "It has to return a list of n tensors.",
                when=stumbled("list of n tensors"),
            ),
            Mistake(
                "The hook is called with the number first and the gradient second.",
                when=stumbled("tolist"),
            ),
            Mistake(
                "All hooks sit on one tensor, x or one copy of it, so each sees the whole sum. "
                "Give each use a tensor of its own.",
                like=stand_ins(one=True),
            ),
            Mistake(
                "The hook was never called. Register one on each stand-in.",
                when=lambda found: found[0].result == [],
            ),
            Mistake(
                "x got no gradient: the stand-ins are cut off from it. detach() and data do that, "
                "a view does not.",
                when=lambda found: found[3].result is None,
            ),
            Mistake(
                "The same number every time: a lambda made in a loop looks i up when it runs. "
                "Write lambda grad, i=i: ... to fix it.",
                when=lambda found: len(set(found[0].result)) == 1,
            ),
            Mistake(
                "The hook sees the right parts, and what it returns is dropped. Pass it on.",
                like=stand_ins(obeys=False),
            ),
            Mistake(
                "The stand-ins have to be equal to x.",
                when=lambda found: found[2].result != [[1.0, -2.0]] * 3,
            ),
            Mistake(
                f"After the run {NUMBERS} is not 0, 1, 2. They count from zero.",
                when=lambda found: found[0].result != [0, 1, 2],
            ),
        ],
    ),
]
