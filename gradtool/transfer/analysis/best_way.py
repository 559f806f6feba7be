"""The best way to send the user's own batches, and what it saves."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.measure.bootstrap import ratio
from gradtool.measure.units import about, time_text
from gradtool.results.transfer import Advice, TransferReport
from gradtool.spelling import plural
from gradtool.transfer.plan.like import NAME

_PLAIN = "pageable.h2d.blocking"
"""A plain ``tensor.to(device)`` for each tensor, which everything is compared with."""

_STEPS = 10
"""Steps a second, for the saving in an hour."""

_WORTH = 0.05
"""Share of the time that a way must save to be worth a change."""

_UNTOLD = (
    "The best way to send these batches is unknown: plain copies were not measured well "
    "enough. Raise --budget, or stop other work on the machine."
)

_NEEDS = {
    "pinned": "if the loader provides pinned memory, as DataLoader(pin_memory=True) does",
    "engine-pinned": "if the loader provides pinned memory, as DataLoader(pin_memory=True) does",
    "torch-pinned": "if the loader provides pinned memory, as DataLoader(pin_memory=True) does",
    "registered": "if the loader reuses registered memory",
    "write-combined": "if the loader writes to write-combined memory",
}
"""Conditions of some ways."""


def best_way(report: TransferReport) -> Iterator[Advice]:
    """Advice on the rows of ``--like``, in comparison with a plain copy of each tensor."""
    rows = [cell for cell in report.cells if cell.row == NAME and not cell.doubt]
    plain = next((cell for cell in rows if cell.id.startswith(_PLAIN)), None)
    if plain is None or plain.done is None:
        if any(cell.row == NAME for cell in report.cells):
            yield Advice(text=_UNTOLD)
        return
    best = min(rows, key=lambda cell: cell.done.median if cell.done else float("inf"))
    assert best.done is not None
    shape = f"{plural(best.tensors, 'tensor')}, {about(best.total)}"
    if ratio(best.samples, plain.samples).high > 1 - _WORTH:
        text = (
            f"None of the ways to send these batches ({shape}) is {_WORTH:.0%} faster than a "
            "plain copy of each tensor."
        )
        yield Advice(text=text, rests_on=(plain.id,))
        return
    saved = plain.done.median - best.done.median
    needs = f", {_NEEDS[best.scenario]}" if best.scenario in _NEEDS else ""
    yield Advice(
        text=f"For these batches ({shape}), {best.scenario} {best.mode} is best{needs}: "
        f"{time_text(best.done.median)} a step rather than {time_text(plain.done.median)}. That "
        f"saves {time_text(saved)} a step, {saved * _STEPS * 3600:.0f} s an hour at {_STEPS} steps "
        "a second.",
        rests_on=(best.id, plain.id),
    )
