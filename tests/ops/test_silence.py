"""Infinities, NaN and overflow are silent, as in PyTorch, also where warnings are shown always."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad as torch
from minigrad.autograd.rules import ignore_errstate

ODD = torch.tensor([np.inf, -np.inf, 3e38, 3e38, 0.0])
HALF = torch.tensor([6e4, 6e4], dtype=torch.float16)
MATRIX = torch.tensor([[3e38, np.inf], [np.inf, -np.inf]])


def test_numpy_itself_still_warns() -> None:
    """The silence ends with the operation."""
    with np.errstate(invalid="warn"):  # whatever a test before this one left
        ODD.sum()
        with pytest.warns(RuntimeWarning, match="invalid value"):
            np.add.reduce(ODD.numpy())


def test_one_silence_within_another() -> None:
    """A quiet function may call another one, in this thread and in others."""

    @ignore_errstate
    def inner(array: Any) -> Any:
        return np.log(array)

    def in_a_thread(array: Any) -> None:
        found.append(inner(array))

    @ignore_errstate
    def outer(array: Any) -> Any:
        thread = threading.Thread(target=in_a_thread, args=(array,))
        thread.start()
        thread.join()
        return inner(array) + np.log(array)

    found: list[Any] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert outer(np.zeros(1)).tolist() == [-np.inf]
    assert found[0].tolist() == [-np.inf]


def test_a_pass_leaves_the_settings_of_numpy_as_they_were() -> None:
    """Also one that ends with an error."""

    def settings() -> Any:
        return np.geterr(), np.getbufsize()

    seen: list[Any] = []
    before = settings()
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).sum()
    handle = x.register_hook(lambda grad: seen.append(settings()))
    y.backward(retain_graph=True)
    assert settings() == before != seen[0]
    handle.remove()
    x.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.backward()
    assert settings() == before
