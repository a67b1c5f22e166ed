"""Run the models of lesson 04's exercises: right tensor hooks, and typical wrong ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import minigrad as torch
from minigrad.classroom.behaviors import Trial
from minigrad.tensor import Tensor

Answer = Callable[..., Any]
START = (0.4, -0.3)
"""Where the first parameter of `momentum_run` starts."""


def stumbled(*words: str) -> Callable[[list[Trial]], bool]:
    """Recognize a run that ended in an error which names one of these words."""
    return lambda found: any(word in (trial.trouble or "") for trial in found for word in words)


def five_gradients(s: float = 0.5, clip: float = 0.1, w1: float = -1.0) -> tuple[float, ...]:
    """Run the worked example with the three hooks of exercise 04.1, or with others.

    Args:
        s: the factor of the hook on s.
        clip: the limit of the hook on x1.
        w1: the factor of the hook on w1.

    Returns:
        The gradients of x, w0, b0, w1 and b1.
    """
    leaves = tuple(torch.tensor(v, requires_grad=True) for v in (0.3, 0.3, 0.1, 0.4, 0.2))
    x, w_0, b_0, w_1, b_1 = leaves
    x_1 = w_0 * x + b_0
    inner = w_1 * x_1 + b_1
    w_1.register_hook(lambda grad: w1 * grad)
    x_1.register_hook(lambda grad: grad.clamp(-clip, clip))
    inner.register_hook(lambda grad: s * grad)
    ((inner**2 - 1) ** 2).backward()
    return tuple(leaf.grad.item() for leaf in leaves if leaf.grad is not None)


CASES = (
    ("a gradient of norm 5 and a limit of 1", (3.0, 4.0), 1.0),
    ("a gradient of norm 0.5 and a limit of 1", (0.3, 0.4), 1.0),
    ("a gradient of zeros and a limit of 1", (0.0, 0.0), 1.0),
    ("a gradient of norm 10 and a limit of 2.5", (-6.0, 8.0), 2.5),
)
UNTOUCHED = "whether the hook left what it was given as it was"


def norm_run(norm_clipper: Answer) -> dict[str, Any]:
    """Let an answer clip gradients, and look at what comes out and at what it was given."""
    seen: dict[str, Any] = {}
    kept: list[tuple[Tensor, list[float]]] = []
    for what, gradient, limit in CASES:
        hook = norm_clipper(limit)
        if not callable(hook) or isinstance(hook, Tensor):
            raise TypeError("norm_clipper has to return a hook")
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        x.register_hook(lambda grad: kept.append((grad, grad.tolist())))
        x.register_hook(hook)
        (x * 1).backward(torch.tensor(list(gradient)))
        seen[f"for {what}, x.grad"] = x.grad
    seen[UNTOUCHED] = all(tensor.tolist() == before for tensor, before in kept)
    return seen


def norm_clipper(
    size: Callable[[Tensor], Any] = lambda grad: grad.norm(),
    always: bool = False,
    obeys: bool = True,
) -> Answer:
    """Make a right `norm_clipper`, or one with a typical mistake."""

    def make(limit: float) -> Answer:
        wanted = limit if obeys else 1.0

        def hook(grad: Tensor) -> Tensor | None:
            found = size(grad)
            return grad * (wanted / found) if always or found > wanted else None

        return hook

    return make


def is_nan(values: Any) -> bool:
    """Tell whether there is a NaN among the entries of a tensor."""
    return any(math.isnan(value) for value in values.tolist())


X_GRADIENT = -13.0
"""The derivative of (2x)^2 + (3x)^2 at x = -0.5, which `logged_run` takes."""


def logged_run(log_sizes: Answer) -> dict[str, Any]:
    """Let an answer log the gradients of two passes, and look at its notes and at a gradient."""
    x = torch.tensor(-0.5, requires_grad=True)
    h = x * torch.tensor([2.0, -3.0])
    out = (h * h).sum()
    tensors = {"x": x, "h": h, "out": out}
    sizes = log_sizes(tensors)
    if not isinstance(sizes, dict):
        raise TypeError("log_sizes has to return a dict")
    seen: dict[str, Any] = {}
    out.backward(retain_graph=True)
    seen["the sorted list of names"] = sorted(sizes)
    seen["the list of sizes of x, h and out"] = [sizes.get(name) for name in tensors]
    seen["x.grad"] = x.grad.clone() if x.grad is not None else None
    (10 * out).backward()
    seen["the list of sizes after a second pass, ten times as large,"] = [
        sizes.get(name) for name in tensors
    ]
    return seen


def log_sizes(
    size: Callable[[Tensor], Any] = lambda grad: grad.norm().item(), first: bool = False
) -> Answer:
    """Make a right `log_sizes`, or one with a typical mistake."""

    def log(tensors: dict[str, Tensor]) -> dict[str, Any]:
        sizes: dict[str, Any] = {}

        def remember(name: str) -> Answer:
            def hook(grad: Tensor) -> None:
                if not (first and name in sizes):
                    sizes[name] = size(grad)

            return hook

        for name, tensor in tensors.items():
            tensor.register_hook(remember(name))
        return sizes

    return log


def momentum_run(answer: Answer) -> dict[str, Any]:
    """Train two parameters for three passes, take the handles off, and run another pass."""
    a = torch.tensor(list(START), requires_grad=True)
    b = torch.tensor(0.2, requires_grad=True)

    def one_pass() -> None:
        (((a * torch.tensor([1.0, 2.0])).sum() + b - 1) ** 2).backward()

    handles = answer([a, b], 0.1, 0.5)
    if not isinstance(handles, list | tuple) or not all(hasattr(h, "remove") for h in handles):
        raise TypeError("momentum_in_backward has to return a list of handles")
    one_pass()
    seen: dict[str, Any] = {
        "the first parameter after one pass": a.tolist(),
        "the pair of .grad after one pass": [a.grad, b.grad],
    }
    one_pass()
    one_pass()
    seen["the first parameter after three passes"] = a.tolist()
    seen["the second parameter after three passes"] = b.tolist()
    for handle in handles:
        handle.remove()
    one_pass()
    seen["the first parameter after another pass with all handles removed"] = a.tolist()
    return seen


def momentum(
    keep: float | None = None, new: float = 1.0, sign: float = 1.0, ahead: bool = False
) -> Answer:
    """Make a right `momentum_in_backward`, or one with a typical mistake.

    Args:
        keep: how much of the velocity stays; by default what the caller asks for.
        new: the weight of the new gradient; 0 stands for 1 - momentum.
        sign: of the step.
        ahead: whether to look ahead, as Nesterov's method does.
    """

    def make(parameters: Sequence[Tensor], lr: float, momentum: float) -> list[Any]:
        stays, weight = momentum if keep is None else keep, new or 1 - momentum

        def one() -> Answer:
            velocity: Any = 0.0

            def step(p: Any) -> None:
                nonlocal velocity
                gradient = p.grad
                velocity = stays * velocity + weight * gradient
                p.sub_(sign * lr * (gradient + stays * velocity if ahead else velocity))
                p.grad = None

            return step

        return [p.register_post_accumulate_grad_hook(one()) for p in parameters]

    return make


NUMBERS = "the sorted list of numbers that the hook was called with"


def stand_ins_run(answer: Answer) -> dict[str, Any]:
    """Use each stand-in once, with a hook that watches and with one that changes one part."""
    seen: dict[str, Any] = {}
    for what, changed in (("only watches", None), ("makes part 1 ten times as large", 1)):
        x = torch.tensor([1.0, -2.0], requires_grad=True)
        calls: list[tuple[int, list[float]]] = []

        def hook(i: int, grad: Any, calls: Any = calls, changed: int | None = changed) -> Any:
            calls.append((i, grad.tolist()))
            return 10 * grad if i == changed else None

        stand_ins = answer(x, 3, hook)
        if not isinstance(stand_ins, list | tuple) or [type(s) for s in stand_ins] != [Tensor] * 3:
            raise TypeError("stand_ins has to return a list of n tensors")
        a, b, c = stand_ins
        (2 * a + 5 * b + c * c).backward(torch.tensor([1.0, 3.0]))
        if changed is None:
            seen[NUMBERS] = sorted(i for i, _ in calls)
            seen["the list of parts, sorted by those numbers,"] = [
                part for _, part in sorted(calls)
            ]
            seen["the list of values of the stand-ins"] = [each.tolist() for each in stand_ins]
        seen[f"x.grad with a hook that {what}"] = x.grad
    return seen


def stand_ins(one: bool = False, obeys: bool = True) -> Answer:
    """Make a right `stand_ins`, or one with a typical mistake."""

    def make(x: Tensor, n: int, hook: Answer) -> list[Tensor]:
        tensors = [x] * n if one else [x.view_as(x) for _ in range(n)]

        def numbered(i: int) -> Answer:
            def for_this(grad: Tensor) -> Any:
                replaced = hook(i, grad)
                return replaced if obeys else None

            return for_this

        for i, tensor in enumerate(tensors):
            tensor.register_hook(numbered(i))
        return tensors

    return make
