"""Points of the Poincaré ball, which lie inside of it, and its curvature, a positive number."""

from __future__ import annotations

import re
from collections.abc import Collection

_BALL = re.compile(r"poincar[eé][ _-]?ball", re.IGNORECASE)
"""Matches the name of a module, or a docstring, that is about the Poincaré ball."""

_CURVATURE = re.compile(r"(.*_)?(c|k|curv|curvature)", re.IGNORECASE)
"""Matches the name of a curvature."""

_INSIDE, _POSITIVE = (-0.4, 0.4), (0.5, 1.5)
"""Ranges of the coordinates of points in up to four dimensions, and of the curvature.

Outside of the ball, the distance from a point is no number.
"""


def within_ball(said: str, names: Collection[str]) -> dict[str, tuple[float, float]]:
    """The ranges of tensors by their names, if a text is about the Poincaré ball."""
    if not _BALL.search(said):
        return {}
    return {name: _POSITIVE if _CURVATURE.fullmatch(name) else _INSIDE for name in names}


def curvatures(said: str, names: Collection[str]) -> list[str]:
    """The names of curvatures, each a number, if a text is about the Poincaré ball."""
    return list(filter(_CURVATURE.fullmatch, names)) if _BALL.search(said) else []
