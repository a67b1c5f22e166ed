"""A copy is brought up to a lesson that has changed: cell by cell, and nothing typed is lost."""

import copy
import re

import pytest

from _start import merging, notebooks
from _start.merging import merge
from tests.packaging.revisions import (
    LESSON,
    PROSE,
    SHOWN,
    Edits,
    changed,
    checked,
    code,
    inserted,
    markdown,
    numbered,
    typed,
    without,
)


def sources(merged):
    return [cell["source"] for cell in merged.cells]


def place_of(cells, source):
    return [cell["source"] for cell in cells].index(source)


# ---- what happens to a cell ---------------------------------------------------------------------


def test_what_the_learner_left_alone_follows_the_lesson():
    new = changed(LESSON, 2, PROSE.replace("called", "run"))
    merged = merge(LESSON, LESSON, new)
    assert merged.cells == new
    assert merged.twice == 0


def test_what_the_lesson_left_alone_stays_the_learners_with_its_outputs():
    mine = changed(LESSON, 5, "five = 5", outputs=SHOWN, execution_count=9)
    new = numbered(inserted(LESSON, 1, markdown("A new paragraph.")))
    merged = merge(LESSON, mine, new)
    kept = merged.cells[6]
    assert (kept["source"], kept["outputs"], kept["execution_count"]) == ("five = 5", SHOWN, 9)
    assert (kept["id"], kept["metadata"]) == ("cell-007", new[6]["metadata"])
    assert len(merged.cells) == len(new)


def test_where_both_changed_a_cell_the_learners_has_the_last_word():
    mine = changed(LESSON, 1, "x = 5", outputs=SHOWN)
    merged = merge(LESSON, mine, changed(LESSON, 1, "x = 4"))
    lesson, own = merged.cells[1:3]
    assert (lesson["source"], lesson["id"], lesson["outputs"]) == ("x = 4", "cell-002", [])
    assert own["source"] == f"# {merging.VERSION}\nx = 5"
    assert own["outputs"] == SHOWN
    assert notebooks.noted(own) == {"kept": merging.CHANGED}
    assert merged.twice == 1


def test_prose_that_both_changed_stands_twice():
    mine, new = (changed(LESSON, 2, PROSE + word) for word in (" My note.", " Their note."))
    merged = merge(LESSON, mine, new)
    assert sources(merged)[2:4] == [
        PROSE + " Their note.",
        f"*{merging.VERSION}*\n\n{PROSE} My note.",
    ]


def test_the_comment_does_not_stand_above_a_magic():
    mine = changed(LESSON, 1, "%%time\nx = 5")
    merged = merge(LESSON, mine, changed(LESSON, 1, "x = 4"))
    assert sources(merged)[1:3] == ["x = 4", "%%time\nx = 5"]


def test_what_the_learner_added_stays_behind_its_neighbor():
    own = {**code("five + 1"), "id": "1c0ffee1"}
    mine = inserted(LESSON, 6, own)
    new = numbered(inserted(without(LESSON, 2), 0, markdown("Above."), markdown("All.")))
    merged = merge(LESSON, mine, new)
    place = place_of(merged.cells, "five + 1")
    assert merged.cells[place - 1]["source"] == LESSON[5]["source"]
    assert merged.cells[place] == own


def test_what_the_lesson_dropped_stays_if_the_learner_changed_it():
    mine = changed(LESSON, 5, "five = 5")
    merged = merge(LESSON, mine, numbered(without(without(LESSON, 6), 5)))
    own = next(cell for cell in merged.cells if cell["source"] == "five = 5")
    assert notebooks.noted(own) == {"kept": merging.DROPPED}
    assert "nbgrader" not in own["metadata"]
    assert 'check("06-1", five)' not in sources(merged)


def test_what_the_learner_deleted_stays_deleted_unless_the_lesson_changed_it():
    mine = without(without(LESSON, 2), 1)
    new = changed(LESSON, 4, 'compare("06.a", 8)')
    assert "x = 3" not in sources(merge(LESSON, mine, new))
    assert sources(merge(LESSON, mine, changed(LESSON, 1, "x = 4")))[:2] == [
        LESSON[0]["source"],
        "x = 4",
    ]


def test_a_stub_that_the_learner_deleted_does_not_come_back_over_the_answer():
    own = {**code("five = 5"), "id": "own"}
    mine = inserted(without(LESSON, 5), 2, own)
    merged = merge(LESSON, mine, changed(LESSON, 5, "five = (..., ...)"))
    assert sources(merged) == [cell["source"] for cell in mine]


def test_metadata_follow_the_lesson_unless_the_learner_changed_them():
    mine = changed(LESSON, 5, "five = 5")
    mine[5]["metadata"] |= {"collapsed": True, "tags": ["mine"]}
    mine[1]["metadata"]["scrolled"] = True
    new = copy.deepcopy(LESSON)
    new[5]["metadata"]["nbgrader"]["points"] = 2
    new[1]["metadata"]["tags"] = ["hide-input"]
    merged = merge(LESSON, mine, new)
    assert merged.cells[5]["metadata"] == {
        **new[5]["metadata"],
        "collapsed": True,
        "tags": ["mine"],
    }
    assert merged.cells[1]["metadata"] == {"tags": ["hide-input"], "scrolled": True}


# ---- answers ------------------------------------------------------------------------------------


def test_an_answer_takes_the_place_of_a_new_stub_that_it_answers():
    mine = changed(LESSON, 5, "from math import sqrt\nfive = sqrt(25)")
    merged = merge(LESSON, mine, changed(LESSON, 5, "five = ...  # as a float"))
    assert sources(merged)[5:7] == [mine[5]["source"], LESSON[6]["source"]]
    assert merged.twice == 0


def test_an_answer_that_lacks_a_name_stands_below_the_new_stub():
    mine = changed(LESSON, 5, "five = 5", outputs=SHOWN)
    new = changed(changed(LESSON, 5, "five = ...\nsix = ..."), 6, 'check("06-1", (five, six))')
    merged = merge(LESSON, mine, new)
    stub, own, checks = merged.cells[5:8]
    assert (stub["source"], stub["id"]) == ("five = ...\nsix = ...", "cell-006")
    assert own["source"] == f"# {merging.VERSION}\nfive = 5"
    assert notebooks.noted(own) == {"kept": merging.CHANGED}
    assert notebooks.grading(own) == {}
    assert checks["source"] == new[6]["source"]
    again = merge(new, merged.cells, changed(new, 5, "five = ...\nsix = ...\nseven = ..."))
    assert sources(again)[6:8] == sources(merged)[6:8]


@pytest.mark.parametrize(
    ("given", "new", "fits"),
    [
        ("a = 1", "a = ...  # a number", True),
        ('a = ("b", "so")', 'a = (..., "because ...")', True),
        ("a = 1", "a = (..., ...)", False),
        ("aa = 1", "a = ...", False),
        ("a = 1", "import b\na = ...", False),
        ("def f(x):\n    return 1", "def f(x):\n    # here\n    ...", True),
        ("def f(x):\n    return 1", "def f(x, y):\n    ...", False),
        ("def f(x):\n    return 1", "def f(x):\n    y = 2\n    ...", False),
    ],
)
def test_whether_an_answer_replaces_a_new_stub(given, new, fits):
    mine = changed(LESSON, 5, given)
    merged = merge(LESSON, mine, changed(LESSON, 5, new))
    assert (merged.cells[5]["source"], merged.twice) == ((given, 0) if fits else (new, 1))


# ---- finding cells again ------------------------------------------------------------------------


def test_exercises_and_predictions_are_found_by_name():
    new = [LESSON[k] for k in (7, 8, 5, 6, 4, 3)]
    new = numbered([{**cell, "source": cell["source"] + "  # new"} for cell in new])
    assert merging.pair(LESSON, new) == {7: 0, 8: 1, 5: 2, 6: 3, 4: 4, 3: 5}


def test_equal_cells_are_paired_in_order_and_out_of_order():
    cells = [markdown(text) for text in "abacd"]
    assert merging.pair(cells, cells) == {k: k for k in range(5)}
    new = [markdown(text) for text in "dabac"]
    assert merging.pair(cells, new) == {0: 1, 1: 2, 2: 3, 3: 4, 4: 0}


def test_cells_of_one_kind_in_one_gap_are_paired_in_order():
    old = [markdown("first"), markdown(PROSE), code("x"), code("y"), markdown("last")]
    new = [markdown("first"), code("z"), markdown(PROSE + " More."), markdown("last")]
    assert merging.pair(old, new) == {0: 0, 1: 2, 2: 1, 4: 3}


def test_a_copy_without_ids_is_understood():
    mine = [dict(cell) for cell in changed(LESSON, 5, "five = 5")]
    for cell in mine:
        del cell["id"]
    new = changed(LESSON, 2, PROSE.replace("called", "run"))
    merged = merge(LESSON, mine, new)
    assert sources(merged) == [cell["source"] for cell in changed(new, 5, "five = 5")]


def test_a_cell_that_was_cut_and_pasted_is_the_same_cell():
    mine = changed(LESSON, 5, "five = 5")
    mine[5]["id"], mine[1]["id"] = "pasted-1", "pasted-2"
    merged = merge(LESSON, mine, changed(LESSON, 1, "x = 4"))
    assert sources(merged) == [
        c["source"] for c in changed(changed(LESSON, 1, "x = 4"), 5, "five = 5")
    ]


@pytest.mark.parametrize("name", [None, "cell-001", "twice"])
def test_ids_become_valid_and_unique(name):
    own = [{**code(f"own = {k}"), "id": name} for k in range(2)]
    new = numbered(inserted(LESSON, 0, markdown("New.")))
    merged = merge(LESSON, inserted(LESSON, 3, *own), new)
    assert_ids(merged.cells)
    assert {"own = 0", "own = 1"} <= set(sources(merged))


def assert_ids(cells):
    ids = [cell["id"] for cell in cells]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", each) for each in ids)


def test_without_the_old_lesson_everything_is_kept():
    mine = inserted(changed(changed(LESSON, 5, "five = 5"), 1, "x = 5"), 9, code("own = 1"))
    new = changed(changed(LESSON, 2, PROSE.replace("called", "run")), 1, "x = 4")
    merged = merge(None, mine, new)
    assert [s for s in sources(merged) if s in ("x = 4", "own = 1", "five = 5")] == [
        "x = 4",
        "five = 5",
        "own = 1",
    ]
    assert f"# {merging.VERSION}\nx = 5" in sources(merged)
    assert merge(None, LESSON, LESSON).cells == LESSON


# ---- any edits of the learner, any edits of the lesson ------------------------------------------

SEEDS = range(600)


@pytest.mark.parametrize("first", SEEDS[::50])
def test_nothing_typed_is_lost_and_every_check_sees_the_answer(first):
    for seed in range(first, first + 50):
        edits = Edits(seed)
        base = edits.lesson()
        mine, rounds = base, 0
        for rounds in range(3):
            mine = edits.worked_in(mine)
            new = edits.revised(base)
            kept = copy.deepcopy((base, mine, new))
            merged = merge(base, mine, new)
            assert (base, mine, new) == kept, "what is given stays as it is"
            assert typed(mine) <= typed(merged.cells), (seed, rounds)
            assert_ids(merged.cells)
            before, after = checked(mine), checked(merged.cells)
            for exercise, value in before.items():
                if exercise in after and "typed" in str(value):
                    assert after[exercise] == value, (seed, rounds, exercise)
            assert merge(new, merged.cells, new).cells == merged.cells, (seed, rounds)
            base, mine = new, merged.cells


@pytest.mark.parametrize("first", SEEDS[::100])
def test_what_nobody_touched_is_as_in_the_new_lesson(first):
    for seed in range(first, first + 100):
        edits = Edits(seed)
        base = edits.lesson()
        new = edits.revised(base)
        assert merge(base, base, new).cells == new
        assert merge(None, base, base).cells == base
        mine = edits.worked_in(base, moving=False)
        with_ids = [cell for cell in mine if "id" in cell]
        assert merge(base, with_ids, base).cells == with_ids, seed
        merged = merge(base, mine, new)
        texts = [notebooks.text(cell) for cell in base]
        untouched = {text for text in map(notebooks.text, mine) if texts.count(text) == 1}
        says = {notebooks.text(cell) for cell in merged.cells}
        assert {notebooks.text(cell) for cell in new} & untouched <= says, seed


@pytest.mark.parametrize("first", SEEDS[::100])
def test_nothing_typed_is_lost_where_nobody_knows_the_old_lesson(first):
    for seed in range(first, first + 100):
        edits = Edits(seed)
        base = edits.lesson()
        mine = edits.worked_in(base)
        merged = merge(None, mine, edits.revised(base))
        assert typed(mine) <= typed(merged.cells), seed
        assert_ids(merged.cells)
