"""Tables of mistakes: what is recognized by which head, and what a row has to prove."""

import pytest

from minigrad.classroom import Function, Number, tables
from minigrad.classroom.desk import judge, shipped, unproved

SOLUTION = """
def scaled(values, factor):
    found = []
    for value in values:
        found.append(value * factor)
    return found
"""
MISTAKES = r"""
~ return found => return found[0]
| found.append(value * factor) => found.append(value)
    Two edits in one version.
~ found = []\n    for => found = [0]\n    for
    It begins with a zero.
= lambda values, factor: [value + factor for value in values]
> def scaled(values, factor):
>     return [factor + value for value in values]
    They are added.
! TypeError
= lambda values, factor: None * factor
    None is in it.
? seen[0] == right[0][::-1]
= lambda values, factor: [value * factor for value in reversed(values)]
    From the last to the first.
~ value * factor => abs(value) * factor
    Negative ones have lost their sign.
"""


def scaled(**changes):
    given = {
        "id": "95.1",
        "asks": "scaled(values, factor)",
        "inputs": lambda rng: [([1.0, 2.0], 3.0), ([-1.0, rng.uniform(2, 3)], 2.0), ([4.0], 5.0)],
        "right": "Yes.",
        "hints": ("Each.", "Each one."),
        "solution": SOLUTION,
        "mistakes": MISTAKES,
    }
    return Function(**given | changes)


def by(change):
    return lambda values, factor: change([value * factor for value in values])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (by(list), None),
        (lambda values, factor: values[0], "Two edits in one version."),
        (by(lambda found: [0, *found]), "It begins with a zero."),
        (lambda values, factor: [each + factor for each in values], "They are added."),
        (lambda values, factor: values * factor, "None is in it."),
        (by(lambda found: found[::-1]), "From the last to the first."),
        (lambda values, factor: [abs(v) * factor for v in values], "Negative ones"),
        # right but for negative ones, and there as the version is, though not for the rest
        (lambda v, f: [abs(x) * f if v[0] != 4 else x for x in v], "Negative ones"),
        (lambda v, f: [abs(x) * f if v[0] != 1 else x for x in v], "Negative ones"),
        (lambda v, f: [x * f + (x < 0) for x in v], "1 of 2 values fit"),
    ],
)
def test_an_answer_is_recognized_by_any_head(answer, says):
    finding = scaled().examine(answer)
    assert (finding is None) == (says is None)
    if finding:
        assert says in finding.says
        assert finding.named == ("values fit" not in says)


def test_a_row_that_its_version_does_not_prove_is_listed(registered):
    assert registered(scaled()) or unproved("95.1") == []
    right = "~ in values => in list(values)\n    This is right.\n"
    shadowed = "= lambda values, factor: [factor + v for v in values]\n    Said too late.\n"
    silent = "? False\n    Nobody hears it.\n"
    registered(scaled(mistakes=MISTAKES + right + shadowed + silent))
    found = unproved("95.1")
    assert [each.partition("\n")[0] for each in found] == [
        "This is right.",
        "Said too late.",
        "Nobody hears it.",
    ]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("~ walue => value\n    Mistyped.", "the solution has no 'walue'"),
        ("% 3\n    No such head.", "in no row"),
        ("= 3", "in no row"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(table, says):
    with pytest.raises(ValueError, match=says):
        scaled(mistakes=table).examine(lambda values, factor: 0)


def test_the_solution_is_the_cell_of_the_notebook():
    assert tables.solution("06.2").gives == "clip"
    assert "### " not in tables.solution("06.2").source
    assert tables.solution("95.1") is None
    with pytest.raises(ValueError, match=r"95\.1 has no solution"):
        _ = Number(id="95.1", asks="", right="", hints=("", "")).program


def test_what_came_of_the_reference_is_kept_and_not_shared_with_answers():
    known = scaled()
    assert known.examine(by(list)) is None
    assert known.examine(lambda values, factor: values.clear()) is not None
    assert known.examine(by(list)) is None


def test_a_verdict_tells_whether_a_row_spoke(registered):
    registered(scaled())
    assert judge("95.1", lambda values, factor: [v + factor for v in values]).named
    assert not judge("95.1", lambda values, factor: [7.0]).named
    assert len(shipped("demo")) == 6
