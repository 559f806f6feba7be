"""What runs along dimensions: reductions, scans, orders and statistics."""

from __future__ import annotations

from tests.engine.ops.cases.case import Shape, distinct, mask, normal, positive
from tests.engine.ops.cases.scattering import NOT_FORWARD
from tests.engine.ops.drawn.language import (
    ABSENT,
    BOOL,
    NUMBERS,
    REAL,
    SMOOTH,
    WIDE,
    Call,
    Op,
    Pick,
    among,
    by_shape,
    dim,
    dims,
    each,
    integers,
    of_one,
    of_several,
    op,
    optional,
    reduced,
    typed,
)

REDUCED: dict[str, Op] = {
    **each("sum prod mean", op(reduced(normal, dtypes=NUMBERS))),
    "Tensor.sum": op(reduced(normal, dtypes=SMOOTH)),
    "Tensor.mean": op(reduced(normal, dtypes=SMOOTH)),
    **each("prod Tensor.prod", op(reduced(normal, several=False, dtypes=SMOOTH))),
    **each("all any Tensor.all Tensor.any", op(reduced(mask, dtypes=("bool", "int64", "uint8")))),
    **each("nansum nanmean Tensor.nansum Tensor.nanmean", op(reduced(normal, dtypes=WIDE))),
    "count_nonzero": op(of_one(mask, optional(dims), dtypes=NUMBERS), lambda t, x, at: (
        t.count_nonzero(x) if at is ABSENT else t.count_nonzero(x, at))),
    **each("amax amin Tensor.amax Tensor.amin", op(reduced(distinct, dtypes=REAL))),
    **each("argmax argmin Tensor.argmax Tensor.argmin",
           op(reduced(distinct, several=False, dtypes=WIDE))),
    **each("max min median nanmedian Tensor.max Tensor.min Tensor.nanmedian",
           op(reduced(distinct, several=False, dtypes=WIDE))),
    **each("mode Tensor.mode", op(reduced(distinct, several=False, needs_dim=True, dtypes=WIDE))),
    "aminmax": op(reduced(distinct, several=False)),
    **each("std var std_mean var_mean Tensor.std Tensor.var",
           op(reduced(normal, dtypes=SMOOTH, least=1, smallest=3,
                      correction=optional(among(0, 1, 2))))),
    **each("logsumexp special.logsumexp",
           op(reduced(normal, several=False, needs_dim=True, dtypes=WIDE))),
    **each("norm Tensor.norm", op(reduced(distinct, dtypes=WIDE, p=among(1, 2, 3.0, "fro")))),
    "linalg.vector_norm": op(reduced(distinct, dtypes=SMOOTH, smallest=1,
                                     ord=among(0, 1, 2, 3.5, float("inf"), -1))),
    **each("quantile nanquantile Tensor.quantile Tensor.nanquantile", op(reduced(
        distinct, several=False, dtypes=WIDE, q=among(0.3, 0.75), smallest=1))),
}  # fmt: skip


def _counted(pick: Pick, shape: Shape) -> Call:
    """So many of the largest or smallest along a dimension."""
    at = pick(dim(shape))
    extent = shape[at] if shape else 1
    count = pick(among(*range(min(extent, 1), extent + 1)))
    return Call((typed(distinct(*shape), pick(among(*WIDE))),), (count, at))


ALONG: dict[str, Op] = {
    **each("cumsum cumprod", op(of_one(normal, dim, dtypes=NUMBERS))),
    **each("Tensor.cumsum Tensor.cumprod", op(of_one(normal, dim, dtypes=WIDE))),
    **each("logcumsumexp Tensor.logcumsumexp", op(of_one(normal, dim, dtypes=WIDE, smallest=1))),
    **each("cummax cummin Tensor.cummax Tensor.cummin", op(of_one(distinct, dim))),
    **each("softmax log_softmax special.softmax special.log_softmax nn.functional.softmax "
           "nn.functional.log_softmax nn.functional.softmin", op(of_one(normal, dim, dtypes=WIDE))),
    **each("sort argsort", op(of_one(distinct, dim=optional(dim), descending=BOOL, dtypes=REAL))),
    "msort": op(of_one(distinct, least=1, dtypes=WIDE)),
    "topk": op(by_shape(_counted)),
    "kthvalue": op(by_shape(_counted, smallest=1)),
    **each("diff Tensor.diff",
           op(of_one(normal, n=among(0, 1, 2), dim=dim, dtypes=SMOOTH, least=1))),
    **each("trapezoid cumulative_trapezoid",
           op(of_one(normal, dx=among(1, 0.5), dim=dim, least=1, smallest=1, dtypes=SMOOTH))),
    "renorm": op(of_one(distinct, among(1, 2, 2.5), among(0, -1), among(0.7, 2.0), least=2,
                        dtypes=WIDE), tolerance=1e-4),
    **each("flip Tensor.flip", op(of_one(normal, dims, dtypes=SMOOTH))),
    "roll": op(of_one(normal, among(-1, 0, 2, 5), optional(dim), least=1),
               lambda t, x, by, at: t.roll(x, by) if at is ABSENT else t.roll(x, by, at)),
    "segment_reduce": op(
        of_one(distinct, least=1, smallest=1, dtypes=WIDE),
        lambda t, x: t.segment_reduce(x, "mean", lengths=t.tensor([1, x.shape[0] - 1]))
        if x.shape[0] > 1 else x * 1, second_order=False,
        not_pushed=NOT_FORWARD),
}  # fmt: skip

STATISTICS: dict[str, Op] = {
    "cov": op(of_one(normal, correction=among(0, 1), least=1, most=2, smallest=2, dtypes=SMOOTH)),
    "corrcoef": op(of_one(normal, least=1, most=2, smallest=3, dtypes=WIDE), tolerance=1e-4),
    "cdist": op(of_several(distinct, normal, same=True, smallest=1, p=among(1.0, 2.0, 3.0)),
                second_order=False, not_pushed=NOT_FORWARD, tolerance=1e-4),
    "bincount": op(of_one(integers, dtypes=("int64", "uint8"), least=1, most=1),
                   not_batched="the size of the result depends on values"),
    "histc": op(of_one(normal, bins=among(3, 5), min=among(-1), max=among(1, 2), smallest=1)),
    **each("unique unique_consecutive", op(of_one(integers, dtypes=("int64",)),
                                           not_batched="the size of the result depends on values")),
    "isin": op(of_several(integers, integers, dtypes=("int64", "float64"))),
    "searchsorted": op(of_one(normal, dtypes=WIDE, right=BOOL),
                       lambda t, x, right: t.searchsorted(t.linspace(-1, 1, 4, dtype=x.dtype), x,
                                                          right=right)),
    "bucketize": op(of_one(normal, dtypes=WIDE, right=BOOL),
                    lambda t, x, right: t.bucketize(x, t.linspace(-1, 1, 4, dtype=x.dtype),
                                                    right=right)),
    "positive": op(of_one(positive)),
}  # fmt: skip

TABLE: dict[str, Op] = {**REDUCED, **ALONG, **STATISTICS}
