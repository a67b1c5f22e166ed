"""Write the reference that tells what minigrad has of PyTorch, by running both."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType

from _tools import places
from _tools import reference_demonstrations as demonstrations
from _tools import reference_facts as facts
from _tools import reference_pages as pages
from _tools.reference_differences import DIFFERENCES
from _tools.reference_rooms import PAGES
from _tools.reference_scenarios import Use, told

VERSION = "2.13.0"
FOLDER = places.LESSONS / "reference"
WITHOUT_TORCH = (
    f"The reference is made by running PyTorch {VERSION} beside minigrad, and PyTorch is not "
    f"installed here. Install it (pip install torch=={VERSION}) and run this again. The lessons "
    "and minigrad itself do not need it."
)


def find_torch() -> ModuleType | None:
    """Import PyTorch, if it is here."""
    try:
        return import_module("torch")
    except ModuleNotFoundError:
        return None


def write(torch: ModuleType, use: Use | None = None) -> tuple[dict[str, str], list[str]]:
    """Compare both, and write every page.

    Args:
        torch: PyTorch.
        use: what the oracle's scenarios use, where that is known; else they are run.

    Returns:
        The pages by file name, and what is wrong with the list of differences.
    """
    minigrad = import_module("minigrad")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # old names warn when they are looked at
        rooms, use = facts.gather(torch, use)
    entries = [
        entry for room in rooms.values() for each in room.everything() for entry in each.entries
    ]
    found = [(entry.full, said) for entry in entries for said in entry.differs]
    shown = demonstrations.shown(DIFFERENCES, torch, minigrad)
    wrong = demonstrations.complaints(DIFFERENCES, shown, found)
    names = [entry.full for entry in entries]
    names += [
        f"{each.name}.{name}"
        for room in rooms.values()
        for each in room.everything()
        for name in each.missing + each.only_here
    ]
    for difference in DIFFERENCES:
        for pattern in difference.names:
            if not any(demonstrations.matches(name, pattern) for name in names):
                wrong.append(f"{difference.slug}: there is no {pattern}")
    known = {each.removeprefix("oracle:") for d in DIFFERENCES for each in d.known}
    wrong += [
        f"{name}: the scenario differs; no entry knows it"
        for name in use.differing
        if name not in known
    ]
    texts = {
        "pytorch.md": pages.overview(rooms, use, VERSION, len(DIFFERENCES)),
        "differences.md": pages.differences_page(shown, found, VERSION),
        **{f"{page.stem}.md": pages.room_page(page, rooms, DIFFERENCES) for page in PAGES},
    }
    return {name: text.rstrip() + "\n" for name, text in texts.items()}, wrong


def main(check: bool = False, as_told: bool = False, folder: Path = FOLDER) -> int:
    """Write the pages, or compare them with what is there.

    Args:
        check: write nothing.
        as_told: leave how many scenarios use a name as the pages tell it, and run none.
        folder: where they are.

    Returns:
        0 where all is well, 1 otherwise: an exit code.
    """
    if str(places.ROOT) not in sys.path:
        sys.path.insert(0, str(places.ROOT))  # minigrad is found where it is not installed
    torch = find_torch()
    if torch is None:
        print(WITHOUT_TORCH, file=sys.stderr)
        return 1
    if torch.__version__.split("+")[0] != VERSION:
        print(f"This is PyTorch {torch.__version__}. {WITHOUT_TORCH}", file=sys.stderr)
        return 1
    texts, wrong = write(torch, told(folder) if as_told else None)
    for each in wrong:
        print(each, file=sys.stderr)
    if check:
        stale = [name for name, text in texts.items() if _stored(folder / name) != text]
        print("out of date: " + ", ".join(stale) if stale else "up to date")
        return int(bool(stale or wrong))
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    print(
        f"written: {len(texts)} pages in {folder.relative_to(places.ROOT)}"
        if folder.is_relative_to(places.ROOT)
        else f"written: {len(texts)} pages"
    )
    return int(bool(wrong))


def _stored(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None
