"""Run the models of lesson 09's exercises: right hooks, and the wrong ones that learners write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from minigrad.autograd import grad
from minigrad.autograd.graph import register_multi_grad_hook
from minigrad.autograd.modes import no_grad
from minigrad.creation import ones, tensor
from minigrad.nn import Linear, Module, ReLU, Sequential, Tanh

FULL, LEGACY = "register_full_backward_hook", "register_backward_hook"


def linear(*rows: list[float], bias: float | None = None) -> Linear:
    """Make a Linear with the given rows as its weight, and one number as its bias."""
    layer: Any = Linear(len(rows[0]), len(rows), bias=bias is not None)
    with no_grad():
        layer.weight.copy_(tensor(list(rows)))
        if bias is not None:
            layer.bias.fill_(bias)
    return layer


def asked_for() -> tuple[float, Any, int]:
    """Ask for a gradient while two hooks are on x: the right answer to 09.1."""
    x: Any = tensor(2.0, requires_grad=True)
    lines: list[Any] = []
    x.register_hook(lambda gradient: 10 * gradient)
    x.register_post_accumulate_grad_hook(lambda x: lines.append("accumulated"))
    (gradient,) = grad(x**3, x)
    return gradient.item(), x.grad, len(lines)


def watch_output(module: Any, found: list[Any]) -> Any:
    """Collect the gradient with respect to a module's output: the right answer to 09.3."""

    def attach(module: Any, args: Any, y: Any) -> None:
        y.register_hook(lambda gradient: found.append(gradient))

    return module.register_forward_hook(attach)


def by_module(kind: str, pick: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Make a watcher that registers a hook on the module and picks something of what it sees."""

    def watching(module: Any, found: list[Any]) -> Any:
        return getattr(module, kind)(lambda _, gi, go: found.append(pick(gi, go)))

    return watching


def on_the_input(module: Any, found: list[Any]) -> Any:
    """Watch what goes into the module instead of what comes out."""
    return module.register_forward_hook(
        lambda module, args, y: args[0].register_hook(found.append) and None
    )


def values_instead(module: Any, found: list[Any]) -> Any:
    """Collect the output itself."""
    return module.register_forward_hook(lambda module, args, y: found.append(y))


def run_watchers(watcher: Callable[..., Any]) -> dict[str, Any]:
    """Let a watcher collect in front of an in-place ReLU and elsewhere, and after its removal."""
    data = tensor([[1.0, -2.0]])
    rows = ([1.0, 0.0], [0.0, 3.0])
    seen: dict[str, Any] = {}
    handle: Any = None
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for name, behind in (
            ("in front of an in-place ReLU, what was found", ReLU(inplace=True)),
            ("in front of a Tanh, what was found", Tanh()),
        ):
            layer = linear(*rows)
            found: list[Any] = []
            model: Any = Sequential(linear([0.5, 0.0], [0.0, 0.5]), layer, behind)
            handle = watcher(layer, found)
            (5 * model(data)).sum().backward()
            seen[name] = list(found)
        model(data).sum().backward()
        seen["after a second pass, the number of gradients found"] = len(found)
    seen["the number of warnings about deprecated hooks"] = sum(
        issubclass(each.category, FutureWarning) for each in told
    )
    seen["whether it returned a handle, the answer"] = hasattr(handle, "remove")
    if hasattr(handle, "remove"):
        handle.remove()
        model(data).sum().backward()
    seen["with the handle removed, the number of gradients found"] = len(found)
    return seen


def order() -> list[str]:
    """Note in which order hooks on modules and on their weights run: the right answer to 09.4."""
    told: list[str] = []

    def prepared(name: str) -> Any:
        layer: Any = linear([0.5])
        layer.register_full_backward_pre_hook(lambda *_: told.append(f"enter {name}"))
        layer.register_full_backward_hook(lambda *_: told.append(f"leave {name}"))
        layer.weight.register_post_accumulate_grad_hook(lambda _: told.append(f"weight {name}"))
        return layer

    a, b = prepared("A"), prepared("B")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # no input gate: what the exercise is about
        b(a(ones(1, 1))).backward()
    return told


def when_ready(
    module: Any, hook: Callable[[Any], Any], clears: bool = True, all_of_them: bool = True
) -> None:
    """Call a hook when a module's gradients are complete: the right answer to 09.5, or faulty."""
    waiting = [p for p in module.parameters() if p.requires_grad]
    waiting = waiting if all_of_them else waiting[:1]
    arrived: list[Any] = []

    def count(parameter: Any) -> None:
        arrived.append(parameter)
        if len(arrived) == len(waiting):
            if clears:
                arrived.clear()
            hook(module)

    for parameter in waiting:
        parameter.register_post_accumulate_grad_hook(count)


def by_full_hook(module: Any, hook: Callable[[Any], Any]) -> None:
    """Call the hook from a full backward hook."""
    module.register_full_backward_hook(lambda module, *_: hook(module))


def by_multi_grad_hook(module: Any, hook: Callable[[Any], Any]) -> None:
    """Call the hook when all gradients have been computed, before they are accumulated."""
    waiting = [p for p in module.parameters() if p.requires_grad]
    register_multi_grad_hook(waiting, lambda gradients: hook(module))


def at_each(module: Any, hook: Callable[[Any], Any]) -> None:
    """Call the hook once for each parameter."""
    for parameter in module.parameters():
        if parameter.requires_grad:
            parameter.register_post_accumulate_grad_hook(lambda _: hook(module))


def run_ready(builder: Callable[..., Any]) -> dict[str, Any]:
    """Put a `when_ready` to work: plain and other data, two passes, two layers, a frozen weight."""
    seen: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # full hooks without an input gate
        for name, wanted in (("plain data", False), ("data that require a gradient", True)):
            layer = linear([0.5, -1.0], bias=0.25)
            calls = _Calls(layer)
            builder(layer, calls)
            for number in ("first", "second"):
                calls.clear()
                (3 * layer(tensor([[1.0, 2.0]], requires_grad=wanted))).backward()
                key = f"with {name}, in the {number} pass, the list of gradients seen by each call"
                seen[key] = list(calls)
        seen["whether the hook was given the module, the answer"] = calls.given == [layer, layer]
        model = Backwards()
        calls = _Calls(model)
        builder(model, calls)
        model(ones(1, 1)).backward()
        seen["with two layers and a frozen weight, the list of gradients seen"] = list(calls)
    return seen


class Backwards(Module):
    """Two layers of which the one that is registered first is run last, one weight frozen."""

    def __init__(self) -> None:
        """Make both layers."""
        super().__init__()
        self.later, self.earlier = linear([1.0, 1.0], bias=0.5), linear([1.0], [2.0], bias=0.0)
        frozen: Any = self.earlier.bias
        frozen.requires_grad_(False)

    def forward(self, x: Any) -> Any:
        """Run one behind the other."""
        return self.later(self.earlier(x))


class _Calls(list[Any]):
    """A hook that notes which gradients its module has, and what it is called with."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self.module = module
        self.given: list[Any] = []

    def __call__(self, module: Any) -> None:
        self.given.append(module)
        gradients = [p.grad for p in self.module.parameters()]
        self.append([None if g is None else g.tolist() for g in gradients])
