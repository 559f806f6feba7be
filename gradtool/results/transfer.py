"""The result model of ``gradtool profile-transfer``: everything a run measured, as plain data.

Times are seconds, sizes bytes, rates GB/s of 10^9 bytes. The
JSON form is published as a schema, which ``gradtool schema transfer`` prints.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from gradtool.measure.summary import FEWEST, Ratio, Summary
from gradtool.spelling import plural

SCHEMA_VERSION = 1
"""Version of the JSON form of `TransferReport`. It grows when a field changes meaning or goes."""

Direction = Literal["h2d", "d2h", "d2d", "duplex"]
Mode = Literal["blocking", "non_blocking"]


class _Struct(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of the result types: frozen, with defaults omitted from JSON."""


class _Record(_Struct, frozen=True, kw_only=True):
    """A record of something measured, which says by itself whether a device was involved."""

    simulated: bool
    """Whether host memory stood in for the device."""
    unavailable: str = ""
    """Why there is no number: not offered here, or one that cannot be right."""


class Cell(_Record, frozen=True, kw_only=True):
    """One way of copying, of one size, in one direction."""

    scenario: str
    label: str
    """The scenario's name as tables show it, which differs where it is simulated."""
    direction: Direction
    mode: Mode
    host_only: bool = False
    """Whether nothing goes to the device, so that there is no device time."""
    tensors: int = 1
    """Tensors that one operation moves."""
    bytes: int
    """Size of each; of the largest, if they differ."""
    parts: tuple[int, ...] = ()
    """Sizes of all tensors, if they differ."""
    row: str = ""
    """Its name in a configuration file."""
    published: float | None = None
    """Seconds that the configuration file says were measured elsewhere."""
    batch: int = 0
    """Operations in one sample."""
    call: Summary | None = None
    """Time the host is busy issuing one operation."""
    done: Summary | None = None
    """Time until one operation is complete, on the host's clock."""
    device: Summary | None = None
    """Time of one operation between two events."""
    samples: tuple[float, ...] = ()
    """Samples of `done`."""
    gbps: float | None = None
    """By the median of `done`."""
    device_gbps: float | None = None
    link_share: float | None = None
    """`device_gbps` over the raw rate of the link."""
    verified: bool = False
    """Whether the bytes arrived in every sample."""
    cache_hot: bool = False
    """Whether the host's buffers may stay in its caches between copies."""

    @property
    def total(self) -> int:
        """Bytes of one operation's tensors."""
        return sum(self.parts) if self.parts else self.tensors * self.bytes

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes of each tensor."""
        return self.parts or (self.bytes,) * self.tensors

    @property
    def moved(self) -> int:
        """Bytes that one operation moves: in both directions at once, twice as many."""
        return self.total * (2 if self.direction == "duplex" else 1)

    @property
    def id(self) -> str:
        """A stable name: ``pinned.h2d.non_blocking[1048576]``."""
        shape = f"{self.tensors}x{self.bytes}" if self.tensors > 1 else str(self.bytes)
        return f"{self.scenario}.{self.direction}.{self.mode}[{shape}]"

    @property
    def doubt(self) -> str:
        """The reason why its numbers decide nothing; empty if they can."""
        if self.done is None:
            return self.unavailable or "not measured"
        if self.done.trust != "do not use":
            return ""
        if self.done.n < FEWEST:
            return f"it has only {plural(self.done.n, 'sample')}"
        return f"its samples scatter by {min(self.done.relative_iqr, 9.99):.0%}"

    @property
    def host_freed(self) -> float | None:
        """The part of the time to completion in which the host could do something else."""
        if self.call is None or self.done is None or not self.done.median:
            return None
        return max(0.0, 1 - self.call.median / self.done.median)


class Fit(_Record, frozen=True, kw_only=True):
    """Time as latency plus size over bandwidth, fitted to the medians of several sizes."""

    scenario: str
    label: str
    direction: Direction
    mode: Mode
    sizes: int
    """The number of sizes it is fitted to."""
    latency: float | None = None
    latency_interval: tuple[float, float] | None = None
    """95% interval of the latency, in seconds."""
    gbps: float | None = None
    """The rate that large sizes come near to."""
    gbps_interval: tuple[float, float] | None = None
    """95% interval of that rate; None if it has no upper end."""
    half_size: float | None = None
    """Bytes at which half of that rate is reached."""
    worst: float | None = None
    """The largest relative distance of a median from the line."""


class Asynchrony(_Record, frozen=True, kw_only=True):
    """A probe of whether a call returns while its stream is blocked."""

    call: str
    """The call, as tables show it."""
    memory: str
    direction: Direction
    bytes: int
    took: float | None = None
    """Seconds until the call returned."""
    held: float | None = None
    """Seconds for which the stream was held."""
    verdict: Literal["", "returns at once", "waits for the stream"] = ""


class Hazard(_Record, frozen=True, kw_only=True):
    """A read or write that comes too early, demonstrated on a blocked stream."""

    name: str
    """``d2h-read-too-early``, ``h2d-overwrite-too-early`` or ``h2d-recycled-too-early``."""
    what: str
    trials: int = 0
    caught: int = 0
    """Trials in which the wrong bytes were seen."""
    cured_by_synchronize: int = 0
    """Trials in which waiting for the stream made them right."""
    cured_by_event: int = 0
    """The same, waiting for an event after the copy."""
    cost: float | None = None
    """Seconds that waiting for an event which is done takes."""


class PinningCost(_Record, frozen=True, kw_only=True):
    """The cost of allocating page-locked memory and of freeing it."""

    memory: str
    bytes: int
    lock: Summary | None = None
    """Allocating or registering."""
    touch: Summary | None = None
    """Writing each page once, after that."""
    release: Summary | None = None
    reuses: float | None = None
    """Copies after which it has paid for itself."""
    reuses_reason: str = ""
    """Why there is no such number."""


class Latency(_Record, frozen=True, kw_only=True):
    """A single small copy, issued and waited for."""

    memory: str
    direction: Direction
    bytes: int
    n: int = 0
    p50: float | None = None
    p99: float | None = None


class StagingRate(_Record, frozen=True, kw_only=True):
    """Pageable memory sent through two page-locked buffers."""

    bytes: int
    chunk: int
    """Bytes of a buffer."""
    threads: int
    """Threads that copy into it."""
    done: Summary | None = None
    gbps: float | None = None
    """By the median of `done`."""


class Overlap(_Record, frozen=True, kw_only=True):
    """A copy during a computation that takes about as long."""

    memory: str
    stream: Literal["same stream", "side stream"]
    first: Literal["kernel", "copy"] = "kernel"
    """The one that is issued first."""
    bytes: int
    copy: Summary | None = None
    compute: Summary | None = None
    both: Summary | None = None
    efficiency: float | None = None
    """The part of the shorter one that is hidden, 0 to 1."""


class NodeRate(_Record, frozen=True, kw_only=True):
    """Copies of buffers on one NUMA node, by a thread bound to that node."""

    node: int | None = None
    near: bool | None = None
    """Whether the device belongs to it; None where that is unknown."""
    memory: str = ""
    direction: Direction = "h2d"
    bytes: int = 0
    done: Summary | None = None
    gbps: float | None = None
    """By the median of `done`."""


class Advice(_Struct, frozen=True, kw_only=True):
    """A sentence, and the measurements that support it."""

    text: str
    rests_on: tuple[str, ...] = ()
    """Ids of cells, or names of other records."""
    from_size: int | None = None
    """Bytes from which it holds, among the sizes that were measured."""


class Change(_Struct, frozen=True, kw_only=True):
    """A cell compared with the same cell of an earlier run."""

    id: str
    before: float
    after: float
    ratio: Ratio
    """Of the times: above 1 is slower."""
    regressed: bool


class Requirement(_Struct, frozen=True, kw_only=True):
    """A threshold from the command line, and whether it is met."""

    text: str
    met: bool
    decided: bool = True
    """False where the cells that it needs have no numbers, or none that can be trusted."""
    reason: str
    """The numbers it was decided by, or why it could not be."""


class Link(_Struct, frozen=True, kw_only=True):
    """The PCIe link of the device, read while copying."""

    generation: int | None = None
    width: int | None = None
    gbps: float | None = None
    """Raw rate of one direction; None where it is unknown."""
    source: str = ""
    """Where it was read: ``sysfs`` or ``NVML``."""
    unknown: str = ""
    """Why it could not be read."""


class Header(_Struct, frozen=True, kw_only=True):
    """The machine of the run; None for what could not be determined."""

    gradtool: str
    python: str
    numpy: str
    platform: str
    device: str
    backend: str
    """``cuda``, or ``host-sim`` where host memory stood in."""
    cupy: str | None = None
    driver: str | None = None
    runtime: str | None = None
    cpu: str | None = None
    cpus: int | None = None
    """Processors that this process may use."""
    cache: int | None = None
    """Bytes of the last-level cache."""
    numa_node: int | None = None
    """Of the device; None where it has none or it is unknown."""
    container: str | None = None
    governor: str | None = None
    clocks: str | None = None
    """The device's, before and after."""
    lock_limit: int | None = None
    """Bytes that this process may lock; None for no limit."""


class TransferReport(_Struct, frozen=True, kw_only=True):
    """A complete run."""

    schema: int = SCHEMA_VERSION
    kind: str = "transfer"
    simulated: bool
    header: Header
    link: Link = Link()
    command: str = ""
    budget: float = 0.0
    cells: tuple[Cell, ...] = ()
    fits: tuple[Fit, ...] = ()
    asynchrony: tuple[Asynchrony, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    pinning: tuple[PinningCost, ...] = ()
    overlap: tuple[Overlap, ...] = ()
    latency: tuple[Latency, ...] = ()
    staging: tuple[StagingRate, ...] = ()
    nodes: tuple[NodeRate, ...] = ()
    advice: tuple[Advice, ...] = ()
    changes: tuple[Change, ...] = ()
    unmatched: tuple[str, ...] = ()
    """Cells of only one of two runs that were compared."""
    requirements: tuple[Requirement, ...] = ()
    notices: tuple[str, ...] = ()
    seconds: float = 0.0
    interrupted: bool = False
