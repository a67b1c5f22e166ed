"""Check exercise 08.6: scale the gradients of single layers with global hooks, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike
from minigrad.nn.modules import module as everywhere

from ..models import layer
from .slate import Answer, Stranger, chain, clean_slate, hooks_left


class Weigh(nn.Module):
    """A layer with two inputs, each times a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.tensor([0.7, -1.1, 0.5]))
        self.b = nn.Parameter(torch.tensor([1.3, 0.4, -0.8]))

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Weigh both."""
        return self.a * x + self.b * y


class Around(nn.Module):
    """A linear layer that is used twice, and two ways around it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = layer([[0.4, 0.1, -0.7], [-0.2, 0.6, 0.3], [0.9, -0.5, 0.2]], [0.1, -0.3, 0.2])
        self.weigh = Weigh()

    def forward(self, x: Tensor) -> Tensor:
        """Add and weigh the layer's results and what came in."""
        return self.weigh(self.inner(self.inner(x)) + x, x)


def _model() -> nn.Module:
    return chain(
        first=layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.4]], [0.1, 0.0, -0.2]),
        around=Around(),
        norm=nn.LayerNorm(3),
        last=layer([[1.5, -0.9, 0.7]], [0.4]),
    )


def _gradients(model: nn.Module, needs_one: bool) -> dict[str, Any]:
    """Run a model forward and backward, and give all gradients."""
    model.zero_grad()
    data = torch.tensor([[0.3, -1.2], [0.8, 0.5]], requires_grad=needs_one)
    model(data).backward(torch.tensor([[1.3], [-0.4]]))
    return {"the input": data.grad} | {name: p.grad for name, p in model.named_parameters()}


KINDS = ((nn.Linear, 4.0), (nn.LayerNorm, 0.5), (Weigh, -2.0))  # nothing that has to be rounded
LEFT = "with all handles removed, the number of your hooks that are left"
GONE = "with all handles removed, the gradient of"
OTHERS = "whether the hooks that others had registered are all there, the answer"


def scale_run(answer: Answer) -> dict[str, Any]:
    """Scale the layers of a model in the answer's way, and look at all gradients."""
    seen: dict[str, Any] = {}
    after: dict[str, Any] = {}
    with clean_slate(strangers=True):
        left = 0
        for kind, factor in KINDS:
            handles = answer(kind, factor)
            if not isinstance(handles, list | tuple) or not all(
                hasattr(handle, "remove") for handle in handles
            ):
                raise Objection("scale_own has to return a list of handles.")
            if hooks_left() == 0:
                raise Objection("When scale_own returns, no hook of it is registered.")
            model = _model()
            for needs_one in (True, False):
                data = "" if needs_one else ", and data that need no gradient"
                for name, gradient in _gradients(model, needs_one).items():
                    said = f"with {kind.__name__} times {factor:g}{data}, the gradient of {name}"
                    seen[said] = gradient
            for handle in handles:
                handle.remove()
            left = max(left, hooks_left())
            after[f"{GONE} {kind.__name__}'s model, all of it,"] = list(
                _gradients(model, True).values()
            )
        if left:
            after = dict.fromkeys(after)  # the reason is known
        return seen | after | {LEFT: left, OTHERS: Stranger.all_there()}


def still_scales(found: Any) -> bool:
    """Tell whether all is well until the handles are removed, and only then not."""
    right = scale_run(scale_own())
    differs = [
        name
        for trial, (name, want) in zip(found, right.items(), strict=True)
        if not alike(trial.result, want)
    ]
    return bool(differs) and all(name.startswith(GONE) for name in differs)


def scale_own(
    enters: Callable[[Tensor, float], Tensor] | None = lambda g, factor: g * factor,
    leaves: Callable[[Tensor, float], Tensor] | None = lambda g, factor: g / factor,
    asks: tuple[bool, bool] = (True, True),
) -> Answer:
    """Make a right `scale_own`, or one with a typical mistake.

    Args:
        enters: what becomes of a gradient that enters a module.
        leaves: what becomes of one that leaves it.
        asks: whether the hook at either place asks for the class of the module.
    """

    def make(kind: type[nn.Module], factor: float) -> list[Any]:
        def scaled(module: nn.Module, gradients: Any, place: int) -> Any:
            change = (enters, leaves)[place]
            if change is None or (asks[place] and not isinstance(module, kind)):
                return None
            return tuple(None if g is None else change(g, factor) for g in gradients)

        return [
            everywhere.register_module_full_backward_pre_hook(lambda m, go: scaled(m, go, 0)),
            everywhere.register_module_full_backward_hook(lambda m, gi, go: scaled(m, gi, 1)),
        ]

    return make


def scale_in_place(kind: type[nn.Module], factor: float, inputs: int = 9) -> list[Any]:
    """Scale rightly, but in the gradients that others may hold; scale some inputs' back."""

    def enter(module: nn.Module, grad_output: Any) -> None:
        if isinstance(module, kind):
            grad_output[0].mul_(factor)

    def leave(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
        if isinstance(module, kind):
            for gradient in grad_input[:inputs]:
                if gradient is not None:
                    gradient.div_(factor)

    return [
        everywhere.register_module_full_backward_pre_hook(enter),
        everywhere.register_module_full_backward_hook(leave),
    ]


def scale_values(kind: type[nn.Module], factor: float) -> list[Any]:
    """Scale what the modules compute."""
    return [
        everywhere.register_module_forward_hook(
            lambda m, _, output: output * factor if isinstance(m, kind) else None
        )
    ]


def scale_what_is_there(kind: type[nn.Module], factor: float) -> list[Any]:
    """Scale `.grad` of the parameters, whatever is in there when a module is done."""

    def leave(module: nn.Module, grad_input: Any, grad_output: Any) -> None:
        if isinstance(module, kind):
            for parameter in module.parameters():
                if parameter.grad is not None:
                    parameter.grad = parameter.grad * factor

    return [everywhere.register_module_full_backward_hook(leave)]


SCALED = Hook(
    id="08.6",
    asks="scale_own(kind, factor), which scales the gradients of the parameters of all layers "
    "of a class, and nothing else, and returns a list of handles",
    scenario=scale_run,
    reference=scale_own(),
    right="Scaled where gradients come in, scaled back where they go out: nobody else notices. "
    "(With a class of containers it would not do: their layers lie between the two places.)",
    hints=(
        "At which gate does a factor reach the module's own parameters? What else does it "
        "reach, and at which gate could that be undone?",
        "A global pre-hook multiplies grad_output by the factor, a global full hook divides "
        "grad_input by it; both ask isinstance(module, kind) first, and keep each None.",
    ),
    mistakes=[
        Mistake(
            "Each register function gives a handle: put all of them into a list.",
            trouble=("list of handles",),
        ),
        Mistake(
            "If you registered them in a with block: it takes its hooks away at its end, which "
            "comes before the function's. The caller removes them, by the handles.",
            trouble=("no hook of it is registered",),
        ),
        Mistake(
            "The gradients that go on toward the inputs are scaled too, and scaled again at each "
            "layer. Undo it where they leave the module.",
            like=scale_own(leaves=None),
        ),
        Mistake(
            "grad_input is what leaves the module, when its parameters have had theirs. So "
            "others are scaled, and not the layer itself.",
            like=scale_own(enters=None, leaves=lambda g, factor: g * factor),
        ),
        Mistake(
            "The two places are exchanged: you divide where gradients come in, and multiply where "
            "they go out.",
            like=scale_own(lambda g, factor: g / factor, lambda g, factor: g * factor),
        ),
        Mistake(
            "You multiply at both gates, so the factor is not undone where the gradient leaves.",
            like=scale_own(leaves=lambda g, factor: g * factor),
        ),
        Mistake(
            "All modules are scaled, containers too. Ask isinstance(module, kind) first.",
            like=scale_own(asks=(False, False)),
        ),
        Mistake(
            "Where gradients leave, you change those of every module. Ask isinstance(module, kind) "
            "there, too.",
            like=scale_own(asks=(True, False)),
        ),
        Mistake(
            "Where gradients enter, you change those of every module. Ask isinstance(module, kind) "
            "there, too.",
            like=scale_own(asks=(False, True)),
        ),
        Mistake(
            "At the way out you undo more than the factor: each layer multiplies once, and has to "
            "divide once.",
            like=scale_own(leaves=lambda g, factor: g / factor**2),
        ),
        Mistake(
            "Dividing with // leaves whole numbers. The gradient has to come out as it was.",
            like=scale_own(leaves=lambda g, factor: torch.floor_divide(g, factor)),
        ),
        Mistake(
            "A gate that puts None or zero in the place of a gradient cuts off all that lies "
            "nearer to the inputs.",
            like=scale_own(leaves=lambda g, factor: 0 * g),
        ),
        Mistake(
            "It wrote into the gradient it was given, and others may hold the same tensor. "
            "Make new tensors, and return them in a tuple.",
            like=scale_in_place,
        ),
        Mistake(
            "It wrote into the gradient it was given, and others may hold the same tensor. "
            "Make new tensors, and return them in a tuple: one for each input.",
            like=lambda kind, factor: scale_in_place(kind, factor, inputs=1),
        ),
        Mistake(
            "The values themselves are scaled, in the forward pass, and so is all that is computed "
            "from them. Only gradients are to change.",
            like=scale_values,
        ),
        Mistake(
            "You scale what is in .grad when a module's hook is called. For data that need no "
            "gradient that is before anything has arrived there, and what other passes left there "
            "is scaled again. Change what comes in instead.",
            like=scale_what_is_there,
        ),
        Mistake(
            "The class is not asked for by its name kind: it works for Linear only.",
            like=lambda kind, factor: scale_own()(nn.Linear, factor),
        ),
        Mistake(
            "The argument factor is not used: it is always 0.5.",
            like=lambda kind, factor: scale_own()(kind, 0.5),
        ),
        Mistake(
            "Nothing was scaled. Does the hook ask the right question of the module, and does it "
            "return what it computes?",
            like=scale_own(None, None),
        ),
        Mistake(
            "The handles that you returned are removed, and a hook of yours is still there. "
            "Return the handles of all your hooks.",
            when=lambda found: found[-2].result > 0,
        ),
        Mistake(
            "The handles are removed, and gradients of the model that ran are still scaled: hooks "
            "that you put on its tensors stay there.",
            when=still_scales,
        ),
        Mistake(
            "It stumbled over a None: data that need no gradient have none in grad_input. Keep "
            "None where None is.",
            trouble=("NoneType",),
        ),
        Mistake(
            "Where no input needs a gradient PyTorch asks for a tuple: return tuple(...), not "
            "a list.",
            trouble=("None for all gradients",),
        ),
        Mistake(
            "Return a tuple with one entry for each gradient that you were given, whether it is "
            "one or several: a layer may have two inputs.",
            trouble=("invalid number", "shape", "changed the size"),
        ),
        Mistake(
            "A pre-hook is called with (module, grad_output), a full hook with (module, "
            "grad_input, grad_output).",
            trouble=("positional argument",),
        ),
    ],
)
