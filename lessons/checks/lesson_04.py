"""Check the exercises of lesson 04, on tensor hooks: each answer runs in a real backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom import Choice, Hook, Numbers
from minigrad.classroom.exercises import Objection

Answer = Callable[..., Any]


def _same(grad: Tensor) -> Tensor:
    return grad


def three_gradients(
    v: Answer = lambda grad: grad / 2,
    u: Answer = lambda grad: grad.clamp(-3, 3),
    a: Answer = lambda grad: grad.clamp(-6, 6),
    long: Answer = _same,
    short: Answer = _same,
) -> tuple[float, ...]:
    """Run the lesson's network with hooks on v, u and a, and on the two ways that lead to a."""
    leaves = [torch.tensor(each, requires_grad=True) for each in (0.5, -3.0, 2.0)]
    at_a, at_b, at_c = leaves
    by_long, by_short = at_a.view_as(at_a), at_a.view_as(at_a)
    at_u = by_long * at_b
    at_v = at_c * at_u
    places = {at_v: v, at_u: u, at_a: a, by_long: long, by_short: short}
    for tensor, hook in places.items():
        tensor.register_hook(hook)
    ((at_v + by_short) ** 2).backward()
    return tuple(leaf.grad.item() for leaf in leaves if leaf.grad is not None)


def _clamp(grad: Tensor) -> Tensor:
    return grad.clamp(-6, 6)


THREE = Numbers(
    id="04.1",
    asks="the gradients of a, b and c with the three hooks, in this order",
    expected=three_gradients,
    right="Each hook changes gradients from its place toward the inputs, and no others.",
    hints=(
        "Walk from the loss to the inputs. What does w send on, and to which two tensors?",
        "c gets what v sends on, times u. u gets the same, times c, and clips it. b gets what "
        "u sends on, times a. a adds up both paths, and then its hook runs.",
    ),
    mistakes="""
        = three_gradients(_same, _same, _same)
            Those are the gradients without any hook.
        = three_gradients(v=_same)
            The hook on v is missing. Which leaves does the gradient reach only through v?
        = three_gradients(u=_same)
            The hook on u is missing. Does what arrives at u fit between -3 and 3?
        = three_gradients(a=_same, long=_clamp, short=_clamp)
            The hook on a clips each of the two parts. A hook runs once, with their sum.
        = three_gradients(short=torch.zeros_like)
        = three_gradients(a=_same, short=torch.zeros_like)
            The short path is missing: a also goes straight into w.
        = three_gradients(long=torch.zeros_like)
            The long path is missing: a also goes into u, and through v into w.
        = three_gradients(a=_same, short=lambda grad: grad / 2)
            The short path from w to a doesn't pass v, so the hook on v doesn't halve it.
        = three_gradients(v=_same, u=lambda grad: grad.clamp(-3, 3) / 2)
            The halving comes too late: v is nearer to the loss than u, so its hook runs before
            the clipping.
        = three_gradients(u=lambda grad: grad.clamp(-3, 3).neg())
            What arrives at u is negative. To which end of the range is it clamped?
    """,
)

# --- 04.2

CASES: dict[str, tuple[Any, float]] = {
    "a gradient of norm 5 and a limit of 1": ((3.0, 4.0), 1.0),
    "a gradient of norm 0.5 and a limit of 1": ((0.3, 0.4), 1.0),
    "a gradient of zeros and a limit of 1": ((0.0, 0.0), 1.0),
    "a gradient of norm 10 and a limit of 2.5": ((-6.0, 8.0), 2.5),
    "a gradient of norm 1.5 and a limit of 2": ((-0.9, 1.2), 2.0),
    "a matrix as gradient and a limit of 1.5": (((1.2, -0.7, 2.1), (0.4, 0.9, -1.6)), 1.5),
    "a single number as gradient and a limit of 0.5": (-0.8, 0.5),
}
LONG, SHORT, ZEROS, *_ = (f"for {what}, x.grad" for what in CASES)
UNTOUCHED = "whether the hook left what it was given as it was"


def norm_run(norm_clipper: Answer) -> dict[str, Any]:
    """Let an answer clip gradients, and look at what comes out and at what it was given."""
    kept: list[tuple[Tensor, list[float]]] = []

    def made(limit: float) -> Answer:
        hook = norm_clipper(limit)
        if not callable(hook) or isinstance(hook, Tensor):
            raise Objection(
                "norm_clipper has to return a hook: a function, defined inside, that takes grad."
            )
        return hook

    def clipped(hook: Answer, gradient: Any) -> Any:
        incoming = torch.tensor(gradient)
        x = torch.ones(incoming.shape, requires_grad=True)
        x.register_hook(lambda grad: kept.append((grad, grad.tolist())))
        x.register_hook(hook)
        (x * 1).backward(incoming)
        return x.grad

    seen = {
        f"for {what}, x.grad": clipped(made(limit), gradient)
        for what, (gradient, limit) in CASES.items()
    }
    hook = made(2.0)
    made(0.5)
    seen["for a hook of limit 2, after one of limit 0.5 was made, x.grad"] = clipped(
        hook, (6, -2.5)
    )
    seen["for a second gradient through the same hook, x.grad"] = clipped(hook, (0.0, -9.5))
    return {**seen, UNTOUCHED: all(tensor.tolist() == before for tensor, before in kept)}


CLIPPER = Hook(
    id="04.2",
    asks="norm_clipper(limit), which returns a hook that scales a gradient down to that norm "
    "if it is longer, and keeps it otherwise",
    scenario=norm_run,
    right="One factor for all entries: shorter, and still in the same direction.",
    hints=(
        "Which factor turns a norm of 5 into a norm of 1? When is there nothing to do?",
        "Define hook(grad) inside: if grad.norm() is above the limit, return grad times limit "
        "over norm. At the end return the hook itself.",
    ),
    mistakes=r"""
        ~ return grad * (limit / norm) => return norm
        ~ return grad * (limit / norm) => return (grad * (limit / norm)).tolist()
        ! expected Variable, changed the size
            What the hook returned doesn't fit: a tensor of the gradient's shape replaces it, None
            keeps it.
        = lambda grad, limit=1.0: grad * min(1.0, limit / grad.norm().item())
        ! object has no attribute 'norm'
            norm_clipper gets the limit, before there is any gradient. The hook that it
            returns gets the gradient.
        ~ norm > limit => limit / norm.item() < 1
        ! ZeroDivisionError
            It divides by a norm of zero. Check first whether the gradient is too long at all.
        ~ grad.norm() => (grad @ grad).sqrt()
        ~ norm = grad.norm() => return grad * (limit / grad.norm(dim=-1, keepdim=True)).clamp(max=1)
        ! IndexError, imension, shapes cannot, one element, ambiguous, 0-d, broadcast, size of, 1D
            Gradients have any shape: a vector, a matrix, a single number. One norm goes over all
            entries.
        ~ return grad * (limit / norm) => return grad.clamp(-limit, limit)
            It clamps each entry separately, which changes the direction. You need one factor for
            the whole gradient.
        ~ return grad * ( => return grad.mul_(
        ? seen[UNTOUCHED] is False
            The hook wrote into the gradient it was given. Others may hold the same tensor: return
            a new one.
        ~ if norm > limit => if True
        ? seen[ZEROS].isnan().any()
            For a gradient of zeros it gives NaN, from dividing 0 by 0. Such a gradient is short
            enough: keep it.
        ~ norm > limit => norm > 0
        ? seen[SHORT].norm() > 0.51
            Short gradients are stretched to the limit. Only those that are too long should change.
        ~ return grad * => grad *
            Nothing was clipped. What you compute in a hook counts only if you return it.
        ~ limit / norm => norm / limit
            The factor is upside down: long gradients get even longer.
        ~ limit / norm => 1 / norm
        ~ (limit / norm) => limit
        ~ norm_clipper(limit) => norm_clipper(given, limit=1.0)
            The factor depends on both, the gradient's norm and the limit, which isn't always 1.
        ~ grad.norm() => grad.abs().max()
        ~ grad.norm() => grad.abs().sum()
        ~ grad.norm() => grad.square().sum()
        ~ grad.norm() => grad.square().mean().sqrt()
            What you measure isn't the norm, which is the root of the sum of the squares.
    """,
)

# --- 04.3

NAMES = "sorted(sizes)"
SIZES = '[sizes["h"], sizes["x"], sizes["out"]]'


def logged_run(log_sizes: Answer) -> dict[str, Any]:
    """Let an answer log the gradients of two passes, and look at its notes and at a gradient."""

    def a_log(tensors: dict[str, Tensor]) -> Any:
        sizes = log_sizes(tensors)
        if not isinstance(sizes, dict):
            raise Objection("log_sizes has to return the dict that the hooks fill, and only that.")
        return sizes

    def network() -> dict[str, Tensor]:
        x = torch.tensor(-0.5, requires_grad=True)
        h = x * torch.tensor([[2.0, -3.0]])
        return {"h": h, "x": x, "out": (h * h).sum()}

    def numbers(sizes: dict[str, Any], *names: str) -> list[Any]:
        return [sizes.get(name) for name in names]

    tensors, others = network(), network()
    x: Any = tensors["x"]
    sizes = a_log(tensors)
    tensors["out"].backward(retain_graph=True)
    seen = {
        NAMES: sorted(sizes, key=str),
        SIZES: numbers(sizes, "h", "x", "out"),
        "x.grad": x.grad.clone(),
    }
    (10 * tensors["out"]).backward()
    seen[f"after a second pass, ten times as large, {SIZES}"] = numbers(sizes, "h", "x", "out")
    more = a_log({"here": others["x"], "there": others["h"]})
    others["out"].backward()
    return {
        **seen,
        "for another network sorted(sizes)": sorted(more, key=str),
        'for that network [sizes["here"], sizes["there"]]': numbers(more, "here", "there"),
        f"for the first network again {SIZES}": numbers(sizes, "h", "x", "out"),
    }


LOG = Hook(
    id="04.3",
    asks="log_sizes(tensors), which hooks each tensor and returns a dict that every pass fills "
    "with the norms of their gradients, under their names",
    scenario=logged_run,
    without=("backward",),
    right="A hook that watches returns None, and knows its own name.",
    hints=(
        "Does the lambda look up name when it is made, or when it runs? And what does it return?",
        "Write a function remember(name) that returns a hook; the hook stores grad.norm().item() "
        "under that name and returns nothing.",
    ),
    mistakes=r"""
        ~ sizes[name] = grad.norm().item() => return sizes.setdefault(name, grad.norm())
        ~ sizes[name] = grad.norm().item() => return sizes.setdefault(name, grad.norm().item())
        ! changed the size, expected Variable
            The hook returned something, and that replaced the gradient. A lambda returns its
            expression: setdefault and norm give a value, not None.
        ~ tensor.register_hook(remember(name)) => sizes[name] = tensor.grad.norm()
        ! NoneType
            There is no .grad yet, neither when log_sizes runs nor when a hook runs for the first
            time. A hook is given the gradient itself.
        ~ (remember(name)) => (lambda grad: sizes.update({name: grad.norm()}))
        ? seen[NAMES] == ["out"]
            One name for all: a hook made in a loop looks up its name when it runs, and by then the
            loop is over. Make each hook in a function of its own.
        ~ sizes[name] = grad.norm().item() => sizes.setdefault(name, []).append(grad.norm().item())
        ~ grad.norm().item() => grad
        ? isinstance(seen[SIZES][0], list) or seen[SIZES][0].dim() > 0
            Each name should have one number: the norm of the latest gradient.
        ~ sizes[name] = grad.norm().item() => sizes.setdefault(name, grad.norm().item())
        ~ sizes[name] = => sizes[name] = sizes.get(name, 0) +
            Each pass should fill the dict again, with the norms of this pass alone.
        ~ grad.norm() => tensors[name].detach().norm()
        = lambda tensors: {name: tensor.norm() for name, tensor in tensors.items()}
            Those are the norms of the tensors. You need the norms of their gradients, which the
            hooks are given.
        ~ grad.norm() => grad.abs().sum()
        ~ grad.norm() => grad.square().sum()
        ~ grad.norm() => grad.abs().max()
        ~ grad.norm() => grad.sum()
            What you measure isn't the norm, which is the root of the sum of the squares.
        ~ sizes[name] = => grad.abs_()\n            sizes[name] =
        ? not alike(seen["x.grad"], right["x.grad"])
            Watching changed the gradient of x. What does your hook return, or write into?
        ~ (tensors): => (tensors, sizes={}):
        | sizes = {} =>
            The log of one network holds entries of another: do all calls share one dict? Make a
            new one in each.
    """,
)

TOTAL = Choice(
    id="04.4",
    asks="how to keep every entry of p.grad between -1 and 1 over four backward passes",
    right="It's the only one of the four that sees what has been added up.",
    model="A tensor hook sees what one pass brings, and four parts of up to 1 can add up to 4. "
    "The hook of (b) runs after each has been added, and clamps the sum in .grad itself.",
    hints=(
        "Section 9: which of the two hooks on a leaf sees 6 in the second pass, and which 12?",
        "Think of an entry that gets 1 in each pass, and follow it through all four passes.",
    ),
    mistakes="""
        = "a"
            Each pass adds something between -1 and 1. What can four of them add up to?
        = "c"
            On a leaf retain_grad does nothing, and the tensor hook clips each pass by itself. What
            can four passes add up to?
        = "d"
            It clips the gradient that the loss starts from, which is 1 anyway.
    """,
)

# --- 04.5

LR, MOMENTUM, START = 0.08, 0.7, [0.4, -0.3]
PASSES = "the list of parameters after three passes"
GRADS = "the list of .grad after one pass"


def momentum_run(answer: Answer) -> dict[str, Any]:
    """Train three parameters for some passes, take the handles off, and start again."""
    a = torch.tensor(START, requires_grad=True)
    b = torch.tensor(0.2, requires_grad=True)
    c = torch.tensor([[0.6, -0.1, 0.35]], requires_grad=True)
    parameters = [a, b, c]

    def passes(number: int, without_b: bool = False) -> list[Any]:
        for _ in range(number):
            total = (a * torch.tensor([1.0, 2.0])).sum() + (c * c).sum()
            ((total + (0 if without_b else b) - 1) ** 2).backward()
        return [parameter.detach().clone() for parameter in parameters]

    def handles_of(*arguments: Any) -> Any:
        handles = answer(*arguments)
        if not isinstance(handles, list | tuple) or not all(hasattr(h, "remove") for h in handles):
            raise Objection("momentum_in_backward has to return a list of handles.")
        return handles

    handles = handles_of(parameters, LR, MOMENTUM)
    seen: dict[str, Any] = {
        "the first parameter after one pass": passes(1)[0],
        GRADS: [each.grad for each in parameters],
        PASSES: passes(2),
    }
    before = passes(1, without_b=True)
    seen["the second parameter after a pass to which it did not belong"] = before[1]
    for handle in handles:
        handle.remove()
    for parameter in parameters:
        parameter.grad = None
    after = passes(1)
    if not all(map(torch.equal, after, before)) or None in [each.grad for each in parameters]:
        raise Objection(
            "With all the handles removed that you returned, some parameter still moves or loses "
            "its .grad. Return the handle of each hook."
        )
    for parameter in parameters:
        parameter.grad = None
    handles_of([a], LR, MOMENTUM), handles_of([b, c], LR / 2, 0.4)
    seen["the first parameter after a pass with a step registered again"] = passes(1)[0]
    seen["the list of parameters with another lr and momentum for two of them"] = passes(1)
    return seen


STEP = Hook(
    id="04.5",
    asks="momentum_in_backward(parameters, lr, momentum), which registers a step with momentum "
    "on each parameter and returns the list of handles",
    scenario=momentum_run,
    right="That's torch.optim.SGD with momentum, without a step() to forget.",
    hints=(
        "Section 9 has the step without momentum. Where can each velocity live between passes?",
        "Make the hook in a function of its own that holds the velocity (nonlocal), or keep a "
        "dict of velocities. The hook calls p.sub_(...) and sets p.grad to None.",
    ),
    mistakes=r"""
        ~ register_post_accumulate_grad_hook => register_hook
        ! NoneType
            The hook read a .grad that is None. A tensor hook runs before .grad is filled. And a
            hook should touch its own parameter only, because the others may not have theirs
            yet.
        ~ hook(step_with_a_velocity()) for p => hook(step) for step in [step_with_a_velocity()] for p
        ! broadcast, size of tensor, shape
            The shapes of two parameters got mixed up: do they share one velocity? Each needs its
            own.
        ~ p.sub_(lr * velocity) => p = p - lr * velocity
        ? alike(seen[PASSES][0], START)
            The parameters don't move. Change them in place: p = p - ... only gives a new tensor the
            name p.
        ~ p.grad = None => pass
        ? any(grad is not None for grad in seen[GRADS])
            After a pass .grad isn't None. Clear it once the step is taken, in a hook that runs
            after it was filled.
        ~ momentum * velocity + => 0 * velocity +
            These are the steps of SGD without momentum: is the velocity kept from one pass to the
            next?
        ~ sub_ => add_
            The step goes up the slope. To make the loss smaller, go against the gradient.
        ~ + p.grad => + (1 - momentum) * p.grad
        ~ + p.grad => + momentum * p.grad
            The new gradient has a factor of momentum or 1 - momentum. In the formula only the old
            velocity has one.
        ~ + p.grad => + lr * p.grad
            The learning rate is used twice, in the velocity and in the step. Use it once.
        ~ velocity = momentum * velocity + p.grad\n            p.sub_(lr * velocity) => p.sub_(lr * velocity)\n            velocity = momentum * velocity + p.grad
            The step uses the velocity of the pass before. Compute the new velocity first.
        ~ momentum * velocity => velocity
            The velocity is never forgotten: multiply it by momentum in each pass.
        ~ momentum): => momentum, kept={}):
        | nonlocal velocity => velocity = kept.get(p, 0.0)
        | p.sub_( => kept[p] = velocity\n            p.sub_(
            When registered again, the step doesn't begin with a velocity of zero. It goes on with
            that of an earlier call.
    """,
)

# --- 04.6

NUMBERS = "the sorted list of numbers that the hook was called with"
WATCHED = "x.grad with a hook that returns None"


def stand_ins_run(answer: Answer) -> dict[str, Any]:
    """Use each stand-in once, with a hook that watches and with one that changes one part."""
    calls: list[tuple[int, list[float]]] = []

    def made(x: Tensor, n: int, changed: int | None = None) -> list[Tensor]:
        def hook(i: Any, grad: Any) -> Any:
            if not isinstance(grad, Tensor) or isinstance(i, Tensor):
                raise Objection("The hook is called with the number first and the gradient second.")
            calls.append((i, grad.tolist()))
            return 10 * grad if i == changed else None

        calls.clear()
        tensors = answer(x, n, hook)
        if not isinstance(tensors, list | tuple) or [*map(type, tensors)] != [Tensor] * n:
            raise Objection(f"stand_ins has to return a list of n tensors. Here n was {n}.")
        return [*tensors]

    seen: dict[str, Any] = {}
    for what, changed in (("returns None", None), ("makes part 1 ten times as large", 1)):
        x: Any = torch.tensor([1.0, -2.0], requires_grad=True)
        a, b, c = tensors = made(x, 3, changed)
        loss = 2 * a + 5 * b + c * c
        loss.backward(torch.tensor([1.0, 3.0]), retain_graph=True)
        seen["the list of values of the stand-ins"] = [each.tolist() for each in tensors]
        seen[NUMBERS] = sorted(i for i, _ in calls)
        seen["the list of parts, sorted by those numbers,"] = [part for _, part in sorted(calls)]
        seen[f"x.grad with a hook that {what}"] = x.grad if x.grad is None else x.grad.clone()
    calls.clear()
    loss.backward(torch.tensor([1.0, 3.0]))
    seen["the sorted list of numbers in a second pass"] = sorted(i for i, _ in calls)
    seen["x.grad after this second pass"] = x.grad
    leaf: Any = torch.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    tensors = made(leaf * 3, 4, 3)
    sum((k + 1.5) * each.sum() for k, each in enumerate(tensors)).backward()
    seen["the number of calls for four stand-ins of a tensor that isn't a leaf"] = len(calls)
    return {**seen, "the .grad of the leaf that this tensor comes from": leaf.grad}


STAND_INS = Hook(
    id="04.6",
    asks="stand_ins(x, n, hook), which returns n tensors equal to x whose parts of the "
    "gradient go through hook(i, grad), one by one",
    scenario=stand_ins_run,
    right="A hook sees the sum at its own tensor, so each use needs a tensor of its own.",
    hints=(
        "A hook sees the sum over the uses of its tensor. How often is each stand-in used?",
        "Make n views with x.view_as(x), and on each register a hook that knows its own i "
        "(lambda grad, i=i: ...) and returns what hook(i, grad) returns.",
    ),
    mistakes="""
        ~ lambda grad, i=i: hook(i, grad) => hook(i, view)
        ! not callable
            That calls the hook when it should only be registered. Register a function that calls
            it later, with the gradient.
        ~ hook(i, grad) => hook(i, grad).clone()
        ! NoneType
            hook may return None, which keeps the part as it is.
        ~ [x.view_as(x) for _ in range(n)] => [x] * n
        ~ [x.view_as(x) for _ in range(n)] => [x.view_as(x)] * n
            All hooks sit on one tensor, x or one copy of it, so each sees the whole sum. Give each
            use a tensor of its own.
        ~ view.register_hook(lambda grad, i=i: hook(i, grad)) => pass
        ? seen[NUMBERS] == []
            The hook was never called. Register one on each stand-in.
        ~ x.view_as(x) => x.detach().requires_grad_()
        ? seen[WATCHED] is None
            x got no gradient: the stand-ins are cut off from it. detach() and data do that. A view
            doesn't.
        ~ [x.view_as(x) for _ in range(n)] => [x := x.view_as(x) for _ in range(n)]
            Each stand-in is made from the one before it, so its hook sees the parts of the later
            ones as well. Make each from x itself.
        ~ grad, i=i => grad
        ? len({*seen[NUMBERS]}) == 1
            The same number every time: a lambda made in a loop looks up i when it runs. Write
            lambda grad, i=i: ... to fix it.
        ~ hook(i, grad) => [hook(i, grad), None][1]
            The hook sees the right parts, but what it returns is dropped. Pass it on.
    """,
)

EXERCISES = [THREE, CLIPPER, LOG, TOTAL, STEP, STAND_INS]
