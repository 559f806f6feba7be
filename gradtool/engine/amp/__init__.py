"""Automatic mixed precision, laid out as ``torch.amp`` is."""

from gradtool.engine.amp import autocast_mode
from gradtool.engine.amp.autocast_mode import (
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)

__all__ = [
    "autocast", "autocast_mode", "custom_bwd", "custom_fwd", "is_autocast_available",
]  # fmt: skip
