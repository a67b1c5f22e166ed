"""Run random programs of modules with hooks on torch and on minigrad and show where they part:
``python3 tests/oracle/fuzz_modules.py --seed 1 --count 1000``, or ``--record`` the corpus anew.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

if not __package__:
    # Run as a script: find the package that this file belongs to.
    sys.path[:0] = [str(Path(__file__).parents[n]) for n in (1, 2)]
    __package__ = import_module("oracle").__name__

from .fuzz import module_corpus, module_fuzzing


def main() -> int:
    """Run the programs asked for; 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--show", type=int, default=3, help="how many failures to make small")
    parser.add_argument("--record", action="store_true", help="record the corpus anew instead")
    options = parser.parse_args()
    if options.record:
        module_corpus.record()
        return 0
    return module_fuzzing.search(options.seed, options.count, options.show)


if __name__ == "__main__":
    raise SystemExit(main())
