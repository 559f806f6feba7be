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


class kthvalue(ValuesAndIndices):  # noqa: N801 - torch's name
    """What `gradtool.engine.kthvalue` returns."""

    __slots__ = ()


class max(ValuesAndIndices):  # noqa: N801 - torch's name
    """What `gradtool.engine.max` along a dimension returns."""

    __slots__ = ()


class median(ValuesAndIndices):  # noqa: N801 - torch's name
    """What `gradtool.engine.median` of one dimension returns."""

    __slots__ = ()


class min(ValuesAndIndices):  # noqa: N801 - torch's name
    """What `gradtool.engine.min` along a dimension returns."""

    __slots__ = ()


class sort(ValuesAndIndices):  # noqa: N801 - torch's name
    """What `gradtool.engine.sort` returns."""

    __slots__ = ()


class topk(ValuesAndIndices):  # noqa: N801 - torch's name
    """What `gradtool.engine.topk` returns."""

    __slots__ = ()
