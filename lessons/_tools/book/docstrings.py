"""Turn docstrings, Markdown with formulas between dollars, into what autodoc and napoleon read."""

from __future__ import annotations

import re
from typing import Any

_DISPLAY = re.compile(r"^( *)\$\$(.+?)\$\$", re.M | re.S)
_INLINE = re.compile(r"(?<![\\$\w])\$([^$]+?)\$(?!\w)")
_CODE = re.compile(r"(`[^`\n]+`)(?=(\w?))")  # "`Node`s": the markup has to end visibly
_STAR = re.compile(r"`[^`]*`|(?m:^ *(?:>>>|\.\.\.).*)|(?<=[(,] )\*(?=[\w,)])|(?<=\()\*(?=[\w,)])")


def restructured(docstring: str) -> str:
    r"""Give a docstring with the formulas as reStructuredText has them.

    Args:
        docstring: without the indentation of its place.

    Example:
        >>> print(restructured("Compute $x^2$ of `Tensor`s, for (n, *)."))
        Compute :math:`x^2` of `Tensor`\ s, for (n, \*).
    """

    def display(match: re.Match[str]) -> str:
        lines = (line.strip() for line in match[2].splitlines() if line.strip())
        indent = match[1]
        return f"\n{indent}.. math::\n\n" + "\n".join(f"{indent}   {line}" for line in lines) + "\n"

    text = _DISPLAY.sub(display, docstring)
    text = _INLINE.sub(lambda match: f":math:`{' '.join(match[1].split())}`", text)
    text = _STAR.sub(lambda match: "\\*" if match[0] == "*" else match[0], text)
    return _CODE.sub(lambda match: match[1] + ("\\ " if match[2] else ""), text)


def setup(app: Any) -> dict[str, bool]:
    """Have Sphinx read docstrings this way: a method that says what a function says, refers to it.

    Args:
        app: Sphinx.
    """
    import minigrad

    def process(_: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
        short = name.removeprefix("minigrad.Tensor.")
        function = getattr(minigrad, short, None) if what == "method" and short != name else None
        if function is not None and function.__doc__ == value.__doc__:
            lines[:] = [f"See :py:func:`minigrad.{short}`.", ""]
        else:
            lines[:] = restructured("\n".join(lines)).split("\n")

    def skip(_: Any, what: str, name: str, value: Any, skipped: bool, options: Any) -> bool | None:
        return True if (getattr(value, "__module__", "") or "").startswith("numpy") else None

    app.connect("autodoc-process-docstring", process, priority=100)  # before napoleon
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
