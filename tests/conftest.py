"""Settings of the whole suite."""

import gc
from pathlib import Path

# Before pytest collects doctests: told to begin inside the package, it would load that part apart
# from the rest, and put the module `minigrad.autograd.gradcheck` in the place of the function.
import minigrad as minigrad


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave what is no test file alone: the search for doctests would import it."""
    is_other = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if is_other else None


def pytest_collection_finish() -> None:
    """Spare the collector of garbage the tests themselves and what they imported: they stay."""
    gc.collect()
    gc.freeze()
