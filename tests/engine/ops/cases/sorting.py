"""Order along a dimension."""

from __future__ import annotations

from tests.engine.ops.cases.case import OpCase, distinct, exactly, integers, over

ANY = [(distinct(5),), (distinct(3, 4),), (distinct(2, 3, 2),), (distinct(),), (distinct(0),),
       (distinct(2, 0),)]  # fmt: skip
FILLED = [args for args in ANY if "0x" not in args[0].text and not args[0].text.endswith("0")]

NAN = float("nan")
WITH_NAN = exactly([2.0, NAN, -1.0, NAN, 0.5])

CASES = [
    *over("sort", lambda t, x: x.sort(), ANY),
    *over("sort", lambda t, x: t.sort(x, 0, descending=True), ANY),
    *over("sort stably", lambda t, x: t.sort(x, dim=0, stable=True), [(integers(0, 3, 9, 2),)]),
    *over("sort stably", lambda t, x: x.sort(dim=0, descending=True, stable=True),
          [(integers(0, 3, 9, 2),)]),
    OpCase("sort squared", lambda t, x: x.sort(dim=0).values ** 2, (distinct(3, 4),)),
    OpCase("sort of booleans", lambda t, x: (x > 0).sort(stable=True), (distinct(4),)),
    OpCase("sort with NaN", lambda t, x: t.sort(x, stable=True), (WITH_NAN,)),
    OpCase("sort with NaN", lambda t, x: t.sort(x, descending=True, stable=True), (WITH_NAN,)),
    *over("argsort", lambda t, x: x.argsort(dim=-1, descending=True), ANY),
    *over("topk", lambda t, x: x.topk(1), FILLED),
    OpCase("topk", lambda t, x: t.topk(x, 2, dim=0, largest=False), (distinct(4, 3),)),
    OpCase("topk", lambda t, x: t.topk(x, 3).values ** 2, (distinct(2, 5),)),
    OpCase("topk of none", lambda t, x: x.topk(0), (distinct(4),)),
    OpCase("topk with NaN", lambda t, x: x.topk(1).values.isnan(), (WITH_NAN,)),
    OpCase("topk with NaN", lambda t, x: x.topk(2, largest=False), (WITH_NAN,)),
    *over("kthvalue", lambda t, x: x.kthvalue(1), FILLED),
    OpCase("kthvalue", lambda t, x: t.kthvalue(x, 3, dim=0, keepdim=True), (distinct(4, 3),)),
    *over("median", lambda t, x: x.median(), FILLED),
    *over("median", lambda t, x: x.median(0), FILLED),
    OpCase("median", lambda t, x: t.median(x, dim=1, keepdim=True), (distinct(3, 4),)),
    OpCase("median with ties", lambda t, x: x.median(), (exactly([2.0, 1.0, 2.0, 3.0]),)),
    OpCase("median with NaN", lambda t, x: x.median(), (WITH_NAN,),
           not_pushed="PyTorch looks for elements that equal NaN, and divides by their number, 0"),
    OpCase("median with NaN", lambda t, x: x.median(0), (WITH_NAN,)),
    OpCase("median of none", lambda t, x: x.detach().median(), (distinct(0),)),
    OpCase("unique", lambda t, x: x.unique(), (integers(0, 4, 3, 3),)),
    OpCase("unique", lambda t, x: t.unique(x, return_inverse=True, return_counts=True),
           (integers(0, 4, 3, 3),)),
    OpCase("unique", lambda t, x: t.unique(x, dim=0, return_inverse=True, return_counts=True),
           (exactly([[1, 2], [0, 5], [1, 2]], "int64"),)),
    OpCase("unique of NaN", lambda t, x: x.detach().unique(return_counts=True), (WITH_NAN,)),
]  # fmt: skip
