"""The values that docstrings allow, and the constraints that exploring keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.explore.point import Point
from gradtool.explore.reading.constraints import constraints
from gradtool.explore.reading.stated_values import statements

A = np.array


def allows(text: str, name: str, value: Any, **others: float) -> bool:
    known = {**others, name: value}
    return all(
        each.holds(value, known)
        for each in statements(text, known.keys())
        if each.name in (name, None)
    )


@pytest.mark.parametrize(
    ("text", "name", "allowed", "refused"),
    [
        ("The p-norm of rows for p = 1 or 2.", "p", (1, 2), (0, 3)),
        ("`order` must be 1 or 2, and `n` is one of {1, 2}.", "order", (1, 2), (3,)),
        ("`order` must be 1 or 2, and `n` is one of {1, 2}.", "n", (1, 2), (3,)),
        ("p \u2208 {1, 2}", "p", (1, 2), (3,)),
        ("p (int): 1 or 2", "p", (1, 2), (3,)),
        ("p must be 2", "p", (2,), (3,)),
        ("reduction: 'mean', 'sum' or 'none'", "reduction", ("mean", "none"), ("max",)),
        ("alpha must be in (0, 1], and `k >= 2`.", "alpha", (0.9, 1.0), (0.0, 1.7)),
        ("alpha must be in (0, 1], and `k >= 2`.", "k", (2, 3), (1,)),
        ("Requires 0 < p < 2.", "p", (1.5,), (0, 2, 3)),
        ("for an odd kernel size k", "k", (3,), (4,)),
        ("beta is at least 1 and at most 3", "beta", (2,), (0.5, 4)),
        ("sigma > 0 is a scale", "sigma", (A(1.0),), (A(-1.0),)),
        ("x must be positive", "x", (A([1.0, 2.0]),), (A([-1.0, 2.0]),)),
        ("x has non-zero entries", "x", (A([3.0]),), (A([0.0]),)),
        ("x (n,) positive or None", "x", (A([3.0]),), (A([0.0]),)),
        ("x (n,) positive or zero", "x", (A([3.0]), A([0.0])), ()),
        ("rows y of x, skipping x == y", "x", (A([3.0]),), ()),
        ("Inputs must be strictly between -1 and 1.", "x", (A([0.5]),), (A([1.0]), A([1.5]))),
        ("E - e sin(E) = M for 0 <= e < 1.", "ecc", (A([0.9]),), (A([0.9, 2.0]),)),
        ("Entries of x lie in [-pi, pi].", "x", (A([3.0]),), (A([4.0]),)),
    ],
)
def test_a_statement_allows_some_values(
    text: str, name: str, allowed: tuple[Any, ...], refused: tuple[Any, ...]
) -> None:
    assert all(allows(text, name, value) for value in allowed)
    assert not any(allows(text, name, value) for value in refused)


def test_a_letter_that_begins_two_names_stands_for_none() -> None:
    assert allows("for 0 <= e < 1", "ecc", 2.0, eps=0.1)


def test_a_statement_may_name_other_arguments() -> None:
    text = "The values of x must lie well inside (low, high), where the clamp is not active."
    assert allows(text, "x", A([0.0, 1.0]), low=-2.0, high=3.0)
    assert not allows(text, "x", A([0.0, 2.99]), low=-2.0, high=3.0)
    assert not allows(text, "x", A([0.0, 1.0]), low=-2.0, high=1.0)
    assert allows("The stride must equal the kernel", "stride", 3, kernel=3)
    assert not allows("The stride must be smaller than the kernel", "stride", 5, kernel=3)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A is positive definite", A([-1.0])),
        ("even if A is large", 3),
        ("A (2, 3), B (3,)", A([5.0])),
        ("A is positive or negative", A([-1.0])),
    ],
)
def test_other_words_state_nothing(text: str, value: Any) -> None:
    assert allows(text, "A", value)


def point(**values: Any) -> Point:
    tensors = tuple(at for at, each in enumerate(values.values()) if isinstance(each, np.ndarray))
    return Point(tuple(values), tuple(values.values()), tensors, frozenset(), len(values), "cpu")


def keeps(text: str, case: Point, other: Point) -> bool:
    return all(holds(other) for holds in constraints(text, (), case))


def test_what_the_case_contradicts_is_no_constraint() -> None:
    assert keeps("for p = 1 or 2", point(p=3), point(p=4))
    assert not keeps("for p = 1 or 2", point(p=2), point(p=4))


def test_what_the_case_leaves_at_its_default_is_stated_too() -> None:
    case, with_default = point(x=np.ones(2)), point(x=np.ones(2), delta=1.0)
    (holds,) = constraints("The Huber loss for delta > 0.", (), case, [with_default])
    assert holds(case)
    assert holds(with_default)
    assert not holds(point(x=np.ones(2), delta=-0.7))


def test_what_is_distinct_stays_so_by_itself_or_in_pairs() -> None:
    text = "Rows of a table at slots, which are distinct."
    case = point(slots=np.array([1, 4]), rows=np.ones(2))
    assert keeps(text, case, point(slots=np.array([1, 4, 2]), rows=np.ones(3)))
    assert not keeps(text, case, point(slots=np.array([1, 4, 1]), rows=np.ones(3)))
    assert keeps("Rows of a table.", case, point(slots=np.array([1, 4, 1]), rows=np.ones(3)))
    pairs = point(a=np.array([0, 0, 2]), b=np.array([0, 1, 1]))
    text = "The pairs must be distinct."
    assert keeps(text, pairs, point(a=np.array([0, 2, 2]), b=np.array([1, 0, 1])))
    assert not keeps(text, pairs, point(a=np.array([0, 2, 2]), b=np.array([1, 1, 1])))


def test_extents_that_are_multiples_stay_so() -> None:
    text = "The length must be divisible by chunk."
    case = point(x=np.zeros((3, 8)), chunk=4)
    assert keeps(text, case, point(x=np.zeros((2, 12)), chunk=4))
    assert not keeps(text, case, point(x=np.zeros((3, 9)), chunk=4))
    text = "The length need not be divisible by chunk."
    assert keeps(text, case, point(x=np.zeros((3, 9)), chunk=4))


def test_the_ends_of_an_edge_stay_apart() -> None:
    case = point(edges=A([[0, 1], [1, 2], [3, 0]]))
    assert keeps("", case, point(edges=A([[0, 1], [0, 1], [3, 0]])))
    assert not keeps("", case, point(edges=A([[0, 1], [1, 1], [3, 0]])))
    case = point(source=A([0, 1, 2]), target=A([1, 2, 0]))
    assert not keeps("", case, point(source=A([0, 1, 0]), target=A([1, 2, 0])))


def test_a_word_before_a_name_is_about_that_one() -> None:
    text = "(u**p - 1) / p of positive u"
    assert allows(text, "p", -1.0, u=1.0)
    assert not allows(text, "u", -1.0, p=1.0)
