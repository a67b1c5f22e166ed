"""Run every test of `optim` twice: on minigrad, and on PyTorch where it is installed.

So each expectation below is one that PyTorch fulfills too.
"""

from __future__ import annotations

import importlib

import pytest


@pytest.fixture(params=["minigrad", "torch"])
def torch(request):
    package = pytest.importorskip(request.param)
    importlib.import_module(f"{request.param}.nn")
    importlib.import_module(f"{request.param}.optim")
    yield package
    optimizers = importlib.import_module(f"{request.param}.optim.optimizer")
    assert not optimizers._global_optimizer_pre_hooks
    assert not optimizers._global_optimizer_post_hooks
