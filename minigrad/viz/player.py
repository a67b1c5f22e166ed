"""Play a backward pass step by step in a notebook, forward and back, with its numbers: `play`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from string import Template
from typing import Any

from minigrad.autograd import recording
from minigrad.autograd.recording import GradientSent, HookFired, NodeLabel, RuleApplied
from minigrad.core.engine import resolve_edge
from minigrad.core.node import Node
from minigrad.core.tensor import Tensor
from minigrad.viz.canvas import Canvas, around, bounds, document, draw_canvas, grown
from minigrad.viz.graph import COMPILED, MOST_VALUES, UNSEEN, read_graph
from minigrad.viz.layout import Point
from minigrad.viz.modules import add_groups, watch_modules
from minigrad.viz.picture import box, description, image, save_page
from minigrad.viz.shapes import SMALL, Place, Run, attributes, number, rect, text_line
from minigrad.viz.style import BLUE, CARDS, PAPER, PICTURES, VERMILLION, on_dark_pages
from minigrad.viz.text import WIDE, counted, fitted, format_shape, format_values, text_table

# For a node, the number of one of its inputs and the shape of its result: the formula of the local
# derivative, if known.
Formulas = Callable[[Any, int, tuple[int, ...]], str | None]


Sent = tuple[GradientSent, str]  # one gradient on its way, and how it is written


@dataclass(frozen=True)
class Step:
    """One step of the player.

    Attributes:
        node: The node that is at work.
        title: What happens, in a few words.
        lines: What there is to say, with the numbers.
        hook: If a hook fired: its kind and its name.
        sent: The gradients that leave the node in this step.
        held: What arrived at a leaf and is in its `.grad` now, as text.
    """

    node: NodeLabel
    title: str
    lines: tuple[str, ...]
    hook: tuple[str, str] | None = None
    sent: tuple[Sent, ...] = ()
    held: str | None = None


@dataclass
class _Visit:
    """What the log tells of one node in one pass, from its start to what it sent."""

    label: NodeLabel
    arrived: tuple[Any, ...]
    summed: str  # what to say of gradients that were added up before they came
    before: list[HookFired] = field(default_factory=list)
    rule: RuleApplied | None = None
    after: list[HookFired] = field(default_factory=list)
    sent: list[GradientSent] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)  # captured or added to .grad


def steps_of(log: recording.Log, formulas: Formulas | None = None, digits: int = 4) -> list[Step]:
    """Tell the passes of a log in steps.

    Args:
        log: What `record()` gave.
        formulas: Gives the formula of a local derivative, or None.
        digits: Decimals of numbers.

    Raises:
        ValueError: If the log is empty.
    """
    if not len(log):
        raise ValueError(
            "this log has no events, so there is nothing to play: no backward() or grad() ran in "
            "`with record() as log:`. Python has to start the pass there, in this process and "
            "thread."
        )
    teller = _Teller(formulas, digits)
    return [step for visit in _visits(log) for step in teller.steps(visit)]


def _visits(log: recording.Log) -> Iterable[_Visit]:
    """Collect the events node by node. A pass that a hook starts comes before that hook's end."""
    running: list[_Visit] = []
    done: list[_Visit] = []
    came: dict[int, int] = {}
    for event in log:
        if isinstance(event, recording.NodeStarted):
            while running and running[-1].sent:
                running.pop()
            times = came.pop(event.node.number, 0)
            summed = f", the sum of {times} gradients" if times > 1 else ""
            running.append(_Visit(event.node, event.gradients, summed))
            done.append(running[-1])
            continue
        at_work = (visit for visit in reversed(running) if visit.label is event.node)
        if (visit := next(at_work, None)) is None:
            continue  # a pass starts, or a hook fired at a root that does not run
        if isinstance(event, HookFired):
            (visit.before if visit.rule is None and not visit.others else visit.after).append(event)
        elif isinstance(event, RuleApplied):
            visit.rule = event
        elif isinstance(event, GradientSent):
            visit.sent.append(event)
            came[event.target.number] = came.get(event.target.number, 0) + 1
        elif not isinstance(event, recording.PassStarted):
            visit.others.append(event)
    return done


class _Teller:
    def __init__(self, formulas: Formulas | None, digits: int) -> None:
        self.formulas, self.digits = formulas, digits

    def steps(self, visit: _Visit) -> Iterable[Step]:
        """Tell one node: the hooks before its rule, the rule, the hooks after it."""
        node, called = visit.label, what(visit.label)
        yield from map(self._hook, visit.before)
        for event in visit.others:
            value = self.value(event.gradient)
            if isinstance(event, recording.GradientCaptured):
                yield Step(node, f"{called}: kept for grad()", (f"{value} is returned",))
            else:
                total, leaf = self.value(event.total), next(iter(node.called.values()), "leaf")
                lines = [f"{value} arrives{visit.summed}", f"{leaf}.grad is now {total}"]
                if value == total:
                    lines = [f"{value} arrives and becomes {leaf}.grad{visit.summed}"]
                yield Step(node, f"{called} adds to .grad", tuple(lines), held=total)
        sent: tuple[Sent, ...] = ()
        if visit.rule is not None:
            lines, sent = self._rule(visit, visit.rule)
            left = () if visit.after else sent
            yield Step(node, f"{called} applies its rule", tuple(lines), sent=left)
        for at, hook in enumerate(visit.after, 1):
            yield self._hook(hook, sent if at == len(visit.after) else ())

    def _rule(self, visit: _Visit, rule: RuleApplied) -> tuple[list[str], tuple[Sent, ...]]:
        lines = [f"{recording.listed(rule.grad_outputs, self.value)} arrives{visit.summed}"]
        for event in visit.sent:
            computed = rule.grad_inputs[event.input_nr]
            factor = self._factor(visit.label, event.input_nr, rule.grad_outputs, computed)
            lines.append(f"{factor}{self.value(computed)} for {what(event.target)}")
        return lines, tuple((event, self.value(event.gradient)) for event in visit.sent)

    def _factor(self, node: NodeLabel, input_nr: int, given: tuple[Any, ...], computed: Any) -> str:
        """Write `times 2*s = 0.5520 gives`, as far as the local derivative is known."""
        known: list[str | None] = []
        both = (*given, computed)
        if len(given) == 1 and all(isinstance(g, Tensor) and g.numel() == 1 for g in both):
            if self.formulas is not None and isinstance(node.node, Node):
                known.append(self.formulas(node.node, input_nr, tuple(given[0].shape)))
            first = given[0].item()
            if isinstance(first, float) and first:
                known.append(format_values(computed.item() / first, self.digits))
        written = " = ".join(each for each in known if each)
        return f"times {written} gives " if written else "gives "

    def _hook(self, event: HookFired, sent: tuple[Sent, ...] = ()) -> Step:
        saw = [recording.written(each, self.value) for each in event.seen]
        lines = [f"it sees {' and '.join(saw)}"]
        if len(saw) == 2:
            lines = [f"grad_input is {saw[0]}", f"grad_output is {saw[1]}"]
        if event.raised is not None:
            lines.append(f"it raises {event.raised}")
        elif event.returned is not None:
            replaced = {"full backward pre": " grad_output", "tensor pre-hook": " it"}
            what_goes = replaced.get(event.kind, " grad_input" if len(saw) == 2 else " them")
            returned = recording.written(event.returned, self.value)
            lines.append(f"it returns {returned}, which replaces{what_goes}")
        else:
            wrote = "changes .grad" if event.kind == "post-accumulate" else "writes into it"
            lines.append(f"it {wrote if event.in_place else 'changes nothing'}")
        label = recording.HOOKS.get(event.kind, event.kind)
        title = f"{label} {event.name} at {what(event.node)}"
        return Step(event.node, title, tuple(lines), (event.kind, event.name), sent)

    def value(self, gradient: Any) -> str:
        """Write one gradient."""
        if gradient is None or not hasattr(gradient, "tolist"):
            return str(gradient)
        if gradient.numel() <= MOST_VALUES:  # of others the shape and the norm
            return format_values(gradient.tolist(), self.digits)
        norm = format_values(float((gradient * gradient).sum()) ** 0.5, self.digits)
        return f"{format_shape(gradient.shape)} of norm {norm}"


def what(label: NodeLabel) -> str:
    """Name a node for people: a leaf by its name, another node by its own and its tensor's."""
    called = next(iter(label.called.values()), None)
    if label.name == "AccumulateGrad":
        return called or "a leaf"
    return f"{label.name} ({called})" if called else label.name


PAD, CHIP = 12.0, 18.0


_HERE = Path(__file__)
# The text stands beside the picture, or where there is no room for it there (`wrap-reverse`) above
# it. It keeps its place: the texts of all steps lie in one cell of a grid, unseen, so that the
# longest reserves the room.
_LAYOUT = _HERE.with_suffix(".css").read_text(encoding="utf-8")
# It looks for all players that are not ready yet, so it needs no identifiers, and running it twice
# does no harm. It reaches for nothing outside of its own part of the page.
_SCRIPT = _HERE.with_suffix(".js").read_text(encoding="utf-8")
# The picture before the first step lies in no <template>: where scripts don't run, that would be
# taken away and its content shown. The line breaks in the file are for those who read it.
_LINES = _HERE.with_suffix(".html").read_text(encoding="utf-8").splitlines()
_HTML = Template("".join(_LINES))
_DARK = on_dark_pages(".minigrad-player", "color-scheme:dark")
_STYLE = "\n".join((PICTURES, CARDS, _LAYOUT.strip(), _DARK))


class Stage:
    """A laid-out graph with the layers that show the steps of a backward pass on it.

    Args:
        canvas: The graph.
        places: The index in it of each node that the log speaks of.
    """

    def __init__(self, canvas: Canvas, places: dict[NodeLabel, int]) -> None:
        self.canvas, self.places = canvas, places
        left, top, width, height = bounds(canvas)
        room = 40.0  # for the numbers beside the outermost arrows
        self.shift = (PAD + room - left, PAD - top)
        self.width, self.height = round(width + 2 * (PAD + room)), round(height + 2 * PAD + 28)
        self.edges = {(e.source, e.input_nr): at for at, e in enumerate(canvas.graph.edges)}
        # What a card near a place should not hide, of wires with the number of their edge.
        wires = [
            (at, (min(x, x1) - 2, y, abs(x - x1) + 4, y1 - y))
            for at, points in enumerate(canvas.points)
            for (x, y), (x1, y1) in pairwise(points)
            if abs(x - x1) < 8  # those that bend are only in the way for a short bit
        ]
        boxes = [(None, place) for places in canvas.places for place in places]
        self.solid = [*boxes, *wires, *((None, place) for place in canvas.label_places())]

    def marks(self, steps: Sequence[Step]) -> list[tuple[str, str]]:
        """Draw for each step what lies over the picture while it lasts, and what stays of it."""
        self.chips: dict[Any, Place] = {}
        # quotes in texts are escaped, so this finds colors only
        marks = map(self._mark, steps)
        return [(now, now.replace(f'"{VERMILLION}"', f'"{BLUE}"')) for now in marks]

    def _mark(self, step: Step) -> str:
        look: Any = {"fill": "none", "stroke": VERMILLION}
        over = [rect(grown(at, 3), rx=7, **look, stroke_width=3.0) for at in self._at_work(step)]
        line = attributes(**look, stroke_width=3.5, stroke_opacity=0.8)
        sent = [(self._edge(event), value) for event, value in step.sent]
        over += [f'<path d="{self.canvas.paths[edge]}" {line}/>' for edge, _ in sent]
        over += [self._chip(edge, self._along(edge), value) for edge, value in sent]
        if step.held is not None:
            x, y, w, h = self.canvas.node_place(self.places[step.node])
            over.append(self._chip(step.node, [(x + w / 2, y + h + 9)], f"grad {step.held}"))
        return "".join(over)

    def where(self, step: Step) -> list[Place]:
        """Give the rectangles of the picture in which a step happens.

        Returns:
            The one around all of it, its numbers included, and the one around what is at work.
        """
        core = [grown(place, 5) for place in self._at_work(step)]
        keys = [step.node, *(self._edge(event) for event, _ in step.sent)]
        every = core + [self.chips[key] for key in keys if key in self.chips]
        right, down = self.shift
        return [(x + right, y + down, w, h) for x, y, w, h in map(around, (every, core))]

    def _at_work(self, step: Step) -> list[Place]:
        """Give where that stands which is at work: the box of a rule, or of a hook."""
        here = self.places[step.node]
        parts = list(zip(self.canvas.stacks[here], self.canvas.places[here], strict=True))
        for part, place in parts:
            told = {run.text for line in part.lines for run in line}
            if step.hook and step.hook[0] == part.hook and step.hook[1] in told:
                return [place]
        others = ("sum", "tensor", "hook", "note")
        return [place for part, place in parts if part.kind not in others]

    def sheet(self, drawn: str, title: str, alt: str) -> str:
        """Write a complete SVG of what is drawn at the places of the graph."""
        right, down = map(number, self.shift)
        body = f'<g transform="translate({right} {down})">{drawn}</g>'
        return document(body, self.width, self.height, title, alt)

    def _edge(self, went: GradientSent) -> int:
        """Find the edge along which a gradient went."""
        return self.edges[self.places[went.node], went.input_nr]

    def _along(self, edge: int) -> list[Point]:
        """List places on an edge, from shortly before its arrowhead back."""
        places = []
        for (x, y), (x0, y0) in pairwise(reversed(self.canvas.points[edge])):
            steps = max(1, round(abs(y - y0) / 3))
            places += [(x + (x0 - x) * k / steps, y + (y0 - y) * k / steps) for k in range(steps)]
        return [(x, y) for x, y in places[:30] if y <= places[0][1] - 14] or places[:1]

    def _spot(self, key: Any, centers: Sequence[Point], width: float) -> Place:
        """Find a place for a card where it hides least of the picture: other edges, other cards."""
        low, high = centers[-1][1] - CHIP, centers[0][1] + CHIP
        others = [p for at, p in self.solid if p[1] < high and p[1] + p[3] > low and at != key]
        others += self.chips.values()
        least, most = 3 - self.shift[0], self.width - width - 3 - self.shift[0]
        tried: list[tuple[float, Place]] = []
        for x, y in centers:
            top, bottom = y - CHIP / 2, y - CHIP / 2 + CHIP
            beside = [each for each in others if each[1] < bottom and each[1] + each[3] > top]
            for aside in (-width / 2, 4.0, -width - 4):
                left = min(max(x + aside, least), most)
                place, right = (left, top, width, CHIP), left + width
                hidden = [e for e in beside if e[0] < right and e[0] + e[2] > left]
                tried.append((sum(overlap(place, each) for each in hidden), place))
                if tried[-1][0] <= 20:  # less is no pixel of a rim
                    return place
        return min(tried)[1]

    def _chip(self, key: Any, centers: Sequence[Point], text: str) -> str:
        """Write a value on a small card at a place where it hides least of the picture."""
        run = Run(text, size=SMALL + 1, bold=True)
        width = run.width + 10
        self.chips[key] = self.chips.get(key) or self._spot(key, centers, width)
        left, top, room, _ = self.chips[key]
        place = (left + (room - width) / 2, top, width, CHIP)
        ground = rect(place, rx=5, fill=PAPER, stroke=VERMILLION, stroke_width=1.5)
        return ground + text_line([run], left + room / 2, top + 13)


def overlap(one: Place, other: Place) -> float:
    """Give the area that two rectangles share."""
    wide = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    high = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)


class Player:
    """A backward pass to step through.

    In a notebook it shows itself: buttons, a slider, the arrow keys. Where scripts do not run there
    are a picture of the graph at the end of the pass and a table of all steps. Both are the same on
    every run.

    Attributes:
        steps: The steps, as text and with their nodes.
        alt: The alternative text of the picture.

    Example:
        >>> import minigrad as torch
        >>> from minigrad.viz import play, record
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> y = x * x
        >>> with record({"x": x}) as log:
        ...     y.backward()
        >>> player = play(log)
        >>> [step.title for step in player.steps]
        ['MulBackward0 applies its rule', 'x adds to .grad']
    """

    def __init__(self, stage: Stage, steps: list[Step], title: str, alt: str) -> None:
        """Hold the graph and the steps; use `play` instead."""
        self._stage, self.steps, self.title, self.alt = stage, steps, title, alt

    @property
    def table(self) -> str:
        """All steps as a text table, with a line for each gradient."""
        rows = []
        for at, step in enumerate(self.steps, 1):
            lines = [part for line in step.lines for part in fitted(f"    {line}", 8, WIDE - 6)]
            rows += [(str(at), step.title), *(("", line) for line in lines)]
        return text_table(("step", "what happens, with which numbers"), rows, left=(1,))

    def svg(self, step: int) -> str:
        """Give the picture at one step, from 1 on, as a complete SVG; at 0 before the first.

        Raises:
            IndexError: If there is no such step.
        """
        if not 0 <= step <= len(self.steps):
            raise IndexError(f"there are steps 1 to {len(self.steps)}, and 0 for the beginning")
        below, marks = self._drawn[0], self._drawn[1][:step]
        over = [stays for _, stays in marks[:-1]] + [now for now, _ in marks[-1:]]
        return self._stage.sheet("".join([below, *over]), self.title, self.alt)

    @cached_property
    def _drawn(self) -> tuple[str, list[tuple[str, str]]]:
        return draw_canvas(self._stage.canvas), self._stage.marks(self.steps)

    def html(self) -> str:
        """Return the player as HTML that needs nothing from elsewhere."""
        count, size = len(self.steps), (self._stage.width, self._stage.height)
        picture = image(self.svg(0), self.alt, *size, "minigrad-player-base")
        rows = []
        for at, (step, (now, stays)) in enumerate(zip(self.steps, self._drawn[1], strict=True), 1):
            place = " ".join(number(each) for part in self._stage.where(step) for each in part)
            lines = "<br>".join(escape(line) for line in step.lines)
            rows.append(
                f'<tr data-place="{place}" data-now="{escape(now)}" data-stays="{escape(stays)}">'
                f"<td>{at}</td><th>{escape(step.title)}</th><td>{lines}</td></tr>"
            )
        alt = f"{self.alt} At the end of the pass."
        still = image(self.svg(count), alt, *size, "minigrad-player-still")
        return _HTML.substitute(
            style=_STYLE, script=f"\n{_SCRIPT}", count=count, title=escape(self.title),
            sheet=escape(self._stage.sheet("", "", "")), still=box(still, size[0]),
            rows="".join(rows), picture=picture,
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write the player into an `.html` file, a page that needs nothing from elsewhere.

        Raises:
            ValueError: If the name ends in something else.
        """
        save_page(path, self.title, self.html())

    def __repr__(self) -> str:
        """Return the table."""
        return f"{self.title}\n{self.table}"

    def _repr_html_(self) -> str:
        return self.html()


def play(
    log: recording.Log,
    *,
    names: Any = None,
    title: str = "The backward pass, step by step",
    digits: int = 4,
    formulas: bool = True,
    hooks: bool = True,
    modules: watch_modules | None = None,
    limit: int = 500,
) -> Player:
    """Play a recorded backward pass step by step on the picture of its graph.

    Each step lights the node at work, or the hook that fired and what it changed; it says which
    gradient arrived, what it was multiplied by, and marks the arrow along which the product went.

    Args:
        log: What `record()` gave. The graph must still be there: keep the loss.
        names: Names for tensors, as in `draw`; by default those that `record(names)` was given.
        title: A line above.
        digits: Decimals of numbers.
        formulas: Whether to write local derivatives as formulas too, where SymPy is installed and
            the graph still has its saved values (`backward(retain_graph=True)`).
        hooks: Whether to draw the hooks on the picture; those that fire are listed in any case.
        modules: What `watch_modules` saw: a box around each module.
        limit: How many nodes there may be.

    Returns:
        The player.

    Raises:
        ValueError: If the log is empty, or its graph is gone or too large.

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
        step  what happens, with which numbers
           1  MulBackward0 (y) applies its rule
                  1.0000 arrives
                  times 3.0000 gives 3.0000 for x
                  times 3.0000 gives 3.0000 for x
           2  x adds to .grad
                  6.0000 arrives and becomes x.grad, the sum of 2 gradients
    """
    known = list(recording.named_tensors(log.named() if names is None else names))
    steps = steps_of(log, _formulas(known) if formulas else None, digits)
    labels = {event.node for event in log}
    labels |= {event.target for event in log if isinstance(event, GradientSent)}
    nodes = {label: label.node for label in labels}  # to find one takes a walk through the graph
    roots = (nodes[event.node] for event in log.of(recording.PassStarted))
    outputs = [root for root in dict.fromkeys(roots) if root is not None]
    if not outputs:
        raise ValueError("the graph of this log is gone: keep the loss for as long as you play it")
    named = [dict(reversed(known)), *(modules.named() if modules else ())]
    # without gradients, which come step by step
    graph, index = read_graph(outputs, named, hooks, True, False, digits, limit)
    add_groups(graph, index, modules)
    places = {label: at for label, node in nodes.items() if (at := index.locate(node)) is not None}
    if len(places) < len(nodes):  # of a pass inside a checkpoint nothing stays
        title += f" (without {counted(len(nodes) - len(places), 'node')} whose graph is gone)"
    steps = [step for step in steps if step.node in places]
    return Player(Stage(Canvas(graph), places), steps, title, f"{title}. {description(graph)}")


class Log(recording.Log):
    """The events of backward passes, which can be saved as a page that plays them."""

    @property
    def table(self) -> str:
        """The events as a text table of at most 100 columns; with long names node by node."""
        rows = self.rows()
        first, second, third = (max(map(len, column)) for column in zip(*rows, strict=True))
        by_node = first + second > WIDE * 2 // 3 and first + second + third + 4 > WIDE
        lines, last = [], ""
        for node, event, values in rows:
            start = f"{node:<{first}}  {event:<{second}}  "
            if by_node:
                lines += [node] if node != last else []
                start, last = f"    {event:<{min(second, WIDE // 4)}}  ", node
            lines += fitted(start + values, len(start))
        if COMPILED in {event.node.name for event in self}:
            lines.append(f"{COMPILED} is {UNSEEN}.")
        return "\n".join(lines)

    def save(self, path: str | Path, **settings: Any) -> None:
        """Write the passes into an `.html` file that plays them in a browser, offline too.

        Args:
            path: Where to.
            **settings: As `play` takes them: `title="My network"`, `modules=calls`.

        Raises:
            ValueError: If the name ends in something else, or `play` can't play the log.
        """
        play(self, **settings).save(path)


def _formulas(names: list[tuple[str, Any]]) -> Formulas | None:
    """Give what writes local derivatives as formulas in these names; None without SymPy."""
    if find_spec("sympy") is None:
        return None
    ours = [(name, each) for name, each in reversed(names) if isinstance(each, Tensor)]
    called = {each._edge or resolve_edge(each): name for name, each in ours}
    # SymPy is imported where the first formula is asked for: it takes longer than all the rest.
    return lambda *of: import_module("minigrad.symbolic.passes").local_formula(*of, called.get)
