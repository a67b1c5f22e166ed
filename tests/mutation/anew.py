"""Run pytest in a process in which a mutant was there before the package was imported."""

import json
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest

from .mutants import planted

if __name__ == "__main__":
    FILE, PLACE, VARIANT = json.loads(sys.argv[1])
    compiled = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, name: str) -> CodeType | None:
        """Give a module's code, in one case with the mutant."""
        if not self.path.endswith(FILE):
            return compiled(self, name)
        return planted(Path(self.path).read_text(encoding="utf-8"), PLACE, VARIANT, self.path)

    SourceFileLoader.get_code = get_code  # type: ignore[assignment, method-assign]
    sys.exit(pytest.main(sys.argv[2:]))
