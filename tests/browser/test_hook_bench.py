"""The hook bench: its numbers are minigrad's and PyTorch's, and everybody can use it.

500 scenes are made at random in the page. The code that the page shows for each is run, and has to
print what the page says that it prints: each call of a hook, in order, and each gradient.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import minigrad as torch
from minigrad.viz import hook_bench

from .axe import COLORS, violations
from .chromium import Page, browser

# A scene out of every graph, kind, action and number that the page offers.
RANDOM_SCENE = """seed => {
  let state = seed * 2654435761 >>> 0;
  const random = count => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0;
    return Math.floor(((state ^ (state >>> 13)) >>> 0) / 4294967296 * count);
  };
  const pick = list => list[random(list.length)];
  const graph = pick(Object.keys(GRAPHS)), scene = { graph, values: {}, hooks: [] };
  for (const name of Object.keys(GRAPHS[graph].values)) {
    scene.values[name] = (random(401) - 200) / (seed % 5 ? 100 : 20);
  }
  for (let left = random(6); left > 0; left -= 1) {
    const kind = pick(Object.keys(KINDS)), place = pick(placesFor(kind, graph));
    const action = pick(Object.keys(ACTIONS).filter(each => allows(kind, each)));
    if (refusal(kind, place, scene)) { continue; }
    const amount = action === "clip" ? random(100) / 100 : (random(81) - 40) / 10;
    addHook(scene, kind, place, action, amount);
  }
  return scene;
}"""
# What is seen of a scene: its address, the code for both libraries, and what it prints.
TOLD = f"""count => {{
  const scenes = Array.from({{length: count}}, (_, n) => ({RANDOM_SCENE})(n + 1));
  return JSON.stringify(scenes.map(scene => [encode(scene), encode(decode(encode(scene))),
    programOf(scene), programOf(scene, "torch"), printout(scene, run(scene))]));
}}"""
LIBRARIES = ["minigrad", "torch"] if importlib.util.find_spec("torch") else ["minigrad"]
KEY = "(each => each.dataset.key || each.id || each.value)(document.activeElement)"
SAID = "document.getElementById('said').textContent"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("bench") / "bench.html"
    hook_bench().save(path)
    return path.as_uri()


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser(1366, 900) as opened:
        yield opened
        assert opened.errors == []
        outside = ("file:", "data:", "about:", "blob:")
        assert [each for each in opened.requests if not each.startswith(outside)] == []


@pytest.fixture(scope="module")
def scenes(page: Page, address: str) -> list[list[str]]:
    """500 scenes: address, address again, code for minigrad and for PyTorch, what it prints."""
    page.open(address)
    return list(json.loads(page.ask(f"({TOLD})(500)")))


def visit(page: Page, address: str, scene: str = "") -> None:
    """Open the page as somebody who has never been there."""
    page.open(address)
    page.ask("localStorage.clear()")
    page.open("about:blank")
    page.open(f"{address}#{scene}" if scene else address)


def tab_to(page: Page, key: str) -> None:
    for _ in range(40):
        page.press("Tab")
        if page.ask(KEY) == key:
            return
    raise AssertionError(f"Tab does not lead to {key}")


def printed(code: str) -> str:
    """Run a program and give what it printed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        exec(compile(code, "<scene>", "exec"), {"__name__": "scene"})
    return out.getvalue().strip()


def test_500_scenes_are_what_minigrad_and_pytorch_compute(scenes: list[list[str]]) -> None:
    hooks = [hook.split(":") for scene, *_ in scenes for hook in scene.split(";")[2:]]
    assert len({kind for kind, *_ in hooks}) == len({action for _, _, action, *_ in hooks}) == 6
    assert len({scene.split(";")[0] for scene, *_ in scenes}) == 6
    before = torch.get_default_dtype()
    for scene, again, mini, real, told in scenes:
        assert scene == again
        for code in (mini, real)[: len(LIBRARIES)]:
            assert printed(code) == told, f"{scene}\n{code}"
    assert torch.get_default_dtype() == before


def test_levels_are_solved_by_their_solutions_and_by_nothing_simpler(
    page: Page, address: str
) -> None:
    visit(page, address)
    levels = json.loads(
        page.ask(
            f"const LIBRARY = '{LIBRARIES[-1]}';"
            """JSON.stringify(PUZZLES.map(level => {
      const { graph, kinds, start = ["scale", 2], solution } = level, right = [];
      for (const kind of kinds) {
        for (const place of placesFor(kind, graph)) {
          const hook = [kind, place, ...start].join(":");
          if (!mistakes(level, sceneOf(graph, [hook])).length) { right.push(hook); }
        }
      }
      return { title: level.title, because: level.because, right,
        solved: mistakes(level, sceneOf(graph, solution)).length,
        empty: mistakes(level, sceneOf(graph, [])).map(found => found.text),
        told: [encode(sceneOf(graph, solution)), programOf(sceneOf(graph, solution), LIBRARY),
          printout(sceneOf(graph, solution), run(sceneOf(graph, solution)))],
        reversed: mistakes(level, sceneOf(graph, [...solution].reverse())).length };
    }))"""
        )
    )
    assert len(levels) == len({level["because"] for level in levels}) == 12
    for level in levels:
        assert level["solved"] == 0, level
        assert level["empty"][0].startswith("There is no hook yet"), level
        scene, code, told = level["told"]
        assert printed(code) == told, scene
    # with what a hook does at first, one place is right, or more that come to the same
    assert [len(level["right"]) for level in levels] == [1, 1, 1, 0, 1, 3, 1, 1, 0, 1, 1, 1]
    assert levels[8]["reversed"] > 0


def test_a_wrong_answer_is_told_why(page: Page, address: str) -> None:
    visit(page, address, "puzzle=2")
    page.click("[data-place='s']")
    page.click("[data-act=check]")
    assert page.ask(SAID) == (
        "f1.f.weight.grad should be [[-0.1938]], yours is [[-0.3876]]. It should not change: "
        "your hook reaches too far."
    )
    assert page.ask("document.querySelectorAll('#ask li').length") == 2
    shown = "document.querySelector('[data-place=\"f1.f.weight\"]').innerText"
    assert page.ask(shown).split("\n")[1:] == ["✗ goal -0.1938", "yours -0.3876"]
    page.press("Tab")
    page.click("[data-pin]")
    page.ask("document.querySelector('[data-pin]').focus()")
    page.press("Delete")
    page.click("[data-place='x1']")
    page.click("[data-act=check]")
    assert page.ask(SAID) == f"Solved. {page.ask('PUZZLES[1].because')}"
    assert page.ask("PUZZLES[1].because") in page.ask("document.getElementById('ask').innerText")
    page.open("about:blank")
    page.open(address)
    assert page.ask("memory.solved.join()") == "1"  # progress is kept
    page.ask("document.getElementById('to-puzzles').click()")
    assert page.ask("state.level") == 0  # the first that is not solved


def test_the_first_visit_asks_before_it_shows(page: Page, address: str) -> None:
    visit(page, address)
    shown = "document.querySelector('main').innerText"
    for number in ("-0.2448", "-0.8159", "-0.1224"):
        assert number not in page.ask(shown)
    assert "Predict first." in page.ask(shown)
    page.click("[data-answer=wrong]")
    assert page.ask("document.activeElement.innerText").startswith("Not those.")
    for number in ("-0.2448", "-0.8159", "-0.1224"):
        assert number in page.ask(shown)
    page.ask("change(1, {kind: 'legacy'})")
    assert "Now all five double." in page.ask(shown)
    page.click("#ask [data-act=puzzles]")
    assert page.ask("state.level") == 0 and page.ask(KEY) == "to-puzzles"
    page.open("about:blank")
    page.open(address)
    assert "Predict first." not in page.ask(shown)
    visit(page, address)
    page.click("[data-place=f0]")  # the question no longer fits
    assert "Predict first." not in page.ask(shown) and "-0.4896" in page.ask(shown)


def test_a_link_brings_a_scene_back_and_nonsense_does_no_harm(page: Page, address: str) -> None:
    scene = "diamond;1,-1,0.25,0;tensor:a:clip:0.3;full:net:cut"
    visit(page, address, scene)
    assert page.ask("encode(state.scene)") == scene
    page.ask("add('pre', 'net')")
    assert page.ask("location.hash") == f"#{scene};pre:net:scale:2"
    page.ask("document.querySelector('[name=library][value=torch]').click()")
    shown = page.ask("document.getElementById('code').textContent")
    assert shown.startswith("import torch\n") and shown == page.ask(
        "programOf(state.scene, 'torch')"
    )
    assert printed(page.ask("programOf(state.scene)")) == page.ask(
        "document.getElementById('output').textContent"
    )
    hooks = "tensor:s:cut;legacy:f1:flip;full:f1:watch;toString:x;post:s:zero;tensor:x:scale:1e99"
    for nonsense in ("toString", "puzzle=99", "%", f"worked;a,,1e99,Infinity,-3,2,7;{hooks};;:"):
        visit(page, address, nonsense)
        assert page.ask("state.scene.graph") == "worked"
    assert page.ask("encode(state.scene)") == (
        "worked;0.3,0.3,10,0.4,-3,2;legacy:f1:flip;tensor:x:scale:10"
    )


def test_it_works_where_nothing_may_be_stored(page: Page, address: str) -> None:
    denied = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('denied'); }})"
    added = page.call("Page.addScriptToEvaluateOnNewDocument", source=denied)
    page.open("about:blank")
    page.open(f"{address}#puzzle=1")
    page.click("[data-place='f0.bias']")
    page.click("[data-act=check]")
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
    assert page.ask("memory.solved.join()") == "0"


def test_keys_alone_do_everything(page: Page, address: str) -> None:
    visit(page, address, "worked;;")
    tab_to(page, "full")
    page.press("ArrowDown", "ArrowDown")  # full, pre, legacy
    assert page.ask("state.kind") == "legacy"
    tab_to(page, "net.box")
    page.press("ArrowDown")
    assert page.ask(KEY) == "f1.box"
    page.press("Enter")
    assert page.ask("encode(state.scene)").endswith(";legacy:f1:scale:2")
    assert page.ask(SAID) == (
        "Added L1, a legacy backward hook on f1. "
        "Changed: x, f0.weight, f0.bias, f1.f.weight, f1.f.bias, x1, s."
    )
    assert page.ask(KEY) == "f1.box"
    assert "hook L1" in page.ask("document.activeElement.getAttribute('aria-label')")
    tab_to(page, "kind0")
    page.press("ArrowUp")
    assert page.ask("encode(state.scene)").endswith(";pre:f1:scale:2")
    assert page.ask(KEY) == "kind0"
    tab_to(page, "action0")
    tab_to(page, "amount0")
    page.press("ArrowUp")
    assert page.ask("encode(state.scene)").endswith(";pre:f1:scale:2.1")
    page.ask("document.getElementById('step').focus()")
    count = page.ask("steps()")
    page.press("ArrowLeft")
    assert page.ask(SAID) == (
        f"Step {count - 1} of {count}. ViewBackward0 gets ([[-0.2570]]) and sends ([-0.2570])."
    )
    at_x = "document.querySelector('[data-place=x] .number').textContent"
    assert page.ask(at_x) == ".grad ·"
    page.press("ArrowRight")
    assert page.ask(SAID) == f"Step {count} of {count}. AccumulateGrad: x.grad is now [-0.2570]."
    assert (
        page.ask("document.querySelector('[data-place=x] .number').textContent") == ".grad -0.2570"
    )
    page.ask("document.querySelector('[data-pin]').focus()")
    page.press("Delete")
    assert page.ask("state.scene.hooks.length") == 0
    assert page.ask("document.getElementById('picture').contains(document.activeElement)")


def test_arrows_reach_every_place_and_pins_cover_no_words(page: Page, address: str) -> None:
    visit(page, address, "worked;;")
    page.size(375, 900)
    found = page.ask("""Object.keys(GRAPHS).map(graph => {
      const picture = document.getElementById("picture");
      const apart = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) <= 2
        || Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) <= 3;
      const both = ["tensor", "full", "legacy", "pre"].flatMap(kind =>
        placesFor(kind, graph).map(place => [kind, place]));
      const covered = both.filter(([kind, place]) => {
        openScene(sceneOf(graph, [`${kind}:${place}:scale:20`]));
        const words = [...picture.querySelectorAll(".place span, .name, .node")].flatMap(each => {
          const range = document.createRange();
          range.selectNodeContents(each);
          return [...range.getClientRects()];
        });
        return [...picture.querySelectorAll(".pin")].map(each => each.getBoundingClientRect())
          .some(pin => !words.every(word => apart(pin, word)));
      });
      openScene(sceneOf(graph, both.map(each => each.join(":") + ":flip"))); // full refuses legacy
      const buttons = [...picture.querySelectorAll("button")], reached = new Set();
      const next = [buttons.find(each => each.tabIndex === 0)];
      while (next.length) {
        const at = next.pop();
        if (reached.has(at)) { continue; }
        reached.add(at);
        for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
          at.focus();
          at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          next.push(document.activeElement);
        }
      }
      return [graph, buttons.length - reached.size, covered.join(" ")];
    })""")
    page.size(1366, 900)
    assert [graph for graph, left, covered in found if left or covered] == [], found


@pytest.mark.parametrize("touch", [False, True], ids=["mouse", "finger"])
def test_a_hook_is_dragged_to_its_place_and_on(page: Page, address: str, touch: bool) -> None:
    visit(page, address, "worked;;")

    def middle(selector: str) -> list[float]:
        found = f"document.querySelector({json.dumps(selector)}).getBoundingClientRect()"
        return page.ask(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({found})")

    def drag(start: str, end: str) -> None:
        (x, y), (to_x, to_y) = middle(start), middle(end)
        points = [(x, y), ((x + to_x) / 2, (y + to_y) / 2), (to_x, to_y)]
        for kind, at in zip(("Start", "Move", "Move"), points, strict=True):
            here = {"x": at[0], "y": at[1]}
            if touch:
                page.call("Input.dispatchTouchEvent", type=f"touch{kind}", touchPoints=[here])
            else:
                known = {"Start": "mousePressed", "Move": "mouseMoved"}[kind]
                page.call("Input.dispatchMouseEvent", type=known, button="left", buttons=1, **here)
        if touch:
            page.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        else:
            page.call(
                "Input.dispatchMouseEvent", type="mouseReleased", button="left", x=to_x, y=to_y
            )

    drag("[data-kind=tensor] .letter", "[data-place=s]")
    drag("[data-kind=full] .letter", "[data-place=s]")  # the module around it
    drag("[data-pin='1']", "[data-place=x1]")
    assert page.ask("encode(state.scene)").endswith(";tensor:x1:scale:2;full:f1:scale:2")
    drag("[data-kind=legacy] .letter", "[data-place='f1'] button")
    assert page.ask(SAID).startswith("PyTorch refuses full and legacy hooks on one module")


def test_axe_finds_nothing_and_no_text_is_cut(page: Page, address: str) -> None:
    full = "worked;;tensor:x1:scale;post:f0.weight:clip;full:f1:scale;global:everywhere:watch"
    cut = """[...document.querySelectorAll("button, label, p, h2, select, li, .value, .place span")]
      .filter(each => getComputedStyle(each).display !== "inline")
      .filter(each => each.scrollWidth > each.clientWidth + 1)
      .map(each => each.outerHTML.slice(0, 120))"""
    try:
        for scene in ("", full, "puzzle=12"):
            visit(page, address, scene)
            if scene.startswith("puzzle"):
                page.click("[data-act=check]")
            for width in (1920, 390, 1366):
                page.size(width, 900)
                assert page.ask(cut) == [], (scene, width)
                assert page.ask("document.documentElement.scrollWidth") <= width
            assert violations(page) == [], scene
            page.prefer(prefers_color_scheme="dark")
            assert violations(page, rules=COLORS) == [], scene
            page.prefer()
        page.size(360, 900)
        for graph in page.ask("Object.keys(GRAPHS)"):
            page.ask(f"openScene(sceneOf('{graph}', []))")
            assert page.ask(cut) == [], graph
            assert page.ask("document.documentElement.scrollWidth") <= 360
    finally:
        page.prefer()
        page.size(1366, 900)


def test_it_runs_in_the_frame_of_a_notebook_and_takes_its_theme(page: Page, tmp_path: Path) -> None:
    shown = hook_bench("sum;;legacy:net:scale:2")
    body = f'<html lang="en" data-theme="dark"><body>{shown._repr_html_()}</body></html>'
    path = tmp_path / "notebook.html"
    path.write_text("<!DOCTYPE html>" + body, encoding="utf-8")
    page.open(path.as_uri())
    inside = "document.querySelector('iframe').contentDocument"
    page.wait(f"{inside}.querySelector('.pin')")
    assert page.ask(f"{inside}.documentElement.dataset.theme") == "dark"
    assert "Sits on AddBackward0" in page.ask(f"{inside}.getElementById('hooks').innerText")
    page.wait(f"document.querySelector('iframe').clientHeight >= {inside}.body.scrollHeight")
