"""Start the lessons: `python3 lessons` makes the environment, checks it and opens JupyterLab."""

import sys

from _start import python_version

if __name__ == "__main__":
    python_version.require("lessons")  # first: an old Python could not read what follows
    from _start import boot

    sys.exit(boot.main(sys.argv[1:]))
