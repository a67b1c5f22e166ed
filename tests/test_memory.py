"""Freed memory is kept for the next step, unless the environment says not to."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ASK = "from minigrad.creation.layout import keep_freed_memory; print(keep_freed_memory())"


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
