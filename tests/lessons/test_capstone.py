"""Lesson 17 holds together: one reference, a way on for everybody, programs that find faults."""

import re
from collections import defaultdict
from importlib import import_module

import numpy as np
import pytest

from _tools import canonical, places
from _tools.stubs import BEGIN, END, STUB
from minigrad.classroom import check, judge
from minigrad.classroom.desk import checks

capstone = checks("17")
kinds, programs, reference = (
    import_module(f"{capstone.__name__}.{name}") for name in ("kinds", "programs", "reference")
)
CHECKPOINTS = [f"17.{number}" for number in range(1, 8)]
GOES_PAST = "gradient = arrived.pop(tensor); tensor.complete(gradient)"
REFERENCE = [each for each in vars(reference).values() if isinstance(each, type)]
SOLUTION = next(path for path in places.solutions() if path.name.startswith("17_"))


def cells():
    return canonical.read(SOLUTION).cells


def answers():
    """The code between the markers of each answer cell, without the lines of stubs."""
    found = {}
    for cell in cells():
        mark = cell.metadata.get("nbgrader")
        if mark is not None and mark.solution:
            inside = re.search(rf"^( *){BEGIN}\n(.*?)^ *{END}", cell.source, re.M | re.S)
            lines = [x for x in inside[2].split("\n") if not x.strip().startswith(STUB)]
            first = cell.source.split("\n")[0] + "\n" if inside[1] else ""
            found[canonical.exercise_of(mark.grade_id)] = (first + "\n".join(lines)).strip()
    return found


def sections():
    text = (places.LESSONS / "checks" / "lesson_17" / "reference.py").read_text(encoding="utf-8")
    parts = re.split(r"^# --- (.*)\n", text, flags=re.M)[1:]
    kept = (re.split(r"^_answers", body, flags=re.M)[0] for body in parts[1::2])
    return dict(zip(parts[::2], (body.strip() for body in kept), strict=True))


def test_the_reference_is_what_the_solution_notebook_shows():
    parts = sections()
    assert answers() == {checkpoint: parts[checkpoint] for checkpoint in CHECKPOINTS}
    assert parts["given behind 17.3"] in [cell.source for cell in cells()]


def test_it_is_some_180_lines():
    lines = [line for text in answers().values() for line in text.split("\n") if line.strip()]
    assert 165 <= len(lines) <= 195


@pytest.fixture
def afresh():
    kinds._accepted.clear()
    yield
    kinds._accepted.clear()


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_one_goes_on_with_what_was_accepted(checkpoint):
    other = reference.mine(checkpoint)
    assert capstone.mine(checkpoint) is other
    if isinstance(other, type):
        own = type("Own", (other,), {"__init__": other.__init__})
        empty = type("Own", (), {})
    else:

        def own(gradient, shape):
            return other(gradient, shape)

        def empty(gradient, shape):
            return gradient

    assert judge(checkpoint, own)
    assert capstone.mine(checkpoint) is own
    assert capstone.mine(checkpoint, use_reference=True) is other
    assert f"yours: {checkpoint};" in capstone.whose()
    assert not judge(checkpoint, empty)
    assert capstone.mine(checkpoint) is other
    assert capstone.whose().startswith("yours: none yet")


# ------------------------------------------------------------------ on one's own lower answers

BUILT = ["17.2", "17.3", "given behind 17.3", "17.4", "17.5", "17.6", "17.7"]


def built(changes, until="17.7"):
    """Run the sections on top of each other, some changed; note each, and give the last."""
    space = {**vars(reference), "defaultdict": defaultdict, "mine": capstone.mine}
    for section in BUILT[: BUILT.index(until) + 1]:
        text = sections()[section]
        for old, new in changes.get(section, ()):
            assert old in text
            text = text.replace(old, new)
        exec(text, space)
        own = space[re.findall(r"^(?:class|def) (\w+)", text, re.M)[-1]]
        if section in CHECKPOINTS:
            kinds.note(section, own)
    return own


LOWER_FAULTS = [
    ("17.2", "17.4", "g * np.ones_like(self.data)", "np.broadcast_to(g, self.data.shape)"),
    ("17.2", "17.5", "g * (self.data > 0)", "g"),
    ("17.2", "17.6", "return self * -1", "return self * 1"),
    ("17.3", "17.4", "*stretched)", ")"),
    ("17.3", "17.4", ".reshape(shape)", ".reshape(shape).tolist()"),
    ("17.4", "17.5", "if self.grad is None else self.grad + gradient", ""),
    ("17.4", "17.7", "gradient = tensor.complete(arrived.pop(tensor))", GOES_PAST),
    ("17.5", "17.7", "gradient = gradient if replaced is None else replaced", "pass"),
    ("17.6", "17.7", "in list(self.forward_hooks.values())", "in ()"),
]


@pytest.mark.examples
@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize(("at_fault", "checkpoint", "old", "new"), LOWER_FAULTS)
def test_a_fault_is_traced_to_the_checkpoint_that_it_comes_from(at_fault, checkpoint, old, new):
    before = [each.__bases__ for each in REFERENCE]
    said = " ".join(judge(checkpoint, built({at_fault: [(old, new)]}, checkpoint)).message.split())
    assert f"until the reference's {at_fault} takes the place of yours" in said
    assert [each.__bases__ for each in REFERENCE] == before
    assert kinds._accepted.keys() == {each for each in CHECKPOINTS[1:] if each < checkpoint}


@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize(
    ("checkpoint", "old", "new"),
    [
        ("17.4", "arrived[source] + part if source in arrived else part", "part"),
        ("17.5", "gradient = gradient if replaced is None else replaced", "pass"),
        ("17.7", "tuple(rule(g)), (g,)", "(g,), (g,)"),
    ],
)
def test_a_fault_of_its_own_is_not_put_on_what_lies_below(checkpoint, old, new):
    said = judge(checkpoint, built({checkpoint: [(old, new)]}, checkpoint)).message
    assert "not yet" in said and "takes the place of" not in " ".join(said.split())


OTHERWISE = {
    "17.2": [
        ("np.ones_like(self.data)", "np.ones(self.data.shape)"),
        ("return self + -self.wrap(other)", "return -(-self + other)"),
    ],
    "17.3": [(".reshape(shape)", ".reshape(shape)[()]")],
    "17.4": [("gradient.copy()", "np.array(gradient)"), ("Counter()", "defaultdict(int)")],
    "17.5": [("list(self.hooks.values())", "tuple(self.hooks.values())")],
    "17.6": [("return [(name, parameter) for", "yield from [(name, parameter) for")],
    "17.7": [("(g,))\n\n\ndef", "[g])\n\n\ndef")],
}


@pytest.mark.examples
@pytest.mark.usefixtures("afresh")
@pytest.mark.parametrize("checkpoint", CHECKPOINTS[:0:-1])
def test_a_chain_of_answers_that_are_written_differently(checkpoint):
    assert judge(checkpoint, built(OTHERWISE, checkpoint)).message.startswith(
        f"{checkpoint}: right"
    )


def names_in_the_table():
    table = next(c.source for c in cells() if c.source.startswith("| what the heart does beyond"))
    rows = [row for row in table.split("\n") if row.startswith("| ") and "`" in row]
    columns = [row.split("|")[2] for row in rows]
    return [name for column in columns for name in re.findall(r"`([\w.]+)`", column)]


@pytest.mark.parametrize("name", names_in_the_table())
def test_what_the_table_names_is_in_the_heart(name):
    rooms = [f"core.{part}" for part in ("node", "tensor", "engine", "hooks")]
    if name.startswith(("autograd.", "fast.")):
        room, _, name = name.rpartition(".")
        rooms = [room]
    things = [import_module(f"minigrad.{room}") for room in rooms]
    thing = next(thing for thing in things if hasattr(thing, name.split(".")[0]))
    for part in name.split("."):
        thing = getattr(thing, part)


def test_the_links_of_the_table_lead_to_the_lines(monkeypatch):
    monkeypatch.chdir(places.LESSONS)
    rows = capstone.beside_the_heart().rows
    assert len(rows) >= 12
    for *_, link, lines in rows:
        assert (places.LESSONS / link).resolve().parent.name == "core"
        assert lines == ""  # they would change with each change of the heart
    assert all(row[2] in repr(capstone.beside_the_heart()) for row in rows)


# ------------------------------------------------------------------ planted faults

Tensor = reference.Hookable


class LosesParts(Tensor):
    def result(self, data, inputs, rule):
        return super().result(data, tuple(dict.fromkeys(inputs)), rule)


class Overwrites(Tensor):
    def complete(self, gradient):
        if not self.inputs:
            self.grad = None
        return super().complete(gradient)


class WithoutSum(Tensor):
    def result(self, data, inputs, rule):
        return super(reference.Broadcasting, self).result(data, inputs, rule)


class ReluOfAll(Tensor):
    def relu(self):
        return self.result(np.maximum(self.data, 0), (self,), lambda g: (g,))


class TurnedAround(Tensor):
    def __rsub__(self, other):
        return self - other


class SumOfRows(Tensor):
    def sum(self, axis=None, keepdims=False):
        y = self.data.sum(axis=axis, keepdims=keepdims)
        return self.result(y, (self,), lambda g: (np.broadcast_to(g, self.data.shape),))


class NotTransposed(Tensor):
    def __matmul__(self, other):
        a, b = self.data, other.data
        return self.result(a @ b, (self, other), lambda g: (g @ b.T, a @ g))


class PowerOfTwo(Tensor):
    def __pow__(self, n):
        return self.result(self.data**n, (self,), lambda g: (g * 2 * self.data,))


class DropsReplaced(Tensor):
    def complete(self, gradient):
        for hook in self.hooks.values():
            hook(gradient)
        return super(Tensor, self).complete(gradient)


class HooksBackward(Tensor):
    def complete(self, gradient):
        self.hooks = dict(reversed(self.hooks.items()))
        gradient = super().complete(gradient)
        self.hooks = dict(reversed(self.hooks.items()))
        return gradient


class HooksAfter(Tensor):
    def complete(self, gradient):
        hooks, self.hooks = self.hooks, {}
        gradient = super().complete(gradient)
        self.hooks = hooks
        for hook in hooks.values():
            given = hook(gradient)
            gradient = gradient if given is None else given
        return gradient


class ZeroIsNoAnswer(Tensor):
    def complete(self, gradient):
        for hook in self.hooks.values():
            given = hook(gradient)
            gradient = gradient if given is None or not np.any(given) else given
        return super(Tensor, self).complete(gradient)


class OldestFirst(Tensor):
    def __init__(self, data, requires_grad=False):
        super().__init__(data, requires_grad)
        self.number = -self.number


FAULTS = {
    "graphs": [
        *(LosesParts, Overwrites, WithoutSum, ReluOfAll, TurnedAround, SumOfRows),
        *(NotTransposed, PowerOfTwo),
    ],
    "hooks": [DropsReplaced, HooksBackward, HooksAfter, ZeroIsNoAnswer, OldestFirst],
}


@pytest.mark.parametrize(
    ("kind", "faulty"), [(kind, each) for kind, found in FAULTS.items() for each in found]
)
def test_random_programs_find_a_planted_fault_and_make_it_small(kind, faulty):
    found = programs.first_difference(faulty, kind, range(1000, 1150))
    assert found is not None
    program, where = found
    lines = [*program.lines(), *where.lines()]
    assert len(program.lines()) <= 8, lines
    assert all(len(line) <= 100 for line in lines), lines
    shown = {"Tensor": faulty, "print": lambda gradient: None}
    if where.error is None:
        exec("\n".join(program.lines()), shown)  # what is shown can be run as it stands
    assert programs.difference(program, Tensor) is None


@pytest.mark.parametrize("kind", ["scalars", "graphs", "hooks"])
def test_right_classes_pass_other_programs(kind):
    make = reference.Value if kind == "scalars" else Tensor
    assert programs.first_difference(make, kind, range(5000, 5300)) is None


def test_random_programs_are_of_many_kinds():
    grown = [programs.grown(seed, "hooks") for seed in range(1000, 1150)]
    used = {step.does for program in grown for step in program.steps}
    assert used == {"+", "*", "-", "@", "**", "tanh", "relu", "sum"}
    assert {hook.kind for program in grown for hook in program.hooks} == {"look", "triple", "zero"}
    assert any(len(program.passes) > 1 for program in grown)
    assert any(not leaf.needs for program in grown for leaf in program.leaves)
    diamonds = [p for p in grown if len({a for s in p.steps for a in s.args}) < len(p.steps)]
    assert len(diamonds) > 20


def test_a_small_program_is_shown_as_it_is(capsys):
    check("17.5", type("Own", (ReluOfAll,), {"register_hook": Tensor.register_hook}))
    told = capsys.readouterr().out
    assert re.search(r"\n    \w = Tensor\(\[.*, requires_grad=True\)\n", told)
    assert "    #   minigrad: " in told


@pytest.mark.parametrize("register", ["register_full_backward_hook", "register_backward_hook"])
@pytest.mark.usefixtures("afresh")
def test_the_famous_numbers_come_out_of_the_reference(register):
    modules = import_module(f"{capstone.__name__}.modules")
    ((grad_input, grad_output),) = modules._example(register)(reference.HookedModule)
    wanted = {"register_full_backward_hook": -0.40796, "register_backward_hook": -1.0199}
    assert grad_input[0][0][0] == pytest.approx(wanted[register], rel=1e-4)
    assert grad_output[0][0][0] == pytest.approx(-1.847648)
