"""Limits on the files of workers: how many are open, and how large one may become.

Code that opens files in a loop then fails by itself, and code that fills a file gets an error
instead of a full disk. Other systems than POSIX's have no such limits.
"""

from __future__ import annotations

import contextlib

from gradtool.errors import UsageError

with contextlib.suppress(ImportError):  # Not a POSIX system.
    import resource

_HAS_LIMITS = "resource" in globals()

_MOST_OPEN = 4096
"""Files that a worker may have open; some systems allow millions."""

_FEWEST_OPEN = 64
"""Files without which NumPy, a module and its imports cannot be loaded."""

_LARGEST = 2**32
"""Bytes of the largest file that a worker may write."""

_OF_A_WORKER = 4
"""Files that the reporting process opens for each worker."""


def open_limit() -> int:
    """Return how many files this process may have open."""
    if not _HAS_LIMITS:
        return _MOST_OPEN
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _smaller(soft, _MOST_OPEN)


def most_workers() -> int:
    """Return how many workers this process has files for.

    Raises:
        UsageError: There are too few for any.
    """
    limit = open_limit()
    if limit < _FEWEST_OPEN:
        raise UsageError(
            f"only {limit} files may be open at a time, but {_FEWEST_OPEN} are needed; "
            "raise the limit, for example with 'ulimit -n 1024'"
        )
    return (limit - _FEWEST_OPEN // 2) // _OF_A_WORKER


def limit_files() -> None:
    """Limit the files of this process, and of those that it starts."""
    if _HAS_LIMITS:
        _limit(resource.RLIMIT_NOFILE, _MOST_OPEN)
        _limit(resource.RLIMIT_FSIZE, _LARGEST)


def _limit(which: int, most: int) -> None:
    soft, hard = resource.getrlimit(which)
    # The hard limit too: the code could raise a soft one.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(which, (_smaller(soft, most), _smaller(hard, most)))


def _smaller(limit: int, most: int) -> int:
    return most if limit == resource.RLIM_INFINITY else min(limit, most)
