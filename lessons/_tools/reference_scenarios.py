"""Run the oracle's scenarios on minigrad, and see which public names each of them uses."""

from __future__ import annotations

import contextlib
import gc
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from _tools import places

_PROGRAM = "program "


@dataclass
class Use:
    """What the scenarios use: by name, and how many of them do on minigrad as on PyTorch."""

    scenarios: int = 0
    programs: int = 0
    differing: list[str] = field(default_factory=list)
    names: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    objects: dict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def count(self, name: str, value: Any = None) -> tuple[int, int]:
        """Count what uses a name, under this name or another of the same thing.

        Args:
            name: with its room, such as "torch.nn.Linear" or "torch.Tensor.sum".
            value: the function or class of that name.

        Returns:
            How many scenarios use it, and how many recorded random programs.
        """
        found = set(self.names.get(name, ()))
        if callable(value):
            found |= self.objects.get(id(value), set())
        programs = sum(each.startswith(_PROGRAM) for each in found)
        return len(found) - programs, programs


@dataclass
class Told(Use):
    """What the pages tell of the scenarios' use, where these are not run."""

    counts: dict[str, tuple[int, int]] = field(default_factory=dict)

    def count(self, name: str, value: Any = None) -> tuple[int, int]:
        """Give what the pages tell of a name."""
        return self.counts.get(name, (0, 0))


def told(folder: Path) -> Told:
    """Read from the pages how many scenarios use a name; how many there are is counted anew.

    Args:
        folder: where the pages are.
    """
    _find_oracle()
    families = import_module("oracle.scenarios").FAMILIES
    recorded = import_module("oracle.store").FOLDER
    corpora = [import_module(f"oracle.fuzz.{kind}_corpus") for kind in ("tensor", "module")]
    use = Told(
        sum(len(each) for name, each in families.items() if (recorded / f"{name}.json").exists())
        + sum(map(len, import_module("tests.operations.running").SCENARIOS.values())),
        sum(len(corpus.read()["programs"]) for corpus in corpora),
    )
    for page in folder.glob("*.md"):
        room = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if heading := re.fullmatch(r"#{2,3} (?:Members of )?(torch\S*)", line):
                room = heading[1]
            elif row := re.fullmatch(r"\| `(\w+)` \|.*\| (\d+) \| (\d+) \|", line):
                use.counts[f"{room}.{row[1]}"] = int(row[2]), int(row[3])
    return use


def _find_oracle() -> None:
    tests = str(places.ROOT / "tests")
    if tests not in sys.path:
        # the name of the package stands in some of the recordings
        sys.path[:0] = [tests, str(places.ROOT)]


class _Watched(ModuleType):
    """A module in front of another one: it hands on what it is asked for, and remembers it."""

    def __init__(self, real: ModuleType, seen: Callable[[str, Any], None]) -> None:
        super().__init__(real.__name__)
        object.__setattr__(self, "_real", real)
        object.__setattr__(self, "_seen", seen)

    def __getattribute__(self, name: str) -> Any:
        real = object.__getattribute__(self, "_real")
        value = getattr(real, name)
        if name.startswith("__"):
            return value
        seen = object.__getattribute__(self, "_seen")
        seen(f"{real.__name__}.{name}".replace("minigrad", "torch", 1), value)
        inside = isinstance(value, ModuleType) and value.__name__.startswith("minigrad")
        return _Watched(value, seen) if inside else value

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_real"), name, value)


def watch(classes: Iterable[tuple[str, type]]) -> Use:
    """Run every scenario on minigrad, and give what they used.

    Args:
        classes: the classes whose methods and attributes are counted, with their full names.

    Raises:
        ModuleNotFoundError: where the tests are not beside the lessons.
    """
    _find_oracle()
    families = import_module("oracle.scenarios").FAMILIES
    store, run = import_module("oracle.store"), import_module("oracle.log").run
    compare = import_module("oracle.compare")
    minigrad = import_module("minigrad")
    use = Use()
    current = ""

    def seen(name: str, value: Any) -> None:
        use.names[name].add(current)
        if callable(value):
            use.objects[id(value)].add(current)

    watched = _Watched(minigrad, seen)
    own = list(classes)
    with _counting(own, seen), _importing(seen), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for family, scenarios in families.items():
            if not (store.FOLDER / f"{family}.json").exists():
                continue  # written and not recorded yet: it compares nothing
            recorded = store.read(family)["scenarios"]
            for name, scenario in scenarios.items():
                current = f"{family}.{name}"
                use.scenarios += 1

                def on_watched(_: ModuleType, log: Any, scenario: Any = scenario) -> None:
                    scenario(watched, log)

                log = run(on_watched, minigrad)
                words = compare.worded(family)
                if compare.differences(recorded.get(name, []), log, words=words):
                    use.differing.append(current)
        for family, scenarios in import_module("tests.operations.running").SCENARIOS.items():
            for name, scenario in scenarios.items():
                current = f"operations, {family}.{name}"
                use.scenarios += 1

                def on_watched(_: ModuleType, log: Any, scenario: Any = scenario) -> None:
                    scenario(watched, log)

                run(on_watched, minigrad)
        for number, again in enumerate(_recorded_programs(watched)):
            current = f"{_PROGRAM}{number}"
            use.programs += 1
            again()
    # Being watched may itself change a log (who holds what, which line called): look again.
    use.differing = [
        name
        for name in use.differing
        if _differs(name, families, store.read, run, compare, minigrad)
    ]
    return use


def _recorded_programs(torch: ModuleType) -> Iterator[Callable[[], Any]]:
    """Give the random programs whose logs are recorded, each ready to run again."""
    fuzz = "oracle.fuzz"
    tensors, modules = (import_module(f"{fuzz}.{kind}_corpus") for kind in ("tensor", "module"))
    run_program = import_module(f"{fuzz}.programs").run_program
    events = import_module(f"{fuzz}.module_running").events
    for entry in tensors.read()["programs"]:
        yield partial(run_program, entry["program"], torch)
    for seed in modules.read()["programs"]:
        yield partial(events, torch, modules.in_double(int(seed)))


def _differs(
    name: str, families: Any, read: Any, run: Any, compare: Any, minigrad: ModuleType
) -> bool:
    family, _, scenario = name.partition(".")
    recorded = read(family)["scenarios"].get(scenario, [])
    log = run(families[family][scenario], minigrad)
    return bool(compare.differences(recorded, log, words=compare.worded(family)))


@contextlib.contextmanager
def _importing(seen: Callable[[str, Any], None]) -> Iterator[None]:
    """Watch also the modules that scenarios import themselves."""

    def watched_module(name: str) -> Any:
        module = import_module(name)
        return _Watched(module, seen) if name.startswith("minigrad") else module

    instead = {"import_module": watched_module, "importlib": _Importlib(watched_module)}
    places_of_it = [
        (module, name, getattr(module, name))
        for full, module in list(sys.modules.items())
        for name in instead
        if full.startswith("oracle.scenarios.") and hasattr(module, name)
    ]
    try:
        for module, name, _ in places_of_it:
            setattr(module, name, instead[name])
        yield
    finally:
        for module, name, before in places_of_it:
            setattr(module, name, before)


@dataclass(frozen=True)
class _Importlib:
    """Stands in for `importlib` in a scenario's file."""

    import_module: Callable[[str], Any]


@contextlib.contextmanager
def _counting(classes: list[tuple[str, type]], seen: Callable[[str, Any], None]) -> Iterator[None]:
    """Have classes say which of their attributes the scenarios themselves ask for."""
    undo: list[tuple[type, str, Any]] = []
    missing = object()
    oracle = places.ROOT / "tests" / "oracle"
    scenarios = (str(oracle / "scenarios"), str(oracle / "fuzz"))

    def replace(owner: type, name: str, value: Any) -> None:
        undo.append((owner, name, vars(owner).get(name, missing)))
        setattr(owner, name, value)

    def from_a_scenario(depth: int) -> bool:
        return sys._getframe(depth + 1).f_code.co_filename.startswith(scenarios)

    named = {owner: full for full, owner in classes}

    def attributes_of(owner: type) -> Callable[[Any, str], Any]:
        getter = owner.__getattribute__

        def ask(self: Any, name: str) -> Any:
            if name[:2] != "__" and from_a_scenario(1):
                for base in type(self).__mro__:
                    if base in named:
                        seen(f"{named[base]}.{name}", None)
            return getter(self, name)

        return ask

    def calling(full: str, function: Any) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if from_a_scenario(1):
                seen(full, None)
            return function(*arguments, **options)

        return call

    try:
        for full, owner in classes:
            if not any(base in named for base in owner.__mro__[1:]):
                replace(owner, "__getattribute__", attributes_of(owner))
            for name, value in list(vars(owner).items()):
                if isinstance(value, classmethod):
                    replace(owner, name, classmethod(calling(f"{full}.{name}", value.__func__)))
                elif name in OPERATORS and callable(value):
                    replace(owner, name, calling(f"{full}.{name}", value))
        before = sys.getprofile()
        sys.setprofile(_overriding(classes, scenarios, seen))
        try:
            yield
        finally:
            sys.setprofile(before)
    finally:
        for owner, name, value in reversed(undo):
            delattr(owner, name) if value is missing else setattr(owner, name, value)
        gc.collect()


def _overriding(
    classes: list[tuple[str, type]], scenarios: tuple[str, ...], seen: Callable[[str, Any], None]
) -> Callable[[FrameType, str, Any], None]:
    """Make a profiler that sees when minigrad calls what a scenario's class says itself."""
    methods = [
        (full, owner, frozenset(name for name in dir(owner) if not name.startswith("_")))
        for full, owner in classes
    ]
    every = frozenset().union(*(names for _, _, names in methods))

    def profile(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_name not in every:
            return
        caller = frame.f_back
        if caller is None or not code.co_filename.startswith(scenarios):
            return
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        for full, owner, names in methods:
            if code.co_name in names and isinstance(first, owner):
                seen(f"{full}.{code.co_name}", None)
        # a custom function's methods are static
        if "autograd" in caller.f_code.co_filename and "function" in caller.f_code.co_filename:
            seen(f"torch.autograd.Function.{code.co_name}", None)

    return profile


_BOTH_SIDES = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
)
_ONE_SIDE = (
    *("lshift", "rshift", "neg", "pos", "abs", "invert", "eq", "ne", "lt", "le", "gt", "ge"),
    *("getitem", "setitem", "len", "iter", "contains", "bool", "float", "int", "complex"),
    *("index", "call", "enter", "exit"),
)
OPERATORS = frozenset(
    f"__{name}__"
    for name in (
        *(side + name for name in _BOTH_SIDES for side in ("", "r", "i")),
        *_ONE_SIDE,
    )
)
