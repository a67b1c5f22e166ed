"""Keep parameters in groups with their settings, and let hooks watch each step."""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from itertools import chain
from typing import Any

from minigrad.autograd.modes import set_grad_enabled
from minigrad.nn.naming import typename
from minigrad.optim.hooks import (
    TABLES,
    HookRegistration,
    _global_optimizer_post_hooks,
    _global_optimizer_pre_hooks,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)
from minigrad.optim.param_groups import Group, check_against_other_groups, complete, required
from minigrad.tensor import Tensor

__all__ = [
    "Optimizer",
    "_global_optimizer_post_hooks",
    "_global_optimizer_pre_hooks",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]


class Optimizer(HookRegistration):
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
    """

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.__dict__.update((table, OrderedDict()) for table in TABLES)
        self._patch_step_function()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or "
                f"dicts, but got {typename(params)}"
            )
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
            for pre_hook in chain(
                _global_optimizer_pre_hooks.values(), optimizer._optimizer_step_pre_hooks.values()
            ):
                replaced = pre_hook(optimizer, args, kwargs)
                if replaced is None:
                    continue
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(
                        f"{func} must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {replaced}."
                    )
                args, kwargs = replaced
            result = func(*args, **kwargs)
            for post_hook in chain(
                optimizer._optimizer_step_post_hooks.values(), _global_optimizer_post_hooks.values()
            ):
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
                gradient = parameter.grad
                if gradient is None:
                    continue
                if set_to_none:
                    parameter.grad = None
                    continue
                if gradient.grad_fn is not None:
                    gradient.detach_()
                else:
                    gradient.requires_grad_(False)
                gradient.zero_()

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters.

        Args:
            param_group: A dictionary with `"params"` and any settings that differ from the
                defaults. It is completed in place.

        Raises:
            TypeError: If it is no dictionary, or its parameters are a set or no tensors.
            ValueError: If a parameter is no leaf or belongs to another group, or only some
                parameters have names.
        """
        complete(param_group, self.defaults)
        check_against_other_groups(param_group, self.param_groups)
        self.param_groups.append(param_group)

    # Saving and loading -------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Give the state and the settings, with parameters replaced by their numbers.

        Returns:
            `{"state": {number: state}, "param_groups": [{..., "params": [numbers]}]}`.
        """
        for pre_hook in self._optimizer_state_dict_pre_hooks.values():
            pre_hook(self)
        numbers: dict[int, int] = {}
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
        state_dict: dict[str, Any] = {
            "state": {
                numbers[id(key)] if isinstance(key, Tensor) else key: value
                for key, value in self.state.items()
            },
            "param_groups": [
                {
                    **{name: value for name, value in group.items() if name != "params"},
                    "params": [numbers[id(parameter)] for parameter in group["params"]],
                }
                for group in self.param_groups
            ],
        }
        for hook in self._optimizer_state_dict_post_hooks.values():
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
        state_dict = state_dict.copy()
        for pre_hook in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = pre_hook(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        groups = deepcopy(state_dict["param_groups"])
        if len(groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(
            len(new["params"]) != len(old["params"])
            for new, old in zip(groups, self.param_groups, strict=True)
        ):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of "
                "optimizer's group"
            )
        parameters: dict[Any, Any] = {}
        for new, old in zip(groups, self.param_groups, strict=True):
            parameters |= zip(new["params"], old["params"], strict=True)
            new["params"] = old["params"]
            if "param_names" in old:
                new.setdefault("param_names", old["param_names"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            parameter = parameters.get(key)
            state[key if parameter is None else parameter] = _fit(value, parameter)
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in self._optimizer_load_state_dict_post_hooks.values():
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        """Give what a pickle or a copy keeps: hooks are left behind, as in PyTorch."""
        return {
            "defaults": self.defaults,
            "state": self.state,
            "param_groups": self.param_groups,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the state of a pickle or a copy."""
        self.__dict__.update(state)
        for table in TABLES:
            self.__dict__.setdefault(table, OrderedDict())
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        """Print the settings of each group."""
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            text += f"\nParameter Group {number}\n"
            text += "".join(
                f"    {name}: {group[name]}\n" for name in sorted(group) if name != "params"
            )
        return text + ")"


def _fit(value: Any, parameter: Any, name: Any = None) -> Any:
    """Give loaded state the element type of its parameter, if that is floating point.

    A count of steps stays what it is, lest it grow inexact.
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


def _use_grad_for_differentiable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Let a step be recorded only if its optimizer was made with `differentiable=True`."""

    @functools.wraps(step)
    def recorded_or_not(*args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(args[0].defaults["differentiable"]):
            return step(*args, **kwargs)

    return recorded_or_not
