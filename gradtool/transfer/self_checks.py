"""Numbers that cannot be are not shown: the reason why is."""

from __future__ import annotations

from collections.abc import Sequence

from gradtool.measure.bootstrap import ratio
from gradtool.measure.units import rate_text, time_text
from gradtool.transfer.timing import Times

LINK_SLACK = 1.01
"""How far above the link's raw rate the median of a copy may lie, for the rounding of both."""

MOST_DRIFT = 1.5
"""How far apart the times of one copy may lie, taken from batches of two sizes."""

LEAST_DOUBLED = 3
"""Samples of double size that it takes to tell."""

NOT_VERIFIED = "not shown: the bytes that arrived are not the bytes that were sent"


def impossible_times(samples: Sequence[Times]) -> str:
    """Why these times cannot be; empty if they can."""
    for times in samples:
        if times.done <= 0:
            return "not shown: the clock did not move during a copy"
        if not times.possible:
            return (
                f"not shown: device time {time_text(times.device)} above completion time "
                f"{time_text(times.envelope)}"
            )
    return ""


def unstable(samples: Sequence[Times], doubled: Sequence[Times]) -> str:
    """Why the time of one copy cannot be told from these batches; empty if it can.

    The time to completion of twice as many copies is twice as long. If not, then what is
    divided by the number of copies is not what each of them takes.
    """
    if not samples or len(doubled) < LEAST_DOUBLED:
        return ""
    found = ratio([each.done for each in doubled], [each.done for each in samples])
    if found.low <= MOST_DRIFT and found.high >= 1 / MOST_DRIFT:
        return ""
    return (
        f"not shown: of {doubled[0].runs} copies each takes {found.value:.2g} times as long as of "
        f"{samples[0].runs}"
    )


def impossible_rate(gbps: float, link: float | None) -> str:
    """Why a rate over the link cannot be; empty if it can, or the link is unknown."""
    if link is None or gbps <= link * LINK_SLACK:
        return ""
    return f"not shown: {rate_text(gbps)} GB/s is above the link's raw {rate_text(link)} GB/s"
