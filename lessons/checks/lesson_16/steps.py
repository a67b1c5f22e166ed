"""Check exercise 16.1: step inside of backward, once for several micro-batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook, Trial
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike

from ..models import layer
from ..observations import Answer, observed

FIRST = "with every=2, the list of parameters after the first of two micro-batches"
SECOND = "with every=2, the list of parameters after the second of two micro-batches"
FOURTH = "with every=2, the list of parameters after four micro-batches"
ONE = "with every=1, the list of parameters after two batches"
THREE = "with every=3 and momentum, the list of parameters after six micro-batches"
TIED = "with one layer used twice and every=2, the list of parameters after two micro-batches"
SAME = "with two layers of one shape and every=2, the list of parameters after two micro-batches"
ADAM = "with Adam and every=2, the list of parameters after four micro-batches"
FROZEN = "with a frozen weight and every=2, the list of parameters after two micro-batches"
BARE = "with all handles removed, the number of parameters that backward still moves"
LATER = "not looked at, for hooks are left"


def _model(kind: str = "") -> nn.Sequential:
    first = layer([[0.5, -0.3], [0.2, 0.8]], [0.1, -0.2])
    last = first if kind == "tied" else layer([[1.5, -0.9]], [0.4])
    if kind == "same":
        last = layer([[0.7, 0.4], [-0.6, 0.9]], [0.3, 0.1])
    return nn.Sequential(first, nn.Tanh(), last)


def _batches() -> list[tuple[Tensor, Tensor]]:
    rows = torch.tensor(
        [[0.3, -1.2], [0.8, 0.5], [-0.7, 0.9], [1.1, 0.2], [-0.4, -0.6], [0.6, 1.3]]
    )
    wanted = torch.tensor([[0.9], [-0.5], [0.3], [1.2], [-1.0], [0.4]])
    return [(rows[at : at + 1], wanted[at : at + 1]) for at in range(6)]


def _backward(model: nn.Module, batch: tuple[Tensor, Tensor]) -> None:
    ((model(batch[0]) - batch[1]) ** 2).mean().backward()


def _values(model: nn.Module) -> list[Any]:
    return [p.detach().tolist() for p in model.parameters()]


def _sgd(parameters: Sequence[Tensor]) -> Any:
    return torch.optim.SGD(parameters, lr=0.1)


def _with_momentum(parameters: Sequence[Tensor]) -> Any:
    return torch.optim.SGD(parameters, lr=0.05, momentum=0.9)


def _adam(parameters: Sequence[Tensor]) -> Any:
    return torch.optim.Adam(parameters, lr=0.05)


def steps_run(answer: Answer) -> dict[str, Any]:
    """Train small models in the answer's way, in micro-batches."""
    batches = _batches()

    def handles_of(model: nn.Module, make: Callable[..., Any], every: int) -> Sequence[Any]:
        def make_one(parameters: Sequence[Tensor]) -> Any:
            if not isinstance(parameters, Tensor):  # that one the optimizer refuses by itself
                parameters = list(parameters)
                if len(parameters) > 1:
                    raise Objection("make([p]) is for one parameter. Make an optimizer for each.")
            return make(parameters)

        handles = answer(model, make_one, every)
        if handles is None:
            raise Objection("Nothing came back. Return the handles, so that all can be undone.")
        if not isinstance(handles, list | tuple) or not all(hasattr(h, "remove") for h in handles):
            raise Objection("steps_every has to return a list of handles.")
        return handles

    model = _model()
    handles = handles_of(model, _sgd, 2)
    _backward(model, batches[0])
    seen: dict[str, Any] = {FIRST: _values(model)}
    _backward(model, batches[1])
    seen[SECOND] = _values(model)
    for batch in batches[2:4]:
        _backward(model, batch)
    seen[FOURTH] = _values(model)
    for handle in handles:
        handle.remove()
    before = _values(model)
    for batch in batches[:4]:
        _backward(model, batch)
    moved = sum(a != b for a, b in zip(before, _values(model), strict=True))
    for name, kind, make, every, many in (
        (ONE, "", _sgd, 1, 2),
        (THREE, "", _with_momentum, 3, 6),
        (ADAM, "", _adam, 2, 4),
        (TIED, "tied", _sgd, 2, 2),
        (SAME, "same", _sgd, 2, 2),
    ):
        model = _model(kind)
        handles_of(model, make, every)
        for batch in batches[:many]:
            _backward(model, batch)
        seen[name] = _values(model)
    model = _model()
    next(iter(model.parameters())).requires_grad_(False)
    handles_of(model, _sgd, 2)
    for batch in batches[:2]:
        _backward(model, batch)
    return seen | {FROZEN: _values(model), BARE: moved}


def stepping(
    *,
    counts: str = "each",
    divide: str = "once",
    frees: str = "after",
    due: Callable[[int, int], bool] = lambda calls, every: calls % every == 0,
    kind: str = "register_post_accumulate_grad_hook",
) -> Answer:
    """Make a right `steps_every`, or one with a typical mistake.

    Args:
        counts: whose calls are counted: of each parameter, of all together ("together").
        divide: when the gradient is divided: "once" before the step, in each "pass", "never"; or by
            what else: the number of "calls", of "parameters", or multiplied instead ("times"); or
            what .grad held in each pass is added up before ("sums").
        frees: when .grad is emptied: "after" the step, in each "pass", or "never".
        due: whether to step at a call.
        kind: which hook.
    """

    def steps_every(model: nn.Module, make: Callable[..., Any], every: int) -> list[Any]:
        parameters = [p for p in model.parameters() if p.requires_grad]
        optimizers = {p: make([p]) for p in parameters}
        calls: dict[Any, int] = {}
        sums: dict[Any, Any] = {}

        def step(p: Any) -> None:
            key = p if counts == "each" else None
            calls[key] = calls.get(key, 0) + 1
            if divide == "pass":
                p.grad /= every
            if divide == "sums":
                sums[p] = sums.get(p, 0) + p.grad
            others = {"calls": calls[key], "parameters": len(parameters), "two": 2}
            by = {"once": every, "sums": every, "times": 1 / every, **others}.get(divide, 1)
            if due(calls[key], every):
                p.grad = sums.pop(p, p.grad) / by
                optimizers[p].step()
            if frees == "pass" or (frees == "after" and due(calls[key], every)):
                p.grad = None

        def early(p: Any) -> Callable[[Any], None]:
            return lambda gradient: step(p) if p.grad is not None else None

        if kind == "register_hook":
            return [p.register_hook(early(p)) for p in parameters]
        return [getattr(p, kind)(step) for p in parameters]

    return steps_every


def only_last(model: nn.Module, make: Callable[..., Any], every: int) -> list[Any]:
    """Forget that a function written in a loop sees the loop's last value."""
    handles, calls = [], [0]
    last = list(model.parameters())[-1]
    optimizer = make([last])

    def step(_: Any) -> None:
        calls[0] += 1
        if calls[0] % every == 0 and last.grad is not None:
            last.grad /= every
            optimizer.step()
            last.grad = None

    for p in model.parameters():
        if p.requires_grad:
            handles.append(p.register_post_accumulate_grad_hook(step))
    return handles


@cache
def _right() -> dict[str, Any]:
    return steps_run(stepping())


def _only_off(found: Sequence[Trial], name: str) -> bool:
    """Tell whether a single one of the runs came out other than the right answer's."""
    return [n for n, v in _right().items() if not alike(observed(found, n), v)] == [name]


def moves(found: Sequence[Trial], name: str) -> list[bool]:
    """Tell for each parameter of the untied model whether it was moved."""
    return [
        now != start for now, start in zip(observed(found, name), _values(_model()), strict=True)
    ]


STEPS = Hook(
    id="16.1",
    asks="steps_every(model, make, every), which steps each parameter inside of backward, once for "
    "`every` micro-batches and by the mean of their gradients, and returns the handles",
    scenario=steps_run,
    reference=stepping(),
    digits=4,
    right="Each parameter keeps its own count. The gradients have to wait for each other now, so "
    "of the memory that was saved nothing is left: the two tricks do not go together.",
    hints=(
        "The hook is called once for each parameter in each pass. Whose calls are to be counted? "
        "And what is in .grad after two backward passes?",
        "Keep a dict with a number for each parameter. When the number is a multiple of `every`, "
        "divide p.grad by every, step with the optimizer of p, and empty p.grad.",
    ),
    mistakes=[
        Mistake(
            "A frozen parameter takes no hook: leave those out that require no gradient.",
            trouble=("doesn't require gradient", "does not require gradient", "requires grad"),
        ),
        Mistake(
            "The hook gets the parameter itself, and nothing else.",
            trouble=("positional argument",),
        ),
        Mistake(
            "It steps while the pass still needs the old weight. Which hook is called when the "
            "gradient of a parameter is complete?",
            trouble=("modified by an inplace operation",),
        ),
        Mistake(
            "A hook of this kind has to return nothing. Does a lambda hand on what its last call "
            "returned?",
            trouble=("hook", "should return None"),
        ),
        Mistake(
            "When this hook ran, the .grad that it looked at was empty. A tensor hook comes before "
            "the gradient is stored, and a module's may; and a function "
            "written in a loop may look at another one.",
            trouble=("NoneType",),
        ),
        Mistake(
            "It still counts the calls of all parameters together, so that some step in each "
            "micro-batch and others never.",
            like=stepping(counts="together"),
        ),
        Mistake(
            "It still counts the calls of all parameters together, so that some step in each "
            "micro-batch and others never. And what stands in .grad after two passes is a sum.",
            like=stepping(counts="together", divide="never"),
        ),
        Mistake(
            "The counting is right now. The second bug is still in: .grad holds the sum over the "
            "micro-batches, and the whole batch's gradient is the mean.",
            like=stepping(divide="never"),
        ),
        Mistake(
            "The counting is right now. The gradient is divided in each pass, and what had come "
            "in earlier passes is divided again. Divide once, before the step.",
            like=stepping(divide="pass"),
        ),
        Mistake(
            "The counting is right now. To make a mean of the sum, divide it by `every`.",
            like=stepping(divide="times"),
        ),
        Mistake(
            "`every` is an argument: use the number that is given.",
            like=stepping(due=lambda calls, every: calls % 2 == 0, divide="two"),
        ),
        Mistake(
            "The mean is right where there are 2 micro-batches, and only there.",
            like=stepping(divide="two"),
        ),
        Mistake(
            "You divide by a count that goes on growing. A step has `every` micro-batches.",
            like=stepping(divide="calls"),
        ),
        Mistake(
            "You divide by the number of parameters. What was added up are micro-batches.",
            like=stepping(divide="parameters"),
        ),
        Mistake(
            "You add up what is in .grad, and .grad adds up by itself: what came first counts "
            "again in each pass.",
            like=stepping(divide="sums"),
        ),
        Mistake(
            "Each parameter steps once, and never again: the count goes on beyond `every`. Ask "
            "for a multiple, or count anew after each step.",
            like=stepping(due=lambda calls, every: calls == every),
        ),
        Mistake(
            "All is right as long as no two parameters have the same shape. Where some have, they "
            "seem to share a count or an optimizer: what do you look them up by?",
            when=lambda found: _only_off(found, SAME),
        ),
        *(
            Mistake(
                "A tensor hook is called before the gradient has been added to .grad: it steps "
                "with what the pass before had left.",
                like=stepping(kind="register_hook", divide=divide, counts=counts),
            )
            for divide in ("once", "never", "pass")
            for counts in ("each", "together")
        ),
        *(
            Mistake(
                "It steps, and does not empty .grad: the old gradient goes into the next step.",
                like=stepping(frees="never", divide=divide),
            )
            for divide in ("once", "never", "pass")
        ),
        *(
            Mistake(
                "It throws the gradients of the first micro-batches away: until its step comes, "
                "each has to stay, and the next is added to it.",
                like=stepping(frees="pass", divide=divide),
            )
            for divide in ("once", "never")
        ),
        *(
            Mistake(
                "Once the number has come to `every` it steps in each micro-batch. A step is due "
                "at each multiple.",
                like=stepping(due=lambda calls, every: calls >= every, divide=divide),
            )
            for divide in ("once", "never")
        ),
        Mistake(
            "It steps after the first micro-batch of two, and then not after the second: one too "
            "early. When is the number of calls a multiple of `every`?",
            when=lambda found: (
                all(moves(found, FIRST)) and observed(found, FIRST) == observed(found, SECOND)
            ),
        ),
        Mistake(
            "It steps in every micro-batch. `every` says how many belong together.",
            when=lambda found: (
                all(moves(found, FIRST)) and observed(found, FIRST) != observed(found, SECOND)
            ),
        ),
        Mistake(
            "Only one of the parameters moves, the last one. A function that is written in a loop "
            "sees the loop's variable as it stands in the end: take what the hook is given.",
            when=lambda found: moves(found, FOURTH) == [False, False, False, True],
        ),
        Mistake(
            "Only the first parameter moves. Does a return stand inside of the loop?",
            when=lambda found: moves(found, FOURTH) == [True, False, False, False],
        ),
        Mistake(
            "Some parameters move in the first micro-batch already, and others not. Whose calls "
            "are counted?",
            when=lambda found: any(moves(found, FIRST)),
        ),
        Mistake(
            "After two micro-batches of every=2 not all parameters have moved. Whose calls are "
            "counted, when is the number a multiple, and is .grad still there when it steps?",
            when=lambda found: not all(moves(found, SECOND)),
        ),
        Mistake(
            "The handles are removed, and parameters still move in backward. Return the handles of "
            "all hooks.",
            when=lambda found: observed(found, BARE) > 0,
        ),
        Mistake(
            "A weight that was frozen has moved. Leave those out that require no gradient, and do "
            "not make them require one.",
            when=lambda found: moves(found, FROZEN)[0],
        ),
        Mistake(
            "All is right until a weight is frozen. Then steps come too early or too late: who is "
            "counted?",
            when=lambda found: _only_off(found, FROZEN),
        ),
        Mistake(
            "With SGD it comes out right, and with Adam not: the gradient has to be the whole "
            "batch's before the step. Leave the optimizer's settings as `make` gives them.",
            when=lambda found: _only_off(found, ADAM),
        ),
        Mistake(
            "With a momentum it comes out wrong: an optimizer has a memory. Step with what `make` "
            "gives, one for each parameter, made once.",
            when=lambda found: (
                observed(found, FOURTH) == _right()[FOURTH]
                and observed(found, ONE) == _right()[ONE]
                and observed(found, THREE) != _right()[THREE]
            ),
        ),
    ],
)
