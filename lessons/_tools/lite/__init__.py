"""Make a site of the lessons that computes in the reader's browser, by JupyterLite and Pyodide."""

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
# From Pyodide itself, as they are compiled; each brings what it needs.
COMPILED = ("numpy", "matplotlib")
# From a worker of the kernel's extension, which is what asks for them, to the wheels.
UP = "../../../../pypi/"
NOTES = "/drive/progress.json"  # among the learner's own files


def main(folder: Path, lessons: tuple[str, ...] = (), pyodide: Path | None = None) -> int:
    """Build the site from scratch.

    Args:
        folder: where to; a site that is there gives way when the new one is complete.
        lessons: numbers of the lessons to take; all by default.
        pyodide: a folder with Pyodide, to go into the site; by default its address in the network.

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
        nowhere = str(staged / "nowhere")  # so that no other settings of Jupyter are read
        env = os.environ | {"JUPYTER_CONFIG_DIR": nowhere, "JUPYTER_DATA_DIR": nowhere}
        print("building the site", flush=True)
        return subprocess.call(command, cwd=staged, env=env)

    return sites.build(folder, MARK, "site of JupyterLite", make)


def settings(names: list[str]) -> dict[str, Any]:
    """Say what the site is, and what its kernel loads before the first cell runs.

    Args:
        names: of the wheels.
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
