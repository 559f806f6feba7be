"""The cases that the checker is asked about.

One of each operation for the rules that find most; and a cover for what is asked many times
over: for each primitive the case that runs it and little else.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterable, Iterator

import numpy as np
import pytest

import gradtool.engine as engine
from gradtool.engine._dtypes import dtype
from gradtool.engine._ops.core.primitive import Primitive
from tests.engine.ops.cases.case import Arg, OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.own_gate import more_cases
from tests.engine.ops.own_gate.maps import drawn
from tests.engine.ops.own_gate.recording import REFUSALS, runs_of

LEFT_TO_THE_COMPARISON = {
    "x / 0": "infinite everywhere",
    "0 ** x": "its second derivative is NaN, as PyTorch's is",
    "half": "in half precision the checker can only say that it cannot tell",
    "round to 2": "steps of 0.01 are closer than a difference quotient can tell apart",
    **{
        f"x[{key}] = 0-d": "a position that is written twice has PyTorch's gradient twice"
        for key in (
            "list", "matrix", "broadcast pair", "integer before, apart", "integer after, apart",
            "integer beside",
        )
    },
}  # fmt: skip
"""Name of a case -> why a numeric derivative has nothing to say about it."""

REAL_ONLY = {
    "div floor": "shares its name with the quotient that is not rounded",
    "div trunc": "shares its name with the quotient that is not rounded",
    "float": "makes real numbers of complex ones",
}
"""Name of a case -> why it is not asked about complex numbers though its primitives claim them."""

ENOUGH = 4
"""Elements with which an operation shows what it does: along a dimension, across a broadcast."""


def elements(case: OpCase) -> int:
    """The number of elements of all arguments."""
    rng = case.generator()
    return sum(np.size(arg.draw(rng)) for arg in case.args)


def is_chosen(arg: Arg) -> bool:
    """Whether the values are chosen, rather than drawn: a derivative may jump there."""
    return arg.text.startswith("exactly")


@functools.cache
def one_of_each() -> tuple[tuple[str, OpCase], ...]:
    """Family and case: of each operation the smallest case that is not too small."""
    found: dict[tuple[str, str], tuple[tuple[bool, int], OpCase]] = {}
    for family, case in _drawn():
        size = elements(case)
        rank = (size < ENOUGH, size if size >= ENOUGH else -size)
        best = found.get((family, case.name))
        if best is None or rank < best[0]:
            found[family, case.name] = (rank, case)
    return tuple((family, case) for (family, _), (_, case) in found.items())


def _drawn() -> Iterator[tuple[str, OpCase]]:
    for family, cases in {**FAMILIES, "more": more_cases.CASES}.items():
        for case in cases:
            if case.name not in LEFT_TO_THE_COMPARISON and not any(map(is_chosen, case.args)):
                yield family, case


@functools.cache
def cover(dtype: dtype | None = None) -> tuple[tuple[str, OpCase], ...]:
    """For each primitive with a derivative the case whose forward runs it and little else.

    Of those that take numbers of a dtype, where one is given.
    """
    best: dict[Primitive, tuple[tuple[int, int], int]] = {}
    cases = one_of_each()
    for place, (_, case) in enumerate(cases):
        if dtype is not None and not is_taken(case, dtype):
            continue
        forward, _ = runs_of(case)
        rank = (len(forward), elements(case))
        for primitive, _ in forward:
            if primitive.vjps and (primitive not in best or rank < best[primitive][0]):
                best[primitive] = (rank, place)
    return tuple(cases[place] for place in sorted({place for _, place in best.values()}))


def is_taken(case: OpCase, dtype: dtype) -> bool:
    """Whether the operation, which may do more than its primitives, takes numbers of a dtype."""
    try:
        with engine.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.call(engine, *[engine.tensor(each) for each in drawn(case, dtype.name)])
    except REFUSALS:
        return False
    return True


def claiming(dtype: dtype) -> list[tuple[str, OpCase]]:
    """The cases of the cover all of whose primitives claim a dtype."""
    return [
        (family, case)
        for family, case in cover(dtype)
        if not (dtype.is_complex and case.name in REAL_ONLY)
        if all(dtype in each.dtypes for each in _floating(case))
    ]


def _floating(case: OpCase) -> list[Primitive]:
    """What forward runs on floating or complex numbers."""
    forward, _ = runs_of(case)
    return [primitive for primitive, dtype in forward if dtype.is_differentiable]


def parameters(cases: Iterable[tuple[str, OpCase]]) -> list[object]:
    """For `pytest.mark.parametrize`."""
    return [pytest.param(case, id=f"{family}: {case.id}") for family, case in cases]
