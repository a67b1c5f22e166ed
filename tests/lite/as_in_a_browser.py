"""Run a solved lesson under a Python like that of a browser: no thread starts, no MPI is there."""

import contextlib
import json
import sys
import sysconfig
import threading
import types

PACKAGES, LESSON = sys.argv[1:]


def start(thread: threading.Thread) -> None:
    """Fail as Pyodide does."""
    raise RuntimeError("can't start new thread")


sysconfig.get_paths()  # asked while Python still knows where it is
threading.Thread.start = start  # type: ignore[method-assign]
sys.platform = "emscripten"
sys.path.insert(0, PACKAGES)
with open(LESSON, encoding="utf-8") as file:
    cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
notebook = types.ModuleType("__main__")
sys.modules["__main__"] = notebook
for number, cell in enumerate(cells):
    raises = "raises-exception" in cell["metadata"].get("tags", ())
    with contextlib.suppress(Exception) if raises else contextlib.nullcontext():
        exec(compile("".join(cell["source"]), f"<cell {number}>", "exec"), vars(notebook))
