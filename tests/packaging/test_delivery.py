"""Links in the copies lead where they led in the lessons."""

import os
import re
from pathlib import Path

import pytest

from _start import copies, delivery, notebooks

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = sorted((ROOT / "lessons").glob(copies.LESSONS))
LINKS = [
    ("[a](reference/nn.md)", "[a](../reference/nn.md)"),
    ("[a](reference/nn.md#x 'title') b", "[a](../reference/nn.md#x 'title') b"),
    ("[a](../minigrad/core/tensor.py)", "[a](../../minigrad/core/tensor.py)"),
    ("[a](./solutions/06_x.ipynb)", "[a](../solutions/06_x.ipynb)"),
    ("[a](06_full_backward_hooks.ipynb)", None),
    ("[a](06_full_backward_hooks.ipynb#2.-Two-numbers)", None),
    ("![a](pictures/a.png)", "![a](../pictures/a.png)"),
    ("![a](<my pictures/a.png>)", "![a](<../my pictures/a.png>)"),
    ("[![a](b.png)](c.md)", "[![a](../b.png)](../c.md)"),
    ("[a](https://x.org/a) [b](#anchor) [c](mailto:x@y.z) [d](/lab) [e](//x.org)", None),
    ("![a](attachment:a.png) ![b](data:image/png;base64,AA==) [c](:/x) [d]()", None),
    ('<img alt="a" src="a.png"/>', '<img alt="a" src="../a.png"/>'),
    ("<a href='06_b.md'>b</a>", "<a href='../06_b.md'>b</a>"),
    ('<a href="https://x.org">x</a> <img src="data:,">', None),
    ("`[a](b.md)` and ``x ` [a](b.md)``", None),
    ("a ` [a](b.md)\n\nb ` c", "a ` [a](../b.md)\n\nb ` c"),
    ("$f[x](y)$ and $$g[x]\n(y)[x](y)$$", None),
    ("```text\n[a](b.md)\n```\n[a](b.md)", "```text\n[a](b.md)\n```\n[a](../b.md)"),
    ("~~~\n```\n[a](b.md)\n~~~\n[a](b.md)", "~~~\n```\n[a](b.md)\n~~~\n[a](../b.md)"),
    ("````\n```\n[a](b.md)\n````", None),
    ("```x``` [a](b.md)", "```x``` [a](../b.md)"),
    ("```\n[a](b.md)", None),
]


@pytest.mark.parametrize(("source", "expected"), LINKS)
def test_links_are_rewritten_for_the_new_place(source, expected):
    assert delivery.relocated(source) == (source if expected is None else expected)


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_every_link_of_a_copy_leads_somewhere(path):
    published = notebooks.read(path)
    cells = delivery.delivered(published)["cells"]
    links = 0
    for before, after in zip(published["cells"], cells, strict=True):
        if after["cell_type"] != "markdown":
            assert after["source"] == before["source"]
            continue
        plain = re.sub(r"^(`{3,}|~{3,}).*?^\1\s*$", "", after["source"], flags=re.M | re.S)
        targets = re.findall(r"\]\(([^)\s]+)|(?:href|src)=[\"']([^\"']+)", plain)
        for target in (one or other for one, other in targets):
            if re.match(r"[a-z]+:|#", target):
                continue
            name = target.partition("#")[0]
            is_lesson = re.fullmatch(r"\d\d_\w+\.ipynb", name)
            place = ROOT / "lessons" / ("" if is_lesson else "mine") / name
            assert Path(os.path.normpath(place)).exists(), target
            links += 1
    assert links or "](" not in str(published["cells"])
