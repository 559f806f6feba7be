"""``--shard 2/5``: which part of a run falls to this machine.

A Function belongs to a shard by the hash of its node id alone. So every machine comes to the
same answer, whatever it runs on and whatever else there is.
"""

from __future__ import annotations

import hashlib
import re

from gradtool.errors import UsageError

_SHARD = re.compile(r"([1-9]\d*)/([1-9]\d*)")


def parse_shard(text: str) -> tuple[int, int]:
    """Number and count of ``2/5``.

    Raises:
        UsageError: It is not of this form, or there is no such shard.
    """
    match = _SHARD.fullmatch(text)
    if match is None:
        raise UsageError(f"--shard must read NUMBER/COUNT, such as 2/5, got {text!r}")
    number, count = int(match[1]), int(match[2])
    if number > count:
        raise UsageError(f"--shard {text}: there are only {count} shards, numbered from 1")
    return number, count


def shard_of(node: str, count: int) -> int:
    """The number, from 1, of the shard that the node belongs to."""
    digest = hashlib.blake2b(node.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % count + 1
