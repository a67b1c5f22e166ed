"""Run for each mutant the tests that reach its line, in a child of a process that has them."""

from __future__ import annotations

import ast
import functools
import gc
import json
import os
import resource
import signal
from collections import defaultdict
from pathlib import Path
from typing import Any

import coverage
import pytest

from . import places
from .mutants import Mutant, planted

# Tests that say nothing about gradients: what a line costs, how files are laid out, other programs.
TESTS = "tests/autograd tests/nn tests/operations tests/ops tests/optim tests/utils tests/oracle"
TESTS += " tests/test_counts.py tests/test_heart.py tests/test_memory.py tests/test_numpy.py"
TESTS += " tests/test_saving.py tests/test_devices.py tests/test_dtypes.py"
TESTS += " tests/test_printing.py tests/test_random.py"
TESTS += " tests/viz/test_drawn_hooks.py tests/symbolic/test_arrays.py tests/properties"
TESTS += " tests/symbolic/test_programs.py tests/symbolic/test_exact.py"
TESTS += " minigrad/core minigrad/autograd minigrad/nn minigrad/ops minigrad/signatures"
OPTIONS = ["-q", "--tb=native", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]
OPTIONS += ["--ignore=tests/autograd/test_interrupts.py"]  # by chance, and it stops the coverage
MEMORY = 6 << 30  # bytes a child may take
# Seconds that a test may compute, or wait, beyond a multiple of what it takes without a mutant.
COMPUTING, WAITING, MULTIPLE = 5.0, 60.0, 4


class Reached:
    """Notes, while all tests run once, which lines each of them reaches, and how long it takes."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self.top = f"{places.TOP}/"
        self.measured = coverage.Coverage(
            data_file=None, source=[str(places.TOP / "minigrad")], config_file=False
        )
        self.measured.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        """Write what follows to the account of one test."""
        self.measured.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Add up what a test takes."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write it all down."""
        self.measured.stop()
        data = self.measured.get_data()
        names: dict[str, int] = {name: place for place, name in enumerate(self.seconds)}
        lines: dict[str, dict[int, list[int]]] = {}
        for file in data.measured_files():
            reached = data.contexts_by_lineno(file)
            lines[file.removeprefix(self.top)] = {
                line: [names[test] for test in tests if test in names and test not in self.failed]
                for line, tests in reached.items()
            }
        self.file.write_text(json.dumps({"seconds": self.seconds, "lines": lines}))


class Planter:
    """Instead of running the tests, plants one mutant after the other and runs what reaches it."""

    def __init__(self, chosen: list[Mutant], reached: Path, limit: float, tell: Any) -> None:
        known = json.loads(reached.read_text())
        self.lines, self.seconds = known["lines"], known["seconds"]
        self.names = list(self.seconds)
        self.chosen, self.limit, self.tell = chosen, limit, tell
        self.texts = {m.file: (places.TOP / m.file).read_text(encoding="utf-8") for m in chosen}
        self.killers: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.passed: set[tuple[str, ...]] = set()  # series of tests, without a mutant
        self.flawed: set[str] = set()  # tests that fail in such a series
        self.failed = False  # whether the test that runs in a child did

    def pytest_runtestloop(self, session: Any) -> bool:
        """Take the place of pytest's own loop."""
        self.items = {item.nodeid: item for item in session.items}
        self.living = places.living_functions()
        gc.freeze()
        for mutant in self.chosen:
            end, test, count = self.plant(mutant)
            early = mutant.file in WRITES or mutant.function in called_early(
                self.texts[mutant.file]
            )
            if end == "survived" and early:
                end = "not planted"
            if end == "killed":
                self.killers[mutant.file][test] += 1
                self.killers[mutant.function][test] += 3
            if not self.tell(mutant, end, count):
                break
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        """See whether a test fails, in a child."""
        self.failed |= report.failed

    def plant(self, mutant: Mutant) -> tuple[str, str, int]:
        """Say how a mutant ended, at which test, and of how many.

        A mutant is killed if the same tests pass without it, and in less time.
        """
        while True:
            tests = self.order(mutant)
            end, begun = self.child(tests, MULTIPLE, mutant)
            if end != "killed" or tuple(begun) in self.passed:
                break
            without, until = self.child(begun, MULTIPLE / 2)
            if without == "survived":
                self.passed.add(tuple(begun))
                break
            print(f"fails without a mutant: {until[-1]}", flush=True)
            self.flawed.add(until[-1])
        return end, begun[-1] if begun else "", len(tests)

    def order(self, mutant: Mutant) -> list[str]:
        """Give the tests that reach a line: first what found its neighbors, then the quickest."""
        of_lines = self.lines.get(mutant.file, {})
        first, last = mutant.lines
        lines = [of_lines.get(str(line), []) for line in range(first, last + 1)]
        names = [self.names[place] for place in set().union(*lines)]
        of_file, of_function = self.killers[mutant.file], self.killers[mutant.function]
        found = {name: of_file.get(name, 0) + of_function.get(name, 0) for name in names}
        names.sort(key=lambda name: (-min(found[name], 12), self.seconds[name]))
        chosen, left = [], self.limit
        for name in names:
            if name in self.items and name not in self.flawed:
                left -= self.seconds[name] + 0.001
                if left > 0 or not chosen:
                    chosen.append(name)
        return chosen

    def child(
        self, tests: list[str], multiple: float, mutant: Mutant | None = None
    ) -> tuple[str, list[str]]:
        """Run tests in a child until one fails; say how it ended, and which tests have begun."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            end = 70
            try:
                end = self.in_child(tests, multiple, mutant, writing)
            finally:
                os._exit(end)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            begun = pipe.read().splitlines()
        _, status = os.waitpid(pid, 0)
        ends = {0: "survived", 3: "not reached", 4: "not planted"}
        return ends.get(os.waitstatus_to_exitcode(status), "killed"), begun

    def in_child(
        self, tests: list[str], multiple: float, mutant: Mutant | None, writing: int
    ) -> int:
        """Plant a mutant, if any, and run tests; what they print goes nowhere."""
        if not tests:
            return 3
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        self.items[tests[0]].config.pluginmanager.unregister(name="terminalreporter")
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        if mutant:
            text, filename = self.texts[mutant.file], str(places.TOP / mutant.file)
            right = compile(text, filename, "exec", dont_inherit=True)
            wrong = planted(text, mutant.place, mutant.variant, filename)
            try:
                if not places.put_in(right, wrong, self.living):
                    return 4
            except ValueError:  # its closure would be another one
                return 4
        for name, following in zip(tests, [*tests[1:], None], strict=True):
            os.write(writing, f"{name}\n".encode())
            more = multiple * self.seconds[name]
            signal.setitimer(signal.ITIMER_PROF, COMPUTING * multiple / MULTIPLE + more)
            signal.setitimer(signal.ITIMER_REAL, WAITING * multiple / MULTIPLE + more)
            item, after = self.items[name], following and self.items[following]
            item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
            if self.failed:
                return 1
        return 0


# What runs while the package is imported, or writes functions at their first call, shows nothing
# when it's planted later.
WRITES = ("minigrad/core/operation.py", "minigrad/fast/writer.py", "minigrad/nn/modules/module.py")


@functools.cache
def called_early(text: str) -> set[str]:
    """Give the names of what the top of a file and its classes call while it is imported."""
    waiting: list[ast.AST] = [ast.parse(text)]
    found: set[str] = set()
    for node in waiting:
        inner = [*ast.iter_child_nodes(node)]
        if isinstance(node, ast.FunctionDef):
            inner = [*node.decorator_list, *node.args.defaults]
        waiting += [] if isinstance(node, ast.Lambda) else inner
        if isinstance(node, ast.Call):
            found.add(ast.unparse(node.func))
    return found
