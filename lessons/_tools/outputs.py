"""Read what the outputs of a cell say."""

from __future__ import annotations

from nbformat import NotebookNode


def said(cell: NotebookNode) -> str:
    """Join what the outputs of a cell say in plain text, printed or displayed.

    Args:
        cell: a cell; one of Markdown says nothing.
    """
    parts = (
        output.get("text", "") if output.output_type == "stream" else _plain(output)
        for output in cell.get("outputs", [])
    )
    return "\n".join(part.rstrip("\n") for part in parts if part)


def _plain(output: NotebookNode) -> str:
    text = output.get("data", {}).get("text/plain", "")
    return "".join(text) if isinstance(text, list) else str(text)
