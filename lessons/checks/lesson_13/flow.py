"""Check exercise 13.1, a recorder of each layer's gradient."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike, as_number

from ..observations import partly
from .traces import Answer, chain, filled, hooks_on, numbers, quietly

NORMS = "the list of norms"
AGAIN = "in a second call with the same model, the list"
SMALL = "for another model, the list"
KEPT = "whether everything that was in .grad before is still in there, the answer"
LEFT = "the number of hooks left behind"
ERROR = "with a loss_fn that raises an error, the number of hooks left behind"
_NORMS, _AGAIN, _SMALL, _KEPT, _LEFT, _ERROR = range(6)


class Broken(Exception):
    """What the last model of the scenario raises."""


class Gained(nn.Sequential):
    """A chain that has a parameter of its own, besides those of its layers."""

    def __init__(self, layers: OrderedDict[str, nn.Module]) -> None:
        super().__init__(layers)
        self.gain = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        """Run the layers, and multiply."""
        return super().forward(x) * self.gain


def _model() -> Any:
    inner = nn.Linear(4, 3, bias=False)
    model: Any = chain(
        first=nn.Linear(3, 4),
        frozen=nn.Linear(4, 4),
        body=Gained(OrderedDict(norm=nn.LayerNorm(4), squash=nn.Tanh(), inner=inner)),
        last=nn.Linear(3, 2),
    )
    filled(model, seed=1)
    for parameter in (*model.frozen.parameters(), model.last.bias):
        parameter.requires_grad_(False)
    return model


def _loss(model: nn.Module) -> Tensor:
    return (model(numbers(5, 3, seed=2)) ** 2).sum()


def _small() -> nn.Module:
    return filled(chain(start=nn.Linear(2, 2), end=nn.Linear(2, 1)), seed=4)


def _small_loss(model: nn.Module) -> Tensor:
    return (3 * model(numbers(4, 2, seed=5))).sum()


def _breaks_forward(model: nn.Module) -> Tensor:
    model(numbers(4, 2, seed=5))
    raise Broken


def _breaks_backward(model: nn.Module) -> Tensor:
    output = model(numbers(4, 2, seed=5))
    output.register_hook(_raise)
    return output.sum()


def _raise(gradient: Tensor) -> None:
    raise Broken


def flow_run(answer: Answer) -> dict[str, Any]:
    """Let an answer record two models, and look at what it leaves behind."""
    with quietly():
        model, small = _model(), _small()
        for place, parameter in enumerate(model.parameters()):
            if parameter.requires_grad:
                parameter.grad = numbers(*parameter.shape, seed=place)
        before = {name: p.grad for name, p in model.named_parameters()}
        before = {name: g if g is None else g.clone() for name, g in before.items()}
        norms = _as_list(answer(model, _loss))
        kept = _kept(model, before)
        left = hooks_on(model)
        again = _as_list(answer(model, _loss))
        other = _as_list(answer(small, _small_loss))
        left = max(left, hooks_on(model, small))
    after_error = 0
    for loss in (_breaks_forward, _breaks_backward):
        with quietly():
            model = _small()
            with suppress(Broken):
                answer(model, loss)
            after_error += hooks_on(model)
    return {
        NORMS: norms,
        AGAIN: again,
        SMALL: other,
        KEPT: kept,
        LEFT: left,
        ERROR: 0 if left else after_error,
    }


def _kept(model: nn.Module, before: dict[str, Any]) -> bool:
    """Tell whether .grad holds what it held, with or without this pass's gradient."""
    fresh = _model()
    _loss(fresh).backward()
    gradients = {name: p.grad for name, p in fresh.named_parameters()}

    def holds(now: Any, old: Any, new: Any) -> bool:
        if now is None or old is None:
            return now is old
        return bool(torch.allclose(now, old + new) or torch.allclose(now, old))

    return all(holds(p.grad, before[n], gradients[n]) for n, p in model.named_parameters())


def _as_list(norms: Any) -> Any:
    """Take a tuple or a tensor for a list; object to what holds no numbers."""
    if norms is None:
        return None
    if hasattr(norms, "__next__"):
        norms = list(norms)
    if isinstance(norms, dict):
        raise Objection("That is a dict. A list of its values, in their order, is asked for.")
    if isinstance(norms, list | tuple) and any(each is None for each in norms):
        raise Objection("An entry of the list is None. A layer that is frozen has no entry at all.")
    if hasattr(norms, "tolist"):
        norms = norms.tolist()
    if not isinstance(norms, list | tuple):
        raise Objection("gradient_flow has to return a list, one norm for each layer.")
    found = [as_number(each) for each in norms]
    if None in found:
        raise Objection("An entry of the list is not one number. A norm is: one for each layer.")
    return found


def root(gradients: list[Tensor]) -> float:
    """Give the norm over several tensors."""
    return sum((g * g).sum().item() for g in gradients) ** 0.5


def _remove(handles: list[Any]) -> None:
    for handle in handles:
        handle.remove()


def flow(
    measure: Callable[[list[Tensor]], float] = root,
    which: Callable[[str], bool] = lambda name: True,
    arrange: Callable[[list[float]], list[float]] = list,
    layer_of: Callable[[str], str] = lambda name: name.rpartition(".")[0],
    order: Callable[[Any], list[str]] = list,
    accumulated: bool = False,
    removes: str = "always",
) -> Answer:
    """Make a right `gradient_flow`, or one with a typical mistake.

    Args:
        measure: what is noted of the gradients of one layer.
        which: which parameters are looked at, by name.
        arrange: what becomes of the list.
        layer_of: gives the layer of a parameter with a name.
        order: arranges the names of the layers.
        accumulated: whether what is in .grad is measured.
        removes: "always", "at the end" (not after an error) or "never".
    """

    def gradient_flow(model: nn.Module, loss_fn: Callable[[nn.Module], Tensor]) -> list[float]:
        layers: dict[str, list[Tensor]] = {}
        handles = []
        for name, parameter in model.named_parameters():
            if parameter.requires_grad and which(name):
                found = layers.setdefault(layer_of(name), [])
                handles.append(parameter.register_hook(found.append))
        try:
            loss_fn(model).backward()
        except Broken:
            if removes == "always":
                _remove(handles)
            raise
        if removes != "never":
            _remove(handles)
        if accumulated:
            for layer in layers:
                parts = model.get_submodule(layer).parameters(recurse=False)
                layers[layer] = [p.grad for p in parts if p.grad is not None]
        return arrange([measure(layers[layer]) for layer in order(layers)])

    return gradient_flow


def at_outputs(model: nn.Module, loss_fn: Callable[[nn.Module], Tensor]) -> list[float]:
    """Record the gradients that arrive at the layers' outputs, a mistake."""
    sizes: list[float] = []
    handles = [
        module.register_full_backward_pre_hook(
            lambda m, grad_output: sizes.append(grad_output[0].norm().item())
        )
        for module in model.modules()
        if any(p.requires_grad for p in module.parameters(recurse=False))
    ]
    loss_fn(model).backward()
    for handle in handles:
        handle.remove()
    return sizes[::-1]


def of_parameters(model: nn.Module, loss_fn: Callable[[nn.Module], Tensor]) -> list[float]:
    """Give the norms of the parameters and not of their gradients, a mistake."""
    layers = [[p for p in m.parameters(recurse=False) if p.requires_grad] for m in model.modules()]
    return [root([p.detach() for p in own]) for own in layers if own]


def _linear(name: str) -> bool:
    return "norm" not in name and "gain" not in name


def _in_another_order(found: Any) -> bool:
    norms, right = found[_NORMS].result, flow_run(flow())[NORMS]
    return not alike(norms, right) and alike(sorted(norms), sorted(right))


def _sorted(found: Any) -> bool:
    norms = found[_NORMS].result
    return _in_another_order(found) and norms in (sorted(norms), sorted(norms, reverse=True))


def _logarithms(found: Any) -> bool:
    norms, right = found[_NORMS].result, flow_run(flow())[NORMS]
    return any(alike(norms, [log(norm) for norm in right]) for log in (math.log, math.log10))


def _one_factor(found: Any) -> bool:
    norms, right = found[_NORMS].result, flow_run(flow())[NORMS]
    if len(norms) != len(right) or not norms[0] > 0 or alike(norms, right):
        return False
    return alike([norm / norms[0] for norm in norms], [norm / right[0] for norm in right])


def _zeros_but_one(found: Any) -> bool:
    norms = found[_NORMS].result
    return len(norms) >= 4 and sum(norm != 0 for norm in norms) == 1


def _rounded_off(found: Any) -> bool:
    right = flow_run(flow())[NORMS]
    norms = found[_NORMS].result
    return len(norms) == len(right) and all(
        round(a, 3) == a and abs(a - b) <= 0.06 for a, b in zip(norms, right, strict=True)
    )


def _with_zero(found: Any) -> bool:
    norms = found[_NORMS].result
    return len(norms) == 6 and norms[1] == 0


def _zeros_for_what_was_there(found: Any) -> bool:
    return not any(found[_NORMS].result) and any(found[_SMALL].result)


def _with_containers(found: Any) -> bool:
    """Tell whether the model itself has an entry, with all that is in it."""
    norms, right = found[_NORMS].result, flow_run(flow())[NORMS]
    return len(norms) > 7 or (len(norms) > len(right) and alike(norms[0], math.hypot(*right)))


def _grows(found: Any) -> bool:
    first, again = found[_NORMS].result, found[_AGAIN].result
    return alike(first, flow_run(flow())[NORMS]) and len(again) > len(first)


def _remembers_gradients(found: Any) -> bool:
    return alike(found[_NORMS].result, flow_run(flow())[NORMS]) and not alike(
        found[_AGAIN].result, found[_NORMS].result
    )


FLOW = Hook(
    id="13.1",
    asks="gradient_flow(model, loss_fn), which returns the norm of the gradient of each layer, "
    "from the input to the loss",
    scenario=flow_run,
    reference=flow(),
    digits=4,
    right="One pass, and you know where the gradient is lost, in any model.",
    hints=(
        "Which hook is given the gradient of one parameter, in this pass alone? How does it know "
        "its layer, and in which order are such hooks called?",
        "Go through model.named_parameters(); what stands before the last dot names the layer. "
        "Register a hook on each parameter that requires a gradient, and let it add the sum of "
        "the squares to its layer's entry in a dict. Remove the hooks in a finally.",
    ),
    mistakes=[
        Mistake(
            "A frozen parameter takes no hook. Ask for requires_grad before you register one.",
            trouble=("doesn't require gradient",),
        ),
        Mistake(
            "The loss has no graph. Was it computed under no_grad, or detached?",
            trouble=("does not have a grad_fn",),
        ),
        Mistake(
            "A parameter that is frozen has no gradient, so there is no norm of it either. And "
            "when a tensor hook runs, .grad is not filled yet: the hook is given the gradient.",
            trouble=("NoneType",),
        ),
        Mistake(
            "A hook that returns something replaces the gradient by it. This one only has to note: "
            "let it return None.",
            trouble=("expected to return", "hook return", "returned a", "has changed the"),
        ),
        Mistake(
            "The list is sorted by size. Its order is that of the layers in the model.",
            when=_sorted,
        ),
        Mistake(
            "Those are the sizes of the parameters. Asked for are those of their gradients.",
            when=partly(flow_run, of_parameters, NORMS, SMALL),
        ),
        Mistake("Those are logarithms. The norms themselves are asked for.", when=_logarithms),
        Mistake(
            "What was frozen is not frozen any more, and the next step of training would move it. "
            "Leave requires_grad as it is.",
            when=lambda found: "requires_grad" in found[_NORMS].changed,
        ),
        Mistake(
            "The layers are in the order of the alphabet there. The one nearest to the input comes "
            "first, as in named_parameters().",
            when=partly(flow_run, flow(order=sorted), NORMS, SMALL),
        ),
        Mistake(
            "The list is in the order in which the hooks were called. Where does a backward pass "
            "begin?",
            when=_in_another_order,
        ),
        Mistake(
            "All gradients went to one layer. Functions that are made in a loop share its "
            "variable, and see the value that it has in the end: give each its own, as a default "
            "argument.",
            when=_zeros_but_one,
        ),
        Mistake(
            "Only this pass counts. .grad holds what earlier passes left as well; a hook on the "
            "parameter is given this pass's gradient alone.",
            when=partly(flow_run, flow(accumulated=True), NORMS, SMALL),
        ),
        Mistake(
            "Those are the parameters one by one. A layer is one entry: weight and bias together.",
            when=partly(flow_run, flow(layer_of=str), NORMS, SMALL),
        ),
        Mistake(
            "Those are the parameters one by one, in the order of the backward pass. A layer is "
            "one entry, weight and bias together, and the layer nearest to the input comes first.",
            when=partly(
                flow_run, flow(layer_of=str, arrange=lambda norms: norms[::-1]), NORMS, SMALL
            ),
        ),
        Mistake(
            "What is inside of one container counts as one layer there. Each layer with parameters "
            "of its own has an entry of its own: its name is all that stands before the last dot.",
            when=partly(flow_run, flow(layer_of=lambda name: name.partition(".")[0]), NORMS, SMALL),
        ),
        Mistake(
            "All weights went to one entry and all biases to another. What stands before the last "
            "dot names the layer, not what stands behind it.",
            when=partly(
                flow_run, flow(layer_of=lambda name: name.rpartition(".")[2]), NORMS, SMALL
            ),
        ),
        Mistake(
            "Two passes ran, and both were added up. One is asked for.",
            when=partly(flow_run, flow(measure=lambda gs: 2**0.5 * root(gs)), NORMS, SMALL),
        ),
        Mistake(
            "Only the weights are in it. A layer's bias has a gradient as well.",
            when=partly(flow_run, flow(which=lambda name: name.endswith("weight")), NORMS, SMALL),
        ),
        Mistake(
            "Only the weights are in it, and the loss comes first: mind the biases and the order.",
            when=partly(
                flow_run,
                flow(which=lambda name: name.endswith("weight"), arrange=lambda norms: norms[::-1]),
                NORMS,
                SMALL,
            ),
        ),
        Mistake(
            "Norms do not add up like numbers. Add the squares of all entries, and take the root "
            "in the end.",
            when=partly(
                flow_run, flow(measure=lambda gs: sum(g.norm().item() for g in gs)), NORMS, SMALL
            ),
        ),
        Mistake(
            "That is the sum of the squares. The norm is its root.",
            when=partly(flow_run, flow(measure=lambda gs: root(gs) ** 2), NORMS, SMALL),
        ),
        Mistake(
            "That is the mean of the norms of a layer's parameters, or the largest of them. Put "
            "all their entries together: one root of one sum of squares.",
            when=lambda found: any(
                partly(flow_run, flow(measure=measure), NORMS, SMALL)(found)
                for measure in (
                    lambda gs: sum(g.norm().item() for g in gs) / len(gs),
                    lambda gs: max(g.norm().item() for g in gs),
                )
            ),
        ),
        Mistake(
            "That is a sum of the entries, in which plus and minus cancel. Square them first.",
            when=lambda found: any(
                partly(flow_run, flow(measure=measure), NORMS, SMALL)(found)
                for measure in (
                    lambda gs: sum(g.sum().item() for g in gs),
                    lambda gs: abs(sum(g.sum().item() for g in gs)),
                )
            ),
        ),
        Mistake(
            "That is the largest entry. The norm is the root of the sum of the squares.",
            when=partly(
                flow_run,
                flow(measure=lambda gs: max(g.abs().max().item() for g in gs)),
                NORMS,
                SMALL,
            ),
        ),
        Mistake(
            "That is the sum of the sizes. The norm is the root of the sum of the squares.",
            when=partly(
                flow_run,
                flow(measure=lambda gs: sum(g.abs().sum().item() for g in gs)),
                NORMS,
                SMALL,
            ),
        ),
        Mistake(
            "That is a mean over the entries. The norm is the root of the sum of the squares.",
            when=partly(
                flow_run,
                flow(measure=lambda gs: sum(g.abs().mean().item() for g in gs) / len(gs)),
                NORMS,
                SMALL,
            ),
        ),
        Mistake(
            "That is a mean over the entries. The norm is the root of their sum.",
            when=partly(
                flow_run,
                flow(measure=lambda gs: root(gs) / sum(g.numel() for g in gs) ** 0.5),
                NORMS,
                SMALL,
            ),
        ),
        Mistake(
            "Of each layer only one parameter is left, the one that came last. Let the entries of "
            "a layer add up.",
            when=partly(flow_run, flow(measure=lambda gs: gs[-1].norm().item()), NORMS, SMALL),
        ),
        Mistake(
            "Of each layer only one parameter is left. Let the entries of a layer add up.",
            when=partly(flow_run, flow(measure=lambda gs: gs[0].norm().item()), NORMS, SMALL),
        ),
        Mistake(
            "A layer is missing. Not only Linear has parameters: LayerNorm has, too.",
            when=lambda found: any(
                partly(flow_run, flow(which=which), NORMS, SMALL)(found)
                for which in (_linear, lambda name: "norm" not in name)
            ),
        ),
        Mistake(
            "A layer is missing whose weight learns and whose bias is frozen. Left out are those "
            "with nothing that requires a gradient.",
            when=partly(flow_run, flow(which=lambda name: "last" not in name), NORMS, SMALL),
        ),
        Mistake(
            "A module that contains others may have a parameter of its own, besides theirs. It is "
            "missing in your list.",
            when=partly(flow_run, flow(which=lambda name: "gain" not in name), NORMS, SMALL),
        ),
        Mistake(
            "A frozen layer has an entry. Leave it out: it has no gradient.",
            when=_with_zero,
        ),
        Mistake(
            "Those are the gradients that arrive at the layers' outputs. Asked for are those of "
            "the parameters.",
            when=partly(flow_run, at_outputs, NORMS, SMALL),
        ),
        Mistake(
            "Containers have entries, too. Their parameters are those of the layers inside: "
            "parameters(recurse=False) gives a module's own.",
            when=_with_containers,
        ),
        Mistake(
            "The norms are rounded. Keep all digits: whoever reads them can round.",
            when=_rounded_off,
        ),
        Mistake(
            "All norms are off by the same factor. Is something divided or multiplied in the end, "
            "say by the largest, or by a number of entries? Or did a backward pass run twice?",
            when=_one_factor,
        ),
        Mistake(
            "That is one number for the whole model. Each layer has one of its own.",
            when=lambda found: len(found[_NORMS].result) == 1,
        ),
        Mistake(
            "The list is empty. Were the hooks there before loss_fn ran backward, and did backward "
            "run?",
            when=lambda found: found[_NORMS].result == [],
        ),
        Mistake(
            "Where something was in .grad before, all norms are zero. A pass adds into the same "
            "tensor, so what you kept from before is the sum as well: keep a clone().",
            when=_zeros_for_what_was_there,
        ),
        Mistake(
            "All norms are zero: the hooks noted nothing. Did a backward pass run while they were "
            "there?",
            when=lambda found: not any(found[_NORMS].result),
        ),
        Mistake(
            "The second call gives a longer list: entries of the first are still in it. Begin with "
            "an empty one each time.",
            when=_grows,
        ),
        Mistake(
            "The first call is right, the second one is not. A hook of the first is still there, "
            "or something is kept: begin anew each time.",
            when=_remembers_gradients,
        ),
        Mistake(
            "The norms are right. What was in .grad before is gone, and somebody may be collecting "
            "there: a hook needs no empty .grad.",
            when=lambda found: found[_KEPT].result is False,
        ),
        Mistake(
            "The norms are right, and your hooks are still there, and run in each pass to come. "
            "Keep the handles, and remove them.",
            when=lambda found: found[_LEFT].result > 0,
        ),
        Mistake(
            "The hooks go when all is well, and stay when loss_fn or the pass raises: remove() was "
            "never reached. In a finally it is.",
            when=lambda found: found[_ERROR].result > 0,
        ),
    ],
)
