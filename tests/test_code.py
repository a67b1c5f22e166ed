"""The code itself: style, types, which room imports from which, what importing loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "minigrad").rglob("*.py"))

# What a room must not import, at any depth; under TYPE_CHECKING it may name anything.
UPSTAIRS = {"nn", "optim", "distributions", "viz", "symbolic", "classroom"}
FORBIDDEN = {
    "utils": {*UPSTAIRS, "ops", "tensor", "creation", "autograd"},
    "dtypes": {*UPSTAIRS, "ops", "tensor", "creation", "autograd"},
    "printing": {*UPSTAIRS, "ops", "tensor", "creation", "autograd"},
    "autograd": {*UPSTAIRS, "ops", "tensor", "creation"},
    "tensor": {*UPSTAIRS, "ops", "creation"},
    "random": {*UPSTAIRS, "ops", "creation"},
    "creation": UPSTAIRS,
    "ops": UPSTAIRS,
    "nn": {"optim", "viz", "symbolic", "classroom"},
    "optim": {"viz", "symbolic", "classroom"},
    "checkpoint": {"optim", "viz", "symbolic", "classroom"},
    "distributions": {"optim", "viz", "symbolic", "classroom"},
    "data": {"optim", "viz", "symbolic", "classroom"},
    "serialization": {"optim", "viz", "symbolic", "classroom"},
    "symbolic": {"viz", "classroom"},
    "viz": {"classroom"},
}
# Optional dependencies, and the rooms that may reach them.
OPTIONAL = {
    "safetensors": {"serialization"},
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
    # PyTorch keeps checkpoint among the utilities; it stands above the modules that it reruns
    if module.startswith("minigrad.utils.checkpoint"):
        return "checkpoint"
    if module.startswith("minigrad.utils.data"):
        return "data"
    return module.split(".")[1] if "." in module else ""


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


def _imports(module: str) -> set[tuple[str, bool]]:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return {
        (name, within)
        for statement, within in _import_statements(tree)
        for name in _names(module, statement)
    }


IMPORTS = {module: _imports(module) for module in MODULES}


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
    _run("-m", "mypy")


# ------------------------------------------------------------------ files


@pytest.mark.parametrize("module", MODULES)
def test_a_file_opens_with_one_sentence(module):
    docstring = ast.get_docstring(ast.parse(MODULES[module].read_text(encoding="utf-8")))
    assert docstring
    first = docstring.split("\n\n")[0].rstrip()
    assert first[0].isupper() or first.startswith("minigrad")
    assert first.endswith((".", "::", ":"))


# ------------------------------------------------------------------ imports


def _graph() -> dict[str, set[str]]:
    """Give for each module those of the package that must have run before it."""
    return {
        module: {name for name, within in found if name in MODULES and not within} - {module}
        for module, found in IMPORTS.items()
    }


def test_no_module_imports_itself_in_a_circle():
    try:
        list(TopologicalSorter(_graph()).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_a_planted_circle_would_be_found():
    graph = _graph()
    graph["minigrad.autograd.node"].add("minigrad.autograd.engine")
    with pytest.raises(CycleError):
        list(TopologicalSorter(graph).static_order())


def test_the_graph_of_imports_is_read_rightly():
    graph = _graph()
    assert "minigrad.autograd.node" in graph["minigrad.autograd.engine"]
    assert {"minigrad.tensor", "minigrad.ops", "minigrad.nn"} <= graph["minigrad"]
    # named for types only
    assert "minigrad.autograd.variable" not in graph["minigrad.autograd.node"]


def _reached(module: str) -> set[str]:
    found: set[str] = set()
    stack = [module]
    while stack:
        for name, _ in IMPORTS[stack.pop()]:
            if name in MODULES and name not in found:
                found.add(name)
                stack.append(name)
    return found


@pytest.mark.parametrize("room", FORBIDDEN)
def test_arrows_run_downward(room):
    inside = [module for module in MODULES if _room(module) == room]
    assert inside
    for module in inside:
        wrong = {name for name in _reached(module) if _room(name) in FORBIDDEN[room]}
        assert not wrong, f"{module} reaches {sorted(wrong)}"


def test_the_public_face_is_imported_from_above_only():
    below = {"autograd", "ops", "tensor", "creation", "dtypes", "printing", "utils", "nested"}
    below |= {"random"}
    for module in MODULES:
        if _room(module) in below:
            assert "minigrad" not in {name for name, _ in IMPORTS[module]}, module


def test_imports_stand_at_the_top_unless_optional():
    for module, found in IMPORTS.items():
        for name, within in found:
            package = name.split(".")[0]
            if within and _room(module) not in {"classroom", "viz", "symbolic"}:
                assert package in OPTIONAL, f"{module} imports {name} in a function"


def test_only_their_rooms_reach_optional_dependencies():
    for module, found in IMPORTS.items():
        for name, _ in found:
            allowed = OPTIONAL.get(name.split(".")[0])
            assert allowed is None or _room(module) in allowed, f"{module} imports {name}"


def test_the_core_needs_numpy_and_the_standard_library_alone():
    for module, found in IMPORTS.items():
        if _room(module) not in {"classroom", "viz", "symbolic", "serialization"}:
            others = {name.split(".")[0] for name, _ in found} - {"minigrad", "numpy"}
            assert others <= sys.stdlib_module_names, f"{module} imports {others}"


def test_importing_the_package_loads_no_optional_dependency():
    code = (
        "import sys, minigrad\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "wrong = loaded & {'sympy', 'matplotlib', 'IPython', 'torch', 'pytest'}\n"
        "rooms = {n for n in sys.modules if n.startswith('minigrad.')}\n"
        "wrong |= {n for n in rooms if n.split('.')[1] in {'viz', 'symbolic', 'classroom'}}\n"
        "assert not wrong, wrong\n"
        "assert 'minigrad.autograd.engine' in rooms\n"
    )
    _run("-c", code)
