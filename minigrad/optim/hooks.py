"""Watch an optimizer, or all of them: hooks around each step, around saving and loading."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from minigrad.utils.hooks import RemovableHandle

Hook = Callable[..., Any]

_global_optimizer_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Hook] = OrderedDict()

TABLES = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class HookRegistration:
    """The part of `Optimizer` that takes hooks in; each method returns the hook's handle."""

    _optimizer_step_pre_hooks: OrderedDict[int, Hook]
    _optimizer_step_post_hooks: OrderedDict[int, Hook]
    _optimizer_state_dict_pre_hooks: OrderedDict[int, Hook]
    _optimizer_state_dict_post_hooks: OrderedDict[int, Hook]
    _optimizer_load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _optimizer_load_state_dict_post_hooks: OrderedDict[int, Hook]

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)`, called before each step.

        It returns None or `(new_args, new_kwargs)`; the first argument is the optimizer itself.
        """
        return _enter(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)`, called after each step."""
        return _enter(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer)`, called before the state dict is made."""
        return _enter(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)`; it may return another state dict."""
        return _enter(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)`; it may return another state dict to load."""
        return _enter(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer)`, called after a state dict was loaded."""
        return _enter(self._optimizer_load_state_dict_post_hooks, hook, prepend)


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that runs before each step of every optimizer, before its own hooks."""
    return _enter(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that runs after each step of every optimizer, after its own hooks."""
    return _enter(_global_optimizer_post_hooks, hook)


def _enter(table: OrderedDict[int, Hook], hook: Hook, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(table)
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle
