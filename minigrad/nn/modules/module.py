"""Call a module, with every hook that watches the call: its own hooks and the global ones."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

from minigrad.autograd.messages import warn
from minigrad.core.gates import FullBackwardHooks, attach_legacy_hooks
from minigrad.core.hooks import RemovableHandle
from minigrad.nn.bound_hook import BoundHook
from minigrad.nn.modules.registration import (
    Registration,
    _global_buffer_registration_hooks,
    _global_module_registration_hooks,
    _global_parameter_registration_hooks,
    empty_tables,
    enter,
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from minigrad.nn.modules.state_dict import StateDict, _IncompatibleKeys
from minigrad.nn.modules.traversal import Traversal

__all__ = [
    "Module", "_IncompatibleKeys", "_global_buffer_registration_hooks",
    "_global_module_registration_hooks", "_global_parameter_registration_hooks",
    "register_module_backward_hook", "register_module_buffer_registration_hook",
    "register_module_forward_hook", "register_module_forward_pre_hook",
    "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip


Hook = Callable[..., Any]


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
        marks = (self._forward_pre_hooks_with_kwargs, with_kwargs)
        return enter(hook, self._forward_pre_hooks, marks, prepend=prepend)

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
        return enter(
            hook,
            self._forward_hooks,
            (self._forward_hooks_with_kwargs, with_kwargs),
            (self._forward_hooks_always_called, always_call),
            prepend=prepend,
        )

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
        return enter(hook, self._backward_pre_hooks, prepend=prepend)

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
        self._is_full_backward_hook = _one_kind(
            self._is_full_backward_hook, True, "on a single Module"
        )
        return enter(hook, self._backward_hooks, prepend=prepend)

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
        self._is_full_backward_hook = _one_kind(
            self._is_full_backward_hook, False, "on a single Module"
        )
        return enter(hook, self._backward_hooks)

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, prefix, keep_vars)`, called before the state dict is made."""
        return enter(hook, self._state_dict_pre_hooks)

    def register_state_dict_post_hook(self, hook: Any) -> RemovableHandle:
        """Register `hook(module, state_dict, prefix, local_metadata)`; it changes it in place."""
        hook._from_public_api = True
        return enter(hook, self._state_dict_hooks)

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:
        """Register the same kind of hook, but one that may return another state dict."""
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was "
                "previously registered via register_state_dict_post_hook"
            )
        return enter(hook, self._state_dict_hooks)

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
        return enter(bound, self._load_state_dict_pre_hooks)

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(module, incompatible_keys)`, called before strictness is judged.

        The hook may edit the two lists `missing_keys` and `unexpected_keys`. It returns None.
        """
        return enter(hook, self._load_state_dict_post_hooks)


def _one_kind(before: bool | None, full: bool, where: str) -> bool:
    """Raise if full and legacy backward hooks would come together in one place."""
    if before is not None and before is not full:
        raise RuntimeError(
            f"Cannot use both regular backward hooks and full backward hooks {where}. "
            "Please use only one of them."
        )
    return full


Table = OrderedDict[int, Any]

_global_backward_pre_hooks: Table = OrderedDict()
_global_backward_hooks: Table = OrderedDict()
_global_is_full_backward_hook: bool | None = None
_global_forward_pre_hooks: Table = OrderedDict()
_global_forward_hooks: Table = OrderedDict()
_global_forward_hooks_always_called: Table = OrderedDict()
_global_forward_hooks_with_kwargs: Table = OrderedDict()


def _forward_unimplemented(module: Any, *input: Any) -> Any:
    """Stand where a subclass has the computation."""
    raise NotImplementedError(
        f'Module [{type(module).__name__}] is missing the required "forward" function'
    )


class Module(Registration, HookRegistration, Traversal, StateDict):
    """Base class of everything that has parameters and a forward.

    Subclasses assign parameters and other modules as attributes in `__init__`, after calling
    `super().__init__()`, and define `forward`. Calling the module runs the hooks around it.

    Attributes:
        training: True in training mode, False in evaluation mode.
        call_super_init: Whether a class that has other bases besides wants their `__init__` to be
            called, with the arguments.

    Example:
        >>> import minigrad as torch
        >>> from minigrad import nn
        >>> class Square(nn.Module):
        ...     def forward(self, x):
        ...         return x**2
        >>> square = Square()
        >>> handle = square.register_forward_hook(lambda module, args, result: print(module))
        >>> square(torch.tensor([3.0]))
        Square()
        tensor([9.])
    """

    training: bool
    call_super_init: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if kwargs and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                f"'{next(iter(kwargs))}'"
            )
        if args and not self.call_super_init:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but "
                f"{len(args) + 1} were given"
            )
        # Written past __setattr__, which needs these tables to be there already.
        self.__dict__.update(
            training=True,
            _parameters={},
            _buffers={},
            _non_persistent_buffers_set=set(),
            _modules={},
            **empty_tables(),
        )
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # Subclasses take what they need, so to a type checker this is a callable of any signature.
    forward: Callable[..., Any] = _forward_unimplemented

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, and the hooks around it if there are any."""
        own = self.__dict__
        try:
            hooked = (
                own["_backward_hooks"]
                or own["_backward_pre_hooks"]
                or own["_forward_hooks"]
                or own["_forward_pre_hooks"]
                or _global_forward_hooks
                or _global_forward_pre_hooks
                or _global_backward_hooks
                or _global_backward_pre_hooks
            )
        except KeyError as missing:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute {missing}. "
                "Call super().__init__() first in its __init__()."
            ) from None
        if not hooked:
            return self.forward(*args, **kwargs)
        return _HookedCall(self, args, kwargs).run()

    def _get_backward_hooks(self) -> tuple[list[Hook], list[Hook]]:
        """Give the full and the legacy backward hooks, global ones first."""
        full: list[Hook] = []
        legacy: list[Hook] = []
        for is_full, table in (
            (_global_is_full_backward_hook, _global_backward_hooks),
            (self._is_full_backward_hook, self._backward_hooks),
        ):
            if is_full is not None:
                (full if is_full else legacy).extend(table.values())
        return full, legacy

    def _get_backward_pre_hooks(self) -> list[Hook]:
        """Give the full backward pre-hooks, global ones first."""
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]


for _part in (Registration, HookRegistration, Traversal, StateDict):
    for _method in vars(_part).values():
        if isinstance(_method, FunctionType):
            # Error messages of Python name a method's class: for whoever reads them it is Module.
            _method.__qualname__ = f"Module.{_method.__name__}"


class _HookedCall:
    """One call of a module that somebody watches.

    Hooks may replace the arguments and the result as the call goes on; what they are at present
    stands here, and is what the hooks with `always_call=True` get to see if something raises.
    """

    def __init__(self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.module = module
        self.args = args
        self.kwargs = kwargs
        self.result: Any = None
        self.begun: set[int] = set()

    def run(self) -> Any:
        """Run the hooks and forward, in order, and give the result."""
        try:
            full, legacy = self.module._get_backward_hooks()
            pre = self.module._get_backward_pre_hooks()
            self._run_forward_pre_hooks()
            watch = FullBackwardHooks(self.module, full, pre) if full or pre else None
            if watch:
                self.args = watch.watch_inputs(self.args)
            self.result = self.module.forward(*self.args, **self.kwargs)
            self._run_forward_hooks()
            if watch:
                self.result = watch.watch_outputs(self.result)
            if legacy:
                attach_legacy_hooks(self.module, legacy, self.args, self.result)
        except Exception:
            self._run_hooks_that_are_always_called()
            raise
        return self.result

    def _run_forward_pre_hooks(self) -> None:
        module = self.module
        for id, hook in (*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()):
            if id in module._forward_pre_hooks_with_kwargs:
                replaced = hook(module, self.args, self.kwargs)
                if replaced is None:
                    continue
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {replaced}."
                    )
                self.args, self.kwargs = replaced
            else:
                replaced = hook(module, self.args)
                if replaced is not None:
                    self.args = replaced if isinstance(replaced, tuple) else (replaced,)

    def _run_forward_hooks(self) -> None:
        module = self.module
        # A hook that another one removes now is still called, if it is the module's own without
        # the keyword arguments that it asked for, as in PyTorch.
        global_with_kwargs = {*_global_forward_hooks_with_kwargs}
        for id, hook in (*_global_forward_hooks.items(), *module._forward_hooks.items()):
            self.begun.add(id)
            with_kwargs = id in module._forward_hooks_with_kwargs or id in global_with_kwargs
            self._run_forward_hook(hook, with_kwargs)

    def _run_forward_hook(self, hook: Hook, with_kwargs: bool) -> None:
        kwargs = (self.kwargs,) if with_kwargs else ()
        replaced = hook(self.module, self.args, *kwargs, self.result)
        if replaced is not None:
            self.result = replaced

    def _run_hooks_that_are_always_called(self) -> None:
        """Run those hooks that have not begun; the error that led here is the one that counts."""
        module = self.module
        # A global hook gets no keyword arguments here, even if it asked for them, as in PyTorch.
        for which, hooks, always, with_kwargs in (
            ("global module", _global_forward_hooks, _global_forward_hooks_always_called, ()),
            (
                "module",
                module._forward_hooks,
                module._forward_hooks_always_called,
                module._forward_hooks_with_kwargs,
            ),
        ):
            for id, hook in hooks.items():
                if id not in always or id in self.begun:
                    continue
                try:
                    self._run_forward_hook(hook, id in with_kwargs)
                except Exception as error:
                    warn(
                        f"{which} forward hook with ``always_call=True`` raised an exception "
                        f"that was silenced as another error was raised in forward: {error}",
                        UserWarning,
                    )


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that runs before the forward of every module.

    Args:
        hook: Called as `hook(module, args)`; None or new arguments (one value, or a tuple).

    Returns:
        A handle; call its `remove()` when you are done, for the hook watches everything.
    """
    return enter(hook, _global_forward_pre_hooks)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Register a hook that runs after the forward of every module, before the module's own hooks.

    Args:
        hook: Called as `hook(module, args, result)`; None or a new result.
        with_kwargs: Call it as `hook(module, args, kwargs, result)`.
        always_call: Run it even if forward raises.

    Returns:
        A handle with `remove()`.
    """
    marks = (
        (_global_forward_hooks_with_kwargs, with_kwargs),
        (_global_forward_hooks_always_called, always_call),
    )
    return enter(hook, _global_forward_hooks, *marks)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that runs before the backward of every module.

    Args:
        hook: Called as `hook(module, grad_output)`; None or new gradients of the outputs.

    Returns:
        A handle with `remove()`.
    """
    return enter(hook, _global_backward_pre_hooks)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that runs after the backward of every module, before the module's own hooks.

    Args:
        hook: Called as `hook(module, grad_input, grad_output)`; None or new gradients of the
            inputs.

    Returns:
        A handle with `remove()`.

    Raises:
        RuntimeError: If legacy global hooks were ever registered.
    """
    return _register_global_backward_hook(hook, full=True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Register a legacy hook on the last operation of every module. Prefer the full one.

    Args:
        hook: Called as `hook(module, grad_input, grad_output)` with the gradients of the node
            that made the module's result.

    Returns:
        A handle with `remove()`.

    Raises:
        RuntimeError: If full global hooks were ever registered.
    """
    return _register_global_backward_hook(hook, full=False)


def _register_global_backward_hook(hook: Hook, full: bool) -> RemovableHandle:
    global _global_is_full_backward_hook
    _global_is_full_backward_hook = _one_kind(
        _global_is_full_backward_hook, full, "as a global Module hook"
    )
    return enter(hook, _global_backward_hooks)
