"""Dropout as Modules."""

from __future__ import annotations

from typing import Any

from gradtool.engine.nn import functional as F  # noqa: N812 - as everybody calls it
from gradtool.engine.nn.modules._functional import module_of


def _dropping(name: str, function: Any) -> Any:
    text = "p={p}, inplace={inplace}"
    return module_of(name, function, __name__, in_training=True, text=text, p=0.5, inplace=False)


AlphaDropout = _dropping("AlphaDropout", F.alpha_dropout)
FeatureAlphaDropout = _dropping("FeatureAlphaDropout", F.feature_alpha_dropout)
Dropout = _dropping("Dropout", F.dropout)
Dropout1d = _dropping("Dropout1d", F.dropout1d)
Dropout2d = _dropping("Dropout2d", F.dropout2d)
Dropout3d = _dropping("Dropout3d", F.dropout3d)

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]
