"""See datasets, orders and loaders: what they give, in which order, and what they refuse."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from importlib import import_module

import numpy as np

from .tools import Family, leaf

family = Family()

Point = namedtuple("Point", "x y")


def data_of(torch):
    """Give the room `utils.data`."""
    return import_module(f"{torch.__name__}.utils.data")


def rows(torch, count=7):
    """Make a dataset of numbered rows."""
    data = data_of(torch)
    return data.TensorDataset(torch.arange(2.0 * count).reshape(count, 2), torch.arange(count))


@family
def datasets(torch, log):
    """What the datasets give for a number."""
    data = data_of(torch)
    seven = rows(torch)
    log("tensors", seven[2], seven[-1], len(seven), seven[1:3], seven[[0, 2]])
    log.raises("sizes", lambda: data.TensorDataset(torch.ones(2), torch.ones(3)))
    log.raises("beyond", lambda: seven[7])
    part = data.Subset(seven, [4, 2, 0])
    log("subset", part[1], len(part), part[[0, 2]], part.__getitems__([2, 1]))
    both = part + data.Subset(seven, [6])
    log("sum", type(both).__name__, len(both), both[3], both[-1], both[0], both.cumulative_sizes)
    log.raises("before", lambda: both[-5])
    log.raises("beyond", lambda: both[4])
    log.raises("nothing", lambda: data.ConcatDataset([]))

    class Short(data.Dataset):
        def __len__(self):
            return 3

        def __getitems__(self, indices):
            return [1]

    log.raises("no getitem", lambda: Short()[0])
    log.raises("no len", lambda: len(data.Dataset()))


@family
def splits(torch, log):
    """random_split by lengths and by fractions, with a generator and without."""
    data = data_of(torch)

    def parts(lengths, seed=5):
        generator = torch.Generator().manual_seed(seed)
        return [list(part.indices) for part in data.random_split(range(10), lengths, generator)]

    for lengths in ([3, 7], [10], [0, 10], [0.3, 0.7], [0.33, 0.33, 0.34], [1.0]):
        log.raises(f"{lengths}", lambda given=lengths: parts(given))
    for lengths in ([3, 6], [0.5, 0.4], [1.5, -0.5], [-0.25, 1.25]):
        log.raises(f"{lengths}", lambda given=lengths: parts(given))
    torch.manual_seed(3)
    log("default", [part.indices for part in data.random_split(range(6), [2, 4])])
    one, other = data.random_split(rows(torch), [2, 5])
    log("type", type(one).__name__, len(one), len(other), one[0])


@family
def orders(torch, log):
    """What the samplers give."""
    data = data_of(torch)

    def generator(seed=4):
        return torch.Generator().manual_seed(seed)

    log("sequential", list(data.SequentialSampler(range(4))), len(data.SequentialSampler("abc")))
    for options in (
        {},
        {"num_samples": 3},
        {"num_samples": 17},
        {"replacement": True},
        {"replacement": True, "num_samples": 40},
    ):
        sampler = data.RandomSampler(range(6), generator=generator(), **options)
        log(f"random {options}", list(sampler), list(sampler), len(sampler), sampler.num_samples)
        torch.manual_seed(2)
        sampler = data.RandomSampler(range(6), **options)
        log("default", list(sampler), list(sampler))
    subset = data.SubsetRandomSampler([7, 8, 9, 5], generator())
    log("subset", list(subset), list(subset), len(subset))
    weighted = data.WeightedRandomSampler([0.5, 0.0, 2.0, 1.5], 8, generator=generator())
    log("weighted", list(weighted), len(weighted), weighted.weights)
    once = data.WeightedRandomSampler([0.5, 0.25, 2.0], 3, replacement=False, generator=generator())
    log("once", sorted(once), list(once))
    log(
        "batches",
        list(data.BatchSampler(range(7), 3, False)),
        len(data.BatchSampler("abc", 2, False)),
    )
    log(
        "dropped",
        list(data.BatchSampler(range(7), 3, True)),
        len(data.BatchSampler("abc", 2, True)),
    )
    log("even", list(data.BatchSampler(range(4), 2, True)), list(data.BatchSampler([], 2, False)))
    for label, attempt in (
        ("none", lambda: data.RandomSampler(range(3), num_samples=0)),
        ("half", lambda: data.RandomSampler(range(3), num_samples=1.5)),
        ("empty", lambda: data.RandomSampler([])),
        ("number", lambda: data.WeightedRandomSampler([1.0], 0)),
        ("True", lambda: data.WeightedRandomSampler([1.0], True)),
        ("batch", lambda: data.BatchSampler(range(3), 0, False)),
        ("batch", lambda: data.BatchSampler(range(3), 1.5, False)),
        ("batch", lambda: data.BatchSampler(range(3), True, False)),
        ("no iter", lambda: list(data.Sampler())),
    ):
        log.raises(label, attempt)


@family
def batches_of_anything(torch, log):
    """default_collate and default_convert."""
    data = data_of(torch)
    one = torch.tensor([1.0, 2.0])
    for label, batch in (
        ("tensors", [one, one * 2]),
        ("scalars", [torch.tensor(1), torch.tensor(2)]),
        ("a leaf", [leaf(torch, (2,), 1), leaf(torch, (2,), 2)]),
        ("arrays", [np.array([1, 2], np.int32), np.array([3, 4], np.int32)]),
        ("array scalars", [np.float32(0.5), np.float32(1.5)]),
        ("array bools", [np.bool_(True), np.bool_(False)]),
        ("arrays without dimensions", [np.array(1.5), np.array(2.5)]),
        ("floats", [0.5, 1.5]),
        ("integers", [1, 2]),
        ("booleans", [True, False]),
        ("mixed numbers", [1, 2.5]),
        ("strings", ["a", "b"]),
        ("bytes", [b"a", b"b"]),
        ("tuples", [(1, 2.0), (3, 4.0)]),
        ("lists", [[1, "a"], [2, "b"]]),
        ("dicts", [{"a": 1, "b": (one, 2)}, {"a": 3, "b": (one, 4)}]),
        ("ordered", [OrderedDict(b=1, a=2), OrderedDict(b=3, a=4)]),
        ("named", [Point(1, one), Point(2, one)]),
        ("nested", [([1, 2], {"x": 0.5}), ([3, 4], {"x": 1.5})]),
        ("empty tuples", [(), ()]),
        ("one", [3]),
    ):
        log(label, data.default_collate(batch))
    log("kind", type(data.default_collate([OrderedDict(a=1)])).__name__)
    for label, batch in (
        ("shapes", [torch.ones(2), torch.ones(3)]),
        ("lengths", [[1, 2], [3]]),
        ("None", [None, None]),
        ("objects", [object()]),
        ("sets", [{1}]),
        ("strings in arrays", [np.array(["a"])]),
        ("object arrays", [np.array([None])]),
        ("keys", [{"a": 1}, {"b": 1}]),
        ("nothing", []),
        ("complex", [1j]),
    ):
        log.raises(label, lambda b=batch: data.default_collate(b))
    for value in (
        one,
        np.array([1.5]),
        np.float64(1.5),
        3,
        "a",
        b"a",
        None,
        [np.array([1]), "a"],
        (np.array([1]), 2),
        {"a": np.array([1]), "b": [np.int64(2)]},
        Point(np.array([1]), 2),
        {1},
    ):
        log("convert", data.default_convert(value))
    log("texts", data.default_convert(np.array(["a"])).tolist())

    class Pair(tuple):
        __slots__ = ()

    log("own tuple", data.default_collate([Pair((1, 2)), Pair((3, 4))]))
