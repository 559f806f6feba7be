"""The time that is spent on explanations: a finding without one is better than none at all."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from gradtool.verify.thresholds.diagnosis import EXPLANATION_SECONDS

T = TypeVar("T")

_seconds: ContextVar[float] = ContextVar("_seconds", default=EXPLANATION_SECONDS)
"""The processor time that patience lasts."""

_end: ContextVar[float] = ContextVar("_end", default=math.inf)
"""The processor time of this thread at which patience ends."""


@contextmanager
def limited_patience() -> Iterator[None]:
    """Let all that `patiently` yields within the block take no longer than is worth waiting."""
    # Processor time, which other work on the machine does not shorten.
    token = _end.set(time.thread_time() + _seconds.get())
    try:
        yield
    finally:
        _end.reset(token)


@contextmanager
def part_of_patience(part: float) -> Iterator[None]:
    """Leave the other part of what is left to the searches after the block."""
    now = time.thread_time()
    token = _end.set(now + part * (_end.get() - now))
    try:
        yield
    finally:
        _end.reset(token)


@contextmanager
def without_patience() -> Iterator[None]:
    """Search for no explanation within the block, where nobody reads it."""
    token = _seconds.set(0.0)
    try:
        yield
    finally:
        _seconds.reset(token)


def patiently(tried: Iterable[T]) -> Iterator[T]:
    """Yield what is tried, computed one after the other, until patience ends."""
    for each in tried:
        yield each
        if time.thread_time() > _end.get():
            return
