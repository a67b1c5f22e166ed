"""Check a group of parameters that an optimizer is given, and complete its settings."""

from __future__ import annotations

from itertools import chain
from typing import Any

from minigrad.nn.naming import typename
from minigrad.nn.warning import warn
from minigrad.tensor import Tensor

Group = dict[str, Any]


class _Required:
    """Stand among the defaults where every group must say its own."""

    def __repr__(self) -> str:
        """Say what is missing."""
        return "<required parameter>"


required = _Required()


def complete(param_group: Group, defaults: dict[str, Any]) -> None:
    """Turn a group's parameters into a list and fill in the settings it lacks, in place.

    Args:
        param_group: A dictionary with `"params"`: a tensor, tensors, or pairs of name and tensor.
        defaults: The settings of groups that do not say otherwise.

    Raises:
        TypeError: If it is no dictionary, or its parameters are a set or no tensors.
        ValueError: If a parameter is no leaf, a required setting is missing, or only some
            parameters have names.
    """
    if not isinstance(param_group, dict):
        raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
    params = param_group["params"]
    if isinstance(params, Tensor):
        params = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the "
            "ordering of tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    named = [isinstance(param, tuple) for param in params]
    if any(named):
        if not all(named):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        param_group["param_names"] = [pair[0] for pair in params]
        params = [pair[1] for pair in params]
    param_group["params"] = params
    for param in params:
        if not isinstance(param, Tensor):
            raise TypeError(
                f"optimizer can only optimize Tensors, but one of the params is {typename(param)}"
            )
        if not (defaults.get("differentiable") or param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")
    for name, default in defaults.items():
        if default is required and name not in param_group:
            raise ValueError(
                f"parameter group didn't specify a value of required optimization parameter {name}"
            )
        param_group.setdefault(name, default)
    if len(set(params)) != len(params):
        warn(
            "optimizer contains a parameter group with duplicate parameters; in future, this "
            "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more "
            "information",
            UserWarning,
        )


def check_against_other_groups(param_group: Group, groups: list[Group]) -> None:
    """Refuse a group that shares parameters with another, or alone has names or lacks them.

    Raises:
        ValueError: In either case.
    """
    if groups and ("param_names" in param_group) != ("param_names" in groups[0]):
        kind = "with names" if "param_names" in param_group else "without names"
        raise ValueError(
            "all optimizer param groups should be with/without names. cannot add param group "
            f"{kind} to the optimizer"
        )
    known = set(chain.from_iterable(group["params"] for group in groups))
    if not known.isdisjoint(param_group["params"]):
        raise ValueError("some parameters appear in more than one parameter group")
