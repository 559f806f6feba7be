"""Quantiles and modes, counts, places among bounds, sets and runs, covariance."""

from __future__ import annotations

from tests.engine.ops.cases.case import OpCase, distinct, exactly, integers, normal, over, positive

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
NAN = float("nan")
SOME_MISSING = exactly([[1.0, NAN, 3.0], [NAN, NAN, 2.0], [0.5, -1.0, 4.0]])
SORTED = exactly([-1.0, 0.0, 0.5, 2.0])
COUNTED = "the size of the result depends on values"

QUANTILES = [
    *[
        OpCase(f"quantile {kind}", lambda t, x, kind=kind:
               t.quantile(x, 0.37, dim=1, interpolation=kind) ** 2, (distinct(3, 5),))
        for kind in INTERPOLATIONS
    ],
    OpCase("quantile of all", lambda t, x: t.quantile(x, 0.4), (distinct(3, 4),)),
    OpCase("quantiles", lambda t, x, q: x.quantile(q, dim=0),
           (distinct(5, 2), exactly([0.1, 0.77, 0.93]))),
    OpCase("quantiles of all, kept", lambda t, x: x.quantile(t.tensor([0.2, 0.7], dtype=x.dtype),
                                                           keepdim=True), (distinct(2, 4),)),
    OpCase("quantile, kept", lambda t, x: x.quantile(0.6, dim=1, keepdim=True),
           (distinct(2, 4, 3),)),
    OpCase("quantile 0-d", lambda t, x: x.quantile(0.5, dim=0), (normal(),)),
    OpCase("quantile 0-d, kept", lambda t, x: x.quantile(t.tensor([0.5], dtype=x.dtype), dim=0,
                                                       keepdim=True), (normal(),)),
    OpCase("quantile with NaN", lambda t, x: x.detach().quantile(0.4, dim=1), (SOME_MISSING,)),
    OpCase("nanquantile", lambda t, x: t.nanquantile(x, 0.4, dim=1), (SOME_MISSING,)),
    OpCase("nanquantile of all", lambda t, x: x.nanquantile(t.tensor([0.0, 1.0], dtype=x.dtype)),
           (SOME_MISSING,)),
    OpCase("nanquantile of none missing", lambda t, x: x.nanquantile(0.4, dim=0),
           (distinct(4, 3),)),
    *over("nanmedian", lambda t, x: t.nanmedian(x),
          [(distinct(5),), (distinct(2, 4),), (SOME_MISSING,), (normal(),)]),
    *over("nanmedian along", lambda t, x: x.nanmedian(dim=1),
          [(distinct(2, 4),), (distinct(2, 3, 2),), (SOME_MISSING,)]),
    OpCase("nanmedian along, kept", lambda t, x: x.nanmedian(0, keepdim=True), (distinct(4, 2),)),
    OpCase("nanmedian of NaN", lambda t, x: x.detach().nanmedian(0), (exactly([NAN, NAN]),)),
    *over("mode", lambda t, x: t.mode(x), [(distinct(5),), (distinct(3, 4),), (normal(),)]),
    OpCase("mode with repeats", lambda t, x: x.mode(0)[0] ** 2,
           (exactly([[1.0, 3.0], [2.0, 3.0], [2.0, 1.0], [0.0, 5.0]]),)),
    OpCase("mode of integers", lambda t, x: x.mode(), (integers(0, 4, 3, 9),)),
    OpCase("mode, kept", lambda t, x: x.mode(1, keepdim=True), (integers(0, 3, 2, 6),)),
    *over("msort", lambda t, x: t.msort(x) ** 2, [(distinct(5),), (distinct(3, 4),)]),
]  # fmt: skip

COUNTS = [
    OpCase("bincount", lambda t, x: t.bincount(x), (integers(0, 6, 9),), not_batched=COUNTED),
    OpCase("bincount to a length", lambda t, x: x.bincount(minlength=9), (integers(0, 6, 9),)),
    OpCase("bincount of weights", lambda t, x, w: t.bincount(x, w.detach(), minlength=6),
           (integers(0, 6, 9), normal(9))),
    OpCase("bincount of nothing", lambda t, x: x.bincount(), (integers(0, 6, 0),),
           not_batched=COUNTED),
    OpCase("searchsorted", lambda t, b, x: t.searchsorted(b, x), (SORTED, normal(3, 4))),
    OpCase("searchsorted on the right", lambda t, b, x: t.searchsorted(b, x, right=True),
           (SORTED, exactly([0.0, 0.5, 9.0]))),
    OpCase("searchsorted of rows", lambda t, b, x: t.searchsorted(b.sort().values, x, side="right"),
           (normal(2, 5), normal(2, 3))),
    OpCase("searchsorted of a number", lambda t, b: t.searchsorted(b, 0.3, out_int32=True),
           (SORTED,)),
    OpCase("searchsorted by an order", lambda t, b, x: t.searchsorted(b, x, sorter=b.argsort()),
           (normal(6), normal(4))),
    OpCase("isin", lambda t, x, y: t.isin(x, y), (integers(0, 9, 3, 4), integers(0, 9, 2, 2))),
    OpCase("isin, inverted", lambda t, x: t.isin(x, 3, invert=True), (integers(0, 9, 5),)),
    OpCase("a number isin", lambda t, x: t.isin(3, x), (integers(0, 9, 5),)),
    *over("unique_consecutive",
          lambda t, x: t.unique_consecutive(x, return_inverse=True, return_counts=True),
          [(integers(0, 3, 9),), (integers(0, 2, 3, 3),), (integers(0, 3, 0),)],
          not_batched=COUNTED),
    OpCase("unique_consecutive along", lambda t, x: x.unique_consecutive(return_counts=True, dim=0),
           (integers(0, 2, 8, 1),), not_batched=COUNTED),
]  # fmt: skip

COVARIANCE = [
    *over("cov", lambda t, x: t.cov(x), [(normal(3, 5),), (normal(4),)]),
    OpCase("cov uncorrected", lambda t, x: x.cov(correction=0), (normal(2, 4),)),
    OpCase("cov with weights", lambda t, x, f, a: x.cov(fweights=f, aweights=a),
           (normal(2, 4), integers(1, 4, 4), positive(4))),
    *over("corrcoef", lambda t, x: t.corrcoef(x), [(normal(3, 5),)]),
]  # fmt: skip

CASES = [*QUANTILES, *COUNTS, *COVARIANCE]
