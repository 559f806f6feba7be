"""What a finding keeps to look at: the Jacobian around its worst entry, and the quotients there."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.results.report import Evidence
from gradtool.verify.examine import examine
from gradtool.verify.thresholds.diagnosis import BLOCK_SIZE as MOST
from tests.verify.conftest import NumpyFunction


def evidence_of(function: NumpyFunction, code: str = "GT101") -> Evidence:
    outcomes, _ = examine(function, codes=[code])
    ((flaw,),) = (outcome.flaws for outcome in outcomes)
    assert flaw.evidence is not None
    return flaw.evidence


def cube(shape: tuple[int, ...], mistake=lambda g: 2 * g, seed: int = 0) -> NumpyFunction:
    x = np.random.default_rng(seed).uniform(1, 2, shape)
    return NumpyFunction(lambda x: x**3, lambda p, c: mistake(3 * p[0] ** 2 * c[0]), [x])


def test_a_small_jacobian_is_kept_whole() -> None:
    function = cube((2, 3))
    evidence = evidence_of(function)
    block = evidence.jacobian
    assert (block.rows, block.columns, block.first_row, block.first_column) == (6, 6, 0, 0)
    assert block.column_labels[4] == "[1, 1]"
    assert block.row_labels[4] == "output 0[1, 1]"
    slopes = 3 * function.primals[0].reshape(-1) ** 2
    assert np.allclose(block.numeric, np.diag(slopes), rtol=1e-6)
    assert np.allclose(block.analytic, 2 * np.diag(slopes))
    assert np.allclose(block.difference, np.diag(slopes), rtol=1e-2)
    assert block.wrong == tuple(tuple(i == j for j in range(6)) for i in range(6))
    row, column = block.worst
    assert block.analytic[row][column] == pytest.approx(evidence.analytic)


def test_a_large_one_is_cut_to_the_entries_around_the_worst() -> None:
    def only_one(gradient):
        wrong = gradient.copy()
        wrong[..., 57] *= -1
        return wrong

    block = evidence_of(cube((60,), only_one)).jacobian
    assert (block.rows, block.columns) == (60, 60)
    assert len(block.analytic) == len(block.analytic[0]) == len(block.error) == MOST
    row, column = block.worst
    assert (block.first_row + row, block.first_column + column) == (57, 57)
    assert (block.row_labels[row], block.column_labels[column]) == ("output 0[57]", "[57]")
    assert sum(map(sum, block.wrong)) == 1


def test_parts_of_complex_numbers_are_named() -> None:
    z = np.array([1 + 2j, 3 - 1j])
    block = evidence_of(NumpyFunction(lambda z: z * z, lambda p, c: 2 * p[0] * c[0], [z])).jacobian
    assert block.column_labels == ("[0].re", "[0].im", "[1].re", "[1].im")


def test_quotients_come_nearer_to_the_derivative_until_rounding_takes_over() -> None:
    evidence = evidence_of(cube((3,)))
    curve = evidence.ladder
    away = np.abs(np.array(curve.quotients) - evidence.numeric)
    assert list(curve.steps) == sorted(curve.steps, reverse=True)
    lowest = int(np.argmin(away))
    assert 0 < lowest < len(away) - 1
    assert (np.diff(away[: lowest - 1]) < 0).all()
    assert away[lowest] < 1e-8 < evidence.difference
    assert (away[-3:] <= np.array(curve.noise[-3:])).all()


def test_the_curve_costs_few_evaluations_and_is_made_for_findings_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert len(evidence_of(cube((3,))).ladder.steps) <= 16
    monkeypatch.setattr(
        "gradtool.verify.oracle.numeric_jacobian.ladder_curve", lambda *_: pytest.fail("made")
    )
    examine(cube((3,), lambda gradient: gradient), codes=["GT101"])


def test_steps_out_of_the_domain_are_not_numbers() -> None:
    function = NumpyFunction(
        lambda x: np.log(x), lambda p, c: 2 * c[0] / p[0], [np.array([1e-3, 4.0])]
    )
    curve = evidence_of(function).ladder
    assert all(isinstance(quotient, float) or quotient == "nan" for quotient in curve.quotients)
    assert isinstance(curve.quotients[-1], float)
