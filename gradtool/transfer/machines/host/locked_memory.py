"""Pages that ``mlock`` keeps in memory, which stand in for pinned memory.

They are as fast to copy from as others; the cost of locking them is real.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any

from gradtool.measure.units import size_text
from gradtool.transfer.errors import UnavailableError


def lock_pages(array: Any) -> Callable[[], Any]:
    """Lock an array's pages in memory; return the call that unlocks them.

    Raises:
        UnavailableError: the system has no ``mlock``, or refused it.
    """
    system = _system()
    where = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
    if system.mlock(*where) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise UnavailableError(
            f"mlock of {size_text(array.nbytes)} failed: {reason} (limit: {limit_text()}; "
            "raise it with 'ulimit -l')"
        )
    return functools.partial(_unlock, array)


def _unlock(array: Any) -> None:
    _system().munlock(ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))


@functools.cache
def _system() -> Any:
    try:
        library = ctypes.CDLL(None, use_errno=True)
        library.mlock, library.munlock  # noqa: B018 - raises if missing
    except (OSError, AttributeError, TypeError):
        raise UnavailableError("this system has no mlock") from None
    return library


def lock_limit() -> int | None:
    """Bytes that this process may lock; None for no limit. A privileged process has none."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return None if soft == resource.RLIM_INFINITY else int(soft)


def limit_text() -> str:
    """The limit as text."""
    limit = lock_limit()
    return "none" if limit is None else size_text(limit)
