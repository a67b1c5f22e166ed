"""Networks in PyTorch with hooks of every kind: drawn, recorded and played, and nothing changes."""

from __future__ import annotations

import doctest
import gc
import importlib
import inspect
import warnings
from collections import Counter, OrderedDict
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from threading import Thread

import pytest

from minigrad.viz import compare, draw, play, record
from minigrad.viz.graph import read_graph
from minigrad.viz.text import WIDE

torch = pytest.importorskip("torch")
programs = importlib.import_module("tests.viz.pytorch_programs")  # where PyTorch is
nn, F = torch.nn, torch.nn.functional


def begun(program):
    """Run a program forward; give its hooks, its models, its loss and how it goes on."""
    torch.manual_seed(0)
    hooks = programs.Hooks()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # legacy hooks say they are old
        models, loss, go = program(hooks)
    hooks.calls.clear()
    return hooks, models, loss, go


def numbers(models):
    """Give all numbers of models to the last bit, with the versions of their tensors."""
    tensors = [t for m in models for t in (*m.parameters(), *m.buffers())]
    tensors += [t.grad for t in tensors]
    return [t if t is None else (t.detach().numpy().tobytes(), t._version) for t in tensors]


def ran(program, recorded):
    """Run a program; give its hooks, its log, its results, and all that should be the same."""
    hooks, models, loss, go = begun(program)
    modules = [module for model in models for module in model.modules()]
    before = programs.tables_of(modules, [loss.grad_fn])
    with record([*models, {"loss": loss}]) if recorded else nullcontext() as log:
        result = go()
    after = programs.tables_of(modules, [loss.grad_fn])
    assert before == {key: after[key] for key in before}
    given = [each.detach().numpy().tobytes() for each in result if each is not None]
    return hooks, log, [loss, *result], (hooks.calls, numbers(models), given)


@pytest.fixture(scope="module", params=programs.PROGRAMS)
def program(request):
    return programs.PROGRAMS[request.param]


@pytest.fixture(scope="module")
def run(program):
    """Give a recorded run."""
    return ran(program, recorded=True)


def test_a_picture_names_every_hook_at_the_node_where_it_sits(program):
    hooks, models, loss, _ = begun(program)
    graph, index = read_graph([loss], limit=1000)
    sits = {}
    for node in graph.nodes:
        for hook in node.hooks:
            sits.setdefault(hook.name, set()).add(node.index)
    for name, places in hooks.at(graph, index).items():
        assert sits.pop(name, set()) == places, name
    assert sits.keys() <= {"everywhere", "unpack", "unpack_hook"}
    text = str(draw(loss, names=models, limit=1000))
    assert all(name in text for name in sits)
    assert max(map(len, text.splitlines())) <= WIDE
    assert not hooks.calls


def test_a_recorded_run_is_the_same_run(program, run):
    hooks, log, _, seen = run
    assert seen == ran(program, recorded=False)[-1]
    fired = [each.name for each in log.hooks if each.name in hooks.calls]
    assert fired == [name for name in hooks.calls if name not in ("pack", "unpack")]
    assert len(set(fired)) >= 5 or program is programs.lstm  # grad() accumulates nothing


def test_log_and_player_say_at_which_node_each_hook_fired(program, run):
    hooks, log, (loss, *_), _ = run
    graph, index = read_graph([loss], limit=1000)
    places = hooks.at(graph, index)
    for each in log.hooks:
        if each.name in places and index.locate(each.node.node) is not None:
            assert index.locate(each.node.node) in places[each.name], each.name
    player = play(log, limit=1000)
    told = Counter(step.hook[1] for step in player.steps if step.hook)
    assert told == Counter(each.name for each in log.hooks if each.node.node is not None)
    gone = len({each.node for each in log if each.node.node is None})
    assert (gone > 0) == (program is programs.PROGRAMS["shared, reentrant"])  # its inner pass
    assert player.title.endswith(f"(without {gone} nodes whose graph is gone)") == (gone > 0)
    assert player.svg(len(player.steps)).startswith("<svg")
    assert all(name in player.table for name in told)
    assert ("it changes .grad" in player.table) == ("on_grad" in told)
    # both fit a terminal, and lose nothing
    assert max(map(len, (log.table + "\n" + player.table).splitlines())) <= WIDE
    table = "".join(log.table.split())
    for row in log.rows():
        assert all("".join(cell.split()) in table for cell in row), row


# ------------------------------------------------------------------ single cases


def test_what_cannot_be_seen_is_said():
    class CompiledFunction(programs.Doubled):  # as torch.compile calls what it makes
        pass

    x = torch.ones(2, requires_grad=True)
    loss = CompiledFunction.apply(x, x)[0].sum()
    with record({"x": x}) as log:
        loss.backward(retain_graph=True)
    note = "compiled: what happens inside is not visible"
    assert note in str(draw(loss)) and note in draw(loss).svg and note in play(log).svg(0)
    assert log.table.endswith(f"\nCompiledFunctionBackward is {note}.")
    y = torch.ones(2, requires_grad=True, device="meta")
    loss = (y * 2).sum()
    with record({"y": y}) as log:
        loss.backward()
    assert "y (2,) = numbers that cannot be read" in str(draw(loss, names={"y": y}))
    assert "shape (2,) of numbers that cannot be read arrives" in play(log).table


def test_of_many_gradients_the_first_few_are_told():
    xs = [torch.tensor(float(at), requires_grad=True) for at in range(40)]
    with record() as log:
        torch.stack(xs).sum().backward()
    assert f"({'1.0000, ' * 8}and 32 more)" in " ".join(log.table.split())


FAILING = [
    lambda net, h, fails: h.register_hook(fails),
    lambda net, h, fails: h.grad_fn.register_hook(fails),
    lambda net, h, fails: h.grad_fn.register_prehook(fails),
    lambda net, h, fails: net[0].weight.register_post_accumulate_grad_hook(fails),
    lambda net, h, fails: net[0].weight.register_hook(fails),
    lambda net, h, fails: net[2].register_full_backward_hook(fails),
    lambda net, h, fails: net[2].register_full_backward_pre_hook(fails),
]


@pytest.mark.parametrize("register", FAILING)
def test_an_error_in_a_hook_leaves_everything_as_it_was(register):
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))

    def fails(*given):
        raise KeyError("mine")

    hidden = net[1](net[0](torch.ones(1, 2)))
    register(net, hidden, fails)
    loss = net[2](hidden).sum()

    def state():
        """Give all hooks, those that PyTorch keeps in the closures of its own too."""
        tables = programs.tables_of(net.modules(), [loss.grad_fn])
        kept = [hook for table in tables.values() if type(table) is list for _, hook in table]
        cells = [cell.cell_contents for hook in kept for cell in hook.__closure__ or ()]
        inner = [each for each in cells if hasattr(each, "user_pre_hooks")]
        engine = torch.autograd._engine_run_backward, torch.Tensor.register_hook
        return tables, engine, [(list(e.user_hooks), list(e.user_pre_hooks)) for e in inner]

    before = state()
    with record(net) as log, pytest.raises(KeyError, match="mine"):
        loss.backward()
    assert state() == before
    assert [each.raised for each in log.hooks] == ["KeyError: 'mine'"]


def test_hooks_on_tensors_that_are_gone_or_were_written_to():
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    calls = []

    def named(name):
        return programs.called(lambda grad: calls.append(name), name)

    def forward(x):
        y = x * 3
        y.register_hook(named("on_gone"))
        z = y + 1
        z.register_hook(named("before_relu"))
        z.relu_()
        z.register_hook(named("after_relu"))
        last = z.unbind()[1]
        last.register_hook(named("on_second"))
        return last * 2

    loss = forward(x)
    nodes = "on_second UnbindBackward0, after_relu ReluBackward0, before_relu AddBackward0"
    graph, _ = read_graph([loss])
    drawn = [(hook.name, node.name) for node in graph.nodes for hook in node.hooks]
    assert ", ".join(map(" ".join, drawn)) == f"{nodes}, on_gone MulBackward0"
    assert [hook.output_nr for node in graph.nodes for hook in node.hooks] == [1, 0, 0, 0]
    with record() as log:
        loss.backward()
    assert [each.name for each in log.hooks] == [name for name, _ in drawn] == calls
    assert [each.node.name for each in log.hooks] == [name for _, name in drawn]


def test_a_loop_over_numbered_losses_and_models_goes_on():
    models = OrderedDict((at, nn.Linear(2, 1)) for at in range(3))
    for model in models.values():
        model.weight.register_hook(lambda grad: grad * 2)
    with record() as log:
        losses = OrderedDict((at, model(torch.ones(1, 2)).sum()) for at, model in models.items())
        for loss in losses.values():
            loss.backward(retain_graph=True)
        for at in models:
            losses[at].backward()
    assert len(log.hooks) == 6
    assert all(model.weight.grad.tolist() == [[4.0, 4.0]] for model in models.values())


def in_another_thread(w, found):
    thread = Thread(target=lambda: found.extend(torch.autograd.grad((w * 5).sum(), w)))
    thread.start()
    thread.join()


def test_a_pass_of_another_thread_is_not_logged():
    w, found = torch.ones(2, requires_grad=True), []
    w.register_hook(lambda grad: grad * 3)
    loss = (w * 2).sum()
    loss.register_hook(programs.called(lambda grad: in_another_thread(w, found), "waits"))
    with record() as log:
        loss.backward()
    assert found[0].tolist() == [15.0, 15.0]
    assert w.grad.tolist() == [6.0, 6.0]
    assert [each.name for each in log.hooks] == ["waits", "<lambda>"]


def test_what_replaces_the_hooks_while_they_are_looked_for_lets_other_threads_call_them():
    w, found, zeros = torch.ones(2, requires_grad=True), [], torch.zeros
    w.register_hook(lambda grad: grad * 3)

    def meanwhile(*args, **kwargs):
        in_another_thread(w, found)
        return zeros(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "zeros", meanwhile)
        graph, _ = read_graph([w * 2])
    assert found and all(each.tolist() == [15.0, 15.0] for each in found)
    assert [hook.name for node in graph.nodes for hook in node.hooks] == ["<lambda>"]


def test_blocks_within_one_another_log_the_same():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    net[1].register_full_backward_hook(lambda *given: None)
    net[0].bias.register_post_accumulate_grad_hook(programs.enlarged)
    x = torch.ones(1, 2, requires_grad=True)
    hidden = net(x)
    hidden.register_hook(partial(lambda k, grad: grad * k, 2))
    hidden.grad_fn.register_hook(lambda grad_inputs, grad_outputs: None)
    torch.autograd.graph.register_multi_grad_hook((hidden, x), lambda grads: None)
    before = programs.tables_of(net.modules(), [hidden.grad_fn])
    with record(net) as plain:
        hidden.backward(retain_graph=True)
    net.zero_grad()
    x.grad = None
    with record(net) as outer, record(net) as inner:
        hidden.backward()
    assert str(outer) == str(inner) == str(plain)
    assert len(plain.hooks) == 6
    assert programs.tables_of(net.modules(), [hidden.grad_fn]) == before


def test_an_error_names_a_hook_as_without_a_record():
    for hook in (
        partial(lambda k, grad: grad[0], 1),
        programs.called(lambda grad: grad[0], "first"),
    ):
        told = []
        for block in (nullcontext(), record()):
            y = torch.ones(2, requires_grad=True) * 2
            y.register_hook(hook)
            with pytest.raises(RuntimeError) as error, block:
                y.sum().backward()
            told.append(str(error.value))
        assert told[0] == told[1]


def test_a_picture_made_in_a_hook_shows_no_hook_of_the_record():
    class Capture:
        def __call__(self, module, grad_input, grad_output):
            pass

    net = nn.Linear(3, 2)
    net.register_full_backward_hook(Capture())
    x, drawn = torch.ones(3, requires_grad=True), []
    y = net(x)
    y.register_hook(lambda grad: drawn.append(read_graph([y])[0]))
    y.grad_fn.register_prehook(partial(lambda k, grads: None, 1))
    y.backward(torch.ones(2), retain_graph=True)
    with record():
        y.backward(torch.ones(2))
    plain, within = ([node.hooks for node in graph.nodes] for graph in drawn)
    assert plain == within
    told = {(hook.name, hook.remark) for hooks in plain for hook in hooks}
    assert told == {(name, "") for name in ("<lambda>", "partial", "Capture")}


def test_names_and_hooks_do_no_harm_in_transforms_and_nested_tensors():
    net = nn.Linear(3, 1)
    net.weight.register_hook(lambda grad: None)
    rows = [torch.ones(at, 3, requires_grad=True) for at in (2, 4)]
    with record([net]) as log:
        of_each = torch.func.vmap(torch.func.grad(lambda w, x: (w * x).sum()), (None, 0))
        slopes = of_each(torch.zeros(3), torch.eye(3))
        nested = torch.nested.as_nested_tensor(rows, layout=torch.jagged)
        torch.nested.to_padded_tensor(net(nested), 0.0).sum().backward()
    assert torch.equal(slopes, torch.eye(3))
    assert net.weight.grad.tolist() == [[6.0, 6.0, 6.0]]
    assert [each.name for each in log.hooks] == ["<lambda>"]


def test_models_that_give_a_dataclass_or_were_traced_are_drawn():
    @dataclass
    class Result:
        logits: torch.Tensor
        loss: torch.Tensor

    class Model(nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            return Result(y, y.sum())

    assert "SumBackward0" in str(draw(Model(2, 2), torch.ones(1, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that tracing is deprecated
        traced = torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2))
    assert "input 0 (1, 2)" in str(draw(traced, torch.ones(1, 2, requires_grad=True)))


def test_looking_for_hooks_leaves_retained_gradients_alone():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: None)
    loss = (y * y).sum()
    draw(loss)
    assert y.grad is None
    loss.backward(retain_graph=True)
    held = y.grad
    with record():
        draw(loss)
    assert y.grad is held
    assert held.tolist() == [4.0, 4.0]


def test_hooks_on_saved_tensors_are_drawn_where_they_will_unpack():
    x = torch.ones(2, requires_grad=True)
    pack, unpack = programs.called(lambda t: t, "pack"), programs.called(lambda t: t, "unpack")
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        loss = programs.Doubled.apply(x.exp(), x)[0].sum()
    graph, _ = read_graph([loss])
    hooks = {node.name: [(h.kind, h.name, h.remark) for h in node.hooks] for node in graph.nodes}
    kind = "saved-tensor hooks"
    assert hooks["ExpBackward0"] == [(kind, "unpack", "result")]
    assert hooks["DoubledBackward"] == [(kind, "unpack", "tensors")] * 2
    loss.backward()
    assert not any(node.hooks for node in read_graph([loss])[0].nodes)


def test_large_gradients_are_summed_up():
    start = torch.zeros(3, 5000, dtype=torch.bfloat16)
    start[0, :6] = torch.tensor([3.0, 4.0, 0.0, 1.0, 2.0, 0.0])
    for scale, norm in ((1.0, 5.4772), (1e25, 5.4772e25)):
        for grad in (start.double() * scale, start.float() * scale, start * scale):
            x = torch.zeros(3, 5000, dtype=grad.dtype, requires_grad=True)
            with record() as log:
                x.backward(grad)
            seen = log[-1].total
            assert seen.shape == (3, 5000)
            # bfloat16 keeps 8 bits of each entry
            assert seen.norm == pytest.approx(norm, rel=4e-3 if x.itemsize == 2 else 1e-4)
            assert seen.first == pytest.approx([3 * scale, 4 * scale, 0, scale], rel=4e-3)
            assert len(seen.first) == 4


def tensors_alive():
    gc.collect()
    return sum(type(each) is torch.Tensor for each in gc.get_objects())


def test_a_log_keeps_no_activations_alive():
    net = programs.residual()
    x, y = torch.randn(2, 3, 8, 8), torch.tensor([0, 2])
    net(x).sum().backward()
    assert all(parameter.grad is not None for parameter in net.parameters())
    before = tensors_alive()
    loss = F.cross_entropy(net(x), y)
    assert tensors_alive() > before + 10
    with record(net) as log:
        loss.backward()
    del loss
    assert tensors_alive() == before
    assert len(log)


def test_the_example_of_compare_shows_what_pytorch_does():
    text = inspect.getdoc(compare).replace("  # doctest: +SKIP", "")  # it needs PyTorch
    example = doctest.DocTestParser().get_doctest(text, {"compare": compare}, "compare", None, 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0
