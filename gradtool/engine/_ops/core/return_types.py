"""Named tuples that functions with two outputs return, under torch's names."""

from __future__ import annotations

from typing import NamedTuple

from gradtool.engine._tensor import Tensor


class ValuesAndIndices(NamedTuple):
    """Values, and where along a dimension they were found."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"torch.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"


class cummax(ValuesAndIndices):
    """What `gradtool.engine.cummax` returns."""

    __slots__ = ()


class cummin(ValuesAndIndices):
    """What `gradtool.engine.cummin` returns."""

    __slots__ = ()


class aminmax(NamedTuple):
    """What `gradtool.engine.aminmax` returns."""

    min: Tensor
    max: Tensor


class frexp(NamedTuple):
    """What `gradtool.engine.frexp` returns."""

    mantissa: Tensor
    exponent: Tensor


class kthvalue(ValuesAndIndices):
    """What `gradtool.engine.kthvalue` returns."""

    __slots__ = ()


class max(ValuesAndIndices):
    """What `gradtool.engine.max` along a dimension returns."""

    __slots__ = ()


class median(ValuesAndIndices):
    """What `gradtool.engine.median` of one dimension returns."""

    __slots__ = ()


class min(ValuesAndIndices):
    """What `gradtool.engine.min` along a dimension returns."""

    __slots__ = ()


class mode(ValuesAndIndices):
    """What `gradtool.engine.mode` returns."""

    __slots__ = ()


class nanmedian(ValuesAndIndices):
    """What `gradtool.engine.nanmedian` of one dimension returns."""

    __slots__ = ()


class sort(ValuesAndIndices):
    """What `gradtool.engine.sort` returns."""

    __slots__ = ()


class topk(ValuesAndIndices):
    """What `gradtool.engine.topk` returns."""

    __slots__ = ()
