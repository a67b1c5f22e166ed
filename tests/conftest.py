"""Settings of the whole suite."""

import gc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

# Before pytest collects doctests: told to begin inside the package, it would load that part apart
# from the rest, and put the module `minigrad.autograd.gradcheck` in the place of the function.
import minigrad as minigrad

# Of a long list of examples every twelfth is taken: always the same ones, evenly spread.
STRIDE = 12

# The files that take longest, begun first, so that no worker is left alone with one at the end.
LONGEST = (
    "tests/book/test_book.py",
    "tests/lessons/test_nbgrader.py",
    "tests/oracle/test_oracle.py",
    "tests/browser/test_player_in_a_browser.py",
    "tests/test_code.py",
    "tests/symbolic/test_book.py",
    "lessons/13_diagnosing_a_network.ipynb",
    "tests/grading/test_grading.py",
    "tests/lite/test_site.py",
    "lessons/14_seeing_what_it_sees.ipynb",
    "tests/lessons/test_reference.py",
    "tests/symbolic/test_identities.py",
    "tests/symbolic/test_derivation_hooks.py",
    "lessons/16_hooks_at_scale.ipynb",
    "tests/symbolic/test_rule_bank.py",
    "tests/symbolic/test_wrong_rules.py",
    "tests/symbolic/test_every_layer.py",
    "tests/browser/test_what_is_seen.py",
    "tests/lessons/test_answers.py",
    "tests/lessons/test_reruns.py",
)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave what is no test file alone: the search for doctests would import it."""
    is_other = collection_path.suffix == ".py" and not collection_path.name.startswith("test_")
    return True if is_other else None


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take `--all`."""
    parser.addoption("--all", action="store_true", help="take all examples of the long lists")


def pytest_configure(config: pytest.Config) -> None:
    """Take all examples where a part of the suite was asked for."""
    option = config.option
    if hasattr(config, "workerinput"):
        option.all = config.workerinput["all"]
        return
    a_part = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    option.all = bool(option.all or option.keyword or option.markexpr or a_part)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of pytest-xdist's what the first one has chosen."""
    node.workerinput["all"] = node.config.option.all


def pytest_report_header(config: pytest.Config) -> str:
    """Say what is taken."""
    what = "all" if config.option.all else f"one in {STRIDE} (--all takes all)"
    return f"examples of long lists: {what}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take a share of the lists of examples; begin with the files that take longest."""
    places = {file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))
    if config.option.all:
        return
    left = left_out(items)
    if left:
        config.hook.pytest_deselected(items=left)
        gone = set(left)
        items[:] = [item for item in items if item not in gone]


def left_out(items: list[pytest.Item]) -> list[pytest.Item]:
    """Find the examples that only `--all` takes: of each list the first of every few stays."""
    count, left = Counter[str](), []
    for item in items:
        if item.get_closest_marker("examples"):
            test = item.nodeid.partition("[")[0]
            if count[test] % STRIDE:
                left.append(item)
            count[test] += 1
    return left


def pytest_collection_finish() -> None:
    """Spare the collector of garbage the tests themselves and what they imported: they stay."""
    gc.collect()
    gc.freeze()
