"""The book as it is built: every page is there, folded as it should be, and nothing is fetched."""

import functools
import http.server
import re
import sys
import threading
from html.parser import HTMLParser

import pytest

from _tools import canonical, folding, places
from minigrad.classroom.desk import exercises_of
from tests.browser.axe import COLORS, violations
from tests.browser.chromium import browser, executable

LESSONS = [path.stem for path in places.learners()]
# Which attribute of a tag makes a browser load something.
LOADS = dict.fromkeys(["script", "img", "iframe", "source", "video", "audio", "embed"], "src")
LOADS |= {"object": "data", "link": "href", "image": "href"}


class Page(HTMLParser):
    """What a page loads, links to and folds."""

    def __init__(self, text):
        super().__init__()
        self.loads, self.links, self.ids, self.folds = [], [], set(), []
        self.without_words = []
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.add(given.get("id"))
        if tag == "img" and not given.get("alt"):
            self.without_words.append(given.get("src"))
        if tag in LOADS and LOADS[tag] in given:
            self.loads.append(given[LOADS[tag]])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loads += re.findall(r"url\(([^)]*)\)", given.get("style") or "")
        self.inside = tag

    def handle_data(self, data):
        if self.inside == "summary" and data.strip():
            self.folds.append(data.strip())
            self.inside = None
        elif self.inside == "style":
            self.loads += re.findall(r"url\(([^)]*)\)|@import\s+\"([^\"]*)", data)


@pytest.fixture(scope="module")
def pages(book):
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(book.rglob("*.html"))}
    return {path.relative_to(book).as_posix(): Page(text) for path, text in texts.items()}


@pytest.fixture
def lessons(chosen):
    """Give the names of the lessons in the book."""
    return [name for name in LESSONS if places.number_of(name) in chosen]


def test_every_lesson_and_page_is_there(book, pages, lessons):
    wanted = [f"lessons/{name}.html" for name in lessons]
    wanted += [f"lessons/reference/{p.stem}.html" for p in places.LESSONS.glob("reference/*.md")]
    wanted += [f"package/minigrad.{name}.html" for name in ("nn.init", "optim", "symbolic")]
    wanted += ["index.html", "lessons/INSTRUCTORS.html", "search.html"]
    wanted += ["_modules/minigrad/optim/optimizer.html"]  # what "[source]" leads to
    assert not set(wanted) - set(pages)
    assert {name: page.without_words for name, page in pages.items() if page.without_words} == {}
    licenses = (book / "licenses.html").read_text(encoding="utf-8")
    for words in ("MathJax", "Apache License", "Redistribution and use in source", "Bootstrap"):
        assert words in licenses
    assert sum(path.stat().st_size for path in book.rglob("*.*")) < 25_000_000


def test_nothing_is_loaded_from_outside(book, pages):
    for name, page in pages.items():
        assert [each for each in page.loads if re.match(r"['\"]?(https?:)?//", each)] == [], name
    for path in book.rglob("*.css"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert not re.search(r"(@import|url\()\s*['\"]?(https?:)?//", text), path
    for path in book.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(src|import|fetch|href)\W{1,4}https?://(?!\S*w3\.org)", text), path
        assert not re.search(r"https?://[\w.]*(cdn|unpkg|googleapis|jsdelivr)", text), path


def test_links_inside_of_the_book_lead_somewhere(book, pages, lessons):
    left_out = {f"{name}.html" for name in LESSONS} - {f"{name}.html" for name in lessons}
    lost = []
    for name, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:|//", link) or name == "search.html":
                continue
            path, _, part = link.partition("#")
            target = ((book / name).parent / path).resolve() if path else book / name
            if not target.is_file() and target.name not in left_out:
                lost.append((name, link))
            elif part and target.is_file() and target.suffix == ".html":
                there = pages[target.relative_to(book.resolve()).as_posix()]
                lost += [(name, link)] if part not in there.ids else []
    assert lost == []


def test_lessons_are_folded_and_nothing_waits_for_an_answer(book, pages, lessons):
    for name in lessons:
        text = (book / f"lessons/{name}.html").read_text(encoding="utf-8")
        assert not re.search("is still open|not solved yet|You made no prediction", text), name
        assert "Write your guess down before you read on." in text
        folds = pages[f"lessons/{name}.html"].folds
        for each in exercises_of(places.number_of(name)):
            hints = [f"Hint {n} of {len(each.hints)} for {each.id}" for n in (1, 2)]
            first, last = f"What to fill in for {each.id}", f"A solution to {each.id}"
            at = folds.index(f"{first}, and its check")
            assert folds[at + 1 : at + 4] == [*hints, f"{last}, and what the check says"]
        learner = canonical.read(places.LESSONS / f"{name}.ipynb")
        titles = [title for cell in learner.cells if (title := folding.title_of(cell.source))]
        assert [fold for fold in folds if fold in titles] == titles, name


# ---- in a browser: it stands in this file so that one process builds the book for all -----------


in_a_browser = pytest.mark.skipif(
    executable() is None or not sys.platform.startswith("linux"),
    reason="tried with Chromium on Linux",
)


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves the book, and where it is wanted a site beside it that computes."""

    lite = False

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        if self.path == "/lite/lab/index.html":
            self.send_response(200 if self.lite else 404)
            self.end_headers()
        else:
            super().do_HEAD()


@pytest.fixture(scope="module")
def address(book):
    serve = functools.partial(Server, directory=str(book))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def window():
    with browser(1366, 768) as opened:
        yield opened


@pytest.fixture
def page(window):
    window.size(1366, 768)
    window.requests.clear()
    window.errors.clear()
    return window


@in_a_browser
def test_a_lesson_works_on_its_page(address, page):
    page.open(address + "lessons/06_full_backward_hooks.html")
    page.wait("document.querySelectorAll('.math mjx-container').length > 30")
    assert page.ask("document.querySelectorAll('mjx-merror').length") == 0

    player = "document.querySelector('.minigrad-player')"
    said = f"{player}.querySelector('[aria-live]').textContent"
    page.ask(f"[...{player}.querySelectorAll('button')].find(b => b.textContent == 'Next').click()")
    assert page.ask(said).startswith("Step 1 of 15.")
    page.ask(f"{player}.focus()")
    page.press("End")
    assert page.ask(said).startswith("Step 15 of 15.")

    seen = {}
    for mode in ("light", "dark"):
        page.ask(f"document.querySelector('.theme-change-button[data-mode={mode}]').click()")
        assert page.ask("document.documentElement.dataset.theme") == mode
        seen[mode] = page.ask("getComputedStyle(document.body).backgroundColor")
    assert seen["light"] != seen["dark"]

    page.ask("document.querySelector('.cell_input .copybtn').click()")
    page.wait("document.querySelector('.cell_input .copybtn.success')")
    outside = [url for url in page.requests if not url.startswith((address, "data:"))]
    assert outside == []
    assert page.errors == []


# What on a narrow page cannot be read: code that is cut, words smaller than nine pixels (those of
# plots are at least 13 pixels high where a plot has its own size), and a page that scrolls.
UNREAD = """(() => {
  document.querySelectorAll('details').forEach(each => each.open = true);
  const wide = [...document.querySelectorAll('.bd-article pre')].filter(
    e => e.scrollWidth > e.clientWidth + 1 && !e.closest('.cell_output')).map(e => e.innerText);
  const small = [...document.querySelectorAll('.bd-article img')].filter(e => e.offsetParent &&
    e.naturalWidth && !e.classList.contains('minigrad-ink') &&
    e.getBoundingClientRect().width < e.naturalWidth * 0.7).map(e => e.src);
  const page = document.documentElement.scrollWidth > innerWidth ? ['the page'] : [];
  return [...wide, ...small, ...page]; })()"""


@in_a_browser
def test_a_narrow_page_loses_nothing(book, page):
    page.size(390, 844)
    names = ["index", "lessons/06_full_backward_hooks", "lessons/13_diagnosing_a_network"]
    for name in [*names, "lessons/reference/own_model", "package/minigrad.optim"]:
        page.open((book / f"{name}.html").as_uri())  # no server: it is read from the disk
        page.wait("[...document.images].every(each => each.complete)")
        assert page.ask(UNREAD) == [], name
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert page.errors == []


@in_a_browser
@pytest.mark.parametrize("lite", [False, True])
def test_a_lesson_links_to_where_it_runs(address, page, monkeypatch, lite):
    monkeypatch.setattr(Server, "lite", lite)
    lesson = "06_full_backward_hooks"
    page.open(f"{address}lessons/{lesson}.html")
    link = "[...document.querySelectorAll('a')].find(a => a.innerText == 'Run this lesson').href"
    if lite:
        page.wait("document.querySelector('.cell_input .run-cell')")
        assert page.ask(link) == f"{address}lite/lab/index.html?path={lesson}.ipynb"
        assert violations(page, "document.querySelector('.cell_input')", COLORS) == []
    else:
        assert page.ask(link) == f"{address}index.html#run-it"


@in_a_browser
def test_the_search_finds_the_lesson_about_it(address, page):
    page.open(address + "search.html?q=vanishing+gradient")
    page.wait("document.querySelectorAll('#search-results li a').length > 2")
    first = page.ask("document.querySelector('#search-results li a').href")
    assert first.startswith(f"{address}lessons/13_diagnosing_a_network.html")


LOOKED_AT = {
    "index.html": "",
    "lessons/03_the_backward_pass.html": "",  # it has a player
    "package/minigrad.nn.init.html": "",  # formulas
    "lessons/INSTRUCTORS.html": "",  # tables
    "search.html": "?q=gradcheck",
    "genindex.html": "",
    "_modules/minigrad/nn/init.html": "",
}


@in_a_browser
@pytest.mark.parametrize(("name", "query"), LOOKED_AT.items())
def test_axe_finds_nothing_on_the_pages(address, page, name, query):
    found = {}
    page.open(address + name + query)
    if query:
        page.wait("document.querySelectorAll('#search-results li a').length > 2")
    else:
        page.wait("!document.querySelector('.math') || document.querySelector('mjx-math')")
    # all letters of the index look alike
    page.ask("document.querySelectorAll('.genindextable ~ *').forEach(e => e.remove())")
    page.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
    for theme, rules in (("light", None), ("dark", COLORS)):
        page.ask(f"document.querySelector('.theme-change-button[data-mode={theme}]').click()")
        page.wait("!document.getAnimations().some(e => e.playState === 'running')")
        found[theme] = violations(page, rules=rules)
    assert {theme: told for theme, told in found.items() if told} == {}


@in_a_browser
def test_the_book_is_read_by_keys(address, page):
    at = "document.activeElement"
    page.size(390, 844)
    page.open(address + "package/minigrad.optim.html")
    page.wait("document.querySelector('mjx-container[tabindex]')")  # wider than the page
    page.press("Tab")
    assert page.ask(f"{at}.textContent") == "Skip to main content"
    page.wait(f"{at}.getBoundingClientRect().top >= 0")  # it slides in
    page.press("Enter")
    page.press("Tab")
    assert page.ask(f"{at}.closest('main') !== null")
    formula = "document.querySelector('mjx-container[tabindex]')"
    page.ask(f"{formula}.focus()")
    page.press("ArrowRight")
    page.wait(f"{formula}.scrollLeft > 0")

    page.open(address + "lessons/03_the_backward_pass.html")
    page.ask("document.querySelector('.bd-article details summary').focus()")
    page.press("Enter")
    assert page.ask("document.querySelector('.bd-article details').open")
