"""Write a small notebook as a text, so that a test can be read."""

import re

from nbformat import NotebookNode, v4

from _tools.canonical import canonical

_CELL = re.compile(
    r"^```python ?(?P<code_tags>.*)\n(?P<code>(?:.*\n)*?)```$|^\+\+\+ ?(?P<tags>.*)$", re.M
)


def notebook_of(text: str) -> NotebookNode:
    """Make a code cell of each `python` fence with its tags; `+++` starts a Markdown cell."""
    cells, at, tags = [], 0, ""
    for found in (*_CELL.finditer(text), None):
        prose = text[at : found and found.start()].strip()
        if prose:
            cells.append(v4.new_markdown_cell(prose, metadata={"tags": tags.split()}))
        if found is not None:
            at, tags = found.end(), found["tags"] or ""
            if found["code"] is not None:
                tagged = {"tags": found["code_tags"].split()}
                cells.append(v4.new_code_cell(found["code"].rstrip("\n"), metadata=tagged))
    return canonical(v4.new_notebook(cells=cells))
