"""What a report says of the run beside what was found: where it ran, which part, how lenient.

Every room takes these types from `gradtool.results.report`.
"""

from __future__ import annotations

from gradtool.results.evidence import Struct


class Environment(Struct, frozen=True, kw_only=True):
    """What the run ran on."""

    gradtool: str
    python: str
    numpy: str
    platform: str
    engine: str = "bundled"
    device: str = "cpu"


class Shard(Struct, frozen=True, kw_only=True):
    """Which part of a run a report is of."""

    number: int
    """From 1 to `count`."""
    count: int
    nodes: tuple[str, ...] = ()
    """Functions and modules of the whole run in its order, those of other shards included."""


class Relaxation(Struct, frozen=True, kw_only=True):
    """A tolerance that holds in place of the one that gradtool would choose."""

    atol: float | None = None
    rtol: float | None = None
    reason: str | None = None
    """Why it is needed."""
    expires: str | None = None
    """The last day on which it is meant to be there, as ``2027-01-31``."""
