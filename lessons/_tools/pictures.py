"""Draw the pictures of the README: the worked example, and its backward pass as an animation."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from _tools import places

FOLDER = places.LESSONS / "reference"
NUMBERS = {"x": 0.3, "w0": 0.3, "b0": 0.1, "w1": 0.4, "b1": 0.2}
SECONDS, REST = 1.2, 4  # for a step, and for how many steps the end is shown
LINE, LINES = 17.0, 4
_MADE = re.compile(r"(?<=<!-- made -->\n).*(?=<!-- end -->)", re.S)
COLOR = re.compile(r"#[0-9a-fA-F]{6}")


def worked_example() -> str:
    """Draw the graph of lesson 00 with its values and gradients."""
    import minigrad as torch
    from minigrad.viz import draw

    names = {name: torch.tensor(value, requires_grad=True) for name, value in NUMBERS.items()}
    names["x1"] = names["w0"] * names["x"] + names["b0"]
    names["s"] = names["w1"] * names["x1"] + names["b1"]
    names["y"] = names["s"] ** 2
    names["L"] = (names["y"] - 1) ** 2
    for name in ("x1", "s", "y", "L"):
        names[name].retain_grad()
    names["L"].backward()
    return draw(names["L"], names=names, hooks=False, title="The worked example").svg


def played(library: str = "minigrad") -> Any:
    """Run the first program of the README, and give its player.

    Args:
        library: What to run it on: `minigrad` or `torch`. The picture is the same.
    """
    readme = (places.ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.split("```python\n")[1].split("```")[0]
    code = "".join(each.source for each in doctest.DocTestParser().get_examples(block))
    space: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code.replace("import torch ", f"import {library} as torch "), space)
    return space["player"]


def animation(player: Any, moves: bool = True) -> str:
    """Draw the steps of a player, each for a while, with its words below, as one SVG.

    Where there is no animation, or the reader wants none, the end is to be seen.

    Args:
        player: what `play` gave.
        moves: whether to draw more than the end. (An image in a page is not told by every browser
            what the reader wants, so the page has to choose.)
    """
    from minigrad.viz.canvas import document

    base, count = player.svg(0), len(player.steps)
    width, height = map(int, re.findall(r'(?:width|height)="(\d+)"', base)[:2])
    start, end = base.index("<g transform"), base.rindex("</g>\n</svg>")
    group = base[start : base.index(">", start) + 1]
    drawn = (f"<style>{_turns(count)}</style>\n" if moves else "") + f"{base[start:end]}</g>\n"
    for at in range(count + 1) if moves else (count,):
        told = ["The loss is computed.", "backward() begins."]
        if at:
            step = player.steps[at - 1]
            told = [f"{at}. {step.title}", *step.lines]
        kind = 'class="step last"' if at == count else 'class="step" visibility="hidden"'
        turn = f'style="animation-delay:{(at - count - REST) * SECONDS:.1f}s"'
        over = f"{group}{player.svg(at)[end : -len('</svg>') - 1]}"  # what the step adds
        drawn += f"<g {kind} {turn}>{over}{_words(told, width, height)}</g>\n"
    high = height + LINES * LINE + 34
    return document(drawn, width, high, player.title, f"{player.alt} Played step by step.")


def _turns(count: int) -> str:
    """Write the rules by which one step after the other is seen, and the last one longer."""
    whole = count + REST
    rules = "".join(
        f"@keyframes {name}{{0%{{visibility:visible}}{100 * turns / whole:.3f}%,"
        "to{visibility:hidden}}"
        for name, turns in (("step", 1), ("last", REST))
    )
    moving = f".step{{animation:step {whole * SECONDS:.1f}s step-end infinite}}"
    moving += ".last{animation-name:last}"
    return f"{rules}@media (prefers-reduced-motion:no-preference){{{moving}}}"


def _words(lines: Sequence[str], width: float, top: float) -> str:
    """Write what happens in a step on a card."""
    from minigrad.viz.shapes import Run, rect, text_line
    from minigrad.viz.style import CARD, RULE
    from minigrad.viz.text import SANS

    place = (6.5, top + 8.5, width - 13.0, LINES * LINE + 17)
    runs = [Run(line, SANS, 12.0, bold=not at) for at, line in enumerate(lines)]
    written = [text_line([run], 18, top + 30 + at * LINE, None) for at, run in enumerate(runs)]
    return rect(place, rx=5.0, fill=CARD, stroke=RULE) + "".join(written)


def dark(svg: str) -> str:
    """Give a picture the colors of dark pages: light and dark change places, hues stay.

    Args:
        svg: the picture for light pages.
    """

    def turned(found: re.Match[str]) -> str:
        red, green, blue = (int(found[0][at : at + 2], 16) for at in (1, 3, 5))
        light = 0.426 * red + 1.43 * green + 0.144 * blue  # a hue's half turn, as filters do it
        inverted = (255 - 0.9 * (light - value) for value in (red, green, blue))
        return "#" + "".join(f"{min(max(round(each), 24), 255):02x}" for each in inverted)

    return COLOR.sub(turned, svg)


def pictures() -> dict[str, str]:
    """Draw all pictures, for light pages and for dark ones, by file name."""
    player = played()
    light = {
        "worked_example": worked_example(),
        "backward_pass": animation(player),
        "backward_pass_still": animation(player, moves=False),
    }
    return {
        f"{name}{ending}.svg": turn(svg)
        for name, svg in light.items()
        for ending, turn in (("", str), ("_dark", dark))
    }


def store(files: Mapping[str, str], folder: Path, check: bool) -> int:
    """Write files, or compare them with what is there.

    Args:
        files: texts by file name.
        folder: where they are.
        check: whether to compare only.

    Returns:
        An exit code: 1 where something stored is not what it would be now.
    """
    stale = False
    for path, text in ((folder / name, text) for name, text in files.items()):
        if not check:
            path.write_text(text, encoding="utf-8", newline="\n")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"out of date: {path.name}", file=sys.stderr)
            stale = True
    return int(stale)


def put(page: Path, made: str, check: bool) -> int:
    """Put into a page what a command makes of it, or compare it with what is there.

    Args:
        page: has a line `<!-- made -->` above that part, and `<!-- end -->` below.
        made: the part.
        check: whether to compare only.

    Returns:
        An exit code, as `store` gives it.
    """
    text = _MADE.sub(lambda _: made, page.read_text(encoding="utf-8"))
    return store({page.name: text}, page.parent, check)


def main(check: bool = False) -> int:
    """Write the pictures, or compare them with what is there.

    Args:
        check: whether to compare only.

    Returns:
        An exit code.
    """
    return store(pictures(), FOLDER, check)
