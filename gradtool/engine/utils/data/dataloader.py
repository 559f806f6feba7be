"""DataLoader: the batches of a dataset.

They are made in this process, however many workers are asked for: they are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from gradtool.engine._ops.creation.generators import Generator
from gradtool.engine.utils.data._collate import default_collate, default_convert
from gradtool.engine.utils.data.dataset import IterableDataset
from gradtool.engine.utils.data.sampler import (
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    random_seed,
)

_T_co = TypeVar("_T_co", covariant=True)


class _Endless:
    """Stands for the numbers of examples that have none."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[_T_co]):
    """Iterates over batches of `batch_size` examples, put together by `collate_fn`.

    Raises:
        ValueError: options contradict each other.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check(num_workers, timeout, shuffle, sampler, batch_sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        self.worker_init_fn, self.generator = worker_init_fn, generator
        self._has_numbers = not isinstance(dataset, IterableDataset)
        if batch_sampler is not None:
            self.batch_size = batch_size = None
        self.sampler: Any = sampler if sampler is not None else self._default_sampler(shuffle)
        self.batch_sampler: Any = batch_sampler
        if batch_sampler is None and batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        batches = self.batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batches else default_convert)

    def _default_sampler(self, shuffle: bool | None) -> Any:
        if not self._has_numbers:
            if shuffle:
                raise ValueError(
                    "DataLoader with IterableDataset: expected unspecified shuffle option, but "
                    f"got shuffle={shuffle}"
                )
            return _Endless()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __iter__(self) -> Iterator[Any]:
        random_seed(self.generator)  # torch draws one for its workers here
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if not self._has_numbers:
            yield from self._batches_in_turn()
            return
        if self.batch_sampler is None:
            for number in self.sampler:
                yield self.collate_fn(self.dataset[number])
            return
        for numbers in self.batch_sampler:
            yield self.collate_fn(self._examples(numbers))

    def _examples(self, numbers: Any) -> Any:
        together = getattr(self.dataset, "__getitems__", None)
        return together(numbers) if together else [self.dataset[each] for each in numbers]

    def _batches_in_turn(self) -> Iterator[Any]:
        examples = iter(self.dataset)
        if self.batch_sampler is None:
            yield from map(self.collate_fn, examples)
            return
        batch: list[Any] = []
        for each in examples:
            batch.append(each)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if self._has_numbers:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        count, size = len(self.dataset), self.batch_size
        if size is None:
            return count
        return count // size if self.drop_last else -(-count // size)


def _check(
    workers: int, timeout: float, shuffle: Any, sampler: Any, batch_sampler: Any,
    batch_size: int | None, drop_last: bool,
) -> None:  # fmt: skip
    if workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (batch_size != 1 or shuffle or sampler or drop_last):
        raise ValueError(
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
            "drop_last"
        )
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
        )


def get_worker_info() -> None:
    """Never a worker."""


__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]
