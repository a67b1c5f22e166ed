"""Every notebook passes the lint, and every rule of the lint can fail."""

import ast
import copy
import re
from pathlib import Path

import pytest
from nbformat import v4

from _tools import canonical, folding, lint, lint_spoilers, lint_table, places, stubs
from _tools.lesson import sentences
from tests.lessons.drafted import notebook_of

ALL = {*lint.RULES, *(rule for rule, *_ in lint_table.ROWS)}


@pytest.mark.parametrize("path", places.solutions(), ids=lambda path: path.stem)
def test_a_lesson_is_clean(path):
    assert [str(each) for each in lint.violations_of(path)] == []


FOLDERS = ("_start", "_tools", "checks", "data", "instructors", "reference")
WRITTEN = ["*.md", ".github/*.md", "lessons/*.md", "minigrad/**/*.py", "tests/**/*.py"]
WRITTEN += [f"lessons/{folder}/**/*.{kind}" for folder in FOLDERS for kind in ("md", "py")]
QUOTES = (Path(__file__), Path(lint_table.__file__))


def phrases_in(path):
    """Find the phrases of the table in a page, or in the strings and comments of a program."""
    text = path.read_text(encoding="utf-8")
    words = [sentences(text)]
    if path.suffix == ".py":
        nodes = [*ast.walk(ast.parse(text))]
        words = [ast.unparse(node) for node in nodes if isinstance(node, ast.JoinedStr)]
        words += [str(node.value) for node in nodes if isinstance(node, ast.Constant)]
        words.append(" ".join(re.findall(r"# (.*)", text)))
    found = [lint_table.found_in(lint_table.PROSE, " ".join(each.split())) for each in words]
    return sorted({(path.name, says) for each in found for rule, says in each if rule == "phrases"})


@pytest.mark.parametrize("place", WRITTEN)
def test_what_is_written_beside_the_lessons_has_no_such_phrase(place):
    paths = [path for path in sorted(places.ROOT.glob(place)) if path not in QUOTES]
    assert [found for path in paths for found in phrases_in(path)] == []


def test_a_phrase_is_found_in_a_page_and_in_a_program(tmp_path):
    page, program = tmp_path / "page.md", tmp_path / "program.py"
    page.write_text("A hook stays until\nits handle is told.", encoding="utf-8")
    program.write_text("x = f'{1} came of' ' it'  # made\n# anew\n'whom'", encoding="utf-8")
    assert len(phrases_in(page)) == 1
    assert len(phrases_in(program)) == 3


def test_each_learners_notebook_has_its_solution():
    made = [places.learner_of(path) for path in places.solutions()]
    assert places.learners() == made


def test_each_fold_says_what_is_inside_in_words_of_its_own():
    folds = [
        (path.stem, cell.id, folding.title_of(cell.source))
        for path in places.learners()
        for cell in canonical.read(path).cells
        if cell.cell_type == "markdown" and folding.REVEALS in cell.metadata.get("tags", [])
    ]
    assert len(folds) > 100
    assert [fold for fold in folds if not fold[2]] == []
    titles = [title.casefold() for _, _, title in folds]
    assert [fold for fold in folds if titles.count(fold[2].casefold()) > 1] == []


def html(text):
    return [v4.new_output("display_data", {"text/html": text})]


def png(metadata=None):
    data = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure size 640x480 with 1 Axes>"}
    return [v4.new_output("display_data", data, metadata=metadata or {})]


def said(text, name="stdout"):
    return [v4.new_output("stream", name=name, text=text)]


def displayed(text):
    data = {"text/plain": text, "text/html": "<div>a box</div>"}
    return [v4.new_output("display_data", data)]


def with_outputs(outputs):
    def plant(notebook):
        notebook.cells[1].outputs = outputs

    return plant


def with_code(source):
    def plant(notebook):
        notebook.cells[1].source = source

    return plant


def with_prose(source):
    def plant(notebook):
        notebook.cells[0].source = "# Title\n\n" + source

    return plant


def with_cell(**changes):
    def plant(notebook):
        notebook.cells[1].update(changes)

    return plant


def without_checks(notebook):
    notebook.cells = [
        cell for cell in notebook.cells if not cell.metadata.get("nbgrader", {}).get("grade")
    ]


def other_version(notebook):
    notebook.metadata.language_info["version"] = "3.11.7"


def other_kernel(notebook):
    notebook.metadata.kernelspec["name"] = "conda-env"


def widget_state(notebook):
    notebook.metadata["widgets"] = {}


def failing(ename, evalue):
    return v4.new_output("error", ename=ename, evalue=evalue, traceback=[f"{ename}: {evalue}"])


def with_first_cells(*sources):
    def plant(notebook):
        for cell, source in zip(notebook.cells[1:], sources, strict=False):
            cell.source = source

    return plant


def untagged(notebook):
    notebook.cells[1].update(source='predict("demo.a", ...)', metadata={"tags": []})


def anchored(name):
    return with_prose(f"[see]({places.LESSONS}/AUTHORING.md#{name})")


OFFENDERS = [
    ("predictions", "compared below", with_code('predict("demo.a", ...)')),
    ("predictions", "belong to this lesson", with_code('predict("06.a", ...)')),
    ("predictions", "nobody predicted", with_code('compare("demo.a", 1)')),
    ("predictions", "lacks the tag", untagged),
    (
        "predictions",
        "asked for once",
        with_first_cells('predict("demo.a", 1)', 'predict("demo.a", 1)'),
    ),
    ("canonical-form", "canonical", with_cell(metadata={"collapsed": True})),
    ("canonical-form", "canonical", with_cell(id="a1b2c3")),
    ("canonical-form", "has the tag", with_cell(metadata={"tags": ["skip"]})),
    ("canonical-form", "canonical", other_kernel),
    ("canonical-form", "canonical", other_version),
    ("canonical-form", "canonical", widget_state),
    # The hole of nbval: such a cell is skipped in silence.
    ("execution-order", "count None", with_cell(execution_count=None, outputs=[])),
    ("execution-order", "count 7", with_cell(execution_count=7)),
    ("opt-outs", "NBVAL_SKIP", with_code("# NBVAL_SKIP\n1 + 1")),
    ("errors", "not both", with_outputs([failing("ValueError", "no")])),
    ("errors", "not both", with_cell(metadata={"tags": ["raises-exception"]})),
    ("errors", "error stream", with_outputs(said("warned", "stderr"))),
    ("headings", "headings of levels", lambda nb: nb.cells.pop(0)),
    ("headings", "[1, 3]", with_prose("### Too deep")),
    ("headings", "[1, 1]", with_prose("# Again")),
    ("exercises", "pair up", without_checks),
    ("links", "leads nowhere", with_prose("[here](not_there.md)")),
    ("links", "there is no #nowhere", anchored("nowhere")),
    ("paths", "0x7f3a", with_outputs(said("<Net object at 0x7f3a5c00>"))),
    ("paths", "/home/", with_outputs(said("/home/ada/lesson.py:3: UserWarning"))),
    ("paths", "C:", with_outputs(said(r"C:\Users\ada"))),
    ("outside-addresses", "cdn", with_outputs(html('<script src="https://cdn.org/x.js">'))),
    ("outside-addresses", "src=", with_outputs(html('<img alt="a" src="//cdn.org/x.png">'))),
    ("long-floats", "in full", with_outputs(said("0.30000000000000004"))),
    ("alt-text", "a picture without", with_outputs(png())),
    ("alt-text", "<img>", with_outputs(html('<img src="data:,">'))),
    ("alt-text", "<svg>", with_outputs(html("<svg><path/></svg>"))),
    ("alt-text", "an image without", with_prose("![](picture.png)")),
    ("words", "colour", with_prose("Which colour is it?")),
    ("words", "optimise", with_prose("We optimise it.")),
    ("words", "written PyTorch", with_prose("As Pytorch does it.")),
    ("words", "written JupyterLab", with_prose("In Jupyter Lab.")),
    ("words", "simply", with_prose("You simply call it.")),
    ("words", "symbol", with_prose("Well done \U0001f389")),
    ("phrases", "'Whom'", with_prose("Whom does a hook reach?")),
    ("phrases", "because", with_prose("Keep it, for you will need it.")),
    ("parts", "no part 'Test yourself'", with_prose("## What you now know")),
]


@pytest.fixture
def clean(demo):
    """A notebook that breaks no rule: the demo with its parts, its second cell plain code."""
    notebook = canonical.read(demo[0])
    title, first = notebook.cells[0], next(c for c in notebook.cells if c.cell_type == "code")
    title.source = "# Title" + "".join(f"\n\n**{part}** here." for part in lint.PARTS)
    exercises = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    notebook.cells = [title, first, *exercises]
    for count, cell in enumerate(notebook.cells[1:], start=1):
        cell.execution_count = count
    return canonical.canonical(notebook)


@pytest.fixture
def rules_broken(tmp_path):
    """Save a notebook as somebody might, and give what the lint says about it."""

    def broken(notebook, text):
        path = tmp_path / "demo_chain.ipynb"
        path.write_text(text, encoding="utf-8", newline="\n")
        return [(each.rule, each.says) for each in lint.violations(path)]

    return broken


def test_the_clean_notebook_is_clean(clean, rules_broken):
    assert rules_broken(clean, canonical.text(clean)) == []


@pytest.mark.parametrize(
    ("rule", "keyword", "plant"), OFFENDERS, ids=[f"{o[0]}-{o[1]}" for o in OFFENDERS]
)
def test_a_planted_offender_is_found(rule, keyword, plant, clean, rules_broken):
    notebook = copy.deepcopy(clean)
    plant(notebook)
    # As a file that somebody saved: whatever was planted, the text is that of the notebook.
    broken = rules_broken(notebook, v4.writes(notebook))
    assert any(name == rule and keyword in says for name, says in broken), broken


def test_every_rule_has_an_offender():
    assert {rule for rule, _, _ in OFFENDERS} == ALL


def test_a_lesson_without_learners_notebook_is_not_clean(demo, monkeypatch, capsys):
    monkeypatch.setattr(places, "solution", lambda which: demo[0])
    assert lint.main(["demo"]) == 0
    demo[1].rename(demo[1].with_suffix(".away"))
    assert lint.main(["demo"]) == 1
    assert "[same-cells] there is no" in capsys.readouterr().out
    demo[1].with_suffix(".away").rename(demo[1])


@pytest.mark.parametrize(
    ("rule", "plant"),
    [
        ("alt-text", with_outputs(png({"image/png": {"alt": "a falling curve"}}))),
        ("alt-text", with_outputs([*said("Figure: a falling curve\n"), *png()])),
        ("alt-text", with_outputs(html('<img alt="x" src="data:,">'))),
        ("alt-text", with_outputs(html("<svg><title>A graph</title></svg>"))),
        ("paths", with_outputs(html('<img alt="x" src="data:;base64,AA0x7f3a5c00">'))),
        ("outside-addresses", with_outputs(html('<svg xmlns="http://www.w3.org/2000/svg">'))),
        ("words", with_prose("`colour` and [see](https://github.com/pytorch/pytorch)")),
        ("words", with_prose("```py\nimport numpy\n```")),
        ("words", with_prose("It promises to be precise, otherwise it raises and arises.")),
        ("links", anchored("what-the-lint-asks")),
        ("headings", with_prose("```text\n# no heading\n```")),
    ],
)
def test_what_is_allowed_is_not_found(rule, plant, clean, rules_broken):
    plant(clean)
    broken = rules_broken(clean, canonical.text(clean))
    assert [says for name, says in broken if name == rule] == []


PAIRS = [
    ("same-cells", lambda s, n: n.cells[0].update(source="# Other")),
    ("same-cells", lambda s, n: n.cells.pop()),
    ("same-cells", lambda s, n: n.cells[1].update(id="cell-900")),
    ("solved", lambda s, n: s.cells[-1].update(outputs=said("demo.6: not yet."))),
    ("unsolved", lambda s, n: n.cells[-1].update(outputs=said("demo.6: right."))),
    ("solved", lambda s, n: s.cells[-1].update(outputs=displayed("\u2717 demo.6: not yet."))),
    ("unsolved", lambda s, n: n.cells[-1].update(outputs=displayed("\u2713 demo.6: right."))),
    ("spoiler", lambda s, n: next(c for c in s.cells if "24" in c.source).metadata.clear()),
    ("stubs", lambda s, n: s.cells[-1].update(source=stubs.BEGIN)),
]


@pytest.mark.parametrize(("rule", "plant"), PAIRS)
def test_a_planted_difference_is_found(rule, plant, demo):
    solution, learner = (canonical.read(path) for path in demo)
    while "nbgrader" not in solution.cells[-1].metadata:
        solution.cells.pop()
        learner.cells.pop()
    assert lint.pair_violations(solution, learner) == []
    plant(solution, learner)
    assert rule in {each.rule for each in lint.pair_violations(solution, learner)}


ASKED = (
    '# T\n\nThe chain from $0.3$ again.\n\n```python prediction\npredict("demo.a", ...)\n```\n\n'
)
COMPARED = ASKED + '```python\ncompare("demo.a", value)\n```\n\n'


def spoilers(draft, came, *others):
    """Give the cells that spoil, of a draft with this outcome; further outputs cell by cell."""
    solution = notebook_of(draft)
    told = iter(others)
    for cell in solution.cells:
        if "compare(" in cell.source:
            text = f"\u25cb You made no prediction demo.a this time.\n  It is {came}."
            cell.outputs = displayed(text)
        elif cell.cell_type == "code" and "predict(" not in cell.source:
            cell.outputs = next(told, [])
    found = list(lint_spoilers.spoilers(solution, stubs.learner_from(solution)))
    return [says for _, says in found]


@pytest.mark.parametrize(
    ("came", "below", "keyword"),
    [
        ("-0.24478", "Why so?", "follows compare"),
        ("-0.24478", "## Next\n\n## Later\n\nIt was $-0.2448$.", "0.2448"),
        ("-0.24478", "## Next\n\nIt was 0.245.", "0.245"),
        ("-0.24478", "+++ reveals\n\n**Why -0.2448**\n\nSo.", "0.2448"),
        ("steeper", "+++ reveals\n\n**Why it gets steeper**\n\nSo.", "steeper"),
        ("-0.24478", "## Next\n\n```python\nhalf = -0.24478 / 2\n```", "0.24478"),
        ("-0.24478", "## Next\n\n```python\n1\n```\n\n```py\nx = 0.244781\n```", "0.24478"),
        ("131071", "## Next\n\nThere are 131,071 paths.", "131071"),
        ("-0.000040796", "## Next\n\nIt is $4.08 \\cdot 10^{-5}$.", "4.08"),
        ("(-0.81592, 7)", "So $7$ came.\n\n```python\n1\n```", "7"),
        ("steeper", "It gets steeper.", "steeper"),
        ("9", "```python prediction\npredict('demo.b', 9)\n```", "9"),
        ("9", "So 9. And now?\n\n```python prediction\npredict('demo.b', ...)\n```", "9"),
        ("", "## Next", "isn't shown below"),
    ],
)
def test_a_spoiled_prediction_is_found(came, below, keyword):
    found = spoilers(COMPARED + below, came)
    assert any(keyword in says for says in found), found


@pytest.mark.parametrize(
    ("came", "below"),
    [
        ("-0.24478", "+++ reveals\n\n**Why**\n\nIt is $-0.24478$.\n\n+++\n\n### Next\n\nGo on."),
        ("-0.24478", "+++ reveals\n\n**Why**\n\nSo.\n\n```python reveals\nx = -0.24478\n```"),
        ("-0.24478", "## Next\n\n```python hide-input\nx = -0.24478\n```"),
        ("-0.24478", "## Next\n\nIt was 0.246, or [0.2](at/0.24478), see lesson 24478."),
        ("-0.24478", "## N\n\n<details><summary>What?</summary>\n-0.24478\n</details>"),
        ("0.3", "## The chain begins at 0.3"),  # it stands above
        ("48.0", "## Next\n\nThe number 48 is no number to be found again."),
        ("steeper", "## Next\n\nA steeper one."),
        ("yes", "## Next\n\n### Deeper\n\nYes."),
        ("9", "And what comes now?\n\n```python prediction\npredict('demo.b', ...)\n```"),
        ("9", "```python prediction\npredict('demo.b', ...)\n```"),
    ],
)
def test_what_does_not_spoil_is_not_found(came, below):
    # a section of its own, where what is short may be said
    heading = "## Then\n\n" if below.startswith("## Next") else ""
    assert spoilers(COMPARED + heading + below, came) == []


def test_the_first_line_of_a_folded_output_is_in_sight():
    below = COMPARED + "## Next\n\n```python\nshow(value)\n```"
    assert "first line" in spoilers(below, "-0.24478", said("-0.24478\n"))[0]
    assert spoilers(below, "-0.24478", said("the value:\n-0.24478\n")) == []
    assert spoilers(below, "-0.24478", html("<b>" + "word " * 50 + "-0.24478</b>")) == []


def test_an_outcome_may_be_allowed_for_a_reason(monkeypatch):
    assert all(lint_spoilers.ALLOWED_SPOILERS.values())
    monkeypatch.setitem(lint_spoilers.ALLOWED_SPOILERS, ("demo.a", "steeper"), "a word of its own")
    monkeypatch.setitem(lint_spoilers.ALLOWED_SPOILERS, ("demo.a", "after"), "no explanation")
    assert spoilers(COMPARED + "It gets steeper.", "steeper") == []


def test_an_error_keeps_no_traceback():
    cell = v4.new_code_cell("1 / 0", outputs=[failing("ZeroDivisionError", "division by zero")])
    cell.outputs[0].traceback = ["File /home/ada/x.py", "boom"]
    notebook = canonical.canonical(v4.new_notebook(cells=[cell]))
    assert notebook.cells[0].outputs[0].traceback == ["ZeroDivisionError: division by zero"]
    assert cell.outputs[0].traceback[-1] == "boom"
