"""Links in the copies lead where they led in the lessons."""

import os
import re
from pathlib import Path

import pytest

from _start import copies, notebooks

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = sorted((ROOT / "lessons").glob(copies.LESSONS))


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_every_link_of_a_copy_leads_somewhere(path):
    published = notebooks.read(path)
    cells = copies.delivered(published)["cells"]
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
