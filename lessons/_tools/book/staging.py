"""Stage the lessons, the instructors' pages and the reference as sources of the book."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
from nbformat import NotebookNode

import minigrad
from _tools import canonical, places, stubs
from _tools.predictions import COMPARE, PREDICT
from minigrad.classroom.desk import exercises_of
from minigrad.classroom.exercises import Exercise
from minigrad.viz import hook_bench

PAGES = ("INSTRUCTORS.md", "instructors", "reference")
# What stands below these pages in the book's contents.
BELOW = {
    "INSTRUCTORS.md": "\n```{toctree}\n:hidden:\n:glob:\n\ninstructors/*\n```\n",
    "pytorch.md": "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n",
}
# What a lesson's page says below its title: the lesson speaks to somebody who can run it. Where the
# site that computes is published beside the book, book.js leads the link there.
TO_READ = """:::{note}
This page is for reading: no cell runs here. Guess where the lesson asks for a prediction, then open
what is folded; what to fill in, hints and a solution are folded below each exercise.
[Run this lesson](../index.md#run-it) to have your own answers checked.
:::"""
BENCH = """<iframe class="bench" src="bench/index.html" title="The hook bench"></iframe>

<a href="bench/index.html">Open the hook bench full screen</a>
"""
EVENING = ("01", "06", "07")
# What the search and the index lead to a lesson, by the field's words for what it is about.
TOPICS = {
    "01": "chain rule, backpropagation",
    "02": "computational graph, leaf tensor, broadcasting",
    "03": "backward pass, gradient accumulation, topological order",
    "04": "tensor hook, retain_grad, gradient clipping",
    "05": "forward hook, activation, ablation",
    "06": "full backward hook, grad_input, grad_output",
    "07": "legacy backward hook, register_backward_hook",
    "08": "global hook, NaN",
    "10": "SymPy, softmax and cross-entropy",
    "11": "gradcheck, finite differences, complex step",
    "12": "double backward, Hessian, Newton's method, gradient penalty",
    "13": "vanishing gradients, exploding gradients, dead ReLU, initialization",
    "14": "saliency, Grad-CAM, integrated gradients, guided backpropagation",
    "15": "gradient reversal, loss scaling, Fisher information, per-sample gradient",
    "16": "gradient checkpointing, data parallelism, all-reduce",
    "17": "autograd engine",
}
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"^(`{3,}).*?^\1|(`+)[^`].*?\2", re.M | re.S)
_QUESTION = re.compile(r"\*\*The question:\*\* (.+)")
_TIME = re.compile(r"\*\*Time:\*\* (.+)")
_READING = re.compile(r"(\d+)(?: minutes)? (?:to|for) read")
_KINDS = {"-player": "a player", "-feedback": "", "<img": "a picture", "<table": "a table"}
_UNGUESSED = re.compile(r"You made no prediction (\S+) this time\.")


def stage(folder: Path, only: Iterable[str] = ()) -> None:
    """Write the sources, laid out as in the repository, so that relative links hold.

    Args:
        folder: where to.
        only: numbers of the lessons to take; all by default.
    """
    target = folder / "lessons"
    target.mkdir(parents=True)
    (folder / "extra" / "bench").mkdir(parents=True)
    lessons = [places.learner_of(path) for path in places.chosen(tuple(only))]
    for path in (*lessons, *(places.LESSONS / name for name in PAGES)):
        if path.is_dir():
            shutil.copytree(path, target / path.name)
        else:
            shutil.copy(path, target)
    home = (Path(__file__).parent / "home.md").read_text(encoding="utf-8")
    hook_bench().save(folder / "extra" / "bench" / "index.html")
    home = home.replace("BENCH", BENCH)
    for word, said in ways().items():
        home = home.replace(word, said)
    home = home.replace("LESSONS", contents(lessons))
    (folder / "index.md").write_text(home, encoding="utf-8", newline="\n")
    for path in target.glob("*.ipynb"):
        source = canonical.read(places.solution(path.stem))
        number = places.number_of(path.name)
        made = page(canonical.read(path), source, exercises_of(number))
        if number in TOPICS:
            entries = TOPICS[number].replace(", ", ", ! ")  # "!": found before what only names it
            made.cells[0].source += f"\n\n```{{index}} ! {entries}\n```"
        for cell in made.cells:
            if cell.cell_type == "markdown":
                cell.source = linked(cell.source, target, folder)
            for html in [cell.source, *(o.data.get("text/html", "") for o in outputs_of(cell))]:
                offer(html, folder / "extra")
        nbformat.write(made, path)
    for path in target.rglob("*.md"):
        text = linked(path.read_text(encoding="utf-8"), path.parent, folder)
        path.write_text(text + BELOW.get(path.name, ""), encoding="utf-8", newline="\n")


def page(learner: NotebookNode, source: NotebookNode, exercises: list[Exercise]) -> NotebookNode:
    """Give the learner's notebook as a page: what belongs to an exercise is folded below it.

    Cells that wait for an answer would say only that none came, so predictions become a line and
    what is to be filled in is folded.

    Args:
        learner: the notebook as it is released; it stays as it is.
        source: the solution notebook.
        exercises: those of the lesson, with their hints.
    """
    hints = {each.id: each.hints for each in exercises}
    answers: dict[str, list[str]] = {}
    said: dict[str, str] = {}
    for cell in source.cells:
        if "nbgrader" not in cell.metadata:
            continue
        name = canonical.exercise_of(cell.metadata.nbgrader.grade_id)
        if cell.metadata.nbgrader.solution:
            answers.setdefault(name, []).append(stubs.without_marks(cell.source))
        else:
            said[name] = "".join(o.data.get("text/html", "") for o in outputs_of(cell))
    made = canonical.canonical(learner)
    cells: list[NotebookNode] = []
    open_: list[NotebookNode] = []
    for cell in made.cells:
        marks = cell.metadata.get("nbgrader", {})
        asked = PREDICT.search(cell.source) if cell.cell_type == "code" else None
        if marks.get("solution"):
            open_.append(cell)
        elif marks.get("grade"):
            name = canonical.exercise_of(marks.grade_id)
            stub = "\n\n".join(each.source for each in (*open_, cell))
            help_ = below(
                name, stub, hints.get(name, ()), "\n\n".join(answers.get(name, ())), said[name]
            )
            cells.append(nbformat.v4.new_markdown_cell(help_, id=f"{cell.id}-help"))
            open_ = []
        elif asked:
            line = f"**Prediction {asked[1]}.** Write your guess down before you read on."
            cells.append(nbformat.v4.new_markdown_cell(line, id=cell.id))
        else:
            cells.append(cell)
            prompted(cell)
    made.cells = cells
    title, _, rest = cells[0].source.partition("\n")
    cells[0].source = f"{title}\n\n{TO_READ}\n{rest}"
    return made


def prompted(cell: NotebookNode) -> None:
    """Say on the folds of a cell what is in them.

    Args:
        cell: of a page; it gets settings of MyST-NB, and no output says that nothing was guessed.
    """
    for output in outputs_of(cell):
        for kind, text in output.data.items():
            output.data[kind] = _UNGUESSED.sub(r"Prediction \1.", text)
    tags = cell.metadata.get("tags", ())
    parts = [f"{_lines(cell.source, '')} of code"] if "hide-input" in tags else []
    if "hide-output" in tags:
        parts += [f"what came of prediction {name}" for name in COMPARE.findall(cell.source)]
        parts += dict.fromkeys(filter(None, map(_kind, cell.outputs)))
    if parts:
        both = {"hide-input", "hide-output"} <= set(tags)
        words = f"the {{type}} ({', '.join(parts)})" if both else ", ".join(parts)
        prompts = {f"code_prompt_{verb.lower()}": f"{verb} {words}" for verb in ("Show", "Hide")}
        cell.metadata.mystnb = NotebookNode(prompts)


def _kind(output: NotebookNode) -> str:
    """Say in a few words what an output is."""
    if output.output_type == "error":
        return f"the {output.ename}"
    if output.output_type == "stream":
        return _lines(output.text, "printed ")
    html = output.data.get("text/html", "")
    for mark, said in _KINDS.items():
        if mark in html:
            return said
    return "a plot" if "image/png" in output.data else "the result"


def _lines(text: str, kind: str) -> str:
    number = len(text.strip().splitlines())
    return f"{number} {kind}line{'s' * (number != 1)}"


def outputs_of(cell: NotebookNode) -> list[NotebookNode]:
    """Give the outputs of a cell that are shown as data, not as a stream or an error."""
    return [output for output in cell.get("outputs", []) if "data" in output]


def below(name: str, stub: str, hints: Sequence[str], answer: str, said: str) -> str:
    """Write what is folded below an exercise, as Markdown.

    Args:
        name: of the exercise.
        stub: the code that waits for an answer, and the check.
        hints: in the order in which they are given.
        answer: code.
        said: what the check says to it, as HTML.
    """
    said = re.sub(r"\n\s*\n", "\n", said)  # an empty line would end the HTML
    folds = {f"What to fill in for {name}, and its check": f"```python\n{stub}\n```"}
    for number, hint in enumerate(hints, 1):
        title = f"Hint {number} of {len(hints)} for {name}"
        folds[title] = f"<p>{escape(hint, quote=False)}</p>"
    folds[f"A solution to {name}, and what the check says"] = f"```python\n{answer}\n```\n\n{said}"
    return "\n\n".join(
        f"<details>\n<summary>{title}</summary>\n\n{text}\n\n</details>"
        for title, text in folds.items()
    )


def linked(text: str, place: Path, folder: Path) -> str:
    """Let the links of a page lead to what is in the book.

    A link to a solution leads to the lesson, which has it folded. A file of the repository that is
    no page is staged, so that it can be had. What is not there is no link any more.

    Args:
        text: Markdown.
        place: the folder in which the page is staged.
        folder: that of all sources.
    """

    def lead(match: re.Match[str]) -> str:
        words, target = match.groups()
        parts = urlsplit(target)
        if parts.scheme or not parts.path:
            return match[0]
        inside = (place / parts.path).resolve().relative_to(folder.resolve())
        if inside.parts[:2] == ("lessons", "solutions"):
            up = "../" * (len(place.relative_to(folder).parts) - 1)
            return (
                f"[{words}]({up}{inside.name})" if inside.suffix else f"[{words}]({up}../index.md)"
            )
        if not (folder / inside).exists():
            original = repository(inside)
            if inside.suffix in (".md", ".ipynb") or not original.is_file():
                return words
            (folder / inside).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(original, folder / inside)
        return match[0]

    return relinked(text, lead)


def relinked(text: str, lead: Callable[[re.Match[str]], str]) -> str:
    """Write the links of a page anew; what is shown as code stays as it is.

    Args:
        text: Markdown.
        lead: gets a match of a link, its words and its target, and gives what stands there.
    """
    shown = [code.span() for code in _CODE.finditer(text)]
    return _LINK.sub(
        lambda match: match[0] if any(a < match.start() < b for a, b in shown) else lead(match),
        text,
    )


def offer(html: str, folder: Path) -> None:
    """Lay files of the package to which HTML links where those links lead.

    Args:
        html: of an output or within Markdown; Sphinx does not look into it.
        folder: of what goes into the book as it is.
    """
    for name in re.findall(r'href="\.\./(minigrad/[^"#]+)', html):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(repository(Path(name)), folder / name)


def repository(inside: Path) -> Path:
    """Find a file of the repository; of an installed package, parts stand in other places.

    Args:
        inside: its path from the repository on.
    """
    top, *rest = inside.parts
    known = {"lessons": places.LESSONS, "minigrad": Path(minigrad.__file__).parent}
    return known.get(top, places.ROOT / top).joinpath(*rest)


def contents(lessons: Iterable[Path]) -> str:
    """Write the table of lessons with their questions, and the entries of the book's contents.

    Args:
        lessons: the learners' notebooks.
    """
    lessons = list(lessons)
    rows = []
    for path in lessons:
        first = canonical.read(path).cells[0].source
        title = first.partition("\n")[0].removeprefix("# ")
        asked = _QUESTION.search(first)
        question = asked[1][0].upper() + asked[1][1:] if asked else ""
        rows.append(f"| [{title}](lessons/{path.name}) | {question} |")
    names = "\n".join(f"lessons/{path.stem}" for path in lessons)
    table = "\n".join(["| lesson | question |", "|---|---|", *rows])
    return f"{table}\n\n```{{toctree}}\n:hidden:\n:caption: Lessons\n\n{names}\n```"


def minutes(path: Path) -> tuple[int, int]:
    """Read how many minutes a lesson says that it takes: to read, and with all its exercises.

    Args:
        path: of a learner's notebook.
    """
    told = _TIME.search(canonical.read(path).cells[0].source)
    text = re.sub(r"\d+\.\d+|[Ss]ections? \d+", "", told[1] if told else "")
    reading = _READING.search(text)
    whole = re.search(r"about (\d+) minutes:", text)
    numbers = [int(each) for each in re.findall(r"\d+", text)]
    return int(reading[1]) if reading else 0, int(whole[1]) if whole else sum(numbers)


def ways() -> dict[str, str]:
    """Give the minutes that the front page names for each of the ways into the course."""
    times = {places.number_of(path.name): minutes(path) for path in places.learners()}
    evening = [times[number] for number in EVENING]
    read = sum(reading for reading, _ in evening)
    return {
        "FIRST": f"{times['00'][0]} minutes",
        "THEN": f"{times['00'][1] - times['00'][0]} more",
        "EVENING": f"{read} minutes",
        "LATER": f"{sum(whole for _, whole in evening) - read} more",
        "COURSE": f"{round(sum(whole for _, whole in times.values()) / 60)} hours",
        "COUNT": str(len(times)),
    }
