"""Conjugates and negatives, as views of the same memory and as copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine._lazy import bits, mark
from gradtool.engine._ops.core.batching import unchanged
from gradtool.engine._ops.core.dtype_support import COMPLEX, FLOATS, Dtypes
from gradtool.engine._ops.core.inplace import before_change, check_in_place, in_place, replace
from gradtool.engine._ops.core.kinds import linear
from gradtool.engine._ops.core.op import method, op
from gradtool.engine._ops.core.primitive import Primitive, vjp_of
from gradtool.engine._tensor import Tensor


class Flip(Primitive):
    """A view that shows the conjugates or the negatives of what its memory holds."""

    __slots__ = ("conj", "neg")

    def __init__(
        self,
        name: str,
        vjp: Callable[[Tensor], Tensor],
        *,
        dtypes: Dtypes,
        conj: bool = False,
        neg: bool = False,
    ) -> None:
        self.conj, self.neg = conj, neg
        super().__init__(
            name, lambda x: x, (vjp_of(vjp),), kind="linear", is_view=True, dtypes=dtypes,
            batch=unchanged,
        )  # fmt: skip

    def link_view(self, out: Tensor, source: Tensor, params: dict[str, Any]) -> None:
        """Let `out` show the conjugates, or negatives, of what `source` shows."""
        super().link_view(out, source, params)
        conj, neg = bits(source)
        mark(out, conj ^ self.conj, neg ^ self.neg)


_conj_view: Flip = Flip("conj", lambda g: _conj_view(g), dtypes=COMPLEX, conj=True)
neg_view = Flip("neg_view", lambda g: -g, dtypes=FLOATS | COMPLEX, neg=True)
_conj_physical: Primitive = linear(
    "conj_physical", np.conjugate, lambda g: _conj_physical(g), dtypes=COMPLEX, batch=unchanged
)


@op(aliases=("_conj",), method=True)
def conj(x: Tensor) -> Tensor:
    """The complex conjugates, as a view; a real tensor is returned as it is."""
    return _conj_view(x) if x.is_complex() else x


@op(name="_neg_view", method=True)
def _neg_view(x: Tensor) -> Tensor:
    """The negatives, as a view."""
    return neg_view(x)


@op(method=True)
def conj_physical(x: Tensor) -> Tensor:
    """The complex conjugates, as a copy; a real tensor is returned as it is."""
    return _conj_physical(x) if x.is_complex() else x


_conjugated = in_place(conj_physical, "conj_physical_")


@method(node="ConjPhysicalBackward1")
def conj_physical_(x: Tensor) -> Tensor:
    """`conj_physical`, written over the tensor itself; nothing is written over a real one."""
    if x.is_complex():
        return _conjugated(x)
    check_in_place(x)
    return replace(x, before_change(x).clone(), partial=True)


@op(method=True)
def is_conj(x: Tensor) -> bool:
    """True for a view that shows the conjugates of what its memory holds."""
    return bits(x)[0]


@op(method=True)
def is_neg(x: Tensor) -> bool:
    """True for a view that shows the negatives of what its memory holds."""
    return bits(x)[1]


@op(method=True)
def resolve_conj(x: Tensor) -> Tensor:
    """A copy of a tensor that `is_conj`; any other is returned as it is."""
    return x.clone() if is_conj(x) else x


@op(method=True)
def resolve_neg(x: Tensor) -> Tensor:
    """A copy of a tensor that `is_neg`; any other is returned as it is."""
    return x.clone() if is_neg(x) else x
