"""The engine passes its own gate: the checker finds nothing wrong with any operation.

Unlike the comparison with PyTorch this needs no PyTorch: it holds the table to its own
forward computations. Cases whose points are chosen because a derivative jumps there are left
to the comparison.
"""

from __future__ import annotations

from typing import Any

import pytest

import gradtool.engine as engine
from gradtool.gate.adapters.bundled import BundledDifferentiable
from gradtool.results import Verdict
from gradtool.verify.examine import examine
from tests.engine.ops.case import Arg, OpCase
from tests.engine.ops.compare import flatten
from tests.engine.ops.families import FAMILIES

CODES = ("GT101", "GT106", "GT201", "GT202", "GT203")
GOOD = (Verdict.PASS, Verdict.SKIPPED)

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


def smallest_of_each_name(cases: list[OpCase]) -> list[OpCase]:
    """One case of each operation: the comparison with PyTorch has the other shapes."""
    smallest: dict[str, tuple[int, OpCase]] = {}
    for case in cases:
        if case.name in LEFT_TO_THE_COMPARISON or any(is_exact(arg) for arg in case.args):
            continue
        rng = case.generator()
        size = sum(arg.draw(rng).size for arg in case.args) or 1_000_000
        if case.name not in smallest or size < smallest[case.name][0]:
            smallest[case.name] = (size, case)
    return [case for _, case in smallest.values()]


def is_exact(arg: Arg) -> bool:
    """Whether the values are chosen, rather than drawn."""
    return arg.text.startswith("exactly")


CASES = [
    pytest.param(case, id=f"{family}: {case.id}")
    for family, cases in FAMILIES.items()
    for case in smallest_of_each_name(cases)
]


def differentiable_outputs(case: OpCase, *inputs: Any) -> tuple[Any, ...]:
    """What the call returns, but for numbers and tensors without derivatives."""
    found = flatten(case.call(engine, *inputs))
    return tuple(each for each in found if isinstance(each, engine.Tensor) and is_smooth(each))


def is_smooth(tensor: Any) -> bool:
    return bool(tensor.is_floating_point() or tensor.is_complex())


@pytest.mark.parametrize("case", CASES)
def test_finds_nothing_wrong(case: OpCase) -> None:
    rng = case.generator()
    inputs = tuple(engine.tensor(arg.draw(rng)) for arg in case.args)
    for each in inputs:
        each.requires_grad = is_smooth(each)
    subject = BundledDifferentiable(
        lambda *args: differentiable_outputs(case, *args), inputs, {}, name=case.name
    )
    outcomes, _ = examine(subject, codes=CODES, seed=0)
    wrong = [
        (outcome.rule.code, outcome.reason, [flaw.message for flaw in outcome.flaws])
        for outcome in outcomes
        if outcome.verdict not in GOOD
    ]
    assert not wrong
