"""Elements brought together at positions, and copies with a part replaced."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from tests.engine.ops.cases.case import (
    OpCase,
    distinct,
    exactly,
    integers,
    mask,
    nonzero,
    normal,
    over,
)

AT = exactly([[0, 1, 2, 0], [2, 0, 1, 1], [0, 0, 0, 1], [2, 2, 0, 0]], "int64")
NOT_FORWARD = "PyTorch has no forward mode for it"
NO_TANGENT = "PyTorch's forward mode takes a product for a constant"
VALUES_DECIDE = "whether the source is long enough depends on the values"


def silent(call: Callable[..., Any]) -> Callable[..., Any]:
    """Without PyTorch's warning that a function is in beta or deprecated."""

    def ignore_fp_warnings(*args: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(*args)

    return ignore_fp_warnings


SCATTER_REDUCE = [
    case
    for reduce, arg in (
        ("sum", normal), ("mean", normal), ("prod", nonzero), ("amax", normal), ("amin", normal)
    )
    for include in (True, False)
    for case in (
        *over(
            f"scatter_reduce {reduce} {'with' if include else 'without'} self",
            lambda t, x, s, i, reduce=reduce, include=include:
                x.scatter_reduce(0, i, s, reduce, include_self=include),
            [(arg(3, 4), arg(4, 4), AT), (arg(3), arg(5), integers(0, 3, 5)),
             (arg(5, 2), arg(2, 2), integers(0, 5, 2, 2))],
            not_pushed=NO_TANGENT if reduce == "prod" else "",
        ),
        OpCase(
            f"index_reduce {reduce} {'with' if include else 'without'} self",
            silent(lambda t, x, s, i, reduce=reduce, include=include:
                   x.index_reduce(1, i, s, reduce, include_self=include)),
            (arg(3, 4), arg(3, 5), integers(0, 4, 5)),
            not_pushed=NOT_FORWARD,
        ),
    )
    if not (reduce == "sum" and case.name.startswith("index"))
] + [
    OpCase("scatter_reduce along the last", lambda t, x, s, i: t.scatter_reduce(x, -1, i, s, "sum"),
           (normal(2, 3), normal(2, 5), integers(0, 3, 2, 5))),
    OpCase("scatter_reduce of integers", lambda t, x, s, i: x.scatter_reduce(0, i, s, "mean"),
           (integers(0, 9, 3), integers(0, 9, 5), integers(0, 3, 5))),
    OpCase("scatter_reduce amax of integers",
           lambda t, x, s, i: x.scatter_reduce(0, i, s, "amax", include_self=False),
           (integers(0, 9, 3), integers(-9, 0, 5), integers(0, 3, 5))),
    OpCase("scatter_reduce prod with a zero", lambda t, x, s, i: x.scatter_reduce(0, i, s, "prod"),
           (exactly([2.0, 3.0, 0.0]), exactly([0.0, 2.0, 7.0, 0.0, 5.0]),
            exactly([0, 0, 1, 1, 2], "int64")), not_pushed=NO_TANGENT),
    OpCase("scatter_reduce prod with zeros", lambda t, x, s, i: x.scatter_reduce(0, i, s, "prod"),
           (exactly([2.0, 3.0, 0.0]), exactly([0.0, 2.0, 0.0, 0.0, 5.0]),
            exactly([0, 0, 1, 1, 2], "int64")), second_order=False, not_pushed=NO_TANGENT),
    OpCase("scatter_reduce amax with ties", lambda t, x, s, i: x.scatter_reduce(0, i, s, "amax"),
           (exactly([1.0, 2.0]), exactly([1.0, 1.0, 2.0, 0.0]), exactly([0, 0, 1, 1], "int64")),
           not_pushed="which of equal elements is the largest, PyTorch does not push"),
    OpCase("scatter_reduce 0-d", lambda t, x, s, i: x.scatter_reduce(0, i, s, "sum"),
           (normal(), normal(), integers(0, 1))),
    OpCase("scatter_reduce in place", lambda t, x, s, i: x.clone().scatter_reduce_(0, i, s, "prod"),
           (nonzero(3), nonzero(4), integers(0, 3, 4)), not_pushed=NO_TANGENT),
    OpCase("scatter adds", silent(lambda t, x, s, i: x.detach().scatter(0, i, s.detach(),
                                                                       reduce="add")),
           (normal(3, 4), normal(4, 4), AT)),
    OpCase("scatter multiplies", lambda t, x, i: x.detach().scatter(0, i, 2.0, reduce="multiply"),
           (normal(3, 4), AT)),
]  # fmt: skip

REPLACED = [
    OpCase("select_scatter", lambda t, x, s: t.select_scatter(x, s, 0, 1) ** 2,
           (normal(3, 4), normal(4))),
    OpCase("select_scatter", lambda t, x, s: x.select_scatter(s, -1, -2),
           (normal(3, 4), normal(3))),
    OpCase("slice_scatter", lambda t, x, s: t.slice_scatter(x, s, 1, 1, None, 2) ** 2,
           (normal(3, 4), normal(3, 2))),
    OpCase("slice_scatter", lambda t, x, s: x.slice_scatter(s), (normal(3, 4), normal(3, 4))),
    OpCase("slice_scatter", lambda t, x, s: x.slice_scatter(s, start=-2),
           (normal(3, 4), normal(2, 4))),
    OpCase("diagonal_scatter", lambda t, x, s: t.diagonal_scatter(x, s) ** 2,
           (normal(3, 4), normal(3))),
    OpCase("diagonal_scatter", lambda t, x, s: x.diagonal_scatter(s, -1, 0, 2),
           (normal(3, 2, 4), normal(2, 2))),
    OpCase("narrow_copy", lambda t, x: t.narrow_copy(x, 1, 1, 2), (normal(3, 4),),
           not_pushed=NOT_FORWARD),
    OpCase("index_fill", lambda t, x, i: x.index_fill(0, i, 2.5) ** 2,
           (normal(3, 4), integers(-3, 3, 2))),
    OpCase("index_fill with a tensor", lambda t, x, v, i: t.index_fill(x, 1, i, v) ** 2,
           (normal(3, 4), normal(), exactly([0, 2, 2], "int64"))),
    OpCase("index_fill in place", lambda t, x, i: x.clone().index_fill_(0, i, -1),
           (normal(3), integers(0, 3, 1))),
    OpCase("index_fill 0-d", lambda t, x, i: x.index_fill(0, i, 2), (normal(), integers(0, 1, 1))),
    OpCase("put", lambda t, x, s, i: t.put(x, i, s) ** 2,
           (normal(3, 4), normal(2, 2), exactly([[0, -1], [5, 3]], "int64"))),
    OpCase("put adds", lambda t, x, s, i: x.put(i, s, accumulate=True),
           (normal(3, 4), normal(3), exactly([0, 0, 7], "int64"))),
    OpCase("put in place", lambda t, x, s, i: x.clone().put_(i, s),
           (normal(3, 2), normal(2), exactly([1, 3], "int64"))),
    OpCase("masked_scatter", lambda t, x, s, m: t.masked_scatter(x, m, s) ** 2,
           (normal(3, 4), normal(12), mask(3, 4)), not_batched=VALUES_DECIDE),
    OpCase("masked_scatter broadcasts", lambda t, x, s, m: x.masked_scatter(m, s),
           (normal(3, 4), normal(4, 3), mask(4)), not_batched=VALUES_DECIDE),
    OpCase("masked_scatter in place", lambda t, x, s, m: x.clone().masked_scatter_(m, s),
           (normal(3), normal(5), mask(3)), not_batched=VALUES_DECIDE),
    OpCase("masked_scatter of nothing", lambda t, x, s, m: x.masked_scatter(m, s),
           (normal(3), normal(0), exactly([False] * 3, "bool"))),
]  # fmt: skip

SEGMENTS = [
    case
    for reduce, arg in (
        ("sum", normal), ("mean", normal), ("prod", nonzero), ("max", distinct), ("min", distinct)
    )
    for case in over(
        f"segment_reduce {reduce}",
        lambda t, x, reduce=reduce: t.segment_reduce(x, reduce, lengths=t.tensor([2, 1, 3])),
        [(arg(6),), (arg(6, 2),)],
        second_order=False, not_pushed=NOT_FORWARD,
    )
] + [
    OpCase("segment_reduce with offsets",
           lambda t, x: t.segment_reduce(x, "sum", offsets=t.tensor([0, 2, 2, 5])),
           (normal(5),), second_order=False, not_pushed=NOT_FORWARD),
    OpCase("segment_reduce of nothing",
           lambda t, x: t.segment_reduce(x, "mean", lengths=t.tensor([2, 0, 3])).nan_to_num(0.5),
           (normal(5),), second_order=False, not_pushed=NOT_FORWARD),
    OpCase("segment_reduce from a start",
           lambda t, x: t.segment_reduce(x, "max", lengths=t.tensor([2, 0, 3]), initial=0.2),
           (distinct(5),), second_order=False, not_pushed=NOT_FORWARD),
]  # fmt: skip

CASES = [*SCATTER_REDUCE, *REPLACED, *SEGMENTS]
