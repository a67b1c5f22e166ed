"""List the licenses of all that the locks name: `python3 -m tests.packaging.licenses`.

Run in the environment of the tests. What it finds in the metadata of the installed packages is
written to `licenses.json` beside this; what belongs to other systems is named below.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

PATH = Path(__file__).parent / "licenses.json"
LOCK = Path(__file__).resolve().parents[1] / "requirements.txt"  # the other locks lie within it
_PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.M)
# Not installed on Linux, where this is run: read in the metadata of their wheels.
ELSEWHERE = {
    "appnope": ("BSD-2-Clause", "License-Expression of the wheel, for macOS"),
    "colorama": ("BSD License", "Classifier of the wheel, for Windows"),
    "pywinpty": ("MIT License", "Classifier of the wheel, for Windows"),
}


def locked() -> dict[str, str]:
    """Give the version of each package that the lock of the tests names."""
    found = _PIN.findall(LOCK.read_text(encoding="utf-8"))
    return {name.lower().replace("_", "-"): version for name, version in found}


def listed() -> dict[str, dict[str, str]]:
    """Give the list as it was written."""
    return json.loads(PATH.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def license_of(package: Distribution) -> tuple[str, str]:
    """Give a package's license, and where that was found."""
    metadata = package.metadata
    if expression := metadata.get("License-Expression"):
        return expression, "License-Expression"
    classified = [
        line.rpartition(" :: ")[2]
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    if classified:
        return "; ".join(classified), "Classifier"
    said = (metadata.get("License") or "").strip()
    if said:
        return said.splitlines()[0][:80], "License"
    for path in package.files or ():
        if re.search(r"licen[sc]e|copying", path.name, re.I):
            text = path.read_text(encoding="utf-8")
            first = next(line.strip() for line in text.splitlines() if line.strip())
            return first[:80], f"first line of {path.name}"
    return "", ""


def main() -> int:
    """Write the list; 1 if a license was not found."""
    rows, unknown = {}, []
    for name, version in sorted(locked().items()):
        try:
            license_, found = license_of(distribution(name))
        except PackageNotFoundError:
            license_, found = ELSEWHERE.get(name, ("", ""))
        if not license_:
            unknown.append(name)
        rows[name] = {"version": version, "license": license_, "found": found}
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()]
    PATH.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")
    print(f"{len(rows)} packages; no license found for: {', '.join(unknown) or 'none'}")
    return int(bool(unknown))


if __name__ == "__main__":
    raise SystemExit(main())
