"""Facts about a run that are not findings: environment, shard, tolerances.

Every room takes these types from `gradtool.results.report`.
"""

from __future__ import annotations

from gradtool.results.evidence import Struct


class Environment(Struct, frozen=True, kw_only=True):
    """The software and the device of the run."""

    gradtool: str
    python: str
    numpy: str
    platform: str
    engine: str = "bundled"
    device: str = "cpu"


class Shard(Struct, frozen=True, kw_only=True):
    """The part of a run that a report covers."""

    number: int
    """From 1 to `count`."""
    count: int
    nodes: tuple[str, ...] = ()
    """Functions and modules of the whole run in its order, those of other shards included."""


class Relaxation(Struct, frozen=True, kw_only=True):
    """A tolerance that replaces gradtool's default."""

    atol: float | None = None
    rtol: float | None = None
    reason: str | None = None
    """Why it is needed."""
    expires: str | None = None
    """The last day on which it is meant to apply, such as ``2027-01-31``."""
