"""Measure memory and time of training steps, for lesson 16: `tracemalloc` sees NumPy's arrays."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from minigrad import Tensor

_MB = 1e6


def course_of(model: Any, train: Callable[[Any], Callable[[], Any]]) -> tuple[Any, float, Any]:
    """Follow the memory over the second step of training, from event to event.

    Args:
        model: layers one after the other. It is trained in place.
        train: prepares the training of a model and gives a function that makes one step.

    Returns:
        For each event (a layer in forward, a gradient in backward, the end) the megabytes in all,
        those of gradients, and how many gradients there are; the peak; and the model.
    """
    parameters = list(model.parameters())
    _seen_by_tracemalloc(parameters)
    own = sum(p.nbytes for p in parameters) / _MB  # they were there before the count began
    course: list[tuple[float, float, int]] = []

    def note(*_: Any) -> None:
        alive = [p.grad.nbytes / _MB for p in parameters if p.grad is not None]
        course.append((own + tracemalloc.get_traced_memory()[0] / _MB, sum(alive), len(alive)))

    handles = [layer.register_forward_hook(note) for layer in model]
    handles += [p.register_post_accumulate_grad_hook(note) for p in parameters]
    tracemalloc.start()
    try:
        one_step = train(model)
        one_step()  # an optimizer gets its memory in the first step
        course.clear()
        tracemalloc.reset_peak()
        one_step()
        peak = own + tracemalloc.get_traced_memory()[1] / _MB
        note()
    finally:
        tracemalloc.stop()
    for handle in handles:
        handle.remove()
    return course, peak, model


class Cost(NamedTuple):
    """What forward and backward took.

    Attributes:
        kept: megabytes in use when forward is over.
        peak: megabytes at the most.
        gradients: the parameters' gradients.
    """

    kept: float
    peak: float
    gradients: list[Any]


def cost(parameters: Sequence[Any], make_loss: Callable[[], Any]) -> Cost:
    """Run forward and backward, and count the memory that both take.

    Args:
        parameters: whose gradients to give; their `.grad` is empty afterwards.
        make_loss: runs forward.

    Raises:
        TypeError: where the parameters are not minigrad's, so that their memory is not seen.
    """
    _seen_by_tracemalloc(parameters)
    tracemalloc.start()
    try:
        loss = make_loss()
        kept = tracemalloc.get_traced_memory()[0] / _MB
        loss.backward()
        peak = tracemalloc.get_traced_memory()[1] / _MB
    finally:
        tracemalloc.stop()
    return Cost(kept, peak, _taken(parameters))


def seconds(
    parameters: Sequence[Any], ways: Mapping[str, Callable[[], Any]], rounds: int = 2
) -> dict[str, float]:
    """Time forward and backward in several ways, in turn; the quickest run of each counts.

    Args:
        parameters: their `.grad` is empty afterwards.
        ways: each runs forward in its way.
        rounds: how often each has its turn.
    """
    found = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, make_loss in ways.items():
            start = perf_counter()
            make_loss().backward()
            found[name] = min(found[name], perf_counter() - start)
            _taken(parameters)
    return found


def _seen_by_tracemalloc(parameters: Sequence[Any]) -> None:
    if not all(isinstance(each, Tensor) for each in parameters):
        raise TypeError("tracemalloc does not see PyTorch's memory: this cell needs minigrad")


def _taken(parameters: Sequence[Any]) -> list[Any]:
    gradients = [p.grad for p in parameters]
    for p in parameters:
        p.grad = None
    return gradients
