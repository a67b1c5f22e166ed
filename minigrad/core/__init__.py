"""The heart: what records a computation and runs it backward. NumPy and Python, nothing else.

It runs alone: forbid every other package of minigrad, declare a handful of operations, and graphs,
hooks and second derivatives work. Read it in this order:

1. `modes`: what an operation looks at before it records itself.
2. `hooks`: which hooks may sit on a node, in which order they are called, and handles.
3. `node`: what one operation leaves behind, and the edges along which gradients go.
4. `tensor`: an array that knows its edge; and how a node keeps what its rule will need, and notices
   that it was changed.
5. `operation`: from a forward and its rules to a function that records itself.
6. `engine`: the loop behind `loss.backward()`. Begin with `run_backward`, then `GraphTask.run`.
7. `module_hooks`: full and legacy module hooks, and why they see different gradients.

Everything else (views, custom functions, saved-tensor hooks, PyTorch's words for what went wrong)
joins in at the extension points below.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar


class PlainMessages:
    """Errors and warnings in a few words; `minigrad.autograd.messages` has PyTorch's sentences."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kind, _, words = name.replace("_", " ").partition(" ")
        if kind == "warn":
            return lambda *facts: warnings.warn(words, stacklevel=2)
        error = RuntimeError(words if kind == "refuse" else name)
        return lambda *facts: _raise(error) if kind == "refuse" else error


def _raise(error: Exception) -> Any:
    raise error


class Extensions:
    """What the heart asks of the packages around it. Each point has a default that suffices alone.

    Attributes:
        messages: Makes errors and gives warnings from the facts: `messages.stale(saved, node)`.
        prepare: Called with an operation and its arguments; gives `(arguments, None)`, brought into
            one type where the operation asks for that, or `(None, result)` if it has called the
            operation in another precision.
        retry: Called with a forward, what it raised, and its arguments; gives a result or raises.
        write_function: Makes a quicker function of an operation's plan than the one that
            interprets it; None means that there is none.
        own: Gives the array that becomes `.grad` of a leaf from one that arrived first; tensors
            where the pass is recorded.
        new_view: Called with a result and the tensor whose memory it shares.
        memory_changed: Called with a version counter after a change, if it has views.
        set_requires_grad: What `tensor.requires_grad = value` calls.
        pass_kinds: Each gets a class of backward passes and gives the one to use.
        backward: What `Tensor.backward` calls.
        deeper: Calls a function where there is room on the stack.
        run_pass: Runs the nodes of a pass in the same order as `GraphTask.run`, but quicker.
    """

    messages: Any = PlainMessages()
    prepare: Callable[..., Any] = staticmethod(lambda operation, given: (given, None))
    retry: Callable[..., Any] = staticmethod(lambda forward, error, *arrays: _raise(error))
    write_function: Any = None
    own: Callable[..., Any] = staticmethod(lambda leaf, grad: getattr(grad, "copy", lambda: grad)())
    new_view: Callable[..., None] = staticmethod(lambda tensor, source: None)
    memory_changed: Callable[..., None] = staticmethod(lambda counter: None)
    set_requires_grad: Any = None
    backward: Any = None
    run_pass: Any = None
    deeper: Callable[[Callable[[], Any]], Any] = staticmethod(lambda run: run())

    pass_kinds: ClassVar[list[Callable[[Any], Any]]] = []

    def register(self, **points: Any) -> None:
        """Register what joins in.

        Raises:
            TypeError: If there is no extension point of that name.
        """
        for name, value in points.items():
            if name not in Extensions.__annotations__:
                raise TypeError(f"there is no extension point {name!r}, see `core.Extensions`")
            setattr(self, name, value)


extensions = Extensions()
