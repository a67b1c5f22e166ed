"""Say which names a module offers, and turn docstrings into what autodoc and napoleon read."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

from _tools.book import examples

_DISPLAY = re.compile(r"^( *)\$\$(.+?)\$\$", re.M | re.S)
_INLINE = re.compile(r"(?<![\\$\w])\$([^$]+?)\$(?!\w)")
_CODE = re.compile(r"(`[^`\n]+`)(?=(\w?))")  # "`Node`s": the markup has to end visibly
_STAR = re.compile(
    r"`[^`]*`|(?m:^ *(?:>>>|\.\.\.).*)|(?<=[(,] )\*(?=[\w,)])(?!\w[^*`]*\w\*)|(?<=\()\*(?=[\w,)])"
)


def public(module: str) -> list[tuple[str, str]]:
    """List what a module offers: its `__all__`, or what it or a part of it defines.

    Args:
        module: its name.

    Returns:
        Names, each with what autodoc calls it: a class, an exception, a function, or data.
    """
    place, top = import_module(module), import_module("minigrad")
    listed = getattr(place, "__all__", None)
    found = []
    for name in sorted({*(listed or dir(place))} - {"Tensor"}):
        value = getattr(place, name)
        home = getattr(value, "__module__", None) or type(value).__module__
        offered = listed or f"{home}.".startswith(f"{module}.")
        kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
        # a class is described once
        elsewhere = kind == "class" and place is not top and getattr(top, name, None) is value
        if offered and not (name.startswith("_") or inspect.ismodule(value) or elsewhere):
            is_error = kind == "class" and issubclass(value, BaseException)
            found.append((name, "exception" if is_error else kind))
    return found


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


def process(_: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Write a docstring for Sphinx, with an example; a method refers to its function."""
    minigrad = import_module("minigrad")
    short = name.removeprefix("minigrad.Tensor.")
    function = getattr(minigrad, short, None) if what == "method" and short != name else None
    if function is not None and function.__doc__ == value.__doc__:
        lines[:] = [f"See :py:func:`minigrad.{short}`.", ""]
        return
    text = restructured("\n".join(lines))
    offered = what in ("function", "class", "exception") and name.startswith("minigrad.")
    if offered and ">>>" not in text and (made := examples.example(name, value)):
        text += "\n\nExample:\n" + "".join(f"    {line}\n" for line in made.splitlines())
    lines[:] = text.split("\n")


def skip(_: Any, what: str, name: str, value: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what NumPy's protocols bring."""
    return True if (getattr(value, "__module__", "") or "").startswith("numpy") else None


def setup(app: Any) -> dict[str, bool]:
    """Join Sphinx.

    Args:
        app: Sphinx.
    """
    app.connect("autodoc-process-docstring", process, priority=100)  # before napoleon
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
