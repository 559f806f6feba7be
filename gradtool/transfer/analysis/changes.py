"""Changes since an earlier run, cell by cell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from gradtool.measure.bootstrap import ratio
from gradtool.results.transfer import SCHEMA_VERSION, Cell, Change, TransferReport
from gradtool.transfer.errors import TransferError

_Key = tuple[str, str]
"""Id and row of a cell, which are the same in both runs."""

WAKE = 200e-6
"""Seconds that waking a thread may take on a virtual machine whose processor sleeps.

Threads stand in for the engines of a device that is simulated. The same wake-up takes a tenth of
that on a machine that is busy, so that a run beside another program can be the faster one.
"""

_NAMED = 3
"""Cells that a notice names of those that were not compared."""


def parse_share(text: str) -> float:
    """``10%`` or ``0.1``.

    Raises:
        TransferError: it is neither.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    if match is None:
        raise TransferError(
            f"--max-regression must be a percentage or a fraction, such as 10% or 0.1, got {text!r}"
        )
    return float(match[1]) / (100 if match[2] else 1)


def load_report(path: str) -> TransferReport:
    """Read the JSON of an earlier run.

    Raises:
        TransferError: It cannot be read, or has another version.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TransferError(f"--compare: cannot read {path}: {error.strerror}") from None
    try:
        version = msgspec.json.decode(data, type=_Version)
        if version.schema != SCHEMA_VERSION:
            raise TransferError(
                f"--compare: {path} has schema {version.schema}, but this gradtool reads "
                f"{SCHEMA_VERSION}"
            )
        return msgspec.json.decode(data, type=TransferReport)
    except msgspec.DecodeError as error:
        raise TransferError(
            f"--compare: {path} is not a profile-transfer report: {error}"
        ) from None


class _Version(msgspec.Struct):
    kind: str
    schema: int


def require_comparable(old: TransferReport, *, simulated: bool) -> None:
    """Refuse to compare a device with a simulation.

    Raises:
        TransferError: one of the two is simulated.
    """
    if old.simulated != simulated:
        was, now = (
            "simulated" if each else "measured on a device" for each in (old.simulated, simulated)
        )
        raise TransferError(f"--compare: the earlier run was {was}, but this one is {now}")


def compared(report: TransferReport, old: TransferReport, limit: float) -> TransferReport:
    """The report with what changed since an earlier one.

    A cell has regressed when its median and its fastest quarter both are slower by more than
    `limit`, and the interval of the ratio lies above half of that. Other programs on the machine
    slow some samples of a run, and so its median; a slower copy slows them all. Where a device is
    simulated, the median must also be slower by more than the wake-ups of its threads can explain.
    Cells whose numbers cannot be trusted, in either run, are not compared.
    """
    before = {_key(cell): cell for cell in old.cells if cell.done}
    after = {_key(cell): cell for cell in report.cells if cell.done}
    both = [key for key in after if key in before]
    doubted = {key for key in both if before[key].doubt or after[key].doubt}
    changes = tuple(_change(before[key], after[key], limit) for key in both if key not in doubted)
    gone, new = _names(before.keys() - after.keys()), _names(after.keys() - before.keys())
    notices = list(report.notices)
    if old.header.device != report.header.device:
        notices.append(
            f"compared with a run on another device: {old.header.device}, not "
            f"{report.header.device}"
        )
    if not changes:
        notices.append("--compare: nothing was compared: no cell was measured well in both runs")
    notices += _not_compared(gone, "measured in the earlier run only")
    notices += _not_compared(new, "measured in this run only")
    notices += _not_compared(_names(doubted), "too few samples, or too noisy, in one of the runs")
    unmatched = tuple(sorted(gone + new))
    return replace(report, changes=changes, unmatched=unmatched, notices=tuple(notices))


def _not_compared(names: list[str], reason: str) -> Iterator[str]:
    """A notice about cells that are not compared, if there are any."""
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"not compared, {reason}: {', '.join(names[:_NAMED])}{more}"


def _key(cell: Cell) -> _Key:
    return cell.id, cell.row


def _names(keys: set[_Key]) -> list[str]:
    return sorted(" ".join(key).strip() for key in keys)


def _change(before: Cell, after: Cell, limit: float) -> Change:
    assert before.done is not None
    assert after.done is not None
    found = ratio(after.samples, before.samples)
    slower = after.done.median - before.done.median
    return Change(
        id=after.id, before=before.done.median, after=after.done.median, ratio=found,
        regressed=(
            found.value > 1 + limit
            and found.low > 1 + limit / 2
            and after.done.p25 > (1 + limit) * before.done.p25
            and slower > (WAKE * _waits(after) if after.simulated else 0.0)
        ),
    )  # fmt: skip


def _waits(cell: Cell) -> int:
    """Waits for the device in one operation of a cell."""
    return cell.tensors if cell.mode == "blocking" else 1
