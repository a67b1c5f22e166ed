"""Run what the page "Your own model" shows on PyTorch, and write what came out into the page.

The page is its own source. Each block of Python is run, and what it printed goes into the block of
text below it; a picture goes into the file that the page shows below. Each row of the table of
hooks registers its hook on a small model, and tells what the hook was called with. The table of
times is left alone, unless it is asked for.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import platform
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any

from _tools import pictures, places

PAGE = places.LESSONS / "reference" / "own_model.md"
VERSION = "2.13.0"
_BLOCK = re.compile(
    r"```python\n(?P<code>.*?)```\n"
    r"(?P<text>\n```text\n.*?```\n)?"
    r"(?P<picture>\n!\[[^\]]+\]\((?P<file>\w+\.svg)\)\n)?",
    re.S,
)
_ROW = re.compile(
    r"^(?P<start>\| [^|]+ \| `(?P<code>[^`|]+)`<br>)[^|<]*(?P<end><br>[^|]*\|)$", re.M
)
_TIMES = re.compile(r"(?<=<!-- times -->\n).*?(?=<!-- end of times -->)", re.S)


def is_here() -> bool:
    """Tell whether the version of PyTorch is installed that the page tells of."""
    try:
        return version("torch").split("+")[0] == VERSION
    except PackageNotFoundError:
        return False


def written(page: str) -> tuple[str, dict[str, str]]:
    """Run everything on the page.

    Args:
        page: Its text.

    Returns:
        The text with what came out now, and the pictures by file name.
    """
    space: dict[str, Any] = {}
    drawn: dict[str, str] = {}

    def block(found: re.Match[str]) -> str:
        printed, value = run(found["code"], space)
        if found["file"]:
            played = hasattr(value, "steps")
            svg = pictures.animation(value, moves=False) if played else value.svg
            drawn[found["file"]] = svg
        text = f"\n```text\n{printed}```\n" if printed else ""
        return f"```python\n{found['code']}```\n{text}{found['picture'] or ''}"

    with in_a_folder():
        page = _BLOCK.sub(block, page)
        return _ROW.sub(
            lambda row: f"{row['start']}{called_with(row['code'])}{row['end']}", page
        ), drawn


@contextlib.contextmanager
def in_a_folder() -> Iterator[None]:
    """Run a block in a folder of its own, without warnings."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def run(code: str, space: dict[str, Any]) -> tuple[str, Any]:
    """Run code as a cell of a notebook.

    Args:
        code: Its last line may be an expression, whose value is shown.
        space: The variables.

    Returns:
        What was printed, with the value's text if it is no picture, and the value.
    """
    *body, last = ast.parse(code).body
    value = None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        if not isinstance(last, ast.Expr):
            body.append(last)
        exec(compile(ast.Module(body, []), "<page>", "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<page>", "eval"), space)
            if value is not None and not hasattr(value, "alt"):
                print(value)
    return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines()), value


def called_with(code: str) -> str:
    """Register a hook on a small model, train it for one step, and tell what the hook was given.

    Args:
        code: An expression with `hook` or `pack`, and with what the page says that there is.
    """
    torch = import_module("torch")
    nn, calls = torch.nn, []

    def hook(*given: Any) -> None:
        calls.append(given)

    def pack(tensor: Any) -> Any:
        calls.append((tensor,))
        return tensor

    model = nn.ModuleDict({"fc1": nn.Linear(2, 3), "fc2": nn.Linear(3, 1)})
    space = {"fc1": model.fc1, "fc2": model.fc2, "weight": model.fc1.weight, "hook": hook}
    space |= {"every": nn.modules.module, "graph": torch.autograd.graph}
    space |= {"pack": pack, "unpack": lambda kept: kept}
    space["optimizer"] = torch.optim.SGD(model.parameters(), lr=0.1)
    with contextlib.ExitStack() as stack:

        def register() -> None:
            handle = eval(code, space)
            if handle is not None:
                stack.enter_context(handle)  # so that it is removed at the end

        inner = re.search(r"\bh\b", code)
        if not inner:
            register()
        space["h"] = torch.tanh(model.fc1(torch.ones(4, 2)))
        if inner:
            register()
        model.fc2(space["h"]).sum().backward()
        space["optimizer"].step()
    return f"gets `{', '.join(map(told, calls[0]))}`" if calls else "calls no hook"


def told(given: Any) -> str:
    """Write what a hook was given; of tensors the shape."""
    if isinstance(given, (tuple, list)):
        return f"({', '.join(map(told, given))}{',' * (len(given) == 1)})"
    if hasattr(given, "shape"):
        return "x".join(map(str, given.shape))
    return type(given).__name__ if given else str(given)


# ------------------------------------------------------------------ what hooks cost


def times() -> str:
    """Measure what hooks add to a pass, and write it as a table."""
    torch = import_module("torch")
    torch.set_num_threads(1)
    small, large = least((2, 16, 16, 1), 32, 60), least((784, 256, 128, 10), 64, 30)
    rows = ["| a pass with | calls | small pass | larger pass | µs a call |"]
    rows += ["|---|---:|---:|---:|---:|"]
    for name, (calls, took) in small.items():
        if name:
            alone, beside = small[""][1], large[name][1] / large[""][1]
            each = f"{max(took - alone, 0) / calls * 1e6:.0f}" if calls else ""
            rows.append(f"| {name} | {calls or ''} | {took / alone:.1f} | {beside:.1f} | {each} |")
    rows += ["", "Times are told as parts of the pass without hooks, which took"]
    rows += [f"{small[''][1] * 1e6:.0f} µs for 32 rows in a network of 2, 16, 16 and 1 units, and"]
    rows += [f"{large[''][1] * 1e3:.1f} ms for 64 rows in one of 784, 256, 128 and 10."]
    return (
        f"*Measured in {time.strftime('%B %Y')} by `python3 lessons/_tools own-model --times` on "
        f"one machine, one thread: {platform.machine()}, Python {platform.python_version()}, "
        f"PyTorch {torch.__version__}. The hooks do nothing.*\n\n" + "\n".join(rows) + "\n"
    )


def least(sizes: Sequence[int], rows: int, rounds: int) -> dict[str, tuple[int, float]]:
    """Time a pass of a network forward and backward, without hooks and with some of each kind.

    Args:
        sizes: How many units its layers have.
        rows: How many rows it is given.
        rounds: How often each is run ten times, in turns.

    Returns:
        For each kind how many calls there are in a pass, and the least time.
    """
    torch, viz = import_module("torch"), import_module("minigrad.viz")
    nn, every = torch.nn, torch.nn.modules.module
    layers = [nn.Sequential(nn.Linear(*each), nn.Tanh()) for each in pairwise(sizes)]
    model = nn.Sequential(*(part for layer in layers for part in layer))
    x, count = torch.randn(rows, sizes[0], requires_grad=True), len(model)

    def idle(*given: Any) -> None:
        """Do nothing."""

    def on_result(module: Any, given: Any, result: Any) -> None:
        result.register_hook(idle)

    def on_layers(register: str, hook: Callable[..., None] = idle) -> list[Any]:
        return [getattr(part, register)(hook) for part in model]

    kinds: dict[str, tuple[int, Callable[[], list[Any]]]] = {
        "": (0, list),
        "a forward hook on each layer": (count, lambda: on_layers("register_forward_hook")),
        "that, and a tensor hook on each output": (
            2 * count,
            lambda: on_layers("register_forward_hook", on_result),
        ),
        "a post-accumulate hook on each parameter": (
            count,
            lambda: [each.register_post_accumulate_grad_hook(idle) for each in model.parameters()],
        ),
        "a full backward hook on each layer": (
            count,
            lambda: on_layers("register_full_backward_hook"),
        ),
        "a global full backward hook": (
            count + 1,
            lambda: [every.register_module_full_backward_hook(idle)],
        ),
        "no hooks, recorded by `record`": (0, lambda: [viz.record(model)]),
    }
    found = {name: (calls, float("inf")) for name, (calls, _) in kinds.items()}
    for _ in range(rounds):
        for name, (calls, register) in kinds.items():
            with contextlib.ExitStack() as stack:
                for handle in register():
                    stack.enter_context(handle)
                for _ in range(10):
                    start = time.process_time()  # others may run on the machine
                    model(x).sum().backward()
                    took = time.process_time() - start
                    found[name] = calls, min(took, found[name][1])
    return found


def main(check: bool = False, measure: bool = False, path: Path = PAGE) -> int:
    """Write the page and its pictures, or compare them with what is there.

    Args:
        check: Write nothing.
        measure: Measure what hooks cost, too.
        path: Where the page is.

    Returns:
        0 where all is well, 1 otherwise: an exit code.
    """
    if not is_here():
        print(f"the page comes from PyTorch {VERSION}, which is not installed: it stays as it is")
        return 0 if check else 1
    stored = path.read_text(encoding="utf-8")
    text, drawn = written(stored)
    if measure:
        text = _TIMES.sub(lambda found: times(), text)
    files = {path: text, **{path.parent / name: svg for name, svg in drawn.items()}}
    code = 0
    for file, content in files.items():
        if not check:
            file.write_text(content, encoding="utf-8", newline="\n")
        elif not file.exists() or file.read_text(encoding="utf-8") != content:
            print(f"out of date: {file.name}", file=sys.stderr)
            code = 1
    return code
