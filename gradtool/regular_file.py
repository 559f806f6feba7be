"""Reading files that the checked code may have made, without waiting for them or filling memory."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

LARGEST = 64 * 2**20
"""Bytes of the largest file that is read. Reports of big runs stay far below."""


def read_regular(path: Path, largest: int = LARGEST) -> bytes:
    """The content of a regular file.

    A pipe could block for ever, and a device such as ``/dev/zero`` has no end.

    Raises:
        OSError: It cannot be read, is not a regular file, or has more than `largest` bytes.
    """
    # Opened without blocking, or a pipe that nobody writes to would wait right here.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        # One byte more, since the file may grow while it is read.
        data = file.read(largest + 1)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"larger than {largest // 2**20} MiB", str(path))
    return data
