"""Datasets, samplers and DataLoader give PyTorch's batches in PyTorch's order."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

Loads = Callable[[Any], Any]


def rows(torch: Any, count: int = 10) -> Any:
    x = torch.arange(2.0 * count).reshape(count, 2)
    return torch.utils.data.TensorDataset(x, torch.arange(count))


class Dicts:
    """A dataset need not derive from anything."""

    Point = namedtuple("Point", "x y")

    def __len__(self) -> int:
        return 5

    def __getitem__(self, index: int) -> Any:
        return {
            "float": index / 2, "int": index, "text": str(index), "pair": (index, 1.0),
            "array": np.full(2, index, np.float32), "point": self.Point(index, float(index)),
            "flag": index > 2,
        }  # fmt: skip


def stream(torch: Any) -> Any:
    class Stream(torch.utils.data.IterableDataset):  # type: ignore[misc] # of either engine
        def __iter__(self) -> Iterator[int]:
            return iter(range(7))

    return Stream()


LOADS: list[Loads] = [
    lambda t: t.utils.data.DataLoader(rows(t), batch_size=4),
    lambda t: t.utils.data.DataLoader(rows(t), batch_size=4, shuffle=True),
    lambda t: t.utils.data.DataLoader(rows(t), batch_size=4, drop_last=True),
    lambda t: t.utils.data.DataLoader(
        rows(t), 3, shuffle=True, generator=t.Generator().manual_seed(7)
    ),
    lambda t: t.utils.data.DataLoader(rows(t), batch_size=None),
    lambda t: t.utils.data.DataLoader(Dicts(), batch_size=2),
    lambda t: t.utils.data.DataLoader(Dicts(), 2, collate_fn=lambda batch: batch[0]["int"]),
    lambda t: t.utils.data.DataLoader(stream(t), batch_size=3),
    lambda t: t.utils.data.DataLoader(stream(t), batch_size=3, drop_last=True),
    lambda t: t.utils.data.DataLoader(t.utils.data.ConcatDataset([rows(t, 3), rows(t, 2)]), 2),
    lambda t: t.utils.data.DataLoader(rows(t) + rows(t, 3), 4, shuffle=True),
    lambda t: t.utils.data.DataLoader(t.utils.data.Subset(rows(t), [3, 1, 8]), 2),
    lambda t: t.utils.data.DataLoader(
        rows(t), 5, sampler=t.utils.data.WeightedRandomSampler([1.0, 0.0, 3.0, 0.5], 12)
    ),
    lambda t: t.utils.data.DataLoader(
        rows(t), batch_sampler=t.utils.data.BatchSampler(
            t.utils.data.SubsetRandomSampler([1, 5, 6, 2]), 3, drop_last=False
        )
    ),
    lambda t: t.utils.data.RandomSampler(range(5), replacement=True, num_samples=40),
    lambda t: t.utils.data.RandomSampler(range(5), num_samples=12),
    lambda t: [list(part) for part in t.utils.data.random_split(rows(t), [6, 4])],
    lambda t: [p.indices for p in t.utils.data.random_split(range(10), [0.35, 0.35, 0.3])],
    lambda t: t.utils.data.StackDataset(a=[1, 2], b=[3, 4])[1].items(),
]  # fmt: skip


@pytest.mark.torch
@pytest.mark.parametrize("load", LOADS)
def test_batches_are_pytorchs(load: Loads) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")
    assert twice(engine, load) == twice(torch, load)


def twice(torch: Any, load: Loads) -> list[str]:
    """Two rounds, what is drawn after them, and the lengths."""
    torch.manual_seed(1)
    loader = load(torch)
    length = [str(len(loader))] if hasattr(loader, "__len__") and not is_stream(loader) else []
    return [*(str(each) for _ in range(2) for each in loader), str(torch.rand(1)), *length]


def is_stream(loader: Any) -> bool:
    return type(getattr(loader, "dataset", None)).__name__ == "Stream"


REFUSED: list[tuple[Loads, type[Exception], str]] = [
    (
        lambda t: t.utils.data.TensorDataset(t.zeros(2), t.zeros(3)),
        AssertionError,
        "Size mismatch between tensors",
    ),
    (lambda t: t.utils.data.DataLoader(rows(t), 0), ValueError, "positive integer"),
    (
        lambda t: t.utils.data.DataLoader(rows(t), shuffle=True, sampler=[1]),
        ValueError,
        "mutually exclusive with shuffle",
    ),
    (
        lambda t: t.utils.data.DataLoader(rows(t), 2, batch_sampler=[[1]]),
        ValueError,
        "batch_sampler option is mutually exclusive",
    ),
    (lambda t: t.utils.data.random_split(rows(t), [1, 2]), ValueError, "Sum of input lengths"),
    (
        lambda t: next(iter(t.utils.data.DataLoader([[1], [1, 2]], 2))),
        RuntimeError,
        "each element in list of batch should be of equal size",
    ),
    (
        lambda t: next(iter(t.utils.data.DataLoader([object()]))),
        TypeError,
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists",
    ),
    (lambda t: t.utils.data.Dataset()[0], NotImplementedError, "should implement __getitem__"),
]


@pytest.mark.parametrize(("misuse", "error", "message"), REFUSED)
def test_misuse_is_refused(torch: Any, misuse: Loads, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        misuse(torch)
