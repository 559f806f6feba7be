"""Any configuration is read, or refused in one line; cases that are read can be made."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradtool.adapters.common.random_state import generator
from gradtool.cases.arguments import make_array
from gradtool.config.files import load_config
from gradtool.config.schema import CaseConfig, Defaults, File, FunctionConfig
from gradtool.config.tensor_spec import DType, TensorSpec, problem_with
from gradtool.errors import UsageError

STRUCTS = (File, Defaults, FunctionConfig, CaseConfig, TensorSpec)
KEYS = sorted({name for struct in STRUCTS for name in struct.__struct_fields__})
DTYPES = get_args(DType)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.sampled_from(["GT1", "GT101", "cpu", "float64", "int64", "", "a b", "x.py::F"]),
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*KEYS, "literal", "Linear", "x.py::F"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(check=anything, functions=anything)
def test_any_configuration_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, check: Any, functions: Any
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "gradtool.yaml"
    value = {"version": 1, "check": check, "functions": functions}
    path.write_text(yaml.safe_dump(value), encoding="utf-8")
    try:
        load_config(path)
    except UsageError as error:
        assert "\n" not in str(error)  # noqa: PT017 - not raising is right too


specs = st.builds(
    TensorSpec,
    shape=st.lists(st.integers(0, 4), max_size=3).map(tuple),
    dtype=st.none() | st.sampled_from(DTYPES),
    low=st.none() | st.integers(-4, 4),
    high=st.none() | st.integers(-4, 4),
    requires_grad=st.none() | st.booleans(),
)


@given(specs)
def test_a_spec_without_a_problem_is_made_as_it_says(spec: TensorSpec) -> None:
    if problem_with(spec):
        return
    array = make_array(spec, generator("test"), "float64")
    assert array.shape == spec.shape
    assert array.dtype == (spec.dtype or "float64")
    if spec.low is not None and spec.high is not None and array.dtype.kind in "iuf":
        assert (array >= spec.low).all()
        assert (array <= spec.high).all()
        assert spec.low == spec.high or array.dtype.kind == "f" or (array < spec.high).all()
    assert np.isfinite(array).all()
