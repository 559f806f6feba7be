"""Tensors with many entries over the range of all cases."""

from __future__ import annotations

import numpy as np

from gradtool.explore.point import Point
from gradtool.explore.variants.extents import Extents
from gradtool.explore.variants.spread import spread
from gradtool.verify.protocol.observation import Array


def case(*arrays: Array) -> Point:
    names = tuple("abc"[: len(arrays)])
    return Point(names, arrays, (*range(len(arrays)),), frozenset({0}), len(arrays), "cpu")


def made(*cases: Point) -> list[Array]:
    found = spread(cases[0], cases, Extents(), np.random.default_rng(0))
    return [variant.point.values[1] for variant in found]


def test_sorted_knots_stay_distinct_and_sorted() -> None:
    knots = np.array([0.0, 1.0, 1.5, 3.0])
    (longer,) = made(case(np.ones(2), knots))
    assert (np.diff(longer) > 0).all()
    assert {*knots} < {*longer}


def test_entries_lie_between_those_of_all_cases() -> None:
    (longer,) = made(
        case(np.ones(4), np.array([0.5, 0.2])), case(np.ones(4), np.array([9.0, -9.0]))
    )
    assert longer.max() > 5
    assert longer.min() < -5


def test_an_interval_does_not_turn_around() -> None:
    intervals = np.array([[0.1, 0.4], [-3.0, 2.5], [5.0, 7.0]])
    assert all((np.diff(longer, axis=1) > 0).all() for longer in made(case(np.ones(3), intervals)))


def test_square_and_whole_tensors_are_left_alone() -> None:
    assert made(case(np.ones(2), np.array([[0.1, 0.7], [0.4, 0.3]]))) == []
    assert made(case(np.ones(2), np.array([1.0, 2.0, 4.0]))) == []
