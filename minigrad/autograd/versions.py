"""Count how often the memory of a tensor was written to, so that stale saved values are noticed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from minigrad.autograd.variable import Variable


class VersionCounter:
    """How often the memory of a tensor was written to; views and `detach()` share one counter.

    A tensor gets its counter when it first needs one. Until then it has version 0.
    """

    __slots__ = ("__weakref__", "value", "views")

    detached: ClassVar[bool] = False

    def __init__(self) -> None:
        self.value = 0
        # weak references to the views of this memory; see autograd/views.py
        self.views: list[Any] | None = None

    def let_views_go(self) -> None:
        """Let the views of the memory ask for their `grad_fn` anew: it was written to."""
        for reference in self.views or ():
            view = reference()
            if view is not None and view._view is not None:
                view._view.stale = True
                view._view.let_go(view)


class DetachedCounter(VersionCounter):
    """The counter of a tensor that was taken out of its graph in place.

    It counts with the memory's own counter. That it is another object tells whoever saved the
    tensor before that its place in the graph is lost.
    """

    __slots__ = ("shared",)

    detached = True

    def __init__(self, shared: VersionCounter) -> None:
        self.shared = shared

    @property
    def value(self) -> int:  # type: ignore[override]
        """The version of the memory."""
        return self.shared.value

    @value.setter
    def value(self, value: int) -> None:
        self.shared.value = value

    @property
    def views(self) -> list[Any] | None:  # type: ignore[override]
        """The views of the memory."""
        return self.shared.views

    @views.setter
    def views(self, views: list[Any] | None) -> None:
        self.shared.views = views


class InferenceCounter(VersionCounter):
    """In the place of the counter of a tensor that was made in inference mode: nothing counts."""

    __slots__ = ()

    @property
    def value(self) -> int:  # type: ignore[override]
        """Refuse: there is no version, so nobody could notice a change."""
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
            "inference mode in computation tracked by autograd. To work around this, you can make "
            "a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`."
        )

    @value.setter
    def value(self, value: int) -> None: ...

    @property
    def views(self) -> None:  # type: ignore[override]
        """None: views need not be found again, as no graph can become wrong."""
        return None

    @views.setter
    def views(self, views: Any) -> None: ...


INFERENCE: VersionCounter = object.__new__(InferenceCounter)


def counter_of(tensor: Variable) -> VersionCounter:
    """Give the version counter of a tensor, making it if there is none yet."""
    counter = tensor._version_counter
    if counter is None:
        counter = tensor._version_counter = VersionCounter()
    return counter
