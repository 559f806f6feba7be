"""Objects that hold tensors of one engine are not given to another."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gradtool import engine
from gradtool.checking.second_engine import is_bound
from gradtool.engine import nn


class Plan:
    def __init__(self) -> None:
        self.settings = SimpleNamespace(weights=[engine.ones(2)])

    def apply(self) -> None:
        """Be a method of an object with tensors."""


@pytest.mark.parametrize(
    "value",
    [
        nn.Linear(2, 3),
        [nn.Linear(2, 3)],
        SimpleNamespace(scale=engine.ones(1)),
        Plan(),
        Plan().apply,
    ],
)
def test_an_object_with_tensors_is_bound_to_its_engine(value: object) -> None:
    assert is_bound(value)


@pytest.mark.parametrize(
    "value",
    [
        engine.ones(2),
        [engine.ones(2)],
        3,
        "mean",
        np.ones(2),
        engine,
        len,
        SimpleNamespace(a=1),
        Plan,
    ],
)
def test_a_tensor_alone_or_a_plain_object_is_not(value: object) -> None:
    assert not is_bound(value)
