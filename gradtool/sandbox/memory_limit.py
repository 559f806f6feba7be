"""A limit on the memory that one Function may take."""

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
    """In the block, let an allocation fail that takes the process `size` bytes further.

    What counts is memory of its own that it may write, touched or not, and not addresses that
    are kept free: the C library keeps 64 MiB of them for each thread. None, or a system that
    does not tell how much is in use, means no limit.
    """
    used = _data()
    if size is None or used is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = used + size
    lowest = min(limit for limit in (wanted, soft, hard) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (lowest, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _data() -> int | None:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
    except (OSError, ValueError):
        return None
    return pages * resource.getpagesize()
