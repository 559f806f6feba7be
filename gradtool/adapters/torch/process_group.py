"""A group of one process, so that modules which communicate run under PyTorch as well."""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def join(torch: Any) -> None:
    """Initialize ``torch.distributed`` for this process alone, unless the module did so."""
    distributed = torch.distributed
    if not distributed.is_available() or distributed.is_initialized():
        return
    # A build without gloo has none: then the Function reports what it misses.
    with suppress(RuntimeError, ValueError):
        # Of its rank nothing is read from the environment, which may belong to a launcher.
        distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
