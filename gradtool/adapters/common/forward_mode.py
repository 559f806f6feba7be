"""Forward mode: tangents by a Function's own jvp, and the jvp as a function of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradtool.adapters.common.bound_function import BoundFunction
from gradtool.adapters.common.vjp import Apply, copied
from gradtool.adapters.library import library
from gradtool.verify.protocol.coordinates import is_continuous
from gradtool.verify.protocol.observation import Array, ChangedByJvp, Primals, Tangents


def jvps(
    bound: BoundFunction, primals: Primals, rows: Sequence[Tangents]
) -> list[tuple[Array | None, ...]]:
    """Return the tangent of each output for each row; None if an output has none."""
    return [_jvp(bound, primals, row) for row in rows]


def _jvp(bound: BoundFunction, primals: Primals, row: Tangents) -> tuple[Array | None, ...]:
    with library().torch.enable_grad():
        tensors = _computed_tensors(bound, primals)
        return _outputs_and_tangents(bound, tensors, _tangents(tensors, row))[1]


def changed_by_jvp(bound: BoundFunction, primals: Primals, row: Tangents) -> ChangedByJvp:
    """Find everything that one jvp changes in place, apart from the outputs' tangents.

    Raises what the user's jvp raises.
    """
    with library().torch.enable_grad():
        plain = _computed_tensors(bound, primals)
        expected = [copied(output) for output in bound(plain)]
        tensors = _computed_tensors(bound, primals)
        tangents = _tangents(tensors, row)
        outputs, _ = _outputs_and_tangents(bound, tensors, tangents)
        return ChangedByJvp(
            tangents=_differing([copied(each) for each in tangents], row),
            arguments=_differing(map(copied, tensors), [copied(each) for each in plain]),
            outputs=_differing(outputs, expected),
        )


def _computed_tensors(bound: BoundFunction, primals: Primals) -> list[Any]:
    """Return no leaves: PyTorch drops the tangent of a leaf that is changed in place."""
    return bound.arguments.tracked(primals)[1]


def _differing(found: Iterable[Array | None], expected: Sequence[Array | None]) -> tuple[int, ...]:
    pairs = enumerate(zip(found, expected, strict=True))
    return tuple([at for at, (one, other) in pairs if not _same(one, other)])


def _same(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return True
    return np.array_equal(one, other, equal_nan=is_continuous(one.dtype))


def _outputs_and_tangents(
    bound: BoundFunction, tensors: Sequence[Any], tangents: Sequence[Any]
) -> tuple[tuple[Array | None, ...], tuple[Array | None, ...]]:
    forward_ad = library().torch.autograd.forward_ad
    with forward_ad.dual_level():
        duals = [
            tensor if tangent is None else forward_ad.make_dual(tensor, tangent)
            for tensor, tangent in zip(tensors, tangents, strict=True)
        ]
        unpacked = [
            (None, None) if output is None else forward_ad.unpack_dual(output)
            for output in bound(duals)
        ]
        return (
            tuple([copied(primal) for primal, _ in unpacked]),
            tuple([copied(tangent) for _, tangent in unpacked]),
        )


def _tangents(tensors: Sequence[Any], row: Tangents) -> list[Any]:
    return [
        None if values is None else _tangent(tensor, values)
        for tensor, values in zip(tensors, row, strict=True)
    ]


def _tangent(tensor: Any, values: Array) -> Any:
    dtype = library().dtype(tensor)
    return library().tensor(np.array(values, dtype=dtype)).to(tensor.device)


class TangentMap:
    """A Function's jvp as a function of its own: (primals, tangents) -> tangents.

    Its derivative is the second derivative by reverse over forward.

    Takes the tensor arguments of a function, then a tangent for each in `differentiable`.
    Returns the tangent of each output; None if it has none.
    """

    def __init__(self, apply: Apply, differentiable: Sequence[bool]) -> None:
        self._apply = apply
        self._differentiable = tuple(differentiable)

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        """Return the tangents, with a graph if one is being recorded."""
        forward_ad = library().torch.autograd.forward_ad
        count = len(self._differentiable)
        tangents = iter(tensors[count:])
        with forward_ad.dual_level():
            duals = [
                # The clone keeps the caller's tensor out of the level, where forward may change its
                # dual in place.
                forward_ad.make_dual(tensor.clone(), next(tangents)) if needed else tensor
                for tensor, needed in zip(tensors[:count], self._differentiable, strict=True)
            ]
            return tuple(
                [
                    None if output is None else forward_ad.unpack_dual(output).tangent
                    for output in self._apply(duals)
                ]
            )
