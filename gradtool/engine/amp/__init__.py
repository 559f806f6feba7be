"""Automatic mixed precision, laid out as ``torch.amp`` is."""

from gradtool.engine.amp import autocast_mode, grad_scaler
from gradtool.engine.amp.autocast_mode import (
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from gradtool.engine.amp.grad_scaler import GradScaler

__all__ = [
    "GradScaler", "autocast", "autocast_mode", "custom_bwd", "custom_fwd", "grad_scaler",
    "is_autocast_available",
]  # fmt: skip
