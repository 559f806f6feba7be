"""Variants with shares in the place of marks: a soft target where the case has zeros and ones.

Forward itself says whether they are meant, where it accepts what lies between zero and one and
refuses what lies beyond.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradtool.collect.checkable import Checkable
from gradtool.explore.excuses import outputs_at
from gradtool.explore.point import Point, Variant
from gradtool.explore.traits import is_binary

_LEAST, _MOST = 0.15, 0.8


def shares(checkable: Checkable, point: Point) -> Iterator[Variant]:
    """Yield variants of floats that are all zero or one, and require no gradient."""
    for at, array in point.continuous():
        is_mark = array.dtype.kind == "f" and array.size and is_binary(array)
        if at in point.tracked or not is_mark:
            continue
        beyond = (point.having({at: array + moved}) for moved in (1.5, -1.5))
        if not any(_is_accepted(checkable, each) for each in beyond):
            spread = np.linspace(_LEAST, _MOST, array.size).reshape(array.shape)
            between = point.having({at: spread.astype(array.dtype)})
            yield Variant(between, f"`{point.names[at]}` lies between 0 and 1")


def _is_accepted(checkable: Checkable, point: Point) -> bool:
    """Return True if forward accepts the arguments."""
    try:
        outputs_at(checkable, point)
    except Exception:  # The user's forward may raise anything.
        return False
    return True
