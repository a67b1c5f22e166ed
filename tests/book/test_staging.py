"""What Sphinx is given: notebooks with help folded in, links that hold, docstrings as Markdown."""

import functools
import inspect
from importlib import import_module

import nbformat
import pytest

import minigrad as torch
from _tools import canonical, places
from _tools.book import docstrings, examples, licenses, packages, staging
from minigrad.classroom.desk import exercises_of


@pytest.fixture
def lesson():
    path = places.solution("06")
    learner = canonical.read(places.learner_of(path))
    return learner, staging.page(learner, canonical.read(path), exercises_of("06"))


def test_what_belongs_to_an_exercise_stands_folded_below_it(lesson):
    learner, made = lesson
    helps = [cell for cell in made.cells if cell.id.endswith("-help")]
    checks = [c for c in learner.cells if c.metadata.get("nbgrader", {}).get("grade")]
    assert len(helps) == len(checks) == len(exercises_of("06"))
    for help_, check, exercise in zip(helps, checks, exercises_of("06"), strict=True):
        assert help_.cell_type == "markdown"
        assert help_.source.count("<details>") == help_.source.count("</details>") == 4
        assert check.source in help_.source
        assert exercise.hints[1].split("<")[0] in help_.source
        assert f"{exercise.id}: right." in help_.source
        assert "###" not in help_.source


def test_the_rest_is_the_learners_notebook_as_it_is(lesson):
    learner, made = lesson
    nbformat.validate(made)
    kept = {cell.id: cell for cell in made.cells[1:] if not cell.id.endswith("-help")}
    for cell in canonical.canonical(learner).cells[1:]:
        if "nbgrader" in cell.metadata:
            assert cell.id not in kept
        elif "prediction" in cell.metadata.get("tags", ()):
            assert kept[cell.id].source.startswith("**Prediction 06.")
        else:
            assert kept[cell.id].source == cell.source
            assert len(kept[cell.id].get("outputs", ())) == len(cell.get("outputs", ()))


def test_folds_of_cells_say_what_is_in_them(lesson):
    _, made = lesson
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    for cell in code:
        hides = [tag for tag in cell.metadata.get("tags", ()) if tag.startswith("hide")]
        said = cell.metadata.get("mystnb", {}).get("code_prompt_show", "")
        assert bool(said) == (hides == ["hide-input"] or bool(hides and cell.outputs))
        assert ("{type}" in said) == (len(hides) == 2)
    prompts = " ".join(c.metadata.mystnb.code_prompt_show for c in code if "mystnb" in c.metadata)
    assert "Show what came of prediction 06.a" in prompts
    assert "Show a player" in prompts and ", a plot)" in prompts


def test_a_page_says_below_its_title_that_it_is_for_reading(lesson):
    _, made = lesson
    title, box = made.cells[0].source.split("\n\n")[:2]
    assert title == "# 06 · Full backward hooks"
    assert box.startswith(":::{note}\n")
    assert "no cell runs here" in box


def test_help_holds_html_together_and_escapes_hints():
    told = staging.below("01.1", "x = ...", ["Is a < b?"], "x = 1", "<div>\n\n<p>right</p></div>")
    assert "<p>Is a &lt; b?</p>" in told
    assert "<div>\n<p>right</p></div>" in told
    assert "```python\nx = 1\n```" in told


@pytest.fixture
def staged(tmp_path):
    for name in ("lessons/reference", "lessons/instructors"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("index.md", "lessons/17_build_your_own.ipynb", "lessons/reference/differences.md"):
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("[a](17_build_your_own.ipynb)", None),
        ("[a](reference/differences.md#files)", None),
        ("[a](https://example.org/x.md) and [b](#here)", None),
        ("![a](nothing.svg)", None),
        ("`[a](nothing.md)`", None),
        ("```text\n[a](nothing.md)\n```", None),
        ("[a](solutions/17_build_your_own.ipynb)", "[a](17_build_your_own.ipynb)"),
        ("[a](solutions)", "[a](../index.md)"),
        ("[a `b`](AUTHORING.md), c", "a `b`, c"),
        ("[a](nothing.py)", "a"),
    ],
)
def test_links_lead_into_the_book_or_are_none(staged, text, becomes):
    assert staging.linked(text, staged / "lessons", staged) == (becomes or text)


def test_a_link_from_a_deeper_page_to_the_solutions(staged):
    made = staging.linked("[a](../solutions)", staged / "lessons" / "instructors", staged)
    assert made == "[a](../../index.md)"


def test_a_file_of_the_package_is_staged_to_be_had(staged):
    text = "[gates](../minigrad/core/module_hooks.py)"
    assert staging.linked(text, staged / "lessons", staged) == text
    assert (staged / "minigrad/core/module_hooks.py").stat().st_size > 1000


def test_the_table_of_lessons_asks_their_questions():
    made = staging.contents(places.learners())
    assert "| [03 · The backward pass](lessons/03_the_backward_pass.ipynb) | In which order" in made
    assert "\nlessons/17_build_your_own\n" in made


def test_the_front_page_adds_up_what_the_lessons_say():
    times = {places.number_of(path.name): staging.minutes(path) for path in places.learners()}
    assert len(times) == 18
    assert all(0 < reading < whole for reading, whole in times.values())
    evening = sum(times[number][0] for number in staging.EVENING)
    assert evening <= 120
    assert staging.ways()["EVENING"] == f"{evening} minutes"
    assert set(staging.TOPICS) <= set(times)


def test_the_bench_is_on_the_front_page(tmp_path):
    staging.stage(tmp_path / "sources", only=["00"])
    home = (tmp_path / "sources/index.md").read_text()
    assert 'src="bench/index.html"' in home
    assert "BENCH" not in home
    assert "<script" in (tmp_path / "sources/extra/bench/index.html").read_text()


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("$y\n= x$, `$x$s`", ":math:`y = x`, `$x$s`"),
        ("$$y\n= x$$", "\n.. math::\n\n   y\n   = x\n"),
        ("(N, *sizes) `f(a, *b)`s", r"(N, \*sizes) `f(a, *b)`\ s"),
        (">>> f(a, *b)", ">>> f(a, *b)"),
        ("5$ and 6$", "5$ and 6$"),
    ],
)
def test_a_docstring_becomes_what_autodoc_reads(text, becomes):
    assert docstrings.restructured(text) == becomes


def test_a_name_is_described_once_with_an_example():
    known = {}
    made = packages.described("minigrad.exp", torch.exp, known)
    assert ".. autofunction:: minigrad.exp\n" in made
    assert ">>> torch.exp(x)" in made
    other = packages.described("minigrad.other_", torch.exp, known)
    assert ".. rubric:: other\\_\n" in other
    assert "The same as :py:obj:`minigrad.exp`." in other
    assert ">>>" not in packages.described("minigrad.nn.Linear", torch.nn.Linear, known)


def test_functions_of_one_or_two_tensors_have_an_example():
    short = ["log", "acosh", "matmul", "gcd", "logical_and", "conv2d", "randn_like", "nn.GLU"]
    for name in short:
        value = functools.reduce(getattr, name.split("."), torch)
        assert f"torch.{name}(" in examples.example(f"minigrad.{name}", value), name
    assert examples.example("minigrad.seed", torch.seed) == ""


def test_each_public_name_has_an_example(monkeypatch):
    shown = {}

    def note(full, value, *_):
        shown.setdefault(id(value), (full, value))
        return ""

    monkeypatch.setattr(packages, "described", note)
    for room in packages.ROOMS:
        if room != "minigrad.Tensor":  # its methods say what functions say
            packages.module_page(room, import_module(room), {})
    assert len(shown) > 600
    undocumented = (each for each in shown.values() if ">>>" not in (inspect.getdoc(each[1]) or ""))
    assert [each[0] for each in undocumented if not examples.example(*each)] == []


def test_the_reference_has_the_functions_that_are_loaded_late():
    made = packages.module_page("minigrad", torch, {})
    for name in ("exp", "einsum", "logsumexp", "save", "no_grad", "manual_seed"):
        assert f":: minigrad.{name}\n" in made, name


def test_the_page_of_licenses_has_texts_where_the_packages_are():
    assert licenses.page().startswith("# What this site is made with\n")
