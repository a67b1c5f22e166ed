"""Turn away a Python that minigrad does not run on, with advice; an old Python reads this."""

import os
import sys

OLDEST = (3, 11)
NEWEST = (3, 14)  # the newest for which the locks hold ready-made packages


def require(command):
    """Leave with advice unless this Python is one that minigrad runs on."""
    if OLDEST <= tuple(sys.version_info[:2]) <= NEWEST:
        return
    is_this = ".".join(map(str, sys.version_info[:3]))
    launch = "py -3.%d" if os.name == "nt" else "python3.%d"
    sys.exit(
        "minigrad needs Python %d.%d to %d.%d; this is Python %s.\n"
        "Install one (Windows, macOS: from python.org; Linux: with the package manager), unless "
        "you have one.\nThen name it:  %s %s"
        % (OLDEST + NEWEST + (is_this, launch % NEWEST[1], command))
    )
