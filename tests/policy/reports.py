"""Small reports for the tests of policies."""

from __future__ import annotations

import msgspec

from gradtool.checking.unit import Unit
from gradtool.config.settings import Settings
from gradtool.policy.changes import RunSettings
from gradtool.results.report import (
    CaseResult,
    CheckResult,
    Environment,
    Finding,
    FunctionResult,
    Location,
    ModuleResult,
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
    *checks: CheckResult,
    source: str = "",
    relaxed: Relaxation | None = None,
    compared: int = 1,
) -> FunctionResult:
    case = CaseResult(name="c", source=source, checks=checks, relaxed=relaxed, compared=compared)
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
