"""See where the two kinds of module backward hooks sit: that is their whole difference.

A module is called, and the operations of its forward leave nodes on the tape. During backward
the gradients come from the right::

    full hooks:     x --[identity]-- op -- op -- op --[identity]-- y      two nodes of our own,
                            |                             |               in front and behind
                       grad_input                    grad_output

    legacy hooks:   x -------------- op -- op -- op --------------- y     one node that was there
                                                |                         anyway: y.grad_fn
                                   grad_input, grad_output

A full hook therefore sees the gradients of the module's inputs and outputs, whatever lies between
them. A legacy hook sees the last operation only: its `grad_input` belongs to that operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad.autograd.function import Function
from minigrad.autograd.hooks import hook_name
from minigrad.autograd.modes import grad_mode, is_grad_enabled
from minigrad.nn.bound_hook import BoundHook, Shown, remark_on
from minigrad.nn.warning import warn
from minigrad.tensor import Tensor

Hooks = Sequence[Callable[..., Any]]


class BackwardHookFunction(Function):
    r"""The identity, $y_i = x_i$ and $\partial L/\partial x_i = \partial L/\partial y_i$.

    It computes nothing. It is there for its node, `BackwardHookFunctionBackward`, at which all
    gradients of a module's inputs (or outputs) are at hand together.
    """

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        """Return the tensors; those that need no gradient keep needing none."""
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, ...]:
        """Return the gradients."""
        return grads


class FullBackwardHooks:
    """The full backward hooks and pre-hooks of one call of one module.

    The gradients of the outputs arrive first and wait in `grad_outputs`; when those of the inputs
    are ready too, the hooks are called with both.

    Args:
        module: The module being called, the first argument of every hook.
        hooks: Called as `hook(module, grad_input, grad_output)`.
        pre_hooks: Called as `pre_hook(module, grad_output)`, before the module's own backward.
    """

    def __init__(self, module: Any, hooks: Hooks, pre_hooks: Hooks) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs: Any = None
        self.inputs_need_grad = False

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Lead the tensors among the inputs through an identity node, and hook that node.

        Args:
            args: The positional arguments of the call.

        Returns:
            The arguments with a view in the place of each tensor, or the arguments themselves
            if none of them needs a gradient.
        """
        places = _Places(args)
        args, node = _lead_through_identity(args, places)
        self.inputs_need_grad = node is not None
        self.n_inputs = places.size

        def hook(grad_inputs: tuple[Any, ...], _: tuple[Any, ...]) -> tuple[Any, ...] | None:
            if self.grad_outputs is None:
                # This backward did not come through the outputs: a second derivative, or an
                # intermediate value that the module gave away.
                return None
            return places.pick(self._call_hooks(places.spread(grad_inputs)))

        if node is not None:
            hook.shown_as = self._shown_at_inputs  # type: ignore[attr-defined]
            node.register_hook(hook)
        return args

    def watch_outputs(self, result: Any) -> Any:
        """Lead the tensors among the outputs through an identity node, and hook that node.

        Args:
            result: What forward returned. Only a tensor or a tuple (also a named one) is watched.

        Returns:
            The result with a view in the place of each tensor that needs a gradient.
        """
        if not isinstance(result, (Tensor, tuple)):
            warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                UserWarning,
            )
        values = result if isinstance(result, tuple) else (result,)
        places = _Places(values)
        values, node = _lead_through_identity(values, places)

        def hook(_: tuple[Any, ...], grad_outputs: tuple[Any, ...]) -> tuple[Any, ...]:
            self.grad_outputs = grad_outputs = self._call_pre_hooks(places.spread(grad_outputs))
            if not self.inputs_need_grad:
                # There is no node in front of the module, so this is the only occasion.
                self._call_hooks_without_inputs()
            return places.pick(grad_outputs)

        if node is not None:
            hook.shown_as = self._shown_at_outputs  # type: ignore[attr-defined]
            node.register_hook(hook)
        return values if isinstance(result, tuple) else values[0]

    def _shown_at_inputs(self) -> list[Shown]:
        """List the hooks that the node in front of the module calls, for pictures of the graph."""
        return self._shown("full backward", self.hooks)

    def _shown_at_outputs(self) -> list[Shown]:
        """List the hooks that the node behind the module calls, for pictures of the graph."""
        shown = self._shown("full backward pre", self.pre_hooks)
        if not self.inputs_need_grad:
            shown += self._shown("full backward", self.hooks)
        return shown

    def _shown(self, kind: str, hooks: Hooks) -> list[Shown]:
        return [(kind, hook_name(hook), 0, remark_on(self.module, hook)) for hook in hooks]

    def _call_pre_hooks(self, grad_outputs: Any) -> Any:
        """Let each pre-hook see, and replace, the gradients of the outputs."""
        expected = len(grad_outputs)
        for pre_hook in grad_mode.task.hooks_to_call("full backward pre", self.pre_hooks):
            replaced = pre_hook(self.module, grad_outputs)
            if replaced is None:
                continue
            if len(replaced) != expected:
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, "
                    f"got {len(replaced)}, but expected {expected}"
                )
            grad_outputs = replaced
        return grad_outputs

    def _call_hooks(self, grad_inputs: Any) -> Any:
        """Let each hook see both ends, and replace the gradients of the inputs."""
        for hook in grad_mode.task.hooks_to_call("full backward", self.hooks):
            replaced = hook(self.module, grad_inputs, self.grad_outputs)
            if replaced is None:
                continue
            if len(replaced) != len(grad_inputs):
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, "
                    f"got {len(replaced)}, but expected {len(grad_inputs)}"
                )
            grad_inputs = replaced
        self.grad_outputs = None
        return grad_inputs

    def _call_hooks_without_inputs(self) -> None:
        """Call the hooks with None for every input: there is no gradient to show or to replace."""
        warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See "
            "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            UserWarning,
        )
        grad_inputs = (None,) * self.n_inputs
        for hook in grad_mode.task.hooks_to_call("full backward", self.hooks):
            replaced = hook(self.module, grad_inputs, self.grad_outputs)
            nothing = isinstance(replaced, tuple) and all(grad is None for grad in replaced)
            if replaced is not None and not nothing:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None


class _Places:
    """Where the tensors stand among the arguments: (x, 3, y) has tensors at 0 and 2."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.of_tensors = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        self.size = len(values)

    def spread(self, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give one entry for each argument: a gradient for a tensor, None for anything else."""
        entries: list[Any] = [None] * self.size
        for place, grad in zip(self.of_tensors, grads, strict=True):
            entries[place] = grad
        return tuple(entries)

    def pick(self, entries: Any) -> tuple[Any, ...]:
        """Give the gradients of the tensors only, as the node wants them back."""
        return tuple(entries[place] for place in self.of_tensors)


def _lead_through_identity(values: tuple[Any, ...], places: _Places) -> tuple[tuple[Any, ...], Any]:
    """Give the values with their tensors led through one identity node, and that node.

    If no gradient will ever come there is no node, and the values are returned as they are.
    """
    tensors = [values[place] for place in places.of_tensors]
    if not (is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)):
        return values, None
    passed = BackwardHookFunction.apply(*tensors)
    entries = list(values)
    for place, tensor in zip(places.of_tensors, passed, strict=True):
        entries[place] = tensor
    node = next(tensor.grad_fn for tensor in passed if tensor.grad_fn is not None)
    return (tuple(entries) if type(values) is tuple else type(values)(*entries)), node


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
    node: Any = tensor.grad_fn
    if node is not None:
        for hook in hooks:
            bound = BoundHook(hook, module)
            bound.kind = "legacy backward"
            node.register_hook(bound)
        _warn_of_what_legacy_hooks_miss(args, result, node)


def _warn_of_what_legacy_hooks_miss(args: tuple[Any, ...], result: Any, node: Any) -> None:
    """Say which gradients of the module do not pass through the node of the result."""
    results = result if isinstance(result, tuple) else (result,)
    full = "Please use register_full_backward_hook to get the documented behavior."
    if not all(isinstance(value, Tensor) for value in results):
        occasion, missing = (
            "Using non-full backward hooks on a Module that does not return a single Tensor or a "
            "tuple of Tensors",
            f"some of the grad_output. {full}",
        )
    elif not all(isinstance(value, Tensor) for value in args):
        occasion, missing = (
            "Using non-full backward hooks on a Module that does not take as input a single "
            "Tensor or a tuple of Tensors",
            f"some of the grad_input. {full}",
        )
    elif len({value.grad_fn for value in results} - {None}) > 1:
        occasion, missing = (
            "Using a non-full backward hook when outputs are generated by different autograd Nodes",
            f"some grad_output. {full}",
        )
    elif {value.grad_fn for value in args} - {None} != {edge[0] for edge in node.next_functions}:
        occasion, missing = (
            "Using a non-full backward hook when the forward contains multiple autograd Nodes",
            f"some grad_input. {full}",
        )
    else:
        return
    warn(
        f"{occasion} is deprecated and will be removed in future versions. "
        f"This hook will be missing {missing}",
        FutureWarning,
    )
