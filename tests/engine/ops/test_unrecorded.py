"""A gradient that is not recorded, which may be computed of arrays at once, is the recorded one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gradtool.engine as engine
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.cases.families import FAMILIES
from tests.engine.ops.compare import Run, random_like

pytestmark = pytest.mark.filterwarnings(r"ignore:torch\.\w+ is deprecated:UserWarning")

CASES = [
    pytest.param(case, id=f"{family}: {case.id}")
    for family, cases in FAMILIES.items()
    for case in cases
]


@pytest.mark.parametrize("case", CASES)
def test_recorded_or_not_a_gradient_is_the_same(case: OpCase) -> None:
    rng = case.generator()
    run = Run(engine, case, [arg.draw(rng) for arg in case.args])
    if not run.roots:
        pytest.skip("no gradient")
    cotangents = [engine.tensor(random_like(each, rng), dtype=each.dtype) for each in run.roots]
    recorded, plain = (_gradients(run, cotangents, create_graph=how) for how in (True, False))
    for one, other in zip(recorded, plain, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            np.testing.assert_allclose(
                other.numpy(force=True), one.numpy(force=True), rtol=1e-12, atol=1e-14
            )


def _gradients(run: Run, cotangents: list[Any], *, create_graph: bool) -> Any:
    return engine.autograd.grad(
        run.roots,
        run.sources,
        cotangents,
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )


def test_warnings_made_errors_change_no_gradient() -> None:
    x = engine.tensor([0.0, 1.0], requires_grad=True)
    y = engine.tensor([0.0, 2.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = engine.autograd.grad((x / y).sum(), (x, y))
    assert first.tolist() == [float("inf"), 0.5]
    assert np.isnan(second[0].item())


def test_a_gradient_has_memory_of_its_own() -> None:
    x = engine.ones(3, requires_grad=True)
    cotangent = engine.ones(3)
    for result in (x * 1.0, x.exp(), -x, x.clamp(0, 2), engine.where(x > 0, x, 0.0)):
        (gradient,) = engine.autograd.grad(result, x, cotangent)
        assert not np.shares_memory(gradient.numpy(), cotangent.numpy())
