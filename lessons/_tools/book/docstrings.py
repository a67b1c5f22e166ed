"""Turn docstrings in Google's style, with formulas between dollars, into MyST Markdown."""

from __future__ import annotations

import re
import textwrap

# What stands before each item of a section, in the field lists that Sphinx knows.
FIELDS = {"Args": "param", "Attributes": "ivar", "Raises": "raises"}
WHOLE = {"Returns": "returns", "Yields": "yields"}
_HEADER = re.compile(r"^(Args|Attributes|Raises|Returns|Yields|Shape|Example|Note)s?:$", re.M)
_ITEM = re.compile(r"^(\*{0,2}[\w.,\s*`]+?)(?: \([^)]*\))?:(?:\s+|$)", re.M)
_EXAMPLE = re.compile(r"^( *)>>> .*(?:\n(?!\s*$).*)*", re.M)


def markdown(docstring: str) -> str:
    r"""Give a docstring as Markdown for the body of one of Sphinx's directives.

    Args:
        docstring: without the indentation of its place.

    Example:
        >>> print(markdown("Compute :math:`x^2`.\n\nArgs:\n    x: What is\n        squared."))
        Compute $x^2$.
        <BLANKLINE>
        :param x: What is
            squared.
    """
    text = re.sub(r":math:`([^`]+)`", r"$\1$", docstring.strip())
    start, *rest = _HEADER.split(text)
    parts, fields = [_prose(start)], []
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        # a section ends where the indentation does
        end = re.search(r"^\S", body, re.M)
        inside = textwrap.dedent(body[: end.start() if end else None]).strip("\n")
        outside = body[end.start() :] if end else ""
        if title in FIELDS:
            fields += [_field(FIELDS[title], item) for item in _items(inside)]
        elif title in WHOLE:
            fields.append(_field(WHOLE[title], inside))
        else:
            parts.append(f"**{title}**\n\n{_prose(inside)}")
        parts.append(_prose(outside))
    # fields stand last, so that they are one list
    return "\n\n".join(filter(None, (*parts, "\n".join(fields))))


def first_line(docstring: str) -> str:
    """Give the first paragraph of a docstring as Markdown.

    Args:
        docstring: without the indentation of its place.
    """
    return markdown(docstring.strip().partition("\n\n")[0])


def _prose(text: str) -> str:
    """Put what an interpreter shows into fences, which need no empty line around them then."""

    def fenced(match: re.Match[str]) -> str:
        indent = match[1]
        return f"{indent}```pycon\n{match[0]}\n{indent}```"

    return _EXAMPLE.sub(fenced, text).strip("\n")


def _items(body: str) -> list[str]:
    """Split the body of a section at the lines that are not indented."""
    return [item for item in re.split(r"\n(?=\S)", body) if item]


def _field(kind: str, item: str) -> str:
    match = _ITEM.match(item) if kind in FIELDS.values() else None
    name, told = (f" {match[1]}", item[match.end() :]) if match else ("", item)
    first, _, others = told.partition("\n")
    others = textwrap.indent(textwrap.dedent(others), "    ")
    return f":{kind}{name}: {first}" + (f"\n{others}" if others else "")
