"""``--engine torch``: gradtool's check of PyTorch's own Functions, beside PyTorch's `gradcheck`.

``python -m tests.benchmarks.torch_engine`` prints the tables alone.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable

import torch

from gradtool.adapters.common.differentiable import FunctionDifferentiable
from gradtool.adapters.library import load, using
from gradtool.results.report import Verdict
from gradtool.verify.comparison.compare import Decision
from gradtool.verify.examine import examine
from gradtool.verify.subject import Subject as Examined
from tests.benchmarks.pairs import Pair, timed
from tests.benchmarks.subjects import LARGE, SUBJECTS, Subject, sides
from tests.benchmarks.table import Table, milliseconds, times

COLUMNS = ("Function and inputs", "gradtool", "PyTorch", "gradtool / PyTorch")
SAME = """Both check the same Function in PyTorch and compare every entry of its analytic Jacobian
with a numeric one. gradtool also estimates the error of the numeric entry."""
MORE = """gradtool also checks the premises of GT101: that repeated runs of backward and
repeated calls give the same results, that forward is deterministic, that the gradient is linear in
the cotangent, and more."""


def tables() -> Iterable[Table]:
    """One for the comparison alone, one for GT101 with its premises."""
    yield _table("--engine torch: the Jacobian compared", SAME, _compared)
    yield _table("--engine torch: GT101 with its premises", MORE, _asked)


def _table(title: str, about: str, ours: Callable[[FunctionDifferentiable], None]) -> Table:
    found = [timed(_pair(subject, ours)) for subject in (LARGE, *SUBJECTS)]
    rows = [(x.name, milliseconds(x.ours), milliseconds(x.theirs), times(x.ratio)) for x in found]
    faster = [1 / each.ratio for each in found]
    mean = statistics.geometric_mean(faster)
    summary = (
        f"On average (geometric mean), gradtool runs at {mean:.2f} times PyTorch's speed, and in "
        f"every row at {min(faster):.2f}\ntimes or more."
    )
    return Table(title, about, COLUMNS, list(rows), [summary])


def _pair(subject: Subject, ours: Callable[[FunctionDifferentiable], None]) -> Pair:
    *_, (autograd, function, inputs) = sides(subject)

    def run() -> None:
        with using(load("torch")):
            ours(FunctionDifferentiable(function, inputs, {}, name=subject.name))

    return Pair(subject.words, run, lambda: autograd.gradcheck(function, inputs))


def _compared(function: FunctionDifferentiable) -> None:
    assert Examined(function, seed=0).given.worst is Decision.PASS


def _asked(function: FunctionDifferentiable) -> None:
    outcomes, _ = examine(function, codes=["GT101"], seed=0)
    assert [outcome.verdict for outcome in outcomes] == [Verdict.PASS]


if __name__ == "__main__":
    torch.set_num_threads(1)
    for table in tables():
        print(table.text())
