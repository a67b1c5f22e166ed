"""Make the environment, no more: `python3 -m _start tests` prints the path of its Python."""

import sys

from . import console, environment

if __name__ == "__main__":
    sys.exit(console.guarded(lambda: print(environment.ensure(sys.argv[1]).python) or 0))
