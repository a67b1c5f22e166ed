"""Save what a module has learned to a dictionary, and load it back."""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from minigrad.autograd.grad_mode import no_grad
from minigrad.core.tensor import Tensor
from minigrad.nn.parameter import Parameter

Hook = Callable[..., Any]
EXTRA_STATE = "_extra_state"


class _IncompatibleKeys(namedtuple("_Keys", ["missing_keys", "unexpected_keys"])):
    """What a module had no value for, and what had no place in the module."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Say so in words if everything fits."""
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDict:
    """The part of `Module` that saves and loads parameters and persistent buffers."""

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: OrderedDict[int, Hook]
    _state_dict_hooks: OrderedDict[int, Hook]
    _load_state_dict_pre_hooks: OrderedDict[int, Hook]
    _load_state_dict_post_hooks: OrderedDict[int, Hook]
    _version = 1
    dump_patches: bool = False

    # Saving -------------------------------------------------------------------------------------

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Give all parameters and persistent buffers, with those of the submodules.

        Args:
            destination: The dictionary to fill; a new one if None.
            prefix: What every key begins with.
            keep_vars: Give the parameters themselves rather than detached tensors.

        Returns:
            An `OrderedDict` from dotted names to tensors that share memory with the module's:
            copy it before you train on.

        Example:
            >>> from minigrad import nn
            >>> list(nn.Sequential(nn.Linear(2, 3)).state_dict())
            ['0.weight', '0.bias']
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for pre_hook in self._state_dict_pre_hooks.values():
            pre_hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, child in self._modules.items():
            if child is not None:
                path = f"{prefix}{name}."
                child.state_dict(destination=destination, prefix=path, keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            replaced = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if replaced is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif replaced is not None:
                destination = replaced
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Write this module's own tensors (and extra state, if it has any)."""
        for name, tensor in _saved_tensors(self):
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + EXTRA_STATE] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """Give what else belongs in the state dict; a subclass that has something overrides it."""
        raise RuntimeError(_no_extra_state(self, "get_extra_state"))

    def set_extra_state(self, state: Any) -> None:
        """Take what `get_extra_state` gave; a subclass that has something overrides it."""
        raise RuntimeError(_no_extra_state(self, "set_extra_state"))

    # Loading ------------------------------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy the values of a state dict into the module.

        Whatever fits is loaded, also when the rest ends in an error.

        Args:
            state_dict: Dotted names and tensors, as `state_dict` gives them.
            strict: Whether the keys must be exactly those of the module.
            assign: Put the given tensors themselves in place, rather than copy their values.

        Returns:
            The missing and the unexpected keys.

        Raises:
            TypeError: If `state_dict` is no mapping.
            RuntimeError: If shapes differ, or, with `strict`, if keys do. All are listed.

        Example:
            >>> from minigrad import nn
            >>> here, there = nn.Linear(2, 3), nn.Linear(2, 3)
            >>> here.load_state_dict(there.state_dict())
            <All keys matched successfully>
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", {})

        def load(module: Any, local: Any, prefix: str) -> None:
            local_metadata = metadata.get(prefix[:-1], {})
            if assign:
                local_metadata["assign_to_params_buffers"] = True
            module._load_from_state_dict(local, prefix, local_metadata, True, *keys, errors)
            for name, child in module._modules.items():
                if child is not None:
                    path = f"{prefix}{name}."
                    below = {k: value for k, value in local.items() if k.startswith(path)}
                    load(child, below, path)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, keys) is not None:
                    raise AssertionError(
                        "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                        "expected to return new values, if incompatible_keys need to be modified, "
                        "it should be done inplace."
                    )

        copied = OrderedDict(state_dict)
        if metadata:
            copied._metadata = metadata  # type: ignore[attr-defined]
        load(self, copied, "")
        if strict:
            for kind, names in (("Unexpected", keys.unexpected_keys), ("Missing", keys[0])):
                if names:
                    listed = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{kind} key(s) in state_dict: {listed}. ")
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(errors)
            )
        return keys

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own tensors; note what is missing, unexpected or wrong."""
        noted = missing_keys, unexpected_keys, error_msgs
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, *noted)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = dict(_saved_tensors(self))
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                error = _load_tensor(self, name, tensor, key, state_dict[key], assign)
                if error is not None:
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA_STATE
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first, *rest = key[len(prefix) :].split(".", 1)
                    if first not in (self._modules if rest else own):
                        unexpected_keys.append(key)


def _saved_tensors(module: Any) -> Iterator[tuple[str, Tensor]]:
    """List a module's own parameters and persistent buffers."""
    for name, parameter in module._parameters.items():
        if parameter is not None:
            yield name, parameter
    for name, buffer in module._buffers.items():
        if buffer is not None and name not in module._non_persistent_buffers_set:
            yield name, buffer


def _load_tensor(
    module: Any, name: str, tensor: Any, key: str, value: Any, assign: bool
) -> str | None:
    """Copy one value, or put it in place; the result says what is wrong, if anything."""
    if not isinstance(value, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor or '
            f"Tensor-like object from checkpoint but received {type(value)}"
        )
    if tensor.ndim == 0 and value.shape == (1,):
        value = value[0]
    if tensor.shape != value.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {value.shape} from "
            f"checkpoint, the shape in current model is {tensor.shape}."
        )
    try:
        with no_grad():
            if not assign:
                tensor.copy_(value)
            elif isinstance(tensor, Parameter) and not isinstance(value, Parameter):
                setattr(module, name, Parameter(value, requires_grad=tensor.requires_grad))
            else:
                if isinstance(tensor, Parameter):
                    value.requires_grad_(tensor.requires_grad)
                setattr(module, name, value)
    except Exception as error:
        return (
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{tensor.size()} and whose dimensions in the checkpoint are {value.size()}, an "
            f"exception occurred : {error.args}."
        )
    return None


def _no_extra_state(module: Any, method: str) -> str:
    """Say that a class that has no extra state was asked for it, or given one."""
    return (
        f"Reached a code path in Module.{method}() that should never be called. Please file an "
        "issue at https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report "
        f"this bug. In minigrad: {type(module).__name__} has no extra state; define {method}()."
    )


class BoundHook:
    """A hook together with the module it was registered on.

    Hooks that are stored on a module and are called with that module would form a reference
    cycle if they held it. This one holds a weak reference; pickling and copying make a new weak
    reference to the copied module.

    Args:
        hook: The function to call.
        module: The module to pass as the first argument; None for a hook that takes no module.

    Raises:
        RuntimeError: When called after the module is gone.
    """

    def __init__(self, hook: Callable[..., Any], module: Any = None) -> None:
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.with_module = module is not None
        if self.with_module:
            self.module: weakref.ref[Any] = weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the hook, with the module in front if it wants it."""
        if not self.with_module:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        """Replace the weak reference, which cannot be pickled, by the module itself."""
        state = {"hook": self.hook, "with_module": self.with_module}
        if self.with_module:
            state["module"] = self.module()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refer weakly to the module of the copy."""
        if state["with_module"] and state["module"] is None:
            raise RuntimeError("You are trying to revive the hook of a dead Module!")
        BoundHook.__init__(self, state["hook"], state.get("module"))
