"""`record` writes down what a backward pass does: nodes, hooks, what travels and what arrives."""

import gc
import threading
import weakref

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.autograd.recording import (
    GradientAccumulated,
    GradientCaptured,
    GradientSent,
    HookFired,
    NodeStarted,
    PassStarted,
    RuleApplied,
    named_tensors,
    record,
    shown,
)


def values(*tensors):
    return [each.tolist() for each in tensors]


def assert_near(found, due):
    # a handful of roundings in single precision
    np.testing.assert_allclose(found.numpy(), due.numpy(), rtol=1e-6)


def leaf(*numbers):
    return torch.tensor(numbers, requires_grad=True)


def diamond():
    x = leaf(3.0, -1.0)
    a, b = x * 2, x.exp()
    return x, a, b, (a * b).sum()


def test_all_that_happens_in_a_diamond():
    x, a, b, loss = diamond()
    with record({"x": x, "a": a, "b": b}) as log:
        loss.backward()
    assert [f"{event.node}: {type(event).__name__}" for event in log] == [
        "0 SumBackward0: PassStarted",
        "0 SumBackward0: NodeStarted",
        "0 SumBackward0: RuleApplied",
        "0 SumBackward0: GradientSent",
        "1 MulBackward0: NodeStarted",
        "1 MulBackward0: RuleApplied",
        "1 MulBackward0: GradientSent",
        "1 MulBackward0: GradientSent",
        "3 ExpBackward0 of b: NodeStarted",
        "3 ExpBackward0 of b: RuleApplied",
        "3 ExpBackward0 of b: GradientSent",
        "2 MulBackward0 of a: NodeStarted",
        "2 MulBackward0 of a: RuleApplied",
        "2 MulBackward0 of a: GradientSent",
        "4 AccumulateGrad of x: NodeStarted",
        "4 AccumulateGrad of x: GradientAccumulated",
    ]
    arrived = {str(event.node): event.gradients for event in log.of(NodeStarted)}
    assert values(*arrived["3 ExpBackward0 of b"]) == values(a.detach())
    total = log.of(GradientAccumulated)[0]
    sent = [e.gradient for e in log.of(GradientSent) if e.target == total.node]
    # two gradients travel to x, and what arrives there is their sum
    assert values(sent[0] + sent[1]) == values(total.gradient) == values(x.grad)


def test_the_log_is_a_table():
    x = leaf(3.0)

    def double(grad):
        return grad * 2

    y = x * 5
    y.register_hook(double)
    with record({"x": x, "y": y}) as log:
        y.backward()
    assert repr(log).splitlines() == [
        "node                   event                           values",
        "0 MulBackward0 of y    pass starts here                [1.0000]",
        "0 MulBackward0 of y    starts with                     [1.0000]",
        "0 MulBackward0 of y    tensor pre-hook double          saw [1.0000], returned [2.0000]",
        "0 MulBackward0 of y    rule                            [2.0000] -> ([10.0000], None)",
        "0 MulBackward0 of y    sends to 1 AccumulateGrad of x  [10.0000]",
        "1 AccumulateGrad of x  starts with                     [10.0000]",
        "1 AccumulateGrad of x  adds to .grad                   [10.0000], now [10.0000]",
    ]


def fired(log):
    return [(event.kind, event.name) for event in log.hooks]


def test_every_kind_of_hook_is_told_with_what_it_saw_and_returned():
    x = leaf(2.0)
    model = nn.Tanh()

    def full(module, grad_input, grad_output):
        return (grad_input[0] * 3,)

    def full_pre(module, grad_output):
        return (grad_output[0] * 5,)

    def on_tensor(grad):
        grad.mul_(7)

    def before(grad_outputs):
        return None

    def after(grad_inputs, grad_outputs):
        return (grad_inputs[0] * 11, None)

    def at_the_end(tensor):
        tensor.grad.add_(1)

    model.register_full_backward_hook(full)
    model.register_full_backward_pre_hook(full_pre)
    middle = x * 1
    middle.register_hook(on_tensor)
    middle.grad_fn.register_prehook(before)
    middle.grad_fn.register_hook(after)  # of x and of the number 1
    x.register_post_accumulate_grad_hook(at_the_end)
    y = model(middle)
    with record() as log:
        y.backward()
    assert fired(log) == [
        ("full backward pre", "full_pre"),
        ("full backward", "full"),
        ("tensor pre-hook", "on_tensor"),
        ("node pre-hook", "before"),
        ("node hook", "after"),
        ("post-accumulate", "at_the_end"),
    ]
    pre, whole, tensor, prehook, post, last = log.hooks
    (slope,) = torch.autograd.grad(x.tanh(), x)
    assert values(pre.seen[0][0], pre.returned[0]) == [[1.0], [5.0]]
    assert_near(whole.seen[0][0], 5 * slope)
    assert values(whole.seen[1][0]) == [[5.0]]
    assert_near(whole.returned[0], 15 * slope)
    # what the hook saw is a copy: it wrote into the gradient afterwards
    assert_near(tensor.seen[0], 15 * slope)
    assert tensor.in_place and tensor.returned is None
    assert prehook.returned is None and not prehook.in_place
    assert_near(prehook.seen[0][0], 15 * slope * 7)
    assert_near(post.seen[0][0], 15 * slope * 7)
    assert_near(post.returned[0], 15 * slope * 7 * 11)
    assert values(last.seen[0]) == [[2.0]]
    assert_near(x.grad, 15 * slope * 77 + 1)


@pytest.mark.filterwarnings("ignore:Using a non-full backward hook:FutureWarning")
def test_a_legacy_hook_is_told_by_its_own_name():
    model = nn.Sequential(nn.Linear(1, 1), nn.Tanh())

    def scale(module, grad_input, grad_output):
        return (grad_input[0] * 2,)

    model.register_backward_hook(scale)
    y = model(torch.ones(1, 1))
    with record() as log:
        y.sum().backward()
    assert fired(log) == [("legacy backward", "scale")]
    assert log.hooks[0].node.name == "TanhBackward0"


def test_hooks_that_add_and_remove_hooks():
    x = leaf(1.0)
    handles = []

    def first(grad):
        handles[0].remove()
        x.register_hook(third)

    def second(grad):
        return None

    def third(grad):
        return None

    def runs(log):
        return [name for _, name in fired(log)]

    x.register_hook(first)
    handles.append(x.register_hook(second))
    with record() as log:
        (x * 2).sum().backward()
    assert runs(log) == ["first", "second"]
    with record() as log:
        (x * 2).sum().backward()
    assert runs(log) == ["first", "third"]


def test_a_hook_that_raises_is_the_last_that_is_told():
    x = leaf(1.0)

    def angry(grad):
        raise ValueError("no more")

    x.register_hook(angry)
    with record() as log, pytest.raises(ValueError, match="no more"):
        (x * 2).backward()
    assert log.hooks[0].raised == "ValueError: no more" and log[-1] is log.hooks[0]
    with record() as after:
        (leaf(1.0) * 2).backward()
    assert len(after) == 6 and len(log) == 6


def test_a_wrong_return_value_is_refused_by_the_hooks_name():
    x = leaf(1.0)

    def grows(grad):
        return torch.cat([grad, grad])

    x.register_hook(grows)
    with record() as log, pytest.raises(RuntimeError, match="hook 'grows' has changed the size"):
        (x * 2).backward()
    assert log.hooks[0].returned.shape == (2,)


def test_captured_gradients_and_nodes_that_do_not_run():
    x, a, b, loss = diamond()
    with record({"x": x, "a": a, "b": b}) as log:
        at_b, at_a = torch.autograd.grad(loss, [b, a])
    told = [(str(event.node), event.position) for event in log.of(GradientCaptured)]
    assert told == [("3 ExpBackward0 of b", 0), ("2 MulBackward0 of a", 1)]
    assert values(*(e.gradient for e in log.of(GradientCaptured))) == values(at_b, at_a)
    ran = {event.node.name for event in log.of(RuleApplied)}
    assert ran == {"SumBackward0", "MulBackward0"}
    assert not log.of(GradientAccumulated)


def test_a_recorded_pass_under_create_graph():
    x = leaf(2.0)
    with record() as log:
        (first,) = torch.autograd.grad(x**3, x, create_graph=True)
    assert len(log.of(GradientCaptured)) == 1
    with record() as accumulated:
        (x**3).backward(inputs=x)
    assert accumulated.of(GradientAccumulated) and not accumulated.of(GradientCaptured)
    with record() as second:
        torch.autograd.grad(first, x)
    assert first.requires_grad
    assert not any(event.gradient.requires_grad for event in log.of(GradientSent))
    assert values(second.of(GradientCaptured)[0].gradient) == [[12.0]]


def test_passes_in_hooks_and_blocks_in_blocks():
    x, w = leaf(1.0), leaf(4.0)

    def starts_another(grad):
        with torch.enable_grad():
            (w * w).backward()

    y = x * 2
    y.register_hook(starts_another)
    with record() as outer:
        (leaf(1.0) * 3).backward()
        with record() as inner:
            y.backward()
    assert len(inner.of(PassStarted)) == 2 and len(outer.of(PassStarted)) == 3
    assert outer[-len(inner) :].of(RuleApplied)[0].node.number > 0  # each numbers by itself
    assert inner.of(RuleApplied)[0].node.number == 1
    for log in (inner, outer[-len(inner) :]):
        numbers = {event.node.number for event in log if not isinstance(event, GradientSent)}
        assert {event.target.number for event in log.of(GradientSent)} <= numbers
    assert [type(event) for event in outer[-len(inner) :]] == [type(event) for event in inner]


def test_a_log_tells_each_sum_as_it_was():
    x = leaf(1.0)
    with record() as log:
        (x * 2).backward()
        (x * 3).backward()
    assert values(*(event.total for event in log.of(GradientAccumulated))) == [[2.0], [5.0]]


def test_another_thread_is_not_logged():
    def elsewhere():
        (leaf(1.0) * 2).backward()

    with record() as log:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert len(log) == 0


def test_a_log_keeps_no_graph_alive():
    x = leaf(1.0)
    y = x * 2
    node = weakref.ref(y.grad_fn)
    with record({"y": y}) as log:
        y.backward()
        assert log[0].node.node is y.grad_fn and log.named()["y"] is y
        del y
    assert log.named() == {}
    gc.collect()
    assert node() is None and log[0].node.node is None
    assert str(log[0].node) == "0 MulBackward0 of y"


def test_in_anomaly_mode():
    x = leaf(-1.0)
    y = x.sqrt()
    with (
        record() as log,
        torch.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Error detected in SqrtBackward0"),
        pytest.raises(RuntimeError, match="returned nan values"),
    ):
        y.backward()
    assert np.isnan(log.of(RuleApplied)[0].grad_inputs[0].item())


def test_tables_show_the_shape_of_what_is_large_and_tiny_numbers():
    x = torch.ones(5, requires_grad=True)
    tiny = torch.tensor([1e-7, -0.0], requires_grad=True)
    with record() as log:
        x.sum().backward()
        (tiny * tiny).sum().backward()
    text = repr(log)
    assert "adds to .grad              shape (5,), now shape (5,)" in text
    assert "[2.0000e-07, 0.0000]" in text


def test_names_have_to_be_names():
    with pytest.raises(TypeError, match="names must be a dict"):
        record(3)
    with pytest.raises(TypeError, match=r"'x' names a numpy\.ndarray"):
        record({"x": np.ones(2)})
    model = nn.Linear(1, 1)
    with record([model, {"x": torch.ones(1)}]) as log:
        model(torch.ones(1, 1)).sum().backward()
    named = {str(event.node) for event in log.of(GradientAccumulated)}
    assert named == {"2 AccumulateGrad of bias", "4 AccumulateGrad of weight"}


def test_hooked_events_belong_to_the_node_where_the_hook_sits():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda grad: None)
    with record({"y": y}) as log:
        y.backward()
    (event,) = (event for event in log if isinstance(event, HookFired))
    assert event.node.called == {0: "y"} and event.output_nr == 0


@pytest.mark.parametrize(
    ("gradient", "text"),
    [
        (None, "None"),
        ("of a symbol", "of a symbol"),
        (torch.tensor([1, 2]), "[1, 2]"),
        (torch.tensor([-0.0, 1e-7]), "[0.0000, 1.0000e-07]"),
        (torch.tensor([1e5, 99999.0]), "[1.0000e+05, 99999.0000]"),
        (torch.zeros(4), "[0.0000, 0.0000, 0.0000, 0.0000]"),
        (torch.zeros(5), "shape (5,)"),
    ],
    ids=str,
)
def test_a_table_shows_a_gradient_on_one_line(gradient, text):
    assert shown(gradient) == text


def test_tensors_of_a_module_in_a_dictionary_have_both_names():
    names = [name for name, _ in named_tensors({"net": nn.Linear(1, 1), "x": leaf(1.0)})]
    assert names == ["net.weight", "net.bias", "x"]
