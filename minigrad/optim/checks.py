"""Refuse settings that make no sense, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from minigrad.tensor import Tensor

_WORDS = {"eps": "epsilon"}


def check_rate(lr: Any) -> None:
    """Refuse a learning rate below zero, or a tensor of several.

    Raises:
        ValueError: In either case.
    """
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_not_negative(**settings: Any) -> None:
    """Refuse settings below zero.

    Raises:
        ValueError: If there is one.
    """
    for name, value in settings.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {_WORDS.get(name, name)} value: {value}")


def check_betas(betas: Any) -> None:
    """Refuse factors of running averages that are not from 0 to below 1.

    Raises:
        ValueError: If there is one.
    """
    for index in (0, 1):
        if not 0.0 <= betas[index] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {betas[index]}")


def check_fused(fused: Any, foreach: Any, differentiable: bool) -> None:
    """Refuse ways of stepping that exclude each other.

    Raises:
        RuntimeError: If there are such.
    """
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_fused_parameter(parameter: Tensor) -> None:
    """Refuse integers where a fused step was asked for.

    Raises:
        RuntimeError: If the parameter is not floating point.
    """
    if not parameter.is_floating_point():
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of supported "
            "devices: ['mps', 'cuda', 'xpu', 'hpu', 'cpu', 'mtia', 'privateuseone'] but "
            f"{parameter.dtype} and cpu"
        )
