"""Run the whole suite: `python3 tests` makes the environment and hands its arguments to pytest."""

import os
import sys

sys.path[0] = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lessons")

from _start import python_version  # noqa: E402

if __name__ == "__main__":
    python_version.require("tests")  # first: an old Python could not read what follows
    from _start import console, suite

    sys.exit(console.guarded(lambda: suite.run(sys.argv[1:])))
