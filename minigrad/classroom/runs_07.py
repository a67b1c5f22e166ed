"""Run the models of lesson 07's exercises: right hooks, and the wrong ones that learners write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from random import Random
from typing import Any

from minigrad.autograd.modes import no_grad
from minigrad.creation import tensor
from minigrad.nn import Linear, Module

FULL, LEGACY = "register_full_backward_hook", "register_backward_hook"


def linear(weight: float, bias: float) -> Linear:
    """Make a Linear with one input and one output."""
    layer: Any = Linear(1, 1)
    with no_grad():
        layer.weight.fill_(weight)
        layer.bias.fill_(bias)
    return layer


class SLinear(Module):
    """The square of a Linear."""

    def __init__(self) -> None:
        """Make it with the weight 0.4 and the bias 0.2."""
        super().__init__()
        self.f = linear(0.4, 0.2)

    def forward(self, x1: Any) -> Any:
        """Compute the square."""
        return self.f(x1) ** 2


class Net(Module):
    """The network of the lesson."""

    def __init__(self) -> None:
        """Make its two modules."""
        super().__init__()
        self.f0, self.f1 = linear(0.3, 0.1), SLinear()

    def forward(self, x: Any) -> Any:
        """Run one behind the other."""
        return self.f1(self.f0(x))


class Probe(Module):
    """A module that returns its input."""

    def forward(self, x: Any) -> Any:
        """Return what it gets."""
        return x


def double(module: Any, grad_input: Any, grad_output: Any) -> tuple[Any, ...]:
    """Double the first entry of grad_input, as in the lesson."""
    return (2 * grad_input[0],)


def gradients(net: Module) -> list[float]:
    """Run the network forward and backward, and give the gradients of x and of each parameter."""
    inputs: list[Any] = [tensor([0.3], requires_grad=True), *net.parameters()]
    ((net(inputs[0]) - 1) ** 2).backward()
    return [each.grad.item() for each in inputs]


def doubled(kind: str, place: str = "f0") -> tuple[float, ...]:
    """Compare the gradients with the hook `double` at a module with those without it."""
    net = Net()
    getattr(net.get_submodule(place), kind)(double)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the legacy hook's: the lesson shows it
        pairs = zip(gradients(net), gradients(Net()), strict=True)
    return tuple(round(changed / plain, 3) for changed, plain in pairs)


def collect(layer: Any, found: list[Any]) -> Any:
    """Collect the gradient with respect to a layer's input: the right answer to 07.2."""
    return layer.register_full_backward_hook(lambda _, grad_input, __: found.append(grad_input[0]))


def collector(kind: str, pick: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Make a helper that registers a hook of a kind and picks something of what it sees."""

    def collecting(layer: Any, found: list[Any]) -> Any:
        return getattr(layer, kind)(lambda _, gi, go: found.append(pick(gi, go)))

    return collecting


def layers() -> dict[str, tuple[Linear, Any]]:
    """Make the three layers that a helper has to cope with, and what they are run on."""
    rng = Random(7)

    def filled(bias: bool) -> Linear:
        layer = Linear(3, 2, bias=bias)
        with no_grad():
            for parameter in layer.parameters():
                parameter.copy_(numbers(tuple(parameter.shape)))
        return layer

    def numbers(shape: tuple[int, ...]) -> Any:
        if len(shape) == 1:
            return tensor([round(rng.uniform(-2, 2), 1) for _ in range(shape[0])])
        return tensor([[round(rng.uniform(-2, 2), 1) for _ in range(3)] for _ in range(shape[0])])

    return {
        "for a batch, what was found": (filled(True), numbers((2, 3))),
        "for a single vector, what was found": (filled(True), numbers((3,))),
        "for a layer without a bias, what was found": (filled(False), numbers((2, 3))),
    }


def run_layers(helper: Callable[..., Any]) -> dict[str, Any]:
    """Let a helper collect from each of the layers, and again when its handle was removed."""
    seen: dict[str, Any] = {}
    handle: Any = None
    for name, (layer, data) in layers().items():
        found: list[Any] = []
        handle = helper(layer, found)
        (layer(data.requires_grad_()) ** 2).sum().backward()
        seen[name] = list(found)
    seen["whether it returned a handle, the answer"] = hasattr(handle, "remove")
    if hasattr(handle, "remove"):
        handle.remove()
        layer(data).sum().backward()
    seen["with the handle removed, how often it collected in two passes"] = len(found)
    return seen


def last_operation(out: Any) -> tuple[Any, ...]:
    """Give what a hook on the node of `out` sees as grad_input: the right answer to 07.3."""
    seen: list[tuple[Any, ...]] = []
    out.grad_fn.register_hook(lambda grad_input, _: seen.append(grad_input))
    out.backward()
    return seen[0]


def incoming(out: Any) -> tuple[Any, ...]:
    """Collect what the last operation is given, not what it sends on."""
    seen: list[tuple[Any, ...]] = []
    out.grad_fn.register_hook(lambda _, grad_output: seen.append(grad_output))
    out.backward()
    return seen[0]


def on_the_tensor(out: Any) -> Any:
    """Collect what a hook on the tensor sees."""
    seen: list[Any] = []
    out.register_hook(seen.append)
    out.backward()
    return seen[0]


def deeper(out: Any) -> tuple[Any, ...]:
    """Hook the node before the last one instead."""
    seen: list[tuple[Any, ...]] = []
    out.grad_fn.next_functions[0][0].register_hook(lambda grad_input, _: seen.append(grad_input))
    out.backward()
    return seen[0]


def outs(rng: Random) -> list[tuple[Any, ...]]:
    """Make results of small computations that end in different operations."""

    def three() -> list[Any]:
        return [tensor([round(rng.uniform(0.5, 3), 1)], requires_grad=True) for _ in range(3)]

    found = []
    for formula in (
        lambda x, y, z: x * y + z,
        lambda x, y, z: (x + y) * z,
        lambda x, y, z: x * y * z,
        lambda x, y, z: (x - y * z) ** 2,
        lambda x, y, z: x * y + 5,
    ):
        found.append((formula(*three()),))
    return found


def full_hook(
    module: Any,
    hook: Any,
    own_input: bool = True,
    replaces: bool = True,
    tuples: bool = True,
) -> None:
    """Build a full backward hook for one tensor: the right answer to 07.5, or a faulty one."""
    waiting: list[Any] = []

    def leave(gradient: Any) -> Any:
        came = waiting.pop()
        returned = hook(module, (gradient,), (came,)) if tuples else hook(module, gradient, came)
        return returned[0] if replaces and returned is not None else None

    def before(_: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        x = args[0].view_as(args[0]) if own_input else args[0]
        x.register_hook(leave)
        return (x,)

    def after(_: Any, args: tuple[Any, ...], y: Any) -> Any:
        y = y.view_as(y)
        y.register_hook(waiting.append)
        return y

    module.register_forward_pre_hook(before)
    module.register_forward_hook(after)


def old(module: Any, hook: Any) -> None:
    """Put a hook where the legacy kind would: on the last operation."""

    def attach(_: Any, args: Any, y: Any) -> None:
        y.grad_fn.register_hook(lambda *found: hook(module, *found))

    module.register_forward_hook(attach)


def run_full(builder: Callable[..., Any]) -> dict[str, Any]:
    """Put a hook that was built by the learner to work, on SLinear and on a module like Probe."""
    seen: dict[str, Any] = {}
    calls: list[Any] = []
    factor = [1]

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        calls.append((module, grad_input, grad_output))
        return None if factor[0] == 1 else (factor[0] * grad_input[0],)

    net = Net()
    builder(net.f1, hook)
    seen["on f1, with a hook that returns None, the list of all five gradients"] = gradients(net)
    seen["in one backward pass, the number of the hook's calls"] = len(calls)
    seen["on f1, the pair of grad_input and grad_output"] = [call[1:] for call in calls]
    seen["whether the hook was given f1 as its module, the answer"] = all(
        call[0] is net.f1 for call in calls
    )
    net.zero_grad()
    factor[0] = 2
    seen["on f1, with a hook that doubles, the list of all five gradients"] = gradients(net)
    factor[0] = 1
    calls.clear()
    probe = Probe()
    builder(probe, hook)
    product: Any = tensor([3.0], requires_grad=True) * 2
    (probe(product) + 5 * product).backward()
    seen["with an argument that is used elsewhere too, the pair of gradients"] = [
        call[1:] for call in calls
    ]
    return seen
