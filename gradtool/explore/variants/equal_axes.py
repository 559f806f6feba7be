"""Variants of an axis among the arguments, with a tensor whose axes are all equally long.

What fits one axis of the tensor, as a matrix to multiply along it, then fits any other one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradtool.explore.point import Point, Variant
from gradtool.explore.reading.names import is_axis
from gradtool.explore.traits import reshaped


def equal_axes(point: Point, rng: np.random.Generator) -> Iterator[Variant]:
    """Yield variants in which an integer is another axis of such a tensor.

    Args:
        point: The arguments of the case, with all defaults.
        rng: For the entries of the tensor.
    """
    for at in point.plain:
        axis, name = point.values[at], point.names[at]
        if not (is_axis(name) or name == "mode"):
            continue
        for tensor, array in point.continuous() if type(axis) is int else ():
            if not 0 <= axis < array.ndim or len(set(array.shape)) < 2:
                continue
            shape = (array.shape[axis],) * array.ndim
            made = reshaped(array, shape, rng)
            for other in range(array.ndim) if made is not None else ():
                if other != axis:
                    named = f"`{name}` is {other}, not {axis}"
                    change = f"{named}, and `{point.names[tensor]}` has the shape {list(shape)}"
                    yield Variant(point.having({tensor: made, at: other}), change)
