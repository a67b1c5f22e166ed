"""What must hold of any program, whatever it computes: linearity, sums, order, hooks, oracles."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigrad as torch
from minigrad import nn, symbolic

from .effort import MORE, SETTINGS
from .programs import Program, Run, cotangents, gradients, programs, run, shuffled

few = settings(max_examples=10 * MORE, **SETTINGS)
SEEDS = st.integers(0, 99)


def assert_same(found: list[Any], expected: list[Any], rtol: float = 1e-9) -> None:
    """Compare gradients, with room for rounding of the largest one."""
    size = max([1.0, *(float(e.detach().abs().max()) for e in expected if e.numel())])
    for each, like in zip(found, expected, strict=True):
        np.testing.assert_allclose(each.detach().numpy(), like.detach().numpy(), rtol, rtol * size)


@few
@given(programs(), SEEDS)
def test_backward_is_linear_in_what_comes_in(program: Program, seed: int) -> None:
    """Twice one gradient and three of another give twice and three times what they give."""
    ran = run(program)
    one, other = cotangents(ran.ends, seed), cotangents(ran.ends, seed + 100)
    both = [2 * u - 3 * v for u, v in zip(one, other, strict=True)]
    apart = zip(gradients(ran, one), gradients(ran, other), strict=True)
    assert_same(gradients(ran, both), [2 * g - 3 * h for g, h in apart])


@few
@given(programs(), SEEDS)
def test_several_results_give_the_sum_of_their_gradients(program: Program, seed: int) -> None:
    """All at once, one by one, and piled up in `.grad`."""
    ran = run(program)
    given = cotangents(ran.ends, seed)
    at_once = gradients(ran, given)
    single = [
        gradients(Run([], ran.leaves, [end]), [g]) for end, g in zip(ran.ends, given, strict=True)
    ]
    assert_same(at_once, [sum(parts[1:], parts[0]) for parts in zip(*single, strict=True)])
    for end, gradient in zip(ran.ends, given, strict=True):
        end.backward(gradient, retain_graph=True)
    piled = [torch.zeros_like(x) if x.grad is None else x.grad for x in ran.leaves]
    assert_same(at_once, piled)


@few
@given(programs(), SEEDS)
def test_the_order_of_independent_operations_does_not_matter(program: Program, seed: int) -> None:
    """Any order in which each statement finds what it needs gives the same."""
    ran = run(program)
    other = run(shuffled(program, random.Random(seed)))
    by_name = dict(zip(ran.names, cotangents(ran.ends, seed), strict=True))
    given = [by_name[name] for name in other.names]
    assert_same(gradients(other, given), gradients(ran, [*by_name.values()]))


@few
@given(programs(6), SEEDS)
def test_rules_on_numbers_on_tensors_and_small_steps_agree(program: Program, seed: int) -> None:
    """Recorded, the pass gives the same; its own derivative is the slope along a direction."""
    ran = run(program)
    given = [u.requires_grad_() for u in cotangents(ran.ends, seed)]
    numbers, recorded = gradients(ran, given), gradients(ran, given, record=True)
    assert_same(recorded, numbers)
    draw = np.random.default_rng(seed)
    way = [torch.tensor(draw.uniform(-1, 1, x.shape)) for x in ran.leaves]
    product = sum(((g * w).sum() for g, w in zip(recorded, way, strict=True)), torch.tensor(0.0))
    slopes = (
        torch.autograd.grad(product, given, allow_unused=True, materialize_grads=True)
        if product.requires_grad
        else [torch.zeros_like(u) for u in given]
    )
    names = [text.partition(" = ")[0] for text in program.leaves]

    def by_steps(step: float) -> list[Any]:
        there, back = (
            run(program, shift={n: sign * step * w for n, w in zip(names, way, strict=True)}).ends
            for sign in (1, -1)
        )
        return [(a - b) / (2 * step) for a, b in zip(there, back, strict=True)]

    try:
        assert_same([*slopes], by_steps(1e-5), 1e-5)
    except AssertionError:  # a kink within the step
        assert_same([*slopes], by_steps(1e-7), 1e-5)


EVERYWHERE: dict[str, Callable[[Any], Any]] = {
    "tensor": lambda x: x.register_hook(lambda grad: None),
    "before a node": lambda x: x.grad_fn and x.grad_fn.register_prehook(lambda grads: None),
    "after a node": lambda x: x.grad_fn and x.grad_fn.register_hook(lambda inputs, outputs: None),
    "after accumulation": lambda x: (
        x.is_leaf and x.register_post_accumulate_grad_hook(lambda leaf: None)
    ),
    "retain": lambda x: x.retain_grad(),
    "several": lambda x: torch.autograd.graph.register_multi_grad_hook(
        [x, x * 2], lambda grads: None
    ),
}


@pytest.mark.parametrize("kind", EVERYWHERE)
@settings(few, max_examples=3 * MORE)
@given(programs(), SEEDS)
def test_a_hook_that_returns_none_changes_nothing(kind: str, program: Program, seed: int) -> None:
    """To the last bit."""

    def hooked(name: str, x: Any) -> Any:
        EVERYWHERE[kind](x)
        return x

    found = []
    for also in (None, hooked):
        ran = run(program, also)
        torch.autograd.backward(ran.ends, cotangents(ran.ends, seed))
        found.append([None if x.grad is None else x.grad.tolist() for x in ran.leaves])
    assert found[0] == found[1]


class Tripled(torch.autograd.Function):
    """Three times the gradient, without a hook."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 3


def within(x: Any, hook: Callable[[nn.Module], Any]) -> Any:
    """Send a tensor through a module that has a hook."""
    module = nn.Identity()
    hook(module)
    return module(x)


def thrice(gradients: Any) -> Any:
    return tuple(g if g is None else g * 3 for g in gradients)


def also(x: Any, register: Callable[[Any], Any]) -> Any:
    """Hook a copy of a tensor."""
    x = x.clone()
    register(x)
    return x


REPLACING: dict[str, Callable[[Any], Any]] = {
    "tensor": lambda x: also(x, lambda y: y.register_hook(lambda grad: grad * 3)),
    "before a node": lambda x: also(x, lambda y: y.grad_fn.register_prehook(thrice)),
    "after a node": lambda x: also(x, lambda y: y.grad_fn.register_hook(lambda i, o: thrice(i))),
    "full": lambda x: within(x, lambda m: m.register_full_backward_hook(lambda m, i, o: thrice(i))),
    "full pre": lambda x: within(
        x, lambda m: m.register_full_backward_pre_hook(lambda m, o: thrice(o))
    ),
    "forward": lambda x: within(
        x, lambda m: m.register_forward_hook(lambda m, i, o: Tripled.apply(o))
    ),
    "forward pre": lambda x: within(
        x, lambda m: m.register_forward_pre_hook(lambda m, i: Tripled.apply(i[0]))
    ),
}


@pytest.mark.parametrize("kind", REPLACING)
@settings(few, max_examples=3 * MORE)
@given(programs(), SEEDS)
def test_a_hooked_run_is_its_unhooked_twin(kind: str, program: Program, seed: int) -> None:
    """A hook that triples gradients does what a Function does that triples them."""

    def changed(change: Callable[[Any], Any]) -> Run:
        return run(program, lambda name, x: x if x.is_leaf else change(x))

    ran, twin = changed(REPLACING[kind]), changed(Tripled.apply)
    given = cotangents(ran.ends, seed)
    assert_same(gradients(ran, given), gradients(twin, given))


SMOOTH = {
    "tanh": lambda x, y: x.tanh(), "sin": lambda x, y: x.sin(),
    "exp": lambda x, y: (x * y).sin().exp(),
    "product": lambda x, y: x * y, "sum": lambda x, y: x + 2 * y, "square": lambda x, y: x**2,
}  # fmt: skip


@settings(few, max_examples=6 * MORE)
@given(st.lists(st.sampled_from(sorted(SMOOTH)), min_size=1, max_size=3), SEEDS)
def test_the_formula_gives_the_number(chain: list[str], seed: int) -> None:
    """The pass on SymPy's symbols, with the numbers put in, is the pass on numbers."""

    def through(x: Any, y: Any) -> Any:
        z = y
        for name in chain:
            z = SMOOTH[name](z, x)
        z.backward()
        return x.grad, y.grad

    numbers = [0.3 + seed / 100, 0.9 - seed / 200]
    x, y = (symbolic.symbols(name, requires_grad=True) for name in "xy")
    found = through(*(torch.tensor(n, dtype=torch.float64, requires_grad=True) for n in numbers))
    for formula, number in zip(through(x, y), found, strict=True):
        if number is not None:
            expression = symbolic.expression(formula)
            values = dict(zip("xy", numbers, strict=True))
            put = expression.subs(
                {symbol: values[symbol.name] for symbol in expression.free_symbols}
            )
            assert float(put) == pytest.approx(number.item(), rel=1e-9)
