"""What each rule says of a Function, in which order they are asked, and in what words."""

from __future__ import annotations

import re

import numpy as np
import pytest
from msgspec import structs

from gradtool.results.report import Severity, SkipKind, Verdict
from gradtool.verify.examine import Flaw, examine, outcomes_for
from gradtool.verify.protocol.observation import Failure, Gradient
from gradtool.verify.rules import RULES
from gradtool.verify.rules._rule import failed, passed
from gradtool.verify.subject import Subject

X = np.array([[0.3, -1.2, 0.8], [2.1, 0.4, -0.6]])


def _cos(primals, cotangents):
    return cotangents[0] * np.cos(primals[0])


def _sine_twice(primals, cotangents):
    """The vjp of (x, g) -> g cos x."""
    return -cotangents[0] * primals[1] * np.sin(primals[0]), cotangents[0] * np.cos(primals[0])


def _ask(subject, codes=RULES, **options):
    outcomes, _ = examine(subject, codes=codes, **options)
    return {outcome.rule.code: outcome for outcome in outcomes}


def _broken(subject, **options):
    """The codes of the rules that found something."""
    return {code for code, outcome in _ask(subject, **options).items() if outcome.flaws}


def _only(subject, code):
    """The only flaw, which must be one of this rule."""
    outcomes = _ask(subject)
    assert {c for c, o in outcomes.items() if o.flaws} == {code}
    (flaw,) = outcomes[code].flaws
    return flaw


@pytest.fixture
def sine(function):
    return function(np.sin, _cos, (X,), second=_sine_twice)


def _blocked_by(outcome):
    assert outcome.skip.kind is SkipKind.BLOCKED
    return outcome.skip.blocked_by


def test_a_right_function_passes_every_rule(sine):
    outcomes = _ask(sine)
    assert set(outcomes) == {code for code, rule in RULES.items() if rule.check}
    outcomes.pop("GT204")  # The fake has two orders of derivatives, and takes the third for zero.
    left_out = {o.skip.kind for o in outcomes.values() if o.verdict is Verdict.SKIPPED}
    assert left_out == {SkipKind.NOT_OFFERED}
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.PASS, Verdict.SKIPPED}


def test_the_cost_is_what_was_really_called(sine):
    _, cost = examine(sine, codes=["GT101"])
    assert (cost.forward, cost.backward) == (sine.calls["forward"], sine.calls["backward"])


def test_the_same_seed_gives_the_same_answer(function):
    wrong = function(np.sin, lambda p, c: 2 * _cos(p, c), (X,))
    first, again = _only(wrong, "GT101"), _only(wrong, "GT101")
    assert first == again


# ---- running


def test_forward_raised(function):
    def forward(x):
        raise ValueError("no such thing")

    outcomes = _ask(function(forward, _cos, (X,)))
    assert outcomes["GT003"].verdict is Verdict.ERROR
    assert outcomes["GT003"].flaws[0].message == "forward raised ValueError: no such thing"
    others = {outcome.verdict for code, outcome in outcomes.items() if code != "GT003"}
    assert others <= {Verdict.SKIPPED, Verdict.PASS}
    assert _blocked_by(outcomes["GT101"]) == "GT003"


def test_backward_raised(function):
    outcomes = _ask(function(np.sin, lambda p, c: {}["a"], (X,)))
    assert outcomes["GT004"].verdict is Verdict.ERROR
    assert outcomes["GT004"].flaws[0].message == "backward raised KeyError: 'a'"


def test_backward_that_raises_for_some_cotangents_only(function):
    def picky(primals, cotangents):
        if np.count_nonzero(cotangents[0]) == 1:
            raise RuntimeError("only one")
        return _cos(primals, cotangents)

    outcomes = _ask(function(np.sin, picky, (X,)))
    assert outcomes["GT004"].flaws[0].message == "backward raised RuntimeError: only one"


def test_the_place_of_a_failure_is_kept(function):
    failure = Failure("forward", "raised", "ValueError: bad", "Traceback …", "ops.py", 12)
    subject = function(np.sin, _cos, (X,), observed={"failure": failure})
    flaw = _ask(subject)["GT003"].flaws[0]
    assert (flaw.path, flaw.line, flaw.detail) == ("ops.py", 12, "Traceback …")


# ---- first order


def test_the_message_names_input_output_and_worst_entry(function):
    def wrong(primals, cotangents):
        gradient = _cos(primals, cotangents)
        gradient[1, 0] *= 3
        return gradient

    flaw = _only(function(np.sin, wrong, (X,), names=["weight"]), "GT101")
    assert re.fullmatch(
        r"gradient of `weight` differs from the derivative of output 0 in 1 of 6 entries; "
        r"worst at \[1, 0\], for output 0 at \[1, 0\]: "
        r"analytic -1\.51454, numeric -0\.504846 ± \S+",
        flaw.message,
    )
    evidence = flaw.evidence
    assert (evidence.argument, evidence.output) == ("weight", 0)
    assert (evidence.input_index, evidence.output_index) == ((1, 0), (1, 0))
    assert (evidence.wrong, evidence.compared) == (1, 6)
    assert evidence.analytic == pytest.approx(3 * np.cos(2.1))
    assert evidence.numeric == pytest.approx(np.cos(2.1))
    assert evidence.difference > evidence.tolerance > evidence.error > 0


def test_a_single_number_needs_no_place(function):
    flaw = _only(function(np.sin, lambda p, c: 2 * _cos(p, c), (np.array(0.5),)), "GT101")
    assert "entries" not in flaw.message
    assert "derivative of output 0: analytic 1.75517, numeric 0.877583" in flaw.message


def test_values_are_shown_with_enough_digits_to_differ(function):
    flaw = _only(function(np.sin, lambda p, c: _cos(p, c) * (1 + 1e-5), (X,)), "GT101")
    analytic, numeric = re.findall(r"(?:analytic|numeric) (\S+?),? ", flaw.message)
    assert analytic != numeric


def test_every_output_concerned_is_named(function):
    def vjp(primals, cotangents):
        return cotangents[0] * np.cos(primals[0]) + 2 * cotangents[1] + 3 * cotangents[2]

    subject = function(lambda x: (np.sin(x), 1 * x, 2 * x), vjp, (X,))
    assert "derivative of outputs 1 and 2 in 6 of 6" in _only(subject, "GT101").message


def test_each_wrong_input_has_its_flaw(function):
    subject = function(lambda x, y: x * y, lambda p, c: (c[0], c[0]), (X, X + 3), names=["x", "y"])
    messages = [flaw.message for flaw in _ask(subject)["GT101"].flaws]
    assert [message.split("`")[1] for message in messages] == ["x", "y"]


def test_a_part_of_a_complex_number_is_named(function):
    z = np.array([1 + 2j, 3 - 1j])
    flaw = _only(function(lambda z: z * z, lambda p, c: 2 * c[0] * p[0], (z,)), "GT101")
    assert re.search(
        r"in 2 of 2 entries; worst at \[\d\] \((real|imaginary) part\), for output 0 at \[\d\]:",
        flaw.message,
    )


def test_a_gradient_that_is_nan(function):
    flaw = _only(function(np.sin, lambda p, c: np.nan * c[0], (X,)), "GT114")
    assert "is NaN" in flaw.message
    assert flaw.evidence.analytic == "nan"


def test_the_last_outputs_share_overwrites_the_others(function):
    def vjp(primals, cotangents):
        gradient = np.zeros_like(primals[0])
        if cotangents[0].any():
            gradient = cotangents[0] * np.cos(primals[0])
        if cotangents[1].any():
            gradient = cotangents[1] * -np.sin(primals[0])
        return gradient

    flaw = _only(function(lambda x: (np.sin(x), np.cos(x)), vjp, (X,)), "GT101")
    assert flaw.message.startswith(
        "gradient of `x` for all cotangents at once is not the sum of its parts at ["
    )


@pytest.mark.parametrize("nonlinear", [np.square, np.abs, np.sign, lambda g: g / np.linalg.norm(g)])
def test_a_backward_that_is_not_linear_fails(nonlinear, function):
    subject = function(np.sin, lambda p, c: nonlinear(c[0]) * np.cos(p[0]), (X,))
    assert _broken(subject) == {"GT107"}


def test_a_missing_gradient(function):
    subject = function(
        lambda x, scale: x * scale, lambda p, c: (c[0] * p[1], None), (X, X + 3), names="xs"
    )
    flaw = _only(subject, "GT106")
    assert flaw.message.startswith(
        "backward returned None for `s`, but the derivative of output 0 is not zero"
    )
    assert flaw.hint == (
        "return the gradient of `s`, or set `requires_grad: false` for it in the case "
        "if it is a constant"
    )


def test_none_where_the_derivative_is_zero_is_right(function):
    subject = function(
        lambda x, unused: np.sin(x),
        lambda p, c: (_cos(p, c), None),
        (X, X),
        declares_once_differentiable=True,
    )
    assert not _broken(subject)


def test_an_argument_that_asks_for_no_gradient_is_not_checked(function):
    subject = function(
        lambda x, y: x * y,
        lambda p, c: (c[0] * p[1], None),
        (X, X),
        differentiable=[True, False],
        declares_once_differentiable=True,
    )
    assert not _broken(subject)


def test_nothing_to_differentiate(function):
    outcomes = _ask(function(np.sin, _cos, (X,), differentiable=[False]))
    assert outcomes["GT101"].verdict is Verdict.SKIPPED
    assert outcomes["GT101"].skip.detail == "no argument requires a gradient"
    outcomes = _ask(function(lambda x: x > 0, _cos, (X,)))
    assert outcomes["GT101"].skip.detail == "no output is a floating-point or complex tensor"


def test_an_empty_case_is_no_pass(function):
    outcomes = _ask(function(np.sin, _cos, (np.zeros((0, 3)),)))
    assert outcomes["GT101"].verdict is Verdict.SKIPPED
    assert outcomes["GT101"].skip.detail == "every output is empty"
    assert outcomes["GT102"].verdict is Verdict.PASS


# ---- contracts that the engine enforces


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("gradient-count", "GT102"),
        ("gradient-shape", "GT103"),
        ("gradient-type", "GT104"),
        ("gradient-device", "GT104"),
    ],
)
def test_a_refused_gradient_is_told_by_its_rule(kind, code, function):
    failure = Failure("backward", kind, "RuntimeError: expected 2, got 1")
    subject = function(np.sin, _cos, (X,))
    call = subject.call
    subject.call = lambda primals, cotangents=None, **options: (
        call(primals) if cotangents is None else _with(call(primals), failure=failure)
    )
    outcomes = _ask(subject)
    assert {c for c, outcome in outcomes.items() if outcome.flaws} == {code}
    assert outcomes[code].verdict is Verdict.FAIL
    assert outcomes[code].flaws[0].message == "expected 2, got 1"
    assert outcomes["GT004"].skip.kind is SkipKind.REPORTED
    assert outcomes["GT004"].skip.blocked_by == code
    assert outcomes["GT101"].verdict is Verdict.SKIPPED


def _with(observation, **fields):
    from msgspec.structs import replace

    return replace(observation, **fields)


def _raw(dtype):
    return (Gradient(np.ones(X.shape, dtype=dtype), np.dtype(dtype)),)


@pytest.mark.parametrize(
    ("own", "dtype", "severity"),
    [
        (np.float64, np.float32, None),
        (np.float64, np.int64, None),
        (np.float64, np.bool_, None),
        (np.float32, np.float64, Severity.NOTE),
    ],
)
def test_a_gradient_of_another_dtype(own, dtype, severity, function):
    subject = function(np.sin, _cos, (X.astype(own),), observed={"raw": _raw(dtype)})
    outcome = _ask(subject)["GT104"]
    assert [flaw.severity for flaw in outcome.flaws] == [severity]
    assert outcome.verdict is (Verdict.PASS if severity else Verdict.FAIL)
    assert str(np.dtype(dtype)) in outcome.flaws[0].message


def test_a_cast_takes_no_digits_that_the_output_had(function):
    subject = function(
        lambda x: np.sin(x.astype(np.float32)),
        _cos,
        (X,),
        observed={"raw": _raw(np.float32)},
        declares_once_differentiable=True,
    )
    assert not _broken(subject)


def test_a_gradient_that_is_no_tensor(function):
    raw = (Gradient(None, type_name="ndarray"),)
    outcome = _ask(function(np.sin, _cos, (X,), observed={"raw": raw}))["GT104"]
    assert outcome.flaws[0].message == "gradient of `x` is of type ndarray, not a tensor"


@pytest.mark.parametrize(
    ("gradient", "severity"), [(np.ones(3), None), (np.zeros(3), Severity.WARNING)]
)
def test_a_gradient_for_integers(gradient, severity, function):
    raw = (Gradient(X[0], X.dtype), Gradient(gradient, gradient.dtype))
    subject = function(
        lambda x, i: x[i],
        lambda p, c: (c[0][np.argsort(p[1])], None),
        (X[0], np.array([2, 0, 1])),
        names=["x", "index"],
        observed={"raw": raw},
        declares_once_differentiable=True,
    )
    (flaw,) = _ask(subject)["GT105"].flaws
    assert flaw.severity is severity
    assert "`index`, which is int64" in flaw.message


def test_a_gradient_for_a_non_tensor(function):
    raw = (Gradient(X, X.dtype), Gradient(None, type_name="float"))
    subject = function(np.sin, _cos, (X,), observed={"raw": raw})
    assert "for argument 1, which is not a tensor" in _ask(subject)["GT105"].flaws[0].message


def test_dirty_and_not_returned(function):
    subject = function(
        np.sin, _cos, (X,), observed={"dirty_not_returned": (0,)}, second=_sine_twice
    )
    assert _only(subject, "GT502").message == "forward marked `x` dirty but did not return it"
    failure = Failure("forward", "dirty-not-returned", "RuntimeError: dirty")
    refused = function(np.sin, _cos, (X,), observed={"failure": failure})
    assert _only(refused, "GT502").message == "dirty"


def test_both_backward_and_vjp(function):
    failure = Failure("backward", "both-backward-and-vjp", "RuntimeError: both")
    subject = function(
        np.sin,
        _cos,
        (X,),
        name="Twice",
        defines_both_backward_and_vjp=True,
        observed={"failure": failure},
    )
    assert _only(subject, "GT507").message == "Twice defines both backward and vjp"


# ---- double backward


def test_double_backward_without_a_graph_is_cut(function):
    subject = function(np.sin, _cos, (X,), second_observed={"output_requires_grad": (False,)})
    outcomes = _ask(subject)
    assert {code for code, outcome in outcomes.items() if outcome.flaws} == {"GT202"}
    assert len(outcomes["GT202"].flaws) == 2
    first = outcomes["GT202"].flaws[0].message
    assert first.startswith(
        "derivative of the gradient of `x` with respect to `x` is wrong in 6 of 6"
    )
    assert _blocked_by(outcomes["GT201"]) == "GT202"


def test_double_backward_that_lost_the_input_is_cut(function):
    subject = function(np.sin, _cos, (X,), second=lambda p, c: (None, c[0] * np.cos(p[0])))
    assert "NumPy" in _only(subject, "GT202").hint


def test_a_saved_intermediate_cuts_a_part(function):
    subject = function(
        lambda x: x * np.exp(x),
        lambda p, c: c[0] * (1 + p[0]) * np.exp(p[0]),
        (X,),
        second=lambda p, c: (
            c[0] * p[1] * np.exp(p[0]),
            c[0] * (1 + p[0]) * np.exp(p[0]),
        ),
        observed={"saved": ("input:x", "intermediate")},
    )
    assert "a saved intermediate" in _only(subject, "GT202").hint


def test_a_wrong_second_derivative(function):
    def second(primals, cotangents):
        first, last = _sine_twice(primals, cotangents)
        return -first, last

    flaw = _only(function(np.sin, _cos, (X,), second=second), "GT201")
    assert "of the gradient of `x` with respect to `x` is wrong in 6 of 6 entries" in flaw.message


def test_double_backward_raised(function):
    def second(primals, cotangents):
        raise RuntimeError("Can't call numpy()")

    flaw = _only(function(np.sin, _cos, (X,), second=second), "GT203")
    assert flaw.message == "backward cannot be differentiated: RuntimeError: Can't call numpy()"


def test_what_is_declared_is_not_asked(function):
    outcomes = _ask(function(np.sin, _cos, (X,), declares_once_differentiable=True))
    for code in ("GT201", "GT202", "GT203"):
        assert outcomes[code].verdict is Verdict.SKIPPED
        assert outcomes[code].skip.detail == "declared once_differentiable"


def test_a_wrong_gradient_is_not_differentiated(function):
    outcomes = _ask(function(np.sin, lambda p, c: 2 * _cos(p, c), (X,)))
    assert _blocked_by(outcomes["GT201"]) == "GT101"


# ---- points without a derivative, and doubts


def test_a_kink_is_noted_and_passes(function):
    subject = function(
        lambda x: np.maximum(x, 0),
        lambda p, c: c[0] * (p[0] > 0),
        (np.zeros(3),),
        declares_once_differentiable=True,
    )
    outcomes = _ask(subject)
    assert outcomes["GT101"].verdict is Verdict.PASS
    assert outcomes["GT101"].reason == "no derivative at this point; checked nearby"
    assert outcomes["GT602"].verdict is Verdict.PASS
    (flaw,) = outcomes["GT602"].flaws
    assert flaw.severity is Severity.NOTE
    assert flaw.message == (
        "no derivative with respect to `x` at [0]: slopes 0 on the left, 1 on the right; "
        "checked at a point nearby"
    )


@pytest.fixture
def noisy(function):
    return function(
        lambda x: (x + 1e14) - 1e14,
        lambda p, c: c[0],
        (X,),
        declares_once_differentiable=True,
    )


def test_what_cannot_be_verified_is_told_once(noisy):
    outcomes = _ask(noisy)
    assert outcomes["GT603"].verdict is Verdict.UNVERIFIED
    assert len(outcomes["GT603"].flaws) == 1
    assert "could not be verified" in outcomes["GT603"].flaws[0].message
    assert outcomes["GT101"].verdict is Verdict.SKIPPED
    assert outcomes["GT101"].skip.kind is SkipKind.REPORTED
    assert outcomes["GT101"].skip.blocked_by == "GT603"


def test_a_doubt_is_never_lost(noisy):
    assert _ask(noisy, codes=["GT101"])["GT101"].verdict is Verdict.UNVERIFIED


# ---- asking


def test_premises_are_asked_and_not_reported(function):
    wrong = function(np.sin, lambda p, c: 2 * _cos(p, c), (X,))
    outcomes = _ask(wrong, codes=["GT201"])
    assert list(outcomes) == ["GT201"]
    assert _blocked_by(outcomes["GT201"]) == "GT101"


def test_an_unknown_code_is_an_error(sine):
    with pytest.raises(KeyError):
        examine(sine, codes=["GT999"])


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ({}, Verdict.FAIL),
        ({"rtol": 1e-3}, Verdict.PASS),
        ({"atol": 1e-3}, Verdict.PASS),
        ({"rtol": 1e-9}, Verdict.FAIL),
    ],
)
def test_given_tolerances_override_the_default(options, verdict, function):
    off = function(
        np.sin, lambda p, c: _cos(p, c) * (1 + 1e-5), (X,), declares_once_differentiable=True
    )
    assert _ask(off, **options)["GT101"].verdict is verdict


def test_a_rule_is_timed_without_its_premises(function, monkeypatch):
    now = [0.0]

    def takes(seconds):
        def check(subject):
            now[0] += seconds
            return passed()

        return check

    first = structs.replace(RULES["GT003"], premises=(), causes=(), check=takes(2.0))
    second = structs.replace(RULES["GT101"], premises=("GT003",), causes=(), check=takes(3.0))
    monkeypatch.setattr("gradtool.verify.examine.RULES", {"GT003": first, "GT101": second})
    subject = Subject(function(np.sin, _cos, (X,)))
    _, durations = outcomes_for(subject, codes=["GT101"], clock=lambda: now[0])
    assert durations == {"GT003": 2.0, "GT101": 3.0}


@pytest.fixture
def rest_on_each_other(monkeypatch):
    """Have three rules answer as told: a derived one, its premise, and the premise's cause."""

    def install(**answers):
        asked = []

        def answers_with(code):
            def check(subject):
                asked.append(code)
                return answers[code]

            return check

        rests_on = {
            "GT111": {},
            "GT101": {"causes": ("GT111",)},
            "GT201": {"premises": ("GT101",)},
        }
        rules = {
            code: structs.replace(
                RULES[code], **{"premises": (), "causes": (), **on, "check": answers_with(code)}
            )
            for code, on in rests_on.items()
        }
        monkeypatch.setattr("gradtool.verify.examine.RULES", rules)
        return asked

    return install


BROKEN = failed(Flaw(message="wrong"))


def test_causes_of_a_premise_are_not_checked_where_nothing_is_found(rest_on_each_other, sine):
    asked = rest_on_each_other(GT111=BROKEN, GT101=passed(), GT201=passed())
    assert _ask(sine, codes=["GT201"])["GT201"].verdict is Verdict.PASS
    assert asked == ["GT101", "GT201"]


def test_a_finding_is_blamed_on_the_cause_of_a_premise(rest_on_each_other, sine):
    rest_on_each_other(GT111=BROKEN, GT101=passed(), GT201=BROKEN)
    assert _blocked_by(_ask(sine, codes=["GT201"])["GT201"]) == "GT111"


def test_a_selected_cause_of_a_premise_blocks_what_rests_on_it(rest_on_each_other, sine):
    asked = rest_on_each_other(GT111=BROKEN, GT101=passed(), GT201=passed())
    assert _blocked_by(_ask(sine, codes=["GT111", "GT201"])["GT201"]) == "GT111"
    assert "GT201" not in asked
