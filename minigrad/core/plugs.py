"""The places at which the rooms around the heart plug into it, all in one list.

A room outside fills a slot once, when it is imported, by `plugs.fill(slot=...)`, and gives
`Tensor`, `Node` or `View` further methods by `@attach(Tensor)` over a class that holds them.
Nothing else of the heart is changed from outside. Two more places are open by themselves: what
keeps a saved value may be any object with the methods of `saved.SavedTensor` (what a pack hook
returned), and who wants to see each new node asks for it by `grad_mode.watcher_bit` (saved-tensor
hooks, anomaly mode).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Plugs:
    """What the heart asks the rooms around it.

    Attributes:
        messages: `messages.stale(saved, node)` and so on make the errors, from the facts.
        pass_kinds: Each gets a class of backward passes and gives the one to use: anomaly mode and
            recording put theirs in while they are on.
        deeper: Calls a function where there is room on the stack: `deeper(f)` gives `f()`.
        backward: Starts the passes that begin at more than one plain loss: several tensors, given
            gradients, chosen inputs, `create_graph`.
        refuse_requires_grad: Raises if a tensor must not get this value of `requires_grad`.
        flag_changed: Told when a tensor that may be a view, or have views, gets `requires_grad`.
        meeting: Writes how an operation brings two inputs together that may differ in type; or,
            given one, and the arguments, turns to another precision.
        names: What the functions that the tape writes call in `meeting` and the like.
    """

    messages: Any
    pass_kinds: list[Callable[[Any], Any]]
    deeper: Callable[[Callable[[], Any]], Any]
    backward: Callable[..., None]
    refuse_requires_grad: Callable[[Any, Any], None]
    flag_changed: Callable[[Any, bool], None]
    meeting: Callable[..., list[str]] = staticmethod(lambda *names: [])
    names: dict[str, Any]

    def __init__(self) -> None:
        self.pass_kinds, self.names = [], {}

    def fill(self, **parts: Any) -> None:
        """Fill slots.

        Raises:
            TypeError: If there is no slot of that name.
        """
        for slot, part in parts.items():
            if slot not in Plugs.__annotations__:
                raise TypeError(f"there is no plug {slot!r}, only {[*Plugs.__annotations__]}")
            setattr(self, slot, part)


plugs = Plugs()


def attach(kind: type) -> Callable[[type], type]:
    """Decorate a class whose members are to be members of `kind`: of `Tensor` or of `Node`.

    Example:
        >>> class Tensor: ...
        >>> @attach(Tensor)
        ... class Doubling:
        ...     __slots__ = ()
        ...
        ...     def doubled(self):
        ...         return 2
        >>> Tensor().doubled()
        2
    """

    def give(part: type) -> type:
        for name, member in vars(part).items():
            if name not in vars(_Empty):
                setattr(kind, name, member)
        return part

    return give


class _Empty:
    """What every class has."""

    __slots__: tuple[()] = ()
