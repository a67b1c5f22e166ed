"""Settings of the whole suite."""

import gc
from pathlib import Path

import pytest

# Before pytest collects doctests: told to begin inside the package, it would load that part apart
# from the rest, and the module `minigrad.autograd.gradcheck` would replace the function.
import minigrad as minigrad

# The files that take longest, begun first, so that no worker is left alone with one at the end.
LONGEST = (
    "tests/lessons/test_reruns.py",
    "tests/lessons/test_answers.py",
    "tests/grading/test_grading.py",
    "tests/book/test_book.py",
    "tests/lessons/test_nbgrader.py",
    "tests/oracle/test_oracle.py",
    "tests/browser/test_player_in_a_browser.py",
    "tests/test_code.py",
    "tests/operations/test_proofs.py",
    "tests/operations/test_operations.py",
    "lessons/13_diagnosing_a_network.ipynb",
    "tests/lite/test_site.py",
    "lessons/14_seeing_what_it_sees.ipynb",
    "tests/lessons/test_reference.py",
    "tests/symbolic/test_identities.py",
    "tests/symbolic/test_derivation_hooks.py",
    "lessons/16_hooks_at_scale.ipynb",
    "tests/symbolic/test_not_fooled.py",
    "tests/browser/test_what_is_seen.py",
)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave what is no test file alone: the search for doctests would import it."""
    is_other = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if is_other else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take `--all`."""
    parser.addoption("--all", action="store_true", help="run also what is marked `live` or `long`")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to `--all` what runs PyTorch beside or takes long; begin with the longest files."""
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))
    if config.option.all:
        return
    left = [i for i in items if i.get_closest_marker("live") or i.get_closest_marker("long")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_collection_finish() -> None:
    """Spare the collector of garbage the tests themselves and what they imported: they stay."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="module")
def spared() -> None:
    """Spare the collector what earlier test files left: a test that calls it is slow otherwise."""
    gc.freeze()
