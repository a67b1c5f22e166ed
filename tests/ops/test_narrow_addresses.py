"""Positions are int64 where an address has 32 bits, too: NumPy counts in numbers of that width."""

import numpy as np
import pytest

import minigrad as torch


@pytest.fixture
def narrow(monkeypatch):
    """Let NumPy's functions give positions as they do in a browser."""
    for name in ("argsort", "argpartition", "argwhere", "nonzero", "unique"):
        usual = getattr(np, name)

        def found(*args, _usual=usual, **settings):
            given = _usual(*args, **settings)
            if not isinstance(given, tuple):
                return given.astype(np.int32)
            first = given[:1] if _usual is np.unique else ()
            return (*first, *(each.astype(np.int32) for each in given[len(first) :]))

        monkeypatch.setattr(np, name, found)


@pytest.mark.parametrize(
    "positions",
    [
        lambda x: x.sort().indices,
        lambda x: x.sort(descending=True).indices,
        lambda x: x.argsort(),
        lambda x: x.kthvalue(2).indices,
        lambda x: x.median(0).indices,
        lambda x: x.repeat(8).topk(2).indices,
        lambda x: x.nonzero(),
        lambda x: x.nonzero(as_tuple=True)[0],
        lambda x: torch.where(x > 1)[0],
        lambda x: torch.unique(x, return_inverse=True)[1],
        lambda x: torch.unique(x, return_counts=True)[1],
    ],
)
def test_positions_are_of_int64(narrow, positions):
    assert positions(torch.tensor([3.0, 1.0, 2.0])).dtype == torch.int64


class Narrow(np.ndarray):
    """Finds its largest entry as NumPy does there."""

    def argmax(self, *args, **settings):
        return np.asarray(self).argmax(*args, **settings).astype(np.int32)


def test_the_place_of_the_largest_is_of_int64():
    x = torch.tensor([[3.0, 1.0], [1.0, 2.0]])
    x._array = x._array.view(Narrow)
    assert x.argmax(1).dtype == x.max(1).indices.dtype == torch.int64
    assert torch.arange(3).dtype == torch.int64
