"""Name the type of an object the way PyTorch's messages do."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from minigrad.core.hooks import RemovableHandle
from minigrad.core.tensor import Tensor
from minigrad.nn.parameter import Buffer, Parameter


def typename(value: Any) -> str:
    """Give the name of a value's type: the element type for a tensor, the full path for others.

    Args:
        value: Any object.

    Returns:
        `torch.FloatTensor` and its like for tensors, the bare name for builtins, and the path
        with its module for everything else.

    Example:
        >>> import minigrad as torch
        >>> typename(3), typename(torch.ones(2))
        ('int', 'torch.FloatTensor')
    """
    if isinstance(value, Tensor):
        return value.type()
    # A class or a function is named itself; of any other object it is the class.
    named = value if hasattr(value, "__qualname__") or hasattr(value, "__name__") else type(value)
    name = getattr(named, "__qualname__", None) or named.__name__
    module = getattr(named, "__module__", None) or ""
    return name if module in ("", "builtins") else f"{module}.{name}"


Hook = Callable[..., Any]

_global_buffer_registration_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_parameter_registration_hooks: OrderedDict[int, Hook] = OrderedDict()


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


class Registration:
    """The part of `Module` that notices what is assigned to it.

    Parameters, buffers and submodules live in tables of their own (`_parameters`, `_buffers`,
    `_modules`), not in the instance's `__dict__`, so that they can be found, saved and trained.
    """

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

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
        if module is not None and not isinstance(module, Registration):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        _check_name(self, "module", "_modules", name)
        self._modules[name] = _ask(_global_module_registration_hooks, self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Register a submodule: another name for `add_module`."""
        self.add_module(name, module)

    def __getattr__(self, name: str) -> Any:
        """Find a registered parameter, buffer or submodule; called for what `__dict__` lacks."""
        own = self.__dict__
        if "_parameters" in own and name in (parameters := own["_parameters"]):
            return parameters[name]
        for table in ("_buffers", "_modules"):
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
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, None)
        elif isinstance(value, Registration):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            _forget(self, name, except_in="_modules")
            own["_modules"][name] = _ask(_global_module_registration_hooks, self, name, value)
        elif name in own.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            own["_modules"][name] = _ask(_global_module_registration_hooks, self, name, None)
        elif isinstance(value, Buffer):
            self.register_buffer(name, value, value.persistent)
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
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
        self.__dict__.update(_non_persistent_buffers_set=set(), **empty_tables())
        self.__dict__.update(state)

    def __dir__(self) -> list[str]:
        """List the attributes; those of Sequential ("0", "1", ...) are left out as no names."""
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules}
        return sorted(name for name in names | set(self._buffers) if not name[0].isdigit())


# What follows are functions and no methods: a subclass may use any other name for its own layers.


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


def _forget(module: Any, name: str, except_in: str) -> None:
    """Remove a name from wherever it stands, but in the one table that takes it next."""
    own = module.__dict__
    for table in (own, own["_parameters"], own["_buffers"], own["_modules"]):
        if table is not own[except_in]:
            table.pop(name, None)
    if except_in != "_buffers":
        module._non_persistent_buffers_set.discard(name)


def _ask(hooks: OrderedDict[int, Hook], module: Any, name: str, value: Any) -> Any:
    """Let registration hooks see, and replace, what is about to be registered."""
    for hook in hooks.values():
        replaced = hook(module, name, value)
        if replaced is not None:
            value = replaced
    return value


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


def enter(
    hook: Hook,
    table: OrderedDict[int, Hook],
    *marks: tuple[OrderedDict[int, bool], bool],
    prepend: bool = False,
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
    for marked, wanted in marks:
        if wanted:
            marked[handle.id] = True
    return handle
