"""A function that draws random numbers is one function, and leaves the others alone."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import gradtool.engine
from gradtool.adapters.common import random_state
from gradtool.adapters.common.differentiable import FunctionDifferentiable

torch: Any = gradtool.engine

SOURCES = {
    "engine": lambda x: x * torch.rand(x.shape),
    "numpy": lambda x: x * torch.from_numpy(np.random.rand(*x.shape)),
    "python": lambda x: x * random.random(),
}


def at(function: Any) -> FunctionDifferentiable:
    return FunctionDifferentiable(function, (torch.ones(5),), {}, name="f")


@pytest.mark.parametrize("source", SOURCES)
def test_every_call_draws_the_same_numbers(source: str) -> None:
    function = at(SOURCES[source])
    first, second, third = (function.evaluate(function.primals)[0] for _ in range(3))
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)


def test_a_function_that_does_not_draw_leaves_the_generators_alone() -> None:
    function = at(lambda x: 2 * x)
    function.evaluate(function.primals)
    expected = random.Random()
    expected.setstate(random.getstate())
    random.random()
    expected.random()
    function.evaluate(function.primals)
    assert random.random() == expected.random()


def test_numbers_that_come_from_elsewhere_still_differ() -> None:
    generator = np.random.default_rng(0)
    function = at(lambda x: x * torch.from_numpy(generator.random(5)))
    first, second = (function.evaluate(function.primals)[0] for _ in range(2))
    assert not np.array_equal(first, second)


def test_the_generators_are_looked_at_around_the_first_call_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    function = at(lambda x: 2 * x)
    function.evaluate(function.primals)
    monkeypatch.delattr(random_state, "_states")
    monkeypatch.delattr(random_state.RepeatedDraws, "repeated")
    function.evaluate(function.primals)
