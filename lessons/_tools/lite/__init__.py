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
QUIET = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}


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
        write(staged / MARK, settings(names, pyodide))
        write(staged / "overrides.json", QUIET)
        write(staged / "jupyter_lite_config.json", how(built))
        print("building the site", flush=True)
        code = subprocess.call(
            [sys.executable, "-m", "jupyterlite_core", "build"], cwd=staged, env=alone(staged)
        )
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


def how(built: Path) -> dict[str, Any]:
    """Tell JupyterLite what goes into the site: one application, one extension, no source maps.

    Args:
        built: where to.
    """
    extension = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / KERNEL
    return {
        "LiteBuildConfig": {
            "output_dir": str(built),
            "contents": ["contents"],
            "apps": ["lab"],
            "federated_extensions": [str(extension)],
            "ignore_sys_prefix": ["federated_extensions"],
            "settings_overrides": ["overrides.json"],
            "no_libarchive": True,
            "no_sourcemaps": True,
            "no_unused_shared_packages": True,
        }
    }


def alone(folder: Path) -> dict[str, str]:
    """Give the variables under which no other settings of Jupyter are read.

    Args:
        folder: where settings would be; there are none.
    """
    nowhere = str(folder / "nowhere")
    return os.environ | {"JUPYTER_CONFIG_DIR": nowhere, "JUPYTER_DATA_DIR": nowhere}


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


def write(path: Path, content: Any) -> None:
    """Write a JSON file."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
