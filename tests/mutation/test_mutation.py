"""The mutation harness: it makes wrong Functions, knows that they are wrong, and all are found.

Here a sample of the mutants is tried; ``python -m tests.mutation`` tries them all.
"""

from __future__ import annotations

from functools import cache

import pytest

from tests.mutation import asking, judging, page
from tests.mutation.judging import Kind
from tests.mutation.mutants import mutants
from tests.mutation.operators import OPERATORS
from tests.mutation.originals import Original, originals
from tests.mutation.survivors import EXPLAINED
from tests.mutation.trial import Trial, Tried, a_share, try_out

pytestmark = pytest.mark.slow

EVERY = 16
SHARE = 0.1


@cache
def known() -> dict[str, Original]:
    return {each.id: each for each in originals()}


def tried(name: str, change: str) -> Trial:
    """The mutant of one Function with this change."""
    (trial,) = try_out(known()[name], lambda m: m.fingerprint.endswith(f": {change}")).trials
    return trial


def test_a_mutant_has_one_mistake_and_a_fingerprint_of_its_own() -> None:
    linear = known()["samples/linear.py::LinearFunction"]
    changes = [each.fingerprint.partition(".backward: ")[2] for each in mutants(linear)]
    assert "grad_bias = grad_output.sum(0) -> grad_bias = grad_output" in changes
    assert "if ctx.needs_input_grad[0]: -> if not ctx.needs_input_grad[0]:" in changes
    assert "grad_weight = grad_output.t().mm(input) -> grad_weight = grad_output.mm(input)" in (
        changes
    )
    prints = [each.fingerprint for each in mutants(linear)]
    assert len(set(prints)) == len(prints) > 100


def test_a_mutation_leaves_the_source_as_it_was() -> None:
    exponential = known()["samples/exp.py::Exp"]
    first = [each.fingerprint for each in mutants(exponential)]
    assert [each.fingerprint for each in mutants(exponential)] == first


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("return grad_output * (x > 0) -> return grad_output * (x >= 0)", Kind.EQUIVALENT),
        ("return grad_output * (x > 0) -> return grad_output * (x < 0)", Kind.DIFFERENT),
        ("return grad_output * (x > 0) -> return None", Kind.DIFFERENT),
        ("ctx.save_for_backward(x) -> nothing", Kind.RAISED),
    ],
)
def test_any_slope_between_both_sides_of_a_kink_is_right(change: str, kind: Kind) -> None:
    assert tried("tests/zoo/right/activations.py::ReluAtZero", change).kind is kind


def test_a_mistake_that_only_a_second_derivative_shows_is_wrong() -> None:
    change = "return grad_output * result -> return grad_output * result.detach()"
    trial = tried("samples/exp.py::Exp", change)
    assert (trial.kind, trial.what) == (Kind.DIFFERENT, "second derivative")
    assert trial.rules


def test_a_mistake_that_only_some_needs_show_is_wrong() -> None:
    change = "if ctx.needs_input_grad[0]: -> if ctx.needs_input_grad[1]:"
    trial = tried("samples/linear.py::LinearFunction", change)
    assert trial.what == "gradient of some inputs only"
    assert trial.rules == ("GT109",)


def test_an_endless_mutant_is_stopped_and_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (judging, asking):
        monkeypatch.setattr(module, "PATIENCE", 0.5)
    trial = tried("tests/zoo/right/shapes.py::Broadcasting", "grad = grad.sum(0) -> nothing")
    assert (trial.kind, trial.rules) == (Kind.ENDLESS, ("GT006",))


@pytest.mark.parametrize("name", list(known())[::EVERY])
def test_no_wrong_mutant_survives_unexplained(name: str) -> None:
    trials = try_out(known()[name], a_share(SHARE, name)).trials
    survivors = {each.fingerprint for each in trials if each.survives}
    assert survivors <= EXPLAINED.keys()


def test_every_explanation_is_of_a_mutant_that_there_is() -> None:
    named = {fingerprint.rpartition(".py::")[0] for fingerprint in EXPLAINED}
    files = [each for each in known().values() if each.path.removesuffix(".py") in named]
    prints = {mutant.fingerprint for original in files for mutant in mutants(original)}
    assert EXPLAINED.keys() <= prints


def test_the_page_counts_what_was_tried() -> None:
    operator = next(iter(OPERATORS))
    trials = (
        Trial("a", "backward", operator, Kind.DIFFERENT, "gradient", ("GT101",), 0.0),
        Trial("b", "jvp", operator, Kind.RAISED, "jvp", (), 0.0),
        Trial("c", "forward", operator, Kind.EQUIVALENT, "", (), 0.0),
    )
    text = page.rendered([Tried("f", ("quotients",), ("second derivative",), trials)], 7)
    assert "| **survivors** | 1 (50.00%) |" in text
    assert f"| {operator} | 3 | 2 | 1 | 1 |" in text
    assert "| GT101 | wrong-gradient | 1 |" in text
    assert "* `b`: not explained (jvp)" in text
    assert "--seed 7" in text
