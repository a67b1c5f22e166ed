"""Ask axe-core what is wrong with a page for those who cannot see it well, or have no mouse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .chromium import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
COLORS = ["color-contrast", "link-in-text-block"]

_RUN = """axe.run(%s, %s).then(found => JSON.stringify(found.violations.flatMap(
  rule => rule.nodes.map(node => [rule.id, node.target.join(" "), node.html.slice(0, 200)]))))"""


def violations(
    page: Page, scope: str = "document", rules: list[str] | None = None, allowed: Any = ()
) -> list[str]:
    """Say what axe finds on the page.

    Args:
        page: what is looked at, as it is shown.
        scope: which part of it, as an expression of JavaScript.
        rules: ids of axe's rules; all that belong to WCAG 2.1, A and AA, and its own by default.
        allowed: ids of rules that what is not ours breaks.
    """
    package = pytest.importorskip("axe_core_python")
    if not page.ask("Boolean(window.axe)"):
        script = Path(package.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
        page.ask(f"(() => {{ const define = undefined; {script} }})()")
    only = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": TAGS}
    options = {
        "runOnly": only,
        "resultTypes": ["violations"],
        "rules": {rule: {"enabled": False} for rule in allowed},
    }
    told = page.call(
        "Runtime.evaluate",
        expression=_RUN % (scope, json.dumps(options)),
        awaitPromise=True,
        returnByValue=True,
    )
    assert "exceptionDetails" not in told, told
    return [": ".join(found) for found in json.loads(told["result"]["value"])]
