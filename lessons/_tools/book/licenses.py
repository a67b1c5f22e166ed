"""Collect the licenses of what stands in the pages of the book beside the lessons."""

from __future__ import annotations

from importlib.metadata import files, version

# What each brings into the pages.
BROUGHT = {
    "sphinx": "the search, and the frame of each page",
    "pydata-sphinx-theme": "the theme's base, with Bootstrap and Font Awesome",
    "sphinx-book-theme": "the theme",
    "myst-nb": "the looks of cells",
    "sphinx-copybutton": "the buttons that copy code, with clipboard.js",
    "pygments": "the colors of code",
    "sphinx-mathjax-offline": "MathJax 3.2.2, which sets formulas",
}


def page() -> str:
    """Write the page of the licenses of what is installed, as Markdown."""
    parts = ["# What this site is made with"]
    for name, brings in BROUGHT.items():
        # MathJax's wheel names its license and has no text of it, which another package has.
        mathjax = name == "sphinx-mathjax-offline"
        texts = [
            f"``````text\n{path.read_text(encoding='utf-8').strip()}\n``````"
            for path in sorted(files("packaging" if mathjax else name) or ())
            if "LICENSE" in path.name and (not mathjax or path.suffix == ".APACHE")
        ]
        parts += [f"## {name} {version(name)}", f"It brings {brings}."]
        parts += ["<details>\n<summary>Its license</summary>", *texts, "</details>"]
    return "\n\n".join(parts) + "\n"
