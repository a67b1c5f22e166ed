"""Run the models of lesson 04's exercises: right tensor hooks, and typical wrong ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import minigrad as torch
from minigrad import Tensor
from minigrad.classroom.exercises import Objection
from minigrad.classroom.values import alike

Answer = Callable[..., Any]


def first_off(found: Sequence[Any], right: Mapping[str, Any]) -> str:
    """Name the first observation that is not as it should be.

    Args:
        found: the trials of an answer.
        right: what comes of the right one.
    """
    for trial, (name, wanted) in zip(found, right.items(), strict=True):
        if not alike(trial.result, wanted):
            return name
    return ""


def five_gradients(
    s: float = 0.5,
    clip: float = 0.1,
    w1: float = -1.0,
    s_for_w1: float | None = None,
    s_for_b1: float | None = None,
    late: bool = False,
    through_x1: tuple[float, float, float] = (0.3, 0.3, 1.0),
    for_w1: float = 0.19,
) -> tuple[float, ...]:
    """Work out exercise 04.1, with its three hooks or with others.

    Args:
        s: the factor of the hook on s.
        clip: the limit of the hook on x1.
        w1: the factor of the hook on w1.
        s_for_w1: the factor of the hook on s in the gradient of w1, if it is another.
        s_for_b1: the same for b1.
        late: whether the hook on s comes in only after the clipping.
        through_x1: the local derivatives from x1 to x, w0 and b0.
        for_w1: the local derivative from s to w1.

    Returns:
        The gradients of x, w0, b0, w1 and b1.
    """
    inner = 0.4 * 0.19 + 0.2
    at_s = 2 * (inner**2 - 1) * 2 * inner
    at_x1 = at_s * 0.4 * (1 if late else s)
    at_x1 = max(-clip, min(clip, at_x1)) * (s if late else 1)
    at_w1 = at_s * (s if s_for_w1 is None else s_for_w1) * for_w1
    at_b1 = at_s * (s if s_for_b1 is None else s_for_b1)
    return (*(at_x1 * factor for factor in through_x1), w1 * at_w1, at_b1)


# --- exercise 04.2: clipping by norm

CASES = {
    "a gradient of norm 5 and a limit of 1": ((3.0, 4.0), 1.0),
    "a gradient of norm 0.5 and a limit of 1": ((0.3, 0.4), 1.0),
    "a gradient of zeros and a limit of 1": ((0.0, 0.0), 1.0),
    "a gradient of norm 10 and a limit of 2.5": ((-6.0, 8.0), 2.5),
    "a matrix as gradient and a limit of 1.5": (((1.2, -0.7, 2.1), (0.4, 0.9, -1.6)), 1.5),
    "a single number as gradient and a limit of 0.5": (-0.8, 0.5),
}
UNTOUCHED = "whether the hook left what it was given as it was"
SECOND = "for a second gradient through the same hook, x.grad"
TWO = "for a hook of limit 2, after another one of limit 0.5 was made, x.grad"


def norm_run(norm_clipper: Answer) -> dict[str, Any]:
    """Let an answer clip gradients, and look at what comes out and at what it was given."""
    kept: list[tuple[Tensor, list[float]]] = []

    def made(limit: float) -> Answer:
        hook = norm_clipper(limit)
        if not callable(hook) or isinstance(hook, Tensor):
            raise Objection(
                "norm_clipper has to return a hook: a function, defined inside, that takes grad."
            )
        return hook

    def clipped(hook: Answer, gradient: Any) -> Any:
        incoming = torch.tensor(gradient)
        x = torch.ones(incoming.shape, requires_grad=True)
        x.register_hook(lambda grad: kept.append((grad, grad.tolist())))
        x.register_hook(hook)
        (x * 1).backward(incoming)
        return x.grad

    seen = {
        f"for {what}, x.grad": clipped(made(limit), gradient)
        for what, (gradient, limit) in CASES.items()
    }
    hook = made(2.0)
    made(0.5)
    seen[TWO] = clipped(hook, (6.0, -2.5))
    seen[SECOND] = clipped(hook, (0.0, -9.5))
    seen[UNTOUCHED] = all(tensor.tolist() == before for tensor, before in kept)
    return seen


def norm_clipper(
    size: Callable[[Tensor], Any] = lambda grad: grad.norm(),
    kind: str = "right",
) -> Answer:
    """Make a right `norm_clipper`, or one with a typical mistake.

    Args:
        size: what is taken for the norm.
        kind: "to 1" scales to norm 1, "always 1" takes 1 for the limit, "reversed" scales the
            short ones, "upside down" by norm over limit, "times limit" by the limit alone.
    """

    def make(limit: float) -> Answer:
        wanted = 1.0 if kind == "always 1" else limit

        def hook(grad: Tensor) -> Tensor | None:
            found = size(grad)
            if kind == "reversed":
                return grad * (limit / found) if 0 < found < limit else None
            if not bool((found > wanted).all()):
                return None
            if kind == "upside down":
                return grad * (found / limit)
            if kind == "times limit":
                return grad * limit
            return grad * ((1.0 if kind == "to 1" else wanted) / found)

        return hook

    return make


def by_row(grad: Tensor) -> Any:
    """Measure each row by itself."""
    return grad.norm() if grad.dim() < 2 else (grad * grad).sum(dim=-1, keepdim=True).sqrt()


def root_mean_square(grad: Tensor) -> Tensor:
    """Measure by the mean of the squares."""
    return (grad * grad).mean().sqrt()


def stretched(found: Sequence[Any]) -> bool:
    """Tell whether a short gradient came out longer."""
    return found[1].result is not None and found[1].result.norm().item() > 0.51


def is_nan(values: Any) -> bool:
    """Tell whether there is a NaN among the entries of a tensor."""
    return any(math.isnan(value) for value in torch.flatten(values).tolist())


# --- exercise 04.3: a log

NAMES = ("h", "x", "out")
"""The names that `logged_run` gives, in this order: neither that of forward nor of backward."""
X_GRADIENT = -13.0
"""The derivative of (2x)^2 + (3x)^2 at x = -0.5, which `logged_run` takes."""
OTHER_LOG = "the sorted list of names in the log of another network"
SECOND_PASS = "the list of sizes after a second pass, ten times as large,"


def logged_run(log_sizes: Answer) -> dict[str, Any]:
    """Let an answer log the gradients of two passes, and look at its notes and at a gradient."""

    def a_log(tensors: dict[str, Tensor]) -> Any:
        sizes = log_sizes(tensors)
        if not isinstance(sizes, dict):
            raise Objection(
                "log_sizes has to return the dict that the hooks fill, and nothing else with it."
                if isinstance(sizes, list | tuple)
                else "log_sizes has to return the dict that the hooks fill."
            )
        return sizes

    def network() -> dict[str, Tensor]:
        x = torch.tensor(-0.5, requires_grad=True)
        h = x * torch.tensor([[2.0, -3.0]])
        return {"h": h, "x": x, "out": (h * h).sum()}

    tensors, others = network(), network()
    x, out = tensors["x"], tensors["out"]
    sizes = a_log(tensors)
    seen: dict[str, Any] = {}
    out.backward(retain_graph=True)
    first = _numbers(sizes, NAMES)
    seen["the sorted list of names"] = sorted(sizes, key=str)
    seen["the list of sizes of h, x and out"] = first
    seen["x.grad"] = x.grad.clone() if x.grad is not None else None
    (10 * out).backward()
    seen[SECOND_PASS] = _numbers(sizes, NAMES)
    seen["x.grad after both"] = x.grad.clone() if x.grad is not None else None
    more = a_log({"here": others["x"], "there": others["h"]})
    others["out"].backward()
    seen[OTHER_LOG] = sorted(more, key=str)
    seen["the list of sizes there"] = _numbers(more, ("here", "there"))
    seen["the list of sizes in the first log, after the pass of the other network,"] = _numbers(
        sizes, NAMES
    )
    return seen


def _numbers(sizes: dict[str, Any], names: Sequence[str]) -> list[Any]:
    found = [sizes.get(name) for name in names]
    return [
        each.detach().clone() if isinstance(each, Tensor) and each.requires_grad else each
        for each in found
    ]


def log_sizes(
    size: Callable[[Tensor, Tensor], Any] = lambda grad, tensor: grad.norm().item(),
    kind: str = "right",
) -> Answer:
    """Make a right `log_sizes`, or one with a typical mistake.

    Args:
        size: what is noted, of the gradient and the tensor.
        kind: "first" notes only the first pass, "adds" adds up those of all passes.
    """

    def log(tensors: dict[str, Tensor]) -> dict[str, Any]:
        sizes: dict[str, Any] = {}

        def remember(name: str) -> Answer:
            def hook(grad: Tensor) -> None:
                if not (kind == "first" and name in sizes):
                    before = sizes.get(name, 0.0) if kind == "adds" else 0.0
                    sizes[name] = before + size(grad, tensors[name])

            return hook

        for name, tensor in tensors.items():
            tensor.register_hook(remember(name))
        return sizes

    return log


# --- exercise 04.6: stand-ins

NUMBERS = "the sorted list of numbers that the hook was called with"
PARTS = "the list of parts, sorted by those numbers,"
VALUES = "the list of values of the stand-ins"
AGAIN = "the sorted list of numbers in a second pass"
ONE = "x.grad where x is a single number, and two stand-ins are multiplied"


def stand_ins_run(answer: Answer) -> dict[str, Any]:
    """Use each stand-in once, with a hook that watches and with one that changes one part."""
    seen: dict[str, Any] = {}
    for what, changed in (("returns None", None), ("makes part 1 ten times as large", 1)):
        x = torch.tensor([1.0, -2.0], requires_grad=True)
        calls: list[tuple[int, list[float]]] = []
        a, b, c = made = _tensors(answer, x, 3, _noting(calls, changed))
        loss = 2 * a + 5 * b + c * c
        loss.backward(torch.tensor([1.0, 3.0]), retain_graph=True)
        if changed is None:
            seen[NUMBERS] = sorted(i for i, _ in calls)
            seen[PARTS] = [part for _, part in sorted(calls)]
            seen[VALUES] = [each.tolist() for each in made]
        seen[f"x.grad with a hook that {what}"] = x.grad.clone() if x.grad is not None else None
        if changed is None:
            calls.clear()
            loss.backward(torch.tensor([1.0, 3.0]))
            seen[AGAIN] = sorted(i for i, _ in calls)
            seen["x.grad after this second pass"] = x.grad.clone() if x.grad is not None else None
    number: Any = torch.tensor(-1.5, requires_grad=True)
    calls = []
    a, b = _tensors(answer, number, 2, _noting(calls, 0))
    (a * b).backward()
    seen[ONE] = number.grad
    leaf = torch.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    inner = leaf * 3
    calls = []
    made = _tensors(answer, inner, 4, _noting(calls, 3))
    sum((k + 1.5) * each.sum() for k, each in enumerate(made)).backward()
    seen["the number of calls for four stand-ins of a tensor that is no leaf"] = len(calls)
    seen["the .grad of the leaf behind it"] = leaf.grad
    return seen


def _tensors(answer: Answer, x: Tensor, n: int, hook: Answer) -> list[Tensor]:
    made = answer(x, n, hook)
    if not isinstance(made, list | tuple) or not all(isinstance(each, Tensor) for each in made):
        raise Objection("stand_ins has to return a list of n tensors.")
    if len(made) != n:
        raise Objection(
            f"stand_ins has to return a list of n tensors: n was {n}, and {len(made)} came back."
        )
    return list(made)


def _noting(calls: list[Any], changed: int | None) -> Answer:
    def hook(i: Any, grad: Any) -> Any:
        if not isinstance(grad, Tensor) or isinstance(i, Tensor):
            raise Objection("The hook is called with the number first and the gradient second.")
        calls.append((i, grad.tolist()))
        return 10 * grad if i == changed else None

    return hook


def stand_ins(one: int = 0, kind: str = "right") -> Answer:
    """Make a right `stand_ins`, or one with a typical mistake.

    Args:
        one: whether all hooks sit on x; 2 for one copy of it.
        kind: "drops" what the hook returns, "once" takes each hook off after its first call,
            "arrival" numbers the parts as they arrive.
    """

    def make(x: Tensor, n: int, hook: Answer) -> list[Tensor]:
        tensors = [x.view_as(x) if one == 2 else x] * n if one else [x.view_as(x) for _ in range(n)]
        handles: dict[int, Any] = {}
        arrived: list[int] = []

        def numbered(i: int) -> Answer:
            def for_this(grad: Tensor) -> Any:
                arrived.append(i)
                replaced = hook(len(arrived) - 1 if kind == "arrival" else i, grad)
                if kind == "once":
                    handles[i].remove()
                return None if kind == "drops" else replaced

            return for_this

        for i, tensor in enumerate(tensors):
            handles[i] = tensor.register_hook(numbered(i))
        return tensors

    return make
