"""What learners see: all of the player at once, text large enough, contrast in both themes."""

from __future__ import annotations

import base64
import io
import json
import time
from pathlib import Path
from typing import Any

import nbformat
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.viz import Picture, Player, beside, draw, play, plot_chain, record, watch_modules
from minigrad.viz.style import PLOTS
from tests.viz.test_player import Squared, double

from .chromium import Page

LESSONS = Path(__file__).parents[2] / "lessons"
WHITE, LAB, BOOK = "#ffffff", "#111111", "#14181e"  # grounds of pages


def run(hooked: bool = True) -> Any:
    """Run the worked example of lesson 06; give its loss, its modules and its tensors."""
    f0, f1 = nn.Linear(1, 1), Squared()
    if hooked:
        f1.register_full_backward_hook(double)
    x = torch.tensor([[0.3]], requires_grad=True)
    with watch_modules({"f0": f0, "f1": f1}) as modules:
        y = f1(f0(x))
    return ((y - 1) ** 2).sum(), modules, {"x": x, "y": y}


def on_a_page(shown: Player, folder: Path) -> Path:
    """Write a player alone on a page, light or dark as the reader's others are."""
    path = folder / "player.html"
    shown.save(path)
    return path


def player() -> Player:
    loss, _, names = run()
    with record(names) as log:
        loss.backward()
    return play(log, title="The hook double on f1, step by step")


def pair() -> Picture:
    pictures = []
    for hooked in (False, True):
        loss, modules, names = run(hooked)
        loss.backward()
        pictures.append(draw(loss, names=names, modules=modules))
    return beside(*pictures, captions=["no hook", "full backward hook on f1"])


def wide() -> Picture:
    leaves = [torch.tensor(float(at), requires_grad=True) for at in range(14)]
    return draw(torch.stack(leaves).sum(), names={f"leaf_{n}": w for n, w in enumerate(leaves)})


def put(page: Page, path: Path, html: str, look: str = "", root: str = "") -> None:
    """Put HTML on a page of its own."""
    path.write_text(
        f'<!DOCTYPE html><html lang="en" {root}><meta charset="utf-8">'
        f'<body style="margin:0;font-family:sans-serif" {look}>{html}</body></html>'
    )
    page.open(path.as_uri())
    page.wait("[...document.images].every(each => each.complete)")


# ------------------------------------------------------------------ the player

# Where the frame around what is at work lies on the screen, read from the layer itself.
SEEN = """(() => {
  const rect = e => { const r = e.getBoundingClientRect();
    return [r.left, r.top, r.right, r.bottom]; };
  const player = document.querySelector('.minigrad-player');
  const layer = player.querySelector('.minigrad-player-stage .minigrad-player-layer');
  const stage = player.querySelector('.minigrad-player-stage');
  const drawn = decodeURIComponent(layer.src.split(',')[1]);
  const svg = new DOMParser().parseFromString(drawn, 'image/svg+xml');
  const shift = svg.querySelector('g').getAttribute('transform');
  const [dx, dy] = shift.match(/[-\\d.]+/g).map(Number);
  const on = layer.getBoundingClientRect();
  const scale = on.width / svg.documentElement.viewBox.baseVal.width;
  const frames = [...svg.querySelectorAll('rect[stroke="#D55E00"][stroke-width="3"]')].map(e => {
    const [x, y, w, h] = ['x', 'y', 'width', 'height'].map(name => Number(e.getAttribute(name)));
    const left = on.left + (x + dx) * scale, top = on.top + (y + dy) * scale;
    return [left, top, left + w * scale, top + h * scale]; });
  return {frames, stage: rect(stage), text: rect(player.querySelector('.minigrad-player-said')),
    player: rect(player), bar: rect(player.querySelector('.minigrad-player-bar')),
    still: layer.complete && layer.style.visibility === 'visible'};
})()"""


def in_view_at_each_step(page: Page, count: int, patience: float = 5.0) -> None:
    """Step through, and see that buttons, text and the node at work fit on a laptop's screen."""
    texts, stages = set(), set()
    page.ask("document.querySelector('.minigrad-player').focus({preventScroll: true})")
    end, before = time.monotonic() + patience, None
    while (now := page.ask(SEEN)["stage"]) != before:  # the page lays itself out after a change
        assert time.monotonic() < end, f"the stage does not stand still: {before}, {now}"
        before = now
        time.sleep(0.3)
    for step in range(1, count + 1):
        page.press("ArrowRight")
        end = time.monotonic() + patience
        while True:
            seen = page.ask(SEEN)
            left, top, right, bottom = seen["stage"]
            inside = bool(seen["frames"]) and all(
                left <= a and top <= b and c <= right and d <= bottom
                for a, b, c, d in seen["frames"]
            )
            if inside and seen["still"]:
                break
            assert time.monotonic() < end, f"step {step} is out of view: {seen}"
            time.sleep(0.03)
        texts.add(tuple(map(round, seen["text"])))
        stages.add(tuple(map(round, seen["stage"])))
        start = seen["player"][1]
        assert max(seen["bar"][3], seen["text"][3], bottom) - start <= 500
    assert len(texts) == len(stages) == 1  # nothing jumps


def test_the_player_fits_on_a_laptop_at_each_step(page: Page, tmp_path: Path) -> None:
    page.size(1366, 768)
    shown = player()
    for width in (980, 900, 700):  # beside JupyterLab's file browser; below each other
        html = f'<div style="width:{width}px">{shown.html()}</div>'
        put(page, tmp_path / "player.html", html)
        page.prefer(prefers_reduced_motion="no-preference" if width == 980 else "reduce")
        if width > 700:
            in_view_at_each_step(page, len(shown.steps))
            beside_each_other = page.ask(SEEN)
            assert beside_each_other["text"][0] > beside_each_other["stage"][2]
        assert page.errors == []
    page.prefer()


def test_who_prefers_less_motion_sees_none(page: Page, tmp_path: Path) -> None:
    page.size(1366, 500)
    put(page, tmp_path / "player.html", player().html())
    stage = "document.querySelector('.minigrad-player-stage')"
    for motion, most in (("reduce", 2), ("no-preference", 1000)):
        page.prefer(prefers_reduced_motion=motion)
        page.ask("document.querySelector('.minigrad-player').focus()")
        page.press("Home")
        page.wait(f"{stage}.scrollTop < 1")
        page.ask(
            f"window.seen = new Set(); {stage}.onscroll = () => window.seen.add({stage}.scrollTop)"
        )
        page.press("End")
        page.wait(f"{stage}.scrollTop > {stage}.scrollHeight - {stage}.clientHeight - 40")
        page.wait("window.seen.size")
        assert page.ask("window.seen.size") <= most
    assert page.ask("window.seen.size") > 2  # smooth where motion is liked
    page.prefer()


@pytest.mark.parametrize("width", [760, 360])
def test_the_slider_fits(page: Page, tmp_path: Path, width: int) -> None:
    page.size(width, 700)
    put(page, tmp_path / "player.html", player().html())
    right = "getBoundingClientRect().right"
    slider = "document.querySelector('.minigrad-player input[type=range]')"
    assert page.ask(f"{slider}.{right}") <= page.ask(f"{slider}.closest('div').{right}") <= width
    assert page.ask(f"{slider}.clientWidth") >= 100
    assert page.ask("document.documentElement.scrollWidth") <= width


# ------------------------------------------------------------------ the size of text

SMALLEST = """[...document.querySelectorAll('img[src*=base64]')].filter(e => e.offsetParent)
  .map(e => {
  const svg = atob(e.src.split(',')[1]), sizes = [...svg.matchAll(/font-size="([\\d.]+)"/g)];
  const scale = e.getBoundingClientRect().width / Number(svg.match(/viewBox="0 0 ([\\d.]+)/)[1]);
  return Math.min(99, ...sizes.map(size => Number(size[1]))) * scale; })"""


def stored() -> list[str]:
    """Give the pictures in the lessons' outputs."""
    found = []
    for path in sorted(LESSONS.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", []):
                html = output.get("data", {}).get("text/html", "")
                found += [html] if "minigrad-ink" in html else []
    return found


@pytest.mark.parametrize("styled", [True, False])
def test_no_text_is_smaller_than_nine_pixels(page: Page, tmp_path: Path, styled: bool) -> None:
    page.size(1000, 800)
    pictures = [pair(), wide(), player()]
    html = "".join(
        f'<div style="margin-left:90px">{each}</div>'
        for each in [*(picture.html() for picture in pictures), *stored()]
    )
    put(page, tmp_path / "all.html", html if styled else html.replace("<style", "<style media=tv"))
    sizes = page.ask(SMALLEST)
    assert len(sizes) >= 6
    assert min(sizes) >= 9
    assert page.ask("document.documentElement.scrollWidth") <= 1000  # wide ones scroll in a box


def test_pictures_side_by_side_stand_below_each_other_on_a_narrow_page(
    page: Page, tmp_path: Path
) -> None:
    tops = "[...document.querySelectorAll('.minigrad-row img')]" + (
        ".map(e => Math.round(e.getBoundingClientRect().top))"
    )
    for width, rows in ((1000, 1), (560, 2)):
        page.size(width, 800)
        put(page, tmp_path / "pair.html", pair().html())
        assert len(set(page.ask(tops))) == rows


# ------------------------------------------------------------------ contrast

# The places of words and of wires of the first picture, and how they would look without it.
PLACES = """(() => {
  const image = document.querySelector('img.minigrad-ink'), on = image.getBoundingClientRect();
  const box = document.createElement('div');
  box.style.cssText = `position:absolute;left:${on.left}px;top:${on.top}px;width:${on.width}px`;
  box.innerHTML = atob(image.src.split(',')[1]);
  const svg = box.querySelector('svg');
  svg.setAttribute('width', on.width); svg.setAttribute('height', on.height);
  document.body.appendChild(box);
  const texts = [...svg.querySelectorAll('text')].map(e => {
    const r = e.getBoundingClientRect();
    return [e.textContent, r.left, r.top, r.right, r.bottom]; });
  const wires = [...svg.querySelectorAll('path[stroke="#66707c"]')].map(e => {
    const p = e.getPointAtLength(e.getTotalLength() / 2).matrixTransform(e.getScreenCTM());
    return [p.x, p.y]; });
  box.remove();
  return JSON.stringify({texts, wires});
})()"""


def pixels(page: Page) -> Any:
    """Give what is to be seen as an array of relative luminances, as WCAG defines them."""
    np = pytest.importorskip("numpy")
    image = pytest.importorskip("matplotlib.image")
    data = base64.b64decode(page.call("Page.captureScreenshot")["data"])
    shown = image.imread(io.BytesIO(data), format="png")[..., :3]
    levels = np.arange(256) / 255
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)
    return linear[(shown * 255).round().astype(np.uint8)] @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize(
    ("ground", "look", "root", "trusted"),
    [
        (WHITE, 'data-jp-theme-light="true"', "", True),
        (LAB, 'data-jp-theme-light="false"', "", True),
        (BOOK, "", 'data-theme="dark"', True),
        (LAB, 'data-jp-theme-light="false"', "", False),
    ],
    ids=["light", "JupyterLab dark", "book dark", "dark, not trusted"],
)
def test_words_and_wires_stand_out(
    page: Page, tmp_path: Path, ground: str, look: str, root: str, trusted: bool
) -> None:
    loss, modules, names = run()
    loss.backward()
    html = draw(loss, names=names, modules=modules, annotations={"y": "a note"}).html()
    if not trusted:
        html = html.replace("<style", "<style media=tv")
    page.size(620, 1250, 2.0)
    html = f"<style>html,body{{background:{ground}}}</style>{html}"
    put(page, tmp_path / "theme.html", html, look, root)
    places, light = json.loads(page.ask(PLACES)), pixels(page)
    assert len(places["texts"]) > 20 and len(places["wires"]) > 5
    for words, *corners in places["texts"]:
        left, top, right, bottom = (round(2 * each) for each in corners)
        part = light[top:bottom, left:right]
        assert (part.max() + 0.05) / (part.min() + 0.05) >= 4.5, words
    for x, y in places["wires"]:
        part = light[round(2 * y) - 9 : round(2 * y) + 9, round(2 * x) - 20 : round(2 * x) + 20]
        assert (part.max() + 0.05) / (part.min() + 0.05) >= 3
    corner = light[-3:, -3:]
    # no box of another ground
    assert abs(float(light[5, -5] - corner.mean())) < 1e-3
    page.size(1000, 800)


def test_plots_stand_out_on_dark_pages(page: Page, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    png = base64.b64encode(plot_chain([("a", 2.0), ("b", 0.5)], title="A chain").png()).decode()
    image = f'<div class="jp-RenderedImage"><img src="data:image/png;base64,{png}" alt="A"></div>'
    dark = 'data-jp-theme-light="false"'
    for ground, look, least in ((WHITE, "", 4.4), (LAB, "", 4.1), (LAB, dark, 6.0)):
        page.size(720, 430, 1.0)
        html = f"<style>{PLOTS} html,body{{background:{ground}}}</style>{image}"
        put(page, tmp_path / "plot.html", html, look)
        title = pixels(page)[2:30, :300]  # thick enough for its own color
        assert (title.max() + 0.05) / (title.min() + 0.05) >= least
