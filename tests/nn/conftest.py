"""Run every test of `nn` twice: on minigrad, and on PyTorch itself where it is installed.

So each expectation below is one that PyTorch fulfills too.
"""

from __future__ import annotations

import importlib

import pytest


@pytest.fixture(params=["minigrad", "torch"])
def torch(request):
    package = pytest.importorskip(request.param)
    importlib.import_module(f"{request.param}.nn")
    yield package
    hooks = importlib.import_module(f"{request.param}.nn.modules.module")
    leftover = [name for name in vars(hooks) if name.startswith("_global") and vars(hooks)[name]]
    hooks._global_is_full_backward_hook = None
    if request.param == "torch":  # it leaves the ids of removed hooks in this table
        hooks._global_forward_hooks_with_kwargs.clear()
        leftover = [name for name in leftover if name != "_global_forward_hooks_with_kwargs"]
    assert set(leftover) <= {"_global_is_full_backward_hook"}


@pytest.fixture
def hooks(torch):
    """The module with the global forms of the hooks."""
    return importlib.import_module(f"{torch.__name__}.nn.modules.module")
