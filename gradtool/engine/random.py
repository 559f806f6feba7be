"""``torch.random``: the CPU generator, under its names in ``torch``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gradtool.engine._ops.creation.generators import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, **accepted: Any) -> Iterator[None]:
    """Draw numbers in a block without moving on the CPU's generator, whatever the devices are."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            set_rng_state(state)


__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]  # fmt: skip
