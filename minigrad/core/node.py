"""The graph that a computation leaves behind: nodes, and the edges between them.

A node stands for one recorded operation. It knows where the gradients of the operation's inputs
have to go (`next_functions`), keeps what its backward rule needs (`_saved`), and can run the rule
(`_run`). The leaves of the graph are `AccumulateGrad` nodes, which add to a tensor's `.grad`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar

from minigrad.core.hooks import NodeHooks, RemovableHandle, add

Edge = tuple["Node | None", int]

# The edge of a tensor that needs no gradient.
NO_EDGE: Edge = (None, 0)

# Counts downward, so that the latest node is the smallest: what a heap gives first.
next_priority = count(-1, -1).__next__


class Node:
    """One recorded operation in the backward graph; `tensor.grad_fn` gives it.

    Attributes:
        next_functions: One edge `(node, input_nr)` for each input of the operation, saying where
            the gradient of that input goes; `(None, 0)` for an input that needs none.
        _saved: The values that the backward rule needs, or None once they were released.
        _shape: If the node has several outputs, the shape of each.
        _dtype: If the node has several outputs, the NumPy dtype of each.
        _broadcast: None, or for each input None or the shape and dtype that its gradient must be
            reduced to, because the operation broadcast or converted that input.
        _hooks: None, or the hooks that sit on this node.
        _watched: Index tensors that must not have changed; see `autograd.index_versions`.

    The names begin with an underscore because the node of a custom function is its `ctx` too, on
    which users put attributes of their own: `ctx.shape = x.shape`.
    """

    __slots__ = (
        "__weakref__",
        "_broadcast",
        "_dtype",
        "_hooks",
        "_metadata",
        "_priority",
        "_saved",
        "_shape",
        "_watched",
        "next_functions",
    )

    _multiple: ClassVar[bool] = False  # more than one output
    _runs_without_gradient: ClassVar[bool] = False  # also when None arrives at every output
    # Whether it computes a gradient that leads to no input asked for: no; if another one is
    # computed ("together"); or "always".
    _computes: ClassVar[str] = "asked"
    _takes_detached: ClassVar[bool] = False  # a saved tensor may have been detached in place
    _keeps_tensors: ClassVar[bool] = False  # `_saved` is released after use, and needed to run
    _names_of_saved: ClassVar[tuple[str, ...]] = ()
    _optional: ClassVar[tuple[int, ...]] = ()  # the saved tensors, if it may be that none is needed

    next_functions: tuple[Edge, ...]
    _saved: tuple[Any, ...] | None
    _shape: Any
    _dtype: Any
    _broadcast: tuple[Any, ...] | None
    _hooks: NodeHooks | None
    _priority: int
    _watched: tuple[Any, ...]

    if TYPE_CHECKING:  # what `autograd.saved_names` attaches

        def __getattr__(self, name: str) -> Any: ...

    def _set_up(self, edges: Sequence[Edge]) -> None:
        """Give a new node its edges and its place in the order of recording; it saves nothing."""
        self.next_functions = tuple(edges)
        self._saved = ()
        self._broadcast = self._hooks = None
        self._priority = next_priority()

    def name(self) -> str:
        """Give the node's name, for example `MulBackward0`."""
        return type(self).__name__

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Give the gradients of the inputs from the gradient of the result, as arrays.

        Args:
            gradient: The gradient of the result, or a list of the gradients of several.
            keep: Whether the saved values are kept; otherwise they are released.

        Returns:
            One gradient for each of `next_functions`, in the shape and dtype of that input.
        """
        raise NotImplementedError(f"{type(self).__name__} has no backward rule")

    # Does what `_run` does on tensors, so that the rule is recorded as well.
    _run_recorded = _run

    def _release(self) -> None:
        """Let go of the saved values; where none was needed there is none to miss the next time."""
        if self._saved and self._optional and all(self._saved[i] is None for i in self._optional):
            return
        self._saved = None

    def register_hook(self, hook: Callable[[Any, Any], Any]) -> RemovableHandle:
        """Call `hook(grad_inputs, grad_outputs)` after the node has run.

        Args:
            hook: Gets two tuples of gradients; may return a tuple that replaces `grad_inputs`.

        Returns:
            A handle whose `remove()` takes the hook off the node.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> y = x * x
            >>> handle = y.grad_fn.register_hook(lambda gi, go: print(gi))
            >>> y.backward()
            (tensor([3.]), tensor([3.]))
        """
        return add(self._ensure_hooks().post, hook)

    def register_prehook(self, hook: Callable[[Any], Any]) -> RemovableHandle:
        """Call `hook(grad_outputs)` before the node runs.

        Args:
            hook: Gets a tuple of gradients; may return a tuple that replaces them.

        Returns:
            A handle whose `remove()` takes the hook off the node.

        Example:
            >>> import minigrad as torch
            >>> x = torch.tensor([3.0], requires_grad=True)
            >>> y = x * 2
            >>> handle = y.grad_fn.register_prehook(lambda go: (go[0] * 10,))
            >>> y.backward()
            >>> x.grad
            tensor([20.])
        """
        return add(self._ensure_hooks().pre, hook)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"

    def _ensure_hooks(self) -> NodeHooks:
        if self._hooks is None:
            self._hooks = NodeHooks()
        return self._hooks

    def __lt__(self, other: Node) -> bool:
        """Break a tie in the engine's heap: neither node comes first."""
        return False

    def _result_nr(self, place: int) -> int:
        """Tell which output of the node the result is that it saved at a place."""
        return 0

    def _place(self, tensor: Any, output_nr: int) -> None:
        """Let a tensor be an output of this node."""
        tensor._edge = (self, output_nr)
