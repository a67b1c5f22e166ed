"""Full and legacy module backward hooks: where each sits in the graph is their whole difference.

A module is called, and the operations of its forward leave nodes on the tape. During backward
the gradients come from the right::

    full hooks:     x --[identity]-- op -- op -- op --[identity]-- y      two nodes of our own,
                            |                             |               before and after
                       grad_input                    grad_output

    legacy hooks:   x -------------- op -- op -- op --------------- y     one node that was there
                                                |                         anyway: y.grad_fn
                                   grad_input, grad_output

A full hook therefore sees the gradients of the module's inputs and outputs, whatever lies between
them. A legacy hook sees the last operation only: its `grad_input` belongs to that operation.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.core import extensions
from minigrad.core.engine import resolve_edge
from minigrad.core.hooks import NodeHooks
from minigrad.core.modes import modes, notify
from minigrad.core.node import NO_EDGE, Node
from minigrad.core.tensor import Tensor, make_view, wrap

Hooks = Sequence[Callable[..., Any]]


class BackwardHookFunctionBackward(Node):
    r"""The node of $y = x$: what arrives as $\partial L/\partial y$ is $\partial L/\partial x$.

    It computes nothing. It is there because at it all gradients of a module's inputs (or outputs)
    are at hand together, zeros for those that nobody used.
    """

    _multiple = True
    _runs_without_gradient = True
    _computes = "always"

    def _run(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Pass the gradients on."""
        layouts = zip(gradient, self._shape, self._dtype, strict=True)
        return [np.zeros(shape, dtype) if g is None else g for g, shape, dtype in layouts]

    def _run_recorded(self, gradient: Any, keep: bool = True) -> Sequence[Any]:
        """Pass the gradients on, as tensors."""
        return [g if isinstance(g, Tensor) else wrap(g) for g in self._run(gradient)]

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"


class FullBackwardHooks:
    """The full backward hooks and pre-hooks of one call of one module.

    The gradients of the outputs arrive first and wait in `grad_outputs`; when those of the inputs
    are ready too, the hooks are called with both.

    Args:
        module: The module being called, the first argument of every hook.
        hooks: Called as `hook(module, grad_input, grad_output)`.
        pre_hooks: Called as `pre_hook(module, grad_output)`, before the module's own backward.
    """

    grad_outputs: Any = None

    def __init__(self, module: Any, hooks: Hooks, pre_hooks: Hooks) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Lead the tensors among the inputs through an identity node, and hook that node.

        Args:
            args: The positional arguments of the call.

        Returns:
            The arguments with a view instead of each tensor, or the arguments themselves
            if none of them needs a gradient.
        """
        args, self.inputs, self.inputs_need_grad = _through_identity(args, self.at_inputs)
        return args

    def watch_outputs(self, result: Any) -> Any:
        """Lead the tensors among the outputs through an identity node, and hook that node.

        Args:
            result: What forward returned. Only a tensor or a tuple (also a named one) is watched.

        Returns:
            The result with a view instead of each tensor that needs a gradient.
        """
        if not isinstance(result, (Tensor, tuple)):
            extensions.messages.warn_no_tensors(result)
        values = result if isinstance(result, tuple) else (result,)
        values, self.outputs, _ = _through_identity(values, self.at_outputs)
        return values if isinstance(result, tuple) else values[0]

    def at_outputs(self, _: Any, passed_on: tuple[Any, ...]) -> tuple[Any, ...]:
        """After the module, where its backward begins: call the pre-hooks."""
        arrived = _one_for_each(passed_on, self.outputs)
        left = self.grad_outputs = self._call("full backward pre", self.pre_hooks, arrived)
        if not self.inputs_need_grad:
            # There is no node at the inputs, so this is the only occasion.
            extensions.messages.warn_no_input_needs_grad()
            self._call("full backward", self.hooks, (None,) * len(self.inputs), self.grad_outputs)
            self.grad_outputs = None
        return passed_on if left is arrived else _pick(left, self.outputs)

    def at_inputs(self, passed_on: tuple[Any, ...], _: Any) -> tuple[Any, ...]:
        """Before the module, where its backward ends: call the hooks with both ends."""
        if self.grad_outputs is None:
            # This backward did not come through the outputs: a second derivative, or an
            # intermediate value that the module gave away.
            return passed_on
        arrived = _one_for_each(passed_on, self.inputs)
        left = self._call("full backward", self.hooks, arrived, self.grad_outputs)
        self.grad_outputs = None
        return passed_on if left is arrived else _pick(left, self.inputs)

    def _call(self, kind: str, hooks: Any, grads: tuple[Any, ...], *seen: Any) -> tuple[Any, ...]:
        """Call hooks of one kind, each with what the one before it returned."""
        for hook in hooks and modes.task.hooks_to_call(kind, hooks):
            replaced = hook(self.module, grads, *seen)
            if replaced is None:
                continue
            if seen and not self.inputs_need_grad:  # there is no gradient to replace
                if not isinstance(replaced, tuple) or any(grad is not None for grad in replaced):
                    raise extensions.messages.replaced_nothing()
            elif len(replaced) != len(grads):
                raise extensions.messages.wrong_number(kind, len(replaced), len(grads))
            else:
                grads = replaced
        return grads


# The tensors among some values have numbers: [0, None, 1] are those of the arguments (x, 3, y).
Numbers = list[int | None]


def _one_for_each(grads: tuple[Any, ...], numbers: Numbers) -> tuple[Any, ...]:
    """Give one entry for each value: a gradient for a tensor, None for anything else."""
    if len(grads) == len(numbers):
        return grads
    return tuple(None if number is None else grads[number] for number in numbers)


def _pick(entries: Any, numbers: Numbers) -> tuple[Any, ...]:
    """Give the gradients of the tensors only, as the node wants them back."""
    return tuple(entries[place] for place, number in enumerate(numbers) if number is not None)


def _through_identity(values: Any, hook: Callable[..., Any]) -> tuple[Any, Numbers, bool]:
    """Lead the tensors among some values through one identity node, and hook that node.

    Those that need no gradient keep needing none. If no gradient will ever come there is no node.

    Returns:
        The values with a view instead of each tensor; the tensors' numbers; whether there is a
        node.
    """
    numbers: Numbers = []
    flags: list[bool] = []
    for value in values:
        numbers.append(len(flags) if isinstance(value, Tensor) else None)
        if isinstance(value, Tensor):
            flags.append(value.requires_grad if (e := value._edge) is None else e is not NO_EDGE)
    if True not in flags or not modes.asked:
        return values, numbers, False
    node = BackwardHookFunctionBackward()
    node._shape, node._dtype = [], []
    edges, entries = [], list(values)
    for place, output_nr in enumerate(numbers):
        if output_nr is not None:
            tensor, needs = values[place], flags[output_nr]
            node._shape.append(tensor._array.shape)
            node._dtype.append(tensor._array.dtype)
            edges.append((tensor._edge or resolve_edge(tensor)) if needs else NO_EDGE)
            view = entries[place] = wrap(tensor._array)
            make_view(view, tensor)
            if needs:
                view._edge = (node, output_nr)
            if view._view is not None:
                view._view.origin = "several" if sum(flags) > 1 else "one"
    node._set_up(edges)
    hooks = node._hooks = NodeHooks()
    hooks.post[-1] = hook  # no handle has this number: it stays
    if modes.observers:
        notify(node, *_pick(entries, numbers))
    return (tuple(entries) if type(values) is tuple else type(values)(*entries)), numbers, True


class LegacyHook:
    """A legacy hook as it sits on the node of the module's result: it refers to the module weakly.

    Raises:
        RuntimeError: When called after the module is gone.
    """

    def __init__(self, hook: Callable[..., Any], module: Any) -> None:
        self.hook, self.module = hook, weakref.ref(module)
        functools.update_wrapper(self, hook)

    def __call__(self, grad_inputs: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> Any:
        """Call the hook with the module in front."""
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, grad_inputs, grad_outputs)


def attach_legacy_hooks(module: Any, hooks: Hooks, args: tuple[Any, ...], result: Any) -> None:
    """Hook the node that made the result, and warn of what a hook there misses.

    Args:
        module: The module being called, the first argument of every hook.
        hooks: Called as `hook(module, grad_input, grad_output)` with that node's gradients.
        args: The positional arguments of the call.
        result: What forward returned; its first tensor counts.
    """
    tensor = result
    while not isinstance(tensor, Tensor):
        if isinstance(tensor, dict):
            tensor = next(value for value in tensor.values() if isinstance(value, Tensor))
        else:
            tensor = tensor[0]
    node = tensor.grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(LegacyHook(hook, module))
        extensions.messages.warn_of_what_legacy_hooks_miss(args, result, node)
