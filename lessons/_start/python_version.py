"""Turn away a Python that minigrad does not run on, with advice; even Python 2.7 reads this."""

import os
import subprocess
import sys

OLDEST = (3, 11)
NEWEST = (3, 14)  # the newest for which the locks hold ready-made packages


def require(command):
    """Leave with advice unless this Python is one that minigrad runs on."""
    if OLDEST <= tuple(sys.version_info[:2]) <= NEWEST:
        return
    sys.stderr.write(advice(command, tuple(sys.version_info[:3]), find_others()))
    sys.stderr.write("\n")
    sys.exit(2)


def find_others():
    """Names of Pythons on this machine that would do, the newest first."""
    found = []
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        name = "python3.%d" % minor
        try:
            if not subprocess.call([name, "-V"], stdout=subprocess.PIPE, stderr=subprocess.PIPE):
                found.append(name)
        except OSError:
            continue
    return found


def advice(command, version, others):
    """Say which Python is needed, and how to get on from here."""
    told = "minigrad needs Python %d.%d to %d.%d; this is Python %s.\n" % (
        OLDEST + NEWEST + (".".join(map(str, version)),)
    )
    if others:
        return told + "A newer one is on this machine. Run:  %s %s" % (others[0], command)
    launch = "py -3.%d" if os.name == "nt" else "python3.%d"
    told += "Install one (Windows, macOS: from python.org; Linux: with the package manager).\n"
    return told + "Then run:  %s %s" % (launch % NEWEST[1], command)
