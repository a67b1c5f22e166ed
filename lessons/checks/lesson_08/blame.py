"""Check exercise 08.3, which looks for the module that made a bad gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake
from minigrad.nn.modules import module as everywhere

from ..models import layer
from .slate import (
    Answer,
    Stranger,
    chain,
    clean_slate,
    hooks_left,
    is_layer,
)


class Length(nn.Module):
    """The length of each row, with a slope that is not a number where the row is zero."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute the root of the sum of squares."""
        return (x * x).sum(-1, keepdim=True).sqrt()


class Root(nn.Module):
    """The square root, with an infinite slope at zero."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute it."""
        return x.sqrt()


class Twice(nn.Module):
    """Twice its input, by a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Tensor) -> Tensor:
        """Compute it."""
        return self.factor * x


class Between(nn.Module):
    """A module with a square root between its two children."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = Twice(), Twice()

    def forward(self, x: Tensor) -> Tensor:
        """Run both, with the root between them."""
        return self.after(self.before(x).sqrt())


class Huge(nn.Module):
    """Its input times half of the largest number there is: a gradient of 4 overflows in it."""

    def forward(self, x: Tensor) -> Tensor:
        """Compute it."""
        return x * (torch.finfo(x.dtype).max / 2)


class Mend(nn.Module):
    """Its input, with a gradient that is cleaned of what is not finite."""

    def forward(self, x: Tensor) -> Tensor:
        """Copy it, and see to its gradient."""
        y = x * 1
        y.register_hook(lambda gradient: gradient.nan_to_num(0.0, 0.0, 0.0))
        return y * 1


def suspects() -> dict[str, tuple[nn.Module, Tensor, Tensor]]:
    """Make models with and without a culprit, each with its data and a cotangent."""
    zero_row, one = torch.tensor([[3.0, 4.0], [0.0, 0.0]]), torch.tensor([[1.0], [1.0]])
    zero = torch.tensor([[4.0], [0.0]])
    small, four = torch.tensor([[1e-30]]), torch.tensor([[4.0]])
    body = chain(twice=Twice(), length=Length())

    def last() -> nn.Module:
        return layer([[2.0]], [0.5])

    return {
        "a healthy model": (chain(a=layer([[0.5, 0.2]], [0.1]), b=nn.Tanh()), zero_row, one),
        "a culprit in the middle": (
            chain(first=Twice(), length=Length(), last=last()),
            zero_row,
            one,
        ),
        "a culprit inside of a container": (
            chain(start=Twice(), body=body, end=nn.Tanh()),
            zero_row,
            one,
        ),
        "a culprit that makes an infinity": (
            chain(first=Twice(), root=Root(), last=Twice()),
            zero,
            one,
        ),
        "a culprit in the first layer": (chain(length=Length(), last=last()), zero_row, one),
        "a root between two children": (chain(start=Twice(), block=Between()), zero, one),
        "a root in the model's own forward": (Between(), zero, one),
        "an overflow that this cotangent causes": (chain(a=Twice(), huge=Huge()), small, four),
        "a module that mends what the culprit made": (
            chain(start=Twice(), mend=Mend(), root=Root()),
            zero,
            one,
        ),
        "a cotangent that was bad from the start": (
            chain(a=Twice(), b=nn.Tanh()),
            zero,
            torch.tensor([[float("nan")], [float("inf")]]),
        ),
        "data that require a gradient anyway": (
            chain(length=Length(), last=last()),
            torch.tensor([[3.0, 4.0], [0.0, 0.0]], requires_grad=True),
            one,
        ),
    }


def bad(gradients: Any) -> bool:
    """Tell whether one of the gradients is not finite."""
    return any(g is not None and not bool(g.isfinite().all()) for g in gradients)


BLAMED, HOOKS_LEFT = "who is blamed with", "the number of hooks left behind"
OTHERS = "whether the hooks that others had registered are all there, the answer"
KEPT, GRAD = "whether data.requires_grad is what it was, the answer", "data.grad, afterwards,"
HEALTHY, MIDDLE, _, _, FIRST, _, ROOT = range(7)
FACTS = -4
LEFT_PLACE, OTHERS_PLACE, KEPT_PLACE, GRAD_PLACE = range(FACTS, 0)
"""Places of some observations that `blame_run` makes."""


def blame_run(answer: Answer) -> dict[str, Any]:
    """Let an answer look for the culprit in each model, and look at what it leaves behind."""
    seen: dict[str, Any] = {}
    left, others, kept = 0, True, True
    grad: Any = None
    for name, (model, data, cotangent) in suspects().items():
        needed = data.requires_grad
        Stranger.register_on(model)
        with clean_slate(strangers=True):
            seen[f"{BLAMED} {name}"] = answer(model, data, cotangent)
            left += hooks_left(model)
            others &= Stranger.all_there()
        kept &= data.requires_grad is needed
        grad = data.grad if grad is None else grad
    return seen | {HOOKS_LEFT: left, OTHERS: others, KEPT: kept, GRAD: grad}


def blame(
    which: int = 0,
    judge: Callable[[Any], bool] = bad,
    how: str = "both ends",
    label: Callable[[Any, str], Any] = lambda module, name: name,
    asked: Callable[[nn.Module], bool] = lambda module: True,
    ones: bool = False,
) -> Answer:
    """Make a right `blame`, or one with a typical mistake.

    Args:
        which: of those who look guilty, the first (0) or the last (-1).
        judge: tells whether gradients are bad.
        how: "both ends"; "one end" takes whoever sends something bad, "victim" whoever receives it,
            as a pre-hook would, and "exchanged" who receives it and sends something good.
        label: what to say of a module with a name.
        asked: which modules are looked at.
        ones: whether the pass starts from ones instead of the cotangent.
    """

    def who(model: nn.Module, data: Tensor, cotangent: Tensor) -> Any:
        names = {module: name for name, module in model.named_modules()}
        found: list[Any] = []

        def guilty(grad_input: Any, grad_output: Any) -> bool:
            if how == "exchanged":
                return judge(grad_output) and not judge(grad_input)
            return judge(grad_input) and (how == "one end" or not judge(grad_output))

        def look(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
            if asked(module) and guilty(grad_input, grad_output):
                found.append(label(module, names[module]))

        def meet(module: nn.Module, grad_output: Any) -> None:
            if asked(module) and judge(grad_output):
                found.append(label(module, names[module]))

        handle = (
            everywhere.register_module_full_backward_pre_hook(meet)
            if how == "victim"
            else everywhere.register_module_full_backward_hook(look)
        )
        with handle:
            output = model(data.detach().requires_grad_())
            output.backward(torch.ones_like(cotangent) if ones else cotangent)
        return found[which] if found else None

    return who


def blame_in_order(model: nn.Module, data: Tensor, cotangent: Tensor) -> Any:
    """Take the first who looks guilty in the order of `named_modules()`, not of time."""
    guilty: set[nn.Module] = set()

    def look(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
        if bad(grad_input) and not bad(grad_output):
            guilty.add(module)

    with everywhere.register_module_full_backward_hook(look):
        model(data.detach().requires_grad_()).backward(cotangent)
    return next((name for name, module in model.named_modules() if module in guilty), None)


def blame_children(model: nn.Module, data: Tensor, cotangent: Tensor) -> Any:
    """Look at the model's children only."""
    children = set(model.children())
    return blame(asked=lambda module: module in children)(model, data, cotangent)


def blame_by_the_last_name(model: nn.Module, data: Tensor, cotangent: Tensor) -> Any:
    """Say the name that the loop's variable has in the end, as hooks made in a loop do."""
    *_, (last, _) = model.named_modules()
    return blame(label=lambda *_: last)(model, data, cotangent)


def keeps_the_first(found: Any) -> bool:
    """Tell whether the first culprit is named ever after, perhaps since an earlier check."""
    results = [trial.result for trial in found[:FACTS]]
    return results[HEALTHY] in (None, "length") and set(results[MIDDLE:]) == {"length"}


BLAME = Hook(
    id="08.3",
    asks="blame(model, data, cotangent), which returns the name of the module that made the "
    "first NaN or infinity of the backward pass, or None",
    scenario=blame_run,
    reference=blame(),
    right="Clean in, bad out, and the first to say so: this works for models you never saw.",
    hints=(
        "What does the culprit receive, and what does it send on? Which hook sees both? And "
        "what does the first layer need, to be seen at all?",
        "Register a global full hook in a with block. It notes names[module] where grad_input "
        "is bad and grad_output is not. Run the model on data.detach().requires_grad_(), and "
        "return the first name noted.",
    ),
    mistakes=[
        Mistake(
            "A hook stayed behind, and would speak in the next run of any model. Register it "
            "in a with block.",
            when=lambda found: found[LEFT_PLACE].result > 0,
        ),
        Mistake(
            "Hooks that somebody else had registered are gone. Remove your own by its handle, "
            "and leave the table alone.",
            when=lambda found: found[OTHERS_PLACE].result is False,
        ),
        Mistake(
            "data.requires_grad is not what it was: the caller's tensor was changed. Work on "
            "data.detach().",
            when=lambda found: found[KEPT_PLACE].result is False,
        ),
        Mistake(
            "Whoever is guilty, the last module is named. Hooks that are made in a loop share its "
            "variable, and see the value that it has in the end.",
            like=blame_by_the_last_name,
        ),
        Mistake(
            "That is the victim: the module at which the NaN arrives. Who sent it?",
            like=blame(how="victim"),
        ),
        Mistake(
            "Whoever sends something bad is named, also one to whom it came bad already. Look "
            "at both ends.",
            like=blame(how="one end"),
        ),
        Mistake(
            "You name who gets something bad and sends something good. A culprit does the reverse.",
            like=blame(how="exchanged"),
        ),
        Mistake(
            "A container that holds the culprit is guilty, too, and speaks later. The first "
            "one noted counts.",
            like=blame(which=-1),
        ),
        Mistake(
            "A container that holds the culprit is guilty, too, and speaks later. The first "
            "in time counts, not the first in named_modules().",
            like=blame_in_order,
        ),
        Mistake(
            "An infinity was missed. isfinite() asks for both at once.",
            like=blame(judge=lambda gs: any(g is not None and g.isnan().any() for g in gs)),
        ),
        Mistake(
            "A NaN was missed: isinf() is false for it. isfinite() asks for both at once.",
            like=blame(judge=lambda gs: any(g is not None and g.isinf().any() for g in gs)),
        ),
        Mistake(
            "One bad entry among good ones is enough to call a gradient bad: mind any() and all().",
            like=blame(judge=lambda gs: any(g is not None and not g.isfinite().any() for g in gs)),
        ),
        Mistake(
            "Containers have code of their own, between their children, and it can be guilty. "
            "Leave no module out.",
            like=blame(asked=is_layer),
        ),
        Mistake(
            "Modules deeper inside are never looked at, nor the model itself. named_modules() "
            "has them all.",
            like=blame_children,
        ),
        Mistake(
            "The culprit in the first layer was not found. Data that need no gradient leave it "
            "nothing to send: what is None is neither good nor bad.",
            when=lambda found: (
                found[MIDDLE].result == "length" and found[FIRST].result in (None, "")
            ),
        ),
        Mistake(
            "The model itself was guilty once, and not found. It is one of named_modules(), too. "
            "Its name there is the empty text, which counts as false: ask `is None`.",
            when=lambda found: found[ROOT].result is None and found[ROOT - 1].result == "block",
        ),
        Mistake(
            "The pass has to start from the cotangent. Yours starts from ones, and what the "
            "cotangent causes is not seen.",
            like=blame(ones=True),
        ),
        Mistake(
            "The model itself has the name '' in named_modules(): return that.",
            when=lambda found: (
                found[ROOT].result not in ("", None) and found[ROOT - 1].result == "block"
            ),
        ),
        Mistake(
            "In a healthy model nobody is guilty: return None. The empty text is the name of "
            "the model itself.",
            when=lambda found: found[HEALTHY].result == "",
        ),
        Mistake(
            "That is the name of the class. Several layers may share it: named_modules() has "
            "the module's own name.",
            like=blame(label=lambda module, name: type(module).__name__),
        ),
        Mistake(
            "That is the module. Its name is asked for: turn named_modules() around.",
            when=lambda found: hasattr(found[MIDDLE].result, "named_modules"),
        ),
        Mistake(
            "Those are all who look guilty. One name is asked for, that of the first.",
            when=lambda found: isinstance(found[MIDDLE].result, list | tuple | set | dict),
        ),
        Mistake(
            "Whatever the model, it names the same culprit. Does it keep one from an earlier call? "
            "Start with nobody each time.",
            when=keeps_the_first,
        ),
        Mistake(
            "None throughout, and there are culprits. Is something returned, and was a hook there "
            "when the model was called? (A forward hook sees nothing bad: the values are fine.)",
            when=lambda found: all(t.result is None and not t.trouble for t in found[:FACTS]),
        ),
        Mistake(
            "Gradients of your pass arrived in data.grad: what you ran the model on still hangs "
            "on data. Work on data.detach().",
            when=lambda found: found[GRAD_PLACE].result is not None,
        ),
        Mistake(
            "A gradient may be None. Ask for that before you ask whether it is finite.",
            trouble=("NoneType",),
        ),
        Mistake(
            "Nobody is guilty in a healthy model: there the list of culprits is empty. Return "
            "None then.",
            trouble=("list index", "StopIteration", "pop from"),
        ),
        Mistake(
            "A module of this model is not in the dictionary that you ask. Make one from the "
            "model that you are given.",
            trouble=("KeyError",),
        ),
        Mistake(
            "The model's output has several entries: the backward pass starts from the cotangent.",
            trouble=("implicitly",),
        ),
        Mistake(
            "Both kinds of backward hooks do not go together in one process, and the old kind "
            "would see the last operation only.",
            trouble=("Cannot use both",),
        ),
        Mistake(
            "A full hook is called with (module, grad_input, grad_output), a pre-hook with "
            "(module, grad_output).",
            trouble=("positional argument",),
        ),
    ],
)
