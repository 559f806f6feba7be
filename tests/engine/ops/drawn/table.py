"""The table of all operations that are drawn."""

from __future__ import annotations

from tests.engine.ops.drawn import (
    elementwise,
    functional,
    layers,
    matrices,
    positions,
    reductions,
    sampling,
    shapes,
    spectra,
)
from tests.engine.ops.drawn.language import Op

TABLE: dict[str, Op] = {
    **elementwise.TABLE,
    **reductions.TABLE,
    **shapes.TABLE,
    **positions.TABLE,
    **matrices.TABLE,
    **functional.TABLE,
    **layers.TABLE,
    **spectra.TABLE,
    **sampling.TABLE,
}
