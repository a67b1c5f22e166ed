"""What Sphinx is given: notebooks with help folded in, docstrings, and an example for each name."""

import inspect
import re
from importlib import import_module

import nbformat
import pytest

import minigrad as torch
from _tools import book, canonical, places
from _tools.book import examples, package, staging
from minigrad.classroom.desk import exercises_of

MODULES = re.findall(r"^   (minigrad\S*)$", (book.HERE / "package.md").read_text(), re.M)


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


def test_folds_say_which_prediction_they_answer(lesson):
    _, made = lesson
    prompts = [c.metadata.mystnb.code_prompt_show for c in made.cells if "mystnb" in c.metadata]
    assert "Show the outcome of prediction 06.a" in prompts


def test_help_holds_html_together_and_escapes_hints():
    told = staging.below("01.1", "x = ...", "x = 1", ["Is a < b?"], "<div>\n\n<p>right</p></div>")
    assert "<p>Is a &lt; b?</p>" in told
    assert "<div>\n<p>right</p></div>" in told
    assert "```python\nx = 1\n```" in told


def test_the_sources_have_the_lessons_with_their_questions(tmp_path):
    staging.stage(tmp_path, only=["00", "17"])
    home = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "| [17 · Build your own](lessons/17_build_your_own.ipynb) | " in home
    assert "\nlessons/17_build_your_own\n" in home
    assert not re.search("LESSONS|COUNT|MINUTES|HOURS", home)
    times = {places.number_of(path.name): staging.minutes(path) for path in places.learners()}
    assert home.count(f"| about {times['00']} minutes |") == 1
    assert f"<strong>{times['00']} minutes</strong>" in home
    assert f"</a>, {times['01'] + times['06'] + times['07']}\nminutes: " in home
    assert f"about {sum(times.values()) / 60:.0f} hours" in home
    assert "<script" in (tmp_path / "extra/bench/index.html").read_text(encoding="utf-8")
    for path in tmp_path.rglob("*.ipynb"):
        assert "](solutions/" not in path.read_text(encoding="utf-8")
    assert set(staging.TOPICS) <= {places.number_of(path.name) for path in places.learners()}


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("$y\n= x$, `$x$s`", ":math:`y = x`, `$x$s`"),
        ("$$y\n= x$$", "\n.. math::\n\n   y\n   = x\n"),
        ("(N, *sizes) `f(a, *b)`s", r"(N, \*sizes) `f(a, *b)`\ s"),
        ("A. Author, *The title*, 2020", "A. Author, *The title*, 2020"),
        (">>> f(a, *b)", ">>> f(a, *b)"),
        ("5$ and 6$", "5$ and 6$"),
    ],
)
def test_a_docstring_becomes_what_autodoc_reads(text, becomes):
    assert package.restructured(text) == becomes


def test_each_public_name_has_an_example():
    shown = {}
    for module in MODULES:
        if module != "minigrad.Tensor":  # its methods say what functions say
            for name in (name for name, kind in package.public(module) if kind != "data"):
                value = getattr(import_module(module), name)
                shown.setdefault(id(value), (f"{module}.{name}", value))
    assert len(shown) > 600
    undocumented = (each for each in shown.values() if ">>>" not in (inspect.getdoc(each[1]) or ""))
    assert [each[0] for each in undocumented if not examples.example(*each)] == []
    assert examples.example("minigrad.seed", torch.seed) == ""


def test_the_package_offers_also_what_is_loaded_late():
    offered = dict(package.public("minigrad"))
    assert {"exp", "einsum", "logsumexp", "save", "manual_seed"} <= set(offered)
    assert (offered["no_grad"], offered["float32"]) == ("class", "data")
    assert "no_grad" not in dict(package.public("minigrad.autograd"))  # it is described once
