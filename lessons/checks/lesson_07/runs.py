"""Run the models of lesson 07's exercises: right hooks, and the wrong ones that learners write."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from minigrad import no_grad, ones_like, tensor, zeros_like
from minigrad.classroom.values import alike
from minigrad.nn import Linear, Module
from minigrad.nn.modules.module import register_module_full_backward_hook

from ..models import SLinear, layer

FULL, LEGACY = "register_full_backward_hook", "register_backward_hook"


class Net(Module):
    """The network of the lesson."""

    def __init__(self) -> None:
        """Make its two modules."""
        super().__init__()
        self.f0, self.f1 = layer([[0.3]], [0.1]), SLinear()

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


def gradients(net: Module, at: float = 0.3) -> list[float | None]:
    """Run the network forward and backward, and give the gradients of x and of each parameter."""
    net.zero_grad()
    inputs: list[Any] = [tensor([at], requires_grad=True), *net.parameters()]
    ((net(inputs[0]) - 1) ** 2).backward()
    return [None if each.grad is None else each.grad.item() for each in inputs]


def doubled(kind: str, place: str = "f0") -> tuple[float, ...]:
    """Compare the gradients with the hook `double` at a module with those without it."""
    net = Net()
    getattr(net.get_submodule(place), kind)(double)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the legacy hook's: the lesson shows it
        pairs: Any = zip(gradients(net), gradients(Net()), strict=True)
        return tuple(round(changed / plain, 3) for changed, plain in pairs)


# ---------------------------------------------------------------- 07.2: the input's gradient


class Collected(list[Any]):
    """What was found, and whether a legacy hook found it."""

    legacy = False


def collect(layer: Any, found: list[Any]) -> Any:
    """Collect the gradient with respect to a layer's input: the right answer to 07.2."""
    return layer.register_full_backward_hook(lambda _, grad_input, __: found.append(grad_input[0]))


def collector(kind: str, pick: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Make a helper that registers a hook of a kind and picks something of what it sees."""

    def collecting(layer: Any, found: list[Any]) -> Any:
        return getattr(layer, kind)(lambda _, gi, go: found.append(pick(gi, go)))

    return collecting


def on_the_argument(layer: Any, found: list[Any]) -> Any:
    """Hook the layer's argument, where the gradients of all its uses arrive."""
    return layer.register_forward_pre_hook(
        lambda _, args: args[0].register_hook(lambda g: found.append(g)) and None
    )


def everywhere(layer: Any, found: list[Any]) -> Any:
    """Collect from every layer there is."""
    return register_module_full_backward_hook(lambda _, gi, go: found.append(gi[0]))


def layers() -> dict[str, tuple[Linear, Any]]:
    """Make the layers that a helper has to cope with, and what they are run on."""
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
        "for a batch": (filled(True), numbers((2, 3))),
        "for a single vector": (filled(True), numbers((3,))),
        "for a layer without a bias": (filled(False), numbers((4, 3))),
        "for a batch of one row": (filled(True), numbers((1, 3))),
    }


FOUND = ", what was found in two passes"
WENT_ON = ", the gradient that the input got in the end"
HANDLE = "whether it returned a handle, the answer"
GONE = "with the handle removed, the number of gradients that were found in one more pass"


def run_layers(helper: Callable[..., Any]) -> dict[str, Any]:
    """Let a helper collect from each of the layers, and again when its handles were removed.

    The input is used past the layer as well: what flows there is none of the layer's business.
    """
    seen: dict[str, Any] = {}
    cases = layers()
    found: dict[str, list[Any]] = {name: [] for name in cases}
    handles = [helper(layer, found[name]) for name, (layer, _) in cases.items()]

    def run(name: str, factor: float) -> Any:
        layer, data = cases[name]
        x = (factor * data).requires_grad_()
        ((layer(x) ** 2).sum() + (3 * x).sum()).backward()
        return x.grad

    for name in cases:
        run(name, 1.0)
    went_on = {name: run(name, 1.5) for name in cases}
    for name, (module, _) in cases.items():
        seen[name + FOUND] = Collected(found[name])
        seen[name + FOUND].legacy = module._is_full_backward_hook is False
        seen[name + WENT_ON] = went_on[name]
    seen[HANDLE] = all(map(is_handle, handles))
    if seen[HANDLE]:
        for handle in handles:
            handle.remove()
        for name in cases:
            run(name, 1.0)
    more = sum(len(found[name]) - len(seen[name + FOUND]) for name in cases)
    return seen | {GONE: more}


def is_handle(value: Any) -> bool:
    """Tell whether something is what registering a hook gives."""
    return hasattr(value, "remove") and not isinstance(value, list | set)


def finds(trials: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Give what was found, of each layer, beside what should have been."""
    right = run_layers(collect)
    pairs = zip(trials, right.items(), strict=True)
    return [(trial.result, want) for trial, (name, want) in pairs if name.endswith(FOUND)]


def found_all(trials: Sequence[Any]) -> bool:
    """Tell whether everything that was found is right."""
    return all(alike(have, want) for have, want in finds(trials))


def one_of_two(place: int) -> Callable[[Sequence[Any]], bool]:
    """Make a detector: of the gradients of two passes, only one is in the list, the right one."""
    return lambda trials: all(
        len(have) == 1 and alike(have[0], want[place]) for have, want in finds(trials)
    )


def other_shape(trials: Sequence[Any]) -> bool:
    """Tell whether something was found that has not the shape of the layer's input."""
    return any(
        tuple(getattr(one, "shape", ())) != tuple(right.shape)
        for have, want in finds(trials)
        for one, right in zip(have, want, strict=False)
    )


# ---------------------------------------------------------------- 07.3: without a module


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


def from_its_value(out: Any) -> tuple[Any, ...]:
    """Start the pass from the value of `out` instead of 1."""
    seen: list[tuple[Any, ...]] = []
    out.grad_fn.register_hook(lambda grad_input, _: seen.append(grad_input))
    out.backward(out.detach())
    return seen[0]


def a_one_each(out: Any) -> tuple[Any, ...]:
    """Guess a 1 for each input of the last operation."""
    out.backward()
    return tuple(ones_like(out) for _ in out.grad_fn.next_functions)


def zeros_for_none(out: Any) -> tuple[Any, ...]:
    """Put zeros where nothing is sent on."""
    return tuple(zeros_like(out) if g is None else g for g in last_operation(out))


def at_the_leaves(out: Any) -> tuple[Any, ...]:
    """Take the gradients of the leaves, which the pass reaches in the end."""
    out.backward()
    found: list[Any] = []
    pending = [out.grad_fn]
    while pending:
        node = pending.pop(0)
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.append(variable.grad)
        pending += [each for each, _ in node.next_functions if each is not None]
    return tuple(found)


def outs() -> dict[str, tuple[Any, list[Any]]]:
    """Make results of small computations that end in different operations, with their leaves."""
    rng = Random(3)
    found: dict[str, tuple[Any, list[Any]]] = {}

    def add(formula: str, function: Callable[..., Any], *shape: int) -> None:
        leaves_of = []
        for _ in range(3):
            value: Any = round(rng.uniform(0.5, 3), 1)
            if shape == (2,):
                value = [value, round(rng.uniform(-3, -0.5), 1)]
            elif shape:
                value = [value] if len(shape) == 1 else [[value]]
            leaves_of.append(tensor(value, requires_grad=True))
        found[formula] = function(*leaves_of), leaves_of

    add("x * y + z", lambda x, y, z: x * y + z, 1)
    add("(x + y) * z", lambda x, y, z: (x + y) * z, 1)
    add("x * y * z of numbers without a shape", lambda x, y, z: x * y * z)
    add("(x - y * z) ** 2", lambda x, y, z: (x - y * z) ** 2, 1, 1)
    add("z - x * y", lambda x, y, z: z - x * y, 1)
    add("x * x", lambda x, y, z: x * x, 1)
    add("x * y + 5", lambda x, y, z: x * y + 5, 1)
    add("(x * y + z).sum() of two entries", lambda x, y, z: (x * y + z).sum(), 2)
    return found


def run_outs(answer: Callable[..., Any]) -> dict[str, Any]:
    """Ask an answer for each of the results, and look at what it left in the leaves."""
    seen: dict[str, Any] = {}
    for formula, (out, of) in outs().items():
        seen[f"for {formula}, what came"] = answer(out)
        seen[f"for {formula}, the .grad of x, y and z in the end"] = tuple(x.grad for x in of)
    return seen


def nothing_ran(trials: Sequence[Any]) -> bool:
    """Tell whether no gradient came to any leaf."""
    return all(set(trial.result) == {None} for trial in trials[1::2])


def only_leaves_differ(trials: Sequence[Any]) -> bool:
    """Tell whether all the tuples are right, and the gradients of the leaves are not."""
    right = list(run_outs(last_operation).values())[::2]
    return all(alike(trial.result, want) for trial, want in zip(trials[::2], right, strict=True))
