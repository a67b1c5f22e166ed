"""Stage the lessons, the instructors' pages and the reference as sources of the book."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import minigrad
from _tools import canonical, places, stubs
from _tools.lesson import COMPARE, PREDICT
from minigrad.classroom.desk import exercises_of
from minigrad.classroom.exercises import Exercise
from minigrad.viz import hook_bench

HERE = Path(__file__).parent
PAGES = ("INSTRUCTORS.md", "instructors", "reference")
# What stands below these pages in the book's contents.
BELOW = {"INSTRUCTORS.md": "instructors/*", "reference/pytorch.md": "*"}
TOCTREE = "\n```{{toctree}}\n:hidden:\n:glob:\n\n{}\n```\n"
# What a lesson's page says below its title: the lesson speaks to somebody who can run it. Where the
# site that computes is published beside the book, book.js leads the link there.
TO_READ = """:::{note}
This page is for reading: no cell runs here. Guess where the lesson asks for a prediction, then open
what is folded; what to fill in, hints and a solution are folded below each exercise.
[Run this lesson](../index.md#run-it) to have your own answers checked.
:::"""
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
    "18": "transformer, attention pattern, induction head, activation patching",
}
_SOLUTION = re.compile(r"(\]\([^)]*?)solutions/(\d\d_\w+\.ipynb)")
_MINUTES = re.compile(r"(\d+)(?: minutes| more)? (?:to read|for)")
_UNGUESSED = re.compile(r"You made no prediction (\S+) this time\.")


def stage(folder: Path, only: Iterable[str] = ()) -> None:
    """Write the sources, laid out as in the repository, so that relative links hold.

    Args:
        folder: where to.
        only: numbers of the lessons to take; all by default.
    """
    target, extra = folder / "lessons", folder / "extra"
    target.mkdir(parents=True)
    for path in (places.LESSONS / name for name in PAGES):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, target / path.name)
    for name, pages in BELOW.items():
        with (target / name).open("a", encoding="utf-8", newline="\n") as page_:
            page_.write(TOCTREE.format(pages))
    # the lessons link to files of the package, in words and in outputs
    for root in (folder, extra):
        package, files = Path(minigrad.__file__).parent, shutil.ignore_patterns("__pycache__")
        shutil.copytree(package, root / "minigrad", ignore=files)
    (extra / "bench").mkdir()
    hook_bench().save(extra / "bench" / "index.html")
    lessons = [places.learner_of(path) for path in places.chosen(tuple(only))]
    home = (HERE / "home.md").read_text(encoding="utf-8").replace("LESSONS", contents(lessons))
    takes = {places.number_of(path.name): minutes(path) for path in places.learners()}
    home = home.replace("COUNT", str(len(takes)))
    home = home.replace("HOURS", str(round(sum(takes.values()) / 60)))
    home = re.sub(
        r"MINUTES\((.+?)\)", lambda way: str(sum(takes[each] for each in way[1].split())), home
    )
    (folder / "index.md").write_text(home, encoding="utf-8", newline="\n")
    for path in lessons:
        source, number = canonical.read(places.solution(path.stem)), places.number_of(path.name)
        made = page(canonical.read(path), source, exercises_of(number))
        if number in TOPICS:
            entries = TOPICS[number].replace(", ", ", ! ")  # "!": found before what only names it
            made.cells[0].source += f"\n\n```{{index}} ! {entries}\n```"
        for cell in made.cells:
            if cell.cell_type == "markdown":  # the book has the solutions in the lessons
                cell.source = _SOLUTION.sub(r"\1\2", cell.source)
        nbformat.write(made, target / path.name)


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
    made = canonical.canonical(learner)
    cells: list[NotebookNode] = []
    stub: list[str] = []
    answer: list[str] = []
    for cell, solved in zip(made.cells, source.cells, strict=True):
        marks = cell.metadata.get("nbgrader", {})
        asked = PREDICT.search(cell.source) if cell.cell_type == "code" else None
        if marks.get("solution"):
            stub.append(cell.source)
            answer.append(stubs.without_marks(solved.source))
        elif marks.get("grade"):
            name = canonical.exercise_of(marks.grade_id)
            said = "".join(each.data.get("text/html", "") for each in outputs_of(solved))
            code = ("\n\n".join(each) for each in ([*stub, cell.source], answer))
            help_ = below(name, *code, hints.get(name, ()), said)
            cells.append(nbformat.v4.new_markdown_cell(help_, id=f"{cell.id}-help"))
            stub, answer = [], []
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
    """Name the prediction on the fold of a cell that shows its outcome.

    Args:
        cell: of a page; it gets settings of MyST-NB, and no output says that nothing was guessed.
    """
    for output in outputs_of(cell):
        for kind, text in output.data.items():
            output.data[kind] = _UNGUESSED.sub(r"Prediction \1.", text)
    compared = COMPARE.findall(cell.source)
    if compared and "hide-output" in cell.metadata.get("tags", ()):
        words = f"the outcome of prediction {' and '.join(compared)}"
        prompts = {f"code_prompt_{verb.lower()}": f"{verb} {words}" for verb in ("Show", "Hide")}
        cell.metadata.mystnb = NotebookNode(prompts)


def outputs_of(cell: NotebookNode) -> list[NotebookNode]:
    """Give the outputs of a cell that are shown as data, not as a stream or an error."""
    return [output for output in cell.get("outputs", []) if "data" in output]


def below(name: str, stub: str, answer: str, hints: Sequence[str], said: str) -> str:
    """Write what is folded below an exercise, as Markdown.

    Args:
        name: of the exercise.
        stub: the code that waits for an answer, and the check.
        answer: code.
        hints: in the order in which they are given.
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


def minutes(path: Path) -> int:
    """Add up the minutes that a lesson states after **Time:**, to read and for its exercises.

    Args:
        path: the learner's notebook.
    """
    stated = canonical.read(path).cells[0].source.partition("**Time:**")[2].partition("\n")[0]
    return sum(map(int, _MINUTES.findall(stated)))


def contents(lessons: Iterable[Path]) -> str:
    """Write the table of lessons with their questions and times, and the book's contents.

    Args:
        lessons: the learners' notebooks.
    """
    rows, names = ["| lesson | question | time |", "|---|---|---|"], []
    for path in lessons:
        first = canonical.read(path).cells[0].source
        title = first.partition("\n")[0].removeprefix("# ")
        asked = re.search(r"\*\*The question:\*\* (.+)", first)
        question = asked[1][0].upper() + asked[1][1:] if asked else ""
        takes = re.search(r"\*\*Time:\*\* ([^:,.]+)", first)
        rows.append(
            f"| [{title}](lessons/{path.name}) | {question} | {takes[1] if takes else ''} |"
        )
        names.append(f"lessons/{path.stem}")
    toctree = ["```{toctree}", ":hidden:", ":caption: Lessons", "", *names, "```"]
    return "\n".join([*rows, "", *toctree])
