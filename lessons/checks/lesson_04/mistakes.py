"""Recognize what is often got wrong in lesson 04's hooks, and say so."""

from __future__ import annotations

from minigrad.classroom.exercises import Mistake

from .momentum import (
    ANEW,
    FILLED,
    GROUPS,
    MOVED,
    START,
    momentum,
    momentum_run,
)
from .runs import (
    AGAIN,
    NAMES,
    NUMBERS,
    OTHER_LOG,
    PARTS,
    SECOND,
    SECOND_PASS,
    TWO,
    X_GRADIENT,
    by_row,
    first_off,
    is_nan,
    log_sizes,
    logged_run,
    norm_clipper,
    norm_run,
    root_mean_square,
    stand_ins,
    stand_ins_run,
    stretched,
)

NORM_CLIPPER = [
    Mistake(
        "The hook returned a tensor of another dtype than the gradient's. Whatever comes in, "
        "float32 or float64, has to go out.",
        trouble=("changed the type",),
    ),
    Mistake(
        "The hook returned something that does not fit: a tensor of the gradient's shape replaces "
        "it, None keeps it.",
        trouble=("expected Variable", "changed the size"),
    ),
    Mistake(
        "It divides by a norm of zero. Ask first whether the gradient is too long at all.",
        trouble=("ZeroDivisionError",),
    ),
    Mistake(
        "Gradients have any shape: a vector, a matrix, a single number. One norm goes over all "
        "entries.",
        trouble=(
            "IndexError",
            "imension",
            "one element",
            "ambiguous",
            "0-d",
            "broadcast",
            "size of",
        ),
    ),
    Mistake(
        "It cuts each entry by itself, which bends the direction. One factor for the whole "
        "gradient is asked for.",
        like=lambda limit: lambda grad: grad.clamp(-limit, limit),
    ),
    Mistake(
        "Each row is measured and cut by itself. One norm goes over all entries.",
        like=norm_clipper(size=by_row),
    ),
    Mistake(
        "The hook wrote into the gradient it was given. Others may hold the same tensor: return a "
        "new one.",
        when=lambda found: found[-1].result is False,
    ),
    Mistake(
        "For a gradient of zeros it gives NaN, from dividing 0 by 0. Such a gradient is short "
        "enough: keep it.",
        when=lambda found: is_nan(found[2].result),
    ),
    Mistake(
        "The two cases are exchanged: short gradients are changed, and long ones kept.",
        like=norm_clipper(kind="reversed"),
    ),
    Mistake(
        "Short gradients are stretched to the limit. Only those that are too long are to change.",
        when=stretched,
    ),
    Mistake(
        "Nothing was clipped. What you compute in a hook counts only if it is returned.",
        like=lambda limit: lambda grad: None,
    ),
    Mistake(
        "The factor is upside down: long gradients come out longer still.",
        like=norm_clipper(kind="upside down"),
    ),
    Mistake(
        "A gradient that is too long is multiplied by the limit, whatever its norm is.",
        like=norm_clipper(kind="times limit"),
    ),
    Mistake(
        "Gradients that are too long come out with norm 1, whatever the limit is.",
        like=norm_clipper(kind="to 1"),
    ),
    Mistake(
        "It clips to 1 whatever the limit is. Use the argument.",
        like=norm_clipper(kind="always 1"),
    ),
    Mistake(
        "That measures the largest entry. The norm is the root of the sum of the squares.",
        like=norm_clipper(size=lambda grad: grad.abs().max()),
    ),
    Mistake(
        "That measures the sum of the entries' sizes. The norm is the root of the sum of the "
        "squares.",
        like=norm_clipper(size=lambda grad: grad.abs().sum()),
    ),
    Mistake(
        "The entries are added up with their signs. The norm is the root of the sum of their "
        "squares.",
        like=norm_clipper(size=lambda grad: grad.sum()),
    ),
    Mistake(
        "The norm is squared somewhere: the root is missing.",
        like=norm_clipper(size=lambda grad: (grad * grad).sum()),
    ),
    Mistake(
        "The root of the mean of the squares is smaller than the norm: the squares are added up, "
        "and not divided by their number.",
        like=norm_clipper(size=root_mean_square),
    ),
    Mistake(
        "A hook that was made with one limit clips to that of a later one. Each has to remember "
        "its own.",
        when=lambda found: first_off(found, norm_run(norm_clipper())) == TWO,
    ),
    Mistake(
        "The first gradient is clipped well, and a second one through the same hook is not: what "
        "does the hook keep from the first?",
        when=lambda found: first_off(found, norm_run(norm_clipper())) == SECOND,
    ),
]

LOG_SIZES = [
    Mistake(
        "The hook returned something, and that took the gradient's place. A lambda returns its "
        "expression: setdefault and norm give a value, not None.",
        trouble=("changed the size", "expected Variable"),
    ),
    Mistake(
        "When log_sizes runs there is no gradient yet. It has to be a hook that notes it later.",
        trouble=("NoneType",),
    ),
    Mistake(
        "Post-accumulate hooks are for leaves only. Some of these tensors are inner ones.",
        trouble=("non-leaf",),
    ),
    Mistake(
        "The tensors may have any names. Go through the dict that you are given.",
        trouble=("KeyError",),
    ),
    Mistake(
        "The dict is empty after the pass. The hooks have to be there while backward runs.",
        when=lambda found: found[0].result == [],
    ),
    Mistake(
        "Only the first tensor of the dict was logged. Does the function return too early, inside "
        "of the loop?",
        when=lambda found: found[0].result == [NAMES[0]],
    ),
    Mistake(
        "One name for all: a hook made in a loop looks its name up when it runs, and by then the "
        "loop is over. Make each hook in a function of its own.",
        when=lambda found: found[0].result == [NAMES[-1]],
    ),
    Mistake(
        "Only the tensor whose hook runs last is left in the dict. Is it emptied by each hook?",
        when=lambda found: len(found[0].result) == 1,
    ),
    Mistake(
        "Only the first pass is noted. Each pass is to fill the dict anew.",
        like=log_sizes(kind="first"),
    ),
    Mistake(
        "The sizes of several passes are added up. Each pass is to fill the dict anew.",
        like=log_sizes(kind="adds"),
    ),
    Mistake(
        "Lists are stored, where each name should have one number: that of the latest pass.",
        when=lambda found: isinstance(found[1].result[0], list),
    ),
    Mistake(
        "It stores the gradients. Their norms are asked for, one number each.",
        when=lambda found: found[1].result[0].dim() > 0,
    ),
    Mistake(
        "Those are the norms of the tensors. The norms of their gradients are asked for: what the "
        "hook is given.",
        like=log_sizes(lambda grad, tensor: tensor.detach().norm().item()),
    ),
    Mistake(
        "That is the sum of the entries' sizes. The norm is the root of the sum of the squares.",
        like=log_sizes(lambda grad, tensor: grad.abs().sum().item()),
    ),
    Mistake(
        "That is the sum of the squares. The norm is its root.",
        like=log_sizes(lambda grad, tensor: (grad * grad).sum().item()),
    ),
    Mistake(
        "That is the largest entry. The norm is the root of the sum of the squares.",
        like=log_sizes(lambda grad, tensor: grad.abs().max().item()),
    ),
    Mistake(
        "The entries are added up with their signs. The norm is the root of the sum of their "
        "squares.",
        like=log_sizes(lambda grad, tensor: grad.sum().item()),
    ),
    Mistake(
        "Watching changed the gradient of x. What does your hook return, or write into?",
        when=lambda found: (
            found[2].result is None or abs(found[2].result.item() - X_GRADIENT) > 1e-3
        ),
    ),
    Mistake(
        "The first pass is noted well, and the second is not. Each pass is to fill the dict anew.",
        when=lambda found: first_off(found, logged_run(log_sizes())) == SECOND_PASS,
    ),
    Mistake(
        "The log of one network holds what belongs to another: is it one dict for all calls? Make "
        "a new one in each.",
        when=lambda found: found[5].result not in ([], ["here", "there"]),
    ),
    Mistake(
        "A second call of log_sizes, for another network, gets no log of its own.",
        when=lambda found: first_off(found, logged_run(log_sizes())) == OTHER_LOG,
    ),
]

MOMENTUM = [
    Mistake(
        "The hook read a .grad that is None. A tensor hook comes before .grad is there; and a hook "
        "should touch its own parameter only, for the others may still wait.",
        trouble=("NoneType",),
    ),
    Mistake(
        "A post-accumulate hook has to return None: nothing is left to be replaced.",
        trouble=("should return None",),
    ),
    Mistake(
        "The shapes of two parameters meet: do they share one velocity? Each needs its own.",
        trouble=("broadcast", "size of tensor", "shape"),
    ),
    Mistake(
        "The velocity is asked for before it has a value. It starts at zero.",
        trouble=("KeyError", "UnboundLocalError"),
    ),
    Mistake(
        "The parameters do not move. Change them in place: p = p - ... only gives a new tensor the "
        "name p.",
        when=lambda found: all(
            abs(a - b) < 1e-6 for a, b in zip(found[2].result.tolist(), START, strict=True)
        ),
    ),
    Mistake(
        "After a pass .grad is not None. Clear it once the step is taken, in a hook that runs "
        "after it was filled.",
        when=lambda found: any(grad is not None for grad in found[1].result),
    ),
    Mistake(
        "These are the steps of SGD without momentum: is the velocity kept from one pass to the "
        "next?",
        like=momentum(keep=0.0),
    ),
    Mistake(
        "The step goes up the slope. To make the loss smaller, go against the gradient.",
        like=momentum(sign=-1.0),
    ),
    Mistake(
        "The new gradient is weighted by 1 - momentum. In the formula it comes in full.",
        like=momentum(kind="averages"),
    ),
    Mistake(
        "The new gradient is multiplied by momentum, too. In the formula that is for the old "
        "velocity alone.",
        like=momentum(kind="whole"),
    ),
    Mistake(
        "The learning rate comes in twice, in the velocity and in the step. It belongs to one of "
        "them.",
        like=momentum(kind="lr twice"),
    ),
    Mistake("The learning rate is missing in the step.", like=momentum(kind="no lr")),
    Mistake("lr and momentum are exchanged.", like=momentum(kind="swapped")),
    Mistake(
        "The step is taken with the velocity from before. First the new velocity, then the step.",
        like=momentum(kind="old"),
    ),
    Mistake(
        "That is Nesterov's step, which looks ahead. Here the step is lr times the velocity.",
        like=momentum(kind="ahead"),
    ),
    Mistake(
        "The velocity is not forgotten at all: multiply it by momentum in each pass.",
        like=momentum(keep=1.0),
    ),
    Mistake(
        "Some parameters still move when all handles that you returned are removed. Return the "
        "handle of each hook.",
        when=lambda found: first_off(found, momentum_run(momentum())) == MOVED,
    ),
    Mistake(
        "With all handles that you returned removed, nothing moves, and some hook still takes "
        ".grad away. Return the handle of each hook.",
        when=lambda found: first_off(found, momentum_run(momentum())) == FILLED,
    ),
    Mistake(
        "Registered anew, the step does not begin with a velocity of zero: it goes on with that of "
        "an earlier call.",
        when=lambda found: first_off(found, momentum_run(momentum())) == ANEW,
    ),
    Mistake(
        "Two calls, with lr and momentum of their own, get in each other's way. What do they "
        "share?",
        when=lambda found: first_off(found, momentum_run(momentum())) == GROUPS,
    ),
]

_ONE_TENSOR = (
    "All hooks sit on one tensor, x or one copy of it, so each sees the whole sum. Give each use a "
    "tensor of its own."
)

STAND_INS = [
    Mistake(
        "The part has another shape when it comes out of your hook. hook(i, grad) gets the part as "
        "it is, and gives a tensor of its shape, or None.",
        trouble=("changed the size", "expected Variable"),
    ),
    Mistake(
        "hook may return None, which keeps the part as it is.",
        trouble=("NoneType",),
    ),
    Mistake(_ONE_TENSOR, like=stand_ins(one=1)),
    Mistake(_ONE_TENSOR, like=stand_ins(one=2)),
    Mistake(
        "The hook was never called. Register one on each stand-in.",
        when=lambda found: found[0].result == [],
    ),
    Mistake(
        "x got no gradient: the stand-ins are cut off from it. detach() and data do that, a view "
        "does not.",
        when=lambda found: found[3].result is None,
    ),
    Mistake(
        "The same number every time: a lambda made in a loop looks i up when it runs. Write "
        "lambda grad, i=i: ... to fix it.",
        when=lambda found: len(found[0].result) == 3 and len(set(found[0].result)) == 1,
    ),
    Mistake(
        "The hook sees the right parts, and what it returns is dropped. Pass it on.",
        like=stand_ins(kind="drops"),
    ),
    Mistake(
        "Each hook runs in the first pass only. It has to stay for the next.",
        like=stand_ins(kind="once"),
    ),
    Mistake(
        "The stand-ins have to be equal to x.",
        when=lambda found: found[2].result != [[1.0, -2.0]] * 3,
    ),
    Mistake(
        "The hook is called more often than there are stand-ins: one more sits somewhere, on x "
        "perhaps.",
        when=lambda found: len(found[0].result) > 3,
    ),
    Mistake(
        f"After the run {NUMBERS} is not 0, 1, 2. They count from zero.",
        when=lambda found: found[0].result != [0, 1, 2],
    ),
    Mistake(
        "All parts come, under each other's numbers. A number belongs to a stand-in from the "
        "beginning, whichever gradient arrives first.",
        when=lambda found: (
            first_off(found, stand_ins_run(stand_ins())) == PARTS
            and sorted(found[1].result) == [[2.0, -12.0], [2.0, 6.0], [5.0, 15.0]]
        ),
    ),
    Mistake(
        "In a second pass the numbers go on, or the hooks are gone: what is kept from the first?",
        when=lambda found: first_off(found, stand_ins_run(stand_ins())) == AGAIN,
    ),
]
