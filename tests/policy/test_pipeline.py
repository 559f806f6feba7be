"""Each policy alone: a report in, a report out."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gradtool.checking.unit import Unit
from gradtool.config.settings import Settings
from gradtool.policy.annotations import (
    describe_rules,
    hint_at_inferred_arguments,
    warn_of_faults,
)
from gradtool.policy.base_findings import BaseFindings, mark_known_at_base
from gradtool.policy.baseline import Baseline, entries_of, mark_known
from gradtool.policy.changes import RunSettings, apply
from gradtool.policy.flaky_seeds import fold_seeds
from gradtool.policy.ignores import Comments, apply_comment_ignores, apply_configured_ignores
from gradtool.policy.pipeline import policies_of_run
from gradtool.policy.requirements import Requirements, enforce_requirements
from gradtool.policy.tolerances import list_tolerances, report_expired_tolerances
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Environment,
    Finding,
    FunctionResult,
    Location,
    ModuleResult,
    OwnFault,
    Relaxation,
    Report,
    Severity,
    Skip,
    SkipKind,
    Verdict,
)

NODE = "m.py::F"
HERE = Location(path="m.py", line=3)


def finding(rule: str = "GT101", **fields: object) -> Finding:
    base = Finding(
        rule=rule,
        name="wrong",
        severity=Severity.ERROR,
        node_id=f"{NODE}[c]::{rule}",
        message="it is wrong",
        location=HERE,
    )
    return msgspec.structs.replace(base, **fields)


def check(
    rule: str, verdict: Verdict, *findings: Finding, reason: str | None = None
) -> CheckResult:
    return CheckResult(rule=rule, verdict=verdict, reason=reason, findings=findings)


def function(
    *checks: CheckResult, source: str = "", relaxed: Relaxation | None = None
) -> FunctionResult:
    case = CaseResult(name="c", source=source, checks=checks, relaxed=relaxed)
    return FunctionResult(name="F", location=HERE, cases=(case,))


def report(*functions: FunctionResult, **fields: object) -> Report:
    return Report(
        environment=Environment(gradtool="1", python="3", numpy="2", platform="Linux"),
        modules=(ModuleResult(path="m.py", functions=functions),),
        **fields,  # type: ignore[arg-type]
    )


def run_settings(settings: Settings | None = None, path: str = "/m.py") -> RunSettings:
    unit = Unit(
        path=path, shown="m.py", function="F", line=3, settings=settings or Settings(seed=2)
    )
    return RunSettings(units={unit.node: unit})


def checks(found: Report) -> list[tuple[str, Verdict, str | None]]:
    """Each check as its rule, its verdict, and why it was skipped or is unverified."""
    return [(c.rule, c.verdict, c.skip.detail if c.skip else c.reason) for c in found.checks()]


def ignored(**reasons: str) -> Settings:
    return Settings(
        ignored={code: Skip(kind=SkipKind.IGNORED, detail=why) for code, why in reasons.items()}
    )


def test_a_configured_ignore_skips_what_is_broken() -> None:
    raw = report(
        function(check("GT004", Verdict.ERROR, finding("GT004")), check("GT003", Verdict.PASS))
    )
    settings = ignored(GT004="known", GT003="known")
    assert checks(apply_configured_ignores(run_settings(settings))(raw)) == [
        ("GT004", Verdict.SKIPPED, "known"),
        ("GT003", Verdict.PASS, None),
    ]


def test_a_declared_gradient_need_not_be_verified() -> None:
    raw = report(function(check("GT603", Verdict.UNVERIFIED, reason="noise")))
    judged = apply_configured_ignores(run_settings(ignored(GT101="a surrogate")))(raw)
    assert checks(judged) == [("GT603", Verdict.SKIPPED, "a surrogate")]


def test_a_module_that_does_not_import_can_be_ignored() -> None:
    problem = check("GT001", Verdict.ERROR, finding("GT001"))
    raw = Report(
        environment=report().environment, modules=(ModuleResult(path="m.py", checks=(problem,)),)
    )
    of_run = RunSettings(units={}, modules={"m.py": ignored(GT001="broken")})
    judged = apply_configured_ignores(of_run)(raw)
    assert checks(judged) == [("GT001", Verdict.SKIPPED, "broken")]


def test_a_comment_skips_what_it_covers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text("\n\nclass F:  # gradtool: ignore[GT101] a surrogate\n    pass\n")
    raw = report(function(check("GT101", Verdict.FAIL, finding())))
    judged = apply_comment_ignores(run_settings(path=str(tmp_path / "m.py")), Comments())(raw)
    assert checks(judged) == [("GT101", Verdict.SKIPPED, "a surrogate")]


def test_an_expired_tolerance_is_reported_and_one_in_force_is_listed() -> None:
    relaxed = Relaxation(atol=0.5, reason="rounds", expires="2001-01-01")
    raw = report(function(check("GT101", Verdict.PASS), relaxed=relaxed))
    judged = report_expired_tolerances(run_settings(Settings(codes=("GT512",))))(raw)
    (late,) = judged.findings()
    assert late.message == "tolerance atol 0.5 of case c expired on 2001-01-01 (rounds)"
    assert list(report_expired_tolerances(run_settings())(raw).findings()) == []
    line = "tolerance atol 0.5 holds at m.py::F[c] (rounds; until 2001-01-01)"
    assert list_tolerances(raw).notices == (line,)


def test_unverified_differs_from_passed_and_failed_between_seeds() -> None:
    raw = report(
        function(check("GT101", Verdict.PASS)),
        function(check("GT101", Verdict.UNVERIFIED, reason="noise")),
        function(check("GT101", Verdict.SKIPPED)),
    )
    folded = fold_seeds(run_settings(), 3)(raw)
    reason = "unverified for 1 of 3 seeds: 3; at seed 3: noise"
    assert checks(folded) == [("GT101", Verdict.UNVERIFIED, reason)]
    assert folded.notices == ("GT101 at m.py::F[c] unverified for 1 of 3 seeds: 3",)


def test_seeds_that_an_interrupt_left_out_are_not_counted() -> None:
    nothing = FunctionResult(name="F", location=HERE)
    failed = function(check("GT101", Verdict.FAIL, finding()))
    folded = fold_seeds(run_settings(), 2)(report(nothing, failed, interrupted=True))
    (found,) = folded.findings()
    assert found.message == "failed for all 1 seeds; at seed 3: it is wrong"
    assert fold_seeds(run_settings(), 2)(report(nothing, nothing, interrupted=True)).modules == ()


def test_known_findings_are_marked() -> None:
    raw = report(function(check("GT101", Verdict.FAIL, finding())))
    empty = Baseline(Path("gradtool-baseline.json").absolute())
    full = empty.joined(frozenset(entries_of(empty, raw).values()))
    assert [f.known for f in mark_known(empty)(raw).findings()] == [False]
    assert [f.known for f in mark_known(full)(raw).findings()] == [True]
    judged = mark_known_at_base(lambda _: BaseFindings("main", "0123456789abcdef", full))(raw)
    assert [f.known for f in judged.findings()] == [True]
    line = "--baseline-commit main: 1 of 1 finding there before, at 0123456789ab"
    assert judged.notices == (line,)
    assert mark_known_at_base(lambda _: None)(raw).interrupted


def test_requirements_that_are_not_met_are_listed_once() -> None:
    policy = enforce_requirements(Requirements(functions=2))
    judged = policy(policy(report(function(check("GT101", Verdict.PASS)))))
    assert judged.unmet == judged.notices == ("--require-functions 2: only 1 checked",)


def test_a_report_explains_itself() -> None:
    broken = check("GT004", Verdict.ERROR, finding("GT004", hint="look"))
    raw = report(
        function(broken, source="inferred"),
        faults=(OwnFault(node=NODE, summary="Oops", traceback=""),),
    )
    judged = apply([hint_at_inferred_arguments, warn_of_faults, describe_rules], raw)
    (found,) = judged.findings()
    assert found.hint is not None
    assert found.hint.startswith("look; its arguments were inferred: ")
    assert judged.notices == ("warning: gradtool itself failed at m.py::F: Oops",)
    assert [rule.code for rule in judged.rules] == ["GT004"]


def test_an_ignored_finding_makes_no_verdict_differ_between_seeds() -> None:
    settings = ignored(GT004="known")
    raw = report(
        function(check("GT004", Verdict.ERROR, finding("GT004"))),
        function(check("GT004", Verdict.PASS)),
    )
    judged = apply(policies_of_run(run_settings(settings), None, seeds=2), raw)
    assert judged.verdict is Verdict.PASS
    assert judged.notices == ("no verdict differs between 2 seeds",)
