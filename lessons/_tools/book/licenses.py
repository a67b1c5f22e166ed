"""Collect the licenses of what stands in the pages of the book beside the lessons."""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution

# What each brings into the pages; MathJax's wheel names its license and has no text of it, so the
# same text is taken from another package.
BROUGHT = {
    "sphinx": "the search, and the frame of each page",
    "pydata-sphinx-theme": "the theme's base, with Bootstrap and Font Awesome",
    "sphinx-book-theme": "the theme",
    "myst-nb": "the looks of cells",
    "sphinx-copybutton": "the buttons that copy code, with clipboard.js",
    "pygments": "the colors of code",
    "sphinx-mathjax-offline": "MathJax 3.2.2, which sets formulas",
}
TEXT_ELSEWHERE = {"sphinx-mathjax-offline": "packaging"}


def page() -> str:
    """Write the page of the licenses of what is installed, as Markdown."""
    parts = ["# What this site is made with"]
    for name, brings in BROUGHT.items():
        try:
            found = distribution(name)
            texts = _texts(distribution(TEXT_ELSEWHERE.get(name, name)), name in TEXT_ELSEWHERE)
        except PackageNotFoundError:
            continue
        shown = "\n\n".join(f"``````text\n{text.strip()}\n``````" for text in texts)
        parts.append(
            f"## {name} {found.version}\n\nIt brings {brings}.\n\n"
            f"<details>\n<summary>Its license</summary>\n\n{shown}\n\n</details>"
        )
    return "\n\n".join(parts) + "\n"


def _texts(package: Distribution, apache: bool) -> list[str]:
    """Read the license texts of a package, among them those of what it packs itself."""
    names = [
        path
        for path in package.files or ()
        if "LICENSE" in path.name and (not apache or path.name.endswith("APACHE"))
    ]
    return [path.read_text(encoding="utf-8") for path in sorted(names)]
