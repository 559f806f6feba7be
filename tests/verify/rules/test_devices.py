"""GT701: what another device gives, stood in for by another fake."""

from __future__ import annotations

import numpy as np

from gradtool.results.report import Skip, SkipKind, Verdict
from gradtool.verify.examine import examine

X = np.array([0.5, -1.0, 2.0])


def square(function, factor=2.0, forward=np.square):
    return function(forward, lambda p, c: factor * c[0] * p[0], (X,))


def asked(here, there):
    (outcome,) = examine(here, codes=["GT701"], twin=there)[0]
    return outcome


def test_one_device_has_nothing_to_compare(function):
    outcome = asked(square(function), None)
    assert outcome.verdict is Verdict.SKIPPED
    assert outcome.skip == Skip(kind=SkipKind.NOT_OFFERED, detail="one device only")


def test_the_same_on_both(function):
    assert asked(square(function), square(function)).verdict is Verdict.PASS


def test_roundings_are_no_difference(function):
    assert asked(square(function), square(function, 2.0 + 1e-14)).verdict is Verdict.PASS


def test_another_gradient(function):
    (flaw,) = asked(square(function), square(function, 2.001)).flaws
    assert flaw.message.startswith(
        "gradient of `x` differs on CUDA, in 3 of 3 entries; worst at [2]: "
    )


def test_another_output(function):
    (flaw,) = asked(square(function), square(function, forward=lambda x: x * x + 0.1)).flaws
    assert flaw.message == "output 0 differs between CUDA and the CPU"
    assert flaw.method == "forward"


def test_a_kernel_that_fails_on_one(function):
    def fails(*_):
        raise ValueError("no kernel for the CPU")

    there = function(np.square, fails, (X,))
    (flaw,) = asked(square(function), there).flaws
    assert flaw.message == (
        "backward fails on the CPU, but not on CUDA: ValueError: no kernel for the CPU"
    )
