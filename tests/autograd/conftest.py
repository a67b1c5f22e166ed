"""Run a test of `autograd` twice: on minigrad, and on PyTorch where it is installed.

So each expectation of a test that takes `torch` is one that PyTorch fulfills too.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import pytest


@pytest.fixture(params=["minigrad", "torch"])
def torch(request):
    package = pytest.importorskip(request.param)
    yield package
    assert package.is_grad_enabled(), "a test left grad mode off"


@pytest.fixture
def draw(torch) -> Callable[..., Any]:
    """Draw tensors of random numbers, the same in both packages."""
    source = np.random.default_rng(2013)

    def make(*shape: int, requires_grad: bool = False) -> Any:
        array = np.asarray(source.standard_normal(shape))
        return torch.tensor(array, requires_grad=requires_grad)

    return make


@pytest.fixture
def refused(torch) -> Callable[..., AbstractContextManager[None]]:
    """Expect an error: PyTorch's type and text, in minigrad followed by what to do.

    Where advice is expected, the text given is PyTorch's whole text.
    """

    @contextmanager
    def expect(kind: type[Exception], text: str, advice: str = "") -> Iterator[None]:
        with pytest.raises(kind) as caught:
            yield
        said = str(caught.value)
        assert caught.type is kind
        assert said.startswith(text)
        if advice and torch.__name__ == "torch":
            assert said.rstrip(". ") == text.rstrip(". ")
        elif advice:
            assert advice in said[len(text) :]

    return expect


@pytest.fixture
def define(torch):
    """Make a `Function` from its forward and backward."""

    def make(forward, backward=None, name="Mine", **more):
        methods = {"forward": staticmethod(forward)}
        if backward is not None:
            methods["backward"] = staticmethod(backward)
        methods |= {key: staticmethod(value) for key, value in more.items()}
        return type(name, (torch.autograd.Function,), methods)

    return make


@pytest.fixture
def collector_off() -> Iterator[None]:
    """Let reference counts alone free what is freed."""
    gc.collect()
    gc.freeze()  # what stays need not be looked through again by the next test
    gc.disable()
    yield
    gc.enable()
