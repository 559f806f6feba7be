"""Arrays are made from specifications without warnings, in any dtype of the run."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.adapters.common.random_state import generator
from gradtool.cases.arguments import make_array
from gradtool.config.tensor_spec import TensorSpec, problem_with


@pytest.mark.parametrize(
    "spec", [TensorSpec(values=[1e39, -1e39]), TensorSpec(shape=(2,), low=1e39, high=2e39)]
)
def test_what_the_dtype_of_the_run_cannot_hold_becomes_infinite(spec: TensorSpec) -> None:
    assert problem_with(spec) is None
    assert np.isinf(make_array(spec, generator("test"), "float32")).all()
    assert np.isfinite(make_array(spec, generator("test"), "float64")).all()
