"""Run the code on the page "Your own model" on PyTorch, and write what came out into the page.

What a block of Python prints goes into the block of text below it; a picture goes into the file
that the page shows below.
"""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tempfile
import warnings
from importlib.metadata import distributions
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


def is_here() -> bool:
    """Tell whether the version of PyTorch is installed that the page tells of."""
    return VERSION in {each.version.partition("+")[0] for each in distributions(name="torch")}


def written(page: str) -> tuple[str, dict[str, str]]:
    """Run the blocks of a page, in a folder of their own.

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

    quiet = warnings.catch_warnings(action="ignore")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), quiet:
        return _BLOCK.sub(block, page), drawn


def run(code: str, space: dict[str, Any]) -> tuple[str, Any]:
    """Run code as a cell of a notebook.

    Args:
        code: Its last line may be an expression, whose value is shown.
        space: The variables.

    Returns:
        What was printed, with the value's text if it isn't a picture, and the value.
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


def main(check: bool = False, path: Path = PAGE) -> int:
    """Write the page and its pictures, or compare them with what is there.

    Args:
        check: Write nothing.
        path: Where the page is.

    Returns:
        0 where all is well, 1 otherwise: an exit code.
    """
    if not is_here():
        print(f"the page comes from PyTorch {VERSION}, which isn't installed: it stays as it is")
        return 0 if check else 1
    text, drawn = written(path.read_text(encoding="utf-8"))
    return pictures.store({path.name: text, **drawn}, path.parent, check)
