"""Check the exercises of lesson 06, on full backward hooks: each answer runs in a real network."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.classroom.answers import Choice, Numbers, Order
from minigrad.classroom.behaviors import Hook, Trial
from minigrad.classroom.exercise import Mistake
from minigrad.tensor import Tensor

Answer = Callable[..., Any]


def layer(weight: Any, bias: Any) -> Any:
    """Build a linear layer with the given parameters."""
    weight, bias = torch.tensor(weight), torch.tensor(bias)
    made: Any = nn.Linear(weight.shape[1], weight.shape[0])
    with torch.no_grad():
        made.weight.copy_(weight)
        made.bias.copy_(bias)
    return made


class SLinear(nn.Module):
    """The module f1 of the worked example: a linear layer and a square."""

    def __init__(self) -> None:
        super().__init__()
        self.f = layer([[0.4]], [0.2])

    def forward(self, x1: Tensor) -> Tensor:
        """Compute (0.4 * x1 + 0.2) ** 2."""
        return self.f(x1) ** 2


def five_gradients(hook: Answer | None = None, pre_hook: Answer | None = None) -> tuple[float, ...]:
    """Run the worked example: gradients of x, f0.weight, f0.bias, f1.f.weight, f1.f.bias."""
    f0, f1 = layer([[0.3]], [0.1]), SLinear()
    if hook is not None:
        f1.register_full_backward_hook(hook)
    if pre_hook is not None:
        f1.register_full_backward_pre_hook(pre_hook)
    x = torch.tensor([0.3], requires_grad=True)
    ((f1(f0(x)) - 1) ** 2).backward()
    tensors: tuple[Any, ...] = (x, f0.weight, f0.bias, f1.f.weight, f1.f.bias)
    return tuple(tensor.grad.item() for tensor in tensors)


def ones_at_the_input(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor, ...]:
    """Replace grad_input by ones."""
    return (torch.ones_like(grad_input[0]),)


class Mix(nn.Module):
    """Three positional inputs, the second of which is no tensor."""

    def forward(self, a: Tensor, factor: float, b: Tensor) -> Tensor:
        """Compute a * factor + b * 3."""
        return a * factor + b * 3


def clipped_run(hook: Answer) -> dict[str, Any]:
    """Let a hook clip what leaves `Mix`, and look at the gradients and at the hook's arguments."""
    kept: list[tuple[Tensor, list[float]]] = []

    def keep(module: Any, grad_input: Any, grad_output: Any) -> None:
        kept.extend((g, g.tolist()) for g in (*grad_input, *grad_output) if g is not None)

    mix = Mix()
    mix.register_full_backward_hook(keep)
    mix.register_full_backward_hook(hook)
    a, b = (torch.tensor([1.0, 2.0, 3.0], requires_grad=True) for _ in range(2))
    mix(a * 1, 4.0, b * 1).backward(torch.tensor([2.0, -0.6, 0.1]))
    return {
        "the gradient of the first input": a.grad,
        "the gradient of the third input": b.grad,
        "whether the hook left its arguments as they were": all(
            tensor.tolist() == before for tensor, before in kept
        ),
    }


def clip(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor | None, ...]:
    """Clip each gradient, None staying None."""
    return tuple(None if g is None else g.clamp(-1, 1) for g in grad_input)


def _clip_in_place(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor | None, ...]:
    return tuple(None if g is None else g.clamp_(-1, 1) for g in grad_input)


def _clip_above(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor | None, ...]:
    return tuple(None if g is None else g.clamp(max=1) for g in grad_input)


def _stumbled(*words: str) -> Callable[[list[Trial]], bool]:
    """Recognize a run that ended in an error which names one of these words."""
    return lambda found: any(word in (trial.trouble or "") for trial in found for word in words)


class Deep(nn.Module):
    """Three linear layers, one of them further inside, with squashing between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.1]], [0.1, 0.0, -0.2])
        self.body = nn.Sequential(nn.Tanh(), layer([[0.7, -0.4, 0.3]] * 2, [0.0, 0.3]), nn.Tanh())
        self.last = layer([[1.5, -0.9]], [0.4])

    def forward(self, x: Tensor) -> Tensor:
        """Run the three layers."""
        return self.last(self.body(self.first(x)))


_NORMS = "the list of norms, sorted by the layers' names,"


def _hooks_on(model: nn.Module) -> int:
    return sum(len(m._backward_hooks) + len(m._backward_pre_hooks) for m in model.modules())


def norms_run(answer: Answer) -> dict[str, Any]:
    """Let an answer measure a model, and look at what it says and at what it leaves behind."""
    model = Deep()
    data = torch.tensor([[0.3, -1.2], [0.8, 0.5]])
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        norms = answer(model, data, torch.tensor([[1.3], [-0.4]]))
    if not isinstance(norms, dict):
        raise TypeError("the answer has to return a dict")
    return {
        "the list of names": sorted(norms),
        _NORMS: [norms[name] for name in sorted(norms)],
        "the number of hooks left on the model": _hooks_on(model),
        "the number of warnings": len(warned),
        "data.requires_grad": data.requires_grad,
    }


def _norms(
    only: type[nn.Module] = nn.Linear, copies: bool = True, removes: bool = True, which: int = 1
) -> Answer:
    """Make a right `layer_norms`, or one with a typical mistake."""

    def layer_norms(model: nn.Module, data: Tensor, cotangent: Tensor) -> dict[str, float]:
        norms: dict[str, float] = {}
        handles = []
        for name, module in model.named_modules():
            if isinstance(module, only):

                def hook(_: Any, *both: Any, name: str = name) -> None:
                    norms[name] = both[which][0].norm().item()

                handles.append(module.register_full_backward_hook(hook))
        model(data.detach().requires_grad_() if copies else data).backward(cotangent)
        for handle in handles if removes else ():
            handle.remove()
        return norms

    return layer_norms


def hooked_run(hooked: Answer) -> dict[str, Any]:
    """Run a home-made full hook, once with a hook that watches and once with one that doubles."""
    seen: dict[str, Any] = {}
    for what, factor in (("only watches", None), ("doubles", 2)):
        module = nn.Sequential(layer([[0.5, -0.3], [0.2, 0.8]], [0.1, 0.0]), nn.Tanh())
        x = torch.tensor([0.4, -0.7], requires_grad=True)
        calls: list[Any] = []

        def hook(
            _: Any,
            grad_input: Any,
            grad_output: Any,
            calls: list[Any] = calls,
            factor: int | None = factor,
        ) -> Any:
            calls.append((grad_input[0].tolist(), grad_output[0].tolist()))
            return None if factor is None else (factor * grad_input[0],)

        y = hooked(module, x, hook)
        if not isinstance(y, Tensor):
            raise TypeError("hooked has to return what the module returns")
        (y * torch.tensor([1.5, -0.7]) + x * 5).sum().backward()
        seen[f"the number of calls of the hook that {what}"] = len(calls)
        seen[f"grad_input, seen by the hook that {what},"] = [pair[0] for pair in calls]
        seen[f"grad_output, seen by the hook that {what},"] = [pair[1] for pair in calls]
        seen[f"x.grad with the hook that {what}"] = x.grad
        seen[f"weight.grad with the hook that {what}"] = module[0].weight.grad
    return seen


def _home_made(gated: bool, obeys: bool) -> Answer:
    """Make a right `hooked`, or one with a typical mistake."""

    def hooked(module: nn.Module, x: Tensor, hook: Answer) -> Tensor:
        gate = x.view_as(x) if gated else x
        noted: list[Tensor] = []
        y = module(gate)

        def at_the_input(gradient: Tensor) -> Tensor | None:
            replaced = hook(module, (gradient,), (noted.pop(),))
            return replaced[0] if obeys and replaced is not None else None

        gate.register_hook(at_the_input)
        y.register_hook(noted.append)
        return y

    return hooked


EXERCISES = [
    Numbers(
        id="06.1",
        asks="the gradients of x, f0.weight, f0.bias, f1.f.weight and f1.f.bias, in this order",
        expected=lambda: five_gradients(ones_at_the_input),
        right="f0 goes on from the new value; f1 had finished with its own parameters.",
        hints=(
            "At which gate is the new value put in, and which parameters lie behind it?",
            "For x, w_0 and b_0 multiply 1 by the derivative of x_1 = w_0 x + b_0. The other two "
            "are those of the run without a hook.",
        ),
        mistakes=[
            Mistake(
                "Those are the gradients without the hook. What arrives at f0 now?",
                value=five_gradients,
            ),
            Mistake(
                "That is what a pre-hook with ones would do: it replaces grad_output. This hook "
                "replaces grad_input, at the other gate.",
                value=lambda: five_gradients(
                    pre_hook=lambda module, grad_output: (torch.ones_like(grad_output[0]),)
                ),
            ),
            Mistake(
                "The hook puts in a one for x_1. The chain goes on from there: each of the others "
                "needs its local factor.",
                when=lambda answer: all(float(entry) == 1 for entry in answer),
            ),
            Mistake(
                "The parameters of f1 do get their gradients: they lie between the gates.",
                when=lambda answer: answer[3] in (None, 0) or answer[4] in (None, 0),
            ),
            Mistake(
                "What f1's own parameters get is fixed before the gradient reaches the input gate.",
                when=lambda answer: (
                    abs(float(answer[2]) - 1) < 1e-3 and abs(float(answer[4]) + 1.0199) > 1e-2
                ),
            ),
        ],
    ),
    Hook(
        id="06.2",
        asks="clip(module, grad_input, grad_output), which replaces each gradient in grad_input by "
        "one clipped to the range from -1 to 1",
        scenario=clipped_run,
        reference=clip,
        may_return=(tuple,),
        right="A new tuple of new tensors, with None where None was: so it fits every module.",
        hints=(
            "What is in grad_input for an argument that is no tensor? And who else holds the "
            "tensors that you are given?",
            "Build a new tuple with one entry for each entry of grad_input: None for None, else "
            "gradient.clamp(-1, 1), without the underscore.",
        ),
        mistakes=[
            Mistake(
                "It stumbled over a None. One argument of this module is no tensor: what has to "
                "stand in its place in the result?",
                when=_stumbled("NoneType"),
            ),
            Mistake(
                "The tuple has to be as long as grad_input: one entry for each positional "
                "argument, also for those that are no tensors.",
                when=_stumbled("invalid number"),
            ),
            Mistake(
                "The numbers fit, and it wrote into the tensors it was given. Others may hold the "
                "same tensors: make new ones.",
                like=_clip_in_place,
            ),
            Mistake(
                "Large gradients are cut, and large negative ones get through: the range has two "
                "ends.",
                like=_clip_above,
            ),
            Mistake(
                "Nothing was clipped. What you compute in a hook counts only if it is returned.",
                like=lambda module, grad_input, grad_output: None,
            ),
            Mistake(
                "Every gradient is None now, so nothing flows on. None is for those that were None "
                "before.",
                like=lambda module, grad_input, grad_output: (None,) * len(grad_input),
            ),
        ],
    ),
    Order(
        id="06.3",
        asks="the letters A, B, C and D in the order in which they are printed",
        expected=("C", "A", "B", "D"),
        right="Modules in the order of the backward pass; within one, registration, but for "
        "prepend.",
        hints=(
            "Which module does the gradient reach first, f0 or f1?",
            "Order the two hooks of that module, with prepend in mind; then those of the other.",
        ),
        mistakes=[
            Mistake(
                "The hook with prepend=True is put in front of those that its module already has.",
                value=("A", "C", "B", "D"),
            ),
            Mistake(
                "That is the order of the forward pass: f0 first. Where does the gradient start?",
                value=("B", "D", "C", "A"),
            ),
            Mistake(
                "That is the order in which they were registered. Two modules are at work here.",
                value=("A", "B", "C", "D"),
            ),
            Mistake(
                "Hooks of one module run in the order of registration, unless prepend says "
                "otherwise. Look again at f0.",
                value=("C", "A", "D", "B"),
            ),
            Mistake(
                "prepend puts a hook in front of those on the same module; it does not touch other "
                "modules.",
                value=("C", "B", "D", "A"),
            ),
        ],
    ),
    Choice(
        id="06.4",
        asks="which single hook triples all five gradients, those of f1's parameters included",
        option="c",
        right="What is changed at the output gate reaches all that lies behind it.",
        why_not={
            "a": "It acts where the gradient leaves f1. Have f1's parameters not had theirs by "
            "then?",
            "b": "When this hook runs, grad_output has been used already: section 4 shows who is "
            "hit instead.",
            "d": "It acts where the gradient leaves f1.f. Which parameters lie above that place?",
        },
        mentions={
            "where, or when, the hook acts": (
                "output gate",
                "before",
                "first",
                "upper",
                "enter",
                "arriv",
                "comes in",
                "behind",
                "upstream",
                "through",
                "whole",
                "the output",
                "late",
                "top",
                "grad_output",
            )
        },
        hints=(
            "For each of the four, find the gate where the hook acts.",
            "Which of the two gates lies above the place where the way to f1's parameters branches "
            "off?",
        ),
    ),
    Hook(
        id="06.5",
        asks="layer_norms(model, data, cotangent), which returns a dict from the name of each "
        "nn.Linear to the norm of its grad_output, and takes its hooks off again",
        scenario=norms_run,
        reference=_norms(),
        right="No warning, no trace left: this is how to look into a model that is not yours.",
        hints=(
            "Section 9 says what to give the first layer so that its hook runs without a warning. "
            "How do you do so without touching the caller's tensor?",
            "Run the model on data.detach().requires_grad_(). For each name and module of "
            "model.named_modules() that is an nn.Linear, register a hook that knows its name, and "
            "keep the handle in a list.",
        ),
        mistakes=[
            Mistake(
                "It did not return a dict. Note each norm under its layer's name, and return what "
                "you have noted.",
                when=_stumbled("has to return a dict"),
            ),
            Mistake(
                "No hook noted anything. They have to be registered before the forward pass, and "
                "stay until the backward pass is over.",
                when=lambda found: found[0].result == [],
            ),
            Mistake(
                "Those are the norms of grad_input, at each layer's input. The other gradient is "
                "asked for.",
                like=_norms(which=0),
            ),
            Mistake(
                "The norms are right, and hooks stayed on the model. Keep the handles, and remove "
                "each when you are done.",
                when=lambda found: (
                    found[2].result > 0 and found[1].result == norms_run(_norms())[_NORMS]
                ),
            ),
            Mistake(
                "The data needs no gradient, so the first layer's hook ran with a warning. "
                "Section 9 says what helps.",
                like=_norms(copies=False),
            ),
            Mistake(
                "It hooked more than the linear layers. isinstance(module, nn.Linear) sorts them "
                "out.",
                when=lambda found: len(found[0].result) > len(norms_run(_norms())[_NORMS]),
            ),
            Mistake(
                "The data requires a gradient now, and did not before: the caller's tensor was "
                "changed. Work on a copy, or on data.detach().",
                when=lambda found: found[4].result is True,
            ),
            Mistake(
                "The first layer's grad_input holds None, for data needs no gradient. It is "
                "grad_output that is asked for.",
                when=_stumbled("NoneType"),
            ),
            Mistake(
                "The layer inside of model.body is missing: named_children() goes one level deep, "
                "named_modules() all the way.",
                when=lambda found: found[0].result == ["first", "last"],
            ),
            Mistake(
                "One name for all: a hook made in a loop looks its name up when it runs, and by "
                "then the loop is over. Make each hook in a function of its own.",
                when=lambda found: len(found[0].result) == 1,
            ),
        ],
    ),
    Hook(
        id="06.6",
        asks="hooked(module, x, hook), which returns module(x) and calls the hook in the backward "
        "pass with grad_input and grad_output",
        scenario=hooked_run,
        reference=_home_made(gated=True, obeys=True),
        without=("register_full_backward_hook", "register_full_backward_pre_hook"),
        right="That is a full backward hook: two gates, one note, and obedience.",
        hints=(
            "Which tensor plays the output gate, and which the input gate? Is x itself a gate, if "
            "x is used elsewhere too?",
            "Give the module x.view_as(x). A hook on y notes its gradient in a list; a hook on the "
            "view calls hook(...) with both, and returns what is inside of the result, or None.",
        ),
        mistakes=[
            Mistake(
                "Nothing came back: hooked has to return what the module returns.",
                when=_stumbled("has to return what"),
            ),
            Mistake(
                "The hook was never called. Does the backward pass go through the tensor that you "
                "hooked: did the module run on it?",
                when=lambda found: found[0].result == 0,
            ),
            Mistake(
                "The hook sat on x itself, so it saw, and changed, what comes by the other path as "
                "well. The module needs a gate of its own.",
                like=_home_made(gated=False, obeys=True),
            ),
            Mistake(
                "The hook is called with the right gradients, and what it returns is dropped.",
                like=_home_made(gated=True, obeys=False),
            ),
            Mistake(
                "The hook's answer is a tuple, or None. A tensor's hook has to return a tensor: "
                "take it out of the tuple.",
                when=_stumbled("'tuple'", "got tuple"),
            ),
            Mistake(
                "This hook returned None, which means: keep the gradient. Ask for that case first.",
                when=_stumbled("NoneType"),
            ),
        ],
    ),
]
