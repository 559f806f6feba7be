"""``torch.distributed.distributed_c10d``: the same names, and the default group by a function."""

from __future__ import annotations

import sys
from typing import Any

from gradtool.engine.distributed._group import ProcessGroup, group


def _get_default_group() -> ProcessGroup:
    """Return the group of all processes."""
    return group.WORLD


def __getattr__(name: str) -> Any:
    """A name of the package, which PyTorch defines here."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(sys.modules[__name__.rpartition(".")[0]], name)
