"""Loading data: every example once, in the same order for the same seed, whatever the settings."""

from __future__ import annotations

import pytest

import minigrad
from minigrad.utils import data


@pytest.mark.parametrize("workers", [0, 1, 2, 12])
def test_an_iterable_dataset_is_gone_through_once(workers):
    class Numbers(data.IterableDataset):
        def __iter__(self):
            return iter(range(3, 7))

    loader = data.DataLoader(Numbers(), num_workers=workers)
    assert [batch.item() for batch in loader] == [3, 4, 5, 6]


def test_the_same_seed_gives_the_same_order():
    rows = data.TensorDataset(minigrad.arange(20))

    def order(**options):
        minigrad.manual_seed(3)
        loader = data.DataLoader(rows, batch_size=6, shuffle=True, **options)
        return [batch.tolist() for _ in range(2) for (batch,) in loader]

    first = order()
    assert first == order() and first[:4] != first[4:]
    assert sorted(number for batch in first[:4] for number in batch) == [*range(20)]
    assert order(num_workers=3) == order(num_workers=1)


def test_every_example_comes_once_an_epoch_whatever_the_settings():
    rows = data.TensorDataset(minigrad.arange(23))
    for workers in (0, 1, 3):
        for size in (1, 4, 23, 50):
            for persistent in {False, workers > 0}:
                loader = data.DataLoader(
                    rows, size, True, num_workers=workers, persistent_workers=persistent
                )
                for _ in range(2):
                    seen = [x for (batch,) in loader for x in batch.tolist()]
                    assert sorted(seen) == [*range(23)] and len(loader) == -(-23 // size)


def test_two_iterators_of_one_loader_do_not_disturb_each_other():
    loader = data.DataLoader(range(4))
    assert [(a.item(), b.item()) for a, b in zip(loader, loader, strict=True)] == [
        (n, n) for n in range(4)
    ]


def test_the_loader_is_generic_and_typed_datasets_are_fine():
    class Typed(data.Dataset[int]):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return 5

    loader: data.DataLoader[int] = data.DataLoader(Typed())
    assert next(iter(loader)).tolist() == [5]


def test_rows_that_are_recorded_take_the_detour():
    x = minigrad.randn(4, 2, requires_grad=True)
    ((batch,),) = data.DataLoader(data.TensorDataset(x), batch_size=4)
    assert type(batch.grad_fn).__name__ == "StackBackward0"
    batch.sum().backward()
    assert (x.grad == 1).all()
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        list(data.DataLoader(data.TensorDataset(x.detach()), sampler=[5]))
