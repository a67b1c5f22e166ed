"""Go once through a dataset, batch by batch: in the open, or by way of workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from minigrad.nn.warning import warn
from minigrad.utils.data.collate import default_collate
from minigrad.utils.data.dataset import IterableDataset, TensorDataset
from minigrad.utils.data.sampler import draw_seed
from minigrad.utils.data.worker import Worker

if TYPE_CHECKING:
    from minigrad.utils.data.dataloader import DataLoader


class Fetcher:
    """Asks a dataset for the examples of a batch, and makes the batch.

    Args:
        loader: Whose settings are followed.
        dataset: The dataset, or a worker's copy of it.
    """

    def __init__(self, loader: DataLoader[Any], dataset: Any) -> None:
        self._dataset = dataset
        self._in_batches = loader._auto_collation
        self._collate = loader.collate_fn
        self._drop_last = loader.drop_last
        iterable = isinstance(dataset, IterableDataset)
        self._examples: Iterator[Any] | None = iter(dataset) if iterable else None
        self._ended = False
        # rows of tensors that become tensors of rows: these can be had without the detour
        is_plain = type(dataset) is TensorDataset and loader.collate_fn is default_collate
        self._rows = dataset._batch if is_plain and self._in_batches else None

    def fetch(self, index: Any) -> Any:
        """Give the batch, or the single example, of an index.

        Raises:
            StopIteration: If an iterable dataset has no more.
        """
        if self._examples is not None:
            return self._collate(self._next_examples(index))
        if not self._in_batches:
            return self._collate(self._dataset[index])
        if self._rows is not None:
            batch = self._rows(index)
            if batch is not None:
                return batch
        if getattr(self._dataset, "__getitems__", None):
            return self._collate(self._dataset.__getitems__(index))
        return self._collate([self._dataset[number] for number in index])

    def _next_examples(self, index: Any) -> Any:
        """Take from an iterable dataset as many examples as a batch has."""
        if self._ended:
            raise StopIteration
        examples: Any = self._examples
        if not self._in_batches:
            return next(examples)
        batch = []
        for _ in index:
            try:
                batch.append(next(examples))
            except StopIteration:
                self._ended = True
                break
        if not batch or (self._drop_last and len(batch) < len(index)):
            raise StopIteration
        return batch


class _BaseDataLoaderIter:
    """What both kinds of iterator share."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        if loader.pin_memory and loader.pin_memory_device:
            warn(
                "pin_memory_device is deprecated, the current accelerator will be used as the "
                f"device,ignore pin_memory_device='{loader.pin_memory_device}'.",
                UserWarning,
            )
        if loader.pin_memory:
            warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device "
                "pinned memory won't be used.",
                UserWarning,
            )
        self._sampler_iter = iter(loader._index_sampler)
        self._base_seed = draw_seed(loader.generator)
        self._num_yielded = 0

    def __iter__(self) -> Any:
        return self

    def _next_data(self) -> Any:
        raise NotImplementedError

    def __next__(self) -> Any:
        data = self._next_data()
        self._num_yielded += 1
        told = self._loader._IterableDataset_len_called
        if told is not None and self._num_yielded > told:
            text = (
                f"Length of IterableDataset {self._loader.dataset} was reported to be {told}"
                f"(when accessing len(dataloader)), but {self._num_yielded} samples have been "
                "fetched. "
            )
            if self._loader.num_workers > 0:
                text += (
                    "For multiprocessing data-loading, this could be caused by not properly "
                    "configuring the IterableDataset replica at each worker. Please see "
                    "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset "
                    "for examples."
                )
            warn(text, UserWarning)
        return data

    def __len__(self) -> int:
        return len(self._loader._index_sampler)

    def __getstate__(self) -> Any:
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class SingleIterator(_BaseDataLoaderIter):
    """Goes through the dataset without workers.

    Raises:
        AssertionError: If a timeout was asked for, which only workers can keep.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._fetcher = Fetcher(loader, loader.dataset)

    def _next_data(self) -> Any:
        return self._fetcher.fetch(next(self._sampler_iter))


class WorkersIterator(_BaseDataLoaderIter):
    """Goes through the dataset by way of workers, which take turns batch by batch."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        count = loader.num_workers
        self._workers = [
            Worker(number, count, self._base_seed, loader.dataset, loader.worker_init_fn)
            for number in range(count)
        ]
        self._begin()

    def _reset(self) -> None:
        """Begin a new pass with the same workers."""
        self._sampler_iter = iter(self._loader._index_sampler)
        self._num_yielded = 0
        self._begin()

    def _begin(self) -> None:
        self._fetchers: list[Fetcher | None] = [None] * len(self._workers)
        for worker in self._workers:
            worker.active = True
        self._tasks: deque[tuple[int, Any]] = deque()
        self._turn = 0
        # indices are drawn as far ahead as PyTorch draws them: their random numbers are the same
        for _ in range((self._loader.prefetch_factor or 0) * len(self._workers)):
            self._put_task()

    def _put_task(self) -> None:
        """Give the next index to the next worker that still works."""
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        for _ in self._workers:
            number = self._turn % len(self._workers)
            self._turn += 1
            if self._workers[number].active:
                self._tasks.append((number, index))
                return

    def _next_data(self) -> Any:
        while self._tasks:
            number, index = self._tasks.popleft()
            worker = self._workers[number]
            if not worker.active:
                continue
            try:
                with worker.at_work() as info:
                    fetcher = self._fetchers[number]
                    if fetcher is None:
                        fetcher = self._fetchers[number] = Fetcher(self._loader, info.dataset)
                    data = fetcher.fetch(index)
            except StopIteration:
                if not isinstance(self._loader.dataset, IterableDataset):
                    raise
                worker.active = False
                self._put_task()
                continue
            self._put_task()
            return data
        raise StopIteration
