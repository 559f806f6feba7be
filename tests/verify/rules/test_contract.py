"""The rules of the contract, asked of fake Functions that show one thing each."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from gradtool.results.report import Severity, Verdict
from gradtool.verify.examine import examine

X = np.array([0.5, -1.5, 2.0])


def flaws(fake, code):
    ((outcome,), _) = examine(fake, codes=[code], seed=3)
    return [(flaw.severity or outcome.rule.severity, flaw.message) for flaw in outcome.flaws]


@pytest.fixture
def square(function):
    """x squared, right unless it is told otherwise."""

    def make(**options):
        return function(np.square, lambda p, c: 2 * p[0] * c[0], [X], **options)

    return make


# ---- changes in place ---------------------------------------------------------------------


def test_a_changed_input_is_an_error_where_it_has_a_gradient(square):
    ((severity, message),) = flaws(square(observed={"mutated_arguments": (0,)}), "GT501")
    assert severity is Severity.ERROR
    assert message == "forward changes `x` in place without marking it dirty"


def test_another_changed_input_is_a_warning(function):
    fake = function(
        lambda x, mean: x * 2,
        lambda p, c: (2 * c[0], None),
        [X, X],
        differentiable=[True, False],
        observed={"mutated_arguments": (1,)},
    )
    assert [severity for severity, _ in flaws(fake, "GT501")] == [Severity.WARNING]


def test_a_changed_buffer_of_statistics_is_a_note(function):
    fake = function(
        lambda x, running_mean: x * 2,
        lambda p, c: (2 * c[0], None),
        [X, X],
        names=["x", "running_mean"],
        differentiable=[True, False],
        observed={"mutated_arguments": (1,)},
    )
    assert [severity for severity, _ in flaws(fake, "GT501")] == [Severity.NOTE]


def test_a_docstring_may_say_that_buffers_are_updated(function):
    fake = function(
        lambda x, rm: x * 2,
        lambda p, c: (2 * c[0], None),
        [X, X],
        names=["x", "rm"],
        differentiable=[True, False],
        observed={"mutated_arguments": (1,)},
    )
    fake.docstrings = "Training updates the running buffers."
    assert [severity for severity, _ in flaws(fake, "GT501")] == [Severity.NOTE]


def test_an_input_that_is_marked_dirty_may_change(square):
    observed = {"mutated_arguments": (0,), "declared_dirty": (0,)}
    assert flaws(square(observed=observed), "GT501") == []


def test_a_changed_cotangent_is_named_where_there_are_several(function):
    fake = function(
        lambda x: (x, 2 * x),
        lambda p, c: c[0] + 2 * c[1],
        [X],
        observed={"mutated_cotangents": (1,)},
    )
    ((severity, message),) = flaws(fake, "GT503")
    assert severity is Severity.ERROR
    assert message == "backward changes the cotangent of output 1 in place"


@pytest.mark.parametrize(
    ("repeats", "severity"), [(False, Severity.ERROR), (True, Severity.WARNING)]
)
def test_a_changed_saved_tensor_is_an_error_where_the_next_gradient_shows_it(
    function, repeats, severity
):
    runs = count(1)
    fake = function(
        np.square,
        lambda p, c: 2 * p[0] * c[0] * (1 if repeats else next(runs)),
        [X],
        observed={"mutated_saved": (0,)},
    )
    assert [found for found, _ in flaws(fake, "GT504")] == [severity]


def test_a_changed_input_in_backward_is_an_error_whatever_the_next_gradient(square):
    found = flaws(square(observed={"mutated_in_backward": (0,), "mutated_saved": (0,)}), "GT504")
    assert found == [(Severity.ERROR, "backward changes `x` in place")]


def test_a_scratch_tensor_on_ctx_may_change(square):
    assert flaws(square(observed={"buffers_changed_in_backward": ("ctx.scratch",)}), "GT504") == []


def test_a_buffer_in_which_calls_add_up_is_a_warning(square):
    ((severity, message),) = flaws(
        square(observed={"buffers_changed_in_forward": ("Square.seen",)}), "GT504"
    )
    assert severity is Severity.WARNING
    assert "`Square.seen`" in message


# ---- what is kept -------------------------------------------------------------------------

CHANGED = {"gradients": (np.zeros(3),)}


@pytest.mark.parametrize("word", ["input:x", "output:0"])
def test_what_is_kept_on_ctx_is_an_error_where_the_gradient_silently_changes(square, word):
    fake = square(observed={"kept_on_ctx": (("kept", word),)}, disturbed=CHANGED)
    ((severity, message),) = flaws(fake, "GT505")
    assert severity is Severity.ERROR
    assert "ctx.kept" in message
    assert "silently" in message


def test_what_is_kept_on_ctx_without_harm_is_a_warning(square):
    fake = square(observed={"kept_on_ctx": (("x", "input:x"),)})
    assert [severity for severity, _ in flaws(fake, "GT505")] == [Severity.WARNING]


@pytest.mark.parametrize("disturbed", [CHANGED, {}])
def test_an_index_that_is_kept_on_ctx_is_a_note(function, disturbed):
    fake = function(
        lambda x, index: x[index],
        lambda p, c: (np.bincount(p[1], c[0], 3), None),
        [X, np.array([2, 0])],
        names=["x", "index"],
        differentiable=[True, False],
        observed={"kept_on_ctx": (("index", "input:index"),)},
        disturbed=disturbed,
    )
    assert [severity for severity, _ in flaws(fake, "GT505")] == [Severity.NOTE]


def test_one_tensor_kept_twice_is_told_once(square):
    fake = square(observed={"kept_on_ctx": (("x", "input:x"), ("again", "input:x"))})
    ((_, message),) = flaws(fake, "GT505")
    assert "ctx.x" in message


@pytest.mark.parametrize(("disturbed", "severity"), [(CHANGED, "error"), ({}, "warning")])
def test_a_hidden_alias_is_an_error_where_the_gradient_silently_changes(
    square, disturbed, severity
):
    fake = square(observed={"aliases": ((0, 0),), "hidden_aliases": ((0, 0),)}, disturbed=disturbed)
    assert [found.value for found, _ in flaws(fake, "GT509")] == [severity]


def test_an_alias_that_is_known_is_none_of_our_business(square):
    assert flaws(square(observed={"aliases": ((0, 0),)}), "GT509") == []


@pytest.mark.parametrize(
    ("leak", "words"), [("cycle", "reference cycle"), ("held", "refers to ctx")]
)
def test_a_leak_says_what_keeps_it_alive(square, leak, words):
    ((severity, message),) = flaws(square(leak=leak), "GT510")
    assert severity is Severity.WARNING
    assert words in message


def test_an_output_on_ctx_leaks_and_is_told_as_that_alone(square):
    observed = {"kept_on_ctx": (("y", "output:0"),)}
    assert flaws(square(observed=observed, leak="cycle"), "GT510") == []


# ---- what differs -------------------------------------------------------------------------


def test_a_forward_that_differs_from_call_to_call_is_an_error(function):
    calls = count(1)
    fake = function(lambda x: x * next(calls), lambda p, c: c[0], [X])
    ((severity, message),) = flaws(fake, "GT508")
    assert severity is Severity.ERROR
    assert "differ in output 0 at [0]" in message


def test_roundings_are_no_difference(function):
    calls = count()
    fake = function(lambda x: x * (1 + 1e-16 * next(calls)), lambda p, c: c[0], [X])
    assert flaws(fake, "GT508") == []


def test_a_warning_hides_no_error(function):
    fake = function(
        lambda x, mean: x * 2,
        lambda p, c: (3 * c[0], None),
        [X, X],
        differentiable=[True, False],
        observed={"mutated_arguments": (1,)},
    )
    outcomes, _ = examine(fake, codes=["GT101", "GT501"])
    assert [outcome.verdict for outcome in outcomes] == [Verdict.FAIL, Verdict.FAIL]


def test_an_error_of_the_contract_comes_before_gradients(square):
    outcomes, _ = examine(square(observed={"mutated_cotangents": (0,)}), codes=["GT101", "GT503"])
    assert [outcome.verdict for outcome in outcomes] == [Verdict.SKIPPED, Verdict.FAIL]


# ---- settings -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tolerances", "named"),
    [
        ({"atol": 1e-3}, ["atol 0.001"]),
        ({"rtol": 1e-3}, ["rtol 0.001"]),
        ({"rtol": 1e-7}, []),
        ({}, []),
    ],
)
def test_a_tolerance_is_needless_when_a_tenth_would_do(square, tolerances, named):
    ((outcome,), _) = examine(
        square(declares_once_differentiable=True), codes=["GT511"], **tolerances
    )
    assert [flaw.message.partition(" is ")[0] for flaw in outcome.flaws] == named


def test_a_tolerance_that_is_needed_is_left_alone(function):
    fake = function(
        np.square,
        lambda p, c: 2 * p[0] * c[0] * (1 + 1e-4),
        [X],
        declares_once_differentiable=True,
    )
    ((outcome,), _) = examine(fake, codes=["GT511"], rtol=3e-4)
    assert outcome.verdict is Verdict.PASS
