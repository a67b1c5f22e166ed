"""Register a hook on one module: around its forward, its backward, its saving or its loading."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from minigrad.nn.bound_hook import BoundHook
from minigrad.utils.hooks import RemovableHandle

Hook = Callable[..., Any]


def empty_tables() -> dict[str, Any]:
    """Give what a module without any hook has in its `__dict__` to take hooks in."""
    return {
        "_backward_pre_hooks": OrderedDict(),
        "_backward_hooks": OrderedDict(),
        "_is_full_backward_hook": None,
        "_forward_hooks": OrderedDict(),
        "_forward_hooks_with_kwargs": OrderedDict(),
        "_forward_hooks_always_called": OrderedDict(),
        "_forward_pre_hooks": OrderedDict(),
        "_forward_pre_hooks_with_kwargs": OrderedDict(),
        "_state_dict_hooks": OrderedDict(),
        "_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_pre_hooks": OrderedDict(),
        "_load_state_dict_post_hooks": OrderedDict(),
    }


class HookRegistration:
    """The part of `Module` that takes hooks in; each method returns the hook's handle."""

    _forward_hooks: OrderedDict[int, Hook]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: OrderedDict[int, Hook]
    _backward_pre_hooks: OrderedDict[int, Hook]
    _is_full_backward_hook: bool | None
    _state_dict_pre_hooks: OrderedDict[int, Hook]
    _state_dict_hooks: OrderedDict[int, Hook]
    _load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_post_hooks: OrderedDict[int, Hook]

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Register a hook that runs before `forward` and may replace its arguments.

        Args:
            hook: Called as `hook(module, args)`. It returns None, or new arguments: a tuple, or
                one value that is then wrapped in a tuple.
            prepend: Put it in front of the hooks registered before.
            with_kwargs: Call it as `hook(module, args, kwargs)`; it returns None or
                `(new_args, new_kwargs)`.

        Returns:
            A handle with `remove()`.

        Example:
            >>> import minigrad as torch
            >>> identity = torch.nn.Identity()
            >>> handle = identity.register_forward_pre_hook(lambda module, args: args[0] * 2)
            >>> identity(torch.tensor([1.0]))
            tensor([2.])
        """
        handle = RemovableHandle(
            self._forward_pre_hooks, extra_dict=self._forward_pre_hooks_with_kwargs
        )
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return _enter(self._forward_pre_hooks, handle, hook, prepend)

    def register_forward_hook(
        self,
        hook: Hook,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Register a hook that runs after `forward` and may replace its result.

        Args:
            hook: Called as `hook(module, args, result)`. It returns None or a new result.
            prepend: Put it in front of the hooks registered before.
            with_kwargs: Call it as `hook(module, args, kwargs, result)`.
            always_call: Run it even if `forward` or an earlier hook raises; the result it sees
                is None if there is none yet.

        Returns:
            A handle with `remove()`.

        Example:
            >>> import minigrad as torch
            >>> identity = torch.nn.Identity()
            >>> handle = identity.register_forward_hook(lambda module, args, result: result + 1)
            >>> with handle:
            ...     identity(torch.tensor([1.0]))
            tensor([2.])
            >>> identity(torch.tensor([1.0]))
            tensor([1.])
        """
        handle = RemovableHandle(
            self._forward_hooks,
            extra_dict=[self._forward_hooks_with_kwargs, self._forward_hooks_always_called],
        )
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return _enter(self._forward_hooks, handle, hook, prepend)

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register a hook that runs before the module's backward.

        Args:
            hook: Called as `hook(module, grad_output)`, a tuple with one entry for each output.
                It returns None, or a tuple that takes its place.
            prepend: Put it in front of the hooks registered before.

        Returns:
            A handle with `remove()`.

        Example:
            >>> import minigrad as torch
            >>> identity = torch.nn.Identity()
            >>> handle = identity.register_full_backward_pre_hook(lambda module, grad: print(grad))
            >>> identity(torch.tensor(1.0, requires_grad=True)).backward()
            (tensor(1.),)
        """
        handle = RemovableHandle(self._backward_pre_hooks)
        return _enter(self._backward_pre_hooks, handle, hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        r"""Register a hook that runs when the gradients of the module's inputs are ready.

        For a module $y = f(x)$ and a loss $L$, `grad_output` is $(\partial L/\partial y,)$ and
        `grad_input` is $(\partial L/\partial x,)$, whatever happens inside.

        Args:
            hook: Called as `hook(module, grad_input, grad_output)`, tuples with one entry for
                each positional input and each output, None where it is no tensor. It returns
                None, or a tuple that takes the place of `grad_input` from here on upstream.
            prepend: Put it in front of the hooks registered before.

        Returns:
            A handle with `remove()`.

        Raises:
            RuntimeError: If legacy backward hooks were registered on this module.

        Example:
            >>> import minigrad as torch
            >>> identity = torch.nn.Identity()
            >>> handle = identity.register_full_backward_hook(
            ...     lambda module, grad_input, grad_output: (grad_input[0] * 2,)
            ... )
            >>> x = torch.tensor(1.0, requires_grad=True)
            >>> identity(x).backward()
            >>> x.grad
            tensor(2.)
        """
        return _register_backward_hook(self, hook, full=True, prepend=prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """Register a legacy hook, on the last operation of the module. Prefer the full one.

        Args:
            hook: Called as `hook(module, grad_input, grad_output)` with the gradients of the one
                node that made the module's result, and not those of the module's inputs.

        Returns:
            A handle with `remove()`.

        Raises:
            RuntimeError: If full backward hooks were registered on this module.
        """
        return _register_backward_hook(self, hook, full=False, prepend=False)

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, prefix, keep_vars)`, called before the state dict is made."""
        return _enter_new(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Register `hook(module, state_dict, prefix, local_metadata)`; it changes it in place."""
        hook._from_public_api = True
        return _enter_new(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """Register the same kind of hook, but one that may return another state dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        return _enter_new(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register a hook that runs before this module's part of a state dict is loaded.

        Args:
            hook: Called as `hook(module, state_dict, prefix, local_metadata, strict,
                missing_keys, unexpected_keys, error_msgs)`; it may change all of them in place.

        Returns:
            A handle with `remove()`.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Hook, with_module: bool = False
    ) -> RemovableHandle:
        """Register such a hook, which gets the module only if it asks for it."""
        bound = BoundHook(hook, self if with_module else None)
        return _enter_new(self._load_state_dict_pre_hooks, bound)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, incompatible_keys)`, called before strictness is judged.

        The hook may edit the two lists `missing_keys` and `unexpected_keys`. It returns None.
        """
        return _enter_new(self._load_state_dict_post_hooks, hook)


def _register_backward_hook(module: Any, hook: Hook, full: bool, prepend: bool) -> RemovableHandle:
    if module._is_full_backward_hook is not None and module._is_full_backward_hook is not full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks on a single "
            "Module. Please use only one of them."
        )
    module._is_full_backward_hook = full
    handle = RemovableHandle(module._backward_hooks)
    return _enter(module._backward_hooks, handle, hook, prepend)


def _enter(
    table: OrderedDict[int, Hook], handle: RemovableHandle, hook: Hook, prepend: bool
) -> RemovableHandle:
    """Enter a hook in its table, at the front or at the end."""
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def _enter_new(table: OrderedDict[int, Hook], hook: Hook) -> RemovableHandle:
    """Enter a hook at the end of its table, and give its handle."""
    return _enter(table, RemovableHandle(table), hook, prepend=False)
