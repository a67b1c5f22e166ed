"""Show pictures on light and on dark pages, never with text too small to read: HTML and its style.

Pictures and plots have no ground of their own. The lines of a picture keep a contrast of 3 to 1 to
white and to black grounds, and its words stand on cards; so it can be read wherever it is shown, in
a notebook that is not trusted too, which refuses styles. Where styles are taken pictures turn dark
on dark pages, and plots, whose colors mean something, get lighter: in JupyterLab and in exported
notebooks (`data-jp-theme-light`), in books (`data-theme`), in VS Code and Colab.
"""

from __future__ import annotations

import base64
from html import escape

SMALLEST = 0.86  # of its own size, to which a picture shrinks: text of 10.5 pixels becomes 9

_DARK_PAGES = (
    '[data-jp-theme-light="false"]',
    '[data-theme="dark"]',
    'html[theme="dark"]',
    ".vscode-dark",
)
_PERHAPS_DARK_PAGES = ('[data-theme="auto"]', ".minigrad-page")


def on_dark_pages(selector: str, rules: str) -> str:
    """Write rules of style that hold on dark pages only.

    Args:
        selector: What they are for.
        rules: The declarations.

    Example:
        >>> print(on_dark_pages("p", "color:white"))
        :is([data-jp-theme-light="false"],[data-theme="dark"],html[theme="dark"],.vscode-dark) \
p{color:white}
        @media (prefers-color-scheme:dark){:is([data-theme="auto"],.minigrad-page) p{color:white}}
    """
    known, perhaps = ",".join(_DARK_PAGES), ",".join(_PERHAPS_DARK_PAGES)
    return (
        f":is({known}) {selector}{{{rules}}}\n"
        f"@media (prefers-color-scheme:dark){{:is({perhaps}) {selector}{{{rules}}}}}"
    )


# White becomes nearly black and black nearly white, and colors keep their hue.
INK = "img.minigrad-ink{background:none!important}\n" + on_dark_pages(
    "img.minigrad-ink", "filter:invert(.9) hue-rotate(180deg)!important"
)
# Lighter by a straight line from black to white: no two colors fall together, none change places.
PLOTS = on_dark_pages(
    ':is(.jp-RenderedImage img,.cell_output img[src$=".png"])',
    "filter:invert(1) brightness(.75) invert(1)!important;background:none!important",
)
# Books put a light card under each output on their dark pages; these outputs need none.
CARDS = on_dark_pages(
    ".cell_output .text_html:has(img.minigrad-ink)",
    "background:none!important;color:inherit!important",
)
STYLE = f"""{INK}
{CARDS}
.minigrad-row{{display:flex;flex-wrap:wrap;gap:12px 28px}}
.minigrad-wide:focus-visible{{outline:2px solid var(--jp-brand-color1,#1976d2)}}"""


def image(svg: str, alt: str, width: float, height: float, kind: str = "") -> str:
    """Write an image that carries the whole picture inside, and shrinks as far as it is readable.

    Args:
        svg: The picture.
        alt: Its alternative text.
        width: Its own width in pixels.
        height: Its own height.
        kind: A further class for it.
    """
    data = base64.b64encode(svg.encode()).decode("ascii")
    names = f"minigrad-ink {kind}".strip()
    least = -(-width * SMALLEST // 1)
    return (
        f'<img class="{names}" src="data:image/svg+xml;base64,{data}" alt="{escape(alt)}" '
        f'width="{width:g}" height="{height:g}" '
        f'style="min-width:{least:g}px;max-width:100%;height:auto">'
    )


def box(inner: str, width: float) -> str:
    """Put an image of some width into a box that scrolls where the page is narrower."""
    wide = ' tabindex="0" role="group" aria-label="wide picture"' if width > 900 else ""
    return f'<div class="minigrad-wide" style="overflow-x:auto"{wide}>{inner}</div>'


def row(pieces: list[tuple[str, float]]) -> str:
    """Put pieces of HTML with their widths side by side, or below each other where it is narrow."""
    items = "".join(
        f'<div style="display:inline-block;vertical-align:top;'
        f'flex:1 1 {-(-width * SMALLEST // 1):g}px;max-width:{width:g}px">{inner}</div>'
        for inner, width in pieces
    )
    return f'<div class="minigrad-row" style="overflow-x:auto">{items}</div>'
