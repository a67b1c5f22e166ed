"""The code itself: style, types, which room imports from which, what importing loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# The command `minigrad` is left out: its code comes with the lessons, and it only hands over.
COMMAND = ROOT / "minigrad" / "__main__.py"
FILES = sorted({*(ROOT / "minigrad").rglob("*.py")} - {COMMAND})
CHECKS = sorted((ROOT / "lessons" / "checks").rglob("*.py"))

# The rooms from the heart outward: a room imports itself and those before it, for types too.
RINGS = (
    "core", "dtypes", "autograd", "signatures", "creation", "ops", "nn", "optim", "data", "saving",
    "fast", "extra", "symbolic", "viz", "classroom",
)  # fmt: skip
# Modules that stand at PyTorch's paths, and the room that each belongs to.
STANDS_IN = {
    "creation.dtypes": "dtypes",  # needs nothing of the others
    "signatures.__main__": "ops",  # looks at all operations
    "random": "creation",
    "viz.pytorch": "autograd",  # reads and records graphs as rooms within do
    "viz.pytorch_passes": "autograd",
    "linalg": "ops",
    "special": "ops",
}
# How many arrows between files run upward, and how many files lie on circles if what is imported
# for types counts too. Neither number may grow.
UPWARD, ON_CIRCLES = 0, 0
# Optional dependencies, and the rooms that may reach them.
OPTIONAL = {
    "tqdm": {"classroom"},
    "sympy": {"symbolic", "classroom"},
    "matplotlib": {"viz", "classroom"},
    "IPython": {"viz", "classroom"},
}


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module(path): path for path in FILES}


def _room(module: str) -> str:
    inner = f"{module.partition('.')[2]}."
    for path, room in STANDS_IN.items():
        if inner.startswith(f"{path}."):
            return room
    first = inner.split(".")[0]
    return first if first in RINGS else ""


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and getattr(node.test, "id", None) == "TYPE_CHECKING"


def _import_statements(
    node: ast.AST, within: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Give each import that can run, and whether it stands in a function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, within
        elif isinstance(child, ast.If) and _is_type_checking(child):
            for other in child.orelse:
                yield from _import_statements(other, within)
        else:
            function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from _import_statements(child, within or function)


def _names(module: str, statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Give the full name of each module that a statement loads itself."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.name
        return
    source = statement.module or ""
    if statement.level:
        package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
        for _ in range(statement.level - 1):
            package = package.rpartition(".")[0]
        source = f"{package}.{source}".rstrip(".")
    submodules = [f"{source}.{a.name}" for a in statement.names if f"{source}.{a.name}" in MODULES]
    yield from submodules
    if len(submodules) < len(statement.names):
        yield source


@cache
def _imports() -> dict[str, set[tuple[str, bool]]]:
    """Give what each module imports when it runs, and whether in a function."""
    return {
        module: {
            (name, within)
            for statement, within in _import_statements(ast.parse(path.read_text(encoding="utf-8")))
            for name in _names(module, statement)
        }
        for module, path in MODULES.items()
    }


def _run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


# ------------------------------------------------------------------ tools


def test_ruff_finds_nothing():
    pytest.importorskip("ruff")
    _run("-m", "ruff", "check", "minigrad", "tests", "lessons")


def test_the_format_is_ruffs():
    pytest.importorskip("ruff")
    _run("-m", "ruff", "format", "--check", "minigrad", "tests", "lessons")


def test_the_types_are_right():
    pytest.importorskip("mypy")
    _run("lessons/_tools/signature_stubs.py")
    _run("-m", "mypy")


# ------------------------------------------------------------------ files


@pytest.mark.parametrize("path", [*FILES, *CHECKS], ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_opens_with_one_sentence(path):
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring
    first = docstring.split("\n\n")[0].rstrip()
    assert first[0].isupper() or first.startswith("minigrad")
    assert first.endswith((".", "::", ":"))


# ------------------------------------------------------------------ imports


def _graph() -> dict[str, set[str]]:
    """Give for each module those of the package that must have run before it."""
    return {
        module: {name for name, within in found if name in MODULES and not within} - {module}
        for module, found in _imports().items()
    }


def test_no_module_imports_itself_in_a_circle():
    try:
        list(TopologicalSorter(_graph()).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_planted_circle_would_be_found():
    graph = _graph()
    graph["minigrad.core.node"].add("minigrad.core.engine")
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph).static_order())


def test_the_graph_of_imports_is_read_rightly():
    graph = _graph()
    assert "minigrad.core.node" in graph["minigrad.core.engine"]
    assert {"minigrad.core.tensor", "minigrad.ops", "minigrad.nn"} <= graph["minigrad"]
    # named for types only
    assert "minigrad.core.tensor" not in graph["minigrad.core.node"]


def _for_types(module: str) -> set[str]:
    """Give what a module imports at all, under TYPE_CHECKING and in functions as well."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    found = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    names = {name for node in found for name in _names(module, node) if name in MODULES}
    return names - {module}


@cache
def _arrows() -> dict[str, set[str]]:
    return {module: _for_types(module) for module in MODULES}


def _upward() -> list[str]:
    """List the arrows from a room to one further out."""
    return [
        f"{module} -> {name}"
        for module, names in _arrows().items()
        for name in sorted(names)
        if "" not in (_room(module), _room(name))
        and RINGS.index(_room(module)) < RINGS.index(_room(name))
    ]


def _on_circles() -> set[str]:
    """Give the modules that reach themselves, a package's own face aside."""
    arrows = {module: {*names} for module, names in _arrows().items()}
    while True:  # take away what nothing leads to, or what leads nowhere
        led_to = {name for names in arrows.values() for name in names}
        ends = {module for module, names in arrows.items() if not names or module not in led_to}
        if not ends:
            return {*arrows}
        arrows = {m: names - ends for m, names in arrows.items() if m not in ends}


def test_arrows_run_inward():
    upward = _upward()
    assert len(upward) <= UPWARD, "\n".join(upward)


def test_nothing_lies_on_a_circle_for_types_either():
    assert len(_on_circles()) <= ON_CIRCLES, sorted(_on_circles())


def test_the_public_face_is_imported_from_above_only():
    below = {*RINGS[: RINGS.index("nn")]}
    for module in MODULES:
        if _room(module) in below:
            assert "minigrad" not in {name for name, _ in _imports()[module]}, module


def test_imports_stand_at_the_top_unless_optional():
    for module, found in _imports().items():
        for name, within in found:
            package = name.split(".")[0]
            if within and _room(module) not in {"classroom", "viz", "symbolic"}:
                assert package in OPTIONAL, f"{module} imports {name} in a function"


def test_only_their_rooms_reach_optional_dependencies():
    for module, found in _imports().items():
        for name, _ in found:
            allowed = OPTIONAL.get(name.split(".")[0])
            assert allowed is None or _room(module) in allowed, f"{module} imports {name}"


def test_the_core_needs_numpy_and_the_standard_library_alone():
    for module, found in _imports().items():
        if _room(module) not in {"classroom", "viz", "symbolic", "saving"}:
            others = {name.split(".")[0] for name, _ in found} - {"minigrad", "numpy"}
            assert others <= sys.stdlib_module_names, f"{module} imports {others}"


def test_the_package_names_no_lesson_and_checks_name_only_the_package():
    # The checks are loaded as a package of a private name, and so name each other from within.
    for path in CHECKS:
        for statement, within in _import_statements(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.ImportFrom) and statement.level:
                continue
            names = [statement.module or ""] if isinstance(statement, ast.ImportFrom) else []
            names = names or [alias.name for alias in statement.names]
            others = {name.split(".")[0] for name in names} - {"minigrad", "numpy"}
            assert within or others <= sys.stdlib_module_names, f"{path} imports {others}"
    for module, found in _imports().items():
        assert not {name for name, _ in found if name.split(".")[0] in {"checks", "lessons"}}, (
            module
        )


def test_importing_the_package_loads_no_optional_dependency():
    code = (
        "import sys, minigrad\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "wrong = loaded & {'sympy', 'matplotlib', 'IPython', 'torch', 'pytest'}\n"
        "rooms = {n for n in sys.modules if n.startswith('minigrad.')}\n"
        "wrong |= {n for n in rooms if n.split('.')[1] in {'viz', 'symbolic', 'classroom'}}\n"
        "assert not wrong, wrong\n"
        "assert 'minigrad.core.engine' in rooms\n"
    )
    _run("-c", code)


# Each of these loads what it needs of what waits in other files.
LOADED_FIRST = """
data distributions func linalg nn.functional ops.numpy_calls optim saving serialization special
symbolic utils.checkpoint utils.data viz
"""


def test_a_module_can_be_imported_first():
    """Each of them in a package that has forgotten what was loaded; NumPy and SymPy may stay."""
    code = (
        "import importlib, sys\n"
        f"for module in {LOADED_FIRST.split()}:\n"
        "    for name in [n for n in sys.modules if n.partition('.')[0] == 'minigrad']:\n"
        "        del sys.modules[name]\n"
        "    print(module, file=sys.stderr)\n"
        "    importlib.import_module(f'minigrad.{module}')\n"
    )
    _run("-c", code)
