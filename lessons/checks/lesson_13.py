"""Check the exercises of lesson 13, on networks that do not learn."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom import Hook, Numbers
from minigrad.classroom.execution import put_back
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import as_number, describe
from minigrad.nn.modules import module as everywhere  # noqa: F401 (the solution of 13.5 names it)

from .models import layer

Answer = Callable[..., Any]


class Broken(Exception):
    """What some of the models raise."""


class Made(nn.Module):
    """A module with children by name, and a function for its forward.

    Args:
        run: gets the module and the arguments.
        **children: the modules in it.
    """

    def __init__(self, run: Answer, **children: nn.Module) -> None:
        super().__init__()
        self.run = run
        for name, child in children.items():
            self.add_module(name, child)

    def forward(self, *args: Any) -> Any:
        """Run the function."""
        return self.run(self, *args)


def chain(**layers: nn.Module) -> nn.Sequential:
    """Put named layers one after another."""
    return nn.Sequential(OrderedDict(layers))


def numbers(*shape: int, seed: int = 0, scale: float = 1.0) -> Tensor:
    """Give distinct numbers between -1 and 1, the same for each call."""
    row = torch.arange(1, math.prod(shape) + 1).to(torch.get_default_dtype())
    return ((row * (1.7 + 0.31 * seed) + seed).sin() * scale).reshape(shape)


def filled(module: nn.Module, seed: int = 0, scale: float = 0.8) -> Any:
    """Give the parameters of a module numbers that are the same for each call."""
    with torch.no_grad():
        for place, parameter in enumerate(module.parameters()):
            parameter.copy_(numbers(*parameter.shape, seed=seed + 3 * place, scale=scale))
    return module


def hooks_on(model: nn.Module) -> int:
    """Count the hooks on a model's modules and parameters."""
    names = ("_backward_hooks", "_post_accumulate_grad_hooks")
    tables = [getattr(p, name) for p in model.parameters() for name in names]
    for module in model.modules():
        tables += [table for name, table in vars(module).items() if name.endswith("_hooks")]
    return sum(len(table) for table in tables if table)


# --- 13.1

NORMS, AGAIN = "the list of norms", "in a second call with the same model, the list"
SMALL = "for another model, the list"
KEPT = "whether everything that was in .grad before is still in there, the answer"
ERROR = "with a model that raises an error, the number of hooks left on it"


def flow_model() -> Any:
    """Make a model of which parts are frozen, and a container has a parameter of its own."""
    body = Made(
        lambda self, x: self.inner(self.squash(self.norm(x))) * self.gain,
        norm=nn.LayerNorm(4),
        squash=nn.Tanh(),
        inner=nn.Linear(4, 3, bias=False),
    )
    body.gain = nn.Parameter(torch.ones(1))
    model: Any = chain(
        first=nn.Linear(3, 4), frozen=nn.Linear(4, 4), body=body, last=nn.Linear(3, 2)
    )
    for parameter in (*model.frozen.parameters(), model.last.bias):
        parameter.requires_grad_(False)
    return filled(model, seed=1)


def listed(norms: Any) -> list[float]:
    """Take a tuple or a tensor for a list of numbers; object to anything else."""
    entries = norms if isinstance(norms, list | tuple | Tensor) else [None]
    found = [as_number(each) for each in entries]
    if None in found:
        raise Objection(
            f"It returned {describe(norms)}. You are asked for a list, with one number for each "
            "layer that isn't frozen."
        )
    return found  # type: ignore[return-value]


def flow_run(answer: Answer) -> dict[str, Any]:
    """Let an answer record two models, and look at what it leaves on them."""

    def loss(model: nn.Module) -> Tensor:
        return (model(numbers(5, 3, seed=2)) ** 2).sum()

    def fail(given: Any) -> Any:
        raise Broken

    def fail_in_backward(model: nn.Module) -> Tensor:
        output = model(numbers(4, 2, seed=5))
        output.register_hook(fail)
        return output.sum()

    model = flow_model()
    small = filled(chain(start=nn.Linear(2, 2), end=nn.Linear(2, 1)), seed=4)
    free = [p for p in model.parameters() if p.requires_grad]
    new = torch.autograd.grad(loss(model), free)
    for place, parameter in enumerate(free):
        parameter.grad = numbers(*parameter.shape, seed=place)
    old = [p.grad.clone() for p in free]
    norms = listed(answer(model, loss))
    kept = [
        p.grad is not None and (torch.allclose(p.grad, was) or torch.allclose(p.grad, was + more))
        for p, was, more in zip(free, old, new, strict=True)
    ]
    again = listed(answer(model, loss))
    other = listed(answer(small, lambda model: (3 * model(numbers(4, 2, seed=5))).sum()))
    left = 0
    for fails in (fail, fail_in_backward):
        model = filled(chain(start=nn.Linear(2, 2)))
        with suppress(Broken):
            answer(model, fails)
        left += hooks_on(model)
    return {NORMS: norms, AGAIN: again, SMALL: other, KEPT: all(kept), ERROR: left}


FLOW = Hook(
    id="13.1",
    asks="gradient_flow(model, loss_fn), which returns the norm of the gradient of each layer, "
    "from the input to the loss",
    scenario=flow_run,
    digits=4,
    right="One pass, and you know where the gradient gets lost, in any model.",
    hints=(
        "Which hook gets the gradient of one parameter? In which order are such hooks called?",
        "Go through model.named_parameters(); what is before the last dot names the layer. "
        "Register a hook on each parameter that requires a gradient, and let it add the sum of "
        "the squares to its layer's entry in a dict. Remove the hooks in a finally.",
    ),
    mistakes=r"""
        ~ if parameter.requires_grad => if True
        ! doesn't require gradient
            You can't register a hook on a frozen parameter. Check requires_grad first.
        ~ gradient * gradient => parameter.grad**2
        ! NoneType
            A frozen parameter has no gradient. And .grad is not filled yet when a tensor hook runs.
        ~ squares[layer] += => return
        ! expected to return, hook returned
            A hook that returns something replaces the gradient. This one should return None.
        ~ if parameter.requires_grad => if parameter.requires_grad_() is not None
        ? "requires_grad" in trials[0].changed
            What was frozen isn't any more, so the next step would move it.
        ~ squares.values()] => squares.values()][::-1]
        ? alike(sorted(seen[NORMS]), sorted(right[NORMS])) and not alike(seen[NORMS], right[NORMS])
            Those are the right norms, in another order. Where does a backward pass start?
        ~ (gradient, layer=layer) => (gradient)
        ? len(seen[NORMS]) > 3 and sum(norm != 0 for norm in seen[NORMS]) == 1
            All gradients went to one layer: functions made in a loop share the loop's variable.
        ~ return [ => squares = {n: sum((p.grad**2).sum().item() for p in model.get_submodule(n).parameters(recurse=False) if p.requires_grad) for n in squares}\n    return [
            Only this pass counts. .grad also holds what earlier passes left.
        ~ name.rpartition(".")[0] => name
        ? len(seen[NORMS]) > len(right[NORMS]) + 1
            Those are the parameters one by one. A layer is one entry: weight and bias together.
        ~ rpartition => partition
            A layer in a container has its own entry: its name is everything before the last dot.
        ~ if parameter => if name.endswith("weight") and parameter
            You count only the weights. A layer's bias has a gradient as well.
        ~ (gradient * gradient).sum() => gradient.norm()
        | total**0.5 => total
            You can't add norms like that. Add the squares of all entries.
        ~ total**0.5 => total
            That is the sum of the squares. The norm is its root.
        ~ += (gradient * gradient).sum() => = max(torch.tensor(squares[layer]), gradient.norm())
        | total**0.5 => total
        ~ (gradient * gradient).sum() => gradient.sum()
        | total**0.5 => abs(total)
            That isn't the norm of the layer, which is the root of the sum of all squares.
        ~ += => =
        ~ += (gradient => = squares[layer] or (gradient
            Only one parameter of each layer counts. Add up the squares of all.
        ~ if parameter => if "norm" not in name and parameter
        ~ if parameter => if "gain" not in name and parameter
        ~ if parameter => if "last" not in name and parameter
            A layer is missing: LayerNorm, a container with a parameter of its own, or a layer of
            which only the bias is frozen.
        ~ squares, handles = {}, [] => squares, handles = {n.rpartition(".")[0]: 0.0 for n, _ in model.named_parameters()}, []
            A frozen layer has an entry. Leave it out: it has no gradient.
        ~ (model).backward() => (model)
        | squares.values() => squares.values() if total
        ? seen[NORMS] == []
            The list is empty. Did backward run while the hooks were there?
        ~ try: => model.zero_grad()\n    try:
        ? seen[KEPT] is False
            What was in .grad before is gone, and the caller may still need it.
        ~ handle.remove() => pass
        ? "hooks" in trials[0].changed
            Your hooks are still there, and run in every later pass. Keep the handles, remove them.
        ~ finally: => except ValueError: pass\n    else:
        ? seen[ERROR] > 0 and alike(seen[NORMS], right[NORMS])
            The hooks stay when loss_fn or the pass raises: remove() was never reached.
    """,
)

# --- 13.2

FIRST, SECOND = "the dict of gradients after one pass", "the dict of gradients after a second pass"
EMPTIED = "the dict of gradients after zero_grad and another pass"
GONE = "the dict of gradients with the handles removed"
HALF = "the dict of gradients with a limit of 0.5"
INPUT = "the gradient of an input, which should not be clipped,"
COUNT = "the number of hooks left on the model after the handles are removed"
VALUES = "whether the parameters themselves are what they were, the answer"


def clip_model() -> Any:
    """Make a model whose gradients are of several sizes: it is called with a factor and an input.

    The sum hands one and the same gradient to a parameter and to the input.
    """

    def run(self: Any, factor: float, other: Tensor) -> Tensor:
        total = (self.long * numbers(2, 3, seed=8, scale=4.0)).sum() + 2.5 * self.single
        total = total + (self.short * numbers(3, seed=9, scale=0.3)).sum() + (0 * self.idle).sum()
        both = (self.left + other + self.right) * numbers(2, 2, seed=10, scale=3.0)
        return (total + both.sum() + self.frozen.sum()) * factor

    model: Any = Made(run)
    for name, shape in (
        ("frozen", (3,)),
        ("long", (2, 3)),
        ("short", (3,)),
        ("idle", (2,)),
        ("left", (2, 2)),
        ("right", (2, 2)),
        ("single", ()),
    ):
        setattr(model, name, nn.Parameter(numbers(*shape, seed=len(name)), name != "frozen"))
    return model


def clip_run(answer: Answer) -> dict[str, Any]:
    """Clip in the answer's way, in two passes and without, and look at all gradients."""
    seen: dict[str, Any] = {}
    model, other, data = clip_model(), clip_model(), torch.zeros(2, 2, requires_grad=True)

    def look(name: str, model: Any, factor: float, given: Tensor) -> None:
        model(factor, given).backward()
        grads = {name: p.grad for name, p in model.named_parameters()}
        seen[name] = {name: g if g is None else g.tolist() for name, g in grads.items()}

    handles = answer(model, 1.5)
    if isinstance(handles, dict):
        handles = list(handles.values())
    if not isinstance(handles, list | tuple) or not all(hasattr(h, "remove") for h in handles):
        raise Objection(
            f"It returned {describe(handles)}. You are asked for the list of handles: without them "
            "nobody can remove the hooks."
        )
    look(FIRST, model, 1.0, data)
    look(SECOND, model, 0.7, data)
    seen[INPUT] = data.grad.tolist()
    model.zero_grad()
    look(EMPTIED, model, -1.0, data.detach())
    pairs = zip(model.parameters(), clip_model().parameters(), strict=True)
    seen[VALUES] = all(torch.equal(p, was) for p, was in pairs)
    for handle in handles:
        handle.remove()
    seen[COUNT] = hooks_on(model)
    model.zero_grad()
    look(GONE, model, 1.0, data.detach())
    answer(other, 0.5)
    look(HALF, other, 1.0, data.detach())
    return seen


CLIPPING = Hook(
    id="13.2",
    asks="clip_grads(model, limit), which registers hooks that keep the norm of each parameter's "
    ".grad within the limit, and returns their handles",
    scenario=clip_run,
    digits=4,
    may_change=("hooks",),
    right="A post-accumulate hook sees .grad as the optimizer will see it.",
    hints=(
        "Does a tensor hook run before or after the gradient is added to .grad?",
        "register_post_accumulate_grad_hook on each parameter that requires a gradient: its hook "
        "gets the parameter, whose .grad is complete. Scale that if its norm is too large, and "
        "return the list of handles.",
    ),
    mistakes=r"""
        ~ if p.requires_grad] => ]
        ! doesn't require gradient, does not require grad, require gradient
            You can't register a hook on a frozen parameter. Check requires_grad first.
        ~ parameter.grad.mul_ => return parameter.grad.mul_
        ! should return None, expected to return None
            This kind of hook returns nothing: it writes into parameter.grad.
        ~ post_accumulate_grad_hook(clip) => hook(lambda g, p=parameter: clip(p))
        ! NoneType
            Some .grad is None there. Which hook runs after the sum, and on which parameter?
        ~ parameter.grad.mul_ => parameter.data.mul_
        ? seen[VALUES] is False
            The parameters themselves were changed. Clip their gradients, in parameter.grad.
        ~ norm > limit => norm < limit
            The comparison is reversed: the short ones are scaled.
        ~ post_accumulate_grad_hook(clip) => hook(lambda g, p=parameter: None if p.grad is None else clip(p))
            One pass is clipped, another isn't. A tensor hook sees .grad before the addition.
        ~ mul_(limit / norm) => mul(limit / norm)
        ? alike(seen[FIRST], right[GONE])
            Nothing is clipped. Is there a hook for each parameter, and does it write to .grad?
        ~ if norm > limit => if True
        ? any(map(math.isnan, seen[FIRST]["idle"]))
            Some gradient is NaN: there was a division by a norm of zero.
        ~ grad.norm() => grad.norm() + 1e-9
        | if norm > limit => if True
        ~ post_accumulate_grad_hook(clip) => hook(lambda g: g * limit / (g.norm() + 1e-9))
            Short gradients are made longer. What is within the limit stays as it is.
        ~ post_accumulate_grad_hook(clip) => hook(lambda g: (g.mul_((limit / g.norm()).clamp(max=1)), None)[1])
        ? alike(seen[FIRST], right[FIRST]) and not alike(seen[INPUT], right[INPUT])
            The tensor that a hook gets may be shared with others: make a new one.
        ~ post_accumulate_grad_hook(clip) => hook(lambda g: g * (limit / g.norm()).clamp(max=1))
            Each pass is clipped, and their sum isn't. Which hook acts after the addition to .grad?
        ~ mul_(limit / norm) => clamp_(-limit, limit)
        ~ post_accumulate_grad_hook(clip) => hook(lambda g: g.clamp(-limit, limit))
        ~ post_accumulate_grad_hook(clip) => hook(lambda g: (g.clamp_(-limit, limit), None)[1])
            That cuts each entry by itself, so the direction changes, and the norm can still be
            larger. Scale the whole tensor, after the sum is in .grad.
        ~ .grad.norm() => .grad.abs().max()
        ~ .grad.norm() => .grad.square().sum()
            The norm is the root of the sum of the squares: not their sum, not the largest entry.
        ~ limit / norm => 1 / limit
        ~ limit / norm => limit
            What's too long doesn't end up with the limit as its norm. How do you scale 6 to 2?
        ~ norm = parameter.grad.norm() => nn.utils.clip_grad_norm_(free, limit); return
            That's one norm for all parameters together. Here each parameter has its own.
        ~ norm = parameter.grad.norm() => parameter = free[-1]\n        norm = torch.tensor(0.0) if parameter.grad is None else parameter.grad.norm()
            Only one parameter is clipped: functions made in a loop share the loop's variable.
        ~ post_accumulate_grad_hook(clip) => hook(lambda g, p=parameter: (s := g if p.grad is None else p.grad + g) * (limit / s.norm()).clamp(max=1))
            What a tensor hook returns is added to .grad, so the old part counts twice.
        ~ for parameter in free] => for parameter in free][-1:]
        ? seen[COUNT] > 0
            Some hooks are still there after removing the handles. Return a handle for each.
    """,
)

# --- 13.3


def norms() -> tuple[float, ...]:
    """Clip two layers' gradients with one limit, and with another, and give their norms."""
    found: list[float] = []
    for limit in (1.0, 1e-14):
        layers = [torch.zeros(2, dtype=torch.float64, requires_grad=True) for _ in range(2)]
        for each, size in zip(layers, (1e-3, 1e-12), strict=True):
            each.grad = torch.tensor([3 * size, 4 * size], dtype=torch.float64)
        nn.utils.clip_grad_norm_(layers, limit)
        found += [each.grad.norm().item() for each in layers if each.grad is not None]
    return tuple(found)


BY_HAND = Numbers(
    id="13.3",
    asks="four norms in a row: of the last and the first layer's gradient with the limit 1.0, and "
    "of the last and the first with the limit 1e-14, to three digits",
    expected=norms,
    digits=3,
    right="Compare with your sentence: clipping only shortens, by one factor for all. The ratio "
    "of the layers stays as it was, and no gradient here was too long.",
    hints=(
        "How long is each gradient as it is? And how long are both together?",
        "Both together are as long as the last layer's, to twelve digits and more. Divide each "
        "limit by that. If the result is more than 1, use 1. Then multiply both gradients by it.",
    ),
    mistakes="""
        = norms()[:3]
        ? alike(answer, as_number(answer)) or len(answer) < 4
            Four norms are asked for: of the last and the first layer, with each limit.
        = norms()[::-1]
        ? alike(sorted(answer), sorted(norms()), 3)
            Those are the right four, in another order: last and first layer with 1.0, then both with 1e-14.
        ~ 5e-3, 5e-12, 1e-14, 1e-23 => 1, 1, 2e-12, 2e-12
            Those are the factors. Multiply the gradients by them.
        ~ 5e-3, 5e-12 => 7e-3, 7e-12
        ~ 5e-3, 5e-12 => 2.5e-5, 2.5e-23
        ~ 5e-3, 5e-12 => 4e-3, 4e-12
        ? any(alike(answer[:2], pair, 3) for pair in ([7e-3, 7e-12], [2.5e-5, 2.5e-23], [4e-3, 4e-12]))
            The norm is the root of the sum of the squares: not a sum, not the largest entry.
        ~ 5e-3, 5e-12 => 1, 1
        ? alike(answer[:2], [1, 1])
            The limit is a ceiling. What does the minimum do to a gradient that is below it?
        = (*norms()[:2], 1, 1e-9)
        ? any(a > 1.01 * b for a, b in zip(answer, 2 * norms()[:2]))
            Something got longer than it was. What's the largest factor that the minimum allows?
        ~ 1e-14, 1e-23 => 2**0.5 * 1e-14, 2**0.5 * 1e-14
            The first two fit. Then you cut each entry by itself, which changes the direction.
        ~ 1e-23 => 1e-14
        ~ 1e-14, 1e-23 => 9.998e-15, 5e-20
        ? answer[2] == answer[3] != 0
            The first two fit. Then you clipped each layer by itself. There's one factor for all.
        ~ 1e-14, 1e-23 => 5e-17, 5e-26
            The first two fit. The limit isn't the factor: divide it by the norm.
        ~ 1e-14, 1e-23 => 5e-3, 5e-12
            The first two fit. Then nothing was clipped. Is the norm of all below 1e-14?
        ~ 1e-23 => 5e-12
        ~ 1e-23 => 1e-21
        ? alike(answer[:2], norms()[:2], 3) and all(answer) and not alike(answer[3] / answer[2], 1e-9, 2)
            The first two fit. In the other two the ratio of the layers has changed.
        ~ 1e-14, 1e-23 => 1e-12, 1e-21
        ? alike(answer[:2], norms()[:2], 3) and all(answer) and len(answer) == 4
            The first two fit, and the last two except for a factor: which norm becomes 1e-14?
        = (5e-3, 0, 0, 0)
        ? 0 in answer
            A norm of 0 means that nothing is left. (In float32, a small square gets lost.)
    """,
)

# --- 13.4

# The input of the first ReLU, a row for each image. Unit 0 is always active, 1 and 3 never, 2 in
# each batch but not for each image, 4 for the first image only, 5 barely, for the last only.
BATCHES = [
    [[1, -1, -0.1, 0, 2, -3], [0.5, -2, 0.3, 0, -1, -0.2]],
    [[2, -0.3, -1, 0, -0.4, -1], [1.5, -0.7, 0.8, 0, -0.6, -2], [0.7, -0.9, -1.2, 0, -0.1, -0.5]],
    [[0.6, -0.8, -0.7, 0, -0.9, -0.3], [0.9, -1.1, 0.6, 0, -1.3, 0.004]],
]
# Four units of the second ReLU: active, never (its weights are negative), for the first image of
# the second batch only, active at first and never again.
INNER = [
    [1.0, 0, 0, 0, 0, 0],
    [-1.0, -0.5, -1.0, -1.0, -0.5, -2.0],
    [1.0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 1.0, 0],
]
COUNTS = "the dict, sorted by name,"


def dead_run(answer: Answer) -> dict[str, Any]:
    """Let an answer count in several models."""
    relu = nn.ReLU
    body = chain(inner=layer(INNER, [0.1, 0.0, -1.7, 0.0]), squash=nn.Tanh(), act=relu())
    first, last = layer(torch.eye(6).tolist(), [0.0] * 6), layer([[0.5, -0.2, 0.1, 0.3]], [0.2])
    model = chain(first=first, relu=relu(), body=body, leaky=nn.LeakyReLU(), last=last)
    swapped = Made(lambda self, x: self.first(-self.last(x)), first=relu(), last=relu())
    alive = chain(only=layer([[1.0], [2.0]], [0.1, 0.3]), act=relu())
    cases: dict[str, tuple[nn.Module, list[Any]]] = {
        COUNTS: (model, BATCHES),
        "with the batches in the opposite order, the dict": (model, BATCHES[::-1]),
        "for a model without dead units, the dict": (alive, [[[1.0]]]),
        "for a model without a ReLU, the dict": (chain(act=nn.Tanh()), [[[1.0], [2.0]]]),
        "for a model that runs its last layer first, the dict": (swapped, [[[0.4, -1.0]]]),
    }
    seen = {}
    for name, (each, batches) in cases.items():
        found = answer(each, [torch.tensor(batch) for batch in batches])
        items = found.items() if isinstance(found, dict) else [(0, None)]
        counts = {key: as_number(count) for key, count in items}
        if None in counts.values() or not all(isinstance(key, str) for key in counts):
            raise Objection(
                f"It returned {describe(found)}. You are asked for a dict, from the name of each "
                "ReLU to one number: how many of its units are dead, all in all."
            )
        seen[name] = dict(sorted(counts.items()))
    return seen


DEAD = Hook(
    id="13.4",
    asks="dead_units(model, batches), which returns a dict from the name of each nn.ReLU to the "
    "number of its units that are zero for all the data",
    scenario=dead_run,
    right="Now you can tell in a minute how much of your network is dead.",
    hints=(
        "A unit is alive if it was active once. What do you have to remember from batch to batch?",
        "A forward hook on each nn.ReLU takes (output != 0).any(0), a True or False for each unit, "
        "and combines it with what it noted before, using |. At the end count those that are still "
        "False, and remove the hooks.",
    ),
    mistakes=r"""
        ~ names[relu] => 0
        ~ .any(0) => .any(1)
        ! must match, broadcast
            Does each ReLU have a note of its own, with an entry for each unit?
        ~ | now => | now; return now.sum().item()
        ! must be Tensor, mat1 and mat2, linear(): argument
            What your hook returns replaces the output: let it return None.
        ~ (output != 0).any(0) => (output == 0).all(0).sum()
        | active.get(names[relu], now) | now => active.get(names[relu], 0) + now
        | int((~units).sum()) => int(units)
            You counted each batch by itself. Combine the batches before you count.
        ~ active.get(names[relu], now) | now => now
            Only the last batch counts. A unit that was active in an earlier one isn't dead.
        ~ | now => & now
            You count units that are zero in at least one batch. Dead means zero in all of them.
        ~ .any(0) => .all(0)
            A unit is alive if any image activates it: any or all?
        ~ (output != 0).any(0) => (output == 0).sum()
        | active.get(names[relu], now) | now => active.get(names[relu], 0) + now
        | int((~units).sum()) => int(units)
            Those are zeros, one for each unit and each image. Each unit counts once.
        ~ output != 0 => output > 0.01
            A unit that is barely active counts as dead there. Dead is exactly zero.
        ~ (~units) => (units)
            Those are the units that are alive. You're asked for the dead ones.
        ~ named_modules => named_children
            The ReLU inside of body is missing: named_modules() goes all the way down.
        ~ output != 0 => args[0] >= 0
            A unit whose input is exactly 0 outputs 0 as well: look at the output.
        ~ active[names[relu]] = active.get(names[relu], now) | now => active[[*names.values()][-1]] = now
        ? len(seen[COUNTS]) == 1 and "relu" not in seen[COUNTS]
            All notes have one name: functions made in a loop share the loop's variable.
        ~ nn.ReLU => nn.Linear
        ? "first" in seen[COUNTS]
            You hooked a layer before the ReLU, where a value below zero isn't zero yet.
        ~ model(batch) => pass
        ? seen[COUNTS] == {}
            The dict is empty. Were the hooks there when the model was called?
        ~ active.items()} => active.items() if not units.all()}
            A ReLU without dead units is missing from the dict. Its number is 0.
        ~ {name: int => {name[-3:]: int
        ? not {*seen[COUNTS]} <= {*right[COUNTS]}
            Those keys aren't the names of the ReLUs in named_modules().
        ~ handle.remove() => pass
        ? "hooks" in trials[0].changed
            Your hooks are still there. Keep the handles, and remove them.
    """,
)

# --- 13.5

LEFT = "the number of hooks left"
HEALTHY = "the name for a healthy model"


def nan_models() -> dict[str, tuple[nn.Module, Any]]:
    """Make models in which something goes wrong, or nothing, each with its data."""
    tanh = nn.Tanh

    def log() -> nn.Module:
        return Made(lambda self, x: x.log())

    def mixer(order: int) -> nn.Module:
        mix = Made(lambda self, factor, nothing, x, y: factor * x + y)

        def run(self: Any, x: Tensor) -> Tensor:
            return self.end(self.mix(0.5, None, *(self.start(x), x.log())[::order]))

        return Made(run, start=tanh(), mix=mix, end=tanh())

    mixed, fine = [[2.0, 3.0], [1.0, -1.0]], [[2.0, 3.0]]
    swap = layer([[0.0, 1.0], [1.0, 0.0]], [0.0, 0.0])
    made_inside, inside = chain(log=log(), inner=tanh()), chain(inner=tanh(), more=tanh())
    between = Made(lambda self, x: self.after(self.before(x).log()), after=tanh(), before=tanh())
    late = Made(lambda self, x: self.late(self.early(x.log())), late=tanh(), early=tanh())
    return {
        "a healthy model": (chain(a=tanh(), log=log(), c=tanh()), fine),
        "a NaN made in the middle": (chain(a=swap, log=log(), then=tanh(), d=tanh()), mixed),
        "a NaN made in a container": (
            chain(a=tanh(), body=made_inside, end=tanh()),
            [[-2.0, -3.0]],
        ),
        "a container that receives one": (chain(log=log(), body=inside, end=tanh()), mixed),
        "a NaN made between two modules": (chain(start=tanh(), block=between), mixed),
        "a NaN in the data": (chain(a=tanh(), b=tanh()), [[1.0, math.nan], [2.0, 3.0]]),
        "a NaN made by the last module": (chain(a=tanh(), log=log()), mixed),
        "infinities": (chain(log=log(), c=tanh(), d=tanh()), [[0.0, math.inf]]),
        "a module with several arguments": (mixer(1), mixed),
        "a model that runs its modules in an order of its own": (late, mixed),
        "a module with a NaN in its next-to-last argument": (mixer(-1), mixed),
    }


def nan_run(answer: Answer) -> dict[str, Any]:
    """Let an answer look for the first receiver in each model."""
    seen: dict[str, Any] = {}
    left = after_error = 0
    for name, (model, data) in nan_models().items():
        with put_back() as changed:
            found = answer(model, torch.tensor(data))
        left += hooks_on(model) + len(changed)
        if found is not None and not isinstance(found, str):
            raise Objection(f"It returned {describe(found)}. You are asked for one name, or None.")
        seen[f"the name for {name}"] = found
    fails = Made(lambda self, x: (_ for _ in ()).throw(Broken))
    for model in (chain(a=nn.Tanh(), b=fails), chain(a=fails, b=nn.Tanh())):
        with put_back() as changed, suppress(Broken):
            answer(model, torch.tensor([[math.nan]]))
        after_error += hooks_on(model) + len(changed)
    return seen | {LEFT: left, ERROR: 0 if left else after_error}


RECEIVES = Hook(
    id="13.5",
    asks="first_nan(model, data), which returns the name of the first module that receives a NaN, "
    "or None",
    scenario=nan_run,
    right="The NaN was made after the last module got clean values, and before this one got its own.",
    hints=(
        "Which hook sees the arguments of every module before its forward runs?",
        "A global forward pre-hook in a with block: it goes through args, skips what isn't a "
        "tensor, and notes names[module] where isnan().any() holds. Return the first one noted.",
    ),
    mistakes=r"""
        ~ isinstance(each, torch.Tensor) and =>
        ! 'float' object, 'NoneType' object has no attribute, not float, not NoneType
            One of the arguments isn't a tensor: ask isinstance(each, torch.Tensor) first.
        ~ any(isinstance(each, torch.Tensor) and each.isnan().any() for each in args) => torch.isnan(args).any()
        ! not tuple, 'tuple' object
            A hook gets a tuple with all the arguments: go through them.
        ~ found.append(names[module]) => return names[module]
        ! must be Tensor
            What a pre-hook returns replaces the arguments. Note the name, and return None.
        ~ found[0] if found else None => found[0]
        ! IndexError, index out of range, StopIteration
            Nothing is noted if no module receives a NaN. What should you return then?
        ~ each.isnan().any() => each.isnan()
        ! ambiguous
            `if tensor.isnan():` has many answers. any() makes it one.
        ~ forward_pre_hook => forward_hook
        | (module, args) => (module, inputs, args)
        | in args) => in [args])
            That looks at outputs, so it names the module that makes the NaN, not the receiver.
        ~ found[0] => found[-1]
            That module receives it later. You're asked for the first.
        ~ found[0] if found else None => next((name for name in names.values() if name in found), None)
            That's the first in the order of named_modules(). forward has its own order.
        ~ each.isnan() => (~each.isfinite())
        ~ each.isnan() => each.isinf()
            You count infinities, too. isfinite() is false for both; isnan() tells them apart.
        ~ each.isnan() => (each == math.nan)
        ~ return found[0] if found else None => found.clear()
            No module is found. Do you return something? And NaN isn't equal to itself: use isnan().
        ~ isnan().any() => isnan().all()
            One NaN among good numbers is enough: any() or all()?
        ~ found.append => if not [*module.children()]: found.append
            A container receives it before the modules in it do, and so does the model. Use a
            pre-hook: a forward hook runs when its module is done.
        ~ found.append => if module is not model: found.append
            The model itself is never named. It is a module, and receives the data.
        ~ found.append => if module in [*model.children()]: found.append
            You never look at modules deeper inside. named_modules() has them all.
        ~ if found => if found and found[0]
            The model receives a NaN in the data, and its name, the empty string, counts as false.
        ~ in args) => in args[:1])
        ~ in args) => in args[-1:])
            You look at some of the arguments only. The NaN may be in any of them.
        ~ else None => else "None"
        ~ else None => else ""
        ? seen[HEALTHY] is not None
            Return None if no module receives a NaN. The empty string is the name of the model.
        ~ with everywhere.register_module_forward_pre_hook(look): => if everywhere.register_module_forward_pre_hook(look):
        ? {**seen, LEFT: 0} == right
            A hook is still there. Register it in a with block.
        ~ with everywhere.register_module_forward_pre_hook(look): => handle = everywhere.register_module_forward_pre_hook(look)\n    if handle:
        | return => handle.remove()\n    return
        ? {**seen, ERROR: 0} == right
            The hook stays when the model raises: remove() was never reached. Use a with block.
    """,
)

# --- 13.6

SPREAD, OTHER = "the list of deviations, run again,", "for another model, the list of deviations"
FACTOR = "whether all parameters of a layer were divided by one number, the answer"
NORM = "whether the LayerNorm is what it was, the answer"
DATA = "whether the data are what they were, the answer"
RUNS = "the number of runs of each model"


def even_models() -> list[tuple[Any, Tensor]]:
    """Make two models with their data; the second runs its layers in another order."""
    body = chain(
        inner=nn.Linear(7, 7, bias=False), act=nn.ReLU(), more=nn.Linear(7, 5), norm=nn.LayerNorm(5)
    )
    deep = chain(start=nn.Linear(6, 7), act=nn.Tanh(), body=body, end=nn.Linear(5, 3))
    turned = Made(
        lambda self, x: self.second(self.act(self.first(x))),
        second=nn.Linear(5, 4),
        act=nn.Tanh(),
        first=nn.Linear(4, 5),
    )
    filled(turned, seed=6, scale=0.3).second.weight.data.mul_(20.0)
    return [
        (filled(deep, seed=2, scale=0.25), numbers(40, 6, seed=1)),
        (turned, numbers(50, 4, seed=3)),
    ]


def deviations(model: nn.Module, data: Tensor) -> list[float]:
    """Give the deviation of the output of each Linear in a run, to two digits after the point."""
    found: list[float] = []
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.register_forward_hook(lambda m, a, out: found.append(round(out.std().item(), 2)))
    with torch.no_grad():
        model(data)
    return found


def even_run(answer: Answer) -> dict[str, Any]:
    """Let an answer scale two models, and look at them."""
    spreads, factors, same, runs = [], [], [], []
    for model, data in even_models():
        before = {name: p.detach().clone() for name, p in model.named_parameters()}
        given, calls = data.clone(), list[int]()
        handle = model.register_forward_pre_hook(lambda m, a, calls=calls: calls.append(1))
        answer(model, data)
        handle.remove()
        ratios: dict[str, Any] = {}
        for name, p in model.named_parameters():
            ratio = (p.detach() / before[name]).flatten()
            ratios.setdefault(name.rpartition(".")[0], []).append(ratio)
        factors.append({name: torch.cat(each) for name, each in ratios.items()})
        same.append(torch.equal(data, given))
        runs.append(len(calls))
        spreads.append(deviations(model, given))
    every = [each for of_model in factors for each in of_model.values()]
    return {
        SPREAD: spreads[0],
        OTHER: spreads[1],
        FACTOR: all(bool(e.min() > 0) and torch.allclose(e, e[0], rtol=1e-3) for e in every),
        NORM: bool(factors[0]["body.norm"].eq(1).all()),
        DATA: all(same),
        RUNS: max(runs),
    }


EVEN = Hook(
    id="13.6",
    asks="even_out(model, data), which divides the weight and bias of each nn.Linear by the deviation of its "
    "output, so that all these outputs have deviation 1",
    scenario=even_run,
    digits=3,
    right="Measured instead of derived: this fits any activation, and takes one run.",
    hints=(
        "Which hook sees a layer's output, and what happens if it returns something?",
        "In a forward hook on each nn.Linear: take output.std(), divide weight and bias by it in "
        "place, and return the output divided by it as well. All under no_grad; remove the hooks "
        "at the end.",
    ),
    mistakes=r"""
        ~ with torch.no_grad() => if True
        ! leaf Variable, leaf variable, in-place
            You can't write to parameters while autograd records: use torch.no_grad().
        ~ model(data) => for each in linears: data = each(data)
        ! mat1 and mat2, shapes cannot be multiplied, object is not iterable, 'Made' object
            You call the layers yourself, in another order than forward does. Use hooks.
        ~ in layer.parameters() => in (layer.weight, layer.bias)
        ! NoneType
            One of the layers has no bias: it is None there.
        ~ parameter.div_(deviation) => layer.weight = layer.weight / deviation
        ! cannot assign
            You can't replace a parameter by a plain tensor. Change its values in place.
        ~ parameter.div_(deviation) => pass
        | output / deviation => None
            Nothing has changed. Do the hooks write to the parameters of this very model?
        ~ in layer.parameters() => in [layer.weight]
        ~ in layer.parameters() => in [layer.weight]
        | return output / deviation => return layer.forward(*args)
            You left the bias as it was, and the output contains it: divide the bias, too.
        ~ return output / deviation => return None
            You measured each layer on outputs that weren't corrected yet. What may a forward hook return?
        ~ output.std() => output.var()
        ~ output.std() => output.std() ** 0.5
        ~ output.std() => output.abs().max()
        ~ output.std() => output.square().mean() ** 0.5
            That isn't the deviation of the output, which is the root of its variance.
        ~ .div_ => .mul_
        | output / => output *
            You multiply by the deviation, so what was large gets larger.
        ~ output.std() => args[0].std()
        ~ output.std() => layer.weight.std()
            That's the deviation of the input, or of the weights. You need that of the output.
        ~ output.std() => output.std(0).mean()
        ~ output.std() => output.std(0)
        | parameter.div_(deviation) => parameter.div_(deviation.reshape(-1, *(parameter.dim() - 1) * [1]))
        ! must match the size
            Each unit, or each image, has its own number there. Take one over all entries.
        ~ model.modules() => model.children()
            You left out layers in containers: modules() goes all the way down.
        ~ handles = [layer.register_forward_hook(correct) for layer in linears]\n    with torch.no_grad():\n        model(data)\n    for handle in handles:\n        handle.remove() => for layer in linears:\n        with layer.register_forward_hook(correct), torch.no_grad():\n            model(data)
        ? {*seen[SPREAD]} == {1} != {*seen[OTHER]}
            The first model is right. The second doesn't call its layers in the order of modules().
        ~ return output / deviation => return (output - output.mean()) / deviation
        ? seen[SPREAD][0] == 1 and {*seen[SPREAD]} != {1}
            The first layer is right, and one after it isn't. The rest of the run has to see the
            output divided once by the same number.
        ~ for parameter in layer.parameters():\n            parameter.div_(deviation) => for name, each in [*layer.named_parameters()]:\n            setattr(layer, name, nn.Parameter(each / deviation))
        ? "modules" in trials[0].changed
            There are new parameters, and an optimizer has the old ones. Change values in place.
        ~ handle.remove() => pass
        ? "hooks" in trials[0].changed
            Your hooks are still there, and divide again in the next run.
        ~ model(data) => model(data), model(data)
        ? seen[RUNS] > 1
            The model ran several times. One run is enough, if it sees the corrected outputs.
    """,
)

EXERCISES = [FLOW, CLIPPING, BY_HAND, DEAD, RECEIVES, EVEN]
