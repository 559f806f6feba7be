"""Run a case on CUDA and on the CPU, and compare all that comes out."""

from __future__ import annotations

import gradtool.engine as engine
from tests.device.on_cuda import OnCuda
from tests.engine.ops.cases.case import OpCase
from tests.engine.ops.compare import Run, compare, compare_outputs, random_like

ABOUT_THE_DEVICE = {"type"}
"""Names of cases whose result says where the tensor lies."""

LEAVES_THE_DEVICE = {"to", "numpy", "cpu"}
"""Names of cases that ask for a tensor in host memory."""


def check_on_cuda(case: OpCase, tolerance: float | None = None) -> None:
    """Assert that CUDA gives what the CPU gives: values, dtypes, gradients of both orders."""
    tolerance = case.tolerance if tolerance is None else tolerance
    rng = case.generator()
    arrays = [arg.draw(rng) for arg in case.args]
    there, here = Run(OnCuda(), case, arrays), Run(engine, case, arrays)
    compare_outputs(there.outputs, here.outputs, tolerance)
    if case.name in LEAVES_THE_DEVICE or not here.outputs:
        return
    assert all(each.is_cuda for each in there.outputs if isinstance(each, engine.Tensor))
    if not here.roots:
        return
    cotangents = [random_like(each, rng) for each in here.roots]
    compare("gradient", *[run.first_order(cotangents) for run in (there, here)], tolerance)
    if case.second_order:
        directions = [random_like(each, rng) for each in here.sources]
        found = [run.second_order(directions) for run in (there, here)]
        compare("second-order gradient", *found, tolerance)
