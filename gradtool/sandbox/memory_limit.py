"""Limit on the memory that one Function may allocate."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

try:
    import resource
except ImportError:  # Not a POSIX system.
    resource = None  # type: ignore[assignment]


@contextlib.contextmanager
def memory_limit(size: int | None) -> Iterator[None]:
    """In the block, let allocations fail beyond `size` bytes more than the process has now.

    The limit is on private writable memory, touched or not. Address space that is merely reserved
    does not count: the C library reserves 64 MiB of it for each thread. There is no limit with
    None, or on a system that does not report the memory in use.
    """
    used = _data()
    if size is None or used is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = used + size
    # A soft limit above the hard one is refused, and a tighter one of the user's must hold.
    lowest = min(limit for limit in (wanted, soft, hard) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (lowest, hard))
    try:
        yield
    finally:
        # The code may have lowered the hard limit, which an ordinary process cannot raise again.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data() -> int | None:
    try:
        # Field 6, data and stack, is the closest that /proc has to what RLIMIT_DATA counts.
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except (OSError, ValueError):
        return None
    return pages * resource.getpagesize()
