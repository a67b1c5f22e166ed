"""What a function does beside its result, and how it gets there: the checks see it and say it."""

import threading
import time
from pathlib import Path

import pytest

import minigrad as torch
from minigrad import autograd, classroom, nn
from minigrad.classroom import Function, Hook
from minigrad.classroom.behaviors import Unsolved
from minigrad.classroom.execution import run
from minigrad.classroom.exercises import Objection
from minigrad.classroom.watching import as_html, tell


def slopes(rng):
    """A leaf with something in .grad, a list, a module with a hook of its owner's."""
    layer = nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[0.3, rng.uniform(-1, 1)]]))
    layer.register_forward_hook(lambda *_: None)
    x = torch.tensor([0.7, rng.uniform(1, 2)], requires_grad=True)
    x.grad = torch.tensor([5.0, 7.0])
    return [(x, (x * 3).sum(), layer, [1.0, 2.0])]


def right(x, y, layer, notes):
    return autograd.grad(y, x, retain_graph=True)[0]


EXERCISE = {
    "id": "96.1",
    "asks": "slope(x, y, layer, notes), which returns the gradient of y with respect to x",
    "right": "Yes.",
    "hints": ("first", "second"),
}
SLOPE = Function(**EXERCISE, inputs=slopes, reference=right)


def by_backward(x, y, layer, notes):
    x.grad = None
    y.backward(retain_graph=True)
    return x.grad


def releasing(x, y, layer, notes):
    return autograd.grad(y, x)[0]


def in_place(x, y, layer, notes):
    result = right(x, y, layer, notes)
    with torch.no_grad():
        x.mul_(2)
    return result


def switching(x, y, layer, notes):
    result = right(x, y, layer, notes)
    x.requires_grad_(False)
    return result


def listing(x, y, layer, notes):
    notes.append(3.0)
    return right(x, y, layer, notes)


def hooking(x, y, layer, notes):
    x.register_hook(lambda grad: None)
    return right(x, y, layer, notes)


def hooking_the_node(x, y, layer, notes):
    y.grad_fn.register_hook(lambda *_: None)
    return right(x, y, layer, notes)


def hooking_the_module(x, y, layer, notes):
    layer.register_full_backward_hook(lambda *_: None)
    return right(x, y, layer, notes)


def clearing(x, y, layer, notes):
    layer._forward_hooks.clear()
    return right(x, y, layer, notes)


def evaluating(x, y, layer, notes):
    layer.eval()
    return right(x, y, layer, notes)


def replacing(x, y, layer, notes):
    layer.weight = nn.Parameter(torch.ones(1, 2))
    return right(x, y, layer, notes)


def narrow(x, y, layer, notes):
    return right(x, y, layer, notes).to(torch.float32)


def hard_coded(x, y, layer, notes):
    return torch.tensor([3.0, 3.0])


class Remembering:
    def __init__(self):
        self.total = 0.0

    def __call__(self, x, y, layer, notes):
        self.total = self.total + right(x, y, layer, notes)
        return self.total


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (by_backward, "added to .grad"),
        (releasing, "freed the saved values"),
        (in_place, "It changed what it was given"),
        (switching, "requires_grad of a tensor is another"),
        (listing, "a list or dict has other entries"),
        (hooking, "still registered"),
        (hooking_the_node, "still registered"),
        (hooking_the_module, "still registered"),
        (clearing, "somebody else's"),
        (evaluating, "train() or eval()"),
        (replacing, "replaced some of the modules"),
        (narrow, "with other numbers of torch.float64, comes out wrong"),
        (Remembering(), "What does it keep from one run to the next?"),
    ],
)
def test_what_an_answer_does_beside_its_result_is_seen_and_said(answer, says):
    assert says in SLOPE.examine(answer).says


@pytest.mark.parametrize("answer", [right, lambda x, *rest: right(x, *rest).clone(), hard_coded])
def test_who_leaves_all_as_it_was_hears_nothing(answer):
    # The third is right on this exercise: the slope is 3 everywhere.
    assert SLOPE.examine(answer) is None


def test_an_answer_may_change_what_the_right_one_changes():
    allowed = Function(**EXERCISE, inputs=slopes, reference=by_backward)
    assert allowed.examine(by_backward) is None
    declared = Function(**EXERCISE, inputs=slopes, reference=right, may_change=("grad",))
    assert declared.examine(by_backward) is None


def helper(x, y):
    return autograd.grad(y, x, retain_graph=True)[0]


def swallowing(x, y, layer, notes):
    try:
        return helper(x, y)
    except BaseException:
        return torch.tensor([3.0, 3.0])


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, y, *_: helper(x, y),
        lambda x, y, *_: autograd.functional.jacobian(lambda t: (t * 3).sum(), x.detach()),
        lambda x, y, *_: torch.func.grad(lambda t: (t * 3).sum())(x.detach()),
        lambda x, y, *_: torch.func.jacfwd(lambda t: (t * 3).sum())(x.detach()),
        lambda x, y, *_: getattr(y, "back" + "ward")(retain_graph=True) or x.grad,
        swallowing,
    ],
)
def test_the_engine_is_forbidden_however_it_is_called(answer):
    by_hand = Function(**EXERCISE, inputs=slopes, reference=right, without=("backward",))
    assert "work without that" in by_hand.examine(answer).says
    assert by_hand.examine(hard_coded) is None


def hooked_run(answer):
    module = nn.Linear(1, 1)
    seen = []
    answer(module, lambda *_: seen.append(1))
    module(torch.tensor([0.3], requires_grad=True)).backward()
    return {"the number of calls": len(seen)}


def by_hand(module, hook):
    module.register_forward_hook(lambda module, args, output: output.register_hook(hook) and None)


HOOKED = Hook(
    id="96.2",
    asks="watch(module, hook)",
    right="Yes.",
    hints=("first", "second"),
    scenario=hooked_run,
    reference=by_hand,
    without=("register_full_backward_hook", "backward"),
)


def test_a_method_is_forbidden_to_the_answer_and_not_to_the_check():
    assert HOOKED.examine(by_hand) is None  # the scenario itself calls backward
    sly = getattr  # however it is spelled
    finding = HOOKED.examine(lambda m, hook: sly(m, "register_full_" + "backward_hook")(hook))
    assert "register_full_backward_hook" in finding.says


def of_a_check(source):
    """Define functions as if they stood in a file of the checks."""
    space = {"Objection": Objection}
    exec(compile(source, str(Path(classroom.__file__).parent / "runs_96.py"), "exec"), space)
    return space


SCENARIOS = of_a_check(
    """
def misreading(answer):
    return {"the length": len(answer(1.0))}


def objecting(answer):
    if answer(1.0) is None:
        raise Objection("length has to return a list")
    return {"the length": 1}
"""
)


def library_not_written(x):
    return nn.Module()(x)


def test_errors_are_whose_they_are():
    parts = dict(id="96.3", asks="f(x)", right="Yes.", hints=("first", "second"))
    known = Hook(**parts, scenario=SCENARIOS["misreading"], reference=lambda x: [x])
    said = known.examine(lambda x: x).says
    assert "It returned the number 1.0" in said
    assert "It raised" not in said
    known = Hook(
        **parts,
        scenario=SCENARIOS["objecting"],
        reference=lambda x: [x],
        mistakes="""
            ! NoneType
                An attribute of None: where does it come from?
            ? True
                This one looks at results, and there is none.
        """,
    )
    assert known.examine(lambda x: None).says.endswith("length has to return a list")
    own = known.examine(lambda x: None.grad).says
    assert own.index("It raised AttributeError") < own.index("An attribute of None")
    with pytest.raises(Unsolved):
        known.examine(not_written)
    outcome = run(library_not_written, 1.0)
    assert not outcome.unsolved
    assert "NotImplementedError" in outcome.trouble


def not_written(x):
    raise NotImplementedError


def endless_pass():
    x = torch.tensor(0.3, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: y.backward(retain_graph=True))
    y.backward(retain_graph=True)


def test_a_pass_that_starts_itself_is_stopped_with_its_threads():
    before = threading.active_count()
    outcome = run(endless_pass)
    assert outcome.endless
    assert "finish" in outcome.trouble
    for _ in range(2000):
        if threading.active_count() <= before:
            break
        time.sleep(0.05)
    assert threading.active_count() <= before
    x = torch.tensor(0.3, requires_grad=True)
    (x * 2).backward()  # and the engine is as it was
    assert x.grad.item() == 2.0


def test_feedback_has_a_sign_a_color_and_words(capsys):
    boxes = {status: as_html(status, "06.2: ...", ["a < b"]) for status in ("right", "wrong")}
    assert "✓" in boxes["right"]
    assert "✗" in boxes["wrong"]
    assert "a &lt; b" in boxes["right"]
    assert boxes["right"].partition("#")[2][:6] != boxes["wrong"].partition("#")[2][:6]
    tell("unsolved", "06.2: not solved yet.")
    assert capsys.readouterr().out == "○ 06.2: not solved yet.\n"
