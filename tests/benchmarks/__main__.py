"""Time all workloads, print the table, write the JSON, the chart and the page for readers.

    python3 tests --benchmarks                       (all; the page in lessons/reference is renewed)
    python3 tests --benchmarks chain "MLP step"      (those whose names contain one of these)

PyTorch and the other packages are measured where they are installed: nothing installs PyTorch, the
others are in `tests/benchmarks/requirements.txt`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import platform
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import timing  # before NumPy: this holds the libraries to one thread

# isort: split
import costs
import memory
import numpy as np
import report
from workloads import WORKLOADS

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parents[1] / "lessons" / "reference"
CHART = "speed.svg"


def goals(workload: timing.Workload) -> dict[str, float]:
    """Give what a workload is meant to keep, by what it is compared with."""
    all_ = {
        "PyTorch": workload.of_torch,
        "NumPy by hand": workload.of_hand,
        "the plain step": workload.of_twin,
    }
    return {name: goal for name, goal in all_.items() if goal is not None}


def main(wanted: list[str]) -> int:
    """Measure and tell; the exit code is that of success, whatever the figures are."""
    torch: Any = None
    if importlib.util.find_spec("torch") is not None:
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
    else:
        print("PyTorch is not installed here: its column stays empty.")
    found: dict[str, Any] = {}
    skipped: dict[str, str] = {}
    for workload in WORKLOADS:
        if wanted and not any(part in workload.name for part in wanted):
            continue
        figures = timing.run(workload, torch) | {"goals": goals(workload)}
        found[workload.name] = figures
        skipped |= figures["skipped"]
        print(report.line(workload.name, figures), flush=True)
    for name, reason in skipped.items():
        print(f"{name} was left out where it does not run: {reason}")
    if wanted:
        return 0
    result = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}" + (f", PyTorch {torch.__version__}" if torch else ""),
        "workloads": found,
        "pieces": costs.pieces(),
        "sizes": costs.by_size(),
        "imports": costs.importing(["numpy", "minigrad", *(["torch"] if torch else [])]),
        "chart": CHART,
        "memory": {
            library: {kind: memory.measured(kind, library) for kind in ("long", "chain")}
            for library in (["minigrad", "torch"] if torch else ["minigrad"])
            if sys.platform == "linux"
        },
    }
    (HERE / "figures.json").write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    (REFERENCE / "speed.md").write_text(report.page(result))
    report.chart(result, REFERENCE / CHART)
    print(f"written: {HERE / 'figures.json'}, {REFERENCE / 'speed.md'}, {REFERENCE / CHART}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
