"""Freed memory is kept for the next step, unless the environment says not to."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

import minigrad

ROOT = Path(__file__).resolve().parent.parent
ASK = "from minigrad.creation.memory import keep_freed_memory; print(keep_freed_memory())"


def ask(**environment):
    """Ask in a fresh interpreter whether it is done."""
    answer = subprocess.run(
        [sys.executable, "-c", ASK],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
        check=True,
    )
    return answer.stdout.strip()


def test_it_is_done_by_default_and_can_be_switched_off():
    assert ask() == "True"
    assert ask(MINIGRAD_KEEP_FREED_MEMORY="0") == "False"


def test_the_size_of_a_storage_is_pytorchs():
    assert sys.getsizeof(minigrad.ones(100).untyped_storage()) == 464


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_process_changes_what_is_in_shared_memory_and_nothing_else(method):
    layer, alone = minigrad.nn.Linear(2, 3).share_memory(), minigrad.nn.Linear(2, 3)
    assert layer.weight.is_shared() and not alone.weight.is_shared()
    for weight in (layer.weight.detach()[1:], alone.weight):
        fill = minigrad.nn.init.ones_
        process = multiprocessing.get_context(method).Process(target=fill, args=(weight,))
        process.start()
        process.join(60)
        assert process.exitcode == 0
    assert layer.weight.eq(1).all(1).tolist() == [False, True, True]
    assert not alone.weight.eq(1).any()
