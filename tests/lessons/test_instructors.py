"""The instructors' guide is true: its numbers are computed, its links lead somewhere."""

import re

import pytest

import minigrad as torch
from _tools import canonical, lint_table, places
from _tools.book import staging
from _tools.lesson import sentences, without_fences
from minigrad import nn
from minigrad.autograd import gradcheck
from minigrad.classroom import desk, judge, rounded

GUIDE = places.LESSONS / "INSTRUCTORS.md"
FOLDER = places.LESSONS / "instructors"
QUESTIONS, ANSWERS = FOLDER / "exam_questions.md", FOLDER / "exam_answers.md"
PAGES = [GUIDE, QUESTIONS, ANSWERS]

X, W0, B0, W1, B1 = VALUES = 0.5, 0.2, 0.3, 0.6, 0.1


class SLinear(nn.Module):
    def __init__(self, weight, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(weight, dtype=torch.float64))
        self.bias = nn.Parameter(torch.tensor(bias, dtype=torch.float64))

    def forward(self, x):
        return self.weight * x + self.bias


class Squared(nn.Module):
    def __init__(self, weight, bias):
        super().__init__()
        self.f = SLinear(weight, bias)

    def forward(self, x):
        return self.f(x) ** 2


def chain(register=None):
    """The chain of the exam: gradients of x, w0, b0, w1, b1 with hooks as `register` puts them."""
    f0, f1 = SLinear(W0, B0), Squared(W1, B1)
    x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
    if register is not None:
        register(f0, f1)
    loss = (f1(f0(x)) - 1) ** 2
    loss.backward()
    leaves = (x, f0.weight, f0.bias, f1.f.weight, f1.f.bias)
    return [leaf.grad.item() for leaf in leaves]


def ratios(register):
    return [round(a / b, 6) for a, b in zip(chain(register), chain(), strict=True)]


def seen(kind):
    noted = []

    def register(f0, f1):
        hook = lambda module, grad_input, grad_output: noted.append((grad_input, grad_output))  # noqa: E731
        getattr(f1, kind)(hook)

    if kind == "register_backward_hook":
        with pytest.warns(FutureWarning, match="full_backward_hook"):
            chain(register)
    else:
        chain(register)
    return [tuple(g.item() for g in gradients) for gradients in noted[0]]


def twice(f0, f1):
    f1.register_full_backward_hook(lambda module, gi, go: (2 * gi[0],))


def thrice_before(f0, f1):
    f1.register_full_backward_pre_hook(lambda module, go: (3 * go[0],))


def both(f0, f1):
    twice(f0, f1)
    thrice_before(f0, f1)


def forward_values():
    x1 = W0 * X + B0
    s = W1 * x1 + B1
    return [x1, s, s * s, (s * s - 1) ** 2]


def on_two_uses():
    calls = []
    x = torch.tensor(3.0, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: calls.append(g.item()))
    (y * y + 5 * y).backward()
    return len(calls), calls[0], x.grad.item()


def clipped_by_hook():
    p = torch.tensor([0.0, 0.0], requires_grad=True)
    p.register_hook(lambda g: g.clamp(-1, 1))
    for _ in range(3):
        (p * torch.tensor([5.0, -0.5])).sum().backward()
    return p.grad.tolist()


def second_backward():
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    y.backward(retain_graph=True)
    first = x.grad.item()
    y.backward()
    return first, x.grad.item()


def unbroadcast():
    b = torch.zeros(3, requires_grad=True)
    (torch.ones(4, 3) * torch.arange(4.0).reshape(4, 1) + b * 2).sum().backward()
    return b.grad.tolist()


def linear_entries():
    noted = []
    layer = nn.Linear(3, 2)
    with pytest.warns(FutureWarning, match="full_backward_hook"):
        layer.register_backward_hook(lambda m, gi, go: noted.extend(tuple(g.shape) for g in gi))
        layer(torch.ones(5, 3, requires_grad=True)).sum().backward()
    return noted


def global_calls():
    calls = []
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Tanh(), nn.Linear(2, 1)))
    handle = nn.modules.module.register_module_forward_hook(lambda *args: calls.append(1))
    try:
        nn.MSELoss()(model(torch.ones(1, 2)), torch.zeros(1, 1))
    finally:
        handle.remove()
    return len(calls)


def softmax_gradient():
    z = torch.tensor([[0.0, 0.0, 0.0, 0.0]], requires_grad=True)
    nn.functional.cross_entropy(z, torch.tensor([1])).backward()
    return z.grad.tolist()[0]


def second_derivative():
    x = torch.tensor(2.0, requires_grad=True)
    (first,) = torch.autograd.grad(x**4 + x, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    return first.item(), second.item()


def newton():
    x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(x**3 - 3 * x, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    return (x - first / second).item()


def ones_hide():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.flip(0)

        @staticmethod
        def backward(ctx, g):
            return g

    x = torch.arange(3.0, dtype=torch.float64).requires_grad_()
    Wrong.apply(x).sum().backward()
    return x.grad.tolist(), gradcheck(Wrong.apply, (x,), raise_exception=False)


def central_error():
    f = lambda x: x**3  # noqa: E731
    return (f(2.1) - f(1.9)) / 0.2, (f(2.1) - f(2.0)) / 0.1


def shrinking():
    factor = (1 / 3) ** 0.5 / 4
    return factor, factor**10


def clipped_each_time_and_once():
    def three_passes(hooked):
        p = torch.zeros(2, requires_grad=True)
        if hooked:
            p.register_hook(lambda g: g * (5 / g.norm()) if g.norm() > 5 else g)
        for _ in range(3):
            (p * torch.tensor([6.0, 8.0])).sum().backward()
        return p

    once = three_passes(hooked=False)
    nn.utils.clip_grad_norm_([once], 5.0, error_if_nonfinite=True)
    return [round(p.grad.norm().item(), 4) for p in (three_passes(hooked=True), once)]


def guided():
    def slopes(hooked):
        first, second = nn.ReLU(), nn.ReLU()
        for relu in (first, second) if hooked else ():
            relu.register_full_backward_hook(lambda m, gi, go: (gi[0].clamp(min=0),))
        x = torch.tensor([2.0, 1.0], requires_grad=True)
        (2 * first(x[:1] - x[1:]) - 3 * second(x[:1])).backward()
        return x.grad.tolist()

    return slopes(hooked=False), slopes(hooked=True)


def shared_out():
    x, steps = torch.tensor([3.0, 2.0], dtype=torch.float64), 1000
    points = ((torch.arange(steps, dtype=torch.float64) + 0.5) / steps)[:, None] * x
    f = lambda p: p[..., 0] * p[..., 1] ** 2  # noqa: E731
    slopes = torch.autograd.grad(f(points.requires_grad_()).sum(), points)[0].mean(0)
    end = x.clone().requires_grad_()
    quick = x * torch.autograd.grad(f(end), end)[0]
    return [round(v, 4) for v in [*(x * slopes).tolist(), f(x).item(), *quick.tolist()]]


def frozen_by_zeros():
    w = torch.tensor(1.0, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    places = []
    for slope in (2.0, 0.0):
        w.grad = torch.tensor(slope)
        optimizer.step()
        places.append(round(w.item(), 6))
    return places


def fisher_of_a_mean():
    a, target = torch.tensor([[1.0], [2.0], [1.0], [3.0]]), torch.tensor([2.0, -2.0, 1.0, 1.0])
    layer, noted = nn.Linear(1, 1), []
    out = layer(a)
    out.register_hook(noted.append)
    (out[:, 0] * target).mean().backward()
    each = 4 * noted[0] * a
    assert noted[0][:, 0].tolist() == [0.5, -0.5, 0.25, 0.25]
    return (each**2).mean().item(), each.mean().item(), layer.weight.grad.item() ** 2


def segments():
    kept = {k: k + 16 / k for k in (1, 2, 4, 8, 16)}
    return [*kept.values(), min(kept, key=kept.get)]


def unequal_shards():
    rows, gradients = (30, 30, 40), (1.0, 2.0, 3.0)
    right = sum(n * g for n, g in zip(rows, gradients, strict=True)) / sum(rows)
    return sum(gradients) / 3, right


def one_array_for_two():
    x = y = torch.ones(1)
    for _ in range(2):
        for leaf in (x, y):
            leaf += 1
    a, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    for _ in range(3):
        (a + b).backward()
    return x.item(), y.item(), a.grad.item(), b.grad.item()


def stretched():
    a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b = torch.tensor([[10.0], [20.0]], requires_grad=True)
    (a * b).sum().backward()
    return a.grad.tolist(), b.grad.tolist()


def patched_and_estimated():
    part, noted = nn.Identity(), []
    corrupted, clean = (torch.tensor(a, requires_grad=True) for a in (1.0, 3.0))
    with part.register_forward_hook(lambda module, args, output: clean):
        patched = part(corrupted) ** 2
    with part.register_full_backward_hook(lambda module, gi, go: noted.append(go[0])):
        for a in (corrupted, clean):
            (part(a) ** 2).backward()
    return (patched - corrupted**2).item(), *(((clean - corrupted) * g).item() for g in noted)


COMPUTED = {
    "1": forward_values,
    "2": chain,
    "3": central_error,
    "4": unbroadcast,
    "5": second_backward,
    "6": on_two_uses,
    "7": clipped_by_hook,
    "9": lambda: seen("register_full_backward_hook"),
    "10": lambda: ratios(twice),
    "11": lambda: ratios(both),
    "12": lambda: seen("register_backward_hook")[0],
    "13": linear_entries,
    "14": global_calls,
    "16": softmax_gradient,
    "17": ones_hide,
    "18": second_derivative,
    "19": newton,
    "21": shrinking,
    "22": clipped_each_time_and_once,
    "23": guided,
    "24": shared_out,
    "25": frozen_by_zeros,
    "26": fisher_of_a_mean,
    "27": segments,
    "28": unequal_shards,
    "29": one_array_for_two,
    "30": stretched,
    "31": patched_and_estimated,
}


def sections(path):
    parts = re.split(r"^### (\d+)\b.*$", path.read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def numbers(value):
    if isinstance(value, (list, tuple)):
        return [number for entry in value for number in numbers(entry)]
    return [rounded(value, 5)]


@pytest.mark.parametrize("question", COMPUTED)
def test_the_numbers_of_an_answer_are_computed(question):
    text = sections(ANSWERS)[question]
    written = re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?!\w)", text)
    known = {float(number) for number in written}
    for number in numbers(COMPUTED[question]()):
        if number not in ("True", "False"):
            assert any(abs(float(number) - entry) < 1e-9 for entry in known), (number, written)


def test_what_ones_hide_gradcheck_sees():
    assert ones_hide() == ([1.0, 1.0, 1.0], False)


def test_every_question_has_its_answer_and_no_question_holds_one():
    asked, answered = sections(QUESTIONS), sections(ANSWERS)
    assert list(asked) == list(answered)
    assert list(asked) == [str(k) for k in range(1, len(asked) + 1)]
    assert set(COMPUTED) < set(asked)
    assert "exam_answers" not in QUESTIONS.read_text(encoding="utf-8")


def test_the_exercise_of_the_guide_proves_its_rows(monkeypatch, capsys):
    monkeypatch.setattr(desk, "_registered", {})
    code = re.search(r"## Your own exercises.*?```python\n(.*?)```", GUIDE.read_text("utf-8"), re.S)
    assert len(code[1].splitlines()) <= 40
    exec(code[1], {})
    assert capsys.readouterr().out == "[]\n"
    assert judge("my.1", lambda grad: 0.5 * grad).status == "right"
    assert "That's twice the gradient." in judge("my.1", lambda grad: grad + grad).message


def test_the_guide_names_every_lesson():
    text = GUIDE.read_text(encoding="utf-8")
    for path in places.learners():
        assert f"({path.name})" in text, path.name
        title = canonical.read(path).cells[0].source.partition("\n")[0].lstrip("# ")
        assert title in text, title


def test_lesson_00_maps_every_lesson_with_its_question():
    first, *others = places.learners()
    text = "\n".join(cell.source for cell in canonical.read(first).cells).replace("$", "")
    for path in others:
        opening = canonical.read(path).cells[0].source
        title = opening.partition("\n")[0].removeprefix("# ")
        asked = re.search(r"\*\*The question:\*\* (.+)", opening)[1]
        assert f"| [{title}]({path.name}) | {asked[0].upper()}{asked[1:]} |" in text, title


def test_the_title_of_a_solution_says_that_it_is_solved():
    for path in places.solutions():
        pair = (canonical.read(each) for each in (path, places.learner_of(path)))
        solution, learner = (notebook.cells[0].source.partition("\n")[0] for notebook in pair)
        assert solution == f"{learner} (solved)"


def test_its_times_are_those_of_the_lessons():
    text = GUIDE.read_text(encoding="utf-8")
    for path in places.learners():
        stated = re.search(r"\*\*Time:\*\* (.*)", canonical.read(path).cells[0].source)[1]
        whole = re.search(r"about (\d+) minutes: ", stated)
        minutes = staging.minutes(path)
        assert whole is None or int(whole[1]) == minutes, stated
        row = next(line for line in text.splitlines() if f"({path.name})" in line)
        assert f"| {minutes} min" in row, (stated, row)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere_and_words_are_ours(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", without_fences(text)):
        assert target.startswith("https://") or (page.parent / target).exists(), target
    assert list(lint_table.found_in(lint_table.PROSE, sentences(text))) == []
