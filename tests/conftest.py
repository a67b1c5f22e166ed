"""Settings of the whole suite."""

import gc
from pathlib import Path

import pytest

# Before pytest collects doctests: told to begin inside the package, it would load that part apart
# from the rest, and put the module `minigrad.autograd.gradcheck` in the place of the function.
import minigrad as minigrad

# The files that take longest, begun first, so that no worker is left alone with one at the end.
LONGEST = (
    "tests/grading/test_grading.py",
    "tests/lessons/test_reruns.py",
    "tests/lessons/test_answers.py",
    "tests/symbolic/test_book.py",
    "tests/symbolic/test_wrong_rules.py",
    "tests/symbolic/test_rule_bank.py",
    "tests/symbolic/test_every_layer.py",
    "tests/book/test_book.py",
    "tests/oracle/test_oracle.py",
    "tests/lessons/test_reference.py",
)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave what is no test file alone: the search for doctests would import it."""
    is_other = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if is_other else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest."""
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))


def pytest_collection_finish() -> None:
    """Spare the collector of garbage the tests themselves and what they imported: they stay."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def run_once(monkeypatch):
    """Let the right answer and the typical wrong ones of an exercise run once for many answers."""

    def begin(known):
        from minigrad.classroom.behaviors import FIRST, Behavior

        if isinstance(known, Behavior):
            trials, kept = type(known).trials, {}
            typical = [known.reference, *(mistake.like for mistake in known.mistakes)]

            def once(self, subject, when=FIRST, without=()):
                if not any(subject is each for each in typical):
                    return trials(self, subject, when, without)
                key = id(subject), when
                if key not in kept:
                    kept[key] = trials(self, subject, when, without)
                return kept[key]

            monkeypatch.setattr(type(known), "trials", once)
        return monkeypatch.undo

    return begin
