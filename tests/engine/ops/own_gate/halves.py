"""Half precision held to double precision at the same point, in every mode.

Each elementary step of a computation in half precision is off by at most half an `EPS` of its
result. `STEPS` of them, none of which cancels more than a few bits, are what an operation of
the table, and its derivatives, are made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import gradtool.engine as engine
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.own_gate.maps import Map, gradients_of, outputs_of, tangents_of
from tests.engine.ops.own_gate.recording import is_continuous

EPS = float(np.finfo(np.float16).eps)
STEPS = 32


def apart(case: OpCase) -> list[str]:
    """What of outputs, gradients, second gradients, tangents and batches is not as in doubles."""
    return [
        f"{what} {place}: off by {off:.3g} of the largest entry"
        for what, narrow in _maps(outputs_of(case, "float16"))
        for place, off in enumerate(_differences(narrow))
        if not off <= STEPS * EPS
    ]


def _maps(outputs: Map) -> Iterator[tuple[str, Map]]:
    yield "output", outputs
    if any(map(is_continuous, outputs.point)):
        yield "tangent", tangents_of(outputs)
        yield "output of a batch", _batched(outputs)
    gradients = gradients_of(outputs)
    if gradients is not None:
        yield "gradient", gradients
        second = gradients_of(gradients)
        if second is not None:
            yield "second gradient", second


def _batched(of: Map) -> Map:
    """The function of two examples, both at the point; indices and masks are the same for each."""
    point = tuple([engine.stack([x, x]) if is_continuous(x) else x for x in of.point])
    dims = tuple([0 if is_continuous(x) else None for x in of.point])
    return Map(of.name, engine.func.vmap(of.function, in_dims=dims), point)


def _differences(narrow: Map) -> Iterator[float]:
    """How far each result is from that of doubles, by its largest entry."""
    wide = tuple([_widened(each) for each in narrow.point])
    results = zip(narrow.function(*narrow.point), narrow.function(*wide), strict=True)
    for found, reference in results:
        yield _difference(_as_array(found), _as_array(reference))


def _widened(tensor: Any) -> Any:
    return tensor.double() if tensor.dtype == engine.float16 else tensor


def _as_array(tensor: Any) -> Any:
    return tensor.detach().numpy(force=True)


def _difference(found: Any, reference: Any) -> float:
    assert found.shape == reference.shape
    same = np.isfinite(reference)
    np.testing.assert_array_equal(found[~same], reference[~same])
    scale = float(np.abs(reference[same]).max(initial=0.0))
    off = float(np.abs(found[same] - reference[same]).max(initial=0.0))
    return off / max(scale, 1.0)
