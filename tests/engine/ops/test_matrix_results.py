"""What functions of matrices return where there is no result, and what drivers leave empty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine

pytestmark = pytest.mark.torch

SINGULAR = [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 4.0]]]
INDEFINITE = [[[1.0, 0.0], [0.0, 1.0]], [[4.0, 2.0], [2.0, 1.0]]]


def both(torch: Any, call: Any) -> tuple[list[Any], list[Any]]:
    """The results of both engines, or their errors by type and text."""
    found = []
    for t in (engine, torch):
        try:
            out = call(t)
            found.append([np.asarray(each) for each in (out if isinstance(out, tuple) else (out,))])
        except RuntimeError as error:
            found.append([type(error).__name__, str(error)])
    return found[0], found[1]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.linalg.inv_ex(t.tensor(SINGULAR)),
        lambda t: t.linalg.inv_ex(t.tensor(SINGULAR), check_errors=True),
        lambda t: t.linalg.solve_ex(t.tensor(SINGULAR), t.ones(2, 2)),
        lambda t: t.linalg.solve_ex(t.tensor(SINGULAR), t.ones(2, 2), check_errors=True),
        lambda t: t.linalg.cholesky_ex(t.tensor(INDEFINITE)),
        lambda t: t.linalg.cholesky_ex(t.tensor(INDEFINITE), upper=True),
        lambda t: t.linalg.cholesky_ex(t.tensor(INDEFINITE), check_errors=True),
        lambda t: t.linalg.cholesky(t.full((2, 2), float("nan"))),
        lambda t: t.linalg.lu_factor_ex(t.tensor(SINGULAR)),
        lambda t: t.linalg.lu_factor(t.tensor(SINGULAR)),
        lambda t: t.linalg.solve_triangular(t.zeros(2, 2), t.ones(2, 2), upper=True),
        lambda t: t.cholesky_solve(t.ones(2, 2), t.zeros(2, 2)),
        lambda t: t.cholesky_inverse(t.zeros(2, 2)),
        lambda t: t.linalg.svdvals(t.full((2, 2), float("nan"))),
        lambda t: t.linalg.ldl_factor_ex(t.zeros(2, 2)),
        lambda t: t.linalg.ldl_factor_ex(t.tensor([[0.0, 1.0], [1.0, 0.0]])),
        lambda t: t.linalg.cond(t.zeros(2, 2), 1),
        lambda t: t.linalg.cond(t.zeros(0, 0)),
        lambda t: t.linalg.matrix_rank(t.zeros(2, 0, 3)),
        lambda t: t.linalg.tensorinv(t.ones(2, 2, 4), ind=0),
        lambda t: t.linalg.tensorinv(t.ones(2, 2, 4), ind=1),
    ],
)  # fmt: skip
def test_what_has_no_result_gives_that_of_torch(torch: Any, call: Any) -> None:
    found, expected = both(torch, call)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3), (2, 4, 3), (0, 3), (2, 0, 3)])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_drivers_of_lstsq_fill_what_those_of_torch_do(
    torch: Any, driver: str, shape: tuple[int, ...], dtype: str
) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(each).astype(dtype) for each in (shape, (*shape[:-1], 2)))

    def run(t: Any) -> Any:
        return t.linalg.lstsq(t.from_numpy(x), t.from_numpy(y), driver=driver)

    for one, other in zip(run(engine), run(torch), strict=True):
        assert str(one.dtype) == str(other.dtype)
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_symmetric_factors_and_their_pivots_are_those_of_torch(
    torch: Any, hermitian: bool, dtype: str
) -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((20, 5, 5)).astype(dtype)
    if dtype == "complex128":
        x = x + 1j * rng.standard_normal(x.shape)
    x[::2, range(5), range(5)] = 0  # which takes blocks of two
    x = x + (x.conj() if hermitian else x).swapaxes(-2, -1)
    y = rng.standard_normal((20, 5, 2)).astype(dtype)

    def run(t: Any) -> Any:
        factors = t.linalg.ldl_factor_ex(t.from_numpy(x), hermitian=hermitian)
        return (*factors, t.linalg.ldl_solve(*factors[:2], t.from_numpy(y), hermitian=hermitian))

    for one, other in zip(run(engine), run(torch), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("function", ["svd_lowrank", "pca_lowrank"])
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (2, 5, 4)])
def test_low_rank_factors_draw_what_torch_draws(
    torch: Any, function: str, shape: tuple[int, ...]
) -> None:
    x = np.random.default_rng(2).standard_normal(shape)

    def run(t: Any) -> Any:
        t.manual_seed(3)
        return getattr(t, function)(t.from_numpy(x), q=2)

    left, values, right = (np.asarray(each) for each in run(engine))
    for one, other in zip((left, values, right), run(torch), strict=True):
        np.testing.assert_allclose(np.abs(one), np.abs(np.asarray(other)), rtol=1e-9, atol=1e-9)


def test_a_batch_larger_than_a_panel_is_factored(torch: Any) -> None:
    x = np.random.default_rng(4).standard_normal((2, 70, 90))
    found, expected = (t.linalg.lu_factor(t.from_numpy(x)) for t in (engine, torch))
    np.testing.assert_allclose(np.asarray(found[0]), np.asarray(expected[0]), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(np.asarray(found[1]), np.asarray(expected[1]))


@pytest.mark.parametrize("weights", [{}, {"aweights": True}, {"fweights": True, "aweights": True}])
def test_covariance_is_computed_in_the_dtype_of_its_weights(torch: Any, weights: Any) -> None:
    rng = np.random.default_rng(5)
    x, heavy, often = (
        rng.standard_normal((3, 6)),
        rng.random(6).astype("float32"),
        [1, 2, 3, 1, 1, 2],
    )

    def run(t: Any) -> Any:
        given = {"aweights": t.from_numpy(heavy), "fweights": t.tensor(often)}
        return t.cov(t.from_numpy(x), **{name: given[name] for name in weights})

    np.testing.assert_allclose(np.asarray(run(engine)), np.asarray(run(torch)), rtol=1e-6)


@pytest.mark.parametrize("parts", [(3.0, 0.0), (1.0, 9.0)])
def test_phases_of_running_log_sums_are_those_of_torch(
    torch: Any, parts: tuple[float, float]
) -> None:
    rng = np.random.default_rng(6)
    x = parts[0] * rng.standard_normal((4, 9)) + 1j * parts[1] * rng.standard_normal((4, 9))
    x[0, 3], x[1, 0] = -np.inf, -np.inf

    def run(t: Any) -> Any:
        return np.asarray(t.logcumsumexp(t.from_numpy(x), 1))

    np.testing.assert_allclose(run(engine), run(torch), rtol=1e-12)
