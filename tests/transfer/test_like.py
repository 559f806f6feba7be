"""``--like``: batches as users' loaders make them, and the best way to send them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.results.transfer import TransferReport
from gradtool.transfer.errors import TransferError
from gradtool.transfer.plan.like import rows_like
from gradtool.transfer.plan.options import TransferOptions
from gradtool.transfer.runner import profile
from tests.transfer.fake_machine import RATES, FakeMachine

LOADER = """
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
import torch

@dataclass
class Extra:
    mask: object
    name: str = "x"

class Pair(NamedTuple):
    first: object
    second: object

def batches():
    yield {"small": np.zeros(3, np.float32)}
    yield {
        "images": torch.zeros(4, 8), "labels": [np.zeros(4, np.int64), None, "text"],
        "extra": Extra(np.zeros((2, 3), np.float16)), "pair": Pair(np.zeros(5, np.uint8), 7),
        "empty": np.zeros(0),
    }

ready = [np.zeros(16, np.uint8)]

class Loader:
    def __iter__(self):
        return iter(ready)

loader = Loader()

def broken():
    yield np.zeros(1)
    raise ValueError("no such file")

words = ["a", "b"]
"""

SIZES = (4 * 8 * 4, 32, 12, 5)


@pytest.fixture
def loader(tmp_path: Path) -> Path:
    path = tmp_path / "loader.py"
    path.write_text(LOADER)
    return path


def test_a_batch_is_flattened_to_its_tensors(loader: Path) -> None:
    rows = rows_like(f"{loader}::batches")
    assert {row.parts for row in rows} == {SIZES}
    assert {row.tensors for row in rows} == {4}
    ways = {(row.scenario, row.mode) for row in rows}
    assert {("pageable", "blocking"), ("pinned", "non_blocking"), ("packed", "blocking")} <= ways
    assert not {"staged", "engine-pin", "device"} & {scenario for scenario, _ in ways}


@pytest.mark.parametrize("name", ["ready", "loader"])
def test_any_iterable_will_do(loader: Path, name: str) -> None:
    rows = rows_like(f"{loader}::{name}")
    assert {row.parts for row in rows} == {(16,)}
    assert "packed" not in {row.scenario for row in rows}  # There is nothing to pack.


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("loader.py", "--like needs FILE.py::NAME"),
        ("loader.py::", "--like needs FILE.py::NAME"),
        ("none.py::batches", "none.py: cannot be read"),
        ("loader.py::nothing", "has no attribute 'nothing'"),
        ("loader.py::broken", "no such file"),
        ("loader.py::words", "its batches contain no arrays or tensors"),
    ],
)
def test_what_cannot_be_sent_is_one_line(
    loader: Path, monkeypatch: pytest.MonkeyPatch, target: str, message: str
) -> None:
    monkeypatch.chdir(loader.parent)
    with pytest.raises(TransferError) as error:
        rows_like(target)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def sent(loader: Path, machine: FakeMachine) -> TransferReport:
    # The others copy in real time.
    raw = {"pageable", "pinned", "packed", "registered"}
    rows = tuple(row for row in rows_like(f"{loader}::batches") if row.scenario in raw)
    options = TransferOptions(rows=rows, sizes=(), collections=(), probes=(), budget=60.0)
    return profile(options, machine=machine)


def test_the_best_way_is_named_with_what_it_saves(loader: Path) -> None:
    report = sent(loader, FakeMachine())
    rows = [cell for cell in report.cells if cell.done]
    assert all(cell.verified and cell.total == sum(SIZES) for cell in rows)
    advice = report.advice[0]
    assert advice.text.startswith("For these batches (4 tensors, 177 B), ")
    assert " a step rather than " in advice.text
    assert " s an hour at 10 steps a second." in advice.text
    best, plain = (cell.done for cell in rows if cell.id in advice.rests_on and cell.done)
    assert best != plain


def test_no_way_that_is_faster_is_said(loader: Path) -> None:
    report = sent(loader, FakeMachine(rates=dict.fromkeys(RATES, 1e3)))
    assert report.advice[0].text.startswith(
        "None of the ways to send these batches (4 tensors, 177 B) is"
    )
