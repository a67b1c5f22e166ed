"""Check exercise 07.5, where learners build the full hook: the right one, and faulty ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad import Tensor, tensor
from minigrad.classroom.behaviors import Hook
from minigrad.classroom.execution import Belongings
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike
from minigrad.nn import Module, Sequential, Tanh

from ..models import layer
from .runs import FULL, LEGACY, Net, Probe, gradients

READY_MADE = (
    FULL,
    LEGACY,
    "register_module_full_backward_hook",
    "register_module_backward_hook",
    "BackwardHook",
)
"""What would do the work of the exercise by itself."""


def full_hook(
    module: Any,
    hook: Any,
    replaces: bool = True,
    swapped: bool = False,
    takes: int = -1,
) -> None:
    """Build a full backward hook for one tensor: the right answer to 07.5, or a faulty one.

    Args:
        module: where it acts.
        hook: what is called.
        replaces: whether what the hook returns counts.
        swapped: whether grad_input and grad_output change places.
        takes: which of the waiting gradients is taken, and left there unless it is the last.
    """
    waiting: list[Any] = []

    def leave(gradient: Any) -> Any:
        came = waiting.pop() if takes == -1 else waiting[takes]
        both = [(gradient,), (came,)]
        returned = hook(module, *(both[::-1] if swapped else both))
        return returned[0] if replaces and returned is not None else None

    def before(_: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        x = args[0].view_as(args[0])
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


FIVE, CALLS, PAIR = range(3)
AGAIN, DOUBLED, KEPT = range(4, 7)
TWICE, ARGUMENT = 7, 8
INSIDE, AROUND = -2, -1
"""Places of some observations that `run_full` makes."""


class _Pupil:
    """The hook that an answer has to call: notes its calls, and returns what it is told to."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.factor = 1

    def __call__(self, module: Any, grad_input: Any, grad_output: Any) -> Any:
        if not all(isinstance(each, tuple | list) for each in (grad_input, grad_output)):
            raise Objection(
                "Your hook was called with bare tensors. grad_input and grad_output are tuples, "
                "also with one entry."
            )
        self.calls.append((module, grad_input, grad_output))
        return None if self.factor == 1 else (self.factor * grad_input[0],)

    def pairs(self) -> list[Any]:
        """Give the pairs of grad_input and grad_output since the last time."""
        found, self.calls = [call[1:] for call in self.calls], []
        return found


def run_full(builder: Callable[..., Any]) -> dict[str, Any]:
    """Put a hook that was built by the learner to work, on four modules."""
    seen: dict[str, Any] = {}
    net, pupil = Net(), _Pupil()
    builder(net.f1, pupil)
    if net.f1._backward_hooks or net.f1._backward_pre_hooks:
        raise Objection("A ready-made backward hook is registered on the module.")
    _forward(net, tensor([0.3], requires_grad=True), pupil)
    seen["on f1, with a hook that returns None, the list of all five gradients"] = gradients(net)
    modules = [call[0] for call in pupil.calls]
    seen["in one backward pass, the number of the hook's calls"] = len(modules)
    seen["on f1, the pair of grad_input and grad_output"] = pupil.pairs()
    seen["whether the hook was given f1 as its module, the answer"] = all(
        module is net.f1 for module in modules
    )
    gradients(net, 0.7)
    seen["in a second pass, with x = 0.7, the same pair"] = pupil.pairs()
    pupil.factor = 2
    seen["on f1, with a hook that doubles, the list of all five gradients"] = gradients(net)
    given = pupil.pairs()
    seen["of what the hook was given when it doubled, the pair after the pass"] = given
    probe, pupil = Probe(), _Pupil()
    builder(probe, pupil)
    product: Any = tensor([3.0], requires_grad=True) * 2
    noted = Belongings([product])
    total = _forward(probe, product, pupil) + 5 * product
    for start in (1.0, -3.0):
        total.backward(tensor([start]), retain_graph=True)
    told = "with an argument that is used elsewhere too, and two passes over one graph, the pairs"
    seen[told] = pupil.pairs()
    changes = noted.changes() - {"grad", "graph"}  # those of x, which comes before it
    seen["what has become of this argument"] = [*sorted(changes), product.retains_grad]
    inner, outer = _Pupil(), _Pupil()
    model = Sequential(layer([[0.8]], [-0.2]), Tanh())
    builder(model[0], inner)
    builder(model, outer)
    batch = tensor([[0.5], [-1.2], [0.9]], requires_grad=True)
    (_forward(model, batch, outer) ** 2).sum().backward()
    seen["on a layer inside of a module that has a hook, the pair for a batch"] = inner.pairs()
    seen["on a module with another hook inside, the pair for a batch"] = outer.pairs()
    return seen


def _forward(module: Module, x: Any, pupil: _Pupil) -> Any:
    """Call a module, and see that nothing happens yet and that a tensor comes out."""
    y = module(x)
    if pupil.calls:
        raise Objection("Your hook was called in the forward pass, where there are no gradients.")
    if not isinstance(y, Tensor):
        raise Objection(f"With your hooks, the module returns no tensor, but a {type(y).__name__}.")
    return y


def written_into(trials: Sequence[Any]) -> bool:
    """Tell whether the gradient that the hook was given was doubled in its place."""
    (before,), _ = trials[PAIR].result[0]
    (after,), _ = trials[KEPT].result[0]
    return alike(after, 2 * before)


def own_parameters_changed(trials: Sequence[Any]) -> bool:
    """Tell whether a hook that doubles changed gradients of f1's own parameters."""
    return not alike(trials[DOUBLED].result[3:], trials[FIVE].result[3:])


BUILT_BY_HAND = Hook(
    id="07.5",
    asks="full_hook(module, hook), which makes the module call hook as a full backward hook",
    scenario=run_full,
    reference=full_hook,
    without=READY_MADE,
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
            like=old,
        ),
        Mistake(
            "Right as long as the argument is used by nobody else. A hook on the argument "
            "itself sees the sum over all its uses: lead it through a node of your own.",
            when=lambda trials: alike(trials[TWICE].result[0][0], [[6.0]]),
        ),
        Mistake(
            "grad_input and grad_output have changed places: what arrives at the output is "
            "grad_output.",
            like=lambda module, hook: full_hook(module, hook, swapped=True),
        ),
        Mistake(
            "Nothing arrives beyond the module: a detached argument cuts the way. A view keeps it.",
            when=lambda trials: None in trials[FIVE].result,
        ),
        Mistake(
            "A pre-hook's or forward hook's result replaces the argument or the output; if "
            "it returns None, your view is not used, and the hook on it never runs.",
            when=lambda trials: trials[CALLS].result == 0,
        ),
        Mistake(
            "The hook is called several times in one pass, and should be called once, when both "
            "gradients are there.",
            when=lambda trials: trials[CALLS].result > 1,
        ),
        Mistake(
            "In the first backward pass the hook was called, in the second no more. It has to "
            "be called in every pass.",
            when=lambda trials: trials[AGAIN].result == [],
        ),
        Mistake(
            "In the second backward pass the hook was given a grad_output of the first one. "
            "Who puts a gradient down has to see that it is taken away again.",
            when=lambda trials: (
                trials[AGAIN].result[0][1][0].item() == trials[PAIR].result[0][1][0].item()
            ),
        ),
        Mistake(
            "In a second pass over the same graph the hook was given a grad_output of the first "
            "one. Put down what arrives in each pass, and take it away in the same pass.",
            when=lambda trials: alike(
                trials[TWICE].result, [[[[1.0]], [[1.0]]], [[[-3.0]], [[1.0]]]]
            ),
        ),
        Mistake(
            "The module's argument is not as it was. Lead it through a view, and leave the tensor "
            "itself alone: others have it, too.",
            when=lambda trials: trials[ARGUMENT].result != [False],
        ),
        Mistake(
            "Of two modules that have hooks, one inside of the other, the outer one was given the "
            "grad_output of the inner one. Each module has to put its gradients down in a place "
            "of its own.",
            when=lambda trials: alike(trials[AROUND].result[0][1], trials[INSIDE].result[0][1]),
        ),
        Mistake(
            "You wrote into the gradient that you were given, and others may hold the same "
            "tensor. Return the new one instead.",
            when=written_into,
        ),
        Mistake(
            "What the hook returns goes nowhere: a hook on a tensor has to return the replacement.",
            like=lambda module, hook: full_hook(module, hook, replaces=False),
        ),
        Mistake(
            "What the hook returned came to f1's own parameters as well. It replaces "
            "grad_input, and that is what leaves the module, when they have had theirs.",
            when=own_parameters_changed,
        ),
        Mistake(
            "The hook's answer is a tuple, or None. A tensor's hook has to return a tensor: "
            "take it out of the tuple.",
            trouble=("returned 'tuple'",),
        ),
        Mistake(
            "A hook that only watches returns None. Ask for that before you take an entry of "
            "what it returned.",
            trouble=("'NoneType' object is not",),
        ),
        Mistake(
            "When the hook at the input ran, the one at the output had put nothing down yet. "
            "Does it sit on the tensor that leaves the module? A module like Probe returns its "
            "input: then both sit on one tensor, unless the output is led through a node of "
            "its own as well.",
            trouble=("pop from empty", "KeyError", "IndexError", "UnboundLocalError"),
        ),
        Mistake(
            "What the hook returns has to be used where the gradient leaves the module; a "
            "forward hook's result takes the place of the output itself.",
            trouble=("the module returns no tensor",),
        ),
    ],
)
