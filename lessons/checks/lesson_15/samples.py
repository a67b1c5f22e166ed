"""Check exercise 15.4: the gradient of each sample, from one hooked pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad import Tensor, nn
from minigrad.classroom.behaviors import Hook, Trial
from minigrad.classroom.exercises import Mistake, Objection
from minigrad.classroom.values import alike

from ..models import layer
from ..observations import Answer, observed, partly

WEIGHTS = "the gradients of the weight, one for each of 3 samples,"
BIASES = "the gradients of the bias, one for each of 3 samples,"
FIRST = "for the first layer of a model, and 2 samples, the gradients of the weight"
FIRST_BIASES = "the gradients of its bias"
ROWS = "for samples that are rows of 2 vectors, the gradients of the weight"
ROWS_BIASES = "for these samples, the gradients of the bias"
RUNS = "how often run() was called"
OTHERS = "whether hooks that the layer had before are still there"
AGAIN = "whether the layer's own .grad is what one pass leaves there, the answer"


def both(a: Tensor, delta: Tensor, weight: str = "nto,nti->noi") -> tuple[Any, Any]:
    """Compute per-sample gradients from what was noted.

    Args:
        a: what went in, one block of rows for each sample.
        delta: the gradient of what came out.
        weight: how they are multiplied and summed.
    """
    a, delta = (t.reshape(len(t), -1, t.shape[-1]) for t in (a, delta))
    return torch.einsum(weight, delta, a), delta.sum(1)


def per_sample(
    layer: Any, run: Callable[[], Any], compute: Callable[[Tensor, Tensor], Any] = both
) -> Any:
    """Note what goes in and what comes back in one pass, and compute.

    Args:
        layer: a Linear.
        run: does one pass.
        compute: makes the two tensors.
    """
    noted = {}

    def note(module: Any, args: tuple[Any, ...], out: Tensor) -> None:
        noted["a"] = args[0].detach()
        out.register_hook(lambda delta: noted.update(delta=delta))

    with layer.register_forward_hook(note):
        run()
    return compute(noted["a"], noted["delta"])


def samples_run(answer: Answer) -> dict[str, Any]:
    """Ask for the gradients of single samples in three models."""
    first = layer([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.4]], [0.1, 0.0, -0.2])
    last = layer([[1.5, -0.9, 0.7], [0.3, 0.6, -1.1]], [0.4, -0.1])
    model = nn.Sequential(first, nn.Tanh(), last)
    three = torch.tensor([[0.3, -1.2], [0.8, 0.5], [-1.5, 0.7]])
    rows = torch.tensor([[[0.3, -1.2], [0.8, 0.5]], [[1.1, 0.2], [-0.7, 0.9]], [[0.4, 2.0]] * 2])
    calls: list[int] = []

    def asked(of: Any, x: Tensor) -> tuple[Any, Any]:
        def run() -> None:
            calls.append(1)
            with torch.enable_grad():
                (model(x) ** 3).sum().backward()

        model.zero_grad()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # hooks on a first layer
            found = answer(of, run)
        if isinstance(found, Tensor) or not isinstance(found, list | tuple) or len(found) != 2:
            raise Objection(
                "per_sample has to return two tensors: the gradients of the weight, and those of "
                "the bias."
            )
        wrong = [each for each in found if not isinstance(each, Tensor)]
        if wrong and not all(isinstance(each, list | tuple) for each in wrong):
            kind = type(wrong[0]).__name__
            raise Objection(f"Two tensors are asked for, and one of yours is of type {kind}.")
        return tuple(
            each.detach() if isinstance(each, Tensor) else torch.stack([*each]).detach()
            for each in found
        )

    weights, biases = asked(last, three)
    own = last.weight.grad
    once = torch.autograd.grad((model(three) ** 3).sum(), last.weight)[0]
    seen = {
        WEIGHTS: weights,
        BIASES: biases,
        AGAIN: own is not None and alike(own, once),
        RUNS: len(calls),
    }
    heard: list[int] = []

    def of_others(*_: Any) -> None:
        heard.append(1)

    with first.register_forward_hook(of_others), first.register_forward_pre_hook(of_others):
        asked(first, three)
        before = len(heard)
        model(three)
        seen[OTHERS] = len(heard) - before == 2
    seen[FIRST], seen[FIRST_BIASES] = asked(first, three[:2])
    seen[ROWS], seen[ROWS_BIASES] = asked(last, rows)
    return seen


def _is_like(
    compute: Callable[[Tensor, Tensor], Any], *names: str
) -> Callable[[Sequence[Trial]], bool]:
    return partly(samples_run, lambda layer, run: per_sample(layer, run, compute), *names)


def _of_outputs(layer: Any, run: Callable[[], Any]) -> Any:
    """Use what came out in place of its gradient; typical slip."""
    noted: list[Tensor] = []

    def note(module: Any, args: tuple[Any, ...], out: Tensor) -> None:
        noted.extend((args[0].detach(), out.detach()))

    with layer.register_forward_hook(note):
        run()
    a, out = noted
    return both(a, out)


def _shape(found: Sequence[Trial], name: str) -> tuple[int, ...]:
    return tuple(observed(found, name).shape)


SAMPLES = Hook(
    id="15.4",
    asks="per_sample(layer, run), which returns the gradients of the layer's weight and bias, one "
    "row for each sample, from one call of run()",
    scenario=samples_run,
    reference=per_sample,
    may_change=("grad",),
    right="What the optimizer sees is the sum of these rows. One pass held them all.",
    hints=(
        "Of which two tensors is the gradient of one sample made, and which hook sees each of "
        "them? With two vectors to a sample, what is summed, and what is not?",
        "Note args[0] in a forward hook, and there hang a hook on the output that notes its "
        "gradient. Bring both to the shape (n, t, features), and let einsum sum over t.",
    ),
    mistakes=[
        Mistake(
            "Something was not noted. Is the hook registered before run() is called, and is run() "
            "called? And does a hook return something, which then takes the output's place?",
            trouble=("KeyError", "IndexError", "UnboundLocalError", "NameError"),
        ),
        Mistake(
            "A hook gets tuples: args[0] is the layer's input, grad_output[0] the gradient of its "
            "output.",
            trouble=("'tuple' object", "got tuple", "not tuple"),
        ),
        Mistake(
            "A hook that returns something replaces by it what it was shown: the layer's output, "
            "or the gradients. Does a lambda return what append, setdefault or update gives?",
            trouble=(
                "must be Tensor, not",
                "has no attribute 'tanh'",
                "unsupported operand",
                "hook returned",
                "Tensor returned by hook",
                "changed the size",
            ),
        ),
        Mistake(
            "The shapes do not go together. There are three kinds of axes: samples, outputs, "
            "inputs, and in some calls a fourth between samples and features. Print the shapes.",
            trouble=("einsum", "must match the size", "size of tensor", "shapes cannot be"),
        ),
        Mistake(
            "The layer's input need not require a gradient, and then it has no grad_input and no "
            "hook. The gradient of its output is what you need.",
            trouble=("'NoneType'", "NoneType", "doesn't require gradient"),
        ),
        Mistake(
            "In the weight, in the bias or in both that is the sum over the samples, what .grad "
            "holds anyway. Keep the axis of the samples.",
            when=lambda found: (
                _shape(found, WEIGHTS) in ((2, 3), (2,), (1, 2, 3))
                or _shape(found, BIASES) in ((2,), (1, 2))
            ),
        ),
        Mistake(
            "One number for each sample: a norm or a sum. The gradient itself is asked for, in the "
            "shape of the parameter.",
            when=lambda found: _shape(found, WEIGHTS) == (3,),
        ),
        Mistake(
            "Those are the shapes of another layer. Note what belongs to the layer that you are "
            "given, and to no other.",
            when=lambda found: (
                (_shape(found, WEIGHTS), _shape(found, BIASES)) == ((3, 3, 2), (3, 3))
                or (_shape(found, FIRST), _shape(found, FIRST_BIASES)) == ((2, 2, 3), (2, 2))
            ),
        ),
        Mistake(
            "A later call gives what an earlier one has noted. Begin each call with a list or dict "
            "of its own: a default argument is made once, and kept.",
            when=lambda found: any(
                alike(observed(found, name), observed(found, WEIGHTS)) for name in (FIRST, ROWS)
            ),
        ),
        Mistake(
            "The last two axes are exchanged: a weight has the shape (outputs, inputs).",
            when=lambda found: _shape(found, WEIGHTS) == (3, 3, 2),
        ),
        Mistake(
            "You multiply with what came out of the layer. The gradient of a weight has what went "
            "in as its factor.",
            when=lambda found: _shape(found, WEIGHTS) == (3, 2, 2),
        ),
        Mistake(
            "You keep what came out of the layer. Its gradient comes later, in the backward pass, "
            "to a hook on it.",
            when=partly(samples_run, _of_outputs, BIASES),
        ),
        Mistake(
            "The loss is a sum already, so nothing has to be divided or multiplied by the number "
            "of samples.",
            when=lambda found: (
                _is_like(lambda a, d: [t / len(a) for t in both(a, d)], WEIGHTS)(found)
                or _is_like(lambda a, d: [t * len(a) for t in both(a, d)], WEIGHTS)(found)
                or _is_like(lambda a, d: [t / len(a) for t in both(a, d)], BIASES)(found)
                or _is_like(lambda a, d: [t * len(a) for t in both(a, d)], BIASES)(found)
            ),
        ),
        Mistake(
            "These are squares. The gradients themselves are asked for, with their signs.",
            when=lambda found: _is_like(lambda a, d: [t**2 for t in both(a, d)], WEIGHTS)(found),
        ),
        Mistake(
            "The same gradient for each sample: a sum or a mean over all of them was repeated.",
            when=lambda found: any(
                alike(observed(found, name)[0], observed(found, name)[1])
                for name in (WEIGHTS, BIASES)
            ),
        ),
        Mistake(
            "The two are exchanged: weight first, then bias.",
            when=lambda found: (
                _shape(found, WEIGHTS) == (3, 2) and _shape(found, BIASES) == (3, 2, 3)
            ),
        ),
        Mistake(
            "The signs are lost on the way.",
            when=_is_like(lambda a, d: [t.abs() for t in both(a, d)], WEIGHTS),
        ),
        Mistake(
            "For each sample a gradient has the shape of its parameter: (n, outputs, inputs) for "
            "the weight, (n, outputs) for the bias. No axis is left for the vectors of a sample.",
            when=lambda found: (
                _shape(found, WEIGHTS) != (3, 2, 3) or _shape(found, BIASES) != (3, 2)
            ),
        ),
        Mistake(
            "run() does one pass with all samples, and one call is enough.",
            when=lambda found: observed(found, RUNS) != 3 and observed(found, RUNS) != 1,
        ),
        Mistake(
            "Hooks that others had registered on the layer are gone. Remove yours by the handle "
            "that you got, and no other.",
            when=lambda found: observed(found, OTHERS) is False,
        ),
        Mistake(
            "The layer has more in its .grad than one pass leaves there, or less.",
            when=lambda found: (
                observed(found, AGAIN) is False and _is_like(both, WEIGHTS, BIASES)(found)
            ),
        ),
        Mistake(
            "The bias is right for plain samples. Where a sample is a row of vectors, its gradient "
            "is the sum over them.",
            when=lambda found: (
                _is_like(both, WEIGHTS, BIASES, ROWS)(found)
                and not _is_like(both, ROWS_BIASES)(found)
            ),
        ),
        Mistake(
            "Right for plain samples. Where a sample is a row of vectors, each vector has a term "
            "of its own, and the sample's gradient is their sum, and no more than that.",
            when=lambda found: (
                _is_like(both, WEIGHTS, BIASES)(found) and not _is_like(both, ROWS)(found)
            ),
        ),
        Mistake(
            "The weight is right. The gradient of the bias is that of the output: nothing is "
            "multiplied.",
            when=lambda found: _is_like(both, WEIGHTS)(found) and not _is_like(both, BIASES)(found),
        ),
    ],
)
"""The exercise."""
