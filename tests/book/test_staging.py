"""What Sphinx is given: notebooks with help folded in, links that hold, docstrings as Markdown."""

import nbformat
import pytest

import minigrad as torch
from _tools import canonical, places
from _tools.book import docstrings, licenses, packages, staging
from minigrad.classroom.desk import exercises_of


@pytest.fixture
def lesson():
    path = places.solution("06")
    learner = canonical.read(places.learner_of(path))
    return learner, staging.page(learner, canonical.read(path), exercises_of("06"))


def test_hints_and_a_solution_stand_folded_below_each_exercise(lesson):
    _, made = lesson
    checks = [n for n, c in enumerate(made.cells) if c.metadata.get("nbgrader", {}).get("grade")]
    assert len(checks) == len(exercises_of("06"))
    for position, exercise in zip(checks, exercises_of("06"), strict=True):
        help_ = made.cells[position + 1]
        assert help_.cell_type == "markdown"
        assert help_.source.count("<details>") == help_.source.count("</details>") == 3
        assert exercise.hints[1].split("<")[0] in help_.source
        assert "```python\n" in help_.source
        assert f"{exercise.id}: right." in help_.source
        assert "###" not in help_.source


def test_the_rest_is_the_learners_notebook_as_it_is(lesson):
    learner, made = lesson
    kept = [cell for cell in made.cells if not cell.id.endswith("-help")]
    kept[0].source = kept[0].source.replace(f"\n{staging.TO_READ}\n", "")
    assert kept == canonical.canonical(learner).cells
    nbformat.validate(made)


def test_a_page_says_below_its_title_that_it_is_for_reading(lesson):
    _, made = lesson
    title, box = made.cells[0].source.split("\n\n")[:2]
    assert title == "# 06 · Full backward hooks"
    assert box.startswith(":::{note}\n")
    assert "no cell runs here" in box


def test_help_holds_html_together_and_escapes_hints():
    told = staging.below(["Is a < b?"], "x = 1", "<div>\n\n<p>right</p></div>")
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


DOCSTRING = """The map $y = x W^\\top$, also :math:`a_1`.

$$y
= x$$

Args:
    x: The input,
        in one piece.
    *others: More of them, `x: y` too.

Shape:
    - input: (..., n)

Returns:
    A tensor: the image.

Raises:
    ValueError: If it is
        too large.

Example:
    >>> f(1)
    2

    >>> f(2)
    4
"""
MARKDOWN = """The map $y = x W^\\top$, also $a_1$.

$$y
= x$$

**Shape**

- input: (..., n)

**Example**

```pycon
>>> f(1)
2
```

```pycon
>>> f(2)
4
```

:param x: The input,
    in one piece.
:param *others: More of them, `x: y` too.
:returns: A tensor: the image.
:raises ValueError: If it is
    too large."""


def test_a_docstring_becomes_markdown():
    assert docstrings.markdown(DOCSTRING) == MARKDOWN


def test_what_stands_behind_a_section_is_prose_again():
    made = docstrings.markdown("One.\n\nArgs:\n    x: X.\n\nMore of it.")
    assert made == "One.\n\nMore of it.\n\n:param x: X."


def test_functions_and_classes_are_described_with_how_they_are_called():
    made = packages.described("relu", torch.nn.functional.relu, 4)
    assert made.startswith("::::{py:function} relu(input, inplace=False)\nCompute $\\max(x, 0)$")
    made = packages.described("Linear", torch.nn.Linear, 5)
    assert "{py:class} Linear(in_features, out_features, bias=True" in made
    assert "\n::::{py:method} forward(" in made


def test_a_tensors_methods_point_to_the_functions_of_the_same_words():
    made = packages.tensor_page("minigrad.Tensor", torch.Tensor)
    assert "{py:method} exp()\nSee {py:func}`minigrad.exp`." in made
    assert "{py:method} register_hook(hook)\nCall `hook(grad)` during backward" in made


def test_the_reference_has_the_functions_that_are_loaded_late():
    made = packages.module_page("minigrad", torch)
    for name in ("exp", "einsum", "logsumexp", "save", "no_grad", "manual_seed"):
        assert f" {name}(" in made, name


def test_the_page_of_licenses_has_texts_where_the_packages_are():
    assert licenses.page().startswith("# What this site is made with\n")
