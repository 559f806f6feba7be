"""Claims about two ways of copying: a sentence for each possible outcome of their comparison.

``{x}`` is the factor, ``{size}`` the size from which on it holds. Where host memory stands in for
a device, only claims about the host itself are made.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """A comparison, with a sentence for each outcome."""

    way: str
    """``scenario.direction.mode`` of the way that is recommended, or advised against."""
    other: str
    """The way that it is compared with."""
    faster: str
    slower: str
    same: str
    many: bool = False
    """It is about many tensors rather than one buffer."""
    about_host: bool = False
    """It is about the host alone, and so holds without a device."""


CLAIMS = (
    Claim(
        "pinned.h2d.blocking", "pageable.h2d.blocking",
        "Keep data that is sent to the device repeatedly in pinned memory: from {size} up, "
        "copies are {x} times as fast.",
        "Leave data for the device in pageable memory: pinned memory takes {x} times as long.",
        "Pinned memory makes no difference here for copies to the device.",
    ),
    Claim(
        "pinned.d2h.blocking", "pageable.d2h.blocking",
        "Fetch results into pinned memory that you reuse: from {size} up, copies are {x} times as "
        "fast.",
        "Fetch results into pageable memory: pinned memory takes {x} times as long.",
        "Pinned memory makes no difference here for copies from the device.",
    ),
    Claim(
        "registered.h2d.blocking", "pinned.h2d.blocking",
        "Registering existing memory is better than allocating pinned memory: {x} times "
        "as fast from {size} up.",
        "Allocate pinned memory rather than registering existing memory, which takes {x} times as "
        "long.",
        "Registering existing memory works as well as allocating pinned memory.",
    ),
    Claim(
        "write-combined.h2d.blocking", "pinned.h2d.blocking",
        "Write-combined memory pays off for data that only the device reads: {x} times as fast "
        "from {size} up. Reading it on the host is very slow.",
        "Write-combined memory does not pay off: it takes {x} times as long as pinned.",
        "Write-combined memory makes no difference here; pinned is the safer choice.",
    ),
    Claim(
        "pin-on-the-fly.h2d.blocking", "pageable.h2d.blocking",
        "Pinning just for one copy pays off: {x} times as fast from {size} up.",
        "Do not pin memory just for one copy: from {size} up, this takes {x} times as long as "
        "sending it unpinned.",
        "Pinning just for one copy makes no difference here.",
    ),
    Claim(
        "staged.h2d.blocking", "pageable.h2d.blocking",
        "Sending pageable memory through two pinned buffers of your own pays off: {x} times as "
        "fast from {size} up.",
        "Leave the staging of pageable memory to the driver: doing it yourself takes {x} times "
        "as long.",
        "Staging pageable memory yourself makes no difference here.",
    ),
    Claim(
        "staged-threads.h2d.blocking", "staged.h2d.blocking",
        "Several threads that copy on the host are {x} times as fast as one, from {size} up.",
        "Let one thread copy on the host: several take {x} times as long, from {size} up.",
        "Several threads copy no faster on this host than one.",
        about_host=True,
    ),
    Claim(
        "pageable.d2h.blocking", "pageable-cold.d2h.blocking",
        "Copy results into existing memory: from {size} up, this is {x} times as fast as into "
        "new memory, whose pages must be created first.",
        "Copy results into new memory: existing memory takes {x} times as long.",
        "New memory for each result makes no difference here.",
        about_host=True,
    ),
    Claim(
        "pageable.h2d.non_blocking", "pageable.h2d.blocking",
        "Send many tensors with non_blocking=True and wait once at the end: {x} times as fast.",
        "Wait after each of many tensors: non_blocking=True takes {x} times as long.",
        "non_blocking=True makes no difference here for many pageable tensors.",
        many=True,
    ),
    Claim(
        "pinned.h2d.non_blocking", "pinned.h2d.blocking",
        "Send many pinned tensors with non_blocking=True and wait once: {x} times as fast.",
        "Wait after each of many pinned tensors: non_blocking=True takes {x} times as long.",
        "non_blocking=True makes no difference here for many pinned tensors.",
        many=True,
    ),
    Claim(
        "packed.h2d.blocking", "pageable.h2d.non_blocking",
        "Gather many small tensors in one pinned buffer and send it once: {x} times as fast as "
        "one by one.",
        "Do not gather small tensors: it takes {x} times as long as sending them one by one.",
        "Gathering many small tensors before sending makes no difference here.",
        many=True,
    ),
    Claim(
        "pin-threads.h2d.blocking", "pageable.h2d.non_blocking",
        "Let several threads copy to pinned memory while one sends: {x} times as fast.",
        "Do not let threads pin many tensors: it takes {x} times as long as sending them.",
        "Pinning by several threads makes no difference here for many tensors.",
        many=True,
    ),
    Claim(
        "engine.h2d.blocking", "pageable.h2d.blocking",
        "Tensor.to is {x} times as fast as the raw call.",
        "Tensor.to takes {x} times as long as the raw call into existing memory, including "
        "its allocations.",
        "Tensor.to costs no more than the raw call at the largest size.",
    ),
    Claim(
        "engine.h2d.blocking", "torch.h2d.blocking",
        "gradtool's Tensor.to is {x} times as fast as PyTorch's, from {size} up.",
        "gradtool's Tensor.to takes {x} times as long as PyTorch's, from {size} up.",
        "gradtool's Tensor.to takes as long as PyTorch's at the largest size.",
        about_host=True,
    ),
)  # fmt: skip
