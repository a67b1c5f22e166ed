"""Run random tensor programs on torch and on minigrad and show where they part:
``python3 tests/oracle/fuzz_tensors.py --seed 1 --count 1000``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

if not __package__:
    # Run as a script: find the packages that this file belongs to.
    sys.path[:0] = [str(Path(__file__).parents[n]) for n in (1, 2)]
    __package__ = import_module("oracle").__name__

from .fuzz import program_features, tensor_corpus, tensor_fuzzing
from .fuzz.program_maker import WIDE_FROM, make
from .fuzz.programs import run_program, source
from .fuzz.tensor_fuzzing import compare


def main() -> int:
    """Run the programs asked for; 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first program")
    parser.add_argument("--count", type=int, default=1000, help="how many programs")
    parser.add_argument("--show", type=int, default=3, help="how many failures to make small")
    parser.add_argument("--print", action="store_true", help="print the programs and do no more")
    parser.add_argument("--features", action="store_true", help="count what the programs do")
    parser.add_argument("--record", action="store_true", help="keep the programs for replaying")
    options = parser.parse_args()
    seeds = [*range(options.seed, options.seed + options.count)]
    if options.print:
        for seed in seeds:
            print(f"# seed {seed}\n{source(make(seed))}\n")
        return 0
    torch = import_module("torch")
    torch.set_num_threads(1)
    if options.record:
        # as many programs of all operations, of which only those that do the same everywhere
        wide = range(WIDE_FROM + options.seed, WIDE_FROM + options.seed + options.count)
        seeds += [seed for seed in wide if not compare(make(seed), torch)]
        recorded = {seed: (make(seed), run_program(make(seed), torch)) for seed in seeds}
        tensor_corpus.write(torch.__version__.split("+")[0], recorded)
        print(f"{len(recorded)} programs, {tensor_corpus.PATH.stat().st_size} bytes")
        return 0
    if options.features:
        counter: Counter[str] = Counter()
        for seed in seeds:
            program = make(seed)
            program_features.count(program, run_program(program, torch), counter)
        for name, number in sorted(counter.items()):
            print(f"{number:7} {name}")
        return 0
    return tensor_fuzzing.search(seeds, torch, options.show)


if __name__ == "__main__":
    raise SystemExit(main())
