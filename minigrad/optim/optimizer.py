"""Keep parameters in groups with their settings, and let hooks watch each step."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any, ClassVar

from minigrad.autograd.messages import warn
from minigrad.core.hooks import RemovableHandle
from minigrad.core.tensor import Tensor
from minigrad.creation.devices import typename
from minigrad.nn.modules.layer import constructor
from minigrad.nn.modules.module import enter
from minigrad.nn.parameter import forget_gradient

Group = dict[str, Any]
Hook = Callable[..., Any]

_global_optimizer_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Hook] = OrderedDict()


class _Required:
    """Stand among the defaults where every group must say its own."""

    def __repr__(self) -> str:
        """Say what is missing."""
        return "<required parameter>"


required = _Required()


class Optimizer:
    """Base class of optimizers: subclasses define `step`.

    Args:
        params: The parameters, or pairs of name and parameter, or dictionaries that define
            groups: `{"params": [...], "lr": 0.1}`.
        defaults: The settings of groups that do not say otherwise.

    Attributes:
        param_groups: A list of dictionaries, each with its `"params"` and settings.
        state: What the optimizer remembers of each parameter.

    Raises:
        TypeError: If `params` is a single tensor, or holds something else than tensors.
        ValueError: If there are no parameters, one is no leaf, or one is in two groups.

    Example:
        >>> import minigrad as torch
        >>> class SignSGD(torch.optim.Optimizer):
        ...     def __init__(self, params, lr):
        ...         super().__init__(params, {"lr": lr})
        ...     @torch.no_grad()
        ...     def step(self, closure=None):
        ...         for group in self.param_groups:
        ...             for p in group["params"]:
        ...                 p -= group["lr"] * p.grad.sign()
        >>> x = torch.tensor([3.0, -1.0], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> SignSGD([x], lr=0.5).step()
        >>> x
        tensor([ 2.5000, -0.5000], requires_grad=True)
    """

    _settings: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, settings: str | None = None, **others: Any) -> None:
        """Write `__init__` for a class, which then defines `_set_up`.

        Args:
            settings: Its arguments after `params`.
            **others: For other base classes.
        """
        super().__init_subclass__(**others)
        if settings is not None:
            line = "self._set_up(params, {settings})"
            cls._settings = constructor(cls, "self, params", settings, line)

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._opt_called = False
        self._make_hook_tables()
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError("params must be tensors or dicts in a list; put this tensor into one")
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    # Stepping -----------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters; every optimizer defines its own."""
        raise NotImplementedError

    def _patch_step_function(self) -> None:
        """Wrap the class's `step` once, so that hooks run around it."""
        kind: Any = type(self)
        if not hasattr(kind.step, "hooked"):
            kind.step = self.profile_hook_step(kind.step)
            kind.step.hooked = True

    @staticmethod
    def profile_hook_step(func: Callable[..., Any]) -> Callable[..., Any]:
        """Give a step that runs the hooks around the given one.

        A pre-hook may return new arguments; the later hooks and the step are given those.
        """

        @functools.wraps(func)
        def hooked_step(*args: Any, **kwargs: Any) -> Any:
            optimizer = args[0]
            own = optimizer._optimizer_step_pre_hooks
            for pre_hook in chain(_global_optimizer_pre_hooks.values(), own.values()):
                replaced = pre_hook(optimizer, args, kwargs)
                if replaced is None:
                    continue
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(
                        f"{func} must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {replaced}."
                    )
                args, kwargs = replaced
            result = func(args[0], *args[1:], **kwargs)  # IndexError if a hook left nothing
            optimizer._opt_called = True  # what schedules look at
            own = optimizer._optimizer_step_post_hooks
            for post_hook in chain(own.values(), _global_optimizer_post_hooks.values()):
                post_hook(optimizer, args, kwargs)
            return result

        return hooked_step

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters.

        Args:
            set_to_none: Set them to None; otherwise fill them with zeros, in place.
        """
        for group in self.param_groups:
            for parameter in group["params"]:
                forget_gradient(parameter, set_to_none)

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters.

        Args:
            param_group: A dictionary with `"params"` and any settings that differ from the
                defaults. It is completed in place.

        Raises:
            TypeError: If it isn't a dictionary, or its parameters are a set or not tensors.
            ValueError: If a parameter is no leaf or belongs to another group.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need an order: give a list of them, not a set")
        params = param_group["params"] = [params] if isinstance(params, Tensor) else list(params)
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, not {typename(param)}")
            if not (self.defaults.get("differentiable") or param.is_leaf or param.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if param_group.setdefault(name, default) is required:
                raise ValueError(f"parameter group didn't specify a value of required {name}")
        if len(set(params)) != len(params):
            warn("optimizer contains a parameter group with duplicate parameters: list each once")
        known = set(chain.from_iterable(group["params"] for group in self.param_groups))
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    # Hooks --------------------------------------------------------------------------------------

    def _make_hook_tables(self) -> None:
        for event in ("step", "state_dict", "load_state_dict"):
            for time in ("pre", "post"):
                self.__dict__.setdefault(f"_optimizer_{event}_{time}_hooks", OrderedDict())

    def _hooks(self, moment: str) -> OrderedDict[int, Hook]:
        return self.__dict__[f"_optimizer_{moment}_hooks"]

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)`, called before each step.

        It returns None or `(new_args, new_kwargs)`; the first argument is the optimizer itself.
        """
        return enter(hook, self._hooks("step_pre"))

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """Register `hook(optimizer, args, kwargs)`, called after each step."""
        return enter(hook, self._hooks("step_post"))

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer)`, called before the state dict is made."""
        return enter(hook, self._hooks("state_dict_pre"), prepend=prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)`; it may return another state dict."""
        return enter(hook, self._hooks("state_dict_post"), prepend=prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer, state_dict)`; it may return another state dict to load."""
        return enter(hook, self._hooks("load_state_dict_pre"), prepend=prepend)

    def register_load_state_dict_post_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Register `hook(optimizer)`, called after a state dict was loaded."""
        return enter(hook, self._hooks("load_state_dict_post"), prepend=prepend)

    # Saving and loading -------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Give the state and the settings, with parameters replaced by their numbers.

        Returns:
            What `load_state_dict` takes: "state" by number, and "param_groups" with numbers.
        """
        for pre_hook in self._hooks("state_dict_pre").values():
            pre_hook(self)
        all_params = chain.from_iterable(group["params"] for group in self.param_groups)
        numbers = {id(each): number for number, each in enumerate(all_params)}
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        groups = [
            {name: value for name, value in group.items() if name != "params"}
            | {"params": [numbers[id(parameter)] for parameter in group["params"]]}
            for group in self.param_groups
        ]
        return self._passed_on("state_dict_post", {"state": state, "param_groups": groups})

    def _passed_on(self, moment: str, state_dict: dict[str, Any]) -> dict[str, Any]:
        """Let hooks see, and replace, a state dict."""
        for hook in self._hooks(moment).values():
            replaced = hook(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        return state_dict

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state and the settings of a state dict; parameters match by place.

        Args:
            state_dict: What `state_dict` gave.

        Raises:
            ValueError: If the groups, or the numbers of parameters in them, differ.
        """
        state_dict = self._passed_on("load_state_dict_pre", state_dict.copy())
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        pairs = [*zip(groups, self.param_groups, strict=True)]
        if any(len(new["params"]) != len(old["params"]) for new, old in pairs):
            raise ValueError("loaded state dict contains a parameter group of another size")
        parameters: dict[Any, Any] = {}
        for new, old in pairs:
            parameters |= zip(new["params"], old["params"], strict=True)
            new["params"] = old["params"]
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            parameter = parameters.get(key)
            state[key if parameter is None else parameter] = _fit(value, parameter)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._hooks("load_state_dict_post").values():
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        """Give what a pickle or a copy keeps: hooks are left behind, as in PyTorch."""
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a pickle or a copy."""
        self.__dict__.update(state)
        self._make_hook_tables()
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        """Print the settings of each group."""
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            names = sorted(group.keys() - {"params"})
            text += "".join(f"    {name}: {group[name]}\n" for name in names)
        return text + ")"


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that runs before each step of every optimizer, before its own hooks."""
    return enter(hook, _global_optimizer_pre_hooks)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """Register a hook that runs after each step of every optimizer, after its own hooks."""
    return enter(hook, _global_optimizer_post_hooks)


def _fit(value: Any, parameter: Any, name: Any = None) -> Any:
    """Give loaded state the element type of its parameter, if that is floating point.

    A count of steps stays what it is, so that it stays exact.
    """
    if isinstance(value, Tensor):
        if parameter is not None and parameter.is_floating_point() and name != "step":
            return value.to(parameter.dtype)
        return value
    if isinstance(value, dict):
        return {key: _fit(entry, parameter, key) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fit(entry, parameter) for entry in value)
    return value
