"""Run the models of lesson 06's exercises: right hooks, and the wrong ones that learners write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import minigrad as torch
from minigrad import nn
from minigrad.classroom.behaviors import Trial
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


def clip_in_place(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor | None, ...]:
    """Clip, but in the arguments themselves."""
    return tuple(None if g is None else g.clamp_(-1, 1) for g in grad_input)


def clip_above(module: Any, grad_input: Any, grad_output: Any) -> tuple[Tensor | None, ...]:
    """Clip, but on one side only."""
    return tuple(None if g is None else g.clamp(max=1) for g in grad_input)


def stumbled(*words: str) -> Callable[[list[Trial]], bool]:
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


NORMS = "the list of norms, sorted by the layers' names,"


def hooks_on(model: nn.Module) -> int:
    """Count the backward hooks that a model and its modules still have."""
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
        NORMS: [norms[name] for name in sorted(norms)],
        "the number of hooks left on the model": hooks_on(model),
        "the number of warnings": len(warned),
        "data.requires_grad": data.requires_grad,
    }


def norms(
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


def home_made(gated: bool, obeys: bool) -> Answer:
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
