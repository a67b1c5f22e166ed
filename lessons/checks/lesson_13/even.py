"""Check exercise 13.6, which scales each layer until its output has deviation 1."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake

from ..observations import observed, partly
from .traces import Answer, chain, filled, hooks_on, numbers, quietly


class Counted(nn.Sequential):
    """A chain that counts its runs."""

    def __init__(self, layers: OrderedDict[str, nn.Module]) -> None:
        super().__init__(layers)
        self.runs: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        """Run the layers, one after another."""
        self.runs.append(x)
        return super().forward(x)


class Turned(nn.Module):
    """A model that calls its layers in another order than it holds them, and counts its runs."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[Tensor] = []
        self.second = nn.Linear(5, 4)
        self.act = nn.Tanh()
        self.first = nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        """Run first, act and second."""
        self.runs.append(x)
        return self.second(self.act(self.first(x)))


def _deep() -> Any:
    inner, more, norm = nn.Linear(7, 7, bias=False), nn.Linear(7, 5), nn.LayerNorm(5)
    body = chain(inner=inner, act=nn.ReLU(), more=more, norm=norm)
    layers = {"start": nn.Linear(6, 7), "act": nn.Tanh(), "body": body, "end": nn.Linear(5, 3)}
    return filled(Counted(OrderedDict(layers)), seed=2, scale=0.25)


def _turned() -> Any:
    model = filled(Turned(), seed=6, scale=0.3)
    model.second.weight.data.mul_(20.0)
    return model


SPREAD, OTHER = "the list of deviations, run anew,", "for another model, the list of deviations"
DIRECTION = "whether all weights of a layer, and its bias, were divided by one number, the answer"
BIASES = "whether biases have changed, the answer"
NORM = "whether the LayerNorm is what it was, the answer"
OBJECTS = "whether the parameters are the same objects as before, the answer"
NEEDS = "whether all parameters still require a gradient, the answer"
DATA = "whether the data are what they were, the answer"
GRAD, LEFT = "whether .grad is still empty, the answer", "the number of hooks left behind"
RUNS = "the number of runs of each model"


def even_run(answer: Answer) -> dict[str, Any]:
    """Let an answer scale two models, and look at them."""
    with quietly():
        models, data = (_deep(), _turned()), (numbers(40, 6, seed=1), numbers(50, 4, seed=3))
        before = [[(p, p.detach().clone()) for p in model.parameters()] for model in models]
        given = [each.clone() for each in data]
        for model, each in zip(models, data, strict=True):
            answer(model, each)
        left, runs = hooks_on(*models), max(len(model.runs) for model in models)
        after = [p for model in models for p in model.parameters()]
        old = [p for each in before for p, _ in each]
        same = len(after) == len(old) and all(a is b for a, b in zip(after, old, strict=True))
        values = [value for each in before for _, value in each]
        kept = [torch.equal(p, was) for p, was in zip(after, values, strict=False)]
        names = [name for model in models for name, _ in model.named_parameters()]
        biases = [i for i, name in enumerate(names) if name.endswith("bias") and "norm" not in name]
        norm = [i for i, name in enumerate(names) if "norm" in name]
        spread, other = (deviations(model, each) for model, each in zip(models, given, strict=True))
        return {
            SPREAD: spread,
            OTHER: other,
            DIRECTION: _divided(models, values),
            BIASES: not all(kept[i] for i in biases),
            NORM: all(kept[i] for i in norm),
            OBJECTS: same,
            NEEDS: all(p.requires_grad for p in after),
            DATA: all(torch.equal(a, b) for a, b in zip(data, given, strict=True)),
            GRAD: all(p.grad is None for p in after),
            LEFT: left,
            RUNS: runs,
        }


def deviations(model: nn.Module, data: Tensor) -> list[float]:
    """Give the deviation of the output of each Linear in a run, to two digits behind the point."""
    found: list[float] = []
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    handles = [
        each.register_forward_hook(lambda m, a, output: found.append(output.std().item()))
        for each in layers
    ]
    with torch.no_grad():
        model(data)
    for handle in handles:
        handle.remove()
    return [round(each, 2) for each in found]


def _divided(models: Any, values: list[Tensor]) -> bool:
    """Tell whether each layer's parameters were divided by one positive number."""
    parameters = iter(values)
    for model in models:
        for module in model.modules():
            parts = list(module.parameters(recurse=False))
            ratios = [(p.detach() / next(parameters)).flatten() for p in parts]
            if ratios:
                ratio = torch.cat(ratios)
                if ratio.min().item() <= 0 or not torch.allclose(ratio, ratio[0], rtol=1e-3):
                    return False
    return True


def even_out(
    size: Callable[[Tensor], Any] = lambda output: output.std(),
    corrects: bool = True,
    times: bool = False,
    per_unit: bool = False,
    removes: bool = True,
) -> Answer:
    """Make a right `even_out`, or one with a typical mistake.

    Args:
        size: what a layer is divided by.
        corrects: whether the rest of the run sees the corrected output.
        times: whether the layer is multiplied instead.
        per_unit: whether each unit is divided by a number of its own.
        removes: whether the hooks are removed.
    """

    def answer(model: nn.Module, data: Tensor) -> None:
        def correct(layer: Any, args: Any, output: Tensor) -> Tensor | None:
            by = output.std(0) if per_unit else size(output)
            by = 1 / by if times else by
            layer.weight.div_(by.reshape(-1, 1) if per_unit else by)
            if layer.bias is not None:
                layer.bias.div_(by)
            return output / by if corrects else None

        layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
        handles = [layer.register_forward_hook(correct) for layer in layers]
        with torch.no_grad():
            model(data)
        if removes:
            for handle in handles:
                handle.remove()

    return answer


def _corrected(
    model: nn.Module, data: Tensor, layers: Any, size: Callable[[Any, Any, Tensor], Tensor]
) -> None:
    """Divide these layers and their outputs by what `size` gives."""

    def correct(layer: Any, args: Any, output: Tensor) -> Tensor:
        by = size(layer, args, output)
        for parameter in layer.parameters(recurse=False):
            parameter.div_(by)
        return output / by

    handles = [layer.register_forward_hook(correct) for layer in layers]
    with torch.no_grad():
        model(data)
    for handle in handles:
        handle.remove()


def _linears(modules: Any) -> list[nn.Module]:
    return [module for module in modules if isinstance(module, nn.Linear)]


def by_the_input(model: nn.Module, data: Tensor) -> None:
    """Divide each layer by the deviation of its input, a mistake."""
    _corrected(model, data, _linears(model.modules()), lambda layer, args, out: args[0].std())


def by_the_weights(model: nn.Module, data: Tensor) -> None:
    """Divide each layer by the deviation of its weights, a mistake."""
    _corrected(model, data, _linears(model.modules()), lambda layer, args, out: layer.weight.std())


def children_only(model: nn.Module, data: Tensor) -> None:
    """Leave layers inside of containers out, a mistake."""
    _corrected(model, data, _linears(model.children()), lambda layer, args, out: out.std())


def in_the_models_order(model: nn.Module, data: Tensor) -> None:
    """Correct the layers one after another as the model holds them, a run for each."""
    for layer in [module for module in model.modules() if isinstance(module, nn.Linear)]:
        found: list[Tensor] = []
        handle = layer.register_forward_hook(lambda m, a, output, found=found: found.append(output))
        with torch.no_grad():
            model(data)
            handle.remove()
            by = found[0].std()
            layer.weight.div_(by)
            if layer.bias is not None:
                layer.bias.div_(by)


def _unchanged(found: Any) -> bool:
    return partly(even_run, lambda model, data: None, SPREAD, OTHER)(found)


def _mean_of_deviations(found: Any) -> bool:
    """Tell whether the deviations of the units, or those of the images, were averaged."""
    answers = (
        even_out(size=lambda output: output.std(0).mean()),
        even_out(size=lambda output: output.std(1).mean()),
    )
    return any(partly(even_run, answer, SPREAD, OTHER)(found) for answer in answers)


def _half_right(found: Any) -> bool:
    spread = observed(found, SPREAD)
    return all(value == 1 for value in spread) and any(v != 1 for v in observed(found, OTHER))


EVEN = Hook(
    id="13.6",
    asks="even_out(model, data), which divides each nn.Linear by the deviation of its output, so "
    "that all these outputs have deviation 1",
    scenario=even_run,
    reference=even_out(),
    digits=3,
    right="Measured instead of derived: this fits any activation, and takes one run.",
    hints=(
        "Which hook sees a layer's output, and what happens to the output if the hook returns "
        "something?",
        "In a forward hook on each nn.Linear: take output.std(), divide weight and bias by it in "
        "place, and return the output divided by it as well. All that under no_grad; remove the "
        "hooks in the end.",
    ),
    mistakes=[
        Mistake(
            "A parameter cannot be written to while that would be recorded: do it under "
            "torch.no_grad().",
            trouble=("leaf Variable", "leaf variable", "in-place"),
        ),
        Mistake(
            "You call the layers yourself, in the order in which the model holds them. Its own "
            "forward knows the order: run model(data), and let hooks do the rest.",
            trouble=("mat1 and mat2", "shapes cannot be multiplied", "'Turned' object"),
        ),
        Mistake(
            "One of the layers has no bias: it is None there.",
            trouble=("NoneType",),
        ),
        Mistake(
            "Plain tensors do not take a parameter's place. Change the parameter's values in "
            "place, by div_ or copy_.",
            trouble=("cannot assign",),
        ),
        Mistake(
            "Nothing has changed. Were the hooks there when the model ran, and do they write to "
            "the parameters of this very model?",
            when=_unchanged,
        ),
        Mistake(
            "The bias was left as it was, and the output is the sum of both: divide the bias, too.",
            when=lambda found: observed(found, BIASES) is False,
        ),
        Mistake(
            "Each layer was measured before the correction of the layers in front of it. The "
            "rest of the run has to see the corrected output: what may a forward hook return?",
            when=partly(even_run, even_out(corrects=False), SPREAD, OTHER),
        ),
        Mistake(
            "That divides by the variance. The deviation is its root.",
            when=partly(even_run, even_out(size=lambda output: output.var()), SPREAD, OTHER),
        ),
        Mistake(
            "That divides by the root of the deviation. The deviation has its root taken already.",
            when=partly(even_run, even_out(size=lambda output: output.std() ** 0.5), SPREAD, OTHER),
        ),
        Mistake(
            "You multiply by the deviation: what was large gets larger.",
            when=partly(even_run, even_out(times=True), SPREAD, OTHER),
        ),
        Mistake(
            "That divides by the norm, which grows with the number of entries. The deviation does "
            "not.",
            when=partly(even_run, even_out(size=lambda output: output.norm()), SPREAD, OTHER),
        ),
        Mistake(
            "That divides by the largest entry. The deviation is asked for.",
            when=partly(even_run, even_out(size=lambda output: output.abs().max()), SPREAD, OTHER),
        ),
        Mistake(
            "That divides by the mean size of the entries. The deviation is asked for.",
            when=partly(even_run, even_out(size=lambda output: output.abs().mean()), SPREAD, OTHER),
        ),
        Mistake(
            "That divides by the root of the mean square. The deviation is taken around the mean.",
            when=partly(
                even_run,
                even_out(size=lambda output: (output * output).mean() ** 0.5),
                SPREAD,
                OTHER,
            ),
        ),
        Mistake(
            "That divides by the deviation of what comes into the layer. Its output is to have "
            "deviation 1.",
            when=partly(even_run, by_the_input, SPREAD, OTHER),
        ),
        Mistake(
            "That is the mean of the deviations of the units, or of the images. Asked for is one "
            "deviation, over all entries.",
            when=_mean_of_deviations,
        ),
        Mistake(
            "Layers whose deviation is small were left as they are. They need a factor, too, and "
            "one above 1.",
            when=partly(
                even_run, even_out(size=lambda output: output.std().clamp(min=1.0)), SPREAD, OTHER
            ),
        ),
        Mistake(
            "That divides by the deviation of the weights. It is the output that is to have "
            "deviation 1.",
            when=partly(even_run, by_the_weights, SPREAD, OTHER),
        ),
        Mistake(
            "Layers inside of containers were left out: modules() goes all the way down.",
            when=partly(even_run, children_only, SPREAD),
        ),
        Mistake(
            "Other layers were set right as well. Only the nn.Linear are to change, and what they "
            "put out.",
            when=lambda found: observed(found, NORM) is False,
        ),
        Mistake(
            "Each unit was divided by a number of its own. One number for the layer is asked for, "
            "the deviation over all entries.",
            when=partly(even_run, even_out(per_unit=True), SPREAD, OTHER),
        ),
        Mistake(
            "The layers were corrected in the order in which the model holds them. One of the "
            "models runs them in another order: a layer was measured before the one that feeds it "
            "was set right.",
            when=partly(even_run, in_the_models_order, SPREAD, OTHER),
        ),
        Mistake(
            "The first model is right, the second one is not: it calls its layers in another order "
            "than it holds them.",
            when=_half_right,
        ),
        Mistake(
            "The first layer is right, and one after it is not. The rest of the run did not see "
            "what the corrected layer gives: the output divided once by the same number, and "
            "nothing else changed on the way.",
            when=lambda found: (
                (spread := observed(found, SPREAD))[0] == 1 and any(v != 1 for v in spread)
            ),
        ),
        Mistake(
            "The deviations are right, and yet the weights of a layer, or its bias, were changed "
            "by more than one factor. Divide all of them by the same number.",
            when=lambda found: (
                observed(found, DIRECTION) is False
                and all(v == 1 for v in (*observed(found, SPREAD), *observed(found, OTHER)))
            ),
        ),
        Mistake(
            "There are new parameters in the place of the old ones. An optimizer that was given "
            "the old ones would train those. Change their values in place.",
            when=lambda found: observed(found, OBJECTS) is False,
        ),
        Mistake(
            "Some parameters do not require a gradient any more.",
            when=lambda found: observed(found, NEEDS) is False,
        ),
        Mistake(
            "The data were changed.",
            when=lambda found: observed(found, DATA) is False,
        ),
        Mistake(
            "Something was left in .grad: no backward pass is needed here.",
            when=lambda found: observed(found, GRAD) is False,
        ),
        Mistake(
            "Your hooks are still there, and will divide again in the next run. Keep the handles, "
            "and remove them.",
            when=lambda found: observed(found, LEFT) > 0,
        ),
        Mistake(
            "All is right, and the model ran several times. One run is enough, if it sees the "
            "corrected output of each layer: what may a forward hook return?",
            when=lambda found: observed(found, RUNS) > 1,
        ),
    ],
)
