"""The checks that PyTorch has too, `gradcheck` and `gradgradcheck`, on both sides."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any

from tests.benchmarks.pairs import Pair, Timed, timed
from tests.benchmarks.subjects import LARGE, SUBJECTS, Subject, sides
from tests.benchmarks.table import Table, milliseconds, times

ABOUT = """Here and in the next three tables, both tools answer the same question, with PyTorch's
signature and defaults. PyTorch's `gradcheck` evaluates one perturbed input and one unit cotangent
at a time."""
COLUMNS = ("Function and inputs", "gradtool", "PyTorch", "gradtool / PyTorch")


def tables() -> Iterable[Table]:
    """One for each kind of check."""
    yield _table("Full Jacobian: gradcheck", [_first(LARGE)], ABOUT)
    yield _table("First and second order: gradcheck + gradgradcheck", map(_both, SUBJECTS))
    fast = [_first(each, fast_mode=True) for each in (LARGE, *SUBJECTS)]
    yield _table("gradcheck(fast_mode=True)", fast)
    fast = [_both(each, fast_mode=True) for each in SUBJECTS]
    yield _table("gradcheck + gradgradcheck, fast_mode=True", fast)


def _table(title: str, pairs: Iterable[Pair], about: str = "") -> Table:
    found = [timed(pair) for pair in pairs]
    return Table(title, about, COLUMNS, [_row(each) for each in found], [_summary(found)])


def _row(each: Timed) -> tuple[str, ...]:
    return each.name, milliseconds(each.ours), milliseconds(each.theirs), times(each.ratio)


def _summary(found: list[Timed]) -> str:
    faster = [1 / each.ratio for each in found]
    if len(faster) == 1:
        return f"gradtool is {faster[0]:.1f} times as fast."
    mean = statistics.geometric_mean(faster)
    return (
        f"On average (geometric mean), gradtool runs at {mean:.2f} times PyTorch's speed, and in "
        f"every row at {min(faster):.2f}\ntimes or more."
    )


def _first(subject: Subject, **options: Any) -> Pair:
    def runs(autograd: Any, function: Callable[..., Any], inputs: Any) -> Callable[[], Any]:
        return lambda: autograd.gradcheck(function, inputs, **options)

    return Pair(subject.words, *(runs(*side) for side in sides(subject)))


def _both(subject: Subject, **options: Any) -> Pair:
    def runs(autograd: Any, function: Callable[..., Any], inputs: Any) -> Callable[[], Any]:
        return lambda: (
            autograd.gradcheck(function, inputs, **options),
            autograd.gradgradcheck(function, inputs, **options),
        )

    return Pair(subject.words, *(runs(*side) for side in sides(subject)))
