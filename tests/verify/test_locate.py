"""Wrong entries of Jacobians too large to compare as a whole: found, named, and at what cost."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from gradtool.results.report import Verdict
from gradtool.verify.examine import examine

N = 30_000
WRONG = 17_123


def spoiled(gradient, factor):
    """The gradient with one entry off."""
    gradient = np.array(gradient)
    gradient.reshape(-1)[WRONG] *= factor
    return gradient


def elementwise(factor):
    return np.sin, lambda p, c: spoiled(c[0] * np.cos(p[0]), factor)


def reduction(factor):
    return lambda x: np.sum(np.sin(x)), lambda p, c: spoiled(c[0] * np.cos(p[0]), factor)


def matrix_of_slices(factor):
    """Each output sees one row of the input."""
    return (
        lambda x: np.sin(x).sum(axis=1),
        lambda p, c: spoiled(c[0][:, None] * np.cos(p[0]), factor),
    )


def _point(shape, dtype=np.float64):
    return np.random.default_rng(5).uniform(0.2, 1.2, shape).astype(dtype)


def _gt101(function, made, primal):
    forward, vjp = made
    (outcome,), cost = examine(function(forward, vjp, (primal,)), codes=["GT101"])
    return outcome, cost


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [elementwise, reduction])
def test_one_entry_off_by_a_tenth_is_found_and_named(function, make, dtype) -> None:
    outcome, cost = _gt101(function, make(1.1), _point(N, dtype))
    assert outcome.verdict is Verdict.FAIL
    (flaw,) = outcome.flaws
    assert flaw.evidence.input_index == (WRONG,)
    assert flaw.evidence.output == 0
    assert flaw.evidence.output_index == ((WRONG,) if make is elementwise else ())
    assert flaw.evidence.analytic == pytest.approx(1.1 * flaw.evidence.numeric, rel=1e-3)
    assert f"with respect to the input at [{WRONG}]" in flaw.message
    assert "no other wrong entry" in flaw.hint
    assert cost.forward < 300
    assert cost.backward < 50


def test_the_entry_of_a_matrix_is_named_by_its_index(function) -> None:
    outcome, _ = _gt101(function, matrix_of_slices(1.1), _point((200, 150)))
    (flaw,) = outcome.flaws
    row, column = divmod(WRONG, 150)
    assert flaw.evidence.input_index == (row, column)
    assert flaw.evidence.output_index == (row,)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [elementwise, reduction, matrix_of_slices])
def test_a_right_gradient_passes_at_a_fixed_price(function, make, dtype) -> None:
    outcome, cost = _gt101(function, make(1.0), _point((200, 150), dtype))
    assert outcome.verdict is Verdict.PASS
    assert cost.forward <= 64
    assert cost.backward <= 64


def test_many_wrong_entries_are_not_said_to_be_one(function) -> None:
    wrong = lambda p, c: 1.1 * c[0] * np.cos(p[0])  # noqa: E731 - shorter than a def
    outcome, _ = _gt101(function, (np.sin, wrong), _point(N))
    (flaw,) = outcome.flaws
    assert "no other entry is wrong" not in (flaw.hint or "")


def test_memory_is_a_small_multiple_of_the_input(function) -> None:
    primal = _point(300_000)
    tracemalloc.start()
    try:
        _gt101(function, reduction(1.0), primal)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 8 * primal.nbytes + 20e6
