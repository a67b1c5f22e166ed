"""Threads: each has its own modes, and several may run backward at once."""

from __future__ import annotations

import sys
import threading

import pytest


@pytest.fixture
def together():
    """Run a function in several threads at once; give its results, or raise its first error."""

    def run(function, arguments):
        arguments = list(arguments)
        barrier = threading.Barrier(len(arguments))
        results, errors = {}, []

        def work(place, argument):
            try:
                barrier.wait(30)
                results[place] = function(argument)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(arguments)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        if errors:
            raise errors[0]
        return [results[place] for place in range(len(arguments))]

    return run


# ------------------------------------------------------------------ modes


def test_each_thread_has_its_own_mode(torch):
    inside, done = threading.Event(), threading.Event()
    seen = {}

    def other():
        seen["start"] = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        with torch.no_grad():
            seen["off"] = torch.is_grad_enabled()
            inside.set()
            done.wait(30)

    with torch.inference_mode():
        thread = threading.Thread(target=other)
        thread.start()
        assert inside.wait(30)
    here = torch.is_grad_enabled()
    done.set()
    thread.join()
    assert seen == {"start": (True, False), "off": False}
    assert here is True


def test_one_decorated_function_in_several_threads(torch, together, draw):
    @torch.no_grad()
    def off(x, depth):
        return [(x * 2).requires_grad, *on(x, depth)]

    @torch.enable_grad()
    def on(x, depth):
        return [(x * 2).requires_grad, *(off(x, depth - 1) if depth else [])]

    x = draw(2, requires_grad=True)
    found = together(lambda depth: (off(x, depth), torch.is_grad_enabled()), range(1, 7))
    assert found == [([False, True] * (depth + 1), True) for depth in range(1, 7)]


def test_a_generator_that_moves_between_threads(torch, together):
    @torch.no_grad()
    def steps():
        for _ in range(4):
            yield torch.is_grad_enabled()

    walk = steps()
    for _ in range(2):
        assert next(walk) is False
        assert together(lambda _: (next(walk), torch.is_grad_enabled()), [0]) == [(False, True)]
    assert torch.is_grad_enabled()


def test_inference_tensors_belong_to_the_thread_that_makes_them(torch, together):
    with torch.inference_mode():
        (other,) = together(lambda _: torch.ones(2), [0])
        mine = torch.ones(2)
    assert mine.is_inference() and not other.is_inference()


# ------------------------------------------------------------------ backward


def test_separate_graphs(torch, draw, together):
    leaves = [draw(3, requires_grad=True) for _ in range(6)]
    cotangents = [draw(3) for _ in leaves]

    def work(place):
        leaf = leaves[place]
        for _ in range(20):
            leaf.grad = None
            (leaf.sin() * leaf).backward(cotangents[place])

    together(work, range(6))
    for leaf, cotangent in zip(leaves, cotangents, strict=True):
        x = leaf.detach()
        assert torch.allclose(leaf.grad, cotangent * (x.cos() * x + x.sin()))


def test_gradients_of_a_shared_leaf(torch, draw, together):
    x, cotangents = draw(3, requires_grad=True), draw(6, 3)

    def work(cotangent):
        (grad,) = torch.autograd.grad((x + 3) * (x + 4), x, cotangent)
        return grad

    found = together(work, cotangents)
    for grad, cotangent in zip(found, cotangents, strict=True):
        assert torch.allclose(grad, cotangent * (2 * x.detach() + 7))
    assert x.grad is None


def test_a_shared_leaf_gets_the_sum(torch, draw, together):
    x, cotangents = draw(3, requires_grad=True), draw(6, 3)
    turns = threading.Lock()
    seen = []
    x.register_hook(seen.append)

    def work(cotangent):
        y = (x + 3) * (x + 4)
        with turns:
            y.backward(cotangent)

    together(work, cotangents)
    assert torch.allclose(x.grad, cotangents.sum(0) * (2 * x.detach() + 7))
    assert len(seen) == 6
    assert torch.allclose(sum(seen), x.grad)


def test_a_shared_middle_with_retain_graph(torch, draw, together):
    x, cotangents = draw(3, requires_grad=True), draw(5, 3)
    middle = x + x**2

    def work(cotangent):
        y = middle + middle**2
        return torch.autograd.grad(y, x, cotangent, retain_graph=True)[0]

    found = together(work, cotangents)
    v = x.detach()
    slope = (1 + 2 * (v + v**2)) * (1 + 2 * v)
    for grad, cotangent in zip(found, cotangents, strict=True):
        assert torch.allclose(grad, cotangent * slope)


def test_a_shared_middle_that_is_released(torch, draw, together):
    x = draw(3, requires_grad=True)
    middle = x + x**2

    def work(_):
        try:
            (middle + middle**2).sum().backward()
        except RuntimeError as error:
            assert "Specify retain_graph=True" in str(error)
            return False
        return True

    assert any(together(work, range(5)))
    with pytest.raises(RuntimeError, match="Specify retain_graph=True"):
        (middle + middle**2).sum().backward()


def test_an_error_in_one_thread_leaves_the_others_alone(torch, draw, define, together):
    def backward(ctx, grad):
        if ctx.fails:
            raise LookupError("planted")
        return grad * 2, None

    def forward(ctx, x, fails):
        ctx.fails = fails
        return x * 2

    double = define(forward, backward).apply
    cotangent = draw(3)

    def work(place):
        x = draw_here[place].requires_grad_()
        try:
            double(x, place % 2 == 0).backward(cotangent)
        except LookupError as error:
            return str(error), torch.is_grad_enabled()
        return x.grad

    draw_here = [draw(3) for _ in range(4)]
    found = together(work, range(4))
    assert found[0] == found[2] == ("planted", True)
    assert torch.equal(found[1], cotangent * 2) and torch.equal(found[3], cotangent * 2)


def test_a_backward_inside_a_hook_in_several_threads(torch, draw, together):
    inner = [draw(3, requires_grad=True) for _ in range(4)]
    starts = [draw(3, requires_grad=True) for _ in range(4)]
    cotangents = draw(4, 3)

    def work(place):
        def hook(grad):
            with torch.enable_grad():
                (inner[place] * grad).sum().backward()

        y = starts[place] * 2
        y.register_hook(hook)
        y.backward(cotangents[place])

    together(work, range(4))
    for leaf, start, cotangent in zip(inner, starts, cotangents, strict=True):
        assert torch.equal(leaf.grad, cotangent)
        assert torch.equal(start.grad, cotangent * 2)


@pytest.fixture
def switching_often():
    """Let Python switch between threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("size", [1, 3, 2000])
def test_no_gradient_of_a_shared_leaf_is_lost(torch, together, switching_often, size):
    for _ in range(30):
        x = torch.ones(size, requires_grad=True)
        cotangents = torch.arange(8 * size).reshape(8, size).float()

        def work(cotangent, x=x):
            for _ in range(10):
                (x * 2).backward(cotangent)

        together(work, cotangents)
        assert torch.equal(x.grad, cotangents.sum(0) * 20)


def test_one_context_within_itself():
    import minigrad as torch  # PyTorch stays in inference mode after this

    mode = torch.inference_mode()
    with mode:
        with mode:
            assert torch.is_inference_mode_enabled()
        assert torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
