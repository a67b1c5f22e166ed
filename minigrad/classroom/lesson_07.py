"""Check the exercises of lesson 07: what a legacy hook sees, and how to do without it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from random import Random
from typing import Any

from minigrad.autograd.modes import no_grad
from minigrad.classroom.answers import Choice, Numbers
from minigrad.classroom.behaviors import Function, Hook
from minigrad.classroom.exercise import Mistake
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


def _collect(kind: str, pick: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def collecting(layer: Any, found: list[Any]) -> Any:
        return getattr(layer, kind)(lambda _, gi, go: found.append(pick(gi, go)))

    return collecting


def _layers() -> dict[str, tuple[Linear, Any]]:
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
    for name, (layer, data) in _layers().items():
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


def _incoming(out: Any) -> tuple[Any, ...]:
    seen: list[tuple[Any, ...]] = []
    out.grad_fn.register_hook(lambda _, grad_output: seen.append(grad_output))
    out.backward()
    return seen[0]


def _on_the_tensor(out: Any) -> Any:
    seen: list[Any] = []
    out.register_hook(seen.append)
    out.backward()
    return seen[0]


def _deeper(out: Any) -> tuple[Any, ...]:
    """Hook the node before the last one instead."""
    seen: list[tuple[Any, ...]] = []
    out.grad_fn.next_functions[0][0].register_hook(lambda grad_input, _: seen.append(grad_input))
    out.backward()
    return seen[0]


def _outs(rng: Random) -> list[tuple[Any, ...]]:
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


def _old(module: Any, hook: Any) -> None:
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


EXERCISES = [
    Numbers(
        id="07.1",
        asks="two tuples of five factors: for a full hook on f0, and for a legacy hook on f0",
        expected=lambda: (doubled(FULL), doubled(LEGACY)),
        right="A hook changes what lies below it, and f1 lies above both.",
        hints=(
            "The gradients of f1's parameters are finished before the pass comes to f0.",
            "Put one finger on f0's input and one on f0's output. Which leaves can you reach "
            "going down?",
        ),
        mistakes=[
            Mistake(
                "The first tuple is for the full hook, the second for the legacy hook: "
                "yours are the other way round.",
                value=lambda: (doubled(LEGACY), doubled(FULL)),
            ),
            Mistake(
                "Those are the factors for a hook on f1. Here it sits on f0, one module lower.",
                value=lambda: (doubled(FULL, "f1"), doubled(LEGACY, "f1")),
            ),
            Mistake(
                "Under the full hook you doubled f0's own parameters. Their ways branch off "
                "before the gradient leaves f0.",
                value=lambda: (doubled(LEGACY), doubled(LEGACY)),
            ),
            Mistake(
                "Under the legacy hook you left f0's own parameters alone. Where in f0 is its "
                "last operation, above or below its parameters?",
                value=lambda: (doubled(FULL), doubled(FULL)),
            ),
            Mistake(
                "These are gradients. Asked for are factors: 1 where nothing changes.",
                when=lambda pair: any(factor < 0 for five in pair for factor in five),
            ),
            Mistake(
                "You changed gradients of f1. The backward pass has left f1 before it meets a "
                "hook on f0.",
                when=lambda pair: any(factor != 1 for five in pair for factor in five[3:]),
            ),
        ],
    ),
    Hook(
        id="07.2",
        asks="collect(layer, found), which registers a hook that appends the gradient with "
        "respect to the layer's input to found, and returns the handle",
        scenario=run_layers,
        reference=collect,
        right="One positional argument, one entry: grad_input[0] now means what it says.",
        hints=(
            "What is the first input of addmm, the last operation of Linear?",
            "No fixed index can save the old hook: the entries differ between the three cases. "
            "Which hook has one entry for each argument?",
        ),
        mistakes=[
            Mistake(
                "For a batch, this collects the gradient of the bias: the old hook's entries "
                "belong to the last operation, and addmm takes the bias first.",
                like=_collect(LEGACY, lambda gi, _: gi[0]),
            ),
            Mistake(
                "Another index helps for one of the layers and breaks for another: the entries "
                "depend on how the layer was computed. Look for a hook whose entries do not.",
                when=lambda trials: "IndexError" in (trials[0].trouble or ""),
            ),
            Mistake(
                "That is what arrives at the layer's output. What leaves it toward the input is "
                "the other argument of the hook.",
                like=_collect(FULL, lambda _, go: go[0]),
            ),
            Mistake(
                "You collect the whole tuple. Wanted is the one gradient in it.",
                like=_collect(FULL, lambda gi, _: gi),
            ),
            Mistake(
                "Your hook returns something, and that is taken for a new grad_input. Here it only "
                "has to collect.",
                when=lambda trials: "invalid number" in (trials[0].trouble or ""),
            ),
            Mistake(
                "The hook never found anything. Is it registered on the layer, and does it append?",
                when=lambda trials: all(trial.result == [] for trial in trials[:3]),
            ),
            Mistake(
                "The gradients are right, and nobody can take this hook off again: return the "
                "handle.",
                like=lambda layer, found: collect(layer, found) and None,
            ),
        ],
    ),
    Function(
        id="07.3",
        asks="last_operation(out), which starts the backward pass at out and returns the tuple "
        "of gradients that leave out's node",
        inputs=_outs,
        reference=last_operation,
        returns=tuple,
        without=(FULL, LEGACY),
        right="That is all a legacy hook ever knew: what its one node sends on.",
        hints=(
            "The hook on a node is called with two tuples, grad_inputs first. Keep the first.",
            "Make an empty list, register a hook that appends to it, call out.backward(), and "
            "return what is in the list.",
        ),
        mistakes=[
            Mistake(
                "That is the gradient that arrives at the node, grad_output. Wanted is what it "
                "sends on.",
                like=_incoming,
            ),
            Mistake(
                "That is one node too far: the last operation is out.grad_fn itself.",
                like=_deeper,
            ),
            Mistake(
                "The list is still empty when you return it: who starts the backward pass?",
                when=lambda trials: all(trial.result == [] for trial in trials),
            ),
            Mistake(
                "It returned a list of all calls. The hook is called once: take that one entry.",
                when=lambda trials: all(
                    isinstance(trial.result, list) and isinstance(trial.result[0], tuple)
                    for trial in trials
                ),
            ),
            Mistake(
                "You hooked the tensor out. Such a hook sees one gradient, the one that arrives. "
                "What the node sends on is seen by a hook on the node.",
                like=_on_the_tensor,
            ),
            Mistake(
                "The hook had seen nothing when you looked. A hook has to be registered before "
                "the backward pass, and read after it.",
                when=lambda trials: "IndexError" in (trials[0].trouble or ""),
            ),
        ],
    ),
    Choice(
        id="07.4",
        asks="your judgment of the colleague's proposal",
        option="b",
        right="A node in front that serves this one call only: that is the identity node.",
        why_not={
            "a": "Take a network in which x goes into this module and into a second one as well. "
            "What arrives at x.grad_fn?",
            "c": "The backward pass goes from the output to the input. So which of the two nodes "
            "runs first?",
            "d": "It can: a hook on a node gets what leaves the node and what arrived at it.",
        },
        mentions={
            "what happens to the gradients of all the uses at that node": (
                "sum",
                "add",
                "total",
                "accumul",
                "togeth",
                "mix",
                "collect",
                "plus",
                "both",
                "combin",
                "contribut",
                "merg",
                "arriv",
                "also",
                "as well",
            )
        },
        hints=(
            "Draw two arrows that arrive at x.grad_fn: one from the module, one from elsewhere.",
            "Look at what the legacy hook on Probe reported, 6, and at where the 5 came from.",
        ),
    ),
    Hook(
        id="07.5",
        asks="full_hook(module, hook), which makes the module call hook as a full backward hook",
        scenario=run_full,
        reference=full_hook,
        without=(FULL, LEGACY),
        right="Two nodes of your own, one note in between: you have built the identity nodes.",
        hints=(
            "Before forward: lead the argument through view_as and hook the result. After "
            "forward: do the same with the output. Both of your functions return the view.",
            "The output's gradient comes first: put it down in a list. The input's comes later: "
            "take it from there, and call the hook with both, each in a tuple.",
        ),
        mistakes=[
            Mistake(
                "That is the old hook again: it sits on the module's last operation. What leaves "
                "the module is known only at its input.",
                like=_old,
            ),
            Mistake(
                "Right as long as the argument is used by nobody else. A hook on the argument "
                "itself sees the sum over all its uses: lead it through a node of your own.",
                like=lambda module, hook: full_hook(module, hook, own_input=False),
            ),
            Mistake(
                "What the hook returns goes nowhere: a hook on a tensor has to return the "
                "replacement.",
                like=lambda module, hook: full_hook(module, hook, replaces=False),
            ),
            Mistake(
                "The hook was called with bare tensors. grad_input and grad_output are tuples, "
                "also with one entry.",
                like=lambda module, hook: full_hook(module, hook, tuples=False),
            ),
            Mistake(
                "The hook's answer is a tuple, or None. A tensor's hook has to return a tensor: "
                "take it out of the tuple.",
                when=lambda trials: "returned 'tuple'" in (trials[0].trouble or ""),
            ),
            Mistake(
                "When the hook at the input ran, the one at the output had put nothing down yet. "
                "A module like Probe returns its input: then both sit on one tensor, unless the "
                "output is led through a node of its own as well.",
                when=lambda trials: "pop from empty" in (trials[0].trouble or ""),
            ),
            Mistake(
                "A pre-hook's or forward hook's result replaces the argument or the output; if "
                "it returns None, your view is not used, and the hook on it never runs.",
                when=lambda trials: trials[1].result == 0,
            ),
        ],
    ),
]
