"""Run the models of lesson 08's exercises: right answers, and wrong ones that learners write."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.classroom.runs_06 import layer
from minigrad.classroom.slate_08 import Answer, chain, clean_slate, hooks_left
from minigrad.nn.modules import module as everywhere
from minigrad.tensor import Tensor

# ---------------------------------------------------------------- 08.3: who made it?


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


def suspects() -> dict[str, tuple[nn.Module, Tensor, Tensor]]:
    """Make models with and without a culprit, each with its data and a cotangent."""
    zero_row, one = torch.tensor([[3.0, 4.0], [0.0, 0.0]]), torch.tensor([[1.0], [1.0]])
    zero = torch.tensor([[4.0], [0.0]])
    body = chain(twice=Twice(), length=Length())
    return {
        "a healthy model": (
            chain(first=layer([[0.5, 0.2]], [0.1]), last=nn.Tanh()),
            zero_row,
            one,
        ),
        "a culprit in the middle": (
            chain(first=Twice(), length=Length(), last=layer([[2.0]], [0.5])),
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
        "a culprit in the first layer": (
            chain(length=Length(), last=layer([[2.0]], [0.5])),
            zero_row,
            one,
        ),
        "a root between two children": (chain(start=Twice(), block=Between()), zero, one),
    }


def bad(gradients: Any) -> bool:
    """Tell whether one of the gradients is not finite."""
    return any(g is not None and not bool(g.isfinite().all()) for g in gradients)


BLAMED, KEPT = "who is blamed with", "data.requires_grad"
HOOKS_LEFT = "the number of hooks left behind"


def blame_run(answer: Answer) -> dict[str, Any]:
    """Let an answer look for the culprit in each model, and look at what it leaves behind."""
    seen: dict[str, Any] = {}
    left, changed = 0, False
    for name, (model, data, cotangent) in suspects().items():
        with clean_slate():
            seen[f"{BLAMED} {name}"] = answer(model, data, cotangent)
            left += hooks_left(model)
            changed |= data.requires_grad
    return seen | {HOOKS_LEFT: left, KEPT: changed}


def blame(
    which: int = 0,
    judge: Callable[[Any], bool] = bad,
    victim: bool = False,
    label: Callable[[Any, str], Any] = lambda module, name: name,
) -> Answer:
    """Make a right `blame`, or one with a typical mistake.

    Args:
        which: of those who look guilty, the first (0) or the last (-1).
        judge: tells whether gradients are bad.
        victim: whether to take whoever receives something bad, as a pre-hook would.
        label: what to say of a module with a name.
    """

    def who(model: nn.Module, data: Tensor, cotangent: Tensor) -> Any:
        names = {module: name for name, module in model.named_modules()}
        found: list[Any] = []

        def look(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
            if judge(grad_input) and not judge(grad_output):
                found.append(label(module, names[module]))

        def meet(module: nn.Module, grad_output: Any) -> None:
            if judge(grad_output):
                found.append(label(module, names[module]))

        handle = (
            everywhere.register_module_full_backward_pre_hook(meet)
            if victim
            else everywhere.register_module_full_backward_hook(look)
        )
        with handle:
            model(data.detach().requires_grad_()).backward(cotangent)
        return found[which] if found else None

    return who


# ---------------------------------------------------------------- 08.4: the page's example, mended


class Broken(nn.Module):
    """A module that raises when it is called."""

    def forward(self, x: Tensor) -> Tensor:
        """Raise."""
        raise ValueError("this model is broken")


FLOW = "the list of (name, grad_input, grad_output), sorted by name,"
FLOW_NO_GRAD = "for data that need no gradient, the same list"
LEFT_AFTER_ERROR = "with a model that raises an error, the number of hooks left behind"


def flow_run(answer: Answer) -> dict[str, Any]:
    """Let an answer collect from a model, and look at what it leaves behind."""
    model = chain(
        first=layer([[0.5, -0.3], [0.2, 0.8]], [0.1, 0.0]),
        body=chain(squash=nn.Tanh(), inner=layer([[0.7, -0.4]] * 2, [0.0, 0.3])),
        last=layer([[1.5, -0.9]], [0.4]),
    )
    cotangent = torch.tensor([[1.3], [-0.4]])
    broken = chain(first=nn.Tanh(), broken=Broken())
    seen: dict[str, Any] = {}
    with clean_slate():
        for name, needs_one in ((FLOW, True), (FLOW_NO_GRAD, False)):
            data = torch.tensor([[0.3, -1.2], [0.8, 0.5]], requires_grad=needs_one)
            gradients = answer(model, data, cotangent)
            if not isinstance(gradients, dict):
                raise TypeError("the answer has to return a dict")
            seen[name] = [(name, *pair) for name, pair in sorted(gradients.items())]
            if len(gradients) != len(list(model.modules())):
                # What else is wrong does not matter before this is mended.
                return {FLOW: seen[name], FLOW_NO_GRAD: None, HOOKS_LEFT: 0, LEFT_AFTER_ERROR: 0}
        seen[HOOKS_LEFT] = hooks_left(model)
        with suppress(ValueError):
            answer(broken, torch.tensor([[0.3, -1.2]]), cotangent)
        seen[LEFT_AFTER_ERROR] = hooks_left(broken) - seen[HOOKS_LEFT]
    return seen


def flow(
    swapped: bool = False, removes: str = "always", by: Callable[[nn.Module], Any] | None = None
) -> Answer:
    """Make a right `gradient_flow`, or one with a typical mistake.

    Args:
        swapped: whether the two norms change places.
        removes: "always", "at the end" (not after an error) or "never".
        by: gives the key of a module instead of its name.
    """

    def gradient_flow(model: nn.Module, data: Tensor, cotangent: Tensor) -> dict[Any, Any]:
        names = {module: name for name, module in model.named_modules()}
        found: dict[Any, Any] = {}

        def hook(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
            both = [None if g is None else g.norm().item() for g in (grad_input[0], grad_output[0])]
            found[by(module) if by else names[module]] = tuple(both[::-1] if swapped else both)

        handle = everywhere.register_module_full_backward_hook(hook)
        try:
            model(data).backward(cotangent)
        except ValueError:
            if removes == "always":
                handle.remove()
            raise
        if removes != "never":
            handle.remove()
        return found

    return gradient_flow


# ---------------------------------------------------------------- 08.6: scale by layer, rightly


class Around(nn.Module):
    """A linear layer, and a way around it: an addition sends both the same gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = layer([[0.4, 0.1], [-0.2, 0.6]], [0.1, -0.3])

    def forward(self, x: Tensor) -> Tensor:
        """Add the layer's result to what it was given."""
        return self.inner(x) + x


def scale_run(answer: Answer) -> dict[str, Any]:
    """Scale the layers of a model in the answer's way, and look at all gradients."""
    seen: dict[str, Any] = {}

    def run(needs_one: bool) -> dict[str, Any]:
        model = chain(
            first=layer([[0.5, -0.3], [0.2, 0.8]], [0.1, 0.0]),
            around=Around(),
            norm=nn.LayerNorm(2),
            last=layer([[1.5, -0.9]], [0.4]),
        )
        data = torch.tensor([[0.3, -1.2], [0.8, 0.5]], requires_grad=needs_one)
        model(data).backward(torch.tensor([[1.3], [-0.4]]))
        return {"the input": data.grad} | {n: p.grad for n, p in model.named_parameters()}

    with clean_slate():
        for kind, factor in ((nn.Linear, 4.0), (nn.LayerNorm, 0.5)):
            handles = answer(kind, factor)
            if not isinstance(handles, list | tuple) or not all(
                hasattr(handle, "remove") for handle in handles
            ):
                raise TypeError("scale_own has to return a list of handles")
            for needs_one in (True, False):
                data = "" if needs_one else ", and data that need no gradient"
                for name, gradient in run(needs_one).items():
                    said = f"with {kind.__name__} times {factor:g}{data}, the gradient of {name}"
                    seen[said] = gradient
            for handle in handles:
                handle.remove()
        seen["with all handles removed, the number of global hooks"] = hooks_left()
    return seen


def scale_own(pre: bool = True, full: bool = True, only_kind: bool = True) -> Answer:
    """Make a right `scale_own`, or one with a typical mistake.

    Args:
        pre: whether gradients are scaled where they enter a module.
        full: whether they are scaled back where they leave.
        only_kind: whether the class of the module matters.
    """

    def make(kind: type[nn.Module], factor: float) -> list[Any]:
        def meant(module: nn.Module) -> bool:
            return isinstance(module, kind) or not only_kind

        def scaled(gradients: Any, by: float) -> Any:
            return tuple(None if g is None else g * by for g in gradients)

        handles: list[Any] = []
        if pre:
            handles.append(
                everywhere.register_module_full_backward_pre_hook(
                    lambda m, go: scaled(go, factor) if meant(m) else None
                )
            )
        if full:
            by = 1 / factor if pre else factor
            handles.append(
                everywhere.register_module_full_backward_hook(
                    lambda m, gi, go: scaled(gi, by) if meant(m) else None
                )
            )
        return handles

    return make


def scale_in_place(kind: type[nn.Module], factor: float) -> list[Any]:
    """Scale rightly, but in the gradients that others may hold."""

    def enter(module: nn.Module, grad_output: Any) -> None:
        if isinstance(module, kind):
            grad_output[0].mul_(factor)

    def leave(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
        if isinstance(module, kind) and grad_input[0] is not None:
            grad_input[0].div_(factor)

    return [
        everywhere.register_module_full_backward_pre_hook(enter),
        everywhere.register_module_full_backward_hook(leave),
    ]
