"""The state of the random numbers: seeds, keeping it, returning to it, generators of one's own."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import minigrad


@pytest.fixture(params=["minigrad", "torch"])
def torch(request):
    package = pytest.importorskip(request.param)
    with package.random.fork_rng():
        yield package


def draws(torch, **options):
    """Draw numbers of each kind."""
    return [
        torch.rand(3, **options).tolist(),
        torch.randn(2, 2, **options).tolist(),
        torch.randint(9, (5,), **options).tolist(),
        torch.randperm(6, **options).tolist(),
        torch.rand_like(torch.zeros(2), **options).tolist(),
        torch.randn_like(torch.zeros(2), **options).tolist(),
    ]


# ------------------------------------------------------------------ seeds


def test_manual_seed_gives_the_default_generator(torch):
    assert torch.manual_seed(3) is torch.default_generator
    assert torch.random.default_generator is torch.default_generator
    assert torch.initial_seed() == torch.random.initial_seed() == 3


def test_a_seed_may_be_negative_or_no_integer(torch):
    torch.manual_seed(-1)
    assert torch.initial_seed() == 2**64 - 1
    first = draws(torch)
    torch.manual_seed(2**64 - 1)
    assert draws(torch) == first
    torch.manual_seed(2.9)
    assert torch.initial_seed() == 2
    torch.manual_seed(torch.tensor(7))
    assert torch.initial_seed() == 7


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_a_seed_out_of_range_is_refused(torch, seed):
    for refuse in (torch.manual_seed, torch.Generator().manual_seed):
        with pytest.raises(ValueError, match=r"Overflow|between"):
            refuse(seed)


def test_a_generator_wants_an_integer(torch):
    for seed in ("3", 1.5, True):
        with pytest.raises(RuntimeError, match=r"whole number|seed"):
            torch.Generator().manual_seed(seed)


def test_a_fresh_seed_is_another_each_time(torch):
    seeds = [torch.seed() for _ in range(4)]
    assert len({*seeds}) == 4
    assert torch.initial_seed() == seeds[-1]
    first = draws(torch)
    torch.manual_seed(seeds[-1])
    assert draws(torch) == first


def test_the_bits_of_a_seed_are_those_of_the_mersenne_twister():
    bits = np.random.RandomState(5).randint(0, 2**32, 4, np.uint64)
    expected = (bits % 2**24 / 2**24).tolist()
    assert minigrad.rand(4, generator=minigrad.Generator().manual_seed(5)).tolist() == expected


def test_without_a_seed_two_runs_differ():
    sources = [minigrad.Generator() for _ in range(2)]
    for each in sources:
        each._seed = None
    assert draws(minigrad, generator=sources[0]) != draws(minigrad, generator=sources[1])


# ------------------------------------------------------------------ state


def test_a_state_is_a_vector_of_bytes_that_brings_the_numbers_back(torch):
    torch.manual_seed(11)
    torch.randint(3, (3,))
    state = torch.get_rng_state()
    assert state.dtype is torch.uint8 and state.ndim == 1 and not state.requires_grad
    first = draws(torch)
    assert draws(torch) != first
    assert torch.set_rng_state(state) is None
    assert draws(torch) == first
    torch.set_rng_state(state)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_state_is_a_copy(torch):
    state = torch.get_rng_state()
    kept = state.clone()
    torch.rand(3)
    assert torch.equal(state, kept)
    torch.set_rng_state(state)
    state.zero_()
    assert torch.equal(torch.get_rng_state(), kept)


def test_a_state_knows_its_seed(torch):
    state = torch.Generator().manual_seed(5).get_state()
    torch.manual_seed(1)
    torch.set_rng_state(state)
    assert torch.initial_seed() == 5


def test_a_normal_number_in_store_belongs_to_the_state(torch):
    torch.manual_seed(2)
    torch.randn(1)  # they are made in pairs
    state = torch.get_rng_state()
    first = torch.randn(3).tolist()
    torch.set_rng_state(state)
    assert torch.randn(3).tolist() == first


def test_what_is_no_state_is_refused(torch):
    state = torch.get_rng_state()
    for refuse in (torch.set_rng_state, torch.Generator().set_state):
        for wrong in (3, state.to(torch.float32)):
            with pytest.raises(TypeError):
                refuse(wrong)
        for wrong in (state[:3], torch.zeros_like(state)):
            with pytest.raises(RuntimeError, match="state"):
                refuse(wrong)
    assert torch.equal(torch.get_rng_state(), state)


# ------------------------------------------------------------------ fork_rng


def test_a_fork_leaves_the_state_as_it_was(torch):
    torch.manual_seed(4)
    with torch.random.fork_rng():
        first = draws(torch)
        torch.manual_seed(5)
    assert draws(torch) == first
    assert torch.initial_seed() == 4


def test_a_fork_that_is_not_enabled_does_nothing(torch):
    torch.manual_seed(4)
    with torch.random.fork_rng(enabled=False):
        first = draws(torch)
    assert draws(torch) != first


def test_a_fork_ends_with_an_exception_too_and_decorates(torch):
    torch.manual_seed(4)
    with pytest.raises(KeyError), torch.random.fork_rng(devices=[]):
        first = draws(torch)
        raise KeyError

    @torch.random.fork_rng()
    def draw():
        return draws(torch)

    assert draw() == draw() == first == draws(torch)


# ------------------------------------------------------------------ generators


def test_a_generator_has_a_state_of_its_own(torch):
    before = torch.get_rng_state()
    mine, other = torch.Generator().manual_seed(3), torch.Generator().manual_seed(3)
    first = draws(torch, generator=mine)
    assert draws(torch, generator=mine) != first
    assert draws(torch, generator=other) == first
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(3)
    assert draws(torch) == first


def test_new_generators_are_alike(torch):
    made = [torch.Generator(), torch.Generator(device="cpu")]
    assert made[0].initial_seed() == made[1].initial_seed() == 67280421310721
    assert draws(torch, generator=made[0]) == draws(torch, generator=made[1])
    assert draws(torch, generator=None) != draws(torch, generator=None)


def test_a_generator_is_cloned_and_copied(torch):
    mine = torch.Generator().manual_seed(3)
    torch.rand(2, generator=mine)
    twins = [torch.Generator().set_state(mine.get_state()), pickle.loads(pickle.dumps(mine))]
    if torch is minigrad:
        twins.append(copy.deepcopy(mine))
    state = mine.get_state()
    expected = draws(torch, generator=mine)
    assert all(draws(torch, generator=twin) == expected for twin in twins)
    assert mine.set_state(state) is mine
    assert draws(torch, generator=mine) == expected
    assert mine.seed() == mine.initial_seed() != 3


def test_what_is_no_generator_is_refused():
    with pytest.raises(TypeError, match=r"expected a torch\.Generator, but got int"):
        minigrad.rand(2, generator=3)
    with pytest.raises(RuntimeError, match="only for 'cpu'"):
        minigrad.Generator("cuda")
