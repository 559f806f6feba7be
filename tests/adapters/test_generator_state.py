"""Where the global generators stand is seen whatever was drawn, and can be gone back to."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from gradtool.adapters.common.random_state import (
    generator_state,
    global_generators,
    set_generator_state,
)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    generator = np.random.get_bit_generator()
    before = random.getstate(), np.random.get_state()
    yield
    np.random.set_bit_generator(generator)
    random.setstate(before[0])
    np.random.set_state(before[1])


DRAWS = {
    "python": random.random,
    "numpy": np.random.rand,
    "normal": np.random.randn,
    "integer": lambda: np.random.randint(3),
}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("held", [False, True])
def test_whatever_is_drawn_is_seen_and_drawn_again(draw: str, held: bool) -> None:
    np.random.seed(0)
    if held:
        np.random.randn()  # Two normal numbers are drawn at a time, and the second is held.
    before = generator_state()
    assert generator_state() == before
    first = DRAWS[draw]()
    assert generator_state() != before
    set_generator_state(before)
    assert generator_state() == before
    assert DRAWS[draw]() == first


def test_another_generator_in_the_place_of_the_first_is_seen_and_asked() -> None:
    np.random.seed(0)
    before = generator_state()
    np.random.set_bit_generator(np.random.PCG64(0))
    other = generator_state()
    assert other != before
    first = np.random.rand()
    assert generator_state() != other
    set_generator_state(other)
    assert np.random.rand() == first


def test_the_state_of_a_new_seed_is_not_read_and_can_be_set_again() -> None:
    with global_generators(5):
        seeded = generator_state()
        assert seeded.numpy.full is None
        drawn = np.random.rand(3), np.random.randn(3)
        assert generator_state() != seeded
        set_generator_state(seeded)
        assert generator_state() == seeded
        np.testing.assert_array_equal(np.random.rand(3), drawn[0])
        np.testing.assert_array_equal(np.random.randn(3), drawn[1])
