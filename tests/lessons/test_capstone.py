"""Lesson 17 holds together: its solution is right, everybody can go on, faults are found."""

import pkgutil
import re
from contextlib import suppress
from importlib import import_module

import pytest

import minigrad as torch
from _tools import canonical, places
from minigrad import nn
from minigrad.classroom import check, judge, tables
from minigrad.classroom.desk import checks

capstone = checks("17")
kinds, programs, engines = (
    import_module(f"{capstone.__name__}.{name}") for name in ("kinds", "programs", "engines")
)
FULL, LEGACY = "register_full_backward_hook", "register_backward_hook"
CHECKPOINTS = list(kinds.CHECKPOINTS)


def built(changes, until="17.7"):
    """Run the solved notebook's answers, some changed, on what was noted; give the last."""
    space = {**kinds.reference(), "mine": capstone.mine}
    for checkpoint in CHECKPOINTS[1 : CHECKPOINTS.index(until) + 1]:
        program = tables.solution(checkpoint)
        exec(program.edited(changes.get(checkpoint, {})).source, space)
        kinds.note(checkpoint, own := space[program.gives])
        if checkpoint == "17.3":
            cell = next(cell for cell in tables.cells("17") if "class Broadcasting" in cell)
            exec(tables.Program(cell, "").edited(changes.get("Broadcasting", {})).source, space)
    return own


@pytest.fixture(autouse=True)
def afresh():
    kinds._accepted.clear()
    yield
    kinds._accepted.clear()


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_one_goes_on_with_what_was_accepted(checkpoint):
    other = capstone.mine(checkpoint)
    own, empty = (lambda gradient, shape: other(gradient, shape)), lambda gradient, shape: 0
    if isinstance(other, type):
        own, empty = type("Own", (other,), {"__init__": other.__init__}), type("Own", (), {})
    assert judge(checkpoint, own)
    assert capstone.mine(checkpoint) is own
    assert capstone.mine(checkpoint, use_reference=True) is other
    assert f"yours: {checkpoint};" in capstone.whose()
    assert not judge(checkpoint, empty)
    assert capstone.mine(checkpoint) is other
    assert capstone.whose().startswith("yours: none yet")


# ------------------------------------------------------------------ on one's own lower answers

GOES_PAST = "gradient = arrived.pop(tensor); tensor.complete(gradient)"
USED = "gradient = gradient if replaced is None else replaced"
LOWER_FAULTS = [
    ("17.2", "17.4", "g * np.ones_like(self.data)", "np.broadcast_to(g, self.data.shape)"),
    ("17.2", "17.6", "return self * -1", "return self * 1"),
    ("17.3", "17.4", "*stretched)", ")"),
    ("17.4", "17.7", "gradient = tensor.complete(arrived.pop(tensor))", GOES_PAST),
    ("17.5", "17.7", USED, "pass"),
    ("17.6", "17.7", "in list(self.forward_hooks.values())", "in ()"),
]


@pytest.mark.parametrize(("at_fault", "checkpoint", "old", "new"), LOWER_FAULTS)
def test_a_fault_is_traced_to_the_checkpoint_that_it_comes_from(at_fault, checkpoint, old, new):
    said = " ".join(judge(checkpoint, built({at_fault: {old: new}}, checkpoint)).message.split())
    assert f"until the reference's {at_fault} takes the place of yours" in said
    assert kinds._accepted.keys() == {each for each in CHECKPOINTS[1:] if each < checkpoint}


OWN_FAULTS = {
    "17.4": {"arrived[source] + part if source in arrived else part": "part"},
    "17.5": {USED: "pass"},
}


@pytest.mark.parametrize("checkpoint", OWN_FAULTS)
def test_a_fault_of_its_own_is_not_put_on_what_lies_below(checkpoint):
    verdict = judge(checkpoint, built({checkpoint: OWN_FAULTS[checkpoint]}, checkpoint))
    assert verdict.status == "wrong"
    assert "takes the place of yours" not in " ".join(verdict.lines)


OTHERWISE = {
    "17.2": {"return self + -self.wrap(other)": "return -(-self + other)"},
    "17.3": {".reshape(shape)": ".reshape(shape)[()]"},
    "17.4": {"gradient.copy()": "np.array(gradient)"},
    "17.5": {"list(self.hooks.values())": "tuple(self.hooks.values())"},
    "17.6": {"return [(name, parameter) for": "yield from [(name, parameter) for"},
    "17.7": {"tuple(rule(g))": "(*rule(g),)"},
}


@pytest.mark.parametrize("checkpoint", CHECKPOINTS[:0:-1])
def test_a_chain_of_answers_that_are_written_differently(checkpoint):
    assert judge(checkpoint, built(OTHERWISE, checkpoint)).status == "right"


# ------------------------------------------------------------------ what the notebook shows


def test_what_the_table_names_is_in_the_heart():
    path = next(path for path in places.solutions() if path.name.startswith("17_"))
    text = "".join(cell.source + "\n" for cell in canonical.read(path).cells)
    table = text.split("| what the core does beyond")[1].split("\n\n")[0]
    second = [row.split("|")[2] for row in table.split("\n")[2:] if row.startswith("| ")]
    names = re.findall(r"`([\w.]+)`", "".join(second))
    assert len(names) > 5
    rooms = [f"core.{part}." for part in ("node", "tensor", "engine", "hooks")]
    for name in names:
        found = []
        for room in [""] if name.startswith(("autograd.", "fast.")) else rooms:
            with suppress(AttributeError, ImportError):
                found.append(pkgutil.resolve_name(f"minigrad.{room}{name}"))
        assert found, name


def test_the_links_of_the_table_lead_to_the_lines(monkeypatch):
    monkeypatch.chdir(places.LESSONS)
    rows = capstone.beside_the_heart().rows
    assert len(rows) >= 12 and 165 <= capstone.own_lines() <= 195
    for *_, link, lines in rows:
        assert (places.LESSONS / link).resolve().parent.name == "core"
        assert lines == ""  # they would change with each change of the heart
    assert all(row[2] in repr(capstone.beside_the_heart()) for row in rows)


class Square(nn.Module):
    def forward(self, x):
        return x**2


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("register", "famous"), [(FULL, -0.40796), (LEGACY, -1.0199)])
def test_the_solution_gives_what_minigrad_gives(register, famous):
    made = capstone.mine("17.7")
    ((_, grad_input, grad_output),) = engines.pair(made, register)
    assert grad_input[0][0][0] == pytest.approx(famous, rel=1e-4)
    assert grad_output[0][0][0] == pytest.approx(-1.847648)
    net = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1), Square())).double()
    for parameter, value in zip(net.parameters(), (0.3, 0.1, 0.4, 0.2), strict=True):
        parameter.data.fill_(value)
    getattr(net[1], register)(lambda module, grad_input, grad_output: (2 * grad_input[0],))
    x = torch.tensor([[0.3]], dtype=torch.float64, requires_grad=True)
    ((net(x) - 1) ** 2).backward()
    ours = engines.doubled(made, register)
    theirs = [each.grad.sum().item() for each in (x, *net.parameters())]
    assert [torch.tensor(each).sum().item() for each in ours] == pytest.approx(theirs, rel=1e-5)


# ------------------------------------------------------------------ random programs

FAULTS = [
    ("graphs", "17.2", {"g * (self.data > 0)": "g"}),
    ("graphs", "17.2", {"return -self + other": "return self - other"}),
    ("graphs", "17.2", {"a.T @ g": "a @ g"}),
    ("graphs", "Broadcasting", {"to_shape(part, x.data.shape)": "part"}),
    ("graphs", "17.4", {"todo.pop().inputs": "set(todo.pop().inputs)"}),
    ("graphs", "17.4", {"if self.grad is None else self.grad + gradient": ""}),
    ("hooks", "17.4", {"-source.number": "source.number"}),
    ("hooks", "17.5", {USED: "pass"}),
    ("hooks", "17.5", {"list(self.hooks.values())": "list(self.hooks.values())[::-1]"}),
    ("hooks", "17.5", {"replaced is None": "replaced is None or not replaced.any()"}),
]


@pytest.mark.parametrize(("kind", "where", "edits"), FAULTS)
def test_random_programs_find_a_planted_fault_and_make_it_small(kind, where, edits):
    faulty = built({where: edits}, "17.5")
    lines, differs = programs.first_difference(faulty, kind)
    assert len(lines) <= 8, lines
    assert all(len(line) <= 100 for line in (*lines, *differs)), (lines, differs)
    if "Error: " not in differs[0]:  # what is shown can be run as it stands
        exec("\n".join(lines), {"Tensor": faulty, "print": lambda gradient: None})
    assert programs.difference(lines, capstone.mine("17.5", use_reference=True)) == ()


@pytest.mark.parametrize(("kind", "checkpoint"), [("scalars", "17.1"), ("hooks", "17.5")])
def test_right_classes_pass_other_programs(kind, checkpoint):
    assert programs.first_difference(capstone.mine(checkpoint), kind, range(5000, 5300)) is None


def test_random_programs_are_of_many_kinds():
    grown = [programs.grown(seed, "hooks") for seed in programs.SEEDS]
    text = "\n".join(line for lines in grown for line in lines)
    parts = "+ | * | - | @ | ** |tanh()|relu()|.sum(0)|keepdims|print)|3 * g)|0 * g)"
    assert [part for part in parts.split("|") if part not in text] == []
    assert any(sum(line.endswith("backward()") for line in lines) > 1 for lines in grown)
    assert len(re.findall(r"Tensor\([^r]*\)\n", text)) > 20


def test_a_small_program_is_shown_as_it_is(capsys):
    check("17.5", built({"17.2": {"g * (self.data > 0)": "g"}}, "17.5"))
    told = capsys.readouterr().out
    assert re.search(
        r"\n    \w = Tensor\(.*, requires_grad=True\)\n(.*\n)*    #   minigrad: ", told
    )
