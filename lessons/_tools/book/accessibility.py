"""Mend in the built pages what Sphinx and its themes leave unsaid to those who hear them."""

from __future__ import annotations

import functools
import re
from pathlib import Path

# The arrow beside an entry of the contents that opens what stands below it has no name.
_ARROW = re.compile(
    r'(<a class="[^"]*reference internal[^"]*" href="[^"]*">([^<]*)</a><details\b[^>]*>)<summary>'
)
# The same words for all folds hide what stands on them; and the search says less than is seen.
_HIDING = re.compile(r'(<summary) aria-label="Toggle hidden content"')
_SEARCH = re.compile(
    r'(<button class="[^"]*search-button-field[^"]*" title="Search") aria-label="Search"'
)
# Title and search stand outside of what a screen reader can jump to.
_SIDEBAR = '<div id="pst-primary-sidebar" '
_NAMED = f'{_SIDEBAR}role="region" aria-label="Sidebar" '
# What a file of the source defines may be described under the names of several modules; viewcode
# leads back to one of them, whether the name is there or not.
_BACK = re.compile(r'<a class="viewcode-back" href="([^"#]*)#([^"]*)">.*?</a>')
# A link to what the book doesn't have leads nowhere.
_NOWHERE = re.compile(
    r'<a class="reference internal" href="#([^"]*)"><span class="xref myst">(.*?)</span></a>'
)
# A header cell without words heads nothing.
_CORNER = re.compile(r'<th class="head"><p></p></th>')


def mend(folder: Path) -> None:
    """Mend all pages of a book that is built.

    Args:
        folder: of the book.
    """
    read = functools.cache(lambda path: path.resolve().read_text(encoding="utf-8"))
    for path in folder.rglob("*.html"):
        text = _BACK.sub(
            lambda back: back[0] if f'id="{back[2]}"' in read(path.parent / back[1]) else "",  # noqa: B023
            path.read_text(encoding="utf-8"),
        )
        path.write_text(mended(text), encoding="utf-8", newline="\n")


def mended(page: str) -> str:
    """Give a page with names for what can be opened, pressed and jumped to.

    Args:
        page: HTML.

    Example:
        >>> mended('<summary aria-label="Toggle hidden content">Show the output</summary>')
        '<summary>Show the output</summary>'
    """
    page = _NOWHERE.sub(lambda link: link[0] if f'id="{link[1]}"' in page else link[2], page)
    page = _ARROW.sub(r'\1<summary aria-label="Pages below \2">', page)
    page = _SEARCH.sub(r"\1", _HIDING.sub(r"\1", page))
    return _CORNER.sub("<td></td>", page).replace(_SIDEBAR, _NAMED)
