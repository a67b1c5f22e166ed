"""Say what is missing where NumPy is: minigrad computes with it, and needs nothing else."""

import sys as _sys

_INSTALL = "Install it:  pip install numpy"
_IN_A_BROWSER = (
    "In a browser it is loaded when the kernel starts: from cdn.jsdelivr.net, or from the site "
    "itself if that has it. See that you are online, and choose Kernel, Restart. If that does not "
    "help, please tell those who publish the site."
)

try:
    import numpy as numpy
except ModuleNotFoundError as error:
    if error.name != "numpy":  # it is here, and broken: it says how
        raise
    raise ImportError(
        "minigrad computes with NumPy, and there is no NumPy here. "
        + (_IN_A_BROWSER if _sys.platform == "emscripten" else _INSTALL),
        name="numpy",
    ) from None
