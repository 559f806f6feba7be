"""Where a path leads. ``Path.resolve`` raises where links go in a circle; this does not."""

from __future__ import annotations

import os
from pathlib import Path


def real_path(path: Path) -> Path:
    """The absolute path without links, as far as they lead anywhere."""
    return Path(os.path.realpath(path))
