"""The player tells a backward pass in steps, each with its numbers, on the picture of the graph."""

import base64
import re
from html import unescape
from xml.etree import ElementTree

import pytest

import minigrad as torch
from minigrad import nn
from minigrad.viz import play, record, watch_modules
from minigrad.viz.player import overlap, steps_of

from .graphs import told_by


class Squared(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(1, 1)

    def forward(self, x):
        return self.f(x) ** 2


def double(module, grad_input, grad_output):
    return (grad_input[0] * 2,)


def example():
    """Run the worked example under a hook; give its log, and the loss, which keeps the graph."""
    f0, f1 = nn.Linear(1, 1), Squared()
    with torch.no_grad():
        for parameter, value in zip(
            [*f0.parameters(), *f1.parameters()], (0.3, 0.1, 0.4, 0.2), strict=True
        ):
            parameter.fill_(value)
    f1.register_full_backward_hook(double)
    x = torch.tensor([[0.3]], requires_grad=True)
    x1 = f0(x)
    y = f1(x1)
    loss = ((y - 1) ** 2).sum()
    with record([{"x": x, "x1": x1, "y": y, "f0": f0, "f1": f1}]) as log:
        loss.backward()
    return log, loss


@pytest.fixture(scope="module")
def worked():
    return example()


@pytest.fixture
def log(worked):
    return worked[0]


def told(log):
    return [f"{step.title}: {'; '.join(step.lines)}" for step in steps_of(log)]


def test_the_worked_example_is_told_with_its_numbers(log):
    lines = told(log)
    assert len(lines) == 16
    assert lines[4] == (
        "PowBackward0 applies its rule: -1.8476 arrives; times 0.5520 gives -1.0199 "
        "for AddmmBackward0"
    )
    hook = lines.index(
        "full backward hook double at BackwardHookFunctionBackward: grad_input is (-0.4080,); "
        "grad_output is (-1.8476,); it returns (-0.8159,), which replaces grad_input"
    )
    # the identity's own step does not send: the hook, which may replace, has the last word
    steps = steps_of(log)
    assert steps[hook - 1].sent == ()
    assert [value for _, value in steps[hook].sent] == ["-0.8159"]
    assert lines[hook + 1].startswith(
        "AddmmBackward0 (x1) applies its rule: -0.8159 arrives; times"
    )
    assert lines[-1] == "f0.weight adds to .grad: -0.2448 arrives and becomes f0.weight.grad"
    assert "x adds to .grad: -0.2448 arrives and becomes x.grad" in lines


def test_gradients_that_meet_accumulate_and_hooks_that_only_look():
    x = torch.tensor([3.0], requires_grad=True)
    x.register_hook(lambda grad: None)

    def clip(grad):
        grad.clamp_(-1, 1)

    y = x.exp()
    y.register_hook(clip)
    for _ in range(2):
        loss = (y * x).sum()
        with record({"x": x}) as log:
            loss.backward(retain_graph=True)
    lines = told(log)
    assert "tensor hook <lambda> at x: it sees 40.1711; it changes nothing" in lines
    assert "tensor hook clip at ExpBackward0: it sees 3.0000; it writes into it" in lines
    assert lines[-1] == (
        "x adds to .grad: 40.1711 arrives, the sum of 2 gradients; x.grad is now 80.3421"
    )


def test_larger_gradients_are_told_by_shape_and_norm_and_captured_ones_too():
    w = torch.ones(3, 2, requires_grad=True)
    x = torch.ones(4, 3)
    with record({"w": w}) as log:
        torch.autograd.grad((x @ w).sum(), w)
    first, *_, last = told(log)
    assert first == (
        "SumBackward0 applies its rule: 1.0000 arrives; gives (4, 2) of norm 2.8284 for MmBackward0"
    )
    assert last == "w: kept for grad(): (3, 2) of norm 9.7980 is returned"


def test_a_pass_within_a_hook_is_told_where_it_happens():
    x, w = (torch.tensor([value], requires_grad=True) for value in (1.0, 4.0))

    def another(grad):
        with torch.enable_grad():
            kept.append((w * w).sum())
        kept[0].backward()

    kept = []  # or the graph would be gone, and there were nothing to draw
    y = x * 2
    y.register_hook(another)
    with record({"x": x, "w": w}) as log:
        y.backward()
    titles = [step.title for step in steps_of(log)]
    assert titles.index("tensor hook another at MulBackward0") < titles.index("x adds to .grad")
    assert "w adds to .grad" in titles
    assert len(play(log).steps) == len(titles)


def test_what_cannot_be_played(worked):
    with record() as log:
        pass
    with pytest.raises(
        ValueError,
        match=r"no events.*in `with record\(\) as log:`.*in this process and thread",
    ):
        play(log)
    x = torch.tensor([1.0], requires_grad=True)
    with record() as log:
        (x * 2).backward()
    with pytest.raises(ValueError, match="graph of this log is gone"):
        play(log)
    with pytest.raises(IndexError, match="steps 1 to 16"):
        play(worked[0]).svg(17)


def images(html):
    found = re.findall(r'<img [^>]*class="minigrad-ink minigrad-player-(\w+)" '
                       r'src="data:image/svg\+xml;base64,([^"]+)" alt="([^"]+)"', html)  # fmt: skip
    return [(kind, base64.b64decode(data).decode(), alt) for kind, data, alt in found]


def layers(html):
    """Put together what lies over the picture at each step, as the script does."""
    found = re.findall(r'data-now="([^"]+)" data-stays="([^"]+)"', html)
    nows, stay = zip(*(map(unescape, pair) for pair in found), strict=True)
    sheet = unescape(re.search(r'data-sheet="([^"]+)"', html)[1])
    return [sheet.replace("</g>", "".join(stay[:at]) + now + "</g>") for at, now in enumerate(nows)]


def test_the_player_holds_a_picture_the_marks_of_each_step_and_a_table(log):
    player = play(log, title="Both <gates>")
    html = player.html()
    kinds = [kind for kind, _, _ in images(html)]
    assert kinds == ["still", "base"] and all(alt for _, _, alt in images(html))
    drawn = [*(svg for _, svg, _ in images(html)), *layers(html)]
    assert len(drawn) == 2 + len(player.steps)
    for svg in drawn:
        assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    places = re.findall(r'data-place="([^"]+)"', html)
    width, height = re.search(r'viewBox="0 0 (\d+) (\d+)"', images(html)[0][1]).groups()
    assert len(places) == len(player.steps)
    for place in places:
        numbers = list(map(float, place.split()))
        for left, top, wide, high in (numbers[:4], numbers[4:]):  # all of it, and what is at work
            assert left >= 0 and top >= 0 and wide > 20 and high > 20
            assert left + wide <= float(width) and top + high <= float(height)
    sizes = {re.search(r'viewBox="[^"]+"', svg)[0] for svg in drawn}
    assert len(sizes) == 1  # the layers fit over the picture
    assert html.count("<tr") == 1 + len(player.steps)
    assert "Both &lt;gates&gt;" in html and "Both <gates>" not in html
    # nothing from elsewhere, and no identifiers that two players on a page would share
    outside = {each for each in re.findall(r"https?://[^\"' <)]+", unescape(html))}
    assert outside == {"http://www.w3.org/2000/svg"} and not re.search(r"\sid=", html)


def test_a_saved_log_is_a_page_that_needs_nothing_from_elsewhere(log, tmp_path):
    log.save(tmp_path / "pass.html", title="Both <gates>")
    page = (tmp_path / "pass.html").read_text(encoding="utf-8")
    player = play(log, title="Both <gates>")
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">') and player.html() in page
    for part in ("<title>Both &lt;gates&gt;</title>", 'name="viewport"', 'content="light dark"'):
        assert part in page
    assert f'data-steps="{len(player.steps)}"' in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|\b(src|href)=\"(?!data:)", page)
    log[:12].save(tmp_path / "begin.html")  # a slice
    steps = len(steps_of(log[:12]))
    assert 0 < steps < len(player.steps)
    assert f'data-steps="{steps}"' in (tmp_path / "begin.html").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match=r"must end in \.html, not 'pass\.png'"):
        log.save("pass.png")


def test_a_pass_twice_as_long_takes_twice_the_room():
    sizes = []
    for length in (60, 120):
        last = x = torch.ones(2, requires_grad=True)
        for _ in range(length):
            last = last.sin()
        loss = last.sum()
        with record({"x": x}) as log:
            loss.backward()
        sizes.append(len(play(log).html()))
    assert sizes[1] < 2.1 * sizes[0]


def marks(svg, color):
    return len(re.findall(rf'stroke="{color}"', svg))


def test_layers_mark_where_the_gradient_is(log):
    player = play(log)
    shown = layers(player.html())
    hook = next(at for at, step in enumerate(player.steps) if step.hook)
    assert [value in shown[hook] for _, value in player.steps[hook].sent] == [True]
    # each layer has what was visited before, and one place where the pass is now
    assert marks(shown[0], "#0072B2") < marks(shown[5], "#0072B2") < marks(shown[-1], "#0072B2")
    assert all(marks(layer, "#D55E00") >= 1 for layer in shown)
    assert "grad -0.2448" in shown[-1] and "grad -0.2448" not in shown[hook]
    for step, layer in enumerate(shown, 1):  # one picture of a step has the same marks
        inner = layer[layer.index("<g transform") : layer.index("</g>")].partition(">")[2]
        assert inner in player.svg(step)
    assert player.svg(0).count("<svg") == 1 and player.svg(3) != player.svg(4)


def test_notebooks_get_text_and_html(log):
    player = play(log)
    formatters = pytest.importorskip("IPython.core.formatters")
    bundle, _ = formatters.DisplayFormatter().format(player)
    assert bundle == {"text/plain": repr(player), "text/html": player.html()}
    assert repr(player).splitlines()[1:4] == [
        "step  what happens, with which numbers",
        "   1  SumBackward0 applies its rule",
        "          1.0000 arrives",
    ]


SCRIPT = """
import hashlib
from minigrad.viz import beside, draw, play
from tests.viz.graphs import lenet
from tests.viz.test_picture import picture_of, small_model
from tests.viz.test_player import example
log, _loss = example()
both = beside(picture_of(small_model()), picture_of(small_model("legacy")), captions=["a", "b"])
loss, modules = lenet()
both = beside(both, draw(loss, modules=modules))
told = play(log).html() + both.html() + both.table + both.alt
print(hashlib.sha256(told.encode()).hexdigest())
"""


def test_pictures_and_player_are_the_same_whatever_the_hash_seed():
    assert told_by(SCRIPT, PYTHONHASHSEED="0") == told_by(SCRIPT, PYTHONHASHSEED="12345")


def test_formulas_stand_beside_the_numbers_where_the_saved_values_are_kept():
    pytest.importorskip("sympy")
    x, s = torch.tensor([0.3], requires_grad=True), torch.tensor([0.4], requires_grad=True)
    product = x * s
    y = product.sigmoid()
    for keep, due in ((True, "times y*(1 - y) = 0.2491 gives"), (False, "times 0.2491 gives")):
        with record({"x": x, "s": s, "y": y}) as log:
            y.backward(retain_graph=keep)
        player = play(log)
        assert due in player.table
        assert ("times s = 0.4000 gives 0.0996 for x" in player.table) == keep
        # what no formula is asked for stays as it was
        assert "y*(1 - y)" not in play(log, formulas=False).table


def test_without_sympy_there_are_numbers():
    program = (
        "import sys; sys.modules['sympy'] = None\n"
        "import minigrad as torch\n"
        "from minigrad.viz import play, record\n"
        "x = torch.tensor([0.3], requires_grad=True)\n"
        "y = x.tanh()\n"
        "with record({'x': x, 'y': y}) as log:\n"
        "    y.backward(retain_graph=True)\n"
        "print(play(log).steps[0].lines)"
    )
    assert told_by(program) == "('1.0000 arrives', 'times 0.9151 gives 0.9151 for x')\n"


def test_modules_as_boxes_and_a_picture_without_hooks(tmp_path):
    model = nn.Sequential(nn.Linear(1, 1), nn.Tanh())
    model[1].register_full_backward_hook(double)
    x = torch.tensor([[0.3]], requires_grad=True)
    with watch_modules(model) as modules:
        loss = model(x).sum()
    with record({"x": x}) as log:
        loss.backward()
    boxed, plain = play(log, modules=modules), play(log)
    log.save(tmp_path / "boxed.html", modules=modules)
    assert boxed.html() in (tmp_path / "boxed.html").read_text(encoding="utf-8")
    assert "1: Tanh" in boxed.svg(0) and "1: Tanh" not in plain.svg(0)
    assert "0.weight" in boxed.svg(0)  # parameters have their names from the module
    assert ">double<" in plain.svg(0) and ">double<" not in play(log, hooks=False).svg(0)
    assert "full backward hook double" in play(log, hooks=False).table


def test_numbers_stay_on_the_edges_that_were_passed_and_hide_nothing():
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    u = 7 * y
    loss = y + u
    with record({"x": x, "y": y, "u": u}) as log:
        loss.backward()
    player = play(log)
    last = player.svg(len(player.steps))
    assert [last.count(f">{each}<") for each in ("1.0000", "7.0000", "24.0000")] == [2, 1, 2]
    assert last.count(">grad 48.0000<") == 1
    stage = player._stage
    boxes = [place for places in stage.canvas.places for place in places]
    chips = [place for key, place in stage.chips.items() if isinstance(key, int)]
    assert len(chips) == 5
    for at, chip in enumerate(chips):
        hidden = sum(overlap(chip, other) for other in [*boxes, *chips[:at]])
        assert hidden < 60  # less than a rim of one pixel
