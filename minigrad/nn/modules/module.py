"""Build networks of modules: register what is assigned, call `forward`, run hooks around it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from types import FunctionType
from typing import Any

from minigrad.autograd.messages import warn
from minigrad.core.hooks import RemovableHandle
from minigrad.core.module_hooks import FullBackwardHooks, attach_legacy_hooks
from minigrad.core.tensor import Tensor
from minigrad.creation.devices import typename
from minigrad.nn.modules.state_dict import BoundHook, StateDict, _IncompatibleKeys
from minigrad.nn.modules.traversal import Traversal
from minigrad.nn.parameter import Buffer, Parameter

__all__ = [
    "Module", "_IncompatibleKeys", "register_module_backward_hook",
    "register_module_buffer_registration_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook", "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]  # fmt: skip

Hook = Callable[..., Any]
Table = OrderedDict[int, Any]

_global_parameter_registration_hooks: Table = OrderedDict()
_global_buffer_registration_hooks: Table = OrderedDict()
_global_module_registration_hooks: Table = OrderedDict()
_global_backward_pre_hooks: Table = OrderedDict()
_global_backward_hooks: Table = OrderedDict()
_global_is_full_backward_hook: bool | None = None
_global_forward_pre_hooks: Table = OrderedDict()
_global_forward_hooks: Table = OrderedDict()
_global_forward_hooks_always_called: Table = OrderedDict()
_global_forward_hooks_with_kwargs: Table = OrderedDict()

_NO_HOOKS: list[Hook] = []
_HOOK_TABLES = (
    "_backward_pre_hooks", "_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks", "_state_dict_pre_hooks", "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)  # fmt: skip


def _forward_unimplemented(module: Any, *input: Any) -> Any:
    """Stand where a subclass has the computation."""
    raise NotImplementedError(
        f'Module [{type(module).__name__}] is missing the required "forward" function'
    )


class Module(Traversal, StateDict):
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
    _is_full_backward_hook: bool | None
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
        self.__dict__.update(training=True, _parameters={}, _buffers={}, _modules={}, **_no_hooks())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # Calling -------------------------------------------------------------------------------------

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
        found: dict[bool | None, list[Hook]] = {True: [], False: [], None: []}
        found[_global_is_full_backward_hook] += _global_backward_hooks.values()
        found[self._is_full_backward_hook] += self._backward_hooks.values()
        return found[True], found[False]

    def _get_backward_pre_hooks(self) -> list[Hook]:
        """Give the full backward pre-hooks, global ones first."""
        return [*_global_backward_pre_hooks.values(), *self._backward_pre_hooks.values()]

    # Registering what is assigned ---------------------------------------------------------------

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Register a parameter; assigning it as an attribute does the same.

        Args:
            name: The attribute it is found under.
            param: The parameter, or None: then the name is taken but nothing is trained or saved.

        Raises:
            AttributeError: Before `super().__init__()` was called.
            KeyError: If the name is empty, contains a dot, or belongs to something else.
            TypeError: If the name is no string or the value is no `Parameter`.
            ValueError: If the value is the result of an operation (not a leaf).
        """
        _check_name(self, "parameter", "_parameters", name)
        if param is not None:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"cannot assign '{typename(param)}' object to parameter '{name}' "
                    "(torch.nn.Parameter or None required)"
                )
            if param.grad_fn is not None:
                raise ValueError(
                    f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must "
                    f"be created explicitly. To express '{name}' as a function of another Tensor, "
                    "compute the value in the forward() method."
                )
            param = _ask(_global_parameter_registration_hooks, self, name, param)
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Register a tensor that belongs to the module's state but is not trained.

        Args:
            name: The attribute it is found under.
            tensor: The buffer, or None.
            persistent: Whether `state_dict` contains it.

        Raises:
            AttributeError: Before `super().__init__()` was called.
            KeyError: If the name is empty, contains a dot, or belongs to something else.
            TypeError: If the name is no string or the value is no tensor.
        """
        _check_name(self, "buffer", "_buffers", name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = _ask(_global_buffer_registration_hooks, self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Register a submodule; assigning it as an attribute does the same.

        Args:
            name: The attribute it is found under.
            module: The submodule, or None.

        Raises:
            KeyError: If the name is empty, contains a dot, or belongs to something else.
            TypeError: If the name is no string or the value is no `Module`.
        """
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        _check_name(self, "module", "_modules", name)
        self._modules[name] = _ask(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Register a submodule: another name for `add_module`."""
        self.add_module(name, module)

    def __getattr__(self, name: str) -> Any:
        """Find a registered parameter, buffer or submodule; called for what `__dict__` lacks."""
        own = self.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if table in own and name in own[table]:
                return own[table][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        """Register parameters, modules and new values of buffers; store anything else as usual."""
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            _forget(self, name, except_in="_parameters")
            self.register_parameter(name, value)
        elif name in own.get("_parameters", ()):
            if value is not None:
                raise _misfit(value, "parameter", name, "torch.nn.Parameter or None")
            self.register_parameter(name, None)
        elif isinstance(value, Module) or name in own.get("_modules", ()):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            if isinstance(value, Module):
                _forget(self, name, except_in="_modules")
            elif value is not None:
                raise _misfit(value, "child module", name, "torch.nn.Module or None")
            own["_modules"][name] = _ask(_global_module_registration_hooks, self, name, value)
        elif isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise _misfit(value, "buffer", name, "torch.nn.Buffer, torch.Tensor or None")
            own["_buffers"][name] = _ask(_global_buffer_registration_hooks, self, name, value)
        else:
            object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        """Unregister a parameter, buffer or submodule, or delete a plain attribute."""
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a pickle or a copy; tables that it lacks start empty."""
        self.__dict__.update(_no_hooks() | state)

    def __dir__(self) -> list[str]:
        """List the attributes; those of Sequential ("0", "1", ...) are left out as no names."""
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules}
        return sorted(name for name in names | set(self._buffers) if not name[0].isdigit())

    # Hooks --------------------------------------------------------------------------------------

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
                each positional input and each output, None where it isn't a tensor. It returns
                None, or a tuple that takes the place of `grad_input` from here on.
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
        self._is_full_backward_hook = _one_kind(self._is_full_backward_hook, True)
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
        self._is_full_backward_hook = _one_kind(self._is_full_backward_hook, False)
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


for _part in (Traversal, StateDict):
    for _method in vars(_part).values():
        if isinstance(_method, FunctionType):
            # Error messages of Python name a method's class: to readers it is Module.
            _method.__qualname__ = f"Module.{_method.__name__}"


# What follows are functions and no methods: a subclass may use any other name for its own layers.


def _no_hooks() -> dict[str, Any]:
    """Give what a module without any hook has in its `__dict__` to take hooks in, and names."""
    tables: dict[str, Any] = {name: OrderedDict() for name in _HOOK_TABLES}
    return {"_non_persistent_buffers_set": set(), "_is_full_backward_hook": None, **tables}


def _check_name(module: Any, kind: str, table: str, name: Any) -> None:
    """Raise what PyTorch raises for a name that cannot be registered in a table."""
    if table not in module.__dict__:
        if kind == "module":
            raise AttributeError(f"'{type(module).__name__}' object has no attribute '_modules'")
        raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
    if kind == "module" and hasattr(module, name) and name not in module._modules:
        raise KeyError(f"attribute '{name}' already exists")
    if "." in name:
        got = f", got: {name}" if kind == "module" else ""
        raise KeyError(f'{kind} name can\'t contain "."{got}')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if hasattr(module, name) and name not in module.__dict__[table]:
        raise KeyError(f"attribute '{name}' already exists")


def _misfit(value: Any, kind: str, name: str, allowed: str) -> TypeError:
    """Make the error for a value that cannot be what stands under its name."""
    return TypeError(f"cannot assign '{typename(value)}' as {kind} '{name}' ({allowed} expected)")


def _forget(module: Any, name: str, except_in: str) -> None:
    """Remove a name from wherever it stands, but in the one table that takes it next."""
    own = module.__dict__
    for table in (own, own["_parameters"], own["_buffers"], own["_modules"]):
        if table is not own[except_in]:
            table.pop(name, None)
    module._non_persistent_buffers_set.discard(name)


def _ask(hooks: Table, module: Any, name: str, value: Any) -> Any:
    """Let registration hooks see, and replace, what is about to be registered."""
    for hook in hooks.values():
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


def _one_kind(before: bool | None, full: bool, where: str = "on a single Module") -> bool:
    """Raise if full and legacy backward hooks would come together in one place."""
    if before is not None and before is not full:
        raise RuntimeError(
            f"Cannot use both regular backward hooks and full backward hooks {where}. "
            "Please use only one of them."
        )
    return full


def enter(
    hook: Hook, table: Table, *marks: tuple[Table, bool], prepend: bool = False
) -> RemovableHandle:
    """Enter a hook in a table, at the end or in front, and give the handle that removes it.

    Args:
        hook: The hook.
        table: Where it goes.
        *marks: Tables that say of a hook that it is marked, each with whether this one is.
        prepend: Put it in front.
    """
    handle = RemovableHandle(table, extra_dict=[marked for marked, _ in marks])
    table[handle.id] = hook
    if prepend:
        table.move_to_end(handle.id, last=False)
    for marked, is_marked in marks:
        if is_marked:
            marked[handle.id] = True
    return handle


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
        module = self.module
        full = legacy = pre = _NO_HOOKS
        try:
            if module._backward_hooks or _global_backward_hooks:
                full, legacy = module._get_backward_hooks()
            if module._backward_pre_hooks or _global_backward_pre_hooks:
                pre = module._get_backward_pre_hooks()
            if module._forward_pre_hooks or _global_forward_pre_hooks:
                self._run_forward_pre_hooks()
            if full or pre:
                watch = FullBackwardHooks(module, full, pre)
                self.args = watch.watch_inputs(self.args)
            self.result = module.forward(*self.args, **self.kwargs)
            if module._forward_hooks or _global_forward_hooks:
                self._run_forward_hooks()
            if full or pre:
                self.result = watch.watch_outputs(self.result)
            if legacy:
                attach_legacy_hooks(module, legacy, self.args, self.result)
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
        asked = module._forward_hooks_with_kwargs
        # A global hook gets no keyword arguments here, even if it asked for them, as in PyTorch.
        for which, hooks, always, with_kwargs in (
            ("global module", _global_forward_hooks, _global_forward_hooks_always_called, ()),
            ("module", module._forward_hooks, module._forward_hooks_always_called, asked),
        ):
            for id, hook in hooks.items():
                if id not in always or id in self.begun:
                    continue
                try:
                    self._run_forward_hook(hook, id in with_kwargs)
                except Exception as error:
                    warn(
                        f"{which} forward hook with ``always_call=True`` raised an exception "
                        f"that was silenced as another error was raised in forward: {error}"
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
    before, where = _global_is_full_backward_hook, "as a global Module hook"
    _global_is_full_backward_hook = _one_kind(before, full, where)
    return enter(hook, _global_backward_hooks)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that sees every registration of a buffer, in every module.

    Args:
        hook: Called as `hook(module, name, buffer)`; None or the buffer to register instead.

    Returns:
        A handle with `remove()`.
    """
    return enter(hook, _global_buffer_registration_hooks)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that sees every registration of a submodule, in every module.

    Args:
        hook: Called as `hook(module, name, submodule)`; None or the one to register instead.

    Returns:
        A handle with `remove()`.
    """
    return enter(hook, _global_module_registration_hooks)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that sees every registration of a parameter, in every module.

    Args:
        hook: Called as `hook(module, name, parameter)`; None or the one to register instead.

    Returns:
        A handle with `remove()`.
    """
    return enter(hook, _global_parameter_registration_hooks)
