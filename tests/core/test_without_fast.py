"""Without `minigrad.fast` operations and passes are interpreted, and everything is the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
QUIETLY = ("-q", "--no-header", "--tb=short", "-p", "no:xdist", "-p", "no:cacheprovider")


@pytest.mark.parametrize("tests", ["tests/autograd", "tests/oracle/test_oracle.py"])
def test_the_same_tests_pass(tests: str) -> None:
    command = [sys.executable, "-m", "pytest", *QUIETLY, tests]
    environment = os.environ | {"MINIGRAD_FAST": "0"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
