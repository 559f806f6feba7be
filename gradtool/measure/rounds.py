"""Sampling several things in turn, so that drift falls on all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from gradtool.measure.clock import CLOCK, Clock


class Sampled(Protocol):
    """Something that is measured one sample at a time."""

    def take(self) -> None:
        """Take a sample."""

    def done(self) -> bool:
        """Whether it has samples enough, or can have no more."""


def sample_in_turn(
    subjects: Sequence[Sampled],
    *,
    seconds: float,
    clock: Clock = CLOCK,
    progress: Callable[[int], None] = lambda _open: None,
) -> bool:
    """Go round, one sample each, until all are done or the time is up.

    Args:
        subjects: What to sample.
        seconds: How long this may take; a sample that has begun is finished.
        clock: What the time is read from.
        progress: Told after every sample how many subjects are not done.

    Returns:
        Whether all are done.
    """
    end = clock() + seconds * 1e9
    waiting = [subject for subject in subjects if not subject.done()]
    while waiting:
        for subject in waiting:
            if clock() >= end:
                return False
            subject.take()
            progress(len(waiting))
        waiting = [subject for subject in waiting if not subject.done()]
    return True
