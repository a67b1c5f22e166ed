"""Build a site of the lessons that computes in the browser, with JupyterLite and Pyodide."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from _tools import sites
from _tools.lite import staging, wheels

MARK = "jupyter-lite.json"
KERNEL = "@jupyterlite/pyodide-kernel-extension"
# From Pyodide itself, because they are compiled; each brings what it needs.
COMPILED = ("numpy", "matplotlib")
# The path to the wheels from a worker of the kernel's extension, which loads them.
UP = "../../../../pypi/"
NOTES = "/drive/progress.json"  # among the learner's own files


def main(folder: Path, lessons: tuple[str, ...] = (), pyodide: Path | None = None) -> int:
    """Build the site from scratch.

    Args:
        folder: where to; the new site replaces an old one there when it is complete.
        lessons: numbers of the lessons to include; all by default.
        pyodide: a folder with Pyodide to include; by default, the site loads it from the network.

    Returns:
        An exit code.
    """

    def make(staged: Path, built: Path) -> int:
        staging.stage(staged / "contents", lessons)
        config = json.dumps(settings(wheels.pack(staged / "pypi")), indent=1) + "\n"
        (staged / MARK).write_text(config, encoding="utf-8")
        for name in ("jupyter_lite_config.json", "overrides.json"):
            shutil.copy(Path(__file__).with_name(name), staged)
        if pyodide is not None:  # where JupyterLite finds it, and says so to the kernel
            shutil.copytree(pyodide, staged / "static" / "pyodide")
        extension = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / KERNEL
        command = [sys.executable, "-m", "jupyterlite_core", "build", f"--output-dir={built}"]
        command += [f"--LiteBuildConfig.federated_extensions={extension}"]
        nowhere = str(staged / "nowhere")  # so that no other Jupyter settings are read
        env = os.environ | {"JUPYTER_CONFIG_DIR": nowhere, "JUPYTER_DATA_DIR": nowhere}
        print("building the site", flush=True)
        return subprocess.call(command, cwd=staged, env=env)

    code = sites.build(folder, MARK, "site of JupyterLite", make)
    if code == 0:
        print("Opened as a file, it can't run. Publish the folder, or serve it here:")
        print(f'  python3 -m http.server -d "{folder}"    and open http://localhost:8000')
    return code


def settings(names: list[str]) -> dict[str, Any]:
    """Return the site's settings, with what its kernel loads before the first cell runs.

    Args:
        names: the file names of the wheels.
    """
    loads = {
        "packages": [*COMPILED, *(UP + name for name in names)],
        "env": {"HOME": "/home/pyodide", "MINIGRAD_PROGRESS": NOTES},
    }
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "minigrad",
            "contentsStorageName": "minigrad",
            "litePluginSettings": {f"{KERNEL}:kernel": {"loadPyodideOptions": loads}},
        },
    }
