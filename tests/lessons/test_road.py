"""The lessons as one road: what a prediction asks for appears nowhere before it."""

import pytest
from nbformat import v4

from _tools import canonical, places, telling
from _tools.lesson import predictions_of, said
from tests.lessons.drafted import notebook_of

LESSONS = places.solutions()


def told(cells):
    """List the numbers of cells and of their outputs, with the place of each."""
    return [
        (cell.id, number)
        for cell in cells
        for number in telling.numbers(f"{cell.source}\n{said(cell)}")
    ]


def answered_earlier(notebook, before=()):
    """Find numbers of three digits or more that a prediction asks for and that stand above it."""
    return [
        f"{prediction.name}: {number.shown} in {where}"
        for prediction in predictions_of(notebook)
        for truth in telling.numbers(prediction.came)
        for where, number in [*before, *told(notebook.cells[: prediction.asked + 1])]
        if truth.telling and number.is_that_of(truth)
    ]


@pytest.mark.parametrize("place", range(len(LESSONS)), ids=[path.stem[:2] for path in LESSONS])
def test_no_prediction_is_answered_earlier_in_the_course(place):
    earlier = [(path.stem, canonical.read(path).cells) for path in LESSONS[:place]]
    before = [(f"{stem} {where}", each) for stem, cells in earlier for where, each in told(cells)]
    assert answered_earlier(canonical.read(LESSONS[place]), before) == []


def test_a_prediction_that_is_answered_earlier_is_found():
    draft = '# T\n\n```python\n0.6\n```\n\n```python prediction\npredict("demo.a", ...)\n```\n\n'
    notebook = notebook_of(f'{draft}```python\ncompare("demo.a", 0.6125)\n```\n')
    notebook.cells[-1].outputs = [v4.new_output("stream", name="stdout", text="It is 0.6125.")]
    assert answered_earlier(notebook) == []
    found = answered_earlier(notebook, told([v4.new_markdown_cell("It is 0.612.")]))
    assert [each.partition(" in ")[0] for each in found] == ["demo.a: 0.612"]
