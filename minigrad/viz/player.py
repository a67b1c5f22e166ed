"""Play a backward pass step by step in a notebook, forward and back, with its numbers: `play`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from minigrad.autograd.events import Log, PassStarted
from minigrad.autograd.leaves import resolve_edge
from minigrad.autograd.names import named_tensors
from minigrad.viz.canvas import DIRECTIONS, Canvas
from minigrad.viz.drawing import add_groups
from minigrad.viz.export import description
from minigrad.viz.graph import read_graph
from minigrad.viz.modules import watch_modules
from minigrad.viz.overlay import Stage
from minigrad.viz.picture import asked_for
from minigrad.viz.player_script import SCRIPT
from minigrad.viz.player_style import STYLE
from minigrad.viz.shapes import number
from minigrad.viz.steps import Formulas, Step, steps_of
from minigrad.viz.tables import text_table
from minigrad.viz.theme import box, image


class Player:
    """A backward pass to step through.

    In a notebook it shows itself: buttons, a slider, the arrow keys. Where scripts do not run there
    are a picture of the graph at the end of the pass and a table of all steps. Both are the same on
    every run.

    Attributes:
        steps: The steps, as text and with their nodes.
        alt: The alternative text of the picture.
    """

    def __init__(self, stage: Stage, steps: list[Step], title: str, alt: str) -> None:
        """Hold the graph and the steps; use `play` instead."""
        self._stage, self.steps, self.title, self.alt = stage, steps, title, alt

    @property
    def table(self) -> str:
        """All steps as a text table."""
        steps = enumerate(self.steps, 1)
        rows = [(str(at), step.title, "; ".join(step.lines)) for at, step in steps]
        return text_table(("step", "what happens", "with which numbers"), rows, left=(1, 2))

    def svg(self, step: int) -> str:
        """Give the picture at one step, from 1 on, as a complete SVG; at 0 before the first.

        Raises:
            IndexError: If there is no such step.
        """
        return self._at(step, paper=True)

    def _at(self, step: int, paper: bool) -> str:
        """Give the picture at one step, on white paper or on none."""
        base = self._stage.picture(self.title, self.alt, paper)
        if step == 0:
            return base
        layer = self._stage.layer(self._until(step), self.steps[step - 1].title)
        inner = layer[layer.index("<g transform") : layer.rindex("</svg>")]
        return base.replace("</svg>", f"{inner}</svg>")

    def _until(self, step: int) -> list[Step]:
        if not 1 <= step <= len(self.steps):
            raise IndexError(f"there are steps 1 to {len(self.steps)}, and 0 for the beginning")
        return self.steps[:step]

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the player to a file: `.html` for the player alone on a page, `.txt` for the table.

        Raises:
            ValueError: If the name ends in something else.
        """
        path = Path(path)
        page = (
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>{escape(self.title)}</title></head>"
            '<body class="minigrad-page" style="font-family:sans-serif">'
            f"{self.html()}</body></html>\n"
        )
        texts = {".html": page, ".txt": self.table + "\n"}
        if path.suffix not in texts:
            raise ValueError(f"cannot write {path.name!r}: the name must end in .html or .txt")
        path.write_text(texts[path.suffix], encoding="utf-8", newline="\n")
        return path

    def html(self) -> str:
        """Return the player as HTML that needs nothing from elsewhere."""
        count, size = len(self.steps), (self._stage.width, self._stage.height)
        picture = image(self._at(0, paper=False), self.alt, *size, "minigrad-player-base")
        rows, layers = [], []
        for at, step in enumerate(self.steps, 1):
            title = f"Step {at} of {count}. {step.title}"
            until = self._until(at)
            whole, core = self._stage.where(until[-1])
            place = " ".join(map(number, (*whole, *core)))
            layer = image(
                self._stage.layer(until, title),
                f"{title}: {'; '.join(step.lines)}",
                *size,
                "minigrad-player-layer",
            )
            layers.append(layer.replace("<img", f'<img data-place="{place}"', 1))
            lines = "<br>".join(escape(line) for line in step.lines)
            rows.append(f"<tr><td>{at}</td><th>{escape(step.title)}</th><td>{lines}</td></tr>")
        still = image(
            self._at(count, paper=False),
            f"{self.alt} At the end of the pass.",
            *size,
            "minigrad-player-still",
        )
        table = "<table><thead><tr><th>step</th><th>what happens</th><th>with which numbers</th>"
        table += f"</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        return (
            f"<style>{STYLE}</style>"
            f'<div class="minigrad-player" data-steps="{count}" style="padding:.3em">'
            f'<p class="minigrad-player-title"><strong>{escape(self.title)}</strong></p>'
            '<p class="minigrad-player-still-only">The end of the pass. Run this cell, or trust '
            "the notebook, and buttons step through it.</p>"
            f'<div class="minigrad-player-end">{box(still, size[0])}</div>'
            f"<details><summary>All {count} steps as a table</summary>{table}</details>"
            # not a <template>: where scripts don't run, its content would be taken out and shown
            '<details class="minigrad-player-layers"><summary>The marks of each step</summary>'
            f"{picture}{''.join(layers)}</details>"
            f"</div><script>{SCRIPT}</script>"
        )

    def __repr__(self) -> str:
        """Return the table."""
        return f"{self.title}\n{self.table}"

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, str]:
        return asked_for({"text/plain": repr(self), "text/html": self.html()}, include, exclude)


def play(
    log: Log,
    *,
    names: Any = None,
    title: str = "The backward pass, step by step",
    direction: str = "down",
    digits: int = 4,
    max_values: int = 4,
    formulas: bool = True,
    hooks: bool = True,
    modules: watch_modules | None = None,
    groups: Mapping[str, Any] | None = None,
    limit: int = 80,
) -> Player:
    """Play a recorded backward pass step by step on the picture of its graph.

    Each step lights the node at work, or the hook that fired and what it changed; it says which
    gradient arrived, what it was multiplied by, and marks the arrow along which the product went.

    Args:
        log: What `record()` gave. The graph must still be there: keep the loss.
        names: Names for tensors, as in `draw`; by default those that `record(names)` was given.
        title: A line above.
        direction: Where gradients flow: `"down"`, `"up"`, `"right"` or `"left"`.
        digits: Decimals of numbers.
        max_values: How many entries a tensor may have for its values to be shown in the picture.
        formulas: Whether to write local derivatives as formulas too, where SymPy is installed and
            the graph still has its saved values (`backward(retain_graph=True)`).
        hooks: Whether to draw the hooks on the picture; those that fire are told in any case.
        modules: What `watch_modules` saw: a box around each module.
        groups: Further boxes, as in `draw`.
        limit: How many nodes there may be.

    Returns:
        The player.

    Raises:
        ValueError: If the log is empty, its graph is gone or too large, or for an unknown
            direction.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.viz import record
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> with record({"x": x, "y": y}) as log:
        ...     y.backward()
        >>> player = play(log, title="A square")
        >>> player
        A square
        step  what happens                       with which numbers
           1  MulBackward0 (y) applies its rule  1.0000 arrives; times 3.0000 gives 3.0000 ...
           2  x adds to .grad                    6.0000 arrives and becomes x.grad, the sum of 2 ...
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"direction must be one of {', '.join(DIRECTIONS)}, not {direction!r}")
    known = list(named_tensors(log.named() if names is None else names))
    steps = steps_of(log, _formulas(known) if formulas else None, digits)
    if any(event.node.node is None for event in log):
        raise ValueError(
            "the graph of this log is gone, so it can't be drawn. Keep the tensor that backward() "
            "was called on for as long as you want to play the log; print(log) shows it as text."
        )
    roots = [event.node.node for event in log.of(PassStarted)]
    graph, index = read_graph(
        list(dict.fromkeys(roots)),
        names=[dict(reversed(known)), *_models(modules)],
        hooks=hooks,
        gradients=False,  # they come step by step
        digits=digits,
        max_values=max_values,
        limit=limit,
    )
    add_groups(graph, index, modules, groups)
    stage = Stage(Canvas(graph, direction), index)
    return Player(stage, steps, title, f"{title}. {description(graph)}")


def _models(modules: watch_modules | None) -> list[Any]:
    """Give the watched modules, for the names of their parameters."""
    watched = () if modules is None else modules.models
    return [{name: module} if name else module for name, module in watched]


def _formulas(names: list[tuple[str, Any]]) -> Formulas | None:
    """Give what writes local derivatives as formulas in these names; None without SymPy."""
    try:
        from minigrad.symbolic.telling.local_formulas import local_formula
    except ModuleNotFoundError:
        return None
    called: dict[Any, str] = {}
    for name, tensor in names:
        called.setdefault(tensor._edge or resolve_edge(tensor), name)

    def formula(node: Any, input_nr: int, shape: tuple[int, ...]) -> str | None:
        return local_formula(node, input_nr, shape, called.get)

    return formula
