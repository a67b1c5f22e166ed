"""Run the models of lesson 09's exercises: right hooks, and the wrong ones that learners write."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from minigrad import Tensor, no_grad, ones, tensor
from minigrad.autograd import grad
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.nn import Linear, Module, ReLU, Sequential, Tanh
from minigrad.nn.modules.module import register_module_forward_hook

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


def by_forward_hook(attach: Callable[[Any, Any, Any, list[Any]], Any]) -> Callable[..., Any]:
    """Make a watcher of what its forward hook does with the module, its arguments and output."""

    def watching(module: Any, found: list[Any]) -> Any:
        def hook(module: Any, args: Any, y: Any) -> None:
            attach(module, args, y, found)

        return module.register_forward_hook(hook)

    return watching


def _twice(module: Any, args: Any, y: Any, found: list[Any]) -> None:
    y.register_hook(found.append)
    y.register_hook(found.append)


def _last_only(module: Any, args: Any, y: Any, found: list[Any]) -> None:
    def keep(gradient: Any) -> None:
        found[:] = [gradient]

    y.register_hook(keep)


def _first_pass(module: Any, args: Any, y: Any, found: list[Any]) -> None:
    y.register_hook(lambda gradient: found.append(gradient) if not found else None)


def _linear_only(module: Any, args: Any, y: Any, found: list[Any]) -> None:
    if isinstance(module, Linear):
        y.register_hook(found.append)


def _in_training(module: Any, args: Any, y: Any, found: list[Any]) -> None:
    if module.training:
        y.register_hook(found.append)


on_the_input = by_forward_hook(lambda module, args, y, found: args[0].register_hook(found.append))
values_instead = by_forward_hook(lambda module, args, y, found: found.append(y))
twice = by_forward_hook(_twice)
last_only = by_forward_hook(_last_only)
first_pass = by_forward_hook(_first_pass)
linear_only = by_forward_hook(_linear_only)
in_training = by_forward_hook(_in_training)


def everywhere(module: Any, found: list[Any]) -> Any:
    """Watch the outputs of all modules with a global hook."""

    def hook(module: Any, args: Any, y: Any) -> None:
        y.register_hook(found.append)

    return register_module_forward_hook(hook)


class _Skip(Module):
    """Gives back its input."""

    def forward(self, x: Any) -> Any:
        """Do nothing."""
        return x


def run_watchers(watcher: Callable[..., Any]) -> dict[str, Any]:
    """Let a watcher collect behind modules of several kinds, and after its removal."""
    seen: dict[str, Any] = {}
    rows, data = ([1.0, 0.5], [0.25, 3.0]), tensor([[1.0, -2.0], [0.5, 1.5]])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for words, watched, behind, training in (
            ("in front of an in-place ReLU", linear(*rows), ReLU(inplace=True), True),
            ("in front of a Tanh", linear(*rows), Tanh(), True),
            ("in eval mode", linear(*rows), Tanh(), False),
            ("at an activation", Tanh(), Tanh(), True),
            ("at a module with two layers", Sequential(linear(*rows), Tanh()), Tanh(), True),
            ("at a module that returns its input", _Skip(), ReLU(inplace=True), True),
        ):
            first, found = linear([0.5, -1.0], [0.75, 0.5]), list[Any]()
            model: Any = Sequential(first, watched, behind).train(training)
            handle = watcher(watched, found)
            (5 * _outcome(model, data)).sum().backward()
            seen[f"{words}, what was found"] = list(found)
            seen[f"{words}, the list of the kinds of what was found"] = _kinds(found)
            _refuse_other_handles(handle)
            seen[f"{words}, the gradient of the first layer's weight"] = first.weight.grad
            (2 * model(data)).sum().backward()
            seen[f"{words}, after a second pass, what was found"] = list(found)
            handle.remove()
            model(data).sum().backward()
            seen[f"{words}, with the handle removed, the number of gradients found"] = len(found)
    seen["the number of warnings about deprecated hooks"] = sum(
        issubclass(each.category, FutureWarning) for each in told
    )
    return seen


def gradients_of_the_model(trials: Any) -> list[tuple[Any, Any]]:
    """Pair what came of the model's own gradients in a run of 09.3 with what should come of them.

    Args:
        trials: one for each observation of `run_watchers`.
    """
    due = run_watchers(watch_output).items()
    pairs = zip(trials, due, strict=True)
    return [(trial.result, value) for trial, (name, value) in pairs if "the gradient of" in name]


_CASE_9 = (
    "A full hook builds a gate, and what leaves the gate is a view, which the ReLU may not "
    "overwrite: this is case 9 itself. Use a hook that builds no node."
)


def _kinds(found: list[Any]) -> list[str]:
    return ["a tensor" if isinstance(each, Tensor) else type(each).__name__ for each in found]


def _outcome(model: Any, data: Any) -> Any:
    try:
        return model(data)
    except RuntimeError as error:
        if "is a view" in str(error):
            raise Objection(_CASE_9) from error
        raise


def _refuse_other_handles(handle: Any) -> None:
    if handle is None:
        raise Objection("Nobody can end it: return the handle.")
    if isinstance(handle, list | tuple | dict | set) or not hasattr(handle, "remove"):
        raise Objection(
            f"It returned a {type(handle).__name__}. Asked for is a handle: one object that ends "
            "the watching with its method remove()."
        )


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


WATCHING = [
    Mistake(_CASE_9, like=by_module(FULL, lambda gi, go: go[0])),
    Mistake(
        "The right numbers under the wrong hook: it is deprecated and warns, and it hooks "
        "the wrong node for a module that returns its input.",
        like=by_module(LEGACY, lambda gi, go: go[0]),
    ),
    Mistake(
        "A legacy hook's grad_input belongs to the last operation of the module, and is "
        "what goes on from there. Asked for is what arrives at the output.",
        like=by_module(LEGACY, lambda gi, go: gi[0]),
    ),
    Mistake(
        "Not every module has a weight, and its gradient is not asked for: it is the output's.",
        trouble=("'weight'",),
    ),
    Mistake(
        "That hook is for leaves, such as parameters, and an output was made by an "
        "operation. Which hook is there for any tensor?",
        trouble=("non-leaf",),
    ),
    Mistake(
        "What you hand on is a new leaf, without a history. Look at the output, and let "
        "the module's own go on.",
        trouble=("leaf Variable",),
    ),
    Mistake(
        "A forward hook's result replaces the module's output. Register the tensor hook, "
        "and return nothing from the forward hook.",
        trouble=("RemovableHandle",),
    ),
    Mistake(
        "A forward hook is called with three things: the module, its arguments, its "
        "output. A tensor's hook is called with one, the gradient.",
        trouble=("positional argument",),
    ),
    Mistake(
        "A gradient is known in the backward pass only. What can you leave at the tensor "
        "in the forward pass, to be called then?",
        trouble=("NoneType",),
    ),
    Mistake(
        "The layers further up get no gradient any more: what you hand on has no history. "
        "Look at the output, and let the module's own go on.",
        when=lambda trials: any(have is None for have, _ in gradients_of_the_model(trials)),
    ),
    Mistake(
        "The model's own gradients come out differently with your hook in it. Whoever "
        "watches writes into nothing and replaces nothing.",
        when=lambda trials: any(
            have.tolist() != due.tolist() for have, due in gradients_of_the_model(trials)
        ),
    ),
    Mistake(
        "That is the gradient with respect to what goes into the module. Asked for is "
        "what comes out.",
        like=on_the_input,
    ),
    Mistake(
        "You collected the output itself. Its gradient is known only in the backward "
        "pass: what you need is a hook on the tensor.",
        like=values_instead,
    ),
    Mistake(
        "A global hook watches every module there is. Asked for is this one.",
        like=everywhere,
    ),
    Mistake("Each gradient comes in twice: two hooks of yours append it.", like=twice),
    Mistake(
        "It collects in the first pass and never again. Each forward pass makes another output, "
        "which needs its own hook.",
        like=first_pass,
    ),
    Mistake(
        "What you append are no tensors. Append the gradient as it comes.",
        when=lambda trials: any(
            kind not in ("a tensor", "NoneType")
            for trial in trials
            if "kinds" in trial.gave
            for kind in trial.result
        ),
    ),
    Mistake(
        "Each pass adds a gradient to found, and those of the passes before stay there.",
        like=last_only,
    ),
    Mistake(
        "It finds something behind a Linear only. Asked for is a module of any kind.",
        like=linear_only,
    ),
    Mistake("It finds nothing in eval mode. Gradients flow there as well.", like=in_training),
    Mistake(
        "A forward hook runs in the forward pass, where no gradient exists: reading .grad "
        "there gives None. Leave something behind that runs in the backward pass.",
        when=lambda trials: trials[0].result and trials[0].result[0] is None,
    ),
    Mistake(
        "Nothing was ever found. Is the tensor hook registered on the output, and does "
        "it append to the list that it was given?",
        when=lambda trials: all(
            trial.result == [] for trial in trials if "what was found" in trial.gave
        ),
    ),
    Mistake(
        "After remove() it goes on finding gradients: return the handle of what acts "
        "pass after pass.",
        when=lambda trials: all(
            trial.result == 3 for trial in trials if "handle removed" in trial.gave
        ),
    ),
]
"""What learners get wrong in 09.3."""
