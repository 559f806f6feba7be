"""A fingerprint stays while the finding stays the same one, and differs when it is another."""

import msgspec

from gradtool.results.fingerprint import fingerprints
from gradtool.results.report import Evidence, Finding, Location, Severity


def finding(**changes: object) -> Finding:
    made = Finding(
        rule="GT101",
        name="wrong-gradient",
        severity=Severity.ERROR,
        node_id="ops/a.py::F[c]::GT101",
        message="gradient of `x` differs from the derivative of output 0 in 3 of 4 entries",
        location=Location(path="ops/a.py", line=10),
        evidence=Evidence(argument="x", output=0, analytic=1.0, numeric=2.0, wrong=3),
        seed=0,
    )
    return msgspec.structs.replace(made, **changes)


def one(**changes: object) -> str:
    (made,) = fingerprints([finding(**changes)])
    return made


def test_it_is_the_same_after_an_edit_above_another_seed_and_better_words() -> None:
    same = one()
    assert one(location=Location(path="ops/a.py", line=99)) == same
    assert one(seed=7, evidence=Evidence(argument="x", output=1, analytic=9.0)) == same
    assert one(message="the gradient of `x` is wrong", hint="h", replay="r", detail="d") == same
    assert one(severity=Severity.WARNING, name="renamed") == same
    assert one(node_id="ops\\a.py::F[c]::GT101") == same


def test_it_is_another_for_another_rule_function_case_or_argument() -> None:
    others = {
        one(),
        one(rule="GT201"),
        one(node_id="ops/a.py::F[other]::GT101"),
        one(node_id="ops/a.py::G[c]::GT101"),
        one(node_id="ops/b.py::F[c]::GT101"),
        one(evidence=Evidence(argument="y")),
    }
    assert len(others) == 6


def test_without_an_argument_the_names_in_the_message_tell_findings_apart() -> None:
    first = one(evidence=None, message="`ctx.a` is kept, 3 times")
    assert one(evidence=None, message="`ctx.a` is kept, 4 times") == first
    assert one(evidence=None, message="`ctx.b` is kept, 3 times") != first


def test_equal_findings_of_one_run_get_different_ones_in_their_order() -> None:
    three = fingerprints([finding(), finding(), finding()])
    assert len(set(three)) == 3
    assert three[0] == one()
    assert fingerprints([finding(), finding()]) == three[:2]


def test_it_does_not_change_between_versions() -> None:
    assert one() == "01fccbfdf3aa4494ce05c2b350c51774"
