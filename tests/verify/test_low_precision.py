"""Which wrong gradients are right but for lost digits, and which are not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from gradtool.verify.comparison.compare import Decision
from gradtool.verify.diagnosis.explained_by_jitter import is_explained_by_jitter
from gradtool.verify.oracle.noise import measure
from gradtool.verify.oracle.sampler import Sampler
from gradtool.verify.protocol.coordinates import Coordinates

LARGEST = 2.0


def _subject(off, jitter, *, located=None, arguments=(0,)):
    """A gradient with one wrong entry, off by so much, beside a right one of size two."""
    comparison = SimpleNamespace(
        argument=0,
        analytic=np.array([[0.5 + off, LARGEST]]),
        numeric=SimpleNamespace(value=np.array([[0.5, LARGEST]])),
        decision=np.array([[Decision.FAIL, Decision.PASS]]),
        located=located,
    )
    rough = [SimpleNamespace(argument=each, gradient=jitter) for each in arguments]
    given = SimpleNamespace(comparisons=(comparison,))
    return SimpleNamespace(given=given, low_precision_gradients=rough)


@pytest.mark.parametrize(
    ("off", "jitter", "expected"),
    [
        (1e-6, 1e-7, True),
        (1.2e-5, 1e-7, True),
        (1.4e-5, 1e-7, False),
        (1e-2, 9e-5, True),
        (1e-2, 1.1e-4, False),
        (0.5, 9e-5, False),
        (-1.4e-5, 1e-7, False),
    ],
)
def test_so_many_times_the_jitter_of_single_precision_explains_an_entry(off, jitter, expected):
    assert is_explained_by_jitter(_subject(off, jitter)) is expected


def test_a_gradient_that_does_not_jitter_is_wrong():
    assert not is_explained_by_jitter(_subject(1e-6, 1e-7, arguments=()))
    assert not is_explained_by_jitter(_subject(1e-6, 1e-7, arguments=(1,)))


def test_nothing_wrong_is_not_rounded():
    subject = _subject(1e-6, 1e-7)
    subject.given.comparisons[0].decision[:] = Decision.PASS
    assert not is_explained_by_jitter(subject)


def test_every_wrong_gradient_must_be_explained():
    subject = _subject(1e-6, 1e-7, arguments=(0, 1))
    other = _subject(1e-2, 1e-7).given.comparisons[0]
    other.argument = 1
    subject.given = SimpleNamespace(comparisons=(*subject.given.comparisons, other))
    assert not is_explained_by_jitter(subject)


def test_a_single_entry_that_explains_everything_is_a_mistake():
    located = SimpleNamespace(explains_all=True)
    assert not is_explained_by_jitter(_subject(1e-6, 1e-7, located=located))


def test_a_backward_that_cannot_be_evaluated_shows_no_jitter():
    subject = _subject(1e-6, 1e-7)
    subject.low_precision_gradients = "RuntimeError: no"
    assert not is_explained_by_jitter(subject)


def test_constants_rest_while_noise_is_measured():
    seen = []

    def shares(primals):
        x, p = primals
        seen.append((x.copy(), p))
        return [x / p]

    x, p = np.array([1.2, -0.4]), np.array([0.3, 0.7])
    sampler = Sampler(shares, [x, p], Coordinates([x / p]))
    measure(sampler, np.full(2, 2.0**-52), np.random.default_rng(0), moved={0})
    assert len({values.tobytes() for values, _ in seen}) > 1
    assert all((shares == p).all() for _, shares in seen)
