"""Make a site of the lessons that computes in the reader's browser, by JupyterLite and Pyodide."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION
from packaging.utils import canonicalize_name

from _tools import sites
from _tools.lite import staging, wheels

MARK = "jupyter-lite.json"
KERNEL = "@jupyterlite/pyodide-kernel-extension"
# From Pyodide itself, as they are compiled; each brings what it needs.
COMPILED = ("numpy", "matplotlib")
# From a worker of the kernel's extension, which is what asks for them, to the wheels.
UP = "../../../../pypi/"
NOTES = "/drive/progress.json"  # among the learner's own files


def main(folder: Path, only: tuple[str, ...] = (), pyodide: Path | None = None) -> int:
    """Build the site anew.

    Args:
        folder: where to; a site that is there gives way when the new one is complete.
        only: numbers of the lessons to take; all by default.
        pyodide: a folder with Pyodide, to go into the site; by default its address in the network.

    Returns:
        An exit code.
    """
    if sites.in_use(folder, MARK, "site of JupyterLite"):
        return 2
    if pyodide is not None and not (pyodide / "pyodide.mjs").is_file():
        print(
            f"ERROR: there is no pyodide.mjs in {pyodide}: name the folder that comes out of "
            f"pyodide-{PYODIDE_VERSION}.tar.bz2.",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory() as place:
        staged, built = Path(place) / "sources", Path(place) / "site"
        staging.stage(staged / "contents", only)
        names = wheels.pack(staged / "pypi")
        config = json.dumps(settings(names, pyodide), indent=1) + "\n"
        (staged / MARK).write_text(config, encoding="utf-8")
        for name in ("jupyter_lite_config.json", "overrides.json"):
            shutil.copy(Path(__file__).with_name(name), staged)
        extension = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / KERNEL
        command = [sys.executable, "-m", "jupyterlite_core", "build", f"--output-dir={built}"]
        command += [f"--LiteBuildConfig.federated_extensions={extension}"]
        nowhere = str(staged / "nowhere")  # so that no other settings of Jupyter are read
        env = os.environ | {"JUPYTER_CONFIG_DIR": nowhere, "JUPYTER_DATA_DIR": nowhere}
        print("building the site", flush=True)
        code = subprocess.call(command, cwd=staged, env=env)
        if code == 0:
            if pyodide is not None:
                print("copying Pyodide", flush=True)
                shutil.copytree(pyodide, built / "static" / "pyodide")
                missing = lacks(pyodide)
                if missing:
                    print(f"Mind: {pyodide} has no {', '.join(missing)}, which the lessons need.")
            sites.replace(folder, built)
    return code


def settings(names: list[str], pyodide: Path | None) -> dict[str, Any]:
    """Say what the site is, and what its kernel loads before the first cell runs.

    Args:
        names: of the wheels.
        pyodide: the folder with Pyodide, if it goes into the site.
    """
    # a name that Pyodide does not know would keep the kernel from starting
    known = COMPILED if pyodide is None else distributed(pyodide)
    compiled = [name for name in COMPILED if name in known]
    kernel: dict[str, Any] = {
        "loadPyodideOptions": {
            "packages": [*compiled, *(UP + name for name in names)],
            "env": {"HOME": "/home/pyodide", "MINIGRAD_PROGRESS": NOTES},
        }
    }
    if pyodide is not None:
        kernel["pyodideUrl"] = "./static/pyodide/pyodide.mjs"
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "minigrad",
            "contentsStorageName": "minigrad",
            "litePluginSettings": {f"{KERNEL}:kernel": kernel},
        },
    }


def lacks(pyodide: Path) -> list[str]:
    """List what a folder with Pyodide lacks of what the lessons load, and the kernel.

    Args:
        pyodide: the folder.
    """
    known = distributed(pyodide)
    wanted, missing, seen = [*COMPILED, "ipython", "micropip"], [], set()
    while wanted:
        name = canonicalize_name(wanted.pop())
        if name in seen:
            continue
        seen.add(name)
        entry = known.get(name)
        if entry is None or not (pyodide / entry["file_name"]).is_file():
            missing.append(name)
        wanted += entry["depends"] if entry else ()
    return sorted(missing)


def distributed(pyodide: Path) -> dict[str, Any]:
    """Read what a Pyodide knows, by name.

    Args:
        pyodide: the folder.
    """
    lock = json.loads((pyodide / "pyodide-lock.json").read_text(encoding="utf-8"))
    return {canonicalize_name(name): entry for name, entry in lock["packages"].items()}
