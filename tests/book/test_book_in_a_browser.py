"""The book in a browser: formulas are set, the player steps, the dark switch works."""

import functools
import http.server
import sys
import threading

import pytest

from tests.browser.chromium import browser, executable

pytestmark = [
    pytest.mark.skipif(executable() is None, reason="Chromium is not installed"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="tried on Linux only"),
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, *_):
        pass


@pytest.fixture
def address(book):
    serve = functools.partial(Quiet, directory=str(book))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_a_lesson_works_on_its_page(address):
    with browser(1366, 768) as page:
        page.open(address + "lessons/06_full_backward_hooks.html")
        page.wait("document.querySelectorAll('.math mjx-container').length > 30")
        assert page.ask("document.querySelectorAll('mjx-merror').length") == 0

        player = "document.querySelector('.minigrad-player')"
        page.ask(f"{player}.closest('details').open = true")
        said = f"{player}.querySelector('[aria-live]').textContent"
        page.ask(
            f"[...{player}.querySelectorAll('button')].find(b => b.textContent == 'Next').click()"
        )
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

        page.size(390, 844)
        assert page.ask("document.documentElement.scrollWidth <= innerWidth")
        outside = [url for url in page.requests if not url.startswith((address, "data:"))]
        assert outside == []
        assert page.errors == []


def test_the_search_finds_a_lesson(address):
    with browser(1366, 768) as page:
        page.open(address + "search.html?q=gradcheck")
        page.wait("document.querySelectorAll('#search-results li a').length > 2")
        assert "11_checking_gradients" in page.ask(
            "document.querySelector('#search-results').innerHTML"
        )
