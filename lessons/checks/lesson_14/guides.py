"""Check a context manager that makes backward passes guided, and leaves no trace."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from inspect import isgenerator
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.autograd import grad
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.execution import Belongings
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike

from ..observations import observed

Answer = Callable[..., Any]
GUIDED = "the gradient inside of the block"
PLACED = "the gradient inside of the block, of a model with an in-place ReLU"
SHARED = "the gradient inside of the block, of relu(x) - relu(x) with one ReLU"
BARE = "the gradient inside of the block, of a model that is a ReLU itself"
NESTED = "the gradient inside of the block, of a model with a ReLU deep inside"
AFTER = "the gradient behind the block"
ERROR = "the error that was raised inside of the block"
CLEAN = "the gradient behind a block that ended in an error"
FLAGS = "what the ReLUs' inplace is behind the blocks"
HOOKS = "the number of hooks on the ReLUs behind the blocks"
OTHERS = "how often a hook of somebody else was called"
OUTSIDE = "the gradient of another model, inside of the block"
TWICE = "the gradient inside of a second block"
CHANGED = "what of a model and its parameters is different behind the block"
LENT = "how often a hook was called that somebody registered inside of the block"
TABLES = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


# Whoever registers a full backward hook leaves a setting behind, and others do not.
_KEPT = {"values", "requires_grad", "grad", "training", "modules"}


class Trouble(RuntimeError):
    """What goes wrong inside of a block."""


def _filled(module: Any) -> Any:
    with torch.no_grad():
        for at, parameter in enumerate(module.parameters()):
            entries = [math.sin(0.7 + at + 1.9 * index) for index in range(parameter.numel())]
            parameter.copy_(torch.tensor(entries).reshape(parameter.shape))
    return module


def _model(inplace: bool = False) -> Any:
    """Make a model of which the first ReLU is in place, or none."""
    layers = nn.Linear(3, 6), nn.ReLU(inplace), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 1)
    return _filled(nn.Sequential(*layers))


class _Deep(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 6)
        inner = nn.Sequential(nn.ReLU(), nn.Linear(6, 4))
        self.parts = nn.ModuleDict({"inner": nn.Sequential(inner, nn.ReLU())})
        self.last = nn.Linear(4, 1)

    def forward(self, x: Tensor) -> Any:
        return self.last(self.parts["inner"](self.first(x)))


class _Shared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()
        self.again = self.relu

    def forward(self, x: Tensor) -> Any:
        return self.relu(x) - self.again(x)


def _slope(model: Any, at: tuple[float, ...] = (0.5, -1.0, 1.5)) -> Tensor:
    x = torch.tensor(at, requires_grad=True)
    return grad(9.0 * model(x * 1.0).sum(), x)[0]


def _left(*models: Any) -> int:
    rectifiers = [each for model in models for each in model.modules() if _is_relu(each)]
    return sum(len(vars(each).get(table) or ()) for each in rectifiers for table in TABLES)


def _is_relu(module: Any) -> bool:
    return isinstance(module, nn.ReLU)


def _reset(model: Any, inplace: bool) -> list[bool]:
    """Tell what inplace the ReLUs have, and give them what they had in the beginning."""
    found = [each.inplace for each in model if _is_relu(each)]
    model[1].inplace, model[3].inplace = inplace, False
    return found


def _block(answer: Answer, model: Any) -> Any:
    block = answer(model)
    if isgenerator(block):
        raise Objection(
            "guiding(model) is a generator, and with cannot use it. contextlib.contextmanager, "
            "put in front of the function that yields, makes a context manager of it."
        )
    if not hasattr(block, "__enter__") or not hasattr(block, "__exit__"):
        kind = type(block).__name__
        raise Objection(
            f"guiding(model) gives a thing of type {kind}, and with needs something that has "
            "__enter__ and __exit__."
        )
    return block


def _inside(answer: Answer, model: Any, *at: float) -> Tensor:
    with _block(answer, model):
        try:
            return _slope(model, at or (0.5, -1.0, 1.5))
        except RuntimeError as error:
            if "modified inplace" not in str(error):
                raise
    raise Objection(
        "RuntimeError: Output 0 of BackwardHookFunction is a view and is being modified inplace. "
        "A ReLU in place writes into the view of the hook's gate. While the hooks are on, inplace "
        "has to be False."
    )


def guiding_run(answer: Answer) -> dict[str, Any]:
    """Look at gradients inside of blocks and behind them, and at what they leave behind."""
    plain, placed, shared, bare = _model(), _model(True), _Shared(), nn.ReLU()
    deep = _filled(_Deep())
    found: dict[str, Any] = {
        GUIDED: _inside(answer, plain),
        AFTER: _slope(plain),
        SHARED: _inside(answer, shared, 2.0),
        BARE: _inside(answer, bare, 2.0, -1.0),
        NESTED: _inside(answer, deep),
        PLACED: _inside(answer, placed),
    }
    flags = [_reset(plain, False), _reset(placed, True)]
    with _block(answer, plain):
        found[OUTSIDE] = _slope(_model())
    calls: list[int] = []
    plain[3].register_full_backward_hook(lambda *given: calls.append(1))
    before = _left(plain, placed, shared, bare, deep)
    raised = "none"
    try:
        with _block(answer, plain):
            raise Trouble
    except Trouble:
        raised = "the one that was raised"
    except Objection:
        raise
    except Exception:
        raised = "another one"
    flags.append(_reset(plain, False))
    found[ERROR] = raised
    found[CLEAN] = _slope(plain)
    found[TWICE] = _inside(answer, plain)
    with suppress(Exception), _block(answer, placed):
        raise Trouble
    _reset(plain, False)
    _slope(plain)
    found[OTHERS] = len(calls)
    found[FLAGS] = [*flags, _reset(placed, True)]
    found[HOOKS] = _left(plain, placed, shared, bare, deep) - before + 1
    found |= _among_others(answer)
    return found


def _among_others(answer: Answer) -> dict[str, Any]:
    """Look at what blocks leave changed, and at hooks that others register inside of one."""
    training, evaluating, calls = _model(), _model(), list[int]()
    evaluating.eval()
    changes = set[str]()
    for model in (training, evaluating):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        noted = Belongings([model])
        with _block(answer, model):
            _slope(model)
        changes |= noted.changes()
    with _block(answer, training):
        for layer in (1, 3):
            training[layer].register_full_backward_hook(lambda *given: calls.append(1))
    _reset(training, False)
    _slope(training)
    return {CHANGED: sorted(changes & _KEPT), LENT: len(calls)}


def guiding(
    *,
    hook: str = "keep",
    kinds: tuple[type, ...] = (nn.ReLU,),
    caught: bool = True,
    removed: bool = True,
    out_of_place: bool = True,
    back: bool = True,
    deep: bool = True,
    every: bool = True,
) -> Answer:
    """Make a context manager for guided backpropagation; the settings name typical slips.

    Args:
        hook: "keep" clamps, "late" clamps grad_output instead, "negative" keeps what is negative,
            "turned" makes it positive.
        kinds: the modules that are hooked.
        caught: whether an error inside of the block finds the hooks removed.
        removed: whether hooks are removed at all.
        out_of_place: whether in-place ReLUs are made ordinary ones.
        back: whether they are in place again.
        deep: whether ReLUs inside of modules are found.
        every: whether all ReLUs are hooked or just the first.
    """

    def clamp(module: Any, grad_input: Any, grad_output: Any) -> Any:
        if hook == "negative":
            return (grad_input[0].clamp(max=0),)
        if hook == "turned":
            return (grad_input[0].abs(),)
        return ((grad_output if hook == "late" else grad_input)[0].clamp(min=0),)

    @contextmanager
    def block(model: Any) -> Iterator[Any]:
        found = [each for each in (model.modules() if deep else model.children())]
        rectifiers = [each for each in found if isinstance(each, nn.ReLU)]
        before = [each.inplace for each in rectifiers]
        hooked: list[Any] = [each for each in found if isinstance(each, kinds)]
        chosen = hooked if every else hooked[:1]
        handles = [each.register_full_backward_hook(clamp) for each in chosen]
        if out_of_place:
            for each in rectifiers:
                each.inplace = False

        def restore() -> None:
            if removed:
                for handle in handles:
                    handle.remove()
            if back:
                for each, inplace in zip(rectifiers, before, strict=True):
                    each.inplace = inplace

        try:
            yield model
        except BaseException:
            if caught:
                restore()
            raise
        else:
            restore()

    return block


_OTHER_KINDS = ((nn.Linear,), (nn.Linear, nn.ReLU))


def _only(name: str, wrong: Answer) -> Callable[[Any], bool]:
    """Recognize an answer by one observation in which it does as a wrong one does."""

    def detector(found: Any) -> bool:
        return alike(observed(found, name), guiding_run(wrong)[name])

    return detector


def _fits(found: Any, name: str) -> bool:
    return alike(observed(found, name), guiding_run(guiding())[name])


GUIDING = Hook(
    id="14.6",
    asks="guiding(model), a context manager inside of which backward passes through the model "
    "are guided, and behind which nothing is left of it",
    scenario=guiding_run,
    reference=guiding(),
    digits=4,
    may_change=("hooks",),
    right="A block like this one can be lent to others: it cleans up after errors, too.",
    hints=(
        "Note what you change, and put what undoes it into a finally.",
        "Inside of a function with @contextmanager: collect the ReLUs of model.modules() and "
        "their inplace, register keep_positive on each and keep the handles, set inplace to "
        "False. Then try: yield, and in finally: remove the handles, put inplace back.",
    ),
    mistakes=[
        Mistake(
            "A full backward hook returns a tuple with one entry, not the tensor alone.",
            trouble=("invalid number of grad_input",),
        ),
        Mistake(
            "A generator function has to yield exactly once, whatever happens.",
            trouble=("didn't yield", "didn't stop", "is not an iterator"),
        ),
        Mistake(
            "The error of the block was swallowed: __exit__ returned something true, or an "
            "except has no raise in it. Clean up in a finally, and let the error pass.",
            when=lambda found: observed(found, ERROR) == "none",
        ),
        Mistake(
            "The error of the block came out as another one. Clean up in a finally, and let it "
            "pass as it is.",
            when=lambda found: observed(found, ERROR) == "another one",
        ),
        Mistake(
            "Inside of the block the gradient is the plain one. Are the hooks on the ReLUs of the "
            "model itself, not of a copy, and do they return a tuple?",
            when=lambda found: (
                alike(observed(found, GUIDED), observed(found, AFTER)) and not _fits(found, GUIDED)
            ),
        ),
        Mistake(
            "Behind the block the gradient is still guided: hooks are left.",
            when=lambda found: (
                _fits(found, GUIDED) and alike(observed(found, AFTER), observed(found, GUIDED))
            ),
        ),
        Mistake(
            "Behind the block the gradient is not the plain one again: some hooks are left. Keep "
            "the handle of each in a list.",
            when=lambda found: _fits(found, GUIDED) and not _fits(found, AFTER),
        ),
        Mistake(
            "After an error inside of the block the hooks are still there. What runs in any case, "
            "error or not?",
            when=lambda found: (
                _fits(found, AFTER) and alike(observed(found, CLEAN), observed(found, TWICE))
            ),
        ),
        Mistake(
            "Your hook clamps grad_output and returns that. Then closed units let gradients pass: "
            "grad_input is what has to be clamped.",
            when=_only(GUIDED, guiding(hook="late")),
        ),
        *(
            Mistake(
                "The hooks are on the linear layers, too, or only there. The rule is one for "
                "ReLUs.",
                when=_only(GUIDED, guiding(kinds=kinds)),
            )
            for kinds in _OTHER_KINDS
        ),
        Mistake(
            "A ReLU of another model was guided as well. A global hook sees every module: hook "
            "those of the model that is given.",
            when=lambda found: _fits(found, GUIDED) and not _fits(found, OUTSIDE),
        ),
        Mistake(
            "Your hook takes absolute values. What is negative should not pass at all.",
            when=_only(GUIDED, guiding(hook="turned")),
        ),
        Mistake(
            "Your hook lets pass what is negative, and stops the rest: the other way round.",
            when=_only(GUIDED, guiding(hook="negative")),
        ),
        Mistake(
            "Only one of the ReLUs is hooked. All of them have to be.",
            when=_only(GUIDED, guiding(every=False)),
        ),
        Mistake(
            "A ReLU inside of another module was not found, or a model that is a ReLU itself. "
            "modules() walks through all of them.",
            when=lambda found: (
                _fits(found, GUIDED) and not (_fits(found, NESTED) and _fits(found, BARE))
            ),
        ),
        Mistake(
            "A model without in-place ReLUs is guided, and one with an in-place ReLU is not: that "
            "one needs its hook, too.",
            when=lambda found: _fits(found, GUIDED) and not _fits(found, PLACED),
        ),
        Mistake(
            "A hook of somebody else is gone, or was not called. Remove your own hooks only, each "
            "by its handle.",
            when=lambda found: (
                _fits(found, CLEAN) and not (_fits(found, OTHERS) and _fits(found, LENT))
            ),
        ),
        Mistake(
            "Behind the blocks a model is in another mode: train() or eval() was called. Guiding "
            "has no need of it.",
            when=lambda found: _fits(found, CLEAN) and "training" in observed(found, CHANGED),
        ),
        Mistake(
            "Behind the block the model has other modules, or its parameters, their .grad or their "
            "requires_grad are not what they were.",
            when=lambda found: _fits(found, CLEAN) and not _fits(found, CHANGED),
        ),
        Mistake(
            "Inside of the block gradients are changed, and not in the way asked for. Is there a "
            "hook on every ReLU, and does it set to zero what is negative in grad_input, and "
            "nothing else?",
            when=lambda found: not _fits(found, GUIDED),
        ),
        Mistake(
            "The gradients are right. Behind the blocks inplace is not what it was: note it for "
            "each ReLU, and put it back, after an error as well.",
            when=lambda found: _fits(found, PLACED) and not _fits(found, FLAGS),
        ),
        Mistake(
            "The gradients are right, and hooks are left on the ReLUs that do nothing any more. "
            "Remove each by its handle.",
            when=lambda found: _fits(found, CLEAN) and not _fits(found, HOOKS),
        ),
    ],
)
